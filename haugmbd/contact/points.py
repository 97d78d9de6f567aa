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

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.geometry.broad_phase import BroadPhase
from haugmbd.geometry.features import nearest, still_gap
from haugmbd.geometry.manifold import MANIFOLD, manifold, write_point
from haugmbd.geometry.narrow_phase import (
    GAP,
    NORMAL,
    NORMAL_RATE,
    POINT_I,
    POINT_I_RATE,
    POINT_J,
    POINT_J_RATE,
    RATES,
)
from haugmbd.geometry.tables import CYLINDER, MOST_POINTS, PLANE, POINT_COLUMNS, RATE_COLUMNS, Shapes, new_scratch, shape_tables
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_kernels import put_rotation
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_body, to_global

FEW_PAIRS = 64
"""Fewer pairs are all looked at: the broad phase costs more than the balls around their shapes."""


BESIDE = 1e5
"""Of the margin: a held point with a larger gap has parted."""


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
def put_rotations_entry(bodies: Array, A: Array) -> int:
    """Compile `put_rotations`."""
    put_rotations(bodies, A)
    return 0


@kernel
def put_rows_of_points(pairs: Ints, points: Array, bodies: Array, A: Array, D: Array, C: Array, gamma: Array, v: Array) -> None:
    """Write directions, rows, gamma and velocities of points (k, 21) on the pairs (k, 2) of bodies.

    bodies: (nb + 1, 13), A: (nb + 1, 3, 3);  D: (k, 3, 3);  C: (k, 3, 12);  gamma, v: (k, 3)
    """
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        n, n_rate = load(points, k, NORMAL), load(points, k, NORMAL_RATE)
        t_1 = tangent(n)
        s_i, s_j = sub(load(points, k, POINT_I), load(bodies, i, 0)), sub(load(points, k, POINT_J), load(bodies, j, 0))
        v_i, v_j = load(bodies, i, VELOCITY), load(bodies, j, VELOCITY)
        w_i, w_j = to_global(A, i, load(bodies, i, OMEGA_BAR)), to_global(A, j, load(bodies, j, OMEGA_BAR))
        relative = sub(add(v_j, cross(w_j, s_j)), add(v_i, cross(w_i, s_i)))
        turning = sub(cross(w_j, sub(load(points, k, POINT_J_RATE), v_j)), cross(w_i, sub(load(points, k, POINT_I_RATE), v_i)))
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


@kernel
def put_rates_of_points(find: Any, shapes: Shapes, shape_pairs: Ints, keys: Ints, bodies: Array, A: Array, points: Array) -> None:
    """Write points (k, 21) of `keys` (k, 2), contact and feature, of the pairs (m, 2) of shapes;  find: `rates`"""
    for k in range(keys.shape[0]):
        c = keys[k, 0]
        find(shapes, shape_pairs[c, 0], shape_pairs[c, 1], keys[k, 1], bodies, A, points, k)


@entry
def points_entry(
    find: Any,
    shapes: Shapes,
    shape_pairs: Ints,
    keys: Ints,
    pairs: Ints,
    bodies: Array,
    A: Array,
    points: Array,
    D: Array,
    C: Array,
    gamma: Array,
    v: Array,
) -> int:
    """Write points (k, 21) of `keys` (k, 2), contact and feature, and what `put_rows_of_points` writes."""
    put_rotations(bodies, A)
    put_rates_of_points(find, shapes, shape_pairs, keys, bodies, A, points)
    put_rows_of_points(pairs, points, bodies, A, D, C, gamma, v)
    return 0


@entry
def near_points(
    find: Any,
    shapes: Shapes,
    pairs: Ints,
    active: Ints,
    bodies: Array,
    A: Array,
    margin: float,
    out: Array,
    features: Ints,
    scratch: Array,
    found: Ints,
    gaps: Array,
) -> int:
    """Write contact and feature (k, 2), and gap (k,), of all points with gap <= margin of `active` pairs of shapes; return their number.

    find: `manifold`;  out: (8, 10), features: (8,), scratch: of the manifold;  found, gaps: with room for 8 points a pair
    """
    put_rotations(bodies, A)
    n = 0
    for number in range(active.size):
        c = active[number]
        k = find(shapes, pairs[c, 0], pairs[c, 1], bodies, A, margin, out, features, scratch)
        for point in range(k):
            found[n, 0], found[n, 1], gaps[n] = c, features[point], out[point, GAP]
            n += 1
    return n


