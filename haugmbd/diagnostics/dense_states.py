"""States between stored ones by dense output, also where accelerations jump at the end of an interval.

A stop with damping begins to push with a jump of the acceleration. The run ends a step there; the step before has the acceleration of the
free stop at its end, the step behind that of the stop that pushes. The state decides as the step behind.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.dense_output import interpolate
from haugmbd.math.euler_parameters import p_dot_from
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

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
    """Return, by the number of the stored state, the rates (13 n,) of bodies just before a stop touches or lets go there."""
    if not model.has_stops or len(t) < 2:
        return {}
    stops, found = Stops(model), {}
    sides = stops.pressed(y)
    p, width = sides.p, sides.width
    for k in (1 + np.nonzero((np.abs(p[1:]) <= AT_EDGE * width[1:]).any(axis=1))[0]).tolist():
        at_edge = np.abs(p[k]) <= AT_EDGE * width[k]
        pack = model.pack()
        stops.hold(pack, (p[k] > 0.0) ^ at_edge)
        found[k] = body_rates(y[k : k + 1], solve_states(model, t[k : k + 1], y[k : k + 1], pack), model.nb + 1)[0]
    return found
