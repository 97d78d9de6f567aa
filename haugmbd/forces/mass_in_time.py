r"""MassInTime: mass and inertia of a body as functions of time, with the thrust of what leaves it.

    m v_dot = F + m' u_rel                                      u_rel: velocity of what leaves or comes, against the body (exhaust)
    J omega_bar_dot + omega_bar x J omega_bar = n_bar           of a body whose mass changes: what leaves takes its own momentum along
    J omega_bar_dot + omega_bar x J omega_bar + J' omega_bar = n_bar      of constant mass: it is moved within the body, and J omega stays

    m and J of one instant stand in the tables of a run:        model.generalized_forces.put_inertia
    power    m' (v.v / 2 - g.r) + m' u_rel.v + (omega.J' omega) / 2      [ - omega.J' omega  at constant mass ]

The centre of mass stays where it is in the body. Without `exhaust` what leaves has the velocity of the body: no thrust, as sand that runs
out of a car; a rocket has the exhaust velocity, or a PointForce of its own.
Source: Haug (2021), Newton's equations; Cornelisse, Schoyer and Wakker, Rocket Propulsion and Spaceflight Dynamics, sec. 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body, inertia_defects
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion
from haugmbd.drivers import Constant, Driver, as_driver
from haugmbd.errors import Fault
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, TablePlaces, TableRow, turned
from haugmbd.forces.user_function import Component
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.vec3 import Vec, scale, to_global

CENTRE, MASS, MOMENTS = 0, 1, 2
"""Integers: the marker of the centre, the driver of the mass, the three of the principal moments (-1 for a constant inertia)."""
TRUE, SHIFT, EXHAUST, IS_MOVED = 0, 10, 20, 23
"""Numbers: mass and J_bar as modelled (10,), what is added to them on massless directions (10,), u_rel (3,), whether mass is constant."""
INERTIA = 10
GONE = 1e-3
"""Part of the mass at t = 0 below which a run that cannot go on ends because of it."""


class MassInTime(ForceElement):
    """Mass and inertia of a body in time: a body with `mass=` or `J_bar=` as functions brings it along, as load "mass of BODY".

    Parameters
    ----------
    body : Body
        The body; `body.in_time` has its functions.

    Notes
    -----
    `result.load("mass of rocket")` has the thrust, and its power has the flux of energy with the mass.
    Source: Cornelisse, Schoyer and Wakker, Rocket Propulsion and Spaceflight Dynamics, sec. 3.2.
    """

    kind = "MassInTime"

    def __init__(self, body: Body) -> None:
        super().__init__(f"mass of {body.name}")
        self.body = body
        given = body.in_time or {"mass": None, "J_bar": None, "exhaust": None}
        self.is_moved = given["mass"] is None
        self.mass: Driver = Constant(body.mass) if given["mass"] is None else as_driver(given["mass"])
        parts = given["J_bar"]
        functions: Any = parts if not callable(parts) else tuple(Component(parts, k, 3) for k in range(3))
        self.moments: tuple[Driver, ...] = () if parts is None else tuple(as_driver(f) for f in functions)
        self.exhaust = np.zeros(3) if given["exhaust"] is None else np.array(given["exhaust"], dtype=np.float64)
        self.gravity = np.zeros(3)
        self._faults = tuple(
            Fault(f"body {body.name!r}", f"{label}: {fault.what}", fault.remedy)
            for label, driver in (("mass", self.mass), *(("J_bar", f) for f in self.moments))
            for fault in driver.faults()
        )

    @property
    def where(self) -> str:
        return f"body {self.body.name!r}"

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.body, np.zeros(3)),)

    def drivers(self) -> tuple[Driver, ...]:
        return (self.mass, *self.moments)

    def table_rows(self, places: TablePlaces) -> tuple[TableRow, ...]:
        moments = places.drivers[1:] or (-1, -1, -1)
        modelled = (self.body.mass, *self.body.J_bar.ravel().tolist())
        return (
            TableRow(
                (*places.markers, places.drivers[0], *moments),
                (*modelled, *np.zeros(INERTIA), *self.exhaust.tolist(), float(self.is_moved)),
            ),
        )

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of the functions; those of numbers are the body's."""
        return self._faults

    def jets(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Return mass, its rate (nt,), principal moments and their rates (nt, 3)."""
        m = np.broadcast_to(np.asarray(self.mass.values(t)), (len(t), 3))
        if not self.moments:
            J = np.broadcast_to(np.diag(self.body.J_bar), (len(t), 3))
            return m[:, 0], m[:, 1], J, np.zeros((len(t), 3))
        J = np.stack([np.broadcast_to(np.asarray(f.values(t)), (len(t), 3)) for f in self.moments], axis=1)
        return m[:, 0], m[:, 1], J[:, :, 0], J[:, :, 1]

    def inertia(self, t: Array) -> tuple[Array, Array]:
        """Return mass (nt,) and J_bar (nt, 3, 3)."""
        m, _, J, _ = self.jets(t)
        full = np.broadcast_to(self.body.J_bar, (len(t), 3, 3)) if not self.moments else J[:, :, None] * np.eye(3)
        return m, full

    def known(self, values: Callable[[Driver], Driver], gravity: Array) -> MassInTime:
        """Return the element with drivers in place of outputs of blocks, and with the gravity of its model."""
        other: MassInTime = object.__new__(MassInTime)
        other.__dict__.update(vars(self), mass=values(self.mass), moments=tuple(map(values, self.moments)), gravity=gravity)
        return other

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        """Return what enters with the mass, and what its thrust and the motion within the body do, as applied power."""
        _, m_dot, _, J_dot = self.jets(t)
        r, v, omega_bar = bodies[0][:, :3], bodies[0][:, VELOCITY:OMEGA_BAR], bodies[0][:, OMEGA_BAR:WIDTH]
        flux = m_dot * (0.5 * np.sum(v * v, axis=1) - r @ self.gravity)
        turn = 0.5 * np.sum(J_dot * omega_bar**2, axis=1) * (-1.0 if self.is_moved else 1.0)
        return EnergyLedger(np.zeros(len(t)), np.zeros(len(t)), flux + turn + self._thrust(t, bodies)[1])

    def _thrust(self, t: Array, bodies: Array) -> tuple[Array, Array]:
        """Return the thrust (nt, 3), global, and its power (nt,)."""
        force = self.jets(t)[1][:, None] * turned(bodies[0], np.broadcast_to(self.exhaust, (len(t), 3)))
        return force, np.sum(force * bodies[0][:, VELOCITY:OMEGA_BAR], axis=1)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the thrust, global; the power is that of the ledger."""
        return LoadValues({"force": self._thrust(t, bodies)[0]}, self.ledger(t, bodies, angle).applied)

    def vanishes_at(self, t: float) -> str:
        """Return that the mass is nearly gone at a time [s], where no step is short enough; "" if it is not."""
        m = float(self.jets(np.array([t]))[0][0])
        if m > GONE * self.body.mass:
            return ""
        words = f"its mass is {m:.3g} kg at t = {t:.6g} s, of {self.body.mass:.6g} kg at t = 0, and becomes negative"
        return f"{self.where}: {words}: no step is short enough there. End the run before, by an Event, or let the function end."

    def wrong_at(self, t: float) -> str:
        """Return what is wrong with mass and inertia at a time [s]; "" for nothing."""
        m, _, J, _ = self.jets(np.array([t]))
        if not m[0] > 0.0:
            return (
                f"{self.where}: its mass is {m[0]:.6g} kg at t = {t:.6g} s, and must be positive. End the run before, by an Event."
            )
        defects = inertia_defects(np.diag(J[0]))
        return f"{self.where}: {defects[0][0]} at t = {t:.6g} s. {defects[0][1]}" if self.moments and defects else ""


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the thrust m' u_rel of all elements, and -J' omega_bar of those of constant mass."""
    for k in range(first, last):
        b = m.body_of[ints[k, CENTRE]]
        u: Vec = (floats[k, EXHAUST], floats[k, EXHAUST + 1], floats[k, EXHAUST + 2])
        thrust = scale(m.F[ints[k, MASS], 1], to_global(m.A, b, u))
        for a in range(3):
            Q[b, a] += thrust[a]
            if ints[k, MOMENTS] >= 0 and floats[k, IS_MOVED] == 1.0:
                Q[b, 3 + a] -= m.F[ints[k, MOMENTS + a], 1] * m.bodies[b, OMEGA_BAR + a]
