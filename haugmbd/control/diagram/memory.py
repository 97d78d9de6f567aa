"""What one run remembers for its blocks: the solver of their implicit equations, and the motion so far, for delays."""

from __future__ import annotations

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


class Memory:
    """The memory of one run;  between: the dense output, which a run with delays gives."""

    def __init__(self, network: Any) -> None:
        self.network, self.solver = network, StateSolver()
        self.between: Between | None = None
        self.t_start = np.inf
        self._t: list[float] = []
        self._y: list[Array] = []
        self._y_dot: list[Array] = []
        self._known: tuple[float, Instant] | None = None

    def begin(self, between: Between, t: float, y: Array, y_dot: Array) -> None:
        """Begin the motion at a state."""
        self.between, self.t_start = between, t
        self._t, self._y, self._y_dot = [t], [y.copy()], [y_dot.copy()]

    def add(self, t: float, y: Array, y_dot: Array) -> None:
        """Add the end of a step; or, at the same time, a state after a call of sampled blocks."""
        self._t.append(t)
        self._y.append(y.copy())
        self._y_dot.append(y_dot.copy())

    def instant(self, t: float) -> Instant:
        """Return the blocks at a time of the motion so far."""
        if self._known is not None and self._known[0] == t:
            return self._known[1]
        assert self.between is not None
        k = int(np.searchsorted(self._t, t, side="right"))
        if k == len(self._t) and t > self._t[-1] + SLACK * (1.0 + abs(t)):
            raise SimulationError(f"a delay needs the state at t = {t:.9g} s, and the motion is known to t = {self._t[-1]:.9g} s")
        k = min(max(k, 1), len(self._t) - 1) if len(self._t) > 1 else 0
        ends = slice(max(k - 1, 0), k + 1)
        at, y, y_dot = np.array(self._t[ends]), np.array(self._y[ends]), np.array(self._y_dot[ends])
        if at[0] == at[-1]:  # the start, or a state after a call
            at, y, y_dot = at[-1:], y[-1:], y_dot[-1:]
        then = self.between(np.array([min(t, float(at[-1]))]), at, y, y_dot)[0]
        instant = Instant(self.network, t, then, memory=self)
        self._known = (t, instant)
        return instant
