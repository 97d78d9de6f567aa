r"""Event location: sign changes are searched in every step, and steps of the same integrator end on the zero.

    search     g at both ends of a step and in its middle (dense output), so that two zeros in one step are found as well; also where g
               turns between them, by its rate for events that tell it, else by parabolas through its values, see `leaps`;
               omitted for an event that reports for many states at once that it is positive beyond rounding, and for steps in which
               compiled code has looked for all events and found none, see `event_watch`
    estimate   g(dense output at t) = 0 for t, by Brent's method
    correct    t <- t - g(step(t)) / g_dot, until the correction is rounding      step(t): one step of the integrator, from the start
                                                                                  of this one to t;  g_dot: of the dense output
The located state therefore belongs to the numerical solution itself, with the same end of step as all states; it is not interpolated.
A method that uses data of earlier steps has no such step: step(t) is then the dense output, corrected as the end of a step.
The earliest terminal event ends the step. With it are found all others of its instant: those nearer than the accuracy of their times, and
those whose g has passed zero in the state there, which would not be found again behind it.
An event whose zero is at the start of a run is armed when g has left zero, and one whose zero is at its end is recorded there: within
|g| <= NEAR |g_dot|.
A g that jumps has no useful g_dot, and is enclosed by Brent's method on steps.
Where a run continues behind a jump of its rates, as at a call of a sampled block, g is compared before and behind it.
The search ends for any function: g is not evaluated again at the ends of its bracket, and where it jumps or has a pole the record contains
the jump.  A function that returns different values for the same arguments is refused.
Source: Brent, Algorithms for Minimization without Derivatives (1973), ch. 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError
from haugmbd.integrators.events import Event, EventRecord, Flags
from haugmbd.integrators.leaps import turn_of_values
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import StepBatch, split_multipliers
from haugmbd.integrators.step_context import Problem, copy_options
from haugmbd.integrators.watches.event_watch import CLEAR, POSSIBLE

LOCATED, OF_STEP, ROUNDED = 1e-13, 1e-10, 4.5e-16
"""[s]; relative to the step; relative to |t|: Brent's method ends with an enclosure of the smaller of the first two, above the rounding of
states of size 1 at speeds of size 1 and of motions that a step follows, and not below the third, two roundings of the time."""
SLOPE = 1e-3
"""Relative to the interval: the difference for g_dot, and the longest correction."""
JUMPS = 1e-3
"""Relative to the larger |g| at the ends of the bracket: g jumps if it changes by more between an enclosure before and after its zero."""
CORRECTIONS = 8
"""Maximum number of corrections; two are enough where the dense output is good."""
MOST_BY_BRENT, BRENT_ROUNDING = 100, 8.881784197001252e-16
"""Maximum number of iterations of Brent's method, and four roundings of 1: relative to the place, the least change."""
BISECTIONS = 2000
"""Maximum number of bisections; more than any interval of numbers allows."""
AT_ONCE = 1e-12
"""Relative to |t| + 1 s: events nearer to each other are of one instant. It is ten times the error of located times; those that are farther
apart are found one after the other, because g is then far enough from zero where the run goes on."""
NEARLY = 1e-6
"""Relative to the larger |g| at the ends of the bracket: g that is farther from zero at a terminal event has its own zero later."""
NEAR, AHEAD = 1e-10, 1e-6
"""Relative to |t| + 1 s: a zero so near to the start or the end of a run is there, far above the error of located times and what the
correction of a first state moves it; and the time of the difference for g_dot, along the rates of the state."""
SHORTEST = 1e-13
"""Relative to |t| + 1 s: integrators make no shorter step; to first order the state is exact there."""


class Moment(NamedTuple):
    """An instant of a run.

    t: [s];  y, y_dot: (ny,) the flat state and its rates
    """

    t: float
    y: Array
    y_dot: Array


class LocatedEvent(NamedTuple):
    """An event, the moment at which it occurred, the number of the step of its batch that it ends, and the jump of g there."""

    event: Event
    moment: Moment
    step: int
    jump: float


