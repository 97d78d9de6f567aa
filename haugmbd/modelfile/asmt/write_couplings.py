r"""Couplings of two coordinates as GearJoint, RackPinionJoint or ScrewJoint: the inverse of `couplings`, with markers made for them.

    two angles               GearJoint          r_i s_a q_a + r_j s_b q_b = 0
    angle and displacement   RackPinionJoint    x along the slide, normal to the axis of the hinge;    ScrewJoint    along it
s = 1 where the wheel, or the rack, is body j of its joint, -1 where it is body i.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.errors import UsageError
from haugmbd.joints import CJ, RJ, TJ
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.asmt.couplings import ALIGNED
from haugmbd.modelfile.exports import constant_terms


class Record(NamedTuple):
    """A joint of ASMT: its type, its markers, and its lengths [m] by key."""

    kind: str
    i: Frame
    j: Frame
    lengths: dict[str, float]


class End(NamedTuple):
    """A body that a coordinate moves against the carrier: its frame there, the axis (global), and the sign s."""

    frame: Frame
    axis: Array
    sense: float


def record_of(joint: Joint) -> Record:
    """Return a coupling as a joint of ASMT. Raise UsageError for one that cannot be written."""
    terms = constant_terms(joint)
    if len(terms) != 2:
        raise UsageError("only couplings of two coordinates, constant in time, can be written")
    if any(type(coordinate.joint) not in (RJ, TJ, CJ) for coordinate, _ in terms):
        raise UsageError("only coordinates of RJ, TJ and CJ can be coupled there")
    (one, c_1), (two, c_2) = sorted(terms, key=lambda term: not term[0].turns)
    if one.joint is two.joint:
        return Record("ScrewJoint", one.joint.frame_i, one.joint.frame_j, {"pitch": -2.0 * pi * c_1 / c_2})
    first, second = _ends(one, two)
    if one.turns and two.turns:
        return _gear(first, second, c_1, c_2)
    if not one.turns:
        raise UsageError("two displacements cannot be coupled there")
    return _rack_or_screw(first, second, -c_1 / c_2)


def _ends(one: Coordinate, two: Coordinate) -> tuple[End, End]:
    """Return the bodies that two coordinates move against their common carrier. Raise UsageError if they have none."""
    for carrier in (one.joint.i, one.joint.j):
        if carrier in (two.joint.i, two.joint.j):
            return _end(one, carrier), _end(two, carrier)
    raise UsageError("its joints have no common carrier")


def _end(coordinate: Coordinate, carrier: Body) -> End:
    joint = coordinate.joint
    frame = joint.frame_i if joint.j is carrier else joint.frame_j
    return End(frame, joint.frame_i.A[:, 2], -1.0 if joint.j is carrier else 1.0)


def _gear(a: End, b: End, c_a: float, c_b: float) -> Record:
    radii = np.array((c_a * a.sense, c_b * b.sense))
    d = b.frame.point - a.frame.point
    apart = float(np.linalg.norm(d))
    if min(float(np.linalg.norm(cross(d, end.axis))) for end in (a, b)) <= ALIGNED * apart:
        raise UsageError("its axes are one, and the equation of a GearJoint needs a line between them")
    radii *= apart / np.abs(radii).sum()
    return Record("GearJoint", _marker(a, triad(a.axis)), _marker(b, triad(b.axis)), {"radiusI": radii[0], "radiusJ": radii[1]})


def _rack_or_screw(pinion: End, rack: End, factor: float) -> Record:
    """Return the coupling  displacement = factor * angle."""
    along = float(pinion.axis @ rack.axis)
    factor *= pinion.sense * rack.sense
    if abs(along) <= ALIGNED:
        A = np.column_stack((rack.axis, cross(pinion.axis, rack.axis), pinion.axis))
        return Record("RackPinionJoint", _marker(rack, A), _marker(pinion, A), {"pitchRadius": factor})
    if 1.0 - abs(along) <= ALIGNED:
        A = triad(pinion.axis)
        return Record("ScrewJoint", _marker(rack, A), _marker(pinion, A), {"pitch": -2.0 * pi * factor * float(np.sign(along))})
    raise UsageError("its slide is neither along nor across the axis of its hinge")


def _marker(end: End, A: Array) -> Frame:
    """Return a marker at the point of a joint, with global axes A."""
    body = end.frame.body
    return Frame(body, end.frame.s_bar, body.A.T @ A)
