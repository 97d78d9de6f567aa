"""Joints that slide: f_t = C(w(f_t)), as many equations as there are joints; and whether a solution is the only one.

    w(f_t) = w_0 + sum f_s w_s             wrenches, with the joints that stick condensed
    C_k(w) = C_0 + C_1 N(w) + C_2 |thrust(w)|: convex
    (1 - dC/df_t) df_t = C(w(f_t)) - f_t   Newton's iteration; the sign of its determinant tells a solution that comes from no friction

Unique, none or several:

    f_t = C(w_0 + sum f_s w_s)        A_ks = C_k(w_s) - C_0: the largest slopes of C

Accepted where no joint alone has slope 1, A_kk < 1, and the determinant of 1 - dC/df_t keeps the sign that it has without friction.
Otherwise unique if the spectral radius of A is below 1: where I - A is an M-matrix, whose elimination has positive pivots; else solutions
are searched from many starts.
A convex loop of one joint has one solution, or two, or none, by the slope of C (Painleve).
Sources: Berman, Plemmons, Nonnegative Matrices in the Mathematical Sciences, ch. 6 (M-matrices); Or, Painleve's paradox and
dynamic jamming, Regul. Chaotic Dyn. 19 (2014).
Source: Haug (2021), friction.
"""

from __future__ import annotations

from math import isfinite

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED, NOT_FINITE, OK, report
from haugmbd.friction import columns as at
from haugmbd.friction.load import moments_press, normal_force, normal_gradient, thrust
from haugmbd.friction.loop_arrays import Loop, slides_now
from haugmbd.math.larger import larger
from haugmbd.math.vec3 import Vec, add, load, scale
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

TOL = 1e-14
"""Relative to the largest friction: what an iteration may leave."""
ROUNDING = 1e-11
"""Relative to the largest friction: a residual that does not fall any more below this is rounding."""


@kernel
def put_wrenches_at(L: Loop, f_t: Array) -> None:
    """Write the wrenches of all joints with friction f_t (n,) of those that slide; moments only where they press."""
    for k in range(L.ints.shape[0]):
        for a in range(6 * k, 6 * k + (6 if moments_press(L.ints, L.reals, k) else 3)):
            total = L.w_0[0, a]
            for s in range(f_t.shape[0]):
                total += L.V[a, s] * f_t[s]
            L.w[0, a] = total


@kernel
def wrench_of_joint(L: Loop, k: int) -> tuple[Vec, Vec]:
    """Return force and moment that joint k carries, as `put_wrenches_at` left them."""
    return load(L.w, 0, 6 * k), load(L.w, 0, 6 * k + 3)


@kernel
def response(L: Loop, k: int, s: int) -> tuple[Vec, Vec]:
    """Return the wrench of joint k by unit friction of joint s."""
    V, a = L.V, 6 * k
    return (V[a, s], V[a + 1, s], V[a + 2, s]), (V[a + 3, s], V[a + 4, s], V[a + 5, s])


@kernel
def largest(L: Loop, k: int, F: Vec, M: Vec, constant: bool, static: bool) -> float:
    """Return C_k of a wrench [N]; without C_0 if not constant, at rest if static."""
    first = at.S_0 if static else at.C_0
    N = normal_force(L.ints, L.reals, L.terms, k, F, M)
    by_load = L.terms[k, first + 1] * N + L.terms[k, first + 2] * abs(thrust(L.ints, L.terms, k, F))
    return by_load + (L.terms[k, first] if constant else 0.0)  # type: ignore[no-any-return]


@kernel
def put_friction_limits(L: Loop, f_t: Array, out: Array) -> float:
    """Write C(w(f_t)) to out, 0 for joints that do not slide; return the largest |C - f_t|."""
    worst = 0.0
    put_wrenches_at(L, f_t)
    for k in range(L.ints.shape[0]):
        out[k] = 0.0
        if slides_now(L, k):
            F, M = wrench_of_joint(L, k)
            out[k] = largest(L, k, F, M, True, L.terms[k, at.STATE] == at.AT_LIMIT)
            if not abs(out[k] - f_t[k]) <= worst:
                worst = abs(out[k] - f_t[k])
    return worst


@kernel
def put_newton_row(L: Loop, k: int, row: int) -> None:
    """Write row k of 1 - dC/df_t at the last wrenches, for the joints that slide, side by side."""
    F, M = wrench_of_joint(L, k)
    first = at.S_0 if L.terms[k, at.STATE] == at.AT_LIMIT else at.C_0
    c_1, c_2, push = L.terms[k, first + 1], L.terms[k, first + 2], thrust(L.ints, L.terms, k, F)
    # dC_k = c_1 (g . dF + h . dM) + c_2 sign(thrust) axis . dF
    g, h = normal_gradient(L.ints, L.reals, L.terms, k, F, M)
    axis = load(L.terms, k, at.AXIS)
    if c_2 > 0.0:
        g = add(scale(c_1, g), scale(c_2 if push >= 0.0 else -c_2, axis))
    else:
        g = scale(c_1, g)
    h, column, V, a = scale(c_1, h), 0, L.V, 6 * k
    presses = moments_press(L.ints, L.reals, k)
    # row k of 1 - dC/df_t: dF, dM by unit friction of joint s are column s of V
    for s in range(L.ints.shape[0]):
        if slides_now(L, s):
            slope = g[0] * V[a, s] + g[1] * V[a + 1, s] + g[2] * V[a + 2, s]
            if presses:
                slope += h[0] * V[a + 3, s] + h[1] * V[a + 4, s] + h[2] * V[a + 5, s]
            L.A[row, column] = (1.0 if k == s else 0.0) - slope
            column += 1


