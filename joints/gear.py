r"""Gear pair: the angles of two joints keep a ratio, from the modelled pose on.

    Phi = (q_b - q_b0) - ratio (q_a - q_a0)              q_a, q_b angles of the joints, q_a0, q_b0 at the modelled pose

    teeth, axes parallel       ratio = -z_a / z_b of external, +z_a / z_b of internal gears; the other sign for antiparallel axes
    teeth, axes that meet      sign so that both wheels have the same velocity at the contact point
Angles are those of the wheels against the body that both joints share, the carrier; a joint whose body i is the wheel counts its angle
the other way, and the sign is corrected for this, too.
Source: Haug (2021), kinematic couplings; Willis (1841) for the ratio against the carrier.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.validation import FloatArray, read_array, read_flag, read_number
from haugmbd.constraints import Coordinate, Joint
from haugmbd.constraints.coordinate import as_coordinate
from haugmbd.constraints.tooth_contact import ToothContact
from haugmbd.errors import Fault, UsageError

from .base import posed
from .coupling import Coupling
from .tooth_contact import Teeth

PARALLEL_TOL = 1e-6
"""Sine of the angle between two axes below which they are parallel."""

NO_SLIP = 1e-6
"""Part of the velocity at the contact point by which the directions of the two wheels may differ."""


class Gear(Coupling):
    """Gear pair: the angle of joint b is `ratio` times that of joint a. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the gear pair in messages and results.
    joint_a, joint_b : Joint or Coordinate
        The joints of the two wheels, on a common carrier (or the ground): RJ, or the angle of another joint, for any axes.
    ratio : float, optional
        q_b / q_a in the joints' own coordinates.
    teeth : tuple of two int, optional
        Numbers of teeth (z_a, z_b), in place of ratio.
    internal : bool
        With teeth: whether one wheel is a ring with internal teeth.
    contact_point : array_like, (3,), optional
        With teeth, for axes that are not parallel: the point of contact at the modelled pose, global frame [m], which gives the sign.
    pitch_radius : tuple of two float, optional
        Pitch radii (r_a, r_b) [m]. Reactions then have the tooth force, and the bearings carry it.
    pressure_angle : float, optional
        With pitch_radius: pressure angle in the normal section [rad]; 20 degrees by default.
    helix_angle : float, optional
        With pitch_radius: helix angle [rad], positive for a right-handed helix on wheel a; 0 by default.

    Raises
    ------
    UsageError
        If joint_a or joint_b is neither a Joint nor a Coordinate. Other bad values are collected in `faults()`.

    Notes
    -----
    The wheels mesh as modelled: q_b - q_b0 = ratio (q_a - q_a0), unwound through any number of turns. With teeth, ratio = -z_a / z_b for
    external and z_a / z_b for internal gears with parallel axes; antiparallel axes, and joints whose body i is the wheel, change the sign.
    With pitch_radius, `result.reaction` of the gear is the tooth force on each wheel, at the pitch point in the plane of the point of
    joint a (or at contact_point), and that of the joints contains it; the motion is the same. Joints on two carriers need `ratio`, even if
    these are fixed to each other.
    """

    reads_geometry = True

    def __init__(
        self,
        name: str,
        joint_a: Joint | Coordinate,
        joint_b: Joint | Coordinate,
        *,
        ratio: float | None = None,
        teeth: tuple[int, int] | None = None,
        internal: bool = False,
        contact_point: Any = None,
        pitch_radius: Any = None,
        pressure_angle: float | None = None,
        helix_angle: float | None = None,
    ) -> None:
        where, faults = f"joint {name!r}", list[Fault]()
        a, b = angle_of(faults, where, joint_a), angle_of(faults, where, joint_b)
        self.teeth, self.internal = teeth, read_flag(faults, where, "internal", internal)
        self.contact_point = (
            None if contact_point is None else read_array(faults, where, "contact_point", contact_point, (3,), unit="m")
        )
        if (ratio is None) == (teeth is None):
            faults.append(
                Fault(where, f"ratio is {ratio!r} and teeth is {teeth!r}", "Give one of them: ratio=2.0, or teeth=(20, 40).")
            )
            self.ratio = np.nan
        elif teeth is None:
            self.ratio = self._read_ratio(faults, where, ratio, has_teeth=pitch_radius is not None)
        else:
            self.ratio = self._ratio_of_teeth(faults, where, a, b)
        start = b.q0 - self.ratio * a.q0 if a is not None and b is not None and np.isfinite(self.ratio) else 0.0
        terms: dict[Joint | Coordinate, float] = {a or joint_a: -self.ratio, b or joint_b: 1.0}
        if a is not None and b is not None and a.key == b.key:
            raise UsageError(f"{where} needs two joints, got {a.label} twice.")
        super().__init__(name, terms, start)
        self.given = {"joint_a": joint_a, "joint_b": joint_b, "ratio": ratio, "teeth": teeth}
        self.given |= {"internal": self.internal or None, "contact_point": contact_point, "pitch_radius": pitch_radius}
        self.given |= {"pressure_angle": pressure_angle, "helix_angle": helix_angle}
        self._teeth: ToothContact | None = None
        if pitch_radius is not None and not faults and a is not None and b is not None:
            read = Teeth(faults, where, pressure_angle, helix_angle)
            self._teeth = read.gears(a, b, self.ratio, pitch_radius, self.contact_point)
        elif pitch_radius is None and (pressure_angle is not None or helix_angle is not None):
            faults.append(
                Fault(where, "pressure_angle or helix_angle is given without pitch_radius", "Give pitch_radius=(r_a, r_b) [m].")
            )
        self._faults = faults  # of the arguments, not of the terms made from them

    def tooth_contact(self) -> ToothContact | None:
        """Return where the teeth touch, if pitch_radius was given."""
        return self._teeth

    def _read_ratio(self, faults: list[Fault], where: str, ratio: Any, *, has_teeth: bool) -> float:
        """Return the ratio as a number, which has a sign: with faults if it is zero, or if something else gives the sign, too."""
        number = read_number(faults, where, "ratio", ratio)
        if number == 0.0:
            faults.append(Fault(where, "ratio is zero: the second wheel would be locked", "Give q_b / q_a, such as -0.5."))
        if self.internal:
            faults.append(Fault(where, "internal is given with ratio, which has a sign", "Give teeth, or ratio without internal."))
        if self.contact_point is not None and not has_teeth:
            what = "contact_point is given with ratio, which has a sign, and no pitch_radius"
            faults.append(Fault(where, what, "Give teeth, or pitch_radius for tooth forces, or ratio alone."))
        return number

    def _ratio_of_teeth(self, faults: list[Fault], where: str, a: Coordinate | None, b: Coordinate | None) -> float:
        """Return the signed ratio of the teeth; NaN and a fault if they are not numbers of teeth, or the sign is not known."""
        z = read_array(faults, where, "teeth", self.teeth, (2,), remedy="Give two whole numbers, such as (20, 40).")
        if len(faults) or a is None or b is None:
            return float("nan")
        if not ((z > 0.0).all() and (z == np.round(z)).all()):
            faults.append(
                Fault(
                    where, f"teeth = {self.teeth!r} are not numbers of teeth", "Give two positive whole numbers, such as (20, 40)."
                )
            )
            return float("nan")
        sign = self._sign(faults, where, a, b)
        return float(sign * z[0] / z[1])

    def _sign(self, faults: list[Fault], where: str, a: Coordinate, b: Coordinate) -> float:
        """Return the sign of q_b / q_a; NaN and a fault if it is not known."""
        if not all(posed(body) for q in (a, b) for body in (q.joint.i, q.joint.j)):
            return 1.0
        if not share_a_carrier(faults, where, a, b, "ratio= in place of teeth"):
            return float("nan")
        h_a, h_b = wheel_axis(a, b), wheel_axis(b, a)
        if np.linalg.norm(np.cross(h_a, h_b)) <= PARALLEL_TOL:
            return float(np.sign(h_a @ h_b)) * (1.0 if self.internal else -1.0)
        if self.contact_point is None:
            what = "its axes are not parallel: teeth alone do not say which way the second wheel turns"
            faults.append(Fault(where, what, "Give contact_point=, or ratio= in place of teeth."))
            return float("nan")
        v_a, v_b = (np.cross(h, self.contact_point - axis_point(q)) for h, q in ((h_a, a), (h_b, b)))
        size = float(np.linalg.norm(v_a) * np.linalg.norm(v_b))
        if not abs(v_a @ v_b) > NO_SLIP * size:
            what = "at contact_point the two wheels move at a right angle, or not at all"
            faults.append(Fault(where, what, "Give the point where the pitch surfaces touch, or ratio= in place of teeth."))
            return float("nan")
        return float(np.sign(v_a @ v_b))


def angle_of(faults: list[Fault], where: str, given: Any) -> Coordinate | None:
    """Return the angle of a joint; None and a fault if it has none. Raise UsageError if it is neither a Joint nor a Coordinate."""
    return coordinate_of_kind(faults, where, given, "angle")


def coordinate_of_kind(faults: list[Fault], where: str, given: Any, what: str) -> Coordinate | None:
    """Return the coordinate of that kind; None and a fault if there is none."""
    if not isinstance(given, Joint | Coordinate):
        raise UsageError(f"{where} needs joints, got {given!r}. Give the object that system.add(RJ(...)) returned.")
    found = as_coordinate(faults, where, given)
    if found is not None and found.what != what:
        remedy = f"Give a joint with {'an' if what == 'angle' else 'a'} {what}, such as {'RJ' if what == 'angle' else 'TJ'}."
        faults.append(Fault(where, f"{found.label} is not {'an' if what == 'angle' else 'a'} {what}", remedy))
        return None
    return found


def share_a_carrier(faults: list[Fault], where: str, a: Coordinate, b: Coordinate, instead: str) -> bool:
    """Return whether two joints have a body in common; a fault if they have none, which says what to give instead."""
    if {a.joint.i, a.joint.j} & {b.joint.i, b.joint.j}:
        return True
    bodies = " and ".join(f"{q.joint.name!r} ({q.joint.i.name!r}, {q.joint.j.name!r})" for q in (a, b))
    what = f"its joints {bodies} have no common body, the carrier: which way the wheels turn against each other is not known"
    faults.append(Fault(where, what, f"Guide both wheels on one body, or give {instead}."))
    return False


def wheel_axis(q: Coordinate, other: Coordinate) -> FloatArray:
    """Return the axis about which the wheel turns by +q against the carrier, global, at the modelled pose."""
    joint, shared = q.joint, {other.joint.i, other.joint.j}
    h: FloatArray = joint.i.A @ joint.frame_i.h
    return -h if joint.j in shared and joint.i not in shared else h


def axis_point(q: Coordinate) -> FloatArray:
    """Return a point of the axis, global [m]."""
    point: FloatArray = q.joint.i.r + q.joint.i.A @ q.joint.frame_i.s_bar
    return point
