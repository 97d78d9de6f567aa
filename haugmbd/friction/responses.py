r"""What unit friction does to the whole mechanism: a solution of the factored system for each column.

    [ M  Phi_q^T; Phi_q  0 ] x_c = (B_c^T, 0)          of each channel that sticks, or against the direction in which a joint slides
    W   wrenches that the joints carry by x_c           G   rates of the channels by x_c

Source: Haug (2021), friction; the columns are those of the inverse that friction needs.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.friction import columns as at
from haugmbd.friction.load import moments_press, wrench_of
from haugmbd.friction.loop_arrays import Loop, slides_now
from haugmbd.friction.shared_loads import share_solution, shares
from haugmbd.kkt.block_solver import factor_of, steps_of
from haugmbd.kkt.many_right_sides import LANES, solve_many
from haugmbd.kkt.solver import finish_solution
from haugmbd.math.vec3 import Vec, cross, load, store, sub, to_global
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack


@kernel
def solve_again(P: Pack) -> int:
    """Solve K x = b with the current factor."""
    P.begin(P, P.python_solver)
    return finish_solution(P)


FEW = 2
"""Joints whose solutions cost less one after the other than side by side."""


@kernel
def put_wrenches(P: Pack, L: Loop, row: int) -> None:
    """Write the wrenches of all joints, and the rates of all channels, by the current solution to row `row`."""
    x, J, A = ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P)
    first = ws.n_bodies(P)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        F, M = wrench_of(L.ints, L.terms, k, J, A, x, first)
        for a in range(3):
            L.W[row, 6 * k + a] = F[a]
            L.W[row, 6 * k + 3 + a] = M[a]
        i, j = L.ints[k, at.BODY_I], L.ints[k, at.BODY_J]
        for c in range(L.ints[k, at.CHANNELS]):
            rate, B = 0.0, at.B + 12 * c
            for a in range(6):
                if i > 0:
                    rate += L.terms[k, B + a] * x[i, a]
                if j > 0:
                    rate += L.terms[k, B + 6 + a] * x[j, a]
            L.G[row, L.ints[k, at.FIRST] + c] = rate


@kernel
def response_of_bodies(inertia: Array, L: Loop, k: int, c: int) -> float:
    """Return the acceleration of channel c by unit friction in it, of the two bodies without joints; massless directions left out."""
    total = 0.0
    for a in range(12):
        body = L.ints[k, at.BODY_I] if a < 6 else L.ints[k, at.BODY_J]  # noqa: PLR2004
        mass = inertia[body, 0] if a % 6 < 3 else inertia[body, 1 + 4 * (a % 6 - 3)]  # noqa: PLR2004
        if body > 0 and mass > 0.0:
            total += L.terms[k, at.B + 12 * c + a] ** 2 / mass
    return total


@kernel
def put_column(P: Pack, L: Loop, k: int, c: int, slides: bool) -> int:
    """Solve for a unit force in channel c of joint k, or against its sliding; write column, wrenches and rates."""
    b, x = ws.right_hand_side(P), ws.solution(P)
    for node in range(b.shape[0]):
        for a in range(6):
            b[node, a] = 0.0
    for d in range(L.ints[k, at.CHANNELS]):
        add_unit_friction(L, k, d, -L.terms[k, at.DIRECTION + d] if slides else 1.0 if d == c else 0.0, b)
    for a in range(6):
        b[0, a] = 0.0
    code = solve_again(P)
    if shares(L):
        share_solution(P, L)
    column = L.ints[k, at.FIRST] + c
    L.active[1, column] = response_of_bodies(ws.inertia(P), L, k, c)
    L.active[2, column] = L.terms[k, at.ARM + c] ** 2
    for node in range(x.shape[0]):
        for a in range(6):
            L.X[column, 6 * node + a] = x[node, a]
    put_wrenches(P, L, column)
    return code


@kernel
def put_columns(P: Pack, L: Loop) -> int:
    """Write wrenches and rates of the solution without friction, and a column for each joint that slides, and rate that does not."""
    last = L.X.shape[0]
    put_wrenches(P, L, last)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        slides = L.terms[k, at.STATE] != at.STICKS and L.modes[k, at.MODE] != at.BEGINS
        for c in range(L.ints[k, at.CHANNELS]):
            L.G[last, L.ints[k, at.FIRST] + c] += L.terms[k, at.BIAS + c]
            if c == 0 or not slides:
                code = put_column(P, L, k, c, slides)
                if code != OK:
                    return code
    return OK


@kernel
def put_base_wrenches(P: Pack, L: Loop) -> None:
    """Write the wrenches of all joints by the current solution to w_0."""
    x, J, A, first = ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P), ws.n_bodies(P)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1:
            F, M = wrench_of(L.ints, L.terms, k, J, A, x, first)
            store(L.w_0, 0, 6 * k, F)
            store(L.w_0, 0, 6 * k + 3, M)


@kernel
def put_sliding_columns_alone(P: Pack, L: Loop) -> None:
    """Solve for unit friction against the sliding of each joint, one after the other, and write the columns of V."""
    b, x, J, A, first = ws.right_hand_side(P), ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P), ws.n_bodies(P)
    for s in range(L.ints.shape[0]):
        for a in range(6 * L.ints.shape[0]):
            L.V[a, s] = 0.0
        if not slides_now(L, s):
            continue
        for node in range(b.shape[0]):
            for a in range(6):
                b[node, a] = 0.0
        for c in range(L.ints[s, at.CHANNELS]):
            add_unit_friction(L, s, c, -L.terms[s, at.DIRECTION + c], b)
        for a in range(6):
            b[0, a] = 0.0
        solve_again(P)
        for k in range(L.ints.shape[0]):
            if L.ints[k, at.LOADED] == 1:
                F, M = wrench_of(L.ints, L.terms, k, J, A, x, first)
                for a in range(3):
                    L.V[6 * k + a, s], L.V[6 * k + 3 + a, s] = F[a], M[a]


@kernel
def add_unit_friction(L: Loop, k: int, c: int, f: float, b: Array) -> None:
    """Add friction f in channel c of joint k to the forces b (., 6)."""
    i, j, B = L.ints[k, at.BODY_I], L.ints[k, at.BODY_J], at.B + 12 * c
    for a in range(6):
        b[i, a] += f * L.terms[k, B + a]
        b[j, a] += f * L.terms[k, B + 6 + a]


@kernel
def put_sliding_columns(P: Pack, L: Loop) -> None:
    """Solve for unit friction against the sliding of each joint, and write the columns of V; solutions of the last ones stay in lanes."""
    X, n = ws.friction_lanes(P), L.ints.shape[0]
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        if n <= FEW:
            put_lanes_alone(P, L, X)
        else:
            put_lanes(P, L, X, first, last)
        for k in range(n):
            if L.ints[k, at.LOADED] == 1:
                put_lane_wrenches(P, L, k, X, first)


@kernel
def put_lanes(P: Pack, L: Loop, X: Array, first: int, last: int) -> None:
    """Write the solutions of joints first ... last - 1 to X (nn, 6, LANES), side by side."""
    b = ws.right_hand_side(P)
    for node in range(X.shape[0]):
        for a in range(6):
            b[node, a] = 0.0
            for r in range(X.shape[2]):
                X[node, a, r] = 0.0
    for k in range(first, last):
        if slides_now(L, k):
            i, j = L.ints[k, at.BODY_I], L.ints[k, at.BODY_J]
            for c in range(L.ints[k, at.CHANNELS]):
                add_unit_friction(L, k, c, -L.terms[k, at.DIRECTION + c], b)
            for a in range(6):
                if i > 0:
                    X[i, a, k - first] = b[i, a]
                if j > 0:
                    X[j, a, k - first] = b[j, a]
                b[i, a] = b[j, a] = 0.0
    solve_many(steps_of(P), factor_of(P), X)  # type: ignore[arg-type]


@kernel
def put_lanes_alone(P: Pack, L: Loop, X: Array) -> None:
    """Write the solutions of few joints to X, one after the other."""
    b, x = ws.right_hand_side(P), ws.solution(P)
    for k in range(L.ints.shape[0]):
        if slides_now(L, k):
            for node in range(b.shape[0]):
                for a in range(6):
                    b[node, a] = 0.0
            for c in range(L.ints[k, at.CHANNELS]):
                add_unit_friction(L, k, c, -L.terms[k, at.DIRECTION + c], b)
            for a in range(6):
                b[0, a] = 0.0
            solve_again(P)
        for node in range(x.shape[0]):
            for a in range(6):
                X[node, a, k] = x[node, a] if slides_now(L, k) else 0.0


@kernel
def put_lane_wrenches(P: Pack, L: Loop, k: int, X: Array, first: int) -> None:
    """Write the wrenches of joint k by the solutions X (nn, 6, LANES) to V."""
    J, A, node, side, m = ws.jacobian(P), ws.rotation_matrices(P), ws.n_bodies(P), L.ints[k, at.SIDE_J], X.shape[2]
    for a in range(6):
        for r in range(m):
            L.V[6 * k + a, first + r] = 0.0
    for c in range(L.ints[k, at.N_SLOTS]):
        slot = L.ints[k, at.SLOTS + c]
        F, n = load(J[slot], side, 0), load(J[slot], side, 3)
        lam = X[node + slot // 6, slot % 6]
        add_lanes(L.V, 6 * k, first, F, lam, m)
        if moments_press(L.ints, L.reals, k):
            M = sub(to_global(A, L.ints[k, at.BODY_J], n), cross(load(L.terms, k, at.LEVER), F))
            add_lanes(L.V, 6 * k + 3, first, M, lam, m)


@kernel
def add_lanes(V: Array, row: int, first: int, wrench: Vec, lam: Array, m: int) -> None:
    """Add -wrench lam^T, (3, m), to V from `row` and column `first` on."""
    for r in range(m):
        V[row, first + r] -= wrench[0] * lam[r]
        V[row + 1, first + r] -= wrench[1] * lam[r]
        V[row + 2, first + r] -= wrench[2] * lam[r]
