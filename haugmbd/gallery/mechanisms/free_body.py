r"""Rotation without a fixed point: the body that turns over (Dzhanibekov), and the gyroscope in gimbals.

Source: Poinsot, Theorie nouvelle de la rotation des corps (1834); Goldstein, Classical mechanics, sec. 5.6 and 5.7.
"""

from __future__ import annotations

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import combine, cylinder, point_mass
from haugmbd.joints import RJ
from haugmbd.system.system import System

PERIOD = 8.870711512449634
"""Period of omega_bar of the body that turns over [s], from elliptic integrals."""


def dzhanibekov() -> System:
    """Return a free body that spins about its middle axis of inertia, and turns over again and again.

    Returns
    -------
    System
        Bodies: "wing nut" with the moments of inertia 1, 2 and 3 kg m2, and 5 rad/s about the middle one.  No joints.
        Degrees of freedom: 6.

    Notes
    -----
    Euler's equations have the period 8.870711512 s.  Source: Poinsot (1834).
    """
    system = System("Dzhanibekov", gravity=(0.0, 0.0, 0.0))
    system.add(Body("wing nut", 1.0, (1.0, 2.0, 3.0), omega_bar=(0.01, 5.0, 0.02)))
    return system


def gyroscope(spin: float = 200.0) -> System:
    """Return a gyroscope in two gimbals with a weight at the inner one: it precesses about the vertical.

    Parameters
    ----------
    spin : float
        Speed of the rotor [rad/s].

    Returns
    -------
    System
        Bodies: "outer gimbal", "inner gimbal", "rotor".  Joints: "vertical", "horizontal", "axle" (RJ).  Degrees of freedom: 3.

    Notes
    -----
    The weight of 0.1 kg at 0.1 m along the axle makes the gyroscope precess with about m g d / (J spin).
    """
    ring = cylinder(0.11, 0.01, mass=0.2, inner_radius=0.1, axis=(1, 0, 0))
    inner = combine([cylinder(0.1, 0.01, mass=0.2, inner_radius=0.09), point_mass(0.1).placed((0.0, 0.1, 0.0))])
    system = System("gyroscope", gravity=(0.0, 0.0, -9.81))
    first = system.add(Body("outer gimbal", *ring))
    second = system.add(Body("inner gimbal", inner.mass, inner.J_bar, r=inner.center))
    rotor = system.add(Body("rotor", *cylinder(0.08, 0.02, mass=1.0, axis=(0, 1, 0)), omega_bar=(0.0, spin, 0.0)))
    system.add(RJ("vertical", system.ground, first, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RJ("horizontal", first, second, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("axle", second, rotor, point=(0, 0, 0), axis=(0, 1, 0)))
    return system
