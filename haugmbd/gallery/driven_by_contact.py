"""Mechanisms whose parts drive one another by contact alone: a row of dominoes, a ratchet with its pawl, a Geneva drive with pin and slots.

Geneva drive of n = 4: the pin on a crank of radius a turns about the origin, the wheel about C = (a sqrt 2, 0); it enters and leaves a slot
along it.  With a half of the play c, the wall that drives is beside the pin's middle P:

    angle of the slot = direction of P - C, turned by asin(c / |P - C|)

Sources: van Leeuwen, The domino effect, Am. J. Phys. 78 (2010); Bickford, Mechanisms for Intermittent Motion (1972).
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box
from haugmbd.bodies.shapes import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from haugmbd.contact.contact import Contact
from haugmbd.drivers import Expression
from haugmbd.errors import UsageError
from haugmbd.forces import RSDA, JointForce
from haugmbd.joints import RJ, RotationDriver
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.system.system import System

GRAVITY = 9.81
"""[m/s2]"""
Z = (0.0, 0.0, 1.0)
DOMINO, SPACE = (0.01, 0.025, 0.05), 0.02
"""Edges of a domino, and the room to the next one [m]."""
DOMINO_MASS, DOMINO_MU, TABLE_MU = 0.01, 0.2, 0.5
"""[kg]; between dominoes, and on the table."""


def dominoes(n: int = 8, push: float = 6.0) -> System:
    """Return a row of n dominoes on the plane z = 0; the first one begins to fall along x. For `MoreauJean`.

    Parameters
    ----------
    n : int
        Number of dominoes, 2 or more.
    push : float
        Angular velocity of the first one about its foremost lower edge [rad/s].

    Returns
    -------
    System
        Bodies: "domino 1", ....  Contacts: "floor 1", ... (Plane and Box, mu = 0.5), "hit 2", ... of a domino by the one before (mu = 0.2).
        Degrees of freedom: 48.

    Raises
    ------
    UsageError
        If n is not a whole number of 2 or more.

    Notes
    -----
    It first turns about its edge, until its upper edge strikes the next one: I w^2 / 2 + m g l cos(a) is kept, with l from the edge to the
    middle, a its angle from above, and I = m (b^2 + h^2) / 3.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 2:  # noqa: PLR2004
        raise UsageError(f"n = {n!r:.60} must be a whole number of dominoes, 2 or more.")
    system = System("dominoes", gravity=(0.0, 0.0, -GRAVITY))
    shape, bodies = Box(DOMINO), list[Body]()
    for k in range(n):
        omega = (0.0, push if k == 0 else 0.0, 0.0)
        start = {"v": np.cross(omega, (-0.5 * DOMINO[0], 0.0, 0.5 * DOMINO[2])), "omega_bar": omega}
        place = (k * (DOMINO[0] + SPACE), 0.0, 0.5 * DOMINO[2])
        bodies.append(system.add(Body(f"domino {k + 1}", *box(DOMINO, mass=DOMINO_MASS), r=place, **start, shape=shape)))
    for k, body in enumerate(bodies):
        system.add(Contact(f"floor {k + 1}", system.ground, body, shape_i=Plane(), shape_j=shape, mu=TABLE_MU))
        if k:
            system.add(Contact(f"hit {k + 1}", bodies[k - 1], body, shape_i=shape, shape_j=shape, mu=DOMINO_MU))
    return system


TEETH, ROOT, TIP, WIDTH = 12, 0.04, 0.05, 0.012
"""Ratchet: number of teeth; radii of their roots and tips, and their width [m]."""
NOSE, PAWL_PIVOT = 0.002, (0.05, 0.012)
"""Radius of the nose of the pawl; the pivot of the pawl from its nose [m]."""
PAWL_SPRING, PAWL_LEAN = 0.05, 0.4
"""Stiffness of the spring of the pawl [N m/rad], and the angle by which it is wound [rad]."""
WHEEL_INERTIA, WHEEL_DAMPING, SWING, SWING_SPEED = 2e-4, 2e-3, 0.08, 10.0
"""Wheel: inertia [kg m2], damping [N m s/rad], largest torque [N m] and its angular frequency [rad/s]."""


def ratchet(torque: str = f"{SWING} * sin({SWING_SPEED} * t)", mu: float = 0.1) -> System:
    """Return a ratchet wheel that is turned to and fro, and its pawl on a spring, which lets it turn one way only.

    Parameters
    ----------
    torque : str
        Torque on the wheel about z, a formula of t [N m].
    mu : float
        Coefficient of friction between the pawl and the teeth.

    Returns
    -------
    System
        Bodies: "wheel", "pawl".  Joints: "axle", "pivot" (RJ).  Loads: "drive", "bearing", "spring".  Contacts: "tooth 0", ... (Mesh and
        Sphere).  Degrees of freedom: 2.

    Notes
    -----
    Teeth have a radial face, and a long back; at first the nose rests in the root between two of them, against both. The line of the
    force of the radial face passes the pivot on the side on which it pulls the nose into the root: it holds without friction.
    """
    system, pitch = System("ratchet"), 2.0 * pi / TEETH
    teeth = tuple(_tooth(0.5 * pi + k * pitch, pitch) for k in range(TEETH))
    wheel = system.add(
        Body("wheel", 0.3, (1e-4, 1e-4, WHEEL_INERTIA), shape=(*teeth, Cylinder(0.99 * ROOT, WIDTH, inner_radius=0.01)))
    )
    # the nose touches the radial face x = 0, and the back n . x = n . root beside it
    back = np.array([TIP * sin(pitch), TIP * cos(pitch) - ROOT])
    n = np.array([-back[1], back[0]]) / np.linalg.norm(back)
    nose = np.array([NOSE, ROOT + NOSE * (1.0 - n[0]) / n[1], 0.0])
    pivot = nose + (*PAWL_PIVOT, 0.0)
    arm = 0.5 * (nose - pivot)
    tip = Sphere(NOSE, center=arm, color="#d55e00")
    lever = Capsule(0.7 * NOSE, 2.0 * float(np.linalg.norm(arm)), axis=arm, color="#d55e00")
    pawl = system.add(Body("pawl", 0.02, (1e-6, 5e-6, 5e-6), r=0.5 * (nose + pivot), shape=(tip, lever)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0.0, 0.0, 0.0), axis=Z))
    hinge = system.add(RJ("pivot", system.ground, pawl, point=pivot, axis=Z))
    system.add(JointForce("drive", axle, Expression(torque)))
    system.add(RSDA("bearing", axle, c=WHEEL_DAMPING))
    system.add(RSDA("spring", hinge, k=PAWL_SPRING, c=2e-4, theta0=PAWL_LEAN))
    for k, tooth in enumerate(teeth):
        system.add(Contact(f"tooth {k}", wheel, pawl, shape_i=tooth, shape_j=tip, mu=mu))
    return system


