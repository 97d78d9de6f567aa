r"""Buoyancy: the weight of the fluid that a shape displaces, against gravity; of a sphere also at a free surface.

    submerged       F = -rho V g at the centroid of the shape                  potential  rho V g . C
    at a surface    depth h of the lowest point, 0 <= h <= 2 r:   V = pi h^2 (3 r - h) / 3          up = -g / |g|
                    potential  rho |g| pi (r h^3 / 3 - h^4 / 12), and rho V |g| (h - 2 r) more below h = 2 r

The line of action of a sphere's buoyancy goes through its centre, whatever part of it is submerged.
Source: Batchelor, An Introduction to Fluid Dynamics, sec. 4.1: Archimedes' theorem.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.shapes import Box, Cone, Cylinder, Shape, Sphere
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, value
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, add_force, point_motion, sign_on
from haugmbd.forces.tangent import Tangents, add_outer, lever
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.math.vec3 import add, dot, load, scale

POINT = 0
WEIGHT, UP, SURFACE, RADIUS, VOLUME = 0, 1, 4, 5, 6
"""Columns of the table: rho |g|, upward direction, height of the surface, radius of the sphere at it (0 where submerged), volume."""


@public_class
class Buoyancy(ForceElement):
    """Buoyancy of a shape of a body in a fluid at rest.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    body : Body
        The body.
    shape : Sphere, Box, Cylinder or Cone
        The shape that displaces the fluid, whose place on the body is its own `center`; a tube displaces its wall only.
    density : float
        Density of the fluid, positive [kg/m3].
    gravity : array_like, (3,)
        Gravity, as of the system, global frame [m/s2].
    surface : float, optional
        Height of the free surface, measured against gravity from the origin [m], for a Sphere. By default the shape is submerged.

    Raises
    ------
    UsageError
        If body is not a Body, or shape is no such shape. Other bad values are collected in `faults()`.

    Notes
    -----
    F = -density V gravity at the centroid of the shape, with V the submerged volume. The force has a potential.
    Source: Batchelor, An Introduction to Fluid Dynamics, sec. 4.1.
    """

    kind = "Buoyancy"

    def __init__(self, name: str, body: Body, shape: Shape, *, density: float, gravity: Any, surface: float | None = None) -> None:
        super().__init__(name)
        if not isinstance(body, Body):
            raise UsageError(f"{self.where} needs a body, got {body!r:.200}. Give what system.add(...) returned.")
        if not isinstance(shape, Sphere | Box | Cylinder | Cone):
            raise UsageError(f"{self.where} needs a Sphere, Box, Cylinder or Cone, got {shown(shape)}; a PointForce takes any law.")
        faults: list[Fault] = []
        self.body, self.shape = body, shape
        self.volume, below = _content(shape)
        self.frame = Frame(body, shape.center - below * rotation_matrix(shape.p)[:, 2])
        self.density = read_number(faults, self.where, "density", density, unit="kg/m3")
        self.gravity = read_array(faults, self.where, "gravity", gravity, (3,), unit="m/s2")
        self.surface = None if surface is None else read_number(faults, self.where, "surface", surface, unit="m")
        if self.density <= 0.0:
            faults.append(Fault(self.where, f"density is {self.density:g} kg/m3, must be positive", "Give that of the fluid."))
        if self.volume == 0.0:
            faults.append(Fault(self.where, "the shape has no volume", "Give a shape of positive size."))
        if not self.gravity.any():
            faults.append(Fault(self.where, "gravity is zero, and with it the buoyancy", "Give the gravity of the system."))
        if surface is not None and not isinstance(shape, Sphere):
            what = f"it has a surface, and its shape is a {type(shape).__name__}"
            faults.append(Fault(self.where, what, "Give a Sphere, or several; other shapes are taken as submerged."))
        if body.is_ground:
            faults.append(Fault(self.where, "it acts on the ground", "Give a body that moves."))
        self._faults = tuple(faults)

    def marks(self) -> tuple[Mark, ...]:
        return sign_on(type(self).__name__, self.body, self.frame.s_bar)

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.body, self.frame.s_bar),)

    def points(self) -> dict[str, Frame]:
        return {"": self.frame}

    @property
    def up(self) -> Array:
        """Return the unit vector opposite to gravity, global frame, (3,)."""
        return -self.gravity / float(np.linalg.norm(self.gravity))

    def numbers(self) -> tuple[float, ...]:
        radius = self.shape.radius if self.surface is not None and isinstance(self.shape, Sphere) else 0.0
        size = float(np.linalg.norm(self.gravity))
        return (self.density * size, *self.up.tolist(), self.surface or 0.0, radius, self.volume)

    @property
    def conservative(self) -> bool:
        return True

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        """Return the submerged volume (nt,), and the potential energy over rho |g| (nt,)."""
        height = point_motion(bodies[0], self.frame.s_bar)[0] @ self.up
        if self.surface is None or not isinstance(self.shape, Sphere):
            return np.full(len(height), self.volume), -self.volume * height
        r = self.shape.radius
        depth = self.surface - height + r
        h = np.clip(depth, 0.0, 2.0 * r)
        work = pi * (r * h**3 / 3.0 - h**4 / 12.0) + self.volume * np.maximum(0.0, depth - 2.0 * r)
        return pi * h * h * (3.0 * r - h) / 3.0, work

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        weight = self.density * float(np.linalg.norm(self.gravity))
        nothing = np.zeros(len(t))
        return EnergyLedger(weight * self.arguments(bodies, angle)[1], nothing, nothing)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the force and its point, global."""
        volume = self.arguments(bodies, angle)[0]
        force = -self.density * volume[:, None] * self.gravity
        point, velocity = point_motion(bodies[0], self.frame.s_bar)
        return LoadValues({"force": force, "point": point}, np.sum(force * velocity, axis=1))


