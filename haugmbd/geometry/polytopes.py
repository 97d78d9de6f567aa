r"""Which features of two convex polytopes touch; a segment and a point are polytopes without faces.

1. Separating axes: the normals of faces, and e_i x e_j of edges whose arcs of normals cross. The largest separation s, along n, is the
   distance, negative where they overlap, unless two corners, or a corner and an edge, are nearest.
2. The faces that touch: of those with a corner that is farthest along n (of i), or -n (of j), the most parallel one.
3. Points: corners of either face over the other one, and crossings of their edges. A crossing counts if e_i x e_j is in both arcs.
4. If the nearest of them is farther than s: the pair of the axis itself, if its points lie on both, or the nearest corner and edge.

Every point is a pair of features whose nearest points lie on both. So gaps are distances, and their rates those of material points.
Sources: Gottschalk, Lin, Manocha, OBBTree (1996); Gregorius, The separating axis test between convex polyhedra (2013).
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.geometry.features import pair_number
from haugmbd.geometry.tables import EDGE, FACE, MOST_POINTS, VERTEX, Shapes
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_global

PARALLEL = 1e-6
"""Sine of the angle below which two edges are parallel: their crossing would be uncertain by 1e-10 of their length."""

SAME_PLACE = 1e-9
"""Of the size of the smaller shape: points nearer than this are one, and a corner so near to a side is over a face."""

POINT_WIDTH = 6
"""Numbers of a point in the list: place (3), gap, pair, cosine of its normal and n."""

SAME_NORMAL = 1.0 - 1e-9
"""Cosine above which a point has the normal of the best axis: 4e-5 rad, far above the rounding of crossings of faces that touch."""

SAME_GAP = 1e-11
"""Of the size: gaps that differ by less are equal; far above rounding."""

TOUCHING = 1e-7
"""Of the size: corners and edges nearer than this take the normal of the best separating axis: their own has no certain direction."""

SAME_SCORE = 1e-9
"""Relative: depths and squared distances that differ by less are equal, and the first of such points is chosen."""

FLAT_ARC = 1e-6
"""[rad] A crossing whose normal is so near to the arc counts: where two faces lie on one another, the normal is at the end of both arcs."""

NEARLY = 0.9
"""Cosine between n and the normal of a point beside the nearest one: at larger angles other features are nearer."""


@kernel
def flat(shapes: Shapes, a: int, first: int, base: int, bodies: Array, A: Array, scratch: Array) -> tuple[int, int, int]:
    """Write corners (3), edges (direction, w_0, w_1, start: 12) and faces (N, N . P: 4) in global axes; return where each begins.

    Points are taken from the centre of mass of body `base`.
    """
    body = shapes.body[a]
    away = sub(load(bodies, body, 0), load(bodies, base, 0)) if body != base else (0.0, 0.0, 0.0)
    at = first
    for k in range(shapes.first[a, 0], shapes.first[a, 0] + shapes.number[a, 0]):
        put(scratch, at, add(away, to_global(A, body, load(shapes.vertices, k, 0))))
        at += 3
    edges = at
    for k in range(shapes.first[a, 1], shapes.first[a, 1] + shapes.number[a, 1]):
        put(scratch, at, to_global(A, body, load(shapes.edges, k, 3)))
        put(scratch, at + 3, to_global(A, body, load(shapes.edges, k, 6)))
        put(scratch, at + 6, to_global(A, body, load(shapes.edges, k, 9)))
        put(scratch, at + 9, take(scratch, first + 3 * shapes.ends[k, 0]))
        at += 12
    faces = at
    for k in range(shapes.first[a, 2], shapes.first[a, 2] + shapes.number[a, 2]):
        N = to_global(A, body, load(shapes.faces, k, 3))
        put(scratch, at, N)
        scratch[at + 3] = dot(N, add(away, to_global(A, body, load(shapes.faces, k, 0))))
        at += 4
    return edges, faces, at


@kernel
def take(scratch: Array, at: int) -> Vec:
    """Return three numbers."""
    return (scratch[at], scratch[at + 1], scratch[at + 2])


@kernel
def put(scratch: Array, at: int, x: Vec) -> None:
    """Write three numbers."""
    scratch[at], scratch[at + 1], scratch[at + 2] = x


@kernel
def face_axes(scratch: Array, faces: int, nf: int, corners: int, nv: int) -> tuple[float, int, int]:
    """Return the largest separation of corners from the faces of the other polytope, with face and lowest corner."""
    best, face, corner = -1e300, -1, -1
    for f in range(nf):
        at = faces + 4 * f
        N = take(scratch, at)
        lowest, which = 1e300, -1
        for v in range(nv):
            h = dot(N, take(scratch, corners + 3 * v))
            if h < lowest:
                lowest, which = h, v
        if lowest - scratch[at + 3] > best:
            best, face, corner = lowest - scratch[at + 3], f, which
    return best, face, corner


@kernel
def in_arc(c: Vec, scratch: Array, edge: int) -> float:
    """Return 1 or -1 if c or -c is inside the arc of normals of an edge, else 0; 1 for a line without faces."""
    w_0, w_1 = take(scratch, edge + 3), take(scratch, edge + 6)
    x, y = dot(c, w_0), dot(c, w_1)
    if x > 0.0 and y > 0.0:
        return 1.0
    return -1.0 if x < 0.0 and y < 0.0 else 0.0


@kernel
def edge_axes(
    scratch: Array, edges_i: int, ne_i: int, lines_i: bool, edges_j: int, ne_j: int, lines_j: bool, least: float
) -> tuple[float, int, int, Vec]:
    """Return the largest separation along e_i x e_j above `least`, with edges and normal from i to j;  lines: edges without faces."""
    best, edge_i, edge_j, normal = least, -1, -1, (0.0, 0.0, 1.0)
    for k in range(ne_i):
        at_i = edges_i + 12 * k
        a, P = take(scratch, at_i), take(scratch, at_i + 9)
        for m in range(ne_j):
            at_j = edges_j + 12 * m
            c = cross(a, take(scratch, at_j))
            # c or -c must be a normal out of i, and its opposite one out of j
            side = -in_arc(c, scratch, at_j) if lines_i else in_arc(c, scratch, at_i)
            if side == 0.0:
                continue
            if not lines_i and not lines_j and in_arc(c, scratch, at_j) != -side:
                continue
            size = sqrt(dot(c, c))
            if size < PARALLEL:
                continue
            n = scale(side / size, c)
            s = dot(n, sub(take(scratch, at_j + 9), P))
            if s > best:
                best, edge_i, edge_j, normal = s, k, m, n
    return best, edge_i, edge_j, normal


@kernel
def outside_arc(n: Vec, side: float, scratch: Array, edge: int) -> bool:
    """Return whether side n is outside of the arc of normals of an edge by more than FLAT_ARC; False for a line without faces."""
    return side * dot(n, take(scratch, edge + 3)) < -FLAT_ARC or side * dot(n, take(scratch, edge + 6)) < -FLAT_ARC


@kernel
def touching_face(shapes: Shapes, a: int, scratch: Array, corners: int, faces: int, n: Vec, tol: float) -> int:
    """Return the face, most nearly normal to n, of those with a corner that is farthest along n; -1 if there are no faces."""
    farthest = -1e300
    for v in range(shapes.number[a, 0]):
        farthest = max(farthest, dot(n, take(scratch, corners + 3 * v)))
    best, face = -2.0, -1
    for f in range(shapes.number[a, 2]):
        cosine = dot(n, take(scratch, faces + 4 * f))
        if cosine <= best:
            continue
        row = shapes.first[a, 2] + f
        for k in range(shapes.loop[row, 0], shapes.loop[row, 0] + shapes.loop[row, 1]):
            if dot(n, take(scratch, corners + 3 * shapes.loop_vertices[k])) >= farthest - tol:
                best, face = cosine, f
                break
    return face


@kernel
def over_face(shapes: Shapes, a: int, face: int, scratch: Array, corners: int, N: Vec, x: Vec, tol: float) -> bool:
    """Return whether x is over a face, or nearer than tol to its sides."""
    row = shapes.first[a, 2] + face
    first, size = shapes.loop[row, 0], shapes.loop[row, 1]
    P = take(scratch, corners + 3 * shapes.loop_vertices[first + size - 1])
    for k in range(size):
        Q = take(scratch, corners + 3 * shapes.loop_vertices[first + k])
        e = sub(Q, P)
        if dot(cross(N, e), sub(x, P)) < -tol * sqrt(dot(e, e)):
            return False
        P = Q
    return True


@kernel
def side_count(shapes: Shapes, a: int, face: int) -> int:
    """Return the number of corners of a face, or of a segment or point."""
    corners: int = shapes.loop[shapes.first[a, 2] + face, 1] if face >= 0 else shapes.number[a, 0]
    return corners


@kernel
def side_corner(shapes: Shapes, a: int, face: int, k: int) -> int:
    """Return corner k of a face, or of a segment or point."""
    return shapes.loop_vertices[shapes.loop[shapes.first[a, 2] + face, 0] + k] if face >= 0 else k


@kernel
def side_edges(shapes: Shapes, a: int, face: int) -> int:
    """Return the number of edges of a face, or of a segment or point."""
    edges: int = shapes.loop[shapes.first[a, 2] + face, 1] if face >= 0 else shapes.number[a, 1]
    return edges


@kernel
def side_edge(shapes: Shapes, a: int, face: int, k: int) -> int:
    """Return edge k of a face, or of a segment."""
    return shapes.loop_edges[shapes.loop[shapes.first[a, 2] + face, 0] + k] if face >= 0 else k


@kernel
def add_point(scratch: Array, list_at: int, m: int, x: Vec, gap: float, pair: int, cosine: float, tol: float) -> int:
    """Add a point (x, gap, pair, n . its normal) to the list, unless one is there at the same place; return the number of points."""
    for k in range(m):
        d = sub(x, take(scratch, list_at + POINT_WIDTH * k))
        if dot(d, d) <= tol * tol:
            return m
    at = list_at + POINT_WIDTH * m
    put(scratch, at, x)
    scratch[at + 3], scratch[at + 4], scratch[at + 5] = gap, pair, cosine
    return m + 1


@kernel
def corner_points(
    shapes: Shapes, a: int, face_a: int, corners_a: int, N: Vec, offset: float, b: int, face_b: int, corners_b: int,
    scratch: Array, list_at: int, m: int, cosine: float, tol: float, exchanged: bool,
) -> int:  # fmt: skip
    """Add the corners of the face of b (or of a segment or point) that are over the face of a."""
    for k in range(side_count(shapes, b, face_b)):
        v = side_corner(shapes, b, face_b, k)
        x = take(scratch, corners_b + 3 * v)
        if over_face(shapes, a, face_a, scratch, corners_a, N, x, tol):
            pair = pair_number(VERTEX, v, FACE, face_a) if exchanged else pair_number(FACE, face_a, VERTEX, v)
            m = add_point(scratch, list_at, m, x, dot(N, x) - offset, pair, cosine, tol)
    return m


@kernel
def crossing_points(
    shapes: Shapes, a: int, face_a: int, edges_a: int, b: int, face_b: int, edges_b: int, n: Vec,
    scratch: Array, list_at: int, m: int, tol: float,
) -> int:  # fmt: skip
    """Add the crossings of the edges of two faces whose common normal is nearly n."""
    for k in range(side_edges(shapes, a, face_a)):
        edge_a = side_edge(shapes, a, face_a, k)
        e, P = take(scratch, edges_a + 12 * edge_a), take(scratch, edges_a + 12 * edge_a + 9)
        length_a = shapes.edges[shapes.first[a, 1] + edge_a, 13]
        for q in range(side_edges(shapes, b, face_b)):
            edge_b = side_edge(shapes, b, face_b, q)
            f, Q = take(scratch, edges_b + 12 * edge_b), take(scratch, edges_b + 12 * edge_b + 9)
            c = cross(e, f)
            cc = dot(c, c)
            w = sub(Q, P)
            along = dot(c, n)
            if cc < PARALLEL * PARALLEL or along * along < NEARLY * NEARLY * cc:
                continue
            s, t = dot(cross(w, f), c) / cc, dot(cross(w, e), c) / cc
            if not (tol < s < length_a - tol and tol < t < shapes.edges[shapes.first[b, 1] + edge_b, 13] - tol):
                continue
            normal = scale((1.0 if along > 0.0 else -1.0) / sqrt(cc), c)
            if outside_arc(normal, 1.0, scratch, edges_a + 12 * edge_a) or outside_arc(
                normal, -1.0, scratch, edges_b + 12 * edge_b
            ):
                continue
            gap = dot(normal, w)
            m = add_point(
                scratch, list_at, m, add(Q, scale(t, f)), gap, pair_number(EDGE, edge_a, EDGE, edge_b), dot(normal, n), tol
            )
    return m


@kernel
def nearest_corner_and_edge(
    shapes: Shapes, a: int, corners_a: int, b: int, corners_b: int, edges_b: int, scratch: Array, least: float, exchanged: bool
) -> tuple[float, int]:
    """Return the least distance of a corner of a from an edge or corner of b, with the pair; `least` and -1 if none is below `least`."""
    squared, pair = least * least, -1
    for v in range(shapes.number[a, 0]):
        x = take(scratch, corners_a + 3 * v)
        for k in range(shapes.number[b, 1]):
            row = shapes.first[b, 1] + k
            e, P = take(scratch, edges_b + 12 * k), take(scratch, edges_b + 12 * k + 9)
            w = sub(x, P)
            s, length = dot(e, w), shapes.edges[row, 13]
            inner = min(max(s, 0.0), length)
            d = sub(w, scale(inner, e))
            if dot(d, d) < squared:
                squared = dot(d, d)
                kind, index = EDGE, k
                if s <= 0.0 or s >= length:
                    kind, index = VERTEX, shapes.ends[row, 0 if s <= 0.0 else 1]
                pair = pair_number(kind, index, VERTEX, v) if exchanged else pair_number(VERTEX, v, kind, index)
    return sqrt(squared), pair


@kernel
def without_deeper(scratch: Array, list_at: int, m: int, least: float) -> int:
    """Leave out points of the list whose gap is below that of the best axis: along other normals; return the number of points."""
    kept = 0
    for k in range(m):
        if scratch[list_at + POINT_WIDTH * k + 3] >= least:
            for q in range(POINT_WIDTH):
                scratch[list_at + POINT_WIDTH * kept + q] = scratch[list_at + POINT_WIDTH * k + q]
            kept += 1
    return kept


@kernel
def chosen_points(scratch: Array, list_at: int, m: int, features: Ints) -> int:
    """Write the pairs of at most 8 points: the deepest, and then those farthest from the ones before."""
    if m <= MOST_POINTS:
        for k in range(m):
            features[k] = int(scratch[list_at + POINT_WIDTH * k + 4])
        return m
    for n in range(MOST_POINTS):
        best, chosen = -1e300, 0
        for k in range(n, m):
            score = -scratch[list_at + POINT_WIDTH * k + 3]
            if n > 0:
                score = 1e300
                for p in range(n):
                    d = sub(take(scratch, list_at + POINT_WIDTH * k), take(scratch, list_at + POINT_WIDTH * p))
                    score = min(score, dot(d, d))
            if score > best + SAME_SCORE * abs(best):
                best, chosen = score, k
        for q in range(POINT_WIDTH):
            x = scratch[list_at + POINT_WIDTH * chosen + q]
            scratch[list_at + POINT_WIDTH * chosen + q] = scratch[list_at + POINT_WIDTH * n + q]
            scratch[list_at + POINT_WIDTH * n + q] = x
        features[n] = int(scratch[list_at + POINT_WIDTH * n + 4])
    return MOST_POINTS


@kernel
def points_of_polytopes(
    shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, features: Ints, scratch: Array
) -> int:
    """Write the pairs of features between two polytopes that may be within the margin; return their number."""
    base = shapes.body[a]
    rho = core_radius(shapes, a) + core_radius(shapes, b)
    size = min(shapes.size[a], shapes.size[b])
    if size == 0.0:  # a point has no size
        size = max(shapes.size[a], shapes.size[b])
    nv_a, ne_a, nf_a = shapes.number[a, 0], shapes.number[a, 1], shapes.number[a, 2]
    nv_b, ne_b, nf_b = shapes.number[b, 0], shapes.number[b, 1], shapes.number[b, 2]
    corners_a = 0
    edges_a, faces_a, corners_b = flat(shapes, a, 0, base, bodies, A, scratch)
    edges_b, faces_b, list_at = flat(shapes, b, corners_b, base, bodies, A, scratch)

    # 1. the largest separation s along n, from a to b: faces first, edges only if they separate more
    s, face, corner = face_axes(scratch, faces_a, nf_a, corners_b, nv_b)
    axis, n = pair_number(FACE, face, VERTEX, corner), (0.0, 0.0, 1.0)
    if face >= 0:
        n = take(scratch, faces_a + 4 * face)
    other, face_of_b, corner_of_a = face_axes(scratch, faces_b, nf_b, corners_a, nv_a)
    if other > s + SAME_GAP * size or face < 0:
        s, axis = other, pair_number(VERTEX, corner_of_a, FACE, face_of_b)
        n = scale(-1.0, take(scratch, faces_b + 4 * face_of_b))
    if s > margin + rho:
        return 0
    best, edge_a, edge_b, normal = edge_axes(scratch, edges_a, ne_a, nf_a == 0, edges_b, ne_b, nf_b == 0, s + SAME_GAP * size)
    if edge_a >= 0:
        s, axis, n = best, pair_number(EDGE, edge_a, EDGE, edge_b), normal
    if s > margin + rho:
        return 0

    # 2. the faces that touch
    tol = SAME_PLACE * size
    face_a = touching_face(shapes, a, scratch, corners_a, faces_a, n, tol)
    face_b = touching_face(shapes, b, scratch, corners_b, faces_b, scale(-1.0, n), tol)

    # 3. corners over faces, and crossings
    m = 0
    if face_a >= 0:
        N = take(scratch, faces_a + 4 * face_a)
        if dot(N, n) > NEARLY:
            offset = scratch[faces_a + 4 * face_a + 3]
            m = corner_points(
                shapes, a, face_a, corners_a, N, offset, b, face_b, corners_b, scratch, list_at, m, dot(N, n), tol, False
            )
    if face_b >= 0:
        N = take(scratch, faces_b + 4 * face_b)
        if dot(N, n) < -NEARLY:
            offset = scratch[faces_b + 4 * face_b + 3]
            m = corner_points(
                shapes, b, face_b, corners_b, N, offset, a, face_a, corners_a, scratch, list_at, m, -dot(N, n), tol, True
            )
    m = crossing_points(shapes, a, face_a, edges_a, b, face_b, edges_b, n, scratch, list_at, m, tol)

    m = without_deeper(scratch, list_at, m, s - tol)

    # 4. the nearest pair, if it is not among them
    least = 1e300
    for k in range(m):
        gap = scratch[list_at + POINT_WIDTH * k + 3]
        if gap <= s + SAME_GAP * size and scratch[list_at + POINT_WIDTH * k + 5] > SAME_NORMAL:
            return chosen_points(scratch, list_at, m, features)
        least = min(least, gap)
    pair = axis
    if s > 0.0 and not axis_is_over_features(shapes, a, b, axis, corners_a, edges_a, faces_a, corners_b, edges_b, faces_b, scratch):
        distance, pair_a = nearest_corner_and_edge(shapes, a, corners_a, b, corners_b, edges_b, scratch, least, False)
        distance, pair_b = nearest_corner_and_edge(shapes, b, corners_b, a, corners_a, edges_a, scratch, distance, True)
        if distance > TOUCHING * size:
            pair = pair_b if pair_b >= 0 else pair_a
            if pair < 0:  # a corner over a face, along another normal than that of the axis, is nearest
                return chosen_points(scratch, list_at, m, features)
    put(scratch, list_at + POINT_WIDTH * m, (1e150, 0.0, 0.0))
    scratch[list_at + POINT_WIDTH * m + 3], scratch[list_at + POINT_WIDTH * m + 4] = -1e300, pair
    return chosen_points(scratch, list_at, m + 1, features)


@kernel
def axis_is_over_features(
    shapes: Shapes, a: int, b: int, axis: int, corners_a: int, edges_a: int, faces_a: int, corners_b: int, edges_b: int, faces_b: int,
    scratch: Array,
) -> bool:  # fmt: skip
    """Return whether the nearest points of the pair of a separating axis lie on both features."""
    kind_a, index_a = axis >> 24 >> 20, axis >> 24 & 0xFFFFF
    kind_b, index_b = (axis & 0xFFFFFF) >> 20, axis & 0xFFFFF
    if kind_a == FACE:
        N = take(scratch, faces_a + 4 * index_a)
        return over_face(shapes, a, index_a, scratch, corners_a, N, take(scratch, corners_b + 3 * index_b), 0.0)
    if kind_b == FACE:
        N = take(scratch, faces_b + 4 * index_b)
        return over_face(shapes, b, index_b, scratch, corners_b, N, take(scratch, corners_a + 3 * index_a), 0.0)
    e, P = take(scratch, edges_a + 12 * index_a), take(scratch, edges_a + 12 * index_a + 9)
    f, Q = take(scratch, edges_b + 12 * index_b), take(scratch, edges_b + 12 * index_b + 9)
    c, w = cross(e, f), sub(Q, P)
    cc = dot(c, c)
    s, t = dot(cross(w, f), c) / cc, dot(cross(w, e), c) / cc
    long_a, long_b = shapes.edges[shapes.first[a, 1] + index_a, 13], shapes.edges[shapes.first[b, 1] + index_b, 13]
    on_both: bool = 0.0 <= s <= long_a and 0.0 <= t <= long_b
    return on_both


@kernel
def core_radius(shapes: Shapes, a: int) -> float:
    """Return the radius about the corners of a sphere or capsule; 0 of a polytope with faces."""
    rho: float = shapes.vertices[shapes.first[a, 0], 3]
    return rho


@kernel
def points_of_lines(shapes: Shapes, a: int, b: int, bodies: Array, A: Array, features: Ints) -> int:
    """Write the pairs of features between two spheres or capsules: one, or two where the lines are parallel side by side."""
    i, j = shapes.body[a], shapes.body[b]
    long_a, long_b = shapes.form[a, 1], shapes.form[b, 1]
    P, Q = to_global(A, i, load(shapes.middle, a, 0)), to_global(A, j, load(shapes.middle, b, 0))
    w = sub(add(sub(load(bodies, j, 0), load(bodies, i, 0)), Q), P)  # from the middle of a to the middle of b
    if long_a == 0.0 and long_b == 0.0:
        features[0] = pair_number(VERTEX, 0, VERTEX, 0)
        return 1
    e, f = to_global(A, i, load(shapes.form, a, 9)), to_global(A, j, load(shapes.form, b, 9))
    if long_b == 0.0:
        features[0] = end_and_line(0, dot(e, w), long_a, False)
        return 1
    if long_a == 0.0:
        features[0] = end_and_line(0, -dot(f, w), long_b, True)
        return 1
    c = cross(e, f)
    cc = dot(c, c)
    if cc > PARALLEL * PARALLEL:
        s, t = dot(cross(w, f), c) / cc, dot(cross(w, e), c) / cc
        if abs(s) <= long_a and abs(t) <= long_b:
            features[0] = pair_number(EDGE, 0, EDGE, 0)
            return 1
    elif points_side_by_side(e, f, w, long_a, long_b, features):
        return 2
    best = 1e300
    for k in range(4):  # the ends of a, and those of b
        sign = 1.0 if k & 1 == 0 else -1.0
        if k < 2:
            x, along, half = sub(scale(sign * long_a, e), w), f, long_b  # from the middle of b
        else:
            x, along, half = add(scale(sign * long_b, f), w), e, long_a
        s = dot(along, x)
        d = sub(x, scale(min(max(s, -half), half), along))
        if dot(d, d) < best:
            best, features[0] = dot(d, d), end_and_line(k & 1, s, half, k < 2)
    return 1


@kernel
def end_and_line(end: int, s: float, half: float, end_is_on_a: bool) -> int:
    """Return the pair of an end (0 along the axis, 1 against it) and the feature of the other segment at s along its axis."""
    kind = EDGE if -half < s < half else VERTEX
    index = 1 if s <= -half else 0
    return pair_number(VERTEX, end, kind, index) if end_is_on_a else pair_number(kind, index, VERTEX, end)


@kernel
def points_side_by_side(e: Vec, f: Vec, w: Vec, long_a: float, long_b: float, features: Ints) -> bool:
    """Write the two pairs at the ends of the part in which parallel segments lie side by side; False if they do not."""
    middle = dot(e, w)
    high, low = min(long_a, middle + long_b), max(-long_a, middle - long_b)
    if high - low <= SAME_PLACE * min(long_a, long_b):
        return False
    end = 0 if dot(e, f) > 0.0 else 1  # of b, along e
    features[0] = pair_number(VERTEX, 0, EDGE, 0) if high == long_a else pair_number(EDGE, 0, VERTEX, end)
    features[1] = pair_number(VERTEX, 1, EDGE, 0) if low == -long_a else pair_number(EDGE, 0, VERTEX, 1 - end)
    return True
