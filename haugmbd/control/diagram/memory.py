"""What one run remembers for its blocks: the solver of their implicit equations, and the motion so far, for delays."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.control.diagram.evaluation import Instant
from haugmbd.control.diagram.implicit import StateSolver
from haugmbd.errors import SimulationError

Between = Callable[[Array, Array, Array, Array], Array]
"""between(t_new, t, y, y_dot): states of the dense output."""

SLACK = 1e-9
"""Relative to the time: beyond the end of the motion so far, where t - delay is rounding."""
ROUNDING = 1e-15
"""Relative to the time: of t - delay."""


class Memory:
    """The memory of one run.

    between: the dense output, which a run with delays gives;  stop: the time at which a step ends next, for jumps [s]
    near: times that are nearer to each other are the same [s]
    """

    def __init__(self, network: Any) -> None:
        self.network, self.solver = network, StateSolver()
        self.between: Between | None = None
        self.t_start = self.stop = np.inf
        self.near = 0.0
        self._t: list[float] = []
        self._y: list[Array] = []
        self._y_dot: list[Array] = []
        self._known: tuple[tuple[float, bool], Instant] | None = None

    def begin(self, between: Between, t: float, y: Array, y_dot: Array) -> None:
        """Begin the motion at a state."""
        self.between, self.t_start = between, t
        self._t, self._y, self._y_dot, self._known = [t], [y.copy()], [y_dot.copy()], None

    def add(self, t: float, y: Array, y_dot: Array) -> None:
        """Add the end of a step; or, at the same time, the state behind a jump."""
        self._t.append(t)
        self._y.append(y.copy())
        self._y_dot.append(y_dot.copy())

    def ends_at(self, t: float) -> bool:
        """Return whether a step ends at a stop at t, so that values before a jump there are meant."""
        return t >= self.stop - self.near

    def instant(self, t: float, *, left: bool = False) -> Instant:
        """Return the blocks at a time of the motion so far; left: before a jump at this time, and not behind it."""
        if self._known is not None and self._known[0] == (t, left):
            return self._known[1]
        instant = Instant(self.network, t, self._state(t, left), memory=self, left=left)
        self._known = ((t, left), instant)
        return instant

    def _state(self, t: float, left: bool) -> Array:
        """Return the state at a time of the motion so far."""
        assert self.between is not None
        if t > self._t[-1] + SLACK * (1.0 + abs(t)):
            raise SimulationError(f"a delay needs the state at t = {t:.9g} s, and the motion is known to t = {self._t[-1]:.9g} s")
        near = self.near + ROUNDING * abs(t)
        first, behind = bisect_left(self._t, t - near), bisect_right(self._t, t + near)
        if first < behind or behind in (0, len(self._t)):
            k = first if left else behind - 1
            return self._y[min(max(k, 0), len(self._t) - 1)].copy()
        ends = slice(behind - 1, behind + 1)
        parts = (np.array(part[ends]) for part in (self._t, self._y, self._y_dot))
        state: Array = self.between(np.array([t]), *parts)[0]
        return state
