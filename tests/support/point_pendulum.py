"""A point mass on a distance of 1 m, released from horizontal: Phi = |r|^2 - 1."""

from __future__ import annotations

import haugmbd as mbd
from joints import Distance


def point_pendulum() -> mbd.System:
    """Body "mass" (1 kg), joint "bar" (one row, D), gravity along -y."""
    system = mbd.System("point pendulum", gravity=(0.0, -9.81, 0.0))
    mass = system.add(mbd.Body("mass", 1.0, (1e-3, 1e-3, 1e-3), r=(1.0, 0.0, 0.0)))
    system.add(Distance("bar", system.ground, mass, point_i=(0, 0, 0), point_j=(1, 0, 0)))
    return system
