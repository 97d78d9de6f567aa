"""Bodies that touch: rigid contacts of shapes, with dry friction.

A rattleback: an ellipsoid on a plane, whose axes of inertia are turned against its own. It spins well in one direction; in the other one it
begins to rattle, stops, and turns back.  A tippe top: a ball whose centre of mass is below its middle; friction turns it upside down, and
Jellett's number, the angular momentum along the line from the centre of mass to the point of contact, is kept.  A woodpecker toy: a sleeve
with play on a pole, a bird on a spring, its beak; it jams, slides and pecks in a limit cycle.  A block on an incline, near the limit of
sticking; a stack of boxes; a box that is thrown and tumbles to rest.  A gripper near its limit, a follower that jumps off its cam, a wheel
without a rim that walks down a slope.

Sources: Kane and Levinson, Realistic mathematical modeling of the rattleback, Int. J. Non-Linear Mech. 17 (1982), without air resistance;
Cohen, The tippe top revisited, Am. J. Phys. 45 (1977); Glocker, Dynamik von Starrkoerpersystemen mit Reibung und Stoessen (1995); Leine,
Glocker, van Campen, Nonlinear dynamics of the woodpecker toy, ASME DETC (2001).
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, radians, sin

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box
from haugmbd.bodies.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.contacts import Contacts
from haugmbd.drivers import Expression
from haugmbd.errors import UsageError
from haugmbd.forces import RSDA, JointForce
from haugmbd.joints import RJ, TJ, Parallel, Planar, PointOnLine, RotationDriver, TranslationDriver
from haugmbd.math.euler_parameters import from_axis_angle, from_rotation_matrix, rotation_matrix
from haugmbd.system.system import System

STONE, SEMI_AXES, RAISED = 1.0, (0.2, 0.03, 0.02), 0.01
"""Mass [kg], semi-axes [m], and how far the middle of the ellipsoid is above the centre of mass [m]."""
INERTIA = ((2e-4, -2e-5, 0.0), (-2e-5, 1.6e-3, 0.0), (0.0, 0.0, 1.7e-3))
"""[kg m2]"""
LEAN, SPIN, STONE_GRAVITY = radians(0.5), -5.0, 9.81
"""Lean about each level axis [rad], spin [rad/s], gravity [m/s2]."""


def rattleback(spin: float = SPIN) -> System:
    """Return a rattleback that rolls on the plane z = 0 and spins with -5 rad/s at first, the direction in which it turns back.

    Parameters
    ----------
    spin : float
        Angular velocity about its own z axis [rad/s].

    Returns
    -------
    System
        Bodies: "stone".  Contacts: "floor" (Plane and Ellipsoid).  Degrees of freedom: 6.

    Notes
    -----
    Source: Kane and Levinson (1982).
    """
    p = from_axis_angle((1.0, 0.0, 0.0), LEAN)
    A = rotation_matrix(p) @ rotation_matrix(from_axis_angle((0.0, 1.0, 0.0), LEAN))
    squares = np.diag(np.square(SEMI_AXES))
    up = A.T @ (0.0, 0.0, 1.0)
    lowest = A @ ((0.0, 0.0, RAISED) - squares @ up / np.sqrt(up @ squares @ up))  # from the centre of mass
    omega_bar = np.array([0.0, 0.0, spin])
    system = System("rattleback", gravity=(0.0, 0.0, -STONE_GRAVITY))
    stone = system.add(
        Body(
            "stone",
            STONE,
            INERTIA,
            r=(0.0, 0.0, -lowest[2]),
            p=from_rotation_matrix(A),
            v=-np.cross(A @ omega_bar, lowest),  # it rolls
            omega_bar=omega_bar,
            shape=Ellipsoid(SEMI_AXES, center=(0.0, 0.0, RAISED)),
        )
    )
    system.add(Contact("floor", system.ground, stone, shape_i=Plane(), mu=1.0))
    return system


GRAVITY = 9.81
"""[m/s2]"""
TOP_RADIUS, TOP_MASS, TOP_LOW, TOP_INERTIA = 0.02, 0.015, 0.003, (2.4e-6, 2.4e-6, 2.6e-6)
"""Tippe top: radius [m], mass [kg], how far the centre of mass is below the middle [m], inertia [kg m2]."""
STEM, STEM_RADIUS = 0.025, 0.003
"""From the middle of the ball to the end of the stem, and its radius [m]."""


def tippe_top(spin: float = 200.0) -> System:
    """Return a tippe top on the plane z = 0, which leans by 0.3 rad, spins about the vertical, and slips.

    Parameters
    ----------
    spin : float
        Angular velocity about the vertical [rad/s].

    Returns
    -------
    System
        Bodies: "top".  Contacts: "floor" (the ball), "stem" (its end), both on a Plane.  Degrees of freedom: 6.

    Notes
    -----
    It turns over, and rises on its stem in the end. Until the stem touches, Jellett's number J = H . a is kept, with H the angular momentum
    about the centre of mass and a = -R z + low e from it to the point of contact. Source: Cohen (1977).
    """
    p = from_axis_angle((1.0, 0.0, 0.0), 0.3)
    A = rotation_matrix(p)
    system = System("tippe top", gravity=(0.0, 0.0, -GRAVITY))
    middle = np.array([0.0, 0.0, TOP_LOW])
    top = system.add(
        Body(
            "top",
            TOP_MASS,
            TOP_INERTIA,
            r=np.array([0.0, 0.0, TOP_RADIUS]) - A @ middle,
            p=p,
            omega_bar=A.T @ (0.0, 0.0, spin),
            shape=(Sphere(TOP_RADIUS, center=middle, color="#e69f00"), *_marks(middle)),
        )
    )
    ball, tip = Sphere(TOP_RADIUS, center=middle), Sphere(STEM_RADIUS, center=middle + (0.0, 0.0, STEM - STEM_RADIUS))
    for name, shape in (("floor", ball), ("stem", tip)):
        system.add(Contact(name, system.ground, top, shape_i=Plane(), shape_j=shape, mu=0.1))
    return system


def _marks(middle: Array) -> tuple[Capsule | Sphere, ...]:
    """Return the stem of the top, and spots around it by which one sees it turn."""
    stem = Capsule(
        STEM_RADIUS, STEM - TOP_RADIUS, center=middle + (0.0, 0.0, 0.5 * (TOP_RADIUS + STEM) - STEM_RADIUS), color="#0072b2"
    )
    turns = 2.0 * np.pi * np.arange(3) / 3
    spots = [middle + 0.8 * TOP_RADIUS * np.array([0.8 * cos(a), 0.8 * sin(a), 0.6]) for a in turns]
    return stem, *(Sphere(0.3 * TOP_RADIUS, center=at, color="#d55e00") for at in spots)


POLE, SLEEVE_RADIUS, SLEEVE_HEIGHT, PIVOT, ARM, BEAK = 0.0025, 0.0031, 0.0058, 0.010, 0.015, (-0.0201, 0.02, 0.0)
"""Woodpecker [m]: radii of pole and sleeve, half height of the sleeve; pivot from the sleeve; bird from the pivot; beak."""
SLEEVE, BIRD, SPRING = (3e-4, 5e-9), (4.5e-3, 7e-7), 0.0056
"""Masses [kg] and inertias [kg m2], stiffness of the spring [N m/rad]."""
HEAD, PECKER = Sphere(0.006, center=(-0.003, 0.02, 0.0)), Capsule(0.0015, 0.0142, center=(-0.0115, 0.02, 0.0), axis=(1.0, 0.0, 0.0))
"""What is drawn of the bird beside its body."""
BAR, RING = "#5f7d95", "#0072b2"
SHAFT = Cylinder(POLE, 0.18, center=(0.0, -0.045, 0.0), axis=(0.0, 1.0, 0.0), color="#e69f00")
"""The pole as it is drawn, and colours of the bar of the spring and of the sleeve."""
PECK = (-0.2788, -0.3411, -7.4583)
"""The published start, where the sleeve begins to jam: angle of the bird [rad], fall [m/s], angular velocity [rad/s]."""


def woodpecker() -> System:
    """Return the woodpecker toy near its limit cycle, where the sleeve begins to jam on its pole, the y axis.

    Returns
    -------
    System
        Bodies: "sleeve", "bird".  Joints: "pin" (RJ), "pole" (PointOnLine), "upright" (Parallel).  Loads: "spring".  Contacts: "beak",
        "lower", "upper" (points against the pole, mu = 0.3, the beak with restitution 0.5).  Degrees of freedom: 3.

    Notes
    -----
    Data of Glocker (1995) and Leine, Glocker, van Campen (2001), whose gaps are linear in the angles; here they are exact.
    """
    # the edge of the sleeve touches the pole:  r cos a + h sin a = pole
    tilt = -np.arccos(POLE / hypot(SLEEVE_RADIUS, SLEEVE_HEIGHT)) + atan2(SLEEVE_HEIGHT, SLEEVE_RADIUS)
    angle, fall, rate = PECK
    arm, pivot = ARM * np.array([cos(angle), sin(angle), 0.0]), PIVOT * np.array([cos(tilt), sin(tilt), 0.0])
    system = System("woodpecker", gravity=(0.0, -GRAVITY, 0.0), ground_shape=SHAFT)
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    ring = Cylinder(SLEEVE_RADIUS + 0.0015, 2.0 * SLEEVE_HEIGHT, inner_radius=SLEEVE_RADIUS, axis=(0.0, 1.0, 0.0), color=RING)
    bars = [
        Capsule(0.0008, long, center=(middle, 0.0, 0.0), axis=x, color=BAR) for long, middle in ((0.006, 0.007), (0.008, -0.011))
    ]
    sleeve = system.add(
        Body("sleeve", SLEEVE[0], (SLEEVE[1],) * 3, p=from_axis_angle(z, tilt), v=(0.0, fall, 0.0), shape=(ring, bars[0]))
    )
    bird = system.add(
        Body(
            "bird",
            BIRD[0],
            (BIRD[1],) * 3,
            r=pivot + arm,
            p=from_axis_angle(z, angle),
            v=np.array([0.0, fall, 0.0]) + np.cross((0.0, 0.0, rate), arm),
            omega_bar=(0.0, 0.0, rate),
            shape=(Ellipsoid((0.008, 0.02, 0.006)), HEAD, PECKER, bars[1]),
        )
    )
    pin = system.add(RJ("pin", sleeve, bird, point=pivot, axis=z))
    system.add(PointOnLine("pole", system.ground, sleeve, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(Parallel("upright", system.ground, sleeve, axis=z))
    system.add(RSDA("spring", pin, k=SPRING, theta0=tilt - angle))
    wall = Plane(point=(POLE, 0.0, 0.0), normal=(1.0, 0.0, 0.0))
    edge = SLEEVE_RADIUS, SLEEVE_HEIGHT
    for name, body, place, e in (
        ("beak", bird, BEAK, 0.5),
        ("lower", sleeve, (edge[0], -edge[1], 0.0), 0.0),
        ("upper", sleeve, (*edge, 0.0), 0.0),
    ):
        point = Sphere(0.0, center=place)
        system.add(Contact(name, system.ground, body, shape_i=wall, shape_j=point, mu=0.3, restitution=e))
    return system


SLOPE, BLOCK = radians(30.0), (0.2, 0.2, 0.1)
"""Of the incline, and edges of the block [m]."""


def incline_block(share: float = 0.96) -> System:
    """Return a block at rest on an incline of 30 degrees, which rises along x.

    Parameters
    ----------
    share : float
        Slope over the coefficient of friction: below 1 the block holds, above it slides.

    Returns
    -------
    System
        Bodies: "block".  Contacts: "floor" (Plane and Box).  Degrees of freedom: 6.

    Raises
    ------
    UsageError
        If share is not positive.
    """
    if not share > 0.0:
        raise UsageError(f"share = {share!r:.60} must be positive: the slope over the coefficient of friction.")
    p = from_axis_angle((0.0, 1.0, 0.0), -SLOPE)
    up, along = np.array([-sin(SLOPE), 0.0, cos(SLOPE)]), np.array([cos(SLOPE), 0.0, sin(SLOPE)])
    board = Box((1.6, 0.5, 0.03), center=-0.3 * along - 0.015 * up, p=p, color="#bbbbbb")
    low = -1.1 * along
    table = Box((1.7, 0.5, 0.02), center=(low[0] + 0.75, 0.0, low[2] - 0.04), color="#dddddd")
    system = System("block on an incline", gravity=(0.0, 0.0, -GRAVITY), ground_shape=(board, table))
    block = system.add(Body("block", *box(BLOCK, mass=1.0), r=0.5 * BLOCK[2] * up, p=p, shape=Box(BLOCK, color="#d55e00")))
    floor = Plane(normal=up)
    system.add(Contact("floor", system.ground, block, shape_i=floor, shape_j=Box(BLOCK), mu=sin(SLOPE) / cos(SLOPE) / share))
    return system


def stack(n: int = 10) -> System:
    """Return a stack of n boxes of 1 kg at rest on the plane z = 0.

    Parameters
    ----------
    n : int
        Number of boxes, 1 or more.

    Returns
    -------
    System
        Bodies: "box 1", ..., from below.  Contacts: "floor", "face 2", ... of a box with what is below it.  Degrees of freedom: 60.

    Raises
    ------
    UsageError
        If n is not a whole number of 1 or more.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise UsageError(f"n = {n!r:.60} must be a whole number of boxes, 1 or more.")
    system = System("stack", gravity=(0.0, 0.0, -GRAVITY))
    below, shape = system.ground, Box((0.2, 0.2, 0.1))
    for k in range(n):
        block = system.add(Body(f"box {k + 1}", *box((0.2, 0.2, 0.1), mass=1.0), r=(0.0, 0.0, 0.05 + 0.1 * k), shape=shape))
        name, shape_i = ("floor", Plane()) if k == 0 else (f"face {k + 1}", shape)
        system.add(Contact(name, below, block, shape_i=shape_i, shape_j=shape, mu=0.5))
        below = block
    return system


