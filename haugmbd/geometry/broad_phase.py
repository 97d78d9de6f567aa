r"""Which pairs of shapes may touch: sweep and prune on boxes along the global axes.

    box of a shape    low = min x, high = max x over the shape, widened by margin / 2
    sweep             shapes in the order of their lower ends along the axis on which they spread most; a shape meets those that begin
                      before it ends, and is compared with them on the other axes
    plane             meets every shape whose ball (middle, reach) is within the margin of it

Two shapes of one body are no pair, nor are shapes of bodies that `apart` names.  n shapes that do not crowd on one axis take O(n) time.
Source: Baraff, Dynamic simulation of non-penetrating rigid bodies (1992), sec. 2.3; Cohen, Lin, Manocha, Ponamgi, I-COLLIDE (1995).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry, kernel
from haugmbd.geometry.tables import CONE, CYLINDER, ELLIPSOID, PLANE, Shapes
from haugmbd.math.vec3 import add, dot, load, sub, to_global

FIRST_PAIRS = 1024
"""Pairs that there is room for at first; the room doubles when it is full."""


@kernel
def write_box(shapes: Shapes, k: int, bodies: Array, A: Array, margin: float, low: Array, high: Array) -> None:
    """Write the box of shape k, which is not a plane."""
    body, kind = shapes.body[k], shapes.kind[k]
    for axis in range(3):
        low[k, axis], high[k, axis] = 1e300, -1e300
    if kind in (CYLINDER, CONE, ELLIPSOID):
        middle = add(load(bodies, body, 0), to_global(A, body, load(shapes.middle, k, 0)))
        x, y = to_global(A, body, load(shapes.form, k, 3)), to_global(A, body, load(shapes.form, k, 6))
        h = to_global(A, body, load(shapes.form, k, 9))
        for axis in range(3):
            if kind == ELLIPSOID:
                a, b, c = load(shapes.form, k, 0)
                reach = sqrt((a * x[axis]) ** 2 + (b * y[axis]) ** 2 + (c * h[axis]) ** 2)
            else:
                across = sqrt(max(0.0, 1.0 - h[axis] * h[axis]))
                reach = shapes.form[k, 0] * across + shapes.form[k, 1] * abs(h[axis])
            low[k, axis], high[k, axis] = middle[axis] - reach, middle[axis] + reach
    else:
        for v in range(shapes.first[k, 0], shapes.first[k, 0] + shapes.number[k, 0]):
            P, rho = add(load(bodies, body, 0), to_global(A, body, load(shapes.vertices, v, 0))), shapes.vertices[v, 3]
            for axis in range(3):
                low[k, axis] = min(low[k, axis], P[axis] - rho)
                high[k, axis] = max(high[k, axis], P[axis] + rho)
    for axis in range(3):
        low[k, axis] -= 0.5 * margin
        high[k, axis] += 0.5 * margin


@kernel
def widest_axis(shapes: Shapes, low: Array, high: Array) -> int:
    """Return the axis on which the middles of the boxes spread most."""
    best, chosen = -1.0, 0
    for axis in range(3):
        count, mean, spread = 0, 0.0, 0.0
        for k in range(len(shapes.kind)):
            if shapes.kind[k] == PLANE:
                continue
            x = 0.5 * (low[k, axis] + high[k, axis])
            count += 1
            step = x - mean
            mean += step / count
            spread += step * (x - mean)
        if spread > best:
            best, chosen = spread, axis
    return chosen


@kernel
def sort_by_lower_end(order: Ints, low: Array, axis: int) -> None:
    """Sort shapes by their lower ends: Shell's method, which takes one pass over an order that is nearly right already."""
    gap = 1
    while gap < len(order):
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, len(order)):
            shape, m = order[k], k
            while m >= gap and low[order[m - gap], axis] > low[shape, axis]:
                order[m] = order[m - gap]
                m -= gap
            order[m] = shape
        gap //= 3


@kernel
def is_apart(shapes: Shapes, a: int, b: int, nb: int, apart: Ints) -> bool:
    """Return whether two shapes are on one body, or on bodies that are named by `apart`, (n,) sorted numbers i (nb + 1) + j, i < j."""
    i, j = min(shapes.body[a], shapes.body[b]), max(shapes.body[a], shapes.body[b])
    if i == j:
        return True
    number, first, end = i * (nb + 1) + j, 0, len(apart)
    while first < end:
        middle = (first + end) // 2
        if apart[middle] < number:
            first = middle + 1
        else:
            end = middle
    return first < len(apart) and apart[first] == number


