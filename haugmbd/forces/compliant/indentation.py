r"""Indentation of a pair of shapes over time, in NumPy.

    c = r_a + A_a c_bar,   q = r_b + A_b q_bar,   n = A_b n_bar

    Sphere, Plane      d = R - n . (c - q)                                       point  x = c - R n
    Sphere, Sphere     d = R_a + R_b - |c_a - c_b|,  n = (c_a - c_b) / |.|       x = c_a - (R_a - d / 2) n, the middle of the overlap
    Sphere in a hole   d = |w| + R_a - R_b,  n = -w / |w|,  w = c - q across h   x = c - R_a n
    rim, Plane         u = -n across h,  s = sqrt(u . u + eps^2)
                       d = -n . (c - q) + R (s - eps)                            x = c + R u / s
    Box, Plane         d = -n . (x - q)                                          x the corner

n pushes body a, -n body b; d' = -n . (v_a(x) - v_b(x)) in each case. The tilt eps keeps the rim smooth: a disc that lies flatter
than eps touches between rim and middle, and stands on it stably.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.forces.compliant.pairs import BOX_PLANE, CORNERS, RIM_PLANE, SPHERE_PLANE, SPHERE_SPHERE, Pair
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import cross, normalized, rotation_matrix

TILT = 1e-3
"""[rad] tilt of a disc below which its point of contact leaves the rim: small beside any tilt that matters, and far above rounding."""


SIGNS = np.array([[1.0 - 2.0 * (k >> axis & 1) for axis in range(3)] for k in range(CORNERS)])
"""Signs of the half edges at the corners of a box, (8, 3)."""


class Indentation(NamedTuple):
    """Points of contact over time: depth [m], its rate [m/s], (nt, k); normal on body a, point [m] and slip [m/s], global, (nt, k, 3).

    slip: velocity of body a against body b at the point, across the normal
    """

    depth: Array
    rate: Array
    normal: Array
    point: Array
    slip: Array


def indentation(pair: Pair, a: Array, b: Array) -> Indentation:
    """Return the indentation on a trajectory of body a and body b, (nt, 13) each."""
    A_a, A_b = _rotation(a), _rotation(b)
    depth, normal, point = points_of(pair, a, A_a, b, A_b)
    relative = _velocity(a, A_a, point) - _velocity(b, A_b, point)
    rate = -np.sum(normal * relative, axis=-1)
    return Indentation(depth, rate, normal, point, relative + rate[..., None] * normal)


def points_of(pair: Pair, a: Array, A_a: Array, b: Array, A_b: Array) -> tuple[Array, Array, Array]:
    """Return depths (nt, k), normals and points (nt, k, 3) of all points of contact."""
    middle = a[:, 0:3] + A_a @ pair.a[0]
    q, n = (b[:, 0:3] + A_b @ pair.b[0])[:, None], (A_b @ pair.b[1])[:, None]
    if pair.kind == BOX_PLANE:
        x = middle[:, None] + (A_a @ (SIGNS @ pair.a[1:]).T).transpose(0, 2, 1)
        return -np.sum(n * (x - q), axis=-1), np.broadcast_to(n, x.shape), x
    if pair.kind == RIM_PLANE:
        half = (A_a @ pair.a[1])[:, None] * np.array([1.0, -1.0])[: pair.points, None]
        return _rim(middle[:, None] + half, (A_a @ pair.a[2])[:, None], q, n, pair.radius_a)
    return _sphere(pair, middle[:, None], q, n)


def _rotation(body: Array) -> Array:
    """Return the rotation matrices of a body, (nt, 3, 3)."""
    return rotation_matrix(normalized(body[:, EULER:VELOCITY]))


def _velocity(body: Array, A: Array, x: Array) -> Array:
    """Return the velocity of the material points x (nt, k, 3) of a body (nt, 13)."""
    omega = np.einsum("tij,tj->ti", A, body[:, OMEGA_BAR:WIDTH])
    moving: Array = body[:, None, VELOCITY:OMEGA_BAR] + cross(omega[:, None], x - body[:, None, 0:3])
    return moving


def _dot(x: Array, y: Array) -> Array:
    return np.asarray(np.sum(x * y, axis=-1, keepdims=True))


def _unit(x: Array) -> tuple[Array, Array]:
    """Return |x| and x / |x|, 0 for 0."""
    size = np.linalg.norm(x, axis=-1, keepdims=True)
    return size, x / np.where(size > 0.0, size, 1.0)


def _rim(c: Array, h: Array, q: Array, n: Array, R: float) -> tuple[Array, Array, Array]:
    """Return depths, normals and points of rims with the middles c (nt, k, 3) and the axis h."""
    u = _dot(n, h) * h - n
    s = np.sqrt(_dot(u, u) + TILT**2)
    depth = -_dot(n, c - q) + R * (s - TILT)
    return depth[..., 0], np.broadcast_to(n, c.shape), c + R * u / s


def _sphere(pair: Pair, c: Array, q: Array, n: Array) -> tuple[Array, Array, Array]:
    """Return depth, normal and point of a sphere with the middle c (nt, 1, 3) on a plane, on a sphere, or in a hole."""
    R = pair.radius_a
    if pair.kind == SPHERE_PLANE:
        depth, x = R - _dot(n, c - q), c - R * n
    elif pair.kind == SPHERE_SPHERE:
        distance, n = _unit(c - q)
        depth = R + pair.radius_b - distance
        x = c - (R - 0.5 * depth) * n
    else:
        away, outward = _unit(c - q - _dot(n, c - q) * n)
        depth, n = away + R - pair.radius_b, -outward
        x = c - R * n
    return depth[..., 0], n, x
