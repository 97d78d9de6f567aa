r"""Events at which a force changes its law: a step ends there, and the run restarts behind it.

    distance   from the event at one place, positive before it               x, p: see `forces.joint_loads.stops`;  d: depth of a point
               OUTSIDE  -p, -d: until it touches          PUSHES  p, d: until it is released
               INSIDE    x: until it is outside           LEAVES  min(x, -s / k): until it is outside, or pushes again
    event      the distance falls through zero from the start of a step to its middle (dense output), or from there to its end
    far        gap > REACH h |gap'| at both ends: no event, without a look at the middle         gap: -x of a stop OUTSIDE, d, -d
               gap of an angle by the one that the state integrates, as long as it is more than half of the last one measured

The places stand in one table, which compiled code looks at in every step, see `integrators.event_watch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.constraints.base import Motion
from haugmbd.forces.compliant.contact_points import contact_point
from haugmbd.forces.joint_loads.joint_load import TURN, coordinate_of_row
from haugmbd.forces.joint_loads.stops import EDGE
from haugmbd.integrators.dense_output import put_state
from haugmbd.integrators.events import Event, EventRecord, Flags
from haugmbd.integrators.watches.event_watch import ACROSS, CLEAR, LOOK_SIGNATURE, POSSIBLE, EventWatch, new_event_watch
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.inspection.pressed_stops import move_bodies
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

OUTSIDE, PUSHES, LEAVES, INSIDE = 0, 1, 2, 3
"""Modes of a place; a point of contact is OUTSIDE or PUSHES."""
ROW, POINT, SIGN, LIMIT, STIFF, DAMPING, MODE, BEFORE, AFTER, GAP, RATE, MEASURED, FAR = range(13)
"""Columns of a place: its row in the force table, and its number there, -1 for a stop;  of a stop the sign and the value of its limit, 1
for a spring, c / k;  its mode.  Of the last step: distances at its start and at its end, gap and rate at its end, the last gap that was
measured, and 1 if the place is far from its event."""
GIVEN = MODE
"""Number of the columns that do not change."""
NEAR = 1e-9
"""[m or rad] distance up to which an event is evaluated one by one."""
HALF = 0.5
"""Of the gap that was measured last: a motion of this size is integrated with a smaller error by any step that follows the motion."""
REACH = 4.0
"""Of the way that a gap would go in a step at the larger of the rates at its ends."""
ROUNDING = 1e-14
"""[m or rad] compiled code takes a distance below it for zero: the event is then evaluated."""


@kernel
def distance_at(P: Pack, place: Array, m: Motion) -> tuple[float, float, float]:
    """Return the distance of a place from its event, and a gap with its rate, or 0: there is no event while it is open."""
    row, point, mode = int(place[ROW]), int(place[POINT]), place[MODE]
    if point >= 0:
        c = contact_point(ws.force_ints(P), ws.force_reals(P), row, point, m)
        sign = 1.0 if mode == PUSHES else -1.0
        return sign * c.depth, sign * c.depth, sign * c.rate
    q = coordinate_of_row(ws.force_ints(P), ws.force_reals(P), row, m)
    x, rate = place[SIGN] * (q.q - place[LIMIT]), place[SIGN] * q.q_dot
    push, width = place[STIFF] * x + place[DAMPING] * rate, EDGE * (1.0 + abs(place[LIMIT]) + abs(rate))
    if mode == OUTSIDE:
        return width - min(x, push), -x, -rate
    if mode == INSIDE:
        return width + x, x, rate
    return width + min(x, push if mode == PUSHES else -push), 0.0, 0.0


@kernel
def falls(before: float, after: float) -> bool:
    """Return whether a distance may fall through zero."""
    return before > 0.0 and not after > ROUNDING


@kernel
def is_far(place: Array, h: float, gap: float, rate: float) -> bool:
    """Return whether a place is far from its event in a step of h that ends with this gap and its rate."""
    return min(place[GAP], gap) > REACH * h * max(abs(place[RATE]), abs(rate))  # type: ignore[no-any-return]


@kernel
def end_with(place: Array, far: bool, gap: float, rate: float) -> None:
    """Write what is known of a place at the end of a step."""
    place[FAR], place[GAP], place[RATE] = 1.0 if far else 0.0, gap, rate


@kernel
def is_far_by_angle(P: Pack, place: Array, h: float, before: Array, y: Array, y_dot: Array) -> bool:
    """Return whether a place is a stop of an angle, far from its event by the angle that the state integrates; end the step if so."""
    turn = ws.force_ints(P)[int(place[ROW]), TURN]
    if place[POINT] >= 0.0 or place[MODE] != OUTSIDE or turn < 0:
        return False
    k = WIDTH * ws.n_bodies(P) + turn
    gap, rate = place[GAP] - place[SIGN] * (y[k] - before[k]), -place[SIGN] * y_dot[k]
    far = gap > HALF * place[MEASURED] and is_far(place, h, gap, rate)
    if far:
        end_with(place, far, gap, rate)
    return far


@kernel
def measure_near(P: Pack, places: Array, ends: Array, h: float, y: Array, y_dot: Array) -> int:
    """Measure the places that are not far at the end of a step of h and, unless they are then, in its middle; return what it shows."""
    m, near, found = move_bodies(P, y), 0, CLEAR
    for k in range(places.shape[0]):
        place = places[k]
        if place[FAR] == 0.0:
            place[AFTER], gap, rate = distance_at(P, place, m)
            place[MEASURED] = gap
            end_with(place, is_far(place, h, gap, rate), gap, rate)
            near += place[FAR] == 0.0
    if near > 0 and h > 0.0:
        put_state(0.5, h, (ends[0], ends[1]), (y, y_dot), ws.n_bodies(P), ends[2])
        m = move_bodies(P, ends[2])
        for k in range(places.shape[0]):
            if places[k, FAR] == 0.0:
                middle = distance_at(P, places[k], m)[0]
                if falls(places[k, BEFORE], middle) or falls(middle, places[k, AFTER]):
                    found = POSSIBLE
    for k in range(places.shape[0]):
        places[k, BEFORE] = places[k, AFTER]
        if found == CLEAR and not places[k, AFTER] > 0.0:
            found = ACROSS
    return found


@entry
def look(P: Pack, places: Array, ends: Array, h: float, y: Array, y_dot: Array) -> int:
    """Look at the places at the end of a step of h; return what it shows. A step of no length begins a run, and has no event."""
    near = 0
    for k in range(places.shape[0]):
        if h == 0.0 or not is_far_by_angle(P, places[k], h, ends[0], y, y_dot):
            places[k, FAR], near = 0.0, near + 1
    found = measure_near(P, places, ends, h, y, y_dot) if near > 0 else CLEAR
    copy_line(y, ends[0])
    copy_line(y_dot, ends[1])
    return found


LOOK = Routine(look, LOOK_SIGNATURE)


@entry
def distances_entry(P: Pack, places: Array, y: Array, out: Array) -> None:
    """Write the distances of all places from their events at states y (n, ny) to out (n, places)."""
    for n in range(y.shape[0]):
        m = move_bodies(P, y[n])
        for k in range(places.shape[0]):
            out[n, k] = distance_at(P, places[k], m)[0]


measure_distances = DirectCall(distances_entry)


class SwitchPlaces:
    """The places of one run at which forces change their laws.  ny: numbers of a state;  watch: for the steps of the run"""

    def __init__(self, ny: int, switches: Sequence[Switches]) -> None:
        rows = [row for one in switches for row in one.rows]
        self.table = np.zeros((len(rows), FAR + 1))
        self.table[:, :GIVEN] = np.reshape(rows, (-1, GIVEN))
        self.watch: EventWatch = new_event_watch(LOOK, switches[0].pack, self.table, ny)
        self._known: list[tuple[Any, bytes, Array]] = []
        first = 0
        for one in switches:
            one.places, one.part = self, slice(first, first + len(one.rows))
            first += len(one.rows)

    def distances(self, y: Array) -> Array:
        """Return the distances from the events at flat states y (n, ny), (n, places)."""
        found = np.zeros((len(y), len(self.table)))
        measure_distances(self.watch.pack, self.table, for_kernels(y), found)
        return found

    def known(self, given: Any, y: Array) -> Array:
        """Return the distances from the events at a flat state or at several; the last two results are kept."""
        modes = self.table[:, MODE].tobytes()
        for one, then, found in self._known:
            if one is given and then == modes:
                return found
        found = self.distances(y)
        self._known = [*self._known[-1:], (given, modes, found)]
        return found


class Switches:
    """Places of one kind, whose modes a run switches.

    names: of their events;  rows: the columns of each that are given;  pack: a workspace in which they may be measured
    """

    pack: Any
    places: SwitchPlaces
    part: slice
    names: Sequence[str]
    rows: Sequence[tuple[float, ...]]

    @property
    def modes(self) -> Array:
        """The modes of the places; written in place."""
        return self.places.table[self.part, MODE]

    def distances(self, y: Array) -> Array:
        """Return the distances from the events at one flat state y (ny,), (places,)."""
        return self.places.distances(y[None])[0, self.part]

    def events(self) -> tuple[SwitchEvent, ...]:
        """Return the events of the places. They refer to these, and not the other way, so that no workspace waits for the collector."""
        return tuple(
            SwitchEvent(name, never, direction=-1, terminal=True, switches=self, number=k, place=self.part.start + k)
            for k, name in enumerate(self.names)
        )

    def switch(self, number: int, t: float, y: Array) -> list[EventRecord]:
        """Switch the place of an event, and others at the same instant; return the records."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SwitchEvent(Event):
    """The event of one place.  number: of the place among `switches`;  place: among all"""

    switches: Any = None
    number: int = 0
    place: int = 0

    watched = True

    def clear(self, t: Array, y: Array) -> Flags:
        """Return at which states (n, ny) the place is far from its event."""
        flags: Flags = self.switches.places.known(y, y)[:, self.place] > NEAR
        return flags

    def value(self, state: Any) -> float:
        """Return the distance from the event [rad or m]."""
        return float(self.switches.places.known(state, state.flat[None])[0, self.place])


def never(t: float, state: Any) -> float:
    """Stand for the function of an event that has a value of its own."""
    raise AssertionError
