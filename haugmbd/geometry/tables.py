r"""The tables of shapes that contact kernels read, and what a shape is made of: features, fixed on its body.

    vertex     a point P with a radius                       corner of a polytope, middle of a sphere, end of a capsule, tip of a cone
    edge       a line P + s e with a radius                  edge of a polytope, axis of a capsule, mantle of a cylinder, hole of a tube
    face       a plane N . (x - P) = 0, N outward            face of a polytope, end of a cylinder, plane
    rim        a circle of radius R about P, across h        h outward;  its lowest and its highest point above a plane
    surface    an ellipsoid of the semi-axes a about P

    an edge of a polytope between faces with the normals N_0, N_1, the ends of its arc of normals; c is in it if c . w_0 >= 0, c . w_1 >= 0:
        w_0 = N_0 - (N_0 . N_1) N_1      w_1 = N_1 - (N_0 . N_1) N_0

Everything is in the body frame. Polytopes (Box, Mesh), segments (Capsule) and points (Sphere) are one kind: their features are corners,
edges and faces, and they differ by their numbers. Source of the arcs: Gregorius, The separating axis test between convex polyhedra (2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from haugmbd.bodies.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from haugmbd.bodies.validation import FloatArray
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.geometry.polytope import Polytope, box_polytope, mesh_polytope
from haugmbd.math.euler_parameters import rotation_matrix

PLANE, POLYTOPE, CYLINDER, CONE, ELLIPSOID = range(5)
"""Kinds of shapes in kernels, in the order in which pairs of them are written."""

VERTEX, EDGE, FACE, RIM, SURFACE, HOLE = range(6)
"""Kinds of features."""

RIM_POINTS = 8
"""Points of a rim, fixed on the body, that carry a cylinder or cone that stands flat."""

INDEX_BITS, SIDE_BITS = 20, 24
"""A feature is its kind above 20 bits of its index; a pair of features is two of them in 48 bits, that of body i above that of body j."""

MOST_POINTS = 8
"""Points of contact of a pair of shapes."""

POINT_COLUMNS, RATE_COLUMNS = 10, 21
"""Numbers of a point of contact (gap, normal, points on i and on j), and of a point with its rates."""


class Shapes(NamedTuple):
    """All shapes of a model, for kernels: s shapes with their vertices (v), edges (e), faces (f) and rims.

    kind, body (s,);  size (s,) [m]: largest distance of a feature from the middle, which scales tolerances
    middle (s, 4): middle [m], body frame, and radius of the ball around the shape;  form (s, 14): semi-axes or (radius, half length, inner
    radius), axes of the shape as rows, 0, 0
    first, number (s, 4): first row and number of its vertices, edges, faces, rims
    vertices (v, 4): P, radius;  edges (e, 14): P, e, w_0, w_1, radius, length;  ends (e, 2): its vertices
    faces (f, 6): P, N;  loop (f, 2): first place and number of corners;  loop_vertices, loop_edges: counterclockwise from outside
    rims (m, 7): P, h, radius
    """

    kind: Ints
    body: Ints
    size: Array
    middle: Array
    form: Array
    first: Ints
    number: Ints
    vertices: Array
    edges: Array
    ends: Ints
    faces: Array
    loop: Ints
    loop_vertices: Ints
    loop_edges: Ints
    rims: Array


class _Features(NamedTuple):
    """What one shape adds to the tables."""

    kind: int
    middle: FloatArray
    form: FloatArray
    reach: float
    polytope: Polytope
    radius_v: FloatArray
    radius_e: FloatArray
    rims: FloatArray


_KNOWN: WeakKeyDictionary[Any, _Features] = WeakKeyDictionary()
"""Features of the shapes that are in use: shapes do not change, and a body has many contacts."""


def features_of(shape: Any) -> _Features:
    """Return the features of a shape. Raise UsageError for one that has no contact."""
    maker = _MAKERS.get(type(shape))
    if maker is None:
        names = ", ".join(kind.__name__ for kind in _MAKERS)
        raise UsageError(f"{shape!r:.60} is not a shape of a contact. Give one of {names}.")
    features = _KNOWN.get(shape)
    if features is None:
        features = _KNOWN[shape] = maker(shape)
    return features


def shape_tables(shapes: Sequence[tuple[int, Any]]) -> Shapes:
    """Return the tables of shapes.

    Parameters
    ----------
    shapes : sequence of (int, shape)
        Number of the body, as in a model, and shape; the number of a shape is its place.

    Returns
    -------
    Shapes
        The tables.

    Raises
    ------
    UsageError
        If a shape has no contact, or a Mesh is not closed, is inside out or is not convex.
    """
    every = [features_of(shape) for _, shape in shapes]
    number = np.array([(*x.polytope.counts, len(x.rims)) for x in every], dtype=np.int64).reshape(-1, 4)
    first = np.cumsum(number, axis=0) - number
    places = np.cumsum([0, *(len(x.polytope.loop_vertices) for x in every)])
    loops = [x.polytope.loop + np.array([place, 0]) for x, place in zip(every, places, strict=False)]
    return Shapes(
        kind=np.array([x.kind for x in every], dtype=np.int64),
        body=np.array([body for body, _ in shapes], dtype=np.int64),
        size=np.array([x.reach for x in every]),
        middle=np.array([(*x.middle, x.reach) for x in every]).reshape(-1, 4),
        form=np.array([x.form for x in every]).reshape(-1, 14),
        first=first,
        number=number,
        vertices=_joined([np.column_stack([x.polytope.vertices, x.radius_v]) for x in every], 4),
        edges=_joined([np.column_stack([x.polytope.edges[:, :12], x.radius_e, x.polytope.edges[:, 12]]) for x in every], 14),
        ends=_joined_ints([x.polytope.ends for x in every], 2),
        faces=_joined([x.polytope.faces for x in every], 6),
        loop=_joined_ints(loops, 2),
        loop_vertices=_joined_ints([x.polytope.loop_vertices for x in every]),
        loop_edges=_joined_ints([x.polytope.loop_edges for x in every]),
        rims=_joined([x.rims for x in every], 7),
    )


def new_scratch(shapes: Shapes) -> Array:
    """Return the numbers that `manifold` works with: of the two largest shapes, and of all crossings of their largest faces."""
    v, e, f = (int(x) for x in shapes.number[:, :3].max(axis=0, initial=0))
    corners = max(2, int(shapes.loop[:, 1].max(initial=0)))
    return np.zeros(2 * (3 * v + 12 * e + 4 * f) + 8 * (v + 6 * corners + 4))


def _joined(parts: list[FloatArray], width: int) -> Array:
    return np.ascontiguousarray(np.concatenate([np.empty((0, width)), *(x.reshape(-1, width) for x in parts)]))


def _joined_ints(parts: list[Any], width: int = 0) -> Ints:
    shape = (-1, width) if width else (-1,)
    empty = np.empty((0, width) if width else 0, dtype=np.int64)
    return np.ascontiguousarray(np.concatenate([empty, *(np.asarray(x, dtype=np.int64).reshape(shape) for x in parts)]))


def _form(sizes: Sequence[float] | FloatArray = (0.0, 0.0, 0.0), axes: FloatArray | None = None) -> FloatArray:
    turn = np.eye(3) if axes is None else axes
    return np.concatenate([np.asarray(sizes, dtype=np.float64), turn.T.ravel(), np.zeros(2)])


def _made(kind: int, middle: FloatArray, form: FloatArray, polytope: Polytope, reach: float, **more: Any) -> _Features:
    v, e, _ = polytope.counts
    own = {"radius_v": np.zeros(v), "radius_e": np.zeros(e), "rims": np.empty((0, 7))} | more
    return _Features(kind, np.asarray(middle), form, float(reach), polytope, **own)


def _plane(shape: Plane) -> _Features:
    face = Polytope.of(faces=np.concatenate([shape.point, shape.normal])[None])
    return _made(PLANE, shape.point, _form(), face, 0.0)


def _sphere(shape: Sphere) -> _Features:
    return _made(
        POLYTOPE,
        shape.center,
        _form((shape.radius, 0.0, 0.0)),
        Polytope.of(shape.center[None]),
        shape.radius,
        radius_v=np.array([shape.radius]),
    )


def _capsule(shape: Capsule) -> _Features:
    h = rotation_matrix(shape.p)[:, 2]
    half = 0.5 * shape.length
    ends = np.stack([shape.center + half * h, shape.center - half * h])
    radii = {"radius_v": np.full(2, shape.radius), "radius_e": np.array([shape.radius])}
    if half == 0.0:
        return _sphere(Sphere(shape.radius, center=shape.center))
    form = _form((shape.radius, half, 0.0), rotation_matrix(shape.p))
    return _made(POLYTOPE, shape.center, form, Polytope.segment(ends), half + shape.radius, **radii)


def _box(shape: Box) -> _Features:
    polytope = box_polytope(shape)
    form = _form(0.5 * shape.edges, rotation_matrix(shape.p))
    return _made(POLYTOPE, shape.center, form, polytope, 0.5 * float(np.linalg.norm(shape.edges)))


def _mesh(shape: Mesh) -> _Features:
    polytope = mesh_polytope(shape)
    middle = 0.5 * (polytope.vertices.min(axis=0) + polytope.vertices.max(axis=0))
    return _made(POLYTOPE, middle, _form(), polytope, np.linalg.norm(polytope.vertices - middle, axis=1).max())


def _round_points(center: FloatArray, axes: FloatArray, radius: float) -> FloatArray:
    """Return points of a rim that are fixed on the body, (8, 3)."""
    angle = 2.0 * np.pi / RIM_POINTS * np.arange(RIM_POINTS)
    points: FloatArray = center + radius * (np.cos(angle)[:, None] * axes[:, 0] + np.sin(angle)[:, None] * axes[:, 1])
    return points


def _cylinder(shape: Cylinder) -> _Features:
    axes, half, R = rotation_matrix(shape.p), 0.5 * shape.length, shape.radius
    h = axes[:, 2]
    ends = [(shape.center + half * h, h), (shape.center - half * h, -h)]
    faces = np.array([np.concatenate(end) for end in ends])
    vertices = np.concatenate([_round_points(c, axes, R) for c, _ in ends])
    line = np.concatenate([shape.center, h, np.zeros(6), [shape.length]])
    lines = np.stack([line, line])  # mantle and hole
    polytope = Polytope.of(vertices, lines, faces=faces)
    rims = np.array([(*c, *n, R) for c, n in ends])
    form = _form((R, half, shape.inner_radius), axes)
    radii = {"radius_e": np.array([R, shape.inner_radius]), "rims": rims}
    return _made(CYLINDER, shape.center, form, polytope, np.hypot(R, half), **radii)


def _cone(shape: Cone) -> _Features:
    axes, half, R = rotation_matrix(shape.p), 0.5 * shape.length, shape.radius
    h = axes[:, 2]
    base, tip = shape.center - half * h, shape.center + half * h
    vertices = np.concatenate([_round_points(base, axes, R), tip[None]])
    polytope = Polytope.of(vertices, faces=np.concatenate([base, -h])[None])
    return _made(CONE, shape.center, _form((R, half, 0.0), axes), polytope, np.hypot(R, half), rims=np.array([(*base, *(-h), R)]))


def _ellipsoid(shape: Ellipsoid) -> _Features:
    return _made(
        ELLIPSOID, shape.center, _form(shape.semi_axes, rotation_matrix(shape.p)), Polytope.of(), float(shape.semi_axes.max())
    )


_MAKERS: dict[type, Any] = {
    Plane: _plane,
    Sphere: _sphere,
    Capsule: _capsule,
    Box: _box,
    Mesh: _mesh,
    Cylinder: _cylinder,
    Cone: _cone,
    Ellipsoid: _ellipsoid,
}