def _tooth(angle: float, pitch: float) -> Mesh:
    """Return a tooth: a radial face at an angle from root to tip, and a back down to the root one pitch on."""
    corners = [(r * cos(a), r * sin(a)) for r, a in ((ROOT, angle), (TIP, angle), (ROOT, angle + pitch))]
    low, high = ([(x, y, z) for x, y in corners] for z in (-0.5 * WIDTH, 0.5 * WIDTH))
    sides = [side for k in range(3) for side in ((k, (k + 1) % 3, k + 3), ((k + 1) % 3, (k + 1) % 3 + 3, k + 3))]
    return Mesh.from_arrays([*low, *high], [(0, 2, 1), (3, 4, 5), *sides], color="#0072b2")


CRANK, PIN, PLAY, WALL = 0.05, 0.004, 1e-4, 0.004
"""Geneva drive [m]: radius of the crank and of its pin, half of the play in a slot, and thickness of its walls."""
SLOTS, BOTTOM = 4, 0.016
"""Number of slots, and how far their bottoms are from the middle of the wheel [m]."""
GENEVA_SPEED, GENEVA_INERTIA, GENEVA_DAMPING = 2.0 * pi, 1e-4, 3e-3
"""Speed of the crank [rad/s]; inertia [kg m2] and damping [N m s/rad] of the wheel."""


def geneva_drive(mu: float = 0.1) -> System:
    """Return a Geneva drive: a pin on a crank, driven at one turn a second, enters a slot of a wheel, and turns it by a quarter.

    Parameters
    ----------
    mu : float
        Coefficient of friction between the pin and the walls of the slots.

    Returns
    -------
    System
        Bodies: "crank", "wheel".  Joints: "shaft", "axle" (RJ).  Drivers: "speed".  Loads: "bearing".  Contacts: "slot 0 left",
        "slot 0 right", ... (Box and Sphere).  Degrees of freedom: 1.

    Notes
    -----
    Its play is 0.1 mm to each side, so that the pin changes walls where the wheel begins to brake. The wheel has no lock: its bearing is
    damped, and it stays where the pin leaves it.
    """
    system, middle = System("Geneva drive"), np.array([CRANK * sqrt(2.0), 0.0, 0.0])
    start = -0.25 * pi - 0.3
    p, x = from_axis_angle(Z, start), (1.0, 0.0, 0.0)
    pin = Sphere(PIN, center=(CRANK, 0.0, 0.0), color="#d55e00")
    arm = Capsule(0.6 * PIN, CRANK, center=(0.5 * CRANK, 0.0, -2.0 * PIN), axis=x, color="#d55e00")
    stem = Capsule(0.6 * PIN, 2.0 * PIN, center=(CRANK, 0.0, -PIN), color="#d55e00")
    shapes = pin, arm, stem, Sphere(1.2 * PIN, center=(0.0, 0.0, -2.0 * PIN))
    crank = system.add(Body("crank", 0.1, (1e-4, 1e-4, 1e-4), p=p, omega_bar=(0.0, 0.0, GENEVA_SPEED), shape=shapes))
    walls = tuple(_wall(k, side) for k in range(SLOTS) for side in (1.0, -1.0))
    hub = Cylinder(1.2 * BOTTOM, WALL, center=(0.0, 0.0, -WALL))
    wheel = system.add(Body("wheel", 0.2, (1e-4, 1e-4, GENEVA_INERTIA), r=middle, shape=(*walls, hub)))
    shaft = system.add(RJ("shaft", system.ground, crank, point=(0.0, 0.0, 0.0), axis=Z))
    axle = system.add(RJ("axle", system.ground, wheel, point=middle, axis=Z))
    system.add(RotationDriver("speed", shaft, Expression(f"{GENEVA_SPEED} * t")))
    system.add(RSDA("bearing", axle, c=GENEVA_DAMPING))
    for n, wall in enumerate(walls):
        side = "right" if n % 2 else "left"
        system.add(Contact(f"slot {n // 2} {side}", wheel, crank, shape_i=wall, shape_j=pin, mu=mu))
    return system


def _wall(k: int, side: float) -> Box:
    """Return a wall of the k-th slot of the wheel, to its left or right as seen from its middle."""
    angle, length = -0.75 * pi + 0.5 * pi * k, CRANK - BOTTOM
    along, across = np.array([cos(angle), sin(angle), 0.0]), np.array([-sin(angle), cos(angle), 0.0])
    center = (BOTTOM + 0.5 * length) * along + side * (PIN + PLAY + 0.5 * WALL) * across
    return Box((length, WALL, 2.0 * PIN), center=center, p=from_axis_angle(Z, angle), color="#0072b2")
