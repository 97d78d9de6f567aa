"""The motion of a run in compiled code: on the dense output between its steps, and on a parabola ahead of the last of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.integrators.dense_output import put_parabola, put_state
from haugmbd.integrators.step_context import Steps
from haugmbd.integrators.watches.rank_watch import motion_of
from haugmbd.model.generalized_forces import copy_line


@kernel
def put_state_at(t: float, steps: Steps, n_bodies: int, out: Array) -> None:
    """Write the state of the motion at time t: the first one before the steps, on the parabola behind them."""
    times, y, y_dot = steps
    last = times.size - 1
    if t <= times[0]:
        copy_line(y[0], out)
    elif t > times[last]:
        put_parabola(t - times[last], y[last], y_dot[last], n_bodies, out)
    else:
        k = last - 1
        while times[k] > t:
            k -= 1
        h = times[k + 1] - times[k]
        put_state((t - times[k]) / h, h, (y[k], y_dot[k]), (y[k + 1], y_dot[k + 1]), n_bodies, out)


@entry
def states_entry(t: Array, steps: Steps, n_bodies: int, out: Array) -> None:
    """Write the states of the motion at the times t (k,) to out (k, ny)."""
    for k in range(t.size):
        put_state_at(t[k], steps, n_bodies, out[k])


@entry
def speeds_entry(y: Array, n_bodies: int, size: float, out: Array) -> None:
    """Write the motion per second of the states y (k, ny) to out (k,)."""
    for k in range(out.size):
        out[k] = motion_of(y[k], n_bodies, size)


_put_states, _put_speeds = DirectCall(states_entry), DirectCall(speeds_entry)


class Way(NamedTuple):
    """The motion of a run and its extrapolation: times t (k,), motion so far s (k,), and its steps, k or k - 1 of them."""

    t: Array
    s: Array
    steps: Steps
    n_bodies: int

    def states(self, t: Array) -> Array:
        """Return the states (k, ny) at the times t (k,)."""
        y = np.empty((len(t), self.steps.y.shape[1]))
        _put_states(np.ascontiguousarray(t, dtype=np.float64), self.steps, self.n_bodies, y)
        return y


def parabola(y: Array, y_dot: Array, tau: float, n_bodies: int) -> Array:
    """Return the state (ny,) of the parabola from y, with the rates y_dot, after tau."""
    out = np.empty((1, y.size))
    _put_states(np.array([tau]), Steps(np.zeros(1), y[None], y_dot[None]), n_bodies, out)
    found: Array = out[0]
    return found


def speeds_of(y: Array, n_bodies: int, size: float) -> Array:
    """Return the motion per second (k,) of states y (k, ny).

    It is the largest angular velocity of a body, or the largest speed relative to the mean, divided by the size.
    """
    found = np.empty(len(y))
    _put_speeds(y, n_bodies, size, found)
    return found
