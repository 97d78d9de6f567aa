r"""Friction and multipliers solved together, with the factor at hand.

    [ M  Phi_q^T; Phi_q  0 ] (u', lam) = (Q + B^T f(lam), gamma)

    1   x = x_0 + sum f_c x_c            x_0: without friction;  x_c = K^-1 (B_c^T, 0): a solution for each rate, or direction of sliding
    2   a joint that sticks              B u' + bias = 0 gives its f: a row that is switched on
    3   joints that slide                f_t = C(w_0 + sum phi_s w_s), by Newton's iteration on as many numbers as there are joints
        unique if I - A is an M-matrix (`algebra`); otherwise accepted where no joint alone has slope 1, and the determinant along the
        way from no friction keeps its sign; else solutions are searched from many starts
    4   at a state without modes         a joint that sticks beyond its limit is released at the limit, and slides unless others hold it

Rows that stick and depend on each other (all joints of a mechanism that comes to rest) are told by their pivots; those beyond their limits
carry the limit, and the others the rest.  A convex loop of one joint has one solution, or two, or none, by the slope of C (Painleve).
Source: Haug (2021), friction; Or, Painleve's paradox and dynamic jamming, Regul. Chaotic Dyn. 19 (2014).
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.status_codes import FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED, NOT_FINITE, OK, report
from haugmbd.math.vec3 import Vec
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.algebra import eliminate_sticking, is_m_matrix, solve_dense
from haugmbd.model.friction.channels import add_friction
from haugmbd.model.friction.load import normal_force, normal_rate, thrust, wrench_of
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout
from haugmbd.workspace.layout import Pack

TOL = 1e-14
"""Relative to the largest friction: what Newton's iteration may leave."""
ROUNDING = 1e-11
"""Relative to the largest friction: a residual that does not fall any more below this is rounding."""
MOST_NEWTON, MOST_FIXED_POINT = 40, 400
OVER = 1e-13
"""Relative to the limit: friction needed beyond it by less does not release a joint."""
HELD = 1e-12
"""Relative to the bodies alone: a rate that gives way less to its own friction is held by joints."""
PASSES = 1e-8
"""Relative to its parts: the acceleration of a joint that sticks is zero within rounding."""
MOVES = 1e-9
"""Relative to a joint alone: a released joint that gives way less under its own friction is held by others that stick."""
GOLDEN = 0.3819660112501051
APART = 1e-6
"""Relative: solutions that differ by more are two."""


class Loop(NamedTuple):
    """The arrays of the loop, for n joints and m channels.

    ints, reals, terms, modes: see `columns`;  X: (m, 6 nn) columns;  G: (m + 1, m) rates of the channels by column, and of x_0
    W: (m + 1, 6 n) wrenches of the joints by column, and of x_0;  S: (m, m)
    R: (n + 1, m) friction that sticks: of x_0, and by each joint that slides
    V: (n + 1, 6 n) wrenches with the sticking condensed;  A: (n, n + 1);  f_t: (4, n) solution, others, limits;  active: (4, m)
    """

    ints: Ints
    reals: Array
    terms: Array
    modes: Array
    X: Array
    G: Array
    W: Array
    S: Array
    R: Array
    V: Array
    A: Array
    f_t: Array
    active: Array


def algebra_size(n: int, m: int) -> int:
    """Return the numbers that the loop needs for n joints and m channels, besides its columns."""
    return (m + 1) * m + (m + 1) * 6 * n + m * m + (n + 1) * m + (n + 1) * 6 * n + n * (n + 1) + 4 * n + 4 * m


