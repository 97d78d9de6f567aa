r"""Forward kinematics of a serial chain, link by link from the base.

    R_i = R_(i-1) R0_i rot(z_1, q_1) rot(z_2, q_2) ...                       (1)   a slide leaves R and moves the handle by z q
    P_i = P_(i-1) + R_(i-1) o_i + slides                                     (2)   o_i = L_(i-1): the next handle, in the link before
    c_i = R_i c_bar_i                                                        (3)   from the handle to the centre of mass
    s_i = (0, z) a turn,   (z, 0) a slide                                    (6)   motion subspace at the link's OWN handle P_i
    omega_i = omega_(i-1) + sum z q_dot                                      (7)
    v_i     = v_(i-1) + omega_(i-1) x (P_i - P_(i-1)) + sum z q_dot                v_i: velocity of the handle
    b_i     = sum v_i x s q_dot                                                    what a_i = a_(i-1) + s q_ddot + b_i adds

All vectors are written in global axes, each at its own link's handle: from link to link there is only a shift, no rotation, and a
motion subspace is an axis and three zeros.  Slides come before turns, so that all turns of a joint pass through the handle.
Accelerations here and in the recursions are spatial (Eulerian): that of the material point is a + omega x v.
Source: Featherstone 2008, ch. 4 and 5. Here twists are at the handles, because far from the world origin digits are lost.
"""

from __future__ import annotations

from math import cos, sin

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.math.vec3 import Vec, add, cross, load, scale, store, to_global
from haugmbd.serial_chain.chain_arrays import (
    AXIS,
    B_ANGULAR,
    B_LINEAR,
    BALL,
    C_BAR,
    OFFSET,
    OMEGA,
    ORIENTATION,
    SLIDE,
    STEP,
    TURN,
    C,
    ChainArrays,
    P,
    V,
    axis,
    end_freedom,
    first_freedom,
    step,
)

ORIGIN = (0.0, 0.0, 0.0)


@inlined
def place(c: ChainArrays, q: Array) -> None:
    """Write orientation, handle, centre of mass and joint axes of every link at the coordinates q (nq,)."""
    links, freedoms, link, A = c.links, c.freedoms, c.link, c.A
    point = (c.base[0], c.base[1], c.base[2])
    for i in range(links.shape[0]):
        d = load(link, i, OFFSET)
        if i > 0:
            d = to_global(A, i - 1, d)
            compose(A, i - 1, link, i)
        else:
            for a in range(9):
                A[0, a // 3, a % 3] = link[0, ORIENTATION + a]
        coordinate = links[i, 2]
        for k in range(first_freedom(c, i), end_freedom(c, i)):
            kind = freedoms[k, 0]
            if kind == BALL:
                turn_by_parameters(A, i, q[coordinate], q[coordinate + 1], q[coordinate + 2], q[coordinate + 3])
                for a in range(3):
                    store(c.joint, k + a, AXIS, (A[i, 0, a], A[i, 1, a], A[i, 2, a]))
                break
            z_bar = load(c.axes_bar, k, 0)
            z = to_global(A, i, z_bar)
            store(c.joint, k, AXIS, z)
            if kind == SLIDE:
                d = add(d, scale(q[coordinate], z))
            else:
                turn_about(A, i, z_bar, q[coordinate])
            coordinate += 1
        point = add(point, d)
        store(c.place, i, P, point)
        store(c.place, i, STEP, d)
        store(c.place, i, C, to_global(A, i, load(link, i, C_BAR)))


@kernel
def compose(A: Array, before: int, link: Array, i: int) -> None:
    """A_i <- A_before R0_i."""
    for a in range(3):
        x, y, z = A[before, a, 0], A[before, a, 1], A[before, a, 2]
        for b in range(3):
            A[i, a, b] = x * link[i, 3 + b] + y * link[i, 6 + b] + z * link[i, 9 + b]


@kernel
def turn_about(A: Array, i: int, z: Vec, angle: float) -> None:
    """A_i <- A_i rot(z, angle), z a unit vector: rot = 1 + sin z~ + (1 - cos) (z z^T - 1)."""
    s, c = sin(angle), cos(angle)
    x, y, w = z
    k = 1.0 - c
    xy, xw, yw = k * x * y, k * x * w, k * y * w
    for a in range(3):
        m0, m1, m2 = A[i, a, 0], A[i, a, 1], A[i, a, 2]
        A[i, a, 0] = m0 * (c + k * x * x) + m1 * (xy + s * w) + m2 * (xw - s * y)
        A[i, a, 1] = m0 * (xy - s * w) + m1 * (c + k * y * y) + m2 * (yw + s * x)
        A[i, a, 2] = m0 * (xw + s * y) + m1 * (yw - s * x) + m2 * (c + k * w * w)


@kernel
def turn_by_parameters(A: Array, i: int, e0: float, e1: float, e2: float, e3: float) -> None:
    """A_i <- A_i A(p), p Euler parameters of any length but zero."""
    n = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    for a in range(3):
        m0, m1, m2 = A[i, a, 0], A[i, a, 1], A[i, a, 2]
        A[i, a, 0] = m0 * (1.0 - n * (e2 * e2 + e3 * e3)) + m1 * n * (e1 * e2 + e0 * e3) + m2 * n * (e1 * e3 - e0 * e2)
        A[i, a, 1] = m0 * n * (e1 * e2 - e0 * e3) + m1 * (1.0 - n * (e1 * e1 + e3 * e3)) + m2 * n * (e2 * e3 + e0 * e1)
        A[i, a, 2] = m0 * n * (e1 * e3 + e0 * e2) + m1 * n * (e2 * e3 - e0 * e1) + m2 * (1.0 - n * (e1 * e1 + e2 * e2))


@inlined
def rate(c: ChainArrays, qd: Array) -> None:
    """Write velocities and bias accelerations of every link at the rates qd (nv,), after `place`."""
    v, omega = ORIGIN, ORIGIN
    for i in range(c.links.shape[0]):
        v = add(v, cross(omega, step(c, i)))
        bias, bias_angular = ORIGIN, ORIGIN
        kind = TURN
        for k in range(first_freedom(c, i), end_freedom(c, i)):
            kind = c.freedoms[k, 0]
            z_dot = scale(qd[k], axis(c, k))
            if kind == SLIDE:
                v = add(v, z_dot)
                bias = add(bias, cross(omega, z_dot))
            else:
                bias = add(bias, cross(v, z_dot))
                if kind == TURN:
                    bias_angular = add(bias_angular, cross(omega, z_dot))
                    omega = add(omega, z_dot)
                else:  # the axes of a ball move with the link: its whole velocity counts, once
                    bias_angular = add(bias_angular, z_dot)
        if kind == BALL:
            turning = bias_angular
            bias_angular = cross(omega, turning)
            omega = add(omega, turning)
        store(c.rate, i, V, v)
        store(c.rate, i, OMEGA, omega)
        store(c.rate, i, B_LINEAR, bias)
        store(c.rate, i, B_ANGULAR, bias_angular)
