r"""Events at which a force changes its law: a step ends there, and the run restarts behind it.

    distance   from the event at one place, positive before it               x, p: see `forces.joint_loads.stops`;  d: depth of a point
               OUTSIDE  -p, -d: until it touches          PUSHES  p, d: until it is released
               INSIDE    x: until it is outside           LEAVES  min(x, -s / k): until it is outside, or pushes again
    event      the distance falls through zero from the start of a step to its middle (dense output), or from there to its end
    leap       the gap falls through zero and rises again between them, such as that of two balls that pass each other, see
               `integrators.leaps`.  Or, of a point that has just been released, it rises and falls through zero again
    far        gap > REACH h |gap'| at both ends: no event, without a look at the middle         gap: -x of a stop OUTSIDE, d, -d
               gap of an angle by the one that the state integrates, as long as it is more than half of the last one measured

The places stand in one table, which compiled code looks at in every step, see `integrators.event_watch`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from haugmbd.forces.stops import EDGE
from haugmbd.integrators.dense_output import put_state
from haugmbd.integrators.events import Event, EventRecord, Flags
from haugmbd.integrators.leaps import falls_and_rises, rises_and_falls, turn_of
from haugmbd.integrators.watches.event_watch import ACROSS, CLEAR, LOOK_SIGNATURE, POSSIBLE, EventWatch, new_event_watch
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.inspection.pressed_stops import move_bodies
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

OUTSIDE, PUSHES, LEAVES, INSIDE = 0, 1, 2, 3
"""Modes of a place; a point of contact is OUTSIDE or PUSHES."""
ROW, POINT, SIGN, LIMIT, STIFF, DAMPING, MODE, BEFORE, AFTER, START, START_RATE, GAP, RATE, MEASURED, FAR = range(15)
"""Columns of a place: its row in the force table, and its number there, -1 for a stop;  of a stop the sign and the value of its limit, 1
for a spring, c / k;  its mode.  Of the last step: distances at its start and at its end, gap and rate at its start and at its end, the last
gap that was measured, and 1 if the place is far from its event."""
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
BEYOND = 1e-12
"""[m] a point of contact is across its event by more; below it is the rounding of a body that rolls or rests on a plane."""


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
def leaps(open_point: bool, h: float, gap: float, rate: float, gap_after: float, rate_after: float) -> bool:
    """Return whether a gap may fall through zero and back, or, of an open point of contact, rise from zero and back, in the time h."""
    if rate < 0.0 < rate_after and gap > ROUNDING and gap_after > ROUNDING:
        lowest = gap + rate * (gap_after - gap - rate_after * h) / (rate - rate_after)
        return lowest <= ROUNDING
    return open_point and rate > 0.0 > rate_after and gap <= ROUNDING and gap_after <= ROUNDING


@kernel
def is_open_point(place: Array) -> bool:
    """Return whether a place is a point of contact that does not touch."""
    return bool(place[POINT] >= 0.0 and place[MODE] == OUTSIDE)


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
                place, is_open = places[k], is_open_point(places[k])
                middle, gap, rate = distance_at(P, place, m)
                if falls(place[BEFORE], middle) or falls(middle, place[AFTER]):
                    found = POSSIBLE
                elif leaps(is_open, 0.5 * h, place[START], place[START_RATE], gap, rate) or leaps(
                    is_open, 0.5 * h, gap, rate, place[GAP], place[RATE]
                ):
                    found = POSSIBLE
    for k in range(places.shape[0]):
        places[k, BEFORE] = places[k, AFTER]
        if found == CLEAR and places[k, AFTER] <= (-BEYOND if places[k, POINT] >= 0.0 else 0.0):
            found = ACROSS
    return found


@entry
def look(P: Pack, places: Array, ends: Array, h: float, y: Array, y_dot: Array) -> int:
    """Look at the places at the end of a step of h; return what it shows. A step of no length begins a run, and has no event."""
    near = 0
    for k in range(places.shape[0]):
        places[k, START], places[k, START_RATE] = places[k, GAP], places[k, RATE]
        if h == 0.0 or not is_far_by_angle(P, places[k], h, ends[0], y, y_dot):
            places[k, FAR], near = 0.0, near + 1
    found = measure_near(P, places, ends, h, y, y_dot) if near > 0 else CLEAR
    copy_line(y, ends[0])
    copy_line(y_dot, ends[1])
    return found


LOOK = Routine(look, LOOK_SIGNATURE)


@entry
def distances_entry(P: Pack, places: Array, y: Array, out: Array) -> None:
    """Write the distances of all places from their events at states y (n, ny), their gaps and rates, to out (n, places, 3)."""
    for n in range(y.shape[0]):
        m = move_bodies(P, y[n])
        for k in range(places.shape[0]):
            out[n, k, 0], out[n, k, 1], out[n, k, 2] = distance_at(P, places[k], m)


@entry
def distance_between_entry(P: Pack, place: Array, now: float, t: Array, y: Array, y_dot: Array, room: Array) -> float:
    """Return the distance of a place from its event at the time `now` on the dense output between two states y (2, ny) at t (2,).

    room: (ny,) for the state there
    """
    h = t[1] - t[0]
    put_state((now - t[0]) / h, h, (y[0], y_dot[0]), (y[1], y_dot[1]), ws.n_bodies(P), room)
    return distance_at(P, place, move_bodies(P, room))[0]


measure_distances, measure_between = DirectCall(distances_entry), DirectCall(distance_between_entry)


class SwitchPlaces:
    """The places of one run at which forces change their laws.  ny: numbers of a state;  watch: for the steps of the run"""

    def __init__(self, ny: int, switches: Sequence[Switches]) -> None:
        rows = [row for switch in switches for row in switch.rows]
        self.table = np.zeros((len(rows), FAR + 1))
        self.table[:, :GIVEN] = np.reshape(rows, (-1, GIVEN))
        self.watch: EventWatch = new_event_watch(LOOK, switches[0].pack, self.table, ny)
        self._known: list[tuple[Any, bytes, Array]] = []
        self._leaps: tuple[Any, bytes, Flags] = (None, b"", np.zeros((0, 0), dtype=np.bool_))
        first = 0
        for switch in switches:
            switch.places, switch.part = self, slice(first, first + len(switch.rows))
            first += len(switch.rows)

    def distances(self, y: Array) -> Array:
        """Return the distances from the events at flat states y (n, ny), gaps and rates, (n, places, 3)."""
        found = np.zeros((len(y), len(self.table), 3))
        measure_distances(self.watch.pack, self.table, for_kernels(y), found)
        return found

    def clear(self, t: Array, y: Array) -> Flags:
        """Return at which states (n, ny) the places are far from their events, (n, places)."""
        flags: Flags = self.known(y, y)[..., 0] > NEAR
        return flags

    def may_leap(self, t: Array, y: Array, halfway: Array) -> Flags:
        """Return what the kernel `leaps` does in the steps between states y (n, ny) at t, with those in their middle, (n - 1, places)."""
        modes = self.table[:, MODE].tobytes()
        if self._leaps[0] is not halfway or self._leaps[1] != modes:
            ends, middle = (np.moveaxis(self.known(x, x)[..., 1:], -1, 0) for x in (y, halfway))
            is_open = (self.table[:, POINT] >= 0.0) & (self.table[:, MODE] == OUTSIDE)
            h, leaps = 0.5 * np.diff(t)[:, None], np.zeros(middle.shape[1:], dtype=np.bool_)
            for half in ((*ends[:, :-1], *middle), (*middle, *ends[:, 1:])):
                leaps |= falls_and_rises(h, *half, zero=ROUNDING) | (is_open & rises_and_falls(*half, zero=ROUNDING))
            self._leaps = halfway, modes, leaps
        return self._leaps[2]

    def known(self, given: Any, y: Array) -> Array:
        """Return distances, gaps and rates at a flat state or at several; the last two results are kept."""
        modes = self.table[:, MODE].tobytes()
        for one, then, found in self._known:
            if one is given and then == modes:
                return found
        found = self.distances(y)
        self._known = [*self._known[-1:], (given, modes, found)]
        return found


class Switches:
    """Places of one kind, whose modes a run switches.

    names: of their events;  plain_names: of the places, in the records;  rows: the columns of each that are given
    pack: a workspace in which they may be measured
    """

    pack: Any
    places: SwitchPlaces
    part: slice
    names: Sequence[str]
    plain_names: Sequence[str]
    rows: Sequence[tuple[float, ...]]

    @property
    def modes(self) -> Array:
        """The modes of the places; written in place."""
        return self.places.table[self.part, MODE]

    @property
    def touching(self) -> Flags:
        """Which places touch, (places,)."""
        flags: Flags = (self.modes == PUSHES) | (self.modes == INSIDE)
        return flags

    def distances(self, y: Array) -> Array:
        """Return the distances from the events at one flat state y (ny,), (places,)."""
        return self.places.distances(y[None])[0, self.part, 0]

    def events(self) -> tuple[SwitchEvent, ...]:
        """Return the events of the places. They refer to these, and not the other way, so that no workspace waits for the collector."""
        return tuple(
            SwitchEvent(name, never, direction=-1, terminal=True, switches=self, number=k, place=self.part.start + k)
            for k, name in enumerate(self.names)
        )

    def switch(self, numbers: Sequence[int], t: float, y: Array) -> list[EventRecord]:
        """Switch the places of events, and others at the same instant; return the records."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SwitchEvent(Event):
    """The event of one place.  number: of the place among `switches`;  place: among all"""

    switches: Any = None
    number: int = 0
    place: int = 0

    watched = True
    of_law = True

    @property
    def group(self) -> Any:
        """Return all places, whose events come in their order."""
        return self.switches.places

    def clear(self, t: Array, y: Array) -> Flags:
        """Return at which states (n, ny) the place is far from its event."""
        flags: Flags = self.switches.places.known(y, y)[:, self.place, 0] > NEAR
        return flags

    def along(self, t: Array, y: Array, y_dot: Array) -> Callable[[float], float]:
        """Return the distance on the dense output of a step, as a function of the time [s]."""
        places, room = self.switches.places, np.zeros(y.shape[1])
        pack, place = places.watch.pack, places.table[self.place]
        return lambda now: float(measure_between(pack, place, now, t, y, y_dot, room))

    def may_leap(self, t: Array, y: Array, halfway: Array) -> Flags:
        """Return in which steps between states y (n, ny) at t, with the states in their middle, the place may be leapt over, (n - 1,)."""
        flags: Flags = self.switches.places.may_leap(t, y, halfway)[:, self.place]
        return flags

    def turn(self, start: float, end: float, at: Callable[[float], Array]) -> float | None:
        """Return a time between two, at which the place is beyond a leap that both do not show; None if there is none.

        at: the flat state at a time [s]
        """
        place = self.switches.places.table[self.place]
        is_open_point = bool(place[POINT] >= 0.0 and place[MODE] == OUTSIDE)
        return turn_of(lambda now: self._gap(at(now)), start, end, ROUNDING, opens=is_open_point)

    def _gap(self, y: Array) -> tuple[float, float]:
        """Return gap and rate at a flat state."""
        gap, rate = self.switches.places.distances(y[None])[0, self.place, 1:].tolist()
        return gap, rate

    def value(self, state: Any) -> float:
        """Return the distance from the event [rad or m]."""
        return self.value_of(state.flat)

    def value_of(self, y: Array) -> float:
        """Return the distance from the event at a flat state [rad or m]."""
        return float(self.switches.places.known(y, y[None])[0, self.place, 0])


def never(t: float, state: Any) -> float:
    """Stand for the function of an event that has a value of its own."""
    raise AssertionError