@inlined
def loop_of(P: Pack) -> Loop:
    """Return the arrays of a pack."""
    ints, X = ws.friction_ints(P), ws.friction_columns(P)
    n, m = ints.shape[0], X.shape[0]
    G = P.ints[3 * layout.FRICTION_ALGEBRA]
    W = G + (m + 1) * m
    S = W + (m + 1) * 6 * n
    R = S + m * m
    V = R + (n + 1) * m
    A = V + (n + 1) * 6 * n
    f_t = A + n * (n + 1)
    return Loop(
        ints,
        ws.friction_reals(P),
        ws.friction_terms(P),
        ws.friction_modes(P),
        X,
        borrow(P.work, G, m + 1, m),
        borrow(P.work, W, m + 1, 6 * n),
        borrow(P.work, S, m, m),
        borrow(P.work, R, n + 1, m),
        borrow(P.work, V, n + 1, 6 * n),
        borrow(P.work, A, n, n + 1),
        borrow(P.work, f_t, 4, n),
        borrow(P.work, f_t + 4 * n, 4, m),
    )


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
    i, j = L.ints[k, at.BODY_I], L.ints[k, at.BODY_J]
    for d in range(L.ints[k, at.CHANNELS]):
        f = -L.terms[k, at.DIRECTION + d] if slides else 1.0 if d == c else 0.0
        for a in range(6):
            b[i, a] += f * L.terms[k, at.B + 12 * d + a]
            b[j, a] += f * L.terms[k, at.B + 12 * d + 6 + a]
    for a in range(6):
        b[0, a] = 0.0
    code = solve_again(P)
    column = L.ints[k, at.FIRST] + c
    L.active[1, column] = response_of_bodies(ws.inertia(P), L, k, c)
    L.active[2, column] = L.terms[k, at.ARM + c] ** 2
    for node in range(x.shape[0]):
        for a in range(6):
            L.X[column, 6 * node + a] = x[node, a]
    put_wrenches(P, L, column)
    return code


@kernel
def solve_again(P: Pack) -> int:
    """Solve K x = b with the current factor."""
    P.begin(P, P.python_solver)
    code = P.finish(P, P.python_solver)
    if ws.has_massless_directions(P):
        code = P.refine(P, P.python_solver)
    return code


@kernel
def put_columns(P: Pack, L: Loop) -> int:
    """Write wrenches and rates of the solution without friction, and a column for each joint that slides and rate that sticks."""
    last = L.X.shape[0]
    put_wrenches(P, L, last)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        slides = L.terms[k, at.STATE] != at.STICKS
        for c in range(L.ints[k, at.CHANNELS]):
            L.G[last, L.ints[k, at.FIRST] + c] += L.terms[k, at.BIAS + c]
            if c == 0 or not slides:
                code = put_column(P, L, k, c, slides)
                if code != OK:
                    return code
    return OK


@kernel
def condense_sticking(L: Loop) -> None:
    """Write the friction R of the channels that stick, by x_0 and by each joint that slides, and the wrenches V with it."""
    m, n = L.X.shape[0], L.ints.shape[0]
    for c in range(m):
        L.active[0, c] = 0.0
    for k in range(n):
        if L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] == at.STICKS:
            for c in range(L.ints[k, at.FIRST], L.ints[k, at.FIRST] + L.ints[k, at.CHANNELS]):
                L.active[0, c] = L.G[c, c] if L.G[c, c] > HELD * L.active[1, c] else 0.0
    for c in range(m):
        for d in range(m):
            both = L.active[0, c] != 0.0 and L.active[0, d] != 0.0
            L.S[c, d] = 0.5 * (L.G[c, d] + L.G[d, c]) if both else 0.0
        L.R[0, c] = -L.G[m, c] if L.active[0, c] != 0.0 else 0.0
        for k in range(n):
            slides = L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.STICKS
            L.R[1 + k, c] = -L.G[L.ints[k, at.FIRST], c] if slides and L.active[0, c] != 0.0 else 0.0
    eliminate_sticking(L.S, L.R, L.active[0], L.active[2], L.active[3])
    for row in range(n + 1):
        k = row - 1
        slides = row > 0 and L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.STICKS
        for a in range(6 * n):
            L.V[row, a] = L.W[m, a] if row == 0 else L.W[L.ints[k, at.FIRST], a] if slides else 0.0
        for c in range(m):
            if L.active[0, c] > 0.0 and L.R[row, c] != 0.0:
                for a in range(6 * n):
                    L.V[row, a] += L.R[row, c] * L.W[c, a]


