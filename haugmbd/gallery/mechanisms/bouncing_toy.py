r"""A bouncing toy: a head on a spring over a foot, both on an upright pole; pressed down and released, it hops.

    floor on the foot: k_floor max(0, -z)               z: height of the sole over the floor

In flight only gravity acts from outside: the centre of mass of head and foot moves on a parabola.
"""

from __future__ import annotations

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder, sphere
from haugmbd.bodies.shapes.solids import Box, Cylinder
from haugmbd.bodies.validation import FloatArray
from haugmbd.forces import TSDA, PointForce
from haugmbd.gallery.building import at
from haugmbd.joints import TJ
from haugmbd.system.system import System

HEAD, FOOT = 0.2, 0.05
"""Masses [kg]."""
SPRING, FREE_LENGTH, PRESSED = 400.0, 0.1, 0.06
"""Spring between foot and head [N/m], its free length, and by how much it is shorter at first [m]."""
FLOOR, SOLE, GRAVITY = 2.0e4, 0.01, 9.81
"""Stiffness of the floor [N/m], half the thickness of the foot [m], gravity [m/s2]."""


def bouncing_toy() -> System:
    """Return a head on a spring over a foot, pressed down on the floor, at rest; it hops up its pole without any loss.

    Returns
    -------
    System
        Bodies: "foot", "head".  Joints: "pole" (TJ, ground-foot), "sleeve" (TJ, foot-head).  Forces: "spring" (TSDA), "floor" (PointForce).
        Degrees of freedom: 2.
    """
    foot_at, head_at = at(0.0, SOLE), at(0.0, SOLE + FREE_LENGTH - PRESSED)
    pole = Cylinder(0.004, 0.5, center=(0.0, 0.0, 0.25), color="#9aa5b1")
    floor = Box((0.3, 0.3, 0.01), center=(0.0, 0.0, -0.005), color="#d8dde2")
    system = System("bouncing toy", gravity=(0.0, 0.0, -GRAVITY), ground_shape=(pole, floor))
    foot = system.add(Body("foot", *cylinder(0.03, 2.0 * SOLE, mass=FOOT), r=foot_at))
    head = system.add(Body("head", *sphere(0.025, mass=HEAD), r=head_at))
    system.add(TJ("pole", system.ground, foot, point=foot_at, axis=(0, 0, 1)))
    system.add(TJ("sleeve", foot, head, point=head_at, axis=(0, 0, 1)))
    system.add(TSDA("spring", foot, head, point_i=foot_at, point_j=head_at, k=SPRING, l0=FREE_LENGTH))
    system.add(PointForce("floor", foot, force=floor_force))
    return system


def floor_force(t: float, r: FloatArray, p: FloatArray, v: FloatArray, omega_bar: FloatArray) -> FloatArray:
    """Return the force of the floor on the foot [N], (3,)."""
    return at(0.0, FLOOR * max(0.0, SOLE - r[2]))
