r"""ConeLimit: a direction of body j stays within a cone about a direction of body i, such as the swing of a ball joint.

    theta = angle between a_i and a_j          theta <= angle
    compliant      x = theta - angle > 0:  a torque -(k x + c theta') about a_i x a_j, and none where this would push outwards
    restitution=   no force: `simulate` treats it as a contact of gap  (a_i . a_j - cos angle) / sin angle,  which is angle - theta near 0

    potential energy  k x^2 / 2        dissipated power  (tau - k x) theta',  tau the size of the torque

Source: Haug (2021), generalized forces; the swing of a ball joint: Baerlocher and Boulic (2001), parametrization of limits.
"""

from __future__ import annotations

from math import pi
from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_vector
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, sign_at, turned
from haugmbd.math.body_columns import OMEGA_BAR, WIDTH
from haugmbd.math.euler_parameters import normalized, rotation_matrix

START_TOL = 1e-9
"""Excess over the limit at the modelled pose [rad] that is rounding of typed numbers."""
TINY = 1e-12
"""Sine of the angle below which the direction of the swing is not known; the limit is far away there."""


class AngleLimit(ForceElement):
    """What limits of an angle between the two bodies of a joint share: a couple about an axis n, with a damper of c."""

    joint: Joint
    c: float
    _a_i: Array
    _a_j: Array

    @property
    def axes(self) -> tuple[Array, Array]:
        """Return the unit vectors of the limit on body i and on body j, body frames (3,)."""
        return self._a_i, self._a_j

    def bodies(self) -> tuple[Body, ...]:
        return (self.joint.i, self.joint.j)

    def needs(self) -> tuple[Joint, ...]:
        return (self.joint,)

    def points(self) -> dict[str, Frame]:
        return {"": self.joint.frame_j}

    def marks(self) -> tuple[Mark, ...]:
        return (sign_at(type(self).__name__, self.joint.frame_i, self.joint.frame_j),)

    @property
    def keeps_energy(self) -> bool:
        return self.c == 0.0

    @staticmethod
    def couple(p: Array, n: Array, tau: float) -> Array:
        """Return (0, n_bar) of both bodies (2, 6), of a torque tau n on body j, and its opposite on body i.  p: (2, 4), n: (3,) global"""
        Q = np.zeros((2, 6))
        for side, sign in ((0, -1.0), (1, 1.0)):
            Q[side, 3:] = sign * tau * (rotation_matrix(normalized(p[side])).T @ n)
        return Q


