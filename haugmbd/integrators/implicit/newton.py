r"""Newton's iteration of an implicit step, which all implicit methods share, and the choice of its matrix.

unknowns     x = change of u',  lam            u <- u + c_u x,   q <- q_base o R(shift),  shift <- shift + c_q x
dynamics     M u' + Phi_q^T lam - Q(t, q, u) = 0
constraints  Phi = 0   or   Phi_q u - nu = 0                            the method gives c_u, c_q, and the first iterate

    [ M + c_u C + c_q K   Phi_q^T ] [ x     ]     [ dynamics        ]
    [ Phi_q               0       ] [ d lam ] = - [ constraints / c ]          c = c_q or c_u

    R(shift)     the routine `place` of the method:  r + dr,  and  p o exp(dpi_bar)  or another rotation by dpi_bar
    C, K         dampings and stiffnesses of the forces;  `ModifiedNewton` and `FullNewton` select what they contain

The matrix is that of the accelerations plus the tangents of the forces, so that the same solvers factor it.  The scaling removes h
from it (Bottasso, Bauchau, Cardona 2007).  The factor is kept from iteration to iteration while the error falls fast.
Corrections that fall by a rate leave an error of  rate / (1 - rate)  times the last one.
With GGL the velocities fulfil Phi_q u = nu, and the least mass-weighted displacement moves q to Phi = 0, with the same factor.
`finite_differences` describes the tangents that have no formula.
Sources: Arnold, Bruels, Convergence of the generalized-alpha scheme, 2007; Gear, Leimkuhler, Gupta 1985 (GGL).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import F1, F2, Routine, function_type, types
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK, report
from haugmbd.constraints.base import row_speed
from haugmbd.deprecated import public_class
from haugmbd.formulations.newton_euler import begin, factorize, finish, solve_system
from haugmbd.integrators.implicit.force_jacobians import TANGENTS_SIGNATURE
from haugmbd.integrators.implicit.records import NEWTON_TYPE, Newton
from haugmbd.integrators.step_context import OPTIONS_TYPE, Options, fastest_velocity
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.euler_kernels import put_euler_rate
from haugmbd.math.larger import larger
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, put_angle_rates_of_loads
from haugmbd.model.inspection.length import SLOW
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import PACK_TYPE, WIDTH, Pack


@public_class
@dataclass(frozen=True)
class ModifiedNewton:
    """Newton's iteration with a simplified matrix: the default, and usually sufficient.

    Notes
    -----
    The matrix contains masses, constraints, and the tangents of forces: of springs and dampers by formula, of user functions by their
    declared jacobian or by differences. `FullNewton` adds the curvature of the constraints.  Source: Arnold and Bruels 2007.
    """

    curved: ClassVar[bool] = False


@public_class
@dataclass(frozen=True)
class FullNewton(ModifiedNewton):
    """Newton's iteration with the full symmetric tangent, by differences.

    Notes
    -----
    The matrix also contains the curvature of the constraints, the gyroscopic terms, and all dependencies of forces.  It takes six
    evaluations of the model for each color (bodies that have no neighbour in common).  Use it for large steps under large reactions, or to
    see the effect of the terms that `ModifiedNewton` leaves out.
    Source: Geradin and Cardona, Flexible Multibody Dynamics, ch. 12.
    """

    curved = True


class Stage(NamedTuple):
    """The unknowns of a step and the memory of a method, one row per body.

    displacement: (n, 6) from the base pose;  base: (n, 7) base pose (r, p);  u_dot: (n, 6)
    a: (n, 6) algorithmic acceleration;  u_dot_before, u_dot_earlier: (n, 6) one and two steps before;  predicted_r7: (n, 11)
    """

    displacement: Array
    base: Array
    u_dot: Array
    a: Array
    u_dot_before: Array
    u_dot_earlier: Array
    predicted_r7: Array


@inlined
def stage_of(P: Pack) -> Stage:
    """Return the stage of a run."""
    return Stage(
        ws.displacement(P),
        ws.base_pose(P),
        ws.u_dot(P),
        ws.algorithmic(P),
        ws.u_dot_before(P),
        ws.u_dot_earlier(P),
        ws.predicted_r7(P),
    )


KEEP_VELOCITIES, KEEP_POSITIONS, KEEP_BOTH = 2.0, 3.0, 4.0

FAST = 0.2
"""The factor is kept if a correction is smaller than this part of the one before."""

SLOWER = 0.1
"""Lower limit of the estimated rate: a kept factor, or a changing pose, can make the next iteration slower."""

STALLED, LAGS, ROUNDING = 0.5, 0.9, 100.0
"""STALLED: a correction that leaves more than this part of the error has reached rounding, if it is below ROUNDING tolerances. LAGS: the
same where forces read lam, with which errors fall by a rate that does not depend on the step."""


@inlined
def put_residual(P: Pack, newton: Newton, y: Array) -> None:
    """Write b = -(dynamics, constraints / c)."""
    b, Q, level = ws.right_hand_side(P), ws.generalized_forces(P), ws.row_values(P)
    stage, lam, inertia = stage_of(P), ws.multipliers(P), ws.inertia(P)
    J, edges, velocity_rows = ws.jacobian(P), ws.edges(P), ws.velocity_rows(P)
    n = inertia.shape[0]
    bodies = borrow(y, 0, n, WIDTH)
    keeps_positions = newton.constraint_form == KEEP_POSITIONS
    for k in range(1, n):
        for a in range(3):
            spin = 0.0
            for c in range(3):
                spin += inertia[k, 1 + 3 * a + c] * stage.u_dot[k, 3 + c]
            b[k, a] = Q[k, a] - inertia[k, 0] * stage.u_dot[k, a]
            b[k, 3 + a] = Q[k, 3 + a] - spin
    for e in range(edges.shape[0]):
        for a in range(6):
            s = 6 * e + a
            positions = keeps_positions and (velocity_rows.shape[0] == 0 or velocity_rows[e, a] == 0)
            b[n + e, a] = -level[s, 0] / newton.c_q if positions else (level[s, 1] - row_speed(edges, J, bodies, e, a)) / newton.c_u
        for side in range(edges.shape[1]):
            if edges[e, side] > 0:
                take_off_reaction(J, lam, e, side, b[edges[e, side]])


@kernel
def take_off_reaction(J: Array, lam: Array, e: int, side: int, b: Array) -> None:
    """Subtract Phi_q^T lam of an edge on one of its bodies; the sums are kept apart from b, which compiled code would write six times."""
    x0, x1, x2, x3, x4, x5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(6 * e, 6 * e + 6):
        x0 += J[s, side, 0] * lam[s]
        x1 += J[s, side, 1] * lam[s]
        x2 += J[s, side, 2] * lam[s]
        x3 += J[s, side, 3] * lam[s]
        x4 += J[s, side, 4] * lam[s]
        x5 += J[s, side, 5] * lam[s]
    b[0] -= x0
    b[1] -= x1
    b[2] -= x2
    b[3] -= x3
    b[4] -= x4
    b[5] -= x5


@inlined
def take(P: Pack, newton: Newton, y: Array) -> float:
    """Add the solution to u', u, the displacement and lam; return the largest change, lengths measured by that of the iteration.

    Of a displacement, and relative to rate + |u| where u is kept, with SLOW of the largest u. Velocities count where forces read lam,
    too: a wrong lam moves displacements by h^2 alone.
    """
    x, stage, lam = ws.solution(P), stage_of(P), ws.multipliers(P)
    n = ws.n_bodies(P)
    velocities_count = newton.constraint_form != KEEP_POSITIONS or newton.lags == 1.0
    bodies = borrow(y, 0, n, WIDTH)
    largest, per_length = 0.0, 1.0 / newton.length
    at_least = newton.rate + SLOW * fastest_velocity(bodies, newton.length)
    for k in range(1, n):
        for a in range(6):
            stage.u_dot[k, a] += x[k, a]
            bodies[k, VELOCITY + a] += newton.c_u * x[k, a]
            stage.displacement[k, a] += newton.c_q * x[k, a]
            unit, per_unit = (newton.length, per_length) if a < 3 else (1.0, 1.0)
            change = newton.c_q * abs(x[k, a]) * per_unit
            if velocities_count:
                change = max(change, newton.c_u * abs(x[k, a]) / (unit * at_least + abs(bodies[k, VELOCITY + a])))
            largest = larger(largest, change)
    for e in range(x.shape[0] - n):
        for a in range(6):
            lam[6 * e + a] += x[n + e, a]
    return largest


@inlined
def move_to_constraints(P: Pack, length: float) -> tuple[int, float]:
    """Add the least mass-weighted displacement to Phi = 0, with the current factor; return the code and the largest displacement.

    length: by which lengths are measured [m]
    """
    b, level = ws.right_hand_side(P), ws.row_values(P)
    x, stage = ws.solution(P), stage_of(P)
    n = ws.n_bodies(P)
    clear(b)
    for e in range(b.shape[0] - n):
        for a in range(6):
            b[n + e, a] = -level[6 * e + a, 0]
    code = solve_system(P)
    largest, per_length = 0.0, 1.0 / length
    for k in range(1, n):
        for a in range(6):
            stage.displacement[k, a] += x[k, a]
            largest = larger(largest, abs(x[k, a]) * (per_length if a < 3 else 1.0))
    return code, largest


@inlined
def has_converged(error: float, before: float, slowest: float, newton: Newton) -> bool:
    """Return whether the error after a correction of size `error` is small enough, or rounding.

    before: the correction before it, 1e300 for none
    """
    rate = max(slowest, error / before)
    left = error * rate / (1.0 - rate) if rate < 1.0 and before < 1e300 else error
    stalled = LAGS if newton.lags == 1.0 else STALLED
    return left <= newton.tolerance or (error <= ROUNDING * newton.tolerance and error > stalled * before)


@inlined
def put_shifted(stage: Stage, bodies: Array, k: int) -> None:
    """Write r = r_base + dr and p = p_base, which `place` of a method on the group then rotates."""
    for a in range(3):
        bodies[k, a] = stage.base[k, a] + stage.displacement[k, a]
    for a in range(3, 7):
        bodies[k, a] = stage.base[k, a]


@routine
def solve_stage(P: Pack, tangents: Any, place: Any, newton: Newton, options: Options, memory: Array, t: float, y: Array) -> int:
    """Iterate from the predicted u', u, displacement and lam to the solution of the stage; y is left there, and so are rows and Q.

    tangents: the routine that fills those of the forces, called where there are any;  place: q of the displacement, see `PLACE_SIGNATURE`
    memory: of the method, for stages of its own: not used here
    """
    before = error = 1e300
    factored = False
    for iteration in range(int(newton.max_iterations) + 1):
        code: int = place(P, newton, y)
        if iteration > 0:
            options.n_projections += 1
            if code != OK or not error < 1e300:
                break
            if has_converged(error, before, SLOWER, newton):
                return prepare(P, t, y) if ws.n_states(P) > 0 else OK  # x that belong to the last correction
            if iteration == newton.max_iterations:
                break
            factored = error <= FAST * before
            before = error
        if code == OK:
            code = prepare(P, t, y)
        options.n_rates += 1
        if code != OK:
            return code
        put_residual(P, newton, y)
        if factored:
            code = begin(P)
        else:
            if ws.n_forces(P) + ws.difference_colors(P)[0, 0] > 0:
                code = tangents(P, newton, t, y)
            if code != OK:
                return code
            code = factorize(P)
            options.n_factorizations += 1
        if code == OK:
            code = finish(P)
        if code != OK:
            return code
        error = take(P, newton, y)
        if newton.constraint_form == KEEP_BOTH:
            error = max(error, move_to_constraints(P, newton.length)[1])
    return report(ws.status(P), NO_CONVERGENCE, 0, error)


PLACE_SIGNATURE = types.int64(PACK_TYPE, NEWTON_TYPE, F1)
"""place(P, newton, y): q = q_base o R(shift);  OK, or NO_CONVERGENCE where no pose has that displacement."""

SOLVE_SIGNATURE = types.int64(
    PACK_TYPE, function_type(TANGENTS_SIGNATURE), function_type(PLACE_SIGNATURE), NEWTON_TYPE, OPTIONS_TYPE, F2, types.float64, F1
)

SOLVE_STAGE = Routine(solve_stage, SOLVE_SIGNATURE)


@inlined
def turn_ahead(P: Pack, h: float, y: Array) -> None:
    """Advance the integrated angles before the stage by their rates at the start.

    Forces use them to count whole turns during the stage, so that half a turn is accurate enough.
    """
    rate = ws.angle_rates(P)
    first = y.size - rate.size
    for k in range(rate.size - ws.n_states(P)):
        y[first + k] += h * rate[k]


@inlined
def turn_by_trapezoids(P: Pack, t: float, h: float, y: Array) -> None:
    """Advance the integrated angles after the stage, which ends at t, by the trapezoidal rule; write their rates there.

    Internal states have been solved for in the stage.
    """
    rate = ws.angle_rates(P)
    first, n = y.size - rate.size, rate.size - ws.n_states(P)
    if rate.size > 0:
        for k in range(n):
            y[first + k] -= 0.5 * h * rate[k]
        keep_state_rates(rate, ws.state_rates_before(P))
        put_angle_rates_of_loads(P, t, y, rate)
        for k in range(n):
            y[first + k] += 0.5 * h * rate[k]


@inlined
def keep_state_rates(rates: Array, before: Array) -> None:
    """Store the rates of the internal states at the start of the step, and those one step before."""
    n = before.shape[1]
    for k in range(n):
        before[1, k] = before[0, k]
        before[0, k] = rates[rates.size - n + k]


@inlined
def finish_step(P: Pack, y: Array, y_dot: Array) -> None:
    """Write y' at the end of the step from its u' and the rates of the integrated angles, for dense output."""
    stage, rate = stage_of(P), ws.angle_rates(P)
    n = ws.n_bodies(P)
    bodies, rates = borrow(y, 0, n, WIDTH), borrow(y_dot, 0, n, WIDTH)
    for k in range(1, n):
        put_euler_rate(bodies, rates, k)
        for a in range(3):
            rates[k, a] = bodies[k, VELOCITY + a]
        for a in range(6):
            rates[k, VELOCITY + a] = stage.u_dot[k, a]
    for k in range(rate.size):
        y_dot[WIDTH * n + k] = rate[k]
