r"""Explicit methods of fixed step: what they share as objects, and the stepper of all Runge-Kutta methods.

    k_i = f(t + c_i h, y + h sum a_ij k_j)         y <- post_step( y + h sum b_i k_i )         settle also gives the next k_1

A method is its tableau; a Runge-Kutta step written out for one method is not faster (chain of 50 links, RK4: 107 us both).
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.base import FixedStep, check_first_step
from haugmbd.integrators.explicit.tableau import combine
from haugmbd.integrators.step_batch import StepBatch, batch_lengths
from haugmbd.integrators.step_context import Problem, check_finite
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace.layout import Pack

LEFT = 1e-9
"""Of a step: what is left to t_end and makes no step of its own."""


@entry
def run(
    rates: Any,
    post_step: Any,
    P: Pack,
    options: Array,
    T: Array,
    t0: float,
    h: float,
    y: Array,
    k1: Array,
    room: Array,
    ys: Array,
    ks: Array,
) -> tuple[int, int]:
    """Advance y and k1 in place by as many steps as `ys` (n, ny) has rows; fill ys and ks (states, rates); return code and steps done.

    T: (s + 1, s + 1) the tableau;  room: (s, ny)
    """
    stages = T.shape[0] - 1
    for step in range(ys.shape[0]):
        t, stage = t0 + step * h, ys[step]
        copy_line(k1, room[0])
        for i in range(1, stages):
            combine(T, i, h, y, room, stage)
            code = rates(P, options, t + T[i, 0] * h, stage, room[i])
            if code != OK:
                return code, step
        combine(T, stages, h, y, room, stage)
        code = check_finite(P, stage)
        if code == OK:
            code = post_step(P, options, t0 + (step + 1) * h, stage, k1)
        if code != OK:
            return code, step
        copy_line(stage, y)
        copy_line(k1, ks[step])
    return OK, ys.shape[0]


@dataclass(frozen=True)
class OneStep(FixedStep):
    """A method that needs no more than the last state, of fixed step `h` [s]; the last step is shortened to end at t_end.

    h_first: another first step [s]
    """

    order: ClassVar[int]
    """The global error falls with this power of h."""

    h_first: float | None = None

    def starting_with(self, h: float) -> Self:
        return replace(self, h_first=h)

    def check(self, span: float) -> None:
        super().check(span)
        check_first_step(self.h_first)

    @abstractmethod
    def steps(self, problem: Problem, t: float, h: float, k1: Array, ys: Array, ks: Array) -> tuple[int, int]:
        """Make steps of `h` from `t`, as many as `ys` (n, ny) has rows; return code and steps done."""

    def chunks(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
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
        t_start, lengths, done = problem.t, batch_lengths(problem), 0
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

    def _advance(self, problem: Problem, k1: Array, t: float, h: float, n: int) -> StepBatch:
        """`n` steps of `h` from `t`."""
        ys, ks = np.empty((n, problem.y.size)), np.empty((n, problem.y.size))
        code, done = self.steps(problem, t, h, k1, ys, ks)
        times: Array = t + h * np.arange(1, done + 1, dtype=np.float64)
        return StepBatch(times, ys[:done], ks[:done], code, t + (done + 1) * h, done, 0)


@dataclass(frozen=True)
class Explicit(OneStep):
    """A method that asks for accelerations, and knows of constraints only by its stabilization."""


@dataclass(frozen=True)
class RungeKutta(Explicit):
    """An explicit Runge-Kutta method: a subclass says its `tableau` and its `order`."""

    tableau: ClassVar[Array]

    def steps(self, problem: Problem, t: float, h: float, k1: Array, ys: Array, ks: Array) -> tuple[int, int]:
        return runge_kutta_steps(self.tableau, problem, t, h, problem.y, k1, ys, ks)


def runge_kutta_steps(T: Array, problem: Problem, t: float, h: float, y: Array, k1: Array, ys: Array, ks: Array) -> tuple[int, int]:
    """Steps of the method with tableau `T` from the state `y` with rates `k1`, which are advanced in place."""
    room = np.zeros((len(T) - 1, y.size))
    found: tuple[int, int] = run(problem.rates, problem.post_step, problem.pack, problem.options, T, t, h, y, k1, room, ys, ks)
    return found