def tumbling_box() -> System:
    """Return a box of 1 kg that is thrown above the plane z = 0 and tumbles to rest; for `MoreauJean`.

    Returns
    -------
    System
        Bodies: "box".  Contacts: "floor: ground-box" (Plane and Box, mu = 0.4, restitution 0.3).  Degrees of freedom: 6.
    """
    system = System("tumbling box", gravity=(0.0, 0.0, -GRAVITY))
    thrown = system.add(
        Body(
            "box",
            *box((0.3, 0.2, 0.1), mass=1.0),
            r=(0.0, 0.0, 0.5),
            p=from_axis_angle((1.0, 2.0, 0.5), 0.7),
            v=(1.5, 0.3, 0.0),
            omega_bar=(2.0, 6.0, 1.0),
            shape=Box((0.3, 0.2, 0.1)),
        )
    )
    system.add(Contacts("floor", [(system.ground, Plane()), thrown], mu=0.4, restitution=0.3))
    return system


PART, FINGER, LIFTED = 0.6, 0.15, (0.06, 0.06, 0.1)
"""Gripper: masses of the part and of each finger [kg], edges of the part [m]."""
HEIGHT, LIFT_TIME, GRIP_MU = 0.3, 0.4, 0.5
"""Of the way up [m], its time [s], and the coefficient of friction of the fingers."""


