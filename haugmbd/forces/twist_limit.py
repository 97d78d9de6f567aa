r"""TwistLimit: the twist of a ball joint about an axis stays within limits, whatever its swing.

    a fixed on body i, b on body j, equal as modelled;  q: rotation of j against i since then
    theta  = 2 atan2(q . a, q_0)                        the twist: what is left when the swing, the shortest turn from a to b, is taken away
    theta' = n . (omega_j - omega_i),                   n = (a + b) / (1 + a . b)
    beyond a limit by x:  a torque -(k x + c theta') n, and none where this would push outwards

    potential energy  k x^2 / 2        dissipated power  (tau - k x) theta',  tau the size that pushes back

The twist is not defined where the swing is half a turn.
Source: Dobrowolski, Swing-twist decomposition in Clifford algebra (2015); Baerlocher and Boulic, Parametrization and range of motion of the
ball-and-socket joint (2001); the rate is derived here.
"""

from __future__ import annotations

from math import pi
from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.frame import body_vector
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, LoadValues, turned
from haugmbd.forces.cone_limit import AngleLimit
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import normalized, product

TINY = 1e-9
"""1 + a . b below which the swing is half a turn, and the twist not defined: the torque is bounded there."""
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


@public_class
class TwistLimit(AngleLimit):
    """Limit of the twist between two bodies: springs and dampers that never pull.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    joint : Joint
        The joint whose bodies twist: SJ, or any other one.
    axis : array_like, (3,)
        Direction of the twist, fixed on both bodies, global frame at the modelled pose.
    lower, upper : float
        The limits of the twist from the modelled pose [rad], -pi < lower <= 0 <= upper < pi; positive about the axis, of body j on body i.
    k : float
        Stiffness of the limits, positive [N m/rad].
    c : float
        Damping of the limits, not negative [N m s/rad].

    Raises
    ------
    UsageError
        If joint is not a Joint. Other bad values are collected in `faults()`.

    Notes
    -----
    `result.load(name)` has `angle` (the twist), `rate` and `torque` (positive along the twist). The swing is limited by `ConeLimit`.
    Source: Baerlocher and Boulic (2001).
    """

    kind = "TwistLimit"
    variable = MappingProxyType({"k": ((),), "c": ((),)})

    def __init__(self, name: str, joint: Joint, *, axis: Any, lower: float, upper: float, k: float, c: float = 0.0) -> None:
        super().__init__(name)
        if not isinstance(joint, Joint):
            raise UsageError(f"{self.where} needs a joint, got {joint!r}. Give the object that system.add(SJ(...)) returned.")
        faults, where = list[Fault](), self.where
        self.joint = joint
        self.axis = read_array(faults, where, "axis", axis, (3,))
        self.lower = read_number(faults, where, "lower", lower, unit="rad")
        self.upper = read_number(faults, where, "upper", upper, unit="rad")
        self.k = read_number(faults, where, "k", k, unit="N m/rad")
        self.c = read_number(faults, where, "c", c, unit="N m s/rad")
        if not np.any(self.axis):
            faults.append(Fault(where, "axis is (0, 0, 0)", "Give a direction: three numbers, not all zero."))
        if not -pi < self.lower <= 0.0 <= self.upper < pi:
            what = f"its limits are {self.lower:g} and {self.upper:g} rad, must be -pi < lower <= 0 <= upper < pi"
            faults.append(Fault(where, what, "Model the bodies within the limits, from which the twist is counted."))
        if not self.k > 0.0:
            faults.append(Fault(where, f"k is {self.k:g} N m/rad, must be positive", "Give the stiffness of the limits."))
        if self.c < 0.0:
            faults.append(Fault(where, f"c is {self.c:g} N m s/rad, must not be negative", "Give the damping of the limits."))
        sound = not faults and np.isfinite([*joint.i.A.flat, *joint.j.A.flat]).all()
        direction = self.axis / (float(np.linalg.norm(self.axis)) or 1.0)
        self._a_i = body_vector(joint.i, direction) if sound else np.array([0.0, 0.0, 1.0])
        self._a_j = body_vector(joint.j, direction) if sound else np.array([0.0, 0.0, 1.0])
        self._modelled = product(joint.i.p * CONJUGATE, joint.j.p) if sound else np.array([1.0, 0.0, 0.0, 0.0])
        self._faults = tuple(faults)

    def number_faults(self) -> tuple[Fault, ...]:
        return self._faults

    def twist(self, bodies: Array) -> tuple[Array, Array, Array]:
        """Return theta and its rate (nt,), and n (nt, 3), along states (2, nt, 13)."""
        (i, j), (a, b) = bodies, (turned(bodies[0], self._a_i), turned(bodies[1], self._a_j))
        p_i, p_j = (normalized(x[:, EULER:VELOCITY]) for x in (i, j))
        q = product(product(p_i * CONJUGATE, p_j), self._modelled * CONJUGATE)
        theta = 2.0 * np.arctan2(q[:, 1:] @ self._a_i, q[:, 0])
        theta -= 2.0 * pi * np.round(theta / (2.0 * pi))  # q and -q are one rotation
        n = (a + b) / np.maximum(1.0 + np.sum(a * b, axis=1), TINY)[:, None]
        w = turned(j, j[:, OMEGA_BAR:WIDTH]) - turned(i, i[:, OMEGA_BAR:WIDTH])
        return theta, np.sum(n * w, axis=1), n

    def beyond(self, theta: Array) -> Array:
        """Return by how much the twist is beyond a limit, with its sign (nt,)."""
        return np.maximum(theta - self.upper, 0.0) + np.minimum(theta - self.lower, 0.0)

    def torque(self, theta: Array, rate: Array) -> Array:
        """Return the torque along the twist [N m], (nt,)."""
        x = self.beyond(theta)
        push = self.k * x + self.c * rate
        return np.where(push * x > 0.0, -push, 0.0)

    def forces(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
        """Return (0, n_bar) of both bodies."""
        theta, rate, n = self.twist(np.hstack([r, p, v, omega_bar])[:, None])
        tau = float(self.torque(theta, rate)[0])
        return self.couple(p, n[0], tau) if tau != 0.0 else np.zeros((2, 6))

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        theta, rate, _ = self.twist(bodies)
        x = self.beyond(theta)
        return EnergyLedger(0.5 * self.k * x**2, -(self.torque(theta, rate) + self.k * x) * rate, np.zeros(len(t)))

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the twist, its rate and the torque along it."""
        theta, rate, _ = self.twist(bodies)
        torque = self.torque(theta, rate)
        return LoadValues({"angle": theta, "rate": rate, "torque": torque}, torque * rate)
