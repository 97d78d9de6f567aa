r"""The states of the blocks in an implicit step: x = past + c f(t, q, u, x), solved at the q and u that are given.

    (1 - c df/dx) dx = past + c f(x) - x            Newton's method; df/dx by differences, kept while the iteration converges

A rate that jumps takes its value in the step; see `switched_rate`.

Source: Hairer, Wanner, Solving ODE II, sec. IV.8 (simplified Newton iterations).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.control.diagram.evaluation import Instant
from haugmbd.errors import SimulationError

ITERATIONS, FRESH = 60, 4
"""Largest number of iterations, and number of them after which df/dx is computed again."""
SOLVED, ROUNDING, STALLED = 1e-14, 1e-10, 0.5
"""Correction, relative to 1 + |x|, that ends the iteration; one below ROUNDING that is more than STALLED of the last is rounding."""
DIFFERENCE = 1e-7
"""Relative to 1 + |x|: the change of a state in a difference, about the root of rounding."""


class StateSolver:
    """The iteration, with the inverse of 1 - c df/dx that it used last."""

    def __init__(self) -> None:
        self._inverse: Array | None = None
        self._c = 0.0

    def solve(self, network: Any, t: float, y: Array, measured: Array, F: Array, memory: Any) -> tuple[Instant, Array]:
        """Write x to y; return the blocks at this instant, and x'. Raise SimulationError if the iteration does not converge."""
        moves, first = network.integrated, network.first(y)
        lines = F[network.place : network.place + network.size]
        past, c = lines[moves, 1].copy(), float(lines[0, 2])
        places = first + np.nonzero(moves)[0]
        before, instant = np.inf, None
        for iteration in range(ITERATIONS):
            instant = Instant(network, t, y, measured=measured, memory=memory, known=instant)
            rates = instant.rates(lines)
            gap = past + c * rates[moves] - y[places]
            if self._inverse is None or self._c != c or (iteration and iteration % FRESH == 0):
                self._inverse, self._c = self._fresh(instant, lines, rates[moves]), c
            change = self._inverse @ gap
            y[places] += change
            size = float(np.max(np.abs(change) / (1.0 + np.abs(y[places])), initial=0.0))
            if size <= SOLVED:
                return instant, rates
            if size <= ROUNDING and size > STALLED * before:
                instant = Instant(network, t, y, measured=measured, memory=memory, known=instant)
                return instant, instant.rates(lines)
            before = size
        worst = int(np.argmax(np.abs(change) / (1.0 + np.abs(y[places]))))
        name = network.name_of(int(np.nonzero(moves)[0][worst]))
        raise SimulationError(
            f"{name}: its equation in the implicit step at t = {t:.9g} s has no solution that Newton's iteration finds: "
            f"the last correction is {size:.3g}. Take a shorter step, or an explicit method"
        )

    def _fresh(self, at: Instant, lines: Array, rates: Array) -> Array:
        """Return the inverse of 1 - c df/dx, by differences."""
        network, t, y = at.network, at.t, at.y
        moves, c = network.integrated, float(lines[0, 2])
        places = network.first(y) + np.nonzero(moves)[0]
        n = len(places)
        slope = np.zeros((n, n))
        for k in range(n):
            moved = y.copy()
            step = DIFFERENCE * (1.0 + abs(y[places[k]]))
            moved[places[k]] += step
            slope[:, k] = (
                Instant(network, t, moved, measured=at.measured, memory=at.memory, known=at).rates(lines)[moves] - rates
            ) / step
        found: Array = np.linalg.inv(np.eye(n) - c * slope).astype(np.float64)
        return found
