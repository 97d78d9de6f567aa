"""Stops and slips that follow one another without end: a joint whose friction and load have no motion between them."""

from __future__ import annotations

import numpy as np

from haugmbd.integrators.event_location import SHORTEST

AT_ONCE, MOST_AT_ONCE = 1e-9, 40
"""More than MOST_AT_ONCE events within AT_ONCE of the run, and the rounding of the time, have no end."""
SOON = 1e-3
"""So have as many within SOON of the run, if joints slide between them by less than the absolute tolerance in all: error control lets steps
pass within which a joint turns back, so that their length is that of its errors."""


class EventTimes:
    """The times of the stops and slips of a run.

    span: [s] of the run;  unseen: the way [m] that error control does not see, 0 without
    """

    def __init__(self, span: float, unseen: float) -> None:
        self.at_once, self.soon, self.unseen = AT_ONCE * span, SOON * span, unseen
        self._times: list[float] = []
        self._speeds: list[float] = []

    def short(self, t: float) -> float:
        """Return the time [s] within which events are at once, at t."""
        return self.at_once + SHORTEST * abs(t)

    def add(self, t: float) -> None:
        """Add an event."""
        self._times.append(t)

    def add_speed(self, speed: float) -> None:
        """Add the largest speed [m/s] of the joint that the next event is of, since the last one; NaN for other events."""
        self._speeds.append(speed)

    def have_moved(self) -> bool:
        """Return whether time has passed between the last two events."""
        return len(self._times) < 2 or self._times[-1] - self._times[-2] > SHORTEST * (1.0 + abs(self._times[-1]))  # noqa: PLR2004

    def have_no_end(self) -> bool:
        """Return whether the last events follow one another at once, or soon and almost without motion."""
        recent = np.array(self._times[-MOST_AT_ONCE:])
        short = self.short(recent[-1])
        if len(recent) < MOST_AT_ONCE or recent[-1] - recent[0] > max(short, self.soon):
            return False
        ways = np.diff(recent) * self._speeds[1 - MOST_AT_ONCE :]
        return bool(recent[-1] - recent[0] <= short or ways.sum() <= self.unseen)
