r"""The contact of the teeth of a pair of gears, or of a rack and its pinion, from pitch radii and angles at the modelled pose.

    parallel axes    P = O_a + r_a rho,  rho along the line of centres      external: r_a + r_b, internal: |r_a - r_b| apart
    other axes       P = contact_point
    t = h_a x rho    l along omega_a - omega_b, where the pitch surfaces touch    s = -+ t x l, towards the material of wheel a

h_a, h_b are the axes about which the wheels turn against the carrier by +q. A positive helix angle is a right-handed helix on wheel a.
Source: Norton (2014), Design of Machinery; Shigley and Mischke (1989).
"""

from __future__ import annotations

from math import cos, pi, tan
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import FloatArray, read_array, read_number
from haugmbd.constraints import Coordinate
from haugmbd.constraints.tooth_contact import ToothContact
from haugmbd.errors import Fault

from .base import posed

FITS = 1e-4
"""Part of the distance of the axes, or of the ratio, by which pitch radii may not fit: radii typed with five digits."""
PRESSURE_ANGLE = pi / 9.0
"""[rad] 20 degrees: the basic rack of ISO 53."""


class Teeth:
    """The angles of a pair of gears, read from the user, and the faults of its geometry."""

    def __init__(self, faults: list[Fault], where: str, pressure_angle: Any, helix_angle: Any) -> None:
        self.faults, self.where = faults, where
        self.pressure = self._angle("pressure_angle", PRESSURE_ANGLE if pressure_angle is None else pressure_angle)
        self.helix = self._angle("helix_angle", 0.0 if helix_angle is None else helix_angle)

    def _angle(self, name: str, value: Any) -> float:
        """Return an angle below a right one; a fault for others, and for a negative pressure angle."""
        angle = read_number(self.faults, self.where, name, value, unit="rad")
        least = 0.0 if name == "pressure_angle" else -0.5 * pi
        if np.isfinite(angle) and not (least <= angle < 0.5 * pi and angle > -0.5 * pi):
            remedy = "Give an angle in radians, such as np.radians(20)."
            self.fault(f"{name} = {angle:g} rad is not between {least:.4g} and {0.5 * pi:.4g}", remedy)
        return angle

    def fault(self, what: str, remedy: str) -> None:
        """Append one fault."""
        self.faults.append(Fault(self.where, what, remedy))

    def gears(
        self, a: Coordinate, b: Coordinate, ratio: float, radii: Any, contact_point: FloatArray | None
    ) -> ToothContact | None:
        """Return the contact of two wheels; None with a fault if their geometry does not fit."""
        r = read_array(self.faults, self.where, "pitch_radius", radii, (2,), unit="m")
        if self.faults:
            return None
        if not (r > 0.0).all():
            self.fault(f"pitch_radius = {r.tolist()} must be positive", "Give (r_a, r_b) [m].")
            return None
        if abs(r[0] - abs(ratio) * r[1]) > FITS * r[0]:
            self.fault(
                f"pitch_radius = {r.tolist()} has the ratio {r[0] / r[1]:.6g}, and the wheels {abs(ratio):.6g}",
                "Pitch radii are in the ratio of the teeth: r_a / r_b = |q_b / q_a|.",
            )
            return None
        wheels = self._wheels(a, b)
        if wheels is None or not all(posed(body) for body in wheels):
            return None
        carrier = wheels[2]
        h_a, h_b, O_a, O_b = axis(a, carrier), axis(b, carrier), point(a), point(b)
        line = h_a - ratio * h_b
        line *= np.sign(line @ h_a) / np.linalg.norm(line)
        external = bool(ratio * (h_a @ h_b) < 0.0 or np.linalg.norm(np.cross(h_a, h_b)) > FITS)
        P = contact_point if contact_point is not None else self._pitch_point(O_a, O_b, h_a, h_b, r, external)
        if P is None or not self._on_pitch_circles(P, (O_a, O_b), (h_a, h_b), r):
            return None
        rho = across(P - O_a, h_a) / r[0]
        return self._contact(wheels, (a.joint, b.joint), P, h_a, rho, line, float(r[0]), inwards=external or bool(r[0] < r[1]))

    def rack(self, a: Coordinate, b: Coordinate, radius: float) -> ToothContact | None:
        """Return the contact of a pinion (a) and a rack (b); None with a fault if their geometry does not fit."""
        if self.faults:
            return None
        wheels = self._wheels(a, b)
        if wheels is None or not all(posed(body) for body in wheels):
            return None
        h_a, along = axis(a, wheels[2]), axis(b, wheels[2])
        if abs(h_a @ along) > FITS:
            self.fault("the rack does not move across the axis of the pinion", "Tooth forces need a right angle between them.")
            return None
        rho = np.cross(along, h_a) * np.sign(radius)
        return self._contact(wheels, (a.joint, b.joint), point(a) + abs(radius) * rho, h_a, rho, h_a, abs(radius), inwards=True)

    def _wheels(self, a: Coordinate, b: Coordinate) -> tuple[Body, Body, Body] | None:
        """Return the bodies of both wheels and of their carrier; None with a fault if joints do not share one, or leave more freedoms."""
        shared = {a.joint.i, a.joint.j} & {b.joint.i, b.joint.j}
        for q in (a, b):
            if len(q.joint.freedoms or ()) != 1:
                what = (
                    f"joint {q.joint.name!r} ({type(q.joint).__name__}) is not a bearing for tooth forces: it leaves more freedoms"
                )
                self.fault(what, "Use RJ for a wheel and TJ for a rack, or leave out pitch_radius and angles.")
                return None
        if len(shared) != 1:
            self.fault(
                "the joints of the wheels have no common body, the carrier", "Guide both on one body, or leave out pitch_radius."
            )
            return None
        (carrier,) = shared
        wheel_a, wheel_b = (q.joint.i if q.joint.j is carrier else q.joint.j for q in (a, b))
        return wheel_a, wheel_b, carrier

    def _pitch_point(
        self, O_a: FloatArray, O_b: FloatArray, h_a: FloatArray, h_b: FloatArray, r: FloatArray, external: bool
    ) -> FloatArray | None:
        """Return the pitch point of wheels with parallel axes, in the plane of the point of joint a; None with a fault without one."""
        if np.linalg.norm(np.cross(h_a, h_b)) > FITS:
            self.fault("the axes are not parallel: pitch radii do not give the contact point", "Give contact_point=, too.")
            return None
        apart = across(O_b - O_a, h_a)
        distance, wanted = float(np.linalg.norm(apart)), float(r[0] + r[1] if external else abs(r[0] - r[1]))
        if abs(distance - wanted) > FITS * max(wanted, distance):
            how = "add up to" if external else "differ by"
            self.fault(
                f"pitch radii {r.tolist()} {how} {wanted:.6g} m, and the axes are {distance:.6g} m apart",
                "Give the pitch radii at this distance of the axes.",
            )
            return None
        outside = external or r[0] > r[1]
        rho: FloatArray = apart / distance
        return O_a + float(r[0]) * (rho if outside else -rho)

    def _on_pitch_circles(
        self, P: FloatArray, points: tuple[FloatArray, FloatArray], axes: tuple[FloatArray, FloatArray], r: FloatArray
    ) -> bool:
        """Return whether a contact point is at the pitch radius from both axes; a fault if not."""
        found = [float(np.linalg.norm(across(P - O, h))) for O, h in zip(points, axes, strict=True)]
        if np.abs(np.array(found) - r).max() <= FITS * r.max():
            return True
        what = f"contact_point is {found[0]:.6g} m and {found[1]:.6g} m from the axes, and pitch_radius is {r.tolist()}"
        self.fault(what, "Give the pitch radii at the contact point.")
        return False

    def _contact(
        self,
        wheels: tuple[Body, Body, Body],
        bearings: tuple[Any, Any],
        P: FloatArray,
        h: FloatArray,
        rho: FloatArray,
        line: FloatArray,
        radius: float,
        *,
        inwards: bool,
    ) -> ToothContact:
        """Return the contact in the carrier's frame."""
        carrier, t = wheels[2], np.cross(h, rho)
        s = np.cross(t, line)
        s *= (-1.0 if inwards else 1.0) * np.sign(s @ rho) / np.linalg.norm(s)
        point_bar = carrier.A.T @ (P - carrier.r)
        axis_bar, t_bar, s_bar, l_bar = (carrier.A.T @ x for x in (h, t, s, line))
        along, apart = -tan(self.helix), tan(self.pressure) / cos(self.helix)
        return ToothContact(carrier, wheels[:2], bearings, point_bar, axis_bar, t_bar, s_bar, l_bar, radius, along, apart)


def axis(q: Coordinate, carrier: Body) -> FloatArray:
    """Return the axis along or about which the wheel moves by +q against the carrier, global, at the modelled pose."""
    h: FloatArray = q.joint.i.A @ q.joint.frame_i.h
    return -h if q.joint.j is carrier else h


def point(q: Coordinate) -> FloatArray:
    """Return the joint's point, global [m]."""
    found: FloatArray = q.joint.i.r + q.joint.i.A @ q.joint.frame_i.s_bar
    return found


def across(x: FloatArray, h: FloatArray) -> FloatArray:
    """Return the part of x normal to the unit vector h."""
    found: FloatArray = x - (x @ h) * h
    return found
