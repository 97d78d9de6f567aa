"""Shapes of bodies: solids of the same inertia, or sticks and plates between the points of joints and springs;
or those that the model gives.

    box of the same inertia        edge_x^2 = 6 (J_y + J_z - J_x) / m, ...
    cylinder                       R^2 = 2 J_a / m,   l^2 = 12 J_t / m - 3 R^2           J_a about the axis of symmetry, J_t across
    sphere                         R^2 = 5 J / (2 m)

A solid is what is drawn where it holds all points of the body, as a bar holds the pins at its ends; sticks where it does not.

Their triangles, for pictures and for glTF, are unit solids, made once and stretched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.shapes import Cylinder, Shape
from haugmbd.bodies.shapes.base import turn_of_z
from haugmbd.bodies.shapes.files import Triangles
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import from_rotation_matrix, rotation_matrix
from haugmbd.viewer.frames import Ints
from haugmbd.viewer.mechanism import Mechanism

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
    return {"box": _box, "cylinder": _cylinder_mesh, "cone": _cone, "sphere": _sphere}[kind]()


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


def _cylinder_mesh() -> tuple[Array, Ints]:
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


ROD = 0.012
"""Radius of a stick, relative to the size of the mechanism."""

SAME = 1e-6
"""Points nearer to one another, relative to the size of the mechanism, are one."""

EQUAL = 0.02
"""Principal moments that differ by less, relative to the largest, are drawn as those of a round solid."""

LARGEST = 2.0
"""A solid longer than so many sizes of the mechanism is not drawn: its inertia is of a rotor or a guess."""

THICK = 0.1
"""A solid between joints that is wider, relative to the size of the mechanism, would hide them: sticks are drawn."""

AWAY = 0.08
"""A centre of mass farther from the sticks of its body, relative to the size of the mechanism, is drawn as a ball on a stick."""

SURFACE = "#9aa5b1"
"""Colour of a round surface on which a ball rolls."""

INSIDE = 1.1
"""A point belongs to a solid that is stretched so much."""


@dataclass(frozen=True, eq=False)
class DrawnShape:
    """A solid in the frame of its body.

    kind: "box", "cylinder" and "cone" (along z), "sphere" (of an ellipsoid, too), "tube", each of unit size and stretched by
        `size` (3,) [m]: edges, or diameters and length
        "plate": triangles in the body's frame; "mesh": triangles in their own axes, stretched by size
    r: its centre [m], (3,);  p: its Euler parameters, scalar first, (4,)
    vertices (n, 3) [m], triangles (m, 3): of a plate;  mesh: of a mesh
    inner: radius of the hole of a tube, relative to the outer radius;  color: "#rrggbb", "" for that of the body
    clear: it would hide joints inside, and is drawn translucent
    """

    kind: str
    size: Array
    r: Array
    p: Array
    vertices: Array | None = None
    triangles: npt.NDArray[np.int64] | None = None
    mesh: Triangles | None = None
    inner: float = 0.0
    color: str = ""
    clear: bool = False

    def corners(self) -> Array:
        """Return the corners of the box around it, body frame, (8, 3), or its vertices."""
        if self.vertices is not None:
            return self.vertices
        if self.mesh is not None:
            low, high = self.mesh.box
            every = np.stack(np.meshgrid(*np.stack([low, high], axis=1), indexing="ij"), axis=-1).reshape(-1, 3)
            return self.r + (every * self.size) @ rotation_matrix(self.p).T
        signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return self.r + (signs * self.size) @ rotation_matrix(self.p).T

    def data(self, number_of: Callable[[Triangles], int]) -> dict[str, Any]:
        """Return the shape as the page reads it;  number_of: gives the number of a mesh in the page."""
        look: dict[str, Any] = {"kind": self.kind, "size": rounded(self.size), "r": rounded(self.r), "p": rounded(self.p)}
        more = {"color": self.color, "clear": self.clear, "inner": self.inner}
        look |= {key: value for key, value in more.items() if value}
        if self.mesh is not None:
            low, high = self.mesh.box
            return look | {"mesh": number_of(self.mesh), "low": rounded(low), "high": rounded(high)}
        if self.vertices is not None and self.triangles is not None:
            return {"kind": self.kind, "vertices": rounded(self.vertices.ravel()), "triangles": self.triangles.ravel().tolist()}
        return look


def rounded(values: npt.ArrayLike) -> list[float]:
    """Return numbers with seven digits; more cannot be seen."""
    return [float(f"{x:.7g}") for x in np.asarray(values, dtype=np.float64).ravel()]


def body_shapes(mass: float, J_bar: Array, points: Array, size: float, rod: float) -> tuple[DrawnShape, ...]:
    """Return the shapes of a body with points (n, 3) [m] of joints and springs on it, body frame.

    size: of the mechanism;  rod: radius of a stick [m]
    """
    points = distinct(points, SAME * size)
    solid = equivalent_solid(mass, J_bar, rod)
    slender = solid is not None and (len(points) < 2 or np.sort(solid.size)[1] <= THICK * size)
    if solid is not None and slender and solid.size.max() <= LARGEST * size and holds(solid, points, rod):
        return (solid,)
    if len(points) == 0:
        return (ball(np.zeros(3), 3.0 * rod),)
    if len(points) == 1:
        bob = solid if solid is not None and solid.size.max() <= 1.5 * float(np.linalg.norm(points[0])) else None
        near = float(np.linalg.norm(points[0])) <= rod
        end = bob or ball(np.zeros(3), (4.0 if near else 2.5) * rod)
        return (end,) if near else (stick(points[0], np.zeros(3), rod), end)
    made = sticks(points, rod)
    if nearest_line(points) <= AWAY * size:
        return made
    compact = solid is not None and solid.size.max() <= min(0.5 * size, 3.0 * solid.size.min())
    bob = solid if solid is not None and compact else ball(np.zeros(3), 2.5 * rod)
    return (*made, stick(points.mean(axis=0), np.zeros(3), rod), bob)


def nearest_line(points: Array) -> float:
    """Return the least distance of the origin from a line between two of the points (n, 3), which are distinct."""
    nearest = np.inf
    for k in range(1, len(points)):
        a, along = points[k], points[:k] - points[k]
        s = np.clip(-(along @ a) / np.sum(along**2, axis=1), 0.0, 1.0)
        nearest = min(nearest, float(np.linalg.norm(a + s[:, None] * along, axis=1).min()))
    return nearest


def equivalent_solid(mass: float, J_bar: Array, thin: float) -> DrawnShape | None:
    """Return the sphere, cylinder or box of this mass and inertia about the centre of mass, no thinner than `thin` [m], or None."""
    if not (np.isfinite(mass) and mass > 0.0 and np.isfinite(J_bar).all() and np.any(J_bar)):
        return None
    J, axes = np.linalg.eigh(J_bar)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    p = from_rotation_matrix(axes)
    if J[2] - J[0] <= EQUAL * J[2]:
        return DrawnShape(
            "sphere", np.full(3, max(thin, 2.0 * np.sqrt(2.5 * J.mean() / mass))), np.zeros(3), np.array([1.0, 0, 0, 0])
        )
    edges = np.maximum(thin, np.sqrt(np.maximum(6.0 * (J.sum() - 2.0 * J) / mass, 0.0)))
    long, flat = J[2] - J[1] <= EQUAL * J[2], J[1] - J[0] <= EQUAL * J[2]
    if flat:  # the largest moment is about the axis: a disc
        return _cylinder(mass, J[2], 0.5 * (J[0] + J[1]), axes[:, 2], thin)
    if long:
        return _cylinder(mass, J[0], 0.5 * (J[1] + J[2]), axes[:, 0], thin)
    return DrawnShape("box", edges, np.zeros(3), p)


def _cylinder(mass: float, J_axial: float, J_transverse: float, axis: Array, thin: float) -> DrawnShape:
    """Return the cylinder of these moments about its axis and across."""
    squared = 2.0 * max(J_axial, 0.0) / mass
    length = np.sqrt(max(12.0 * J_transverse / mass - 3.0 * squared, 0.0))
    diameter = max(thin, 2.0 * np.sqrt(squared))
    return DrawnShape("cylinder", np.array([diameter, diameter, max(thin, length)]), np.zeros(3), turn_of_z(axis))


def holds(solid: DrawnShape, points: Array, thin: float) -> bool:
    """Return whether all points are in the solid, or nearly."""
    if len(points) == 0:
        return True
    inside = (points - solid.r) @ rotation_matrix(solid.p)
    return bool(np.all(np.abs(inside) <= 0.5 * INSIDE * solid.size + thin))


def sticks(points: Array, radius: float) -> tuple[DrawnShape, ...]:
    """Return a stick between two points, or along many on one line; a plate with sticks around for points of a plane; else a star."""
    middle = points.mean(axis=0)
    axes = principal_axes(points)
    sizes = np.ptp((points - middle) @ axes.T, axis=0)
    if sizes[1] <= 0.02 * sizes[0]:
        along = (points - middle) @ axes[0]
        ends = points[[int(np.argmin(along)), int(np.argmax(along))]]
        return (stick(ends[0], ends[1], radius),)
    if len(points) == 3 or sizes[2] <= 0.02 * sizes[0]:
        flat = (points - middle) @ axes[:2].T
        rim = convex_hull(flat)
        corners = points[rim]
        edges = [stick(a, b, radius) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
        inner = [stick(middle, points[k], radius) for k in range(len(points)) if k not in rim]
        return (*edges, *inner, plate(corners, axes[2], 0.6 * radius))
    return tuple(stick(middle, point, radius) for point in points)


def principal_axes(points: Array) -> Array:
    """Return the axes along which points (n, 3) spread most, less, and least, as rows, right-handed."""
    away = points - points.mean(axis=0)
    axes: Array = np.linalg.eigh(away.T @ away)[1].T[::-1].copy()
    axes[2] = np.cross(axes[0], axes[1])
    return axes


def stick(a: Array, b: Array, radius: float) -> DrawnShape:
    """Return a cylinder from a to b."""
    length = float(np.linalg.norm(b - a))
    return DrawnShape("cylinder", np.array([2.0 * radius, 2.0 * radius, length]), 0.5 * (a + b), turn_of_z(b - a))


def plate(corners: Array, normal: Array, thickness: float) -> DrawnShape:
    """Return a flat prism over a convex polygon (n, 3)."""
    n = len(corners)
    vertices = np.concatenate([corners + 0.5 * thickness * normal, corners - 0.5 * thickness * normal])
    top = [(0, k, k + 1) for k in range(1, n - 1)]
    bottom = [(n, n + k + 1, n + k) for k in range(1, n - 1)]
    rim = [(a, a + n, b) for a, b in _around(n)] + [(b, a + n, b + n) for a, b in _around(n)]
    triangles = np.array(top + bottom + rim)
    if np.cross(corners[1] - corners[0], corners[2] - corners[0]) @ normal < 0.0:
        triangles = triangles[:, ::-1]
    return DrawnShape("plate", np.ones(3), np.zeros(3), np.array([1.0, 0, 0, 0]), vertices, triangles)


def _around(n: int) -> list[tuple[int, int]]:
    return [(k, (k + 1) % n) for k in range(n)]


def ball(center: Array, radius: float) -> DrawnShape:
    """Return a sphere."""
    return DrawnShape("sphere", np.full(3, 2.0 * radius), center, np.array([1.0, 0.0, 0.0, 0.0]))


def distinct(points: Array, tol: float) -> Array:
    """Return the points (n, 3) without repetitions."""
    kept, n = np.empty((len(points), 3)), 0
    for point in points:
        if np.all(np.linalg.norm(kept[:n] - point, axis=1) > tol):
            kept[n] = point
            n += 1
    return kept[:n]


def convex_hull(points: Array) -> list[int]:
    """Return the corners, counterclockwise, of points (n, 2) in a plane: Andrew's monotone chain."""
    order = sorted(range(len(points)), key=lambda k: (float(points[k, 0]), float(points[k, 1])))

    def chain(indices: Sequence[int]) -> list[int]:
        hull: list[int] = []
        for k in indices:
            while len(hull) >= 2 and _left(points[hull[-2]], points[hull[-1]], points[k]) <= 0.0:
                hull.pop()
            hull.append(k)
        return hull[:-1]

    return chain(order) + chain(order[::-1])


