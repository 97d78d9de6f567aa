"""Factorization and solution over a forest in an implicit step: `recursion` with the tangents of forces, see `neighbour_tangents`.

    [ M + c_u C + c_q K   J^T; J   0 ] (u_dot, lam) = b

The tangents are those of bodies on revolute and separable joints, and between bodies and their parents on revolute ones. It is a
recursion of its own, so that explicit methods do without its compilation.
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.kkt.revolute_joint import eliminate_revolute, jump
from haugmbd.kkt.separable_joint import eliminate_separable
from haugmbd.kkt.tree_arrays import (
    ARM,
    AXIS,
    BODY,
    D_INV,
    EDGE,
    FORCE,
    KIND,
    LINEAR,
    PARENT,
    REVOLUTE,
    SMALL_U,
    U_FORCE,
    U_MOMENT,
    TreeArrays,
    add_inertia,
    add_wrench,
    center,
    keep_rotations,
    load_inertia,
    load_wrench,
    motion,
    pair_of_step,
    put_own_inertia,
    store_inertia,
    tree_arrays,
    tree_pairs,
)
from haugmbd.kkt.tree_recursion import (
    attach_joint,
    move_joint,
    pass_joint_force,
    place_joint,
    put_acceleration,
    put_joint_multipliers,
    put_right_hand_side,
)
from haugmbd.math.articulated_inertia import (
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
    times_symmetric,
    times_twist,
)
from haugmbd.math.larger import weakest_of
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_global
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Workspace


@inlined
def factor(w: Workspace, x: Array, all_revolute: bool) -> tuple[float, int]:
    """Factor, and apply `forward` to the right-hand side x (nn, 6).

    Return the weakest pivot and its node (1.0, -1 where all are larger).  all_revolute: known when compiled, as are all of this name.
    """
    keep_rotations(w)
    t, T = tree_arrays(w), tangent_arrays(w)
    worst, where = 1.0, -1
    for n in range(t.steps.shape[0]):
        s = t.steps[n]
        # geometry, I^A of the body alone, with its own tangent c_u C + c_q K
        weak = place_joint(w, t, n, all_revolute)
        attach_joint(w, t, n, all_revolute)
        put_own_inertia(t, s)
        add_own_tangent(t, T, s[BODY])
        worst, where = weakest_of(worst, where, weak, t.body.shape[0] + s[EDGE])
    # p of every body alone
    put_right_hand_side(t, x, all_revolute)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        # eliminate the freedom, with the tangent between the body and its parent
        D = eliminate_with_tangents(t, T, n, all_revolute)
        pass_force_with_tangents(w, t, T, n, x, all_revolute)
        if not abs(D) > 0.0 and worst == worst:
            worst, where = 0.0, t.steps[n, BODY]
    return worst, where


@inlined
def eliminate_with_tangents(t: TreeArrays, T: TangentArrays, n: int, all_revolute: bool) -> float:
    """Pass the articulated inertia of a body to its parent; return the smallest D, which vanishes where the matrix is singular."""
    if T.pair_of[n, PAIR] != NO_PAIR:
        put_coupling(t, T, n)
        D = eliminate_paired(t, T, n)
    elif all_revolute or t.steps[n, KIND] == REVOLUTE:
        D = eliminate_revolute(t, t.steps[n])
    else:
        D = eliminate_separable(t, t.steps[n])
    return D


@inlined
def pass_force_with_tangents(w: Workspace, t: TreeArrays, T: TangentArrays, n: int, x: Array, all_revolute: bool) -> None:
    """Pass the forces on a body to its parent."""
    if T.pair_of[n, PAIR] != NO_PAIR:
        pass_paired_force(t, T, n)
    else:
        pass_joint_force(w, t, n, x, all_revolute)


@inlined
def forward(w: Workspace, x: Array, all_revolute: bool) -> None:
    """Pass the forces of another right-hand side x (nn, 6) inward, with the current factor."""
    t, T = tree_arrays(w), tangent_arrays(w)
    put_right_hand_side(t, x, all_revolute)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        pass_force_with_tangents(w, t, T, n, x, all_revolute)


@inlined
def backward(w: Workspace, x: Array, all_revolute: bool) -> None:
    """Overwrite the right-hand side x (nn, 6), after `factor` or `forward`, by the solution."""
    t, T = tree_arrays(w), tangent_arrays(w)
    for n in range(t.steps.shape[0]):
        put_acceleration(t, t.steps[n], move_with_tangents(w, t, T, n, x, all_revolute), x)
        take_tangents(t, T, n, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        put_joint_multipliers(w, t, n, x, all_revolute)


@inlined
def move_with_tangents(w: Workspace, t: TreeArrays, T: TangentArrays, n: int, x: Array, all_revolute: bool) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    if T.pair_of[n, PAIR] != NO_PAIR:
        a = move_paired(t, n)
    else:
        a = move_joint(w, t, n, x, all_revolute)
    return a


# Tangents of forces in the recursion of an implicit step: of a body, and between a body on a revolute joint and its parent.
#
#     [ M + T   J^T; J   0 ] (u_dot, lam) = b                  T_kk of each body,  T_ki between body k and its parent i
#     own       I_k <- I_k + T_kk, about the handle, in global axes
#     pair      T_ki u_i = C a'           a' = (a_P, alpha_i), the motion of the parent at the joint;  a_k = a' + given + S z
#     =>        I (a' + given + S z) + C a' = p     along S            I' = I + C + C^T,   p' = p - (I + C^T)(given + S z)     to the parent
#     inward    U = (I + C^T) S    D = S^T I S    z_0 = S^T (p - I given) / D
#               I' <- I' - U U^T / D              p' <- p - (I + C^T) given - U z_0
#     outward   z = z_0 - U^T a' / D
#     balance   the joint of body k gives  b_k - (M + T_kk) u_k - T_ki u_i,  of which the parent bears  T_ki^T u_k  besides
#
# D may be negative where a force is unstable: the matrix is symmetric, and need not be definite. Pairs on other joints are left to the
# block LDL^T, which takes no longer there.
# Source: Featherstone (2008), sec. 7.3 (articulated-body algorithm), with stiffness between neighbours; Geradin, Cardona, Flexible
# Multibody Dynamics, ch. 12 (tangents).

PAIR, TRANSPOSED = range(2)
"""Columns of PAIR_OF_STEP: the number of the pair, or NO_PAIR; 1 if its block is that of (parent, body)."""
NO_PAIR = -1


class TangentArrays(NamedTuple):
    """Views of the tangents of an implicit step.

    own: (nb + 1, 6, 6) T of the bodies;  between: (n, 6, 6) of the pairs;  pair_of: (nb, 2);  C: (nb + 1, 6, 6)
    """

    own: Array
    between: Array
    pair_of: Ints
    C: Array


@inlined
def tangent_arrays(w: Workspace) -> TangentArrays:
    """Return the views."""
    return TangentArrays(ws.tangent_blocks(w), ws.coupled_tangent_blocks(w), pair_of_step(w), tree_pairs(w))


@inlined
def add_own_tangent(t: TreeArrays, T: TangentArrays, k: int) -> None:
    """Add the tangent of a body, rows of moments in its frame, to its inertia."""
    add_inertia(t.body, k, LINEAR, shift_inertia(global_tangent(t.A, T.own[k], k), center(t, k)))


@kernel
def global_tangent(A: Array, T: Array, k: int) -> ArticulatedInertia:
    """Return a symmetric 6 x 6 block in global axes, about the centre of mass; only its lower triangle is read."""
    J = (T[3, 3], T[4, 3], T[5, 3], T[4, 4], T[5, 4], T[5, 5])
    x: Vec = (A[k, 0, 0], A[k, 0, 1], A[k, 0, 2])
    y: Vec = (A[k, 1, 0], A[k, 1, 1], A[k, 1, 2])
    z: Vec = (A[k, 2, 0], A[k, 2, 1], A[k, 2, 2])
    Jx, Jy, Jz = times_symmetric(J, x), times_symmetric(J, y), times_symmetric(J, z)
    a = to_global(A, k, (T[3, 0], T[4, 0], T[5, 0]))
    b = to_global(A, k, (T[3, 1], T[4, 1], T[5, 1]))
    c = to_global(A, k, (T[3, 2], T[4, 2], T[5, 2]))
    return ArticulatedInertia(
        (T[0, 0], T[1, 0], T[2, 0], T[1, 1], T[2, 1], T[2, 2]),
        (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]),
        (dot(x, Jx), dot(x, Jy), dot(x, Jz), dot(y, Jy), dot(y, Jz), dot(z, Jz)),
    )


@inlined
def put_coupling(t: TreeArrays, T: TangentArrays, n: int) -> None:
    """Write C of a body: T_ki with moments about its handle, for the motion of the parent at the joint, both in global axes."""
    k, i = t.steps[n, BODY], t.steps[n, PARENT]
    turn_coupling(t.A, T.between[T.pair_of[n, PAIR]], T.pair_of[n, TRANSPOSED] == 1, k, i, T.C[k])
    shift_coupling(T.C[k], center(t, k), sub(center(t, i), load(t.joint, k, ARM)))


@kernel
def turn_coupling(A: Array, T: Array, transposed: bool, k: int, i: int, C: Array) -> None:
    """Write T_ki in global axes: the columns of rotations from the frame of body i, the rows of moments from that of body k."""
    for r in range(6):
        for c in range(6):
            C[r, c] = T[c, r] if transposed else T[r, c]
        store(C, r, 3, to_global(A, i, load(C, r, 3)))
    for c in range(6):
        C[3, c], C[4, c], C[5, c] = to_global(A, k, (C[3, c], C[4, c], C[5, c]))


@kernel
def shift_coupling(C: Array, to_center: Vec, d: Vec) -> None:
    """Shift the rows to the handle of body k, from which its centre is given, and the columns to the joint: the parent's centre is d."""
    for c in range(6):
        n = cross(to_center, (C[0, c], C[1, c], C[2, c]))
        C[3, c] += n[0]
        C[4, c] += n[1]
        C[5, c] += n[2]
    for r in range(6):
        store(C, r, 3, add(load(C, r, 3), cross(d, load(C, r, 0))))


