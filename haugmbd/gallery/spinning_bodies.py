"""Bodies that spin, roll and hop.

The heavy top: a fast disc on a spherical joint, a benchmark of rotation formulations.

Source: Bruels and Cardona, On the use of Lie group time integrators in multibody dynamics (2010); values: reference integration.

Rotation without a fixed point: the body that turns over (Dzhanibekov), and the gyroscope in gimbals.

Source: Poinsot, Theorie nouvelle de la rotation des corps (1834); Goldstein, Classical mechanics, sec. 5.6 and 5.7.

A flyball governor: two arms on a rotating shaft, coupled to a slider by stiff spring-dampers.

At the start the eigenvalues of its motion are -8117, -20.05 and +-7.35 i [1/s].  Explicit methods need steps below 0.4 ms, although the
motion itself changes in tenths of a second.
Source: IFToMM library of computational benchmark problems, "flyball governor" (problem A05).

A disc that rolls in a circle: it leans inward, and neither falls nor stands up.

    Omega^2 cos(lean) (3 rho / 2 + R sin(lean) / 4) = g sin(lean)           speed of its centre: Omega rho

rho: radius of the circle of the centre;  Omega: turns around the circle;  spin about its own axis: Omega rho / R
Source: Routh, Advanced dynamics of a system of rigid bodies (1905), steady motion of a disc; Neimark and Fufaev (1972).

A bouncing toy: a head on a spring over a foot, both on an upright pole; pressed down and released, it hops.

    floor on the foot: k_floor max(0, -z)               z: height of the sole over the floor

In flight only gravity acts from outside: the centre of mass of head and foot moves on a parabola.
"""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import combine, cylinder, disc, point_mass, sphere
from haugmbd.bodies.shapes.base import Shape
from haugmbd.bodies.shapes.solids import Box, Cylinder
from haugmbd.bodies.validation import FloatArray
from haugmbd.errors import UsageError
from haugmbd.forces import TSDA, PointForce
from haugmbd.gallery.building import Published, at
from haugmbd.joints import RJ, SJ, TJ, RollingDisc
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.system.system import System

_TOP_SOURCE = "Bruels and Cardona (2010), reference integration"

CENTER = (
    Published("x of the centre of mass", "m", 0.2, 0.60555056, 1e-8, _TOP_SOURCE),
    Published("y of the centre of mass", "m", 0.2, 0.59895768, 1e-8, _TOP_SOURCE),
    Published("z of the centre of mass", "m", 0.2, -0.52398303, 1e-8, _TOP_SOURCE),
)


def heavy_top() -> System:
    """Return the heavy top: a disc of 15 kg, 1 m from the spherical joint at the origin, spinning with 150 rad/s about y.

    Returns
    -------
    System
        Bodies: "top".  Joints: "tip" (SJ).  Degrees of freedom: 3.

    Notes
    -----
    Source: Bruels and Cardona (2010).
    """
    r, omega = (0.0, 1.0, 0.0), (0.0, 150.0, -4.61538)
    system = System("heavy top", gravity=(0.0, 0.0, -9.81))
    top = system.add(Body("top", 15.0, (0.234375, 0.46875, 0.234375), r=r, v=np.cross(omega, r), omega_bar=omega))
    system.add(SJ("tip", system.ground, top, point=(0.0, 0.0, 0.0)))
    return system


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


DENSITY, THICK, CUBE, TIP = 3000.0, 0.01, 0.1, 5.0
HALF, PIN, BELOW, S0, SPEED = 0.05, 1.0, np.radians(30.0), 0.5, 2.0 * np.pi
K, C, L0 = 8e5, 4e4, 0.5

_GOVERNOR_SOURCE = "minimal coordinates, Radau and DOP853 at 1e-13; IFToMM publishes 1.2e-6"
SLIDER = (
    Published("height of the slider", "m", 1.0, 0.501420922380, 1e-9, _GOVERNOR_SOURCE),
    Published("height of the slider", "m", 10.0, 0.619622917061, 1e-9, _GOVERNOR_SOURCE),
)


