r"""The rigid inertia of a link about its handle, global axes, in symmetric pieces: what every recursion adds up.

    J   = R J_bar R^T                       about the centre of mass                                                         (8)
    h   = m (v + omega x c),   n = J omega + c x h                     spatial momentum about the handle                     (9)
    v x* (I v) = ( omega x h,  omega x n + v x h )                     the bias force of the equation of motion f = I a + v x* I v
    I a = ( m (a + alpha x c),  J alpha + c x m (a + alpha x c) )

Source: seed 000 (8), (9); seed 001 (equation of motion).
"""

from __future__ import annotations

from haugmbd.algebra.jit import inlined, kernel
from haugmbd.algebra.vec3 import Array, Ints, Vec, add, cross, load, scale, store
from haugmbd.model import tables as at
from haugmbd.model.tables import blocks, view
from haugmbd.recursive.kinematics import J_BAR, MASS, OMEGA, C, V


@kernel
def put_global_inertia(A: Array, link: Array, i: int, J: Array) -> None:
    """J_i <- R J_bar R^T, its six numbers xx, xy, xz, yy, yz, zz."""
    for a in range(3):
        x, y, z = A[i, a, 0], A[i, a, 1], A[i, a, 2]
        p = x * link[i, J_BAR] + y * link[i, J_BAR + 3] + z * link[i, J_BAR + 6]
        q = x * link[i, J_BAR + 1] + y * link[i, J_BAR + 4] + z * link[i, J_BAR + 7]
        r = x * link[i, J_BAR + 2] + y * link[i, J_BAR + 5] + z * link[i, J_BAR + 8]
        for b in range(a, 3):
            J[i, (5 - a) * a // 2 + b] = p * A[i, b, 0] + q * A[i, b, 1] + r * A[i, b, 2]


@kernel
def times_inertia(J: Array, i: int, x: Vec) -> Vec:
    """J_i x."""
    return (
        J[i, 0] * x[0] + J[i, 1] * x[1] + J[i, 2] * x[2],
        J[i, 1] * x[0] + J[i, 3] * x[1] + J[i, 4] * x[2],
        J[i, 2] * x[0] + J[i, 4] * x[1] + J[i, 5] * x[2],
    )


@inlined
def place_inertia(ints: Ints, reals: Array, work: Array) -> None:
    """J of every link, after `place`."""
    A, link, J = blocks(work, ints, at.LINK_A, 3, 3), view(reals, ints, at.LINK_REALS), view(work, ints, at.LINK_J)
    for i in range(link.shape[0]):
        put_global_inertia(A, link, i, J)


@inlined
def put_bias_wrench(ints: Ints, reals: Array, work: Array, pushes: Array) -> None:
    """v x* I v less the pushes (n, 6): external forces and moments about the centres of mass, global; after `rate`."""
    link, where, moving = view(reals, ints, at.LINK_REALS), view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_RATE)
    J, wrench = view(work, ints, at.LINK_J), view(work, ints, at.LINK_WRENCH)
    for i in range(link.shape[0]):
        c, v, omega = load(where, i, C), load(moving, i, V), load(moving, i, OMEGA)
        h = scale(link[i, MASS], add(v, cross(omega, c)))
        n = add(times_inertia(J, i, omega), cross(c, h))
        force, moment = cross(omega, h), add(cross(omega, n), cross(v, h))
        if pushes.shape[0] > 0:
            push, turn = load(pushes, i, 0), load(pushes, i, 3)
            arm = cross(c, push)
            force = (force[0] - push[0], force[1] - push[1], force[2] - push[2])
            moment = (moment[0] - turn[0] - arm[0], moment[1] - turn[1] - arm[1], moment[2] - turn[2] - arm[2])
        store(wrench, i, 0, force)
        store(wrench, i, 3, moment)
