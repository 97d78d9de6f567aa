r"""A pair of features: gap, normal, nearest points, and their rates, while the two features stay the same.

    n        unit normal from body i to body j           x_i, x_j     the points on the surfaces, of radius rho about lines and points
    gap      g = n . (x_j - x_i)                         g' = n . (v_j(x_j) - v_i(x_i)),   v_k(x) = v_k + omega_k x (x - r_k)

    nearest points P, Q of two features     d = Q - P,  n = d / |d|    n' = (d' - (n . d') n) / |d|    x_i = P + rho_i n,  x_j = Q - rho_j n
    vertex, edge      Q + s e,  s = e . (P - Q)                       s' = e' . (P - Q) + e . (P' - Q')
    edge, edge        c = e_i x e_j,  n = +-c / |c|                   s = (w . e_i - k w . e_j) / c^2,  t = (k w . e_i - w . e_j) / c^2
                      w = P_j - P_i,  k = e_i . e_j                   sign: out of the edges' arcs, or along w between lines without faces
    vertex, face      n = -N,  x_j = P - (N . (P - Q)) N
    rim, face         lowest point P = c + R u / |u|,  u = (N . h) h - N;  highest point c - R u / |u|
    surface, face     P = c - S N / sqrt(N . S N),  S = A diag(a^2) A^T
    vertex, rim       nearest point of the circle:  c + R u / |u|,  u = P - c across h
    vertex, hole      n out of the axis: g = R - rho - |d|

n' . (x_j - x_i) = 0, and a nearest point moves on its own surface across n: so g' has the velocities of the material points, exactly. Then
    g'' = n . (a_j(x_j) - a_i(x_i)) + bias,   a_k(x) = v_k' + omega_k' x (x - r_k)
    bias = n' . (v_j(x_j) - v_i(x_i)) + n . (omega_j x (x_j' - v_j) - omega_i x (x_i' - v_i))

All points are taken from the centre of mass of body i, so that nothing is lost far from the origin.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined_kernel, kernel
from haugmbd.geometry.tables import FACE, HOLE, INDEX_BITS, RIM, SIDE_BITS, VERTEX, Shapes
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_global

INDEX_MASK, SIDE_MASK = (1 << INDEX_BITS) - 1, (1 << SIDE_BITS) - 1


class Turning(NamedTuple):
    """A vector and its rate."""

    x: Vec
    dot: Vec


class Nearest(NamedTuple):
    """A point of contact: gap, normal from i to j, points on i and on j (from the centre of mass of i), and the rates of the vectors."""

    gap: float
    n: Turning
    x_i: Turning
    x_j: Turning


@kernel
def pair_number(kind_i: int, index_i: int, kind_j: int, index_j: int) -> int:
    """Return the number of a pair of features."""
    return ((kind_i << INDEX_BITS) | index_i) << SIDE_BITS | (kind_j << INDEX_BITS) | index_j


@kernel
def turned_pair(pair: int) -> int:
    """Return the number of the same pair with i and j exchanged."""
    return (pair & SIDE_MASK) << SIDE_BITS | pair >> SIDE_BITS


@inlined_kernel
def point(table: Array, row: int, body: int, base: int, bodies: Array, A: Array) -> Turning:
    """Return a point of a body, from the centre of mass of body `base`, and its velocity."""
    s = to_global(A, body, load(table, row, 0))
    omega = to_global(A, body, load(bodies, body, OMEGA_BAR))
    where = add(sub(load(bodies, body, 0), load(bodies, base, 0)), s) if body != base else s
    return Turning(where, add(load(bodies, body, VELOCITY), cross(omega, s)))


@inlined_kernel
def direction(table: Array, row: int, column: int, body: int, bodies: Array, A: Array) -> Turning:
    """Return a vector of a body in global axes, and its rate."""
    e = to_global(A, body, load(table, row, column))
    return Turning(e, cross(to_global(A, body, load(bodies, body, OMEGA_BAR)), e))


@kernel
def rate_of_dot(a: Turning, b: Turning) -> float:
    """Return the rate of a . b."""
    return dot(a.dot, b.x) + dot(a.x, b.dot)


@kernel
def difference(a: Turning, b: Turning) -> Turning:
    """Return a - b."""
    return Turning(sub(a.x, b.x), sub(a.dot, b.dot))


@kernel
def moved(P: Turning, s: float, s_dot: float, e: Turning) -> Turning:
    """Return P + s e."""
    return Turning(add(P.x, scale(s, e.x)), add(P.dot, add(scale(s, e.dot), scale(s_dot, e.x))))


@kernel
def unit(a: Turning) -> tuple[float, Turning]:
    """Return |a| and a / |a|; (0, 0, 1) for 0."""
    size = sqrt(dot(a.x, a.x))
    if size == 0.0:
        return 0.0, Turning((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    e = scale(1.0 / size, a.x)
    return size, Turning(e, scale(1.0 / size, sub(a.dot, scale(dot(e, a.dot), e))))


@kernel
def between_points(P: Turning, rho_i: float, Q: Turning, rho_j: float) -> Nearest:
    """Return the contact of balls about two points."""
    distance, n = unit(difference(Q, P))
    return Nearest(distance - rho_i - rho_j, n, moved(P, rho_i, 0.0, n), moved(Q, -rho_j, 0.0, n))


@kernel
def foot(P: Turning, Q: Turning, e: Turning) -> Turning:
    """Return the point of the line Q + s e that is nearest to P."""
    w = difference(P, Q)
    return moved(Q, dot(e.x, w.x), rate_of_dot(e, w), e)


@kernel
def between_edges(P: Turning, a: Turning, out_i: Vec, rho_i: float, Q: Turning, b: Turning, out_j: Vec, rho_j: float) -> Nearest:
    """Return the contact of two lines that cross;  out: a direction out of the edge's arc, 0 of a line without faces."""
    w, k = difference(Q, P), dot(a.x, b.x)
    wa, wb = dot(w.x, a.x), dot(w.x, b.x)
    k_dot, wa_dot, wb_dot = rate_of_dot(a, b), rate_of_dot(w, a), rate_of_dot(w, b)
    c = Turning(cross(a.x, b.x), add(cross(a.dot, b.x), cross(a.x, b.dot)))
    # (Q + t b - P - s a) . a = 0 and . b = 0: two equations of determinant c^2 = 1 - k^2
    cc = dot(c.x, c.x)
    cc_dot = 2.0 * dot(c.x, c.dot)
    s, t = (wa - k * wb) / cc, (k * wa - wb) / cc
    s_dot = (wa_dot - k_dot * wb - k * wb_dot - s * cc_dot) / cc
    t_dot = (k_dot * wa + k * wa_dot - wb_dot - t * cc_dot) / cc
    # the sign of c that points out of i and into j; between lines the one along w
    out = sub(out_i, out_j)
    side = dot(c.x, out) if dot(out, out) > 0.0 else dot(c.x, w.x)
    _, n = unit(c)
    if side < 0.0:
        n = Turning(scale(-1.0, n.x), scale(-1.0, n.dot))
    return Nearest(
        dot(n.x, w.x) - rho_i - rho_j,
        n,
        moved(moved(P, s, s_dot, a), rho_i, 0.0, n),
        moved(moved(Q, t, t_dot, b), -rho_j, 0.0, n),
    )


