r"""Tangents along the steps of implicit methods: the steps of a run solved again in dual numbers.

    R(x, dx) = 0      x <- x - K^-1 R(x),   dx <- dx - K^-1 dR        K: the matrix of `integrators.implicit.newton`, kept in a step

The value is at the solution from the first steps on; the tangents follow at the rate of the iteration, which ends where both rest.
A method of the generalized-alpha family is its `predict`, `place` and the weights of a; Radau IIA is its three stages and their end.
Sources: Griewank, Walther (2008), ch. 15 (tangents of fixed points); the methods: see `integrators.implicit`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.records import new_record
from haugmbd.compiled.scalars import LANES, as_duals, tangent_of, value_of
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK
from haugmbd.formulations.newton_euler import factorize, finish, rates_of_stage
from haugmbd.integrators.implicit.base import Implicit, tangents_of
from haugmbd.integrators.implicit.constraint_form import Index2
from haugmbd.integrators.implicit.generalized_alpha import PLACE, PREDICT, PROBE, Newmarks
from haugmbd.integrators.implicit.newton import (
    KEEP_BOTH,
    finish_step,
    move_to_constraints,
    put_residual,
    stage_of,
    take,
    turn_ahead,
    turn_by_trapezoids,
)
from haugmbd.integrators.implicit.radau import PREDICT as PREDICT_STAGES
from haugmbd.integrators.implicit.radau import RadauIIA, turn
from haugmbd.integrators.implicit.radau_stages import (
    correct,
    finish_stages,
    keep,
    keep_state_stage,
    put_stage,
    put_stages,
    put_state_end,
    put_state_stage,
    start_states,
)
from haugmbd.integrators.implicit.radau_tableau import ROWS, C, L, radau_memory
from haugmbd.integrators.implicit.records import NEWTON, STEP, Newton, Step
from haugmbd.integrators.step_context import Options
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import put_angle_rates_of_loads
from haugmbd.model.inspection.length import rate_of
from haugmbd.model.model import Model
from haugmbd.sensitivity.dual_pack import DUALS, DualPack
from haugmbd.sensitivity.tangents import Memory, give, project
from haugmbd.sensitivity.tangents import take as take_lanes
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.families import twin
from haugmbd.workspace.internal_states import put_state_trapezoids
from haugmbd.workspace.layout import WIDTH, Pack

MOST, LEAST = 60, 3
"""Corrections of a step."""
RESTS, SLOW = 1e-14, 0.5
"""A correction, relative to the largest tangent, that is rounding; and one that leaves more than this part of the one before."""
NEAR = 1e-6
"""Relative: where corrections that do not fall any more are rounding."""
ROUNDED = 1e-10
"""Violation after a step of index 3, in lengths, that is not moved."""


class RealPart(NamedTuple):
    """What the matrix of the iteration is made with: the routine of the tangents of forces, its workspace, and room for a state (ny,)."""

    tangents: Routine
    pack: Pack
    y: Array


class ImplicitMethod(NamedTuple):
    """An implicit method in duals: its routines, and its numbers.  stages: whether it is Radau IIA;  alpha_m, alpha_f: of the family"""

    predict: Routine
    place: Routine
    real: RealPart
    stages: bool
    alpha_m: float
    alpha_f: float
    probes: float


@kernel
def put_tangents(P: DualPack, real: RealPart, newton: Newton, t: float, y: Array) -> int:
    """Write the tangents of the forces to the matrix, which has no derivative: they are those of the values."""
    R, line = real.pack, real.y
    if ws.n_forces(P) == 0:
        return OK
    for a in range(y.size):
        line[a] = value_of(y[a])
    code: int = real.tangents(R, newton, t, line)
    own, pairs, to, to_pairs = ws.tangents(R), ws.coupled_tangents(R), ws.tangents(P), ws.coupled_tangents(P)
    for k in range(own.shape[0]):
        for a in range(own.shape[1]):
            to[k, a] = own[k, a]
    for k in range(pairs.shape[0]):
        for a in range(pairs.shape[1]):
            to_pairs[k, a] = pairs[k, a]
    return code


@kernel
def solve_correction(P: DualPack, real: RealPart, newton: Newton, t: float, y: Array) -> int:
    """Solve for the correction of the residual at hand."""
    put_residual(P, newton, y)
    code = put_tangents(P, real, newton, t, y)
    if code == OK:
        code = factorize(P)
    if code == OK:
        code = finish(P)
    return code


@kernel
def resting(P: DualPack, newton: Newton, y: Array, before: float) -> tuple[bool, float]:
    """Return whether the last correction is rounding, and its size: of velocities, relative to the largest velocity and its tangents."""
    x, n = ws.solution(P), ws.n_bodies(P)
    moved, size = 0.0, 1e-300
    for k in range(1, n):
        for a in range(6):
            u = y[WIDTH * k + VELOCITY + a]
            moved = max(moved, abs(newton.c_u * value_of(x[k, a])))
            size = max(size, abs(value_of(u)))
            for lane in range(LANES):
                moved = max(moved, abs(newton.c_u * tangent_of(x[k, a], lane)))
                size = max(size, abs(tangent_of(u, lane)))
    moved /= size
    return moved <= RESTS or (moved <= NEAR and moved > SLOW * before), moved


@kernel
def solve_in_duals(P: DualPack, method: ImplicitMethod, newton: Newton, t: float, y: Array) -> int:
    """Iterate a step of the generalized-alpha family until values and tangents rest."""
    before = 1e300
    for count in range(MOST):
        code: int = method.place(P, newton, y)
        if code == OK:
            code = prepare(P, t, y)
        if code != OK:
            return code
        code = solve_correction(P, method.real, newton, t, y)
        if code != OK:
            return code
        take(P, newton, y)
        rests, moved = resting(P, newton, y, before)
        if newton.constraint_form == KEEP_BOTH:
            code, _ = move_to_constraints(P, newton.length)
        if rests and count >= LEAST:
            code = method.place(P, newton, y)
            return prepare(P, t, y) if code == OK else code
        before = moved
    return NO_CONVERGENCE


@kernel
def solve_stages_in_duals(
    P: DualPack, method: ImplicitMethod, newton: Newton, options: Options, memory: Array, t: float, y: Array
) -> int:
    """Iterate the three stages of Radau IIA until values and tangents rest, and write the end of the step."""
    m = radau_memory(memory)
    n, h, before = ws.n_bodies(P), value_of(m.h[0]), 1e300
    start_states(P, m)
    for count in range(MOST):
        put_stages(m, n, newton.length)
        worst, rests = 0.0, True
        for i in range(3):
            code = correct_stage(P, method, newton, m, i, h, t, y)
            if code != OK:
                return code
            moved = change_of_stage(m, i, n, h, y)
            worst = max(worst, moved)
        correct(m, n)
        rests = worst <= RESTS or (worst <= NEAR and worst > SLOW * before)
        if rests and count >= LEAST:
            put_stages(m, n, newton.length)
            code = OK
            if ws.n_states(P) > 0:
                for i in range(3):  # x' at the poses after the last corrections
                    put_stage(P, m, i, 0, y)
                    put_state_stage(P, m, i, i)
                    code = method.place(P, newton, y)
                    if code == OK:
                        code = prepare(P, t - h * (1.0 - C[i]), y)
                    if code != OK:
                        return code
                    keep_state_stage(P, m, i, y)
            put_stage(P, m, C.size - 1, 0, y)
            put_state_end(P, m, y)
            if code == OK:
                code = finish_stages(P, method.place, newton, options, t, y)
            return code
        before = worst
    return NO_CONVERGENCE


@kernel
def correct_stage(P: DualPack, method: ImplicitMethod, newton: Newton, m: Any, i: int, h: float, t: float, y: Array) -> int:
    """Correct stage i once, as `radau_stages.solve_one`."""
    put_stage(P, m, i, i, y)
    put_state_stage(P, m, i, i)
    now = t - h * (1.0 - C[i])
    code: int = method.place(P, newton, y)
    if code == OK:
        code = prepare(P, now, y)
    if code != OK:
        return code
    keep_state_stage(P, m, i, y)
    if ws.n_angles(P) > 0:
        put_angle_rates_of_loads(P, now, y, m.angle_rates[i])
    newton.c_u = h * L[i, i]
    newton.c_q = newton.c_u**2
    code = solve_correction(P, method.real, newton, now, y)
    if code != OK:
        return code
    take(P, newton, y)
    both = newton.constraint_form == KEEP_BOTH
    if both:
        code, _ = move_to_constraints(P, newton.length)
    keep(P, m, i, both, y)
    return code


@kernel
def change_of_stage(m: Any, i: int, n: int, h: float, y: Array) -> float:
    """Return the size of the correction of a stage, relative to the largest velocity and its tangents."""
    moved, size = 0.0, 1e-300
    for k in range(1, n):
        for a in range(6):
            u, x = y[WIDTH * k + VELOCITY + a], m.du_dot[i, 6 * k + a]
            moved, size = max(moved, h * abs(value_of(x))), max(size, abs(value_of(u)))
            for lane in range(LANES):
                moved, size = max(moved, h * abs(tangent_of(x, lane))), max(size, abs(tangent_of(u, lane)))
    return moved / size


@kernel
def start(P: DualPack, method: ImplicitMethod, h: float, t: float, y: Array, y_dot: Array, ahead: Array, ahead_dot: Array) -> int:
    """Write u', its history, lam and the rates of angles at the start, where y' has just been solved for."""
    stage, x, lam, rate = stage_of(P), ws.solution(P), ws.multipliers(P), ws.angle_rates(P)
    n = ws.n_bodies(P)
    code = rates_of_stage(P, t, y, y_dot)
    for k in range(n):
        for a in range(6):
            u_dot = x[k, a] if k > 0 else 0.0 * x[0, a]
            stage.u_dot[k, a] = u_dot
            stage.a[k, a] = u_dot
            stage.u_dot_before[k, a] = u_dot
            stage.u_dot_earlier[k, a] = u_dot
    for s in range(lam.size):
        lam[s] = x[n + s // 6, s % 6]
    for k in range(rate.size):
        rate[k] = y_dot[y.size - rate.size + k]
    delta = method.alpha_m - method.alpha_f
    if code != OK or method.stages or delta == 0.0:
        return code
    # a_0 = u' at t_0 + delta h, by the difference of `generalized_alpha.second_rate`
    for a in range(y.size):
        ahead[a] = y[a] + method.probes * h * y_dot[a]
    code = rates_of_stage(P, t + method.probes * h, ahead, ahead_dot)
    slope, size = 0.0, 0.0
    for k in range(1, n):
        for a in range(6):
            s = WIDTH * k + VELOCITY + a
            slope += value_of((ahead_dot[s] - y_dot[s]) / method.probes) ** 2
            size += value_of(y_dot[s]) ** 2
    if slope <= size:
        for k in range(1, n):
            for a in range(6):
                s = WIDTH * k + VELOCITY + a
                stage.a[k, a] += delta * (ahead_dot[s] - y_dot[s]) / method.probes
    return code


@kernel
def step_in_duals(
    P: DualPack, method: ImplicitMethod, step: Step, newton: Newton, options: Options, history: Array, y: Array, y_dot: Array
) -> int:
    """Make one step from (y, y') to its end."""
    h = step.h
    put_state_trapezoids(P, h, y, ws.angle_rates(P))
    code: int = method.predict(P, step, newton, history, y)
    turn_ahead(P, h, y)
    if code != OK:
        return code
    if method.stages:
        code = solve_stages_in_duals(P, method, newton, options, history, step.t + h, y)
        if code == OK:
            turn(P, step.t + h, radau_memory(history), y)
            keep_stages(history, ws.n_bodies(P))
    else:
        code = solve_in_duals(P, method, newton, step.t + h, y)
        if code == OK:
            turn_by_trapezoids(P, step.t + h, h, y)
            stage = stage_of(P)
            for k in range(1, ws.n_bodies(P)):
                for a in range(6):
                    stage.a[k, a] += (1.0 - method.alpha_f) / (1.0 - method.alpha_m) * stage.u_dot[k, a]
    if code == OK:
        finish_step(P, y, y_dot)
    step.h_before = h
    return code


@kernel
def keep_stages(history: Array, n: int) -> None:
    """Store the u'_i for the next prediction."""
    m = radau_memory(history)
    for i in range(3):
        for a in range(6 * n):
            m.u_dot_before[i, a] = m.u_dot[i, a]


@released
def run_entry(
    P: DualPack,
    memory: Memory,
    method: ImplicitMethod,
    step: Step,
    newton: Newton,
    options: Options,
    history: Array,
    rows: int,
    T: Array,
    Y: Array,
    dY: Array,
) -> tuple[int, int, float]:
    """Take the lanes along the steps of a run; return the code, the number of steps done, and the largest distance from the run's states.

    history: (rows * columns, LANES + 1) of doubles, that of the method in duals;  T, Y, dY: as of `tangents.run_entry`
    """
    y, y_dot, end, end_dot = as_duals(memory.y), as_duals(memory.y_dot), as_duals(memory.end), as_duals(memory.end_dot)
    own = borrow(as_duals(history), 0, rows, history.shape[0] // rows)
    far = 0.0
    take_lanes(Y[0], dY[0], memory.y)
    code = project(P, memory.slack, T[0], y, y_dot)
    if code == OK:
        code = project(P, memory.slack, T[0], y, y_dot)  # its rows are those of the tangents that the first has moved
    if code == OK:
        code = start(P, method, T[1] - T[0], T[0], y, y_dot, end, end_dot)
    for done in range(T.size):
        give(memory.y, dY[done])
        for a in range(y.size):
            far = max(far, abs(memory.y[a, 0] - Y[done, a]))
        if code == OK and done + 1 < T.size:
            step.t, step.h = T[done], T[done + 1] - T[done]
            code = step_in_duals(P, method, step, newton, options, own, y, y_dot)
        if code != OK:
            return code, done, far
    return OK, T.size, far


run_implicit = DirectCall(run_entry)


def implicit_method(integrator: Implicit, model: Model, pack: Pack) -> ImplicitMethod:
    """Return a method in duals;  pack: of the tables of implicit steps"""
    predict, place = (twin(each, DUALS) for each in (PREDICT_STAGES if isinstance(integrator, RadauIIA) else PREDICT, PLACE))
    real = RealPart(tangents_of(model, pack), pack, np.zeros(len(model.y0)))
    alpha_m, alpha_f = (
        (integrator.parameters.alpha_m, integrator.parameters.alpha_f) if isinstance(integrator, Newmarks) else (0.0, 0.0)
    )
    return ImplicitMethod(predict, place, real, isinstance(integrator, RadauIIA), alpha_m, alpha_f, PROBE)


def step_and_newton(integrator: Implicit, model: Model) -> tuple[Any, Any]:
    """Return the records of a step and of its iteration."""
    parameters = integrator.parameters._asdict() if isinstance(integrator, Newmarks) else {"estimates_error": 0.0}
    newton = new_record(
        NEWTON,
        constraint_form=integrator.form.number,
        tolerance=integrator.newton_tol,
        length=integrator.newton_length(model),
        rate=rate_of(model),
        max_iterations=MOST,
    )
    return new_record(STEP, **parameters), newton


def history_of(given: Implicit, ny: int, slots: int) -> tuple[Array, int]:
    """Return the memory of a method, in doubles that hold duals, and the number of its rows."""
    rows, columns = (ROWS, max(ny, slots)) if isinstance(given, RadauIIA) else (1, 1)
    return np.zeros((rows * columns, LANES + 1)), rows


def is_known(given: Any) -> bool:
    """Return whether the tangents of an implicit method are known."""
    return isinstance(given, Newmarks | RadauIIA) and not isinstance(given.form, Index2)