@entry
def touching_points(
    shapes: Shapes,
    pairs: Ints,
    active: Ints,
    bodies: Array,
    A: Array,
    margin: float,
    held: Ints,
    features: Ints,
    scratch: Array,
    keys: Ints,
    points: Array,
    place: Array,
) -> int:
    """Write contact and feature (k, 2) and points (k, 10) of all points with gap <= margin of the `active` contacts, and of those held.

    held: (h, 2) points that are taken with a larger gap, too, as long as their features are there;  both sorted by contact
    features: (8,), scratch, place: (8, 10) of the manifold;  keys, points: with room for 8 points an active contact, and those held
    """
    put_rotations(bodies, A)
    n, h = 0, 0
    for number in range(active.size):
        c = active[number]
        a, b = pairs[c, 0], pairs[c, 1]
        while h < held.shape[0] and held[h, 0] < c:
            h += 1
        after = h
        while after < held.shape[0] and held[after, 0] == c:
            after += 1
        # a plane has no edges; elsewhere a point is held as long as its features are there: a ball that has rolled off a face is not
        ends = after > h and shapes.kind[a] != PLANE and shapes.kind[b] != PLANE
        first = n
        k = manifold(shapes, a, b, bodies, A, BESIDE * margin if ends else margin, place, features, scratch)
        for point in range(k):
            taken = place[point, GAP] <= margin
            if ends and not taken:
                for other in range(h, after):
                    if held[other, 1] == features[point]:
                        taken = True
            if taken:
                keys[n, 0], keys[n, 1] = c, features[point]
                for column in range(POINT_COLUMNS):
                    points[n, column] = place[point, column]
                n += 1
        for other in range(after if ends else h, after):
            new = True
            for point in range(first, n):
                if keys[point, 1] == held[other, 1]:
                    new = False
            if new:
                keys[n, 0], keys[n, 1] = c, held[other, 1]
                write_point(nearest(shapes, a, b, held[other, 1], bodies, A), load(bodies, shapes.body[a], 0), points, n)
                n += 1
        h = after
    return n


@entry
def still_rows_of_points(pairs: Ints, points: Array, bodies: Array, A: Array, D: Array, C: Array) -> int:
    """Write directions (k, 3, 3) and rows (k, 3, 12) of points (k, 10) on the pairs (k, 2) of bodies; A is that of the bodies."""
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        n = load(points, k, NORMAL)
        t_1 = tangent(n)
        s_i, s_j = sub(load(points, k, POINT_I), load(bodies, i, 0)), sub(load(points, k, POINT_J), load(bodies, j, 0))
        for a in range(3):
            d = n if a == 0 else t_1 if a == 1 else cross(n, t_1)
            store(D[k], a, 0, d)
            store(C[k], a, 0, scale(-1.0, d))
            store(C[k], a, 3, to_body(A, i, cross(d, s_i)))
            store(C[k], a, 6, d)
            store(C[k], a, 9, to_body(A, j, cross(s_j, d)))
    return 0


@entry
def gaps_of_points(shapes: Shapes, pairs: Ints, keys: Ints, bodies: Array, A: Array, gaps: Array) -> int:
    """Write the gaps (k,) of points (k, 2)."""
    put_rotations(bodies, A)
    for k in range(keys.shape[0]):
        a, b = pairs[keys[k, 0], 0], pairs[keys[k, 0], 1]
        gaps[k] = still_gap(shapes, a, b, keys[k, 1], bodies, A)
    return 0


get_touching, get_still_rows, get_gaps = DirectCall(touching_points), DirectCall(still_rows_of_points), DirectCall(gaps_of_points)
get_near, get_points = DirectCall(near_points), DirectCall(points_entry)


class Touching(NamedTuple):
    """Points that touch at a state (k,): contact and feature (k, 2), gap (k,), pairs of bodies (k, 2), D (k, 3, 3), C (k, 3, 12)."""

    keys: Ints
    gap: Array
    pairs: Ints
    D: Array
    C: Array


