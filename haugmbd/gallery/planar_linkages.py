"""Planar linkages: loops of bars in a plane.

A planar four-bar with independent rows.

Four revolute joints with parallel axes have 20 rows, of which 17 are independent: the loop is over-constrained in space.  Here a
spherical and a cylindrical joint close it: RJ + RJ + SJ + CJ = 5 + 5 + 3 + 4 = 17 rows, 18 - 17 = 1 degree of freedom.

Andrews' squeezing mechanism: seven bodies in a plane, three loops, a spring, and a constant torque on the crank.

    F = rr (cos b, sin b)            E = F - d (cos(b + T), sin(b + T))      E = B + R(g) (0, -ss)         D = B + R(g) (sd, -sc)
    G = A + zt (cos de, sin de)      E = G + R(P + de) (0, -e)               H = A + R(ep) (0, -u)         E = H + R(O + ep) (zf, 0)

The loops are closed at E by points on lines, so that all rows are independent: 7 * 5 + 3 * 2 = 41 rows of 42.
Source: Schiehlen, Multibody Systems Handbook (1990); Mazzia, Magherini, Test Set for IVP Solvers; IFToMM benchmark library.

The planar slider-crank: a crank about y drives a slider along x through a rod; the axis of the slider meets that of the crank.

    x = R cos(theta) + sqrt(L^2 - R^2 sin(theta)^2)         theta from x to z

RJ (ground-crank) + RJ (crank-rod) + PointOnLine (rod-slider) + TJ (slider-ground) = 5 + 5 + 2 + 5 = 17 rows, 18 - 17 = 1 degree of freedom.
Source: Haug (1989), ch. 3 and 4, the first edition of the book: kinematics of planar slider-cranks.  Values from the equation of motion in
theta, J(theta) theta'' + J'(theta) theta'^2 / 2 = -V'(theta), integrated with DOP853 and Radau at 1e-13.

Windows: n four-bars in a row that share their uprights, a loop with a singular configuration where all bars lie on one line.

15 n + 5 rows for 2 n + 1 bodies, of which 3 n depend on the others.
Source: IFToMM library of computational benchmark problems, "N four-bar mechanism" (problem A02).

Peaucellier's linkage: seven bars that guide a point along an exact straight line.

The pole O and the rhombus A P B Q are an inversor: |OP| |OQ| = l^2 - s^2.  P moves on a circle through O, so that Q moves on a line.
Source: Peaucellier (1864); Lipkin (1870).

Theo Jansen's leg: a crank, seven moving parts, and a foot whose path is flat while it stands.

Source: Jansen, The great pretender (2007): the lengths a ... m, here in centimetres.

A scissor lift: pairs of bars that cross in their middles, and a platform that rises level.
"""

from __future__ import annotations

from math import asin, cos, pi, sin, sqrt
from typing import Any

import numpy as np

from haugmbd.bodies import inertia
from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box
from haugmbd.compiled.array_types import Array
from haugmbd.drivers import Driver
from haugmbd.errors import UsageError
from haugmbd.forces import TSDA, Torque
from haugmbd.gallery.building import AXIS, Published, at, check_count, frame, meeting_point, polar
from haugmbd.joints import CJ, RJ, SJ, TJ, PointInPlane, PointOnLine, RotationDriver
from haugmbd.simulation.results.result import Result
from haugmbd.system.system import System

PIVOTS = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 2.0], [4.0, 0.0, 0.0]])
"""The pivots at the modelled pose [m]: ground-crank, crank-coupler, coupler-rocker, rocker-ground."""


