r"""Theo Jansen's leg: a crank, seven moving parts, and a foot whose path is flat while it stands.

Source: Jansen, The great pretender (2007): the lengths a ... m, here in centimetres.
"""

from __future__ import annotations

from haugmbd.drivers import Driver
from haugmbd.gallery.building import AXIS, at, frame, meeting_point, polar
from haugmbd.joints import RJ, RotationDriver
from haugmbd.system.system import System

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
