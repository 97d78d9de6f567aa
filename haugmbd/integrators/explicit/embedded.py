r"""Embedded explicit Runge-Kutta methods with error control: one compiled loop for all, a method is its tableau and its errors.

    k_i = f(t + c_i h, y + h sum a_ij k_j)     y_1 = post_step( y + h sum b_i k_i )     k_(s+1) = f(t + h, y_1), the next k_1
    e   = h sum e_i k_i    e' = h sum e'_i k_i                                       over i = 1 ... s + 1, measured in the tolerances:
    |x| = sqrt( sum ( x_a / (atol + rtol max(|y_a|, |y_1a|)) )^2 )
    error = |e|^2 / sqrt( (|e|^2 + |e'|^2 / 100) n )                                 without e': the root mean square of e
    h <- h min(grow, max(shrink, 0.9 error^-(1/q - 0.75 beta) error_before^beta))    q: order of e + 1;   a step with error > 1 is repeated

beta > 0 (PI control) damps the sequence of steps: with 0.04 half as many are refused, each is 5 % shorter (DOP853: 13 %), and the
evaluations of a run come out the same within 10 % either way, so that it is off where nothing is said.
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.4, II.10 (error of DOP853); Gustafsson (1991) for PI control.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry, kernel
from haugmbd.compiled.status_codes import NOT_FINITE, OFF_MANIFOLD, OK, SINGULAR, STEP_TOO_SMALL
from haugmbd.errors import UsageError
from haugmbd.integrators.base import Adaptive
from haugmbd.integrators.explicit.tableau import combine
from haugmbd.integrators.step_batch import StepBatch, batch_lengths
from haugmbd.integrators.step_context import SINCE, Problem, check_finite
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace.layout import STATUS, Pack

SAFETY = 0.9
SMALLEST_STEP = 1e-14
"""Relative to |t| + 1 s: a step below it no longer changes t reliably."""
LEAST_ERROR = 1e-4
"""What PI control remembers of a step that was better than this."""

T_NOW, T_END, H, RTOL, ATOL, H_MAX, REJECTED, Q, BETA, BEFORE, SHRINK, GROW = range(12)
"""Where the numbers of the control stand: time, end and next step [s]; tolerances; largest step; steps refused; q, beta, error_before;
limits of the change of a step."""


@kernel
def error_of(E: Array, h: float, control: Array, y: Array, y1: Array, k_next: Array, room: Array) -> float:
    """The error of a step in the tolerances."""
    first = second = 0.0
    n, ny = E.shape[1] - 1, y.size
    for a in range(ny):
        e, e2 = E[0, n] * k_next[a], E[1, n] * k_next[a]
        for i in range(n):
            e += E[0, i] * room[i, a]
            e2 += E[1, i] * room[i, a]
        size = control[ATOL] + control[RTOL] * max(abs(y[a]), abs(y1[a]))
        first += (h * e / size) ** 2
        second += (h * e2 / size) ** 2
    return first / sqrt((first + 0.01 * second) * ny) if first != 0.0 else 0.0


@kernel
def factor_of(error: float, control: Array) -> float:
    """By what the step is multiplied."""
    if error == 0.0:
        return float(control[GROW])
    found = SAFETY * error ** (0.75 * control[BETA] - 1.0 / control[Q]) * control[BEFORE] ** control[BETA]
    return float(min(control[GROW], max(control[SHRINK], found)))


@entry
def run(
    rates: Any,
    post_step: Any,
    P: Pack,
    options: Array,
    T: Array,
    E: Array,
    control: Array,
    y: Array,
    k1: Array,
    room: Array,
    ts: Array,
    ys: Array,
    ks: Array,
) -> tuple[int, int]:
    """Advance y and k1 in place to control[T_END] or until `ys` (n, ny) is full; fill ts, ys, ks; return code and steps done.

    T: (s + 1, s + 1) the tableau;  E: (2, s + 1) e and e';  room: (s + 1, ny)
    """
    t, t_end, h = control[T_NOW], control[T_END], control[H]
    stages, done = T.shape[0] - 1, 0
    while done < ys.shape[0] and t < t_end:
        h = min(h, control[H_MAX])
        last = t + h >= t_end * (1.0 - 1e-15) or t + 1.0001 * h >= t_end
        step = t_end - t if last else h
        stage, k_next, code = ys[done], room[stages], OK
        copy_line(k1, room[0])
        for i in range(1, stages):
            combine(T, i, step, y, room, stage)
            code = rates(P, options, t + T[i, 0] * step, stage, room[i])
            if code != OK:
                break
        if code == OK:
            combine(T, stages, step, y, room, stage)
            code = check_finite(P, stage)
        since = options[SINCE]
        if code == OK:
            code = post_step(P, options, t + step, stage, k_next)
        error = 1e10
        if code == OK:
            error = error_of(E, step, control, y, stage, k_next, room)
        elif code != NOT_FINITE and code != OFF_MANIFOLD and code != SINGULAR:  # those a shorter step may avoid
            control[T_NOW], control[H] = t, h
            return code, done
        factor = factor_of(error, control)
        if error <= 1.0:
            t = t_end if last else t + step
            copy_line(stage, y)
            copy_line(k_next, k1)
            copy_line(k_next, ks[done])
            control[BEFORE] = max(error, LEAST_ERROR)
            ts[done] = t
            done += 1
        else:
            control[REJECTED] += 1.0
            options[SINCE] = since
        if not error <= 1.0 or not last:
            h = step * factor
        if not h > SMALLEST_STEP * (abs(t) + 1.0):
            control[T_NOW], control[H] = t, h
            if code == OK:
                code = STEP_TOO_SMALL
                P.work[P.ints[3 * STATUS] + 2] = h
            return code, done
    control[T_NOW], control[H] = t, h
    return OK, done


@dataclass(frozen=True, kw_only=True)
class EmbeddedRungeKutta(Adaptive):
    """An embedded method: a subclass says its `tableau`, `order`, `errors`, `error_order` and limits.

    beta: of PI control, 0 for none, 0.04 is usual
    """

    order: ClassVar[int]
    tableau: ClassVar[Array]
    errors: ClassVar[Array]
    """(2, s + 1): e_i and e'_i."""
    error_order: ClassVar[int]
    """q: the error of a step falls with this power of h."""
    limits: ClassVar[tuple[float, float]] = (0.2, 5.0)
    """The most that a step shrinks and grows."""

    beta: float = 0.0

    def check(self, span: float) -> None:
        super().check(span)
        most = 0.5 / self.error_order
        if not 0.0 <= self.beta <= most:
            raise UsageError(f"beta = {self.beta} of PI control must be between 0 (off) and {most:g} here; 0.04 is usual.")

    def chunks(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance to `t_end`, a chunk of steps at a time."""
        ny = problem.y.size
        h = self.h_first or self._first_step(problem.y, k1, t_end - problem.t)
        control = np.array(
            [problem.t, t_end, h, self.rtol, self.atol, min(self.h_max, t_end - problem.t), 0.0]
            + [self.error_order, self.beta, LEAST_ERROR, *self.limits]
        )
        room, lengths = np.zeros((len(self.tableau), ny)), batch_lengths(problem)
        while control[T_NOW] < t_end:
            most = next(lengths)
            ts, ys, ks = np.empty(most), np.empty((most, ny)), np.empty((most, ny))
            control[REJECTED] = 0.0
            work = (control, problem.y, k1, room, ts, ys, ks)
            code, done = run(problem.rates, problem.post_step, problem.pack, problem.options, self.tableau, self.errors, *work)
            yield StepBatch(ts[:done], ys[:done], ks[:done], code, control[T_NOW], done, int(control[REJECTED]))
            if code != OK:
                return

    def _first_step(self, y: Array, k1: Array, span: float) -> float:
        """A hundredth of the time in which y changes by its own size, measured in the tolerances (Hairer, sec. II.4)."""
        scale = self.atol + self.rtol * np.abs(y)
        d0, d1 = np.sqrt(np.mean((y / scale) ** 2)), np.sqrt(np.mean((k1 / scale) ** 2))
        return float(min(span, 0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6))