@kernel
def slides_now(L: Loop, k: int) -> bool:
    """Return whether the friction of joint k is f_t: it slides, or is at its limit."""
    return L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.STICKS  # type: ignore[no-any-return]


@kernel
def wrench_at(L: Loop, k: int, f_t: Array) -> tuple[Vec, Vec]:
    """Return force and moment that joint k carries with friction f_t (n,)."""
    F1, F2, F3 = L.V[0, 6 * k], L.V[0, 6 * k + 1], L.V[0, 6 * k + 2]
    M1, M2, M3 = L.V[0, 6 * k + 3], L.V[0, 6 * k + 4], L.V[0, 6 * k + 5]
    for s in range(L.ints.shape[0]):
        if slides_now(L, s):
            F1 += f_t[s] * L.V[1 + s, 6 * k]
            F2 += f_t[s] * L.V[1 + s, 6 * k + 1]
            F3 += f_t[s] * L.V[1 + s, 6 * k + 2]
            M1 += f_t[s] * L.V[1 + s, 6 * k + 3]
            M2 += f_t[s] * L.V[1 + s, 6 * k + 4]
            M3 += f_t[s] * L.V[1 + s, 6 * k + 5]
    return (F1, F2, F3), (M1, M2, M3)


@kernel
def response(L: Loop, k: int, s: int) -> tuple[Vec, Vec]:
    """Return the wrench of joint k by unit friction of joint s."""
    r = 1 + s
    return (
        (L.V[r, 6 * k], L.V[r, 6 * k + 1], L.V[r, 6 * k + 2]),
        (L.V[r, 6 * k + 3], L.V[r, 6 * k + 4], L.V[r, 6 * k + 5]),
    )


@kernel
def largest(L: Loop, k: int, F: Vec, M: Vec, constant: bool, static: bool) -> float:
    """Return C_k of a wrench [N]; without C_0 if not constant, at rest if static."""
    first = at.S_0 if static else at.C_0
    N = normal_force(L.ints, L.reals, L.terms, k, F, M)
    by_load = L.terms[k, first + 1] * N + L.terms[k, first + 2] * abs(thrust(L.ints, L.terms, k, F))
    return by_load + (L.terms[k, first] if constant else 0.0)  # type: ignore[no-any-return]


@kernel
def put_slopes(L: Loop) -> float:
    """Write A_ks of the joints that slide, side by side; return the largest A_kk."""
    n, row, worst = L.ints.shape[0], 0, 0.0
    for k in range(n):
        if not slides_now(L, k):
            continue
        column = 0
        static = L.terms[k, at.STATE] == at.AT_LIMIT
        for s in range(n):
            if slides_now(L, s):
                F, M = response(L, k, s)
                L.A[row, column] = largest(L, k, F, M, False, static)
                if k == s:
                    worst = max(worst, L.A[row, column])
                column += 1
        row += 1
    return worst


@kernel
def put_friction_limits(L: Loop, f_t: Array, out: Array) -> float:
    """Write C(w(f_t)) to out; return the largest |C - f_t|."""
    worst = 0.0
    for k in range(L.ints.shape[0]):
        if slides_now(L, k):
            F, M = wrench_at(L, k, f_t)
            out[k] = largest(L, k, F, M, True, L.terms[k, at.STATE] == at.AT_LIMIT)
            if not abs(out[k] - f_t[k]) <= worst:
                worst = abs(out[k] - f_t[k])
    return worst


