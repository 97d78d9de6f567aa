"""What builders share: bars and points of planar linkages in the plane y = 0, whose hinges have the axis y;
the check of a number of parts.
A value from the literature or from an independent computation is a `Published`.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import combine, rod
from haugmbd.bodies.validation import FloatArray
from haugmbd.errors import UsageError


class Published(NamedTuple):
    """A published value.

    Attributes
    ----------
    quantity : str
        Name of the quantity.
    unit : str
        Its unit.
    t : float
        Time [s].
    value : float
        The published value.
    tol : float
        Absolute error of a converged simulation.
    source : str
        The source of the value.
    """

    quantity: str
    unit: str
    t: float
    value: float
    tol: float
    source: str


AXIS = (0.0, 1.0, 0.0)
"""The axis of every hinge."""


def at(x: float, z: float) -> FloatArray:
    """Return the point (x, 0, z)."""
    return np.array([x, 0.0, z])


def polar(radius: float, angle: float) -> FloatArray:
    """Return the point at `radius` [m] from the origin, in the direction `angle` [rad] from x to z."""
    return at(radius * cos(angle), radius * sin(angle))


def frame(name: str, *points: FloatArray, density: float = 1.0, **motion: Any) -> Body:
    """Return a body of slender rods of `density` [kg/m]: one between two points, or along the sides of a polygon of more.

    The body frame has the global axes, and its origin in the centre of mass.  motion: `v` and `omega_bar` of the Body.
    """
    ends = list(zip(points, points[1:] + (points[:1] if len(points) > 2 else ()), strict=False))  # noqa: PLR2004
    rods = [rod(float(np.linalg.norm(b - a)), density=density, axis=b - a).placed((a + b) / 2.0) for a, b in ends]
    whole = combine(rods)
    return Body(name, whole.mass, whole.J_bar, r=whole.center, **motion)


def meeting_point(a: FloatArray, from_a: float, b: FloatArray, from_b: float, side: float) -> FloatArray:
    """Return the point at the distances `from_a` and `from_b` of two points; side = 1: to the left of the way from a to b."""
    way = b - a
    d = float(np.linalg.norm(way))
    along = (from_a**2 - from_b**2 + d**2) / (2.0 * d)
    height = side * sqrt(from_a**2 - along**2)
    left = at(-way[2], way[0])
    point: FloatArray = a + (along * way + height * left) / d
    return point


def check_count(builder: str, n: object, parts: str, *, least: int = 1, multiple: int = 1) -> None:
    """Raise UsageError unless n is a whole number of at least `least`, and a multiple of `multiple`;  parts: what is counted."""
    if isinstance(n, bool) or not isinstance(n, Integral) or n < least or n % multiple:
        kind = "whole number" if multiple == 1 else f"multiple of {multiple}"
        raise UsageError(f"{builder}({n!r}): give the number of {parts}, a {kind} of at least {least}.")