def gripper(share: float = 0.96) -> System:
    """Return a gripper whose two fingers press on a part and lift it by 0.3 m in 0.4 s, z = h (t / T - sin(2 pi t / T) / (2 pi)).

    Parameters
    ----------
    share : float
        The largest force that the part needs on its way, m (g + 2 pi h / T^2), over the largest one that friction gives, 2 mu F: below 1
        the part is held, above it slips out on the way.

    Returns
    -------
    System
        Bodies: "hand", "left", "right", "part".  Joints: "lift", "slide left", "slide right" (TJ).  Contacts: "grip left", "grip right"
        (Box and Box).  Loads: "press left", "press right".  Drivers: "up".  Degrees of freedom: 8.

    Raises
    ------
    UsageError
        If share is not positive.

    Notes
    -----
    Where share > 1 the part begins to slip when m (g + a(t)) = 2 mu F, a = 2 pi h / T^2 sin(2 pi t / T).
    """
    if not share > 0.0:
        raise UsageError(f"share = {share!r:.60} must be positive: the force that the part needs over what friction can give.")
    press = PART * (GRAVITY + 2.0 * pi * HEIGHT / LIFT_TIME**2) / (2.0 * GRIP_MU * share)
    z, system = (0.0, 0.0, 1.0), System("gripper", gravity=(0.0, 0.0, -GRAVITY))
    size = (0.3, 0.1, 0.04)
    bar = Box(size, center=(0.0, 0.0, 0.0), color="#999999")
    hand = system.add(Body("hand", *box(size, mass=0.5), r=(0.0, 0.0, 0.12), shape=bar))
    part = system.add(Body("part", *box(LIFTED, mass=PART), shape=Box(LIFTED, color="#d55e00")))
    lift = system.add(TJ("lift", system.ground, hand, point=(0.0, 0.0, 0.12), axis=z))
    system.add(
        TranslationDriver("up", lift, Expression(f"{HEIGHT} * (t / {LIFT_TIME} - sin(2 * pi * t / {LIFT_TIME}) / (2 * pi))"))
    )
    pad, shank = Box((0.02, 0.04, 0.05)), Box((0.02, 0.03, 0.08), center=(0.0, 0.0, 0.065), color="#56b4e9")
    for side, name in ((-1.0, "left"), (1.0, "right")):
        place = (side * 0.5 * (LIFTED[0] + 0.02), 0.0, 0.0)
        finger = system.add(Body(name, *box((0.02, 0.04, 0.05), mass=FINGER), r=place, shape=(pad, shank)))
        slide = system.add(TJ(f"slide {name}", hand, finger, point=place, axis=(-side, 0.0, 0.0)))
        system.add(JointForce(f"press {name}", slide, press))
        system.add(Contact(f"grip {name}", finger, part, shape_i=pad, shape_j=Box(LIFTED), mu=GRIP_MU))
    return system


