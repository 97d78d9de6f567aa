r"""The rotor of a motor: a body behind a gear, on a bearing of the body that carries the motor.

    bearing   carrier and rotor, about the axis of the joint's coordinate q               rotor = theta against the carrier
    gear      theta = ratio q                                                             a row on three bodies, or two

The carrier is the body on which the axis of q is fixed. theta and q start with ratio q0 and q0, and with the modelled rates.
Source: Haug (2021), kinematic couplings; Featherstone (2008), sec. 9.6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.bodies.frame import Frame
from haugmbd.bodies.rotor import Rotor
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.composites import coincident, perpendicular_1
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.freedoms import H_I, Side, turn
from haugmbd.constraints.joint import Joint
from haugmbd.forces.base import modelled
from haugmbd.forces.joint_loads.joint_coordinate import coordinate_motion
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross


class MotorBearing(Joint):
    """The bearing of a motor's rotor on its carrier."""

    freedoms = (turn(H_I),)

    def __init__(self, name: str, frame_i: Frame, frame_j: Frame, q0: float) -> None:
        super().__init__(name, frame_i, frame_j)
        self.q0 = q0

    def primitives(self) -> tuple[Primitive, ...]:
        i, j = self.frame_i, self.frame_j
        return (*coincident(i.body, i.s_bar, j.body, j.s_bar), *perpendicular_1(i.body, i.f, i.g, j.body, j.h))


class MotorGear(Joint):
    """The gear between a motor's rotor and a joint: theta - ratio q = 0."""

    def __init__(self, name: str, bearing: MotorBearing, q: Coordinate, ratio: float) -> None:
        super().__init__(name, q.joint.frame_i if q.joint.j.is_ground else q.joint.frame_j, bearing.frame_j)
        self.bearing, self.coordinate_of_joint, self.ratio = bearing, q, ratio

    def needs(self) -> tuple[Joint, ...]:
        return (self.coordinate_of_joint.joint, self.bearing)

    def places(self) -> tuple[Frame, ...]:
        found = {self.i: self.frame_i, self.j: self.frame_j}
        for joint in self.needs():
            for frame in (joint.frame_j, joint.frame_i):
                found.setdefault(frame.body, frame)
        return tuple(found.values())

    def primitives(self) -> tuple[Primitive, ...]:
        theta = self.bearing.coordinate("angle")
        return (CouplingRow(((self.coordinate_of_joint, -self.ratio), (theta, 1.0)), 0.0),)


class RotorParts(NamedTuple):
    """The parts that a motor with a rotor adds to the system."""

    body: Rotor
    bearing: MotorBearing
    gear: MotorGear


def rotor_parts(name: str, q: Coordinate, ratio: float, inertia: float) -> RotorParts:
    """Return the rotor of a motor on the coordinate q, with its bearing and gear."""
    (carrier, e), (_, n), _ = q.markers()
    if not q.turns:
        axis = q.freedom.axis
        frame = q.joint.frame_i if q.freedom.side is Side.I else q.joint.frame_j
        e, n = (frame.A_bar[:, (axis + k) % 3] for k in (1, 2))
    frame = Frame(
        carrier, (q.joint.frame_i if carrier is q.joint.i else q.joint.frame_j).s_bar, np.column_stack((e, n, cross(e, n)))
    )
    a, b = (modelled((body,))[0] for body in q.bodies)
    rate = float(coordinate_motion(q, a, b, np.full(1, q.q0))[1][0])
    A = carrier.A @ frame.A_bar
    arm, omega = carrier.A @ frame.s_bar, carrier.A @ carrier.omega_bar
    beside = next((body.mass for body in (carrier, *q.bodies) if not body.is_ground), 1.0)
    body = Rotor(
        f"{name} rotor",
        inertia,
        beside,
        r=carrier.r + arm,
        p=euler_parameters.from_rotation_matrix(A),
        v=carrier.v + cross(omega, arm),
        omega_bar=A.T @ omega + np.array([0.0, 0.0, ratio * rate]),
    )
    bearing = MotorBearing(f"{name} bearing", frame, Frame(body, (0.0, 0.0, 0.0)), ratio * q.q0)
    return RotorParts(body, bearing, MotorGear(f"{name} gear", bearing, q, ratio))