class Bracket(NamedTuple):
    """Times after the start of a step [s] between which g changes its sign, and the values of g there."""

    lower: float
    upper: float
    g_lower: float
    g_upper: float

    @property
    def size(self) -> float:
        """The larger |g| at the ends."""
        return max(abs(self.g_lower), abs(self.g_upper))

    def enclosure(self, t: float) -> float:
        """Return the length of the last enclosure [s] in a step that starts at t."""
        return max(min(LOCATED, OF_STEP * (self.upper - self.lower)), ROUNDED * abs(t))

    @property
    def secant(self) -> float:
        """Where the straight line between the ends is zero [s]."""
        return self.lower + (self.upper - self.lower) * self.g_lower / (self.g_lower - self.g_upper)


def ahead(there: Moment) -> Moment:
    """Return the moment `AHEAD` later, along the rates."""
    h = AHEAD * (1.0 + abs(there.t))
    return Moment(there.t + h, there.y + h * there.y_dot, there.y_dot)


NOTHING: Mapping[int, float] = {}
Need = Callable[[int, float], None]
"""need(code, t): raises an error unless the code is OK."""


class EventLocator:
    """The search for the events of one run.  `need` raises the error of a code, as for every other step of the run.

    looks: whether compiled code looks for all of these events in the steps of the run, though it knows none of their functions
    """

    def __init__(self, events: tuple[Event, ...], problem: Problem, method: Any, need: Need, *, looks: bool = False) -> None:
        self.events, self.problem, self.method, self.need = events, problem, method, need
        space = problem.state_space
        self._memory = problem.pack.callback.memory if isinstance(space, MaximalStateSpace) and space.has_delays else None
        self._before: dict[int, float] = {}
        self._watched, self._looked = looks or all(event.watched for event in events), float(problem.events.state.looked)
        self._grouped = _in_groups(events)
        self.is_clear = False
        self._unarmed: dict[int, float] = {}
        self.ending: tuple[Event, ...] = ()

    def begin_after(self, looked: float) -> None:
        """Begin with the steps that follow the first `looked` ones at which compiled code has looked."""
        self._looked = looked

    @property
    def ended_by(self) -> Event | None:
        """The terminal event that has ended the run, the first of those of its instant, `ending`; None without one."""
        return self.ending[0] if self.ending else None

    @property
    def may_end(self) -> bool:
        """Whether some event ends the run."""
        return any(event.terminal for event in self.events)

    @property
    def may_end_early(self) -> bool:
        """Whether some event may end the run before the last step of a batch: one that compiled code does not watch."""
        return any(event.terminal and not event.watched for event in self.events)

    def start(self, there: Moment) -> None:
        """Leave the events unarmed whose g is zero at the start of the run, until it has left zero."""
        self._unarmed = {
            n: near for n, event in enumerate(self.events) if not event.of_law and (near := self._zero_at(event, there)) is not None
        }

    def end(self, there: Moment, known: Sequence[EventRecord]) -> list[EventRecord]:
        """Return the events that come so soon after the end of the run that they are there, and add terminal ones to `ending`."""
        near = NEAR * (1.0 + abs(there.t))
        names = {record.name for record in known if there.t - record.t <= near}
        others = [
            event for n, event in enumerate(self.events) if not event.of_law and n not in self._unarmed and event.name not in names
        ]
        found = [event for event in others if self._zero_at(event, there) is not None and self._comes(event, there)]
        self.ending = (*self.ending, *(event for event in found if event.terminal))
        return [EventRecord(event.name, there.t, self._state(there.t, there.y)) for event in found]

    def _zero_at(self, event: Event, there: Moment) -> float | None:
        """Return how large g may be where its zero is at a moment, within the accuracy of its time; None if it is not there."""
        g, later = self._value(event, there), self._value(event, ahead(there))
        near = NEAR / AHEAD * abs(later - g)  # both are relative to |t| + 1 s
        return near if abs(g) <= near or g == 0.0 else None

    def _comes(self, event: Event, there: Moment) -> bool:
        """Return whether g goes to zero in the requested direction, and has not reached it."""
        g = self._value(event, there)
        return event.wants(g, 0.0) and g * (self._value(event, ahead(there)) - g) < 0.0

    def cut(self, last: Moment, batch: StepBatch) -> tuple[StepBatch, list[EventRecord], bool]:
        """Return the batch up to a terminal event, the events in it and at its end, and whether it was cut."""
        if not self.events:
            return batch, [], False
        records = []
        for of_step in self._by_steps(last, batch):
            terminal = next((one for one in of_step if one.event.terminal), None)
            if terminal is not None:  # the event that ends the run is the last one of its instant
                first = of_step.index(terminal)
                of_step[first:] = sorted(of_step[first:], key=lambda one: one.event.terminal and not one.event.of_law)
            for located in of_step:
                late = terminal is not None and located.moment.t > terminal.moment.t
                there = terminal.moment if terminal is not None and late else located.moment
                records.append(EventRecord(located.event.name, float(there.t), self._state(there.t, there.y), located.jump))
            if terminal is not None:
                self.ending, self._before = tuple(one.event for one in of_step if one.event.terminal), {}
                return _ended(batch, terminal), records, True
        return batch, records, False

    def before_jump(self, t: float, y: Array) -> dict[int, float]:
        """Return g, by the numbers of the events, at a state whose rates are about to jump; compiled code watches no such g."""
        which = [n for n, event in enumerate(self.events) if not event.watched]
        return self._armed(self._values(which, t, y[None], 0, self._before))

    def across_jump(self, before: Mapping[int, float], t: float, y: Array) -> tuple[list[EventRecord], bool]:
        """Return the events whose g jumps across zero, from its values `before` to those behind the jump, and whether one ends the run."""
        self._before = after = self._armed(self._values(list(before), t, y[None], 0))
        crossed = [n for n in before if self.events[n].wants(before[n], after[n])]
        ending = tuple(self.events[n] for n in crossed if self.events[n].terminal)
        self.ending = ending or self.ending
        return [EventRecord(self.events[n].name, t, self._state(t, y), after[n] - before[n]) for n in crossed], bool(ending)

    def _by_steps(self, last: Moment, batch: StepBatch) -> Iterator[list[LocatedEvent]]:
        """Return the events of each step of a batch in the order of time, up to those of the instant of a terminal one."""
        clear = self._clear_steps(batch)
        if clear == len(batch.t) or not self.events:
            return
        t, y, y_dot = (
            part[clear - 1 :] if clear else np.concatenate([[start], part]) for start, part in zip(last, batch[:3], strict=True)
        )
        middle = 0.5 * (t[:-1] + t[1:])
        curve = batch.curve
        halfway = self.problem.state_space.between(middle, t, y, y_dot) if curve is None else curve.states(middle)
        # a joint that slips and sticks again at once makes a step without length, which has no state in its middle
        has_length = t[1:] > t[:-1]
        halfway = np.where(has_length[:, None], halfway, y[1:])
        leaps = self._of_all("may_leap", t, y, halfway)
        possible = (self._possible(t, y, middle, halfway) | leaps) & has_length[:, None]
        leaps, times, middles = leaps.tolist(), t.tolist(), middle.tolist()
        for k, whether in enumerate(possible.tolist()):
            near = [n for n, it_may in enumerate(whether) if it_may]
            if not near:
                self._before = {}
                continue
            before = self._armed(self._values(near, times[k], y, k, self._before))
            between = self._armed(self._values(near, middles[k], halfway, k))
            after = self._armed(self._values(near, times[k + 1], y, k + 1))
            start, end = (Moment(times[n], y[n], y_dot[n]) for n in (k, k + 1))
            at, brackets = self._dense(start, end, curve), []
            for n in near:
                ends = [(times[k], before[n]), (middles[k], between[n]), (times[k + 1], after[n])]
                if not self.events[n].watched:
                    ends = self._with_turn_of_values(n, ends, start, at, curve)
                elif leaps[k][n]:
                    ends = self._with_turns(n, ends, at)
                for (a, g_a), (b, g_b) in pairwise(ends):
                    if self.events[n].wants(g_a, g_b):
                        brackets.append((self.events[n], Bracket(a - start.t, b - start.t, g_a, g_b)))
            located = self._in_step(brackets, start, end, curve, clear + k) if brackets else []
            if located:
                yield located
            self._before = after

    def _armed(self, values: dict[int, float]) -> dict[int, float]:
        """Return values of g, zero for events that have not left zero since the start of the run; those that have are armed."""
        for n in [n for n, near in self._unarmed.items() if n in values and abs(values[n]) > near]:
            del self._unarmed[n]
        return {n: 0.0 if n in self._unarmed else g for n, g in values.items()} if self._unarmed else values

    def _dense(self, start: Moment, end: Moment, curve: Any) -> Callable[[float], Array]:
        """Return the dense output of a step, or the curve, as a function of the time [s]."""
        if curve is not None:
            return lambda now: curve.states(np.array([now]))[0]
        space = self.problem.state_space
        step: tuple[Array, ...] = ()

        def at(now: float) -> Array:
            nonlocal step
            step = step or step_of(start, end)  # most steps are not asked for a state
            state: Array = space.between(np.array([now]), *step)[0]
            return state

        return at

    def _with_turns(self, n: int, ends: list[tuple[float, float]], at: Callable[[float], Array]) -> list[tuple[float, float]]:
        """Return times and values of g of event n, and those between them at which g has turned."""
        event, found = self.events[n], ends[:1]
        for (start, before), (end, after) in pairwise(ends):
            now = None if event.wants(before, after) else event.turn(start, end, at)
            found += [(end, after)] if now is None else [(now, self._g(event, now, at(now))), (end, after)]
        return found

    def _with_turn_of_values(
        self, n: int, ends: list[tuple[float, float]], start: Moment, at: Callable[[float], Array], curve: Any
    ) -> list[tuple[float, float]]:
        """Return times and values of g of event n in a step, and where g, whose rate is not known, has turned beyond zero between them."""
        event, (times, values) = self.events[n], zip(*ends, strict=True)
        if not min(values) * max(values) > 0.0:
            return ends
        now = turn_of_values(lambda t: self._g(event, t, at(t)), times, values)
        if now is None:
            return ends
        own = self.method.one_step and curve is None  # what the dense output shows, a step may not reach
        there = self._g(event, now, at(now)) if not own else self._value(event, self._step(start, now))
        return sorted([*ends, (now, there)]) if there * values[0] < 0.0 else ends

    def _clear_steps(self, batch: StepBatch) -> int:
        """Return how many steps of a batch, from its first one on, have no event, because compiled code has looked for all in each."""
        seen, before = self.problem.events.state, self._looked
        self._looked = float(seen.looked)
        if not self._watched or self._looked - before != len(batch.t) or batch.curve is not None:
            self.is_clear = False
            return 0
        self.is_clear, self._before = bool(seen.found == CLEAR), {}
        return len(batch.t) - int(seen.found == POSSIBLE)

    def _in_step(
        self, brackets: list[tuple[Event, Bracket]], start: Moment, end: Moment, curve: Any, step: int
    ) -> list[LocatedEvent]:
        """Return the events of one step in the order of time, without those that come after the instant of a terminal event."""
        last: Moment | None = None
        located = []
        for event, bracket in sorted(brackets, key=lambda one: one[1].secant):
            if last is not None and self._is_later(event, bracket, start, last):
                continue
            there, jump, g = self._locate(event, start, end, bracket, curve)
            self._need_repeatable(event, there, g)
            if event.terminal:
                last = there if last is None or there.t < last.t else last
            located.append((bracket, LocatedEvent(event, there, step, jump)))
        found = [
            one
            for bracket, one in located
            if last is None
            or one.moment.t <= last.t + AT_ONCE * (1.0 + abs(last.t))
            or self._has_passed(one.event, bracket, start, last)
        ]
        return sorted(found, key=lambda one: one.moment.t)

    def _is_later(self, event: Event, bracket: Bracket, start: Moment, last: Moment) -> bool:
        """Return whether a zero in a bracket certainly comes after the instant of a terminal event, without its location."""
        if last.t >= start.t + bracket.upper:
            return False
        if self._has_passed(event, bracket, start, last):
            return False
        return abs(self._value(event, last)) > NEARLY * bracket.size

    def _has_passed(self, event: Event, bracket: Bracket, start: Moment, last: Moment) -> bool:
        """Return whether g has passed zero since the start of its bracket in the state at a terminal event."""
        return last.t > start.t + bracket.lower and event.wants(bracket.g_lower, self._value(event, last))

    def _possible(self, t: Array, y: Array, middle: Array, halfway: Array) -> Flags:
        """Return which events may occur in which steps, (n, events): g is not positive beyond rounding at an end or in the middle."""
        ends, between = self._of_all("clear", t, y), self._of_all("clear", middle, halfway)
        return ~(ends[:-1] & between & ends[1:])

    def _of_all(self, what: str, *states: Array) -> Flags:
        """Return the flags of all events, (n, events); those of a group are asked at once."""
        if len(self._grouped) == 1 and self.events[0].group is not None:
            whole: Flags = getattr(self._grouped[0][0], what)(*states)
            return whole
        columns: list[Array] = [np.zeros(0)] * len(self.events)
        for group, numbers in self._grouped:
            flags = getattr(group, what)(*states)
            for k, number in enumerate(numbers):
                columns[number] = flags if len(numbers) == 1 and flags.ndim == 1 else flags[:, k]
        all_flags: Flags = np.stack(columns, axis=1).astype(np.bool_, copy=False)
        return all_flags

    def _values(self, which: list[int], t: float, y: Array, row: int, known: Mapping[int, float] = NOTHING) -> dict[int, float]:
        """Return g at a row of states of the events `which`, by their numbers; those in `known` are not evaluated again."""
        values: dict[int, float] = {}
        state: Any = None
        for n in which:
            event = self.events[n]
            g = known[n] if n in known else event.known_value(y, row)
            if g is not None:
                values[n] = g
            elif event.watched:
                values[n] = event.value_of(y[row])
            elif event.of_flat_state:
                values[n] = self._g(event, t, y[row])
            else:
                state = self._state(t, y[row]) if state is None else state
                values[n] = event.value(state)
        return values

    def _g(self, event: Event, t: float, y: Array) -> float:
        """Return g at a flat state."""
        if event.of_flat_state and self._memory is None:
            return event.value_at(t, y)
        return event.value(self._state(t, y))

    def _state(self, t: float, y: Array) -> Any:
        """Return the state of a flat vector, with the outputs that delays have by the motion so far."""
        if self._memory is not None:
            y = y.copy()
            self._memory.network.put_delays(np.array([t]), y[None], self._memory)
        return self.problem.state_space.state(t, y)

    def _locate(self, event: Event, start: Moment, end: Moment, bracket: Bracket, curve: Any) -> tuple[Moment, float, float | None]:
        """Return the moment at which g is zero, in the step from `start` to `end` or on the curve; the jump of g there, and g if known."""
        near = bracket.enclosure(start.t)
        if curve is not None:

            def across(after: float) -> float:
                return event.value(self._state(start.t + after, curve.states(np.array([start.t + after]))[0]))

            after = _zero(across, bracket, near)
            when = np.array([start.t + after])
            return Moment(float(when[0]), curve.states(when)[0], curve.rates(when)[0]), _jump(across, after, bracket, near), None
        step, between, values = step_of(start, end), self.problem.state_space.between, {}
        along = event.along(*step)

        def dense(after: float) -> float:
            t = start.t + after
            g = along(t) if along is not None else self._g(event, t, between(np.array([t]), *step)[0])
            values[after] = g
            return g

        def at(after: float) -> Moment:
            if self.method.one_step:
                return self._step(start, start.t + after)
            return self._after_step(start.t + after, between(np.array([start.t + after]), *step)[0])

        guess, width = _zero(dense, bracket, near), bracket.upper - bracket.lower
        aside = SLOPE * width * (1.0 if guess < 0.5 * (bracket.lower + bracket.upper) else -1.0)
        there = dense(guess + aside)
        g_dot = (there - (values[guess] if guess in values else dense(guess))) / aside
        corrected = self._corrected(event, at, guess, g_dot, bracket, near)
        return (corrected[0], 0.0, corrected[1]) if corrected else (*self._enclosed(event, at, start, end, bracket), None)

    def _need_repeatable(self, event: Event, there: Moment, g: float | None) -> None:
        """Raise SimulationError if g returns two values for the same state: the zeros of such a function cannot be located.

        g: its value there, if it is known
        """
        if event.watched:  # a function of compiled code
            return
        first, second = self._value(event, there) if g is None else g, self._value(event, there)
        if first != second:
            raise SimulationError(
                f"event {event.name!r} is not a function of (t, state): evaluated twice at t = {there.t:.9g} s, "
                f"it gives {first:.9g} and {second:.9g}. "
                "Let it depend on nothing but its arguments: no random number, no counter, nothing that it changes itself."
            )

    def _after_step(self, t: float, y: Array) -> Moment:
        """Return a state of the dense output after the end of a step, with its rates."""
        y_dot = np.zeros_like(y)
        self.need(self.problem.post_step(self.problem.pack, copy_options(self.problem.options), t, y, y_dot), t)
        return Moment(t, y, y_dot)

    def _corrected(
        self, event: Event, at: Callable[[float], Moment], after: float, g_dot: float, bracket: Bracket, near: float
    ) -> tuple[Moment, float] | None:
        """Return the zero near `after` of g at the moments that the run reaches, and g; None if the corrections do not converge."""
        width = bracket.upper - bracket.lower
        for _ in range(CORRECTIONS):
            there = at(after)
            g = self._value(event, there)
            change = -g / g_dot if g_dot else np.inf
            if abs(change) <= near:
                return (there, g) if abs(g) <= JUMPS * bracket.size else None
            if not abs(change) <= SLOPE * width:
                return None
            after += change
        return None

    def _enclosed(
        self, event: Event, at: Callable[[float], Moment], start: Moment, end: Moment, bracket: Bracket
    ) -> tuple[Moment, float]:
        """Return the zero in the bracket by Brent's method on the moments that the run reaches, and the jump of g there.

        Where dense output and step see the middle on different sides of zero, the zero of the steps is in the other half.
        """

        def g(after: float) -> float:
            return self._value(event, at(after))

        of_steps = bracket._replace(g_lower=g(bracket.lower), g_upper=g(bracket.upper))
        if of_steps.g_lower * of_steps.g_upper > 0.0:
            whole = Bracket(0.0, end.t - start.t, self._value(event, start), self._value(event, end))
            of_steps = whole if whole.g_lower * whole.g_upper < 0.0 else of_steps
        if of_steps.g_lower * of_steps.g_upper >= 0.0:  # a zero at an end; or two zeros of the dense output, and none of the steps
            return at(of_steps.lower if abs(of_steps.g_lower) < abs(of_steps.g_upper) else of_steps.upper), 0.0
        near = bracket.enclosure(start.t)
        guess = _zero(g, of_steps, near)
        return at(guess), _jump(g, guess, of_steps, near)

    def _value(self, event: Event, there: Moment) -> float:
        if event.watched:
            return event.value_of(there.y)
        return self._g(event, there.t, there.y)

    def _step(self, start: Moment, t: float) -> Moment:
        """Return the state at `t`, by a step of the integrator from `start`."""
        return step_to(self.problem, self.method, start, t, self.need)


