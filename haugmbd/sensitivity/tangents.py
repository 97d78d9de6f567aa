r"""Tangents of a motion by parameters: lanes beside the state, through the same kernels and the same factor as the motion itself.

    y' = f(t, y, p)          one lane a parameter:   dy' = f_y dy + f_p,     dy(0) = d(modelled state)/dp
    K x = b                  K dx = db - dK x        the right-hand side is the derivative of the residual b - K x at fixed x

The residual is evaluated by the library's own rows and forces along the direction (dy, dp), on both sides of the state; the factor of K
is real, and one for all lanes:

    accelerations   x = (u_dot, lam)     Q - M u_dot - Phi_q^T lam            gamma - Phi_q u_dot
    velocities      x = (du, mu)           - M du    - Phi_q^T mu             nu - Phi_q (u + du)
    positions       x = (dq, mu)           - M dq    - Phi_q^T mu             -Phi - Phi_q dq

A step is an explicit Runge-Kutta step and the projections after it, so that the lanes are the derivative of the DISCRETE solution.  In an
iterated projection the tangent lags one iteration behind the value: one more solve brings it to dPhi = 0.
Sources: Haug, Wehage, Mani (1984), design sensitivity of constrained dynamics; Griewank, Walther (2008), ch. 15 on iterations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.numba_names import PLAIN, intrinsic
from haugmbd.sensitivity.kernels import (
    ACCELERATIONS,
    OK,
    PACK_TYPE,
    POSITIONS,
    VELOCITIES,
    VELOCITY,
    WIDTH,
    DirectCall,
    Pack,
    Tableau,
    begin,
    borrow,
    clear,
    combine,
    copy,
    factorize,
    finish,
    kernel,
    normalize,
    prepare,
    put_position_residual,
    put_rates,
    put_right_hand_side,
    put_velocity_residual,
    released,
    rotate_by,
    ws,
)

STEP = 1e-5
"""Half the distance of the two sides of a directional derivative, relative to the size of the mechanism, its speed and the parameter:
the cube root of rounding, at which truncation and rounding are about 1e-11 both."""
LONG_STEP = 1e-3
"""Step of a parameter alone in Phi, relative to its size: truncation of fourth order and rounding are below 1e-12."""
SIGNIFICANT = 1e-12
"""[m, rad] A correction of a projection below it is so small that the derivative of its direction is nothing."""
ITERATIONS = 12
"""As of the projection of a run."""
STALLED = 0.3
"""As of the projection of a run: a correction that leaves more has reached rounding."""
PROJECTED = 1e-13
"""As of the projection of a run: residual that is not corrected, lengths relative to the size of the mechanism."""


class Lanes(NamedTuple):
    """The derivatives of a model's constants by each of n parameters, where they are not zero.

    first: (n + 1,) the first entry of each parameter;  place, slope: (m,) number in `reals`, and its derivative
    driver_first, driver_place, driver_slope: the same of the values (nd, 3) of constant drivers, F0
    inverse: (n,) 1 / size of each parameter
    sides: (2 n,) addresses of the workspaces of the models on both sides of each parameter, where functions of the user act, which no
    table has; (0,) if V serves all;  step: (n,) distance of the sides
    """

    first: Ints
    place: Ints
    slope: Array
    driver_first: Ints
    driver_place: Ints
    driver_slope: Array
    F0: Array
    inverse: Array
    sides: Ints
    step: Array


class Memory(NamedTuple):
    """Work arrays: a shifted state and rates, a residual and a solution by nodes (nn, 6), and the rates of all stages and lanes.

    k: (s, ny);  dk: (s, n, ny);  slack: (n, 6 ne) largest derivative of Phi that no motion removes, of each lane and slot
    """

    shifted: Array
    rates: Array
    residual: Array
    x: Array
    k: Array
    dk: Array
    stage: Array
    end: Array
    slack: Array


def _pack_at(context: Any, address: Any) -> Any:
    """Return the typing and the code of `pack_at`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(PACK_TYPE))

    return PACK_TYPE(address), generate


def _plain_pack_at(address: int) -> Any:
    """Return nothing: Python knows no workspace by its address."""
    raise NotImplementedError("sides of parameters with functions of the user need compiled code: HAUGMBD_ENGINE=0 compiles it by Numba.")