ECCENTRICITY, CAM_RADIUS, CAM_SPEED, FOLLOWER = 0.02, 0.04, 30.0, 0.3
"""Cam: how far its middle is from the shaft [m], its radius [m], its speed [rad/s]; mass of the follower [kg]."""


def jumping_follower() -> System:
    """Return an eccentric ball as a cam, driven at 30 rad/s, under a level follower that jumps off it in each turn, and lands.

    Returns
    -------
    System
        Bodies: "cam", "follower".  Joints: "shaft" (RJ), "guide" (TJ).  Contacts: "cam face" (Plane and Sphere).  Drivers: "speed".
        Degrees of freedom: 1.

    Notes
    -----
    The height of the middle of the ball is e sin(w t). The follower leaves it where e w^2 sin(w t) = g, flies freely, and lands without
    restitution.
    """
    system, y = System("jumping follower", gravity=(0.0, 0.0, -GRAVITY)), (0.0, 1.0, 0.0)
    shapes = (Sphere(CAM_RADIUS, center=(ECCENTRICITY, 0.0, 0.0)), Capsule(0.008, 0.1, axis=y, color="#999999"))
    cam = system.add(Body("cam", 1.0, (1e-3, 1e-3, 1e-3), omega_bar=(0.0, -CAM_SPEED, 0.0), shape=shapes))
    plate, stem = Box((0.12, 0.06, 0.01), center=(0.0, 0.0, 0.005), color="#d55e00"), Capsule(0.008, 0.12, center=(0.0, 0.0, 0.07))
    rises = (0.0, 0.0, ECCENTRICITY * CAM_SPEED)
    follower = system.add(Body("follower", FOLLOWER, (1e-3, 1e-3, 1e-3), r=(0.0, 0.0, CAM_RADIUS), v=rises, shape=(plate, stem)))
    shaft = system.add(RJ("shaft", system.ground, cam, point=(0.0, 0.0, 0.0), axis=(0.0, -1.0, 0.0)))
    system.add(TJ("guide", system.ground, follower, point=(0.0, 0.0, CAM_RADIUS), axis=(0.0, 0.0, 1.0)))
    system.add(RotationDriver("speed", shaft, Expression(f"{CAM_SPEED} * t")))
    face = Plane(normal=(0.0, 0.0, -1.0))
    system.add(Contact("cam face", follower, cam, shape_i=face, shape_j=shapes[0], mu=0.2))
    return system


