r"""An indexing cam: like a Geneva wheel, the turret stands for two thirds of each turn of the cam, and advances by one station in the rest.

    q_turret = (2 pi / 4) (n + s - sin(2 pi s) / (2 pi))        n: full turns of the cam,  s = min(angle in this turn / (2 pi / 3), 1)

The cycloidal step begins and ends without speed and acceleration, which the pin of a Geneva wheel does not.
Source: Norton, Cam design and manufacturing handbook (2002): cycloidal displacement; Bickford, Mechanisms for intermittent motion (1972).
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.bodies.shapes.solids import Box, Cylinder
from haugmbd.joints import RJ, Cam
from haugmbd.system.system import System

STATIONS, STEP = 4, 2.0 * pi / 3.0
"""Stations of the turret; angle of the cam in which the turret moves [rad]."""
CAM, TURRET, APART, THICK = 0.12, 0.15, 0.28, 0.03
"""Radii of cam and turret, distance of their axes, thickness [m]."""
SPEED = 4.0
"""Speed of the cam at first [rad/s]."""
Z = (0.0, 0.0, 1.0)


def indexing_cam() -> System:
    """Return a cam that turns freely with 4 rad/s at first, and a turret that it moves on by one of four stations in each turn.

    Returns
    -------
    System
        Bodies: "cam" (5 kg), "turret" (2 kg).  Joints: "cam axis", "turret axis" (RJ), "groove" (Cam).  Degrees of freedom: 1.
    """
    system = System("indexing cam", gravity=(0.0, 0.0, 0.0))
    crank = Box((CAM, 0.02, 0.05), center=(CAM / 2.0, 0.0, 0.0), color="#f0f0f0")
    arms = [
        Box((1.9 * TURRET, 0.025, 1.1 * THICK), p=p, color="#f0f0f0")
        for p in ((1.0, 0.0, 0.0, 0.0), (0.5**0.5, 0.0, 0.0, 0.5**0.5))
    ]
    cam = system.add(Body("cam", *cylinder(CAM, THICK, mass=5.0), omega_bar=(0.0, 0.0, SPEED), shape=(Cylinder(CAM, THICK), crank)))
    turret = system.add(
        Body("turret", *cylinder(TURRET, THICK, mass=2.0), r=(APART, 0.0, 0.0), shape=(Cylinder(TURRET, THICK), *arms))
    )
    first = system.add(RJ("cam axis", system.ground, cam, point=(0, 0, 0), axis=Z))
    second = system.add(RJ("turret axis", system.ground, turret, point=(APART, 0, 0), axis=Z))
    system.add(Cam("groove", first, second, stations))
    return system


def stations(angle: Any) -> Any:
    """Return the angle of the turret [rad] at an angle of the cam [rad]."""
    turns = np.floor(angle / (2.0 * pi))
    s = np.minimum((angle - 2.0 * pi * turns) / STEP, 1.0)
    return 2.0 * pi / STATIONS * (turns + s - np.sin(2.0 * pi * s) / (2.0 * pi))
