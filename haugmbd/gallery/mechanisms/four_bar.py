r"""A planar four-bar with independent rows.

Four revolute joints with parallel axes have 20 rows, of which 17 are independent: the loop is over-constrained in space.  Here a
spherical and a cylindrical joint close it: RJ + RJ + SJ + CJ = 5 + 5 + 3 + 4 = 17 rows, 18 - 17 = 1 degree of freedom.
"""

from __future__ import annotations

import numpy as np

from haugmbd.gallery.building import AXIS, frame
from haugmbd.joints import CJ, RJ, SJ
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
