r"""A double pendulum of two bars in the plane x = 0.  Its motion is chaotic, so that errors grow with time.

Source: ME751 (Univ. of Wisconsin-Madison), assignment A8.  Published angles from the minimal-coordinate equations (derived with
SymPy, integrated with DOP853 and Radau at 1e-13).
"""

from __future__ import annotations

from math import pi

from haugmbd.bodies import inertia
from haugmbd.bodies.body import Body
from haugmbd.gallery.mechanisms.pendulum import BAR, turned
from haugmbd.gallery.published import Published
from haugmbd.joints import RJ
from haugmbd.system.system import System

_SOURCE = "ME751 A8; minimal coordinates, DOP853 and Radau at 1e-13"

ANGLES = (
    Published("angle of bar 1 from the downward vertical", "rad", 1.0, 0.084135520695, 1e-8, _SOURCE),
    Published("angle of bar 2 from the downward vertical", "rad", 1.0, 1.355211208561, 1e-8, _SOURCE),
    Published("angle of bar 1 from the downward vertical", "rad", 5.0, 1.104609025795, 1e-8, _SOURCE),
    Published("angle of bar 2 from the downward vertical", "rad", 5.0, 1.593052373088, 1e-8, _SOURCE),
)


def double_pendulum() -> System:
    """Return a double pendulum: bar 1 (4 m, 78 kg) horizontal along +y, bar 2 (2 m, 39 kg) hanging from its end, at rest, pins along x.

    Returns
    -------
    System
        Bodies: "bar 1", "bar 2".  Joints: "pin 1", "pin 2" (RJ).  Degrees of freedom: 2.

    Notes
    -----
    Source: ME751 (Univ. of Wisconsin-Madison), assignment A8.
    """
    system = System("double pendulum", gravity=(0.0, 0.0, -9.81))
    short = inertia.box((2.0, 0.05, 0.05), density=7800.0)
    bar_1 = system.add(Body("bar 1", *turned(BAR, pi / 2.0), r=(0.0, 2.0, 0.0)))
    bar_2 = system.add(Body("bar 2", *turned(short, 0.0), r=(0.0, 4.0, -1.0)))
    system.add(RJ("pin 1", system.ground, bar_1, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add(RJ("pin 2", bar_1, bar_2, point=(0.0, 4.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system
