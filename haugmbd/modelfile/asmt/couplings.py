r"""Gears, racks and screws as couplings of the joints that their parts have with each other, or with a common carrier.

    GearJoint          r_i a_i + r_j a_j = const          a: angle of a wheel against the carrier, about z of its marker
    RackPinionJoint    x_ij + r theta_ij = const          marker i on the rack, x along it;  marker j on the pinion, z its axis
    ScrewJoint         2 pi z_ij - pitch theta_ij = const

x_ij, z_ij, theta_ij are those of marker j in the axes of marker i. The solver counts the angles of a gear from the line between the two
markers, which rests on the carrier; a belt is a gear with one negative radius. All constants are those of the pose as read.
Source: the equations that OndselSolver solves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import pi
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT, Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.errors import UsageError
from haugmbd.joints import CJ, RJ, TJ, Coupling, Gear, RackPinion, Screw
from haugmbd.math.euler_parameters import cross

ALIGNED = 1e-6
"""Sine of an angle between axes that are parallel, and a distance of axes that are one, relative to that of the markers."""


NEARLY = 0.99
"""Cosine of the angle between z-axes that are parallel once the joints are closed."""


class Term(NamedTuple):
    """A coordinate that is part of a relative coordinate, and its sign there."""

    coordinate: Coordinate
    sense: float


def coupling_between(kind: str, name: str, i: Frame, j: Frame, values: dict[str, float], joints: list[Joint]) -> Joint:
    """Return the coupling of a GearJoint, a RackPinionJoint or a ScrewJoint; `joints`: those of the assembly.

    Raise UsageError if the parts have no joints that its equation is one of.
    """
    keys = {"GearJoint": ("radiusI", "radiusJ"), "RackPinionJoint": ("pitchRadius",), "ScrewJoint": ("pitch",)}[kind]
    numbers = [values.get(key, 0.0) for key in keys]
    if not all(numbers):
        raise UsageError(f"a {kind} needs {' and '.join(keys)}, which are not zero")
    if kind == "GearJoint":
        return _gear(name, i, j, numbers[0], numbers[1], joints)
    if kind == "RackPinionJoint":
        return _rack(name, i, j, numbers[0], joints)
    return _screw(name, i, j, numbers[0], joints)


def _gear(name: str, i: Frame, j: Frame, r_i: float, r_j: float, joints: list[Joint]) -> Joint:
    """Return a Gear of the hinges of two wheels."""
    if min(_distance(i.point, j.A[:, 2], j.point), _distance(j.point, i.A[:, 2], i.point)) <= ALIGNED * _apart(i, j):
        raise UsageError(
            "the markers of a GearJoint are on one axis: which way its wheels turn is not known; add a Gear to the system"
        )
    for _, joint_i, joint_j in _through_carrier(i.body, j.body, joints):
        a, b = (_turning(joint, end, end.A[:, 2], at_origin=True) for joint, end in ((joint_i, i), (joint_j, j)))
        if a is not None and b is not None:
            return Gear(name, a.coordinate, b.coordinate, ratio=-(r_i * a.sense) / (r_j * b.sense))
    raise UsageError("the wheels of a GearJoint need hinges on a common carrier, along z of its markers")


def _rack(name: str, i: Frame, j: Frame, radius: float, joints: list[Joint]) -> Joint:
    """Return a RackPinion of the slide of the rack and the hinge of the pinion."""
    same = _parallel("RackPinionJoint", i, j)
    for _, joint_i, joint_j in _through_carrier(i.body, j.body, joints):
        x, theta = _sliding(joint_i, i, i.A[:, 0]), _turning(joint_j, j, j.A[:, 2], at_origin=True)
        if type(joint_i) is TJ and x is not None and theta is not None:
            return RackPinion(name, theta.coordinate, x.coordinate, radius=radius * same * theta.sense * x.sense)
    reversed_too = any(
        type(joint_j) is TJ and _turning(joint_i, i, i.A[:, 2], at_origin=True) is not None
        for _, joint_i, joint_j in _through_carrier(i.body, j.body, joints)
    )
    if reversed_too:
        raise UsageError(
            "the markers of a RackPinionJoint stand the other way round: marker I is on the pinion, and must be on the rack"
        )
    raise UsageError(
        "a RackPinionJoint needs a slide of the rack, along x of its marker, and a hinge of the pinion, on a common carrier"
    )


def _screw(name: str, i: Frame, j: Frame, pitch: float, joints: list[Joint]) -> Joint:
    """Return a Screw, a RackPinion or a Coupling of the turning and the sliding about one axis."""
    same = _parallel("ScrewJoint", i, j)
    ways = [[(joint, j, same)] for joint in joints if {joint.i, joint.j} == {i.body, j.body}]
    ways += [[(joint_i, i, -1.0), (joint_j, j, same)] for _, joint_i, joint_j in _through_carrier(i.body, j.body, joints)]
    for steps in ways:
        turns, slides = [], []
        for joint, end, sign in steps:
            theta, z = _turning(joint, end, end.A[:, 2], at_origin=False), _sliding(joint, end, end.A[:, 2])
            turns += [] if theta is None else [Term(theta.coordinate, sign * theta.sense)]
            slides += [] if z is None else [Term(z.coordinate, sign * z.sense)]
            if theta is None and z is None:
                break
        else:
            if turns and slides:
                return _lead(name, turns, slides, pitch)
    raise UsageError(
        "the parts of a ScrewJoint need a cylindrical joint, or a hinge and a slide on a common carrier, along z of marker I"
    )


def _lead(name: str, turns: list[Term], slides: list[Term], pitch: float) -> Joint:
    """Return the coupling  sum of displacements = pitch / 2 pi * sum of angles."""
    (theta, sense_theta), (z, sense_z) = turns[0], slides[0]
    if len(turns) == len(slides) == 1:
        if theta.joint is z.joint:
            return Screw(name, theta.joint, pitch=pitch * sense_theta * sense_z)
        return RackPinion(name, theta, z, radius=pitch / (2.0 * pi) * sense_theta * sense_z)
    terms: dict[Joint | Coordinate, float] = {one.coordinate: one.sense for one in slides}
    return Coupling(name, terms | {one.coordinate: -pitch / (2.0 * pi) * one.sense for one in turns})


def _through_carrier(a: Body, b: Body, joints: list[Joint]) -> Iterator[tuple[Body, Joint, Joint]]:
    """Yield each body that a and b both have a joint with, and the two joints."""
    at: dict[Body, list[list[Joint]]] = {}
    for joint in joints:
        for side, body in enumerate((a, b)):
            if body in (joint.i, joint.j):
                other = joint.j if joint.i is body else joint.i
                at.setdefault(other, [[], []])[side].append(joint)
    for carrier, (first, second) in at.items():
        if carrier not in (a, b):
            for one, two in product(first, second):
                yield carrier, one, two


def _turning(joint: Joint, end: Frame, axis: Array, *, at_origin: bool) -> Term | None:
    """Return the angle of the body of a marker against the other one of a joint, about an axis; None if it has none.

    at_origin: the axis of the joint must go through the origin of the marker
    """
    axis_frame = _own(joint, end)
    if type(joint) not in (RJ, CJ) or not _along(axis_frame, axis):
        return None
    if at_origin and _distance(end.point, axis_frame.A[:, 2], axis_frame.point) > ALIGNED * (
        1.0 + float(np.linalg.norm(axis_frame.s_bar))
    ):
        return None
    return Term(joint.coordinate(ANGLE), _sense(joint, end, axis_frame, axis))


def _sliding(joint: Joint, end: Frame, axis: Array) -> Term | None:
    """Return the displacement of the body of a marker against the other one of a joint, along an axis; None if it has none."""
    axis_frame = _own(joint, end)
    if type(joint) not in (TJ, CJ) or not _along(axis_frame, axis):
        return None
    return Term(joint.coordinate(DISPLACEMENT), _sense(joint, end, axis_frame, axis))


def _own(joint: Joint, end: Frame) -> Frame:
    """Return the frame of a joint on the body of a marker: both keep their places on it, also where the joint is open."""
    return joint.frame_j if joint.j is end.body else joint.frame_i


def _sense(joint: Joint, end: Frame, axis_frame: Frame, axis: Array) -> float:
    """Return the sign of the motion of the body of a marker along its axis in the coordinate of a joint."""
    return float(np.sign(axis_frame.A[:, 2] @ axis)) * (1.0 if joint.j is end.body else -1.0)


def _parallel(kind: str, i: Frame, j: Frame) -> float:
    """Return 1 or -1, the sign of z_i . z_j. Raise UsageError unless the z-axes are parallel, or nearly so where joints are open."""
    cosine = float(i.A[:, 2] @ j.A[:, 2])
    if abs(cosine) < NEARLY:
        raise UsageError(f"the markers of a {kind} must have parallel z-axes")
    return float(np.sign(cosine))


def _along(frame: Frame, axis: Array) -> bool:
    return float(np.linalg.norm(cross(frame.A[:, 2], axis))) <= ALIGNED


def _distance(point: Array, axis: Array, on: Array) -> float:
    """Return the distance of a point from the line through `on` along a unit vector."""
    return float(np.linalg.norm(cross(point - on, axis)))


def _apart(i: Frame, j: Frame) -> float:
    return float(np.linalg.norm(i.point - j.point)) or 1.0