@kernel
def transposed_times(C: Array, first: int, x: Vec) -> Wrench:
    """Return C^T e of a motion e with three components x from `first` on, and no others."""
    w = scale_wrench(x[0], Wrench(load(C, first, 0), load(C, first, 3)))
    w = add_wrenches(w, scale_wrench(x[1], Wrench(load(C, first + 1, 0), load(C, first + 1, 3))))
    return add_wrenches(w, scale_wrench(x[2], Wrench(load(C, first + 2, 0), load(C, first + 2, 3))))


@kernel
def add_symmetric_part(I: ArticulatedInertia, C: Array) -> ArticulatedInertia:
    """Return I + C + C^T."""
    M, H, J = I.M, I.H, I.J
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
def eliminate_paired(t: TreeArrays, T: TangentArrays, n: int) -> float:
    """Pass the articulated inertia of a body to its parent; return D."""
    k, i = t.steps[n, BODY], t.steps[n, PARENT]
    I, h, arm, C = load_inertia(t.body, k, LINEAR), load(t.joint, k, AXIS), load(t.joint, k, ARM), T.C[k]
    D = quadratic_form(I.J, h)
    U = add_wrenches(Wrench(times_full(I.H, h), times_symmetric(I.J, h)), transposed_times(C, 3, h))
    store(t.joint, k, U_FORCE, U.force)
    store(t.joint, k, U_MOMENT, U.moment)
    t.joint[k, D_INV] = 1.0 / D
    passed = add_inertias(load_inertia(t.body, i, LINEAR), shift_inertia(add_symmetric_part(I, C), arm))
    store_inertia(t.body, i, LINEAR, rank_one_downdate(passed, 1.0 / D, shift_wrench(U, arm)))
    return D