pack_at: Any = _plain_pack_at if PLAIN else intrinsic(_pack_at)
"""The workspace at an address, which Python keeps."""


@kernel
def side_of(V: Pack, lanes: Lanes, lane: int, side: int) -> Pack:
    """Return the workspace of one side of a parameter."""
    return pack_at(lanes.sides[2 * lane + side])  # type: ignore[no-any-return]


@kernel
def has_sides(lanes: Lanes) -> bool:
    """Return whether each side of a parameter has a model of its own."""
    return lanes.sides.size > 0


@kernel
def shift(P: Pack, V: Pack, lanes: Lanes, lane: int, d: float) -> None:
    """Give V the constants of P at a distance d along a parameter."""
    for j in range(lanes.first[lane], lanes.first[lane + 1]):
        V.reals[lanes.place[j]] = P.reals[lanes.place[j]] + d * lanes.slope[j]
    F = ws.driver_values(V)
    for j in range(lanes.driver_first[lane], lanes.driver_first[lane + 1]):
        row, column = lanes.driver_place[j] // 3, lanes.driver_place[j] % 3
        F[row, column] = lanes.F0[row, column] + d * lanes.driver_slope[j]


@kernel
def step_along(P: Pack, y: Array, dy: Array, inverse: float) -> float:
    """Return the distance to both sides of y along (dy, dp): STEP in the units of the mechanism."""
    n, length = ws.n_bodies(P), ws.length(P)
    speed, most, moving = 1.0, inverse, 0.0
    for b in range(1, n):
        at = WIDTH * b
        for a in range(3):
            speed = max(speed, abs(y[at + 7 + a]) / length, abs(y[at + 10 + a]))
            most = max(most, abs(dy[at + a]) / length)
            moving = max(moving, abs(dy[at + 7 + a]) / length, abs(dy[at + 10 + a]))
        for a in range(3, 7):
            most = max(most, abs(dy[at + a]))
    for a in range(WIDTH * n, y.size):
        most = max(most, abs(dy[a]) / (1.0 + abs(y[a])))
    return STEP / max(most, moving / speed, 1e-300)


@kernel
def add_residual(V: Pack, kind: float, x: Array, y: Array, factor: float, R: Array) -> None:
    """Add factor (b - K x) of the rows and forces in V to R (nn, 6);  y: the state, for velocities."""
    inertia, J, level, edges = ws.inertia(V), ws.jacobian(V), ws.row_values(V), ws.edges(V)
    Q, n = ws.generalized_forces(V), ws.n_bodies(V)
    for b in range(1, n):
        for a in range(3):
            R[b, a] -= factor * inertia[b, 0] * x[b, a]
            moment = 0.0
            for c in range(3):
                moment += inertia[b, 1 + 3 * a + c] * x[b, 3 + c]
            R[b, 3 + a] -= factor * moment
        if kind == ACCELERATIONS:
            for a in range(6):
                R[b, a] += factor * Q[b, a]
    for e in range(edges.shape[0]):
        for a in range(6):
            slot, multiplier = 6 * e + a, x[n + e, a]
            value = -level[slot, 0]
            if kind == ACCELERATIONS:
                value = level[slot, 2]
            elif kind == VELOCITIES:
                value = level[slot, 1]
            for side in range(edges.shape[1]):
                b = edges[e, side]
                if b == 0:
                    continue
                for c in range(6):
                    moved = x[b, c]
                    if kind == VELOCITIES:
                        moved += y[WIDTH * b + VELOCITY + c]
                    value -= J[slot, side, c] * moved
                    R[b, c] -= factor * J[slot, side, c] * multiplier
            R[n + e, a] += factor * value


@kernel
def put_residual_lane(
    P: Pack, V: Pack, lanes: Lanes, memory: Memory, lane: int, kind: float, t: float, y: Array, dy: Array, dk: Array
) -> int:
    """Leave the derivative of b - K x along a lane in memory.residual, and of accelerations that of the kinematic part of y' in dk."""
    own = has_sides(lanes)
    d = lanes.step[lane] if own else step_along(P, y, dy, lanes.inverse[lane])
    clear(memory.residual)
    if kind == ACCELERATIONS:
        for a in range(dk.size):
            dk[a] = 0.0
    code = OK
    for side in range(2):
        to = d if side == 0 else -d
        W = V
        if own:
            W = side_of(V, lanes, lane, side)
        else:
            shift(P, V, lanes, lane, to)
        for a in range(y.size):
            memory.shifted[a] = y[a] + to * dy[a]
        code = add_side(W, memory, kind, t, 0.5 / to, dk)
        if code != OK:
            break
    if not own:
        shift(P, V, lanes, lane, 0.0)
    return code


