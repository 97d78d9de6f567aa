"""Nearly singular configurations that a run has passed and not crossed: those that a step has stepped over, and one at its end.

Within a step that resolves the motion the smallest singular value changes little.  It falls far below that of both ends, and rises again,
in a step that is longer than the bend of the motion beside a singular configuration.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import log
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.integrators.singularities.run_motion import Way
from haugmbd.integrators.singularities.singularity_search import FINE, SingularSearch
from haugmbd.integrators.state_space import NearSingular

LEAP = 3.0
"""Fall of the smallest singular value inside a step that is too long for the bend of the motion there."""
PLUNGE = 30.0
"""The same from one end of a step to the other, or to its least place: a step may end on the singular configuration."""
AT_END = 1e3
"""Fall of the smallest singular value towards the end of a run, beyond which velocities and the branch are uncertain there."""
STEPS_BESIDE, SAMPLES_IN_STEP = 2, 17
"""Steps on either side of such a place that are examined, and samples in each."""
END, BEFORE_END = 0.15, 0.5
"""Motion before the end of a run that is examined, and with which it is compared."""


class StepsTaken(NamedTuple):
    """Steps of a run, with the state before the first: times (k,), states and rates (k, ny)."""

    t: Array
    y: Array
    y_dot: Array


class NearSingularities:
    """The nearly singular configurations of one run to t_end;  joints_at: the joints whose rows are dependent at a time of a motion."""

    def __init__(self, search: SingularSearch, joints_at: Callable[[Way, float], tuple[str, ...]], t_end: float) -> None:
        self.search, self.joints_at, self.t_end = search, joints_at, t_end
        self.passed_near: set[float] = set()
        self.trail: deque[tuple[float, Array, float]] = deque()

    def stepped_over(self, refused: list[float], steps: StepsTaken) -> list[NearSingular]:
        """Return the places that were examined and not crossed, and which one of these steps has stepped over."""
        found, t = [], steps.t
        for place in refused:
            if place in self.passed_near or not t[0] < place <= t[-1]:
                continue
            self.passed_near.add(place)
            way = self.search.way(*steps, float(t[-1]))
            middle = int(np.searchsorted(t, place))
            for k in range(max(1, middle - STEPS_BESIDE), min(len(t), middle + STEPS_BESIDE + 1)):
                times = np.linspace(t[k - 1], t[k], SAMPLES_IN_STEP)
                g = self.search.values(times, way.states(times))
                inner = int(g[1:-1].argmin()) + 1
                hidden = g[inner] < min(g[0], g[-1]) - 2.0 * log(LEAP) or np.ptp(g) > 2.0 * log(PLUNGE)
                if np.isfinite(g).all() and hidden:
                    found.append(self._at(way, float(times[inner])))
                    break
        return found

    def at_end(self, steps: StepsTaken) -> list[NearSingular]:
        """Return the configuration that the run ends beside, if there is one; before the end nothing but its motion is kept.

        trail: time, state and motion from the start, of the starts of batches, over the last part BEFORE_END of the motion
        """
        t = steps.t
        way = self.search.way(*steps, self.t_end)
        so_far = self.trail[-1][2] if self.trail else 0.0
        now = so_far + float(way.s[len(t) - 1])
        if self.trail:
            self.trail.pop()
        self.trail += (float(t[0]), steps.y[0].copy(), so_far), (float(t[-1]), steps.y[-1].copy(), now)
        while self.trail and not self.trail[0][2] >= now - BEFORE_END:
            self.trail.popleft()
        if t[-1] < self.t_end:
            return []
        s = np.linspace(max(0.0, float(way.s[-1]) - END), float(way.s[-1]), SAMPLES_IN_STEP)
        times = np.interp(s, way.s, way.t)
        g = self.search.values(times, way.states(times))
        before = [one for one in self.trail if one[0] < t[-1]]
        edge = float(g.max())
        if before:
            edge = max(
                edge, float(self.search.values(np.array([one[0] for one in before]), np.array([one[1] for one in before])).max())
            )
        k = int(g.argmin())
        left, right = float(times[max(0, k - 1)]), float(times[min(len(times) - 1, k + 1)])
        inner = self.search.enclosed(way, left, right, edge, FINE)
        t_least, depth = (times[k], edge - g[k]) if inner is None else inner
        if not depth > 2.0 * log(AT_END):
            return []
        return [self._at(way, float(t_least))._replace(ends=True)]

    def _at(self, way: Way, t: float) -> NearSingular:
        return NearSingular(t, self.joints_at(way, t), np.nan)
