r"""Tangents of forces in the recursion of an implicit step: of a body, and between a body and the one that carries it.

    [ M + T   J^T; J   0 ] (u_dot, lam) = b                  T_kk of each body,  T_ki = C between body k and its parent i
    own       I_k <- I_k + T_kk, about the handle, in global axes
    pair      T_ki u_i = C' a'          a' = (a_P, alpha_i), the motion of the parent at the joint;  a_k = a' + e,  e = given + S z
    =>        I e + (I + C') a' = p     on body k, along S              (I + C' + C'^T) a' + (I + C'^T) e     passed to the parent
    inward    p <- p - I given,   q = - C'^T given;   I' = I + C' + C'^T
              for each free s:    U_0 = I s   V = C'^T s - sum (s^T U_0)_b V_b / D_b   U = U_0 + V   D = s^T U_0   z_0 = s^T p / D
                                  I <- I - U_0 U_0^T / D     I' <- I' - U U^T / D     p <- p - U_0 z_0     q <- q - V z_0
              I', p + q to the parent
    outward   for each free s, in reverse order:    z = z_0 - (U_0^T a + V^T a') / D     a <- a + s z, from a = a';   then a <- a + given
    balance   each body gives  b_k - (M + T_kk) u_k - T_ki u_i

D may be negative where a force is unstable: the matrix is symmetric, and need not be definite.
Source: Featherstone (2008), sec. 7.3 (articulated-body algorithm), extended to stiffness between neighbours; Geradin, Cardona, Flexible
Multibody Dynamics, ch. 12 (tangents).
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.kkt.tree.revolute import jump
from haugmbd.kkt.tree.separable_joint import prescribed, put_freedom
from haugmbd.kkt.tree.tree_arrays import (
    ARM,
    ARM_LINE,
    AXIS,
    BODY,
    D_INV,
    D_INV_OF,
    DIRECTION,
    FORCE,
    JUMP_LINE,
    LINEAR,
    N_ANGULAR,
    N_LINEAR,
    PARENT,
    SMALL_U,
    U_FORCE,
    U_LINE,
    U_MOMENT,
    Z_OF,
    TreeArrays,
    add_wrench,
    center,
    load_inertia,
    load_wrench,
    motion,
    store_inertia,
)
from haugmbd.math.articulated_inertia import (
    ZERO,
    ArticulatedInertia,
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
    times_full_transposed,
    times_symmetric,
    times_twist,
)
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_global
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Workspace

PAIR, TRANSPOSED = range(2)
"""Columns of PAIR_OF_STEP: the number of the pair, or NO_PAIR; 1 if its block is that of (parent, body)."""
NO_PAIR = -1
COUPLING, V_LINE, PAIR_LINES = 0, 6, 12
"""Lines of six of TREE_PAIRS: the rows of C', wrenches on the parent; V of each free motion. Their number."""


class TangentArrays(NamedTuple):
    """own: (nb + 1, 6, 6) T of the bodies;  between: (n, 6, 6) of the pairs;  pair_of: (nb, 2);  lines: (nb + 1, 12, 6)."""

    own: Array
    between: Array
    pair_of: Ints
    lines: Array


@inlined
def tangent_arrays(w: Workspace) -> TangentArrays:
    """Return the views."""
    return TangentArrays(ws.tangent_blocks(w), ws.coupled_tangent_blocks(w), ws.pair_of_step(w), ws.tree_pairs(w))


@inlined
def add_own_tangent(t: TreeArrays, T: TangentArrays, k: int) -> None:
    """Add the tangent of a body, rows of moments in its frame, to its inertia."""
    I = shift_inertia(global_tangent(t.A, T.own[k], k), center(t, k))
    store_inertia(t.body, k, LINEAR, add_inertias(load_inertia(t.body, k, LINEAR), I))


@kernel
def global_tangent(A: Array, T: Array, k: int) -> ArticulatedInertia:
    """Return a symmetric 6 x 6 block in global axes, about the centre of mass; only its lower triangle is read."""
    J = (T[3, 3], T[4, 3], T[5, 3], T[4, 4], T[5, 4], T[5, 5])
    x: Vec = (A[k, 0, 0], A[k, 0, 1], A[k, 0, 2])
    y: Vec = (A[k, 1, 0], A[k, 1, 1], A[k, 1, 2])
    z: Vec = (A[k, 2, 0], A[k, 2, 1], A[k, 2, 2])
    Jx, Jy, Jz = times_symmetric(J, x), times_symmetric(J, y), times_symmetric(J, z)
    a, b, c = (
        to_global(A, k, (T[3, 0], T[4, 0], T[5, 0])),
        to_global(A, k, (T[3, 1], T[4, 1], T[5, 1])),
        to_global(A, k, (T[3, 2], T[4, 2], T[5, 2])),
    )
    return ArticulatedInertia(
        (T[0, 0], T[1, 0], T[2, 0], T[1, 1], T[2, 1], T[2, 2]),
        (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]),
        (dot(x, Jx), dot(x, Jy), dot(x, Jz), dot(y, Jy), dot(y, Jz), dot(z, Jz)),
    )