@kernel
def add_side(V: Pack, memory: Memory, kind: float, t: float, factor: float, dk: Array) -> int:
    """Add factor times the residual of the state memory.shifted, and of accelerations the kinematic part of y' to dk."""
    code = prepare(V, t, memory.shifted)
    if code != OK:
        return code
    add_residual(V, kind, memory.x, memory.shifted, factor, memory.residual)
    if kind == ACCELERATIONS:
        clear(ws.solution(V))
        put_rates(V, t, memory.shifted, memory.rates)
        for a in range(WIDTH, dk.size):
            dk[a] += factor * memory.rates[a]
    return OK


@kernel
def solve_lane(P: Pack, memory: Memory, kind: float) -> int:
    """Write K^-1 residual to the solution array of P, with the factor at hand."""
    b = ws.right_hand_side(P)
    for k in range(b.shape[0]):
        for a in range(6):
            b[k, a] = memory.residual[k, a]
    ws.solve_for(P)[0, 0] = kind
    begin(P)
    return finish(P)


@kernel
def rate_lanes(P: Pack, V: Pack, lanes: Lanes, memory: Memory, t: float, y: Array, dY: Array, dK: Array) -> int:
    """Write d(y') of all lanes to dK (n, ny);  memory.x: (u_dot, lam);  the factor is that of y."""
    for lane in range(dY.shape[0]):
        code = put_residual_lane(P, V, lanes, memory, lane, ACCELERATIONS, t, y, dY[lane], dK[lane])
        if code == OK:
            code = solve_lane(P, memory, ACCELERATIONS)
        if code != OK:
            return code
        x = ws.solution(P)
        for b in range(1, ws.n_bodies(P)):
            for a in range(6):
                dK[lane, WIDTH * b + VELOCITY + a] = x[b, a]
    return OK


@kernel
def evaluate(P: Pack, memory: Memory, t: float, y: Array, y_dot: Array, factors: bool) -> int:
    """Evaluate y' and (u_dot, lam) = memory.x;  factors: whether the factor is not that of the pose yet."""
    code = prepare(P, t, y)
    if code != OK:
        return code
    put_right_hand_side(P)
    if factors:
        code = factorize(P)
        if code != OK:
            return code
    else:
        begin(P)
    code = finish(P)
    if code == OK:
        put_rates(P, t, y, y_dot)
        copy(ws.solution(P), memory.x)
    return code


@kernel
def add_turn(p: Array, dp: Array, theta_bar: Array) -> None:
    """Add the derivative p o (0, theta_bar / 2) of a small turn to dp."""
    e0, e1, e2, e3 = p[0], p[1], p[2], p[3]
    x, y, z = 0.5 * theta_bar[0], 0.5 * theta_bar[1], 0.5 * theta_bar[2]
    dp[0] -= e1 * x + e2 * y + e3 * z
    dp[1] += e0 * x - e3 * y + e2 * z
    dp[2] += e3 * x + e0 * y - e1 * z
    dp[3] += -e2 * x + e1 * y + e0 * z


@kernel
def normalize_lanes(P: Pack, y: Array, dY: Array) -> None:
    """Set p <- p / |p| of all bodies, with the derivative dp <- (I - p p^T) dp / |p|."""
    for b in range(1, ws.n_bodies(P)):
        at = WIDTH * b + 3
        p = y[at : at + 4]
        length = 1.0 + normalize(p)
        for lane in range(dY.shape[0]):
            along = 0.0
            for a in range(4):
                along += p[a] * dY[lane, at + a]
            for a in range(4):
                dY[lane, at + a] = (dY[lane, at + a] - along * p[a]) / length