@kernel
def above_face(P: Turning, rho: float, Q: Turning, N: Turning) -> Nearest:
    """Return the contact of a ball about a point of i with a face of j."""
    w = difference(P, Q)
    h, h_dot = dot(N.x, w.x), rate_of_dot(N, w)
    n = Turning(scale(-1.0, N.x), scale(-1.0, N.dot))
    return Nearest(h - rho, n, moved(P, -rho, 0.0, N), moved(P, -h, -h_dot, N))


@inlined_kernel
def corner_over_face(
    shapes: Shapes, corner_of: int, corner: int, face_of: int, face: int, base: int, bodies: Array, A: Array
) -> tuple[float, Vec, Vec, Vec]:
    """Return gap, outward normal of the face, and the points of a corner and of the face, from the centre of mass of body `base`.

    It is `above_face` without the rates, which most points of boxes and meshes need at most states.
    """
    i, j = shapes.body[corner_of], shapes.body[face_of]
    v, row = shapes.first[corner_of, 0] + corner, shapes.first[face_of, 2] + face
    P, Q = to_global(A, i, load(shapes.vertices, v, 0)), to_global(A, j, load(shapes.faces, row, 0))
    if i != base:
        P = add(sub(load(bodies, i, 0), load(bodies, base, 0)), P)
    if j != base:
        Q = add(sub(load(bodies, j, 0), load(bodies, base, 0)), Q)
    N, rho = to_global(A, j, load(shapes.faces, row, 3)), shapes.vertices[v, 3]
    h = dot(N, sub(P, Q))
    return h - rho, N, add(P, scale(-rho, N)), add(P, scale(-h, N))


