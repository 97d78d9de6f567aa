"""Joints that slide, where the loop contracts: a cheap proof of it, and an iteration for the friction of all joints.

    f <- C(w(x)),   K x = (Q + B^T f, gamma)            one solution of the factored system;  one fixed point if |dC/df| <= q < 1 (Banach)

Proof.  Friction f gives the bodies the forces F = B^T f, and lam = -S^-1 Phi_q M^-1 F, S = Phi_q M^-1 Phi_q^T (Gauss' principle), so that

    lam^T S lam <= F^T M^-1 F <= sum b_k^2 f_k^2        b_k^2 = sum over both bodies of (joints with friction on the body) F_1^T M^-1 F_1
    C_k changes by c_1 |P_N w_k| + c_2 |P_T w_k|        <= a_k sqrt(lam^T S lam)
    a_k = c_1 tr(P_N I_A P_N^T)^1/2 + c_2 tr(P_T I_A P_T^T)^1/2
    q^2 = sum a_k^2 b_k^2                               in the norm (sum b_k^2 f_k^2)^1/2

I_A: articulated inertia of the body behind the joint, whose factor L d L^T the elimination leaves; it bounds the block of S^-1 from above,
where the model has no loops.  P w: the parts of the wrench that press, with
|F/2 + c| + |F/2 - c| <= (|F|^2 + 4 |c|^2)^1/2.

Step (Anderson).  It is the best for the residual r = C(w) - f by the last two differences q of r and p of f:

    f <- f + r - sum c_i (p_i + q_i),   sum (q_i . q_j) c_j = q_i . r

Iteration.  It starts from the friction without the loop, so that the result depends on the state alone.  Where the bound does not prove
that the loop contracts, it must along every step, by a half, and no joint alone may have slope 1: then 1 - dC/df has a positive
determinant, as `sliding` wants it.  If it does not, the columns decide.
Sources: Udwadia and Kalaba, Analytical Dynamics (Gauss' principle); Featherstone (2008), ch. 7: articulated inertia; Anderson, Iterative
procedures for nonlinear integral equations, J. ACM 12 (1965); Walker and Ni, SIAM J. Numer. Anal. 49 (2011).
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.forces.joint_friction import PLANAR, SPHERICAL, TRANSLATIONAL
from haugmbd.friction import columns as at
from haugmbd.friction.channels import add_friction
from haugmbd.friction.load import force_of, moments_press, normal_force, thrust, wrench_of
from haugmbd.friction.loop_arrays import Loop
from haugmbd.friction.responses import solve_again
from haugmbd.friction.sliding import ROUNDING
from haugmbd.kkt.block_ldl import Factor
from haugmbd.kkt.block_solver import factor_of
from haugmbd.math.larger import larger
from haugmbd.math.vec3 import Vec, cross, dot, load, scale, to_body
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

UNBOUNDED = 1e300
"""A bound where none is known."""


@kernel
def inertia_along(L: Array, d: Vec, e: Vec) -> float:
    """Return the bound of (F . e)^2 for the force F of the joint: e I_A e^T;  L (6, 6), d: of the factor L d L^T, three of six."""
    y0, y1 = e[0] + L[1, 0] * e[1] + L[2, 0] * e[2], e[1] + L[2, 1] * e[2]
    return d[0] * y0 * y0 + d[1] * y1 * y1 + d[2] * e[2] * e[2]  # type: ignore[no-any-return]


@kernel
def force_bound(L: Array, d: Vec) -> float:
    """Return the bound of |F|^2: the sum over three axes."""
    first = d[0] * (1.0 + L[1, 0] * L[1, 0] + L[2, 0] * L[2, 0])
    return first + d[1] * (1.0 + L[2, 1] * L[2, 1]) + d[2]  # type: ignore[no-any-return]


@kernel
def moment_along(f: Factor, A: Array, body: int, s: Vec, e: Vec) -> float:
    """Return the bound of (M . e)^2 for the moment M of the joint at its point, s from the centre of mass of the body."""
    L, d_inv = f.D[body], f.d_inv[body]
    p0, p1, p2 = cross(s, e)
    p3, p4, p5 = to_body(A, body, e)
    y0 = p0 + L[1, 0] * p1 + L[2, 0] * p2 + L[3, 0] * p3 + L[4, 0] * p4 + L[5, 0] * p5
    y1 = p1 + L[2, 1] * p2 + L[3, 1] * p3 + L[4, 1] * p4 + L[5, 1] * p5
    y2 = p2 + L[3, 2] * p3 + L[4, 2] * p4 + L[5, 2] * p5
    y3 = p3 + L[4, 3] * p4 + L[5, 3] * p5
    y4 = p4 + L[5, 4] * p5
    total = y0 * y0 / d_inv[0] + y1 * y1 / d_inv[1] + y2 * y2 / d_inv[2]
    return total + y3 * y3 / d_inv[3] + y4 * y4 / d_inv[4] + p5 * p5 / d_inv[5]  # type: ignore[no-any-return]


@kernel
def across_axis(h: Vec) -> tuple[Vec, Vec]:
    """Return two unit vectors normal to h and to each other."""
    x, y, z = abs(h[0]), abs(h[1]), abs(h[2])
    other = (1.0, 0.0, 0.0) if x <= y and x <= z else (0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0)
    e = cross(h, other)
    e = scale(1.0 / sqrt(dot(e, e)), e)
    return e, cross(h, e)


@kernel
def load_bound(f: Factor, A: Array, L: Loop, k: int) -> float:
    """Return a_k: how much C_k changes with lam^T S lam = 1."""
    child, kind, h = L.ints[k, at.CHILD], L.ints[k, at.KIND], load(L.terms, k, at.AXIS)
    D, d_inv = f.D[child], f.d_inv[child]
    d = (1.0 / d_inv[0], 1.0 / d_inv[1], 1.0 / d_inv[2])
    along = 0.0 if kind == SPHERICAL else inertia_along(D, d, h)
    presses = along if kind == PLANAR else force_bound(D, d) - along
    about = 0.0
    if moments_press(L.ints, L.reals, k):
        s, length, radius = load(L.terms, k, at.CHILD_LEVER), L.reals[k, at.LENGTH], L.reals[k, at.RADIUS]
        if length > 0.0:
            e, g = across_axis(h)
            presses += 4.0 / (length * length) * (moment_along(f, A, child, s, e) + moment_along(f, A, child, s, g))
        if kind == TRANSLATIONAL and radius > 0.0:
            about = sqrt(moment_along(f, A, child, s, h)) / radius
    return L.terms[k, at.C_1] * (sqrt(presses) + about) + L.terms[k, at.C_2] * sqrt(along)  # type: ignore[no-any-return]


@kernel
def inverse_inertia_along(inertia: Array, body: int, force: Vec, n: Vec) -> float:
    """Return F^T M^-1 F of a force and a torque_bar n on a body."""
    a, b, c = inertia[body, 1], inertia[body, 5], inertia[body, 9]
    d, e, f = inertia[body, 6], inertia[body, 3], inertia[body, 2]
    p, q, r = b * c - d * d, a * c - e * e, a * b - f * f
    u, v, w = e * f - a * d, d * f - b * e, d * e - c * f
    turns = p * n[0] * n[0] + q * n[1] * n[1] + r * n[2] * n[2]
    turns += 2.0 * (u * n[1] * n[2] + v * n[0] * n[2] + w * n[0] * n[1])
    return dot(force, force) / inertia[body, 0] + turns / (a * p + f * w + e * v)  # type: ignore[no-any-return]


@kernel
def source_bound(inertia: Array, L: Loop, k: int) -> float:
    """Return b_k^2: the bodies' answer to unit friction of joint k."""
    total = 0.0
    for side in range(2):
        body, others = L.ints[k, at.BODY_I + side], L.ints[k, at.JOINTS_ON_I + side]
        if body > 0:
            force = n = (0.0, 0.0, 0.0)
            for c in range(L.ints[k, at.CHANNELS]):
                x, B = L.terms[k, at.DIRECTION + c], at.B + 12 * c + 6 * side
                b, m = load(L.terms, k, B), load(L.terms, k, B + 3)
                force = (force[0] + x * b[0], force[1] + x * b[1], force[2] + x * b[2])
                n = (n[0] + x * m[0], n[1] + x * m[1], n[2] + x * m[2])
            total += others * inverse_inertia_along(inertia, body, force, n)
    return total


