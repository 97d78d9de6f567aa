r"""A disc that rolls in a circle: it leans inward, and neither falls nor stands up.

    Omega^2 cos(lean) (3 rho / 2 + R sin(lean) / 4) = g sin(lean)           speed of its centre: Omega rho

rho: radius of the circle of the centre;  Omega: turns around the circle;  spin about its own axis: Omega rho / R
Source: Routh, Advanced dynamics of a system of rigid bodies (1905), steady motion of a disc; Neimark and Fufaev (1972).
"""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import disc
from haugmbd.bodies.shapes.base import Shape
from haugmbd.bodies.shapes.solids import Box, Cylinder
from haugmbd.errors import UsageError
from haugmbd.joints import RollingDisc
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.system.system import System

RADIUS, MASS, CIRCLE, GRAVITY = 0.2, 1.0, 0.6, 9.81
"""Radius [m] and mass [kg] of the disc, radius of the circle of its centre [m], gravity [m/s2]."""


def rolling_disc(lean: float = radians(20.0)) -> System:
    """Return a thin disc of 1 kg and 0.2 m that leans, and rolls on the plane z = 0 in a circle of 0.6 m, as steadily as Routh says.

    Parameters
    ----------
    lean : float
        Angle of the disc from the vertical [rad], more than 0 and less than pi / 2.

    Returns
    -------
    System
        Bodies: "disc", whose axis is its z axis.  Joints: "edge" (RollingDisc).  Degrees of freedom: 3, of position 5.

    Raises
    ------
    UsageError
        If the disc stands upright or lies.

    Notes
    -----
    Source: Routh (1905); Neimark and Fufaev (1972).
    """
    if not 0.0 < lean < pi / 2.0:
        raise UsageError(f"rolling_disc({lean!r}): give an angle from the vertical of more than 0 and less than pi / 2 [rad].")
    around, center = speed_around(lean), (CIRCLE, 0.0, RADIUS * cos(lean))
    shapes: tuple[Shape, ...] = (
        Cylinder(RADIUS, 0.012),
        Box((1.7 * RADIUS, 0.02, 0.016), color="#f0f0f0"),
    )
    coin = Body(
        "disc",
        *disc(RADIUS, mass=MASS),
        r=center,
        p=from_axis_angle((0.0, 1.0, 0.0), pi / 2.0 - lean),  # its x axis points down to the contact, its z axis up and outward
        v=(0.0, around * CIRCLE, 0.0),
        omega_bar=(-around * cos(lean), 0.0, -around * CIRCLE / RADIUS),
        shape=shapes,
    )
    system = System("rolling disc", gravity=(0.0, 0.0, -GRAVITY))
    system.add(coin)
    system.add(RollingDisc("edge", coin, center=center, axis=(cos(lean), 0.0, sin(lean)), radius=RADIUS))
    return system


def speed_around(lean: float) -> float:
    """Return the speed [rad/s] around the circle with which the disc neither falls nor stands up."""
    return sqrt(GRAVITY * sin(lean) / (cos(lean) * (1.5 * CIRCLE + 0.25 * RADIUS * sin(lean))))
