r"""A convex polytope of a Box or a Mesh: corners, flat faces as loops of corners, and edges with the normals of their two faces.

Triangles of a mesh that lie in one plane and share edges are one face. A mesh must be

    closed         each edge belongs to two triangles, once in each direction
    outward        volume (1/6) sum a . (b x c) > 0
    convex         N . (v - P) <= 0 for all corners v and all faces
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from haugmbd.bodies.shapes import Box, Mesh
from haugmbd.bodies.shapes.files import Triangles
from haugmbd.bodies.validation import FloatArray
from haugmbd.compiled.array_types import Ints
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix

FLAT_TOL = 1e-7
"""Of the mesh's size: corners that are nearer to a plane are in it. Files hold single precision, whose rounding is 6e-8."""

MOST_FACES = 2000
"""Flat faces of a convex mesh: edges are compared pair by pair."""

BOX_FACES = ((1, 3, 7, 5), (0, 4, 6, 2), (2, 6, 7, 3), (0, 1, 5, 4), (4, 5, 7, 6), (0, 2, 3, 1))
"""Corners of the faces +x, -x, +y, -y, +z, -z, counterclockwise from outside; bits 0, 1, 2 of a corner: plus along x, y, z."""


class Polytope(NamedTuple):
    """Corners (v, 3); edges (e, 13): P, e, w_0, w_1, length; ends (e, 2); faces (f, 6): P, N; loops as in `Shapes`."""

    vertices: FloatArray
    edges: FloatArray
    ends: Ints
    faces: FloatArray
    loop: Ints
    loop_vertices: Ints
    loop_edges: Ints

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of corners, edges and faces."""
        return len(self.vertices), len(self.edges), len(self.faces)

    @classmethod
    def of(cls, vertices: Any = (), edges: Any = (), ends: Any = (), faces: Any = ()) -> Polytope:
        """Return features that are no closed polytope: faces have no corners."""
        faces = np.asarray(faces, dtype=np.float64).reshape(-1, 6)
        lines = np.asarray(edges, dtype=np.float64).reshape(-1, 13)
        ends = np.asarray(ends, dtype=np.int64).reshape(-1, 2) if len(ends) else np.zeros((len(lines), 2), dtype=np.int64)
        none = np.empty(0, dtype=np.int64)
        points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
        return cls(points, lines, ends, faces, np.zeros((len(faces), 2), dtype=np.int64), none, none)

    @classmethod
    def segment(cls, ends: FloatArray) -> Polytope:
        """Return the segment between two points (2, 3), without faces."""
        length = float(np.linalg.norm(ends[1] - ends[0]))
        line = np.concatenate([ends[0], (ends[1] - ends[0]) / length, np.zeros(6), [length]])
        return cls.of(ends, line[None], [(0, 1)])

    @classmethod
    def closed(cls, vertices: FloatArray, normals: FloatArray, loops: list[list[int]]) -> Polytope:
        """Return the polytope with these faces, counterclockwise from outside."""
        faces_of: dict[tuple[int, int], int] = {}
        for f, corners in enumerate(loops):
            for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
                faces_of[a, b] = f
        ends = sorted((a, b) for a, b in faces_of if a < b)
        number = {pair: k for k, pair in enumerate(ends)}
        edges = [_edge(vertices[a], vertices[b], normals[faces_of[a, b]], normals[faces_of[b, a]]) for a, b in ends]
        sizes = [len(corners) for corners in loops]
        loop = np.column_stack([np.cumsum([0, *sizes])[:-1], sizes])
        around = [number[min(a, b), max(a, b)] for c in loops for a, b in zip(c, [*c[1:], c[0]], strict=True)]
        points = np.array([vertices[corners[0]] for corners in loops])
        flat = [v for corners in loops for v in corners]
        integers = [np.array(x, dtype=np.int64) for x in (ends, loop, flat, around)]
        return cls(vertices, np.array(edges), integers[0], np.column_stack([points, normals]), *integers[1:])


def _edge(a: FloatArray, b: FloatArray, N_0: FloatArray, N_1: FloatArray) -> FloatArray:
    """Return P, e, w_0, w_1 and the length of an edge."""
    length = float(np.linalg.norm(b - a))
    cosine = float(N_0 @ N_1)
    return np.concatenate([a, (b - a) / length, N_0 - cosine * N_1, N_1 - cosine * N_0, [length]])


def box_polytope(shape: Box) -> Polytope:
    """Return the corners, edges and faces of a box. Raise UsageError for a box without volume."""
    if not np.all(shape.edges > 0.0):
        raise UsageError(f"a Box that touches other shapes has edges {shape.edges.tolist()} m. Give three positive edges.")
    axes = rotation_matrix(shape.p)
    signs = np.array([[2.0 * (k >> axis & 1) - 1.0 for axis in range(3)] for k in range(8)])
    vertices = shape.center + (0.5 * signs * shape.edges) @ axes.T
    normals = np.concatenate([(axes[:, k], -axes[:, k]) for k in range(3)])
    return Polytope.closed(vertices, normals, [list(face) for face in BOX_FACES])


_KNOWN: WeakKeyDictionary[Triangles, tuple[list[list[int]], FloatArray]] = WeakKeyDictionary()
"""Faces of the triangles that many bodies share."""


def mesh_polytope(shape: Mesh) -> Polytope:
    """Return the corners, edges and flat faces of a convex mesh.

    Raises
    ------
    UsageError
        If the mesh is open, inside out or not convex, or has too many faces, with what to do.
    """
    known = _KNOWN.get(shape.data)
    if known is None:
        known = _KNOWN[shape.data] = _flat_faces(shape)
    loops, normals = known
    axes = rotation_matrix(shape.p)
    corners = sorted({v for loop in loops for v in loop})
    number = {v: k for k, v in enumerate(corners)}
    vertices = shape.center + shape.vertices[corners] @ axes.T
    return Polytope.closed(vertices, normals @ axes.T, [[number[v] for v in loop] for loop in loops])


def _flat_faces(shape: Mesh) -> tuple[list[list[int]], FloatArray]:
    """Return loops of corners and normals (f, 3) of the flat faces of a convex mesh, in its own axes."""
    x, triangles = shape.data.vertices, shape.triangles
    x = x - x.mean(axis=0)
    size = float(np.linalg.norm(x, axis=1).max())
    neighbour = _check_closed(shape, triangles)
    a, b, c = (x[triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    volume = float(np.sum(a * np.cross(b, c)))
    if abs(volume) <= FLAT_TOL * size**3:
        raise UsageError(f"{shape!r} is flat: it has no volume. Give it a thickness: a contact needs a solid.")
    if volume < 0.0:
        raise UsageError(f"{shape!r} is inside out: its volume is negative. Reverse the order of the corners of its triangles.")
    area = np.linalg.norm(cross, axis=1)
    face_of = np.full(len(triangles), -1)
    loops: list[list[int]] = []
    normals: list[FloatArray] = []
    for seed in np.argsort(-area, kind="stable"):
        if face_of[seed] >= 0:
            continue
        n = cross[seed] / area[seed]
        outside = (x - a[seed]) @ n
        if outside.max() > FLAT_TOL * size:
            raise UsageError(
                f"{shape!r} is not convex: a corner is {shape.scale * outside.max():.3g} m outside of the plane of one of its triangles. "
                "Cut it into convex meshes, one shape each, or give its convex hull."
            )
        group = _grown(seed, len(normals), face_of, neighbour, triangles, np.abs(outside) <= FLAT_TOL * size)
        loops.append(_around(shape, group, triangles))
        normals.append(n)
        if len(normals) > MOST_FACES:
            raise UsageError(f"{shape!r} has more than {MOST_FACES} flat faces. Reduce the mesh.")
    return loops, np.array(normals)


def _check_closed(shape: Mesh, triangles: Ints) -> dict[tuple[int, int], int]:
    """Return the triangle on the left of each directed edge. Raise UsageError unless each edge is there once in each direction."""
    sides: dict[tuple[int, int], int] = {}
    for k, (a, b, c) in enumerate(triangles.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            if edge in sides:
                raise UsageError(
                    f"{shape!r}: the edge {edge} belongs to two triangles in the same direction. Turn all triangles "
                    "counterclockwise from outside, and leave each out once that is there twice."
                )
            sides[edge] = k
    open_edges = [edge for edge in sides if edge[::-1] not in sides]
    if open_edges:
        raise UsageError(
            f"{shape!r} is open: {len(open_edges)} edges belong to one triangle only, the first between corners {open_edges[0]}. "
            "Close the mesh: a contact needs a solid."
        )
    return sides


def _grown(seed: int, number: int, face_of: Ints, neighbour: dict[tuple[int, int], int], triangles: Ints, flat: Any) -> list[int]:
    """Return the triangles that are joined to the first one in its plane, and mark them with the number of the face."""
    group, waiting = [], [int(seed)]
    face_of[seed] = number
    while waiting:
        k = waiting.pop()
        group.append(k)
        corners = triangles[k].tolist()
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
            other = neighbour[b, a]
            if face_of[other] < 0 and flat[triangles[other]].all():
                face_of[other] = number
                waiting.append(other)
    return group


def _around(shape: Mesh, group: list[int], triangles: Ints) -> list[int]:
    """Return the corners around a flat face."""
    inner = {(a, b) for k in group for a, b in zip(triangles[k].tolist(), np.roll(triangles[k], -1).tolist(), strict=True)}
    following = {a: b for a, b in inner if (b, a) not in inner}
    start = next(iter(following))
    loop = [start]
    while following[loop[-1]] != start:
        loop.append(following[loop[-1]])
        if len(loop) > len(following):
            break
    if len(loop) != len(following):
        raise UsageError(f"{shape!r} is not convex: one of its flat faces has a hole. Cut it into convex meshes, one shape each.")
    return loop