@kernel
def slope_bounds(P: Pack, f: Factor, L: Loop) -> tuple[float, float]:
    """Return the largest a_k b_k, a bound of the slope of each joint alone, and q, a bound of that of the loop; UNBOUNDED if unknown."""
    alone, square, A, inertia = 0.0, 0.0, ws.rotation_matrices(P), ws.inertia(P)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1:
            if L.ints[k, at.CHILD] < 0:
                return UNBOUNDED, UNBOUNDED
            slope_squared = load_bound(f, A, L, k) ** 2 * source_bound(inertia, L, k)
            alone, square = larger(alone, slope_squared), square + slope_squared
    return sqrt(alone), sqrt(square)


TOL = 1e-12
"""Relative to the largest friction: the residual that may be left; solutions of long chains differ by as much."""
HALF = 0.5
"""Slope of the loop along all steps of an iteration, by which it contracts where no bound proves it."""
COARSE = 1e-9
"""Relative to the largest friction: the slope along smaller steps is rounding."""
PARALLEL = 1e-10
"""Square of the sine of the angle between two differences, below which the earlier one is left out."""
LEFT = 2e-12
"""Relative to the largest friction: what the next step may leave, by the largest slope of the loop along the steps before."""
GOES_ON, NEXT_AGREES, AGREES, FAILS = 0, 1, 2, 3
"""How an iteration stands."""


