r"""RSDA: rotational spring-damper-actuator about the axis h of a joint.

    theta' = h_i . (omega_j - omega_i)
    alpha  = atan2(g_i . f_j, f_i . f_j)                            the angle from f_i to f_j, exact, but within one turn
    theta  = alpha + 2 pi round((phi - alpha) / (2 pi)),            phi' = theta'
    n = k (theta - theta0) + c theta' + n_a                         +n h on body i, -n h on body j

    potential energy  k (theta - theta0)^2 / 2         dissipated power c theta'^2        applied power -n_a theta'

phi is integrated with the state and only selects the turn: its error does not enter theta. A positive actuator acts against theta, as a
positive one of a TSDA shortens it: a motor that turns body j forward with the torque M has the actuator -M.
Source: Haug (2021), generalized forces: rotational spring-damper-actuator.
"""

from __future__ import annotations

from math import atan2, floor, pi
from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, value
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LinearSpring, LoadValues, Mark, add_torque, modelled, sign_at, turned
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.tangent import Tangents, add_pair, declared_stiffness
from haugmbd.forces.user_function import ANGLE, Value, read_value
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import normalized, rotation_matrix
from haugmbd.math.vec3 import dot, load, scale, sub, to_body, to_global

F_I, G_I, H_I, F_J, ACTUATOR, SIGNAL, TURNS = 0, 1, 2, 3, 4, 5, 6
K, C, THETA0 = 0, 1, 2


@public_class
class RSDA(ForceElement):
    """A rotational spring, damper and actuator about the axis h of a joint.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    joint : Joint
        A joint that turns about its axis h, such as RJ or CJ, in the same system.
    k : float
        Stiffness [N m/rad].
    c : float
        Damping [N m s/rad].
    theta0 : float
        Free angle [rad], measured from the pose where the two joint frames coincide; this is the modelled pose of a joint made from
        global geometry.
    actuator : float, callable or Driver
        Additional torque n_a [N m]: a number, a function f(t), a driver, or a function f(t, theta, theta_dot); a Python function or an
        @njit function.
    jacobian : callable, optional
        Derivative of a stiff actuator, for implicit methods: jacobian(t, theta, theta_dot) -> (dn/dtheta [N m/rad],
        dn/dtheta_dot [N m s/rad]). Without it the methods use differences.

    Raises
    ------
    UsageError
        If joint is not a Joint. Other bad values are collected in `faults()`.

    Notes
    -----
    n = k (theta - theta0) + c theta' + n_a acts with +n h on body i and -n h on body j: a positive actuator acts AGAINST theta. A motor
    with the torque tau along theta, as `inverse_dynamics` returns it, has actuator=-tau; Motor and JointForce are positive along theta.
    The jacobian is compared with differences when the system is compiled.
    Source: Haug (2021), generalized forces: rotational spring-damper-actuator.
    """

    kind = "RSDA"
    variable = MappingProxyType({"k": ((),), "c": ((),), "theta0": ((),)})
    signals = 1
    angles = 1

    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        k: float = 0.0,
        c: float = 0.0,
        theta0: float = 0.0,
        actuator: Any = 0.0,
        jacobian: Any = None,
    ) -> None:
        super().__init__(name)
        faults: list[Fault] = []
        if not isinstance(joint, Joint):
            raise UsageError(f"{self.where} needs a joint, got {joint!r}. Give the object that system.add(...) returned.")
        self.joint = joint
        if not joint.rotates_about_h:
            remedy = "Give a joint that leaves one rotation, such as RJ or CJ."
            faults.append(Fault(self.where, f"joint {joint.name!r} ({type(joint).__name__}) does not turn about one axis", remedy))
        self.k = read_number(faults, self.where, "k", k, unit="N m/rad")
        self.c = read_number(faults, self.where, "c", c, unit="N m s/rad")
        self.theta0 = read_number(faults, self.where, "theta0", theta0, unit="rad")
        self.actuator = read_value(faults, self.where, "actuator", actuator, ANGLE, (), "N m")
        self.jacobian = read_jacobian(faults, self.where, "actuator", jacobian, self.actuator)
        self._faults = tuple(faults)

    def needs(self) -> tuple[Joint, ...]:
        return (self.joint,)

    def bodies(self) -> tuple[Body, ...]:
        return (self.joint.i, self.joint.j)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        i, j = self.joint.frame_i, self.joint.frame_j
        e, n = self.joint.angle_axes()
        return ((i.body, e), (i.body, n), (i.body, i.h), (j.body, j.f))

    def turn_markers(self) -> tuple[tuple[Body, Array], ...]:
        e, n, _, v = self.markers()
        return (e, n, v)

    def given_angles(self) -> tuple[tuple[str, float], ...]:
        return (("theta0", self.theta0),)

    def linear_spring(self) -> LinearSpring | None:
        if not self.actuator.is_nothing:
            return None
        i, j = self.joint.frame_i.A, self.joint.frame_j.A
        modelled = float(np.arctan2(i[:, 1] @ j[:, 0], i[:, 0] @ j[:, 0])) + self.joint.q0
        return LinearSpring(self.joint, self.k, self.c, self.theta0 - modelled, True)

    def marks(self) -> tuple[Mark, ...]:
        return (sign_at("RSDA", self.joint.frame_i, self.joint.frame_j),)

    def value(self) -> Value:
        return self.actuator

    def numbers(self) -> tuple[float, ...]:
        return (self.k, self.c, self.theta0)

    def angle0(self) -> float:
        angle: Array = self._angle(modelled(self.bodies()), np.full(1, self.joint.q0))
        return float(angle[0])

    @property
    def conservative(self) -> bool:
        return self.c == 0.0 and self.actuator.is_nothing

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        theta, h_i = self._angle(bodies, angle), turned(bodies[0], self.joint.frame_i.h)
        omega_i, omega_j = turned(bodies[0], bodies[0][:, OMEGA_BAR:WIDTH]), turned(bodies[1], bodies[1][:, OMEGA_BAR:WIDTH])
        return theta, np.sum(h_i * (omega_j - omega_i), axis=1)

    def _angle(self, bodies: Array, angle: Array) -> Array:
        """Return theta, with the turns of the angle that is integrated."""
        A_i, A_j = (rotation_matrix(normalized(states[:, EULER:VELOCITY])) for states in bodies)
        f_i, g_i = (A_i @ a for a in self.joint.angle_axes())
        f_j = A_j @ self.joint.frame_j.f
        alpha = np.arctan2(np.sum(g_i * f_j, axis=1), np.sum(f_i * f_j, axis=1))
        theta: Array = alpha + 2.0 * np.pi * np.floor((angle - alpha) / (2.0 * np.pi) + 0.5)
        return theta

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        theta, theta_dot = self.arguments(bodies, angle)
        n_a = self.actuator.sampled(t, theta, theta_dot)
        return EnergyLedger(0.5 * self.k * (theta - self.theta0) ** 2, self.c * theta_dot**2, -n_a * theta_dot)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return angle, rate and torque; a positive torque acts against theta, as a positive force of a TSDA shortens it."""
        theta, theta_dot = self.arguments(bodies, angle)
        torque = self.k * (theta - self.theta0) + self.c * theta_dot + self.actuator.sampled(t, theta, theta_dot)
        return LoadValues({"angle": theta, "rate": theta_dot, "torque": torque}, -torque * theta_dot)


@kernel
def angle_rate(ints: Ints, k: int, m: Motion) -> float:
    """Return theta'."""
    i, j = m.body_of[ints[k, H_I]], m.body_of[ints[k, F_J]]
    omega_i, omega_j = to_global(m.A, i, load(m.bodies, i, OMEGA_BAR)), to_global(m.A, j, load(m.bodies, j, OMEGA_BAR))
    rate: float = dot(value(m, ints[k, H_I]), sub(omega_j, omega_i))
    return rate


