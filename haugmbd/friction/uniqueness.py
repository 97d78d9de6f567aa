r"""Whether the friction of joints that slide is the only one, and if not, whether there is none or there are several.

    f_t = C(w_0 + sum f_s w_s)        A_ks = C_k(w_s) - C_0: the largest slopes of C

Accepted where no joint alone has slope 1, A_kk < 1, and the determinant of 1 - dC/df_t keeps the sign that it has without friction.
Otherwise unique if the spectral radius of A is below 1: where I - A is an M-matrix, whose elimination has positive pivots; else solutions
are searched from many starts.
A convex loop of one joint has one solution, or two, or none, by the slope of C (Painleve).
Sources: Berman, Plemmons, Nonnegative Matrices in the Mathematical Sciences, ch. 6 (M-matrices); Or, Painleve's paradox and
dynamic jamming, Regul. Chaotic Dyn. 19 (2014).
"""

from __future__ import annotations

from math import isfinite

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED, NOT_FINITE, OK, report
from haugmbd.friction import columns as at
from haugmbd.friction.loop_arrays import Loop, slides_now
from haugmbd.friction.sliding import iterate, largest, put_friction_limits, response, scale_of
from haugmbd.math.larger import larger
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

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
