r"""A planetary set: a sun drives planets that roll inside a fixed ring, and their pins carry the carrier around.

    omega_sun = (1 + z_ring / z_sun) omega_carrier

Source: Willis, Principles of mechanism (1841): the ratio of wheels as their carrier sees them.
"""

from __future__ import annotations

from math import cos, pi, sin

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.bodies.shapes.base import Shape
from haugmbd.bodies.shapes.solids import Box, Cylinder
from haugmbd.forces import Torque
from haugmbd.gallery.building import check_count
from haugmbd.joints import RJ, Coupling
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.system.system import System

SUN, PLANET = 20, 16
RING = SUN + 2 * PLANET
"""Numbers of teeth."""
MODULE, WIDTH, DENSITY = 0.01, 0.04, 7800.0
"""Diameter over number of teeth [m], width of the wheels [m], density of steel [kg/m3]."""
DRIVE = 0.5
"""Torque on the sun [N m]."""
Z = (0.0, 0.0, 1.0)


def planetary_gear(planets: int = 3) -> System:
    """Return a planetary set of steel wheels, at rest, in the plane z = 0; a torque of 0.5 N m drives the sun, the ring is fixed.

    Parameters
    ----------
    planets : int
        Number of planets.

    Returns
    -------
    System
        Bodies: "sun", "carrier", "planet 0" ...  Joints: "sun axis", "carrier axis", "pin 0" ... (RJ), "sun mesh 0", "ring mesh 0" ...
        (Coupling).  Forces: "drive" (Torque).  Of the meshes, planets - 1 are redundant.  Degrees of freedom: 1.

    Notes
    -----
    Source: Willis (1841).
    """
    check_count("planetary_gear", planets, "planets")
    radius, arm = MODULE * RING / 2.0, MODULE * (SUN + PLANET) / 2.0
    angles = [2.0 * pi * k / planets for k in range(planets)]
    ring = Cylinder(radius + 0.02, WIDTH, inner_radius=radius, color="#9aa5b1")
    system = System("planetary gear", gravity=(0.0, 0.0, 0.0), ground_shape=ring)
    sun = system.add(toothed("sun", SUN))
    arms = [
        Box((arm, 0.02, 0.01), center=(arm * cos(u) / 2.0, arm * sin(u) / 2.0, 0.7 * WIDTH), p=from_axis_angle(Z, u))
        for u in angles
    ]
    carrier = system.add(Body("carrier", *cylinder(arm, 0.01, density=DENSITY), shape=arms))
    sun_axis = system.add(RJ("sun axis", system.ground, sun, point=(0, 0, 0), axis=Z))
    carrier_axis = system.add(RJ("carrier axis", system.ground, carrier, point=(0, 0, 0), axis=Z))
    for k, u in enumerate(angles):
        place = (arm * cos(u), arm * sin(u), 0.0)
        planet = system.add(toothed(f"planet {k}", PLANET, place))
        pin = system.add(RJ(f"pin {k}", carrier, planet, point=place, axis=Z))
        system.add(Coupling(f"sun mesh {k}", {sun_axis: SUN, carrier_axis: -SUN, pin: PLANET}))
        system.add(Coupling(f"ring mesh {k}", {pin: PLANET, carrier_axis: RING}))
    system.add(Torque("drive", sun, torque=(0.0, 0.0, DRIVE)))
    return system


def toothed(name: str, teeth: int, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Body:
    """Return a wheel with a stripe across, which shows that it turns."""
    radius = MODULE * teeth / 2.0
    shapes: tuple[Shape, ...] = (Cylinder(0.98 * radius, WIDTH), Box((1.7 * radius, 0.012, 1.04 * WIDTH), color="#f0f0f0"))
    return Body(name, *cylinder(radius, WIDTH, density=DENSITY), r=place, shape=shapes)