@kernel
def displace_lanes(P: Pack, V: Pack, lanes: Lanes, memory: Memory, t: float, y: Array, dY: Array) -> int:
    """Add the derivative of the displacement dq = memory.x, and of the turn that it makes, to dY;  y: the state before it."""
    for lane in range(dY.shape[0]):
        dy = dY[lane]
        code = put_residual_lane(P, V, lanes, memory, lane, POSITIONS, t, y, dy, dy)
        if code == OK:
            code = solve_lane(P, memory, POSITIONS)
        if code != OK:
            return code
        dx = ws.solution(P)
        for b in range(1, ws.n_bodies(P)):
            at = WIDTH * b
            for a in range(3):
                dy[at + a] += dx[b, a]
            turned, theta = memory.rates[at : at + 4], memory.rates[at + 4 : at + 7]
            most = 1e-300
            for a in range(4):
                most = max(most, abs(dy[at + 3 + a]))
            for a in range(3):
                most = max(most, abs(dx[b, 3 + a]))
            d = STEP / most
            for side in range(2):
                to = d if side == 0 else -d
                for a in range(4):
                    turned[a] = y[at + 3 + a] + to * dy[at + 3 + a]
                for a in range(3):
                    theta[a] = memory.x[b, 3 + a] + to * dx[b, 3 + a]
                rotate_by(turned, theta)
                for a in range(4):
                    memory.shifted[at + 3 + a] = turned[a] if side == 0 else (memory.shifted[at + 3 + a] - turned[a]) * (0.5 / d)
            for a in range(4):
                dy[at + 3 + a] = memory.shifted[at + 3 + a]
    return OK


@kernel
def put_opening(P: Pack, V: Pack, lanes: Lanes, memory: Memory, lane: int, t: float, y: Array, dy: Array) -> int:
    """Leave -dPhi = -(Phi_q dq + Phi_p) of all rows in memory.residual;  the rows in P are those of y.

    Phi_q dq is exact.  Phi_p is a difference at the fixed state, of fourth order: rows are polynomials of most of their constants, so that
    a long step has no error but rounding.
    """
    R, J, edges, n = memory.residual, ws.jacobian(P), ws.edges(P), ws.n_bodies(P)
    clear(R)
    for e in range(edges.shape[0]):
        for side in range(edges.shape[1]):
            b = edges[e, side]
            if b == 0:
                continue
            at = WIDTH * b
            e0, e1, e2, e3 = y[at + 3], y[at + 4], y[at + 5], y[at + 6]
            d0, d1, d2, d3 = 2.0 * dy[at + 3], 2.0 * dy[at + 4], 2.0 * dy[at + 5], 2.0 * dy[at + 6]
            x = -e1 * d0 + e0 * d1 + e3 * d2 - e2 * d3
            y_ = -e2 * d0 - e3 * d1 + e0 * d2 + e1 * d3
            z = -e3 * d0 + e2 * d1 - e1 * d2 + e0 * d3
            for a in range(6):
                J_b = J[6 * e + a, side]
                moved = J_b[0] * dy[at] + J_b[1] * dy[at + 1] + J_b[2] * dy[at + 2]
                R[n + e, a] -= moved + J_b[3] * x + J_b[4] * y_ + J_b[5] * z
    if has_sides(lanes):
        for side in range(2):
            W = side_of(V, lanes, lane, side)
            code = add_opening(W, memory, t, y, (0.5 if side == 0 else -0.5) / lanes.step[lane])
            if code != OK:
                return code
        return OK
    if lanes.first[lane + 1] == lanes.first[lane] and lanes.driver_first[lane + 1] == lanes.driver_first[lane]:
        return OK
    d, code = LONG_STEP / lanes.inverse[lane], OK
    for k in range(4):
        to = (1.0 if k % 2 == 0 else -1.0) * (d if k < 2 else 2.0 * d)
        shift(P, V, lanes, lane, to)
        code = add_opening(V, memory, t, y, (2.0 / 3.0 if k < 2 else -1.0 / 6.0) / to)
        if code != OK:
            break
    shift(P, V, lanes, lane, 0.0)
    return code


