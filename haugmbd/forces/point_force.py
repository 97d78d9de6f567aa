r"""PointForce: a force at a point of a body.

    Q = (F, A^T (s x F))          s = A s_bar          F given in the global frame, or in the body frame:  F = A F_bar

    power of the applied force  F . (v + A (omega_bar x s_bar))

Source: Haug (2021), generalized force of a force at a point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import read_array
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, value
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, add_force, point_motion, sign_on, turned
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.tangent import Tangents, add_column, given_column, unit
from haugmbd.forces.user_function import BODY, Value, read_value
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.vec3 import add, cross, scale, to_body, to_global

POINT, X, Y, Z = 0, 1, 2, 3
IN_BODY = 0


@public_class
class PointForce(ForceElement):
    """A force at a point of a body.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    body : Body
        The body that the force acts on.
    point : array_like, (3,), optional
        The point at the modelled pose, global frame [m]; by default the centre of mass.
    force : array_like, (3,), or callable
        The force [N]: three numbers or drivers, a function f(t) -> (3,), or a function f(t, r, p, v, omega_bar) -> (3,) of the body's own
        state; a Python function or an @njit function.
    frame : {"global", "body"}
        Frame of the components; "body" for a force that turns with the body.
    jacobian : callable, optional
        Derivative of a stiff force, for implicit methods: jacobian(t, r, p, v, omega_bar) -> (dF/dr (3, 3) [N/m], dF/dp (3, 4) [N] or
        dF/dpi_bar (3, 3) [N/rad], dF/dv (3, 3) [N s/m], dF/domega_bar (3, 3) [N s/rad]), 0 for a part that vanishes. F has the components
        that `force` returns. Without it the methods use differences.

    Raises
    ------
    UsageError
        If body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    Q = (F, A^T (s x F)) with s = A s_bar. The jacobian is compared with differences when the system is compiled.
    Source: Haug (2021), generalized force of a force at a point.
    """

    kind = "PointForce"

    def __init__(
        self, name: str, body: Body, *, point: Any = None, force: Any, frame: str = "global", jacobian: Any = None
    ) -> None:
        super().__init__(name)
        faults: list[Fault] = []
        self.body = body
        self.frame = Frame(body, (0.0, 0.0, 0.0)) if point is None else Frame.from_global(body, point)
        if point is not None:
            read_array(faults, self.where, "point", point, (3,), unit="m")
        self.force = read_value(faults, self.where, "force", force, BODY, (3,), "N")
        self.in_body = read_frame(faults, self.where, frame)
        self.jacobian = read_jacobian(faults, self.where, "force", jacobian, self.force)
        self._faults = tuple(faults)

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.body, self.frame.s_bar),)

    def points(self) -> dict[str, Frame]:
        return {"": self.frame}

    def marks(self) -> tuple[Mark, ...]:
        return sign_on(type(self).__name__, self.body, self.frame.s_bar)

    def value(self) -> Value:
        return self.force

    def numbers(self) -> tuple[float, ...]:
        return (float(self.in_body),)

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        return body_arguments(bodies[0])

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        return EnergyLedger(np.zeros(len(t)), np.zeros(len(t)), self.quantities(t, bodies, angle).power)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the force and its point, global."""
        F = self.force.sampled(t, *self.arguments(bodies, angle))
        F = turned(bodies[0], F) if self.in_body else F
        point, velocity = point_motion(bodies[0], self.frame.s_bar)
        return LoadValues({"force": F, "point": point}, np.sum(F * velocity, axis=1))


def body_arguments(states: Array) -> tuple[Array, ...]:
    """Return r, p, v, omega_bar along the states (nt, 13) of a body."""
    return states[:, 0:3], states[:, EULER:VELOCITY], states[:, VELOCITY:OMEGA_BAR], states[:, OMEGA_BAR:WIDTH]


def read_frame(faults: list[Fault], where: str, frame: Any) -> bool:
    """Return whether a vector is given in the body frame; add a fault for an unknown frame."""
    if not isinstance(frame, str) or frame not in ("global", "body"):
        remedy = 'Give frame="global", or frame="body" for a vector that turns with the body.'
        faults.append(Fault(where, f"frame is {frame!r}", remedy))
    return isinstance(frame, str) and frame == "body"


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the forces of all elements."""
    for k in range(first, last):
        b = m.body_of[ints[k, POINT]]
        F = (m.F[ints[k, X], 0], m.F[ints[k, Y], 0], m.F[ints[k, Z], 0])
        if floats[k, IN_BODY] == 1.0:
            F = to_global(m.A, b, F)
        add_force(Q, m.A, b, F, value(m, ints[k, POINT]))


@kernel
def add_declared_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add the symmetric part of c_K K + c_C C of the elements with a jacobian."""
    for k in range(first, last):
        if T.couplings[k, 1] < 0:
            continue
        b = m.body_of[ints[k, POINT]]
        s_bar = to_body(m.A, b, value(m, ints[k, POINT]))
        F = (m.F[ints[k, X], 0], m.F[ints[k, Y], 0], m.F[ints[k, Z], 0])
        in_body = floats[k, IN_BODY] == 1.0
        F_bar = F if in_body else to_body(m.A, b, F)
        for column in range(6):
            given = given_column(T, T.couplings[k, 1], column)
            turned_by = cross(F_bar, scale(T.c_K, unit(column)))
            if in_body:
                dF = to_global(m.A, b, add(given, scale(-1.0, turned_by)))
                add_column(T.own, b, column, dF, cross(s_bar, given))
            else:
                add_column(T.own, b, column, given, cross(s_bar, add(to_body(m.A, b, given), turned_by)))