class ContactPoints:
    """The points of contact of pairs of shapes.

    ends: by contact, (body i, shape i, body j, shape j);  n: number of bodies
    """

    def __init__(self, ends: Sequence[tuple[int, Any, int, Any]], n: int) -> None:
        self.n = n
        self.bodies = np.array([(i, j) for i, _, j, _ in ends], dtype=np.int64).reshape(-1, 2)
        numbers: dict[tuple[int, int], int] = {}
        shapes: list[tuple[int, Any]] = []
        for i, shape_i, j, shape_j in ends:
            for body, shape in ((i, shape_i), (j, shape_j)):
                if (body, id(shape)) not in numbers:
                    numbers[body, id(shape)] = len(shapes)
                    shapes.append((body, shape))
        self.shapes = shape_tables(shapes)
        lines = [(numbers[i, id(a)], numbers[j, id(b)]) for i, a, j, b in ends]
        self.pairs = np.array(lines, dtype=np.int64).reshape(-1, 2)
        self._A = np.zeros((n, 3, 3))
        self._out, self._features = np.zeros((MOST_POINTS, POINT_COLUMNS)), np.zeros(MOST_POINTS, dtype=np.int64)
        self._scratch = new_scratch(self.shapes)
        self._every = np.arange(len(self.pairs), dtype=np.int64)
        self._room(len(self.pairs) if len(self.pairs) < FEW_PAIRS else 1)
        self._set_broad_phase()

    def _room(self, active: int, held: int = 0) -> None:
        """Make room for the points of some contacts."""
        room = MOST_POINTS * max(active, 1) + held
        self._found, self._gaps = np.zeros((room, 2), dtype=np.int64), np.zeros(room)
        self._points = np.zeros((room, POINT_COLUMNS))

    def _set_broad_phase(self) -> None:
        """Prepare the broad phase, if there are many pairs: contacts in the order of their shapes, and those that are always looked at."""
        self._broad: BroadPhase | None = None
        count = len(self.shapes.kind)
        if len(self.pairs) < max(FEW_PAIRS, 2 * count):
            return
        low, high = self.pairs.min(axis=1), self.pairs.max(axis=1)
        codes = low * count + high
        self._by_code = np.argsort(codes, kind="stable")
        self._codes = codes[self._by_code]
        if len(np.unique(self._codes)) < len(self._codes):
            return
        hole = (self.shapes.kind == CYLINDER) & (self.shapes.form[:, 2] > 0.0)
        self._always = np.flatnonzero(hole[self.pairs].any(axis=1)).astype(np.int64)
        self._broad = BroadPhase(self.shapes, self.n - 1)

    def active(self, bodies: Array, margin: float) -> Ints:
        """Return the contacts whose shapes may be nearer than the margin, in ascending order: all, where there are few."""
        if self._broad is None or not margin < np.inf:
            return self._every
        put_rotations_entry(bodies, self._A)
        pairs = self._broad.pairs(bodies, self._A, max(margin, 0.0))
        codes = pairs[:, 0] * len(self.shapes.kind) + pairs[:, 1]
        at = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return np.union1d(self._by_code[at[self._codes[at] == codes]], self._always)

    def near(self, y: Array, margin: float) -> tuple[Ints, Array]:
        """Return contact and feature (k, 2), and gap (k,), of the points with gap <= margin at the flat state."""
        bodies = y[: WIDTH * self.n].reshape(self.n, WIDTH)
        active = self.active(bodies, margin)
        if MOST_POINTS * len(active) > len(self._gaps):
            self._room(2 * len(active))
        own = self._A, margin, self._out, self._features, self._scratch, self._found, self._gaps
        k = get_near(MANIFOLD, self.shapes, self.pairs, active, bodies, *own)
        return self._found[:k].copy(), self._gaps[:k].copy()

    def touching(self, y: Array, margin: float, held: Ints) -> Touching:
        """Return the points with gap <= margin at the flat state, and those of `held` (h, 2), sorted by contact."""
        bodies = y[: WIDTH * self.n].reshape(self.n, WIDTH)
        active = self.active(bodies, margin)
        if active is not self._every and len(held):
            active = np.union1d(active, held[:, 0])
        if MOST_POINTS * len(active) + len(held) > len(self._gaps):
            self._room(2 * len(active), len(held))
        own = self._features, self._scratch, self._found, self._points, self._out
        k = get_touching(self.shapes, self.pairs, active, bodies, self._A, margin, held, *own)
        keys = self._found[:k].copy()
        D, C, pairs = np.empty((k, 3, 3)), np.empty((k, 3, 12)), self.bodies[keys[:, 0]]
        get_still_rows(pairs, self._points[:k], bodies, self._A, D, C)
        return Touching(keys, self._points[:k, GAP].copy(), pairs, D, C)

    def gaps(self, keys: Ints, y: Array) -> Array:
        """Return the gaps (k,) of points (k, 2), contact and feature, at the flat state."""
        gaps = np.empty(len(keys))
        get_gaps(self.shapes, self.pairs, keys, y[: WIDTH * self.n].reshape(self.n, WIDTH), self._A, gaps)
        return gaps

    def at(self, keys: Ints, y: Array) -> Kinematics:
        """Return the points (k, 2), contact and feature, at the flat state."""
        k, bodies = len(keys), y[: WIDTH * self.n].reshape(self.n, WIDTH)
        out = np.empty((k, RATE_COLUMNS))
        D, C, gamma, v = np.empty((k, 3, 3)), np.empty((k, 3, 12)), np.empty((k, 3)), np.empty((k, 3))
        get_points(RATES, self.shapes, self.pairs, keys, self.bodies[keys[:, 0]], bodies, self._A, out, D, C, gamma, v)
        return Kinematics(out[:, GAP], out[:, POINT_J : POINT_J + 3], D, C.reshape(k, 3, 2, 6), gamma, v)