def four_bar() -> System:
    """Return a planar four-bar of slender rods (1 kg/m) in the plane y = 0, at rest.

    Returns
    -------
    System
        Bodies: "crank" (1 m), "coupler" (sqrt(10) m), "rocker" (sqrt(5) m); the ground pivots are 4 m apart.
        Joints: "A" (RJ), "B" (RJ), "C" (SJ), "D" (CJ).  Degrees of freedom: 1.
    """
    a, b, c, d = PIVOTS
    system = System("four-bar", gravity=(0.0, 0.0, -9.81))
    crank, coupler, rocker = (system.add(frame(*ends)) for ends in (("crank", a, b), ("coupler", b, c), ("rocker", c, d)))
    system.add(RJ("A", system.ground, crank, point=a, axis=AXIS))
    system.add(RJ("B", crank, coupler, point=b, axis=AXIS))
    system.add(SJ("C", coupler, rocker, point=c))
    system.add(CJ("D", system.ground, rocker, point=d, axis=AXIS))
    return system


A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
D_FE, DA, E_EG, EA, RR, RA, SS, SA, SB = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035, 0.01874, 0.01043
SC, SD, TA, TB, U, UA, UB, ZF, ZT, FA = 0.018, 0.02, 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
INERTIA = (2.194e-06, 4.41e-07, 5.255e-06, 5.667e-07, 1.169e-05, 5.667e-07, 1.912e-05)
SPRING, FREE_LENGTH, TORQUE = 4530.0, 0.07785, 0.033
START_ANGLES = (-0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256, -0.22266839016588588)
EPSILON = 1.2305474445498212
"""b, T, g, P, de, O and ep at the start [rad]."""

CRANK_ANGLES = (Published("crank angle b", "rad", 0.03, 15.81077119629904, 5e-9, "Test Set for IVP Solvers, good to about 1.5e-9"),)


def andrews() -> System:
    """Return Andrews' squeezing mechanism: seven bodies and a spring, at rest, without gravity.

    Returns
    -------
    System
        Bodies: "OF" (the crank), "FE", "BDE", "AG", "EG", "AH", "EH".  Joints: RJ at "O", "F", "B", "A1", "G", "A2", "H"; PointOnLine at
        "E1", "E2", "E3".  Degrees of freedom: 1.

    Notes
    -----
    Source: Schiehlen, Multibody Systems Handbook (1990); Mazzia, Magherini, Test Set for IVP Solvers.
    """
    (b, T, g, P, de, O), ep = START_ANGLES, EPSILON
    F = RR * np.array([np.cos(b), np.sin(b)])
    G, H = A + ZT * np.array([np.cos(de), np.sin(de)]), A + _turn(ep, 0.0, -U)
    E, D = B + _turn(g, 0.0, -SS), B + _turn(g, SD, -SC)
    # origin and angle of the frame that the test set gives each body, and the centre of mass there
    places: dict[str, tuple[Any, float, tuple[float, float]]] = {
        "OF": ((0.0, 0.0), b, (RA, 0.0)),
        "FE": (F, b + T, (-DA, 0.0)),
        "BDE": (B, g, (SB, -SA)),
        "AG": (A, de, (TA, TB)),
        "EG": (G, P + de, (0.0, -(E_EG - EA))),
        "AH": (A, ep, (-UB, -UA)),
        "EH": (H, O + ep, (ZF - FA, 0.0)),
    }
    number = {"OF": 0, "FE": 1, "BDE": 2, "EG": 3, "AG": 4, "EH": 5, "AH": 6}
    system = System("Andrews", gravity=(0.0, 0.0, 0.0))
    body = {"ground": system.ground}
    for name, (origin, angle, s) in places.items():
        k, I = number[name], INERTIA[number[name]]
        p = (np.cos(angle / 2.0), 0.0, 0.0, np.sin(angle / 2.0))
        body[name] = system.add(Body(name, MASS[k], (I / 2.0, I / 2.0, I), r=(*(origin + _turn(angle, *s)), 0.0), p=p))
    pins: dict[str, tuple[str, str, Any]] = {"O": ("ground", "OF", (0.0, 0.0)), "F": ("OF", "FE", F), "B": ("ground", "BDE", B)}
    pins |= {"A1": ("ground", "AG", A), "G": ("AG", "EG", G), "A2": ("ground", "AH", A), "H": ("AH", "EH", H)}
    for name, (i, j, point) in pins.items():
        system.add(RJ(name, body[i], body[j], point=(*point, 0.0), axis=(0, 0, 1)))
    for name, j in (("E1", "FE"), ("E2", "EG"), ("E3", "EH")):
        system.add(PointOnLine(name, body["BDE"], body[j], point=(*E, 0.0), axis=(0, 0, 1)))
    ends: dict[str, Any] = {"point_i": (*C, 0.0), "point_j": (*D, 0.0)}
    system.add(TSDA("spring", system.ground, body["BDE"], k=SPRING, l0=FREE_LENGTH, **ends))
    system.add(Torque("drive", body["OF"], torque=(0.0, 0.0, TORQUE)))
    return system


