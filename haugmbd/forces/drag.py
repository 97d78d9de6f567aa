r"""Drag: the resistance of a fluid against a shape, quadratic in the velocity.

    w = v_P - flow               P the middle of the shape                F = -rho C_d A |w| w / 2   at P
    A, the area of the shape across w:     sphere pi r^2      box sum_k a_k |w . e_k| / |w|, a_k its faces
                                           cylinder 2 r l sqrt(1 - c^2) + pi r^2 |c|,  c = w . h / |w|

    dissipated power   -F . w in the fluid at rest;  a flow gives the power F . flow

Source: Batchelor, An Introduction to Fluid Dynamics, sec. 5.11; projected areas of convex bodies by Cauchy's formula.
"""

from __future__ import annotations

from math import pi, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.shapes import Box, Cylinder, Shape, Sphere
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, rate, value
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, add_force, point_motion, sign_on, turned
from haugmbd.forces.tangent import Tangents, add_outer, lever
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.math.vec3 import Vec, add, dot, load, scale, sub

POINT, AXES = 0, 1
FACTOR, FLOW, ROUND, FACES, SIDE = 0, 1, 4, 5, 8
"""Columns of the table: rho C_d / 2, flow, the area that all directions see, areas across each axis, area along the sides of a cylinder."""


@public_class
class Drag(ForceElement):
    """Drag of a fluid on a shape of a body, quadratic in the velocity.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    body : Body
        The body.
    shape : Sphere, Box or Cylinder
        The shape, whose place on the body is its own `center`.
    density : float
        Density of the fluid, positive [kg/m3].
    coefficient : float
        Drag coefficient C_d, not negative.
    flow : array_like, (3,)
        Velocity of the fluid, global frame [m/s].

    Raises
    ------
    UsageError
        If body is not a Body, or shape is not a Sphere, Box or Cylinder. Other bad values are collected in `faults()`.

    Notes
    -----
    F = -density coefficient A |w| w / 2 at the middle of the shape, w its velocity against the fluid, A the area of the shape across w.
    Rotation about the middle has no drag.
    Source: Batchelor, An Introduction to Fluid Dynamics, sec. 5.11.
    """

    kind = "Drag"
    variable = MappingProxyType({"density": ((),), "coefficient": ((),), "flow": ((3,),)})

    def __init__(
        self, name: str, body: Body, shape: Shape, *, density: float, coefficient: float, flow: Any = (0.0, 0.0, 0.0)
    ) -> None:
        super().__init__(name)
        if not isinstance(body, Body):
            raise UsageError(f"{self.where} needs a body, got {body!r:.200}. Give what system.add(...) returned.")
        if not isinstance(shape, Sphere | Box | Cylinder):
            raise UsageError(f"{self.where} needs a Sphere, Box or Cylinder, got {shown(shape)}; a PointForce takes any law.")
        faults: list[Fault] = []
        self.body, self.shape = body, shape
        self.frame = Frame(body, shape.center, rotation_matrix(shape.p))
        self.density = read_number(faults, self.where, "density", density, unit="kg/m3")
        self.coefficient = read_number(faults, self.where, "coefficient", coefficient)
        self.flow = read_array(faults, self.where, "flow", flow, (3,), unit="m/s")
        if self.density <= 0.0:
            faults.append(Fault(self.where, f"density is {self.density:g} kg/m3, must be positive", "Give that of the fluid."))
        if self.coefficient < 0.0:
            faults.append(Fault(self.where, f"coefficient is {self.coefficient:g}, must not be negative", "Give C_d >= 0."))
        if body.is_ground:
            faults.append(Fault(self.where, "it acts on the ground", "Give a body that moves."))
        self._faults = tuple(faults)

    def varied(self, **values: Any) -> Drag:
        given = {name: getattr(self, name) for name in self.variable}
        return Drag(self.name, self.body, self.shape, **given | values)

    def number_faults(self) -> tuple[Fault, ...]:
        return self._faults

    def marks(self) -> tuple[Mark, ...]:
        return sign_on(type(self).__name__, self.body, self.frame.s_bar)

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.body, self.frame.s_bar), *((self.body, self.frame.A_bar[:, k]) for k in range(3)))

    def points(self) -> dict[str, Frame]:
        return {"": self.frame}

    def areas(self) -> tuple[float, Array, float]:
        """Return the area of a sphere, the areas across the three axes, and that of a cylinder along its side."""
        if isinstance(self.shape, Sphere):
            return pi * self.shape.radius**2, np.zeros(3), 0.0
        if isinstance(self.shape, Box):
            a, b, c = self.shape.edges.tolist()
            return 0.0, np.array([b * c, c * a, a * b]), 0.0
        assert isinstance(self.shape, Cylinder)
        r = self.shape.radius
        return 0.0, np.array([0.0, 0.0, pi * r * r]), 2.0 * r * self.shape.length

    def numbers(self) -> tuple[float, ...]:
        whole, faces, side = self.areas()
        return (0.5 * self.density * self.coefficient, *self.flow.tolist(), whole, *faces.tolist(), side)

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        """Return the velocity of the middle against the fluid (nt, 3), and the area across it (nt,)."""
        w = point_motion(bodies[0], self.frame.s_bar)[1] - self.flow
        speed = np.linalg.norm(w, axis=1)
        direction = w / np.where(speed > 0.0, speed, 1.0)[:, None]
        whole, faces, side = self.areas()
        cosines = np.abs(
            np.stack([np.sum(direction * turned(bodies[0], self.frame.A_bar[:, k]), axis=1) for k in range(3)], axis=1)
        )
        return w, whole + cosines @ faces + side * np.sqrt(np.maximum(0.0, 1.0 - cosines[:, 2] ** 2))

    def _force(self, bodies: Array) -> Array:
        w, area = self.arguments(bodies, np.zeros(0))
        force: Array = -0.5 * self.density * self.coefficient * (area * np.linalg.norm(w, axis=1))[:, None] * w
        return force

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        force, (w, _) = self._force(bodies), self.arguments(bodies, angle)
        return EnergyLedger(np.zeros(len(t)), -np.sum(force * w, axis=1), force @ self.flow)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the force and its point, global."""
        force, (point, velocity) = self._force(bodies), point_motion(bodies[0], self.frame.s_bar)
        return LoadValues({"force": force, "point": point}, np.sum(force * velocity, axis=1))


@kernel
def resistance(ints: Ints, floats: Array, k: int, m: Motion) -> tuple[Vec, float, float]:
    """Return w, |w|, and rho C_d A / 2."""
    b = m.body_of[ints[k, POINT]]
    w = sub(add(load(m.bodies, b, VELOCITY), rate(m, ints[k, POINT])), load(floats, k, FLOW))
    speed = sqrt(dot(w, w))
    if speed == 0.0:
        return w, 0.0, 0.0
    area, c = floats[k, ROUND], 0.0
    for a in range(3):
        c = abs(dot(w, value(m, ints[k, AXES + a]))) / speed
        area += floats[k, FACES + a] * c
    return w, speed, floats[k, FACTOR] * (area + floats[k, SIDE] * sqrt(max(0.0, 1.0 - c * c)))


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the forces of all elements."""
    for k in range(first, last):
        w, speed, factor = resistance(ints, floats, k, m)
        add_force(Q, m.A, m.body_of[ints[k, POINT]], scale(-factor * speed, w), value(m, ints[k, POINT]))


@kernel
def add_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add c_C C of all elements, C = factor (|w| + w w^T / |w|); the change of the area is left out."""
    for k in range(first, last):
        w, speed, factor = resistance(ints, floats, k, m)
        b = m.body_of[ints[k, POINT]]
        s = value(m, ints[k, POINT])
        if speed > 0.0:
            g = lever(m.A, b, scale(1.0 / speed, w), s)
            add_outer(T.own, b, T.c_C * factor * speed, g[0], g[1], g[0], g[1])
            for a in range(3):
                x = lever(m.A, b, (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0), s)
                add_outer(T.own, b, T.c_C * factor * speed, x[0], x[1], x[0], x[1])
