r"""Joints of which each row restricts the translation of a point, or the rotation: SJ, UJ, CJ, TJ, Planar, Fixed, and driven ones.

    rows     e_a . (a_Q - a_Q*) = b_a   a = 1..l         n_a . (alpha_j - alpha_i) = b_a   a = 1..r        Q*: point of i at Q
    basis    e_1, e_2, e_3 with the dual vectors d_1, d_2, d_3:  d_a . e_b = 1 if a = b, otherwise 0       e_l+1.. completed; n_a as e_a
    =>       given = (sum b_a d_a, sum b_a d'_a) of the rows         free motions s: (d_a, 0) for a > l and (0, d'_a) for a > r
    inward   p <- p - I^A given;  for each free s:   U = I^A s    D = s^T U    u = s^T p    I^A <- I^A - U U^T / D    p <- p - U u / D
    outward  a = (a_Q*, alpha_i);  for each free s, in reverse order:  z = (u - U^T a) / D     a <- a + s z;         then a <- a + given
    wrench   f, n on body j about Q     =>     lam_a = d_a . f  or  d'_a . n

No system of equations is larger than 1 x 1, and l = r = 3 has none: the body is carried along. A root has l = r = 0.
The points that CD rows join are markers; of DP2 rows, Q is one, and Q* is found from the moments of the rows.
Source: Featherstone (2008), sec. 7.3 (articulated-body algorithm), freedoms one by one as in sec. 4.4; the rows of Haug (2021).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.selection import select
from haugmbd.kkt.tree_arrays import (
    ARM_LINE,
    BODY,
    D_INV_OF,
    DIRECTION,
    EDGE,
    FIRST_ROW,
    FORCE,
    JUMP_LINE,
    LINEAR,
    MOMENT,
    N_ANGULAR,
    N_LINEAR,
    NO_MARKER,
    PARENT,
    SIDE,
    U_LINE,
    Z_OF,
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
)
from haugmbd.math.articulated_inertia import (
    ZERO,
    Twist,
    Wrench,
    power,
    rank_one_downdate,
    shift_inertia,
    shift_twist,
    shift_wrench,
    times_full,
    times_full_transposed,
    times_symmetric,
    times_twist,
)
from haugmbd.math.larger import weakest_of
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_global

X_AXIS: Vec = (1.0, 0.0, 0.0)
Y_AXIS: Vec = (0.0, 1.0, 0.0)
Z_AXIS: Vec = (0.0, 0.0, 1.0)


@inlined
def place_separable(t: TreeArrays, s: Ints) -> float:
    """Write the geometry of a joint, the common point from the parent's centre of mass.

    Return the smaller of the squared volumes of its linear and angular rows, 0 where some depend.
    """
    k = s[BODY]
    of_linear = put_directions(t, s, 0, s[N_LINEAR], 0)
    of_angular = put_directions(t, s, s[N_LINEAR], s[N_ANGULAR], 3)
    put_center(t, k, point_on(t, s, s[Q], s[SIDE], k))
    if s[PARENT] > 0:
        store(t.block[k], ARM_LINE, 0, point_on(t, s, s[P], 1 - s[SIDE], s[PARENT]))
    return weakest_of(of_angular, 0, of_linear, 0)[0]


@inlined
def attach_separable(t: TreeArrays, s: Ints) -> None:
    """Refer the common point to the parent's handle."""
    if s[PARENT] > 0:
        block = t.block[s[BODY]]
        store(block, ARM_LINE, 0, add(load(block, ARM_LINE, 0), center(t, s[PARENT])))


@inlined
def put_directions(t: TreeArrays, s: Ints, first: int, n: int, at: int) -> float:
    """Write the dual vectors of n rows of a joint, completed to three; return the squared volume of the rows."""
    k, node = s[BODY], t.body.shape[0] + s[EDGE]
    x, y, z, volume = X_AXIS, Y_AXIS, Z_AXIS, 1.0
    if n > 0:
        x = row_vector(t, s, first, at)
        volume = dot(x, x)
        t.d_inv[node, s[FIRST_ROW + first]] = 1.0 / volume
        y = row_vector(t, s, first + 1, at) if n > 1 else across(x)
        z = row_vector(t, s, first + 2, at) if n > 2 else cross(x, y)  # noqa: PLR2004
        if n > 1:
            h = cross(x, y)
            t.d_inv[node, s[FIRST_ROW + first + 1]] = volume / dot(h, h)
            volume = dot(h, h)
        if n > 2:  # noqa: PLR2004
            six = dot(z, cross(x, y))
            t.d_inv[node, s[FIRST_ROW + first + 2]] = volume / (six * six)
            volume = six * six
        q = 1.0 / dot(x, cross(y, z))
        x, y, z = scale(q, cross(y, z)), scale(q, cross(z, x)), scale(q, cross(x, y))
    store(t.block[k], DIRECTION + at, 0, x)
    store(t.block[k], DIRECTION + at + 1, 0, y)
    store(t.block[k], DIRECTION + at + 2, 0, z)
    return volume


