r"""Torque: a pure torque on a body.

    Q = (0, n_bar)          n given in the global frame:  n_bar = A^T n;  or n_bar itself, in the body frame

    power of the applied torque  n_bar . omega_bar

Source: Haug (2021), generalized force of a torque.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, add_torque, sign_on, turned
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.point_force import body_arguments, read_frame
from haugmbd.forces.tangent import Tangents, add_column, given_column, unit
from haugmbd.forces.user_function import BODY, Value, read_value
from haugmbd.math.body_columns import OMEGA_BAR, WIDTH
from haugmbd.math.vec3 import add, cross, scale, to_body, to_global

ON, X, Y, Z = 0, 1, 2, 3
IN_BODY = 0
CENTRE = np.zeros(3)


@public_class
class Torque(ForceElement):
    """A torque on a body.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    body : Body
        The body that the torque acts on.
    torque : array_like, (3,), or callable
        The torque [N m]: three numbers or drivers, a function f(t) -> (3,), or a function f(t, r, p, v, omega_bar) -> (3,) of the body's
        own state; a Python function or an @njit function.
    frame : {"global", "body"}
        Frame of the components; "body" for a torque that turns with the body.
    jacobian : callable, optional
        Derivative of a stiff torque, for implicit methods: jacobian(t, r, p, v, omega_bar) -> (dn/dr [N], dn/dp [N m] or
        dn/dpi_bar [N m/rad], dn/dv [N s], dn/domega_bar [N m s/rad]), shapes as in PointForce. Without it the methods use differences.

    Raises
    ------
    UsageError
        If body is not a Body.

    Notes
    -----
    Q = (0, n_bar). Bad values are collected in `faults()`. The jacobian is compared with differences when the system is compiled.
    Source: Haug (2021), generalized force of a torque.
    """

    kind = "Torque"

    def __init__(self, name: str, body: Body, *, torque: Any, frame: str = "global", jacobian: Any = None) -> None:
        super().__init__(name)
        if not isinstance(body, Body):
            raise UsageError(f"{self.where} needs a body, got {body!r:.200}. Give what system.add(...) returned, or system.ground.")
        faults: list[Fault] = []
        self.body = body
        self.torque = read_value(faults, self.where, "torque", torque, BODY, (3,), "N m")
        self.in_body = read_frame(faults, self.where, frame)
        self.jacobian = read_jacobian(faults, self.where, "torque", jacobian, self.torque)
        self._faults = tuple(faults)

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.body, CENTRE),)

    def marks(self) -> tuple[Mark, ...]:
        return sign_on(type(self).__name__, self.body, np.zeros(3))

    def value(self) -> Value:
        return self.torque

    def numbers(self) -> tuple[float, ...]:
        return (float(self.in_body),)

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        return body_arguments(bodies[0])

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        return EnergyLedger(np.zeros(len(t)), np.zeros(len(t)), self.quantities(t, bodies, angle).power)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the torque, global."""
        n = self.torque.sampled(t, *self.arguments(bodies, angle))
        n = turned(bodies[0], n) if self.in_body else n
        return LoadValues({"torque": n}, np.sum(n * turned(bodies[0], bodies[0][:, OMEGA_BAR:WIDTH]), axis=1))


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the torques of all elements."""
    for k in range(first, last):
        b = m.body_of[ints[k, ON]]
        n = (m.F[ints[k, X], 0], m.F[ints[k, Y], 0], m.F[ints[k, Z], 0])
        if floats[k, IN_BODY] == 1.0:
            n = to_global(m.A, b, n)
        add_torque(Q, m.A, b, n)


@kernel
def add_declared_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add the symmetric part of c_K K + c_C C of the elements with a jacobian."""
    for k in range(first, last):
        if T.couplings[k, 1] < 0:
            continue
        b = m.body_of[ints[k, ON]]
        n = (m.F[ints[k, X], 0], m.F[ints[k, Y], 0], m.F[ints[k, Z], 0])
        for column in range(6):
            dn_bar = given_column(T, T.couplings[k, 1], column)
            if floats[k, IN_BODY] != 1.0:
                dn_bar = add(to_body(m.A, b, dn_bar), cross(to_body(m.A, b, n), scale(T.c_K, unit(column))))
            add_column(T.own, b, column, (0.0, 0.0, 0.0), dn_bar)
