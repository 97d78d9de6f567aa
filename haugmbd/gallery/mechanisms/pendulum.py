r"""A bar on a pin at one end: a physical pendulum, free or driven.

    theta'' = -m g (L/2) sin(theta) / J_pin         theta from the downward vertical, about +x

Source: ME751 (Univ. of Wisconsin-Madison), assignments A6 and A7: 4 m x 0.05 m x 0.05 m, 7800 kg/m3; driven, theta = pi/4 cos 2t.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from haugmbd.bodies import inertia
from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import FloatArray
from haugmbd.gallery.published import Published
from haugmbd.joints import RJ, RotationDriver
from haugmbd.system.system import System

BAR = inertia.box((4.0, 0.05, 0.05), density=7800.0)
"""Along x of its frame; m = 78 kg, J_bar = (0.0325, 104.01625, 104.01625) kg m2."""

DRIVE_TORQUE = (
    Published(
        "torque of the drive",
        "N m",
        0.0,
        -224.8256611173299,
        1e-10,
        "closed form: T = J theta'' + m g (L/2) sin(theta) with J = J_bar_zz + m (L/2)^2",
    ),
)


def pendulum(*, driven: bool = False) -> System:
    """Return a bar of 4 m and 78 kg on a pin along x at the origin.

    Parameters
    ----------
    driven : bool
        False: released at rest from horizontal.  True: driven as theta = pi/4 cos 2t.

    Returns
    -------
    System
        Bodies: "bar".  Joints: "pin" (RJ) and, if driven, "drive" (RotationDriver, theta - pi/4).  Degrees of freedom: 1, or 0 if driven.

    Notes
    -----
    Source: ME751 (Univ. of Wisconsin-Madison), assignments A6 and A7.
    """
    theta = pi / 4.0 if driven else pi / 2.0
    system = System("driven pendulum" if driven else "pendulum", gravity=(0.0, 0.0, -9.81))
    bar = system.add(Body("bar", *turned(BAR, theta), r=(0.0, 2.0 * sin(theta), -2.0 * cos(theta))))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    if driven:
        system.add(RotationDriver("drive", pin, lambda t: pi / 4.0 * (np.cos(2.0 * t) - 1.0)))
    return system


def turned(bar: inertia.MassProperties, theta: float) -> tuple[float, FloatArray]:
    """Return mass and inertia of a bar at the angle theta from the downward vertical, about +x, in a frame with the global axes."""
    along, across = np.array([0.0, sin(theta), -cos(theta)]), np.array([0.0, cos(theta), sin(theta)])
    A = np.column_stack([along, across, np.cross(along, across)])
    placed = bar.placed(A=A)
    return placed.mass, placed.J_bar