@inlined
def row_vector(t: TreeArrays, s: Ints, a: int, at: int) -> Vec:
    """Return the force of row a of a joint on the body, or its moment, about a point on the line of that force."""
    J = t.J[6 * s[EDGE] + s[FIRST_ROW + a]]
    return load(J, s[SIDE], 0) if at == 0 else to_global(t.A, s[BODY], load(J, s[SIDE], 3))


@inlined
def across(x: Vec) -> Vec:
    """Return a vector that is perpendicular to x, and not much shorter."""
    x_is_least = (abs(x[0]) <= abs(x[1])) & (abs(x[0]) <= abs(x[2]))
    along_x = select(x_is_least, 1.0, 0.0)
    along_y = select(abs(x[1]) <= abs(x[2]), 1.0 - along_x, 0.0)
    return cross((along_x, along_y, 1.0 - along_x - along_y), x)


@inlined
def point_on(t: TreeArrays, s: Ints, marker: int, side: int, body: int) -> Vec:
    r"""Return the common point on a body, from its centre of mass: a marker, or r with r x f_a = m_a for forces and moments of the rows.

    With f_a = e_a:    sum_a d_a x (r x e_a) = r - e_1 (d_1 . r),    r + e_3 (d_3 . r),    2 r            for l = 1, 2, 3
    """
    if marker != NO_MARKER:
        return load(t.X, marker, 0)
    block, n, r = t.block[s[BODY]], s[N_LINEAR], ZERO
    sign = 1.0 if side == s[SIDE] else -1.0
    for a in range(n):
        row = 6 * s[EDGE] + s[FIRST_ROW + a]
        moment = to_global(t.A, body, load(t.J[row], side, 3))
        r = add(r, cross(load(block, DIRECTION + a, 0), scale(sign, moment)))
    if n == 2:  # noqa: PLR2004
        d_3 = load(block, DIRECTION + 2, 0)
        r = sub(r, scale(0.5 * dot(d_3, r) / dot(d_3, d_3), d_3))
    return scale(0.5, r) if n == 3 else r  # noqa: PLR2004


@inlined
def eliminate_separable(t: TreeArrays, s: Ints) -> float:
    """Eliminate the free motions of a joint, and pass the articulated inertia to the parent; return the smallest D, at most 1."""
    return eliminate_freedoms(t.body, t.block[s[BODY]], s)


@kernel
def eliminate_freedoms(body: Array, block: Array, s: Ints) -> float:
    """Eliminate the free motions of a joint; a function of its own, so that the loop over revolute joints stays a short one."""
    i, I, least = s[PARENT], load_inertia(body, s[BODY], LINEAR), 1.0
    # each free translation d:  U = I^A (d, 0),  D = d . U,  I^A <- I^A - U U^T / D
    for a in range(s[N_LINEAR], 3):
        d = load(block, DIRECTION + a, 0)
        U = Wrench(times_symmetric(I.M, d), times_full_transposed(I.H, d))
        D = dot(d, U.force)
        put_freedom(block, a, U, D)
        I = rank_one_downdate(I, 1.0 / D, U)
        least = weakest_of(least, 0, D, 0)[0]
    # each free rotation d:  U = I^A (0, d),  the same
    for a in range(3 + s[N_ANGULAR], 6):
        d = load(block, DIRECTION + a, 0)
        U = Wrench(times_full(I.H, d), times_symmetric(I.J, d))
        D = dot(d, U.moment)
        put_freedom(block, a, U, D)
        I = rank_one_downdate(I, 1.0 / D, U)
        least = weakest_of(least, 0, D, 0)[0]
    # what is left moves with the parent:  I_i += X^T I^A X
    if i > 0:
        add_inertia(body, i, LINEAR, shift_inertia(I, load(block, ARM_LINE, 0)))
    return least


@inlined
def put_freedom(block: Array, a: int, U: Wrench, D: float) -> None:
    """Write U and 1/D of a free motion."""
    store(block, U_LINE + a, 0, U.force)
    store(block, U_LINE + a, 3, U.moment)
    block[DIRECTION + a, D_INV_OF] = 1.0 / D


@inlined
def pass_separable_force(t: TreeArrays, s: Ints, x: Array) -> None:
    """Write the acceleration that the rows prescribe, and u/D of the free motions; pass the forces on a body to its parent."""
    pass_by_freedoms(t.body, t.block[s[BODY]], s, x[t.body.shape[0] + s[EDGE]])


