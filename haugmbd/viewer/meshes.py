r"""Triangles of the shapes: unit solids, made once and stretched, for pictures and for glTF."""

from __future__ import annotations

from functools import cache

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.viewer.frames import Ints
from haugmbd.viewer.shapes import DrawnShape

AROUND, ALONG = 20, 10
"""Corners of a circle, and of half of it."""


def triangles_of(shape: DrawnShape, most: int = 2**62) -> Array:
    """Return the triangles of a shape, body frame, (n, 3 corners, 3), counterclockwise from outside;  most: of a mesh, about."""
    if shape.vertices is not None and shape.triangles is not None:
        return shape.vertices[shape.triangles]
    if shape.mesh is not None:
        vertices, triangles = reduced(shape.mesh.vertices, shape.mesh.triangles, most)
    else:
        vertices, triangles = unit_mesh(shape.kind, shape.inner)
    placed = shape.r + (vertices * shape.size) @ rotation_matrix(shape.p).T
    corners: Array = placed[triangles]
    return corners


def reduced(vertices: Array, triangles: Ints, most: int) -> tuple[Array, Ints]:
    """Return a mesh of about `most` triangles or fewer: vertices of one cell of a grid become their mean.

    Source: Rossignac and Borrel, Multi-resolution 3D approximations for rendering complex scenes (1993).
    """
    if len(triangles) <= most:
        return vertices, triangles
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    cells = max(2.0, np.sqrt(most / 12.0))  # a cube of n cells along an edge shows 6 n^2 squares, of two triangles each
    grid = np.floor((vertices - low) * (cells / (high - low).max())).astype(np.int64)
    _, owner, count = np.unique(grid, axis=0, return_inverse=True, return_counts=True)
    owner = owner.reshape(-1)
    means = np.stack([np.bincount(owner, weights=vertices[:, k]) / count for k in range(3)], axis=1)
    corners = owner[triangles]
    a, b, c = corners.T
    return means, np.unique(corners[(a != b) & (b != c) & (c != a)], axis=0)


@cache
def unit_mesh(kind: str, inner: float = 0.0) -> tuple[Array, Ints]:
    """Return vertices (n, 3) and triangles (m, 3) of a solid of unit size about the origin; flat faces have vertices of their own.

    inner: radius of the hole of a tube, relative to its radius
    """
    if kind == "tube":
        return _tube(inner)
    return {"box": _box, "cylinder": _cylinder, "cone": _cone, "sphere": _sphere}[kind]()


def _box() -> tuple[Array, Ints]:
    """Return a cube: four vertices a face."""
    vertices: list[Array] = []
    triangles: list[tuple[int, ...]] = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            first = len(vertices)
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for a, b in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
                corner = np.zeros(3)
                corner[[axis, u, v]] = side, a, b
                vertices.append(corner)
            face = [(0, 1, 2), (0, 2, 3)] if side > 0.0 else [(0, 2, 1), (0, 3, 2)]
            triangles += [tuple(first + k for k in corners) for corners in face]
    return np.array(vertices), np.array(triangles)


def _cylinder() -> tuple[Array, Ints]:
    """Return a cylinder along z: its wall, and two discs."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    circle = 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [np.column_stack([circle, np.full(AROUND, z)]) for z in (-0.5, 0.5, -0.5, 0.5)]
    n, k = AROUND, np.arange(AROUND)
    after = (k + 1) % n
    wall = np.concatenate([np.stack([k, after, after + n], axis=1), np.stack([k, after + n, k + n], axis=1)])
    fan = np.arange(1, n - 1)
    bottom = np.stack([np.zeros_like(fan), fan + 1, fan], axis=1) + 2 * n
    top = np.stack([np.zeros_like(fan), fan, fan + 1], axis=1) + 3 * n
    return np.concatenate(rings), np.concatenate([wall, bottom, top])


def _rings(*rings: tuple[float, float]) -> Array:
    """Return circles about z of radius r at height z, (AROUND len(rings), 3), from pairs (r, z)."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.concatenate([np.column_stack([r * circle, np.full(AROUND, z)]) for r, z in rings])


def _band(first: int) -> Ints:
    """Return the triangles between the circle that begins at vertex `first` and the next one; outside is on the right of the way."""
    k = first + np.arange(AROUND)
    after = first + (np.arange(AROUND) + 1) % AROUND
    return np.concatenate([np.stack([k, after, after + AROUND], axis=1), np.stack([k, after + AROUND, k + AROUND], axis=1)])


def _cone() -> tuple[Array, Ints]:
    """Return a cone along z: its wall, with a tip for each of its triangles so that normals are right, and its base."""
    vertices = _rings((0.5, -0.5), (0.0, 0.5), (0.5, -0.5))
    fan = np.arange(1, AROUND - 1)
    base = np.stack([np.zeros_like(fan), fan + 1, fan], axis=1) + 2 * AROUND
    return vertices, np.concatenate([_band(0)[:AROUND], base])


def _tube(inner: float) -> tuple[Array, Ints]:
    """Return a cylinder along z with a hole: four walls, with circles of their own."""
    r = 0.5 * inner
    walls = [((0.5, -0.5), (0.5, 0.5)), ((0.5, 0.5), (r, 0.5)), ((r, 0.5), (r, -0.5)), ((r, -0.5), (0.5, -0.5))]
    vertices = _rings(*(ring for wall in walls for ring in wall))
    return vertices, np.concatenate([_band(2 * AROUND * k) for k in range(4)])


def _sphere() -> tuple[Array, Ints]:
    """Return a sphere by circles of latitude, with a pole at each end."""
    theta = np.pi * np.arange(1, ALONG) / ALONG
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = [np.stack([np.sin(a) * np.cos(angle), np.sin(a) * np.sin(angle), np.full(AROUND, np.cos(a))], axis=1) for a in theta]
    vertices = 0.5 * np.concatenate([*rings, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    n, k = AROUND, np.arange(AROUND)
    after, north, south = (k + 1) % n, len(vertices) - 2, len(vertices) - 1
    triangles = [np.stack([np.full(n, north), k, after], axis=1)]
    for ring in range(len(theta) - 1):
        a, b = ring * n, (ring + 1) * n
        triangles += [np.stack([a + k, b + k, b + after], axis=1), np.stack([a + k, b + after, a + after], axis=1)]
    last = (len(theta) - 1) * n
    triangles.append(np.stack([last + k, np.full(n, south), last + after], axis=1))
    return vertices, np.concatenate(triangles)
