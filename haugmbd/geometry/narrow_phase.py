r"""Contacts of two shapes, as Python asks for them; and the pairs that exist.

manifold_entry, rates_entry     kernels, with bodies (nb + 1, 13) and A (nb + 1, 3, 3)
points_of, rates_of             the same for a flat state y
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.function_pointers import F2, F3, Routine, types
from haugmbd.compiled.jit import entry, kernel, routine
from haugmbd.errors import Fault, UsageError
from haugmbd.geometry.features import INDEX_MASK, SIDE_MASK, gap_rate_and_bias, nearest
from haugmbd.geometry.manifold import SHAPES_TYPE, manifold, write_point
from haugmbd.geometry.tables import (
    EDGE,
    FACE,
    HOLE,
    INDEX_BITS,
    MOST_POINTS,
    PLANE,
    POINT_COLUMNS,
    RATE_COLUMNS,
    RIM,
    SIDE_BITS,
    SURFACE,
    VERTEX,
    Shapes,
    features_of,
    new_scratch,
)
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import normalized, rotation_matrix
from haugmbd.math.vec3 import load, store

GAP, NORMAL, POINT_I, POINT_J, GAP_RATE, NORMAL_RATE, POINT_I_RATE, POINT_J_RATE, BIAS = 0, 1, 4, 7, 10, 11, 14, 17, 20
"""Columns of a point of contact with its rates; the first ten are those of a point."""

ROUND = (Sphere, Capsule)

PAIRS: tuple[tuple[tuple[type, ...], tuple[type, ...]], ...] = (
    ((Plane,), (Sphere, Capsule, Box, Mesh, Cylinder, Cone, Ellipsoid)),
    ((Sphere, Capsule, Box, Mesh), (Sphere, Capsule, Box, Mesh)),
    ((Sphere,), (Cylinder,)),
)
"""Shapes of the first tuple touch those of the second one."""

PAIRS_TEXT = (
    "Plane with Sphere, Capsule, Box, Mesh, Cylinder, Cone or Ellipsoid; Sphere, Capsule, Box or Mesh with Sphere, Capsule, Box or Mesh; "
    "Sphere with Cylinder (outside, or in its hole if it has an inner_radius)"
)


def has_contact(shape_i: Any, shape_j: Any) -> bool:
    """Return whether the two shapes make a pair."""
    a, b = type(shape_i), type(shape_j)
    return any((a in first and b in second) or (b in first and a in second) for first, second in PAIRS)


def kind_name(shape: Any) -> str:
    """Return "a Box", "an Ellipsoid"."""
    name = type(shape).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def pair_faults(where: str, shape_i: Any, shape_j: Any) -> list[Fault]:
    """Return what is wrong with a pair of shapes: one that has no contact, a pair that does not exist, or sizes that cannot touch."""
    faults = []
    for label, shape in (("shape_i", shape_i), ("shape_j", shape_j)):
        try:
            features_of(shape)
        except UsageError as error:
            faults.append(Fault(where, f"{label}: {str(error).split('. ')[0]}", ". ".join(str(error).split(". ")[1:])))
    if faults:
        return faults
    if not has_contact(shape_i, shape_j):
        what = f"{kind_name(shape_i)} and {kind_name(shape_j)} have no contact"
        return [Fault(where, what, f"Pairs are: {PAIRS_TEXT}.")]
    return _size_faults(where, shape_i, shape_j)


def _size_faults(where: str, shape_i: Any, shape_j: Any) -> list[Fault]:
    """Return the faults of sizes that cannot touch, or only in one point of a line."""
    shapes = (shape_i, shape_j)
    points = [x for x in shapes if isinstance(x, ROUND) and x.radius == 0.0]
    if len(points) == 2:
        return [Fault(where, "two points or lines, both of radius 0, never touch", "Give one of them a positive radius.")]
    for tube in shapes:
        if isinstance(tube, Cylinder | Cone) and tube.radius == 0.0:
            what = f"radius of the {type(tube).__name__} is 0 m, and its rim is what touches"
            return [Fault(where, what, "Give a positive radius, or a Capsule of radius 0 for a line.")]
        ball = shape_j if tube is shape_i else shape_i
        if isinstance(tube, Cylinder) and isinstance(ball, Sphere) and 0.0 < tube.inner_radius <= ball.radius:
            hole = f"inner_radius = {tube.inner_radius:g} m of the Cylinder"
            what = f"a Sphere touches a Cylinder from inside its hole, and {hole} is not larger than the sphere's radius {ball.radius:g} m"
            return [Fault(where, what, "Give a smaller sphere, or inner_radius=0 for a contact from outside.")]
    return []


@kernel
def rates(shapes: Shapes, a: int, b: int, feature: int, bodies: Array, A: Array, out: Array, row: int) -> None:
    """Write a point of contact of a pair of features at a state, and its rates;  out: (n, 21), see the columns of this module."""
    i, j = shapes.body[a], shapes.body[b]
    found = nearest(shapes, a, b, feature, bodies, A)
    write_point(found, load(bodies, i, 0), out, row)
    out[row, GAP_RATE], out[row, BIAS] = gap_rate_and_bias(found, i, j, bodies, A)
    store(out, row, NORMAL_RATE, found.n.dot)
    store(out, row, POINT_I_RATE, found.x_i.dot)
    store(out, row, POINT_J_RATE, found.x_j.dot)


@routine
def rates_routine(shapes: Shapes, a: int, b: int, feature: int, bodies: Array, A: Array, out: Array, row: int) -> int:
    """Call `rates`."""
    rates(shapes, a, b, feature, bodies, A, out, row)
    return 0


RATES = Routine(rates_routine, types.int64(SHAPES_TYPE, types.int64, types.int64, types.int64, F2, F3, F2, types.int64))
"""`rates`, compiled once for all that call it by address."""


@entry
def manifold_entry(
    shapes: Shapes, a: int, b: int, bodies: Array, A: Array, margin: float, out: Array, features: Ints, scratch: Array
) -> int:
    """Compile `manifold`."""
    return manifold(shapes, a, b, bodies, A, margin, out, features, scratch)


@entry
def rates_entry(shapes: Shapes, a: int, b: int, feature: int, bodies: Array, A: Array, out: Array) -> None:
    """Write the rates of a pair of features, out (1, 21)."""
    rates(shapes, a, b, feature, bodies, A, out, 0)


def poses(y: Array) -> tuple[Array, Array]:
    """Return bodies (nb + 1, 13), with p of length 1, and A (nb + 1, 3, 3) of a flat state y."""
    bodies = np.array(y, dtype=np.float64).reshape(-1, WIDTH)
    bodies[:, EULER:VELOCITY] = normalized(bodies[:, EULER:VELOCITY])
    return bodies, np.ascontiguousarray(rotation_matrix(bodies[:, EULER:VELOCITY]))


def points_of(shapes: Shapes, a: int, b: int, y: Array, margin: float = np.inf) -> tuple[Array, Ints]:
    """Return the points of contact of shapes a and b at a state y: (k, 10) gap, normal, points on i and j; and features (k,)."""
    bodies, A = poses(y)
    out, features = np.zeros((MOST_POINTS, POINT_COLUMNS)), np.zeros(MOST_POINTS, dtype=np.int64)
    n = manifold_entry(shapes, a, b, bodies, A, margin, out, features, new_scratch(shapes))
    return out[:n], features[:n]


def rates_of(shapes: Shapes, a: int, b: int, feature: int, y: Array) -> Array:
    """Return a point of contact of a pair of features at a state y, with its rates, (21,)."""
    bodies, A = poses(y)
    out = np.zeros((1, RATE_COLUMNS))
    rates_entry(shapes, a, b, feature, bodies, A, out)
    point: Array = out[0]
    return point


WORDS = {VERTEX: "corner", EDGE: "edge", FACE: "face", RIM: "rim", SURFACE: "surface", HOLE: "hole"}


def point_name(shapes: Shapes, a: int, b: int, feature: int) -> str:
    """Return what a point of contact is called: "2" of corner 2 on a plane, "face 4, corner 1" of two solids.

    Parameters
    ----------
    shapes : Shapes
        The shapes.
    a, b : int
        Their numbers.
    feature : int
        Number of the pair of features.

    Returns
    -------
    str
        Kinds and numbers of the features, in the order of the shapes; of a plane nothing.
    """
    sides = [(side >> INDEX_BITS, side & INDEX_MASK) for side in (feature >> SIDE_BITS, feature & SIDE_MASK)]
    own = [side for side, shape in zip(sides, (a, b), strict=True) if shapes.kind[shape] != PLANE]
    if len(own) == 1 and own[0][0] == VERTEX:
        return str(own[0][1])
    return ", ".join(_feature_name(kind, index) for kind, index in own)


def _feature_name(kind: int, index: int) -> str:
    if kind == RIM:
        return f"rim {index >> 1} {'highest' if index & 1 else 'lowest'}"
    return WORDS[kind] if kind in (SURFACE, HOLE) else f"{WORDS[kind]} {index}"