@kernel
def add_opening(V: Pack, memory: Memory, t: float, y: Array, factor: float) -> int:
    """Add -factor Phi of all rows to memory.residual."""
    code = prepare(V, t, y)
    if code != OK:
        return code
    level, n = ws.row_values(V), ws.n_bodies(V)
    for e in range(ws.edges(V).shape[0]):
        for a in range(6):
            memory.residual[n + e, a] -= factor * level[6 * e + a, 0]
    return OK


@kernel
def close_lanes(P: Pack, V: Pack, lanes: Lanes, memory: Memory, t: float, y: Array, dY: Array) -> int:
    """Bring the lanes to dPhi = 0, by the least mass-weighted change;  note in memory.slack what is left of any row.

    The factor is that of y, which fulfils Phi = 0.
    """
    J, edges, n = ws.jacobian(P), ws.edges(P), ws.n_bodies(P)
    for lane in range(dY.shape[0]):
        dy = dY[lane]
        code = put_opening(P, V, lanes, memory, lane, t, y, dy)
        if code == OK:
            code = solve_lane(P, memory, POSITIONS)
        if code != OK:
            return code
        dx = ws.solution(P)
        for e in range(edges.shape[0]):
            for a in range(6):
                left = memory.residual[n + e, a]
                for side in range(edges.shape[1]):
                    if edges[e, side] > 0:
                        for c in range(6):
                            left -= J[6 * e + a, side, c] * dx[edges[e, side], c]
                memory.slack[lane, 6 * e + a] = max(memory.slack[lane, 6 * e + a], abs(left))
        for b in range(1, n):
            at = WIDTH * b
            for a in range(3):
                dy[at + a] += dx[b, a]
            add_turn(y[at + 3 : at + 7], dy[at + 3 : at + 7], dx[b, 3:6])
    return OK


@kernel
def velocity_lanes(P: Pack, V: Pack, lanes: Lanes, memory: Memory, t: float, y: Array, dY: Array) -> int:
    """Add the derivative of the change du = memory.x of the velocities to dY;  y: the state before it."""
    for lane in range(dY.shape[0]):
        code = put_residual_lane(P, V, lanes, memory, lane, VELOCITIES, t, y, dY[lane], dY[lane])
        if code == OK:
            code = solve_lane(P, memory, VELOCITIES)
        if code != OK:
            return code
        dx = ws.solution(P)
        for b in range(1, ws.n_bodies(P)):
            for a in range(6):
                dY[lane, WIDTH * b + VELOCITY + a] += dx[b, a]
    return OK


@kernel
def project_lanes(P: Pack, V: Pack, lanes: Lanes, memory: Memory, t: float, y: Array, dY: Array) -> int:
    """Project y on Phi = 0 and Phi_q u = nu as a step of a run ends, and the lanes dY with it; the factor remains that of y."""
    normalize_lanes(P, y, dY)
    n = ws.n_bodies(P)
    bodies, weights = borrow(y, 0, n, WIDTH), ws.row_weights(P)
    before = 1e300
    for _ in range(ITERATIONS):
        code = prepare(P, t, y)
        if code != OK:
            return code
        error = put_position_residual(P, weights)
        code = factorize(P)
        if code != OK:
            return code
        if error <= PROJECTED or error > STALLED * before:
            break
        before = error
        code = finish(P)
        if code != OK:
            return code
        copy(ws.solution(P), memory.x)
        size = 0.0
        for b in range(1, n):
            for a in range(6):
                size = max(size, abs(memory.x[b, a]))
        if size > SIGNIFICANT:
            code = displace_lanes(P, V, lanes, memory, t, y, dY)
            if code != OK:
                return code
        for b in range(1, n):
            for a in range(3):
                bodies[b, a] += memory.x[b, a]
            rotate_by(bodies[b, 3:7], memory.x[b, 3:6])
    code = close_lanes(P, V, lanes, memory, t, y, dY)
    if code != OK:
        return code
    put_velocity_residual(P, bodies, weights)
    begin(P)
    code = finish(P)
    if code != OK:
        return code
    copy(ws.solution(P), memory.x)
    code = velocity_lanes(P, V, lanes, memory, t, y, dY)
    for b in range(1, n):
        for a in range(6):
            bodies[b, VELOCITY + a] += memory.x[b, a]
    return code