@inlined
def forget(f_t: Array) -> None:
    """Clear what an iteration before has left."""
    for row in range(f_t.shape[0]):
        for k in range(f_t.shape[1]):
            f_t[row, k] = 0.0


@kernel
def advance(f_t: Array, count: int, before: float, slope: float, proved: bool) -> tuple[int, float, float]:
    """Compare the friction f_t[0] with C = f_t[1] by its reactions, and improve it.

    Return whether it continues, the residual, and the largest slope |change of C| / |change of f| so far.
    f_t: (6, n), of the iteration before f, r, p and q follow;  count: steps so far;  before, slope: as it was returned before, else 0
    proved: whether the loop is known to contract, otherwise it must along every step
    """
    # r = C(w) - f, its differences q, q_2 and those p of f;  the normal equations of min |r - c_1 q - c_2 q_2|
    left, size, step, change, r_r = 0.0, 1e-300, 0.0, 0.0, 0.0
    q1_q1 = q1_q2 = q2_q2 = q1_r = q2_r = 0.0
    for k in range(f_t.shape[1]):
        r = f_t[1, k] - f_t[0, k]
        p, q, q_2 = f_t[0, k] - f_t[2, k], r - f_t[3, k], f_t[5, k]
        q1_q1, q1_q2, q2_q2, q1_r, q2_r = q1_q1 + q * q, q1_q2 + q * q_2, q2_q2 + q_2 * q_2, q1_r + q * r, q2_r + q_2 * r
        larger = max(f_t[0, k], f_t[1, k])
        size, step, change = max(size, larger), max(step, abs(p)), max(change, abs(p + q))
        left, r_r = max(left, abs(r)), r_r + r * r
    if not r_r < 1e300:  # noqa: PLR2004  not finite: the columns tell why
        return FAILS, left, slope
    # done: the residual is small, or rounding
    if left <= TOL * size or (left <= ROUNDING * size and count > 0 and left >= 0.5 * before):
        return AGREES, left, slope
    # slope of the loop along this step: |p + q| / |p|, as C changes by p + q
    if count > 0 and step > COARSE * size:
        slope = max(slope, change / step)
        if not slope <= HALF and not proved:
            return FAILS, left, slope
    # c by Cramer's rule; q alone where both differences are nearly parallel
    c_1, c_2 = 0.0, 0.0
    area = q1_q1 * q2_q2 - q1_q2 * q1_q2
    if count > 1 and area > PARALLEL * q1_q1 * q2_q2:
        c_1, c_2 = (q1_r * q2_q2 - q2_r * q1_q2) / area, (q2_r * q1_q1 - q1_r * q1_q2) / area
    elif count > 0 and q1_q1 > 0.0:
        c_1 = q1_r / q1_q1
    # f <- f + r - c_1 (p + q) - c_2 (p_2 + q_2)
    for k in range(f_t.shape[1]):
        f, r = f_t[0, k], f_t[1, k] - f_t[0, k]
        p, q = f - f_t[2, k], r - f_t[3, k]
        f_t[0, k] = f + r - c_1 * (p + q) - c_2 * (f_t[4, k] + f_t[5, k])
        f_t[2, k], f_t[3, k], f_t[4, k], f_t[5, k] = f, r, p, q
    return NEXT_AGREES if slope > 0.0 and slope * left <= LEFT * size else GOES_ON, left, slope


MOST = 30
"""Iterations.  If more are needed, the columns are solved for."""


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
    b, Q = ws.right_hand_side(P), ws.generalized_forces(P)
    for body in range(Q.shape[0]):
        for a in range(6):
            b[body, a] = Q[body, a]
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1:
            for c in range(L.ints[k, at.CHANNELS]):
                L.terms[k, at.FRICTION + c] = -f_t[k] * L.terms[k, at.DIRECTION + c]
            add_friction(L.ints, L.terms, k, b)
    for a in range(6):
        b[0, a] = 0.0


@kernel
def iterate_solutions(P: Pack, L: Loop, proved: bool) -> bool:
    """Iterate from the solution without friction; return whether friction and multipliers agree, and the loop contracts.

    proved: whether it is known to contract, otherwise it must along every step
    """
    before = slope = 0.0
    forget(L.f_t)
    put_limits_of_solution(P, L, L.f_t[0])
    for count in range(MOST):
        # K x = (Q + B^T f, gamma)
        put_forces(P, L, L.f_t[0])
        if solve_again(P) != OK:
            return False
        # C(w(x)), and the next f by Anderson's step
        put_limits_of_solution(P, L, L.f_t[1])
        result, before, slope = advance(L.f_t, count, before, slope, proved)
        if result == AGREES:
            for k in range(L.ints.shape[0]):
                L.terms[k, at.MARGIN] = L.terms[k, at.LIMIT] - L.f_t[0, k]
            return True
        if result == FAILS:
            return False
    return False