@kernel
def still_gap(shapes: Shapes, a: int, b: int, pair: int, bodies: Array, A: Array) -> float:
    """Return the gap of a pair of features."""
    side_a, side_b = pair >> SIDE_BITS, pair & SIDE_MASK
    kind_a, kind_b = side_a >> INDEX_BITS, side_b >> INDEX_BITS
    base = shapes.body[a]
    if kind_a == FACE and kind_b == VERTEX:
        return corner_over_face(shapes, b, side_b & INDEX_MASK, a, side_a & INDEX_MASK, base, bodies, A)[0]
    if kind_a == VERTEX and kind_b == FACE:
        return corner_over_face(shapes, a, side_a & INDEX_MASK, b, side_b & INDEX_MASK, base, bodies, A)[0]
    gap: float = nearest(shapes, a, b, pair, bodies, A).gap
    return gap


@kernel
def rim_point(c: Turning, h: Turning, R: float, N: Turning, highest: bool) -> Turning:
    """Return the lowest or highest point of a circle above a plane with the normal N."""
    k, k_dot = dot(N.x, h.x), rate_of_dot(N, h)
    # u = (N . h) h - N: across h, straight down
    u = moved(Turning(scale(-1.0, N.x), scale(-1.0, N.dot)), k, k_dot, h)
    _, e = unit(u)
    return moved(c, -R if highest else R, 0.0, e)


@kernel
def circle_point(c: Turning, h: Turning, R: float, P: Turning) -> Turning:
    """Return the point of a circle that is nearest to P."""
    w = difference(P, c)
    _, e = unit(moved(w, -dot(h.x, w.x), -rate_of_dot(h, w), h))
    return moved(c, R, 0.0, e)


@kernel
def surface_point(shapes: Shapes, a: int, base: int, N: Turning, bodies: Array, A: Array) -> Turning:
    """Return the lowest point of an ellipsoid above a plane with the normal N."""
    body = shapes.body[a]
    c = point(shapes.middle, a, body, base, bodies, A)
    P, P_dot = c.x, c.dot
    # in the axes e_k of the ellipsoid: y_k = -a_k^2 N_k / q,  q^2 = sum (a_k N_k)^2
    q2, q2_dot = 0.0, 0.0
    for k in range(3):
        e = direction(shapes.form, a, 3 + 3 * k, body, bodies, A)
        squared = shapes.form[a, k] ** 2
        q2 += squared * dot(e.x, N.x) ** 2
        q2_dot += 2.0 * squared * dot(e.x, N.x) * rate_of_dot(e, N)
    q = sqrt(q2)
    for k in range(3):
        e = direction(shapes.form, a, 3 + 3 * k, body, bodies, A)
        squared = shapes.form[a, k] ** 2
        y = -squared * dot(e.x, N.x) / q
        y_dot = -squared * rate_of_dot(e, N) / q - y * q2_dot / (2.0 * q2)
        P, P_dot = add(P, scale(y, e.x)), add(P_dot, add(scale(y, e.dot), scale(y_dot, e.x)))
    return Turning(P, P_dot)


@kernel
def edge_outward(shapes: Shapes, row: int, body: int, A: Array) -> Vec:
    """Return a direction in the arc of normals of an edge, out of the body; 0 of a line without faces."""
    return to_global(A, body, add(load(shapes.edges, row, 6), load(shapes.edges, row, 9)))


