r"""Moreau-Jean time stepping of a system with rigid contacts: one cone problem a step, no events.

    middle      q_m = q_k o exp(h/2 u_k)
    free        u_f = u_k + h u'(t + h/2, q_m, u_m),  on Phi_q u = nu at q_m       u_m = u_k + (u_k - u_(k-1)) / 2, u_k behind an impact
    contacts    points with gap(q_m) <= 0, and those that pressed at the end of the last step
    impulses    f by the cone problem of b = C u_f + (e v_n^-, 0, 0);   u_(k+1) = u_f + K^-1 C^T f
    end         q_(k+1) = q_m o exp(h/2 u_(k+1));  bilateral rows, and gaps of points that press or overlap, are projected

A point that pressed is held: its gap is projected to 0 from both sides, and it stays active in the next step, in which the cone problem
lets it go when it opens.  If activity were "gap(q_m) <= 0" alone, rounding would make it flicker: bodies at rest creep, stacks sink.
Sources: Moreau (1988); Jean (1999); Acary, Brogliato (2008), ch. 10.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.cone import solve_cone_problem
from haugmbd.contact.contact import Contact
from haugmbd.contact.impact_laws import NewtonImpact, is_row
from haugmbd.diagnostics.run_warnings import Outcome, RunNote, RunStatus, end_of_run
from haugmbd.errors import UsageError, error_text
from haugmbd.impacts.contact_history import OPEN, StepLaws, SteppedContacts
from haugmbd.impacts.contact_problem import SLIP, STICK, ContactProblem, Key
from haugmbd.integrators.events import Event, EventRecord, read_events
from haugmbd.integrators.initial_state import consistent_start
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import exponential, product
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import check_drivers, check_interval, wanted_times
from haugmbd.simulation.hybrid.frictional_run import OVERLAP, check_parts
from haugmbd.simulation.recorded_result import settings_of
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.segments import Again
from haugmbd.simulation.results.sensor import SensorRecorder, all_sensors
from haugmbd.simulation.run_methods import RunMethods
from haugmbd.simulation.run_options import RunOutput
from haugmbd.simulation.stepping.progress import Progress

TOUCH = 1e-9
"""Relative to the size: a smaller gap in the middle of a step touches."""
HELD = 1e-8
"""Relative to the size: a point that pressed and has a smaller gap is held in the next step."""
PRESSES = 1e-12
"""Relative to the largest impulse: a smaller one is rounding."""
APPROACH = 1e-9
"""Relative to the size, per second: a slower approach has no restitution."""
FIRST = 1e-3
"""Of a step: the first state has the forces of so short a step from it."""
ROUNDS = 5
"""Of the projection of positions: two are usual."""
PROJECTED = 1e-14
"""Relative to the size: what the projection may leave."""


class StepEnd(NamedTuple):
    """The end of a step.

    y: (ny,);  keys, f: points that touch, impulses (k, 3);  D: (k, 3, 3);  wrench: (nb + 1, 6) forces on the bodies [N]
    held: points that press;  laws: what the ruler needs
    """

    t: float
    y: Array
    keys: list[Key]
    f: Array
    D: Array
    state: list[int]
    wrench: Array
    held: set[Key]
    laws: StepLaws


class MoreauJeanStepper:
    """Steps of one model with contacts, from the state (t, y)."""

    def __init__(self, problem: ContactProblem, t: float, y: Array) -> None:
        self.problem, self.t, self.y = problem, t, y.copy()
        self.size = max(problem.length, float(np.abs(y[: WIDTH * problem.n].reshape(-1, WIDTH)[:, :3]).max(initial=0.0)))
        keys, gaps = problem.near(y, HELD * self.size)
        self.held: set[Key] = {key for key, gap in zip(keys, gaps, strict=True) if abs(gap) <= HELD * self.size}
        self.impulses: dict[Key, Array] = {}
        self.change = np.zeros((problem.n, 6))
        self.h_before = 0.0

    def step(self, h: float) -> StepEnd:
        """Return the end of a step of h [s] from the state, which stays."""
        p, n, t_m = self.problem, self.problem.n, self.t + 0.5 * h
        u = p.velocities(self.y).copy()
        middle = self.y.copy()
        self._drift(middle, u, 0.5 * h)
        share = 0.5 * h / self.h_before if self.h_before > 0.0 else 0.0
        p.velocities(middle)[1:] += share * self.change[1:]
        u_m, y_dot = p.velocities(middle).copy(), np.zeros_like(middle)
        p.response.rates(t_m, middle, y_dot)
        u_f = u + h * p.velocities(y_dot)
        if p.model.nc:
            nu = p.response.row_values()[1]
            u_f = u_f + p.response.solve(None, (nu - p.response.row_rates(u_f)) * p.response.kept_rows(), t_m)[:n]
        near, _ = p.near(middle, TOUCH * self.size)
        keys = list(dict.fromkeys([*near, *sorted(self.held)]))
        f, v, wrench, kin, u_1 = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((n, 6)), p.at(middle, keys), u_f
        before, e = np.zeros((0, 3)), np.zeros(0)
        if keys:
            mu = p.friction_of(keys)
            answer = p.columns(kin, keys, t_m)
            before = p.rows_of(kin, keys, u)
            e = np.where(before[:, 0] < -APPROACH * self.size, p.restitution_of(keys), 0.0)
            b = p.rows_of(kin, keys, u_f)
            b[:, 0] += e * before[:, 0]
            start = np.array([self.impulses.get(key, np.zeros(3)) for key in keys])
            names = ", ".join(dict.fromkeys(p.names[c] for c, _ in keys))
            solved = solve_cone_problem(answer.G, b.ravel(), mu, start, what=f"{names:.200} at t = {t_m:.9g} s")
            f, v = solved.f, solved.v
            u_1 = u_f + (f.ravel() @ answer.X).reshape(-1, 6)[:n]
            wrench = p.wrench_of(kin, keys, f / h)
        end = middle.copy()
        end[WIDTH * n :] = self.y[WIDTH * n :] + h * y_dot[WIDTH * n :]
        p.velocities(end)[1:] = u_1[1:]
        laws = StepLaws(t_m, end.copy(), u, u_m, h, e)
        self._drift(end, u_1, 0.5 * h)
        size = float(np.abs(f).max(initial=0.0))
        pressed = [key for key, one in zip(keys, f, strict=True) if one[0] > PRESSES * size]
        self._project(self.t + h, end, keys, pressed)
        gaps = p.at(end, pressed).gap if pressed else np.zeros(0)
        held = {key for key, gap in zip(pressed, gaps, strict=True) if abs(gap) <= HELD * self.size}
        return StepEnd(self.t + h, end, keys, f, kin.D, self._states(keys, f, v, size), wrench, held, laws)

    def accept(self, end: StepEnd) -> None:
        """Go on from the end of a step."""
        u, u_1 = self.problem.velocities(self.y), self.problem.velocities(end.y)
        struck = bool((end.laws.e > 0.0).any()) or bool(set(end.keys) - self.held)
        self.change = np.zeros_like(self.change) if struck else u_1 - u
        self.h_before = end.t - self.t
        self.t, self.y, self.held = end.t, end.y, end.held
        self.impulses = dict(zip(end.keys, end.f, strict=True))

    def _drift(self, y: Array, u: Array, h: float) -> None:
        """Move positions by h u, in place."""
        bodies = y[: WIDTH * self.problem.n].reshape(-1, WIDTH)
        bodies[1:, :3] += h * u[1:, :3]
        bodies[1:, EULER:VELOCITY] = product(bodies[1:, EULER:VELOCITY], exponential(h * u[1:, 3:]))
        bodies[1:, EULER:VELOCITY] /= np.linalg.norm(bodies[1:, EULER:VELOCITY], axis=1)[:, None]

    def _states(self, keys: list[Key], f: Array, v: Array, size: float) -> list[int]:
        """Return the state of each point by its impulse, and its velocity behind it."""
        mu, found = self.problem.friction_of(keys), []
        for k in range(len(keys)):
            if f[k, 0] <= PRESSES * size:
                found.append(OPEN)
            else:
                rests = np.hypot(v[k, 1], v[k, 2]) <= APPROACH * self.size
                found.append(STICK if mu[k] > 0.0 and rests else SLIP)
        return found

    def _project(self, t: float, y: Array, keys: list[Key], pressed: list[Key]) -> None:
        """Bring bilateral rows, and gaps of points that press or overlap, to zero; then velocities to their rows."""
        p = self.problem
        if not (keys or p.model.nc):
            return
        kept, before = p.response.kept_rows(), np.inf
        bodies = y[: WIDTH * p.n].reshape(p.n, WIDTH)
        for _ in range(ROUNDS):
            gaps = p.at(y, keys).gap
            fix = [key for key, gap in zip(keys, gaps, strict=True) if key in pressed or gap < -PROJECTED * self.size]
            p.response.factor(t, y)
            Phi = p.response.row_values()[0] * kept
            kin = p.at(y, fix)
            left = max(float(np.abs(Phi).max(initial=0.0)), float(np.abs(kin.gap).max(initial=0.0)))
            if left <= PROJECTED * self.size or left >= 0.3 * before:
                break
            before = left
            dq = p.position_change(t, kin, fix, Phi)
            bodies[1:, :3] += dq[1:, :3]
            bodies[1:, EULER:VELOCITY] = product(bodies[1:, EULER:VELOCITY], exponential(dq[1:, 3:]))
        if p.model.nc:
            u, nu = p.velocities(y), p.response.row_values()[1]
            u[1:] += p.response.solve(None, (nu - p.response.row_rates(u)) * kept, t)[1 : p.n]


class SteppedRun:
    """A run by time stepping: its stored states."""

    def __init__(
        self,
        model: Model,
        contacts: Sequence[Contact],
        start: State,
        t_end: float,
        methods: RunMethods,
        output: RunOutput,
        again: Again,
        budget: float | None,
        until: float,
        checked: bool,
    ) -> None:
        self.model, self.t_end, self.methods, self.again, self.budget, self.until = model, t_end, methods, again, budget, until
        self.problem, self.start = ContactProblem(model, contacts), start
        self.stepper = MoreauJeanStepper(self.problem, start.t, start.y)
        self.times, self.every = wanted_times(output.t_eval, start.t, t_end), output.store_every
        self.events: tuple[Event, ...] = () if checked else read_events(output.events)
        self.sensors = () if checked else all_sensors(model, output.sensors)
        self.stored: list[StepEnd] = []
        self.records: list[EventRecord] = []
        self.modes: dict[str, str] = {}
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
        first = StepEnd(s.t, s.y, [], np.zeros((0, 3)), np.zeros((0, 3, 3)), [], np.zeros((self.problem.n, 6)), set(s.held), none)
        self._store(self._at_start(first, h))
        self.modes = self._contact_states(self.stored[0])
        t0, count = s.t, 0
        while self.t_end - s.t > 1e-12 * (1.0 + abs(s.t)) and s.t < self.until:
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
            if self.budget is not None and time.perf_counter() - self.began > self.budget:
                self.status = RunStatus.BUDGET_EXHAUSTED
                return

    def _note_row(self, end: StepEnd) -> None:
        """Note the first step in which a row of touching bodies is struck, where other runs have the law of the sequence."""
        p = self.problem
        if self.notes or self.methods.impact is not None or not end.laws.e.any():
            return
        before = p.rows_of(p.at(end.laws.y, end.keys), end.keys, end.laws.u)[:, 0]
        if is_row(p.restitution_of(end.keys), before, p.pairs[[c for c, _ in end.keys]]):
            names = ", ".join(dict.fromkeys(repr(p.names[c]) for c, _ in end.keys))
            text = (
                f"at t = {end.t:.9g} s a row of touching bodies is struck ({names:.300}): MoreauJean has Newton's law for all of them at "
                "once, event-driven runs one impact after the other. Give impact=mbd.NewtonImpact() to choose this, or a small gap."
            )
            self.notes.append(RunNote("chain", text, doubtful=True))

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

    def _contact_states(self, end: StepEnd) -> dict[str, str]:
        """Return the state of each contact that presses."""
        found: dict[str, str] = {}
        for (c, _), state in zip(end.keys, end.state, strict=True):
            if state != OPEN:
                name = self.problem.names[c]
                found[name] = "slips" if state == SLIP or found.get(name) == "slips" else "sticks"
        return found

    def _watch(self, end: StepEnd) -> bool:
        """Record the events of contacts and of the user in a step; return whether a terminal one ends the run."""
        n, new = self.problem.n, self._contact_states(end)
        state = State.from_y(end.t, end.y, n)
        names = [f"{name}: touch" for name in new if name not in self.modes]
        names += [f"{name}: opens" for name in self.modes if name not in new]
        names += [
            f"{name}: {what}"
            for name, what in new.items()
            if self.modes.get(name, "slips") != what and self.problem.mu[self.problem.names.index(name)] > 0.0
        ]
        self.records += [EventRecord(name, end.t, state) for name in names]
        self.modes = new
        terminal = False
        before = State.from_y(self.stepper.t, self.stepper.y, n)
        for event in self.events:
            g, g_1 = event.value(before), event.value(state)
            if event.wants(g, g_1):
                self.records.append(EventRecord(event.name, end.t, state))
                if event.terminal:
                    terminal, self.ended_by = True, event.name
        return terminal

    def result(self, message: str) -> Result:
        """Return the result so far."""
        s, p = self.stepper, self.problem
        t, y = np.array([one.t for one in self.stored]), np.array([one.y for one in self.stored]).reshape(len(self.stored), -1)
        keys = tuple(sorted({key for one in self.stored for key, state in zip(one.keys, one.state, strict=True) if state != OPEN}))
        K, nt = len(keys), len(t)
        normal, friction, state = np.zeros((nt, K)), np.zeros((nt, K, 3)), np.zeros((nt, K), dtype=np.int64)
        wrench = np.array([one.wrench for one in self.stored]).reshape(nt, p.n, 6)
        place = {key: k for k, key in enumerate(keys)}
        for n, one in enumerate(self.stored):
            for k, key in enumerate(one.keys):
                if one.state[k] != OPEN and one.laws.h > 0.0:
                    f = one.f[k] / one.laws.h
                    normal[n, place[key]], state[n, place[key]] = f[0], one.state[k]
                    friction[n, place[key]] = f[1:] @ one.D[k, 1:]
        laws = [one.laws for one in self.stored]
        steps = [(one.keys, one.f) for one in self.stored]
        contacts = SteppedContacts(p, keys, normal, friction, state, wrench, laws, steps)
        sensors = SensorRecorder(self.sensors, lambda t, y: State.from_y(t, y, p.n))
        sensors.record(t, y)
        if self.status is not RunStatus.FAILED:
            message = end_of_run(self.status, f"at t = {s.t:.9g} s", self.t_end, budget=self.budget, ended_by=self.ended_by)
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
            _again=self.again,
            outcome=Outcome(self.status, message, ()).with_notes(self.notes),
        )


def run_by_time_stepping(
    model: Model,
    contacts: Sequence[Contact],
    start: State,
    t_end: float,
    methods: RunMethods,
    output: RunOutput,
    *,
    again: Again,
    project_velocity: bool = False,
    budget: float | None = None,
    until: float = np.inf,
    checked: bool = False,
) -> Result:
    """Return the result of a run with rigid contacts by Moreau-Jean time stepping."""
    if output.record_method:
        raise UsageError("record_method=True is not taken by MoreauJean with contacts: leave it out.")
    check_parts(model, contacts)
    _check_law(contacts, methods)
    method = methods.integrator
    if not checked:
        check_interval(method, start.t, t_end, output.store_every)
        check_drivers(model, start.t, t_end)
        start = consistent_start(model, model.pack(), start, project_velocity=project_velocity)
    with Progress(output.progress, start.t, t_end) as bar:
        run = SteppedRun(model, contacts, start, t_end, methods, output, again, budget, until, checked)
        return run.run(bar)


def _check_law(contacts: Sequence[Contact], methods: RunMethods) -> None:
    """Raise UsageError for a law of impact that time stepping does not have."""
    laws = [*((contact.where, contact.law) for contact in contacts), ("impact=", methods.impact)]
    for where, law in laws:
        if law is not None and not isinstance(law, NewtonImpact):
            raise UsageError(
                f"{where}: MoreauJean has Newton's law of impact for all points of a step at once, and not {law!r}. Use an event-driven "
                "run (RK4, DormandPrince), or NewtonImpact()."
            )
