r"""The simulation of a motion with impacts: smooth segments, and transitions between them.

    segment      the equations of motion with the closed contacts as rows, until an open contact meets or a closed one would pull
    transition   for all contacts that touch:   velocities jump, by `impulse`, if one of them approaches
                                                contacts at rest close, and those that pull open, by `resting_contacts`
                 every contact that meets or opens in it is an event, whichever of them has ended the segment

A cascade of bounces ends because the bounces get lower; the first one that is too low closes the contact.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.gap import rate_of_gap
from haugmbd.diagnostics.contact_warnings import LIFT_OFF, deep_contact_notes, lift_off_events, pulls_of
from haugmbd.diagnostics.joint_coordinates import CountedCoordinate, counting_turns
from haugmbd.diagnostics.reaction_signals import bind, rebind, with_signals
from haugmbd.diagnostics.run_warnings import RunNote, RunStatus, end_of_run, joined, status_at_end
from haugmbd.drivers.driver import Constant
from haugmbd.errors import SimulationError, UsageError, error_text
from haugmbd.impacts.contact_modes import ContactModes
from haugmbd.impacts.impact import Impact
from haugmbd.impacts.impulse import solve_impulse
from haugmbd.impacts.impulse_arguments import read_arguments
from haugmbd.impacts.impulse_result import Impulse
from haugmbd.impacts.single_impact import SingleImpact
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.events import Event, EventRecord, read_events
from haugmbd.integrators.initial_state import projected
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.integrators.stick_slip.slips import modes_of, slip_records, slips_at_opening, slips_by_impact
from haugmbd.math.blas_threads import one_blas_thread
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import check_friction
from haugmbd.simulation.hybrid.contact_events import LEAN, MEETS, OPENS, TOUCH, contact_events
from haugmbd.simulation.hybrid.flight import flights_of, single_impacts_of
from haugmbd.simulation.hybrid.resting_contact import NO_CONTACTS, approach, flies, resting_contacts
from haugmbd.simulation.hybrid.user_events import events_from, jumps, reached
from haugmbd.simulation.recorded_result import ResultMaker, has_large_matrices, settings_of
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.results.records import Recorded
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.segments import at_times
from haugmbd.simulation.run_options import Recording
from haugmbd.simulation.run_task import RunTask
from haugmbd.simulation.sensor import SensorRecorder, all_sensors
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.simulation.stepping.run import Run

CLOSED_STEPS = 200
"""While a contact is closed, an adaptive step is at most the whole interval divided by this number.  The error control does not see the
force of a closed contact, because it does not move anything."""
LAST = 1e-12
"""Relative to |t| + 1 s: the interval left when the simulation is complete; integrators make no such step."""


def run_with_contacts(task: RunTask, contacts: Sequence[Contact]) -> Result:
    """Return the result of a motion with rigid contacts, as `run_system` of a smooth one."""
    model = task.model
    delays = () if model.network is None else model.network.delays
    if delays:
        names = ", ".join(block.where for block in delays)
        raise UsageError(
            f"a run with impacts does not take {names}: a jump of the velocities would come back after the delay, inside a step. "
            "Leave it out, make the stop compliant (k=, c=), or simulate without impacts."
        )
    modes, output = ContactModes(model, contacts), task.output
    events = with_signals(model, read_events(output.events))
    recording = Recording(task.times, output.store_every, events, () if task.repeats else all_sensors(model, output.sensors))
    if not task.repeats:
        check_friction(model, task.integrator)
        task = task.checked()
        modes.need_apart(task.start)
    with Progress(output.progress, task.start.t, task.t_end) as bar:
        return HybridSimulation(task, modes, recording).run(task.start, bar)


class HybridSimulation:
    """One motion with impacts in progress: the segments and impacts so far."""

    def __init__(self, task: RunTask, mechanism: ContactModes, recording: Recording) -> None:
        self.task, self.mechanism, self.t_end, self.limits = task, mechanism, task.t_end, task.limits
        self.recording, self.settings = recording, settings_of(task.methods)
        self.sensors = tuple(map(counting_turns, recording.sensors))  # once: turns continue from segment to segment
        self.events = tuple(map(counting_turns, recording.events))
        self.segments: list[Result] = []
        self.impacts: list[Impact] = []
        self.notes: list[RunNote] = []
        self.rest = NO_CONTACTS
        self.h_closed = np.inf
        self.ended_by: Event | None = None
        self.began = time.perf_counter()
        self.exhausted = False
        self._turns: list[tuple[float, str]] = []
        self._jumps: list[EventRecord] = []
        self._jumped: list[Event] = []
        self._run_before: Run[Result] | None = None
        self._start: State | None = None
        self._counted: Array | None = None
        """The joint angles that have been counted to the last segment, where not every step is stored."""
        self.flights = (
            None if self._stops_between_steps() else flights_of(mechanism, task.methods, task.rule, task.t_end, recording)
        )
        self._maker = ResultMaker(
            mechanism.free, task.methods, task.rule, self.settings, recording.times, recording.every, False, task.limits.until
        )
        self._single = single_impacts_of(mechanism)

    def _stops_between_steps(self) -> bool:
        """Return whether the loop of a run has something to do at every step: sensors, what the method solves for, a budget.

        Events that count turns go with the states, which a flight that is given up leaves and comes back to.
        """
        counts = any(isinstance(event.function, CountedCoordinate) for event in self.events)
        return bool(counts or self.recording.sensors or self.task.output.record_method or self.limits.budget is not None)

    def run(self, start: State, bar: Progress) -> Result:
        """Run to the end, to Ctrl-C, or to an error that contains the result so far."""
        self._start = start
        try:
            return self._result(interrupted=self._run(start, bar))
        except KeyboardInterrupt:
            self._keep_start(start)
            return self._result(interrupted=True)
        except Exception as error:
            partial = getattr(error, "result", None)
            if isinstance(partial, Result):
                self.segments.append(partial)
            self._keep_start(start)
            error.result = self._result(interrupted=False, error=error)  # type: ignore[attr-defined]
            raise

    def _keep_start(self, start: State) -> None:
        """Keep the initial state, without a call of sensors, where the run ended before its first segment."""
        if not self.segments:
            t = np.array([start.t])
            sensors = SensorRecorder(self.sensors, MaximalStateSpace(self.mechanism.free).state).histories(t)
            self.segments.append(Result(self.mechanism.free, t, start.y[None].copy(), settings=self.settings, _sensors=sensors))

    def _run(self, state: State, bar: Progress) -> bool:
        """Run segment after segment from `state`; return whether Ctrl-C ended it."""
        self.h_closed = (self.t_end - state.t) / CLOSED_STEPS
        met: tuple[str, ...] = ()
        leaving: frozenset[str] = frozenset()
        while True:
            state, hit = self._turn(state, met, leaving)
            if self.ended_by is not None:
                self.segments.append(self._only(state))
                return False
            flight = self._flight(state, hit, bar)
            if flight is None:
                segment, ended_by = self._piece(state, hit, bar)
                state = segment.state() if len(segment) else state
            else:
                segment, ended_by, state = flight
            self.segments.append(self._before_jump(segment) if ended_by else segment)
            self.mechanism.observe(segment.r)
            if segment.interrupted or self.ended_by is not None or not ended_by or state.t >= self.limits.until:
                return segment.interrupted
            if self.t_end - state.t <= LAST * (1.0 + abs(state.t)):
                return False
            self._count(state.t, segment.events[-1].name)
            self._note(reached(self.events, state, segment.events))
            if self.ended_by is not None:
                self.segments[-1] = replace(segment, events=(*segment.events, *self._jumps))
                return False
            met = tuple(name for name in ended_by if name not in self.rest.closed)
            leaving = frozenset(name for name in ended_by if name in self.rest.closed)

    def _before_jump(self, segment: Result) -> Result:
        """Return a segment whose last state has the values of sampled blocks under which its contacts were closed."""
        before = None if self._run_before is None else self._run_before.before_jump
        return segment if before is None else replace(segment, y=np.vstack([segment.y[:-1], before]))

    def _turn(self, state: State, met: tuple[str, ...], leaving: frozenset[str]) -> tuple[State, set[str]]:
        """Return the state after the jump at `state`, if there is one, and the contacts that have struck; resting contacts are updated.

        met: contacts that touch by an event;  leaving: contacts that would pull
        """
        m = self.mechanism
        near, names = m.gaps(state) <= TOUCH * m.sizes, m.names
        some = {*self.rest.closed, *met, *(names[k] for k in np.flatnonzero(near).tolist())}
        touching = [name for name in names if name in some] if len(some) > 1 else list(some)
        hit: set[str] = set()
        alone = self._struck_alone(state, touching, met) if len(some) == 1 else None
        if alone is not None or approach(m, state, touching):
            after_impact = self._struck(state, touching) if alone is None else alone.impulse
            hit = {name for name, f in after_impact.normal.items() if f > 0.0}
            if hit:
                self.impacts.append(Impact(state.t, after_impact))
                self._note_chain(after_impact)
                occurred, self._jumped = jumps(self.events, state, after_impact.state)
                self._note(occurred)
                state = after_impact.state
                if self._run_before is not None:
                    self._jumps += slips_by_impact(self._run_before.problem, m.free, state)
                pulls = pulls_of(m.free, after_impact.Lam)
                self._jumps += [EventRecord(f"{name}: {LIFT_OFF}", state.t, state) for name in pulls]
        before = self.rest
        self.rest = NO_CONTACTS if alone is not None else resting_contacts(m, state, touching, leaving)
        self._jumps += self._with_others(state, before.held, hit, {*met, *leaving})
        self._forget_openings(leaving & self.rest.held)
        if set(self.rest.closed) - set(before.closed):
            model = m.model(self.rest.closed, state)
            state = projected(model, model.pack(), state)
        return state, hit

    def _forget_openings(self, names: frozenset[str]) -> None:
        """Remove the last event of contacts that others hold: they do not open, but carry their load in another way."""
        if names:
            last, whats = self.segments[-1], {f"{name} {OPENS}" for name in names}
            kept = tuple(event for event in last.events if event.name not in whats or event.t < last.t[-1])
            self.segments[-1] = replace(last, events=kept)

    def _note_chain(self, impulse: Impulse) -> None:
        """Note the first impact through closed contacts, and the first whose result is doubtful."""
        text, doubtful = impulse._chain
        if text and not any(note.doubtful >= doubtful for note in self.notes):
            self.notes.append(RunNote("chain", text, doubtful=doubtful))

    def _with_others(self, state: State, held: frozenset[str], hit: set[str], named: set[str]) -> list[EventRecord]:
        """Return the events of the contacts that meet or open at the instant of others; those at the start of the motion are none.

        held: those that did not open before;  hit: those that have struck;  named: those with an event of their own
        """
        if not self.segments:
            return []
        meets = (hit | self.rest.held) - held - named
        opens = held - self.rest.held - named
        if not (meets or opens):
            return []
        whats = [f"{name} {what}" for name in self.mechanism.names for what in _what(name in meets, name in opens)]
        return [EventRecord(what, state.t, state) for what in whats]

    def _note(self, occurred: list[tuple[Event, EventRecord]]) -> None:
        """Record events at an impact; one that is terminal ends the motion."""
        self._jumps += [record for _, record in occurred]
        self.ended_by = next((event for event, _ in occurred if event.terminal), self.ended_by)

    def _struck(self, state: State, touching: list[str]) -> Impulse:
        """Return the impulses of the contacts that touch.  Raise SimulationError if there is no solution."""
        m = self.mechanism
        try:
            return solve_impulse(
                read_arguments(m.free, state, (), [m.contacts[name] for name in touching], (), False, self.task.methods.impact)
            )
        except UsageError as error:
            raise SimulationError(f"the impact at t = {state.t:.9g} s has no solution: {error}{_prescribed(m.free)}") from error

    def _struck_alone(self, state: State, touching: list[str], met: tuple[str, ...]) -> SingleImpact | None:
        """Return the impact of the one contact that touches, and that flies behind it; None for anything else."""
        m = self.mechanism
        if self._single is None or len(met) != 1 or self.rest.closed or touching != list(met):
            return None
        k, placed = m.names.index(met[0]), m.placed[met[0]]
        impact = self._single.of(placed, k, state)
        return impact if impact is not None and flies(impact, float(m.sizes[k])) else None

    def _flight(self, state: State, hit: set[str], bar: Progress) -> tuple[Result, tuple[str, ...], State] | None:
        """Return the segment from `state` in which all contacts are open, those that meet at its end, and the state there.

        None where `_piece` has to make it.
        """
        m = self.mechanism
        if self.flights is None or self.rest.closed:
            return None
        gaps = m.gaps(state)
        flying = np.zeros(len(gaps))
        for k in (m.names.index(name) for name in hit - self.rest.still):
            flying[k] = rate_of_gap(self.flights.table, k, state.flat)
            if not flying[k] > 0.0:
                return None
        sizes = m.sizes
        rests = (gaps <= TOUCH * sizes) & (flying == 0.0)
        below = np.where(rests, np.maximum(LEAN * sizes, -2.0 * gaps), 0.0)
        events = self._begun(state)
        if events:
            bind(m.free)
            rebind(m.free, self.events)
        flown = self.flights.next(state, flying, below, sizes, self._counted, events)
        if flown is None:
            return None
        records = [EventRecord(f"{name} {MEETS}", flown.state.t, flown.state) for _, name in flown.met]
        segment = self._maker.make(flown.recorded, self.flights.pack, (*self._jumps, *flown.events, *records), [], [])
        self._jumps, self._jumped, self._run_before, self._counted = [], [], None, flown.counted
        bar.reach(flown.state.t)
        met = {name for _, name in flown.met}
        return segment, tuple(name for name in m.names if name in met) if len(met) > 1 else tuple(met), flown.state

    def _events(self, model: Model, state: State, hit: set[str]) -> tuple[dict[str, Event], tuple[Event, ...]]:
        """Return the events of the contacts, by name, in the segment from `state`, and all other events."""
        m = self.mechanism
        rate = dict(zip(m.names, m.gap_rates(state), strict=True))
        flying = {name: float(rate[name]) for name in hit - self.rest.still}
        sizes = m.sizes
        near = {
            name: max(LEAN * size, -2.0 * gap)
            for name, gap, size in zip(m.names, m.gaps(state), sizes, strict=True)
            if gap <= TOUCH * size and name not in flying
        }
        contacts = contact_events(model, m.placed, self.rest.closed, flying, near, state.t, sizes)
        return contacts, (*self._begun(state), *lift_off_events(model))

    def _begun(self, state: State) -> tuple[Event, ...]:
        """Return the events of the user in the segment from `state`."""
        return events_from(self.events, state, LEAN * self.mechanism.size, self._jumped) if self.segments else self.events

    def _piece(self, state: State, hit: set[str], bar: Progress) -> tuple[Result, tuple[str, ...]]:
        """Return the smooth segment from `state`, and the contacts whose event ends it."""
        model = self.mechanism.model(self.rest.closed, state)
        bind(model)
        rebind(model, (*self.events, *self.sensors))
        contacts, others = self._events(model, state, hit)
        method = self.task.integrator.limited(self.h_closed) if self.rest.closed else self.task.integrator
        problem = self._problem(model, state, hit)
        record = self._maker_of_piece(model, problem, method, state)
        recording = self._recording_of_piece(model, method, state.t, (*contacts.values(), *others))
        limits = self.limits.after(time.perf_counter() - self.began)
        run = Run(problem, method, self.t_end, recording, record, limits=limits, before=self._run_before, counted=self._counted)
        with one_blas_thread(has_large_matrices(model, self.task.methods.formulation)):
            segment = run.run_under(bar)
        self.exhausted = segment.outcome.status is RunStatus.BUDGET_EXHAUSTED
        self._run_before, self._counted, ending = run, run.counted, run.locator.ending if run.ended else ()
        ended_by = tuple(name for name, event in contacts.items() if any(event is other for other in ending))
        self.ended_by = next((event for event in ending if not event.of_law), None)
        return segment, ended_by

    def _problem(self, model: Model, state: State, hit: set[str]) -> Problem:
        """Return the initial value problem of the segment from `state`; without an impact, joints go on to slip or stick as before."""
        task = self.task
        pack = task.rule.fitted(model, task.methods.formulation.pack(model))
        problem = task.rule.problem(MaximalStateSpace(model), pack, state.t, state.y)
        if self._run_before is not None and not hit:
            problem.slips = slips_at_opening(self._run_before.problem, state)
            problem.modes_before = modes_of(self._run_before.problem)
        return problem

    def _recording_of_piece(self, model: Model, method: Integrator, t: float, events: tuple[Event, ...]) -> Recording:
        """Return what is recorded of the segment from t [s]: of the wanted times those behind it."""
        times = self._times_after(t)
        bodies = model.nb + 1 if self.task.output.record_method and method.lam_at_steps else 0
        return Recording(times, self.recording.every, events, self.sensors, bodies, keeps_ends=times is not None)

    def _times_after(self, t: float) -> Array | None:
        """Return the wanted times behind t [s], None where every so many steps are stored."""
        times = self.recording.times
        return None if times is None else times[times > t]

    def _maker_of_piece(self, model: Model, problem: Problem, method: Integrator, state: State) -> Callable[[Recorded], Result]:
        """Return what makes a segment of the steps from `state`; its events are those of the jump at `state`, and of its steps."""
        t = state.t
        before, self._jumps, self._jumped = tuple(self._jumps), [], []
        deep = [] if self.segments else deep_contact_notes(model, t, state.y)
        maker = replace(
            self._maker,
            model=model,
            methods=replace(self.task.methods, integrator=method),
            times=self._times_after(t),
            record_method=self.task.output.record_method,
        )

        def record(recorded: Recorded) -> Result:
            events = (*before, *slip_records(model, problem.slipped, state), *recorded.events)
            return maker.make(recorded, problem.pack, events, deep, [], _held=tuple(sorted(self.rest.held)))

        return record

    def _only(self, state: State) -> Result:
        """Return a segment of one state, at which an event of an impact ends the motion."""
        model, settings = self.mechanism.model(self.rest.closed, state), self.settings
        y, counter = state.y[None], None if self._run_before is None else self._run_before.stored.counter
        turns = None if counter is None else counter.start(y, counter.last)
        sensors = SensorRecorder(self.sensors, MaximalStateSpace(model).state)
        sensors.record(np.array([state.t]), y)
        histories = sensors.histories(np.array([state.t]))
        return Result(model, np.array([state.t]), y, settings=settings, events=tuple(self._jumps), _sensors=histories, _turns=turns)

    def _count(self, t: float, what: str) -> None:
        """Raise SimulationError if transitions occur more often than the limit."""
        self._turns.append((t, what))
        if len(self._turns) <= self.limits.most:
            return
        recent = self._turns[-int(self.limits.most) - 1 :]
        if t - recent[0][0] >= 1.0:
            return
        often = ", ".join(f"{name!r} {n} times" for name, n in Counter(name for _, name in recent).most_common(3))
        raise SimulationError(
            f"more than {self.limits.most:g} impacts and openings of contacts in a second of simulated time, from t = {recent[0][0]:.9g} s "
            f"to t = {t:.9g} s: {often}. A body bounces faster and faster between others, or a restitution is so close to 1 "
            "that its cascade is long: give a smaller restitution, or a larger most_per_second=."
        )

    def _result(self, interrupted: bool, error: Exception | None = None) -> Result:
        """Return the result so far."""
        now = self.segments[-1].t[-1] if self.segments and len(self.segments[-1]) else None
        at = "at the start" if now is None else f"at t = {now:.9g} s"
        if error is not None:
            status, message = RunStatus.FAILED, error_text(error)
        else:
            status = status_at_end(exhausted=self.exhausted, interrupted=interrupted, ended=self.ended_by is not None)
            name = "" if self.ended_by is None else self.ended_by.name
            message = end_of_run(status, at, self.t_end, budget=self.limits.budget, ended_by=name)
        outcome = joined((segment.outcome for segment in self.segments), status, message).with_notes(self.notes)
        whole = tuple(self.segments)
        sparse = self.recording.times is not None
        return Result.of_segments(
            self.mechanism.free,
            at_times(whole, self.recording.times, LAST) if self.recording.times is not None else whole,
            complete=whole if sparse else (),
            impacts=tuple(self.impacts),
            settings=self.settings,
            interrupted=interrupted,
            outcome=outcome,
            _mechanism=self.mechanism,
            _replays=self._replays(),
            _again=self.task.again,
        )

    def _replays(self) -> tuple[Replay, ...]:
        """Return how the run is made again."""
        start, ends = self._start, [segment.t[-1] for segment in self.segments if len(segment)]
        if start is None or not ends:
            return ()
        exact = self.recording.times is None
        return (Replay(start.t, start.y, self.t_end, float(ends[-1]), self.task.methods, exact, self.limits.most),)


def _what(meets: bool, opens: bool) -> list[str]:
    """Return what a contact does, as in the names of `contact_events`."""
    return [word for word, does in ((MEETS, meets), (OPENS, opens)) if does]


def _prescribed(model: Model) -> str:
    """Return a sentence on the drivers of a model that move, which no impulse stops; "" if there are none."""
    moves = [not isinstance(model.drivers[k], Constant) for k in model.drivers_of_rows()]
    joints = dict.fromkeys(label.joint for label, driven in zip(model.labels, moves, strict=True) if driven)
    if not joints:
        return ""
    names = ", ".join(map(repr, joints))
    return f" Motions are prescribed here by {names}: let them end before a stop, or drive by a force, as a Motor does."
