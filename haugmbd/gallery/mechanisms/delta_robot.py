r"""The delta robot: three driven arms, six light rods in pairs, and a plate that moves without turning.

Degrees of freedom: 24 - (3 * 5 + 6) = 3, none where the arms are driven.
Source: Clavel, A fast robot with parallel geometry (1988).
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, radians, sin
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.joints import RJ, Distance, RotationDriver
from haugmbd.system.system import System

BASE, ARM, PLATE, HALF_GAP = 0.20, 0.25, 0.06, 0.05
"""Radius of the arms' pivots, length of the arms, radius of the plate, half the distance of two rods in a pair [m]."""
HEIGHT = -0.45
"""Height of the plate below the base, at the modelled pose [m]."""


def delta_robot(drives: Callable[[int], Any] | None = None) -> System:
    """Return a delta robot with level arms, at rest.

    Parameters
    ----------
    drives : callable, optional
        drives(k) is the angle of arm k = 0, 1, 2 from its modelled pose, a function of time [rad]; by default the arms are free.

    Returns
    -------
    System
        Bodies: "arm 1", "arm 2", "arm 3", "plate".  Joints: "pivot k" (RJ), "rod k left", "rod k right" (Distance) and, if driven,
        "motor k" (RotationDriver).  Degrees of freedom: 3, or 0 if driven.

    Notes
    -----
    The two rods of each pair are parallel and of equal length: together the three pairs keep the plate level.  Source: Clavel (1988).
    """
    system = System("delta robot", gravity=(0.0, 0.0, -9.81))
    centre = np.array([0.0, 0.0, HEIGHT])
    plate = Body("plate", *cylinder(PLATE, 0.01, mass=0.3), r=centre)
    for k in range(3):
        out = np.array([cos(radians(120.0 * k)), sin(radians(120.0 * k)), 0.0])
        side = np.array([-out[1], out[0], 0.0])
        pivot, elbow, wrist = BASE * out, (BASE + ARM) * out, centre + PLATE * out
        arm = system.add(Body(f"arm {k + 1}", *cylinder(0.01, ARM, mass=0.4, axis=out), r=(pivot + elbow) / 2.0))
        if k == 0:
            system.add(plate)
        joint = system.add(RJ(f"pivot {k + 1}", system.ground, arm, point=pivot, axis=side))
        for name, sign in (("left", 1.0), ("right", -1.0)):
            ends = {"point_i": elbow + sign * HALF_GAP * side, "point_j": wrist + sign * HALF_GAP * side}
            system.add(Distance(f"rod {k + 1} {name}", arm, plate, **ends))
        if drives is not None:
            system.add(RotationDriver(f"motor {k + 1}", joint, drives(k)))
    return system
