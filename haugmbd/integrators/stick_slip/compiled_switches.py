r"""Stops and slips of joints of one rate in compiled code: the end of a mode in a step, and how every joint continues from there.

    locate     the quantity g_k that ends the mode of joint k, at both ends of a step and in its middle, then as in `compiled_location`
    stop       the rate s of the joint that stops is removed by an impulse of its friction      G f = -s,   u <- u + X f
    decide     modes by the first motion of the state, `friction.first_motion`; then the rates u', and the units of the joints

These are the steps of `stick._Stick`, in the same order, for what most runs have: explicit steps of fixed length with a projection, joints
of one rate, and one that sticks at a time.  Where another one is needed, `decide` leaves everything as it was, and Python decides.
Source: Haug (2021), friction and stiction.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.function_pointers import Routine, resolve
from haugmbd.compiled.jit import DirectCall, entry, kernel, uncontracted
from haugmbd.compiled.status_codes import OK
from haugmbd.friction import columns as at
from haugmbd.friction.loop_arrays import loop_of
from haugmbd.friction.sticking import HELD
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.compiled_location import (
    UNDECIDED,
    Motion,
    Search,
    Step,
    location,
    new_search,
    put_bracket,
    turns_to_zero,
)
from haugmbd.integrators.dense_output import put_state
from haugmbd.integrators.explicit.runge_kutta import OneStep, RungeKutta
from haugmbd.integrators.leaps import CLEAR as TURN_CLEAR
from haugmbd.integrators.leaps import OUTSIDE
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Point, Problem
from haugmbd.integrators.stick_slip.watched_quantities import (
    ALONG,
    BEYOND,
    CLEAR,
    MARGIN,
    QUANTITIES,
    UNSOLVED_FRICTION,
    WATCH_STATES,
    Watch,
    put_units,
)
from haugmbd.integrators.watches.stiffness_watch import new_watch
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

NONE, STOPS, SLIPS = range(3)
"""What a joint does at an instant."""
FARTHER = 10.0
"""By so many times beyond zero the event of a joint is located that slips and sticks again in no time: one without load and limit, whose
need grows faster than its limit."""


class Watched(NamedTuple):
    """The joints of a run, watched in a workspace of their own.

    watch: of `watched_quantities`;  t, y, quantities: (1,), (1, ny), (1, 4 nf) of the state that is watched
    units: (nf, 2) of speed and load;  more: (nf,) how much farther beyond zero slips are located
    mass, J_bar: (nb + 1,), (nb + 1, 3, 3)
    """

    watch: Routine
    pack: Pack
    t: Array
    y: Array
    quantities: Array
    units: Array
    more: Array
    mass: Array
    J_bar: Array


@kernel
def watch_at(w: Watched, t: float, y: Array) -> int:
    """Write the quantities at a state; return the code."""
    w.t[0] = t
    copy_line(y, w.y[0])
    return w.watch(w.pack, w.t, w.y, w.units, w.quantities)  # type: ignore[no-any-return]


@kernel
def watched(modes: Array, k: int) -> int:
    """Return the quantity that ends the mode of joint k, -1 for none."""
    if modes[k, at.MODE] == at.SLIDES:
        return ALONG
    return MARGIN if modes[k, at.MODE] == at.STICKS else -1


@kernel
def value_at(w: Watched, k: int, t: float, y: Array) -> float:
    """Return what ends the mode of joint k, at a state; NaN where it has no solution."""
    if watch_at(w, t, y) != OK:
        return np.nan
    which = watched(ws.friction_modes(w.pack), k)
    g: float = w.quantities[0, QUANTITIES * k + which] + (w.more[k] if which == MARGIN else 0.0)
    return g


@uncontracted
def part_of(after: float, step: Step) -> float:
    """Return the part of a step at a time after its start, rounded as that of a time."""
    return (step.t_0 + after - step.t_0) / (step.t_1 - step.t_0)


@kernel
def value_between(w: Watched, k: int, after: float, step: Step, out: Array) -> float:
    """Return the same at a time after the start of a step, on dense output."""
    ends = (step.y_0, step.y_dot_0), (step.y_1, step.y_dot_1)
    put_state(part_of(after, step), step.t_1 - step.t_0, ends[0], ends[1], ws.n_bodies(w.pack), out)
    return value_at(w, k, step.t_0 + after, out)


@uncontracted
def leaps(before: float, middle: float, after: float) -> bool:
    """Return whether a quantity may turn beyond zero in a step, as `leaps.may_turn`."""
    slope, bend = 0.5 * (after - before), after - 2.0 * middle + before
    most, least = max(before, after, middle), min(before, after, middle)
    if not (least > 0.0 and bend > 0.0 and abs(slope) < (1.0 + 2.0 * OUTSIDE) * bend):
        return False
    return middle - 0.5 * slope * slope / bend <= TURN_CLEAR * (most - least)


@uncontracted
def beyond(w: Watched, terms: Array, k: int, which: int) -> float:
    """Return how far beyond zero an event of joint k is located [m/s, N], as `Watch.beyond`."""
    unit: float = w.units[k, 1] + terms[k, at.LIMIT] if which == MARGIN else w.units[k, 0]
    return BEYOND * unit


@kernel
def put_brackets(w: Watched, step: Step, search: Search) -> int:
    """Write where modes end in a step; return the number of brackets, UNDECIDED if a quantity may turn beyond zero unseen."""
    half = 0.5 * (step.t_0 + step.t_1)
    codes = watch_at(w, step.t_0, step.y_0)
    copy_line(w.quantities[0], search.gaps[0])
    codes += watch_at(w, step.t_1, step.y_1)
    copy_line(w.quantities[0], search.gaps[2])
    ends = (step.y_0, step.y_dot_0), (step.y_1, step.y_dot_1)
    h = step.t_1 - step.t_0
    put_state((half - step.t_0) / h, h, ends[0], ends[1], ws.n_bodies(w.pack), search.halfway)
    codes += watch_at(w, half, search.halfway)
    copy_line(w.quantities[0], search.gaps[1])
    if codes != OK:
        return UNDECIDED
    m, modes, terms = 0, ws.friction_modes(w.pack), ws.friction_terms(w.pack)
    for k in range(modes.shape[0]):
        which = watched(modes, k)
        if which < 0:
            continue
        more, place = w.more[k] if which == MARGIN else 0.0, QUANTITIES * k + which
        may_leap = leaps(search.gaps[0, place], search.gaps[1, place], search.gaps[2, place])
        g_0, g_half, g_1 = search.gaps[0, place] + more, search.gaps[1, place] + more, search.gaps[2, place] + more
        if min(g_0, g_half, g_1) > CLEAR * beyond(w, terms, k, which) and not may_leap:
            continue
        middle, end = half - step.t_0, step.t_1 - step.t_0
        if g_0 > 0.0 >= g_half:
            m = put_bracket(search, m, k, 0.0, middle, g_0, g_half)
        if g_half > 0.0 >= g_1:
            m = put_bracket(search, m, k, middle, end, g_half, g_1)
        sign = 1.0 if g_0 > 0.0 else -1.0
        is_one_sided = min(g_0, g_half, g_1) * max(g_0, g_half, g_1) > 0.0
        if is_one_sided and turns_to_zero(step.t_0, half, step.t_1, sign * g_0, sign * g_half, sign * g_1):
            return UNDECIDED
    return m


first_zero, put_met = location(value_at, value_between)


@entry
def locate_entry(m: Motion, w: Watched, t_0: float, t_1: float, start: Array, end: Array, search: Search, met: Array) -> int:
    """Write the first end of a mode in a step to `search.first`, and the joints of its instant to met (nf,), infinite for the others.

    start, end: (2, ny) state and rates
    Return the number of ends in the step before the others of that instant are known, 0 for none; or UNDECIDED.
    """
    step = Step(t_0, t_1, start[0], start[1], end[0], end[1])
    n = put_brackets(w, step, search)
    if n <= 0:
        return n
    t = first_zero(m, w, n, step, search)
    if not t > t_0:
        return UNDECIDED
    for k in range(met.size):
        met[k] = np.inf
    put_met(w, n, t, step, search, met)
    return n


locate = DirectCall(locate_entry)


# ------------------------------------------------------------------------------------------------------------ how joints continue
ONE, SEVERAL = 0, 1


@uncontracted
def stop(w: Watched, sticking: Ints, y: Array) -> int:
    """Remove the rate of the joint that sticks in the last state watched; return SEVERAL, without a change, if there are more.

    Those that other joints hold there, such as a piston at its dead centre, are left: the impulse would stop the machine.
    """
    L, channel, rate = loop_of(w.pack), -1, 0.0
    for k in range(sticking.size):
        first = L.ints[k, at.FIRST]
        if sticking[k] == 0 or not L.G[first, first] > HELD * L.active[1, first]:
            continue
        if channel >= 0:
            return SEVERAL
        channel, rate = first, L.terms[k, at.RATE]
    if channel < 0:
        return ONE
    # G f = -s, in the unit in which heavy and light bodies give way alike;  u <- u + X f
    unit = 1.0 / sqrt(L.G[channel, channel])
    scaled = unit * L.G[channel, channel] * unit
    if not scaled > 0.0:
        return SEVERAL
    impulse = unit * (-unit * rate * (1.0 / scaled))
    for body in range(1, ws.n_bodies(w.pack)):
        for a in range(6):
            y[WIDTH * body + VELOCITY + a] += 0.0 + impulse * L.X[channel, 6 * body + a]
    return ONE


@kernel
def put_modes(w: Watched, modes: Array) -> None:
    """Write the modes by the first motion of the last state watched."""
    L = loop_of(w.pack)
    for k in range(modes.shape[0]):
        for a in range(modes.shape[1]):
            modes[k, a] = 0.0
        if L.ints[k, at.EXACT] == 1:
            modes[k, at.MODE] = L.terms[k, at.STATE]
            modes[k, at.AGAINST] = L.terms[k, at.DIRECTION] / L.terms[k, at.ARM]


@kernel
def copy_modes(source: Array, target: Array) -> None:
    """Copy modes."""
    for k in range(source.shape[0]):
        for a in range(source.shape[1]):
            target[k, a] = source[k, a]


class Memory(NamedTuple):
    """What is known of the last step: (nf,) how each mode has ended, room, and how each has changed; (3, 4 nf) quantities in the step."""

    ended: Ints
    sticking: Ints
    changes: Ints
    known: Array


class Kept(NamedTuple):
    """What a decision restores that is left to Python.  y: (ny,);  modes: (nf, 5)"""

    y: Array
    modes: Array


@kernel
def is_known(code: int) -> bool:
    """Return whether the rates by friction are known: before friction is solved for."""
    return code == OK or code in UNSOLVED_FRICTION


@kernel
def watch_columns(w: Watched, sticking: Ints, t: float, y: Array) -> bool:
    """Evaluate the rates by friction at a state, of joints that stick; return whether they are known."""
    modes = ws.friction_modes(w.pack)
    for k in range(sticking.size):
        for a in range(modes.shape[1]):
            modes[k, a] = 0.0
        if sticking[k] == 1:
            modes[k, at.MODE] = at.STICKS
    return is_known(watch_at(w, t, y))


@kernel
def put_states(w: Watched, columns: Watched, apart: bool, ended: Ints, sticking: Ints, modes: Array, t: float, y: Array) -> bool:
    """Stop the joints that have stopped, and write the modes with which all continue; return whether that was possible here.

    columns: `w`, or where friction is found without the rates by each of its channels, apart, a workspace that has them
    """
    own, any_stops = ws.friction_modes(w.pack), False
    # the joints that stop, and those that stick, lose their rates
    for k in range(ended.size):
        if ended[k] == STOPS:
            own[k, at.MODE], any_stops = at.STICKS, True
        sticking[k] = 1 if own[k, at.MODE] == at.STICKS else 0
    if any_stops:
        if not (watch_columns(columns, sticking, t, y) if apart else is_known(watch_at(w, t, y))):
            return False
        if stop(columns, sticking, y) == SEVERAL:
            return False
    # every joint continues by the first motion; what is left of the speeds of those that stop is rounding
    for k in range(ended.size):
        for a in range(own.shape[1]):
            own[k, a] = 0.0
        if ended[k] == STOPS:
            own[k, at.FAST] = np.inf
    if watch_at(w, t, y) != OK:
        return False
    put_modes(w, modes)
    # those that stick from now on have no rates
    any_sticks = False
    for k in range(ended.size):
        sticking[k] = 1 if modes[k, at.MODE] == at.STICKS else 0
        any_sticks = any_sticks or sticking[k] == 1
    if not any_sticks:
        return True
    if apart and not watch_columns(columns, sticking, t, y):
        return False
    return stop(columns, sticking, y) == ONE


@kernel
def relocate_slips(w: Watched, ended: Ints, moved: bool, t: float, y: Array) -> bool:
    """Locate slips farther beyond their limits, as `_Stick._relocate_slip`; return whether the state has a solution.

    moved: whether time has passed since the event before
    """
    modes, terms, any_sticks = ws.friction_modes(w.pack), ws.friction_terms(w.pack), False
    for k in range(ended.size):
        sticks = modes[k, at.MODE] == at.STICKS
        any_sticks = any_sticks or sticks
        if moved:
            w.more[k] = 0.0
        elif sticks and ended[k] == SLIPS:
            w.more[k] = FARTHER * max(w.more[k], beyond(w, terms, k, MARGIN))
    if not any_sticks:
        return True
    if watch_at(w, t, y) != OK:
        return False
    for k in range(ended.size):
        margin = w.quantities[0, QUANTITIES * k + MARGIN]
        if modes[k, at.MODE] == at.STICKS and margin + w.more[k] <= 0.0:
            w.more[k] = FARTHER * max(-margin, beyond(w, terms, k, MARGIN))
    return True


@kernel
def put_changes(before: Array, modes: Array, known: Array, changes: Ints) -> None:
    """Write which joints stop or slip, by their modes before and now;  known: (3, 4 nf) quantities in the step before."""
    for k in range(changes.size):
        was, now, place = before[k, at.MODE], modes[k, at.MODE], QUANTITIES * k + ALONG
        fastest = max(known[0, place], known[1, place], known[2, place])
        turns = now == at.SLIDES and before[k, at.AGAINST] * modes[k, at.AGAINST] < 0.0
        changes[k] = NONE
        if was == at.SLIDES and (now == at.STICKS or turns) and fastest > at.REST:
            changes[k] = STOPS
        elif was == at.STICKS and now == at.SLIDES:
            changes[k] = SLIPS


@entry
def decide_entry(
    m: Motion,
    w: Watched,
    columns: Watched,
    apart: bool,
    t: float,
    point: Point,
    modes: Array,
    moved: bool,
    kept: Kept,
    memory: Memory,
) -> bool:
    """Decide how every joint continues from a point, whose rates are written; return whether it was possible, or everything is as before.

    modes: (nf, 5) of the run;  moved: whether time has passed since the event before
    """
    copy_line(point.y, kept.y)
    copy_modes(modes, kept.modes)
    decided = put_states(w, columns, apart, memory.ended, memory.sticking, modes, t, point.y)
    own = ws.friction_modes(w.pack)
    if decided:
        copy_modes(modes, own)
        m.options.n_since_projection = np.inf
        decided = m.dynamics.post_step(m.dynamics.pack, m.options, t, point.y, point.y_dot) == OK
    if decided:
        put_units(w.pack, w.mass, w.J_bar, point.y_dot, w.units)
        decided = relocate_slips(w, memory.ended, moved, t, point.y)
    if decided:
        put_changes(kept.modes, modes, memory.known, memory.changes)
    else:
        copy_line(kept.y, point.y)
        copy_modes(kept.modes, modes)
        copy_modes(kept.modes, own)
    return decided


decide = DirectCall(decide_entry)


class CompiledSwitches:
    """The switches of one run.

    watch, modes: of the run;  columns: a watch that has the rates by friction of each channel, where that of the run has not
    more: (nf,) how much farther beyond zero slips are located
    """

    def __init__(
        self, problem: Problem, method: RungeKutta, watch: Watch, columns: Watch | None, modes: Array, more: Array
    ) -> None:
        n, ny, model = len(modes), problem.y.size, watch.model
        self.problem, self.watch, self.modes, self.tableau = problem, watch, modes, method.tableau
        beside = problem.beside(problem.t, problem.y)
        self._dynamics, self._silent = beside.dynamics, new_watch(np.zeros(0, dtype=np.int64), ny)
        resolve(WATCH_STATES)
        room = np.zeros(1), np.zeros((1, ny)), np.zeros((1, QUANTITIES * n))
        shared = watch.units, more, np.array(model.mass), np.array(model.J_bar)
        self._watched = Watched(WATCH_STATES, watch.pack, *room, *shared)
        self._apart = columns is not None
        self._columns = self._watched if columns is None else self._watched._replace(pack=columns.pack)
        self._search, self._met = new_search(n, ny, QUANTITIES * n), np.zeros(n)
        integers = (np.zeros(n, dtype=np.int64) for _ in range(3))
        self._memory = Memory(*integers, self._search.gaps)
        self._kept = Kept(np.zeros(ny), np.zeros_like(modes))

    @staticmethod
    def suit(method: Integrator, ints: Ints) -> bool:
        """Return whether the steps of a method, and joints with these tables of friction, have their switches in compiled code."""
        own = type(method)
        if not isinstance(method, RungeKutta) or own.steps is not RungeKutta.steps or own.step_to is not OneStep.step_to:
            return False
        return bool((ints[ints[:, at.EXACT] == 1, at.CHANNELS] == 1).all())

    @property
    def _motion(self) -> Motion:
        p = self.problem
        return Motion(self._dynamics, p.options, self.tableau, p.stages(self.tableau.b.size - 1), self._silent, self._silent)

    def cut(self, start: tuple[float, Array, Array], batch: StepBatch) -> list[tuple[int, int]] | None:
        """Let the last step of a batch, from `start` on, end where the first mode ends; return the joints, and what each does.

        None if `event_location` has to search the step.
        """
        search, place = self._search, len(batch.t) - 1
        t_0, search.start[0], search.start[1] = start
        ends = np.array([batch.y[place], batch.y_dot[place]])
        self.watch.leave_workspace()
        n = locate(self._motion, self._watched, t_0, float(batch.t[place]), search.start, ends, search, self._met)
        if n == UNDECIDED:
            return None
        self._memory.ended.fill(NONE)
        if n == 0:
            return []
        of_brackets = [int(search.numbers[number]) for number in search.order[:n]]
        joints = sorted((k for k in of_brackets if self._met[k] < np.inf), key=lambda k: float(self._met[k]))
        batch.t[place], batch.y[place], batch.y_dot[place] = self._met[joints[0]], search.first[0], search.first[1]
        found = [(k, STOPS if self.modes[k, at.MODE] == at.SLIDES else SLIPS) for k in joints]
        for k, what in found:
            self._memory.ended[k] = what
        return found

    @property
    def known(self) -> Array:
        """The quantities (3, nf, 4) at the start, in the middle and at the end of the last step that was searched."""
        return self._search.gaps.reshape(3, -1, QUANTITIES)

    def decide(self, k1: Array, moved: bool) -> list[tuple[int, int]] | None:
        """Decide how every joint continues; return the joints that stop or slip, and what each does, None if Python has to decide.

        k1: (ny,) the rates, which are written;  moved: whether time has passed since the event before
        """
        p, watch = self.problem, self.watch
        watch.forget()
        watch.leave_workspace()
        point = Point(p.y, k1)
        if not decide(
            self._motion, self._watched, self._columns, self._apart, p.t, point, self.modes, moved, self._kept, self._memory
        ):
            return None
        return [(int(k), int(self._memory.changes[k])) for k in np.flatnonzero(self._memory.changes)]
