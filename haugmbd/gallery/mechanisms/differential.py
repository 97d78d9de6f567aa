r"""The bevel differential of a car's axle: a cage carries two pinions that roll on the side gears of both half shafts.

    omega_left + omega_right = 2 omega_cage

Source: Pecqueur's patent (1827); the ratio of the gears as the cage sees them: Willis, Principles of mechanism (1841).
"""

from __future__ import annotations

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box, cone, cylinder
from haugmbd.bodies.shapes.base import Shape
from haugmbd.bodies.shapes.solids import Box, Cylinder
from haugmbd.forces import Torque
from haugmbd.joints import RJ, Coupling
from haugmbd.system.system import System

SIDE, PINION = 20, 14
"""Numbers of teeth."""
DRIVE, ROAD = 12.0, 4.5
"""Torque on the cage, and of the road against the right wheel alone [N m]."""
ACROSS, UP = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
RADIUS, TREAD, HEIGHT = 0.3, 0.5, 0.1
"""Radius of the wheels, half the distance between them, and distance of the pinions from the axle [m]."""


def differential() -> System:
    """Return a bevel differential at rest with a wheel on each half shaft; a torque drives the cage, the right wheel has to pull.

    Returns
    -------
    System
        Bodies: "cage", "left wheel", "right wheel", "upper pinion", "lower pinion".  Joints: "cage axis", "left axis", "right axis",
        "upper pin", "lower pin" (RJ), "left mesh, upper", "right mesh, upper", "left mesh, lower", "right mesh, lower" (Coupling).
        Forces: "drive", "road" (Torque).  29 rows, 28 of them independent.  Degrees of freedom: 2.

    Notes
    -----
    Each side gets half of the torque on the cage, but for what turns the pinions.  Source: Willis (1841).
    """
    system = System("differential", gravity=(0.0, 0.0, 0.0))
    cage = system.add(Body("cage", *box((0.08, 0.03, 2.6 * HEIGHT), mass=6.0)))
    cage_axis = system.add(RJ("cage axis", system.ground, cage, point=(0, 0, 0), axis=ACROSS))
    wheels, axes = {}, {}
    for name, side in (("left", 1.0), ("right", -1.0)):
        place = (0.0, side * TREAD, 0.0)
        wheels[name] = system.add(
            Body(f"{name} wheel", *cylinder(RADIUS, 0.1, mass=15.0, axis=ACROSS), r=place, shape=wheel_and_shaft(side))
        )
        axes[name] = system.add(RJ(f"{name} axis", system.ground, wheels[name], point=place, axis=ACROSS))
    for name, side in (("upper", 1.0), ("lower", -1.0)):
        place = (0.0, 0.0, side * HEIGHT)
        pinion = system.add(Body(f"{name} pinion", *cone(0.05, 0.06, mass=0.3, axis=(0.0, 0.0, -side)), r=place))
        pin = system.add(RJ(f"{name} pin", cage, pinion, point=place, axis=UP))
        for shaft, hand in (("left", 1.0), ("right", -1.0)):
            system.add(Coupling(f"{shaft} mesh, {name}", {axes[shaft]: SIDE, cage_axis: -SIDE, pin: hand * side * PINION}))
    system.add(Torque("drive", cage, torque=(0.0, DRIVE, 0.0)))
    system.add(Torque("road", wheels["right"], torque=(0.0, -ROAD, 0.0)))
    return system


def wheel_and_shaft(side: float) -> tuple[Shape, ...]:
    """Return the shapes of a wheel with a stripe across, its half shaft and its side gear; side: 1 left, -1 right."""
    inward = -side * TREAD
    return (
        Cylinder(RADIUS, 0.1, axis=ACROSS),
        Box((1.7 * RADIUS, 0.104, 0.04), color="#f0f0f0"),
        Cylinder(0.02, TREAD - 0.06, center=(0.0, 0.5 * inward, 0.0), axis=ACROSS),
        Cylinder(0.075, 0.02, center=(0.0, inward + 0.06 * side, 0.0), axis=ACROSS),
    )
