r"""Compliant contacts that a run begins with deep inside each other: their elastic force throws the bodies apart.

depth > DEEP R           R: the smaller radius of the two shapes, or the smallest half edge of a box
N > HEAVY m g  and  m |v'| > N / 2        of one of the bodies: nothing holds against the force N that accelerates it
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.histories.contact_impacts import contact_values
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.errors import SimulationError
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.formulations.accelerations import solve_states
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model

DEEP = 0.1
"""Of the radius: the laws of contact hold for indentations that are small against it."""
HEAVY = 100.0
"""Weights of a body: beyond it the force is that of an impact, and not of a body that rests."""
BALANCED = 0.5
"""Part of the force that may accelerate a body, where others hold against the rest: a preload is no overlap."""


def deep_contact_notes(model: Model, t: float, y: Array) -> list[RunNote]:
    """Return a note for each compliant contact that is deep, or presses without balance, at the state y (ny,) in which a run begins."""
    notes = []
    for entry in model.loads if model.has_contacts else ():
        if isinstance(entry.load, ContactForce):
            what = _deep(entry.load, model, entry, t, y)
            notes += [RunNote(f"start of {entry.load.name}", what, doubtful=True)] if what else []
    return notes


def _deep(load: ContactForce, model: Model, entry: LoadEntry, t: float, y: Array) -> str:
    """Return what is too deep at a contact; "" if nothing is."""
    found, force = contact_values(entry, model, y[None])
    depth, N, size = float(found.depth.max()), float(force.elastic.sum()), _size_of(load)
    if not depth > 0.0:
        return ""
    thrown = _thrown(model, entry, t, y, N)
    if not depth > DEEP * size and not thrown:
        return ""
    part = f", {depth / size:.2g} of the smaller radius" if depth > DEEP * size else ""
    return (
        f"{load.where} starts {depth:.3g} m deep{part}, with an elastic force of {N:.3g} N{thrown}. Start with shapes that touch "
        "(move a body apart by this depth, or find a pose of rest with equilibrium), or check K and the units."
    )


def _size_of(load: ContactForce) -> float:
    """Return the smallest radius or half edge of the two shapes [m]; infinite if they have none."""
    assert load.pair is not None
    sizes = [radius for radius in (load.pair.radius_a, load.pair.radius_b) if radius > 0.0]
    if load.pair.points > 2:  # noqa: PLR2004  the corners of a box
        sizes += [float(np.linalg.norm(edge)) for edge in load.pair.a[1:]]
    return min(sizes, default=np.inf)


def _thrown(model: Model, entry: LoadEntry, t: float, y: Array, N: float) -> str:
    """Return which body the force N throws, with its weights and acceleration; "" if none."""
    g = float(np.linalg.norm(model.tables["GRAVITY"][0]))
    bodies = [body for body in entry.bodies if body > 0 and g > 0.0 and N > HEAVY * model.mass[body] * g]
    if not bodies:
        return ""
    try:
        u_dot = solve_states(model, np.array([t]), y[None])[0]
    except SimulationError:  # the run itself says what is wrong with its first state
        return ""
    for body in bodies:
        a, weight = float(np.linalg.norm(u_dot[body, :3])), float(model.mass[body]) * g
        if model.mass[body] * a > BALANCED * N:
            return f", {N / weight:.3g} times the weight of body {model.body_names[body]!r}, which it accelerates by {a:.3g} m/s2"
    return ""
