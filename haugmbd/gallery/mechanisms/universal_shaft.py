r"""Two shafts and a Hooke joint: the second one turns unevenly.

tan(u_out) = tan(u_in) / cos(beta),   at u = 0 the fork of the input shaft lies in the plane of the two shafts
"""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.joints import RJ, UJ, PointOnLine
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.system.system import System

SPEED = 10.0
"""Speed of the input shaft at first [rad/s]."""


def universal_shaft(beta: float = radians(30.0)) -> System:
    """Return two shafts of 0.5 m with a Hooke joint at the origin; the input shaft along x, the output shaft at `beta` [rad] from it.

    Parameters
    ----------
    beta : float
        Angle between the shafts [rad], in the plane z = 0.

    Returns
    -------
    System
        Bodies: "input", "output".  Joints: "input bearing" (RJ), "Hooke" (UJ), "output bearing" (PointOnLine).
        Degrees of freedom: 1.

    Notes
    -----
    Source: Hooke (1675); the input turns with 10 rad/s at first.
    """
    x, along = np.array([1.0, 0.0, 0.0]), np.array([cos(beta), sin(beta), 0.0])
    shaft = cylinder(0.02, 0.5, mass=4.0, axis=(1, 0, 0))
    system = System("universal shaft", gravity=(0.0, 0.0, 0.0))
    first = system.add(Body("input", *shaft, r=-0.25 * x, omega_bar=SPEED * x))
    turned = from_axis_angle((0, 0, 1), beta)
    # the cross: z on the output's fork, in the plane z = 0 on the input's
    fork_in, fork_out = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    second = system.add(Body("output", *shaft, r=0.25 * along, p=turned, omega_bar=SPEED / cos(beta) * x))
    system.add(RJ("input bearing", system.ground, first, point=-0.5 * x, axis=x))
    system.add(UJ("Hooke", first, second, point=(0, 0, 0), axis_i=fork_in, axis_j=fork_out))
    system.add(PointOnLine("output bearing", system.ground, second, point=0.5 * along, axis=along))
    return system
