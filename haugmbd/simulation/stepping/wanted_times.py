"""States at given times, `t_eval`, between the steps of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.event_location import Moment, step_to
from haugmbd.integrators.step_context import Problem, copy_options, post_step_each

Need = Callable[[int, float], None]
"""Raises the error of a status code at a time; returns for OK."""


class WantedTimes:
    """The given times of a run, and how far it has come.

    times: (nt,) ascending;  need: raises the error of a status code;  near: times that are nearer to a stop belong behind it [s]
    """

    def __init__(self, times: Array, problem: Problem, method: Any, need: Need, near: float = 0.0) -> None:
        self.near = near
        self.times, self.problem, self.method, self.need = times, problem, method, need
        self.next = 0

    def states(self, t: Array, y: Array, y_dot: Array, curve: Any, *, with_last: bool) -> tuple[Array, Array]:
        """Return the times up to t[-1] and their states; on a curve, if there is one.

        t (k,), y (k, ny), y_dot (k, ny): the steps from the last state on;  with_last: whether t[-1] itself is among them
        """
        stop = int(np.searchsorted(self.times, t[-1] if with_last else t[-1] - self.near, side="right" if with_last else "left"))
        wanted = np.maximum(self.times[self.next : stop], t[0])
        if not len(wanted):
            return wanted, y[:0]
        if curve is not None:
            states: Array = curve.states(wanted)
        elif self.method.dense:
            states = self.problem.state_space.between(wanted, t, y, y_dot)
            self._post_step_each(wanted, states)
        else:
            states = self._step_to_each(wanted, t, y, y_dot)
        given, self.next = self.times[self.next : stop], stop
        return given, states

    def _post_step_each(self, t: Array, y: Array) -> None:
        """Apply the stabilization to interpolated states; this is not counted as work of the integrator."""
        code, done = post_step_each(self.problem.post_step, self.problem.pack, self.problem.options, t, y)
        if code != OK:
            self.need(code, t[done])

    def _step_to_each(self, wanted: Array, t: Array, y: Array, y_dot: Array) -> Array:
        """Return states at the given times by steps that end there; they are not counted as work of the integrator."""
        problem = replace(self.problem, options=copy_options(self.problem.options))
        states = np.empty((len(wanted), y.shape[1]))
        for row, time in enumerate(wanted):
            k = int(np.searchsorted(t, time, side="right")) - 1
            states[row] = step_to(problem, self.method, Moment(float(t[k]), y[k], y_dot[k]), float(time), self.need).y
        return states
