r"""What ends a mode of a joint with exact Coulomb friction where it falls through zero: speeds along modes, and margins of friction.

They are evaluated at many states at once, in a workspace of their own, and measured by the motion: a grain and a mill stop alike.
Source: Haug (2021), friction and stiction; events as in `integrators.event_location`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import F1, F2, Routine, types
from haugmbd.compiled.jit import DirectCall, entry, kernel, uncontracted
from haugmbd.compiled.records import new_record
from haugmbd.compiled.status_codes import FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED, FRICTION_UNDECIDED, OK
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.friction import columns as at
from haugmbd.friction.loop_arrays import algebra_size
from haugmbd.friction.sticking import HELD
from haugmbd.friction.tables import by_columns_alone
from haugmbd.integrators.dense_output import put_state
from haugmbd.integrators.events import Event, Flags
from haugmbd.integrators.leaps import CLEAR as TURN_CLEAR
from haugmbd.integrators.leaps import OUTSIDE, may_turn
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.watches.event_watch import CLEAR as CLEAR_STEP
from haugmbd.integrators.watches.event_watch import LOOK_SIGNATURE, POSSIBLE, STEPS_SEEN, EventWatch
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import PACK_TYPE, WIDTH, Pack, place_in, with_callback, workspace_array

BEYOND = 1e-12
"""Relative to the units of a joint, and to its limit: an event is located so far beyond zero.  A joint that starts at zero, and continues,
has no event, and one that turns back has."""
LARGEST_UNIT = 1.0
"""[m/s, N] Units of speed and of load: those of the motion, see `put_units`, where they are smaller."""
CLEAR = 4.0
"""Times BEYOND: larger quantities are not near their event."""
ALONG, MARGIN, MISSING, ABOVE = 0, 1, 2, 3
"""Watched: the speed along the mode, the limit less the friction needed, what a slow joint of several rates lacks of the speed at which it
follows its velocity, and by how much a fast one is faster."""
QUANTITIES = 4

UNSOLVED_FRICTION = (FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED, FRICTION_UNDECIDED)


def may_stick(model: Model) -> bool:
    """Return whether a joint has exact Coulomb friction."""
    return any(entry.load.is_exact for entry in model.loads)


@entry
def watch_entry(P: Pack, t: Array, y: Array, units: Array, out: Array) -> int:
    """Write the quantities of every joint at states y (n, ny) to out (n, 4 nf), up to one that has no solution; return the code.

    units: (nf, 2) of speed [m/s] and load [N], see `put_units`
    """
    ints, terms, modes = ws.friction_ints(P), ws.friction_terms(P), ws.friction_modes(P)
    for n in range(t.shape[0]):
        code = accelerate(P, t[n], y[n])
        if code != OK:
            return code
        for k in range(ints.shape[0]):
            for which in range(QUANTITIES):
                out[n, QUANTITIES * k + which] = quantity_of(ints, terms, modes, k, which, units[k, 0], units[k, 1])
    return OK


look_at = DirectCall(watch_entry)
WATCH_STATES = Routine(watch_entry, types.int64(PACK_TYPE, F1, F2, F2, F2))


@uncontracted
def put_units(P: Pack, mass: Array, J_bar: Array, y_dot: Array, units: Array) -> None:
    """Write the units of each joint, (nf, 2), at the last state, with rates y_dot.

    Load: force and inertia of its body that has the smaller ones, torques by the length of the model.  Speed: that which the largest
    load by mass gives on this length.  LARGEST_UNIT where all are zero.
    """
    Q, ints, length, largest = ws.generalized_forces(P), ws.friction_ints(P), ws.length(P), 0.0
    for body in range(1, ws.n_bodies(P)):
        if mass[body] > 0.0:
            largest = max(largest, load_of(Q, mass, J_bar, y_dot, body, length) / mass[body])
    speed = sqrt(largest * length)
    for k in range(ints.shape[0]):
        units[k, 0] = min(speed, LARGEST_UNIT) if speed > 0.0 else LARGEST_UNIT
        units[k, 1] = LARGEST_UNIT
        for side in (at.BODY_I, at.BODY_J):
            if ints[k, side] > 0:
                load = load_of(Q, mass, J_bar, y_dot, ints[k, side], length)
                units[k, 1] = min(units[k, 1], load) if load > 0.0 else units[k, 1]


@uncontracted
def load_of(Q: Array, mass: Array, J_bar: Array, y_dot: Array, body: int, length: float) -> float:
    """Return the largest force and inertia of a body [N], torques by the length of the model."""
    v, w, force, torque = WIDTH * body + VELOCITY, WIDTH * body + OMEGA_BAR, 0.0, 0.0
    for a in range(3):
        force = max(force, abs(Q[body, a]) + mass[body] * abs(y_dot[v + a]))
        inertia = J_bar[body, a, 0] * y_dot[w] + J_bar[body, a, 1] * y_dot[w + 1] + J_bar[body, a, 2] * y_dot[w + 2]
        torque = max(torque, abs(Q[body, 3 + a]) + abs(inertia))
    return force + torque / length


@entry
def put_units_entry(P: Pack, mass: Array, J_bar: Array, y_dot: Array, units: Array) -> None:
    """Write the units of each joint."""
    put_units(P, mass, J_bar, y_dot, units)


measure_loads = DirectCall(put_units_entry)


@kernel
def quantity_of(ints: Ints, terms: Array, modes: Array, k: int, which: int, speed: float, load: float) -> float:
    """Return a quantity of joint k;  speed, load: its units."""
    if which == ALONG:
        along = 0.0
        for c in range(ints[k, at.CHANNELS]):
            along += terms[k, at.ARM + c] * terms[k, at.RATE + c] * modes[k, at.AGAINST + c]
        return along + BEYOND * speed
    if which == MARGIN:
        margin: float = terms[k, at.MARGIN] + BEYOND * (load + terms[k, at.LIMIT])
        return margin
    missing: float = (modes[k, at.FAST] - terms[k, at.SPEED]) * (1.0 if which == MISSING else -1.0)
    return missing


@kernel
def ends_mode(modes: Array, k: int, which: int) -> bool:
    """Return whether a quantity of joint k ends its mode, as `stick.ENDS` and `_Stick.events` say."""
    mode = modes[k, at.MODE]
    if which == ALONG:
        return mode in (at.SLIDES, at.BEGINS, at.SLOWS)
    if which == MARGIN:
        sticks: bool = mode == at.STICKS
        return sticks
    if which == MISSING:
        return mode in (at.BEGINS, at.SLOWS)
    fast: bool = mode == at.SLIDES and modes[k, at.FAST] != 0.0
    return fast


STATE, RATES, HALFWAY, KNOWN = range(4)
"""Lines of the memory of `look_for_ends`: the last state and its rates, room for a state, and what is known."""
START, FIRST_KNOWN, NUMBERS = 0, 1, 7
"""In KNOWN: the time of the last state [s]; then of each joint its units of speed and load, how much farther beyond zero its slip is
located, and its quantities in the last state."""
UNIT_SPEED, UNIT_LOAD, MORE, VALUES = 0, 1, 2, 3
WIDER = 1e3
"""Times CLEAR: a quantity that is positive by less is searched, however its limit has changed between states."""
ROUNDED = 1e-6
"""Relative to the change of a quantity in a step: a turn that is farther from zero by less is searched."""


@kernel
def may_end(before: float, middle: float, after: float, least: float) -> bool:
    """Return whether a quantity is not clear of zero in the middle or at the end of a step, or may turn beyond zero between its ends.

    As `Quantity.clear` and `leaps.may_turn`, with some more: what is not searched has no event.  A quantity that begins at zero, as behind
    a stop or a slip, and is clear of it from the middle on has not fallen through zero.
    """
    high, low = max(before, middle, after), min(before, middle, after)
    if not min(middle, after) > least:
        return True
    slope, bend = 0.5 * (after - before), after - 2.0 * middle + before
    if not (bend > 0.0 and abs(slope) < (1.0 + 2.0 * OUTSIDE) * (1.0 + ROUNDED) * bend):
        return False
    return not middle - 0.5 * slope * slope / bend > TURN_CLEAR * (1.0 + ROUNDED) * (high - low)


@entry
def look_for_ends(P: Pack, terms: Array, memory: Array, h: float, y: Array, y_dot: Array) -> int:
    """Return CLEAR if no mode of a joint may end in the step of h that ends at y, else POSSIBLE.

    P: a workspace of its own, for the middle of the step;  terms: those of the run, which has just evaluated y;  memory: see KNOWN
    """
    n, known, modes, ints, found = y.size, memory[KNOWN], ws.friction_modes(P), ws.friction_ints(P), CLEAR_STEP
    half = ws.friction_terms(P)
    if h > 0.0:
        put_state(0.5, h, (memory[STATE, :n], memory[RATES, :n]), (y, y_dot), ws.n_bodies(P), memory[HALFWAY, :n])
        if accelerate(P, known[START] + 0.5 * h, memory[HALFWAY, :n]) != OK:
            found = POSSIBLE
    for k in range(ints.shape[0]):
        own = FIRST_KNOWN + NUMBERS * k
        speed, load = known[own + UNIT_SPEED], known[own + UNIT_LOAD]
        for which in range(QUANTITIES):
            if not ends_mode(modes, k, which):
                continue
            more = known[own + MORE] if which == MARGIN else 0.0
            after = quantity_of(ints, terms, modes, k, which, speed, load) + more
            if h > 0.0:
                middle = quantity_of(ints, half, modes, k, which, speed, load) + more
                unit = load + abs(terms[k, at.LIMIT]) if which == MARGIN else speed
                if may_end(known[own + VALUES + which], middle, after, WIDER * CLEAR * BEYOND * unit):
                    found = POSSIBLE
            known[own + VALUES + which] = after
    for a in range(n):
        memory[STATE, a], memory[RATES, a] = y[a], y_dot[a]
    known[START] += h
    return found


LOOK_FOR_ENDS = Routine(look_for_ends, LOOK_SIGNATURE)


class Watch:
    """The quantities of the joints at many states, evaluated once for all of them, in a workspace of their own.

    callback: that of a run, whose blocks know its motion so far; without it delays have the outputs that the states have
    by_columns: also where friction is found by sweeps over a forest, which leave no rates by the friction of each channel
    """

    def __init__(self, model: Model, callback: Callback | None = None, *, by_columns: bool = False) -> None:
        pack = model.pack() if callback is None else with_callback(model.pack(), callback)
        self.model, self.pack = model, pack._replace(ints=by_columns_alone(pack.ints)) if by_columns else pack
        self.modes = workspace_array(self.pack, "FRICTION_MODES")
        self.terms = workspace_array(self.pack, "FRICTION_TERMS")
        self.units = np.full((len(self.modes), 2), LARGEST_UNIT)
        self._mass, self._J_bar = np.array(model.mass), np.array(model.J_bar)
        self.solved = False
        self._seen: list[tuple[Array, Array]] = []
        self._last: tuple[Any, Array] = (None, np.zeros(0))
        self._turns: tuple[Array | None, Flags] = (None, np.zeros(0, dtype=np.bool_))

    def forget(self) -> None:
        """Forget the states of the last segment."""
        self._seen, self._turns = [], (None, self._turns[1])

    def remember(self, values: Array) -> None:
        """Take quantities (n, nf, 4) for those of the last segment."""
        self._seen = [(np.zeros(0), values)]

    def leave_workspace(self) -> None:
        """Forget what the workspace contains: steps that look for ends of modes have used it."""
        self._last = None, self._last[1]

    def over(self, t: Array, y: Array) -> Array:
        """Return the quantities (n, nf, 4) at flat states y (n, ny); NaN from the first state on that has no solution.

        Raise the error of a function of the user: the states are those of steps, and between them.
        """
        for states, values in self._seen:
            if states is y:
                return values
        self.leave_workspace()
        out = np.full((len(t), QUANTITIES * len(self.modes)), np.nan)
        code = look_at(self.pack, for_kernels(t), for_kernels(y), self.units, out)
        self.pack.callback.keep_interruption(code)
        if code != OK:
            error = self.pack.callback.take_error()
            if error is not None:
                raise error
        values = out.reshape(len(t), -1, QUANTITIES)
        self._seen = [*self._seen[-1:], (y, values)]  # the ends of steps, and their middles
        return values

    def may_turn(self, t: Array, y: Array, halfway: Array) -> Flags:
        """Return in which steps between states y (n, ny) at t, with those in their middle, each may turn beyond zero, (n - 1, nf, 4)."""
        if self._turns[0] is not halfway:
            self._turns = halfway, may_turn(self.over(t, y), self.over(0.5 * (t[:-1] + t[1:]), halfway))
        return self._turns[1]

    def fastest(self, k: int) -> float:
        """Return the largest speed [m/s] of joint k along its mode, in the states that were watched last."""
        return float(max(values[:, k, ALONG].max() for _, values in self._seen))

    def at(self, t: float, y: Array, state_space: MaximalStateSpace, *, columns_alone: bool = False) -> Array:
        """Return the quantities (nf, 4) at one state.  Raise the error of a state that has no solution.

        columns_alone: whether `rates_by_friction` is wanted alone, which is known before friction is solved for
        """
        key = t, y.tobytes(), self.modes.tobytes(), self.units.tobytes()
        if self._last[0] == key:  # the workspace is as it was left
            return self._last[1]
        self.leave_workspace()
        out = np.zeros((1, QUANTITIES * len(self.modes)))
        code = look_at(self.pack, np.array([t]), for_kernels(y)[None], self.units, out)
        self.solved = code == OK
        if code != OK and not (columns_alone and code in UNSOLVED_FRICTION):
            raise state_space.error(self.pack, code, t)
        values = out.reshape(-1, QUANTITIES)
        if code == OK and not state_space.has_delays:  # whose outputs depend on the motion so far, too
            self._last = key, values
        return values

    def known(self, y: Array, row: int) -> Array | None:
        """Return the quantities (nf, 4) at a row of flat states that `over` was asked for last; None where they are not known."""
        for states, values in self._seen:
            if states is y and not np.isnan(values[row]).any():
                return values[row]  # type: ignore[no-any-return]
        return None

    def measure(self, y_dot: Array) -> None:
        """Take the units of each joint from the last state, with rates y_dot, see `put_units`."""
        measure_loads(self.pack, self._mass, self._J_bar, for_kernels(y_dot), self.units)

    def look(self, terms: Array, ny: int) -> EventWatch:
        """Return the watch of the steps of a run in compiled code;  terms: of friction in its workspace."""
        memory = np.zeros((KNOWN + 1, max(ny, FIRST_KNOWN + NUMBERS * len(self.modes))))
        return EventWatch(LOOK_FOR_ENDS, self.pack, terms, memory, new_record(STEPS_SEEN))

    def begin_look(self, looks: EventWatch, t: float, more: Array) -> None:
        """Let the watch of the steps begin at t, with the units of now;  more: (nf,) how much farther slips are located."""
        known = looks.ends[KNOWN]
        of_joints = known[FIRST_KNOWN : FIRST_KNOWN + NUMBERS * len(self.modes)].reshape(-1, NUMBERS)
        known[START], of_joints[:, :MORE], of_joints[:, MORE] = t, self.units, more

    def beyond(self, k: int, which: int) -> float:
        """Return how far beyond zero an event of joint k is located [m/s, N]."""
        unit = self.units[k, 1] + self.terms[k, at.LIMIT] if which == MARGIN else self.units[k, 0]
        return float(BEYOND * unit)

    def rates_by_friction(self) -> Array:
        """Return the rates of all channels by the friction of each, (m, m), in the last state; those of joints that stick."""
        m, start = len(workspace_array(self.pack, "FRICTION_COLUMNS")), place_in(self.pack.ints, "FRICTION_ALGEBRA")[0]
        G: Array = self.pack.work[start : start + m * m].reshape(m, m)
        return G

    def gives_way(self) -> Flags:
        """Return which channels give way to their own friction, (m,), in the last state; joints hold the others."""
        n, m = len(self.modes), len(workspace_array(self.pack, "FRICTION_COLUMNS"))
        end = place_in(self.pack.ints, "FRICTION_ALGEBRA")[0] + algebra_size(n, m)
        alone = self.pack.work[end - 4 * m : end].reshape(4, m)[1]
        found: Flags = np.diagonal(self.rates_by_friction()) > HELD * alone
        return found


class Quantity:
    """A quantity of joint k, as an event function, located by `more` beyond its zero."""

    def __init__(self, watch: Watch, state_space: MaximalStateSpace, k: int, which: int, more: float) -> None:
        self.watch, self.state_space, self.k, self.which, self.more = watch, state_space, k, which, more

    def __call__(self, t: float, state: State) -> float:
        """Return the quantity at a state."""
        return self.at(t, state.y)

    def at(self, t: float, y: Array) -> float:
        """Return the quantity at a flat state."""
        return float(self.watch.at(t, y, self.state_space)[self.k, self.which]) + self.more

    def clear(self, t: Array, y: Array) -> Flags:
        """Return at which flat states the quantity is positive beyond rounding."""
        least = CLEAR * self.watch.beyond(self.k, self.which)
        found: Flags = self.watch.over(t, y)[:, self.k, self.which] + self.more > least
        return found


@dataclass(frozen=True)
class StickEvent(Event):
    """A joint comes to rest, or slips; its function also takes many states at once."""

    function: Quantity

    of_law = True
    of_flat_state = True

    def value_at(self, t: float, y: Array) -> float:
        g = self.function.at(t, y)
        return g if isfinite(g) else self.value(self.function.state_space.state(t, y))  # which raises its error

    def known_value(self, y: Array, row: int) -> float | None:
        values = self.function.watch.known(y, row)
        return None if values is None else float(values[self.function.k, self.function.which]) + self.function.more

    def clear(self, t: Array, y: Array) -> Flags:
        return self.function.clear(t, y)

    def may_leap(self, t: Array, y: Array, halfway: Array) -> Flags:
        flags: Flags = self.function.watch.may_turn(t, y, halfway)[:, self.function.k, self.function.which]
        return flags
