"""Inertia for bodies that a file gives no mass, and masses that are doubtful."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import MassProperties

SUBSTITUTE_PART = 1e-6
"""Mass of a body without mass that moves alone, as a part of all mass: far below every mass that matters."""
SUBSTITUTE_RADIUS = 0.01
"""Its radius of gyration [m]."""
HEAVY = 100.0
"""A body that is so many times heavier than all others together has probably its mass in another unit."""


def substitute(word: str, name: str, total: float) -> tuple[MassProperties, str]:
    """Return a small inertia for a body without mass, and the text for the report; `total`: mass of the others [kg]."""
    mass = SUBSTITUTE_PART * total if total > 0.0 else 1.0
    inertia = MassProperties(mass, np.full(3, mass * SUBSTITUTE_RADIUS**2))
    moments = f"{inertia.J_bar[0, 0]:.4g} kg m2 about every axis"
    return inertia, f"{word} {name!r} has no mass: given {mass:.4g} kg and {moments}, which `kinematics` does not use"


def heavy(word: str, bodies: Iterable[Body]) -> list[str]:
    """Return a warning for each body that is far heavier than all others together."""
    bodies = [body for body in bodies if not body.is_ground]
    whole = sum(body.mass for body in bodies)
    return [
        f"{word} {body.name!r} has a mass of {body.mass:.6g} kg, more than {HEAVY:g} times that of all others"
        for body in bodies
        if 0.0 < HEAVY * (whole - body.mass) < body.mass
    ]