def _left(a: Array, b: Array, c: Array) -> float:
    """Return twice the area of the triangle a, b, c; positive if it turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


# What is drawn of each body: the shapes that the model gives, or those that are found from its inertia and joints.
#
#     `shape=` of a Body      exactly that; `...` in it stands for the lines below
#     a solid of `inertia`    the solid, with sticks to the points of joints that are outside of it
#     neither                 `shapes.body_shapes`
#
# A solid that is wider than the glyphs of the joints in it is translucent.  No edge is drawn thinner than can be seen.

THIN = 0.004
"""Of the mechanism's size: edges are drawn at least so thick, two pixels of a projector."""

CLOSE = 0.18
"""Width of a stick, relative to the distance of neighbouring joints, at most."""

SMALLEST = 0.1
"""Sticks and glyphs are at least this part of their usual size."""


def rod_radius(mechanism: Mechanism, size: float) -> float:
    """Return the radius of a stick [m]: in proportion to the mechanism, and less where joints are close to one another."""
    gaps = []
    for k in range(len(mechanism.bodies)):
        points = distinct(mechanism.points(k), SAME * size)
        if len(points) > 1:
            apart = np.linalg.norm(points[:, None] - points[None], axis=2)
            gaps.append(float(apart[apart > 0.0].min()))
    usual = ROD * size
    return usual if not gaps else float(np.clip(0.5 * CLOSE * np.median(gaps), SMALLEST * usual, usual))


