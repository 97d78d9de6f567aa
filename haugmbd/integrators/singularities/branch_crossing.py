r"""The crossing of one singular configuration: the curve from some motion before it to as far behind, its tests, and its states.

at once      one polynomial that shows its own error and passes the tests
by halves    a piece around the singular configuration, halved until two curves agree
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.singularities.branch_selection import BranchSelection
from haugmbd.integrators.singularities.near_singular import StepsTaken
from haugmbd.integrators.singularities.smooth_branch import CrossedCurve, Curve, SmoothBranch
from haugmbd.integrators.state_space import SingularCrossing
from haugmbd.integrators.step_batch import StepBatch, split_multipliers

AGREE = 1.0
"""Two curves agree if their ends differ by at most this number of error tolerances of a step."""
AGREE_AT_WORST = 1e-7
"""Relative difference up to which the motion counts as determined, even if the tolerance is smaller."""
HALVINGS = 7
"""Number of lengths of the crossing that are tried, each half as long as the one before."""
ACCURACY = 10.0
"""Times rtol: |Phi| of a polynomial that shows an error of rtol."""
EXACT = 1e-11
"""Contradiction of the rows at a singular configuration, relative to the size: rounding of the pose and of the polynomial."""


class Ways(NamedTuple):
    """How a crossing is computed: by one polynomial, by pieces that are halved."""

    at_once: bool
    by_halves: bool


BOTH, AT_ONCE, BY_HALVES = Ways(True, True), Ways(True, False), Ways(False, True)  # noqa: FBT003


class CrossingStart(NamedTuple):
    """A state: time [s], y, rates."""

    t: float
    y: Array
    y_dot: Array


class Crossing(NamedTuple):
    """The curve of the crossing, the state at its end, and its record; None if only the selection of kept rows is singular.

    gap: contradiction of the dependent rows at the singular configuration, relative to the size
    """

    curve: CrossedCurve
    end: CrossingStart
    passed: SingularCrossing | None
    gap: float = 0.0

    def end_at(self, t: float) -> CrossingStart:
        """Return the state of the curve at time t [s]."""
        when = np.array([t])
        return CrossingStart(t, self.curve.states(when)[0], self.curve.rates(when)[0])


class BranchCrossing:
    """The crossings of one run to t_end;  horizon: the last time at which its model may be evaluated [s]."""

    def __init__(self, branch: SmoothBranch, selection: BranchSelection, t_end: float, horizon: float) -> None:
        self.branch, self.selection, self.t_end, self.horizon = branch, selection, t_end, horizon

    def cross(
        self, start: CrossingStart, t_singular: float, step: float | None, accuracy: tuple[float, Array], ways: Ways = BOTH
    ) -> Crossing | None:
        """Return the smooth motion from `start` to the same distance behind the singular configuration; None if it is not determined.

        step: of a method of fixed step [s], which divides the crossing;  accuracy: rtol, and atol of each number (ny,)
        """
        way = t_singular - start.t
        t1 = t_singular + way
        if step:
            t1 = start.t + np.ceil((t1 - start.t) / step - 1e-9) * step
        t1 = float(min(t1, self.horizon))
        if abs(self.t_end - t1) < 1e-9 * way:
            t1 = self.t_end
        if not (way > 0.0 and t1 > t_singular):
            return None
        rtol, atol = accuracy
        accuracy = rtol, atol + rtol * self.branch.rounding(start.y)
        times = start.t, t1
        found = self._cross_resolved(times, start.y, t_singular, accuracy) if ways.at_once else None
        return self._cross_by_halves(times, start.y, t_singular, accuracy) if found is None and ways.by_halves else found

    def _cross_resolved(
        self, times: tuple[float, float], y: Array, t_singular: float, accuracy: tuple[float, Array]
    ) -> Crossing | None:
        """Return the crossing by one polynomial that shows its own error; None if it is not enough."""
        curve = self.branch.resolved(times, t_singular, y, *accuracy)
        end = None if curve is None else self._end(curve)
        if curve is None or end is None:
            return None
        crossing = self._tested(curve, end, t_singular - times[0], t_singular, ACCURACY * accuracy[0])
        return crossing if crossing is not None and (crossing.passed is None or crossing.gap <= EXACT) else None

    def _cross_by_halves(
        self, times: tuple[float, float], y: Array, t_singular: float, accuracy: tuple[float, Array]
    ) -> Crossing | None:
        """Return the crossing by a piece around the singular configuration, halved until two curves agree; None if it is not determined."""
        (t0, t1), (rtol, atol) = times, accuracy
        best, before, found, w = np.inf, None, None, t_singular - t0
        for _ in range(HALVINGS):
            inner = [t for t in (t_singular - w, t_singular + w) if t0 + 1e-3 * w < t < t1 - 1e-3 * w]
            curve = self.branch.curve([t0, *inner, t1], t_singular, y)
            end = None if curve is None else self._end(curve)
            if curve is not None and end is not None:
                if before is not None:
                    size = np.maximum(np.abs(end.y), np.abs(before.y))
                    gap = float(np.sqrt(np.mean(((end.y - before.y) / (atol + rtol * size)) ** 2)))
                    if gap < best:
                        best, found = gap, (curve, end, w)
                    if gap <= AGREE:
                        break
            before, w = end, 0.5 * w
        if found is None or not best * rtol <= max(AGREE * rtol, AGREE_AT_WORST):
            return None
        return self._tested(*found, t_singular, 0.0)

    def _end(self, curve: Curve) -> CrossingStart | None:
        """Return the state at the end of a curve, projected on the constraints."""
        t1 = curve.t1
        y = curve.states(np.array([t1]))[0]
        found = self.branch.projected(t1, y)
        return None if found is None else CrossingStart(t1, *found)

    def _tested(self, curve: Curve, end: CrossingStart, w: float, t_singular: float, accuracy: float) -> Crossing | None:
        """Return the crossing if the tests show that the velocity selects the continuation."""
        found = self.selection.test(curve, w, t_singular, accuracy)
        if found is None:
            return None
        crossed = CrossedCurve(self.branch, curve, found.t, w)
        if found.regular:
            return Crossing(crossed, end, None)
        return Crossing(crossed, end, SingularCrossing(found.t, found.joints, found.pivot), found.gap)


def crossing_batch(crossing: Crossing, end: CrossingStart, method: Integrator, batch: StepBatch) -> StepBatch:
    """Return a crossing as a batch: at the times of a fixed step, or at the nodes of its curve."""
    curve = crossing.curve
    if method.step:
        inner = curve.t0 + method.step * np.arange(1.0, int((end.t - curve.t0) / method.step - 1e-9) + 1.0)
        between = StepsTaken(inner, curve.states(inner), curve.rates(inner))
    else:
        between = StepsTaken(*curve.nodes(end.t))
    t, y, y_dot = np.append(between.t, end.t), np.vstack([between.y, end.y]), np.vstack([between.y_dot, end.y_dot])
    lam, u_dot = (split_multipliers(own, 0, len(t)) for own in (batch.lam, batch.u_dot))
    return StepBatch(t, y, y_dot, OK, end.t, len(t), 0, lam, curve, u_dot)