@kernel
def newton_step(L: Loop, f_t: Array, value: Array) -> int:
    """Advance f_t by Newton's iteration for f_t = C(w(f_t)), value = C(w(f_t)); return the sign of the determinant of its matrix."""
    n, row, active = L.ints.shape[0], 0, 0
    for k in range(n):
        active += 1 if slides_now(L, k) else 0
    for k in range(n):
        if not slides_now(L, k):
            continue
        F, M = wrench_at(L, k, f_t)
        first = at.S_0 if L.terms[k, at.STATE] == at.AT_LIMIT else at.C_0
        push = thrust(L.ints, L.terms, k, F)
        column = 0
        for s in range(n):
            if slides_now(L, s):
                dF, dM = response(L, k, s)
                slope = L.terms[k, first + 1] * normal_rate(L.ints, L.reals, L.terms, k, F, M, dF, dM)
                more = thrust(L.ints, L.terms, k, dF)
                slope += L.terms[k, first + 2] * (more if push >= 0.0 else -more)
                L.A[row, column] = (1.0 if k == s else 0.0) - slope
                column += 1
        L.A[row, active] = value[k] - f_t[k]
        row += 1
    sign = solve_dense(L.A, active)
    if sign == 0:
        return 0
    row = 0
    for k in range(n):
        if slides_now(L, k):
            f_t[k] += L.A[row, active]
            row += 1
    return sign


@kernel
def scale_of(L: Loop, f_t: Array) -> float:
    """Return the largest friction, with and without the loop: what residuals are measured by."""
    worst = 1e-300
    for k in range(L.ints.shape[0]):
        if slides_now(L, k):
            worst = max(worst, abs(f_t[k]), L.f_t[2, k])
    return worst


@kernel
def iterate(L: Loop, f_t: Array, value: Array, most: int, newton: bool) -> int:
    """Iterate f_t = C(w(f_t)) from f_t, by Newton's iteration or the fixed point.

    Return 0 if it has not converged to some f_t >= 0, otherwise the sign of the determinant of 1 - dC/df_t near the solution.
    """
    before, sign = 1e300, 1
    for _ in range(most):
        left, size = put_friction_limits(L, f_t, value), scale_of(L, f_t)
        if left <= TOL * size or (left <= ROUNDING * size and left >= 0.5 * before):
            for k in range(L.ints.shape[0]):
                if slides_now(L, k) and f_t[k] < -ROUNDING * size:
                    return 0
            return sign
        before = left
        if newton:
            sign = newton_step(L, f_t, value) if left < 1e200 else 0  # noqa: PLR2004
            if sign == 0:
                return 0
        else:
            for k in range(L.ints.shape[0]):
                f_t[k] = value[k]
    return 0


@kernel
def convex_verdict(L: Loop, k: int, slope: float, f_t: Array, value: Array) -> int:
    """Return whether g = C(w(f_t)) - f_t of the only joint that slides, with slope >= 1 far out, has two zeros or none: g is convex."""
    lower, upper = 0.0, min(L.f_t[2, k] / max(slope - 1.0, 1e-9), 1e9 * (L.f_t[2, k] + 1e-300))
    a, b = lower + GOLDEN * (upper - lower), upper - GOLDEN * (upper - lower)
    least = L.f_t[2, k]
    for _ in range(120):
        f_t[k] = a
        put_friction_limits(L, f_t, value)
        g_a = value[k] - a
        f_t[k] = b
        put_friction_limits(L, f_t, value)
        g_b = value[k] - b
        least = min(least, g_a, g_b)
        if g_a < g_b:
            upper = b
        else:
            lower = a
        a, b = lower + GOLDEN * (upper - lower), upper - GOLDEN * (upper - lower)
    return FRICTION_HAS_NONE if least > 0.0 else FRICTION_HAS_TWO