def beta(result: Result) -> Array:
    """Return the crank angle over time [rad], (nt,), counted through all turns.

    Consecutive states must be less than half a turn apart.
    """
    p = result["OF"].p
    return np.unwrap(2.0 * np.arctan2(p[:, 3], p[:, 0]))


def _turn(angle: float, x: float, y: float) -> Array:
    """Return (x, y) rotated by `angle`."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y])


CRANK_ARM, ROD, SLIDER = 0.1, 0.25, 0.4
"""Length of the crank and of the rod [m], slender rods of 2 kg/m; mass of the slider [kg]."""
DENSITY, SPEED, START_ANGLE = 2.0, 20.0, pi / 3.0
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
    lean = asin(CRANK_ARM * sin(START_ANGLE) / ROD)
    b, c = polar(CRANK_ARM, START_ANGLE), at(CRANK_ARM * cos(START_ANGLE) + ROD * cos(lean), 0.0)
    # turning about +y is from z to x: theta' = -SPEED; the rod turns the other way
    v_b = SPEED * at(CRANK_ARM * sin(START_ANGLE), -CRANK_ARM * cos(START_ANGLE))
    turn = -SPEED * CRANK_ARM * cos(START_ANGLE) / (ROD * cos(lean))
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


def windows(n: int = 2, *, lean: float = 0.0, speed: float = 1.0, length: float = 1.0) -> System:
    """Return n windows of bars of 1 kg, which turn over.

    Parameters
    ----------
    n : int
        Number of windows, at least 1.
    lean : float
        Angle of the uprights from the vertical [rad].
    speed : float
        Speed of the tops, in lengths a second [1/s].
    length : float
        Length of the bars [m]; gravity is 9.81 m/s2 times length / 1 m, so that every size takes the same time.

    Returns
    -------
    System
        Bodies: "upright 0" ... "upright n", "bar 0" ... .  Joints (RJ): "foot k", "left k", "right k".  Degrees of freedom: 1.

    Raises
    ------
    UsageError
        If n is not a positive whole number.

    Notes
    -----
    Source: IFToMM library of computational benchmark problems, problem A02, with the default arguments.
    """
    check_count("windows", n, "windows")
    system = System(f"{n} windows", gravity=(0.0, 0.0, -9.81 * length))
    up, along = length * np.array([np.sin(lean), 0.0, np.cos(lean)]), length * np.array([np.cos(lean), 0.0, -np.sin(lean)])
    side = np.array([length, 0.0, 0.0])
    uprights = []
    for k in range(n + 1):
        foot = k * side
        rod, v = inertia.rod(length, density=1.0 / length, axis=up), speed / 2 * along
        uprights.append(system.add(Body(f"upright {k}", *rod, r=foot + up / 2, v=v, omega_bar=(0.0, speed, 0.0))))
        system.add(RJ(f"foot {k}", system.ground, uprights[k], point=foot, axis=AXIS))
    for k in range(n):
        top = k * side + up
        rod = inertia.rod(length, density=1.0 / length, axis=(1, 0, 0))
        bar = system.add(Body(f"bar {k}", *rod, r=top + 0.5 * side, v=speed * along))
        system.add(RJ(f"left {k}", uprights[k], bar, point=top, axis=AXIS))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=top + side, axis=AXIS))
    return system


LONG, SIDE, POLE_CRANK = 1.0, 0.4, 0.45
"""Lengths of the two long bars, of the sides of the rhombus, and of the crank [m]; the crank's pivot is as far from the pole."""

