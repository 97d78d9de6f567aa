"""Pendulums, chains and nets: bodies that hang and swing.

A bar on a pin at one end: a physical pendulum, free or driven.

    theta'' = -m g (L/2) sin(theta) / J_pin         theta from the downward vertical, about +x

Source: ME751 (Univ. of Wisconsin-Madison), assignments A6 and A7: 4 m x 0.05 m x 0.05 m, 7800 kg/m3; driven, theta = pi/4 cos 2t.

A double pendulum of two bars in the plane x = 0.  Its motion is chaotic, so that errors grow with time.

Source: ME751 (Univ. of Wisconsin-Madison), assignment A8.  Published angles from the minimal-coordinate equations (derived with
SymPy, integrated with DOP853 and Radau at 1e-13).

A spatial chain of n links, to measure how the work of a method grows with n.

A net: small balls on a grid, held at a distance by massless rods; two opposite corners are held.

A trebuchet: a beam with a hinged counterweight, and a sling that carries the stone.
"""

from __future__ import annotations

from math import cos, pi, radians, sin

import numpy as np

from haugmbd.bodies import inertia
from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box, combine, rod, sphere
from haugmbd.bodies.validation import FloatArray
from haugmbd.gallery.building import AXIS, Published, at, check_count, frame
from haugmbd.joints import RJ, SJ, Distance, RotationDriver
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


_SOURCE = "ME751 A8; minimal coordinates, DOP853 and Radau at 1e-13"

ANGLES = (
    Published("angle of bar 1 from the downward vertical", "rad", 1.0, 0.084135520695, 1e-8, _SOURCE),
    Published("angle of bar 2 from the downward vertical", "rad", 1.0, 1.355211208561, 1e-8, _SOURCE),
    Published("angle of bar 1 from the downward vertical", "rad", 5.0, 1.104609025795, 1e-8, _SOURCE),
    Published("angle of bar 2 from the downward vertical", "rad", 5.0, 1.593052373088, 1e-8, _SOURCE),
)


def double_pendulum() -> System:
    """Return a double pendulum: bar 1 (4 m, 78 kg) horizontal along +y, bar 2 (2 m, 39 kg) hanging from its end, at rest, pins along x.

    Returns
    -------
    System
        Bodies: "bar 1", "bar 2".  Joints: "pin 1", "pin 2" (RJ).  Degrees of freedom: 2.

    Notes
    -----
    Source: ME751 (Univ. of Wisconsin-Madison), assignment A8.
    """
    system = System("double pendulum", gravity=(0.0, 0.0, -9.81))
    short = inertia.box((2.0, 0.05, 0.05), density=7800.0)
    bar_1 = system.add(Body("bar 1", *turned(BAR, pi / 2.0), r=(0.0, 2.0, 0.0)))
    bar_2 = system.add(Body("bar 2", *turned(short, 0.0), r=(0.0, 4.0, -1.0)))
    system.add(RJ("pin 1", system.ground, bar_1, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add(RJ("pin 2", bar_1, bar_2, point=(0.0, 4.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system


def chain(n: int = 10) -> System:
    """Return a spatial chain of links along +x, released at rest.  Revolute axes alternate between y and z.

    Parameters
    ----------
    n : int
        Number of links, each of 1 m and 1 kg.

    Returns
    -------
    System
        Bodies: "link 1" ... "link n".  Joints: "joint 1" ... "joint n" (RJ).  Degrees of freedom: n.

    Raises
    ------
    UsageError
        If n is not a whole number of 1 or more.
    """
    check_count("chain", n, "links")
    system = System(f"chain of {n}", gravity=(0.0, 0.0, -9.81))
    before = system.ground
    for k in range(n):
        link = system.add(Body(f"link {k + 1}", 1.0, (1e-3, 1.0 / 12.0, 1.0 / 12.0), r=(k + 0.5, 0.0, 0.0)))
        axis = (0.0, 1.0, 0.0) if k % 2 == 0 else (0.0, 0.0, 1.0)
        system.add(RJ(f"joint {k + 1}", before, link, point=(float(k), 0.0, 0.0), axis=axis))
        before = link
    return system


MESH = 0.2
"""Distance of two neighbours [m]."""


def net(n: int = 5) -> System:
    """Return a square net of n x n balls of 0.1 kg, level and at rest; two opposite corners are held.

    Parameters
    ----------
    n : int
        Number of balls along a side, at least 2.

    Returns
    -------
    System
        Bodies: "ball i j".  Joints: "along i j", "across i j" (Distance) to the next ball, "corner 1", "corner 2" (SJ).
        Degrees of freedom: 6 n^2 - 2 n (n - 1) - 6, of which 3 n^2 are spins of the balls.

    Raises
    ------
    UsageError
        If n is not a whole number of at least 2.
    """
    check_count("net", n, "balls along a side", least=2)
    system = System(f"net of {n} x {n}", gravity=(0.0, 0.0, -9.81))
    place = {(i, j): np.array([i * MESH, j * MESH, 0.0]) for i in range(n) for j in range(n)}
    ball = {at: system.add(Body(f"ball {at[0]} {at[1]}", *sphere(0.02, mass=0.1), r=r)) for at, r in place.items()}
    for i, j in place:
        for name, near in (("along", (i + 1, j)), ("across", (i, j + 1))):
            if near in place:
                ends = {"point_i": place[i, j], "point_j": place[near]}
                system.add(Distance(f"{name} {i} {j}", ball[i, j], ball[near], **ends))
    system.add(SJ("corner 1", system.ground, ball[0, 0], point=place[0, 0]))
    system.add(SJ("corner 2", system.ground, ball[n - 1, n - 1], point=place[n - 1, n - 1]))
    return system


SHORT, LONG, HEIGHT, HANGER, SLING = 1.0, 4.0, 3.0, 1.0, 3.5
"""Arms of the beam, height of its axle, lengths of hanger and sling [m]."""


def trebuchet() -> System:
    """Return a trebuchet at the moment of release, in the plane y = 0: the long arm points down, the sling lies along the ground.

    Returns
    -------
    System
        Bodies: "beam", "counterweight" (1000 kg), "sling" (a rod with the stone of 10 kg at its end).  Joints: "axle", "hinge", "tip" (RJ).
        Degrees of freedom: 3.

    Notes
    -----
    The stone leaves the sling where an `Event` says so: the model keeps it.
    """
    axle, down = at(0.0, HEIGHT), radians(-48.0)
    along = at(cos(down), sin(down))
    tip, hinge = axle + LONG * along, axle - SHORT * along
    weight, stone = hinge - at(0.0, HANGER), tip - at(SLING, 0.0)
    system = System("trebuchet", gravity=(0.0, 0.0, -9.81))
    beam = system.add(frame("beam", hinge, tip, density=15.0))
    block = system.add(Body("counterweight", *box((1.0, 1.0, 0.6), mass=1000.0), r=weight))
    parts = (sphere(0.1, mass=10.0).placed(stone), rod(SLING, density=0.2, axis=(1, 0, 0)).placed((stone + tip) / 2.0))
    whole = combine(parts)
    sling = system.add(Body("sling", whole.mass, whole.J_bar, r=whole.center))
    system.add(RJ("axle", system.ground, beam, point=axle, axis=AXIS))
    system.add(RJ("hinge", beam, block, point=hinge, axis=AXIS))
    system.add(RJ("tip", beam, sling, point=tip, axis=AXIS))
    return system