@kernel
def several_verdict(L: Loop, f_t: Array, value: Array) -> int:
    """Search solutions from many starts, where none is known to be unique; return OK with the only one in f_t[0], or what was found."""
    n, found = L.ints.shape[0], 0
    for start in range(n + 4):
        for k in range(n):
            f_t[k] = L.f_t[2, k] * (10.0 ** (start - 1) if start < 4 else 1.0) * (0.0 if start == 0 else 1.0)
            if start >= 4 and k == start - 4:
                f_t[k] *= 100.0
        if iterate(L, f_t, value, MOST_NEWTON, True) == 0:
            continue
        if found == 0:
            found = 1
            for k in range(n):
                L.f_t[0, k] = f_t[k]
            continue
        size = scale_of(L, f_t)
        for k in range(n):
            if slides_now(L, k) and abs(f_t[k] - L.f_t[0, k]) > APART * size:
                return FRICTION_HAS_TWO
    return OK if found == 1 else FRICTION_HAS_NONE


@kernel
def solve_sliding(P: Pack, L: Loop) -> int:
    """Write the friction f_t of the joints that slide to f_t[0]; or return why there is no single solution."""
    n, active, only = L.ints.shape[0], 0, 0
    for k in range(n):
        L.f_t[0, k] = L.f_t[3, k] = 0.0
        if slides_now(L, k):
            active, only = active + 1, k
    if active == 0:
        return OK
    put_friction_limits(L, L.f_t[3], L.f_t[2])
    for k in range(n):
        if slides_now(L, k) and not isfinite(L.f_t[2, k]):  # of a step that is too large, which the error control may shorten
            return report(ws.status(P), NOT_FINITE, -1 - k, L.f_t[2, k])
    worst = put_slopes(L)
    unique = is_m_matrix(L.A, active)
    for k in range(n):
        L.f_t[0, k] = L.f_t[2, k] if slides_now(L, k) else 0.0
    sign = iterate(L, L.f_t[0], L.f_t[1], MOST_NEWTON, True) if unique or (active > 1 and worst < 1.0) else 0
    if sign > 0:
        return OK
    if unique:
        for k in range(n):
            L.f_t[0, k] = 0.0
        if iterate(L, L.f_t[0], L.f_t[1], MOST_FIXED_POINT, False) != 0:
            return OK
        return report(ws.status(P), FRICTION_STALLED, only, worst)
    code = several_verdict(L, L.f_t[3], L.f_t[1]) if active > 1 else convex_verdict(L, only, worst, L.f_t[3], L.f_t[1])
    if code == OK:
        return OK
    for k in range(n):
        if slides_now(L, k):
            F, M = response(L, k, k)
            if largest(L, k, F, M, False, L.terms[k, at.STATE] == at.AT_LIMIT) == worst:
                only = k
    return report(ws.status(P), code, only, worst)


@kernel
def put_friction(L: Loop) -> None:
    """Write friction, normal force, limit and margin of every joint."""
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        F, M = wrench_at(L, k, L.f_t[0])
        terms, needed = L.terms, 0.0
        for c in range(L.ints[k, at.CHANNELS]):
            channel = L.ints[k, at.FIRST] + c
            if slides_now(L, k):
                f = -L.f_t[0, k] * terms[k, at.DIRECTION + c]
            else:
                f = L.R[0, channel]
                for s in range(L.ints.shape[0]):
                    if slides_now(L, s):
                        f += L.f_t[0, s] * L.R[1 + s, channel]
            terms[k, at.FRICTION + c] = f
            needed += (f / terms[k, at.ARM + c]) ** 2
        terms[k, at.NORMAL] = normal_force(L.ints, L.reals, terms, k, F, M)
        terms[k, at.LIMIT] = largest(L, k, F, M, True, True)
        terms[k, at.MARGIN] = terms[k, at.LIMIT] - sqrt(needed)


