r"""Explicit methods of fixed step: their base classes, and the compiled stepper of all Runge-Kutta methods.

    k_i = f(t + c_i h, y + h sum a_ij k_j)         y <- post_step( y + h sum b_i k_i )         post_step also gives the next k_1

A method is its tableau.
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import floor
from typing import Any, ClassVar, Self

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, inlined_kernel, released
from haugmbd.compiled.status_codes import OK
from haugmbd.errors import UsageError
from haugmbd.integrators.base import FixedStep, check_first_step
from haugmbd.integrators.explicit.tableau import HIGHEST, Tableau, combine, order_of
from haugmbd.integrators.step_batch import StepBatch, batch_lengths
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, end_step, ends_batch, start_of, steps_to
from haugmbd.integrators.watches.rank_watch import watch_stage
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch, change_from_stage, watch_stiffness

LEFT = 1e-9
"""Relative to a step: a smaller remainder to t_end is not a step of its own."""


@inlined_kernel
def make_step(
    dynamics: Dynamics,
    options: Options,
    tableau: Tableau,
    stiffness: StiffnessWatch,
    t: float,
    end: float,
    h: float,
    point: Point,
    k: Array,
    stage: Array,
    y_dot: Array,
) -> int:
    """Advance the point by a step of h from t to `end`; k: (s - 1, ny) k_2, ..., k_s;  stage, y_dot: (ny,) state and rates there."""
    c, a, b = tableau
    for i in range(1, c.size):
        combine(a[i], h, point.y, point.y_dot, k, stage)
        code = dynamics.rates(dynamics.pack, options, t + c[i] * h, stage, k[i - 1])
        if code != OK:
            return code
        watch_stage(dynamics.pack, dynamics.watch, c[i], t + c[i] * h, stage)
    change = change_from_stage(stiffness.columns, a[c.size - 1], b, h, point.y_dot, k)
    combine(b, h, point.y, point.y_dot, k, stage)
    code = end_step(dynamics, options, end, stage, point, y_dot)
    if code == OK and stiffness.columns.size > 0:
        watch_stiffness(stiffness, end, h, change, k[c.size - 2], point.y_dot, point.y)
    return code


@released
def run_entry(
    dynamics: Dynamics,
    options: Options,
    tableau: Tableau,
    stiffness: StiffnessWatch,
    t0: float,
    h: float,
    point: Point,
    k: Array,
    steps: Steps,
) -> tuple[int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or until a watch ends them; k: (s - 1, ny) k_2, ..., k_s.

    Return the code and the number of steps done.
    """
    for step in range(steps.y.shape[0]):
        t, end = start_of(step, t0, steps), steps.t[step]
        code = make_step(dynamics, options, tableau, stiffness, t, end, h, point, k, steps.y[step], steps.y_dot[step])
        if code != OK:
            return code, step
        if ends_batch(dynamics, end, h, point):
            return OK, step + 1
    return OK, steps.y.shape[0]


run = DirectCall(run_entry)


def whole_steps(t: float, t_end: float, h: float) -> tuple[int, float]:
    """Return how many steps of h lead from t to t_end, and the step of the rest, 0 where there is none."""
    full = max(floor((t_end - t) / h * (1.0 + 1e-12)), 0)  # a first step may have ended a rounding beyond t_end
    rest = t_end - t - full * h
    return full, rest if rest > LEFT * h else 0.0


def ends_of_steps(t: float, t_end: float, h: float) -> tuple[Array, float]:
    """Return the ends (n,) of the steps of h from t to t_end, and the step of the rest, 0 where there is none."""
    full, rest = whole_steps(t, t_end, h)
    ends: Array = t + h * np.arange(1, full + 1, dtype=np.float64)
    if full and not rest:
        ends[-1] = t_end
    return ends, rest


@dataclass(frozen=True)
class OneStep(FixedStep):
    """A one-step method of fixed step `h` [s]; the last step is shortened to end at t_end.

    h_first: first step [s], if it differs
    """

    order: ClassVar[int]
    """The global error falls with this power of h."""

    watches_rank: ClassVar[bool] = True
    h_first: float | None = None

    def starting_with(self, h: float) -> Self:
        return replace(self, h_first=h)

    def step_to(self, problem: Problem, k1: Array, t_end: float) -> Iterable[StepBatch]:
        h = t_end - problem.t
        return (self._advance(problem, k1, problem.t, h, np.array([problem.t + h])),)

    def check(self, span: float) -> None:
        super().check(span)
        check_first_step(self.h_first)

    @abstractmethod
    def steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[int, int]:
        """Make steps of `h` from `t` to the times in `steps`, or until a watch ends them; return the code and the number of steps done."""

    def batches(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance to `t_end`; yield a batch of steps at a time."""
        assert self.h is not None
        if self.h_first is not None:
            h_first = min(self.h_first, t_end - problem.t)
            batch = self._advance(problem, k1, problem.t, h_first, np.array([problem.t + h_first]))
            yield batch
            if batch.code != OK:
                return
            problem.t = float(batch.t[-1])
        full, rest = whole_steps(problem.t, t_end, self.h)
        t_start, lengths, done = problem.t, batch_lengths(problem), 0
        while done < full:
            n = min(next(lengths), full - done)
            ends: Array = t_start + self.h * np.arange(done + 1, done + 1 + n, dtype=np.float64)
            if done + n == full and not rest:
                ends[-1] = t_end
            batch = self._advance(problem, k1, t_start + done * self.h, self.h, ends)
            done += len(batch.t)
            failed = batch.code != OK
            yield batch
            if failed:
                return
            del batch  # the next one may need its memory
        if rest:
            yield self._advance(problem, k1, t_start + full * self.h, rest, np.array([t_end]))

    def _advance(self, problem: Problem, k1: Array, t: float, h: float, ends: Array) -> StepBatch:
        """Make steps of `h` from `t`, which end at the times `ends`: these do not depend on where batches begin."""
        steps = steps_to(ends, problem.y.size)
        code, done = self.steps(problem, t, h, k1, steps)
        return StepBatch(steps.t[:done], steps.y[:done], steps.y_dot[:done], code, float(ends[min(done, len(ends) - 1)]), done, 0)


@dataclass(frozen=True)
class Explicit(OneStep):
    """A method that evaluates accelerations; its stabilization treats the constraints."""


@dataclass(frozen=True)
class RungeKutta(Explicit):
    """An explicit Runge-Kutta method: a subclass defines its `tableau` and its `order`."""

    tableau: ClassVar[Tableau]

    def __init_subclass__(cls, **more: Any) -> None:
        """Raise UsageError for an order that the tableau does not have."""
        super().__init_subclass__(**more)
        if "tableau" in vars(cls) and getattr(cls, "order", None) is not None:
            found = order_of(cls.tableau)
            if found < min(cls.order, HIGHEST):
                raise UsageError(f"{cls.__name__}: order = {cls.order}, and its tableau has the order {found}.")

    def steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[int, int]:
        return runge_kutta_steps(self.tableau, problem, t, h, Point(problem.y, k1), steps)


def runge_kutta_steps(tableau: Tableau, problem: Problem, t: float, h: float, point: Point, steps: Steps) -> tuple[int, int]:
    """Make steps of the method with this tableau from a point, which is advanced in place; return the code and the number of steps done."""
    k, stiffness = problem.stages(tableau.b.size - 1), problem.stiffness(bool(tableau.b.size > 1 and tableau.c[-1] == 1.0))
    found: tuple[int, int] = run(problem.dynamics, problem.options, tableau, stiffness, float(t), float(h), point, k, steps)
    return found
