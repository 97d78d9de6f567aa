r"""Screw: the displacement of a cylindrical joint is the pitch for each turn, from the modelled pose on.

    Phi = (x - x0) - pitch (theta - theta0) / 2 pi

Source: Haug (2021), spatial kinematics: screw joint.
"""

from __future__ import annotations

from math import pi

import numpy as np

from haugmbd.bodies.validation import read_number
from haugmbd.constraints import Joint
from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT, coordinates_of
from haugmbd.errors import Fault, UsageError

from .coupling import Coupling


class Screw(Coupling):
    """Screw: couples the rotation and the translation of a cylindrical joint. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name in messages and results.
    joint : Joint
        A cylindrical joint, CJ, in the same system.
    pitch : float
        Displacement for one turn [m]; positive for a right-handed screw.

    Raises
    ------
    UsageError
        If joint is not a joint with one angle and one displacement. Other bad values are collected in `faults()`.

    Notes
    -----
    x = pitch theta / 2 pi, through any number of turns: with a positive pitch body j moves along +h when it turns about +h.
    The thrust acts between the two bodies of the joint. A `Coupling` of an RJ and a TJ on the
    ground instead puts none on the nut's bearing.
    """

    def __init__(self, name: str, joint: Joint, *, pitch: float) -> None:
        where, faults = f"joint {name!r}", list[Fault]()
        found = coordinates_of(joint) if isinstance(joint, Joint) else {}
        if not (found and len(found[ANGLE]) == len(found[DISPLACEMENT]) == 1):
            raise UsageError(f"{where} needs a joint that turns and slides along one axis, got {joint!r}. Give a CJ.")
        self.joint = joint
        self.pitch = read_number(faults, where, "pitch", pitch, unit="m")
        if self.pitch == 0.0:
            faults.append(
                Fault(where, "pitch is zero: the joint would not slide", "Give the displacement of one turn [m], or use an RJ.")
            )
        lead = self.pitch / (2.0 * pi) if np.isfinite(self.pitch) else 1.0
        super().__init__(name, {joint.coordinate(ANGLE): -lead, joint.coordinate(DISPLACEMENT): 1.0})
        self.given = {"joint": joint, "pitch": pitch}
        self._faults = faults  # of the arguments, not of the terms made from them
