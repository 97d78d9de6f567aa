"""The three stages of Radau IIA together: Newton's iteration, one stage after the other.

    u_i = u_n + h sum_j a_ij u'_j            x_i = h sum_j a_ij f_j + delta_i          q_i = q_n o exp(x_i)
    f   = (v, dexpinv(theta) omega_bar)      x = (displacement, theta), theta in the body frame of t_n
    M u'_i + Phi_q^T lam_i = Q_i             Phi_q u_i = nu;   with Phi = 0, delta_i is the least mass-weighted displacement to it

A full Newton step would solve for all stages at once.  Here the lower triangular L of A = L U (Crout) replaces A in the corrections:

    L = (0.197 0 0;  0.394 0.423 0;  0.376 0.638 0.200)          c_u = h l_ii,  c_q = c_u^2          in the matrix of `newton`

A sweep therefore solves three systems of the usual form, each after the corrections of the stages before it.  For a very stiff damper
and for the constraints the iteration ends after three sweeps, because 1 - L^-1 A is nilpotent.  For other linear forces the error
falls,
at worst, by
    0.15 a sweep for dampers, 0.37 for rates that oscillate        spectral radius of z (1 - z L)^-1 (A - L)  for z < 0,  z = iy
    0.52 for springs                                               that of  1 - (1 + y^2 L^2)^-1 (1 + y^2 A^2)
The limit is that of Radau IIA for any L.
Source: van der Houwen, de Swart, Triangularly implicit iteration methods, SIAM J. Sci. Comput. 18 (1997) 41-55; Munthe-Kaas 1998.

Internal states in the three stages of Radau IIA: the same iteration for x' = f(t, q, u, x).

    X_i  = x_n + h sum_j a_ij K_j                                           K_j = f at stage j
    X_i  = x_n + h sum_j a_ij K_j^old + h sum_(j<=i) l_ij (K_j - K_j^old)   in a sweep, so that  X_i = past + h l_ii K_i
    w    = x_n + sum_i e_i (X_i - x_n) + h gamma_0 f(t_n, q_n, u_n, w)      w - x_n: the error of order three, filtered

The last stage is the end of the step. Each evaluation solves for its x, see `workspace.internal_states`.
Source: van der Houwen, de Swart 1997 (iteration); Hairer, Wanner, Solving ODE II, sec. IV.8 (error).

The end of a step of Radau IIA: its error, its state on the constraints, and u' and lam there.

    e_u = h gamma_0 u'_n + sum e_i (u_i - u_n)        filtered by the constraints and stiff forces:
    [ M + c_u C + c_q K   Phi_q^T; Phi_q  0 ] (e, .) = (M e_u, 0)               with the factored matrix of stage 3

    Phi = 0,  Phi_q u = nu:  the least mass-weighted changes, as in `Projection`
    M u' + Phi_q^T lam = Q,  Phi_q u' = gamma:  of order five; u'_3 and lam_3 of the stage are of order three

With forces, u' and lam are solved with the matrix of stage 3.  A stiff force magnifies the error of a pose, and the dense output
contains
h^2 u'.  The remaining error is (u' - u'_3) c_q K / (M + c_q K) once for each refinement, which is within the order of the method.
Source: Hairer, Wanner, Solving ODE II, sec. IV.8 (error), VII.4.
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK, report
from haugmbd.formulations.newton_euler import factorize, finish, solve_system
from haugmbd.integrators.explicit.lie import dexpinv
from haugmbd.integrators.implicit.newton import (
    KEEP_BOTH,
    SOLVE_SIGNATURE,
    has_converged,
    move_to_constraints,
    put_residual,
    stage_of,
    take,
)
from haugmbd.integrators.implicit.radau_tableau import GAMMA_0, A, C, E, L, RadauMemory, radau_memory
from haugmbd.integrators.implicit.records import Newton
from haugmbd.integrators.stabilization.corrections import add_displacement, add_velocity
from haugmbd.integrators.stabilization.projection import ROUNDING, STALLED, put_position_residual, put_velocity_residual
from haugmbd.integrators.step_context import Options
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.larger import larger
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, put_angle_rates_of_loads
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.internal_states import PAST, STEP, give_states
from haugmbd.workspace.layout import WIDTH, Pack

SLOWEST = 0.2
"""Lower limit of the estimated rate, because the next sweep may be slower."""

TRANSIENT = 3
"""Sweeps in which errors of the constraints may grow before they vanish.  A step whose errors still grow after them is given up."""
GIVEN_UP, DIVERGES = 2, 10.0
"""Sweeps with growing errors after which a step is given up, and the growth after which it is at once. One sweep may let the errors of
displacements grow by a fifth before they fall again, where velocities do not count because a motion is slow."""


@kernel
def put_stages(m: RadauMemory, bodies: int, length: float) -> float:
    """Compute u_i, f_i and x_i from the u'_i; return the largest change of an x_i, lengths divided by `length`."""
    h, largest, per_length = m.h[0], 0.0, 1.0 / length
    for i in range(3):
        for k in range(1, bodies):
            for c in range(6):
                s = 6 * k + c
                u_dot = A[i, 0] * m.u_dot[0, s] + A[i, 1] * m.u_dot[1, s] + A[i, 2] * m.u_dot[2, s]
                m.u[i, s] = m.y[WIDTH * k + VELOCITY + c] + h * u_dot
            a = 6 * k + 3
            theta = (m.x[i, a], m.x[i, a + 1], m.x[i, a + 2])
            rate = dexpinv(theta, (m.u[i, a], m.u[i, a + 1], m.u[i, a + 2]))
            for c in range(3):
                m.f[i, 6 * k + c] = m.u[i, 6 * k + c]
                m.f[i, a + c] = rate[c]
    for i in range(3):
        for k in range(1, bodies):
            for c in range(6):
                a = 6 * k + c
                x = m.delta[i, a] + h * (A[i, 0] * m.f[0, a] + A[i, 1] * m.f[1, a] + A[i, 2] * m.f[2, a])
                change = abs(x - m.x[i, a]) * (per_length if c < 3 else 1.0)  # noqa: PLR2004
                largest = larger(largest, change)
                m.x[i, a] = x
    return largest


