r"""The user's events in a motion with impacts: zeros inside smooth segments, and what an impact does to them.

    reaches zero at an impact    |g| <= |g_dot| NEAR, such as the gap of the contact itself      one event, if the direction is right
    jumps across zero            g(before) g(after) < 0, such as a velocity                      an event with its jump
    starts a segment at zero     is not an event, as at the start of a run

g_dot is the difference over NEAR seconds along the velocities of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from haugmbd.integrators.events import Event, EventRecord
from haugmbd.math.euler_parameters import normalized, p_dot_from
from haugmbd.model.state import State

AHEAD = 1e-6
"""Relative to |t| + 1 s: the time of the difference for g_dot."""
NEAR = 1e-9
"""Relative to |t| + 1 s: a zero nearer to an impact than this is at the impact: far above the accuracy of the times of low bounces, far
below the time of the lowest bounce that is resolved."""
ROUNDING = 1e-12
"""Relative to the value before: a smaller value after a jump is zero."""


@dataclass(frozen=True)
class StartsAtZero(Event):
    """An event whose g is zero, within rounding, at the start of a segment, and may stay there.

    start: its time [s];  rounding: a smaller |g| is zero, as that of the gap of a closed contact
    """

    start: float = 0.0
    rounding: float = 0.0

    def value(self, state: Any) -> float:
        """Return g; exactly zero at the start, and where it is within rounding."""
        g = super().value(state)
        return 0.0 if state.t <= self.start or abs(g) <= self.rounding else g


def events_from(events: Sequence[Event], state: State, rounding: float, jumped: Sequence[Event] = ()) -> tuple[Event, ...]:
    """Return the events of a segment that starts at `state`; those in `jumped` have come to zero by an impact."""
    return tuple(
        StartsAtZero(one.name, one.function, direction=one.direction, terminal=one.terminal, start=state.t, rounding=rounding)
        if one in jumped or _is_zero(one, state)
        else one
        for one in events
    )


def reached(events: Sequence[Event], state: State, known: Sequence[EventRecord]) -> list[tuple[Event, EventRecord]]:
    """Return the events whose g reaches zero at the end of a segment, at `state`, without those that were located there."""
    near = NEAR * (1.0 + abs(state.t))
    names = {one.name for one in known if state.t - one.t <= near}
    occurred = []
    for event in events:
        if event.name not in names and _is_zero(event, state) and event.wants(event.value(_moved(state, -1.0)), 0.0):
            occurred.append((event, EventRecord(event.name, state.t, state)))
    return occurred


def jumps(events: Sequence[Event], before: State, after: State) -> tuple[list[tuple[Event, EventRecord]], list[Event]]:
    """Return the events whose g jumps across zero at an impact, and all whose g jumps to zero."""
    occurred, zero = [], []
    for event in events:
        if _is_zero(event, before):
            continue
        g, g_after = event.value(before), event.value(after)
        if abs(g_after) <= ROUNDING * abs(g):
            g_after = 0.0
            zero.append(event)
        if event.wants(g, g_after):
            occurred.append((event, EventRecord(event.name, after.t, after, g_after - g)))
    return occurred, zero


def _is_zero(event: Event, state: State) -> bool:
    """Return whether the zero of g is at a state, within the accuracy of its time."""
    g = event.value(state)
    if g == 0.0:
        return True
    ahead, step = event.value(_moved(state, 1.0)), AHEAD * (1.0 + abs(state.t))
    return abs(g) <= NEAR * (1.0 + abs(state.t)) * abs(ahead - g) / step


def _moved(state: State, way: float) -> State:
    """Return the state `AHEAD` later (way = 1) or earlier (-1), with the same velocities."""
    h = way * AHEAD * (1.0 + abs(state.t))
    p = normalized(state.p + h * p_dot_from(state.p, state.omega_bar))
    return state.replace(t=state.t + h, r=state.r + h * state.v, p=p)
