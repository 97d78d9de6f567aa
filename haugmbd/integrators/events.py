r"""Events: functions of time and state whose sign changes are found and located while a simulation runs.

    event at t*      g(t*, state(t*)) = 0,   g < 0 before and > 0 after (direction > 0), or the other way (direction < 0)

An event is data; `event_location` finds it. A `Switch` is an event with what it changes in the mechanism:

    release    parts go off: joints, loads, couplings, drivers, contacts; velocities stay
    lock       parts go on, as they were modelled;   grip: joints go on at the pose of the moment
    kick       impulses on bodies;   set: other states of blocks, or another state

in this order at one instant: M (u+ - u-) + Phi_q^T Lam = P with the rows that are on then. Two closings and kicks of one instant give the
same u+ in any order, because the projection on fewer velocities undoes that on more; a release and a closing do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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
    function : callable or str
        g(t, state), continuous, of the time [s] and a `State` (for a chain: `ChainState`).  It must depend on nothing else. Or the name of
        what a joint carries, how a body accelerates, or what a force element has, such as "pin.force", "pin.force.z" or "spring.length": g
        is its size, or the component, less `level`.
    direction : {-1, 0, 1}
        1 for zeros where g rises, -1 where it falls, 0 for both.
    terminal : bool
        True to end the run at the event.
    level : float
        What is taken off a quantity that is given by its name.

    Notes
    -----
    A start at g = 0 is not an event: an event whose zero is within 1e-10 (|t| + 1 s) of the start is armed when its g has left zero. So a
    run that continues from a terminal event does not end at its start. One within as little of the end is recorded at the end, so that a
    motion in several runs has each event once.

    g is evaluated at both ends and in the middle of each step, and where the parabola through these values turns towards zero: zeros of a
    g that oscillates within a step are not seen. All events of an instant are recorded, also beside the one that ends the run there.
    """

    name: str
    function: EventFunction | str
    direction: float = field(default=0, kw_only=True)
    terminal: bool = field(default=False, kw_only=True)
    level: float = field(default=0.0, kw_only=True)

    watched: ClassVar[bool] = False
    """Whether compiled code looks for the event in every step, see `event_watch`."""
    of_law: ClassVar[bool] = False
    """Whether it is the run's own event, at which a force or a contact changes its law; the run decides with which law it starts."""

    of_flat_state: ClassVar[bool] = False
    """Whether g is found from a flat state, by `value_at`; an event of the run's own."""

    @property
    def group(self) -> Any:
        """Return what answers `clear` and `may_leap` for all of its events at once, with a column for each; None for an event alone."""
        return None

    def value_of(self, y: Array) -> float:
        """Return g at a flat state y (ny,), of an event that compiled code watches."""
        raise NotImplementedError

    def value_at(self, t: float, y: Array) -> float:
        """Return g at the time t [s] and a flat state y (ny,), of an event that says `of_flat_state`."""
        raise NotImplementedError

    def known_value(self, y: Array, row: int) -> float | None:
        """Return g at a row of the flat states that `clear` was asked for; None if it is not known."""
        return None

    def along(self, t: Array, y: Array, y_dot: Array) -> Callable[[float], float] | None:
        """Return g on the dense output of a step between two states y (2, ny) at t (2,), as a function of the time [s].

        None if g is a function of a state.
        """
        return None

    def then(
        self,
        *,
        lock: Any = (),
        grip: Any = (),
        release: Any = (),
        kick: Any = (),
        set: Any = None,  # noqa: A002  the word for it
        pull: bool = False,
    ) -> Switch:
        """Return the event with what it changes in the mechanism each time it occurs, see `Switch`.

        Parameters
        ----------
        lock, grip, release, kick, set, pull
            As of `Switch`.

        Returns
        -------
        Switch
            The event, for `simulate(..., events=[...])`.

        Raises
        ------
        UsageError
            If nothing is to be changed, or an argument is not valid.
        """
        return Switch(
            self.name,
            self.function,
            direction=self.direction,
            terminal=self.terminal,
            level=self.level,
            lock=lock,
            grip=grip,
            release=release,
            kick=kick,
            set=set,
            pull=pull,
        )

    def value(self, state: Any) -> float:
        """Return g at a state.  Raise SimulationError, with name and time, if the function fails."""
        try:
            function: Any = self.function  # a name has been replaced when a run begins
            given = function(state.t, state)
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