LINE = (LONG**2 - SIDE**2) / (2.0 * POLE_CRANK)
"""Distance of the straight line from the pole [m]."""


def peaucellier() -> System:
    """Return Peaucellier's linkage of slender rods (1 kg/m) in the plane y = 0, at rest.

    Returns
    -------
    System
        Bodies: "crank", "long A", "long B", "PA", "PB", "QA", "QB".  Joints (RJ): "O A", "O B" at the pole, "C" of the crank, "P A",
        "P B", "A long", "A side", "B long", "B side", "Q".  50 rows, 41 of them independent.  Degrees of freedom: 1.

    Notes
    -----
    The point "Q", the end of "QA", stays on the line x = 0.9333 m.  Source: Peaucellier (1864).
    """
    pole, pivot = at(0.0, 0.0), at(POLE_CRANK, 0.0)
    p = at(POLE_CRANK * (1.0 + 0.8), POLE_CRANK * 0.6)
    reach = float(p @ p) ** 0.5
    along = p / reach
    q = (LONG**2 - SIDE**2) / reach * along
    middle = (p + q) / 2.0
    half = at(-along[2], along[0]) * sqrt(LONG**2 - float(middle @ middle))
    a, b = middle + half, middle - half
    system = System("Peaucellier", gravity=(0.0, 0.0, -9.81))
    parts = {"crank": (pivot, p), "long A": (pole, a), "long B": (pole, b), "PA": (p, a), "PB": (p, b), "QA": (q, a), "QB": (q, b)}
    body = {name: system.add(frame(name, *ends)) for name, ends in parts.items()}
    body["ground"] = system.ground
    hinges = {
        "C": ("ground", "crank", pivot),
        "O A": ("ground", "long A", pole),
        "O B": ("ground", "long B", pole),
        "P A": ("crank", "PA", p),
        "P B": ("crank", "PB", p),
        "A long": ("long A", "PA", a),
        "A side": ("long A", "QA", a),
        "B long": ("long B", "PB", b),
        "B side": ("long B", "QB", b),
        "Q": ("QA", "QB", q),
    }
    for name, (i, j, point) in hinges.items():
        system.add(RJ(name, body[i], body[j], point=point, axis=AXIS))
    return system


UNIT = 0.01
HOLY_NUMBERS = {
    "a": 38.0, "b": 41.5, "c": 39.3, "d": 40.1, "e": 55.8, "f": 39.4, "g": 36.7, "h": 65.7, "i": 49.0, "j": 50.0, "k": 61.9, "l": 7.8,
    "m": 15.0,
}  # fmt: skip
"""The lengths, as Jansen published them."""


