r"""Joints between two markers: z is the axis of a marker, x and y are across.

    Revolute     origins coincide, z_i along z_j              AngleJoint     z_i . z_j = cos(angle)
    Cylindrical  origin of j on the z-axis of i, z_i along z_j    SphSph     the origins keep a distance
    Planar       z_i . d_ij = offset, z_i along z_j           NoRotation     all axes keep their directions
    ConstantVelocity    origins coincide, x_i . y_j + y_i . x_j = 0:  no twist of markers whose z point against each other
    RevRev       z_i along z_j, z_i . d_ij = 0, |d_ij| = distance:  a massless link between two parallel hinges

The frames of the joints are the markers, so that a motion has the solver's own angle: from x_i to x_j about z_i.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin

import numpy as np

from haugmbd.bodies.frame import Frame
from haugmbd.constraints import DP1, DP2, D
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint, Single
from haugmbd.errors import UsageError
from haugmbd.joints import (
    CJ,
    RJ,
    SJ,
    TJ,
    UJ,
    Composed,
    ConstantVelocity,
    Distance,
    Fixed,
    Locked,
    Parallel,
    Perpendicular,
    Place,
    Planar,
    PointInPlane,
    PointOnLine,
    Vectors,
)
from haugmbd.modelfile.parts.equations import Equations
from haugmbd.tolerances import is_rounding

ALIGNED = 1e-6
"""Sine of an angle below which an AngleJoint keeps two axes parallel."""

Values = dict[str, float]
Maker = Callable[[str, Frame, Frame, Values], Joint]


def joint_between(kind: str, name: str, i: Frame, j: Frame, values: Values) -> Joint:
    """Return the joint of a type of ASMT. Raise UsageError for a type that cannot be read."""
    if kind not in MAKERS:
        raise UsageError(f"the type {kind!r:.40} is not known")
    return MAKERS[kind](name, i, j, values)


def _turned(i: Frame, j: Frame) -> Frame:
    """Return the frame on body j with z on the side of z_i: turned by half a turn about its x-axis if it is not."""
    if i.A[:, 2] @ j.A[:, 2] >= 0.0:
        return j
    return Frame(j.body, j.s_bar, j.A_bar * np.array((1.0, -1.0, -1.0)))


def _composed(kind: type[Composed]) -> Maker:
    """Return a maker of joints of the catalogue whose axis is z of both markers."""

    def make(name: str, i: Frame, j: Frame, values: Values) -> Joint:
        i, j = _shifted(i, values.get("offset", 0.0)), _turned(i, j)
        place = Place(i, j, Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h), ())
        return kind._locked(name, place, 0.0) if issubclass(kind, Locked) else kind._at(name, place)

    return make


def _shifted(frame: Frame, offset: float) -> Frame:
    """Return a frame moved along its z-axis."""
    return frame if offset == 0.0 else Frame(frame.body, frame.s_bar + offset * frame.h, frame.A_bar)


def _fixed(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    return Fixed._locked(name, Place(i, j, Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h), ()), 0.0)


def _translational(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    return TJ._locked(name, Place(i, j, Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h), ()), 0.0)


def _spherical(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    return SJ.from_vectors(name, i.body, i.s_bar, j.body, j.s_bar)


def _universal(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    return UJ.from_vectors(name, i.body, i.s_bar, i.h, j.body, j.s_bar, j.h)


def _constant_velocity(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    """Return the joint: a_j, b_j = x_j, -y_j are the axes of marker j, turned about x by a half turn, so that z points along that of i."""
    return ConstantVelocity.from_vectors(name, i.body, i.s_bar, i.f, i.g, j.body, j.s_bar, j.f, -np.asarray(j.g))


def _in_plane(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    i = _shifted(i, values.get("offset", 0.0))
    return PointInPlane.from_vectors(name, i.body, i.s_bar, i.h, j.body, j.s_bar)


def _line_in_plane(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    i = _shifted(i, values.get("offset", 0.0))
    rows = DP2(i.body, i.h, i.s_bar, j.body, j.s_bar), DP1(i.body, i.h, j.body, j.h)
    return Equations(name, i, j, rows, None)


def _on_line(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    return PointOnLine.from_vectors(name, i.body, i.s_bar, i.f, i.g, j.body, j.s_bar)


def _perpendicular(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    return Perpendicular.from_vectors(name, i.body, i.h, j.body, j.h)


def _no_rotation(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    rows = (DP1(i.body, i.f, j.body, j.h), DP1(i.body, i.g, j.body, j.h), DP1(i.body, i.f, j.body, j.g))
    return Equations(name, i, j, rows, None)


def _angle(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    angle = values.get("theIzJz", 0.0)
    if abs(sin(angle)) <= ALIGNED:
        if cos(angle) < 0.0:
            j = Frame(j.body, j.s_bar, j.A_bar * np.array((1.0, -1.0, -1.0)))
        return Parallel._at(name, Place(i, j, Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h), ()))
    return Single(name, DP1(i.body, i.h, j.body, j.h, cos(angle)))


def _ball_link(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    distance = values.get("distanceIJ", 0.0)
    if distance == 0.0:
        return _spherical(name, i, j, values)
    return Distance.from_vectors(name, i.body, i.s_bar, j.body, j.s_bar, distance)


def _hinge_link(name: str, i: Frame, j: Frame, values: Values) -> Joint:
    distance, j = values.get("distanceIJ", 0.0), _turned(i, j)
    if distance == 0.0:
        return _composed(RJ)(name, i, j, {})
    rows: tuple[Primitive, ...] = (
        DP1(i.body, i.f, j.body, j.h),
        DP1(i.body, i.g, j.body, j.h),
        DP2(i.body, i.h, i.s_bar, j.body, j.s_bar),
        D(i.body, i.s_bar, j.body, j.s_bar, distance),
    )
    return Equations(name, i, j, rows, None)


def _without_distance(kind: str, make: Maker) -> Maker:
    """Return a maker that refuses a distance from an axis: there is no equation for it."""

    def made(name: str, i: Frame, j: Frame, values: Values) -> Joint:
        if not is_rounding(values.get("distanceIJ", 0.0), 1.0):  # as a distance of 1 m is written, and rounded
            raise UsageError(f"a {kind} with distanceIJ = {values['distanceIJ']:g} m cannot be read: there is no such equation")
        return make(name, i, j, values)

    return made


MAKERS: dict[str, Maker] = {
    "FixedJoint": _fixed,
    "RevoluteJoint": _composed(RJ),
    "CylindricalJoint": _composed(CJ),
    "TranslationalJoint": _translational,
    "SphericalJoint": _spherical,
    "UniversalJoint": _universal,
    "ConstantVelocityJoint": _constant_velocity,
    "PlanarJoint": _composed(Planar),
    "PointInPlaneJoint": _in_plane,
    "PointInLineJoint": _on_line,
    "LineInPlaneJoint": _line_in_plane,
    "ParallelAxesJoint": _composed(Parallel),
    "PerpendicularJoint": _perpendicular,
    "NoRotationJoint": _no_rotation,
    "AngleJoint": _angle,
    "SphSphJoint": _ball_link,
    "CylSphJoint": _without_distance("CylSphJoint", _on_line),
    "RevCylJoint": _without_distance("RevCylJoint", _composed(CJ)),
    "RevRevJoint": _hinge_link,
}
