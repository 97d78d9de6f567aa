r"""Screw joints in the recursion: four rows of a cylindrical joint, see `separable_joint`, and one row that couples its two freedoms.

    row      W^T (a_j - a_i) = b_5        W = (w_f, w_n) on body j about Q,  w_f along d_3
    C        C_1 = w_f . d_3    C_2 = w_n . d'_3               of the free motions (d_3, 0) and (0, d'_3)
    =>       S = (- C_2 / C_1 d_3, d'_3)                       given <- given + (d_3, 0) (b_5 - W^T given) / C_1
    inward   p <- p - I^A given      U = I^A S    D = S^T U    u = S^T p      I^A <- I^A - U U^T / D    p <- p - U u / D
    outward  a = (a_Q*, alpha_i)     z = (u - U^T a) / D       a <- a + S z + given
    wrench   f, n on body j about Q  =>    lam_5 = d_3 . f / C_1     lam_a = d_a . (f - w_f lam_5)  or  d'_a . (n - w_n lam_5)

The row is solved for the displacement, whatever the pitch is. The only system of equations is 1 x 1.
Source: Featherstone (2008), sec. 4.4 (helical joints), sec. 7.3 (articulated-body algorithm); Haug (2021), screw joint.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.kkt.separable_joint import along_rows, prescribed
from haugmbd.kkt.tree_arrays import (
    ARM_LINE,
    BODY,
    C_INV_OF,
    D_INV_OF,
    DIRECTION,
    EDGE,
    FIRST_ROW,
    FORCE,
    JUMP_LINE,
    LINEAR,
    MOMENT,
    PARENT,
    SIDE,
    THREAD_LINE,
    THREAD_MOTION,
    THREAD_U,
    Z_OF,
    TreeArrays,
    add_inertia,
    add_wrench,
    at_handle,
    center,
    load_inertia,
    load_wrench,
    motion,
    row_wrench,
)
from haugmbd.math.articulated_inertia import (
    ZERO,
    Twist,
    Wrench,
    add_twists,
    power,
    rank_one_downdate,
    scale_wrench,
    shift_inertia,
    shift_twist,
    shift_wrench,
    times_twist,
)
from haugmbd.math.vec3 import add, dot, load, scale, store, sub

N_LINEAR_OF_SCREW, N_ANGULAR_OF_SCREW = 2, 2
"""Rows of the cylindrical joint, by what they restrict."""
ALONG, ABOUT = DIRECTION + 2, DIRECTION + 5
"""Lines of d_3 and d'_3."""
COUPLING = FIRST_ROW + N_LINEAR_OF_SCREW + N_ANGULAR_OF_SCREW
"""Column of TREE: the row that couples, on the edge."""


@inlined
def place_thread(t: TreeArrays, s: Ints) -> None:
    """Write W, 1/C_1 and S, after `place_separable`."""
    k, row = s[BODY], 6 * s[EDGE] + s[COUPLING]
    square = put_thread(t.block[k], at_handle(row_wrench(t, row, s[SIDE], k), center(t, k)))
    t.d_inv[t.body.shape[0] + s[EDGE], s[COUPLING]] = 1.0 / square


@kernel
def put_thread(block: Array, W: Wrench) -> float:
    """Write W, 1/C_1 and S; return the square of the distance of the row from the others of the joint."""
    along, about = load(block, ALONG, 0), load(block, ABOUT, 0)
    C_1, C_2 = dot(W.force, along), dot(W.moment, about)
    block[ALONG, C_INV_OF] = 1.0 / C_1
    store(block, THREAD_LINE, 0, W.force)
    store(block, THREAD_LINE, 3, W.moment)
    store(block, THREAD_MOTION, 0, scale(-C_2 / C_1, along))
    store(block, THREAD_MOTION, 3, about)
    return C_1 * C_1 / dot(along, along) + C_2 * C_2 / dot(about, about)


@inlined
def thread_motion(block: Array) -> Twist:
    """Return S."""
    return Twist(load(block, THREAD_MOTION, 0), load(block, THREAD_MOTION, 3))


@inlined
def thread_force(block: Array) -> Wrench:
    """Return U."""
    return Wrench(load(block, THREAD_U, 0), load(block, THREAD_U, 3))


