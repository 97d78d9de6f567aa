"""The contacts and stops that one run switches: where a step ends because of them, and from which state the run restarts behind it.

    event       places reach their events: they are switched, with others at the same instant
    across      a batch in which no event was found ends beyond one, because a step has leapt over it: the place is switched there
    restart     what touches behind the switch is switched, too; what pushes is held for the steps that follow

A place that switches without end at one instant ends the run: its force is too stiff for the steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.contact_impacts import ContactImpact
from haugmbd.errors import SimulationError
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.event_location import SHORTEST
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Problem
from haugmbd.integrators.watches.event_watch import NO_EVENTS, EventWatch
from haugmbd.simulation.stepping.switches.stop_events import StopEvents
from haugmbd.simulation.stepping.switches.switch_events import SwitchEvent, SwitchPlaces
from haugmbd.simulation.stepping.switches.touch_events import TouchEvents

SAME = 1e-12
"""Relative to |t| + 1 s: an event nearer to one of its own than this, across a restart, is the same one."""
MOST_AT_ONCE = 40
"""Times that a contact or stop may switch at one instant, beside once for each other one; more have no end."""


class Switching:
    """The places of one run that switch, if its model has any.

    logs: whether impacts of contacts are noted, of a run that does not store every step
    waiting: the states behind switches, from which the run has not restarted yet
    """

    def __init__(self, problem: Problem, method: Integrator, *, logs: bool) -> None:
        space = problem.state_space
        model = space.model if isinstance(space, MaximalStateSpace) else None
        holds = method.stops_at_kinks and not method.one_step
        self.problem, self.step = problem, method.step
        self.touches = TouchEvents(model, holds=holds, logs=logs) if model is not None and model.has_contacts else None
        self.stops = None if model is None or not model.has_stops else StopEvents.of(model, kinks=method.stops_at_kinks)
        self.kinds = [one for one in (self.touches, self.stops) if one is not None]
        self.watch: EventWatch = SwitchPlaces(problem.y.size, self.kinds).watch if self.kinds else NO_EVENTS
        self.waiting: list[Array] = []
        self._restarts: list[float] = []
        self._most_at_once = MOST_AT_ONCE + sum(len(one.rows) for one in self.kinds)

    def events(self) -> tuple[SwitchEvent, ...]:
        """Return the events of all places."""
        return tuple(event for one in self.kinds for event in one.events())

    def start(self, before: Switching | None = None) -> list[EventRecord]:
        """Let what touches or pushes at the start do so, and write touch speeds to the state of the problem.

        before: of the run that this one continues; return the records of what was not switched there
        """
        p = self.problem
        if self.touches is not None:
            self.touches.start(p.t, p.y, p.pack)
        if self.stops is not None:
            self.stops.start(p.y, p.pack)
        if before is None:
            return []
        state = p.state_space.state(p.t, p.y.copy())
        names = [
            f"{name}: {'touch' if now else 'release'}"
            for one, other in zip(self.kinds, before.kinds, strict=True)
            for name, was, now in zip(one.plain_names, other.touching, one.touching, strict=True)
            if was != now
        ]
        return [EventRecord(name, p.t, state) for name in names]

    def add_steps(self, last: tuple[Array, Array, Array], batch: StepBatch) -> None:
        """Add the steps of a batch to the impacts, before any place is switched.  last: time, state and rates before it"""
        if self.touches is not None and self.touches.adds_steps and len(batch.t):
            self.touches.add_steps(*(np.concatenate(pair) for pair in zip(last, batch[:3], strict=True)))

    def at_events(self, events: Sequence[SwitchEvent], t: float, y: Array) -> list[EventRecord]:
        """Switch the places of events of one instant at the state y (ny,), to which touch speeds are written; return the records."""
        records: list[EventRecord] = []
        for kind in self.kinds:
            numbers = [event.number for event in events if event.switches is kind]
            records += kind.switch(numbers, t, y) if numbers else []
        self.waiting.append(y)
        return records

    def across(self, t: float, y: Array) -> list[EventRecord]:
        """Switch the places that are beyond their events at the end of a batch in which no event was found; return the records."""
        if not self.kinds:
            return []
        y = y.copy()
        records = [] if self.touches is None else self.touches.follow(t, y)
        switched = bool(records)
        if self.stops is not None and (beyond := self.stops.across(y)).any():
            records, switched = records + self.stops.follow(beyond, t, y), True
        if switched:
            self.waiting.append(y)
        return records

    def restart(self, t: float) -> list[EventRecord]:
        """Let the problem continue from the last state behind a switch; switch others at the same instant, and return their records."""
        p, records = self.problem, []
        p.t, p.y[:] = t, self.waiting.pop()
        if self.touches is not None:
            records += self.touches.switch((), t, p.y)
            self.touches.hold(p.pack)
        if self.stops is not None:
            records += self.stops.follow(self.stops.across(p.y), t, p.y)
            self.stops.hold(p.pack)
        return records

    def need_progress(self, t: float, last: str) -> None:
        """Raise SimulationError if places switch without end at one instant, because steps leap through them.

        last: the name of the last event
        """
        self._restarts = [*self._restarts[1 - self._most_at_once :], t]
        if len(self._restarts) == self._most_at_once and t - self._restarts[0] <= SHORTEST * (1.0 + abs(t)):
            steps = "a smaller rtol" if self.step is None else f"a much smaller h than {self.step:.3g} s, or rtol="
            raise SimulationError(
                f"{last.rpartition(': ')[0]} touches and is released without end at t = {t:.9g} s: its force is too stiff. Give {steps}."
            )

    def without_known(self, records: list[EventRecord], known: list[EventRecord]) -> list[EventRecord]:
        """Return the events without those that were recorded at the instant of a switch, where the run has restarted."""
        if not self.kinds:
            return records
        before = [(one.name, one.t) for one in known]
        return [one for one in records if not any(n == one.name and one.t - t <= SAME * (1.0 + abs(t)) for n, t in before)]

    def impacts(self) -> tuple[ContactImpact, ...] | None:
        """Return the impacts of compliant contacts that were noted; None if they follow from the states."""
        log = None if self.touches is None else self.touches.log
        return None if log is None else log.impacts()
