r"""Peaucellier's linkage: seven bars that guide a point along an exact straight line.

The pole O and the rhombus A P B Q are an inversor: |OP| |OQ| = l^2 - s^2.  P moves on a circle through O, so that Q moves on a line.
Source: Peaucellier (1864); Lipkin (1870).
"""

from __future__ import annotations

from math import sqrt

from haugmbd.gallery.building import AXIS, at, frame
from haugmbd.joints import RJ
from haugmbd.system.system import System

LONG, SIDE, CRANK = 1.0, 0.4, 0.45
"""Lengths of the two long bars, of the sides of the rhombus, and of the crank [m]; the crank's pivot is as far from the pole."""

LINE = (LONG**2 - SIDE**2) / (2.0 * CRANK)
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
    pole, pivot = at(0.0, 0.0), at(CRANK, 0.0)
    p = at(CRANK * (1.0 + 0.8), CRANK * 0.6)
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