@kernel
def pass_by_freedoms(body: Array, block: Array, s: Ints, b: Array) -> None:
    """Pass the forces;  b: (6,) right-hand side of the rows."""
    k, i = s[BODY], s[PARENT]
    p = Wrench(load(body, k, FORCE), load(body, k, MOMENT))
    if s[EDGE] >= 0:
        # p <- p - I^A a_J,  a_J: the relative acceleration that b prescribes
        relative = prescribed(block, s, b)
        store(block, JUMP_LINE, 0, relative.linear)
        store(block, JUMP_LINE, 3, relative.angular)
        stiff = times_twist(load_inertia(body, k, LINEAR), relative)
        p = Wrench(sub(p.force, stiff.force), sub(p.moment, stiff.moment))
    # each free motion s:  u = s . p,  p <- p - U u / D
    for a in range(s[N_LINEAR], 3):
        p = without_freedom(block, a, p, dot(load(block, DIRECTION + a, 0), p.force))
    for a in range(3 + s[N_ANGULAR], 6):
        p = without_freedom(block, a, p, dot(load(block, DIRECTION + a, 0), p.moment))
    # p_i += X^T p
    if i > 0:
        p = shift_wrench(p, load(block, ARM_LINE, 0))
        store(body, i, FORCE, add(load(body, i, FORCE), p.force))
        store(body, i, MOMENT, add(load(body, i, MOMENT), p.moment))


@inlined
def prescribed(block: Array, s: Ints, b: Array) -> Twist:
    """Return the acceleration of the body relative to the parent that the right-hand side (6,) of the rows prescribes."""
    linear, angular, n = ZERO, ZERO, s[N_LINEAR]
    for a in range(n):
        linear = add(linear, scale(b[s[FIRST_ROW + a]], load(block, DIRECTION + a, 0)))
    for a in range(s[N_ANGULAR]):
        angular = add(angular, scale(b[s[FIRST_ROW + n + a]], load(block, DIRECTION + 3 + a, 0)))
    return Twist(linear, angular)


@inlined
def without_freedom(block: Array, a: int, p: Wrench, u: float) -> Wrench:
    """Write u/D, and return p - U u / D."""
    z = u * block[DIRECTION + a, D_INV_OF]
    block[DIRECTION + a, Z_OF] = z
    f, n = load(block, U_LINE + a, 0), load(block, U_LINE + a, 3)
    return Wrench(sub(p.force, scale(z, f)), sub(p.moment, scale(z, n)))


@inlined
def move_separable(t: TreeArrays, s: Ints) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    k, i = s[BODY], s[PARENT]
    block, a = t.block[k], Twist(ZERO, ZERO)
    # a = X a_i
    if i > 0:
        a = shift_twist(motion(t, i), load(block, ARM_LINE, 0))
    # free motions in the opposite order of their elimination:  z = (u - U^T a) / D,  a <- a + s z
    for c in range(5, 2 + s[N_ANGULAR], -1):
        a = Twist(a.linear, add(a.angular, scale(coordinate(block, c, a), load(block, DIRECTION + c, 0))))
    for c in range(2, s[N_LINEAR] - 1, -1):
        a = Twist(add(a.linear, scale(coordinate(block, c, a), load(block, DIRECTION + c, 0))), a.angular)
    # a <- a + a_J
    if s[EDGE] >= 0:
        a = Twist(add(a.linear, load(block, JUMP_LINE, 0)), add(a.angular, load(block, JUMP_LINE, 3)))
    return a


@inlined
def coordinate(block: Array, c: int, a: Twist) -> float:
    """Return z = (u - U^T a) / D of a free motion."""
    U = Wrench(load(block, U_LINE + c, 0), load(block, U_LINE + c, 3))
    z: float = block[DIRECTION + c, Z_OF] - block[DIRECTION + c, D_INV_OF] * power(U, a)
    return z


@inlined
def put_separable_multipliers(t: TreeArrays, s: Ints, x: Array) -> None:
    """Write the multipliers of the rows from the wrench on the body about its centre of mass, and pass what they take to the parent.

    The wrench itself also has the rounding of the inertial forces along the free motions, which may be those of a heavy body.
    """
    k, i, n = s[BODY], s[PARENT], s[N_LINEAR]
    block, node = t.block[k], t.body.shape[0] + s[EDGE]
    # the wrench that the joint gives, about the handle
    w = load_wrench(t, k, FORCE)
    moment = add(w.moment, cross(center(t, k), w.force))
    # lam_a = d_a . f  and  d'_a . n
    for a in range(n):
        x[node, s[FIRST_ROW + a]] = dot(load(block, DIRECTION + a, 0), w.force)
    for a in range(s[N_ANGULAR]):
        x[node, s[FIRST_ROW + n + a]] = dot(load(block, DIRECTION + 3 + a, 0), moment)
    # the parent gets the opposite of what the rows take
    if i > 0:
        taken = Wrench(along_rows(block, 0, n, w.force), along_rows(block, 3, s[N_ANGULAR], moment))
        add_wrench(t, i, FORCE, shift_wrench(taken, sub(load(block, ARM_LINE, 0), center(t, i))))


@inlined
def along_rows(block: Array, at: int, n: int, f: Vec) -> Vec:
    """Return the part of a vector in the span of n rows: d_1 has the direction of one row, d_3 is perpendicular to two."""
    if n == 1:
        d = load(block, DIRECTION + at, 0)
        return scale(dot(d, f) / dot(d, d), d)
    if n == 2:  # noqa: PLR2004
        d = load(block, DIRECTION + at + 2, 0)
        return sub(f, scale(dot(d, f) / dot(d, d), d))
    return f if n == 3 else ZERO  # noqa: PLR2004
