r"""Derivatives of functions whose units, limits and kinks are not known: differences with steps of many sizes.

    f'(0) by central differences of sixth order, with steps  s_0 < s_1 < ...,  each ten times the last

Small steps see the neighbourhood of the point, large ones are not disturbed by rounding. The derivative is that of the smallest steps
whose neighbours agree: a limit, or the end of a dead zone, that larger steps reach does not matter.

    f(s) - f(-s) = const               f jumps
    f(s) - 2 f(0) + f(-s) ~ s          f has a kink
    f'(s) - f'(0) ~ s                  f has a second derivative that jumps, as x |x|: the smallest step is the most accurate

Source: Gill, Murray, Saunders and Wright (1983), computing forward-difference intervals (the size of a step from several of them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.equilibrium.tangent_space import WEIGHTS, H
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError

MOVED: Array = 10.0 ** np.arange(-5.0, 1.0)
"""Sizes of steps in x and x', in units of H."""

TWO: Array = MOVED[-2:]
"""The two sizes that smooth forces need."""

STEPS_OF_TWO: Array = np.array(
    [0.0, *(sign * (k + 1) * (H * float(size)) for size in TWO for sign in (1.0, -1.0) for k in range(len(WEIGHTS)))]
)
"""The steps that smooth forces are evaluated at."""

SMOOTH_FORCE = 1e-9
"""Change of the derivative of a force between the two, and of its slope at 0, relative to the forces at work, of smooth forces."""

NO_PART = 1e-6
"""Part of the forces, or of the rate of a state, below which a derivative that rounding hides does not matter."""

SMOOTH_TOL = 1e-4
"""Change of a derivative between neighbouring sizes of step, relative to it, up to which they agree."""

SAME = 0.05
"""Relative change up to which a jump or a kink is the same for three sizes of step. Rounding changes from size to size."""

CONVERGES = 0.2
"""Ratio of neighbouring changes below which a derivative converges with smaller steps; it is a tenth where the error is first order."""


class NotSmooth(UsageError):
    """Error for forces without a derivative;  why: which."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}: there is no linearization. Start from another pose, or simulate.")
        self.why = why


class Differences(NamedTuple):
    """Differences with steps of several sizes: slopes (n, m), f';  kinks (n, m), change of the slope at 0."""

    slopes: Array
    kinks: Array

    def part(self, components: list[int]) -> Differences:
        """Return the differences of some components."""
        return Differences(self.slopes[:, components], self.kinks[:, components])


class SmoothDerivative(NamedTuple):
    """A derivative by differences.

    value: (m,) of the derivative;  defect: the reason why there is no derivative, "" if there is one.
    largest: of all steps, where all of them may be rounding; infinite otherwise
    """

    value: Array
    defect: str
    largest: float


def differences(f: Callable[[float], Array], sizes: Array) -> Differences:
    """Return differences of f (m,) with steps of the ascending sizes, in units of H."""
    here, slopes, kinks = f(0.0), list[Array](), list[Array]()
    for size in sizes:
        h = H * float(size)
        after, before = ([f(sign * (k + 1) * h) for k in range(len(WEIGHTS))] for sign in (1.0, -1.0))
        slopes.append(np.asarray(sum(w * (a - b) for w, a, b in zip(WEIGHTS, after, before, strict=True)) / h))
        kinks.append((after[0] - 2.0 * here + before[0]) / h)
    return Differences(np.array(slopes), np.array(kinks))


def smooth_derivative(quotients: Differences) -> SmoothDerivative:
    """Return the derivative that differences show, of components in the same unit."""
    slopes = quotients.slopes
    size = np.abs(slopes).max(axis=1, initial=0.0)
    if _same_thrice(slopes * 10.0 ** np.arange(len(slopes))[:, None]):
        return SmoothDerivative(slopes[0], "they jump there", np.inf)
    step = np.abs(np.diff(slopes, axis=0)).max(axis=1, initial=0.0)
    larger = np.maximum(size[1:], size[:-1])
    change = np.divide(step, larger, out=np.zeros_like(step), where=larger > 0.0)
    best = _first_plateau(change)
    if best < 0 and step[0] <= CONVERGES * step[1] and step[1] <= CONVERGES * step[2]:
        best = 0
    if best < 0:
        last = int(np.argmax(size * 10.0 ** np.arange(len(size))))
        return SmoothDerivative(slopes[last], "differences depend on the step, however small", float(size.max()))
    if _same_thrice(quotients.kinks[: max(best, 2) + 1]):
        return SmoothDerivative(slopes[best], "they have a kink there", np.inf)
    return SmoothDerivative(slopes[best], "", np.inf)


class MotionDerivative:
    """A derivative of forces by the motion of bodies, which raises NotSmooth where there is none.

    Two sizes of step are enough for smooth forces. Where they disagree, a limit or a contact is near, and smaller steps are tried.
    work: forces at work [J];  tell: is called after each derivative
    error: the largest difference of all derivatives so far between two sizes of step [J]
    """

    def __init__(self, work: float, tell: Callable[[], None] = lambda: None) -> None:
        self._work, self._tell, self.error = work, tell, 0.0

    def __call__(self, f: Callable[[float], Array]) -> Array:
        """Return df/dh at 0."""
        two = differences(f, TWO)
        self._tell()
        small, large = two.slopes
        allowed = SMOOTH_FORCE * max(self._work, float(np.abs(two.slopes).max(initial=0.0)))
        kink, bend = np.abs(two.kinks).max(axis=1, initial=0.0)
        change = float(np.abs(large - small).max(initial=0.0))
        if change <= allowed and kink <= allowed + CONVERGES * bend:
            self.error = max(self.error, change)
            return np.asarray(large)
        derivative = smooth_derivative(differences(f, MOVED))
        if derivative.defect and derivative.largest > NO_PART * self._work:
            raise NotSmooth(f"forces are not smooth in the motion of the bodies ({derivative.defect})")
        self.error = max(self.error, SMOOTH_TOL * float(np.abs(derivative.value).max(initial=0.0)))
        return derivative.value


def _first_plateau(change: Array) -> int:
    """Return the number of the size with the least change of those that agree first, -1 if none of three neighbours agree."""
    good = change <= SMOOTH_TOL
    for first in range(len(change) - 1):
        if good[first] and good[first + 1]:
            ends = np.flatnonzero(~good[first:])
            run = change[first : first + int(ends[0])] if len(ends) else change[first:]
            return first + int(np.argmin(run))
    return -1


def _same_thrice(x: Array) -> bool:
    """Return whether the first three of the rows (n, m) are the same, and not zero."""
    size = float(np.abs(x[0]).max(initial=0.0))
    return len(x) >= 3 and size > 0.0 and float(np.abs(x[1:3] - x[0]).max()) <= SAME * size