@inlined
def pass_paired_force(t: TreeArrays, T: TangentArrays, n: int) -> None:
    """Pass the forces on a body to its parent, and keep z_0."""
    k, C = t.steps[n, BODY], T.C[t.steps[n, BODY]]
    p, given = load_wrench(t, k, FORCE), jump(t, k)
    p = add_wrenches(p, scale_wrench(-1.0, times_twist(load_inertia(t.body, k, LINEAR), given)))
    z = t.joint[k, D_INV] * dot(load(t.joint, k, AXIS), p.moment)
    t.joint[k, SMALL_U] = z
    taken = add_wrenches(transposed_times(C, 0, given.linear), transposed_times(C, 3, given.angular))
    passed = add_wrenches(p, scale_wrench(-1.0, add_wrenches(taken, scale_wrench(z, response(t, k)))))
    add_wrench(t, t.steps[n, PARENT], FORCE, shift_wrench(passed, load(t.joint, k, ARM)))


@inlined
def response(t: TreeArrays, k: int) -> Wrench:
    """Return U."""
    return Wrench(load(t.joint, k, U_FORCE), load(t.joint, k, U_MOMENT))


@inlined
def move_paired(t: TreeArrays, n: int) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    k = t.steps[n, BODY]
    carried, given = shift_twist(motion(t, t.steps[n, PARENT]), load(t.joint, k, ARM)), jump(t, k)
    z = t.joint[k, SMALL_U] - t.joint[k, D_INV] * power(response(t, k), carried)
    turned = add(given.angular, scale(z, load(t.joint, k, AXIS)))
    return Twist(add(carried.linear, given.linear), add(carried.angular, turned))


