r"""Triangles of the shapes: unit solids, made once and stretched, for pictures and for glTF."""

from __future__ import annotations

from functools import cache

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.viewer.frames import Ints
from haugmbd.viewer.shapes import Shape

AROUND, ALONG = 20, 10
"""Corners of a circle, and of half of it."""


def triangles_of(shape: Shape) -> Array:
    """The triangles of a shape, body frame, (n, 3 corners, 3), counterclockwise from outside."""
    if shape.vertices is not None and shape.triangles is not None:
        return shape.vertices[shape.triangles]
    vertices, triangles = unit_mesh(shape.kind)
    placed = shape.r + (vertices * shape.size) @ rotation_matrix(shape.p).T
    corners: Array = placed[triangles]
    return corners


@cache
def unit_mesh(kind: str) -> tuple[Array, Ints]:
    """Vertices (n, 3) and triangles (m, 3) of a solid of unit size about the origin; flat faces have vertices of their own."""
    return {"box": _box, "cylinder": _cylinder, "sphere": _sphere}[kind]()


def _box() -> tuple[Array, Ints]:
    """A cube: four vertices a face."""
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
    """A cylinder along z: its wall, and two discs."""
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


def _sphere() -> tuple[Array, Ints]:
    """A sphere by circles of latitude, with a pole at each end."""
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