def step_of(start: Moment, end: Moment) -> tuple[Array, Array, Array]:
    """Return times (2,), states and rates (2, ny) of a step."""
    return np.array([start.t, end.t]), np.array([start.y, end.y]), np.array([start.y_dot, end.y_dot])


def _in_groups(events: Sequence[Event]) -> list[tuple[Any, list[int]]]:
    """Return what answers for events, and their numbers: an event for itself, and a group for all of its events in their order."""
    groups: dict[int, tuple[Any, list[int]]] = {}
    for number, event in enumerate(events):
        group = event.group if event.group is not None else event
        groups.setdefault(id(group), (group, []))[1].append(number)
    return list(groups.values())


def _zero(g: Callable[[float], float], bracket: Bracket, near: float = LOCATED) -> float:
    """Return where g changes sign in the bracket [s] within `near`, by Brent's method.

    Its ends are not evaluated again, so that the sign change exists.
    If Brent's method does not converge, because g has steep and flat parts, bisection does.
    """
    if bracket.g_upper == 0.0:
        return bracket.upper
    at_ends = {bracket.lower: bracket.g_lower, bracket.upper: bracket.g_upper}

    def value(x: float) -> float:
        return at_ends[x] if x in at_ends else g(x)

    at = brents_zero(value, bracket, near)
    if at is not None:
        return at
    from scipy.optimize import bisect  # noqa: PLC0415  0.2 s, for few functions

    return float(bisect(value, bracket.lower, bracket.upper, xtol=near, maxiter=BISECTIONS))


