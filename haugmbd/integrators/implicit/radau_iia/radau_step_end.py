r"""The end of a step of Radau IIA: its error, its state on the constraints, and u' and lam there.

    e_u = h gamma_0 u'_n + sum e_i (u_i - u_n)        filtered by the constraints and stiff forces:
    [ M + c_u C + c_q K   Phi_q^T; Phi_q  0 ] (e, .) = (M e_u, 0)               with the factored matrix of stage 3

    Phi = 0,  Phi_q u = nu:  the least mass-weighted changes, as in `Projection`
    M u' + Phi_q^T lam = Q,  Phi_q u' = gamma:  of order five; u'_3 and lam_3 of the stage are of order three

With forces, u' and lam are solved with the matrix of stage 3.  A stiff force magnifies the error of a pose, and the dense output contains
h^2 u'.  The remaining error is (u' - u'_3) c_q K / (M + c_q K) once for each refinement, which is within the order of the method.
Source: Hairer, Wanner, Solving ODE II, sec. IV.8 (error), VII.4.
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK, report
from haugmbd.formulations.newton_euler import factorize, finish, solve_system
from haugmbd.integrators.implicit.newton import KEEP_BOTH, put_residual, stage_of
from haugmbd.integrators.implicit.radau_iia.radau_tableau import GAMMA_0, E, RadauMemory
from haugmbd.integrators.implicit.records import Newton
from haugmbd.integrators.stabilization.corrections import add_displacement, add_velocity
from haugmbd.integrators.stabilization.projection import ROUNDING, STALLED, put_position_residual, put_velocity_residual
from haugmbd.integrators.step_context import Options
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import WIDTH, Pack

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
