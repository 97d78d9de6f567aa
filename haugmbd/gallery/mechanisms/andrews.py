r"""Andrews' squeezing mechanism: seven bodies in a plane, three loops, a spring, and a constant torque on the crank.

    F = rr (cos b, sin b)            E = F - d (cos(b + T), sin(b + T))      E = B + R(g) (0, -ss)         D = B + R(g) (sd, -sc)
    G = A + zt (cos de, sin de)      E = G + R(P + de) (0, -e)               H = A + R(ep) (0, -u)         E = H + R(O + ep) (zf, 0)

The loops are closed at E by points on lines, so that all rows are independent: 7 * 5 + 3 * 2 = 41 rows of 42.
Source: Schiehlen, Multibody Systems Handbook (1990); Mazzia, Magherini, Test Set for IVP Solvers; IFToMM benchmark library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.forces import TSDA, Torque
from haugmbd.gallery.published import Published
from haugmbd.joints import RJ, PointOnLine
from haugmbd.simulation.results.result import Result
from haugmbd.system.system import System

A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
D_FE, DA, E_EG, EA, RR, RA, SS, SA, SB = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035, 0.01874, 0.01043
SC, SD, TA, TB, U, UA, UB, ZF, ZT, FA = 0.018, 0.02, 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
INERTIA = (2.194e-06, 4.41e-07, 5.255e-06, 5.667e-07, 1.169e-05, 5.667e-07, 1.912e-05)
SPRING, FREE_LENGTH, TORQUE = 4530.0, 0.07785, 0.033
START = (-0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256, -0.22266839016588588)
EPSILON = 1.2305474445498212
"""b, T, g, P, de, O and ep at the start [rad]."""

CRANK = (Published("crank angle b", "rad", 0.03, 15.81077119629904, 5e-9, "Test Set for IVP Solvers, good to about 1.5e-9"),)


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
    (b, T, g, P, de, O), ep = START, EPSILON
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
