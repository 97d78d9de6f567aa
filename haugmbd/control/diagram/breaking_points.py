r"""Breaking points: the times at which the output of a delay has a jump or a kink, because its signal had one a delay before.

    t_0 + D                            the signal of the start arrives: a jump from `before`, or a kink
    t_k + D                            a sampled block was called at t_k, and its new value arrives
    t + D,  order + n                  the output of a delay had a jump of its derivative `order` at t; the signal is n integrations behind

A value passes through n integrations on its way to a signal: one in a state of a block or in a velocity, two in a position. A jump of the
derivative k of x' leaves a one-step method that ends a step there its order p; within a step it costs an error h^(k+1), so that jumps
are followed up to k = p - 2. A way back without an integration keeps the jump. It is followed through MOST_PASSES delays.
Source: Bellen, Zennaro, Numerical Methods for Delay Differential Equations, ch. 2 (propagation of discontinuities);
Wille, Baker, The tracking of derivative discontinuities in systems of delay-differential equations, Appl. Numer. Math. 9 (1992).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, NamedTuple

from haugmbd.control.block import Block
from haugmbd.control.delay_line import DelayLine
from haugmbd.control.diagram.network import Network
from haugmbd.control.output import BlockOutput
from haugmbd.control.signals import POSITIONS, RATE, DynamicSignal, JointSignal, LoadSignal, Signal

MOST_PASSES = 50
"""Passes through delays, beside one through each, after which a jump is no longer followed."""
UNKNOWN_ORDER = 5
"""Order that a method without a number has at most."""
VELOCITY = "velocities of the bodies"


class BreakingPoint(NamedTuple):
    """A jump of derivative `order` of the output of a delay, at t [s];  passes: delays that it has passed so far."""

    t: float
    delay: int
    order: int
    passes: int


class BreakingPoints:
    """The breaking points of one run that are still to come.

    order: of the method, None if it has no number;  near: times that are nearer to each other are the same [s]
    """

    def __init__(self, network: Network, order: float | None, near: float) -> None:
        self.near, self.highest = near, max(0, int(order or UNKNOWN_ORDER) - 2)
        self._delays = network.delays
        sources = (*network.sampled, *network.delays) if network.delays else ()
        self._ways = {source: integrations_behind(network, source) for source in sources}
        self._matter = _mattering(self._delays, self._ways)
        self._pending: list[BreakingPoint] = []
        self.most = MOST_PASSES + len(self._delays)
        self.dropped: set[str] = set()
        """Names of the delays whose jumps were no longer followed."""

    def start(self, t: float, goes_on: bool) -> None:
        """Add what the start of the run at t causes;  goes_on: from a state of another run, so that all delays jump."""
        for k, delay in enumerate(self._delays):
            jumps = goes_on or delay.before is not None
            self._add(BreakingPoint(t + delay.delay, k, 0 if jumps else 1, 1))

    def follow(self, source: Block, t: float, order: int = 0, passes: int = 0) -> None:
        """Add what a jump of a derivative of an output at t causes."""
        for k, delay in enumerate(self._delays):
            behind = self._ways[source].get(delay.signal)
            if behind is not None and order + behind <= self.highest:
                self._add(BreakingPoint(t + delay.delay, k, order + behind, passes + 1))

    def next(self) -> float:
        """Return the first of the times [s], infinite if there is none."""
        return self._pending[0].t if self._pending else float("inf")

    def reach(self, t: float) -> bool:
        """Remove those at t, and follow each through the next delays; return whether there is one."""
        reached = []
        while self._pending and self._pending[0].t <= t + self.near:
            reached.append(self._pending.pop(0))
        for point in reached:
            self.follow(self._delays[point.delay], t, point.order, point.passes)
        return bool(reached)

    def _add(self, point: BreakingPoint) -> None:
        """Add a breaking point; of two at one time the one of lower order stays."""
        if self._delays[point.delay] not in self._matter:
            return
        if point.passes > self.most:
            self.dropped.add(self._delays[point.delay].name)
            return
        pending = self._pending
        first = at = bisect_left(pending, point.t - self.near, key=lambda one: one.t)
        while at < len(pending) and pending[at].t <= point.t + self.near:
            other = pending[at]
            if other.delay == point.delay:
                order, passes = min(other.order, point.order), min(other.passes, point.passes)
                pending[at] = other._replace(order=order, passes=passes)
                return
            at += 1
        if at > first:  # one time for all that are the same
            point = point._replace(t=pending[first].t)
        insort(pending, point)


def integrations_behind(network: Network, source: Block) -> dict[Any, int]:
    """Return the least number of integrations between a jump of the outputs of a block and what depends on it.

    Keys are the names of signals, blocks for their states, and VELOCITY. What only a sampled block or another delay passes on is not in it.
    """
    integrations: dict[Any, int] = {f"{source.name}.{output}": 0 for output in source.outputs}
    used = [output.label for _, output in (*network.outputs, *network.motions, *network.masses)]
    before: dict[Any, int] = {}
    while integrations != before:
        before = dict(integrations)
        for block in network.blocks:
            if isinstance(block, DelayLine):
                continue
            _lower(integrations, block, 1, network.read_by.get((block, "derivative"), ()))
            for output in block.outputs:
                reads = network.read_by.get((block, f"output {output!r}"), ())
                _lower(integrations, f"{block.name}.{output}", 0, (block, *reads))
        _lower(integrations, VELOCITY, 1, used)
        for name, signal in network.signals.items():
            _through_mechanism(integrations, name, signal)
    return integrations


def _lower(levels_of: dict[Any, int], key: Any, integrations: int, sources: Any) -> None:
    """Lower the number of one thing to that of the nearest of its sources, and the integrations between them."""
    levels = [levels_of[source] + integrations for source in sources if source in levels_of]
    if levels:
        levels_of[key] = min(levels) if key not in levels_of else min(levels_of[key], *levels)


def _through_mechanism(integrations: dict[Any, int], name: str, signal: Signal) -> None:
    """Lower the number of a signal of a joint, a force element or a sensor."""
    if isinstance(signal, JointSignal):
        _lower(integrations, name, 0 if signal.is_rate else 1, (VELOCITY,))
    elif isinstance(signal, LoadSignal):
        outputs = [driver.label for driver in signal.load.drivers() if isinstance(driver, BlockOutput)]
        if signal.quantity in POSITIONS:
            _lower(integrations, name, 1, (VELOCITY,))
        else:
            _lower(integrations, name, 0, (VELOCITY,) if signal.quantity == RATE else (VELOCITY, *outputs))
    elif isinstance(signal, DynamicSignal):
        _lower(integrations, name, 0, list(integrations))
    elif not hasattr(signal, "block"):  # a sensor, which has the whole state
        _lower(integrations, name, 0, [key for key in integrations if key == VELOCITY or isinstance(key, Block)])


def _mattering(delays: tuple[DelayLine, ...], ways: dict[Any, dict[Any, int]]) -> set[DelayLine]:
    """Return the delays whose output is integrated, at once or behind other delays; no step need end for others."""
    mattering = {delay for delay in delays if any(key == VELOCITY or isinstance(key, Block) for key in ways[delay])}
    more = True
    while more:
        more = False
        for delay in set(delays) - mattering:
            if any(other.signal in ways[delay] for other in mattering):
                mattering.add(delay)
                more = True
    return mattering
