r"""The three stages of Radau IIA together: Newton's iteration, one stage after the other.

    u_i = u_n + h sum_j a_ij u'_j            x_i = h sum_j a_ij f_j + delta_i          q_i = q_n o exp(x_i)
    f   = (v, dexpinv(theta) omega_bar)      x = (displacement, theta), theta in the body frame of t_n
    M u'_i + Phi_q^T lam_i = Q_i             Phi_q u_i = nu;   with Phi = 0, delta_i is the least mass-weighted displacement to it

A full Newton step would solve for all stages at once.  Here the lower triangular L of A = L U (Crout) replaces A in the corrections:

    L = (0.197 0 0;  0.394 0.423 0;  0.376 0.638 0.200)          c_u = h l_ii,  c_q = c_u^2          in the matrix of `newton`

A sweep therefore solves three systems of the usual form, each after the corrections of the stages before it.  For a very stiff damper
and for the constraints the iteration ends after three sweeps, because 1 - L^-1 A is nilpotent.  For other linear forces the error falls,
at worst, by
    0.15 a sweep for dampers, 0.37 for rates that oscillate        spectral radius of z (1 - z L)^-1 (A - L)  for z < 0,  z = iy
    0.52 for springs                                               that of  1 - (1 + y^2 L^2)^-1 (1 + y^2 A^2)
The limit is that of Radau IIA for any L.
Source: van der Houwen, de Swart, Triangularly implicit iteration methods, SIAM J. Sci. Comput. 18 (1997) 41-55; Munthe-Kaas 1998.
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK, report
from haugmbd.formulations.newton_euler import factorize, finish
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
from haugmbd.integrators.implicit.radau_iia.radau_states import (
    estimate_state_error,
    keep_state_stage,
    put_state_end,
    put_state_stage,
    start_states,
)
from haugmbd.integrators.implicit.radau_iia.radau_step_end import filter_error, finish_stages
from haugmbd.integrators.implicit.radau_iia.radau_tableau import A, C, L, RadauMemory, radau_memory
from haugmbd.integrators.implicit.records import Newton
from haugmbd.integrators.step_context import Options
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.larger import larger
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import put_angle_rates_of_loads
from haugmbd.workspace import accessors as ws
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