def _content(shape: Shape) -> tuple[float, float]:
    """Return the volume [m3] of a shape, and how far its centroid is below its middle, along its axis [m]."""
    if isinstance(shape, Sphere):
        return 4.0 / 3.0 * pi * shape.radius**3, 0.0
    if isinstance(shape, Box):
        return float(np.prod(shape.edges)), 0.0
    if isinstance(shape, Cylinder):
        return pi * (shape.radius**2 - shape.inner_radius**2) * shape.length, 0.0
    assert isinstance(shape, Cone)
    return pi * shape.radius**2 * shape.length / 3.0, 0.25 * shape.length


@kernel
def displaced(floats: Array, k: int, height: float) -> tuple[float, float, float]:
    """Return submerged volume, area of the water plane, and work of the buoyancy over rho |g|, by the height of the centroid."""
    r = floats[k, RADIUS]
    if r == 0.0:
        return floats[k, VOLUME], 0.0, -floats[k, VOLUME] * height
    depth = floats[k, SURFACE] - height + r
    h = min(max(depth, 0.0), 2.0 * r)
    work = pi * (r * h**3 / 3.0 - h**4 / 12.0) + floats[k, VOLUME] * max(0.0, depth - 2.0 * r)
    return pi * h * h * (3.0 * r - h) / 3.0, pi * h * (2.0 * r - h), work


@kernel
def height_of(ints: Ints, floats: Array, k: int, m: Motion) -> float:
    """Return the height of the centroid, against gravity."""
    b = m.body_of[ints[k, POINT]]
    height: float = dot(load(floats, k, UP), add(load(m.bodies, b, 0), value(m, ints[k, POINT])))
    return height


@kernel
def potential(ints: Ints, floats: Array, first: int, last: int, m: Motion) -> float:
    """Return the potential energy of all elements."""
    total = 0.0
    for k in range(first, last):
        total += floats[k, WEIGHT] * displaced(floats, k, height_of(ints, floats, k, m))[2]
    return total


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the forces of all elements."""
    for k in range(first, last):
        volume = displaced(floats, k, height_of(ints, floats, k, m))[0]
        F = scale(floats[k, WEIGHT] * volume, load(floats, k, UP))
        add_force(Q, m.A, m.body_of[ints[k, POINT]], F, value(m, ints[k, POINT]))


@kernel
def add_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add c_K K of all elements: the stiffness of the water plane."""
    for k in range(first, last):
        plane = displaced(floats, k, height_of(ints, floats, k, m))[1]
        b = m.body_of[ints[k, POINT]]
        g = lever(m.A, b, load(floats, k, UP), value(m, ints[k, POINT]))
        add_outer(T.own, b, T.c_K * floats[k, WEIGHT] * plane, g[0], g[1], g[0], g[1])
