r"""Inertia for bodies that a file gives no mass, how much it changes accelerations, and masses that are doubtful.

A small mass m changes accelerations by an error of the first order:    a(2 m) - a(m) = a(m) - a(0) + O(m^2)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import MassProperties
from haugmbd.errors import HaugmbdError
from haugmbd.formulations.accelerations import accelerations
from haugmbd.system.system import System

SUBSTITUTE_PART = 1e-10
"""Mass of a body without mass that moves alone, as a part of all mass. Accelerations are solved with pivots on each body's own scale, so
that it may be next to nothing, in loops as in trees: it changes accelerations by as much times the condition of the mass matrix, 3e-7 in
robots of 130 joints."""
FELT = 1e-6
"""Relative change of accelerations by substituted masses that is worth a warning: below it, no digits of a file mean more."""
SUBSTITUTE_RADIUS = 0.01
"""Its radius of gyration [m]."""
HEAVY = 100.0
"""A body that is so many times heavier than all others together has probably its mass in another unit."""


def substitute(word: str, name: str, total: float, part: float = SUBSTITUTE_PART) -> tuple[MassProperties, str]:
    """Return a small inertia for a body without mass, and the text for the report; `total`: mass of the others [kg], `part` of it."""
    mass = part * total if total > 0.0 else 1.0
    inertia = MassProperties(mass, np.full(3, mass * SUBSTITUTE_RADIUS**2))
    moments = f"{inertia.J_bar[0, 0]:.4g} kg m2 about every axis"
    return inertia, f"{word} {name!r} has no mass: given {mass:.4g} kg and {moments}, which `kinematics` does not use"


def felt(word: str, names: Collection[str], system: System, doubled: System) -> list[str]:
    """Return a warning if the masses of the named bodies are felt by the others; `doubled`: the same system with twice these masses.

    Where accelerations cannot be computed there is none: what is in their way has an error of its own.
    """
    try:
        model, other = system.compile(), doubled.compile(check_pose=False)
        a, b = accelerations(model), accelerations(other, model.state())
    except HaugmbdError:
        return []
    own = [k for k, body in enumerate(system.bodies) if body.name not in names]
    changes = [
        (float(np.abs(y[own] - x[own]).max(initial=0.0)), float(np.abs(x[own]).max(initial=0.0)))
        for x, y in ((a.v_dot, b.v_dot), (a.omega_bar_dot, b.omega_bar_dot))
    ]
    worst = max((change / size for change, size in changes if size > 0.0), default=0.0)
    if worst <= FELT:
        return []
    given = f"{len(names)} {word}s without mass" if len(names) > 1 else f"{word} {next(iter(names))!r}, which has no mass,"
    what = f"the masses that were given to {given} change accelerations by {worst:.2g} of the largest one"
    return [f"{what}: give masses in the file, or merge {word}s that have none"]


def heavy(word: str, bodies: Iterable[Body]) -> list[str]:
    """Return a warning for each body that is far heavier than all others together."""
    bodies = [body for body in bodies if not body.is_ground]
    whole = sum(body.mass for body in bodies)
    return [
        f"{word} {body.name!r} has a mass of {body.mass:.6g} kg, more than {HEAVY:g} times that of all others"
        for body in bodies
        if 0.0 < HEAVY * (whole - body.mass) < body.mass
    ]
