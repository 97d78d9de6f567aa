"""The inertia of a link about its handle, in global axes, as symmetric parts; twists, wrenches and articulated inertia of links as records.

    J   = R J_bar R^T                       about the centre of mass
    h   = m (v + omega x c),   n = J omega + c x h                     spatial momentum about the handle
    v x* (I v) = ( omega x h,  omega x n + v x h )                     the bias force of the equation of motion f = I a + v x* I v
    I a = ( m (a + alpha x c),  J alpha + c x m (a + alpha x c) )

The elimination of a joint is that of `math.articulated_inertia`.
Source: Featherstone 2008, eqs. 2.61 to 2.63 (spatial inertia), 2.72 (equation of motion).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.math.articulated_inertia import (
    ArticulatedInertia,
    Six,
    Twist,
    Wrench,
    add_rigid_body,
    add_rigid_rotation,
    power,
)
from haugmbd.math.vec3 import add, cross, dot, load, scale, store, sub
from haugmbd.serial_chain.chain_arrays import (
    B_ANGULAR,
    B_LINEAR,
    J_BAR,
    OMEGA,
    ChainArrays,
    V,
    axis,
    center,
    mass,
    slides,
    times_central_inertia,
)


@kernel
def put_global_inertia(c: ChainArrays, i: int) -> None:
    """Write J_i = R J_bar R^T, its six numbers xx, xy, xz, yy, yz, zz."""
    A, link = c.A, c.link
    for a in range(3):
        x, y, z = A[i, a, 0], A[i, a, 1], A[i, a, 2]
        p = x * link[i, J_BAR] + y * link[i, J_BAR + 3] + z * link[i, J_BAR + 6]
        q = x * link[i, J_BAR + 1] + y * link[i, J_BAR + 4] + z * link[i, J_BAR + 7]
        r = x * link[i, J_BAR + 2] + y * link[i, J_BAR + 5] + z * link[i, J_BAR + 8]
        for b in range(a, 3):
            c.J[i, (5 - a) * a // 2 + b] = p * A[i, b, 0] + q * A[i, b, 1] + r * A[i, b, 2]


@inlined
def place_inertia(c: ChainArrays) -> None:
    """Write J of every link, after `place`."""
    for i in range(c.links.shape[0]):
        put_global_inertia(c, i)


@inlined
def put_bias_wrench(c: ChainArrays, external: Array) -> None:
    """Write v x* I v less the external wrenches (n, 6), after `rate`.

    external: external forces and moments about the centres of mass, global
    """
    for i in range(c.links.shape[0]):
        center_i, v = center(c, i), velocity(c, i)
        h = scale(mass(c, i), add(v.linear, cross(v.angular, center_i)))
        n = add(times_central_inertia(c, i, v.angular), cross(center_i, h))
        force, moment = cross(v.angular, h), add(cross(v.angular, n), cross(v.linear, h))
        if external.shape[0] > 0:
            push = load(external, i, 0)
            force = sub(force, push)
            moment = sub(sub(moment, load(external, i, 3)), cross(center_i, push))
        store_wrench(c, i, Wrench(force, moment))


U_COLUMN, D_INV, SMALL_U = 3, 9, 10
"""Where U, 1/D and u of a freedom start in FREEDOM_TERMS, behind its axis."""


@kernel
def along_axis(w: Wrench, c: ChainArrays, k: int) -> float:
    """Return s^T w of freedom k."""
    return dot(axis(c, k), w.force) if slides(c, k) else dot(axis(c, k), w.moment)


@kernel
def add_rigid(I: ArticulatedInertia, c: ChainArrays, i: int) -> ArticulatedInertia:
    """Return I^A with the rigid inertia of link i."""
    return add_rigid_body(I, mass(c, i), center(c, i), central_inertia(c, i))


@kernel
def central_inertia(c: ChainArrays, i: int) -> Six:
    """Return J_C of link i."""
    G = c.J
    return (G[i, 0], G[i, 1], G[i, 2], G[i, 3], G[i, 4], G[i, 5])


@kernel
def add_link_rotation(J: Six, c: ChainArrays, i: int) -> Six:
    """Return J + J_C - m c~ c~ of link i."""
    return add_rigid_rotation(J, mass(c, i), center(c, i), central_inertia(c, i))


@kernel
def move_along(v: Twist, c: ChainArrays, k: int, rate: float) -> Twist:
    """Return v + s x, x the rate or acceleration of freedom k."""
    z = scale(rate, axis(c, k))
    return Twist(add(v.linear, z), v.angular) if slides(c, k) else Twist(v.linear, add(v.angular, z))


@kernel
def velocity(c: ChainArrays, i: int) -> Twist:
    """Return the velocity of link i at its handle."""
    return Twist(load(c.rate, i, V), load(c.rate, i, OMEGA))


@kernel
def bias_acceleration(c: ChainArrays, i: int) -> Twist:
    """Return b_i, the acceleration that joint i adds at q_ddot = 0."""
    return Twist(load(c.rate, i, B_LINEAR), load(c.rate, i, B_ANGULAR))


@kernel
def load_wrench(c: ChainArrays, i: int) -> Wrench:
    """Return the wrench that is stored for link i."""
    return Wrench(load(c.wrench, i, 0), load(c.wrench, i, 3))


@kernel
def store_wrench(c: ChainArrays, i: int, w: Wrench) -> None:
    """Store a wrench for link i."""
    store(c.wrench, i, 0, w.force)
    store(c.wrench, i, 3, w.moment)


@kernel
def load_U(c: ChainArrays, k: int) -> Wrench:
    """Return U of freedom k."""
    return Wrench(load(c.joint, k, U_COLUMN), load(c.joint, k, U_COLUMN + 3))


@kernel
def store_pivot(c: ChainArrays, k: int, U: Wrench, D_inv: float, u: float) -> None:
    """Store U, 1/D and u of freedom k for the outward pass."""
    store(c.joint, k, U_COLUMN, U.force)
    store(c.joint, k, U_COLUMN + 3, U.moment)
    c.joint[k, D_INV], c.joint[k, SMALL_U] = D_inv, u


@kernel
def freedom_response(c: ChainArrays, k: int, a: Twist) -> float:
    """Return q_ddot = (u - U^T a) / D of freedom k."""
    return (c.joint[k, SMALL_U] - power(load_U(c, k), a)) * c.joint[k, D_INV]  # type: ignore[no-any-return]