@kernel
def release(L: Loop) -> bool:
    """Release the joint that is furthest beyond its limit, where no mode says that it sticks; return whether there is one."""
    worst, which = 0.0, -1
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] == at.STICKS and L.modes[k, at.MODE] == at.FREE:
            limit, margin = L.terms[k, at.LIMIT], L.terms[k, at.MARGIN]
            over = -margin / (limit - margin) if limit > margin else 0.0
            if over > max(OVER, worst):
                worst, which = over, k
    if which < 0:
        return False
    k, terms = which, L.terms
    needed = terms[k, at.LIMIT] - terms[k, at.MARGIN]
    for c in range(L.ints[k, at.CHANNELS]):
        terms[k, at.DIRECTION + c] = -terms[k, at.FRICTION + c] / needed
    terms[k, at.STATE] = at.AT_LIMIT
    put_sliding_column(L, k)
    return True


@kernel
def release_with_others(L: Loop) -> bool:
    """Release a joint that sticks and would move with one at its limit that has no solution; return whether there is one."""
    for s in range(L.ints.shape[0]):
        if L.ints[s, at.LOADED] == 0 or L.terms[s, at.STATE] != at.AT_LIMIT:
            continue
        first = L.ints[s, at.FIRST]
        for k in range(L.ints.shape[0]):
            if L.ints[k, at.LOADED] == 0 or L.terms[k, at.STATE] != at.STICKS or L.modes[k, at.MODE] != at.FREE:
                continue
            size = 0.0
            for c in range(L.ints[k, at.CHANNELS]):
                channel = L.ints[k, at.FIRST] + c
                if L.active[0, channel] != 0.0:
                    size += (L.terms[k, at.ARM + c] * L.G[first, channel]) ** 2
            if size == 0.0:
                continue
            for c in range(L.ints[k, at.CHANNELS]):
                channel, arm = L.ints[k, at.FIRST] + c, L.terms[k, at.ARM + c]
                moves = -arm * arm * L.G[first, channel] / sqrt(size)
                L.terms[k, at.DIRECTION + c] = moves if L.active[0, channel] != 0.0 else 0.0
            L.terms[k, at.STATE] = at.AT_LIMIT
            put_sliding_column(L, k)
            return True
    return False


@kernel
def put_sliding_column(L: Loop, k: int) -> None:
    """Make the first column of joint k that of its friction against the direction, from those of its channels."""
    first = L.ints[k, at.FIRST]
    for c in range(L.ints[k, at.CHANNELS]):
        D = -L.terms[k, at.DIRECTION + c]
        combine(L.X, first, first + c, c, D)
        combine(L.G, first, first + c, c, D)
        combine(L.W, first, first + c, c, D)


@kernel
def rate_with_friction(L: Loop, channel: int) -> float:
    """Return the acceleration of a channel with the friction found."""
    rate = L.G[L.X.shape[0], channel]
    for s in range(L.ints.shape[0]):
        if L.ints[s, at.LOADED] == 0:
            continue
        first = L.ints[s, at.FIRST]
        if slides_now(L, s):
            rate += L.f_t[0, s] * L.G[first, channel]
        else:
            for c in range(L.ints[s, at.CHANNELS]):
                rate += L.terms[s, at.FRICTION + c] * L.G[first + c, channel]
    return rate  # type: ignore[no-any-return]


@kernel
def let_pass(L: Loop, base: Array) -> bool:
    """Let joints slide that are at rest for an instant only, and that no friction of theirs stops; return whether there is one."""
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0 or L.terms[k, at.STATE] != at.STICKS or L.modes[k, at.MODE] != at.FREE:
            continue
        i, j, total, parts = L.ints[k, at.BODY_I], L.ints[k, at.BODY_J], 0.0, 0.0
        for c in range(L.ints[k, at.CHANNELS]):
            arm = L.terms[k, at.ARM + c]
            total += (arm * rate_with_friction(L, L.ints[k, at.FIRST] + c)) ** 2
            parts += arm * abs(L.terms[k, at.BIAS + c])
            for a in range(6):
                B = at.B + 12 * c + a
                parts += arm * abs(L.terms[k, B] * (base[0, 6 * i + a] if i > 0 else 0.0))
                parts += arm * abs(L.terms[k, B + 6] * (base[0, 6 * j + a] if j > 0 else 0.0))
        if sqrt(total) > PASSES * parts:
            for c in range(L.ints[k, at.CHANNELS]):
                arm = L.terms[k, at.ARM + c]
                rate = arm * rate_with_friction(L, L.ints[k, at.FIRST] + c)
                L.terms[k, at.DIRECTION + c] = arm * rate / sqrt(total)
            L.terms[k, at.STATE] = at.SLIDES
            put_sliding_column(L, k)
            return True
    return False