@kernel
def angle(ints: Ints, k: int, m: Motion) -> float:
    """Return theta."""
    f_j = value(m, ints[k, F_J])
    alpha = atan2(dot(value(m, ints[k, G_I]), f_j), dot(value(m, ints[k, F_I]), f_j))
    theta: float = alpha + 2.0 * pi * floor((m.angles[ints[k, TURNS]] - alpha) / (2.0 * pi) + 0.5)
    return theta


@kernel
def measure(ints: Ints, floats: Array, first: int, last: int, m: Motion, signals: Array) -> None:
    """Write angle and rate of every element to its signal."""
    for k in range(first, last):
        signals[ints[k, SIGNAL], 0] = angle(ints, k, m)
        signals[ints[k, SIGNAL], 1] = angle_rate(ints, k, m)


@kernel
def potential(ints: Ints, floats: Array, first: int, last: int, m: Motion) -> float:
    """Return the potential energy of all elements."""
    total = 0.0
    for k in range(first, last):
        total += 0.5 * floats[k, K] * (angle(ints, k, m) - floats[k, THETA0]) ** 2
    return total


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the torques of all elements."""
    for k in range(first, last):
        theta, theta_dot = angle(ints, k, m), angle_rate(ints, k, m)
        n = floats[k, K] * (theta - floats[k, THETA0]) + floats[k, C] * theta_dot + m.F[ints[k, ACTUATOR], 0]
        h = value(m, ints[k, H_I])
        add_torque(Q, m.A, m.body_of[ints[k, H_I]], scale(n, h))
        add_torque(Q, m.A, m.body_of[ints[k, F_J]], scale(-n, h))


@kernel
def put_angle_rates(ints: Ints, floats: Array, first: int, last: int, m: Motion, rates: Array) -> None:
    """Write the rate of every integrated angle."""
    for k in range(first, last):
        rates[ints[k, TURNS]] = angle_rate(ints, k, m)


@kernel
def add_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add c_K K + c_C C of all elements; declared derivatives of the actuators count as stiffness and damping."""
    zero = (0.0, 0.0, 0.0)
    for k in range(first, last):
        h = value(m, ints[k, H_I])
        i, j = m.body_of[ints[k, H_I]], m.body_of[ints[k, F_J]]
        along = T.c_K * floats[k, K] + T.c_C * floats[k, C] + declared_stiffness(T, k)
        add_pair(T, k, i, j, along, (zero, to_body(m.A, i, h)), (zero, to_body(m.A, j, h)))
