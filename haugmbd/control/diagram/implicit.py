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

SHORTEST = 1e-9
"""Part of a step below which it is not halved any more."""
NEAR, FAR, SHARPER = 1e-8, 1e-4, 10.0
"""Changes of a state, relative to 1 + |x|: a slope over the first one that is SHARPER times that over the second has no bound."""


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
        before, instant, start = np.inf, None, y[places].copy()
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
        found = self._damped(Instant(network, t, y, measured=measured, memory=memory, known=instant), lines, past, start)
        if found is not None:
            return found
        worst = int(np.argmax(np.abs(change) / (1.0 + np.abs(y[places]))))
        name = network.name_of(int(np.nonzero(moves)[0][worst]))
        sharp = self._sharp(Instant(network, t, y, measured=measured, memory=memory, known=instant), lines)
        remedy = sharp or "Take a shorter step, or an explicit method"
        raise SimulationError(
            f"{name}: its equation in the implicit step at t = {t:.9g} s has no solution that Newton's iteration finds: "
            f"the last correction is {size:.3g}. {remedy}"
        )

    def _damped(self, at: Instant, lines: Array, past: Array, start: Array) -> tuple[Instant, Array] | None:
        """Solve from the start on by Newton's method with steps that are halved until the gap falls; None if it does not converge.

        A rate that is steep in a narrow range, such as the flow of an orifice, throws whole steps from one side of it to the other.
        """
        network, t, y = at.network, at.t, at.y
        places = network.first(y) + np.nonzero(network.integrated)[0]
        c, scale, before = float(lines[0, 2]), 1.0 + np.abs(start), np.inf

        def look(x: Array) -> tuple[Instant, Array, Array, float]:
            y[places] = x
            instant = Instant(network, t, y, measured=at.measured, memory=at.memory, known=at)
            rates = instant.rates(lines)
            gap = past + c * rates[network.integrated] - x
            return instant, rates, gap, float(np.max(np.abs(gap) / scale, initial=0.0))

        x = start
        instant, rates, gap, size = look(x)
        for _ in range(ITERATIONS):
            change = self._fresh(instant, lines, rates[network.integrated]) @ gap
            new, part = look(x + change), 1.0
            while not new[3] < size and part > SHORTEST:
                part *= 0.5
                new = look(x + part * change)
            step = part * float(np.max(np.abs(change) / (1.0 + np.abs(x)), initial=0.0))
            if step <= SOLVED or (step <= ROUNDING and step > STALLED * before):
                self._inverse = None
                return new[:2]
            if not new[3] < size:
                break
            x, before = x + part * change, step
            instant, rates, gap, size = new
        self._inverse = None
        return None

    def _sharp(self, at: Instant, lines: Array) -> str:
        """Return a sentence on a state with which rates change too sharply for any step, "" if there is none."""
        rates = at.rates(lines)[at.network.integrated]
        near, far = (np.abs(self._slopes(at, lines, rates, part)) for part in (NEAR, FAR))
        growth = np.divide(near, far, out=np.zeros_like(near), where=far > 0.0)
        if not growth.size or growth.max() < SHARPER:
            return ""
        row, k = np.unravel_index(int(growth.argmax()), growth.shape)
        numbers = np.nonzero(at.network.integrated)[0]
        x = float(at.y[at.network.first(at.y) + numbers[k]])
        slopes = f"{near[row, k]:.3g} over a change of {NEAR:g}, and {far[row, k]:.3g} over {FAR:g}"
        return (
            f"The rate of {at.network.name_of(int(numbers[row]))} has no bounded slope there: by a state of "
            f"{at.network.name_of(int(numbers[k]))}, which is {x:.3g}, it is {slopes}, as that of sqrt(|x|) is at zero, or of a jump. "
            "Give it a finite one, as that of an orifice has in laminar flow, p / (p**2 + p_0**2)**0.25 with a small p_0 in place of "
            "sign(p) sqrt(|p|), or take an explicit method"
        )

    def _fresh(self, at: Instant, lines: Array, rates: Array) -> Array:
        """Return the inverse of 1 - c df/dx, by differences."""
        slope = self._slopes(at, lines, rates, DIFFERENCE)
        found: Array = np.linalg.inv(np.eye(len(slope)) - float(lines[0, 2]) * slope).astype(np.float64)
        return found

    def _slopes(self, at: Instant, lines: Array, rates: Array, part: float) -> Array:
        """Return df/dx of the states that move (n, n), by differences of `part`, relative to 1 + |x|."""
        network, t, y = at.network, at.t, at.y
        moves = network.integrated
        places = network.first(y) + np.nonzero(moves)[0]
        n = len(places)
        slope = np.zeros((n, n))
        for k in range(n):
            moved = y.copy()
            step = part * (1.0 + abs(y[places[k]]))
            moved[places[k]] += step
            slope[:, k] = (
                Instant(network, t, moved, measured=at.measured, memory=at.memory, known=at).rates(lines)[moves] - rates
            ) / step
        return slope