@kernel
def combine_lanes(weights: Array, h: float, dY: Array, dK: Array, stages: int, to: Array) -> None:
    """Set to <- dY + h sum_j weights_j dK_j of all lanes, over the first `stages` stages."""
    for lane in range(dY.shape[0]):
        for a in range(dY.shape[1]):
            total = 0.0
            for j in range(stages):
                total += weights[j] * dK[j, lane, a]
            to[lane, a] = dY[lane, a] + h * total


@kernel
def step_lanes(
    P: Pack, V: Pack, lanes: Lanes, memory: Memory, tableau: Tableau, t: float, h: float, y: Array, dY: Array, y1: Array, dY1: Array
) -> int:
    """Make one step with its projection from (y, dY) to (y1, dY1);  memory.k[0], memory.dk[0]: the rates at its start."""
    c, a, b = tableau
    k, dk, n = memory.k, memory.dk, c.size
    for i in range(1, n):
        combine(a[i], h, y, k[0], k[1:], memory.stage)
        combine_lanes(a[i], h, dY, dk, i, dY1)
        code = evaluate(P, memory, t + c[i] * h, memory.stage, k[i], True)
        if code == OK:
            code = rate_lanes(P, V, lanes, memory, t + c[i] * h, memory.stage, dY1, dk[i])
        if code != OK:
            return code
    combine(b, h, y, k[0], k[1:], y1)
    combine_lanes(b, h, dY, dk, n, dY1)
    return project_lanes(P, V, lanes, memory, t + h, y1, dY1)


@released
def run_entry(
    P: Pack,
    V: Pack,
    lanes: Lanes,
    memory: Memory,
    tableau: Tableau,
    T: Array,
    Y: Array,
    dY: Array,
    beside: Ints,
    beside_t: Array,
    beside_y: Array,
    beside_dY: Array,
) -> tuple[int, int, float]:
    """Take the lanes along the steps of a run; return the code, the number of steps done, and the largest distance from the run's states.

    T, Y: (m + 1,), (m + 1, ny) ends of its steps;  dY: (m + 1, n, ny) the lanes, given in dY[0] before the projection of the start
    beside: (k,) the step in which each of the times beside_t between ends lies, increasing;  beside_y, beside_dY: the states there
    """
    y, far, side = memory.end, 0.0, 0
    for a in range(y.size):
        y[a] = Y[0, a]
    code = project_lanes(P, V, lanes, memory, T[0], y, dY[0])
    for step in range(T.size):
        if code == OK:
            code = evaluate(P, memory, T[step], Y[step], memory.k[0], False)
        if code == OK:
            code = rate_lanes(P, V, lanes, memory, T[step], Y[step], dY[step], memory.dk[0])
        while code == OK and side < beside.size and beside[side] == step:
            h = beside_t[side] - T[step]
            code = step_lanes(P, V, lanes, memory, tableau, T[step], h, Y[step], dY[step], beside_y[side], beside_dY[side])
            side += 1
        if code == OK and step + 1 < T.size:
            h = T[step + 1] - T[step]
            code = step_lanes(P, V, lanes, memory, tableau, T[step], h, Y[step], dY[step], y, dY[step + 1])
            for a in range(y.size):
                far = max(far, abs(y[a] - Y[step + 1, a]))
        if code != OK:
            return code, step, far
    return OK, T.size, far


@released
def place_entry(P: Pack, V: Pack, lanes: Lanes, memory: Memory, T: Array, Y: Array, dY: Array) -> tuple[int, int]:
    """Project the states Y (m, ny) at the times T, each with its lanes dY (m, n, ny); return the code and the number done."""
    for k in range(T.size):
        code = project_lanes(P, V, lanes, memory, T[k], Y[k], dY[k])
        if code != OK:
            return code, k
    return OK, T.size


run_lanes = DirectCall(run_entry)
place_lanes = DirectCall(place_entry)


def new_memory(ny: int, nodes: int, slots: int, stages: int, n: int) -> Memory:
    """Return work arrays for n lanes."""
    return Memory(
        np.zeros(ny),
        np.zeros(ny),
        np.zeros((nodes, 6)),
        np.zeros((nodes, 6)),
        np.zeros((stages, ny)),
        np.zeros((stages, n, ny)),
        np.zeros(ny),
        np.zeros(ny),
        np.zeros((n, slots)),
    )
