r"""A run by Moreau-Jean time stepping of a system with rigid contacts: its stored states and events; the step is in `moreau_jean_step`.

The events of a contact are the changes of its state from step to step, at the ends of the steps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.contact.contact import Contact
from haugmbd.contact.impact_laws import NewtonImpact, is_row
from haugmbd.diagnostics.run_warnings import Outcome, RunNote, RunStatus, end_of_run
from haugmbd.errors import UsageError, error_text
from haugmbd.impacts.contact_history import OPEN, StepLaws, SteppedContacts
from haugmbd.impacts.contact_problem import SLIP, ContactProblem, Key, contacts_of
from haugmbd.integrators.events import Event, EventRecord, read_events
from haugmbd.model.state import State
from haugmbd.simulation.hybrid.frictional_run import OVERLAP, check_parts
from haugmbd.simulation.hybrid.moreau_jean_step import TOUCH, MoreauJeanStepper, StepEnd
from haugmbd.simulation.recorded_result import settings_of
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_options import RunMethods
from haugmbd.simulation.run_task import RunTask
from haugmbd.simulation.sensor import SensorRecorder, all_sensors
from haugmbd.simulation.stepping.progress import Progress

FIRST = 1e-3
"""Of a step: the first state has the forces of so short a step from it."""
DEEP = 1e-6
"""Relative to the size: a deeper overlap that the steps could not take away makes the result doubtful."""


class SteppedRun:
    """A run by time stepping: its stored states."""

    def __init__(self, task: RunTask, contacts: Sequence[Contact]) -> None:
        self.task, self.model, self.methods, self.t_end, self.limits = task, task.model, task.methods, task.t_end, task.limits
        self.problem, self.start = ContactProblem(task.model, contacts), task.start
        self.stepper = MoreauJeanStepper(self.problem, task.start.t, task.start.y)
        self.times, self.every = task.times, task.output.store_every
        self.events: tuple[Event, ...] = () if task.repeats else read_events(task.output.events)
        self.sensors = () if task.repeats else all_sensors(task.model, task.output.sensors)
        self.stored: list[StepEnd] = []
        self.records: list[EventRecord] = []
        self.modes: Ints = np.zeros(0, dtype=np.int64)
        self.notes: list[RunNote] = []
        self.steps = 0
        self.status, self.ended_by = RunStatus.COMPLETED, ""
        self.began, self.cpu = time.perf_counter(), time.process_time()

    def run(self, bar: Progress) -> Result:
        """Run to the end, to Ctrl-C, or to an error that has the result so far."""
        message = ""
        try:
            self._run(bar)
        except KeyboardInterrupt:
            self.status = RunStatus.INTERRUPTED
        except Exception as error:
            self.status, message = RunStatus.FAILED, error_text(error)
            error.result = self.result(message)  # type: ignore[attr-defined]
            raise
        return self.result(message)

    def _run(self, bar: Progress) -> None:
        s, h = self.stepper, self.methods.integrator.step
        assert h is not None
        self.problem.need_apart(s.y, OVERLAP * s.size)
        u = self.problem.velocities(s.y).copy()
        none = StepLaws(s.t, s.y.copy(), u, u, 0.0, np.zeros(0))
        no_points, no_f, no_contacts = np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(len(self.problem.contacts), np.int64)
        wrench, way = np.zeros((self.problem.n, 6)), np.zeros((0, 2))
        first = StepEnd(s.t, s.y, no_points.reshape(0, 2), no_f, no_f, no_points, wrench, no_contacts, s.held, no_points, way, none)
        self._store(self._at_start(first, h))
        self.modes = self.stored[0].contacts
        t0, count = s.t, 0
        while self.t_end - s.t > 1e-12 * (1.0 + abs(s.t)) and s.t < self.limits.until:
            count += 1
            t_next = min(t0 + count * h, self.t_end)
            if self.t_end - t_next <= 1e-9 * h:
                t_next = self.t_end
            end = s.step(t_next - s.t)._replace(t=t_next)
            self._wanted_between(s.t, t_next)
            terminal = self._watch(end)
            s.accept(end)
            self.steps += 1
            self._note_row(end)
            if self.times is None and (count % self.every == 0 or t_next == self.t_end or terminal):
                self._store(end)
            elif self.times is not None and np.isclose(self.times, t_next, rtol=0.0, atol=1e-12 * (1.0 + t_next)).any():
                self._store(end)
            bar.reach(s.t)
            if terminal:
                self.status = RunStatus.TERMINAL_EVENT
                return
            if self.limits.budget is not None and time.perf_counter() - self.began > self.limits.budget:
                self.status = RunStatus.BUDGET_EXHAUSTED
                return

    def _note_row(self, end: StepEnd) -> None:
        """Note the first step in which a row of touching bodies is struck, where other runs have the law of the sequence."""
        p = self.problem
        if self.notes or self.methods.impact is not None or not end.laws.e.any():
            return
        before = p.rows_of(p.at(end.laws.y, end.keys), end.keys, end.laws.u)[:, 0]
        own = contacts_of(end.keys)
        if is_row(p.restitution_of(end.keys), before, p.pairs[own]):
            names = ", ".join(dict.fromkeys(repr(p.names[c]) for c in own))
            text = (
                f"at t = {end.t:.9g} s a row of touching bodies is struck ({names:.300}): MoreauJean has Newton's law for all of them at "
                "once, event-driven runs one impact after the other. Give impact=mbd.NewtonImpact() to choose this, or a small gap."
            )
            self.notes.append(RunNote("chain", text, doubtful=True))

    def _overlap_notes(self) -> list[RunNote]:
        """Return a note on the deepest overlap that the projection behind a step has left."""
        gap, t, name = self.stepper.deepest
        if gap == 0.0:
            return []
        text = (
            f"at t = {t:.9g} s {name} overlaps by {-gap:.2e} m, which its step could not take away, as other points press there, or joints "
            "hold. Give a smaller h."
        )
        return [RunNote("overlap", text, -gap, doubtful=-gap > DEEP * self.stepper.size)]

    def _at_start(self, first: StepEnd, h: float) -> StepEnd:
        """Return the first state with the forces of a very short step from it."""
        if not self.problem.near(first.y, TOUCH * self.stepper.size)[0]:
            return first
        short = self.stepper.step(FIRST * h)
        struck = bool((np.abs(self.problem.velocities(short.y) - self.problem.velocities(first.y)) > 1.0).any())
        return first if struck else short._replace(t=first.t, y=first.y)

    def _wanted_between(self, t: float, t_next: float) -> None:
        """Store states at wanted times inside of a step, by shorter steps to them."""
        if self.times is None:
            return
        near = 1e-12 * (1.0 + abs(t_next))
        for time_wanted in self.times[(self.times > t + near) & (self.times < t_next - near)]:
            self._store(self.stepper.step(float(time_wanted) - t)._replace(t=float(time_wanted)))

    def _store(self, end: StepEnd) -> None:
        self.stored.append(end)

    def _contact_events(self, end: StepEnd) -> list[str]:
        """Return the events of contacts whose states have changed in a step."""
        names: list[str] = []
        for what, changed in (
            ("touch", (end.contacts != OPEN) & (self.modes == OPEN)),
            ("opens", (end.contacts == OPEN) & (self.modes != OPEN)),
        ):
            names += [f"{self.problem.names[c]}: {what}" for c in np.flatnonzero(changed)]
        # a contact that touches slips before it sticks
        changed = (
            (end.contacts != OPEN) & (self.problem.mu > 0.0) & (np.where(self.modes == OPEN, SLIP, self.modes) != end.contacts)
        )
        for c in np.flatnonzero(changed):
            names.append(f"{self.problem.names[c]}: {'slips' if end.contacts[c] == SLIP else 'sticks'}")
        return names

    def _watch(self, end: StepEnd) -> bool:
        """Record the events of contacts and of the user in a step; return whether a terminal one ends the run."""
        n = self.problem.n
        if end.contacts is not self.modes:
            state = State.from_y(end.t, end.y, n)
            self.records += [EventRecord(name, end.t, state) for name in self._contact_events(end)]
            self.modes = end.contacts
        if not self.events:
            return False
        state, terminal = State.from_y(end.t, end.y, n), False
        before = State.from_y(self.stepper.t, self.stepper.y, n)
        for event in self.events:
            g, g_1 = event.value(before), event.value(state)
            if event.wants(g, g_1):
                self.records.append(EventRecord(event.name, end.t, state))
                if event.terminal:
                    terminal, self.ended_by = True, event.name
        return terminal

    def _forces(self) -> tuple[tuple[Key, ...], Array, Array, Ints]:
        """Return the points that press at any stored state, and normal forces, friction and states (nt, K), (nt, K, 3), (nt, K)."""
        numbers: dict[Key, int] = {}
        groups: list[tuple[int, int, Ints]] = []  # states from .. to, whose points have these columns
        for n, one in enumerate(self.stored):
            if n and one.keys is self.stored[n - 1].keys:
                groups[-1] = groups[-1][0], n + 1, groups[-1][2]
                continue
            own = [numbers.setdefault((c, feature), len(numbers)) for c, feature in one.keys.tolist()]
            groups.append((n, n + 1, np.array(own, dtype=np.int64)))
        nt, K = len(self.stored), len(numbers)
        normal, friction, state = np.zeros((nt, K)), np.zeros((nt, K, 3)), np.zeros((nt, K), dtype=np.int64)
        for first, end, at in groups:
            some = self.stored[first:end]
            if not len(at):
                continue
            h = np.array([one.laws.h or np.inf for one in some])[:, None]
            modes = np.array([one.state for one in some])
            presses = modes != OPEN
            normal[first:end, at] = np.where(presses, np.array([one.f[:, 0] for one in some]), 0.0) / h
            friction[first:end, at] = np.where(presses[..., None], np.array([one.friction for one in some]), 0.0) / h[..., None]
            state[first:end, at] = np.where(h < np.inf, modes, OPEN)
        pressed = (state != OPEN).any(axis=0)
        keys = [key for key, number in numbers.items() if pressed[number]]
        order = [numbers[key] for key in sorted(keys)]
        return tuple(sorted(keys)), normal[:, order], friction[:, order], state[:, order]

    def result(self, message: str) -> Result:
        """Return the result so far."""
        s, p = self.stepper, self.problem
        t, y = (
            np.array([one.t for one in self.stored]),
            np.array([one.y for one in self.stored]).reshape(len(self.stored), self.start.y.size),
        )
        wrench = np.array([one.wrench for one in self.stored]).reshape(len(t), p.n, 6)
        keys, normal, friction, state = self._forces()
        laws = [one.laws for one in self.stored]
        steps = [(one.keys, one.f) for one in self.stored]
        contacts = SteppedContacts(p, keys, normal, friction, state, wrench, laws, steps)
        sensors = SensorRecorder(self.sensors, lambda t, y: State.from_y(t, y, p.n))
        sensors.record(t, y)
        if self.status is not RunStatus.FAILED:
            message = end_of_run(self.status, f"at t = {s.t:.9g} s", self.t_end, budget=self.limits.budget, ended_by=self.ended_by)
        counters = Counters(
            steps=self.steps,
            evaluations=p.response.n_rates,
            factorizations=p.response.n_factorizations,
            projections=self.steps,
            cpu=time.process_time() - self.cpu,
        )
        replay = Replay(self.start.t, self.start.y, self.t_end, float(s.t), self.methods, self.times is None, 0.0)
        return Result(
            self.model,
            t,
            y,
            counters=counters,
            settings=settings_of(self.methods),
            interrupted=self.status in (RunStatus.INTERRUPTED, RunStatus.BUDGET_EXHAUSTED),
            events=tuple(self.records),
            _sensors=sensors.histories(t),
            _contact_segment=contacts,
            _contact_problem=p,
            _replays=(replay,),
            _again=self.task.again,
            outcome=Outcome(self.status, message, ()).with_notes([*self.notes, *self._overlap_notes()]),
        )


def run_by_time_stepping(task: RunTask, contacts: Sequence[Contact]) -> Result:
    """Return the result of a run with rigid contacts by Moreau-Jean time stepping."""
    if task.output.record_method:
        raise UsageError("record_method=True is not taken by MoreauJean with contacts: leave it out.")
    check_parts(task.model, contacts)
    _check_law(contacts, task.methods)
    task = task.checked()
    with Progress(task.output.progress, task.start.t, task.t_end) as bar:
        return SteppedRun(task, contacts).run(bar)


def _check_law(contacts: Sequence[Contact], methods: RunMethods) -> None:
    """Raise UsageError for a law of impact that time stepping does not have."""
    laws = [*((contact.where, contact.law) for contact in contacts), ("impact=", methods.impact)]
    for where, law in laws:
        if law is not None and not isinstance(law, NewtonImpact):
            raise UsageError(
                f"{where}: MoreauJean has Newton's law of impact for all points of a step at once, and not {law!r}. Use an event-driven "
                "run (RK4, DormandPrince), or NewtonImpact()."
            )
