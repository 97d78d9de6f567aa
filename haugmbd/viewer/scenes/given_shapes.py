r"""What is drawn of each body: the shapes that the model gives, or those that are found from its inertia and joints.

    `shape=` of a Body      exactly that; `...` in it stands for the lines below
    a solid of `inertia`    the solid, with sticks to the points of joints that are outside of it
    neither                 `shapes.body_shapes`

A solid that is wider than the glyphs of the joints in it is translucent.  No edge is drawn thinner than can be seen.
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.shapes import Cylinder, Shape
from haugmbd.compiled.array_types import Array
from haugmbd.viewer.scenes.mechanism import Mechanism
from haugmbd.viewer.scenes.shapes import ROD, SAME, THICK, DrawnShape, body_shapes, distinct, holds, stick

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
    for k, given in enumerate(mechanism.shapes):
        shapes: list[DrawnShape] = []
        for one in given:
            shapes += _default(mechanism, k, size, rod) if isinstance(one, type(...)) else [converted(one, size, rod)]
        points = mechanism.points(k)
        drawn.append(tuple(_clear(shape, points, size, rod) for shape in shapes))
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
    return DrawnShape(
        "tube" if inner > 0.0 else given.kind, np.maximum(edges, THIN * size), given.center, given.p, inner=inner, color=color
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
