r"""Revolute joints in the recursion: three CD, P_i = Q_j, and two DP1, x_k . y_k = f_k, with x on the parent i and y on the body j.

    m_k = x_k x y_k                 h = m_1 x m_2                      the motion that the rows allow: S = (0, h) at Q, at any pose
    d_1 = m_2 x h / h.h             d_2 = h x m_1 / h.h                normal to h, and dual to m_1, m_2:  m_k . d_l = 1 if k = l, or 0
    rows     s (a_Q - a_P) = b_1..3          - m_k . (alpha_j - alpha_i) = b_3+k             s = 1 or -1: which of the bodies carries
    =>       a_Q = a_P + g,  g = s b_1..3             alpha_j = alpha_i + beta + h z,  beta = - b_4 d_1 - b_5 d_2
    inward   U = I^A S    D = S^T U    u = S^T p      I' = I^A - U U^T / D      p' = p - I' (g, beta) - U u / D        to the parent, at P
    outward  z = (u - U^T (a_P + g, alpha_i + beta)) / D
    wrench   f = s lam_1..3,  n = - m_1 lam_4 - m_2 lam_5  on body j about Q
    =>       lam_1..3 = s f       lam_4 = - n . d_1       lam_5 = - n . d_2

The only system of equations is 1 x 1. The points P and Q need not coincide, nor the dot products be f: the solution is that of the rows
as they are. The cost of a body is about 200 multiply-adds to factor and 100 to solve.
Source: Featherstone (2008), sec. 7.3 (articulated-body algorithm); the rows of Haug (2021).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.compiled.subscripts import unsigned
from haugmbd.kkt.tree_arrays import (
    ARM,
    AXIS,
    BODY,
    D_INV,
    DUAL_1,
    DUAL_2,
    EDGE,
    FORCE,
    JUMP_ANGULAR,
    JUMP_LINEAR,
    LINEAR,
    PARENT,
    SIGN,
    SMALL_U,
    U_FORCE,
    U_MOMENT,
    X1,
    X2,
    Y1,
    Y2,
    P,
    Q,
    TreeArrays,
    add_inertia,
    add_wrench,
    center,
    load_inertia,
    load_wrench,
    motion,
    put_center,
    store_inertia,
)
from haugmbd.math.articulated_inertia import (
    Twist,
    Wrench,
    add_inertias,
    add_wrenches,
    power,
    quadratic_form,
    rank_one_downdate,
    scale_wrench,
    shift_inertia,
    shift_twist,
    shift_wrench,
    times_full,
    times_symmetric,
    times_twist,
)
from haugmbd.math.vec3 import add, cross, dot, load, scale, store, sub


@inlined
def place_revolute(t: TreeArrays, s: Ints) -> float:
    """Write the geometry of a joint, P from the parent's centre of mass; return |h|^2, which vanishes where the rows are dependent."""
    k = unsigned(s[BODY])
    # normals of the two dot products: their duals d1, d2 and the axis h = m1 x m2
    m1 = cross(load(t.X, s[X1], 0), load(t.X, s[Y1], 0))
    m2 = cross(load(t.X, s[X2], 0), load(t.X, s[Y2], 0))
    h = cross(m1, m2)
    square: float = dot(h, h)
    # the handle is point Q of the body; P is the same point on the parent
    put_center(t, k, load(t.X, s[Q], 0))
    store(t.joint, k, ARM, load(t.X, s[P], 0))
    # rows of DP1:  d_a . m_b = delta_ab
    inverse_square = 1.0 / square
    store(t.joint, k, DUAL_1, scale(inverse_square, cross(m2, h)))
    store(t.joint, k, DUAL_2, scale(inverse_square, cross(h, m1)))
    store(t.joint, k, AXIS, h)
    t.d_inv[unsigned(t.body.shape[0] + s[EDGE]), 3] = inverse_square
    return square


@inlined
def attach_revolute(t: TreeArrays, s: Ints) -> None:
    """Refer point P to the parent's handle."""
    k = unsigned(s[BODY])
    store(t.joint, k, ARM, add(load(t.joint, k, ARM), center(t, unsigned(s[PARENT]))))


@inlined
def put_jump(t: TreeArrays, s: Ints, x: Array) -> None:
    """Write (g, beta), the acceleration that the right-hand side of the rows prescribes between P and Q."""
    k, node = unsigned(s[BODY]), unsigned(t.body.shape[0] + s[EDGE])
    beta = add(scale(-x[node, 3], load(t.joint, k, DUAL_1)), scale(-x[node, 4], load(t.joint, k, DUAL_2)))
    store(t.joint, k, JUMP_LINEAR, scale(float(s[SIGN]), load(x, node, 0)))
    store(t.joint, k, JUMP_ANGULAR, beta)