@kernel
def add_pair(shapes: Shapes, a: int, b: int, nb: int, apart: Ints, out: Ints, n: int) -> int:
    """Write a pair, the smaller number first, if there is room for it; return the number of pairs."""
    if is_apart(shapes, a, b, nb, apart):
        return n
    if n < len(out):
        out[n, 0], out[n, 1] = min(a, b), max(a, b)
    return n + 1


@kernel
def plane_pairs(shapes: Shapes, a: int, bodies: Array, A: Array, margin: float, apart: Ints, out: Ints, n: int) -> int:
    """Write the pairs of a plane with shapes that are no planes."""
    i = shapes.body[a]
    row = shapes.first[a, 2]
    N, P = to_global(A, i, load(shapes.faces, row, 3)), to_global(A, i, load(shapes.faces, row, 0))
    origin = add(load(bodies, i, 0), P)
    for b in range(len(shapes.kind)):
        if shapes.kind[b] == PLANE:
            continue
        j = shapes.body[b]
        middle = add(load(bodies, j, 0), to_global(A, j, load(shapes.middle, b, 0)))
        if dot(N, sub(middle, origin)) - shapes.middle[b, 3] <= margin:
            n = add_pair(shapes, a, b, len(bodies) - 1, apart, out, n)
    return n


@kernel
def candidates(
    shapes: Shapes, bodies: Array, A: Array, margin: float, apart: Ints, order: Ints, low: Array, high: Array, out: Ints
) -> int:
    """Return the number of pairs of shapes that may be nearer than the margin; those that `out` has room for are written.

    apart: (n,) sorted, see `is_apart`;  order: shapes that are no planes, kept from call to call;  low, high: (s, 3) boxes
    """
    n, nb = 0, len(bodies) - 1
    for k in range(len(shapes.kind)):
        if shapes.kind[k] == PLANE:
            n = plane_pairs(shapes, k, bodies, A, margin, apart, out, n)
        else:
            write_box(shapes, k, bodies, A, margin, low, high)
    axis = widest_axis(shapes, low, high)
    sort_by_lower_end(order, low, axis)
    y, z = (axis + 1) % 3, (axis + 2) % 3
    for m in range(len(order)):
        a = order[m]
        for q in range(m + 1, len(order)):
            b = order[q]
            if low[b, axis] > high[a, axis]:
                break
            if low[b, y] <= high[a, y] and low[a, y] <= high[b, y] and low[b, z] <= high[a, z] and low[a, z] <= high[b, z]:
                n = add_pair(shapes, a, b, nb, apart, out, n)
    return n


@entry
def candidates_entry(
    shapes: Shapes, bodies: Array, A: Array, margin: float, apart: Ints, order: Ints, low: Array, high: Array, out: Ints
) -> int:
    """Compile `candidates`."""
    return candidates(shapes, bodies, A, margin, apart, order, low, high, out)


class BroadPhase:
    """The pairs of shapes that may touch, from state to state.

    Parameters
    ----------
    shapes : Shapes
        The shapes of a model.
    nb : int
        Number of bodies without the ground.
    apart : iterable of (int, int)
        Pairs of bodies that never touch, such as those that a joint joins.
    """

    def __init__(self, shapes: Shapes, nb: int, apart: Iterable[tuple[int, int]] = ()) -> None:
        self.shapes = shapes
        self.apart: Ints = np.array(sorted({min(x) * (nb + 1) + max(x) for x in apart}), dtype=np.int64)
        self.order: Ints = np.flatnonzero(shapes.kind != PLANE).astype(np.int64)
        self.low, self.high = np.zeros((len(shapes.kind), 3)), np.zeros((len(shapes.kind), 3))
        self._room: Ints = np.zeros((FIRST_PAIRS, 2), dtype=np.int64)

    def pairs(self, bodies: Array, A: Array, margin: float) -> Ints:
        """Return the pairs of shapes whose boxes are nearer than the margin [m], (k, 2), sorted.

        Parameters
        ----------
        bodies : ndarray, (nb + 1, 13)
            Positions and velocities.
        A : ndarray, (nb + 1, 3, 3)
            Rotation matrices.
        margin : float
            Distance [m].

        Returns
        -------
        ndarray of int, (k, 2)
            Numbers of shapes, the smaller first.
        """
        while True:
            n = candidates_entry(self.shapes, bodies, A, margin, self.apart, self.order, self.low, self.high, self._room)
            if n <= len(self._room):
                break
            self._room = np.zeros((2 * n, 2), dtype=np.int64)
        found = self._room[:n]
        return found[np.lexsort((found[:, 1], found[:, 0]))]
