"""Mechanisms whose mobility is known."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd.gallery import GALLERY
from haugmbd.math.euler_parameters import from_axis_angle
from joints import SJ, TJ, UJ, Distance
from tests.support.faulty_mechanisms import MECHANISMS
from tests.support.redundant_loops import J_BAR, ladder, loop, planar_points

Z = np.array([0.0, 0.0, 1.0])


def four_bar() -> mbd.System:
    return loop(planar_points(), [Z] * 4)


def tree_with_loops() -> mbd.System:
    """Two loose bodies, a welded-on loop, arms on arms, and a ball between bodies that float."""
    system = four_bar()
    rocker = system.bodies[3]
    arm = system.add(mbd.Body("arm", 1.0, J_BAR, r=(5, 1, 0), p=from_axis_angle((1, 1, 0), 0.4)))
    tip = system.add(mbd.Body("tip", 1.0, J_BAR, r=(6, 1, 1)))
    system.add(UJ("elbow", rocker, arm, point=(4, 1, 0), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    system.add(SJ("wrist", arm, tip, point=(5.5, 1, 0.5)))
    first, second = (system.add(mbd.Body(name, 1.0, J_BAR, r=(x, 9, 0))) for name, x in (("first", 0), ("second", 1)))
    system.add(TJ("slide", first, second, point=(0.5, 9, 0), axis=(1, 1, 0)))
    system.add(Distance("rod", first, second, point_i=(0, 9, 1), point_j=(1, 9, 2)))
    system.add(mbd.Body("loose", 1.0, J_BAR, r=(0, 0, 9)))
    return system


SYSTEMS = {
    **{make.__name__: make for make in GALLERY},
    **MECHANISMS,
    "ladder": lambda: ladder(4),
    "flat": lambda: ladder(3, lean=np.pi / 2),
    "tree": tree_with_loops,
}
