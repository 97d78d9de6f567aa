"""Andrews' N windows: N four-bar loops in a row, singular twice a turn."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd.bodies import inertia
from joints import RJ

PLANE = (0.0, 1.0, 0.0)


def windows(n: int, *, phi: float = 0.0, speed: float = 1.0, length: float = 1.0) -> mbd.System:
    """n + 1 uprights on the ground, n bars along their tops; `phi` from upright [rad], `speed` of the tops [lengths a second].

    length: of each bar [m]; masses are those of 1 m, and gravity is longer by as much, so that the motion takes the same time
    """
    system = mbd.System(f"{n} windows", gravity=(0.0, 0.0, -9.81 * length))
    up, along = length * np.array([np.sin(phi), 0.0, np.cos(phi)]), length * np.array([np.cos(phi), 0.0, -np.sin(phi)])
    side = np.array([length, 0.0, 0.0])
    uprights = []
    for k in range(n + 1):
        foot = k * side
        mass, J_bar = inertia.rod(length, density=1.0 / length, axis=up)
        motion = {"v": speed / 2 * along, "omega_bar": (0.0, speed, 0.0)}
        uprights.append(system.add(mbd.Body(f"upright {k}", mass, J_bar, r=foot + up / 2, **motion)))
        system.add(RJ(f"foot {k}", system.ground, uprights[k], point=foot, axis=PLANE))
    for k in range(n):
        top = k * side + up
        mass, J_bar = inertia.rod(length, density=1.0 / length, axis=(1, 0, 0))
        bar = system.add(mbd.Body(f"bar {k}", mass, J_bar, r=top + 0.5 * side, v=speed * along))
        system.add(RJ(f"left {k}", uprights[k], bar, point=top, axis=PLANE))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=top + side, axis=PLANE))
    return system