@kernel
def eliminate_along_thread(body: Array, block: Array, s: Ints) -> float:
    """Eliminate the motion along the thread, and pass the articulated inertia to the parent; return D."""
    i, I, S = s[PARENT], load_inertia(body, s[BODY], LINEAR), thread_motion(block)
    U = times_twist(I, S)
    D = power(U, S)
    store(block, THREAD_U, 0, U.force)
    store(block, THREAD_U, 3, U.moment)
    block[ALONG, D_INV_OF] = 1.0 / D
    if i > 0:
        add_inertia(body, i, LINEAR, shift_inertia(rank_one_downdate(I, 1.0 / D, U), load(block, ARM_LINE, 0)))
    return D


@kernel
def pass_force_of_thread(body: Array, block: Array, s: Ints, b: Array) -> None:
    """Write the acceleration that the rows prescribe, and u/D; pass the forces on a body to its parent.  b: (6,) right-hand side."""
    k, i, relative = s[BODY], s[PARENT], prescribed(block, s, b)
    W = Wrench(load(block, THREAD_LINE, 0), load(block, THREAD_LINE, 3))
    along = scale((b[s[COUPLING]] - power(W, relative)) * block[ALONG, C_INV_OF], load(block, ALONG, 0))
    relative = Twist(add(relative.linear, along), relative.angular)
    store(block, JUMP_LINE, 0, relative.linear)
    store(block, JUMP_LINE, 3, relative.angular)
    stiff = times_twist(load_inertia(body, k, LINEAR), relative)
    p = Wrench(sub(load(body, k, FORCE), stiff.force), sub(load(body, k, MOMENT), stiff.moment))
    z = power(p, thread_motion(block)) * block[ALONG, D_INV_OF]
    block[ALONG, Z_OF] = z
    if i > 0:
        U = thread_force(block)
        p = shift_wrench(Wrench(sub(p.force, scale(z, U.force)), sub(p.moment, scale(z, U.moment))), load(block, ARM_LINE, 0))
        store(body, i, FORCE, add(load(body, i, FORCE), p.force))
        store(body, i, MOMENT, add(load(body, i, MOMENT), p.moment))


@inlined
def move_along_thread(t: TreeArrays, s: Ints) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    k, i = s[BODY], s[PARENT]
    block, a = t.block[k], Twist(ZERO, ZERO)
    if i > 0:
        a = shift_twist(motion(t, i), load(block, ARM_LINE, 0))
    return moved_along_thread(block, a)


@kernel
def moved_along_thread(block: Array, a: Twist) -> Twist:
    """Return a + S z + given."""
    z, S = block[ALONG, Z_OF] - block[ALONG, D_INV_OF] * power(thread_force(block), a), thread_motion(block)
    given = Twist(load(block, JUMP_LINE, 0), load(block, JUMP_LINE, 3))
    return add_twists(a, Twist(add(given.linear, scale(z, S.linear)), add(given.angular, scale(z, S.angular))))


@inlined
def put_multipliers_of_thread(t: TreeArrays, s: Ints, x: Array) -> None:
    """Write the multipliers of the rows from the wrench on the body about its centre of mass, and pass what they take to the parent."""
    k, i = s[BODY], s[PARENT]
    block, node = t.block[k], t.body.shape[0] + s[EDGE]
    taken = multipliers_of_thread(block, s, shift_wrench(load_wrench(t, k, FORCE), center(t, k)), x[node])
    if i > 0:
        add_wrench(t, i, FORCE, shift_wrench(taken, sub(load(block, ARM_LINE, 0), center(t, i))))


@kernel
def multipliers_of_thread(block: Array, s: Ints, w: Wrench, lam: Array) -> Wrench:
    """Write the multipliers lam (6,) from the wrench on the body about its handle; return the part of the wrench that the rows give."""
    thrust = dot(load(block, ALONG, 0), w.force) * block[ALONG, C_INV_OF]
    of_thread = scale_wrench(thrust, Wrench(load(block, THREAD_LINE, 0), load(block, THREAD_LINE, 3)))
    force, moment = sub(w.force, of_thread.force), sub(w.moment, of_thread.moment)
    for a in range(N_LINEAR_OF_SCREW):
        lam[s[FIRST_ROW + a]] = dot(load(block, DIRECTION + a, 0), force)
    for a in range(N_ANGULAR_OF_SCREW):
        lam[s[FIRST_ROW + N_LINEAR_OF_SCREW + a]] = dot(load(block, DIRECTION + 3 + a, 0), moment)
    lam[s[COUPLING]] = thrust
    return Wrench(w.force, add(along_rows(block, 3, N_ANGULAR_OF_SCREW, moment), of_thread.moment))