def brents_zero(g: Callable[[float], float], bracket: Bracket, near: float) -> float | None:
    """Return where g changes sign in the bracket within `near`, by Brent's method; None if it does not converge.

    The numbers are those of `scipy.optimize.brentq`, whose import and calls take longer than most functions.
    """
    before, now, other = bracket.lower, bracket.upper, 0.0  # the iterate before, the iterate, and one where g has the other sign
    g_before, g_now, g_other = bracket.g_lower, bracket.g_upper, 0.0
    change_before = change = 0.0
    if g_before == 0.0 or g_now == 0.0:
        return before if g_before == 0.0 else now
    for _ in range(MOST_BY_BRENT):
        if g_before != 0.0 and g_now != 0.0 and (g_before < 0.0) != (g_now < 0.0):
            other, g_other = before, g_before
            change_before = change = now - before
        if abs(g_other) < abs(g_now):
            before, now, other = now, other, now
            g_before, g_now, g_other = g_now, g_other, g_now
        least, half = (near + BRENT_ROUNDING * abs(now)) / 2.0, (other - now) / 2.0
        if g_now == 0.0 or abs(half) < least:
            return now
        # secant or inverse quadratic interpolation, where it is shorter than half of the change before the last; else bisection
        shorter = np.inf
        if abs(change_before) > least and abs(g_now) < abs(g_before):
            if before == other:
                shorter = -g_now * (now - before) / (g_now - g_before)
            else:
                slope, slope_other = (g_before - g_now) / (before - now), (g_other - g_now) / (other - now)
                bend = slope_other * slope * (g_other - g_before)
                shorter = -g_now * (g_other * slope_other - g_before * slope) / bend if bend else np.inf
        if 2.0 * abs(shorter) < min(abs(change_before), 3.0 * abs(half) - least):
            change_before, change = change, shorter
        else:
            change_before = change = half
        before, g_before = now, g_now
        now += change if abs(change) > least else (least if half > 0.0 else -least)
        g_now = g(now)
    return None


