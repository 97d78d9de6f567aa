r"""Implicit methods of fixed step in a blob: the loop of `step_control`, which begins anew where something was set from outside.

    begin     (u', lam) of the state, by the explicit solver;   u'_before, u'_earlier = u'
              a_0 = u' + (alpha_m - alpha_f) h u''              of the generalized-alpha family, u'' by a difference of rates
              x_(-1) = y - h y'                                 of BDF: one point before, on the tangent
    step      from the end of the last one, to t_first + k h

A step of another length, a state, an input or a parameter that is set begins the method anew at the state of now: what an implicit method
remembers of the steps before belongs to another motion.  `Implicit.begin` does the same in Python, once a run.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.status_codes import OK
from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.base import Implicit, ImplicitRun
from haugmbd.integrators.implicit.bdf import BDF, FIRST_PART, KNOWN, history_of
from haugmbd.integrators.implicit.generalized_alpha import PROBE, Newmarks
from haugmbd.integrators.implicit.newton import stage_of
from haugmbd.integrators.implicit.step_control import ImplicitSteps, make_steps
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, steps_to
from haugmbd.math.body_columns import VELOCITY, WIDTH
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import workspace_array

FOREVER = 1e300
"""[s] The end of a run that has none."""
METHODS = (Newmarks, BDF)
"""What begins as `begin` does."""


class Start(NamedTuple):
    """What a method begins with: its numbers, see `start_of_method`;  room: (2, ny) for two states;  lam: (n, slots) for multipliers."""

    numbers: Array
    room: Array
    lam: Array


def implicit_run(problem: Problem, method: Implicit, k1: Array) -> ImplicitRun:
    """Return what the steps of a blob work with.  The tables of the run are those of the model, so that parameters are set once."""
    run = method.begin(problem, k1, FOREVER)
    if not np.array_equal(run.pack.reals, problem.pack.reals):  # pragma: no cover  both are made of the same matrices, in one order
        raise UsageError(f"{type(method).__name__}: the numbers of its model are stored in another order.")
    return run._replace(pack=run.pack._replace(reals=problem.pack.reals))


def start_of_method(run: ImplicitRun, ny: int, most: int) -> Start:
    """Return what `begin` needs: order, points, growth of the first parts, first part of a step, and whether it is BDF.

    most: steps of a call
    """
    is_bdf = float(run.memory.history.size > 1)
    part = FIRST_PART[int(run.step.max_order) - 1] if is_bdf else 1.0
    numbers = np.array([run.step.order, run.step.n_points, run.step.n_equal, part, is_bdf])
    return Start(numbers, np.zeros((2, ny)), np.zeros((most, workspace_array(run.pack, "LAMBDA").size)))


def implicit_steps(problem: Problem, method: Implicit, t: float, h: float, k1: Array, n: int) -> tuple[int, Steps]:
    """Return the code, and the steps made, of n steps of h from the state of a problem, as the engine makes them."""
    run, ny = implicit_run(problem, method, k1), problem.y.size
    start, point = start_of_method(run, ny, n), Point(problem.y, k1)
    steps = steps_to(t + h * np.arange(1, n + 1, dtype=np.float64), ny)
    code, done = begin_again(problem.dynamics, problem.options, run, start, t, h, point), 0
    if code == OK:
        code, done = advance(problem.dynamics, problem.options, run, start, t, h, point, steps)
    return code, Steps(*(each[:done] for each in steps))


@kernel
def add_second_rates(dynamics: Dynamics, options: Options, run: ImplicitRun, start: Start, t: float, h: float, point: Point) -> int:
    """Let a_0 be u' + (alpha_m - alpha_f) h u'' where u' changes by less than itself in a step."""
    P, room, ny, delta = run.pack, start.room, point.y.size, (run.step.alpha_m - run.step.alpha_f) * h
    if delta == 0.0:
        return OK
    for k in range(ny):
        room[0, k] = point.y[k] + PROBE * h * point.y_dot[k]
    code = dynamics.rates(dynamics.pack, options, t + PROBE * h, room[0], room[1])
    if code != OK:
        return code
    total, size = 0.0, 0.0
    for b in range(1, ws.n_bodies(P)):  # the ground has no rates
        for a in range(6):
            k = WIDTH * b + VELOCITY + a
            change = (room[1, k] - point.y_dot[k]) / PROBE
            total += change * change
            size += point.y_dot[k] * point.y_dot[k]
    if sqrt(total) > sqrt(size):
        return OK
    stage = stage_of(P)
    for b in range(1, ws.n_bodies(P)):  # the ground has no rates
        for a in range(6):
            k = WIDTH * b + VELOCITY + a
            stage.a[b, a] += delta * (room[1, k] - point.y_dot[k]) / (PROBE * h)
    return OK


@kernel
def begin_method(run: ImplicitRun, first: Array, t: float, h: float, point: Point) -> None:
    """Let the memory of a method be that of a start at a point, by steps of h."""
    step, control, newton = run.step, run.control, run.newton
    step.order, step.n_points, step.n_equal, step.n_failed = first[0], first[1], first[2], 0.0
    step.h_before, step.factor = 0.0, 0.0
    control.t, control.t_first, control.n_done, control.n_rejected = t, t, 0.0, 0.0
    control.h_fixed, control.h_next = h, h * first[3]
    newton.c_q = newton.c_u = 0.0
    newton.tolerance = control.newton_tol
    if first[4] == 0.0:
        return
    past = history_of(run.memory.history[0], point.y.size)
    for i in range(KNOWN):
        past.t[i] = 0.0
        for k in range(point.y.size):
            past.x[i, k] = 0.0
    past.t[0], past.t[1] = t, t - control.h_next
    bodies = WIDTH * ws.n_bodies(run.pack)
    for k in range(point.y.size):
        past.x[0, k] = past.x[1, k] = point.y[k]
        if WIDTH <= k < bodies:
            past.x[1, k] -= control.h_next * point.y_dot[k]


@kernel
def begin(dynamics: Dynamics, options: Options, run: ImplicitRun, start: Start, t: float, h: float, point: Point) -> int:
    """Begin the method at a point: its rates, u' and lam by the explicit solver, and the memory of a first step of h."""
    code = dynamics.rates(dynamics.pack, options, t, point.y, point.y_dot)
    if code != OK:
        copy_line(ws.status(dynamics.pack), ws.status(run.pack))  # where a blob reads it
        return code
    P, x, n = run.pack, ws.solution(dynamics.pack), ws.n_bodies(run.pack)
    stage, lam, rates = stage_of(P), ws.multipliers(P), ws.angle_rates(P)
    for k in range(n):
        for a in range(6):
            u_dot = x[k, a]
            stage.u_dot[k, a] = stage.a[k, a] = stage.u_dot_before[k, a] = stage.u_dot_earlier[k, a] = u_dot
    for slot in range(lam.size):
        lam[slot] = x[n + slot // 6, slot % 6]
    copy_line(borrow_line(point.y_dot, point.y.size - rates.size, rates.size), rates)
    clear(ws.state_rates_before(P))
    F, F_implicit = ws.driver_values(dynamics.pack), ws.driver_values(P)
    for k in range(F.shape[0]):
        for a in range(F.shape[1]):
            F_implicit[k, a] = F[k, a]
    begin_method(run, start.numbers, t, h, point)
    return add_second_rates(dynamics, options, run, start, t, h, point)


@released
def begin_entry(dynamics: Dynamics, options: Options, run: ImplicitRun, start: Start, t: float, h: float, point: Point) -> int:
    """Begin the method at a point; return the code."""
    return begin(dynamics, options, run, start, t, h, point)


@released
def run_entry(
    dynamics: Dynamics, options: Options, run: ImplicitRun, start: Start, t: float, h: float, point: Point, steps: Steps
) -> tuple[int, int]:
    """Make steps of h from the end of the last one, or from a new start where h is another.

    Return the code and the number of steps done.
    """
    if h != run.control.h_fixed:
        code = begin(dynamics, options, run, start, t, h, point)
        if code != OK:
            return code, 0
    with_lam = ImplicitSteps(steps.t, steps.y, steps.y_dot, start.lam)
    code, done = make_steps(run.method, run.pack, run.step, run.newton, run.control, options, run.memory, point.y, with_lam)
    if done > 0:
        copy_line(steps.y_dot[done - 1], point.y_dot)
    return code, done


advance, begin_again = DirectCall(run_entry), DirectCall(begin_entry)