@inlined
def put_coupling(t: TreeArrays, T: TangentArrays, s: Ints, pair_of: Ints, arm: Vec) -> None:
    """Write C' of a body;  arm: the point of the joint on the parent, from its handle."""
    k, i = s[BODY], s[PARENT]
    put_coupling_rows(t.A, T.between[pair_of[PAIR]], pair_of[TRANSPOSED] == 1, k, i, T.lines[k])
    move_coupling(t.A, T.lines[k], k, center(t, k), sub(center(t, i), arm))


@kernel
def put_coupling_rows(A: Array, C: Array, transposed: bool, k: int, i: int, lines: Array) -> None:
    """Write the rows of C, of which the columns of rotations of the parent i are turned to global axes."""
    for r in range(6):
        for c in range(6):
            lines[COUPLING + r, c] = C[c, r] if transposed else C[r, c]
        store(lines, COUPLING + r, 3, to_global(A, i, load(lines, COUPLING + r, 3)))


@kernel
def move_coupling(A: Array, lines: Array, k: int, to_center: Vec, d: Vec) -> None:
    """Take the rows of moments about the handle, in global axes, and the columns at the joint, from which the parent's centre is d."""
    for c in range(6):
        f: Vec = (lines[COUPLING, c], lines[COUPLING + 1, c], lines[COUPLING + 2, c])
        n: Vec = (lines[COUPLING + 3, c], lines[COUPLING + 4, c], lines[COUPLING + 5, c])
        n = add(to_global(A, k, n), cross(to_center, f))
        lines[COUPLING + 3, c], lines[COUPLING + 4, c], lines[COUPLING + 5, c] = n[0], n[1], n[2]
    for r in range(6):
        f, n = load(lines, COUPLING + r, 0), load(lines, COUPLING + r, 3)
        store(lines, COUPLING + r, 3, add(n, cross(d, f)))


@kernel
def row_of(lines: Array, r: int) -> Wrench:
    """Return row r of C'."""
    return Wrench(load(lines, COUPLING + r, 0), load(lines, COUPLING + r, 3))


@kernel
def times_rows(lines: Array, first: int, x: Vec) -> Wrench:
    """Return C'^T of a motion that has three components only, from `first` on."""
    w = scale_wrench(x[0], row_of(lines, first))
    return add_wrenches(add_wrenches(w, scale_wrench(x[1], row_of(lines, first + 1))), scale_wrench(x[2], row_of(lines, first + 2)))


@kernel
def times_coupling_transposed(lines: Array, e: Twist) -> Wrench:
    """Return C'^T e."""
    return add_wrenches(times_rows(lines, 0, e.linear), times_rows(lines, 3, e.angular))


@kernel
def with_coupling(I: ArticulatedInertia, lines: Array) -> ArticulatedInertia:
    """Return I + C' + C'^T."""
    C, M, H, J = lines, I.M, I.H, I.J
    return ArticulatedInertia(
        (
            M[0] + 2.0 * C[0, 0], M[1] + C[0, 1] + C[1, 0], M[2] + C[0, 2] + C[2, 0],
            M[3] + 2.0 * C[1, 1], M[4] + C[1, 2] + C[2, 1], M[5] + 2.0 * C[2, 2],
        ),
        (
            H[0] + C[0, 3] + C[3, 0], H[1] + C[0, 4] + C[4, 0], H[2] + C[0, 5] + C[5, 0],
            H[3] + C[1, 3] + C[3, 1], H[4] + C[1, 4] + C[4, 1], H[5] + C[1, 5] + C[5, 1],
            H[6] + C[2, 3] + C[3, 2], H[7] + C[2, 4] + C[4, 2], H[8] + C[2, 5] + C[5, 2],
        ),
        (
            J[0] + 2.0 * C[3, 3], J[1] + C[3, 4] + C[4, 3], J[2] + C[3, 5] + C[5, 3],
            J[3] + 2.0 * C[4, 4], J[4] + C[4, 5] + C[5, 4], J[5] + 2.0 * C[5, 5],
        ),
    )  # fmt: skip


