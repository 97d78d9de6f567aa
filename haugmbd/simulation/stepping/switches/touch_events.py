r"""Touch and release of contact forces: events at which a step ends, and at which the speed at touch is written to the state.

    open       watched: the gap -d, until it falls through zero: touch,    v_0 = max(d', floor)          no force, see `contact_force`
    closed     watched: the depth d, until it falls through zero: release

The run restarts behind each of them, so that no step crosses a kink of the force. Points that touch at the same instant within rounding,
such as the corners of a box, are switched together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.contact_impacts import ImpactLog
from haugmbd.forces.compliant.contact_force import CLOSED, ContactForce, at_touch
from haugmbd.forces.compliant.indentation import Indentation
from haugmbd.forces.registry import table_of
from haugmbd.forces.stops import HELD
from haugmbd.integrators.events import EventRecord, Flags
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.switches.switch_events import BEYOND, OUTSIDE, PUSHES, Switches
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

MAY_TOUCH = 1e-6
"""Relative to 1 m and the farthest body: the depth, by compiled code, up to which a point is asked whether it touches within rounding."""


class TouchPoint(NamedTuple):
    """A point of contact: its element and the row of this, its number there, and the column of its touch speed in the flat state."""

    entry: LoadEntry
    row: int
    point: int
    column: int

    @property
    def name(self) -> str:
        """Return the name of the point: that of its element, with the number of the point where there are several."""
        load = self.entry.load
        return load.name if load.angles == 1 else f"{load.name}[{self.point}]"


class TouchEvents(Switches):
    """The points of contact of one run: which are closed, and their events.

    holds: whether closed points are held closed, for a method whose steps go beyond a release, which is located on their dense output;
        steps of others end at it, and those that are too long for a contact are not stable with a force that pulls
    log: their impacts, of a run that does not store every step; else they follow from its states
    """

    def __init__(self, model: Model, *, holds: bool = False, logs: bool = False) -> None:
        self.model, self.holds, self.pack = model, holds, model.pack()
        self.entries = [entry for entry in model.loads if entry.load.is_contact]
        row, first = int(model.tables["FORCE_KIND_STARTS"].ravel()[table_of(ContactForce)]), WIDTH * (model.nb + 1)
        self.points = [
            TouchPoint(entry, row + n, k, first + entry.angle + k)
            for n, entry in enumerate(self.entries)
            for k in range(entry.load.angles)
        ]
        sizes = [entry.load.angles for entry in self.entries]
        ends = np.cumsum(sizes).tolist()
        self._element, self._parts = (
            np.repeat(np.arange(len(sizes)), sizes),
            [slice(b - n, b) for n, b in zip(sizes, ends, strict=True)],
        )
        self._drivers = np.array([entry.drivers[0] for entry in self.entries])
        self._bits_of_open = np.array([float(1 << place.point) for place in self.points])
        self._bits_of_closed = np.array([float(1 << (place.point + CLOSED)) for place in self.points])
        self._seen: tuple[bytes, Flags, Indentation] | None = None
        self.plain_names = [place.name for place in self.points]
        self.names = [f"contact {name!r}" for name in self.plain_names]
        self.rows = [(place.row, place.point, 0.0, 0.0, 0.0, 0.0) for place in self.points]
        self.log = ImpactLog(model, self.entries) if logs else None

    @property
    def closed(self) -> Flags:
        """Which points are closed."""
        flags: Flags = self.modes == PUSHES
        return flags

    @property
    def adds_steps(self) -> bool:
        """Whether steps are part of an impact that is noted."""
        return self.log is not None and bool(self.closed.any())

    def _close(self, closed: Flags) -> None:
        """Let these points be closed, and the others open."""
        self.modes[:] = np.where(closed, PUSHES, OUTSIDE)

    def hold(self, pack: Pack) -> None:
        """Write to the workspace of the run which points are open, and which are held closed: it holds for the steps that follow."""
        held = np.where(self.closed, self._bits_of_closed if self.holds else 0.0, self._bits_of_open)
        workspace_array(pack, "F")[self._drivers, HELD] = np.bincount(self._element, held, len(self.entries))

    def _bodies(self, y: Array) -> Array:
        """Return the states of all bodies, (nb + 1, n, 13)."""
        n = self.model.nb + 1
        return np.swapaxes(y[:, : WIDTH * n].reshape(len(y), n, WIDTH), 0, 1)

    def _measured(self, y: Array, which: Flags) -> Indentation:
        """Return the points of contact at a flat state (ny,): these, and others of the same elements; all else is far outside."""
        n, bodies = len(self.points), self._bodies(y[None])
        key = bodies.tobytes()
        if self._seen is not None and self._seen[0] == key and not (which & ~self._seen[1]).any():
            return self._seen[2]  # the same instant, behind the switch of others
        indentation = Indentation(
            np.full((1, n), -np.inf), np.zeros((1, n)), np.zeros((1, n, 3)), np.zeros((1, n, 3)), np.zeros((1, n, 3))
        )
        for k in np.unique(self._element[which]).tolist():
            entry, rows = self.entries[k], self._parts[k]
            for array, values in zip(indentation, entry.load.indentation(bodies[list(entry.bodies)]), strict=True):
                array[:, rows] = values
        self._seen = key, which, indentation
        return indentation

    def _depths(self, y: Array) -> Array:
        """Return the depths (k,) of all points at a flat state (ny,), by compiled code, relative to 1 m and the farthest body."""
        gaps = self.places.distances(y[None])[0, self.part, 1]
        far = 1.0 + float(np.abs(self._bodies(y[None])[..., :3]).max())
        depths: Array = np.where(self.closed, gaps, -gaps) / far
        return depths

    def start(self, t: float, y: Array, pack: Pack) -> None:
        """Write the touch speeds of points that are closed at the start, in place, as `ContactForce.angles0`; hold the others open.

        A point that is inside keeps the one that it has from a run before. One that a run has not set is at least its rate.
        """
        indentation = self._measured(y, self._depths(y) > -MAY_TOUCH)
        touching, inside = (flags[0] for flags in at_touch(indentation))
        self._close(touching | inside)
        for k, point in enumerate(self.points):
            if touching[k]:
                y[point.column] = self._speed(point, float(indentation.rate[0, k]))
            elif inside[k] and not self._set_by_run(point, t, y):
                y[point.column] = max(y[point.column], self._speed(point, float(indentation.rate[0, k])))
            if self.log is not None and (touching[k] or inside[k]):
                begun = (t, float(indentation.rate[0, k])) if touching[k] else (float("nan"), float("nan"))
                self.log.touch(point.entry.load.name, point.point, *begun)
        self.hold(pack)

    def _set_by_run(self, point: TouchPoint, t: float, y: Array) -> bool:
        """Return whether a run has set the touch speed in a state: it is known, and not that of the modelled state."""
        return bool(y[point.column] > 0.0 and (t != 0.0 or y[point.column] != self.model.y0[point.column]))

    def _speed(self, point: TouchPoint, rate: float) -> float:
        """Return v_0 = max(d', floor)."""
        return max(rate, point.entry.load.floor_speed)  # type: ignore[attr-defined,no-any-return]

    def add_steps(self, t: Array, y: Array, y_dot: Array) -> None:
        """Add the steps between states y (n, ny) at t to the impacts, before any point is switched."""
        assert self.log is not None
        self.log.add_steps(t, y, y_dot)

    def _note(self, k: int, t: float, rate: float) -> None:
        """Note the touch or release of a point in the log."""
        if self.log is not None:
            note = self.log.touch if self.closed[k] else self.log.release
            note(self.points[k].entry.load.name, self.points[k].point, t, rate)

    def follow(self, t: float, y: Array) -> list[EventRecord]:
        """Switch the points that are across at the end of a batch in which no event was found: a step that leaps out of a contact has none.

        Write touch speeds to y in place; return the records.
        """
        across = self.distances(y) <= -BEYOND
        return self._switched(np.flatnonzero(across).tolist(), t, y, self._measured(y, across)) if across.any() else []

    def switch(self, numbers: Sequence[int], t: float, y: Array) -> list[EventRecord]:
        """Switch the points of events, and others at the same instant; write touch speeds to y in place; return the records.

        Without an event of their own, points are switched that touch at the instant of others, and that leave at it: beyond zero within
        rounding, from where no event falls through zero.
        """
        asked = np.abs(self._depths(y)) <= MAY_TOUCH
        asked[list(numbers)] = True
        indentation = self._measured(y, asked)
        touching, _ = (flags[0] for flags in at_touch(indentation))
        closed = self.closed
        leaving = closed & (self.distances(y) <= 0.0) & (indentation.rate[0] < 0.0)
        others = np.nonzero((touching & ~closed) | leaving)[0].tolist()
        return self._switched([*numbers, *(k for k in others if k not in numbers)], t, y, indentation)

    def _switched(self, switched: list[int], t: float, y: Array, indentation: Indentation) -> list[EventRecord]:
        """Switch points; write touch speeds to y in place; return the records.  found: all points at y"""
        closed = self.closed
        closed[switched] = ~closed[switched]
        self._close(closed)
        for k in switched:
            self._note(k, t, float(indentation.rate[0, k]))
            if closed[k]:
                y[self.points[k].column] = self._speed(self.points[k], float(indentation.rate[0, k]))
        state = State.from_y(t, y, self.model.nb + 1)
        return [EventRecord(f"{self.points[k].name}: {'touch' if closed[k] else 'release'}", t, state) for k in switched]
