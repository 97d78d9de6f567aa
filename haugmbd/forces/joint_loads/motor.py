r"""Motor: a torque or force that drives a coordinate of a joint, through a gear and with a rotor if it has one.

    shaft      theta = ratio q,   T = torque(t, theta, theta')            joint without rotor     f = ratio T along q
    rotor      a body of its own behind a gear: T acts on it, and on the body that carries the motor with the other sign
    curve      T = curve(theta'): a torque-speed curve                    power  T theta'

Source: Haug (2021), generalized forces and kinematic couplings; Featherstone (2008), sec. 9.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.forces.base import LoadValues
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.joint_loads.characteristic import Characteristic, read_characteristic
from haugmbd.forces.joint_loads.joint_load import LINEAR, NOTHING, SPEED, Along, JointLoad, sampled_forces
from haugmbd.forces.joint_loads.motor_rotor import RotorParts, rotor_parts
from haugmbd.forces.user_function import SHAFT, Value, read_value

LARGEST_RATIO = 1e12
"""Largest gear ratio, and inverse of the smallest one: beyond it one side of the gear has no digits left, and would be locked."""


@public_class
class Motor(JointLoad):
    """A motor on a joint: torque or force, positive along the joint's coordinate, gear ratio and rotor inertia.

    Parameters
    ----------
    name : str
        Name of the motor in messages and results.
    joint : Joint or Coordinate
        A joint of one freedom, such as RJ or TJ, or a coordinate of a joint: `joint.coordinate("angle")`.
    torque : float, callable or Driver
        Torque of the motor's shaft [N m]: a number, a function f(t), a driver, or a function f(t, angle, speed) of the shaft; a Python
        function or an @njit function.
    force : float, callable or Driver
        In place of torque: force of a linear motor on a displacement [N]; a function f(t, displacement, speed).
    curve : (speed, torque) or QuinticSpline
        In place of torque or force: torque over the speed of the shaft, as a spline or a table of two lists, speeds and torques: ((0, 300),
        (2, 0)) is 2 N m at rest and 0 at 300 rad/s.  Monotone cubics interpolate a table.  Beyond its ends it continues with the slopes
        there: a motor that is driven faster brakes.  For a freewheel end it with zeros: ((0, 300, 310), (2, 0, 0)).
    ratio : float
        Turn of the shaft for one of the joint, theta = ratio q; the joint gets ratio times the torque. On a displacement that a torque
        drives through a spindle it is in rad/m.
    rotor_inertia : float
        Inertia of the rotor about its axis [kg m2]; 0 for none.
    jacobian : callable, optional
        Derivative of a stiff function, for implicit methods: jacobian(t, angle, speed) -> (dT/dangle, dT/dspeed). Without it they use
        differences.

    Raises
    ------
    UsageError
        If joint is neither a Joint nor a Coordinate. Other bad values are collected in `faults()`.

    Notes
    -----
    Positive along the coordinate, unlike the actuator of an RSDA. A motor with rotor_inertia adds three parts to the system: the body
    "NAME rotor", its bearing on the body that carries the joint's axis, and a gear, so that gyroscopic and reaction torques are exact.
    The mass of the rotor and its inertia across the axis belong to the body that carries it. That is the body on which the axis is fixed,
    body i of an RJ: with RJ(name, base, arm) the rotor is on the base, and the arm gets the reflected inertia ratio^2 J. With
    RJ(name, arm, base) it is on the moving arm, which gets (1 - ratio)^2 J: exchange the bodies of the joint for a motor on the base.
    `result.load(name)` has angle, rate and torque of the shaft.
    Source: Haug (2021), kinematic couplings; Featherstone (2008), sec. 9.6.
    """

    kind = "Motor"

    def __init__(
        self,
        name: str,
        joint: Joint | Coordinate,
        *,
        torque: Any = None,
        force: Any = None,
        curve: Any = None,
        ratio: float = 1.0,
        rotor_inertia: float = 0.0,
        jacobian: Any = None,
    ) -> None:
        super().__init__(name, (joint,))
        faults, where = self._own, self.where
        q = self._coordinates[0] if self._coordinates else None
        self.linear = force is not None or (torque is None and q is not None and not q.turns)
        self.gear_ratio = read_number(faults, where, "ratio", ratio)
        self.rotor_inertia = read_number(faults, where, "rotor_inertia", rotor_inertia, unit="kg m2")
        self._check(faults, q, (torque, force, curve))
        units = ("m/s", "N") if self.linear else ("rad/s", "N m")
        label, given = ("force", force) if force is not None else ("torque", torque)
        self.effort: Value = NOTHING if given is None else read_value(faults, where, label, given, SHAFT, (), units[1])
        self.curve: Characteristic | None = None if curve is None else read_characteristic(faults, where, "curve", curve, units)
        self.jacobian = read_jacobian(faults, where, label, jacobian, self.effort)
        self.law = LINEAR if curve is None else SPEED
        self.ratio = self.gear_ratio
        self._faults = tuple(faults)
        self.driven = q
        self.rotor: RotorParts | None = None
        if q is not None and not faults and self.rotor_inertia > 0.0 and self._placed():
            self.rotor = rotor_parts(name, q, self.gear_ratio, self.rotor_inertia)
            self._coordinates, self.ratio = (self.rotor.bearing.coordinate("angle"),), 1.0
            self._joints = (*self._joints, self.rotor.bearing)

    def _check(self, faults: list[Fault], q: Coordinate | None, efforts: tuple[Any, Any, Any]) -> None:
        """Add faults of the choice of efforts, of the ratio and of the rotor."""
        where, given = self.where, [name for name, x in zip(("torque", "force", "curve"), efforts, strict=True) if x is not None]
        if len(given) != 1:
            what = f"it has {' and '.join(given)}" if given else "it has no torque"
            faults.append(Fault(where, what, "Give one of torque=, force= (along a displacement) and curve=."))
        if "force" in given and q is not None and q.turns:
            faults.append(Fault(where, f"it has a force, and {q.label} is an angle", "Give torque=."))
        if self.gear_ratio == 0.0:
            faults.append(
                Fault(where, "ratio is zero: the motor would not be connected", "Give turns of the shaft for one of the joint.")
            )
        elif np.isfinite(self.gear_ratio) and not 1.0 / LARGEST_RATIO <= abs(self.gear_ratio) <= LARGEST_RATIO:
            what = f"ratio is {self.gear_ratio:g}, and |ratio| is not within {1.0 / LARGEST_RATIO:g} ... {LARGEST_RATIO:g}"
            faults.append(Fault(where, what, "Give turns of the shaft for one of the joint; check its unit."))
        if self.rotor_inertia < 0.0:
            what = f"rotor_inertia is {self.rotor_inertia:g} kg m2, must not be negative"
            faults.append(Fault(where, what, "Give the inertia about the axis of the shaft."))
        if self.linear and self.rotor_inertia > 0.0:
            what = "it is a linear motor, and has a rotor_inertia"
            faults.append(
                Fault(where, what, "Give torque= and ratio= [rad/m] of a spindle, or add what moves to the mass of the body.")
            )

    def parts(self) -> tuple[Any, ...]:
        return () if self.rotor is None else tuple(self.rotor)

    def built_on(self) -> tuple[tuple[Joint, str], ...]:
        return () if self.rotor is None or self.driven is None else tuple((self.driven.joint, name) for name in ("axis", "point"))

    def value(self) -> Value:
        return self.effort

    def constants(self) -> tuple[float, ...]:
        return () if self.curve is None else (0.0, 0.0, 0.0, 0.0, 0.0, *self.curve.numbers.tolist())

    @property
    def conservative(self) -> bool:
        return self.curve is None and self.effort.is_nothing

    def along(self, t: Array, q: Array, q_dot: Array) -> Along:
        angle, speed = self.ratio * q, self.ratio * q_dot
        torque = sampled_forces(self.effort, True, t, angle, speed) if self.curve is None else self.curve.values(speed[:, 0])[:, :1]
        nothing = np.zeros(len(t))
        return Along(self.ratio * torque, nothing, nothing, np.sum(torque * speed, axis=1))

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return angle, rate and torque of the shaft, or displacement, rate and force of a linear motor."""
        q, rate = self.motion(bodies, angle)
        along = self.along(t, q, rate)
        names = ("displacement", "force") if self.linear else ("angle", "torque")
        values = (self.ratio * q[:, 0], self.ratio * rate[:, 0], along.force[:, 0] / self.ratio)
        return LoadValues(dict(zip((names[0], "rate", names[1]), values, strict=True)), along.applied)
