"""Andrews' N windows: N four-bar loops in a row, singular twice a turn."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd.bodies import inertia
from joints import RJ

PLANE = (0.0, 1.0, 0.0)


def windows(n: int, *, phi: float = 0.0, speed: float = 1.0) -> mbd.System:
    """n + 1 uprights on the ground, n bars along their tops; `phi` from upright [rad], `speed` of the tops [m/s]."""
    system = mbd.System(f"{n} windows", gravity=(0.0, 0.0, -9.81))
    up, along = np.array([np.sin(phi), 0.0, np.cos(phi)]), np.array([np.cos(phi), 0.0, -np.sin(phi)])
    uprights = []
    for k in range(n + 1):
        foot = np.array([k, 0.0, 0.0])
        mass, J_bar = inertia.rod(1.0, density=1.0, axis=up)
        motion = {"v": speed / 2 * along, "omega_bar": (0.0, speed, 0.0)}
        uprights.append(system.add(mbd.Body(f"upright {k}", mass, J_bar, r=foot + up / 2, **motion)))
        system.add(RJ(f"foot {k}", system.ground, uprights[k], point=foot, axis=PLANE))
    for k in range(n):
        top = np.array([k, 0.0, 0.0]) + up
        mass, J_bar = inertia.rod(1.0, density=1.0, axis=(1, 0, 0))
        bar = system.add(mbd.Body(f"bar {k}", mass, J_bar, r=top + (0.5, 0, 0), v=speed * along))
        system.add(RJ(f"left {k}", uprights[k], bar, point=top, axis=PLANE))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=top + (1, 0, 0), axis=PLANE))
    return system
