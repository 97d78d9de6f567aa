r"""TwistLimit: the twist of a ball joint about an axis stays within limits, whatever its swing.

    a fixed on body i, b on body j, equal as modelled;  q: rotation of j against i since then
    theta  = 2 atan2(q . a, q_0)                        the twist: what is left when the swing, the shortest turn from a to b, is taken away
    theta' = n . (omega_j - omega_i),                   n = (a + b) / (1 + a . b)
    compliant      beyond a limit by x:  a torque -(k x + c theta') n, and none where this would push outwards
    restitution=   no force: `simulate` treats each limit as a contact of gap  (1 + a . b) sin(x / 2),  x = upper - theta  or  theta - lower

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

from haugmbd.bodies.frame import body_vector, triad
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.equations.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, LoadValues, turned
from haugmbd.forces.cone_limit import AngleLimit
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import from_axis_angle, normalized, product, rotation_matrix

TINY = 1e-9
"""1 + a . b below which the swing is half a turn, and the twist not defined: the torque is bounded there."""
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


@public_class
class TwistLimit(AngleLimit):
    """Limit of the twist between two bodies: springs and dampers that never pull, or impacts with restitution.

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
    restitution : float, optional
        In place of k and c, Newton's coefficient of restitution of rigid limits, from 0 (no bounce) to 1 (no loss). They are then contacts
        "NAME lower" and "NAME upper", which may stay closed.

    Raises
    ------
    UsageError
        If joint is not a Joint. Other bad values are collected in `faults()`.

    Notes
    -----
    `result.load(name)` has `angle` (the twist), `rate` and `torque` (positive along the twist). The swing is limited by `ConeLimit`.
    The moment of a rigid limit on body j is `result.contact("NAME upper").force` times -(a + b) / 2, the two axes: it is along the twist
    where the bodies do not swing.
    Source: Baerlocher and Boulic (2001).
    """

    kind = "TwistLimit"
    variable = MappingProxyType({"k": ((),), "c": ((),)})

    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        axis: Any,
        lower: float,
        upper: float,
        k: float | None = None,
        c: float = 0.0,
        restitution: float | None = None,
    ) -> None:
        super().__init__(name)
        if not isinstance(joint, Joint):
            raise UsageError(f"{self.where} needs a joint, got {joint!r}. Give the object that system.add(SJ(...)) returned.")
        faults, where = list[Fault](), self.where
        self.joint = joint
        self.axis = read_array(faults, where, "axis", axis, (3,))
        self.lower = read_number(faults, where, "lower", lower, unit="rad")
        self.upper = read_number(faults, where, "upper", upper, unit="rad")
        self.impulsive = restitution is not None
        self.restitution = None if restitution is None else read_number(faults, where, "restitution", restitution)
        self.k = None if k is None else read_number(faults, where, "k", k, unit="N m/rad")
        self.c = read_number(faults, where, "c", c, unit="N m s/rad")
        if not np.any(self.axis):
            faults.append(Fault(where, "axis is (0, 0, 0)", "Give a direction: three numbers, not all zero."))
        if not -pi < self.lower <= 0.0 <= self.upper < pi:
            what = f"its limits are {self.lower:g} and {self.upper:g} rad, must be -pi < lower <= 0 <= upper < pi"
            faults.append(Fault(where, what, "Model the bodies within the limits, from which the twist is counted."))
        elif self.impulsive and self.lower == self.upper:
            faults.append(Fault(where, "its rigid limits are equal", "Give lower < upper, or a joint that does not twist."))
        if self.impulsive == (k is not None) or (self.impulsive and self.c != 0.0):
            faults.append(Fault(where, "it needs k, or restitution, and not both", "Give k= and c= of a spring, or restitution="))
        if self.restitution is not None and not 0.0 <= self.restitution <= 1.0:
            faults.append(Fault(where, f"restitution is {self.restitution:g}, must be between 0 and 1", "Give 0 for no bounce."))
        if self.k is not None and not self.k > 0.0:
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

    def row(self, limit: float, side: float) -> ConstantVelocityRow:
        """Return the row of a rigid limit while it is closed, side (1 + a . b) / 2 sin(limit - theta): up to first order the gap.

        side: 1 of the upper limit, -1 of the lower one
        """
        i, j = self.joint.i, self.joint.j
        f, g, _ = triad(self._a_i).T
        # vectors of body j that come to lie along f and g as it twists by the limit
        to_j = rotation_matrix(product(self._modelled * CONJUGATE, from_axis_angle(self._a_i, -limit)))
        f_j, g_j = to_j @ f, to_j @ g
        # f_i . g_j - g_i . f_j = (1 + a . b) sin(limit - theta)
        return ConstantVelocityRow(i, f, g, j, 0.5 * side * f_j, 0.5 * side * g_j)

    def gap_and_rate(self, bodies: Array, limit: float, side: float) -> tuple[Array, Array]:
        """Return the gap of a rigid limit and its rate (nt,), along states (2, nt, 13)."""
        theta, rate, _ = self.twist(bodies)
        a, b = turned(bodies[0], self._a_i), turned(bodies[1], self._a_j)
        w = turned(bodies[0], bodies[0][:, OMEGA_BAR:WIDTH]) - turned(bodies[1], bodies[1][:, OMEGA_BAR:WIDTH])
        bent, bent_rate, x = 1.0 + np.sum(a * b, axis=1), np.sum(np.cross(a, b) * w, axis=1), side * (limit - theta)
        gap: Array = bent * np.sin(0.5 * x)
        return gap, bent_rate * np.sin(0.5 * x) - 0.5 * bent * np.cos(0.5 * x) * side * rate

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
        push = (self.k or 0.0) * x + self.c * rate
        return np.where(push * x > 0.0, -push, 0.0)

    def forces(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
        """Return (0, n_bar) of both bodies."""
        if self.impulsive:
            return np.zeros((2, 6))
        theta, rate, n = self.twist(np.hstack([r, p, v, omega_bar])[:, None])
        tau = float(self.torque(theta, rate)[0])
        return self.couple(p, n[0], tau) if tau != 0.0 else np.zeros((2, 6))

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        theta, rate, _ = self.twist(bodies)
        x, k = self.beyond(theta), self.k or 0.0
        return EnergyLedger(0.5 * k * x**2, -(self.torque(theta, rate) + k * x) * rate, np.zeros(len(t)))

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return the twist, its rate and the torque along it."""
        theta, rate, _ = self.twist(bodies)
        torque = self.torque(theta, rate)
        return LoadValues({"angle": theta, "rate": rate, "torque": torque}, torque * rate)
