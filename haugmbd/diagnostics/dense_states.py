"""States between stored ones by dense output, also where accelerations jump at the end of an interval.

A run ends a step where accelerations jump. The state decides as the step behind; the step before has another acceleration at its end:

    a stop with damping touches or is released     that of the side that was free, or pushed
    a joint with exact friction stops, slips   that of the friction against its motion so far, or that holds it
    a sampled block is called                  that of the values which it held before
    a jump comes out of a delay                that of the output before the jump
"""

from __future__ import annotations

from functools import partial

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.control.diagram.jumps import states_before_jumps
from haugmbd.control.diagram.memory import Memory
from haugmbd.formulations.accelerations import solve_states
from haugmbd.formulations.error_messages import explain
from haugmbd.friction import columns as at
from haugmbd.integrators.dense_output import interpolate
from haugmbd.integrators.events import Flags
from haugmbd.integrators.stabilization.corrections import stop_at_rest_entry
from haugmbd.integrators.stick_slip.watched_quantities import MISSING, Watch, may_stick
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import p_dot_from
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

AT_EDGE = 4.0
"""Times the width of its edge: a stop that is nearer touches or is released in this state."""
NEARER = 1e-4
"""Relative to p before and after: such a state between both signs is where a step ended at the edge, which a method of low tolerance, or a
long lever c / k, leaves by more than its width."""


def rates_of(t: Array, y: Array, solutions: Array, n: int) -> Array:
    """Return y_dot (nt, ny) of the states of n bodies; the rates of integrated angles are differences."""
    rates = np.concatenate([body_rates(y, solutions, n), np.gradient(y[:, WIDTH * n :], t, axis=0)], axis=1)
    return np.asarray(rates)


def body_rates(y: Array, solutions: Array, n: int) -> Array:
    """Return the rates (nt, 13 n) of the states of n bodies, by solutions (nt, nn, 6) of the equations of motion."""
    bodies, u_dot = y[:, : WIDTH * n].reshape(len(y), n, WIDTH), solutions[:, :n]
    p_dot = p_dot_from(bodies[..., EULER:VELOCITY], bodies[..., OMEGA_BAR:WIDTH])
    rates: Array = np.concatenate([bodies[..., VELOCITY:OMEGA_BAR], p_dot, u_dot], axis=2).reshape(len(y), -1)
    return rates


def states_between(model: Model, times: Array, t: Array, y: Array, rates: Array) -> Array:
    """Return states (k, ny) at times (k,), from stored states and rates (nt, ny) at t (nt,); touch speeds are not those that are held."""
    n, network = model.nb + 1, model.network
    if network is not None and network.size:
        rates = rates.copy()
        rates[:, network.first(y) :] = 0.0
        network.put_rates(t, y, rates)
    t, y, rates = with_jumps(model, t, y, rates)
    states = interpolate(times, t, y, rates, n)
    if may_stick(model):
        Rests(model, t, y).stop(times, states)
    if network is not None:
        network.put_held(times, t, y, states)
        if network.delays:
            network.put_delays(times, states, _memory(model, t, y, rates))
    return states


def _memory(model: Model, t: Array, y: Array, rates: Array) -> Memory:
    """Return the motion of a result as delays know it in a run."""
    memory = Memory(model.network)
    memory.near = model.network.near  # type: ignore[union-attr]
    memory.begin(partial(interpolate, n_bodies=model.nb + 1), float(t[0]), y[0], rates[0])
    for k in range(1, len(t)):
        memory.add(float(t[k]), y[k], rates[k])
    return memory


def with_jumps(model: Model, t: Array, y: Array, rates: Array) -> tuple[Array, Array, Array]:
    """Return times, states and rates (nt, ny) with those before jumps inserted, at the same times; at the last time in place of them."""
    n = WIDTH * (model.nb + 1)
    before = before_jumps(model, t, y)
    if not before:
        return t, y, rates
    numbers = sorted(before)
    states, ends = np.array([before[k][0] for k in numbers]), rates[numbers]
    ends[:, :n] = [before[k][1] for k in numbers]
    if model.network is not None:
        model.network.put_rates(t[numbers], states, ends)
    times, states, ends = (
        np.insert(t, numbers, t[numbers]),
        np.insert(y, numbers, states, axis=0),
        np.insert(rates, numbers, ends, axis=0),
    )
    keep = len(times) - (numbers[-1] == len(t) - 1)
    return times[:keep], states[:keep], ends[:keep]


def before_jumps(model: Model, t: Array, y: Array) -> dict[int, tuple[Array, Array]]:
    """Return, by the number of the stored state, the state (ny,) and the rates (13 n,) of bodies just before accelerations jump there."""
    if len(t) < 2:
        return {}
    jumps: list[_StopJumps | _FrictionJumps] = []
    if model.has_stops:
        jumps.append(_StopJumps(model, y))
    if may_stick(model):
        jumps.append(_FrictionJumps(model, t, y))
    before = {} if model.network is None else states_before_jumps(model.network, t, y)
    states_before, events = {}, {k for jump in jumps for k in jump.numbers}
    for k in sorted(events):
        pack, state = model.pack(), before.get(k, y[k])
        for jump in jumps:
            jump.hold(pack, k)
        states_before[k] = (state, body_rates(state[None], solve_states(model, t[k : k + 1], state[None], pack), model.nb + 1)[0])
    others = [k for k in before if k not in events]
    if others:
        states = np.array([before[k] for k in others])
        rates = body_rates(states, solve_states(model, t[others], states), model.nb + 1)
        states_before |= dict(zip(others, zip(states, rates, strict=True), strict=True))
    return states_before