def _jump(g: Callable[[float], float], at: float, bracket: Bracket, near: float) -> float:
    """Return the change of g from `near` before `at` to after it, if it is a jump; otherwise 0."""
    before, after = max(bracket.lower, at - near), min(bracket.upper, at + near)
    change = (bracket.g_upper if after == bracket.upper else g(after)) - (bracket.g_lower if before == bracket.lower else g(before))
    return change if abs(change) > JUMPS * bracket.size else 0.0


def step_to(problem: Problem, method: Any, start: Moment, t: float, need: Need) -> Moment:
    """Return the state at `t`, by a step of `method` from `start`."""
    h = t - start.t
    if h <= SHORTEST * (1.0 + abs(t)):
        return Moment(t, start.y + h * start.y_dot, start.y_dot)
    there, k1, since = start, start.y_dot.copy(), problem.options.n_since_projection
    problem.options.n_since_projection = np.inf  # wherever it ends, it is corrected
    for batch in method.step_to(problem.beside(start.t, start.y.copy()), k1, t):
        need(batch.code, batch.t_stop)
        there = Moment(t, batch.y[-1], batch.y_dot[-1])
    problem.options.n_since_projection = since
    return there


def _ended(batch: StepBatch, event: LocatedEvent) -> StepBatch:
    """Return the batch with the event as the end of its last step."""
    return ended_at(batch, event.step, event.moment)


def ended_at(batch: StepBatch, k: int, end: Moment) -> StepBatch:
    """Return the batch with a moment within its step k as the end of that step, its last one."""
    return StepBatch(
        np.append(batch.t[:k], end.t),
        np.vstack([batch.y[:k], end.y]),
        np.vstack([batch.y_dot[:k], end.y_dot]),
        0,
        end.t,
        k + 1,
        batch.rejected,
        split_multipliers(batch.lam, k, 1),
        u_dot=split_multipliers(batch.u_dot, k, 1),
    )
