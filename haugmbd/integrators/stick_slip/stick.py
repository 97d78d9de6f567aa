"""Stick and slip of joints with exact Coulomb friction: events at which a joint comes to rest, and at which it slips.

    begins    a joint of several rates slides along its acceleration; it ends where its speed is large enough for the steps that follow
    slides    it ends where the sliding speed along the direction at its beginning falls through zero
    slows     one of several rates slides along a fixed direction, where fixed steps would not follow its own; it ends as the two before
    sticks    its rates are zero by the friction needed (rows that are switched on); it ends where limit - |needed| falls through zero

At an event the state decides how every joint continues (`friction.release`): a joint at rest sticks if its limit is enough,
otherwise it slides.  Between events the modes are kept, so that the right-hand side is smooth and
every method keeps its order.  Changes of mode that are no stop and no slip are no events of the run: a joint that has begun to
slide, and
one of several rates that has turned by a right angle.  One that slows down under a load that only friction at rest would hold does not
stop, see `slow_sliding.slowest_speed`.
Source: Haug (2021), friction and stiction; events as in `integrators.event_location`.

Stops and slips that follow one another without end: a joint whose friction and load have no motion between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.compiled.status_codes import OK
from haugmbd.errors import SimulationError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.friction import columns as at
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.event_location import SHORTEST, EventLocator, Moment
from haugmbd.integrators.events import Event, EventRecord, Flags
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.singularities.singularity_crossing import CrossingSearch, batches_across
from haugmbd.integrators.singularities.singularity_search import may_be_singular
from haugmbd.integrators.stabilization.projection import POST_STEP
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Problem
from haugmbd.integrators.stick_slip.compiled_switches import FARTHER, SLIPS, STOPS, CompiledSwitches
from haugmbd.integrators.stick_slip.slow_sliding import SlowSliding
from haugmbd.integrators.stick_slip.watched_quantities import (
    ABOVE,
    ALONG,
    BEYOND,
    CLEAR,
    MARGIN,
    MISSING,
    Quantity,
    StickEvent,
    Watch,
    may_stick,
)
from haugmbd.integrators.watches.event_watch import POSSIBLE, EventWatch
from haugmbd.math.body_columns import VELOCITY
from haugmbd.workspace.layout import WIDTH, workspace_array

FIRST_BATCH = 8
"""Steps of the first batch after an event; each batch is twice as long."""
STILL_STEPS = 200
"""While a joint sticks, an adaptive step is at most the interval divided by this: the error control does not see the force of a joint that
does not move."""
SOON = 1e-3
"""Of the longest step while a joint sticks: within it the direction shows in which a joint begins to slide."""
ENDED_BY = {STOPS: ALONG, SLIPS: MARGIN}
"""The quantity that falls through zero where a joint of one rate stops or slips."""

ENDS: dict[float, dict[int, str]] = {
    at.SLIDES: {ALONG: "stops", ABOVE: "slows"},
    at.STICKS: {MARGIN: "slips"},
    at.BEGINS: {ALONG: "stops", MISSING: "slides"},
    at.SLOWS: {ALONG: "stops", MISSING: "slides"},
}
"""By mode: the quantities that end it where they fall through zero, and what the joint does there."""


def batches_with_stick(
    method: Integrator, problem: Problem, k1: Array, t_end: float, search: CrossingSearch | None = None
) -> Iterator[StepBatch]:
    """Yield the batches of `method`; they end at the events at which a joint comes to rest or slips.

    search: that for singular configurations, if it continues from one part of a run to the next
    """
    if not isinstance(problem.state_space, MaximalStateSpace) or not may_stick(problem.state_space.model):
        yield from batches_across(method, problem, k1, t_end, search)
        return
    unseen = method.tolerances[1] * float(method.units(problem)[0]) if method.step is None else 0.0
    stick = _Stick(problem, problem.state_space, t_end, method, unseen)
    while problem.t < t_end:
        decided = stick.decide(k1)
        looks = stick.begin_look()
        stick.begin_segment(looks=looks)
        last = Moment(problem.t, problem.y.copy(), k1.copy())
        rates: Array | None = last.y_dot
        problem.first_batch = None if looks else FIRST_BATCH
        limited = method.limited(stick.h_still) if stick.is_still else method
        for batch in batches_across(limited, problem, k1, t_end, search):
            stick.watch.leave_workspace()
            stopped = problem.pack.callback.take_error()  # the watch calls the functions again at states before it
            if stopped is not None and not isinstance(stopped, Exception):
                raise stopped  # Ctrl-C
            cut, records, ended = stick.cut(last, batch)
            if not ended:
                problem.pack.callback.error = stopped
            yield cut._replace(start_rates=rates, events=(*decided, *records))
            rates, decided = None, ()
            if ended:
                problem.t, problem.y[:] = float(cut.t[-1]), cut.y[-1]
                stick.end()
                break
            if batch.code != OK:
                return
            if len(batch.t):
                last = Moment(float(batch.t[-1]), batch.y[-1].copy(), batch.y_dot[-1].copy())
        else:
            return


class _Stick:
    """The modes of a run;  unseen: see `EventTimes`."""

    def __init__(self, problem: Problem, state_space: MaximalStateSpace, t_end: float, method: Integrator, unseen: float) -> None:
        self.problem, self.state_space, self.method, self.h = problem, state_space, method, method.step or 0.0
        self.watch = Watch(state_space.model, problem.pack.callback)
        self.modes = workspace_array(problem.pack, "FRICTION_MODES")
        self.ints = state_space.model.tables["FRICTION_INTS"]
        self.loads = state_space.model.loads_of(JointFriction)
        self.slow = SlowSliding(problem, state_space, self.watch, self.modes, self.h)
        self.times = EventTimes(t_end - problem.t, unseen)
        self.h_still = (t_end - problem.t) / STILL_STEPS
        self._more = np.zeros(len(self.loads))
        self._recorded: dict[str, float] = {}
        self.ended: list[tuple[int, int]] = []
        self._starts, self._looked, self._ended_in_kernels = 0, 0.0, False
        self._locator: EventLocator | None = None

    @cached_property
    def _watch_by_columns(self) -> Watch:
        """The watch of a model whose friction is found by sweeps or by locks, for the rates that these leave out."""
        return Watch(self.state_space.model, self.problem.pack.callback, by_columns=True)

    @cached_property
    def _looks(self) -> EventWatch | None:
        """The watch of the steps in compiled code; None where the steps have another one, or leave no terms of friction at their ends."""
        p, model = self.problem, self.state_space.model
        callbacks = model.force_callbacks
        called = (callbacks.any and not callbacks.compiled) or model.network is not None
        known = p.post_step is POST_STEP and p.pack.python_solver is NO_CALLBACK and not may_be_singular(model)
        if called or not known or len(p.events.places):
            return None
        return self.watch.look(workspace_array(p.pack, "FRICTION_TERMS"), p.y.size)

    @cached_property
    def _kernels(self) -> CompiledSwitches | None:
        """The switches in compiled code; None where Python makes them."""
        method = self.method
        if self._looks is None or not isinstance(method, RungeKutta) or not CompiledSwitches.suit(method, self.ints):
            return None
        columns = self._watch_by_columns if self._has_no_columns else None
        return CompiledSwitches(self.problem, method, self.watch, columns, self.modes, self._more)

    @property
    def _has_no_columns(self) -> bool:
        """Whether the watch finds friction by sweeps or by locks, without the rates by friction of each channel."""
        return bool(len(self.state_space.model.tables["FRICTION_PATHS"]) or (self.ints[:, at.CHILD] >= 0).all())

    def begin_look(self) -> bool:
        """Let compiled code look for the ends of modes in the steps that follow; return whether it does."""
        if self._looks is None:
            return False
        self.problem.events = self._looks
        self.watch.begin_look(self._looks, self.problem.t, self._more)
        return True

    def begin_segment(self, *, looks: bool) -> None:
        """Begin a segment of the run;  looks: whether compiled code looks for its end."""
        self._looked, self._locator = float(self.problem.events.state.looked), None
        if not looks or self._kernels is None:
            self._locator = EventLocator(self.events(), self.problem, self.method, self.need, looks=looks)

    def cut(self, last: Moment, batch: StepBatch) -> tuple[StepBatch, tuple[EventRecord, ...], bool]:
        """Return the batch up to the end of the segment, the stops and slips there, and whether it ends;  last: the moment before it."""
        self._ended_in_kernels, locator, looked = False, self._locator, self._looked
        self._looked = float(self.problem.events.state.looked)
        if locator is None:
            found = self._cut_in_kernels(last, batch) if self._looked - looked == len(batch.t) else None
            if found is not None:
                return found
            locator = EventLocator(self.events(), self.problem, self.method, self.need, looks=True)
            locator.begin_after(looked)
        cut, records, ended = locator.cut(last, batch)
        if ended:
            self.ended = [(event.function.k, event.function.which) for event in locator.ending if isinstance(event, StickEvent)]
        return cut, self.stops_and_slips(records), ended

    def _cut_in_kernels(self, last: Moment, batch: StepBatch) -> tuple[StepBatch, tuple[EventRecord, ...], bool] | None:
        """Return the same by compiled code; None where it cannot tell."""
        kernels = self._kernels
        assert kernels is not None
        if not len(batch.t) or self.problem.events.state.found != POSSIBLE:
            return batch, (), False
        start = last if len(batch.t) == 1 else Moment(float(batch.t[-2]), batch.y[-2], batch.y_dot[-2])
        joints = kernels.cut(start, batch)
        if joints is None:
            return None
        if joints:
            self.ended, self._ended_in_kernels = [(k, ENDED_BY[what]) for k, what in joints], True
        return batch, self._records(joints, float(batch.t[-1]), batch.y[-1], stops_again=True), bool(joints)

    @property
    def is_still(self) -> bool:
        """Whether a joint sticks."""
        return bool((self.modes[:, at.MODE] == at.STICKS).any())

    def need(self, code: int, t: float) -> None:
        """Raise the error of a code that is not OK."""
        if code != OK:
            raise self.state_space.error(self.problem.pack, code, t)

    def decide(self, k1: Array) -> tuple[EventRecord, ...]:
        """Decide how every joint continues from the state of the problem, and write its rates to k1.

        Return the stops and slips of joints whose own event would have come so soon that it is of this instant, and has not been located.
        """
        p, watch = self.problem, self.watch
        self._count(p.t)
        if self._ended_in_kernels and self._kernels is not None:
            joints = self._kernels.decide(k1, self.times.have_moved())
            if joints is not None:
                self._starts += 1
                return self._records(joints, p.t, p.y)
            watch.remember(self._kernels.known)
        known = p.modes_before if self._starts == 0 else None
        p.modes_before, before = None, self.modes.copy() if known is None else known
        fastest = [watch.fastest(k) if self._starts else np.inf for k in range(len(self.loads))]
        stopped = self._stop_slid_joints()
        self.modes[:] = watch.modes[:] = 0.0
        watch.modes[stopped, at.FAST] = np.inf  # what is left of their speeds is rounding
        watch.forget()
        watch.at(p.t, p.y, self.state_space)
        self.slow.turn_on(stopped)
        terms = watch.terms
        for k, load in enumerate(self.loads):
            if load.is_exact:
                n = load.channels
                arm = terms[k, at.ARM : at.ARM + n]
                self.modes[k, at.MODE] = terms[k, at.STATE]
                self.modes[k, at.AGAINST : at.AGAINST + n] = terms[k, at.DIRECTION : at.DIRECTION + n] / arm
        self._keep_slips()
        self._stop([k for k in range(len(self.ints)) if self.modes[k, at.MODE] == at.STICKS])
        slow = [k for k, row in enumerate(self.ints) if self.modes[k, at.MODE] == at.SLIDES and row[at.CHANNELS] > 1]
        if slow:
            self.slow.set_modes(slow, before)
        watch.modes[:] = self.modes
        p.options.n_since_projection = np.inf
        self.need(p.post_step(p.pack, p.options, p.t, p.y, k1), p.t)
        watch.measure(k1)
        self._relocate_slip()
        self._starts += 1
        return self._changes(before, fastest)

    def _changes(self, before: Array, fastest: list[float]) -> tuple[EventRecord, ...]:
        """Return the stops and slips of joints of one rate by which the modes `before` differ from those now, without known ones.

        fastest: speed of each joint since its mode began [m/s]; one that has not moved has not stopped
        """
        changes = []
        for k in range(len(self.loads)):
            was, now = before[k, at.MODE], self.modes[k, at.MODE]
            if self.ints[k, at.CHANNELS] > 1:
                continue
            turns = now == at.SLIDES and before[k, at.AGAINST] * self.modes[k, at.AGAINST] < 0.0
            if was == at.SLIDES and (now == at.STICKS or turns) and fastest[k] > at.REST:
                changes.append((k, STOPS))
            if was == at.STICKS and now == at.SLIDES and self._starts > 1:  # slips at the start are known, see `slips`
                changes.append((k, SLIPS))
        return self._records(changes, self.problem.t, self.problem.y)

    def _records(
        self, joints: Sequence[tuple[int, int]], t: float, y: Array, *, stops_again: bool = False
    ) -> tuple[EventRecord, ...]:
        """Return records of what joints do, at a state, and have not done at this instant;  stops_again: or of stops."""
        new = [(k, what) for k, what in joints if self._is_new(self._name(k, what), t) or (stops_again and what == STOPS)]
        if not new:
            return ()
        state = self.state_space.state(t, y.copy())
        return tuple(EventRecord(self._name(k, what), t, state) for k, what in new)

    def _name(self, k: int, what: int) -> str:
        """Return the name of an event of joint k."""
        return f"{self.loads[k].name} {'stops' if what == STOPS else 'slips'}"

    def _is_new(self, name: str, t: float) -> bool:
        """Return whether an event has not been recorded at this instant, and note that it is."""
        before, self._recorded[name] = self._recorded.get(name, -np.inf), t
        return t - before > self.times.short(t)

    def _keep_slips(self) -> None:
        """Let joints slide that have begun to slip at the start, and would stick, if friction of sliding lets them."""
        p, watch = self.problem, self.watch
        slips, p.slips = p.slips, None
        if slips is None:
            return
        joints = [k for k in range(len(self.ints)) if slips[k, at.MODE] and self.modes[k, at.MODE] == at.STICKS]
        while joints:
            modes = self.modes.copy()
            modes[joints] = slips[joints]
            watch.modes[:] = modes
            watch.forget()
            soon = self.h_still * SOON
            rates = self._rates(modes)
            along = watch.at(p.t + soon, p.y + soon * rates, self.state_space)[:, ALONG]
            back = [k for k in joints if not along[k] > CLEAR * BEYOND * watch.units[k, 0]]
            if not back:
                self.modes[:] = modes
                p.slipped = joints
                return
            joints = [k for k in joints if k not in back]

    def _rates(self, modes: Array) -> Array:
        """Return the rates at the state of the problem with other modes, (ny,)."""
        p, kept = self.problem, self.modes.copy()
        self.modes[:], rates = modes, np.zeros_like(p.y)
        self.need(p.rates(p.pack, p.options, p.t, p.y, rates), p.t)
        self.modes[:] = kept
        return rates

    def _relocate_slip(self) -> None:
        """Locate slips farther beyond their limits.

        That of a joint that has slipped without any motion and sticks again, and that of one that sticks and is beyond its limit by
        rounding.
        """
        if self.times.have_moved():
            self._more[:] = 0.0
        else:
            for k in self._ended(MARGIN):
                if self.modes[k, at.MODE] == at.STICKS:
                    self._more[k] = FARTHER * max(self._more[k], self.watch.beyond(k, MARGIN))
        if not self.is_still:
            return
        margins = self.watch.at(self.problem.t, self.problem.y, self.state_space)[:, MARGIN]
        for k in np.flatnonzero((self.modes[:, at.MODE] == at.STICKS) & (margins + self._more <= 0.0)).tolist():
            self._more[k] = FARTHER * max(-margins[k], self.watch.beyond(k, MARGIN))

    def _stop_slid_joints(self) -> list[int]:
        """Bring joints to rest that do not slide along their directions any more, as friction would in less than a step; return them.

        These are slow joints of several rates, and joints of one rate at the instant at which they stop. Joints that stick take part in
        their impulses, and remain at rest.
        """
        one = (self.ints[:, at.CHANNELS] == 1) & (self.modes[:, at.MODE] == at.SLIDES)
        slow = np.isin(self.modes[:, at.MODE], (at.BEGINS, at.SLOWS)) | (one & self._ended_by_a_stop())
        if not slow.any():
            return []
        p, watch = self.problem, self.watch
        watch.forget()
        along = watch.at(p.t, p.y, self.state_space)[:, ALONG]
        ended: list[int] = np.flatnonzero(slow & (self._ended_by_a_stop() | (along <= CLEAR * BEYOND * watch.units[:, 0]))).tolist()
        if ended:
            watch.modes[ended, at.MODE] = at.STICKS
            watch.at(p.t, p.y, self.state_space, columns_alone=True)
            self._stop(np.flatnonzero(watch.modes[:, at.MODE] == at.STICKS).tolist())
        return ended

    def _stop(self, joints: list[int]) -> None:
        """Remove the rates of joints that stick in the last state watched, by the impulses of friction that do it.

        Those that other joints hold there, such as a piston at its dead centre, are left: the impulse would stop the machine.
        """
        if not joints:
            return
        watch = self.watch
        if self._has_no_columns:
            watch = self._watch_by_columns
            watch.modes[:] = 0.0
            watch.modes[joints, at.MODE] = at.STICKS
            watch.at(self.problem.t, self.problem.y, self.state_space, columns_alone=True)
        gives_way = watch.gives_way()
        channels = [
            (int(self.ints[k, at.FIRST]) + c, watch.terms[k, at.RATE + c])
            for k in joints
            for c in range(self.ints[k, at.CHANNELS])
            if gives_way[self.ints[k, at.FIRST] + c]
        ]
        if not channels:
            return
        X, which = workspace_array(watch.pack, "FRICTION_COLUMNS"), np.array([c for c, _ in channels])
        G = watch.rates_by_friction()[np.ix_(which, which)]
        units = 1.0 / np.sqrt(np.diagonal(G))  # in which each gives way alike, of heavy and of light bodies
        rates = np.array([rate for _, rate in channels])
        impulses = units * least_squares(units[:, None] * G * units, -units * rates)
        n = self.state_space.model.nb + 1
        change = (impulses @ X[which])[: 6 * n].reshape(n, 6)
        self.problem.y[: WIDTH * n].reshape(n, WIDTH)[1:, VELOCITY:] += change[1:]

    def _ended_by_a_stop(self) -> Flags:
        """Return which joints' stops have ended the last segment, (nf,)."""
        ended = np.zeros(len(self.loads), dtype=bool)
        ended[self._ended(ALONG)] = True
        return ended

    def _ended(self, which: int) -> list[int]:
        """Return the joints of which this quantity has ended the last segment."""
        return [k for k, what in self.ended if what == which]

    def events(self) -> tuple[Event, ...]:
        """Return the events that end the segment."""
        found: list[Event] = []
        for k, load in enumerate(self.loads):
            for which, what in ENDS.get(self.modes[k, at.MODE], {}).items():
                if which == ABOVE and self.modes[k, at.FAST] == 0.0:
                    continue  # a joint of one rate
                more = float(self._more[k]) if which == MARGIN else 0.0
                quantity = Quantity(self.watch, self.state_space, k, which, more)
                found.append(StickEvent(f"{load.name} {what}", quantity, direction=-1, terminal=True))
        return tuple(found)

    def stops_and_slips(self, records: Sequence[EventRecord]) -> tuple[EventRecord, ...]:
        """Return the records that are events of the run.

        A joint of several rates that slides on, or turns, has not stopped; one that slips, sticks and slips at once has slipped once.
        """
        kept = []
        for record in records:
            self.watch.at(record.t, record.state.y, self.state_space)
            rests = (self.ints[:, at.CHANNELS] == 1) | np.isin(self.modes[:, at.MODE], (at.BEGINS, at.SLOWS))
            rests |= self.watch.terms[:, at.SPEED] <= at.REST
            rests &= ~self.slow.turns
            slips = {f"{load.name} slips" for load in self.loads}
            stops = {f"{load.name} stops" for k, load in enumerate(self.loads) if rests[k]}
            is_new = self._is_new(record.name, record.t)
            if record.name in stops or (record.name in slips and is_new):
                kept.append(record)
        return tuple(kept)

    def end(self) -> None:
        """End a segment by the joints in `ended`."""
        known = self._kernels.known if self._ended_in_kernels and self._kernels is not None else None
        speeds = [self.watch.fastest(k) if known is None else float(known[:, k, ALONG].max()) for k, _ in self.ended]
        self.times.add_speed(max(speeds, default=np.nan))

    def _count(self, t: float) -> None:
        """Raise SimulationError if events follow one another without end."""
        self.times.add(t)
        if self.times.have_no_end():
            names = ", ".join(repr(load.name) for load in self.loads if load.is_exact)
            steps = f"a smaller h than {self.h:.3g} s, or rtol=, where other bodies are fast, or " if self.h > 0.0 else ""
            raise SimulationError(
                f"friction {names} stops and slips without end at t = {t:.9g} s. Give {steps}a smooth law there, such as "
                "Coulomb(mu, velocity=1e-4) or BrownMcPhee."
            )