class Rests:
    """Joints with exact friction that are at rest between stored states y (nt, ny) at t: at rest in both of them.

    An interpolated state leaves them a rate of the size of its error, by which they would slide.
    """

    def __init__(self, model: Model, t: Array, y: Array) -> None:
        self.model, self.t = model, t
        exact = model.tables["FRICTION_INTS"][:, at.EXACT] == 1
        self.at_rest = _rests(Watch(model).over(t, y)) & exact

    def between(self, times: Array) -> Array:
        """Return 1 for each joint that is at rest at a time, (n, nf), and 0 for others."""
        after = np.searchsorted(self.t, times, side="left").clip(0, len(self.t) - 1)
        before = (np.searchsorted(self.t, times, side="right") - 1).clip(0, len(self.t) - 1)
        resting: Array = (self.at_rest[before] & self.at_rest[after]).astype(float)
        return resting

    def stop(self, times: Array, states: Array) -> None:
        """Remove the rates of joints at rest from states (n, ny), in place.  Raise the error of a state that cannot be evaluated."""
        pack, which = self.model.pack(), np.flatnonzero(np.any(self.between(times), axis=1))
        stopped = states[which]
        code, done = stop_at_rest_entry(pack, times[which], stopped, self.between(times[which]))
        if code != OK:
            self.model.raise_user_error(pack)
            raise explain(self.model, pack, code, float(times[which][done]))
        states[which] = stopped

    def hold(self, pack: Pack, time: float) -> None:
        """Let the joints at rest at a time stick in a workspace."""
        modes = workspace_array(pack, "FRICTION_MODES")
        modes[:, at.MODE] = np.where(self.between(np.array([time]))[0] == 1.0, at.STICKS, at.FREE)


def _rests(watched: Array) -> Flags:
    """Return whether each joint is at rest, (nt, nf), by the quantities of a `Watch`; no joint is where these are unknown.

    Above 1 m/s the largest speed of a joint counts: its stops are located to the rounding of time.
    """
    speeds = -watched[:, :, MISSING]
    resting: Flags = speeds <= at.REST * np.fmax.reduce(speeds, axis=0, initial=1.0)
    return resting


class _StopJumps:
    """Where stops touch or are released, by states y (nt, ny).  numbers: of these states"""

    def __init__(self, model: Model, y: Array) -> None:
        self.stops = Stops(model)
        sides = self.stops.pressed(y)
        self.p, self.at_edge = sides.p, np.abs(sides.p) <= AT_EDGE * sides.width
        self.crossed = _crossed(self.p)
        switched = self.at_edge | self.crossed
        self.numbers: list[int] = (1 + np.nonzero(switched[1:].any(axis=1))[0]).tolist()

    def hold(self, pack: Pack, k: int) -> None:
        """Let the sides push in a workspace that did so before state k."""
        self.stops.hold(pack, np.where(self.crossed[k], self.p[k - 1] > 0.0, (self.p[k] > 0.0) ^ self.at_edge[k]))


def _crossed(p: Array) -> Flags:
    """Return where p (nt, n) crosses zero with a state between that is very much nearer to it than both of its neighbours."""
    crossings = np.zeros(p.shape, dtype=np.bool_)
    before, here, after = p[:-2], np.abs(p[1:-1]), p[2:]
    crossings[1:-1] = (before * after < 0.0) & (here <= NEARER * np.minimum(np.abs(before), np.abs(after)))
    return crossings


class _FrictionJumps:
    """Where joints with exact friction stop or slip, by states y (nt, ny) at t.  numbers: of these states"""

    def __init__(self, model: Model, t: Array, y: Array) -> None:
        self.watch, self.t, self.y = Watch(model), t, y
        exact = model.tables["FRICTION_INTS"][:, at.EXACT] == 1
        rests = _rests(self.watch.over(t, y)) & exact
        self.moves = ~rests & exact
        stops, slips = rests[1:] & self.moves[:-1], rests[1:] & rests[:-1]
        slips[:-1] &= self.moves[2:]
        slips[-1:] = False
        self.exact, self.numbers = exact, (1 + np.nonzero((stops | slips).any(axis=1))[0]).tolist()

    def hold(self, pack: Pack, k: int) -> None:
        """Let the joints at rest in state k stick in a workspace, or slide as they did before."""
        modes, terms = workspace_array(pack, "FRICTION_MODES"), self.watch.terms
        self.watch.over(self.t[k - 1 : k], self.y[k - 1 : k])
        for joint in np.nonzero(self.exact & ~self.moves[k])[0].tolist():
            modes[joint, at.MODE] = at.STICKS
            if self.moves[k - 1, joint]:
                n = self.channels(joint)
                arms, along = terms[joint, at.ARM : at.ARM + n], terms[joint, at.DIRECTION : at.DIRECTION + n]
                modes[joint, at.MODE] = at.SLIDES if n == 1 else at.SLOWS
                modes[joint, at.AGAINST : at.AGAINST + n] = along / arms

    def channels(self, joint: int) -> int:
        """Return the number of rates that the friction of a joint acts against."""
        return int(self.watch.model.tables["FRICTION_INTS"][joint, at.CHANNELS])
