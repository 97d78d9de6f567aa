"""A stiff spring on a rail, of which tests of Newton's iteration and of declared jacobians make many kinds."""

from __future__ import annotations

import haugmbd as mbd
from joints import TJ

K, C, PULLED = 8e9, 4e5, 1e-6
"""Stiffness [N/m], damping [N s/m], and how far the spring is pulled at first [m]."""


def slider(spring) -> mbd.System:
    """A mass of 2 kg on a rail, held to the ground by a stiff spring and damper of 1 m, pulled by a micrometre."""
    system = mbd.System("slider", gravity=(0, 0, -9.81))
    box = system.add(mbd.Body("box", 2.0, (0.1, 0.1, 0.1), r=(1 + PULLED, 0, 0)))
    system.add(TJ("rail", system.ground, box, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(spring(system.ground, box))
    return system


SLIDER_ENDS = {"point_i": (0, 0, 0), "point_j": (1 + PULLED, 0, 0)}
