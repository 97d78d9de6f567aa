r"""Events: functions of time and state whose sign changes are found and located while a simulation runs.

    event at t*      g(t*, state(t*)) = 0,   g < 0 before and > 0 after (direction > 0), or the other way (direction < 0)

An event is data; `event_location` finds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import SimulationError, UsageError, error_text

EventFunction = Callable[[float, Any], float]
Flags = npt.NDArray[np.bool_]


@public_class
@dataclass(frozen=True)
class Event:
    """A function g(t, state) whose zeros are located while a simulation runs.

    Parameters
    ----------
    name : str
        Name of the event in the records.
    function : callable
        g(t, state), continuous, of the time [s] and a `State` (for a chain: `ChainState`).  It must depend on nothing else.
    direction : {-1, 0, 1}
        1 for zeros where g rises, -1 where it falls, 0 for both.
    terminal : bool
        True to end the run at the event.

    Notes
    -----
    A start at g = 0 is not an event: an event whose zero is within 1e-10 (|t| + 1 s) of the start is armed when its g has left zero. So a
    run that continues from a terminal event does not end at its start. One within as little of the end is recorded at the end, so that a
    motion in several runs has each event once.

    g is evaluated at both ends and in the middle of each step, and where the parabola through these values turns towards zero: zeros of a
    g that oscillates within a step are not seen. All events of an instant are recorded, also beside the one that ends the run there.
    """

    name: str
    function: EventFunction
    direction: float = field(default=0, kw_only=True)
    terminal: bool = field(default=False, kw_only=True)

    watched: ClassVar[bool] = False
    """Whether compiled code looks for the event in every step, see `event_watch`."""
    of_law: ClassVar[bool] = False
    """Whether it is the run's own event, at which a force or a contact changes its law; the run decides with which law it starts."""

    @property
    def group(self) -> Any:
        """Return what answers `clear` and `may_leap` for all of its events at once, with a column for each; None for an event alone."""
        return None

    def value_of(self, y: Array) -> float:
        """Return g at a flat state y (ny,), of an event that compiled code watches."""
        raise NotImplementedError

    def along(self, t: Array, y: Array, y_dot: Array) -> Callable[[float], float] | None:
        """Return g on the dense output of a step between two states y (2, ny) at t (2,), as a function of the time [s].

        None if g is a function of a state.
        """
        return None

    def value(self, state: Any) -> float:
        """Return g at a state.  Raise SimulationError, with name and time, if the function fails."""
        try:
            given = self.function(state.t, state)
            number = float(given)
        except Exception as error:  # a user's function may raise anything
            what = f"raises {error_text(error)}"
            raise SimulationError(f"event {self.name!r} {what} (at t = {state.t:.9g} s). {REMEDY}") from error
        if isinstance(given, bool | np.bool_):
            what = f"gives {given} at t = {state.t:.9g} s, and a truth value has no zero to locate"
            raise SimulationError(f"event {self.name!r} {what}. Give a difference, such as state.r[1, 2] - 0.5 for r[1, 2] > 0.5.")
        if not isfinite(number):
            raise SimulationError(f"event {self.name!r} gives {number} at t = {state.t:.9g} s. {REMEDY}")
        return number

    def clear(self, t: Array, y: Array) -> Flags:
        """Return at which flat states y (n, ny) g is certainly positive, (n,); False for a user's function."""
        return np.zeros(len(t), dtype=np.bool_)

    def may_leap(self, t: Array, y: Array, halfway: Array) -> Flags:
        """Return in which steps between states y (n, ny) at t, with the states in their middle, g may be zero twice unseen, (n - 1,)."""
        return np.zeros(len(halfway), dtype=np.bool_)

    def turn(self, start: float, end: float, at: Callable[[float], Array]) -> float | None:
        """Return a time between two at which g has another sign than at both; None for a user's function.  at: the flat state at a time"""
        return None

    def wants(self, before: float, after: float) -> bool:
        """Return whether g passes zero from `before` to `after` in the requested direction."""
        if self.direction > 0:
            return before < 0.0 <= after
        if self.direction < 0:
            return before > 0.0 >= after
        return before < 0.0 <= after or before > 0.0 >= after


REMEDY = "An event is a function of (t, state) that gives a finite number wherever the simulation goes."


@public_class
@dataclass(frozen=True, eq=False)
class EventRecord:
    """An event that has occurred.

    Attributes
    ----------
    name : str
        Name of the event.
    t : float
        Time [s].
    state : State or ChainState
        The state at this time.
    jump : float
        0 if g passes through zero; otherwise the jump of g, whose sign changes without a zero.
    """

    name: str
    t: float
    state: Any
    jump: float = 0.0

    def __repr__(self) -> str:
        return f"EventRecord({self.name!r}, t={self.t!r}{f', jump={self.jump:.6g}' if self.jump else ''})"


def read_events(events: Any) -> tuple[Event, ...]:
    """Return the events as a tuple.  Raise UsageError, by name, if one of them is invalid."""
    if isinstance(events, Event | np.ndarray) or not isinstance(events, Iterable):
        raise UsageError(f"events = {events!r} must be a list of Event objects: events=[Event('floor', lambda t, state: ...)].")
    given = tuple(events)
    if not given:
        return ()
    for event in given:
        if not isinstance(event, Event):
            raise UsageError(f"events has {event!r}, which is not an Event: give Event('floor', lambda t, state: ...).")
        if not (isinstance(event.name, str) and event.name.strip()):
            raise UsageError(f"an event is called {event.name!r}: give it a name, such as 'floor'.")
        if not callable(event.function):
            raise UsageError(f"event {event.name!r}: function is {event.function!r}, must be a function of (t, state).")
        if not (isinstance(event.direction, Real) and isfinite(event.direction)):
            raise UsageError(f"event {event.name!r}: direction is {event.direction!r}, must be 1, -1 or 0.")
        if not isinstance(event.terminal, bool):
            raise UsageError(f"event {event.name!r}: terminal is {event.terminal!r}, must be True or False.")
    twice = [name for name, n in Counter(event.name for event in given).items() if n > 1]
    if twice:
        raise UsageError(f"{', '.join(map(repr, twice))} names more than one event: give each a name of its own.")
    return given
