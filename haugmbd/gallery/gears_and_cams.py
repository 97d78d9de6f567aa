"""Gears, cams and an engine.

An indexing cam: like a Geneva wheel, the turret stands for two thirds of each turn of the cam, and advances by one station in the rest.

    q_turret = (2 pi / 4) (n + s - sin(2 pi s) / (2 pi))        n: full turns of the cam,  s = min(angle in this turn / (2 pi / 3), 1)

The cycloidal step begins and ends without speed and acceleration, which the pin of a Geneva wheel does not.
Source: Norton, Cam design and manufacturing handbook (2002): cycloidal displacement; Bickford, Mechanisms for intermittent motion (1972).

A planetary set: a sun drives planets that roll inside a fixed ring, and their pins carry the carrier around.

    omega_sun = (1 + z_ring / z_sun) omega_carrier

Source: Willis, Principles of mechanism (1841): the ratio of wheels as their carrier sees them.

The bevel differential of a car's axle: a cage carries two pinions that roll on the side gears of both half shafts.

    omega_left + omega_right = 2 omega_cage

Source: Pecqueur's patent (1827); the ratio of the gears as the cage sees them: Willis, Principles of mechanism (1841).

A piston engine: crank, connecting rod and piston, and gas that is compressed without heat.

p V^gamma = p_0 V_0^gamma,      F = -(p - p_a) A        on the piston, along the cylinder
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box, cone, cylinder
from haugmbd.bodies.shapes.base import Shape
from haugmbd.bodies.shapes.solids import Box, Cylinder
from haugmbd.bodies.validation import FloatArray
from haugmbd.forces import PointForce, Torque
from haugmbd.gallery.building import AXIS, at, check_count
from haugmbd.joints import RJ, TJ, Cam, Coupling, PointOnLine
from haugmbd.math.euler_parameters import from_axis_angle
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


SUN, PLANET = 20, 16
RING = SUN + 2 * PLANET
"""Numbers of teeth."""
MODULE, WIDTH, DENSITY = 0.01, 0.04, 7800.0
"""Diameter over number of teeth [m], width of the wheels [m], density of steel [kg/m3]."""
SUN_TORQUE = 0.5
"""Torque on the sun [N m]."""


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
    system.add(Torque("drive", sun, torque=(0.0, 0.0, SUN_TORQUE)))
    return system


def toothed(name: str, teeth: int, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Body:
    """Return a wheel with a stripe across, which shows that it turns."""
    radius = MODULE * teeth / 2.0
    shapes: tuple[Shape, ...] = (Cylinder(0.98 * radius, WIDTH), Box((1.7 * radius, 0.012, 1.04 * WIDTH), color="#f0f0f0"))
    return Body(name, *cylinder(radius, WIDTH, density=DENSITY), r=place, shape=shapes)


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


CRANK, ROD, BORE, CLEARANCE = 0.04, 0.14, 0.08, 0.012
"""Radius of the crank, length of the rod, bore, and height of the gas at the upper dead centre [m]."""
ATMOSPHERE, GAMMA = 101325.0, 1.4
"""Pressure of the atmosphere, and of the gas at the lower dead centre [Pa]; ratio of the heats of air."""
AREA = pi * BORE**2 / 4.0
ENGINE_SPEED = 250.0
"""Speed of the crank at first [rad/s]."""


def piston_engine() -> System:
    """Return a piston engine at half stroke with a gas spring; the crank turns with 250 rad/s at first.

    Returns
    -------
    System
        Bodies: "crank", "rod", "piston".  Joints: "main bearing" (RJ), "crank pin" (RJ), "wrist pin" (PointOnLine), "cylinder" (TJ).
        Forces: "gas" (PointForce).  Degrees of freedom: 1.
    """
    height = (ROD**2 - CRANK**2) ** 0.5
    pin, wrist = at(CRANK, 0.0), at(0.0, height)
    system = System("piston engine", gravity=(0.0, 0.0, -9.81))
    crank = system.add(Body("crank", *cylinder(0.08, 0.03, mass=4.0, axis=AXIS), omega_bar=(0.0, ENGINE_SPEED, 0.0)))
    v_pin = at(0.0, -ENGINE_SPEED * CRANK)
    rod = system.add(Body("rod", *cylinder(0.01, ROD, mass=0.5, axis=wrist - pin), r=(pin + wrist) / 2.0, v=v_pin))
    piston = system.add(Body("piston", *cylinder(BORE / 2.0, 0.05, mass=0.6), r=wrist, v=v_pin))
    system.add(RJ("main bearing", system.ground, crank, point=(0, 0, 0), axis=AXIS))
    system.add(RJ("crank pin", crank, rod, point=pin, axis=AXIS))
    system.add(PointOnLine("wrist pin", rod, piston, point=wrist, axis=AXIS))
    system.add(TJ("cylinder", system.ground, piston, point=wrist, axis=(0, 0, 1)))
    system.add(PointForce("gas", piston, force=gas_force))
    return system


def gas_pressure(z: float) -> float:
    """Return the pressure of the gas [Pa] with the wrist pin at the height z [m]."""
    top = CRANK + ROD + CLEARANCE
    pressure: float = ATMOSPHERE * ((2.0 * CRANK + CLEARANCE) / (top - z)) ** GAMMA
    return pressure


def gas_force(t: float, r: FloatArray, p: FloatArray, v: FloatArray, omega_bar: FloatArray) -> FloatArray:
    """Return the force of the gas on the piston [N], (3,)."""
    return at(0.0, -(gas_pressure(r[2]) - ATMOSPHERE) * AREA)