@public_class
@dataclass(frozen=True)
class Switch(Event):
    """An event that changes the mechanism: joints, loads, drivers, couplings and contacts go on and off while a simulation runs.

    Parameters
    ----------
    name, function, direction, terminal, level
        As of `Event`; `Event(...).then(...)` makes a Switch of an event. A terminal one ends the run behind what it changes.
    release : part, name, or sequence of them
        Parts that go off. Velocities stay as they are. What acts on a coordinate of a joint goes off and on with the joint.
    lock : part, name, or sequence of them
        Parts that go on, as they were modelled. The velocities jump to those that the new rows allow, by an impulse; where the points and
        axes of a joint do not meet then, the run ends with an error that names the joint and its gap.
    grip : part, name, or sequence of them
        Joints that go on at the pose of the moment: a Fixed at the relative pose, a Distance at the distance, a driver or a coupling at
        the value of its coordinates, which is held.
    kick : PointImpulse, AngularImpulse, or sequence of them
        Impulses on bodies.
    set : callable or mapping, optional
        A function of the State that returns another one, or new states of blocks by name.
    pull : bool
        Whether joints that are apart are pulled together: the bodies move to the nearest pose at which they are closed.

    Raises
    ------
    UsageError
        If nothing is changed, or an argument is not valid. Names are looked up when a run begins.

    Notes
    -----
    Of one switch parts are released first, then parts close and impulses act, all at once; `set` is last. Switches of one instant are
    taken together where their order does not matter, and refused where it does: one that releases beside one that closes or kicks, and
    two that close and open the same part. A switch that would change nothing is not recorded. `result.switches` tells what has happened,
    `result.impacts` the impulses.
    Source: Haug 2021, sec. 11.3 (impulsive constraint reactions).
    """

    lock: Any = field(default=(), kw_only=True)
    grip: Any = field(default=(), kw_only=True)
    release: Any = field(default=(), kw_only=True)
    kick: Any = field(default=(), kw_only=True)
    set: Any = field(default=None, kw_only=True)
    pull: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for what in ("lock", "grip", "release"):
            object.__setattr__(self, what, _names_of_parts(self.name, what, getattr(self, what)))
        kicks = self.kick
        object.__setattr__(self, "kick", tuple(kicks) if isinstance(kicks, tuple | list) else (kicks,))
        twice = {name for name, n in Counter((*self.lock, *self.grip, *self.release)).items() if n > 1}
        if twice:
            raise UsageError(
                f"switch {self.name!r}: {', '.join(map(repr, sorted(twice)))} is named more than once. Name each part once."
            )
        if not (self.lock or self.grip or self.release or self.kick or self.set is not None):
            raise UsageError(f"switch {self.name!r} changes nothing: give lock=, grip=, release=, kick= or set=.")
        if not (self.set is None or callable(self.set) or isinstance(self.set, Mapping)):
            what = f"set is {self.set!r:.60}, must be a function of the state, or states of blocks by name"
            raise UsageError(f"switch {self.name!r}: {what}.")
        if not isinstance(self.pull, bool):
            raise UsageError(f"switch {self.name!r}: pull is {self.pull!r}, must be True or False.")

    @property
    def event(self) -> Event:
        """Return the event alone, which ends a smooth part of the motion."""
        return Event(self.name, self.function, direction=self.direction, terminal=True, level=self.level)


def _names_of_parts(switch: Any, what: str, given: Any) -> tuple[str, ...]:
    """Return the names of parts that are given by name or as objects. Raise UsageError for anything else."""
    some = tuple(given) if isinstance(given, tuple | list) else (given,)
    names = tuple(one if isinstance(one, str) else getattr(one, "name", None) for one in some)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(f'switch {switch!r}: {what} is {given!r:.80}, must be parts or their names, such as {what}=["pin"].')
    return tuple(map(str, names))


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
        if not (callable(event.function) or isinstance(event.function, str)):
            raise UsageError(f"event {event.name!r}: function is {event.function!r}, must be a function of (t, state).")
        if not (isinstance(event.direction, Real) and isfinite(event.direction)):
            raise UsageError(f"event {event.name!r}: direction is {event.direction!r}, must be 1, -1 or 0.")
        if not (isinstance(event.level, Real) and isfinite(event.level)) or (event.level and callable(event.function)):
            what = f"level is {event.level!r}, and is a finite number taken off a quantity that is given by its name"
            raise UsageError(f"event {event.name!r}: {what}.")
        if not isinstance(event.terminal, bool):
            raise UsageError(f"event {event.name!r}: terminal is {event.terminal!r}, must be True or False.")
    twice = [name for name, n in Counter(event.name for event in given).items() if n > 1]
    if twice:
        raise UsageError(f"{', '.join(map(repr, twice))} names more than one event: give each a name of its own.")
    return given