def shapes_of(mechanism: Mechanism, size: float) -> list[tuple[DrawnShape, ...]]:
    """Return what is drawn of each body, body frames."""
    rod = rod_radius(mechanism, size)
    drawn: list[tuple[DrawnShape, ...]] = []
    for k, parts in enumerate(mechanism.shapes):
        shapes: list[DrawnShape] = []
        for part in parts:
            shapes += _default(mechanism, k, size, rod) if isinstance(part, type(...)) else [converted(part, size, rod)]
        points = mechanism.points(k)
        drawn.append(tuple(_clear(shape, points, size, rod) for shape in shapes))
    for k, surface in mechanism.surfaces:
        drawn[k] = (*drawn[k], replace(converted(surface, size, rod), color=SURFACE, clear=True))
    return drawn


def _default(mechanism: Mechanism, k: int, size: float, rod: float) -> tuple[DrawnShape, ...]:
    """Return the default drawing of body k."""
    points = mechanism.points(k)
    if not mechanism.solids[k]:
        return body_shapes(float(mechanism.mass[k]), mechanism.J_bar[k], points, size, rod)
    solids = [converted(solid, size, rod) for solid in mechanism.solids[k]]
    centers = np.array([solid.r for solid in solids])
    sticks = []
    for point in distinct(points, SAME * size):
        if not any(holds(solid, point[None], rod) for solid in solids):
            near = centers[np.argmin(np.linalg.norm(centers - point, axis=1))]
            sticks.append(stick(point, near, 0.7 * rod))
    return (*sticks, *solids)


