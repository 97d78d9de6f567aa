r"""The simulation of a motion with impacts: smooth segments, and transitions between them.

    segment      the equations of motion with the closed contacts as rows, until an open contact meets or a closed one would pull
    transition   for all contacts that touch:   velocities jump, by `impulse`, if one of them approaches
                                                contacts at rest close, and those that pull open, by `resting_contacts`

A cascade of bounces ends because the bounces get lower; the first one that is too low closes the contact.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from haugmbd.contact.impulse import impulse
from haugmbd.contact.impulse_result import Impulse
from haugmbd.contact.motion.contact_events import LEAN, TOUCH, contact_events
from haugmbd.contact.motion.contact_modes import ContactModes
from haugmbd.contact.motion.impact_result import Impact, ImpactResult
from haugmbd.contact.motion.resting_contact import RestingContacts, approach, resting_contacts
from haugmbd.diagnostics.joint_coordinate import counting_turns
from haugmbd.diagnostics.lift_off import sampled_lift_off_notes
from haugmbd.diagnostics.run_warnings import RunStatus, joined, with_model_notes
from haugmbd.errors import SimulationError, UsageError
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.initial_state import projected
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.model.state import State
from haugmbd.simulation.progress import Progress
from haugmbd.simulation.result import Result
from haugmbd.simulation.run import Recorded, Run
from haugmbd.simulation.sensor import Sensor

CLOSED_STEPS = 200
"""While a contact is closed, an adaptive step is at most the whole interval divided by this number.  The error control does not see the
force of a closed contact, because it does not move anything."""
LAST = 1e-12
"""Relative to |t| + 1 s: the interval left when the simulation is complete; integrators make no such step."""


class HybridSimulation:
    """One motion with impacts in progress: the segments and impacts so far."""

    def __init__(
        self,
        mechanism: ContactModes,
        method: Integrator,
        rule: Stabilization,
        t_end: float,
        every: int,
        most: float,
        settings: dict[str, str],
        sensors: tuple[Sensor, ...] = (),
    ) -> None:
        self.mechanism, self.method, self.rule, self.t_end, self.every = mechanism, method, rule, t_end, every
        self.most, self.settings = most, settings
        self.sensors = tuple(map(counting_turns, sensors))  # once: turns go on from segment to segment
        self.segments: list[Result] = []
        self.impacts: list[Impact] = []
        self.rest = RestingContacts({}, frozenset())
        self.h_closed = np.inf
        self._turns: list[tuple[float, str]] = []

    def run(self, start: State, bar: Progress) -> ImpactResult:
        """Run to the end, to Ctrl-C, or to an error that contains the result so far."""
        try:
            return self._result(interrupted=self._run(start, bar))
        except KeyboardInterrupt:
            return self._result(interrupted=True)
        except Exception as error:
            partial = getattr(error, "result", None)
            if isinstance(partial, Result):
                self.segments.append(partial)
            error.result = self._result(interrupted=False, error=error)  # type: ignore[attr-defined]
            raise

    def _run(self, state: State, bar: Progress) -> bool:
        """Run segment after segment from `state`; return whether Ctrl-C ended it."""
        self.h_closed = (self.t_end - state.t) / CLOSED_STEPS
        met: tuple[str, ...] = ()
        leaving: frozenset[str] = frozenset()
        while True:
            state, hit = self._turn(state, met, leaving)
            segment, met, leaving = self._piece(state, hit, bar)
            self.segments.append(segment)
            self.mechanism.observe(segment.r)
            if segment.interrupted or not segment.events:
                return segment.interrupted
            state = segment.state()
            if self.t_end - state.t <= LAST * (1.0 + abs(state.t)):
                return False
            self._count(state.t, segment.events[-1].name)

    def _turn(self, state: State, met: tuple[str, ...], leaving: frozenset[str]) -> tuple[State, set[str]]:
        """Return the state after the jump at `state`, if there is one, and the contacts that have struck; resting contacts are updated.

        met: contacts that touch by an event;  leaving: contacts that would pull
        """
        m = self.mechanism
        gaps, allowed = m.gaps(state), TOUCH * m.size
        touching = [
            name for name, gap in zip(m.names, gaps, strict=True) if gap <= allowed or name in self.rest.closed or name in met
        ]
        hit: set[str] = set()
        if approach(m, state, touching):
            after_impact = self._struck(state, touching)
            hit = {name for name, f in after_impact.normal.items() if f > 0.0}
            if hit:
                self.impacts.append(Impact(state.t, after_impact))
                state = after_impact.state
        before = set(self.rest.closed)
        self.rest = resting_contacts(m, state, touching, leaving)
        if set(self.rest.closed) - before:
            model = m.model(self.rest.closed, state)
            state = projected(model, model.pack(), state)
        return state, hit

    def _struck(self, state: State, touching: list[str]) -> Impulse:
        """Return the impulses of the contacts that touch.  Raise SimulationError if there is no solution."""
        m = self.mechanism
        try:
            return impulse(m.free, state, contacts=[m.contacts[name] for name in touching], touching=False)
        except UsageError as error:
            raise SimulationError(f"the impact at t = {state.t:.9g} s has no solution: {error}") from error

    def _piece(self, state: State, hit: set[str], bar: Progress) -> tuple[Result, tuple[str, ...], frozenset[str]]:
        """Return the smooth segment from `state`, the open contact that ends it, and the closed contact that ends it."""
        m, t, closed = self.mechanism, state.t, self.rest.closed
        model = m.model(closed, state)
        rate = dict(zip(m.names, m.gap_rates(state), strict=True))
        flying = {name: float(rate[name]) for name in hit - self.rest.still}
        gaps, size = m.gaps(state), m.size
        near = {
            name: max(LEAN * size, -2.0 * gap)
            for name, gap in zip(m.names, gaps, strict=True)
            if gap <= TOUCH * size and name not in flying
        }
        events = contact_events(model, m.placed, closed, flying, near, t, size)
        rule = self.rule
        pack = rule.fitted(model, model.pack())
        method = self.method.limited(self.h_closed) if closed else self.method
        problem = Problem(MaximalStateSpace(model), pack, rule.rates, rule.post_step, rule.options(), t, state.y)

        def record(found: Recorded) -> Result:
            steps, restored = found.counters.steps, found.energy_restored
            outcome = with_model_notes(found.outcome, model, found.t, found.y, steps, restored)
            outcome = outcome.with_notes(sampled_lift_off_notes(model, found.t, found.y))
            return Result(
                model,
                found.t,
                found.y,
                counters=found.counters,
                settings=self.settings,
                interrupted=found.interrupted,
                events=found.events,
                _sensors=found.sensors,
                _turns=found.turns,
                outcome=outcome,
            )

        segment = Run(problem, method, self.t_end, None, self.every, record, tuple(events.values()), self.sensors).go_under(bar)
        ended = tuple(name for name, event in events.items() if segment.events and event.name == segment.events[-1].name)
        return segment, tuple(n for n in ended if n not in closed), frozenset(n for n in ended if n in closed)

    def _count(self, t: float, what: str) -> None:
        """Raise SimulationError if transitions occur more often than the limit."""
        self._turns.append((t, what))
        if len(self._turns) <= self.most:
            return
        recent = self._turns[-int(self.most) - 1 :]
        if t - recent[0][0] >= 1.0:
            return
        often = ", ".join(f"{name!r} {n} times" for name, n in Counter(name for _, name in recent).most_common(3))
        raise SimulationError(
            f"more than {self.most:g} impacts and openings of contacts in a second of simulated time, from t = {recent[0][0]:.9g} s "
            f"to t = {t:.9g} s: {often}. A body bounces faster and faster between others, or a restitution is so close to 1 "
            "that its cascade is long: give a smaller restitution, or a larger most_per_second=."
        )

    def _result(self, interrupted: bool, error: Exception | None = None) -> ImpactResult:
        """Return the result so far."""
        now = self.segments[-1].t[-1] if self.segments and len(self.segments[-1]) else None
        at = "at the start" if now is None else f"at t = {now:.9g} s"
        if error is not None:
            status, message = RunStatus.FAILED, f"{type(error).__name__}: {error}"
        elif interrupted:
            status, message = RunStatus.INTERRUPTED, f"interrupted by Ctrl-C {at}, before t_end = {self.t_end:.9g} s"
        else:
            status, message = RunStatus.COMPLETED, f"reached t_end = {self.t_end:.9g} s"
        outcome = joined((segment.outcome for segment in self.segments), status, message)
        return ImpactResult(
            self.mechanism,
            tuple(self.segments),
            tuple(self.impacts),
            settings=self.settings,
            interrupted=interrupted,
            outcome=outcome,
        )
