r"""The rigid inertia of a link about its handle, in global axes, as symmetric parts.

    J   = R J_bar R^T                       about the centre of mass
    h   = m (v + omega x c),   n = J omega + c x h                     spatial momentum about the handle
    v x* (I v) = ( omega x h,  omega x n + v x h )                     the bias force of the equation of motion f = I a + v x* I v
    I a = ( m (a + alpha x c),  J alpha + c x m (a + alpha x c) )

Source: Featherstone 2008, eqs. 2.61 to 2.63 (spatial inertia), 2.72 (equation of motion).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.math.articulated_inertia import Wrench
from haugmbd.math.vec3 import add, cross, load, scale, sub
from haugmbd.serial_chain.chain_arrays import J_BAR, ChainArrays, center, mass, times_central_inertia
from haugmbd.serial_chain.recursions.articulated_inertia import store_wrench, velocity


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
