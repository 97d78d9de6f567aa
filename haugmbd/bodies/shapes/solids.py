r"""Box, Sphere, Ellipsoid, Cylinder, Capsule and Cone.

    Box        edges along x, y, z of its own axes                    Cylinder, Cone     along z, from -length/2 to length/2
    Cone       base at -length/2, tip at length/2                     tube               a Cylinder with inner_radius > 0
    Ellipsoid  sum (x_k / a_k)^2 <= 1                                 Capsule            nearer than radius to a line of this length

A length of 0 makes a line, a disc or a plate, which is drawn as thin as can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from haugmbd.bodies.shapes.base import Shape, read_axis, read_length, read_place
from haugmbd.bodies.shapes.files import Triangles
from haugmbd.bodies.validation import FloatArray, read_array
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault

ORIGIN = (0.0, 0.0, 0.0)
UNTURNED = (1.0, 0.0, 0.0, 0.0)
Z_AXIS = (0.0, 0.0, 1.0)


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box(Shape):
    """A cuboid.

    Parameters
    ----------
    edges : array_like, (3,)
        Edges along x, y and z of its axes [m]; 0 for a plate.
    center : array_like, (3,)
        The middle, from the centre of mass, body frame [m].
    p : array_like, (4,)
        Euler parameters of its axes in the body frame, scalar first.
    color : str, optional
        Colour, "#rrggbb"; by default that of the body.

    Raises
    ------
    UsageError
        If a value is not valid.
    """

    kind: ClassVar[str] = "box"

    edges: FloatArray

    def __init__(self, edges: Any, *, center: Any = ORIGIN, p: Any = UNTURNED, color: str | None = None) -> None:
        faults: list[Fault] = []
        size = read_array(faults, "Box", "edges", edges, (3,), unit="m")
        if np.any(size < 0.0):
            faults.append(Fault("Box", f"edges are {size.tolist()} m", "Give three lengths [m] of 0 or more."))
        self._fill(faults, edges=size, **read_place("Box", faults, center, p, color))

    @property
    def size(self) -> FloatArray:
        return self.edges


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Sphere(Shape):
    """A ball.

    Parameters
    ----------
    radius : float
        Radius [m]; 0 for a point.
    center : array_like, (3,)
        Its centre, from the centre of mass, body frame [m].
    color : str, optional
        Colour, "#rrggbb"; by default that of the body.

    Raises
    ------
    UsageError
        If a value is not valid.
    """

    kind: ClassVar[str] = "sphere"

    radius: float

    def __init__(self, radius: float, *, center: Any = ORIGIN, color: str | None = None) -> None:
        faults: list[Fault] = []
        r = read_length("Sphere", faults, "radius", radius)
        self._fill(faults, radius=r, **read_place("Sphere", faults, center, UNTURNED, color))

    @property
    def size(self) -> FloatArray:
        return np.full(3, 2.0 * self.radius)


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Cylinder(Shape):
    """A circular cylinder: a rod, a disc, or a tube.

    Parameters
    ----------
    radius : float
        Outer radius [m]; 0 for a line.
    length : float
        Length along its axis [m]; 0 for a disc.
    inner_radius : float
        Radius of the hole of a tube [m].
    center : array_like, (3,)
        The middle of its axis, from the centre of mass, body frame [m].
    axis : array_like, (3,)
        Direction of its axis, body frame.
    color : str, optional
        Colour, "#rrggbb"; by default that of the body.

    Raises
    ------
    UsageError
        If a value is not valid.
    """

    kind: ClassVar[str] = "cylinder"

    radius: float
    length: float
    inner_radius: float

    def __init__(
        self,
        radius: float,
        length: float,
        *,
        inner_radius: float = 0.0,
        center: Any = ORIGIN,
        axis: Any = Z_AXIS,
        color: str | None = None,
    ) -> None:
        faults: list[Fault] = []
        outer, long = (read_length("Cylinder", faults, k, v) for k, v in (("radius", radius), ("length", length)))
        inner = read_length("Cylinder", faults, "inner_radius", inner_radius)
        if inner > outer:
            faults.append(Fault("Cylinder", f"inner_radius is {inner:g} m", f"Give a value from 0 to the radius, {outer:g} m."))
        place = read_place("Cylinder", faults, center, read_axis("Cylinder", faults, axis), color)
        self._fill(faults, radius=outer, length=long, inner_radius=inner, **place)

    @property
    def size(self) -> FloatArray:
        return np.array([2.0 * self.radius, 2.0 * self.radius, self.length])


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Cone(Shape):
    """A circular cone.

    Parameters
    ----------
    radius : float
        Radius of its base [m].
    length : float
        Distance from the base to the tip [m].
    center : array_like, (3,)
        The point of its axis halfway between base and tip, from the centre of mass, body frame [m].
    axis : array_like, (3,)
        Direction from the base to the tip, body frame.
    color : str, optional
        Colour, "#rrggbb"; by default that of the body.

    Raises
    ------
    UsageError
        If a value is not valid.
    """

    kind: ClassVar[str] = "cone"

    radius: float
    length: float

    def __init__(self, radius: float, length: float, *, center: Any = ORIGIN, axis: Any = Z_AXIS, color: str | None = None) -> None:
        faults: list[Fault] = []
        wide, long = (read_length("Cone", faults, k, v) for k, v in (("radius", radius), ("length", length)))
        place = read_place("Cone", faults, center, read_axis("Cone", faults, axis), color)
        self._fill(faults, radius=wide, length=long, **place)

    @property
    def size(self) -> FloatArray:
        return np.array([2.0 * self.radius, 2.0 * self.radius, self.length])


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Capsule(Shape):
    """A round rod with round ends: all points that are nearer than `radius` to a line.

    Parameters
    ----------
    radius : float
        Radius [m].
    length : float
        Length of the line, without the round ends [m]; 0 for a ball.
    center : array_like, (3,)
        The middle of the line, from the centre of mass, body frame [m].
    axis : array_like, (3,)
        Direction of the line, body frame.
    color : str, optional
        Colour, "#rrggbb"; by default that of the body.

    Raises
    ------
    UsageError
        If a value is not valid.
    """

    kind: ClassVar[str] = "capsule"

    radius: float
    length: float

    def __init__(self, radius: float, length: float, *, center: Any = ORIGIN, axis: Any = Z_AXIS, color: str | None = None) -> None:
        faults: list[Fault] = []
        wide, long = (read_length("Capsule", faults, k, v) for k, v in (("radius", radius), ("length", length)))
        place = read_place("Capsule", faults, center, read_axis("Capsule", faults, axis), color)
        self._fill(faults, radius=wide, length=long, **place)

    @property
    def size(self) -> FloatArray:
        return np.array([2.0 * self.radius, 2.0 * self.radius, self.length + 2.0 * self.radius])

    def mesh(self) -> tuple[Triangles, float] | None:
        return (_capsule_triangles(self.length / self.radius), self.radius) if self.radius > 0.0 else None


AROUND, RINGS = 28, 7
"""Corners of a capsule's triangles around its axis, and rings of each round end."""


