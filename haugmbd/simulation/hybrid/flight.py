r"""Flights: smooth segments of a motion with impacts in which all contacts are open; compiled code searches for the next impact.

    step       of an explicit Runge-Kutta method, as in `runge_kutta`
    look       gap > 0 of every contact at the end and in the middle of the step, and no gap that turns towards zero between them
    locate     the first zero of a gap, as `event_location` does, with the same operations in the same order:
               Brent's method on dense output, then  t <- t - g(step(t)) / g_dot  on steps that end there

A flight makes no object per step or contact, and one workspace serves all of them. It is for what needs nothing between the steps:
contacts with planes and stops of joint coordinates, steps of fixed length with a projection, all of them stored, or each n-th, or states
at given times, and no sensor, friction or compliant contact. Events of the user are searched in the steps that were made. A flight that
meets anything else (a gap that may close and open within a step, a zero that is not found by corrections, a joint that turns too far, an
event that ends the run) is given up, and the loop of `stepping.run` makes its segment from the start.
Source: Brent, Algorithms for Minimization without Derivatives (1973), ch. 4.
"""

from __future__ import annotations

import time
from math import floor
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.gap import BODY_I, COLUMN, KIND, PLANE, THIRD, GapTable, gap_of, gap_rate_of
from haugmbd.diagnostics.contact_warnings import unilateral_joints
from haugmbd.diagnostics.run_warnings import LARGEST_GAP, Outcome, RunStatus, TurnMonitor, end_of_run, violation_notes
from haugmbd.diagnostics.turns import TurnCounter
from haugmbd.impacts.contact_modes import ContactModes
from haugmbd.impacts.single_impact import SingleImpacts
from haugmbd.integrators.compiled_location import (
    Motion,
    Search,
    Step,
    location,
    new_search,
    put_bracket,
    turns_to_zero,
)
from haugmbd.integrators.dense_output import cubic_value, put_body
from haugmbd.integrators.event_location import EventLocator, Moment, Need
from haugmbd.integrators.events import Event, EventRecord
from haugmbd.integrators.explicit.runge_kutta import LEFT, RungeKutta, make_step
from haugmbd.integrators.singularities.singularity_search import may_be_singular
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import StepBatch, growing_lengths
from haugmbd.integrators.step_context import Point, Problem, Steps, copy_options, steps_to
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.integrators.watches.stiffness_watch import new_watch
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.driver_breaks import driven_joints
from haugmbd.model.inspection.row_gaps import largest_gap
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.hybrid.contact_events import CLEAR, NEARER
from haugmbd.simulation.results.records import Recorded, counters_of_steps
from haugmbd.simulation.run_options import NEWTON_EULER, Recording, RunMethods
from haugmbd.simulation.sensor import SensorRecorder
from haugmbd.simulation.stepping.run import FIRST_BATCH
from haugmbd.simulation.stepping.state_memory import need_memory_for_states
from haugmbd.simulation.stepping.stored_states import Selection, StoredStates
from haugmbd.simulation.stepping.wanted_times import WantedTimes
from haugmbd.system.checks.constraint_residuals import has_branches
from haugmbd.system.checks.function_ranges import has_ranges
from haugmbd.system.checks.known_turns import DRIFTED, counts_turns, gaps_beyond

SIZE, BELOW, START_RATE = range(3)
"""Columns of the law of a contact: its size, how far its gap may go below zero, and its rate [m/s] at the start of the flight if it has
just bounced, 0 otherwise."""
FLIES, MEETS, UNDECIDED = range(3)
"""What steps end with: nothing, an impact, or a step that the loop of a run has to search."""
SMALL_ARRAY = 16_000
"""Numbers of the states of the first part of a flight, at most: larger arrays are pages that the system has to clear, for steps that the
next impact may leave out."""


class Watched(NamedTuple):
    """The contacts of a flight.  law: (k, 3), see SIZE;  since: its start [s]"""

    table: GapTable
    law: Array
    since: float


