r"""The curves beside the motion: velocities, reactions, violations, energies, contact forces at some of the states; and `plot_table`.

They are computed by the methods of the result; `None` stands for a missing quantity. The page draws them as arrows, colours and curves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.compiled.array_types import Array
from haugmbd.errors import HaugmbdError
from haugmbd.model.model import Model
from haugmbd.simulation.results.result import Result
from haugmbd.viewer.scenes.frames import Frames, Ints
from haugmbd.viewer.scenes.mechanism import forces_on_planes
from haugmbd.viewer.scenes.packing import Packer
from haugmbd.viewer.scenes.plot_table import PlotTable

NUMBERS = 150_000
"""Of all curves together; they are thinned out for many bodies."""

LEAST, MOST = 60, 300
"""States of a curve."""

EASY = 20_000
"""States times bodies that are evaluated as they are; of more, only those that are shown."""

MOST_JOINTS = 500
"""A page of more joints has no reactions and violations."""

FLOOR = 1e-17
"""Logarithms of violations begin here."""


def describe_quantities(result: Result, frames: Frames, packer: Packer, *, reactions: bool = True) -> dict[str, Any]:
    """Return the curves as the page reads them; what cannot be computed is a sentence in `notes`."""
    model, notes = result.model, list[str]()
    states = shown_states(frames.finite, 6 * model.nb + 7 * len(model.joints) + 3 * len(model.loads))
    some, rows = thinned(result, states)
    made: dict[str, Any] = {"t": packer.add_exact(result.t[states]), "unique": unique_reactions(model)}
    made["v"] = packer.add_curves(flat(result.v[states, 1:]))
    made["omega"] = packer.add_curves(flat(result.omega_bar[states, 1:]))
    wanted: dict[str, Callable[[], Array]] = {"energy": lambda: energies(some)[rows]}
    if reactions and 0 < len(model.joints) <= MOST_JOINTS:
        asked = cache(lambda: [some.reaction(name) for name in model.joints])
        wanted["force"] = lambda: np.hstack([reaction.force[rows] for reaction in asked()])
        wanted["torque"] = lambda: np.hstack([reaction.torque[rows] for reaction in asked()])
        wanted["violation"] = lambda: np.log10(np.maximum(violations(some, model)[rows], FLOOR))
    struck, pressed = (
        tuple(some.contacts),
        forces_on_planes(entry.load for entry in model.loads),
    )
    if struck or pressed:
        wanted["contact"] = lambda: np.stack(
            [
                *(some.contact(name).force[rows] for name in struck),
                *(some.load(force.name).normal_force.reshape(len(some.t), -1).sum(axis=1)[rows] for force in pressed),
            ],
            axis=1,
        )
    for name, ask in wanted.items():
        try:
            made[name] = packer.add_curves(ask())
        except HaugmbdError as error:
            notes.append(f"{name}: {str(error).splitlines()[0]}")
    table = PlotTable(result, states, some, rows)
    made["coordinates"] = [table.joint(name, forces="force" in made) for name in model.joints]
    made["loads"] = table.loads()
    made["sensors"] = table.sensors()
    if table.columns:
        made["column"] = packer.add_curves(np.stack(table.columns, axis=1))
    return {**made, "notes": [*notes, *table.notes]}


def shown_states(finite: Any, channels: int) -> Ints:
    """Return the finite states through which curves are drawn."""
    states: Ints = np.flatnonzero(finite)
    most = int(np.clip(NUMBERS // max(channels, 1), LEAST, MOST))
    if len(states) <= most:
        return states
    return states[np.unique(np.rint(np.linspace(0, len(states) - 1, most)).astype(np.int64))]


def thinned(result: Result, states: Ints) -> tuple[Result, Ints]:
    """Return a result with the drawn states, and their rows in it; the result itself if it is small."""
    if result._segments or len(result.t) * (result.model.nb + 1) <= EASY:
        return result, states
    turns = None if result._turns is None else result._turns[states]
    few = replace(result, t=result.t[states], y=result.y[states], _own=None, _own_u_dot=None, _sensors={}, _turns=turns)
    return few, np.arange(len(states))


def flat(values: Array) -> Array:
    """Return (n, bodies, 3) as (n, 3 bodies)."""
    return values.reshape(len(values), -1)


def energies(result: Result) -> Array:
    """Return kinetic, potential and total energy, (nt, 3) [J]."""
    energy = result.energy()
    return np.stack([energy.kinetic, energy.potential, energy.total], axis=1)


def violations(result: Result, model: Model) -> Array:
    """Return the violation of each joint at position level, (nt, joints)."""
    parts = result.segments
    by_joint = [part.violation("position", by="joint") for part in parts if len(part)]
    return np.stack([np.concatenate([part[name] for part in by_joint]) for name in model.joints], axis=1)


def unique_reactions(model: Model) -> list[list[bool]]:
    """Return whether the force and the torque of each joint are unique."""
    if not model.redundancy.dropped:
        return [[True, True]] * len(model.joints)
    report = mobility(model)
    known = [report.reaction(name).unique for name in model.joints]
    return [[all(unique[:3]), all(unique[3:])] for unique in known]
