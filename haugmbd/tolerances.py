r"""The tolerances of the package: what counts as zero, as closed, as the same, and why. One fact has one number, and it stands here.

    rounding       of numbers of a user or a file           ROUNDING times the largest number that they are computed with or compared to
    typed digits   of a pose, an axis, a velocity           TYPED_LENGTH, TYPED_ANGLE, TYPED_SPEED: removed by the first projection
    redundant rows that contradict each other               CONTRADICTION: they are left out, and what they are off by is told

Every number is relative: a length is measured by the size of the model L (`model.inspection.length`), a speed by the fastest motion,
an inertia by the mass and the size of its body; an angle is in radians, and counts as a length over L. Nothing is compared with zero
itself, because a number that a file or a product of matrices should have as zero is rarely zero.

What `tolerance=` means, wherever it is an argument
    Redundant rows (those of a planar loop of revolute joints) hold only if axes and points fit. How far they may contradict each other:
    an angle in radians, or a gap relative to the size of the mechanism. The independent rows are closed to rounding; redundant rows are
    closed as far as they fit, and what is left is measured and told. Beyond the tolerance the mechanism is refused, with these joints.
    By default CONTRADICTION; rows within DEPENDENT of the span of others are then redundant, and so are rows that would be if axes that
    are parallel up to CONTRADICTION were parallel. A number that is given is both: also rows within it of the span of others are redundant.

Numbers beyond LARGEST are refused by the check of a system.

Constants that serve one algorithm only, such as the convergence of an iteration, stand with it.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from haugmbd.errors import UsageError

LARGEST = 1e50
"""In SI units nothing of a mechanism is so large, and products of several such numbers would not be finite."""

ROUNDING = 1e-12
"""Relative error of numbers that went through a file of twelve digits, a change of units or a product of rotations."""

TYPED_LENGTH = 1e-5
"""Allowed gap of points relative to the size of the model: coordinates typed with six digits are off by up to 5e-6 of it. The projection
at the start of a run removes such a gap. A larger one is a mistake in the model."""

TYPED_ANGLE = 1e-4
"""Allowed gap [rad]: directions and Euler parameters typed with five digits are off by less; also removed at the start of a run."""

TYPED_SPEED = 1e-5
"""Allowed gap of velocities relative to the fastest motion of the state or of the drivers: velocities typed with six digits."""

DEPENDENT = 1e-5
"""Distance of a row of length 1 from the span of the others below which it depends on them: a pose typed with five digits."""

CONTRADICTION = 1e-3
"""How far redundant rows may contradict each other [rad, or part of the size of the mechanism]: 1.57 typed for a quarter turn is 8e-4 off,
and a tenth of a millimetre in 100 mm is play that a bearing has. What is more is another mechanism, not digits that are missing."""

GROWTH = 10.0
"""Times a contradiction, as it is measured at the start, to which it may grow along a motion: axes that are off by an angle move points by
the arms of their bodies. Rows that come to contradict each other by more do not describe the same mechanism any more."""

TOLD = 1e-9
"""Contradiction of redundant rows that is worth a line in a report: far above rounding, far below what matters."""

LEAST_TOLERANCE, LARGEST_TOLERANCE = 1e-8, 1e-2
"""The range of `tolerance=`: rounding of a pose, and half a degree."""


def check_tolerance(tolerance: object) -> None:
    """Raise UsageError unless `tolerance` is None, or a number that can tell dependent rows from others."""
    number: Any = tolerance  # compared as it is: a whole number may be larger than any float
    if tolerance is None:
        return
    if isinstance(tolerance, bool) or not (isinstance(tolerance, Real) and LEAST_TOLERANCE <= number <= LARGEST_TOLERANCE):
        raise UsageError(
            f"tolerance = {tolerance!r} must be a number from {LEAST_TOLERANCE:g} (rounding of a pose) to {LARGEST_TOLERANCE:g} "
            "(rad, or part of the size of the model): redundant rows may contradict each other by as much."
        )


def contradiction_limit(tolerance: float | None) -> float:
    """Return how far redundant rows may contradict each other [rad, or part of the size].  tolerance: as given, None for the default"""
    return CONTRADICTION if tolerance is None else float(tolerance)


DENSEST = 1e20
"""[kg/m3] a thousand times the density of nuclear matter: a body that its inertia would make denser than this has none, only rounding."""


def rounding_of_inertia(mass: float) -> float:
    """Return the moment of inertia [kg m2] below which one beside a mass [kg] is rounding about a point mass: k^2 m with m / k^3 = DENSEST.

    It needs no length, which a body by itself does not have: 7e-14 kg m2 beside 1 kg, and 2e-54 kg m2 beside a molecule of 1e-24 kg.
    """
    return float(mass * (mass / DENSEST) ** (2.0 / 3.0)) if mass > 0.0 else 0.0


def is_rounding(value: float, scale: float) -> bool:
    """Return whether a number is rounding beside the size of the numbers that it comes from; zero is, whatever the scale."""
    return abs(value) <= ROUNDING * abs(scale)
