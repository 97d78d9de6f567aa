r"""A cheap proof that the friction of joints that slide is unique: a bound of the slope of the whole loop.

    f -> C(w(f)) changes by a factor q < 1 at most: one fixed point (Banach)

    friction f gives the bodies the forces F = B^T f, and lam = -S^-1 Phi_q M^-1 F, S = Phi_q M^-1 Phi_q^T (Gauss' principle), so that

    lam^T S lam <= F^T M^-1 F <= sum b_k^2 f_k^2        b_k^2 = sum over both bodies of (joints with friction on the body) F_1^T M^-1 F_1
    C_k changes by c_1 |P_N w_k| + c_2 |P_T w_k|        <= a_k sqrt(lam^T S lam)
    a_k = c_1 tr(P_N I_A P_N^T)^1/2 + c_2 tr(P_T I_A P_T^T)^1/2
    q^2 = sum a_k^2 b_k^2                               in the norm (sum b_k^2 f_k^2)^1/2

I_A: articulated inertia of the body behind the joint, whose factor L d L^T the elimination leaves; it bounds the block of S^-1 from above,
where the model has no loops.  P w: the parts of the wrench that press, with
|F/2 + c| + |F/2 - c| <= (|F|^2 + 4 |c|^2)^1/2.
Sources: Udwadia and Kalaba, Analytical Dynamics (Gauss' principle); Featherstone (2008), ch. 7: articulated inertia.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.forces.friction.joint_friction import PLANAR, SPHERICAL, TRANSLATIONAL
from haugmbd.kkt.block_ldl import Factor
from haugmbd.math.larger import larger
from haugmbd.math.vec3 import Vec, cross, dot, load, scale, to_body
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.load import moments_press
from haugmbd.model.friction.loop.arrays import Loop
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
            one = load_bound(f, A, L, k) ** 2 * source_bound(inertia, L, k)
            alone, square = larger(alone, one), square + one
    return sqrt(alone), sqrt(square)