def governor() -> System:
    """Return a flyball governor: a shaft that rotates freely with 2 pi rad/s, two arms with 5 kg at their ends, a slider of 3 kg.

    Returns
    -------
    System
        Bodies: "shaft" (1 m), "arm 1", "arm 2" (1 m), "slider".  Joints: "bearing" (RJ), "hinge 1", "hinge 2" (RJ), "slide" (TJ).
        Forces: "coupling 1", "coupling 2" (TSDA).  Degrees of freedom: 4.

    Notes
    -----
    Source: IFToMM library of computational benchmark problems, problem A05.
    """
    rod = DENSITY * THICK**2
    axial, across = rod * THICK**2 / 6.0, rod * (1.0 + THICK**2) / 12.0
    system = System("governor", gravity=(0.0, 0.0, -9.81))
    shaft = system.add(Body("shaft", rod, (across, across, axial), r=(0, 0, 0.5), omega_bar=(0, 0, SPEED)))
    system.add(RJ("bearing", system.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    cube, side = DENSITY * CUBE**3, DENSITY * CUBE**5 / 6.0
    slider = system.add(Body("slider", cube, (side, side, side), r=(0, 0, S0), omega_bar=(0, 0, SPEED)))
    system.add(TJ("slide", shaft, slider, point=(0, 0, S0), axis=(0, 0, 1)))
    centre = (rod * 0.5 + TIP) / (rod + TIP)
    J = across + rod * (centre - 0.5) ** 2 + TIP * (1.0 - centre) ** 2
    for n, sign in ((1, 1.0), (2, -1.0)):
        pin = np.array([sign * HALF, 0.0, PIN])
        along = np.array([sign * np.cos(BELOW), 0.0, -np.sin(BELOW)])
        turn = BELOW if sign > 0.0 else np.pi - BELOW  # about y, from x to the arm
        p = (np.cos(turn / 2.0), 0.0, np.sin(turn / 2.0), 0.0)
        r, omega = pin + centre * along, np.array([0.0, 0.0, SPEED])
        omega_bar = (-SPEED * np.sin(turn), 0.0, SPEED * np.cos(turn))
        arm = system.add(Body(f"arm {n}", rod + TIP, (axial, J, J), r=r, p=p, v=np.cross(omega, r), omega_bar=omega_bar))
        system.add(RJ(f"hinge {n}", shaft, arm, point=pin, axis=(0, 1, 0)))
        ends = {"point_i": pin + 0.5 * along, "point_j": (sign * HALF, 0.0, S0)}
        system.add(TSDA(f"coupling {n}", arm, slider, k=K, c=C, l0=L0, **ends))
    return system


RADIUS, MASS, CIRCLE, DISC_GRAVITY = 0.2, 1.0, 0.6, 9.81
"""Radius [m] and mass [kg] of the disc, radius of the circle of its centre [m], gravity [m/s2]."""


def rolling_disc(lean: float = radians(20.0)) -> System:
    """Return a thin disc of 1 kg and 0.2 m that leans, and rolls on the plane z = 0 in a circle of 0.6 m, as steadily as Routh says.

    Parameters
    ----------
    lean : float
        Angle of the disc from the vertical [rad], more than 0 and less than pi / 2.

    Returns
    -------
    System
        Bodies: "disc", whose axis is its z axis.  Joints: "edge" (RollingDisc).  Degrees of freedom: 3, of position 5.

    Raises
    ------
    UsageError
        If the disc stands upright or lies.

    Notes
    -----
    Source: Routh (1905); Neimark and Fufaev (1972).
    """
    if not 0.0 < lean < pi / 2.0:
        raise UsageError(f"rolling_disc({lean!r}): give an angle from the vertical of more than 0 and less than pi / 2 [rad].")
    around, center = speed_around(lean), (CIRCLE, 0.0, RADIUS * cos(lean))
    shapes: tuple[Shape, ...] = (
        Cylinder(RADIUS, 0.012),
        Box((1.7 * RADIUS, 0.02, 0.016), color="#f0f0f0"),
    )
    coin = Body(
        "disc",
        *disc(RADIUS, mass=MASS),
        r=center,
        p=from_axis_angle((0.0, 1.0, 0.0), pi / 2.0 - lean),  # its x axis points down to the contact, its z axis up and outward
        v=(0.0, around * CIRCLE, 0.0),
        omega_bar=(-around * cos(lean), 0.0, -around * CIRCLE / RADIUS),
        shape=shapes,
    )
    system = System("rolling disc", gravity=(0.0, 0.0, -DISC_GRAVITY))
    system.add(coin)
    system.add(RollingDisc("edge", coin, center=center, axis=(cos(lean), 0.0, sin(lean)), radius=RADIUS))
    return system


def speed_around(lean: float) -> float:
    """Return the speed [rad/s] around the circle with which the disc neither falls nor stands up."""
    return sqrt(DISC_GRAVITY * sin(lean) / (cos(lean) * (1.5 * CIRCLE + 0.25 * RADIUS * sin(lean))))


HEAD, FOOT = 0.2, 0.05
"""Masses [kg]."""
SPRING, FREE_LENGTH, PRESSED = 400.0, 0.1, 0.06
"""Spring between foot and head [N/m], its free length, and by how much it is shorter at first [m]."""
FLOOR, SOLE, TOY_GRAVITY = 2.0e4, 0.01, 9.81
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
    system = System("bouncing toy", gravity=(0.0, 0.0, -TOY_GRAVITY), ground_shape=(pole, floor))
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
