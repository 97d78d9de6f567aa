r"""The stops of a run, at which a step ends and the run continues: times of sampled blocks, multiples of delays, and their breaking points.

A sampled block is called at the times k period, with the state at the end of the step; its new values hold from there. With stops at
t_0 + k delay the motion t - delay ago is always complete. At a breaking point the output of a delay has a jump or a kink: the step to it
has the values before, and the run continues with those behind it.

Delays read the motion by dense output. Where the steps of a method are longer than that follows, states in their middles, and in the
middles of their halves, are added by steps that end there, until dense output agrees with them within the tolerances of the method.
"""

from __future__ import annotations

from dataclasses import replace
from math import floor

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.control.diagram.breaking_points import BreakingPoints
from haugmbd.control.diagram.memory import Between, Memory
from haugmbd.control.diagram.network import Network
from haugmbd.control.sampled import SAME, Sampled, multiple_at
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.errors import UsageError
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.event_location import Moment, step_to
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem, copy_options

AGREES = 2.0
"""Times the tolerances of the method, as the error of a step: dense output has that of the step, too."""
FALLS = 0.25
"""Of the difference over a whole step: that over half of it is smaller, by 1/64 in positions, unless it is the error of the steps."""


class Halves:
    """The states in the middles of steps that dense output does not follow."""

    def __init__(self, problem: Problem, method: Integrator) -> None:
        self.problem = replace(problem, options=copy_options(problem.options))  # not counted as work of the method
        self.method = method
        self.relative, absolute = method.tolerances
        self.absolute = absolute * method.units(problem)

    def between(self, start: Moment, end: Moment, before: float = np.inf) -> list[Moment]:
        """Return states between both ends of a step, in the order of time, until dense output agrees with them.

        before: the difference over the whole step, of which this is a half, in the tolerances
        """
        if not end.t > start.t:
            return []
        t = 0.5 * (start.t + end.t)
        middle = step_to(self.problem, self.method, start, t, self._need)
        ends = (np.array([start.t, end.t]), np.stack([start.y, end.y]), np.stack([start.y_dot, end.y_dot]))
        shown = self.problem.state_space.between(np.array([t]), *ends)[0]
        size = self.absolute + self.relative * np.maximum(np.abs(start.y), np.abs(end.y))
        difference = float(np.sqrt(np.mean(((shown - middle.y) / size) ** 2)))
        if not AGREES < difference < FALLS * before:
            return [middle]
        return [*self.between(start, middle, difference), middle, *self.between(middle, end, difference)]

    def _need(self, code: int, t: float) -> None:
        """Raise the error of a code that is not OK."""
        if code != OK:
            raise self.problem.state_space.error(self.problem.pack, code, t)


class Clock:
    """The stops of one run, and the memory of its blocks.  called: the last time of a call [s];  halves: None if steps need none."""

    def __init__(
        self, network: Network, memory: Memory | None, between: Between, t: float, order: float | None, halves: Halves | None = None
    ) -> None:
        self.network, self.memory, self.between, self.t_start, self.halves = network, memory, between, t, halves
        self.breaks = BreakingPoints(network, order, network.near)
        if memory is not None:
            memory.near = network.near
        self._end: Moment | None = None
        self.called = -np.inf

    @classmethod
    def of(cls, problem: Problem, method: Integrator) -> Clock | None:
        """Return the clock of a run; None if no block of it needs a stop."""
        if not isinstance(problem.state_space, MaximalStateSpace):
            return None
        network = problem.state_space.model.force_callbacks.network
        if network is None or not (network.sampled or network.delays):
            return None
        memory = problem.pack.callback.memory
        if network.delays and memory is None:
            names = ", ".join(block.where for block in network.delays)
            raise UsageError(
                f"{names} needs the motion so far, which a formulation written in Python does not keep: use NewtonEuler()."
            )
        long = not method.dense and method.correctable  # those of LSODA, which starts anew at each stop, are short enough
        halves = Halves(problem, method) if network.delays and long else None
        return cls(network, memory, problem.state_space.between, problem.t, getattr(method, "order", None), halves)

    def begin(self, problem: Problem) -> None:
        """Call the sampled blocks that are due at the start, from where delays know the motion."""
        self._begin_memory(problem)
        if self.call(problem):
            self._begin_memory(problem)  # with the values after the first calls
        if self.network.delays:
            self.breaks.start(problem.t, goes_on=problem.t > 0.0)

    def _begin_memory(self, problem: Problem) -> None:
        """Begin the motion that delays know."""
        if self.memory is not None:
            self.memory.begin(self.between, problem.t, problem.y, np.zeros_like(problem.y))

    def leave_stop(self, problem: Problem) -> bool:
        """Call the sampled blocks that are due at the stop, and let delays continue behind it; return whether rates jump there."""
        if self.memory is not None:
            self.memory.stop = np.inf
        jumps = self.breaks.reach(problem.t)
        return self.call(problem) or jumps

    def call(self, problem: Problem) -> bool:
        """Call the sampled blocks that are due now; return whether there are some."""
        due = tuple(block for block in self.network.sampled if self._is_due(block, problem.t))
        if due:
            self.network.sample(problem.t, problem.y, due, self.memory)
            self.called = problem.t
            for block in due:
                self.breaks.follow(block, problem.t)
        return bool(due)

    def _is_due(self, block: Sampled, t: float) -> bool:
        """Return whether a time is one of those of a sampled block."""
        return multiple_at(t, block.period) is not None and t - self.called > SAME * block.period

    def next_stop(self, t: float, t_end: float) -> float:
        """Return the first stop after t, at most t_end [s]; delays have their values before a jump there until the run continues."""
        stops = [block.period * next_multiple(t, block.period) for block in self.network.sampled]
        stops += [self.t_start + block.delay * next_multiple(t - self.t_start, block.delay) for block in self.network.delays]
        stop = min(*stops, self.breaks.next())
        stop = t_end if stop >= t_end - SAME * (stop - t) else stop
        if self.memory is not None:
            self.memory.stop = stop
        return stop

    def remember(self, t: Array, y: Array, y_dot: Array) -> None:
        """Keep the ends of steps (n,), (n, ny), (n, ny), or a state after a call."""
        if self.memory is None or not self.network.delays:
            return
        for time, state, rates in zip(t.tolist(), y, y_dot, strict=True):
            end = Moment(time, state.copy(), rates.copy())
            between = [] if self.halves is None or self._end is None else self.halves.between(self._end, end)
            for there in (*between, end):
                self.memory.add(*there)
            self._end = end

    def put_delays(self, t: Array, y: Array) -> None:
        """Write the outputs of delays to states y (n, ny) at t (n,)."""
        self.network.put_delays(t, y, self.memory)

    def notes(self) -> list[RunNote]:
        """Return a note if jumps came back so often that they were no longer followed."""
        names = ", ".join(map(repr, sorted(self.breaks.dropped)))
        if not names:
            return []
        what = (
            f"a jump has come back to {names} {self.breaks.most} times through a loop without an integration; later ones lie within steps, "
            "with errors of first order in their size: take shorter steps, or put a LowPass into the loop"
        )
        return [RunNote("jump", what, doubtful=True)]


def next_multiple(t: float, period: float) -> int:
    """Return the k of the first multiple of a period after t."""
    k = multiple_at(t, period)
    return (floor(t / period) if k is None else k) + 1
