r"""The planar slider-crank: a crank about y drives a slider along x through a rod; the axis of the slider meets that of the crank.

    x = R cos(theta) + sqrt(L^2 - R^2 sin(theta)^2)         theta from x to z

RJ (ground-crank) + RJ (crank-rod) + PointOnLine (rod-slider) + TJ (slider-ground) = 5 + 5 + 2 + 5 = 17 rows, 18 - 17 = 1 degree of freedom.
Source: Haug (1989), ch. 3 and 4, the first edition of the book: kinematics of planar slider-cranks.  Values from the equation of motion in
theta, J(theta) theta'' + J'(theta) theta'^2 / 2 = -V'(theta), integrated with DOP853 and Radau at 1e-13.
"""

from __future__ import annotations

from math import asin, cos, pi, sin

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box
from haugmbd.gallery.building import AXIS, at, frame, polar
from haugmbd.gallery.published import Published
from haugmbd.joints import RJ, TJ, PointOnLine
from haugmbd.system.system import System

CRANK, ROD, SLIDER = 0.1, 0.25, 0.4
"""Length of the crank and of the rod [m], slender rods of 2 kg/m; mass of the slider [kg]."""
DENSITY, SPEED, START = 2.0, 20.0, pi / 3.0
"""[kg/m]; speed of the crank at first [rad/s], from z to x; its angle at first [rad]."""

_SOURCE = "one coordinate, DOP853 and Radau at 1e-13"
FREE = (
    Published("crank angle theta", "rad", 0.5, -13.205425522758, 1e-8, _SOURCE),
    Published("slider position x", "m", 0.5, 0.323047008506, 1e-8, _SOURCE),
)


def planar_slider_crank() -> System:
    """Return a planar slider-crank of slender rods in the plane y = 0, whose crank turns with 20 rad/s at first.

    Returns
    -------
    System
        Bodies: "crank", "rod", "slider".  Joints: "A" (RJ), "B" (RJ), "C" (PointOnLine), "T" (TJ).  Degrees of freedom: 1.
    """
    lean = asin(CRANK * sin(START) / ROD)
    b, c = polar(CRANK, START), at(CRANK * cos(START) + ROD * cos(lean), 0.0)
    # turning about +y is from z to x: theta' = -SPEED; the rod turns the other way
    v_b = SPEED * at(CRANK * sin(START), -CRANK * cos(START))
    turn = -SPEED * CRANK * cos(START) / (ROD * cos(lean))
    v_c = v_b + turn * ROD * at(sin(-lean), -cos(lean))
    system = System("planar slider-crank", gravity=(0.0, 0.0, -9.81))
    crank = system.add(frame("crank", at(0.0, 0.0), b, density=DENSITY, v=v_b / 2.0, omega_bar=(0.0, SPEED, 0.0)))
    rod = system.add(frame("rod", b, c, density=DENSITY, v=(v_b + v_c) / 2.0, omega_bar=(0.0, turn, 0.0)))
    slider = system.add(Body("slider", *box((0.06, 0.04, 0.04), mass=SLIDER), r=c, v=v_c))
    system.add(RJ("A", system.ground, crank, point=(0, 0, 0), axis=AXIS))
    system.add(RJ("B", crank, rod, point=b, axis=AXIS))
    system.add(PointOnLine("C", rod, slider, point=c, axis=AXIS))
    system.add(TJ("T", system.ground, slider, point=c, axis=(1, 0, 0)))
    return system
