r"""The points of contact of a ContactForce at one instant, as kernels: depth, its rate, normal, levers, slip.

The formulas are those of `indentation`. A line of the tables has the columns

    ints      six markers: middle of a; three vectors of a; point of b; normal or axis of b;  what a run holds;  first touch speed
    floats    pair, number of points, radii, K, exponent, damping c, mu, creep speed, floor speed
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, value
from haugmbd.forces.compliant.indentation import TILT
from haugmbd.forces.compliant.pairs import RIM_PLANE, SPHERE_IN_HOLE, SPHERE_PLANE, SPHERE_SPHERE
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_global

MIDDLE, FIRST, SECOND, THIRD, POINT, NORMAL, HOLD, TOUCH = range(8)
PAIR, POINTS, RADIUS_A, RADIUS_B, K, EXPONENT, C, MU, CREEP, FLOOR = range(10)


class ContactPoint(NamedTuple):
    """The kinematics of one point of contact, in global axes.

    depth: of the indentation [m];  rate: of the depth [m/s];  normal: on body a
    s_a, s_b: levers from the centres of mass [m];  slip: of a against b [m/s]
    """

    depth: float
    rate: float
    normal: Vec
    s_a: Vec
    s_b: Vec
    slip: Vec


@kernel
def unit_of(x: Vec) -> tuple[float, Vec]:
    """Return |x| and x / |x|, 0 for 0."""
    size = sqrt(dot(x, x))
    return size, scale(1.0 / size if size > 0.0 else 0.0, x)


@kernel
def along(n: Vec, x: Vec) -> Vec:
    """Return the part of x along the unit vector n."""
    return scale(dot(n, x), n)


@kernel
def rim_point(n: Vec, h: Vec) -> tuple[float, Vec]:
    """Return s, and the point of a unit rim about h that is deepest along -n, smoothed near h = n."""
    u = sub(along(h, n), n)
    s = sqrt(dot(u, u) + TILT * TILT)
    return s, scale(1.0 / s, u)


@kernel
def velocity_at(m: Motion, body: int, s: Vec) -> Vec:
    """Return the velocity of the material point at the lever s (global, from the centre of mass) of a body."""
    omega = to_global(m.A, body, load(m.bodies, body, OMEGA_BAR))
    return add(load(m.bodies, body, VELOCITY), cross(omega, s))


@kernel
def corner(m: Motion, ints: Ints, k: int, which: int) -> Vec:
    """Return the lever of a corner of a box from the centre of mass."""
    s = value(m, ints[k, MIDDLE])
    for axis in range(3):
        edge = value(m, ints[k, FIRST + axis])
        s = sub(s, edge) if which >> axis & 1 else add(s, edge)
    return s


@kernel
def depth_and_levers(ints: Ints, floats: Array, k: int, which: int, m: Motion) -> tuple[float, Vec, Vec]:
    """Return depth, normal on body a, and lever on body a of a point of contact."""
    a, b = m.body_of[ints[k, MIDDLE]], m.body_of[ints[k, POINT]]
    pair, R = int(floats[k, PAIR]), floats[k, RADIUS_A]
    c, n = value(m, ints[k, MIDDLE]), value(m, ints[k, NORMAL])
    away = sub(sub(load(m.bodies, a, 0), load(m.bodies, b, 0)), value(m, ints[k, POINT]))  # from q to the centre of mass of a
    if pair == SPHERE_PLANE:
        return R - dot(n, add(away, c)), n, sub(c, scale(R, n))
    if pair == SPHERE_SPHERE:
        distance, e = unit_of(add(away, c))
        depth = R + floats[k, RADIUS_B] - distance
        return depth, e, sub(c, scale(R - 0.5 * depth, e))
    if pair == SPHERE_IN_HOLE:
        w = add(away, c)
        distance, e = unit_of(sub(w, along(n, w)))
        return distance + R - floats[k, RADIUS_B], scale(-1.0, e), add(c, scale(R, e))
    if pair == RIM_PLANE:
        half = value(m, ints[k, FIRST])
        c = sub(c, half) if which == 1 else add(c, half)
        s, u = rim_point(n, value(m, ints[k, SECOND]))
        return R * (s - TILT) - dot(n, add(away, c)), n, add(c, scale(R, u))
    x = corner(m, ints, k, which)
    return -dot(n, add(away, x)), n, x


@kernel
def contact_point(ints: Ints, floats: Array, k: int, which: int, m: Motion) -> ContactPoint:
    """Return the point of contact `which` of element k."""
    a, b = m.body_of[ints[k, MIDDLE]], m.body_of[ints[k, POINT]]
    depth, n, s_a = depth_and_levers(ints, floats, k, which, m)
    s_b = sub(add(load(m.bodies, a, 0), s_a), load(m.bodies, b, 0))
    relative = sub(velocity_at(m, a, s_a), velocity_at(m, b, s_b))
    rate = -dot(n, relative)
    return ContactPoint(depth, rate, n, s_a, s_b, add(relative, scale(rate, n)))
