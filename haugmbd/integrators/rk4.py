r"""RK4: the classical Runge-Kutta method of order four, fixed step.

    k1 = f(t, y)   k2 = f(t + h/2, y + h k1/2)   k3 = f(t + h/2, y + h k2/2)   k4 = f(t + h, y + h k3)
    y <- settle( y + h (k1 + 2 k2 + 2 k3 + k4) / 6 )                                            settle also gives the next k1

Source: Kutta (1901); Hairer, Norsett, Wanner, Solving ODE I, table II.1.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from haugmbd.algebra.jit import entry
from haugmbd.algebra.vec3 import Array
from haugmbd.integrators.chunk import Chunk, chunk_lengths
from haugmbd.integrators.method import FixedStep
from haugmbd.integrators.stepping import Problem, check_finite
from haugmbd.model.status import OK
from haugmbd.model.tables import Pack

LEFT = 1e-9
"""Of a step: what is left to t_end and makes no step of its own."""


@entry
def run(
    rates: Any, settle: Any, P: Pack, options: Array, t0: float, h: float, y: Array, k1: Array, room: Array, ys: Array, ks: Array
) -> tuple[int, int]:
    """Advance y and k1 in place by as many steps as `ys` (n, ny) has rows; fill ys and ks (states, rates); return code and steps done."""
    k2, k3, k4, stage = room[0], room[1], room[2], room[3]
    for step in range(ys.shape[0]):
        t = t0 + step * h
        for a in range(y.size):
            stage[a] = y[a] + 0.5 * h * k1[a]
        code = rates(P, options, t + 0.5 * h, stage, k2)
        for a in range(y.size):
            stage[a] = y[a] + 0.5 * h * k2[a]
        code = max(code, rates(P, options, t + 0.5 * h, stage, k3))
        for a in range(y.size):
            stage[a] = y[a] + h * k3[a]
        code = max(code, rates(P, options, t + h, stage, k4))
        for a in range(y.size):
            stage[a] = y[a] + h / 6.0 * (k1[a] + 2.0 * k2[a] + 2.0 * k3[a] + k4[a])
        if code == OK:
            code = check_finite(P, stage)
        if code == OK:
            code = settle(P, options, t0 + (step + 1) * h, stage, k4)
        if code != OK:
            return code, step
        for a in range(y.size):
            y[a] = stage[a]
            k1[a] = k4[a]
            ys[step, a] = y[a]
            ks[step, a] = k1[a]
    return OK, ys.shape[0]


@dataclass(frozen=True)
class RK4(FixedStep):
    """Four stages, order four, fixed step `h` [s]; the last step is shortened to end at t_end.  h_first: another first step [s]."""

    h_first: float | None = None

    reference: ClassVar[str] = "Kutta 1901; Hairer, Norsett and Wanner, Solving ODE I, table II.1.2"

    def starting_with(self, h: float) -> Self:
        return replace(self, h_first=h)

    def chunks(self, problem: Problem, k1: Array, t_end: float) -> Iterator[Chunk]:
        """Advance to `t_end`, a chunk of steps at a time."""
        assert self.h is not None
        if self.h_first is not None:
            chunk = self._advance(problem, k1, problem.t, min(self.h_first, t_end - problem.t), 1)
            yield chunk
            if chunk.code != OK:
                return
            problem.t = float(chunk.t[-1])
        full = int(np.floor((t_end - problem.t) / self.h * (1.0 + 1e-12)))
        rest = t_end - problem.t - full * self.h
        t_start, lengths, done = problem.t, chunk_lengths(problem.y.size, problem.first_chunk), 0
        while done < full:
            n = min(next(lengths), full - done)
            chunk = self._advance(problem, k1, t_start + done * self.h, self.h, n)
            chunk.t[:] = t_start + self.h * np.arange(done + 1, done + 1 + len(chunk.t))
            done += n
            if done == full and rest <= LEFT * self.h:
                chunk.t[n - 1 :] = t_end
            yield chunk
            if chunk.code != OK:
                return
        if rest > LEFT * self.h:
            chunk = self._advance(problem, k1, t_start + full * self.h, rest, 1)
            chunk.t[:] = t_end
            yield chunk

    def _advance(self, problem: Problem, k1: Array, t: float, h: float, n: int) -> Chunk:
        """`n` steps of `h` from `t`."""
        ny = problem.y.size
        ys, ks, room = np.empty((n, ny)), np.empty((n, ny)), np.zeros((4, ny))
        code, done = run(problem.rates, problem.settle, problem.pack, problem.options, t, h, problem.y, k1, room, ys, ks)
        times: Array = t + h * np.arange(1, done + 1, dtype=np.float64)
        return Chunk(times, ys[:done], ks[:done], code, t + (done + 1) * h, done, 0)
