r"""A run with dry friction at rigid contacts: its segments, impacts and events, as a Result.

segment    states between two switches, with the modes of the points that touch along it
switch     events "floor: touch", "floor: opens", "floor: sticks", "floor: slips"; "floor[2]: ..." of one of several points
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.two_body_limits import RopeStop
from haugmbd.diagnostics.run_warnings import Outcome, RunNote, RunStatus, end_of_run
from haugmbd.errors import EnergyWarning, Fault, ModelError, UsageError, error_text, warn_user
from haugmbd.impacts.contact_history import ContactSegment
from haugmbd.impacts.contact_problem import STICK, ContactProblem, Key, PointMode
from haugmbd.impacts.frictional_impulse import Struck, chain_at, gain_of, impulse_of
from haugmbd.impacts.impact import Impact
from haugmbd.integrators.events import EventRecord, read_events
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.hybrid.frictional_motion import LAST, FrictionalMotion, Turned, Violated, counted, tableau_of
from haugmbd.simulation.recorded_result import settings_of
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.segments import at_times
from haugmbd.simulation.run_task import RunTask
from haugmbd.simulation.sensor import SensorRecorder, all_sensors
from haugmbd.simulation.stepping.progress import Progress

OVERLAP = 1e-5
"""Relative to the size: an overlap larger than this at the start is a fault of the model.  Coordinates with six digits are within it."""


def check_parts(model: Model, contacts: Sequence[Contact]) -> None:
    """Raise ModelError for parts that a run with friction at rigid contacts does not take."""
    faults = []
    remedy = "Leave it out, or make the contacts compliant (law=mbd.Compliant(K))."
    for entry in model.loads:
        load = entry.load
        if load.is_contact:
            what = "a run with friction or shapes at rigid contacts does not take compliant contacts beside them"
            faults.append(Fault(load.where, what, remedy))
        elif load.is_friction and (load.reads_reaction or getattr(load, "is_exact", False)):
            what = "its friction depends on what its joint carries, which the friction at rigid contacts changes"
            faults.append(Fault(load.where, what, "Take a Viscous law, or leave it out."))
    for contact in contacts:
        if isinstance(contact, RopeStop) and len(contact.rope.bodies()) > 2:  # noqa: PLR2004
            what = "a run with friction or shapes at rigid contacts takes ropes between two bodies only beside them"
            faults.append(Fault(contact.where, what, "Make it compliant, or leave it out."))
    network = model.network
    if network is not None and (network.sampled or network.delays):
        names = ", ".join(block.where for block in (*network.sampled, *network.delays))
        faults.append(
            Fault(
                names,
                "a run with friction at rigid contacts takes no sampled blocks and no delays",
                "Use blocks in continuous time.",
            )
        )
    if faults:
        raise ModelError(faults)


class FrictionalRun:
    """One event-driven run in progress: its segments so far."""

    def __init__(self, task: RunTask, contacts: Sequence[Contact]) -> None:
        start, limits = task.start, task.limits
        self.task, self.model, self.methods, self.t_end, self.limits = task, task.model, task.methods, task.t_end, limits
        self.problem = ContactProblem(task.model, contacts, task.methods.impact)
        self.times, self.every = task.times, task.output.store_every
        self.motion = FrictionalMotion(self.problem, task.integrator, start.t, start.y, task.t_end)
        self.motion.limit_steps(task.t_end - start.t)
        self.motion.events = () if task.repeats else read_events(task.output.events)
        self.sensors = () if task.repeats else all_sensors(task.model, task.output.sensors)
        self.segments: list[Result] = []
        self.impacts: list[Impact] = []
        self.notes: list[RunNote] = []
        self.turns: list[tuple[float, str]] = []
        self.events: list[EventRecord] = []
        self.modes: dict[Key, PointMode] = {}
        self.t: list[float] = []
        self.y: list[Array] = []
        self.status = RunStatus.COMPLETED
        self.began, self.cpu = time.perf_counter(), time.process_time()
        self.motion.until = np.inf if limits.budget is None else self.began + limits.budget

    def run(self, bar: Progress) -> Result:
        """Run to the end, to Ctrl-C, or to an error that has the result so far."""
        try:
            self._run(bar)
        except KeyboardInterrupt:
            self.status = RunStatus.INTERRUPTED
        except Exception as error:
            self.status = RunStatus.FAILED
            self._close()
            error.result = self.result(error_text(error))  # type: ignore[attr-defined]
            raise
        self._close()
        return self.result("")

    def _run(self, bar: Progress) -> None:
        m = self.motion
        self.problem.need_apart(m.y, OVERLAP * m.size)
        self._store()
        self._turn([], first=True)
        while self.t_end - m.t > LAST * (1.0 + abs(m.t)) and m.t < self.limits.until:
            stop = self._next_stop()
            steps, hit = m.advance(stop)
            for t, y in steps:
                self.t.append(t)
                self.y.append(y.copy())
            self.events += m.records
            m.records = []
            bar.reach(m.t)
            if m.ended_by is not None:
                self.status = RunStatus.TERMINAL_EVENT
                return
            if hit:
                self._turn(hit)
            if self.limits.budget is not None and time.perf_counter() - self.began > self.limits.budget:
                self.status = RunStatus.BUDGET_EXHAUSTED
                return

    def _next_stop(self) -> float:
        """Return the next time at which a step ends."""
        t = self.motion.t
        if self.times is None:
            return self.t_end
        later = self.times[self.times > t + 1e-14 * (1.0 + abs(t))]
        return float(min(later[0], self.t_end)) if len(later) else self.t_end

    def _store(self) -> None:
        self.t.append(self.motion.t)
        self.y.append(self.motion.y.copy())

    def _turn(self, hit: list[Violated], first: bool = False) -> None:
        """Change modes at a switch; a new segment begins."""
        m = self.motion
        t = m.t
        ended = dict(m.modes)
        turned = m.turn(hit)
        names = [] if first and not turned.impacts else self._names(turned)
        if m.jammed:
            names += [f"{name}: jams" for name in m.jammed]
            assert m.jam is not None
            y, f, keys, kin = m.jam
            turned.impacts.append(Struck(y, m.y.copy(), keys, f, kin))
            m.jammed = []
        state = State.from_y(t, m.y, self.problem.n)
        records = [EventRecord(name, t, state) for name in names]
        for one in turned.impacts:
            self._note_impact(one, t)
        if first:
            self.t, self.y = [], []
        else:
            self._close(records, (t, {key: ended.get(key, mode) for key, mode in self.modes.items()}))
            counted(self.turns, t, names[0] if names else "switch", self.limits.most)
        if first:
            self.events += records
        self.modes = {key: PointMode(mode.mode, mode.hint) for key, mode in m.modes.items()}
        self._store()

    def _close(self, records: Sequence[EventRecord] = (), end: tuple[float, dict[Key, PointMode]] | None = None) -> None:
        """End the segment;  end: its last time, and the modes there."""
        if not self.t:
            return
        t, y = np.array(self.t), np.array(self.y)
        sensors = SensorRecorder(self.sensors, lambda t, y: State.from_y(t, y, self.problem.n))
        sensors.record(t, y)
        self.segments.append(
            Result(
                self.model,
                t,
                y,
                settings=settings_of(self.methods),
                events=(*self.events, *records),
                _sensors=sensors.histories(t),
                _contact_segment=ContactSegment(self.problem, self.modes, end),
                _all_steps=self.every == 1,
            )
        )
        self.t, self.y, self.events = [], [], []

    def _names(self, turned: Turned) -> list[str]:
        """Return the names of the events of a switch."""
        found: list[str] = []
        p = self.problem
        struck = {key[0] for key in turned.struck}
        touched = sorted(struck | {c for c, _ in (*turned.before, *turned.after)})
        for c, name in ((c, p.names[c]) for c in touched):
            old = {key: mode for key, mode in turned.before.items() if key[0] == c}
            new = {key: mode for key, mode in turned.after.items() if key[0] == c}
            if (new or c in struck) and not old:
                found.append(f"{name}: touch")
                if new and all(mode.mode == STICK for mode in new.values()) and p.mu[c] > 0.0:
                    found.append(f"{name}: sticks")
            elif old and not new:
                found.append(f"{name}: opens")
            elif p.mu[c] > 0.0 and old:
                was, now = (all(mode.mode == STICK for mode in some.values()) for some in (old, new))
                if was != now:
                    found.append(f"{name}: {'sticks' if now else 'slips'}")
                elif not now and any(key[0] == c for key in turned.stopped):
                    found.append(f"{name}: slips")
            several = len(old.keys() | new.keys()) > 1 and not any(key[0] == c for key in turned.lost)
            if several and old:
                for key in sorted(old.keys() | new.keys()):
                    what = self._point_event(old.get(key), new.get(key))
                    if what and f"{name}: {what}" not in found:
                        found.append(f"{p.label(key)}: {what}")
        return found

    @staticmethod
    def _point_event(old: PointMode | None, new: PointMode | None) -> str:
        if old is None or new is None:
            return "" if old is new else "touch" if old is None else "opens"
        return "" if old.mode == new.mode else "sticks" if new.mode == STICK else "slips"

    def _note_impact(self, one: Struck, t: float) -> None:
        """Keep an impact; warn where it gains energy."""
        p, n = self.problem, self.problem.n
        before, after = (State.from_y(t, y, n, flat=y) for y in (one.before, one.after))
        impulse = impulse_of(p, before, after, one) if one.impulse is None else one.impulse
        self.impacts.append(Impact(t, impulse))
        chain = chain_at(p, one, t)
        if chain.text and not any(note.text == chain.text for note in self.notes):
            self.notes.append(RunNote("chain", chain.text, doubtful=chain.doubtful))
        gain = gain_of(p, impulse, one.keys)
        if gain:
            if not any(note.kind == "chain" for note in self.notes):
                warn_user(gain, EnergyWarning)
            self.notes.append(RunNote("chain", gain))

    def _notes_on_laws(self) -> list[RunNote]:
        """Return a note on the first time at which no forces within the laws give the motion."""
        if self.motion.unlawful is None:
            return []
        t, off, names = self.motion.unlawful
        text = (
            f"from t = {t:.9g} s the shares of a load in several points ({names:.300}) decide the motion: with shares that fulfil the laws "
            f"of contact and friction points accelerate otherwise, by {off:.1e} of the largest acceleration. Rigid bodies do not tell the "
            "shares: see Result.check_contacts, use mbd.MoreauJean(), or make the contacts compliant (law=mbd.Compliant(K))."
        )
        return [RunNote("shares", text, off, doubtful=True)]

    def result(self, message: str) -> Result:
        """Return the result so far."""
        m = self.motion
        if self.status is not RunStatus.FAILED:
            name = "" if m.ended_by is None else m.ended_by.name
            message = end_of_run(self.status, f"at t = {m.t:.9g} s", self.t_end, budget=self.limits.budget, ended_by=name)
        work = self.problem.response
        counters = Counters(
            steps=m.steps,
            rejected=m.rejected,
            evaluations=work.n_rates,
            factorizations=work.n_factorizations,
            cpu=time.process_time() - self.cpu,
        )
        whole = tuple(self.segments)
        sparse = self.times is not None
        outcome = Outcome(self.status, message, ()).with_notes([*self.notes, *self._notes_on_laws()])
        replay = Replay(self.task.start.t, self.task.start.y, self.t_end, float(m.t), self.methods, not sparse, self.limits.most)
        found = Result.of_segments(
            self.model,
            at_times(whole, self.times, LAST) if self.times is not None else whole,
            complete=whole if sparse else (),
            impacts=tuple(self.impacts),
            settings=settings_of(self.methods),
            interrupted=self.status in (RunStatus.INTERRUPTED, RunStatus.BUDGET_EXHAUSTED),
            outcome=outcome,
            _contact_problem=self.problem,
            _replays=(replay,) if whole else (),
            _again=self.task.again,
        )
        return replace(found, counters=counters)


def run_with_friction(task: RunTask, contacts: Sequence[Contact]) -> Result:
    """Return the result of an event-driven run with friction, or general shapes, at rigid contacts."""
    tableau_of(task.integrator)
    if task.output.record_method:
        raise UsageError("record_method=True is not taken in a run with friction at rigid contacts: leave it out.")
    check_parts(task.model, contacts)
    task = task.checked()
    with Progress(task.output.progress, task.start.t, task.t_end) as bar:
        return FrictionalRun(task, contacts).run(bar)
