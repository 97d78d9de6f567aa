r"""Embedded explicit Runge-Kutta methods with error control: one compiled loop for all; a method is its tableau and its errors.

    k_i = f(t + c_i h, y + h sum a_ij k_j)     y_1 = post_step( y + h sum b_i k_i )     k_(s+1) = f(t + h, y_1), the next k_1
    e   = h sum e_i k_i    e' = h sum e'_i k_i                                       over i = 1 ... s + 1, relative to the tolerances:
    |x| = sqrt( sum ( x_a / (atol_a + rtol max(|y_a|, |y_1a|)) )^2 )        atol_a: see `Adaptive`
    error = |e|^2 / sqrt( (|e|^2 + |e'|^2 / 100) n )                                 without e': the root mean square of e
    h <- h min(grow, max(shrink, 0.9 error^-(1/q - 0.75 beta) error_before^beta))    q: order of e + 1;   a step with error > 1 is repeated

beta > 0 (PI control) smooths the sequence of steps: fewer steps are rejected, and each is a little shorter.  The number of evaluations is
about the same, so that the default is 0.
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.4, II.10 (error of DOP853); Gustafsson (1991) for PI control.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.records import new_record, record_dtype
from haugmbd.compiled.status_codes import OK, SHORTER_STEP_MAY_AVOID, STEP_TOO_SMALL
from haugmbd.errors import UsageError
from haugmbd.integrators.base import Adaptive
from haugmbd.integrators.explicit.tableau import Tableau, combine
from haugmbd.integrators.step_batch import StepBatch, batch_lengths
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, check_finite, empty_steps, ends_batch
from haugmbd.integrators.watches.rank_watch import restore_values, watch_stage
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace import accessors as ws

SAFETY = 0.9
SMALLEST_STEP = 1e-14
"""Relative to |t| + 1 s, or to |t| and the rest of a run that is shorter: a step below it no longer changes t reliably."""
LEAST_ERROR = 1e-4
"""Lower limit of the error that PI control stores."""


class Control:
    """The progress of a run to its end."""

    t: float  # where the run is [s]
    t_end: float
    h_next: float
    rtol: float
    atol: float
    h_max: float
    n_rejected: float
    error_order: float  # q
    beta: float  # of PI control
    error_before: float
    shrink: float  # limits of the change of a step
    grow: float


CONTROL = record_dtype(Control)


class Embedded(NamedTuple):
    """The numbers of an embedded method.

    tableau: of the method;  errors: (2, s + 1) e and e';  units: (ny,) what atol is multiplied by
    """

    tableau: Tableau
    errors: Array
    units: Array


@kernel
def error_of(E: Array, units: Array, h: float, control: Control, y: Array, y1: Array, k1: Array, k: Array) -> float:
    """Return the error of a step in the tolerances;  k: (s, ny) k_2, ..., k_(s+1), the rates at y1 last."""
    first = second = 0.0
    n = E.shape[1] - 1
    for a in range(y.size):
        e, e2 = E[0, n] * k[n - 1, a], E[1, n] * k[n - 1, a]
        e += E[0, 0] * k1[a]
        e2 += E[1, 0] * k1[a]
        for i in range(1, n):
            e += E[0, i] * k[i - 1, a]
            e2 += E[1, i] * k[i - 1, a]
        size = control.atol * units[a] + control.rtol * max(abs(y[a]), abs(y1[a]))
        first += (h * e / size) ** 2
        second += (h * e2 / size) ** 2
    return first / sqrt((first + 0.01 * second) * y.size) if first != 0.0 else 0.0


@kernel
def factor_of(error: float, control: Control) -> float:
    """Return the factor of the next step."""
    if error == 0.0:
        return control.grow
    found: float = SAFETY * error ** (0.75 * control.beta - 1.0 / control.error_order) * control.error_before**control.beta
    return min(control.grow, max(control.shrink, found))


@released
def run_entry(
    dynamics: Dynamics, options: Options, method: Embedded, control: Control, point: Point, k: Array, steps: Steps
) -> tuple[int, int]:
    """Advance the point to control.t_end, until `steps` is full, or until a watch ends them.

    k: (s, ny) k_2, ..., k_(s+1).  Return the code and the number of steps done.
    """
    ((c, a, b), E, units), P, watch = method, dynamics.pack, dynamics.watch
    t, t_end, h = control.t, control.t_end, control.h_next
    stages, done = c.size, 0
    while done < steps.y.shape[0] and t < t_end:
        h = min(h, control.h_max)
        last = t + h >= t_end * (1.0 - 1e-15) or t + 1.0001 * h >= t_end
        step = t_end - t if last else h
        stage, k_next, code = steps.y[done], k[stages - 1], OK
        for i in range(1, stages):
            combine(a[i], step, point.y, point.y_dot, k, stage)
            code = dynamics.rates(P, options, t + c[i] * step, stage, k[i - 1])
            if code != OK:
                break
            watch_stage(P, watch, c[i], t + c[i] * step, stage)
        if code == OK:
            combine(b, step, point.y, point.y_dot, k, stage)
            code = check_finite(P, stage)
        since = options.n_since_projection
        if code == OK:
            code = dynamics.post_step(P, options, t + step, stage, k_next)
        error = 1e10
        if code == OK:
            error = error_of(E, units, step, control, point.y, stage, point.y_dot, k)
        elif code not in SHORTER_STEP_MAY_AVOID:
            control.t, control.h_next = t, h
            return code, done
        factor = factor_of(error, control)
        if error <= 1.0:
            t = t_end if last else t + step
            copy_line(stage, point.y)
            copy_line(k_next, point.y_dot)
            copy_line(k_next, steps.y_dot[done])
            control.error_before = max(error, LEAST_ERROR)
            steps.t[done] = t
            done += 1
        else:
            control.n_rejected += 1.0
            options.n_since_projection = since
            restore_values(watch)
        if not error <= 1.0 or not last:
            h = step * factor
        if not h > SMALLEST_STEP * (abs(t) + min(1.0, t_end - t)):
            control.t, control.h_next = t, h
            if code == OK:
                code = STEP_TOO_SMALL
                ws.status(P)[2] = h
            return code, done
        if error <= 1.0 and ends_batch(dynamics, t, h, point):
            break
    control.t, control.h_next = t, h
    return OK, done


run = DirectCall(run_entry)


@dataclass(frozen=True, kw_only=True)
class EmbeddedRungeKutta(Adaptive):
    """An embedded method: a subclass defines its `tableau`, `order`, `errors`, `error_order` and limits.

    beta: exponent of PI control, 0 for none, 0.04 is usual
    """

    watches_rank: ClassVar[bool] = True
    order: ClassVar[int]
    tableau: ClassVar[Tableau]
    errors: ClassVar[Array]
    """(2, s + 1): e_i and e'_i."""
    error_order: ClassVar[int]
    """q: the error of a step falls with this power of h."""
    limits: ClassVar[tuple[float, float]] = (0.2, 5.0)
    """Limits of the factor of a step."""

    beta: float = 0.0

    def check(self, span: float) -> None:
        super().check(span)
        most = 0.5 / self.error_order
        if not 0.0 <= self.beta <= most:
            raise UsageError(f"beta = {self.beta} of PI control must be between 0 (off) and {most:g} here; 0.04 is usual.")

    def batches(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance to `t_end`; yield a batch of steps at a time."""
        ny = problem.y.size
        units = self.units(problem)
        h = self.h_first or self._first_step(problem.y, k1, t_end - problem.t, units)
        control = new_record(
            CONTROL,
            t=problem.t,
            t_end=t_end,
            h_next=h,
            rtol=self.rtol,
            atol=self.atol,
            h_max=min(self.h_max, t_end - problem.t),
            error_order=self.error_order,
            beta=self.beta,
            error_before=LEAST_ERROR,
            shrink=self.limits[0],
            grow=self.limits[1],
        )
        k, lengths = problem.stages(self.tableau.b.size), batch_lengths(problem)
        method, point = Embedded(self.tableau, self.errors, units), Point(problem.y, k1)
        while control.t < t_end:
            steps = empty_steps(next(lengths), ny)
            control.n_rejected = 0.0
            code, done = run(problem.dynamics, problem.options, method, control, point, k, steps)
            rejected = int(control.n_rejected)
            yield StepBatch(steps.t[:done], steps.y[:done], steps.y_dot[:done], code, control.t, done, rejected)
            if code != OK:
                return

    def _first_step(self, y: Array, k1: Array, span: float, units: Array) -> float:
        """Return a hundredth of the time in which y changes by its own size, relative to the tolerances (Hairer, sec. II.4)."""
        scale = self.atol * units + self.rtol * np.abs(y)
        d0, d1 = np.sqrt(np.mean((y / scale) ** 2)), np.sqrt(np.mean((k1 / scale) ** 2))
        return float(min(span, 0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6))