@kernel
def solve_dense(A: Array, n: int) -> int:
    """Solve A x = b by elimination with row pivots; b is column n of A, and becomes x; return the sign of the determinant."""
    sign = 1
    # A_rc <- A_rc - A_rp / A_pp A_pc, with the largest A_rp as pivot; every exchange and every negative pivot turns the sign
    for p in range(n):
        best = p
        for r in range(p + 1, n):
            if abs(A[r, p]) > abs(A[best, p]):
                best = r
        if A[best, p] == 0.0:
            return 0
        if best != p:
            sign = -sign
            for c in range(n + 1):
                A[p, c], A[best, c] = A[best, c], A[p, c]
        if A[p, p] < 0.0:
            sign = -sign
        inverse = 1.0 / A[p, p]
        for r in range(p + 1, n):
            factor = A[r, p] * inverse
            for c in range(p, n + 1):
                A[r, c] -= factor * A[p, c]
    # back substitution: x_p = (b_p - sum A_pc x_c) / A_pp
    for p in range(n - 1, -1, -1):
        for c in range(p + 1, n):
            A[p, n] -= A[p, c] * A[c, n]
        A[p, n] /= A[p, p]
    return sign


@kernel
def newton_step(L: Loop, f_t: Array, value: Array) -> int:
    """Advance f_t by Newton's iteration for f_t = C(w(f_t)), value = C(w(f_t)); return the sign of the determinant of its matrix."""
    n, row, active = L.ints.shape[0], 0, 0
    for k in range(n):
        active += 1 if slides_now(L, k) else 0
    # (1 - dC/df_t) df_t = C(w(f_t)) - f_t
    for k in range(n):
        if slides_now(L, k):
            put_newton_row(L, k, row)
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
            worst = larger(larger(worst, abs(f_t[k])), L.f_t[2, k])
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


MOST_NEWTON, MOST_FIXED_POINT = 40, 400
GOLDEN = 0.3819660112501051
APART = 1e-6
"""Relative: solutions that differ by more are two."""


@kernel
def slope_of(L: Loop, k: int, s: int) -> float:
    """Return A_ks."""
    F, M = response(L, k, s)
    return largest(L, k, F, M, False, L.terms[k, at.STATE] == at.AT_LIMIT)


@kernel
def largest_slope_alone(L: Loop) -> float:
    """Return the largest A_kk: of a joint with its own friction only."""
    worst = 0.0
    for k in range(L.ints.shape[0]):
        if slides_now(L, k):
            worst = larger(worst, slope_of(L, k, k))
    return worst


@kernel
def is_m_matrix(A: Array, n: int) -> bool:
    """Return whether I - A, A >= 0 (n, n), has positive pivots; A is overwritten."""
    for r in range(n):
        for c in range(n):
            A[r, c] = (1.0 if r == c else 0.0) - A[r, c]
    # elimination without exchange: A_rc <- A_rc - A_rp / A_pp A_pc; all pivots are positive where the inverse is not negative
    for p in range(n):
        if not A[p, p] > 0.0:
            return False
        for r in range(p + 1, n):
            factor = A[r, p] / A[p, p]
            for c in range(p, n):
                A[r, c] -= factor * A[p, c]
    return True


@kernel
def put_slopes(L: Loop) -> None:
    """Write A_ks of the joints that slide, side by side."""
    n, row = L.ints.shape[0], 0
    for k in range(n):
        if not slides_now(L, k):
            continue
        column = 0
        for s in range(n):
            if slides_now(L, s):
                L.A[row, column] = slope_of(L, k, s)
                column += 1
        row += 1


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
    n, solutions = L.ints.shape[0], 0
    for start in range(n + 4):
        for k in range(n):
            f_t[k] = L.f_t[2, k] * (10.0 ** (start - 1) if start < 4 else 1.0) * (0.0 if start == 0 else 1.0)
            if start >= 4 and k == start - 4:
                f_t[k] *= 100.0
        if iterate(L, f_t, value, MOST_NEWTON, True) == 0:
            continue
        if solutions == 0:
            solutions = 1
            for k in range(n):
                L.f_t[0, k] = f_t[k]
            continue
        size = scale_of(L, f_t)
        for k in range(n):
            if slides_now(L, k) and abs(f_t[k] - L.f_t[0, k]) > APART * size:
                return FRICTION_HAS_TWO
    return OK if solutions == 1 else FRICTION_HAS_NONE


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
    worst = largest_slope_alone(L)
    if not isfinite(worst):
        return report(ws.status(P), NOT_FINITE, -1 - only, worst)
    for k in range(n):
        L.f_t[0, k] = L.f_t[2, k]
    if worst < 1.0 and iterate(L, L.f_t[0], L.f_t[1], MOST_NEWTON, True) > 0:
        return OK
    put_slopes(L)
    if is_m_matrix(L.A, active):
        for k in range(n):
            L.f_t[0, k] = 0.0
        if iterate(L, L.f_t[0], L.f_t[1], MOST_FIXED_POINT, False) != 0:
            return OK
        return report(ws.status(P), FRICTION_STALLED, only, worst)
    code = several_verdict(L, L.f_t[3], L.f_t[1]) if active > 1 else convex_verdict(L, only, worst, L.f_t[3], L.f_t[1])
    if code == OK:
        return OK
    for k in range(n):
        if slides_now(L, k) and slope_of(L, k, k) == worst:
            only = k
    return report(ws.status(P), code, only, worst)
