r"""The pairs of shapes that may touch, and what is constant of each pair.

    body a                        body b                    points of contact
    Sphere                        Plane                     1
    Sphere                        Sphere, outside           1
    Sphere                        Cylinder with a hole      1, inside the hole, whose ends are open and not limited
    Cylinder of length 0 (disc)   Plane                     1, on the rim
    Cylinder                      Plane                     2, one on the rim of each end
    Box                           Plane                     8 corners

A pair is found in either order; body a is the one in the left column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.shapes.plane import Plane
from haugmbd.bodies.shapes.solids import Box, Cylinder, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import rotation_matrix

SPHERE_PLANE, SPHERE_SPHERE, SPHERE_IN_HOLE, RIM_PLANE, BOX_PLANE = range(5)
"""Numbers of the pairs in the kernels."""

CORNERS = 8
"""Corners of a box; bits 0, 1, 2 of the number of a corner are the signs of the half edges along x, y, z: 1 for minus."""


class Pair(NamedTuple):
    """A pair of shapes that may touch.

    kind: its number;  swapped: whether body a is the second one of the user;  points: number of points of contact
    a: (4, 3) vectors on body a: the middle, and three half edges (Box), or half the axis and its unit vector (Cylinder)
    b: (2, 3) vectors on body b: a point, and the normal of a plane or the unit axis of a hole
    radius_a, radius_b: [m]
    """

    kind: int
    swapped: bool
    points: int
    a: Array
    b: Array
    radius_a: float = 0.0
    radius_b: float = 0.0


ZERO = np.zeros(3)


def _axes(shape: Any) -> Array:
    """Return the axes of a shape as columns, body frame (3, 3)."""
    return rotation_matrix(shape.p)


def _plane_vectors(plane: Plane) -> Array:
    return np.stack([plane.point, plane.normal])


def sphere_on_plane(ball: Sphere, plane: Plane, swapped: bool) -> Pair:
    """Return the pair of a sphere and a plane."""
    return Pair(SPHERE_PLANE, swapped, 1, np.stack([ball.center, ZERO, ZERO, ZERO]), _plane_vectors(plane), ball.radius)


def sphere_on_sphere(one: Sphere, other: Sphere, swapped: bool) -> Pair:
    """Return the pair of two spheres, each outside the other."""
    b = np.stack([other.center, ZERO])
    return Pair(SPHERE_SPHERE, swapped, 1, np.stack([one.center, ZERO, ZERO, ZERO]), b, one.radius, other.radius)


def sphere_in_hole(ball: Sphere, tube: Cylinder, swapped: bool) -> Pair:
    """Return the pair of a sphere and the hole that it is in."""
    b = np.stack([tube.center, _axes(tube)[:, 2]])
    return Pair(SPHERE_IN_HOLE, swapped, 1, np.stack([ball.center, ZERO, ZERO, ZERO]), b, ball.radius, tube.inner_radius)


def cylinder_on_plane(cylinder: Cylinder, plane: Plane, swapped: bool) -> Pair:
    """Return the pair of a disc, or of the rims of a cylinder, and a plane."""
    axis = _axes(cylinder)[:, 2]
    a = np.stack([cylinder.center, 0.5 * cylinder.length * axis, axis, ZERO])
    return Pair(RIM_PLANE, swapped, 2 if cylinder.length > 0.0 else 1, a, _plane_vectors(plane), cylinder.radius)


def box_on_plane(box: Box, plane: Plane, swapped: bool) -> Pair:
    """Return the pair of the corners of a box and a plane."""
    a = np.concatenate([box.center[None], 0.5 * box.edges[:, None] * _axes(box).T])
    return Pair(BOX_PLANE, swapped, CORNERS, a, _plane_vectors(plane))


KNOWN: dict[tuple[type, type], Callable[[Any, Any, bool], Pair]] = {
    (Sphere, Plane): sphere_on_plane,
    (Sphere, Sphere): sphere_on_sphere,
    (Sphere, Cylinder): sphere_in_hole,
    (Cylinder, Plane): cylinder_on_plane,
    (Box, Plane): box_on_plane,
}
"""The pairs, by the classes of their shapes."""
SHAPES = (Sphere, Plane, Cylinder, Box)
"""The shapes that may touch."""
PAIRS_TEXT = "Sphere and Plane, Sphere and Sphere, Sphere in a Cylinder with inner_radius, Cylinder and Plane, Box and Plane"


def pair_of(shape_i: Any, shape_j: Any) -> Pair | None:
    """Return the pair of two shapes, in either order; None if they cannot touch."""
    for one, other, swapped in ((shape_i, shape_j, False), (shape_j, shape_i, True)):
        make = KNOWN.get((type(one), type(other)))
        if make is not None:
            return make(one, other, swapped)
    return None


def sizes_missing(shape_i: Any, shape_j: Any, pair: Pair) -> str:
    """Return what is wrong with the sizes of a pair; "" if nothing is."""
    kinds = f"{type(shape_i).__name__} and {type(shape_j).__name__}"
    if pair.kind == SPHERE_IN_HOLE and not pair.radius_b > pair.radius_a:
        hole = f"inner_radius = {pair.radius_b:g} m of the Cylinder"
        return f"a Sphere touches a Cylinder from inside its hole, and {hole} is not larger than the sphere's radius {pair.radius_a:g} m"
    if pair.kind == SPHERE_SPHERE and pair.radius_a + pair.radius_b == 0.0:
        return "two spheres of radius 0 never touch"
    box = shape_i if isinstance(shape_i, Box) else shape_j
    if pair.kind == BOX_PLANE and not np.all(box.edges > 0.0):
        return f"edges of the Box are {box.edges.tolist()} m, so that corners coincide and would count twice; give three positive edges"
    if pair.kind == RIM_PLANE and pair.radius_a == 0.0:
        return f"radius is 0 m, and the rim of the cylinder is what touches ({kinds})"
    return ""