def least_squares(G: Array, rates: Array) -> Array:
    """Return the shortest impulses f of which |G f - rates| is least; of one channel without a call of LAPACK, with its numbers."""
    alone = len(rates) == 1 and G[0, 0] > 0.0
    impulses: Array = np.asarray(rates * (1.0 / G[0]) if alone else np.linalg.lstsq(G, rates, rcond=1e-10)[0], dtype=np.float64)
    return impulses


AT_ONCE, MOST_AT_ONCE = 1e-9, 40
"""More than MOST_AT_ONCE events within AT_ONCE of the run, and the rounding of the time, have no end."""
SOON_AFTER = 1e-3
"""So have as many within SOON_AFTER of the run, if joints slide between them by less than the absolute tolerance in all: error control lets
steps pass within which a joint turns back, so that their length is that of its errors."""


class EventTimes:
    """The times of the stops and slips of a run.

    span: [s] of the run;  unseen: the way [m] that error control does not see, 0 without
    """

    def __init__(self, span: float, unseen: float) -> None:
        self.at_once, self.soon, self.unseen = AT_ONCE * span, SOON_AFTER * span, unseen
        self._times: list[float] = []
        self._speeds: list[float] = []

    def short(self, t: float) -> float:
        """Return the time [s] within which events are at once, at t."""
        return self.at_once + SHORTEST * abs(t)

    def add(self, t: float) -> None:
        """Add an event."""
        self._times.append(t)

    def add_speed(self, speed: float) -> None:
        """Add the largest speed [m/s] of the joint that the next event is of, since the last one; NaN for other events."""
        self._speeds.append(speed)

    def have_moved(self) -> bool:
        """Return whether time has passed between the last two events."""
        return len(self._times) < 2 or self._times[-1] - self._times[-2] > SHORTEST * (1.0 + abs(self._times[-1]))  # noqa: PLR2004

    def have_no_end(self) -> bool:
        """Return whether the last events follow one another at once, or soon and almost without motion."""
        recent = np.array(self._times[-MOST_AT_ONCE:])
        short = self.short(recent[-1])
        if len(recent) < MOST_AT_ONCE or recent[-1] - recent[0] > max(short, self.soon):
            return False
        ways = np.diff(recent) * self._speeds[1 - MOST_AT_ONCE :]
        return bool(recent[-1] - recent[0] <= short or ways.sum() <= self.unseen)