@inlined
def eliminate_paired_revolute(t: TreeArrays, s: Ints, lines: Array) -> float:
    """Pass the articulated inertia of a body on a revolute joint to its parent; return D."""
    k, i = s[BODY], s[PARENT]
    I, h, arm = load_inertia(t.body, k, LINEAR), load(t.joint, k, AXIS), load(t.joint, k, ARM)
    D = quadratic_form(I.J, h)
    U = add_wrenches(Wrench(times_full(I.H, h), times_symmetric(I.J, h)), times_rows(lines, 3, h))
    store(t.joint, k, U_FORCE, U.force)
    store(t.joint, k, U_MOMENT, U.moment)
    t.joint[k, D_INV] = 1.0 / D
    passed = add_inertias(load_inertia(t.body, i, LINEAR), shift_inertia(with_coupling(I, lines), arm))
    store_inertia(t.body, i, LINEAR, rank_one_downdate(passed, 1.0 / D, shift_wrench(U, arm)))
    return D


@inlined
def pass_paired_revolute_force(t: TreeArrays, s: Ints, lines: Array) -> None:
    """Pass the forces on a body on a revolute joint to its parent, and keep z_0 in place of u."""
    k = s[BODY]
    p, given = load_wrench(t, k, FORCE), jump(t, k)
    stiff = times_twist(load_inertia(t.body, k, LINEAR), given)
    p = Wrench(sub(p.force, stiff.force), sub(p.moment, stiff.moment))
    z = t.joint[k, D_INV] * dot(load(t.joint, k, AXIS), p.moment)
    t.joint[k, SMALL_U] = z
    taken = add_wrenches(times_coupling_transposed(lines, given), scale_wrench(z, paired_U(t, k)))
    passed = Wrench(sub(p.force, taken.force), sub(p.moment, taken.moment))
    add_wrench(t, s[PARENT], FORCE, shift_wrench(passed, load(t.joint, k, ARM)))


@inlined
def paired_U(t: TreeArrays, k: int) -> Wrench:
    """Return U of a revolute joint."""
    return Wrench(load(t.joint, k, U_FORCE), load(t.joint, k, U_MOMENT))


@inlined
def move_paired_revolute(t: TreeArrays, s: Ints) -> Twist:
    """Return the acceleration of a body on a revolute joint at its handle, from that of its parent."""
    k = s[BODY]
    carried, given = shift_twist(motion(t, s[PARENT]), load(t.joint, k, ARM)), jump(t, k)
    z = t.joint[k, SMALL_U] - t.joint[k, D_INV] * power(paired_U(t, k), carried)
    turned = add(given.angular, scale(z, load(t.joint, k, AXIS)))
    return Twist(add(carried.linear, given.linear), add(carried.angular, turned))


@kernel
def direction(block: Array, a: int) -> Twist:
    """Return the free motion s of a separable joint."""
    d = load(block, DIRECTION + a, 0)
    return Twist(d, ZERO) if a < 3 else Twist(ZERO, d)  # noqa: PLR2004


@kernel
def eliminate_paired_freedoms(body: Array, block: Array, lines: Array, s: Ints) -> float:
    """Eliminate the free motions of a separable joint, and pass the articulated inertia to the parent; return the smallest |D|."""
    i, I, least = s[PARENT], load_inertia(body, s[BODY], LINEAR), 1e300
    passed = with_coupling(I, lines)
    for a in range(s[N_LINEAR], 6):
        if 3 <= a < 3 + s[N_ANGULAR]:  # noqa: PLR2004
            continue
        free = direction(block, a)
        if a < 3:  # noqa: PLR2004
            U_0 = Wrench(times_symmetric(I.M, free.linear), times_full_transposed(I.H, free.linear))
            V = times_rows(lines, 0, free.linear)
        else:
            U_0 = Wrench(times_full(I.H, free.angular), times_symmetric(I.J, free.angular))
            V = times_rows(lines, 3, free.angular)
        for b in range(s[N_LINEAR], a):
            if not 3 <= b < 3 + s[N_ANGULAR]:  # noqa: PLR2004
                ratio = power(line_of(block, U_LINE + b), free) * block[DIRECTION + b, D_INV_OF]
                V = add_wrenches(V, scale_wrench(-ratio, line_of(lines, V_LINE + b)))
        D = power(U_0, free)
        put_freedom(block, a, U_0, D)
        store(lines, V_LINE + a, 0, V.force)
        store(lines, V_LINE + a, 3, V.moment)
        I = rank_one_downdate(I, 1.0 / D, U_0)
        passed = rank_one_downdate(passed, 1.0 / D, add_wrenches(U_0, V))
        least = abs(D) if not abs(D) >= least and least == least else least
    passed = shift_inertia(passed, load(block, ARM_LINE, 0))
    store_inertia(body, i, LINEAR, add_inertias(load_inertia(body, i, LINEAR), passed))
    return least


