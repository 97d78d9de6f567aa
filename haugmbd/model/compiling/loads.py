r"""The loads of a model: their numbers, their table, and the calls of the user's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.callbacks import DriverCall, ForceCall, ForceCallbacks, JacobianCall, JacobianCallbacks
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.control.diagram.network import Network
from haugmbd.drivers import DriverTables
from haugmbd.forces import MODULES
from haugmbd.forces.base import ForceElement, TablePlaces
from haugmbd.forces.registry import table_of
from haugmbd.model.compiling.numbering import Numbering, Turns
from haugmbd.model.compiling.row_table import Line, sorted_table
from haugmbd.workspace.layout import WIDTH

INT_COLUMNS, REAL_COLUMNS = 8, 4


class LoadEntry(NamedTuple):
    """A load of a compiled model: the numbers of its bodies, signal and integrated angle, and its indices in the driver table.

    turns: the integrated angles of its coordinates, -1 for a displacement;  rows: the bodies that each of its rows acts on
    state: its first internal state, counted from the first of the model
    """

    load: ForceElement
    bodies: tuple[int, ...]
    signal: int
    angle: int
    drivers: tuple[int, ...]
    turns: tuple[int, ...] = ()
    rows: tuple[tuple[int, ...], ...] = ()
    state: int = 0

    def own_angles(self, angles: Array) -> Array:
        """Return its columns of the integrated angles (nt, na): (nt,), or (nt, n) of its coordinates; zeros where there is none."""
        if self.turns:
            return np.stack([angles[:, k] if k >= 0 else np.zeros(len(angles)) for k in self.turns], axis=1)
        if self.load.angles > 1:
            return angles[:, self.angle : self.angle + self.load.angles]
        return angles[:, self.angle] if self.load.angles else np.zeros(len(angles))


def number_loads(
    number: Numbering, loads: Sequence[ForceElement], turns: Turns, every: Sequence[ForceElement] | None = None
) -> list[LoadEntry]:
    """Assign signal, angles and drivers to each load, in the order in which they were added.

    every: all loads that have places in the state, in that order, also those that are off
    """
    entries: list[LoadEntry] = []
    n_signals = n_angles = n_states = 0
    on = None if every is None else set(map(id, loads))
    for load in loads if every is None else every:
        if on is not None and id(load) not in on:
            n_angles += load.angles
            n_states += len(load.states())
            continue
        bodies = tuple(number.bodies[body] for body in load.bodies())
        drivers = tuple(number.driver(driver) for driver in load.drivers())
        own = tuple(turns.number(q) for q in load.coordinates())
        rows = tuple(tuple(number.bodies[body] for body in row) for row in load.rows_of_bodies())
        entries.append(LoadEntry(load, bodies, n_signals, n_angles, drivers, own, rows, n_states))
        n_signals += load.signals
        n_angles += load.angles
        n_states += len(load.states())
    return entries


def force_table(number: Numbering, entries: Sequence[LoadEntry], n_angles: int, places: Sequence[int]) -> tuple[Ints, Array, Ints]:
    """Return loads sorted by kind: integers, constants, and the first row of each kind.

    n_angles: the integrated angles, behind which the internal states stand;  places: those of the states in the driver table
    """
    by_kind: list[list[Line]] = [[] for _ in MODULES]
    for load, _, signal, angle, drivers, turns, _, state in entries:
        markers = tuple(number.marker(body, x_bar) for body, x_bar in load.markers())
        own = (n_angles + state, places[state]) if load.states() else (-1, -1)
        by_kind[table_of(type(load))].extend(load.table_rows(TablePlaces(markers, drivers, signal, angle, turns, *own)))
    return sorted_table(by_kind, INT_COLUMNS, REAL_COLUMNS)


def force_callbacks(
    number: Numbering,
    drivers: DriverTables,
    joint_of_driver: Callable[[int], str | None],
    entries: Sequence[LoadEntry],
    n_tail: int,
    network: Network | None = None,
) -> ForceCallbacks:
    """Return the calls of the user's functions at every evaluation.

    joint_of_driver: the last joint with a row that a driver prescribes, None if there is none
    n_tail: integrated angles and internal states of y
    """
    force_calls = []
    of_load: dict[int, str] = {}
    for load, bodies, signal, _, slots, *_ in entries:
        user_function = load.user_function()
        if user_function is not None:
            written, constants = (slots, ()) if user_function.constants is None else ((), slots)
            force_calls.append(ForceCall(user_function, bodies, signal, written, constants))
        of_load.update(dict.fromkeys(slots, load.where))
    calls = []
    for k in drivers.python_drivers.tolist():
        joint = joint_of_driver(k)
        calls.append(DriverCall(k, number.drivers[k], of_load[k] if joint is None else f"joint {joint!r}"))
    n_signals = sum(entry.load.signals for entry in entries)
    n = len(number.bodies)
    shapes = ((WIDTH * n + n_tail,), (n_signals, 2), (len(number.drivers), 3), (n, 6))
    return ForceCallbacks(tuple(force_calls), tuple(calls), shapes, network)


def jacobian_callbacks(entries: Sequence[LoadEntry], y_shape: tuple[int, ...], signals_shape: tuple[int, ...]) -> JacobianCallbacks:
    """Return the declared jacobians, and the places of their values."""
    jacobian_calls: list[JacobianCall] = []
    size = 0
    for load, bodies, signal, *_ in entries:
        if load.jacobian is not None:
            jacobian_calls.append(JacobianCall(load.jacobian, bodies, signal, size))
            size += jacobian_calls[-1].size
    return JacobianCallbacks(tuple(jacobian_calls), (y_shape, signals_shape, (size,), (0,)))