@cache
def _capsule_triangles(length: float) -> Triangles:
    """Return the triangles of a capsule of radius 1."""
    latitude = np.linspace(0.0, 0.5 * np.pi, RINGS + 1)[:-1]
    z = np.concatenate([-np.sin(latitude[::-1]) - 0.5 * length, np.sin(latitude) + 0.5 * length])
    r = np.cos(np.concatenate([latitude[::-1], latitude]))
    turn = 2.0 * np.pi / AROUND * np.arange(AROUND)
    rings = np.stack([np.outer(r, np.cos(turn)), np.outer(r, np.sin(turn)), np.repeat(z[:, None], AROUND, axis=1)], axis=2)
    low, high, first, last = rings.size // 3, rings.size // 3 + 1, 0, AROUND * (len(z) - 1)
    triangles = []
    for k in range(AROUND):
        m = (k + 1) % AROUND
        triangles += [(low, first + m, first + k), (high, last + k, last + m)]
        for a in range(0, last, AROUND):
            triangles += [(a + k, a + m, a + AROUND + k), (a + m, a + AROUND + m, a + AROUND + k)]
    tips = np.array([(0.0, 0.0, -1.0 - 0.5 * length), (0.0, 0.0, 1.0 + 0.5 * length)])
    return Triangles(np.concatenate([rings.reshape(-1, 3), tips]), np.array(triangles))


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Ellipsoid(Shape):
    """An ellipsoid.

    Parameters
    ----------
    semi_axes : array_like, (3,)
        Half of its diameters along x, y and z of its axes [m], positive.
    center : array_like, (3,)
        The middle, from the centre of mass, body frame [m].
    p : array_like, (4,)
        Euler parameters of its axes in the body frame, scalar first.
    color : str, optional
        Colour, "#rrggbb"; by default that of the body.

    Raises
    ------
    UsageError
        If a value is not valid.
    """

    kind: ClassVar[str] = "ellipsoid"

    semi_axes: FloatArray

    def __init__(self, semi_axes: Any, *, center: Any = ORIGIN, p: Any = UNTURNED, color: str | None = None) -> None:
        faults: list[Fault] = []
        halves = read_array(faults, "Ellipsoid", "semi_axes", semi_axes, (3,), unit="m")
        if np.any(halves <= 0.0):
            faults.append(Fault("Ellipsoid", f"semi_axes are {halves.tolist()} m", "Give three positive lengths [m]."))
        self._fill(faults, semi_axes=halves, **read_place("Ellipsoid", faults, center, p, color))

    @property
    def size(self) -> FloatArray:
        return 2.0 * self.semi_axes
