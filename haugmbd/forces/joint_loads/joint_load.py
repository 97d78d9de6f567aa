r"""Forces along coordinates of joints: the base class of JointSpring, JointLimit, JointForce and Motor, and their kernels.

    Q += G^T f,      f = ratio F - s(q, q')         G: see `joint_coordinate`;  F: number, driver, or the user's function
    linear        s = k (q - free) + c q'                            V = k (q - free)^2 / 2
    table         s = s(q - free) + c q'                             V = integral of s from 0
    limit         s = k x + c q' where it pushes back, else 0        x = q - upper > 0, or x = q - lower < 0;  V = k x^2 / 2
                  or as a run holds it between touch and release, see `stops`
    speed         s = -ratio T(ratio q')                             a torque-speed curve T

f is positive along the coordinate. There is one row of the force table for each coordinate of an element.
Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Constant
from haugmbd.errors import Fault
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, TablePlaces, TableRow, modelled, sign_at
from haugmbd.forces.joint_loads.characteristic import evaluate_characteristic
from haugmbd.forces.joint_loads.joint_coordinate import (
    Measured,
    add_along,
    coordinate_motion,
    directions,
    measured,
    modelled_value,
    put_rate,
    read_coordinate,
)
from haugmbd.forces.stops import BY_STATE, FREE, HELD, PUSHES_DOWN, PUSHES_UP
from haugmbd.forces.tangent import Tangents, add_pair, declared_stiffness
from haugmbd.forces.user_function import Value

X, Y, Z, SLOT, SIGNAL, TURN, LAW = 0, 1, 2, 3, 4, 5, 6
OFFSET, RATIO, K, C, LOWER, UPPER, UNSTRAINED, TABLE = 0, 1, 2, 3, 4, 5, 6, 7
LINEAR, LIMIT, ABOVE, BELOW, BY_TABLE, SPEED = 0, 1, 2, 3, 4, 5
"""The laws s(q, q'); ABOVE and BELOW have one limit, the upper or the lower one."""

NOTHING = Value((Constant(0.0),))


class Along(NamedTuple):
    """An element over time: force along each coordinate (nt, n), potential energy (nt,), dissipated and applied power (nt,)."""

    force: Array
    potential: Array
    dissipated: Array
    applied: Array


class JointLoad(ForceElement):
    """Base class of forces along coordinates of joints; a subclass defines `along`, and `law` and `constants` where it has a law."""

    law: int = LINEAR
    ratio: float = 1.0

    def __init__(self, name: str, joints: Any, alone: bool = True) -> None:
        super().__init__(name)
        self.given = tuple(joints)
        self.alone = alone
        self._own: list[Fault] = []
        found = [read_coordinate(self._own, self.where, joint) for joint in self.given]
        self._coordinates = tuple(q for q in found if q is not None)
        self._joints = tuple(dict.fromkeys(part if isinstance(part, Joint) else part.joint for part in self.given))
        self.signals = len(self.given)  # type: ignore[misc]

    def needs(self) -> tuple[Joint, ...]:
        return self._joints

    def bodies(self) -> tuple[Body, ...]:
        if len(self._coordinates) < len(self.given):
            return tuple(dict.fromkeys(body for joint in self._joints for body in (joint.i, joint.j)))
        return tuple(dict.fromkeys(body for q in self._coordinates for body in q.bodies))

    def coordinates(self) -> tuple[Coordinate, ...]:
        return self._coordinates

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return tuple(marker for q in self._coordinates for marker in q.markers())

    def value(self) -> Value:
        return NOTHING

    def constants(self) -> tuple[float, ...]:
        """Return k, c, lower, upper, free, and the numbers of a table, those that the law reads."""
        return ()

    def rows_of_bodies(self) -> tuple[tuple[Body, ...], ...]:
        return tuple(q.bodies for q in self._coordinates)

    def table_rows(self, places: TablePlaces) -> tuple[TableRow, ...]:
        constants = self.constants()
        constants += (0.0,) * (TABLE - K - len(constants))  # the kernel reads all of them
        return tuple(
            TableRow(
                (*places.markers[3 * k : 3 * k + 3], places.drivers[k], places.signal + k, places.turns[k], self.law),
                (modelled_value(q), self.ratio, *constants),
            )
            for k, q in enumerate(self._coordinates)
        )

    def modelled_angles(self) -> Array:
        return np.array([[q.q0 for q in self._coordinates]])

    def motion(self, bodies: Array, angle: Array) -> tuple[Array, Array]:
        """Return values and rates (nt, n) of the coordinates along a trajectory."""
        number = {body: k for k, body in enumerate(self.bodies())}
        near = np.asarray(angle).reshape(bodies.shape[1], -1)
        values = [
            coordinate_motion(q, bodies[number[q.bodies[0]]], bodies[number[q.bodies[1]]], near[:, min(k, near.shape[1] - 1)])
            for k, q in enumerate(self._coordinates)
        ]
        return np.stack([q for q, _ in values], axis=1), np.stack([rate for _, rate in values], axis=1)

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        q, rate = (self.ratio * x for x in self.motion(bodies, angle))
        return (q[:, 0], rate[:, 0]) if self.alone else (q, rate)

    def marks(self) -> tuple[Mark, ...]:
        return tuple(sign_at(type(self).__name__, q.joint.frame_i, q.joint.frame_j) for q in self._coordinates)

    def _angle(self, **given: float) -> tuple[tuple[str, float], ...]:
        """Return these values if they are those of one angle."""
        return tuple(given.items()) if [q.turns for q in self._coordinates] == [True] else ()

    @abstractmethod
    def along(self, t: Array, q: Array, q_dot: Array) -> Along:
        """Return force, energy and powers over time, of coordinates q and rates (nt, n)."""

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        return EnergyLedger(*self.along(t, *self.motion(bodies, angle))[1:])

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the coordinate, its rate, and the force or torque along it; of several coordinates (nt, n)."""
        q, rate = self.motion(bodies, angle)
        force = self.along(t, q, rate).force
        power = np.sum(force * rate, axis=1)
        if not self.alone:
            return LoadValues({"coordinates": q, "rates": rate, "forces": force}, power)
        names = ("angle", "torque") if self._coordinates[0].turns else ("displacement", "force")
        return LoadValues({names[0]: q[:, 0], "rate": rate[:, 0], names[1]: force[:, 0]}, power)

    def faults(self) -> tuple[Fault, ...]:
        if self._faults or not self._placed():
            return self._faults
        return super().faults() or self.start_faults()

    def start_faults(self) -> tuple[Fault, ...]:
        """Return the faults of the modelled pose."""
        return ()

    def modelled_coordinate(self) -> float:
        """Return the value of the first coordinate at the modelled pose."""
        return float(self.motion(modelled(self.bodies()), self.modelled_angles())[0][0, 0])

    def _placed(self) -> bool:
        """Return whether poses and axes are finite; bodies and joints report their own faults."""
        return all(np.isfinite(y).all() for body, x in self.markers() for y in (x, body.r, body.A, body.v, body.omega_bar))


def limit_law(lower: float, upper: float) -> int:
    """Return the law of limits, of which one may be infinite."""
    return LIMIT if np.isfinite(lower) and np.isfinite(upper) else ABOVE if np.isfinite(upper) else BELOW


def limit_constants(lower: float, upper: float) -> tuple[float, float]:
    """Return the limits as the table holds them: 0 for one that is not there."""
    return (lower if np.isfinite(lower) else 0.0), (upper if np.isfinite(upper) else 0.0)


def units_of(coordinate: Coordinate | None) -> tuple[str, str]:
    """Return the units of a coordinate and of the force along it."""
    return ("m", "N") if coordinate is not None and not coordinate.turns else ("rad", "N m")


def depth_of(q: Array, lower: float, upper: float) -> Array:
    """Return how far q (nt,) is above the upper (positive) or below the lower limit (negative)."""
    return np.where(q > upper, q - upper, np.where(q < lower, q - lower, 0.0))


def pushing(x: Array, rate: Array, k: float, c: float) -> Along:
    """Return force, energy and powers of stops that are compressed by x (nt,)."""
    s = k * x + c * rate
    force = np.where(x * s > 0.0, -s, 0.0)
    return Along(force[:, None], 0.5 * k * x * x, -(force + k * x) * rate, np.zeros(len(x)))


def read_coefficient(faults: list[Fault], where: str, label: str, given: Any, unit: str) -> float:
    """Return a number that must not be negative."""
    number = read_number(faults, where, label, given, unit=unit)
    if number < 0.0:
        faults.append(
            Fault(where, f"{label} is {number:g} {unit}, must not be negative", f"Give {label} >= 0; a JointForce takes any law.")
        )
    return number


def sampled_forces(value: Value, alone: bool, t: Array, q: Array, q_dot: Array) -> Array:
    """Return the value of an element over time as (nt, n); alone: of one coordinate, as numbers."""
    return value.sampled(t, *((q[:, 0], q_dot[:, 0]) if alone else (q, q_dot))).reshape(len(t), -1)


@kernel
def resistance(law: int, numbers: Array, held: float, q: float, q_dot: float) -> tuple[float, float, float, float]:
    """Return s, ds/dq, ds/dq' and the potential energy of a row of the table;  held: see `stops`."""
    k, c, x = numbers[K], numbers[C], q - numbers[UNSTRAINED]
    if law == LINEAR:
        return k * x + c * q_dot, k, c, 0.5 * k * x * x
    if law == BY_TABLE:
        s, slope, energy = evaluate_characteristic(numbers, TABLE, x)
        return s + c * q_dot, slope, c, energy
    if law == SPEED:
        ratio = numbers[RATIO]
        torque, slope, _ = evaluate_characteristic(numbers, TABLE, ratio * q_dot)
        return -ratio * torque, 0.0, -ratio * ratio * slope, 0.0
    x = 0.0
    if held == PUSHES_DOWN or (held != PUSHES_UP and law != BELOW and q > numbers[UPPER]):
        x = q - numbers[UPPER]
    elif held == PUSHES_UP or (law != ABOVE and q < numbers[LOWER]):
        x = q - numbers[LOWER]
    s = k * x + c * q_dot
    pushes = x * s > 0.0 if held == BY_STATE else held != FREE
    if pushes:
        return s, k, c, 0.5 * k * x * x
    return 0.0, 0.0, 0.0, 0.5 * k * x * x


@kernel
def coordinate_of_row(ints: Ints, floats: Array, k: int, m: Motion) -> Measured:
    """Return the coordinate of row k."""
    return measured(m, ints[k, X], ints[k, Y], ints[k, Z], floats[k, OFFSET], ints[k, TURN])


@kernel
def measure(ints: Ints, floats: Array, first: int, last: int, m: Motion, signals: Array) -> None:
    """Write the coordinate and its rate to its signal, times the ratio: of a motor those of its shaft."""
    for k in range(first, last):
        c = coordinate_of_row(ints, floats, k, m)
        signals[ints[k, SIGNAL], 0] = floats[k, RATIO] * c.q
        signals[ints[k, SIGNAL], 1] = floats[k, RATIO] * c.q_dot


@kernel
def potential(ints: Ints, floats: Array, first: int, last: int, m: Motion) -> float:
    """Return the potential energy of all elements."""
    total = 0.0
    for k in range(first, last):
        c = coordinate_of_row(ints, floats, k, m)
        total += resistance(ints[k, LAW], floats[k], m.F[ints[k, SLOT], HELD], c.q, c.q_dot)[3]
    return total


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the forces of all elements."""
    for k in range(first, last):
        c = coordinate_of_row(ints, floats, k, m)
        s = resistance(ints[k, LAW], floats[k], m.F[ints[k, SLOT], HELD], c.q, c.q_dot)[0]
        add_along(Q, m.A, c, floats[k, RATIO] * m.F[ints[k, SLOT], 0] - s)


@kernel
def put_angle_rates(ints: Ints, floats: Array, first: int, last: int, m: Motion, rates: Array) -> None:
    """Write the rate of every integrated angle."""
    for k in range(first, last):
        put_rate(coordinate_of_row(ints, floats, k, m), rates, ints[k, TURN])


@kernel
def add_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add c_K K + c_C C of all elements; declared derivatives of functions count as negative stiffness and damping."""
    for k in range(first, last):
        c = coordinate_of_row(ints, floats, k, m)
        _, stiffness, damping, _ = resistance(ints[k, LAW], floats[k], m.F[ints[k, SLOT], HELD], c.q, c.q_dot)
        along = T.c_K * stiffness + T.c_C * damping - floats[k, RATIO] ** 2 * declared_stiffness(T, k)
        g_a, g_b = directions(m.A, c)
        add_pair(T, k, c.a, c.b, along, g_a, g_b)
