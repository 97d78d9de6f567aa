"""Bodies that touch: rigid contacts of shapes, with dry friction.

A rattleback: an ellipsoid on a plane, whose axes of inertia are turned against its own. It spins well in one direction; in the other one it
begins to rattle, stops, and turns back.  A tippe top: a ball whose centre of mass is below its middle; friction turns it upside down, and
Jellett's number, the angular momentum along the line from the centre of mass to the point of contact, is kept.  A woodpecker toy: a sleeve
with play on a pole, a bird on a spring, its beak; it jams, slides and pecks in a limit cycle.  A block on an incline, near the limit of
sticking; a stack of boxes; a box that is thrown and tumbles to rest.

Sources: Kane and Levinson, Realistic mathematical modeling of the rattleback, Int. J. Non-Linear Mech. 17 (1982), without air resistance;
Cohen, The tippe top revisited, Am. J. Phys. 45 (1977); Glocker, Dynamik von Starrkoerpersystemen mit Reibung und Stoessen (1995); Leine,
Glocker, van Campen, Nonlinear dynamics of the woodpecker toy, ASME DETC (2001).
"""

from __future__ import annotations

from math import atan2, cos, hypot, radians, sin

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box
from haugmbd.bodies.shapes import Box, Capsule, Ellipsoid, Plane, Sphere
from haugmbd.contact.contact import Contact
from haugmbd.contact.contacts import Contacts
from haugmbd.errors import UsageError
from haugmbd.forces import RSDA
from haugmbd.joints import RJ, Parallel, PointOnLine
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


def tippe_top(spin: float = 200.0) -> System:
    """Return a tippe top on the plane z = 0, which leans by 0.3 rad, spins about the vertical, and slips.

    Parameters
    ----------
    spin : float
        Angular velocity about the vertical [rad/s].

    Returns
    -------
    System
        Bodies: "top".  Contacts: "floor" (Plane and Sphere).  Degrees of freedom: 6.

    Notes
    -----
    Jellett's number J = H . a is kept, with H the angular momentum about the centre of mass and a = -R z + low e from it to the point of
    contact. Source: Cohen (1977).
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
            shape=Sphere(TOP_RADIUS, center=middle),
        )
    )
    system.add(Contact("floor", system.ground, top, shape_i=Plane(), mu=0.1))
    return system


POLE, SLEEVE_RADIUS, SLEEVE_HEIGHT, PIVOT, ARM, BEAK = 0.0025, 0.0031, 0.0058, 0.010, 0.015, (-0.0201, 0.02, 0.0)
"""Woodpecker [m]: radii of pole and sleeve, half height of the sleeve; pivot from the sleeve; bird from the pivot; beak."""
SLEEVE, BIRD, SPRING = (3e-4, 5e-9), (4.5e-3, 7e-7), 0.0056
"""Masses [kg] and inertias [kg m2], stiffness of the spring [N m/rad]."""
HEAD, PECKER = Sphere(0.006, center=(-0.003, 0.02, 0.0)), Capsule(0.0015, 0.0142, center=(-0.0115, 0.02, 0.0), axis=(1.0, 0.0, 0.0))
"""What is drawn of the bird beside its body."""
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
    system = System("woodpecker", gravity=(0.0, -GRAVITY, 0.0))
    z = (0.0, 0.0, 1.0)
    sleeve = system.add(
        Body(
            "sleeve", SLEEVE[0], (SLEEVE[1],) * 3, p=from_axis_angle(z, tilt), v=(0.0, fall, 0.0), shape=Box((0.008, 0.0116, 0.008))
        )
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
            shape=(Ellipsoid((0.008, 0.02, 0.006)), HEAD, PECKER),
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


def incline_block(share: float = 0.96) -> System:
    """Return a block at rest on an incline of 30 degrees, which rises along x; gravity is turned instead of the plane z = 0.

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
    slope = radians(30.0)
    system = System("block on an incline", gravity=(-GRAVITY * sin(slope), 0.0, -GRAVITY * cos(slope)))
    block = system.add(Body("block", *box((0.2, 0.2, 0.1), mass=1.0), r=(0.0, 0.0, 0.05), shape=Box((0.2, 0.2, 0.1))))
    system.add(Contact("floor", system.ground, block, shape_i=Plane(), mu=sin(slope) / cos(slope) / share))
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