@kernel
def value_at(w: Watched, k: int, t: float, y: Array) -> float:
    """Return g of contact k at a state: its gap plus what it may go below zero, or the quotient of one that has bounced."""
    gap = gap_of(w.table, k, y)
    if w.law[k, START_RATE] > 0.0:
        return gap / (t - w.since) if t > w.since else w.law[k, START_RATE]
    above: float = gap + w.law[k, BELOW]
    return above


@kernel
def put_between(w: Watched, k: int, t: float, step: Step, out: Array) -> None:
    """Write the bodies of contact k at a time within a step, by dense output."""
    h = step.t_1 - step.t_0
    s = (t - step.t_0) / h
    for side in range(2):
        body = w.table.places[k, BODY_I + side]
        a, b = WIDTH * body, WIDTH * (body + 1)
        if body == 0:
            for n in range(WIDTH):
                out[n] = step.y_0[n]
        else:
            put_body(s, h, step.y_0[a:b], step.y_dot_0[a:b], step.y_1[a:b], step.y_dot_1[a:b], out[a:b])
    c = w.table.places[k, COLUMN]
    if c > 0:
        out[c] = cubic_value(s, h, step.y_0[c], step.y_dot_0[c], step.y_1[c], step.y_dot_1[c])


@kernel
def on_dense_output(w: Watched, k: int, after: float, step: Step, out: Array) -> float:
    """Return g of contact k at a time after the start of a step, on dense output."""
    t = step.t_0 + after
    put_between(w, k, t, step, out)
    return value_at(w, k, t, out)


@kernel
def may_leap(w: Watched, k: int, step: Step, search: Search) -> bool:
    """Return whether contact k may be closed and open again within a step, unseen at its ends and in its middle."""
    below = w.law[k, BELOW]
    before, middle, after = search.gaps[0, k] + below, search.gaps[1, k] + below, search.gaps[2, k] + below
    slope, curvature = 0.5 * (after - before), before - 2.0 * middle + after
    least = min(before, middle, after)
    if not (least > 0.0 and curvature > 0.0 and abs(slope) <= curvature):
        return False
    nearer: bool = middle - 0.5 * slope * slope / curvature < NEARER * least
    return nearer


@kernel
def falls_and_rises(h: float, gap: float, rate: float, gap_after: float, rate_after: float) -> bool:
    """Return whether a gap above zero at both ends of a time h may be below it between them, as `leaps.falls_and_rises`."""
    if not (rate < 0.0 and rate_after > 0.0 and gap > 0.0 and gap_after > 0.0):
        return False
    return gap + rate * ((gap_after - gap - rate_after * h) / (rate - rate_after)) <= 0.0


@kernel
def leaps(w: Watched, k: int, step: Step, search: Search) -> bool:
    """Return whether the tangents of the gap of contact k meet below zero in one of the halves of a step."""
    below, h = w.law[k, BELOW], 0.5 * (step.t_1 - step.t_0)
    put_between(w, k, 0.5 * (step.t_0 + step.t_1), step, search.halfway)
    before, middle, after = search.gaps[0, k] + below, search.gaps[1, k] + below, search.gaps[2, k] + below
    rate = gap_rate_of(w.table, k, search.halfway)
    first = falls_and_rises(h, before, gap_rate_of(w.table, k, step.y_0), middle, rate)
    return first or falls_and_rises(h, middle, rate, after, gap_rate_of(w.table, k, step.y_1))


STEEP, BENT = 5.0 / 32.0, 1.0 / 64.0
"""x_half = (x0 + x1) / 2 + STEEP h (x0' - x1') + BENT h^2 (x0'' + x1''), of the quintic of `dense_output`."""
FAR = 4.0
"""Gaps at both ends of a step that are larger than so many changes towards its middle are open there, and their parabola has no zero."""


