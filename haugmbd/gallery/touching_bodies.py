"""Bodies that touch: rigid contacts of shapes, with dry friction.

A rattleback: an ellipsoid on a plane, whose axes of inertia are turned against its own. It spins well in one direction; in the other one it
begins to rattle, stops, and turns back.

Source: Kane and Levinson, Realistic mathematical modeling of the rattleback, Int. J. Non-Linear Mech. 17 (1982); without air resistance.
"""

from __future__ import annotations

from math import radians

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.shapes import Ellipsoid, Plane
from haugmbd.contact.contact import Contact
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