@kernel
def put_stage(P: Pack, m: RadauMemory, i: int, corrected: int, y: Array) -> None:
    """Write u', lam, displacement and u of stage i, after the corrections of the stages before it in this sweep."""
    stage, lam = stage_of(P), ws.multipliers(P)
    n, h = ws.n_bodies(P), m.h[0]
    bodies = borrow(y, 0, n, WIDTH)
    for k in range(1, n):
        for a in range(7):
            stage.base[k, a] = m.y[WIDTH * k + a]
        for a in range(6):
            du = dx = 0.0
            for j in range(corrected):
                du += h * L[i, j] * m.du_dot[j, 6 * k + a]
                dx += h * L[i, j] * m.du[j, 6 * k + a]
            stage.u_dot[k, a] = m.u_dot[i, 6 * k + a]
            stage.displacement[k, a] = m.x[i, 6 * k + a] + dx + h * L[i, i] * du
            bodies[k, VELOCITY + a] = m.u[i, 6 * k + a] + du
    for s in range(lam.size):
        lam[s] = m.lam[i, s]


@kernel
def keep(P: Pack, m: RadauMemory, i: int, moved: bool, y: Array) -> None:
    """Store the corrections of stage i."""
    stage, lam, x = stage_of(P), ws.multipliers(P), ws.solution(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    for k in range(1, ws.n_bodies(P)):
        for a in range(6):
            m.du_dot[i, 6 * k + a] = stage.u_dot[k, a] - m.u_dot[i, 6 * k + a]
            m.du[i, 6 * k + a] = bodies[k, VELOCITY + a] - m.u[i, 6 * k + a]
            if moved:
                m.delta[i, 6 * k + a] += x[k, a]
    for s in range(lam.size):
        m.lam[i, s] = lam[s]


@kernel
def correct(m: RadauMemory, bodies: int) -> None:
    """Add the corrections of a sweep to the u'_i."""
    for i in range(3):
        for a in range(6, 6 * bodies):
            m.u_dot[i, a] += m.du_dot[i, a]


@inlined
def solve_one(
    P: Pack, tangents: Any, place: Any, newton: Newton, options: Options, m: RadauMemory, i: int, t: float, y: Array
) -> tuple[int, float]:
    """Correct stage i once; return the code and the largest change."""
    put_stage(P, m, i, i, y)
    put_state_stage(P, m, i, i)
    code: int = place(P, newton, y)
    if code == OK:
        code = prepare(P, t, y)
    options.n_rates += 1
    error, moved, x_error = 0.0, 0.0, keep_state_stage(P, m, i, y)
    if code == OK and ws.n_angles(P) > 0:
        put_angle_rates_of_loads(P, t, y, m.angle_rates[i])
    if code == OK:
        newton.c_u = m.h[0] * L[i, i]
        newton.c_q = newton.c_u**2
        put_residual(P, newton, y)
        if ws.n_forces(P) + ws.difference_colors(P)[0, 0] > 0:
            code = tangents(P, newton, t, y)
    if code == OK:
        options.n_factorizations += 1
        code = factorize(P)
    if code == OK:
        code = finish(P)
    if code == OK:
        error = take(P, newton, y)
        if newton.constraint_form == KEEP_BOTH:
            code, moved = move_to_constraints(P, newton.length)
        keep(P, m, i, newton.constraint_form == KEEP_BOTH, y)
        options.n_projections += 1
    return code, max(error, moved, x_error)


@kernel
def finish_states(P: Pack, place: Any, newton: Newton, m: RadauMemory, t: float, y: Array) -> int:
    """Evaluate the rates of the internal states at the poses after the last corrections, and estimate their error if it is wanted."""
    code = OK
    for i in range(3):
        if code == OK:
            put_stage(P, m, i, 0, y)
            put_state_stage(P, m, i, i)
            code = place(P, newton, y)
        if code == OK:
            code = prepare(P, t - m.h[0] * (1.0 - C[i]), y)
            keep_state_stage(P, m, i, y)
    if code == OK and m.wants_error[0] == 1.0:
        code = estimate_state_error(P, m, t - m.h[0], y)
    return code


@routine
def solve_stages(P: Pack, tangents: Any, place: Any, newton: Newton, options: Options, memory: Array, t: float, y: Array) -> int:
    """Iterate from the predicted u'_i and lam_i to the three stages; write y, u' and lam of the end as `solve_stage` does."""
    m = radau_memory(memory)
    n, h, before, error, grown = ws.n_bodies(P), m.h[0], 1e300, 0.0, 0
    start_states(P, m)
    for sweep in range(int(newton.max_iterations)):
        m.sweeps[0] = sweep + 1
        error = put_stages(m, n, newton.length)
        for i in range(3):
            code, change = solve_one(P, tangents, place, newton, options, m, i, t - h * (1.0 - C[i]), y)
            if code != OK:
                return code
            error = max(error, change)
        correct(m, n)
        if not error < 1e300:
            break
        if has_converged(error, before, SLOWEST, newton):
            put_stages(m, n, newton.length)
            code = filter_error(P, m) if m.wants_error[0] == 1.0 else OK
            if code == OK and ws.n_states(P) > 0:
                code = finish_states(P, place, newton, m, t, y)
            put_stage(P, m, C.size - 1, 0, y)
            put_state_end(P, m, y)
            return finish_stages(P, place, newton, options, t, y) if code == OK else code
        if sweep >= TRANSIENT and error > before:
            grown += 1
            if grown == GIVEN_UP or error > DIVERGES * before:
                break
        before = error
    return report(ws.status(P), NO_CONVERGENCE, 0, error)


SOLVE_STAGES = Routine(solve_stages, SOLVE_SIGNATURE)


@kernel
def start_states(P: Pack, m: RadauMemory) -> None:
    """Write the rates at the start as the first iterate of those of the stages."""
    n, rates = ws.n_states(P), ws.angle_rates(P)
    for i in range(3):
        for k in range(rates.size - n, rates.size):
            m.angle_rates[i, k] = rates[k]


@kernel
def put_state_stage(P: Pack, m: RadauMemory, i: int, corrected: int) -> None:
    """Write the equation of X_i after the corrections of the stages before `corrected` in this sweep."""
    n, F, place, h = ws.n_states(P), ws.driver_values(P), ws.first_state(P), m.h[0]
    rates = ws.angle_rates(P)
    tail, first = rates.size - n, WIDTH * ws.n_bodies(P) + rates.size - n
    for k in range(n):
        past = m.y[first + k] - h * L[i, i] * m.angle_rates[i, tail + k]
        for j in range(3):
            change = m.state_changes[j, k] if j < corrected else 0.0
            past += h * (A[i, j] * (m.angle_rates[j, tail + k] - change) + L[i, j] * change)
        F[place + k, PAST] = past
        F[place + k, STEP] = h * L[i, i]


@kernel
def keep_state_stage(P: Pack, m: RadauMemory, i: int, y: Array) -> float:
    """Store K_i and its correction; return the largest correction of X_i, relative to 1 + |X_i|.

    K_i = (X_i - past) / (h l_ii): where f is steep, as that of an orifice is without a pressure, f(X_i) has the rounding of X_i times its
    slope, and h f(X_i) with it that of a step.
    """
    n, F, place, h = ws.n_states(P), ws.driver_values(P), ws.first_state(P), m.h[0]
    tail, largest = ws.angle_rates(P).size - n, 0.0
    for k in range(n):
        rate = (y[y.size - n + k] - F[place + k, PAST]) / F[place + k, STEP]
        m.state_changes[i, k] = rate - m.angle_rates[i, tail + k]
        m.angle_rates[i, tail + k] = rate
        change = h * L[i, i] * abs(m.state_changes[i, k]) / (1.0 + abs(y[y.size - n + k]))
        largest = larger(largest, change)
    return largest


@kernel
def put_state_end(P: Pack, m: RadauMemory, y: Array) -> None:
    """Write x at the end of the step, and take it as given from now on."""
    n = ws.n_states(P)
    tail, first = ws.angle_rates(P).size - n, y.size - n
    for k in range(n):
        y[first + k] = m.y[first + k]
        for j in range(3):
            y[first + k] += m.h[0] * A[2, j] * m.angle_rates[j, tail + k]
    give_states(P)


@kernel
def estimate_state_error(P: Pack, m: RadauMemory, t: float, y: Array) -> int:
    """Write w - x_n to the end of `error_x`;  t: at the start of the step;  y: changed."""
    n, F, place, h = ws.n_states(P), ws.driver_values(P), ws.first_state(P), m.h[0]
    tail, first = ws.angle_rates(P).size - n, y.size - n
    for a in range(y.size):
        y[a] = m.y[a]
    for k in range(n):
        F[place + k, PAST] = m.y[first + k]
        F[place + k, STEP] = h * GAMMA_0
        for i in range(3):
            for j in range(3):
                F[place + k, PAST] += E[i] * h * A[i, j] * m.angle_rates[j, tail + k]
    code = prepare(P, t, y)
    for k in range(n):
        m.error_x[first + k] = y[first + k] - m.y[first + k]
    return code if n > 0 else OK


REFINEMENTS = 3
"""Refinements of u': the equations do not contain the inertia with which massless directions are factored."""
CLOSINGS = 8
"""Maximum number of Newton corrections of the pose; three are usual."""
EXACT = 1e-13
"""|Phi| that is not corrected, as in `Projection`."""


@kernel
def put_error(P: Pack, m: RadauMemory) -> None:
    """Write the errors of x and u, and b = (M e_u, 0), which the matrix of stage 3 filters."""
    b, inertia, h = ws.right_hand_side(P), ws.inertia(P), m.h[0]
    clear(b)
    for k in range(1, inertia.shape[0]):
        for a in range(6):
            s, u = 6 * k + a, m.y[WIDTH * k + VELOCITY + a]
            m.error_x[s], m.error_u[s] = h * GAMMA_0 * u, h * GAMMA_0 * m.u_dot_start[s]
            for i in range(3):
                m.error_x[s] += E[i] * m.x[i, s]
                m.error_u[s] += E[i] * (m.u[i, s] - u)
        for a in range(3):
            b[k, a] = inertia[k, 0] * m.error_u[6 * k + a]
            for c in range(3):
                b[k, 3 + a] += inertia[k, 1 + 3 * a + c] * m.error_u[6 * k + 3 + c]


@kernel
def put_acceleration_residual(P: Pack, newton: Newton, y: Array) -> None:
    """Write b = (Q - M u' - Phi_q^T lam, gamma - Phi_q u')."""
    put_residual(P, newton, y)
    b, stage, level = ws.right_hand_side(P), stage_of(P), ws.row_values(P)
    J, edges = ws.jacobian(P), ws.edges(P)
    n = ws.n_bodies(P)
    for e in range(edges.shape[0]):
        for a in range(6):
            s = 6 * e + a
            b[n + e, a] = level[s, 2]
            for side in range(edges.shape[1]):
                for c in range(6):
                    b[n + e, a] -= J[s, side, c] * (stage.u_dot[edges[e, side], c] if edges[e, side] > 0 else 0.0)


@kernel
def add_solution(P: Pack) -> None:
    """Add the solution to u' and lam."""
    x, stage, lam = ws.solution(P), stage_of(P), ws.multipliers(P)
    n = ws.n_bodies(P)
    for k in range(1, n):
        for a in range(6):
            stage.u_dot[k, a] += x[k, a]
    for s in range(lam.size):
        lam[s] += x[n + s // 6, s % 6]


@inlined
def filter_error(P: Pack, m: RadauMemory) -> int:
    """Filter the error of u with the factored matrix of stage 3."""
    put_error(P, m)
    code = solve_system(P)
    x = ws.solution(P)
    for k in range(1, ws.n_bodies(P)):
        for a in range(6):
            m.error_u[6 * k + a] = x[k, a]
    return code


@inlined
def refine_rates(P: Pack, newton: Newton, y: Array) -> int:
    """Solve the equations of motion for u' and lam, with the current factor."""
    code = OK
    for _ in range(REFINEMENTS):
        if code == OK:
            put_acceleration_residual(P, newton, y)
            code = solve_system(P)
            add_solution(P)
    return code


@inlined
def finish_stages(P: Pack, place: Any, newton: Newton, options: Options, t: float, y: Array) -> int:
    """Project the state of stage 3 on the constraints, and solve the equations of motion there for u' and lam.

    The iteration ends where its error is small compared with that of the step; the constraints are solved to rounding in any case.
    """
    bodies = update_kinematics(P, t, y).bodies
    code: int = place(P, newton, y)
    forces = ws.n_forces(P) + ws.difference_colors(P)[0, 0] > 0
    if code == OK and forces:
        code = prepare(P, t, y)
        options.n_rates += 1
        if code == OK:
            code = refine_rates(P, newton, y)
    clear(ws.tangents(P))
    clear(ws.coupled_tangents(P))
    before = 1e300
    for _ in range(CLOSINGS):
        if code == OK:
            code = prepare(P, t, y)
        gap = put_position_residual(P, ws.row_weights(P))
        options.n_rates += 1
        options.n_factorizations += 1
        if code == OK:
            code = factorize(P)
        if code != OK or newton.constraint_form != KEEP_BOTH or gap <= EXACT or (gap <= ROUNDING and gap > STALLED * before):
            break
        before = gap
        code = finish(P)
        add_displacement(P, bodies)
    else:
        code = report(ws.status(P), NO_CONVERGENCE, 0, gap)
    if code == OK:
        put_velocity_residual(P, bodies, ws.row_weights(P))
        code = solve_system(P)
        add_velocity(P, bodies)
        if code == OK:
            code = prepare(P, t, y)
        options.n_rates += 1
    if code == OK and not forces:
        code = refine_rates(P, newton, y)
    return code