def jansen_leg(*, theta: float = 0.0, drive: float | Driver | None = None) -> System:
    """Return one leg of slender rods (1 kg/m) in the plane y = 0; the crank turns about the origin.

    Parameters
    ----------
    theta : float
        Angle of the crank at the modelled pose [rad], from x to z.
    drive : float or Driver, optional
        Angle of the crank from there, a function of time [rad], about y; by default the crank is free.

    Returns
    -------
    System
        Bodies: "crank", "upper rod", "lower rod", "upper triangle", "lower bar", "link", "foot".  Joints (RJ): "crank pivot",
        "upper pivot", "lower pivot", "upper rod pin", "lower rod pin", "C", "D bar", "D foot", "E", "F" and, if driven, "drive".
        50 rows, 41 of them independent.  Degrees of freedom: 1, or 0 if driven.

    Notes
    -----
    Source: Jansen (2007).
    """
    n = {name: UNIT * length for name, length in HOLY_NUMBERS.items()}
    o, b, a = at(0.0, 0.0), at(-n["a"], -n["l"]), polar(n["m"], theta)
    c = meeting_point(a, n["j"], b, n["b"], -1.0)
    d = meeting_point(a, n["k"], b, n["c"], 1.0)
    e = meeting_point(b, n["d"], c, n["e"], 1.0)
    f = meeting_point(e, n["f"], d, n["g"], -1.0)
    foot = meeting_point(f, n["h"], d, n["i"], -1.0)
    parts = {
        "crank": (o, a), "upper rod": (a, c), "lower rod": (a, d), "upper triangle": (b, c, e), "lower bar": (b, d), "link": (e, f),
        "foot": (d, f, foot),
    }  # fmt: skip
    system = System("Jansen's leg", gravity=(0.0, 0.0, -9.81))
    body = {name: system.add(frame(name, *points)) for name, points in parts.items()}
    body["ground"] = system.ground
    hinges = {
        "crank pivot": ("ground", "crank", o),
        "upper pivot": ("ground", "upper triangle", b),
        "lower pivot": ("ground", "lower bar", b),
        "upper rod pin": ("crank", "upper rod", a),
        "lower rod pin": ("crank", "lower rod", a),
        "C": ("upper rod", "upper triangle", c),
        "D bar": ("lower rod", "lower bar", d),
        "D foot": ("lower bar", "foot", d),
        "E": ("upper triangle", "link", e),
        "F": ("link", "foot", f),
    }
    joint = {name: system.add(RJ(name, body[i], body[j], point=point, axis=AXIS)) for name, (i, j, point) in hinges.items()}
    if drive is not None:
        system.add(RotationDriver("drive", joint["crank pivot"], drive))
    return system


BAR = 1.0
"""Length of the bars [m]."""


def scissor_lift(stages: int = 3, angle: float = 0.5) -> System:
    """Return a scissor lift of slender rods (1 kg/m) with a platform of the same, at rest.

    Parameters
    ----------
    stages : int
        Number of crossed pairs, at least 1.
    angle : float
        Angle of the bars from the horizontal [rad].

    Returns
    -------
    System
        Bodies: "rising k", "falling k" for each stage, "platform".  Joints: "foot" (RJ), "roller" (PointInPlane) below, "pin k" (RJ) in
        the middles, "left k", "right k" (RJ) between stages, "top" (RJ), "top roller" (PointInPlane).  Degrees of freedom: 1.

    Raises
    ------
    UsageError
        If `stages` is not a positive whole number, or the angle is not between 0 and 1.57.

    Notes
    -----
    The platform is at the height stages * 1 m * sin(angle).
    """
    check_count("scissor_lift", stages, "stages")
    if not 0.0 < angle < 1.57:  # noqa: PLR2004
        raise UsageError(f"scissor_lift(angle={angle!r}): give an angle between 0 and 1.57 rad.")
    wide, high = BAR * cos(angle), BAR * sin(angle)
    system = System(f"scissor lift of {stages}", gravity=(0.0, 0.0, -9.81))
    rising, falling = [], []
    for k in range(stages):
        rising.append(system.add(frame(f"rising {k}", at(0.0, k * high), at(wide, (k + 1) * high))))
        falling.append(system.add(frame(f"falling {k}", at(wide, k * high), at(0.0, (k + 1) * high))))
        system.add(RJ(f"pin {k}", rising[k], falling[k], point=at(wide / 2.0, (k + 0.5) * high), axis=AXIS))
        if k:
            system.add(RJ(f"left {k}", falling[k - 1], rising[k], point=at(0.0, k * high), axis=AXIS))
            system.add(RJ(f"right {k}", rising[k - 1], falling[k], point=at(wide, k * high), axis=AXIS))
    top = stages * high
    platform = system.add(frame("platform", at(0.0, top), at(BAR, top)))
    system.add(RJ("foot", system.ground, rising[0], point=at(0.0, 0.0), axis=AXIS))
    system.add(PointInPlane("roller", system.ground, falling[0], point=at(wide, 0.0), normal=(0, 0, 1)))
    system.add(RJ("top", platform, falling[-1], point=at(0.0, top), axis=AXIS))
    system.add(PointInPlane("top roller", platform, rising[-1], point=at(wide, top), normal=(0, 0, 1)))
    return system
