r"""The points at which contacts touch: gaps, normals, rows and their rates.

A point of contact has x_i on body i and x_j on body j with x_j - x_i = gap n, the normal n from i to j, and two tangents t:

    v_rel = v_j + w_j x s_j - v_i - w_i x s_i            s = x - r, the velocity of the material of j against that of i
    C u   = (n, t_1, t_2) . v_rel                        C_i = -(d, A_i^T (s_i x d))    C_j = (d, A_j^T (s_j x d))       d = n, t_1, t_2
    (C u)' = C u' - gamma                                gamma = -(d' . v_rel + d . (w_j x (x_j' - v_j) - w_i x (x_i' - v_i)))
    d'    = n'  for the normal,  -(t . n') n  for tangents, which do not spin about it

x', n': velocities of the point and of the normal over space, of the pair of features that touches (corner and face, two edges, ...), which
is kept as long as the rows are used.
Source: Haug (2021), spatial kinematics; Pfeiffer, Glocker, Multibody Dynamics with Unilateral Contacts (1996), ch. 4.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry, kernel
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_kernels import put_rotation
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_body, to_global

GAP, NORMAL, X_I, X_J, GAP_RATE, NORMAL_RATE, X_I_RATE, X_J_RATE = 0, 1, 4, 7, 10, 11, 14, 17
POINT_COLUMNS = 23
"""What the narrow phase gives for a point: gap, n, x_i, x_j;  their rates."""


class Kinematics(NamedTuple):
    """Points of contact at a state (k,).

    gap: (k,);  x: (k, 3) on body j, global;  D: (k, 3, 3) n, t_1, t_2;  C: (k, 3, 2, 6);  gamma, v: (k, 3), normal first
    """

    gap: Array
    x: Array
    D: Array
    C: Array
    gamma: Array
    v: Array


class NarrowPhase(Protocol):
    """The points of all contacts of a model."""

    def near(self, y: Array, margin: Array) -> tuple[Ints, Ints, Array]:
        """Return contact, feature and gap of all points with gap <= margin (by contact) at the flat state."""

    def rates(self, contact: Ints, feature: Ints, y: Array, out: Array) -> None:
        """Write the POINT_COLUMNS of points (k,) of given features at the flat state."""


@kernel
def tangent(n: Vec) -> Vec:
    """Return a unit vector across n."""
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    e = (1.0, 0.0, 0.0) if x <= y and x <= z else (0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0)
    t = cross(e, n)
    return scale(1.0 / sqrt(dot(t, t)), t)


@kernel
def put_rotations(bodies: Array, A: Array) -> None:
    """Write the rotation matrices of all bodies (nb + 1, 13)."""
    for k in range(bodies.shape[0]):
        e0, e1, e2, e3 = bodies[k, EULER], bodies[k, EULER + 1], bodies[k, EULER + 2], bodies[k, EULER + 3]
        s = 1.0 / sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
        put_rotation(A, k, s * e0, s * e1, s * e2, s * e3)


@entry
def rows_of_points(pairs: Ints, points: Array, bodies: Array, A: Array, D: Array, C: Array, gamma: Array, v: Array) -> int:
    """Write directions, rows, gamma and velocities of points (k, 23) on the pairs (k, 2) of bodies.

    bodies: (nb + 1, 13), A: (nb + 1, 3, 3), which is written, too;  D: (k, 3, 3);  C: (k, 3, 12);  gamma, v: (k, 3)
    """
    put_rotations(bodies, A)
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        n, n_rate = load(points, k, NORMAL), load(points, k, NORMAL_RATE)
        t_1 = tangent(n)
        s_i, s_j = sub(load(points, k, X_I), load(bodies, i, 0)), sub(load(points, k, X_J), load(bodies, j, 0))
        v_i, v_j = load(bodies, i, VELOCITY), load(bodies, j, VELOCITY)
        w_i, w_j = to_global(A, i, load(bodies, i, OMEGA_BAR)), to_global(A, j, load(bodies, j, OMEGA_BAR))
        relative = sub(add(v_j, cross(w_j, s_j)), add(v_i, cross(w_i, s_i)))
        turning = sub(cross(w_j, sub(load(points, k, X_J_RATE), v_j)), cross(w_i, sub(load(points, k, X_I_RATE), v_i)))
        for a in range(3):
            d = n if a == 0 else t_1 if a == 1 else cross(n, t_1)
            d_rate = n_rate if a == 0 else scale(-dot(d, n_rate), n)
            store(D[k], a, 0, d)
            store(C[k], a, 0, scale(-1.0, d))
            store(C[k], a, 3, to_body(A, i, cross(d, s_i)))
            store(C[k], a, 6, d)
            store(C[k], a, 9, to_body(A, j, cross(s_j, d)))
            v[k, a] = dot(d, relative)
            gamma[k, a] = -dot(d_rate, relative) - dot(d, turning)
    return 0


@entry
def points_on_planes(
    contact: Ints,
    pairs: Ints,
    n_bar: Array,
    q_bar: Array,
    s_bar: Array,
    radius: Array,
    which: Ints,
    bodies: Array,
    A: Array,
    out: Array,
) -> int:
    """Write the POINT_COLUMNS of balls of body j (points, if radius 0) on planes of body i, which (k,) of them, to out (k, 23).

    n_bar, q_bar: (m, 3) normal and point of the planes on body i;  s_bar: (m, 3) on body j
    """
    put_rotations(bodies, A)
    for k in range(which.size):
        c = which[k]
        i, j, R = pairs[c, 0], pairs[c, 1], radius[c]
        n = to_global(A, i, load(n_bar, c, 0))
        q = add(load(bodies, i, 0), to_global(A, i, load(q_bar, c, 0)))
        s = to_global(A, j, load(s_bar, c, 0))
        middle = add(load(bodies, j, 0), s)
        w_i, w_j = to_global(A, i, load(bodies, i, OMEGA_BAR)), to_global(A, j, load(bodies, j, OMEGA_BAR))
        n_rate, middle_rate = cross(w_i, n), add(load(bodies, j, VELOCITY), cross(w_j, s))
        gap = dot(n, sub(middle, q)) - R
        x_j, x_j_rate = sub(middle, scale(R, n)), sub(middle_rate, scale(R, n_rate))
        x_i = sub(x_j, scale(gap, n))
        at_plane = add(load(bodies, i, VELOCITY), cross(w_i, sub(middle, load(bodies, i, 0))))
        gap_rate = dot(n, sub(middle_rate, at_plane))
        out[k, GAP], out[k, GAP_RATE] = gap, gap_rate
        store(out, k, NORMAL, n)
        store(out, k, X_I, x_i)
        store(out, k, X_J, x_j)
        store(out, k, NORMAL_RATE, n_rate)
        store(out, k, X_J_RATE, x_j_rate)
        store(out, k, X_I_RATE, sub(x_j_rate, add(scale(gap_rate, n), scale(gap, n_rate))))
    return 0


class BallsOnPlanes:
    """The narrow phase of points, spheres and the corners of boxes on planes: one body-fixed ball for each feature.

    balls: by contact, (body i, body j, n_bar, q_bar, [(s_bar, radius), ...]), i: body of the plane;  flip: whether i and j are swapped
    """

    def __init__(self, balls: list[tuple[int, int, Array, Array, list[tuple[Array, float]]]], n_bodies: int) -> None:
        lines = [(c, i, j, n, q, s, R) for c, (i, j, n, q, points) in enumerate(balls) for s, R in points]
        self.contact = np.array([line[0] for line in lines], dtype=np.int64)
        self.pairs = np.array([line[1:3] for line in lines], dtype=np.int64).reshape(-1, 2)
        self.n_bar, self.q_bar, self.s_bar = (
            np.array([line[a] for line in lines], dtype=np.float64).reshape(-1, 3) for a in (3, 4, 5)
        )
        self.radius = np.array([line[6] for line in lines], dtype=np.float64)
        counts = np.bincount(self.contact, minlength=len(balls))
        self.first = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
        self._all = np.arange(len(lines), dtype=np.int64)
        self._out, self._A = np.zeros((len(lines), POINT_COLUMNS)), np.zeros((n_bodies, 3, 3))

    def near(self, y: Array, margin: Array) -> tuple[Ints, Ints, Array]:
        self._write(self._all, y, self._out)
        gap = self._out[:, GAP]
        (some,) = np.nonzero(gap <= margin[self.contact])
        return self.contact[some], some - self.first[self.contact[some]], gap[some].copy()

    def rates(self, contact: Ints, feature: Ints, y: Array, out: Array) -> None:
        self._write(self.first[contact] + feature, y, out)

    def _write(self, which: Ints, y: Array, out: Array) -> None:
        n = len(self._A)
        bodies = y[: WIDTH * n].reshape(n, WIDTH)
        points_on_planes(self.contact, self.pairs, self.n_bar, self.q_bar, self.s_bar, self.radius, which, bodies, self._A, out)


def kinematics(narrow: NarrowPhase, pairs: Ints, contact: Ints, feature: Ints, y: Array, n: int) -> Kinematics:
    """Return the points (k,) of given contacts and features at the flat state of n bodies; pairs: (contacts, 2) of the contacts."""
    k = len(contact)
    out = np.empty((k, POINT_COLUMNS))
    narrow.rates(contact, feature, y, out)
    bodies = y[: WIDTH * n].reshape(n, WIDTH)
    A = np.empty((n, 3, 3))
    D, C, gamma, v = np.empty((k, 3, 3)), np.empty((k, 3, 12)), np.empty((k, 3)), np.empty((k, 3))
    rows_of_points(pairs[contact], out, bodies, A, D, C, gamma, v)
    return Kinematics(out[:, GAP], out[:, X_J : X_J + 3], D, C.reshape(k, 3, 2, 6), gamma, v)