@public_class
class ConeLimit(AngleLimit):
    """Limit of the swing between two bodies: springs and dampers that never pull, or impacts with restitution.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    joint : Joint
        The joint whose bodies swing: SJ, UJ, or any other one.
    axis : array_like, (3,)
        Direction fixed on body j, global frame at the modelled pose.
    angle : float
        The largest angle to the axis of the cone [rad], between 0 and pi.
    center : array_like, (3,), optional
        Axis of the cone, fixed on body i, global frame at the modelled pose; by default `axis`.
    k : float
        Stiffness of the limit, positive [N m/rad].
    c : float
        Damping of the limit, not negative [N m s/rad].
    restitution : float, optional
        In place of k and c, Newton's coefficient of restitution of a rigid limit, from 0 (no bounce) to 1 (no loss). It is then a contact
        of that name.

    Raises
    ------
    UsageError
        If joint is not a Joint. Other bad values are collected in `faults()`, such as a modelled pose beyond the limit.

    Notes
    -----
    `result.load(name)` has `angle`, `rate` and `torque`, the size that pushes back. With c the torque jumps where the limit is met.
    Source: Haug (2021), generalized forces and virtual work.
    """

    kind = "ConeLimit"
    variable = MappingProxyType({"k": ((),), "c": ((),)})

    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        axis: Any,
        angle: float,
        center: Any = None,
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
        self.center = self.axis if center is None else read_array(faults, where, "center", center, (3,))
        self.angle = read_number(faults, where, "angle", angle, unit="rad")
        self.impulsive = restitution is not None
        self.restitution = None if restitution is None else read_number(faults, where, "restitution", restitution)
        self.k = None if k is None else read_number(faults, where, "k", k, unit="N m/rad")
        self.c = read_number(faults, where, "c", c, unit="N m s/rad")
        for label, vector in (("axis", self.axis), ("center", self.center)):
            if not np.any(vector):
                faults.append(Fault(where, f"{label} is (0, 0, 0)", "Give a direction: three numbers, not all zero."))
        if not 0.0 < self.angle < pi:
            faults.append(
                Fault(where, f"angle is {self.angle:g} rad, must be between 0 and pi", "Give the half angle of the cone [rad].")
            )
        if self.impulsive == (k is not None) or (self.impulsive and self.c != 0.0):
            faults.append(
                Fault(
                    where,
                    "it needs k, or restitution, and not both",
                    "Give k= and c= of a spring, or restitution=",
                )
            )
        if self.k is not None and not self.k > 0.0:
            faults.append(Fault(where, f"k is {self.k:g} N m/rad, must be positive", "Give the stiffness of the limit."))
        if self.c < 0.0:
            faults.append(Fault(where, f"c is {self.c:g} N m s/rad, must not be negative", "Give the damping of the limit."))
        if self.restitution is not None and not 0.0 <= self.restitution <= 1.0:
            faults.append(Fault(where, f"restitution is {self.restitution:g}, must be between 0 and 1", "Give 0 for no bounce."))
        self._own = tuple(faults)
        sound = not faults and np.isfinite([*joint.i.A.flat, *joint.j.A.flat]).all()
        size_i, size_j = (float(np.linalg.norm(x)) or 1.0 for x in (self.center, self.axis))
        self._a_i = body_vector(joint.i, self.center / size_i) if sound else np.array([0.0, 0.0, 1.0])
        self._a_j = body_vector(joint.j, self.axis / size_j) if sound else np.array([0.0, 0.0, 1.0])
        self._faults = (*self._own, *(self._start_faults() if sound else ()))

    def _start_faults(self) -> tuple[Fault, ...]:
        """Return a fault of a modelled pose beyond the limit."""
        theta = float(np.arccos(np.clip((self.joint.i.A @ self._a_i) @ (self.joint.j.A @ self._a_j), -1.0, 1.0)))
        if theta - self.angle <= START_TOL:
            return ()
        what = (
            f"the modelled pose violates it: the angle is {theta:.6g} rad, {theta - self.angle:.6g} rad beyond {self.angle:g} rad"
        )
        return (Fault(self.where, what, "Model the bodies within the cone, or give a larger angle."),)

    def number_faults(self) -> tuple[Fault, ...]:
        return self._own

    def row(self) -> DP1:
        """Return the row of the rigid limit while it is closed, whose Phi is the gap [rad] and whose multiplier the torque [N m]."""
        sine, cosine = np.sin(self.angle), np.cos(self.angle)
        return DP1(self.joint.i, self._a_i, self.joint.j, self._a_j / sine, float(cosine / sine))

    def swing(self, bodies: Array) -> tuple[Array, Array, Array]:
        """Return theta and its rate (nt,), and the unit axis a_i x a_j (nt, 3), along states (2, nt, 13)."""
        (i, j), (a, b) = bodies, (turned(bodies[0], self._a_i), turned(bodies[1], self._a_j))
        across = np.cross(a, b)
        sine = np.linalg.norm(across, axis=1)
        n = across / np.maximum(sine, TINY)[:, None]
        w = turned(j, j[:, OMEGA_BAR:WIDTH]) - turned(i, i[:, OMEGA_BAR:WIDTH])
        return np.arctan2(sine, np.sum(a * b, axis=1)), np.sum(n * w, axis=1), n

    def torque(self, theta: Array, rate: Array) -> Array:
        """Return the size of the torque that pushes back [N m], (nt,)."""
        x = theta - self.angle
        push = (self.k or 0.0) * x + self.c * rate
        return np.where((x > 0.0) & (push > 0.0), push, 0.0)

    def forces(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
        """Return (0, n_bar) of both bodies."""
        if self.impulsive:
            return np.zeros((2, 6))
        theta, rate, n = self.swing(np.hstack([r, p, v, omega_bar])[:, None])
        tau = float(self.torque(theta, rate)[0])
        return self.couple(p, n[0], -tau) if tau > 0.0 else np.zeros((2, 6))

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        theta, rate, _ = self.swing(bodies)
        x, k = np.maximum(theta - self.angle, 0.0), self.k or 0.0
        return EnergyLedger(0.5 * k * x**2, (self.torque(theta, rate) - k * x) * rate, np.zeros(len(t)))

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return angle, rate and torque, the size that pushes back."""
        theta, rate, _ = self.swing(bodies)
        torque = self.torque(theta, rate)
        return LoadValues({"angle": theta, "rate": rate, "torque": torque}, -torque * rate)
