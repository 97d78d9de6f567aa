r"""The result of an assembly: the state, a model that starts there, and the corrections by body and by joint.

Gaps are measured as in `system.constraint_residuals`: in metres for points and distances, in radians for axes and driven angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.newton_table import NewtonTable
from haugmbd.deprecated import public_class
from haugmbd.math.euler_parameters import conjugate, logarithm, product
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import constraint_gaps
from haugmbd.system.checks.contradictions import LEFT_OUT, Contradiction

SHOWN = 12
"""Number of bodies or joints that a text lists before it counts the others."""
ROUNDING = 1e-14
"""Gaps that a text leaves out, relative to the size of the model, and in radians: positions are rounded to some 1e-16 of it."""


class Correction(NamedTuple):
    """Displacement of a body: global translation [m], (3,) as a tuple, its length [m], and the angle of its rotation [rad]."""

    body: str
    translation: tuple[float, float, float]
    distance: float
    angle: float


class JointGap(NamedTuple):
    """Gap of an open joint: of its points or distances [m], of its axes or driven angle [rad]."""

    joint: str
    distance: float
    angle: float


class Flip(NamedTuple):
    """A joint that was in the opposite sense at the start or at its nearest closed pose, and whether it was turned back."""

    joint: str
    repaired: bool


@public_class
@dataclass(frozen=True, eq=False)
class Assembly:
    """An assembled mechanism.

    Attributes
    ----------
    model : Model
        Model whose modelled state is `state`: simulate(assembly.model, t_end, h=...).
    state : State
        Positions and velocities that fulfil the constraints.
    iterations : int
        Iterations of the position solver.
    before, after : float
        Largest |Phi| at the start and at the end, in the units of the rows.
    rate_before, rate_after : float
        Largest |Phi_q u - nu| before and after the velocity projection.
    corrections : tuple of Correction
        Displacement of each body, the largest first.
    gaps : tuple of JointGap
        Gap of each joint at the start, the largest first.
    flips : tuple of Flip
        Joints that were in the opposite sense.
    held : tuple of str
        The fixed coordinates, as text.
    tolerance : float
        Tolerance of |Phi|.
    contradictions : tuple of Contradiction
        Redundant rows, by their joints, that do not hold exactly where all others do, and what they are off by: joints, distance [m] and
        angle [rad]. They are left out of `after` and of `model`. Empty where axes and points fit.
    starts : int
        Number of starts that were tried: more than 1 if the given one led to no closed pose.
    newton : NewtonTable or None
        The iterates of Newton's method, with record=True.
    """

    model: Model
    state: State
    iterations: int
    before: float
    after: float
    rate_before: float
    rate_after: float
    corrections: tuple[Correction, ...]
    gaps: tuple[JointGap, ...]
    flips: tuple[Flip, ...]
    held: tuple[str, ...]
    tolerance: float
    contradictions: tuple[Contradiction, ...] = ()
    starts: int = 1
    newton: NewtonTable | None = None

    @property
    def flipped(self) -> tuple[str, ...]:
        """Return the joints that are in the opposite sense in `state`."""
        return tuple(flip.joint for flip in self.flips if not flip.repaired)

    def __str__(self) -> str:
        """Return a table of the corrections."""
        head = f"{self.model.name!r} assembled in {self.iterations} iterations: |Phi| {self.before:.3g} -> {self.after:.3g}"
        rates = f"velocities: |Phi_q u - nu| {self.rate_before:.3g} -> {self.rate_after:.3g}"
        lines = [head, rates, *([f"held: {'; '.join(self.held)}"] if self.held else [])]
        lines += [f"{one}: {LEFT_OUT}" for one in self.contradictions]
        lines += [f"joint {flip.joint!r} was turned round{'' if flip.repaired else ', and still is'}" for flip in self.flips]
        lines += _listed("joint", [(g.joint, g.distance, g.angle) for g in self.gaps], "was open by", self.model.length)
        lines += _listed("body", [(c.body, c.distance, c.angle) for c in self.corrections], "was moved by", self.model.length)
        return "\n".join(lines)

    __repr__ = __str__


def _listed(kind: str, items: Sequence[tuple[str, float, float]], verb: str, size: float) -> list[str]:
    """Return one line for each of the first few items that are more than rounding."""
    some = [(name, d, a) for name, d, a in items if d > ROUNDING * size or a > ROUNDING]
    lines = [f"{kind} {name!r} {verb} {d:.4g} m, {degrees(a):.4g} degrees" for name, d, a in some[:SHOWN]]
    return [*lines, *([f"and {len(some) - SHOWN} more"] if len(some) > SHOWN else [])]


def corrections(model: Model, start: State, end: State) -> tuple[Correction, ...]:
    """Return the displacement of each body, the largest first."""
    step = end.r - start.r
    angle = np.linalg.norm(logarithm(product(conjugate(start.p), end.p)), axis=1)
    found = [
        Correction(name, (float(d[0]), float(d[1]), float(d[2])), float(np.linalg.norm(d)), float(a))
        for name, d, a in zip(model.body_names[1:], step[1:], angle[1:], strict=True)
    ]
    return tuple(sorted(found, key=lambda c: -(c.distance + model.length * c.angle)))


def joint_gaps(model: Model, state: State) -> tuple[JointGap, ...]:
    """Return the gap of each joint, the largest first."""
    measured = constraint_gaps(model, evaluate(model, state), state.t)
    found = []
    for e in model.joints.values():
        gap, turns = measured.gap[e.rows], measured.is_angle[e.rows]
        found.append(JointGap(e.name, float(np.linalg.norm(gap[~turns])), float(np.linalg.norm(gap[turns]))))
    return tuple(sorted(found, key=lambda g: -(g.distance + g.angle)))
