r"""The plots of joints, drivers, loads and sensors in the page: titles, names of the lines, and their columns.

joint     angle, displacement, rotation; of a driver also what it prescribes, its torque or force, and its power
load      length or angle, force or torque, power
sensor    its values, of a few components

Joints are taken at all states of the result, so that turns are counted; forces only at those that are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.histories.driver_history import FORCES, driver_names
from haugmbd.diagnostics.histories.load_history import columns_of
from haugmbd.errors import HaugmbdError
from haugmbd.simulation.results.result import Result
from haugmbd.viewer.scenes.frames import Ints

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
        for one in self.result._recorded().values():
            values = one.value.reshape(len(one.value), -1)[self.states]
            if 0 < values.shape[1] <= MOST_COMPONENTS:
                names = [one.name] if one.value.ndim == 1 else [str(k + 1) for k in range(values.shape[1])]
                plots.append(self.add(f"sensor {one.name}{f' [{one.unit}]' if one.unit else ''}", names, values))
        return plots

    def loads(self) -> dict[str, list[Plot]]:
        """Return the plots of all loads, by name."""
        entries = self.some.model.loads
        if len(self.some.t) * len(entries) > MOST_ANGLES:
            return {}
        found: dict[str, list[Plot]] = {}
        for name in (entry.load.name for entry in entries):
            try:
                history = self.some.load(name)
            except HaugmbdError as error:
                self.notes.append(f"load {name!r}: {str(error).splitlines()[0]}")
                continue
            values = {what: columns_of(history, what) for what in LETTERS if what in history.quantities}
            found[name] = [
                self.add(
                    f"{what} [{history.unit(what)}]",
                    LETTERS[what] if what in columns else list(columns),
                    np.stack(list(columns.values()), axis=-1)[self.rows],
                )
                for what, columns in values.items()
                if len(columns) <= MOST_COMPONENTS
            ]
        return found
