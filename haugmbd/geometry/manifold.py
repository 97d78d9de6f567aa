r"""The points of contact of a pair of shapes: which features touch. What they measure is in `features`.

    plane            each corner, the ends of a capsule, the lowest and the highest point of each rim, the lowest point of an ellipsoid
    flat rim         tilt below FLAT_TILT: the points of the rim that are fixed on the body, of which there are 8
    polytopes        `polytopes`
    ball, cylinder   mantle, end or rim, whichever is nearest; a hole has no ends

Points whose gap is at most `margin` are returned, 8 at most: of more, the deepest, and then those that are farthest from the ones before.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.function_pointers import F1, F2, F3, I1, I2, Routine, types
from haugmbd.compiled.jit import kernel, routine
from haugmbd.geometry.features import INDEX_MASK, SIDE_MASK, Nearest, corner_over_face, nearest, pair_number, turned_pair
from haugmbd.geometry.polytopes import SAME_SCORE, points_of_lines, points_of_polytopes
from haugmbd.geometry.tables import (
    CONE,
    CYLINDER,
    EDGE,
    ELLIPSOID,
    FACE,
    HOLE,
    INDEX_BITS,
    MOST_POINTS,
    PLANE,
    POLYTOPE,
    RIM,
    RIM_POINTS,
    SIDE_BITS,
    SURFACE,
    VERTEX,
    Shapes,
)
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_global

FLAT_TILT = 1e-8
"""[rad] A rim stands flat below it: its lowest point has rounding of 1e-8 there, and the rim leaves the plane by 1e-8 of its radius."""


@kernel
def write_point(found: Nearest, origin: Vec, out: Array, n: int) -> None:
    """Write row n of the points: gap, normal, points on i and on j in global axes."""
    out[n, 0] = found.gap
    store(out, n, 1, found.n.x)
    store(out, n, 4, add(origin, found.x_i.x))
    store(out, n, 7, add(origin, found.x_j.x))


@kernel
def keep(
    shapes: Shapes, a: int, b: int, pair: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints, n: int
) -> int:
    """Write the pair of features as point n, if it is within the margin; return the number of points."""
    side_a, side_b = pair >> SIDE_BITS, pair & SIDE_MASK
    kind_a, kind_b = side_a >> INDEX_BITS, side_b >> INDEX_BITS
    if (kind_a == FACE and kind_b == VERTEX) or (kind_a == VERTEX and kind_b == FACE):
        on_a, base = kind_a == FACE, shapes.body[a]
        if on_a:
            gap, N, P, F = corner_over_face(shapes, b, side_b & INDEX_MASK, a, side_a & INDEX_MASK, base, bodies, A)
        else:
            gap, N, P, F = corner_over_face(shapes, a, side_a & INDEX_MASK, b, side_b & INDEX_MASK, base, bodies, A)
        if not gap <= margin:
            return n
        origin = load(bodies, base, 0)
        out[n, 0] = gap
        store(out, n, 1, N if on_a else scale(-1.0, N))
        store(out, n, 4, add(origin, F if on_a else P))
        store(out, n, 7, add(origin, P if on_a else F))
        features[n] = pair
        return n + 1
    found = nearest(shapes, a, b, pair, bodies, A)
    if not found.gap <= margin:
        return n
    write_point(found, load(bodies, shapes.body[a], 0), out, n)
    features[n] = pair
    return n + 1


@kernel
def on_plane(shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints) -> int:
    """Return the number of points between the plane a and the shape b."""
    n, kind = 0, shapes.kind[b]
    plane = shapes.first[a, 2]
    if kind == ELLIPSOID:
        return keep(shapes, a, b, pair_number(FACE, 0, SURFACE, 0), bodies, A, margin, out, features, n)
    corners = shapes.number[b, 0]
    if kind == POLYTOPE:
        if corners > MOST_POINTS:
            return lowest_corners(shapes, a, b, bodies, A, margin, out, features)
        for k in range(corners):
            n = keep(shapes, a, b, pair_number(FACE, 0, VERTEX, k), bodies, A, margin, out, features, n)
        return n
    N = to_global(A, shapes.body[a], load(shapes.faces, plane, 3))
    for rim in range(shapes.number[b, 3]):
        if kind == CYLINDER and rim == 1 and shapes.form[b, 1] == 0.0:
            break  # a disc has one rim
        h = to_global(A, shapes.body[b], load(shapes.rims, shapes.first[b, 3] + rim, 3))
        across = cross(h, N)
        if dot(across, across) > FLAT_TILT * FLAT_TILT:
            n = keep(shapes, a, b, pair_number(FACE, 0, RIM, 2 * rim), bodies, A, margin, out, features, n)
            n = keep(shapes, a, b, pair_number(FACE, 0, RIM, 2 * rim + 1), bodies, A, margin, out, features, n)
        elif n == 0 and (dot(h, N) < 0.0 or (kind == CYLINDER and shapes.form[b, 1] == 0.0)):  # of two flat rims the lower one
            for k in range(RIM_POINTS):
                if n < MOST_POINTS:
                    n = keep(shapes, a, b, pair_number(FACE, 0, VERTEX, RIM_POINTS * rim + k), bodies, A, margin, out, features, n)
    if kind == CONE and n < MOST_POINTS:
        n = keep(shapes, a, b, pair_number(FACE, 0, VERTEX, RIM_POINTS), bodies, A, margin, out, features, n)
    return n


@kernel
def lowest_corners(shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints) -> int:
    """Return the number of points of a mesh on a plane: the lowest corner, and those within the margin that are farthest apart."""
    i, j = shapes.body[a], shapes.body[b]
    N = to_global(A, i, load(shapes.faces, shapes.first[a, 2], 3))
    P = to_global(A, i, load(shapes.faces, shapes.first[a, 2], 0))
    away = dot(N, sub(sub(load(bodies, j, 0), load(bodies, i, 0)), P))
    n, first, corners = 0, shapes.first[b, 0], shapes.number[b, 0]
    for place in range(MOST_POINTS):
        best, chosen = -1e300, -1
        for k in range(corners):
            x = to_global(A, j, load(shapes.vertices, first + k, 0))
            height = away + dot(N, x)
            if height > margin:
                continue
            score = -height
            if place > 0:
                score = 1e300
                for m in range(n):
                    y = sub(load(out, m, 7), load(bodies, j, 0))
                    score = min(score, dot(sub(x, y), sub(x, y)))
                if score == 0.0:
                    continue
            if score > best + SAME_SCORE * abs(best):
                best, chosen = score, k
        if chosen < 0:
            break
        n = keep(shapes, a, b, pair_number(FACE, 0, VERTEX, chosen), bodies, A, margin, out, features, n)
    return n


@kernel
def on_cylinder(shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints) -> int:
    """Return the number of points between the ball a and the cylinder b, from outside, or in its hole."""
    i, j = shapes.body[a], shapes.body[b]
    if shapes.form[b, 2] > 0.0:
        return keep(shapes, a, b, pair_number(VERTEX, 0, HOLE, 1), bodies, A, margin, out, features, 0)
    ball, middle = to_global(A, i, load(shapes.middle, a, 0)), to_global(A, j, load(shapes.middle, b, 0))
    w = sub(add(sub(load(bodies, i, 0), load(bodies, j, 0)), ball), middle)
    h = to_global(A, j, load(shapes.form, b, 9))
    R, half = shapes.form[b, 0], shapes.form[b, 1]
    z = dot(h, w)
    across = sub(w, scale(z, h))
    r = sqrt(dot(across, across))
    end = 0 if z >= 0.0 else 1
    if r <= R and (abs(z) >= half or half - abs(z) <= R - r or r == 0.0):
        pair = pair_number(VERTEX, 0, FACE, end)
    elif abs(z) <= half:
        pair = pair_number(VERTEX, 0, EDGE, 0)
    else:
        pair = pair_number(VERTEX, 0, RIM, 2 * end)
    return keep(shapes, a, b, pair, bodies, A, margin, out, features, 0)


@kernel
def is_far(shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float) -> bool:
    """Return whether the balls around two shapes, or the ball around b and the plane a, are farther apart than the margin."""
    i, j = shapes.body[a], shapes.body[b]
    middle_a, middle_b = to_global(A, i, load(shapes.middle, a, 0)), to_global(A, j, load(shapes.middle, b, 0))
    w = sub(add(sub(load(bodies, j, 0), load(bodies, i, 0)), middle_b), middle_a)
    least = margin + shapes.middle[a, 3] + shapes.middle[b, 3]
    if shapes.kind[a] == PLANE:
        height = dot(w, to_global(A, i, load(shapes.faces, shapes.first[a, 2], 3)))
        return bool(height > least)
    if shapes.kind[b] == CYLINDER and shapes.form[b, 2] > 0.0:
        return False  # a hole has no ends
    return bool(least > 0.0 and dot(w, w) > least * least)


@kernel
def points_in_order(
    shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints, scratch: Array
) -> int:
    """Return the number of points between a and b, whose kinds are in ascending order."""
    if is_far(shapes, a, b, bodies, A, margin):
        return 0
    if shapes.kind[a] == PLANE:
        return on_plane(shapes, a, b, bodies, A, margin, out, features)
    if shapes.kind[b] == CYLINDER:
        return on_cylinder(shapes, a, b, bodies, A, margin, out, features)
    if shapes.number[a, 2] == 0 and shapes.number[b, 2] == 0:
        n = points_of_lines(shapes, a, b, bodies, A, features)
    else:
        n = points_of_polytopes(shapes, a, b, bodies, A, margin, features, scratch)
    kept = 0
    for k in range(n):
        kept = keep(shapes, a, b, features[k], bodies, A, margin, out, features, kept)
    return kept


@kernel
def manifold(
    shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints, scratch: Array
) -> int:
    """Return the number of points of contact between shapes a and b, and write them, from a to b.

    margin: points with a larger gap are left out [m];  out: (8, 10) gap, n, x_i, x_j;  features: (8,) number of the pair of features
    scratch: of `new_scratch`
    """
    if shapes.kind[a] <= shapes.kind[b]:
        return points_in_order(shapes, a, b, bodies, A, margin, out, features, scratch)
    n = points_in_order(shapes, b, a, bodies, A, margin, out, features, scratch)
    for k in range(n):
        x = load(out, k, 4)
        store(out, k, 1, scale(-1.0, load(out, k, 1)))
        store(out, k, 4, load(out, k, 7))
        store(out, k, 7, x)
        features[k] = turned_pair(features[k])
    return n


SHAPES_TYPE = types.NamedTuple((I1, I1, F1, F2, F2, I2, I2, F2, F2, I2, F2, I2, I1, I1, F2), Shapes)
SIGNATURE = types.int64(SHAPES_TYPE, types.int64, types.int64, F2, F3, types.float64, F2, I1, F1)


@routine
def manifold_routine(
    shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints, scratch: Array
) -> int:
    """Call `manifold`."""
    return manifold(shapes, a, b, bodies, A, margin, out, features, scratch)


MANIFOLD = Routine(manifold_routine, SIGNATURE)
"""`manifold`, compiled once for all that call it by address."""