@kernel
def in_order(
    shapes: Shapes, a: int, kind_a: int, index_a: int, b: int, kind_b: int, index_b: int, base: int, bodies: Array, A: Array
) -> Nearest:
    """Return the contact of features of shapes a and b, kind_a before kind_b but for faces, which are last; from a to b."""
    i, j = shapes.body[a], shapes.body[b]
    if kind_b == FACE:
        row = shapes.first[b, 2] + index_b
        Q, N = point(shapes.faces, row, j, base, bodies, A), direction(shapes.faces, row, 3, j, bodies, A)
        if kind_a == VERTEX:
            v = shapes.first[a, 0] + index_a
            return above_face(point(shapes.vertices, v, i, base, bodies, A), shapes.vertices[v, 3], Q, N)
        if kind_a == RIM:
            m = shapes.first[a, 3] + (index_a >> 1)
            c, h = point(shapes.rims, m, i, base, bodies, A), direction(shapes.rims, m, 3, i, bodies, A)
            return above_face(rim_point(c, h, shapes.rims[m, 6], N, index_a & 1 == 1), 0.0, Q, N)
        return above_face(surface_point(shapes, a, base, N, bodies, A), 0.0, Q, N)
    if kind_a == VERTEX:
        v = shapes.first[a, 0] + index_a
        P, rho = point(shapes.vertices, v, i, base, bodies, A), shapes.vertices[v, 3]
        if kind_b == VERTEX:
            w = shapes.first[b, 0] + index_b
            return between_points(P, rho, point(shapes.vertices, w, j, base, bodies, A), shapes.vertices[w, 3])
        if kind_b == RIM:
            m = shapes.first[b, 3] + (index_b >> 1)
            c, h = point(shapes.rims, m, j, base, bodies, A), direction(shapes.rims, m, 3, j, bodies, A)
            return between_points(P, rho, circle_point(c, h, shapes.rims[m, 6], P), 0.0)
        row = shapes.first[b, 1] + index_b
        Q, e = point(shapes.edges, row, j, base, bodies, A), direction(shapes.edges, row, 3, j, bodies, A)
        F, R = foot(P, Q, e), shapes.edges[row, 12]
        if kind_b == HOLE:
            distance, n = unit(difference(P, F))
            return Nearest(R - rho - distance, n, moved(P, rho, 0.0, n), moved(F, R, 0.0, n))
        return between_points(P, rho, F, R)
    row_a, row_b = shapes.first[a, 1] + index_a, shapes.first[b, 1] + index_b
    return between_edges(
        point(shapes.edges, row_a, i, base, bodies, A),
        direction(shapes.edges, row_a, 3, i, bodies, A),
        edge_outward(shapes, row_a, i, A),
        shapes.edges[row_a, 12],
        point(shapes.edges, row_b, j, base, bodies, A),
        direction(shapes.edges, row_b, 3, j, bodies, A),
        edge_outward(shapes, row_b, j, A),
        shapes.edges[row_b, 12],
    )


@kernel
def nearest(shapes: Shapes, a: int, b: int, pair: int, bodies: Array, A: Array) -> Nearest:
    """Return the contact of a pair of features, from a to b."""
    side_a, side_b = pair >> SIDE_BITS, pair & SIDE_MASK
    kind_a, kind_b = side_a >> INDEX_BITS, side_b >> INDEX_BITS
    index_a, index_b = side_a & INDEX_MASK, side_b & INDEX_MASK
    exchanged = kind_a == FACE or (kind_b != FACE and kind_a > kind_b)
    if exchanged:
        a, kind_a, index_a, b, kind_b, index_b = b, kind_b, index_b, a, kind_a, index_a
    base = shapes.body[b] if exchanged else shapes.body[a]
    found = in_order(shapes, a, kind_a, index_a, b, kind_b, index_b, base, bodies, A)
    if not exchanged:
        return found
    n = Turning(scale(-1.0, found.n.x), scale(-1.0, found.n.dot))
    return Nearest(found.gap, n, found.x_j, found.x_i)


@kernel
def material_velocity(bodies: Array, A: Array, body: int, s: Vec) -> Vec:
    """Return the velocity of the material point at s (global, from the centre of mass) of a body."""
    return add(load(bodies, body, VELOCITY), cross(to_global(A, body, load(bodies, body, OMEGA_BAR)), s))


@kernel
def gap_rate_and_bias(found: Nearest, i: int, j: int, bodies: Array, A: Array) -> tuple[float, float]:
    """Return g' and the bias of g''."""
    away = sub(load(bodies, j, 0), load(bodies, i, 0))
    v_i = material_velocity(bodies, A, i, found.x_i.x)
    v_j = material_velocity(bodies, A, j, sub(found.x_j.x, away))
    relative = sub(v_j, v_i)
    omega_i = to_global(A, i, load(bodies, i, OMEGA_BAR))
    omega_j = to_global(A, j, load(bodies, j, OMEGA_BAR))
    around = sub(
        cross(omega_j, sub(found.x_j.dot, load(bodies, j, VELOCITY))),
        cross(omega_i, sub(found.x_i.dot, load(bodies, i, VELOCITY))),
    )
    return dot(found.n.x, relative), dot(found.n.dot, relative) + dot(found.n.x, around)
