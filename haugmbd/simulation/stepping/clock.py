r"""The stops of a run, at which a step ends and the run continues: times of sampled blocks, multiples of delays, and their breaking points.

A sampled block is called at the times k period, with the state at the end of the step; its new values hold from there. With stops at
t_0 + k delay the motion t - delay ago is always complete. At a breaking point the output of a delay has a jump or a kink: the step to it
has the values before, and the run continues with those behind it.
"""

from __future__ import annotations

from math import floor

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.control.diagram.breaking_points import BreakingPoints
from haugmbd.control.diagram.memory import Between, Memory
from haugmbd.control.diagram.network import Network
from haugmbd.control.sampled import SAME, Sampled, multiple_at
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.errors import UsageError
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem


class Clock:
    """The stops of one run, and the memory of its blocks.  called: the last time of a call [s]."""

    def __init__(self, network: Network, memory: Memory | None, between: Between, t: float, order: float | None) -> None:
        self.network, self.memory, self.between, self.t_start = network, memory, between, t
        self.breaks = BreakingPoints(network, order, network.near)
        if memory is not None:
            memory.near = network.near
        self._longest_step, self._t_before = 0.0, t
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
        return cls(network, memory, problem.state_space.between, problem.t, getattr(method, "order", None))

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
        for time, state, rates in zip(t.tolist(), y, y_dot, strict=True):
            self._longest_step = max(self._longest_step, time - self._t_before)
            self._t_before = time
            if self.memory is not None and self.network.delays:
                self.memory.add(time, state, rates)

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

    def restarted(self, method: Integrator) -> Integrator:
        """Return the method for the steps after a stop: an adaptive one starts with the longest step since the last stop."""
        longest, self._longest_step = self._longest_step, 0.0
        return method if method.step is not None or not method.one_step or not longest else method.starting_with(longest)


def next_multiple(t: float, period: float) -> int:
    """Return the k of the first multiple of a period after t."""
    k = multiple_at(t, period)
    return (floor(t / period) if k is None else k) + 1