@inlined
def take_tangents(t: TreeArrays, T: TangentArrays, n: int, x: Array) -> None:
    """Take what the tangents of a body give off what its joint must, and off what that of its parent must; x: the accelerations."""
    k, i, pair = t.steps[n, BODY], t.steps[n, PARENT], T.pair_of[n, PAIR]
    take_off(t.body, t.A, k, row_product(T.own[k], 0, x[k]), row_product(T.own[k], 3, x[k]))
    if pair != NO_PAIR:
        C = T.between[pair]
        a, b = (i, k) if T.pair_of[n, TRANSPOSED] == 1 else (k, i)
        take_off(t.body, t.A, a, row_product(C, 0, x[b]), row_product(C, 3, x[b]))
        take_off(t.body, t.A, b, column_product(C, 0, x[a]), column_product(C, 3, x[a]))


@kernel
def row_product(T: Array, first: int, u: Array) -> Vec:
    """Return three components of T u."""
    x, y, z = 0.0, 0.0, 0.0
    for c in range(6):
        x += T[first, c] * u[c]
        y += T[first + 1, c] * u[c]
        z += T[first + 2, c] * u[c]
    return (x, y, z)


@kernel
def column_product(T: Array, first: int, u: Array) -> Vec:
    """Return three components of T^T u."""
    x, y, z = 0.0, 0.0, 0.0
    for c in range(6):
        x += T[c, first] * u[c]
        y += T[c, first + 1] * u[c]
        z += T[c, first + 2] * u[c]
    return (x, y, z)


@kernel
def take_off(body: Array, A: Array, k: int, f: Vec, n: Vec) -> None:
    """Take a force, and a moment in the frame of body k, off what its joint must give."""
    store(body, k, FORCE, sub(load(body, k, FORCE), f))
    store(body, k, FORCE + 3, sub(load(body, k, FORCE + 3), to_global(A, k, n)))
