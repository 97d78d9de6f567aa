"""The curves beside the motion: velocities, reactions, violations, energies, contact forces at some of the states; and `plot_table`.

They are computed by the methods of the result; `None` stands for a missing quantity. The page draws them as arrows, colours and curves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.histories import FORCES, driver_names
from haugmbd.diagnostics.load_history import columns_of
from haugmbd.errors import HaugmbdError
from haugmbd.impacts.contact_history import RigidContactHistory
from haugmbd.model.model import Model
from haugmbd.simulation.results.result import Result
from haugmbd.viewer.frames import Frames, Ints
from haugmbd.viewer.mechanism import forces_on_planes
from haugmbd.viewer.packing import Packer

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


def _normal_force(history: Any) -> Array:
    """Return the normal force of a contact [N], (nt,): of all its points together."""
    force: Array = history.force
    return force if force.ndim == 1 else force.sum(axis=1)


def resultant(history: RigidContactHistory) -> Array:
    """Return the force of all points on body j [N], and where it acts: the mean of the points, by their normal forces [m], (nt, 6)."""
    force = np.sum(history.normal_force[..., None] * history.normal + history.friction_force, axis=1)
    whole = history.normal_force.sum(axis=1, keepdims=True)
    share = np.where(whole > 0.0, history.normal_force / np.where(whole > 0.0, whole, 1.0), 1.0 / max(1, history.gap.shape[1]))
    return np.hstack([force, np.einsum("tk,tkx->tx", share, history.point)])


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
        forces_on_planes(model.force_elements),
    )
    if struck or pressed:
        wanted["contact"] = lambda: np.stack(
            [
                *(_normal_force(some.contact(name))[rows] for name in struck),
                *(some.load(force.name).normal_force.reshape(len(some.t), -1).sum(axis=1)[rows] for force in pressed),
            ],
            axis=1,
        )
    touched = [history for history in map(some.contact, struck) if isinstance(history, RigidContactHistory)]
    if touched and len(touched) == len(struck):
        wanted["touch"] = lambda: np.hstack([resultant(history)[rows] for history in touched])
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
    parts = [(part.violation("position", by="joint"), np.zeros(len(part))) for part in result.segments if len(part)]
    return np.stack([np.concatenate([part.get(name, nothing) for part, nothing in parts]) for name in model.joints], axis=1)


def unique_reactions(model: Model) -> list[list[bool]]:
    """Return whether the force and the torque of each joint are unique."""
    if not model.redundancy.dropped:
        return [[True, True]] * len(model.joints)
    report = mobility(model)
    unique_of_joints = [report.reaction(name).unique for name in model.joints]
    return [[all(unique[:3]), all(unique[3:])] for unique in unique_of_joints]


# The plots of joints, drivers, loads and sensors in the page: titles, names of the lines, and their columns.
#
# joint     angle, displacement, rotation; of a driver also what it prescribes, its torque or force, and its power
# load      length or angle, force or torque, power
# sensor    its values, of a few components
#
# Joints are taken at all states of the result, so that turns are counted; forces only at those that are shown.

MOST_ANGLES = 100_000
"""States times joints whose coordinates are computed at every state; of more the page finds them itself. The same for loads."""

COORDINATES = {
    "angle": ("rad", ("\u03b8", "\u03b8\u2082")),
    "displacement": ("m", ("x", "x\u2082")),
    "rotation": ("rad", ("x", "y", "z")),
}
"""Attributes of a JointHistory: unit, and names of their columns."""

LETTERS = {"length": "l", "displacement": "x", "angle": "\u03b8", "force": "F", "torque": "M", "forces": "F", "power": "P"}
"""Quantities of loads and drivers that are shown, and names of their lines."""

MOST_COMPONENTS = 9
"""Of a sensor; of more, a curve would not be found."""

Plot = dict[str, Any]
"""title, names of the lines, and the number of the first of their columns."""


class PlotTable:
    """The plots of a page so far, with their columns (n,) at the shown states.

    result, states: the motion, and the states that are shown;  some, rows: a part of it that is evaluated, and the same states in it
    """

    def __init__(self, result: Result, states: Ints, some: Result, rows: Ints) -> None:
        self.result, self.states, self.some, self.rows = result, states, some, rows
        self.columns = list[Array]()
        self.notes = list[str]()
        self._drivers = driver_names(result.model)

    def add(self, title: str, names: Sequence[str], values: Array) -> Plot:
        """Return a plot of values (n,) or (n, k) at the shown states."""
        first = len(self.columns)
        self.columns += list(values.reshape(len(values), -1).T)
        return {"title": title, "names": list(names)[: len(self.columns) - first], "first": first}

    def joint(self, name: str, *, forces: bool) -> list[Plot] | None:
        """Return the plots of a joint, None if the page has to find its coordinates;  forces: whether multipliers are known."""
        plots: list[Plot] | None = None
        if len(self.result.t) * len(self.result.model.joints) <= MOST_ANGLES:
            try:
                history = self.result.joint(name)
                plots = [
                    self.add(f"{what} [{COORDINATES[what][0]}]", COORDINATES[what][1], getattr(history, what)[self.states])
                    for what in dict.fromkeys(history.coordinates)
                ]
            except HaugmbdError:  # it has none, or the states are too far apart to count its turns: the page says so
                pass
        if forces and name in self._drivers:
            try:
                plots = [*(plots or []), *self._driver(name)]
            except HaugmbdError as error:
                self.notes.append(f"driver {name!r}: {str(error).splitlines()[0]}")
        return plots

    def _driver(self, name: str) -> list[Plot]:
        """Return the plots of a driver."""
        driver, rows = self.some.driver(name), self.rows
        force, shared = driver.quantity, "" if driver.unique else ", not unique"
        return [
            self.add(f"prescribed value [{driver.unit}]", "f", driver.value[rows]),
            self.add(f"{force} of the driver{shared} [{FORCES[driver._kind][2]}]", LETTERS[force], getattr(driver, force)[rows]),
            self.add(f"power of the driver{shared} [W]", LETTERS["power"], driver.power[rows]),
        ]

    def sensors(self) -> list[Plot]:
        """Return the plots of the sensors that were recorded with the run."""
        plots = []
        for sensor in self.result._recorded().values():
            values = sensor.value.reshape(len(sensor.value), -1)[self.states]
            if 0 < values.shape[1] <= MOST_COMPONENTS:
                names = [sensor.name] if sensor.value.ndim == 1 else [str(k + 1) for k in range(values.shape[1])]
                plots.append(self.add(f"sensor {sensor.name}{f' [{sensor.unit}]' if sensor.unit else ''}", names, values))
        return plots

    def loads(self) -> dict[str, list[Plot]]:
        """Return the plots of all loads, by name."""
        entries = self.some.model.loads
        if len(self.some.t) * len(entries) > MOST_ANGLES:
            return {}
        plots: dict[str, list[Plot]] = {}
        for name in (entry.load.name for entry in entries):
            try:
                history = self.some.load(name)
            except HaugmbdError as error:
                self.notes.append(f"load {name!r}: {str(error).splitlines()[0]}")
                continue
            values = {what: columns_of(history, what) for what in LETTERS if what in history.quantities}
            plots[name] = [
                self.add(
                    f"{what} [{history.unit(what)}]",
                    LETTERS[what] if what in columns else list(columns),
                    np.stack(list(columns.values()), axis=-1)[self.rows],
                )
                for what, columns in values.items()
                if len(columns) <= MOST_COMPONENTS
            ]
        return plots
