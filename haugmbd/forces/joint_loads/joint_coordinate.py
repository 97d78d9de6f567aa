r"""A coordinate of a joint, as force elements measure it and act along it: its value, its rate, and its generalized direction.

    q, q' = G u,   delta q = G (dr, dpi)        G = (-g, m_a) on body a,  (g, m_b) on body b: g and the moments are global
    a force f along +q:   Q_a += f (-g, A_a^T m_a)        Q_b += f (g, A_b^T m_b)        power f q'

q is positive as the joint's class says, is `q0` of the joint at the modelled pose, and goes through any number of turns. The formulas are
exact off the constraint manifold, too. Columns of a force table for it: three markers, and the integrated angle, -1 for a displacement.
Source: Haug (2021), spatial kinematics: relative coordinates of joints; see `constraints.coordinate`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, distance, rate, value
from haugmbd.constraints.coordinate import Coordinate, angle_gradient, angle_of, as_coordinate, coordinates_of
from haugmbd.constraints.freedoms import Kind
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import point_motion, turned
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_body, to_global

BALL_REMEDY = (
    "A ball has three rotations at once: give Bushing(..., K=(0, 0, 0, k, k, k), C=(0, 0, 0, c, c, c)) at the joint's point, a spring by "
    "the rotation vector, or limits of its swing and twist, ConeLimit and TwistLimit."
)


class Measured(NamedTuple):
    """A coordinate at one instant: value, rate, bodies a and b, the force g on b (-g on a), and the global moments on a and on b."""

    q: float
    q_dot: float
    a: int
    b: int
    g: Vec
    m_a: Vec
    m_b: Vec


def read_coordinate(faults: list[Fault], where: str, given: Any) -> Coordinate | None:
    """Return the coordinate of a joint of one freedom, or the given one; None and a fault if the joint has no such coordinate.

    Raise UsageError if `given` is neither a joint nor a coordinate.
    """
    if not isinstance(given, Joint | Coordinate):
        raise UsageError(
            f'{where} needs a joint, got {given!r:.200}. Give what system.add(RJ(...)) returned, or its .coordinate("angle").'
        )
    if isinstance(given, Joint) and not any(coordinates_of(given).values()):
        what = f"joint {given.name!r} ({type(given).__name__}) has no coordinate that a force could act along"
        remedy = "Give RJ or TJ, or a coordinate of CJ, UJ, Planar, Parallel or PointOnLine."
        if any(freedom.kind is Kind.BALL for freedom in given.freedoms or ()):
            remedy = BALL_REMEDY
        faults.append(Fault(where, what, remedy))
        return None
    return as_coordinate(faults, where, given)


def modelled_value(coordinate: Coordinate) -> float:
    """Return what is taken off alpha or h . d, so that the coordinate is `q0` at the modelled pose."""
    return coordinate.modelled() - coordinate.q0


def coordinate_motion(coordinate: Coordinate, a: Array, b: Array, near: Array) -> tuple[Array, Array]:
    """Return value and rate (nt,) along the states (nt, 13) of the coordinate's bodies a and b; near: (nt,) angles that choose the turn."""
    states = dict(zip(coordinate.bodies[::-1], (b, a), strict=True))
    if coordinate.turns:
        E, N, V = (turned(states[body], x) for body, x in coordinate.markers())
        c, s = np.sum(E * V, axis=1), np.sum(N * V, axis=1)
        q = np.arctan2(s, c) - modelled_value(coordinate)
        gradient = np.cross(V, (c[:, None] * N - s[:, None] * E) / (c * c + s * s)[:, None])
        spin = turned(b, b[:, OMEGA_BAR:WIDTH]) - turned(a, a[:, OMEGA_BAR:WIDTH])
        return q + 2.0 * np.pi * np.floor((near - q) / (2.0 * np.pi) + 0.5), np.sum(gradient * spin, axis=1)
    (of_h, h), (_, s_i), (_, s_j) = coordinate.markers()
    (x_i, v_i), (x_j, v_j) = point_motion(a, s_i), point_motion(b, s_j)
    H, H_dot = turned(states[of_h], h), turned(states[of_h], np.cross(states[of_h][:, OMEGA_BAR:WIDTH], h))
    d, d_dot = x_j - x_i, v_j - v_i
    return np.sum(H * d, axis=1) - modelled_value(coordinate), np.sum(H_dot * d + H * d_dot, axis=1)


@kernel
def measured(m: Motion, x: int, y: int, z: int, offset: float, angle: int) -> Measured:
    """Return a coordinate by its markers x, y, z;  offset: see `modelled_value`;  angle: the integrated one, -1 for a displacement."""
    if angle >= 0:
        a, b = m.body_of[x], m.body_of[z]
        moment = angle_gradient(m, x, y, z)
        w = sub(to_global(m.A, b, load(m.bodies, b, OMEGA_BAR)), to_global(m.A, a, load(m.bodies, a, OMEGA_BAR)))
        q = angle_of(m, x, y, z, offset, m.angles[angle])
        return Measured(q, dot(moment, w), a, b, scale(0.0, moment), scale(-1.0, moment), moment)
    a, b = m.body_of[y], m.body_of[z]
    H, d = value(m, x), distance(m, y, z)
    d_dot = sub(add(load(m.bodies, b, VELOCITY), rate(m, z)), add(load(m.bodies, a, VELOCITY), rate(m, y)))
    m_a, m_b = cross(H, value(m, y)), cross(value(m, z), H)
    if m.body_of[x] == a:
        m_a = add(m_a, cross(H, d))
    else:
        m_b = add(m_b, cross(H, d))
    return Measured(dot(H, d) - offset, dot(rate(m, x), d) + dot(H, d_dot), a, b, H, m_a, m_b)


@kernel
def add_along(Q: Array, A: Array, c: Measured, f: float) -> None:
    """Add the generalized force f along +q."""
    n_a, n_b = to_body(A, c.a, c.m_a), to_body(A, c.b, c.m_b)
    for k in range(3):
        Q[c.a, k] -= f * c.g[k]
        Q[c.a, 3 + k] += f * n_a[k]
        Q[c.b, k] += f * c.g[k]
        Q[c.b, 3 + k] += f * n_b[k]


@kernel
def put_rate(c: Measured, rates: Array, angle: int) -> None:
    """Write the rate of the coordinate [rad/s] as that of the integrated angle, if it has one."""
    if angle >= 0:
        rates[angle] = c.q_dot


@kernel
def directions(A: Array, c: Measured) -> tuple[tuple[Vec, Vec], tuple[Vec, Vec]]:
    """Return g_a and g_b of `tangent.add_pair`: dq/dq = (-g_a, g_b)."""
    return (c.g, scale(-1.0, to_body(A, c.a, c.m_a))), (c.g, to_body(A, c.b, c.m_b))