SPOKES, SPOKE, WHEEL_SLOPE = 8, 0.3, radians(5.0)
"""Rimless wheel: number of spokes, their length [m], slope of the ground [rad]."""
HUB_INERTIA = 0.02
"""[kg m2] about its axis, with 1 kg."""


def rimless_wheel(rate: float = 2.5) -> System:
    """Return a wheel without a rim that walks down a slope of 5 degrees on its eight spokes, the simplest passive walker.

    Parameters
    ----------
    rate : float
        Angular velocity at first, right after a step [rad/s].

    Returns
    -------
    System
        Bodies: "wheel".  Joints: "upright" (Planar).  Contacts: "foot 0" .. "foot 7" (Plane and points, mu = 1).  Degrees of freedom: 3.

    Notes
    -----
    Each step turns it by 2 a, the angle between spokes, and takes a part of the speed: w+ = eta w-, eta = (J + m l^2 cos 2a) / (J + m l^2).
    In the limit cycle w+^2 = eta^2 / (1 - eta^2) 4 m g l sin(a) sin(slope) / (J + m l^2).
    Source: McGeer, Passive dynamic walking, Int. J. Robotics Research 9 (1990).
    """
    half, y = pi / SPOKES, (0.0, 1.0, 0.0)
    gravity = GRAVITY * sin(WHEEL_SLOPE), 0.0, -GRAVITY * cos(WHEEL_SLOPE)
    ground = Box((2.6, 0.4, 0.02), center=(1.0, 0.0, -0.01), color="#bbbbbb")
    system = System("rimless wheel", gravity=gravity, ground_shape=ground)
    feet = [SPOKE * np.array([sin(half * (1 - 2 * k)), 0.0, -cos(half * (1 - 2 * k))]) for k in range(SPOKES)]
    spokes = [
        Capsule(0.008, SPOKE - 0.008, center=0.5 * (1.0 - 0.008 / SPOKE) * foot, axis=foot, color="#d55e00" if k == 0 else None)
        for k, foot in enumerate(feet)
    ]
    wheel = system.add(
        Body(
            "wheel",
            1.0,
            (HUB_INERTIA,) * 3,
            r=(0.0, 0.0, SPOKE * cos(half)),
            v=np.cross((0.0, rate, 0.0), -feet[0]),  # about the foot before it
            omega_bar=(0.0, rate, 0.0),
            shape=(Sphere(0.04), *spokes),
        )
    )
    system.add(Planar("upright", system.ground, wheel, point=wheel.r, normal=y))
    for k, foot in enumerate(feet):
        system.add(Contact(f"foot {k}", system.ground, wheel, shape_i=Plane(), shape_j=Sphere(0.0, center=foot), mu=1.0))
    return system
