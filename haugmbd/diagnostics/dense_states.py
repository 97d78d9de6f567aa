"""States between stored ones by dense output, also where accelerations jump at the end of an interval.

A run ends a step where accelerations jump. The state decides as the step behind; the step before has another acceleration at its end:

    a stop with damping touches or lets go     that of the side that was free, or pushed
    a joint with exact friction stops, slips   that of the friction against its motion so far, or that holds it
    a sampled block is called                  that of the values which it held before
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.dense_output import interpolate
from haugmbd.integrators.stick import MISSING, Watch, may_stick
from haugmbd.math.euler_parameters import p_dot_from
from haugmbd.model.friction import columns as at
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

AT_EDGE = 4.0
"""Times the width of its edge: a stop that is nearer touches or lets go in this state."""


def rates_of(t: Array, y: Array, solutions: Array, n: int) -> Array:
    """Return y_dot (nt, ny) of the states of n bodies; the rates of integrated angles are differences."""
    rates = np.concatenate([body_rates(y, solutions, n), np.gradient(y[:, WIDTH * n :], t, axis=0)], axis=1)
    return np.asarray(rates)


def body_rates(y: Array, solutions: Array, n: int) -> Array:
    """Return the rates (nt, 13 n) of the states of n bodies, by solutions (nt, nn, 6) of the equations of motion."""
    bodies, u_dot = y[:, : WIDTH * n].reshape(len(y), n, WIDTH), solutions[:, :n]
    p_dot = p_dot_from(bodies[..., 3:7], bodies[..., 10:13])
    rates: Array = np.concatenate([bodies[..., 7:10], p_dot, u_dot], axis=2).reshape(len(y), -1)
    return rates


def states_between(model: Model, times: Array, t: Array, y: Array, rates: Array) -> Array:
    """Return states (k, ny) at times (k,), from stored states and rates (nt, ny) at t (nt,)."""
    n = model.nb + 1
    states = interpolate(times, t, y, rates, n)
    interval_end = np.searchsorted(t, times, side="right")
    for end, before in rates_before(model, t, y).items():
        inside = interval_end == end
        ends = rates[end - 1 : end + 1].copy()
        ends[1, : WIDTH * n] = before
        states[inside] = interpolate(times[inside], t[end - 1 : end + 1], y[end - 1 : end + 1], ends, n)
    return states


def rates_before(model: Model, t: Array, y: Array) -> dict[int, Array]:
    """Return, by the number of the stored state, the rates (13 n,) of bodies just before accelerations jump there."""
    if len(t) < 2:
        return {}
    jumps: list[_StopJumps | _FrictionJumps] = []
    if model.has_stops:
        jumps.append(_StopJumps(model, y))
    if may_stick(model):
        jumps.append(_FrictionJumps(model, t, y))
    before = y if model.network is None else model.network.before_calls(t, y)
    called = np.zeros(len(t), dtype=np.bool_) if before is y else (before != y).any(axis=1)
    found, events = {}, {k for jump in jumps for k in jump.numbers}
    for k in sorted(events):
        pack = model.pack()
        for jump in jumps:
            jump.hold(pack, k)
        found[k] = body_rates(before[k : k + 1], solve_states(model, t[k : k + 1], before[k : k + 1], pack), model.nb + 1)[0]
    calls = [k for k in np.nonzero(called)[0].tolist() if k not in events]
    if calls:
        rates = body_rates(before[calls], solve_states(model, t[calls], before[calls]), model.nb + 1)
        found |= dict(zip(calls, rates, strict=True))
    return found


class _StopJumps:
    """Where stops touch or let go, by states y (nt, ny).  numbers: of these states"""

    def __init__(self, model: Model, y: Array) -> None:
        self.stops = Stops(model)
        sides = self.stops.pressed(y)
        self.p, self.at_edge = sides.p, np.abs(sides.p) <= AT_EDGE * sides.width
        self.numbers: list[int] = (1 + np.nonzero(self.at_edge[1:].any(axis=1))[0]).tolist()

    def hold(self, pack: Pack, k: int) -> None:
        """Let the sides push in a workspace that did so before state k."""
        self.stops.hold(pack, (self.p[k] > 0.0) ^ self.at_edge[k])


class _FrictionJumps:
    """Where joints with exact friction stop or slip, by states y (nt, ny) at t.  numbers: of these states"""

    def __init__(self, model: Model, t: Array, y: Array) -> None:
        self.watch, self.t, self.y = Watch(model), t, y
        exact = model.tables["FRICTION_INTS"][:, at.EXACT] == 1
        self.moves = (-self.watch.over(t, y)[:, :, MISSING] > at.REST) & exact
        rests = ~self.moves & exact
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