@kernel
def is_far(w: Watched, k: int, step: Step, before: float, after: float) -> bool:
    """Return whether a gap from a plane of the ground is so large at both ends of a step that it cannot close in it."""
    if w.table.places[k, KIND] != PLANE or w.table.places[k, BODY_I] != 0:
        return False
    h, j = step.t_1 - step.t_0, WIDTH * w.table.places[k, BODY_I + 1]
    change, turned, reach = 0.0, 0.0, 0.0
    for a in range(3):
        v, r = j + VELOCITY + a, j + OMEGA_BAR + a
        change += abs(STEEP * h * (step.y_0[v] - step.y_1[v]) + BENT * h * h * (step.y_dot_0[v] + step.y_dot_1[v]))
        turned += h * (abs(step.y_0[r]) + abs(step.y_1[r])) + h * h * (abs(step.y_dot_0[r]) + abs(step.y_dot_1[r]))
        reach += abs(w.table.numbers[k, THIRD + a])
    return min(before, after) > FAR * (change + reach * turned)


@kernel
def put_brackets(w: Watched, step: Step, search: Search) -> int:
    """Write where gaps close in a step, sorted by their secants; return the number of brackets, -1 if a gap may close and open unseen."""
    m, half = 0, 0.5 * (step.t_0 + step.t_1)
    for k in range(w.table.places.shape[0]):
        size, below = CLEAR * w.law[k, SIZE], w.law[k, BELOW]
        search.gaps[2, k] = gap_of(w.table, k, step.y_1)
        if search.gaps[0, k] > size and search.gaps[2, k] > size and is_far(w, k, step, search.gaps[0, k], search.gaps[2, k]):
            continue
        put_between(w, k, half, step, search.halfway)
        search.gaps[1, k] = gap_of(w.table, k, search.halfway)
        if may_leap(w, k, step, search) and leaps(w, k, step, search):
            return -1
        least = min(search.gaps[0, k], search.gaps[1, k], search.gaps[2, k])
        if least + below > size:
            continue
        g_0, g_half, g_1 = (
            value_at(w, k, step.t_0, step.y_0),
            value_at(w, k, half, search.halfway),
            value_at(w, k, step.t_1, step.y_1),
        )
        middle, end = half - step.t_0, step.t_1 - step.t_0
        if g_0 > 0.0 >= g_half:
            m = put_bracket(search, m, k, 0.0, middle, g_0, g_half)
        if g_half > 0.0 >= g_1:
            m = put_bracket(search, m, k, middle, end, g_half, g_1)
        if g_0 > 0.0 and g_half > 0.0 and g_1 > 0.0 and turns_to_zero(0.0, middle, end, g_0, g_half, g_1):
            return -1
    return m


first_zero, put_met = location(value_at, on_dense_output)


