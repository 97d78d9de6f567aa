r"""Stick and slip of joints with exact Coulomb friction: events at which a joint comes to rest, and at which it slips.

    begins    a joint of several rates slides along its acceleration; it ends where its speed is large enough for the steps that follow
    slides    it ends where the sliding speed along the direction at its beginning falls through zero
    slows     one of several rates slides along a fixed direction, where fixed steps would not follow its own; it ends as the two before
    sticks    its rates are zero by the friction needed (rows that are switched on); it ends where limit - |needed| falls through zero

At an event the state decides how every joint continues (`model.friction.loop.release`): a joint at rest sticks if its limit is enough,
otherwise it slides.  Between events the modes are kept, so that the right-hand side is smooth and
every method keeps its order.  Changes of mode that are no stop and no slip are no events of the run: a joint that has begun to slide, and
one of several rates that has turned by a right angle.  One that slows down under a load that only friction at rest would hold does not
stop, see `sharp_turn`.
Source: Haug (2021), friction and stiction; events as in `integrators.event_location`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED, FRICTION_UNDECIDED, OK
from haugmbd.errors import SimulationError
from haugmbd.forces.friction.joint_friction import JointFriction
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.event_location import SHORTEST, EventLocator, Moment
from haugmbd.integrators.events import Event, EventRecord, Flags
from haugmbd.integrators.sharp_turn import slowest_speed
from haugmbd.integrators.singularities.singularity_crossing import CrossingSearch, batches_across
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Problem
from haugmbd.kkt.solver_routines import without_sweeps
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.friction import columns as at
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack, place_in, workspace_array

FIRST_BATCH = 8
"""Steps of the first batch after an event; each batch is twice as long."""
STILL_STEPS = 200
"""While a joint sticks, an adaptive step is at most the interval divided by this: the error control does not see the force of a joint that
does not move."""
BEYOND = 1e-12
"""Relative to the units of a joint, and to its limit: an event is located so far beyond zero.  A joint that starts at zero, and continues,
has no event, and one that turns back has."""
TINY = 1e-300
"""Instead of 0 in a denominator."""
LARGEST_UNIT = 1.0
"""[m/s, N] Units of speed and of load: those of the motion, see `Watch.measure`, where they are smaller."""
CLEAR = 4.0
"""Times BEYOND: larger quantities are not near their event."""
FARTHER = 10.0
"""By so many times beyond zero the event of a joint is located that slips and sticks again in no time: one without load and limit, whose
need grows faster than its limit."""
AT_ONCE, MOST_AT_ONCE = 1e-9, 40
"""More than MOST_AT_ONCE events within AT_ONCE of the run, and the rounding of the time, have no end."""
SOON = 1e-3
"""So have as many within SOON of the run, if joints slide between them by less than the absolute tolerance in all: error control lets steps
pass within which a joint turns back, so that their length is that of its errors."""
ALONG, MARGIN, MISSING, ABOVE = 0, 1, 2, 3
"""Watched: the speed along the mode, the limit less the friction needed, what a slow joint of several rates lacks of the speed at which it
follows its velocity, and by how much a fast one is faster."""
QUANTITIES = 4
ENOUGH = 0.999
"""Times the speed at which a joint has begun to slide: what a located event has reached."""
BEGUN, SLOWEST = 3e-5, 3e-6
"""Relative to sqrt(f_t |A| L), the speed that friction stops on half the length of the model: that at which a joint of several rates has
begun to slide, at least; it leaves 5e-10 L of a slip, ten times this speed 5e-8 L. The direction is then that of the velocity, which turns
at the rate f_t |A| / speed, down to the speed at which it is fixed."""
MOVING = 10.0 * at.REST
"""[m/s] That speed at least, as of a joint that friction does not stop, because a driver moves it."""
FASTER = 1.5
"""Times the speed below which a joint slows: where it follows its velocity again."""
STEP_RATE = 1.0
"""h times this rate at that speed, at most: what an explicit step of h follows."""


UNSOLVED_FRICTION = (FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED, FRICTION_UNDECIDED)

ENDS: dict[float, dict[int, str]] = {
    at.SLIDES: {ALONG: "stops", ABOVE: "slows"},
    at.STICKS: {MARGIN: "slips"},
    at.BEGINS: {ALONG: "stops", MISSING: "slides"},
    at.SLOWS: {ALONG: "stops", MISSING: "slides"},
}
"""By mode: the quantities that end it where they fall through zero, and what the joint does there."""


@entry
def watch_entry(P: Pack, t: Array, y: Array, units: Array, out: Array) -> tuple[int, int]:
    """Write the quantities of every joint at states y (n, ny) to out (n, 4 nf); return the code and the number done.

    units: (nf, 2) of speed [m/s] and load [N], see `Watch.measure`
    """
    ints, terms, modes = ws.friction_ints(P), ws.friction_terms(P), ws.friction_modes(P)
    for n in range(t.shape[0]):
        code = accelerate(P, t[n], y[n])
        if code != OK:
            return code, n
        for k in range(ints.shape[0]):
            along = 0.0
            for c in range(ints[k, at.CHANNELS]):
                along += terms[k, at.ARM + c] * terms[k, at.RATE + c] * modes[k, at.AGAINST + c]
            out[n, QUANTITIES * k + ALONG] = along + BEYOND * units[k, 0]
            out[n, QUANTITIES * k + MARGIN] = terms[k, at.MARGIN] + BEYOND * (units[k, 1] + terms[k, at.LIMIT])
            out[n, QUANTITIES * k + MISSING] = modes[k, at.FAST] - terms[k, at.SPEED]
            out[n, QUANTITIES * k + ABOVE] = terms[k, at.SPEED] - modes[k, at.FAST]
    return OK, t.shape[0]


class Watch:
    """The quantities of the joints at many states, evaluated once for all of them, in a workspace of their own.

    by_columns: also where friction is found by sweeps over a forest, which leave no rates by the friction of each channel
    """

    def __init__(self, model: Model, *, by_columns: bool = False) -> None:
        pack = model.pack()
        self.model, self.pack = model, pack._replace(ints=without_sweeps(pack.ints)) if by_columns else pack
        self.modes = workspace_array(self.pack, "FRICTION_MODES")
        self.terms = workspace_array(self.pack, "FRICTION_TERMS")
        self.units = np.full((len(self.modes), 2), LARGEST_UNIT)
        self.solved = False
        self._seen: list[tuple[Array, Array]] = []

    def forget(self) -> None:
        """Forget the states of the last segment."""
        self._seen = []

    def over(self, t: Array, y: Array) -> Array:
        """Return the quantities (n, nf, 4) at flat states y (n, ny); NaN from the first state on that has no solution."""
        for states, values in self._seen:
            if states is y:
                return values
        out = np.full((len(t), QUANTITIES * len(self.modes)), np.nan)
        code, done = watch_entry(self.pack, for_kernels(t), for_kernels(y), self.units, out)
        self.pack.callback.keep_interruption(code)
        if code != OK:
            error = self.pack.callback.take_error()
            if error is not None and not isinstance(error, Exception):
                raise error  # Ctrl-C; an error is raised again at the single state
            out[done:] = np.nan
        values = out.reshape(len(t), -1, QUANTITIES)
        self._seen = [*self._seen[-1:], (y, values)]  # the ends of steps, and their middles
        return values

    def fastest(self, k: int) -> float:
        """Return the largest speed [m/s] of joint k along its mode, in the states that were watched last."""
        return float(max(values[:, k, ALONG].max() for _, values in self._seen))

    def at(self, t: float, y: Array, state_space: MaximalStateSpace, *, columns_alone: bool = False) -> Array:
        """Return the quantities (nf, 4) at one state.  Raise the error of a state that has no solution.

        columns_alone: whether `rates_by_friction` is wanted alone, which is known before friction is solved for
        """
        out = np.zeros((1, QUANTITIES * len(self.modes)))
        code, _ = watch_entry(self.pack, np.array([t]), np.array(y)[None], self.units, out)
        self.solved = code == OK
        if code != OK and not (columns_alone and code in UNSOLVED_FRICTION):
            raise state_space.error(self.pack, code, t)
        return out.reshape(-1, QUANTITIES)

    def measure(self, y_dot: Array) -> None:
        """Take the units of each joint from the last state, with rates y_dot.

        Load: force and inertia of its body that has the smaller ones, torques by the length of the model.  Speed: that which the largest
        load by mass gives on this length.  LARGEST_UNIT where all are zero.
        """
        model = self.model
        n = model.nb + 1
        u_dot = y_dot[: WIDTH * n].reshape(n, WIDTH)[:, VELOCITY:]
        Q = np.abs(workspace_array(self.pack, "Q"))[:n]
        forces = Q[:, :3] + model.mass[:, None] * np.abs(u_dot[:, :3])
        torques = Q[:, 3:] + np.abs(np.einsum("kab,kb->ka", model.J_bar, u_dot[:, 3:]))
        loads = np.r_[0.0, (forces.max(axis=1) + torques.max(axis=1) / model.length)[1:]]
        of_joints = loads[model.tables["FRICTION_INTS"][:, [at.BODY_I, at.BODY_J]]]
        self.units[:, 1] = np.where(of_joints > 0.0, of_joints, LARGEST_UNIT).min(axis=1)
        largest = np.divide(loads, model.mass, out=np.zeros(n), where=model.mass > 0.0).max()
        self.units[:, 0] = sqrt(largest * model.length) or LARGEST_UNIT
        np.minimum(self.units, LARGEST_UNIT, out=self.units)

    def beyond(self, k: int, which: int) -> float:
        """Return how far beyond zero an event of joint k is located [m/s, N]."""
        unit = self.units[k, 1] + self.terms[k, at.LIMIT] if which == MARGIN else self.units[k, 0]
        return float(BEYOND * unit)

    def rates_by_friction(self) -> Array:
        """Return the rates of all channels by the friction of each, (m, m), in the last state; those of joints that stick."""
        m, start = len(workspace_array(self.pack, "FRICTION_COLUMNS")), place_in(self.pack.ints, "FRICTION_ALGEBRA")[0]
        G: Array = self.pack.work[start : start + m * m].reshape(m, m)
        return G


class Quantity:
    """A quantity of joint k, as an event function, located by `more` beyond its zero."""

    def __init__(self, watch: Watch, state_space: MaximalStateSpace, k: int, which: int, more: float) -> None:
        self.watch, self.state_space, self.k, self.which, self.more = watch, state_space, k, which, more

    def __call__(self, t: float, state: State) -> float:
        """Return the quantity at a state."""
        return float(self.watch.at(t, state.y, self.state_space)[self.k, self.which]) + self.more

    def clear(self, t: Array, y: Array) -> Flags:
        """Return at which flat states the quantity is positive beyond rounding."""
        least = CLEAR * self.watch.beyond(self.k, self.which)
        found: Flags = self.watch.over(t, y)[:, self.k, self.which] + self.more > least
        return found


@dataclass(frozen=True)
class StickEvent(Event):
    """A joint comes to rest, or slips; its function also takes many states at once."""

    function: Quantity

    def clear(self, t: Array, y: Array) -> Flags:
        return self.function.clear(t, y)


def may_stick(model: Model) -> bool:
    """Return whether a joint has exact Coulomb friction."""
    return any(isinstance(entry.load, JointFriction) and entry.load.is_exact for entry in model.loads)


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
    stick = _Stick(problem, problem.state_space, t_end, method.step or 0.0, unseen)
    while problem.t < t_end:
        stick.decide(k1)
        locator = EventLocator(stick.events(), problem, method, stick.need)
        last = Moment(problem.t, problem.y.copy(), k1.copy())
        rates: Array | None = last.y_dot
        problem.first_batch = FIRST_BATCH
        limited = method.limited(stick.h_still) if stick.is_still else method
        for batch in batches_across(limited, problem, k1, t_end, search):
            cut, records, ended = locator.cut(last, batch)
            yield cut._replace(start_rates=rates, events=stick.stops_and_slips(records))
            rates = None
            if ended:
                problem.t, problem.y[:] = float(cut.t[-1]), cut.y[-1]
                stick.end_by(locator.ended_by)
                break
            if batch.code != OK:
                return
            if len(batch.t):
                last = Moment(float(batch.t[-1]), batch.y[-1].copy(), batch.y_dot[-1].copy())
        else:
            return


class NearRest(NamedTuple):
    """A joint that slides: s (n,) [m/s], accelerations A (n, n) [1/kg] by friction in its channels, and the friction needed to hold it.

    need: (n,) relative to friction of sliding, 0 where it is not known
    acceleration: the largest by friction at its limit, in any direction [m/s2]
    """

    s: Array
    A: Array
    need: Array
    acceleration: float


class _Stick:
    """The modes of a run;  h: its fixed step, 0 with error control;  unseen: the way [m] that error control does not see, 0 without."""

    def __init__(self, problem: Problem, state_space: MaximalStateSpace, t_end: float, h: float, unseen: float) -> None:
        self.problem, self.state_space, self.h, self.unseen = problem, state_space, h, unseen
        self.watch = Watch(state_space.model)
        self.modes = workspace_array(problem.pack, "FRICTION_MODES")
        self.ints = state_space.model.tables["FRICTION_INTS"]
        self.loads = [entry.load for entry in state_space.model.loads if isinstance(entry.load, JointFriction)]
        self.h_still = (t_end - problem.t) / STILL_STEPS
        self.at_once, self.soon = AT_ONCE * (t_end - problem.t), SOON * (t_end - problem.t)
        self._times: list[float] = []
        self._speeds: list[float] = []
        self._more = np.zeros(len(self.loads))
        self._turns = np.zeros(len(self.loads), dtype=bool)
        self._recorded: dict[str, float] = {}
        self.ended_by: Event | None = None

    @cached_property
    def _watch_by_columns(self) -> Watch:
        """The watch of a model whose friction is found by sweeps, for the rates that these leave out."""
        return Watch(self.state_space.model, by_columns=True)

    @property
    def is_still(self) -> bool:
        """Whether a joint sticks."""
        return bool((self.modes[:, at.MODE] == at.STICKS).any())

    def need(self, code: int, t: float) -> None:
        """Raise the error of a code that is not OK."""
        if code != OK:
            raise self.state_space.error(self.problem.pack, code, t)

    def decide(self, k1: Array) -> None:
        """Decide how every joint continues from the state of the problem, and write its rates to k1."""
        p, watch = self.problem, self.watch
        self._count(p.t)
        before = self.modes.copy()
        stopped = self._stop_slid_joints()
        self.modes[:] = watch.modes[:] = 0.0
        watch.modes[stopped, at.FAST] = np.inf  # what is left of their speeds is rounding
        watch.forget()
        watch.at(p.t, p.y, self.state_space)
        self._turn_on(stopped)
        terms = watch.terms
        for k, load in enumerate(self.loads):
            if load.is_exact:
                n = load.channels
                arm = terms[k, at.ARM : at.ARM + n]
                self.modes[k, at.MODE] = terms[k, at.STATE]
                self.modes[k, at.AGAINST : at.AGAINST + n] = terms[k, at.DIRECTION : at.DIRECTION + n] / arm
        self._stop([k for k in range(len(self.ints)) if self.modes[k, at.MODE] == at.STICKS])
        slow = [k for k, row in enumerate(self.ints) if self.modes[k, at.MODE] == at.SLIDES and row[at.CHANNELS] > 1]
        if slow:
            self._set_slow_modes(slow, before)
        watch.modes[:] = self.modes
        p.options.n_since_projection = np.inf
        self.need(p.post_step(p.pack, p.options, p.t, p.y, k1), p.t)
        watch.measure(k1)
        self._relocate_slip()

    def _turn_on(self, stopped: list[int]) -> None:
        """Let joints begin to slide that have come to rest, and would stick, only because their steps did not follow a sharp turn."""
        watch, p = self.watch, self.problem
        turning = [k for k in stopped if self._turns[k] and watch.terms[k, at.STATE] == at.STICKS]
        self._turns[stopped] = False
        for k in turning:
            n = self.ints[k, at.CHANNELS]
            need = watch.terms[k, at.FRICTION : at.FRICTION + n] / watch.terms[k, at.ARM : at.ARM + n]
            watch.modes[k, [at.MODE, at.FAST]] = at.BEGINS, 0.0
            watch.modes[k, at.AGAINST : at.AGAINST + n] = -need / np.linalg.norm(need)
        if turning:
            watch.at(p.t, p.y, self.state_space)

    def _relocate_slip(self) -> None:
        """Locate the next slip of a joint farther beyond its limit, if it has slipped without any motion and sticks again."""
        moved = len(self._times) < 2 or self._times[-1] - self._times[-2] > SHORTEST * (1.0 + abs(self._times[-1]))
        if moved:
            self._more[:] = 0.0
        elif isinstance(self.ended_by, StickEvent) and self.ended_by.function.which == MARGIN:
            k = self.ended_by.function.k
            if self.modes[k, at.MODE] == at.STICKS:
                self._more[k] = FARTHER * max(self._more[k], self.watch.beyond(k, MARGIN))

    def _set_slow_modes(self, joints: list[int], before: Array) -> None:
        """Set the modes of joints of several rates that are too slow for friction to follow the direction of their velocity.

        Such a joint begins to slide, or slows down. It keeps its mode while its speed stays below that at which the mode ends.
        """
        speed = self.watch.terms[:, at.SPEED].copy()
        found = self._near_rest(joints)
        for k in joints:
            mode, was, acceleration = self.modes[k], before[k], found[k].acceleration
            stopped = sqrt(acceleration * self.state_space.model.length)
            least = max(MOVING, SLOWEST * stopped, self.h * acceleration / STEP_RATE)
            slow = was[at.MODE] in (at.BEGINS, at.SLOWS) and speed[k] < ENOUGH * was[at.FAST]
            if speed[k] <= at.REST:
                mode[at.MODE], mode[at.FAST] = at.BEGINS, max(BEGUN * stopped, FASTER * least)
            elif slow and was[at.MODE] == at.BEGINS:
                mode[:] = was
            elif slow or (was[at.MODE] != at.BEGINS and speed[k] < least / ENOUGH):
                mode[at.MODE], mode[at.FAST] = at.SLOWS, FASTER * least
                if was[at.MODE] != at.SLOWS:
                    own = found[k]
                    self._turns[k] = slowest_speed(own.s, own.A, own.need, at.REST * self.watch.units[k, 0]) > 0.0
            else:
                mode[at.FAST] = least

    def _near_rest(self, joints: list[int]) -> dict[int, NearRest]:
        """Return what joints that slide would need to be held, and what their friction does."""
        p, watch = self.problem, self.watch
        limits, sliding = watch.terms[:, at.LIMIT].copy(), watch.terms[:, at.C_1] / np.maximum(watch.terms[:, at.S_1], TINY)
        watch.modes[:] = self.modes
        watch.modes[joints, at.MODE] = at.STICKS  # the way that finds the rates by each of their channels
        watch.at(p.t, p.y, self.state_space, columns_alone=True)
        found = {}
        for k in joints:
            n, first, terms = self.ints[k, at.CHANNELS], self.ints[k, at.FIRST], watch.terms[k]
            arm = terms[at.ARM : at.ARM + n]
            A = arm[:, None] * watch.rates_by_friction()[first : first + n, first : first + n] * arm
            need, friction = terms[at.FRICTION : at.FRICTION + n] / arm, terms[at.LIMIT] * sliding[k]
            known = watch.solved and friction > 0.0
            found[k] = NearRest(
                arm * terms[at.RATE : at.RATE + n],
                A,
                need / friction if known else np.zeros(n),
                float(limits[k] * np.linalg.norm(A, 2)),
            )
        return found

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
        """Remove the rates of joints that stick in the last state watched, by the impulses of friction that do it."""
        if not joints:
            return
        watch = self.watch
        if len(self.state_space.model.tables["FRICTION_PATHS"]):
            watch = self._watch_by_columns
            watch.modes[:] = 0.0
            watch.modes[joints, at.MODE] = at.STICKS
            watch.at(self.problem.t, self.problem.y, self.state_space, columns_alone=True)
        channels = [
            (self.ints[k, at.FIRST] + c, watch.terms[k, at.RATE + c]) for k in joints for c in range(self.ints[k, at.CHANNELS])
        ]
        X, which = workspace_array(watch.pack, "FRICTION_COLUMNS"), np.array([c for c, _ in channels])
        G = watch.rates_by_friction()[np.ix_(which, which)]
        impulses = np.linalg.lstsq(G, -np.array([rate for _, rate in channels]), rcond=1e-10)[0]
        n = self.state_space.model.nb + 1
        change = (impulses @ X[which])[: 6 * n].reshape(n, 6)
        self.problem.y[: WIDTH * n].reshape(n, WIDTH)[1:, VELOCITY:] += change[1:]

    def _ended_by_a_stop(self) -> Flags:
        """Return which joint's stop has ended the last segment, (nf,)."""
        found = np.zeros(len(self.loads), dtype=bool)
        if isinstance(self.ended_by, StickEvent) and self.ended_by.function.which == ALONG:
            found[self.ended_by.function.k] = True
        return found

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
            rests &= ~self._turns
            slips = {f"{load.name} slips" for load in self.loads}
            stops = {f"{load.name} stops" for k, load in enumerate(self.loads) if rests[k]}
            before, self._recorded[record.name] = self._recorded.get(record.name, -np.inf), record.t
            again = record.name in slips and record.t - before <= self._short(record.t)
            if record.name in slips | stops and not again:
                kept.append(record)
        return tuple(kept)

    def _short(self, t: float) -> float:
        """Return the time [s] within which events are at once, at t."""
        return self.at_once + SHORTEST * abs(t)

    def end_by(self, event: Event | None) -> None:
        """End a segment by an event."""
        self.ended_by = event
        self._speeds.append(self.watch.fastest(event.function.k) if isinstance(event, StickEvent) else np.nan)

    def _has_no_end(self, t: float) -> bool:
        """Return whether the last events follow one another at once, or soon and almost without motion."""
        recent = np.array(self._times[-MOST_AT_ONCE:])
        if len(recent) < MOST_AT_ONCE or t - recent[0] > max(self._short(t), self.soon):
            return False
        ways = np.diff(recent) * self._speeds[1 - MOST_AT_ONCE :]
        return bool(t - recent[0] <= self._short(t) or ways.sum() <= self.unseen)

    def _count(self, t: float) -> None:
        """Raise SimulationError if events follow one another without end."""
        self._times.append(t)
        if self._has_no_end(t):
            names = ", ".join(repr(load.name) for load in self.loads if load.is_exact)
            steps = f"a smaller h than {self.h:.3g} s, or rtol=, where other bodies are fast, or " if self.h > 0.0 else ""
            raise SimulationError(
                f"friction {names} stops and slips without end at t = {t:.9g} s. Give {steps}a smooth law there, such as "
                "Coulomb(mu, velocity=1e-4) or BrownMcPhee."
            )
