r"""Rack and pinion: the displacement of a rack is the radius times the angle of the pinion, from the modelled pose on.

    Phi = (x - x0) - radius (theta - theta0)              x the rack's displacement, theta the pinion's angle

Source: Haug (2021), kinematic couplings.
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.validation import read_number
from haugmbd.constraints import Coordinate, Joint
from haugmbd.constraints.tooth_contact import ToothContact
from haugmbd.errors import Fault

from .coupling import Coupling
from .gear import angle_of, coordinate_of_kind
from .tooth_contact import Teeth


class RackPinion(Coupling):
    """Rack and pinion: x = radius theta. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name in messages and results.
    rotation_joint : Joint or Coordinate
        The joint of the pinion: RJ, or the angle of another joint.
    translation_joint : Joint or Coordinate
        The joint of the rack: TJ, or the displacement of another joint.
    radius : float
        Pitch radius [m]; negative if the rack moves against its axis when the pinion turns forward.
    pressure_angle : float, optional
        Pressure angle in the normal section [rad]. Reactions then have the tooth force, and axle and guide carry it.
    helix_angle : float, optional
        With pressure_angle: helix angle [rad], positive for a right-handed helix on the pinion; 0 by default.

    Raises
    ------
    UsageError
        If a joint is neither a Joint nor a Coordinate. Other bad values are collected in `faults()`.

    Notes
    -----
    x - x0 = radius (theta - theta0), with x0 and theta0 at the modelled pose, through any number of turns.
    """

    reads_geometry = True

    def __init__(
        self,
        name: str,
        rotation_joint: Joint | Coordinate,
        translation_joint: Joint | Coordinate,
        *,
        radius: float,
        pressure_angle: float | None = None,
        helix_angle: float | None = None,
    ) -> None:
        where, faults = f"joint {name!r}", list[Fault]()
        theta, x = angle_of(faults, where, rotation_joint), coordinate_of_kind(faults, where, translation_joint, "displacement")
        self.radius = read_number(faults, where, "radius", radius, unit="m")
        if self.radius == 0.0:
            faults.append(Fault(where, "radius is zero: the rack would not move", "Give the pitch radius [m]."))
        known = theta is not None and x is not None and np.isfinite(self.radius)
        start = x.q0 - self.radius * theta.q0 if theta is not None and x is not None and known else 0.0
        super().__init__(name, {theta or rotation_joint: -self.radius, x or translation_joint: 1.0}, start)
        self.given = {"rotation_joint": rotation_joint, "translation_joint": translation_joint, "radius": radius}
        self.given |= {"pressure_angle": pressure_angle, "helix_angle": helix_angle}
        self._teeth: ToothContact | None = None
        if pressure_angle is not None and not faults and theta is not None and x is not None:
            self._teeth = Teeth(faults, where, pressure_angle, helix_angle).rack(theta, x, self.radius)
        elif pressure_angle is None and helix_angle is not None:
            faults.append(Fault(where, "helix_angle is given without pressure_angle", "Give pressure_angle= [rad], too."))
        self._faults = faults  # of the arguments, not of the terms made from them

    def tooth_contact(self) -> ToothContact | None:
        """Return where the teeth touch, if pressure_angle was given."""
        return self._teeth