@kernel
def line_of(block: Array, line: int) -> Wrench:
    """Return a line of six numbers as a wrench."""
    return Wrench(load(block, line, 0), load(block, line, 3))


@kernel
def pass_by_paired_freedoms(body: Array, block: Array, lines: Array, s: Ints, b: Array) -> None:
    """Pass the forces on a body on a separable joint to its parent;  b: (6,) right-hand side of the rows."""
    k, i, given = s[BODY], s[PARENT], prescribed(block, s, b)
    store(block, JUMP_LINE, 0, given.linear)
    store(block, JUMP_LINE, 3, given.angular)
    stiff = times_twist(load_inertia(body, k, LINEAR), given)
    p = Wrench(sub(load(body, k, FORCE), stiff.force), sub(load(body, k, FORCE + 3), stiff.moment))
    q = scale_wrench(-1.0, times_coupling_transposed(lines, given))
    for a in range(s[N_LINEAR], 6):
        if 3 <= a < 3 + s[N_ANGULAR]:  # noqa: PLR2004
            continue
        z = power(p, direction(block, a)) * block[DIRECTION + a, D_INV_OF]
        block[DIRECTION + a, Z_OF] = z
        p = add_wrenches(p, scale_wrench(-z, line_of(block, U_LINE + a)))
        q = add_wrenches(q, scale_wrench(-z, line_of(lines, V_LINE + a)))
    p = shift_wrench(add_wrenches(p, q), load(block, ARM_LINE, 0))
    store(body, i, FORCE, add(load(body, i, FORCE), p.force))
    store(body, i, FORCE + 3, add(load(body, i, FORCE + 3), p.moment))


@kernel
def moved_by_freedoms(block: Array, lines: Array, s: Ints, carried: Twist) -> Twist:
    """Return the acceleration of a body on a separable joint at its handle, from that of its parent at the joint."""
    a = carried
    for c in range(5, s[N_LINEAR] - 1, -1):
        if 3 <= c < 3 + s[N_ANGULAR]:  # noqa: PLR2004
            continue
        along = power(line_of(block, U_LINE + c), a) + power(line_of(lines, V_LINE + c), carried)
        z, free = block[DIRECTION + c, Z_OF] - block[DIRECTION + c, D_INV_OF] * along, direction(block, c)
        a = Twist(add(a.linear, scale(z, free.linear)), add(a.angular, scale(z, free.angular)))
    return Twist(add(a.linear, load(block, JUMP_LINE, 0)), add(a.angular, load(block, JUMP_LINE, 3)))


@kernel
def take_own_tangent(t_body: Array, A: Array, T: Array, k: int, x: Array) -> None:
    """Take T u of body k off what its joint must give; x (nn, 6) has the accelerations."""
    add_body_wrench(t_body, A, k, block_row(T, 0, x, k), block_row(T, 3, x, k))


@kernel
def block_row(T: Array, first: int, x: Array, k: int) -> Vec:
    """Return three components of T x_k."""
    f0, f1, f2 = 0.0, 0.0, 0.0
    for c in range(6):
        f0 += T[first, c] * x[k, c]
        f1 += T[first + 1, c] * x[k, c]
        f2 += T[first + 2, c] * x[k, c]
    return (f0, f1, f2)


@kernel
def block_column(T: Array, first: int, x: Array, k: int) -> Vec:
    """Return three components of T^T x_k."""
    f0, f1, f2 = 0.0, 0.0, 0.0
    for c in range(6):
        f0 += T[c, first] * x[k, c]
        f1 += T[c, first + 1] * x[k, c]
        f2 += T[c, first + 2] * x[k, c]
    return (f0, f1, f2)


@kernel
def add_body_wrench(t_body: Array, A: Array, k: int, f: Vec, n: Vec) -> None:
    """Take a force, and a moment in the frame of body k, off what its joint must give."""
    store(t_body, k, FORCE, sub(load(t_body, k, FORCE), f))
    store(t_body, k, FORCE + 3, sub(load(t_body, k, FORCE + 3), to_global(A, k, n)))


@kernel
def take_pair_tangent(t_body: Array, A: Array, C: Array, transposed: bool, k: int, i: int, x: Array) -> None:
    """Take T_ki u_i off what the joint of body k must give, and T_ki^T u_k off that of its parent i."""
    if transposed:
        add_body_wrench(t_body, A, k, block_column(C, 0, x, i), block_column(C, 3, x, i))
        add_body_wrench(t_body, A, i, block_row(C, 0, x, k), block_row(C, 3, x, k))
    else:
        add_body_wrench(t_body, A, k, block_row(C, 0, x, i), block_row(C, 3, x, i))
        add_body_wrench(t_body, A, i, block_column(C, 0, x, k), block_column(C, 3, x, k))