def converted(given: Shape, size: float, rod: float) -> DrawnShape:
    """Return a shape of the model as it is drawn."""
    color = given.color or ""
    mesh = given.mesh()
    if mesh is not None:
        triangles, unit = mesh
        return DrawnShape("mesh", np.full(3, unit), given.center, given.p, mesh=triangles, color=color)
    edges = np.array(given.size)
    if given.kind == "sphere" and edges[0] == 0.0:
        edges[:] = 5.0 * rod
    elif given.kind != "box" and edges[0] == 0.0:
        edges[:2] = 2.0 * rod
    inner = given.inner_radius / given.radius if isinstance(given, Cylinder) and given.radius > 0.0 else 0.0
    kind = "sphere" if given.kind == "ellipsoid" else given.kind
    return DrawnShape(
        "tube" if inner > 0.0 else kind, np.maximum(edges, THIN * size), given.center, given.p, inner=inner, color=color
    )


def _clear(shape: DrawnShape, points: Array, size: float, rod: float) -> DrawnShape:
    """Return the shape, translucent if it would hide joints in it."""
    low_high = shape.mesh.box if shape.mesh is not None else None
    edges = np.sort(shape.size * (low_high[1] - low_high[0]) if low_high is not None else shape.size)
    if shape.kind == "plate" or shape.inner > 0.0 or edges[1] <= THICK * size or edges[0] <= 5.0 * rod:
        return shape
    low, high = shape.corners().min(axis=0), shape.corners().max(axis=0)
    if not np.any(np.all((points > low) & (points < high), axis=1)):
        return shape
    return DrawnShape(shape.kind, shape.size, shape.r, shape.p, mesh=shape.mesh, color=shape.color, clear=True)