@inlined
def eliminate_revolute(t: TreeArrays, s: Ints) -> float:
    """Pass the articulated inertia of a body to its parent; return D.

    I^A is shifted while 1/D is computed, and U U^T / D subtracted there: each body waits for this of the one that it carries.
    """
    k, i = unsigned(s[BODY]), unsigned(s[PARENT])
    I, h = load_inertia(t.body, k, LINEAR), load(t.joint, k, AXIS)
    # U = I^A S,  D = S^T U,  S = (0, h)
    D = quadratic_form(I.J, h)
    U = Wrench(times_full(I.H, h), times_symmetric(I.J, h))
    store(t.joint, k, U_FORCE, U.force)
    store(t.joint, k, U_MOMENT, U.moment)
    t.joint[k, D_INV] = 1.0 / D
    if i > 0:
        # I_i += X^T (I^A - U U^T / D) X,  X: from the parent's handle to this one
        arm = load(t.joint, k, ARM)
        passed = add_inertias(load_inertia(t.body, i, LINEAR), shift_inertia(I, arm))
        store_inertia(t.body, i, LINEAR, rank_one_downdate(passed, 1.0 / D, shift_wrench(U, arm)))
    return D


@inlined
def pass_rigidly(t: TreeArrays, s: Ints) -> None:
    """Pass all the inertia of a body to its parent, where the joint is locked: U = 0."""
    k, i = unsigned(s[BODY]), unsigned(s[PARENT])
    store(t.joint, k, U_FORCE, (0.0, 0.0, 0.0))
    store(t.joint, k, U_MOMENT, (0.0, 0.0, 0.0))
    if i > 0:
        add_inertia(t.body, i, LINEAR, shift_inertia(load_inertia(t.body, k, LINEAR), load(t.joint, k, ARM)))


@inlined
def pass_force(t: TreeArrays, s: Ints) -> None:
    """Pass the forces on a body to its parent."""
    k, i = unsigned(s[BODY]), unsigned(s[PARENT])
    p = load_wrench(t, k, FORCE)
    # u = S^T p
    u: float = dot(load(t.joint, k, AXIS), p.moment)
    t.joint[k, SMALL_U] = u
    if i > 0:
        U, prescribed, arm = Wrench(load(t.joint, k, U_FORCE), load(t.joint, k, U_MOMENT)), jump(t, k), load(t.joint, k, ARM)
        # p_i += X^T (p - I^A a_J - U z),  z = (u - U^T a_J) / D,  a_J = (g, beta)
        z = t.joint[k, D_INV] * u - t.joint[k, D_INV] * power(U, prescribed)
        stiff = times_twist(load_inertia(t.body, k, LINEAR), prescribed)
        passed = shift_wrench(Wrench(sub(p.force, stiff.force), sub(p.moment, stiff.moment)), arm)
        add_wrench(t, i, FORCE, add_wrenches(passed, scale_wrench(-z, shift_wrench(U, arm))))


@inlined
def jump(t: TreeArrays, k: int) -> Twist:
    """Return (g, beta) of the joint that carries body k."""
    return Twist(load(t.joint, k, JUMP_LINEAR), load(t.joint, k, JUMP_ANGULAR))


@inlined
def move_revolute(t: TreeArrays, s: Ints) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    k, i = unsigned(s[BODY]), unsigned(s[PARENT])
    # a = X a_i + a_J
    a = jump(t, k)
    if i > 0:
        carried = shift_twist(motion(t, i), load(t.joint, k, ARM))
        a = Twist(add(a.linear, carried.linear), add(a.angular, carried.angular))
    U = Wrench(load(t.joint, k, U_FORCE), load(t.joint, k, U_MOMENT))
    # z = q'' = (u - U^T a) / D,  then a + S z
    z = t.joint[k, D_INV] * (t.joint[k, SMALL_U] - power(U, a))
    return Twist(a.linear, add(a.angular, scale(z, load(t.joint, k, AXIS))))


@inlined
def put_revolute_multipliers(t: TreeArrays, s: Ints, x: Array) -> Wrench:
    """Write the multipliers of the rows from the wrench on the body, pass it to the parent, and return it about the handle."""
    k, i = unsigned(s[BODY]), unsigned(s[PARENT])
    node = unsigned(t.body.shape[0] + s[EDGE])
    # the wrench that the joint gives, about the handle: its force is that of the CD
    w = shift_wrench(load_wrench(t, k, FORCE), center(t, k))
    d1, d2 = load(t.joint, k, DUAL_1), load(t.joint, k, DUAL_2)
    store(x, node, 0, scale(float(s[SIGN]), w.force))
    # its moment, by the duals of the DP1; along the axis it has none
    x[node, 3], x[node, 4], x[node, 5] = -dot(w.moment, d1), -dot(w.moment, d2), 0.0
    # the parent gets its opposite
    if i > 0:
        add_wrench(t, i, FORCE, shift_wrench(w, sub(load(t.joint, k, ARM), center(t, i))))
    return w