@kernel
def combine(rows: Array, first: int, row: int, c: int, D: float) -> None:
    """Make row `first` the sum of D times the rows of a joint's channels, one call for each: c = 0 first."""
    for a in range(rows.shape[1]):
        rows[first, a] = D * rows[row, a] + (rows[first, a] if c > 0 else 0.0)


@kernel
def let_slide(L: Loop) -> bool:
    """Let joints that were released slide with the friction of sliding, unless others hold them; return whether there is one."""
    found = False
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0 or L.terms[k, at.STATE] != at.AT_LIMIT or L.modes[k, at.MODE] != at.FREE:
            continue
        alone, held, first = 0.0, 0.0, L.ints[k, at.FIRST]
        for c in range(L.ints[k, at.CHANNELS]):
            D = L.terms[k, at.DIRECTION + c]
            alone += D * L.G[first, first + c]
            held += D * L.G[first, first + c]
            for d in range(L.X.shape[0]):
                if L.active[0, d] > 0.0:
                    held += D * L.R[1 + k, d] * L.G[d, first + c]
        if abs(held) > MOVES * abs(alone):
            L.terms[k, at.STATE] = at.SLIDES
            found = True
    return found


@kernel
def put_solution(P: Pack, L: Loop, base: Array) -> None:
    """Write x = x_0 + sum f_c x_c to the solution array."""
    x = ws.solution(P)
    for node in range(x.shape[0]):
        for a in range(6):
            x[node, a] = base[0, 6 * node + a]
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        first = L.ints[k, at.FIRST]
        for c in range(1 if slides_now(L, k) else L.ints[k, at.CHANNELS]):
            f = L.f_t[0, k] if slides_now(L, k) else L.terms[k, at.FRICTION + c]
            for node in range(x.shape[0]):
                for a in range(6):
                    x[node, a] += f * L.X[first + c, 6 * node + a]


@kernel
def solve_loop(P: Pack, base: Any) -> int:
    """Solve friction and multipliers together, from the solution without friction; base: (1, 6 nn), which it is copied to."""
    L = loop_of(P)
    x = ws.solution(P)
    for node in range(x.shape[0]):
        for a in range(6):
            base[0, 6 * node + a] = x[node, a]
    code = put_columns(P, L)
    if code != OK:
        return code
    for _ in range(3 * L.ints.shape[0] + 3):
        condense_sticking(L)
        code = solve_sliding(P, L)
        if code != OK:
            if release_with_others(L):
                continue
            return code
        put_friction(L)
        if not release(L) and not let_pass(L, base) and not let_slide(L):
            break
    put_solution(P, L, base)
    return OK


@kernel
def solve_with_forces(P: Pack) -> int:
    """Solve K x = (Q + B^T f, gamma) once more with the friction found: for solvers that keep data of their last solution."""
    b, Q, level, L = ws.right_hand_side(P), ws.generalized_forces(P), ws.row_values(P), loop_of(P)
    n = Q.shape[0]
    for k in range(n):
        for a in range(6):
            b[k, a] = Q[k, a]
    for e in range(b.shape[0] - n):
        for a in range(6):
            b[n + e, a] = level[6 * e + a, 2]
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1:
            add_friction(L.ints, L.terms, k, b)
    return solve_again(P)