@released
def fly_entry(
    m: Motion, w: Watched, t0: float, h: float, point: Point, steps: Steps, search: Search, met: Array
) -> tuple[int, int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or to the first impact, which ends the last step.

    met: (k,) times of the contacts that meet there, infinite before
    Return the code, the number of steps done, and FLIES, MEETS or UNDECIDED.
    """
    for k in range(w.table.places.shape[0]):
        search.gaps[0, k] = gap_of(w.table, k, point.y)
    for number in range(steps.y.shape[0]):
        copy_line(point.y, search.start[0])
        copy_line(point.y_dot, search.start[1])
        t, end = steps.t[number - 1] if number > 0 else t0, steps.t[number]
        code = make_step(m.dynamics, m.options, m.tableau, m.notes, t, end, h, point, m.k, steps.y[number], steps.y_dot[number])
        if code != OK:
            return code, number, UNDECIDED
        step = Step(t, end, search.start[0], search.start[1], steps.y[number], steps.y_dot[number])
        n = put_brackets(w, step, search)
        if n < 0:
            return OK, number, UNDECIDED
        if n > 0:
            zero = first_zero(m, w, n, step, search)
            if not zero > t:
                return OK, number, UNDECIDED
            put_met(w, n, zero, step, search, met)
            steps.t[number] = zero
            copy_line(search.first[0], steps.y[number])
            copy_line(search.first[1], steps.y_dot[number])
            return OK, number + 1, MEETS
        for k in range(search.gaps.shape[1]):
            search.gaps[0, k] = search.gaps[2, k]
    return OK, steps.y.shape[0], FLIES


fly = DirectCall(fly_entry)


@once_per_model
def suits(model: Model) -> bool:
    """Return whether a model has nothing between its steps that a flight does not look at."""
    callbacks = model.force_callbacks
    called = callbacks.any and not callbacks.compiled
    switches = model.has_contacts or model.has_stops or may_stick(model) or bool(unilateral_joints(model))
    drives = bool(driven_joints(model)) or has_branches(model) or has_ranges(model)
    return not (called or switches or drives or model.network is not None or may_be_singular(model))


class Flown(NamedTuple):
    """A flight: what it records, without events; the contacts that meet at its end, by their times there, and the state there.

    counted: joint angles that have been counted to its end, None where every step is stored;  events: of the user
    """

    recorded: Recorded
    met: list[tuple[float, str]]
    state: State
    counted: Array | None
    events: list[EventRecord]


class _Seen:
    """The events of the user in a flight.  start: time, state and rates, (1, .) each"""

    def __init__(self, events: tuple[Event, ...], problem: Problem, method: RungeKutta, need: Need, start: Ends) -> None:
        self.records: list[EventRecord] = []
        self.locator = EventLocator(events, problem, method, need) if events else None
        if self.locator is not None:
            self.locator.start(_moment(start))

    def look(self, last: Ends, batch: StepBatch) -> bool:
        """Record the events in steps behind the last state; return whether the flight goes on: no event ends it, and no function fails."""
        if self.locator is None:
            return True
        try:
            _, records, ended = self.locator.cut(_moment(last), batch)
        except Exception:  # noqa: BLE001  the loop of a run tells it, with the result so far
            return False
        self.records += sorted(records, key=lambda record: record.t)
        return not ended

    def end(self, last: Ends) -> bool:
        """Record the events whose zero is at the end of the flight; return whether the flight may end there."""
        if self.locator is None:
            return True
        try:
            self.records += self.locator.end(_moment(last), self.records)
        except Exception:  # noqa: BLE001  as above
            return False
        return not self.locator.ending


Ends = tuple[Array, Array, Array]


def _moment(last: Ends) -> Moment:
    """Return the moment of time, state and rates, (1, .) each."""
    return Moment(float(last[0][0]), last[1][0], last[2][0])


class _StepsMade:
    """The steps of a flight so far.

    t, y: times and states, part by part;  last: time, state and rates, (1, .) each;  number: of steps
    """

    def __init__(self, first: Ends, turns: TurnMonitor, seen: _Seen, stored: StoredStates | None) -> None:
        self.t, self.y, self.last, self.number = [first[0]], [first[1]], first, 0
        self.turns, self.seen, self.stored = turns, seen, stored

    def add(self, batch: StepBatch, t_end: float) -> bool:
        """Add steps, and what is stored of them; return whether the flight goes on;  t_end: of the flight [s]"""
        self.t.append(batch.t)
        self.y.append(batch.y)
        self.turns.observe(batch.t, batch.y)
        if not self.seen.look(self.last, batch):
            return False
        if self.stored is not None:
            self.stored.add(self.last, batch, self.number, t_end, calls_follow=False)
        self.last, self.number = (batch.t[-1:], batch.y[-1:], batch.y_dot[-1:]), self.number + batch.accepted
        return True


def _with_stored(flown: Flown, stored: StoredStates, last: Ends) -> Flown:
    """Return a flight with the states that are stored of its steps, in place of all;  last: time, state and rates at its end"""
    states = stored.found(last)
    recorded = flown.recorded._replace(t=states.t, y=states.y, turns=states.turns)
    return flown._replace(recorded=recorded, counted=None if stored.counter is None else stored.counter.last)


class Flights:
    """The flights of one motion, in one workspace."""

    def __init__(
        self,
        model: Model,
        names: tuple[str, ...],
        table: GapTable,
        method: RungeKutta,
        rule: Projection,
        t_end: float,
        recording: Recording,
    ) -> None:
        self.model, self.names, self.method, self.rule, self.t_end = model, names, method, rule, t_end
        self.recording, self._selects = recording, recording.times is not None or recording.every > 1
        self.space = MaximalStateSpace(model)
        self.pack = NEWTON_EULER.pack(model)
        self.problem = rule.problem(self.space, self.pack, 0.0, np.zeros(model.y0.size))
        self.table, self.search = table, new_search(len(names), model.y0.size)
        self._law, self._met = np.zeros((len(names), 3)), np.empty(len(names))
        self._k1 = np.zeros(model.y0.size)
        self._counts_turns, self._silent = counts_turns(model), new_watch(np.zeros(0, dtype=np.int64), model.y0.size)
        self._dynamics, self._options = self.problem.dynamics, rule.options()
        self._cpu, self._has_memory = time.process_time(), False

    def next(
        self, state: State, rates: Array, below: Array, sizes: Array, counted: Array | None, events: tuple[Event, ...]
    ) -> Flown | None:
        """Return the flight from a state to the next impact, or to the end of the motion; None if the loop of a run has to make it.

        rates: (k,) of the gaps of contacts that have just bounced, 0 of others;  below: (k,) how far gaps may go below zero;  sizes: (k,)
        counted: joint angles that have been counted so far, where not every step is stored;  events: of the user
        """
        self._begin(state)
        self._law[:, SIZE], self._law[:, BELOW], self._law[:, START_RATE] = sizes, below, rates
        self._met.fill(np.inf)
        p = self.problem
        if p.post_step(self.pack, p.options, state.t, p.y, self._k1) != OK:
            return None
        first = (np.array([state.t]), p.y[None].copy(), self._k1[None].copy())
        stored = self._stored(state.t)
        if stored is not None:
            stored.begin(first, counted)
        seen = _Seen(events, p, self.method, self._need, first)
        turns = TurnMonitor(*self.space.spinning())
        turns.start(*first[:2])
        made = _StepsMade(first, turns, seen, stored)
        ending = self._make_steps(float(state.t), made)
        if ending is None:
            return None
        flown = self._flown(np.concatenate(made.t), np.concatenate(made.y), turns, *ending)
        if flown is None or not seen.end(made.last):
            return None
        flown = flown._replace(events=seen.records)
        return flown if stored is None else _with_stored(flown, stored, made.last)

    def _begin(self, state: State) -> None:
        """Let the problem begin with a state; raise an error, once, if the states of the motion do not fit into the memory."""
        p = self.problem
        if not self._has_memory:
            assert self.method.h is not None
            need_memory_for_states((self.t_end - state.t) / self.method.h, p.y.size)
            self._has_memory = True
        p.t, p.y[:], p.options, p.watched = state.t, state.flat, copy_options(self._options), None

    def _make_steps(self, t: float, made: _StepsMade) -> tuple[bool, bool] | None:
        """Make steps from t [s] to the next impact, or to the end of the motion; None if the loop of a run has to make them.

        Return whether a contact meets at their end, and whether Ctrl-C has ended them.
        """
        p, tableau = self.problem, self.method.tableau
        watch = p.stiffness(bool(tableau.b.size > 1 and tableau.c[-1] == 1.0))
        motion = Motion(self._dynamics, p.options, tableau, p.stages(tableau.b.size - 1), watch, self._silent)
        watched, what = Watched(self.table, self._law, t), FLIES
        try:
            for begin, h, ends in self._parts(t):
                steps = steps_to(ends, p.y.size)
                code, done, what = fly(motion, watched, begin, h, Point(p.y, self._k1), steps, self.search, self._met)
                if code != OK or what == UNDECIDED:
                    return None
                end = float(steps.t[done - 1])
                batch = StepBatch(steps.t[:done], steps.y[:done], steps.y_dot[:done], OK, end, done, 0)
                if not made.add(batch, end if what == MEETS else self.t_end):
                    return None
                if what == MEETS:
                    break
        except KeyboardInterrupt:
            return what == MEETS, True
        return what == MEETS, False

    def _stored(self, t: float) -> StoredStates | None:
        """Return what stores the states of a flight from t on, where not every step is stored."""
        if not self._selects:
            return None
        r, p = self.recording, self.problem
        wanted = None if r.times is None else WantedTimes(r.times[r.times > t], p, self.method, self._need)
        selection = Selection(r.every, wanted, wanted is not None)
        return StoredStates(selection, p.y.size, SensorRecorder((), self.space.state), TurnCounter(self.model), None, 0)

    def _need(self, code: int, t: float) -> None:
        """Raise the error of a code that is not OK."""
        if code != OK:
            raise self.space.error(self.pack, code, t)

    def _parts(self, t: float) -> Any:
        """Yield start, length and ends of the steps from t to the end of the motion, part by part, as `OneStep.batches` makes them."""
        h = self.method.h
        assert h is not None
        full = floor((self.t_end - t) / h * (1.0 + 1e-12))
        rest, done = self.t_end - t - full * h, 0
        most = growing_lengths(max(1, min(FIRST_BATCH, SMALL_ARRAY // self.problem.y.size)), 1000)
        while done < full:
            n = min(next(most), full - done)
            ends: Array = t + h * np.arange(done + 1, done + 1 + n, dtype=np.float64)
            if done + n == full and rest <= LEFT * h:
                ends[-1] = self.t_end
            yield t + done * h, h, ends
            done += n
        if rest > LEFT * h:
            yield t + full * h, rest, np.array([self.t_end])

    def _flown(self, t: Array, y: Array, turns: TurnMonitor, meets: bool, interrupted: bool) -> Flown | None:
        """Return the flight of these states; None if one of them is doubtful."""
        if self._counts_turns and gaps_beyond(self.model, y, DRIFTED) is not None:
            return None
        gap = largest_gap(self.pack, self.model.length)[0] if self.model.nc else 0.0
        before, self._cpu = self._cpu, time.process_time()  # since the flight before, with the impact between them
        joint = self.space.worst_gap(self.pack)[1] if gap > LARGEST_GAP else ""
        counters = counters_of_steps(len(t) - 1, 0, self.problem.options, self._cpu - before)
        met = sorted((float(self._met[k]), k) for k in np.flatnonzero(self._met < np.inf).tolist()) if meets else []
        meeting, now = [(when, self.names[k]) for when, k in met], float(t[-1])
        status = RunStatus.INTERRUPTED if interrupted else RunStatus.TERMINAL_EVENT if meeting else RunStatus.COMPLETED
        ended_by = f"{meeting[0][1]} meets" if meeting else ""
        end = now if meeting else self.t_end
        message = end_of_run(status, f"at t = {now:.9g} s", end, budget=None, ended_by=ended_by)
        outcome = Outcome(status, message, (*turns.notes(fixed=True), *violation_notes(gap, joint, now)))
        recorded = Recorded(t, y, None, None, None, {}, counters, outcome, (), (), 0.0, None, self.problem.watched)
        last = y[-1].copy()
        return Flown(recorded, meeting, State.from_y(now, last, self.model.nb + 1, flat=last), None, [])


def flights_of(
    contacts: ContactModes, methods: RunMethods, rule: Stabilization, t_end: float, recording: Recording
) -> Flights | None:
    """Return the flights of a motion; None for parts or methods that need the loop of a run."""
    method, table = methods.integrator, contacts.table
    if not (isinstance(method, RungeKutta) and method.h_first is None and isinstance(rule, Projection)) or table is None:
        return None
    if methods.formulation is not NEWTON_EULER or not suits(contacts.free):
        return None
    return Flights(contacts.free, contacts.names, table, method, rule, t_end, recording)


def single_impacts_of(contacts: ContactModes) -> SingleImpacts | None:
    """Return the impacts of single contacts in compiled code; None where joints have friction or may only push, or a gap is no kernel."""
    return SingleImpacts(contacts.free, contacts.table) if contacts.table is not None and suits(contacts.free) else None
