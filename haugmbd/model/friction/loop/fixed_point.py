r"""Joints that slide, where the loop contracts: an iteration with one solution of the factored system for the friction of all joints.

    K x = (Q + B^T f, gamma),   f <- C(w(x))            where it contracts, f is unique (`contraction`)

Anderson's method takes the step that is best for the residuals r = C(w) - f of the last iterations, by orthogonal differences q of r
and p of f:   f <- f + r - sum (p + q) (q . r).
It starts from the friction without the loop, so that the result depends on the state alone.
Where the bound does not prove that the loop contracts, it must along every step, by a half, and no joint alone may have slope 1: then
1 - dC/df has a positive determinant, as `uniqueness` wants it.  If it does not, the columns decide.
Source: Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965); Walker and Ni, SIAM J. Numer. Anal. 49 (2011).
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.kkt.entry_points import factor_of
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.channels import add_friction
from haugmbd.model.friction.load import force_of, moments_press, normal_force, thrust, wrench_of
from haugmbd.model.friction.loop.arrays import HISTORY, Loop
from haugmbd.model.friction.loop.contraction import slope_bounds
from haugmbd.model.friction.loop.responses import solve_again
from haugmbd.model.friction.loop.sliding import ROUNDING
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

MOST = 30
"""Iterations.  If more are needed, the columns are solved for."""
TOL = 1e-12
"""Relative to the largest friction: the residual that may be left; solutions of long chains differ by as much."""
HALF = 0.5
"""Slope of the loop along all steps of an iteration, by which it contracts where no bound proves it."""
COARSE = 1e-9
"""Relative to the largest friction: the slope along smaller steps is rounding."""


@kernel
def may_contract(P: Pack, L: Loop) -> tuple[bool, bool]:
    """Return whether all joints slide, none with a slope of 1 alone, and whether it is proved that their loop contracts."""
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.SLIDES:
            return False, False
    alone, q = slope_bounds(P, factor_of(P), L)  # type: ignore[arg-type]
    return alone < 1.0, q < 1.0


@kernel
def put_limits_of_solution(P: Pack, L: Loop, out: Array) -> None:
    """Write C(w(x)) of the current solution x to out (n,), and normal force, limit at rest and margin to the terms."""
    x, J, A, first = ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P), ws.n_bodies(P)
    terms = L.terms
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            out[k] = 0.0
            continue
        if moments_press(L.ints, L.reals, k):
            F, M = wrench_of(L.ints, terms, k, J, A, x, first)
        else:
            F, M = force_of(L.ints, k, J, x, first), (0.0, 0.0, 0.0)
        N, push = normal_force(L.ints, L.reals, terms, k, F, M), abs(thrust(L.ints, terms, k, F))
        out[k] = terms[k, at.C_0] + terms[k, at.C_1] * N + terms[k, at.C_2] * push
        terms[k, at.NORMAL] = N
        terms[k, at.LIMIT] = terms[k, at.S_0] + terms[k, at.S_1] * N + terms[k, at.S_2] * push


@kernel
def put_forces(P: Pack, L: Loop, f_t: Array) -> None:
    """Write the friction of sliding f_t, and b = (Q + B^T f, gamma)."""
    b, Q, terms = ws.right_hand_side(P), ws.generalized_forces(P), L.terms
    for body in range(Q.shape[0]):
        for a in range(6):
            b[body, a] = Q[body, a]
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1:
            for c in range(L.ints[k, at.CHANNELS]):
                terms[k, at.FRICTION + c] = -f_t[k] * terms[k, at.DIRECTION + c]
            add_friction(L.ints, terms, k, b)
    for a in range(6):
        b[0, a] = 0.0


@kernel
def anderson_step(L: Loop, count: int) -> float:
    """Advance f_t[0] by the residual r = f_t[1] - f_t[0], and the last differences; return the slope of C along the last step."""
    f, g, f_old, r_old, n = L.f_t[0], L.f_t[1], L.f_t[2], L.f_t[3], L.ints.shape[0]
    step, change, size = 0.0, 0.0, 0.0
    if count > 0:
        p, q = L.history[2 * ((count - 1) % HISTORY)], L.history[2 * ((count - 1) % HISTORY) + 1]
        for k in range(n):
            p[k], q[k] = f[k] - f_old[k], g[k] - f[k] - r_old[k]
            step, change, size = max(step, abs(p[k])), max(change, abs(p[k] + q[k])), max(size, abs(f[k]))
        make_orthogonal(L, max(0, count - HISTORY), count - 1, p, q)
    for k in range(n):
        f_old[k], r_old[k] = f[k], g[k] - f[k]
        f[k] = g[k]
    for i in range(max(0, count - HISTORY), count):
        p, q, along = L.history[2 * (i % HISTORY)], L.history[2 * (i % HISTORY) + 1], 0.0
        for k in range(n):
            along += q[k] * r_old[k]
        for k in range(n):
            f[k] -= along * (p[k] + q[k])
    return change / step if step > COARSE * size else 0.0


@kernel
def make_orthogonal(L: Loop, first: int, last: int, p: Array, q: Array) -> None:
    """Make q a unit vector normal to the differences of residuals first ... last - 1, and p the difference of f that belongs to it."""
    n, square = L.ints.shape[0], 0.0
    for i in range(first, last):
        p_i, q_i, along = L.history[2 * (i % HISTORY)], L.history[2 * (i % HISTORY) + 1], 0.0
        for k in range(n):
            along += q[k] * q_i[k]
        for k in range(n):
            p[k] -= along * p_i[k]
            q[k] -= along * q_i[k]
    for k in range(n):
        square += q[k] * q[k]
    factor = 1.0 / sqrt(square) if square > 0.0 else 0.0
    for k in range(n):
        p[k] *= factor
        q[k] *= factor


@kernel
def iterate_solutions(P: Pack, L: Loop, proved: bool) -> bool:
    """Iterate from the solution without friction; return whether friction and multipliers agree, and the loop contracts.

    proved: whether it is known to contract, otherwise it must along every step
    """
    f, g, before, n = L.f_t[0], L.f_t[1], 1e300, L.ints.shape[0]
    put_limits_of_solution(P, L, f)
    for count in range(MOST):
        put_forces(P, L, f)
        if solve_again(P) != OK:
            return False
        put_limits_of_solution(P, L, g)
        left, size = 0.0, 1e-300
        for k in range(n):
            size = max(size, f[k], g[k])
            if not abs(g[k] - f[k]) <= left:
                left = abs(g[k] - f[k])
        if left <= TOL * size or (left <= ROUNDING * size and left >= 0.5 * before):
            for k in range(n):
                L.terms[k, at.MARGIN] = L.terms[k, at.LIMIT] - f[k]
            return True
        if not left < 1e200:  # noqa: PLR2004  not finite: the columns tell why
            return False
        before = left
        if anderson_step(L, count) > HALF and not proved:
            return False
    return False
