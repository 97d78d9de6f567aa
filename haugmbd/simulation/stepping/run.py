"""The loop of a simulation: it stores states and events, and attaches the result so far to errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar
from weakref import proxy

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.diagnostics.joint_coordinates import counting_turns
from haugmbd.diagnostics.run_warnings import (
    Outcome,
    RunStatus,
    TurnMonitor,
    end_of_run,
    singular_notes,
    status_at_end,
    violation_notes,
)
from haugmbd.diagnostics.turns import TurnCounter
from haugmbd.drivers.kinks import Break
from haugmbd.errors import HaugmbdError, SimulationError, error_text
from haugmbd.formulations.error_messages import names_singular_position
from haugmbd.integrators.chain_state_space import ChainStateSpace
from haugmbd.integrators.event_location import SHORTEST, EventLocator, Moment, Need
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.singularities.singularity_crossing import crossing_search
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import StepBatch, Stopped
from haugmbd.integrators.step_context import Problem, copy_options, restore_memory
from haugmbd.integrators.stick_slip.slips import SlipsAtJumps
from haugmbd.integrators.stick_slip.stick import batches_with_stick
from haugmbd.model.model import Model
from haugmbd.simulation.results.records import Recorded, counters_of_steps
from haugmbd.simulation.run_options import Recording, RunLimits
from haugmbd.simulation.sensor import SensorRecorder
from haugmbd.simulation.stepping.breaks import SAME_RATES, StateBreaks, StepLengths, TimeBreaks
from haugmbd.simulation.stepping.broken_motions import before_break, with_known_turns
from haugmbd.simulation.stepping.clock import Clock
from haugmbd.simulation.stepping.drift import AngleDrift
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.simulation.stepping.singular_causes import singular_cause, singular_text
from haugmbd.simulation.stepping.state_memory import need_memory_for_states
from haugmbd.simulation.stepping.stored_states import PART, CheckedOutputs, Selection, StoredStates
from haugmbd.simulation.stepping.switches.switch_events import SwitchEvent
from haugmbd.simulation.stepping.switches.switching import Switching
from haugmbd.simulation.stepping.unresolved_chains import failed_chain_text
from haugmbd.simulation.stepping.unresolved_steps import failed_text
from haugmbd.simulation.stepping.wanted_times import WantedTimes

FIRST_BATCH = 8
"""Steps of the first batch of a run that an event may end. Each batch is twice as long, so that few steps are wasted."""
LONGEST_BATCH, BATCHES = 0.1, 20
"""[s] longest time of a batch of a run with a budget, and least number of batches in the budget: by so much it may be exceeded."""

NO_LIMITS = RunLimits()

R = TypeVar("R")


class Run(Generic[R]):
    """The loop of one simulation, with the data stored so far.

    record: makes the result of the data
    limits: its budget, a time [s] after which the run is stopped; and its `until`, from which on the steps are not needed: the run ends
    with the batch that reaches it
    before: the run that this one continues from behind a jump of the velocities, with its turns of joints and calls of sampled blocks
    counted: joint angles that have been counted before, of a run that continues none
    before_jump: the state before the call of a sampled block that ended the run, by the jump of an event
    """

    def __init__(
        self,
        problem: Problem,
        method: Any,
        t_end: float,
        recording: Recording,
        record: Callable[[Recorded], R],
        *,
        limits: RunLimits = NO_LIMITS,
        before: Run[R] | None = None,
        counted: Array | None = None,
    ) -> None:
        self.problem, self.method, self.t_end, self.record, self.before = problem, method, t_end, record, before
        model = problem.state_space.model if isinstance(problem.state_space, MaximalStateSpace) else None
        self.take = recording.take
        self.switching = Switching(problem, method, logs=_skips_steps(recording))
        problem.events = self.switching.watch
        events = (*map(counting_turns, recording.events), *self.switching.events())
        need = partial(Run._need, proxy(self))  # no cycle: its workspace is given back with the run, not when garbage is collected
        self.locator = EventLocator(events, problem, method, need)
        self.records: list[EventRecord] = []
        self.state_breaks = StateBreaks(model, problem, method, need)
        self._bound_batches(limits)
        self.began = time.perf_counter()
        self.steps = self.rejected = 0
        self.started = False
        self.turns = TurnMonitor(*problem.state_space.spinning())
        self.gap = (0.0, "", problem.t)
        self.ended = ""
        self.before_jump: Array | None = None
        self._left_at: float | None = None
        self._counted_before = counted if before is None else before.counted
        self.drift: AngleDrift = AngleDrift(problem.state_space, 0 if before is None else before.drift.since - before.steps)
        self._last = (np.array([problem.t]), problem.y[None].copy(), np.zeros((1, problem.y.size)))
        self.clock, self.lengths = Clock.of(problem, method), StepLengths(problem.t)
        if self.clock is not None and before is not None and before.clock is not None:
            self.clock.called = before.clock.called
        self.stored = self._storage(recording, model, need)
        self.crossings = None if self.clock is None else crossing_search(problem, t_end)
        self.slips = None if self.clock is None else SlipsAtJumps.of(problem)
        self.breaks = TimeBreaks(model, problem.t, t_end, adaptive=method.step is None)
        self.cpu = time.process_time()

    def _bound_batches(self, limits: RunLimits) -> None:
        """Begin with short batches where an event may end the run early, and keep all of them short in a budget."""
        if self.locator.may_end_early or self.state_breaks.functions:
            self.problem.first_batch = FIRST_BATCH
        self.budget, self.exhausted, self.until = limits.budget, False, limits.until
        self.stop = self.t_end
        if limits.budget is not None:
            self.problem.batch_seconds = min(LONGEST_BATCH, limits.budget / BATCHES)

    def _storage(self, recording: Recording, model: Model | None, need: Need) -> StoredStates:
        """Return what stores the states of the run.  Raise an error if their number does not fit into the memory."""
        p, times = self.problem, recording.times
        steps = 0.0 if self.method.step is None else (self.t_end - p.t) / self.method.step
        number = steps / recording.every if times is None else float(len(times))
        need_memory_for_states(number if self.take is None else min(number, PART), p.y.size + 6 * recording.bodies)
        near = 0.0 if self.clock is None else self.clock.breaks.near
        wanted = None if times is None else WantedTimes(times, p, self.method, need, near)
        selection = Selection(recording.every, wanted, recording.keeps_ends)
        counter = TurnCounter(model) if _skips_steps(recording) and model is not None else None
        recorder = SensorRecorder(recording.sensors, p.state_space.state)
        checked = None if model is None else CheckedOutputs.of(model)
        return StoredStates(selection, p.y.size, recorder, counter, self.clock, recording.bodies, checked)

    def run(self, progress: bool = False) -> R:
        """Run to the end, to Ctrl-C, or to an error, whose `result` is the one so far. Show a progress bar if `progress` is true."""
        with Progress(progress, self.problem.t, self.t_end) as bar:
            return self.run_under(bar)

    def run_under(self, bar: Progress) -> R:
        """Run as `run` does, and show the progress on a bar that may cover further runs."""
        try:
            self._advance(bar)
            self._end()
            return self._result(interrupted=self.exhausted)
        except KeyboardInterrupt:
            return self._result(interrupted=True)
        except Exception as error:
            if getattr(error, "result", None) is None:
                self._keep_result(error)
            raise

    @property
    def counted(self) -> Array | None:
        """Return the joint angles that have been counted up to the last step; None if they are not counted."""
        return None if self.stored.counter is None else self.stored.counter.last

    def _advance(self, bar: Progress) -> None:
        """Apply the stabilization to the start, then go to the end.

        Steps end at each time of a sampled block or a delay, and where a function of time breaks.
        """
        p, clock, k1 = self.problem, self.clock, self.begin()
        method = self.method
        while True:
            stop = self.t_end if clock is None else clock.next_stop(p.t, self.t_end)
            time_break = self.breaks.next_after(p.t)
            if time_break.before > p.t + SHORTEST * (1.0 + abs(p.t)):  # a run that begins nearer to a break begins behind it
                self.reach(min(time_break.before, stop), method, k1, bar)
                if self.exhausted or self.stop >= self.t_end:
                    return
            if time_break.before < stop:
                self._leave_break(time_break, k1)
                method = self.lengths.restarted(self.method)
                continue
            assert clock is not None
            if self._leave_stop(clock, k1):
                return
            method = self.lengths.restarted(self.method)

    def begin(self) -> Array:
        """Apply the stabilization to the start; return the rates there."""
        p, clock = self.problem, self.clock
        k1 = np.zeros(p.y.size)
        if self.before is None:
            self.drift.leave_start(p.y)
        self.records += self.switching.start(None if self.before is None else self.before.switching)
        if clock is not None:
            clock.begin(p)
        self._need(p.post_step(p.pack, p.options, p.t, p.y, k1), p.t)
        self.started = True
        self._continue_from_state(k1)
        self.state_breaks.start(p.t, p.y)
        self.locator.start(self._now())
        self.stored.begin(self._last, self._counted_before)
        return k1

    def reach(self, stop: float, method: Any, k1: Array, bar: Progress) -> None:
        """Go from the state of the problem, with its rates k1 (ny,), to the time `stop` [s], and restart at each switch on the way."""
        self.stop = stop
        while self._to_next_switch(method, k1, bar) and self.problem.t < self.stop:
            method = self.lengths.restarted(method) if self.state_breaks.functions else method

    def _now(self) -> Moment:
        """Return the last time, state and rates."""
        t, y, y_dot = self._last
        return Moment(float(t[-1]), y[-1], y_dot[-1])

    def _end(self) -> None:
        """Record the events whose zero is at the end of the run; one that is terminal ends it."""
        self.records += self.locator.end(self._now(), self.records)
        ending = [event for event in self.locator.ending if not event.of_law]
        if ending and not (self.ended or self.exhausted):
            self.ended = ending[0].name

    def _leave_break(self, crossed: Break, k1: Array) -> None:
        """Continue behind a break of a function of time, from the state before it, with the rates there.

        Where they jump, both states are stored: what is computed from the states has its values on both sides.
        """
        p, (t, y, y_dot) = self.problem, self._last
        self._left_at = float(t[-1])  # a joint's driver is examined across the break
        before = y_dot[-1].copy()
        p.t = max(crossed.after, float(t[-1]))
        p.y[:], k1[:] = y[-1] + (p.t - t[-1]) * before, before
        if crossed.after > crossed.before:
            self._need(p.rates(p.pack, p.options, p.t, p.y, k1), p.t)
        if p.t > t[-1] and not np.allclose(k1, before, rtol=SAME_RATES, atol=SAME_RATES):
            lam = None if self.stored.lam is None else np.full((1, self.stored.lam.rows().shape[1]), np.nan)
            self._store(StepBatch(np.array([p.t]), p.y[None].copy(), k1[None].copy(), OK, p.t, 1, 0, lam))
        self._continue_from_state(k1)
        self.state_breaks.start(p.t, p.y)

    def _leave_stop(self, clock: Clock, k1: Array) -> bool:
        """Replace the last state by the one behind the stop: after the calls of sampled blocks, and behind the jumps of delays.

        Return whether a terminal event, whose g jumps across zero there, ends the run.
        """
        p, (t, y, y_dot) = self.problem, self._last
        p.t, p.y[:], k1[:] = float(t[0]), y[0], y_dot[0]
        before, ended = self.locator.before_jump(p.t, p.y), False
        margins = {} if self.slips is None else self.slips.margins()
        if clock.leave_stop(p):
            self._need(p.rates(p.pack, p.options, p.t, p.y, k1), p.t)
            self._continue_from_state(k1)
            records, ended = self.locator.across_jump(before, p.t, p.y)
            self.records += records
            self.records += [] if self.slips is None else self.slips.records(margins)
        self.stored.put_last(p.t, p.y)
        if ended:
            assert self.locator.ended_by is not None
            self.before_jump = y[0]
            self.t_end, self.ended = p.t, self.locator.ended_by.name
        return ended

    def _to_next_switch(self, method: Any, k1: Array, bar: Progress) -> bool:
        """Take batch after batch to the next touch or release; return whether there is one before the stop of the run.

        The run continues from there.
        """
        p = self.problem
        options = copy_options(p.options)
        for batch in batches_with_stick(method, p, k1, self.stop, self.crossings):
            ended, state_break = self._take_batch(batch, bar)
            self.exhausted = self._budget_is_used_up()
            if state_break is not None and not (ended or self.exhausted):
                restore_memory(p.options, options)
                self._leave_break(state_break, k1)
                return True
            waiting = self.switching.waiting
            if (ended and not waiting) or self.exhausted:
                return False
            drifted = None if ended else self.drift.state_without(self.steps)
            waiting += [] if drifted is None else [drifted]
            if waiting:
                restore_memory(p.options, options)
            elif not self.locator.is_clear:
                self.records += self.switching.across(float(self._last[0][-1]), self._last[1][0])
            if waiting:
                self._restart(k1)
                return True
            options = copy_options(p.options)
            del batch  # the next one may need its memory
        return False

    def _take_batch(self, whole: StepBatch, bar: Progress) -> tuple[bool, Break | None]:
        """Examine and store the steps of a batch; raise the error that has stopped them, unless an event ends the run before it.

        Return whether an event ends the run, or waits to be switched, and the break of a function of the state at which the batch is cut.
        """
        if whole.start_rates is not None:
            self._last = (*self._last[:2], whole.start_rates[None])
        # the error is read before events and states at wanted times call the user's functions again
        stopped = self._error(whole.code, whole.t_stop)
        # cut the batch where its motion cannot be followed, and at the first break of a function of the state
        whole, stopped = self.drift.cut(*self._followable(whole, stopped), self.steps)
        self._measure(whole)
        whole, state_break = self.state_breaks.cut(self._now(), whole)
        stopped = None if state_break is not None else stopped
        # and at the first terminal event
        try:
            batch, ended = self._located(whole)
        except Exception:
            if stopped is not None and not isinstance(stopped, Exception):
                raise stopped from None  # Ctrl-C
            raise
        if stopped is not None and not ended:
            self._stop(batch, stopped)
        # what is left is stored
        batch = self._without_empty_step(batch)
        self._store(batch)
        self.lengths.remember(batch.t)
        if self.clock is not None:
            self.clock.remember(batch.t, batch.y, batch.y_dot)
        self._check_rows(batch)
        bar.reach(float(self._last[0][-1]))
        if ended and stopped is not None and not isinstance(stopped, Exception):
            raise stopped  # Ctrl-C beyond a terminal event; errors there are of a motion that does not take place
        return ended, state_break

    def _budget_is_used_up(self) -> bool:
        """Return whether the run has taken longer than its budget, or has gone as far as is needed, and has not reached its end."""
        over = self.budget is not None and time.perf_counter() - self.began > self.budget
        over = over or bool(self._last[0][-1] >= self.until)
        return over and bool(self._last[0][-1] < self.t_end)

    def _without_empty_step(self, batch: StepBatch) -> StepBatch:
        """Return the batch without a last step of length zero, whose state replaces that of the step before.

        A step to an event has length zero if the event is at the end of the step before.
        """
        before = batch.t[-2] if len(batch.t) > 1 else self._last[0][-1]
        if len(batch.t) == 0 or batch.t[-1] > before:
            return batch
        ends = (batch.t[-1:].copy(), batch.y[-1:].copy(), batch.y_dot[-1:].copy())
        if len(batch.t) > 1:
            batch.y[-2], batch.y_dot[-2] = ends[1][0], ends[2][0]
        else:
            self._last = ends
            if self.stored.selection.wanted is None:
                self.stored.put_last(float(ends[0][0]), ends[1][0])
        return batch.first(len(batch.t) - 1)

    def _restart(self, k1: Array) -> None:
        """Continue from the last state, at which a contact or a stop has touched or been released; switch others at the same instant."""
        p, t = self.problem, float(self._last[0][-1])
        self.switching.need_progress(t, self.records[-1].name if self.records else "")
        self.records += self.switching.restart(t)
        self._need(p.post_step(p.pack, p.options, t, p.y, k1), t)
        self._continue_from_state(k1)

    def _continue_from_state(self, k1: Array) -> None:
        """Let the run continue from the current state of the problem, with the rates k1 (ny,)."""
        p = self.problem
        self._last = (np.array([p.t]), p.y[None].copy(), k1[None].copy())
        self.turns.start(*self._last[:2])
        if self.clock is not None:
            self.clock.remember(*self._last)

    def _measure(self, batch: StepBatch) -> None:
        """Record the rotations of the steps, and the gaps of the rows after the last step."""
        self.turns.observe(batch.t, batch.y)
        if batch.code == OK and len(batch.t):
            gap, joint = self.problem.state_space.worst_gap(self.problem.pack)
            if gap > self.gap[0]:
                self.gap = (gap, joint, float(batch.t[-1]))

    def _followable(self, batch: StepBatch, stopped: Stopped) -> tuple[StepBatch, Stopped]:
        """Return the batch up to where its motion cannot be followed, and the error that stops the run there."""
        space = self.problem.state_space
        t_last, self._left_at = float(self._last[0][0]) if self._left_at is None else self._left_at, None
        whole = before_break(space, batch, stopped, t_last, self.method.step, self.t_end)
        return with_known_turns(space, *whole)

    def _stop(self, batch: StepBatch, error: BaseException) -> NoReturn:
        """Raise the error that stopped the run, with the result before it; the cause, where the motion has left a table or a curve."""
        left = self.problem.state_space.left_range(batch.y) if type(error) is SimulationError and len(batch.y) else ""
        if left:
            cause, error = error, SimulationError(left)
            error.__cause__ = cause
        try:
            self._store(batch)
        except Exception:  # noqa: BLE001, S110  the first error is the one that is reported
            pass
        self._raise(error)

    def _located(self, batch: StepBatch) -> tuple[StepBatch, bool]:
        """Return the batch, up to a terminal event if there is one, and whether there is one; record its events."""
        t, y, y_dot = self._last
        try:
            cut, records, ended = self.locator.cut(Moment(float(t[0]), y[0], y_dot[0]), batch)
        except Exception as error:
            self._store(batch)
            self._keep_result(error)
            raise
        self.switching.add_steps(self._last, cut)
        of_batch = [event for event in batch.events if event.t <= (cut.t[-1] if len(cut.t) else t[0])]
        records = sorted((*of_batch, *records), key=lambda record: record.t)
        records = self.switching.without_known(records, self.records)
        if ended:
            records = self._end_at_events(cut, records)
        self.records += records
        return cut, ended

    def _end_at_events(self, cut: StepBatch, records: list[EventRecord]) -> list[EventRecord]:
        """Switch what the terminal events at the end of a batch switch; end the run if others are among them; return all records."""
        switches = [event for event in self.locator.ending if isinstance(event, SwitchEvent)]
        others = [event for event in self.locator.ending if not isinstance(event, SwitchEvent)]
        if switches:
            y, names = cut.y[-1].copy(), {event.name for event in switches}
            records = [record for record in records if record.name not in names]
            records += self.switching.at_events(switches, float(cut.t[-1]), y)
            if self.stored.selection.wanted is None:
                cut.y[-1] = y
        if others:
            self.t_end, self.ended = float(cut.t[-1]), others[0].name
            self.switching.waiting.clear()
        return records

    def _check_rows(self, batch: StepBatch) -> None:
        """Raise SimulationError if the motion has left its branch, or a table, without a violation of the kept rows."""
        t, y = (batch.t, batch.y) if len(batch.t) else self._last[:2]
        wrong = self.problem.state_space.wrong_branch(t, y)
        if wrong:
            self._raise(SimulationError(wrong))

    def _store(self, batch: StepBatch) -> None:
        """Store states of a batch; its last one, which is not copied, is the one from which the run continues."""
        if len(batch.t) == 0:
            return
        before = self._last
        self._last = (batch.t[-1:], batch.y[-1:], batch.y_dot[-1:])
        calls_follow = bool(batch.t[-1] >= self.stop < self.t_end)
        self.stored.add(before, batch, self.steps, self.t_end, calls_follow=calls_follow)
        if self.take is not None and len(self.stored.t) >= PART:
            self.take(*self.stored.drain())
        self.steps += batch.accepted
        self.rejected += batch.rejected

    def _need(self, code: int, t: float) -> None:
        """Raise the error of a code that is not OK, with the result so far."""
        error = self._error(code, t)
        if error is not None:
            self._raise(error)

    def _error(self, code: int, t: float) -> BaseException | None:
        """Return the error of a code, None for OK."""
        return None if code == OK else self.problem.state_space.error(self.problem.pack, code, t)

    def _raise(self, error: BaseException) -> NoReturn:
        """Raise an error with the result so far. Ctrl-C needs no result: `go` returns it."""
        if isinstance(error, Exception):
            if self.started and not _is_of_user(error):  # no step has led to the start, and the user's error is the first
                error = self._explained(error)
            self._keep_result(error)
        raise error

    def _explained(self, error: Exception) -> Exception:
        """Return the error of steps that are too large for a load, in place of that to which they have led."""
        space, t = self.problem.state_space, float(self._last[0][-1])
        words = str(error) if isinstance(error, SimulationError) else error_text(error)
        states = [*self.stored.y.rows()[:1], self._last[1][-1]]
        seen = self.problem.watched, self.method, t, words, states
        if isinstance(space, ChainStateSpace):
            text = failed_chain_text(space, *seen)
        else:
            named = names_singular_position(error)
            at_singular = None if named else singular_cause(self.problem, self.method, *self.stored.states(), t)
            text = "" if at_singular is None else singular_text(at_singular, words)
            text = text or (failed_text(space.model, *seen) if isinstance(space, MaximalStateSpace) else "")
        if not text:
            return error
        cause, error = error, SimulationError(text)
        error.__cause__ = cause
        return error

    def _keep_result(self, error: Exception) -> None:
        """Give an error the result so far; None where its states cannot be evaluated, which is described by the error itself."""
        try:
            error.result = self._result(interrupted=False, error=error)  # type: ignore[attr-defined]
        except Exception:  # noqa: BLE001  the first error is the one that is reported
            error.result = None  # type: ignore[attr-defined]

    def _result(self, interrupted: bool, error: Exception | None = None) -> R:
        """Return the result so far."""
        p = self.problem
        o = p.options
        counters = counters_of_steps(self.steps, self.rejected, o, time.process_time() - self.cpu)
        outcome, events, crossings = self._outcome(interrupted, error), tuple(self.records), tuple(p.singular_crossings)
        return self.record(
            Recorded(
                *self.stored.found(self._last),
                counters=counters,
                outcome=outcome,
                events=events,
                singular_crossings=crossings,
                energy_restored=float(o.max_energy_restored),
                contact_impacts=self.switching.impacts(),
                stiffness=p.watched,
            )
        )

    def _outcome(self, interrupted: bool, error: Exception | None) -> Outcome:
        """Return the outcome: status, message and notes."""
        now = float(self._last[0][-1])
        if error is not None:
            status, message = RunStatus.FAILED, error_text(error)
        elif self.exhausted and self.budget is None:
            status, message = RunStatus.COMPLETED, f"reached t = {now:.9g} s, which was needed"
        else:
            status = status_at_end(exhausted=self.exhausted, interrupted=interrupted, ended=bool(self.ended))
            message = end_of_run(status, f"at t = {now:.9g} s", self.t_end, budget=self.budget, ended_by=self.ended or "")
        notes = self.turns.notes(fixed=self.method.step is not None)
        notes += violation_notes(*self.gap) + singular_notes(self.problem.singular_crossings, self.problem.near_singular)
        if self.clock is not None:
            notes += self.clock.notes()
        return Outcome(status, message, tuple(notes))


def _is_of_user(error: BaseException) -> bool:
    """Return whether a function of the user has raised: no function is called after it. Overflow is what steps have led to."""
    causes: list[BaseException] = [error, *([error.__cause__] if error.__cause__ is not None else [])]
    return not all(isinstance(cause, HaugmbdError | ArithmeticError | RuntimeWarning) for cause in causes)


def _skips_steps(recording: Recording) -> bool:
    """Return whether not every step is stored."""
    return recording.times is not None or recording.every > 1
