"""The breaks of a run: where a function of the user jumps or has a kink. Steps with error control end there, and begin anew.

    before    the last time at which the function takes its old branch: the step to it has the values before the jump
    after     the first time at which it takes the new one: the run continues there, from the same state

Those of functions of time are known before the steps to them are made (`TimeBreaks`). A function of the state is called at the end of
each step with numbers that note the branches it takes (`autodiff.interval`); where they are others than at the start of the step, the
change is enclosed on dense output, and the step is made anew to there (`StateBreaks`). Functions that hide their branches, such as those
that make plain floats of their arguments, have steps across their jumps as before.

A step across a jump has an error of first order in its length, which the estimate of the error may not show, and a step across a short
pulse has no value of it at all. Fixed steps are what the user asks for, and stay as they are; they end at kinks of pressed friction only.
Implicit methods that step across kinks of stops step across those of the state as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from heapq import merge
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from haugmbd.callbacks import ForceCall, arguments
from haugmbd.compiled.array_types import Array
from haugmbd.control.block import Block
from haugmbd.control.diagram.evaluation import Instant
from haugmbd.control.diagram.network import Network
from haugmbd.drivers import Driver, Expression, Functions, TimeFunction
from haugmbd.drivers.autodiff.interval import branches, points
from haugmbd.drivers.kinks import CLOSE, Break, breaks_of
from haugmbd.drivers.user_function import plain
from haugmbd.errors import SimulationError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.forces.user_function import TIME
from haugmbd.integrators.event_location import SHORTEST, Moment, Need, ended_at, step_to
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Problem, copy_options
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.model.model import Model
from haugmbd.workspace.layout import workspace_array

LONGER = 2.0
"""Times the first step after the last stop: that after the next one, of implicit methods, or the longest step between. Forces that jump
as much allow as much, and an implicit step that fails costs as much as several."""
MOST_BREAKS, AT_ONCE = 30, 1e-4
"""So many breaks, within this part of the longest step so far, have no end."""
ROUNDING, FEW = 1.5e-8, 4
"""Relative to |t| + 1 s: the root of the machine precision.  A coordinate that rests at a kink leaves it by more than rounding after about
so long, and takes both branches in turns before.  Behind so many in so short a time kinks are stepped across, with error control."""
SAME_RATES = 1e-9
"""Relative, and in units of a state: rates on both sides of a break that differ by less are those of a kink."""
SHORTER = 8.0
"""By so much more a step is made shorter each time that it ends behind a break."""
NO_BREAK = Break(float("inf"), float("inf"))


class TimeBreaks:
    """The breaks of the functions of time of a model after `start`, found as the run needs them."""

    def __init__(self, model: Model | None, start: float, end: float, *, adaptive: bool) -> None:
        self._ahead: Iterator[Break] = iter(())
        if model is not None:
            functions = functions_of_time(model) if adaptive and isfinite(end) else ()
            frictions = model.loads_of(JointFriction)
            pressed = sorted(t for load in frictions for t in load.kinks(start, end))
            self._ahead = merge(*(breaks_of(f, start, end) for f in functions), (Break(t, t) for t in pressed))
        self._next: Break | None = None

    def next_after(self, t: float) -> Break:
        """Return the first break whose new branch begins after t; `NO_BREAK` if there is none."""
        if self._next is None or self._next.after <= t:
            self._next = next((upcoming for upcoming in self._ahead if upcoming.after > t), NO_BREAK)
        return self._next


def functions_of_time(model: Model) -> tuple[Callable[[Any], Any], ...]:
    """Return the functions of time alone that drivers, loads and blocks without inputs have, each once."""
    of_loads = [call.user_function.function for call in model.force_callbacks.force_calls if call.user_function.form == TIME]
    outputs = [_of_block(f) for block, reads in _blocks(model) if not reads for f in block.functions()]
    every = map(plain, chain(of_loads, outputs, *map(_functions_of, model.drivers)))
    return tuple({id(function): function for function in every}.values())


def named_functions_of_time(model: Model) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield what functions of time of loads and of blocks without inputs are called, and the functions, each once."""
    of_loads = [call.user_function for call in model.force_callbacks.force_calls if call.user_function.form == TIME]
    named: list[tuple[str, Any]] = [(f"{user.words} of {user.where}", user.function) for user in of_loads]
    for entry in model.loads:
        named += [(f"a function of {entry.load.where}", f) for driver in entry.load.drivers() for f in _functions_of(driver)]
    for block, reads in _blocks(model):
        named += [(f"a function of {block.where}", _of_block(f)) for f in block.functions() if not reads]
    yield from {id(plain(f)): (where, plain(f)) for where, f in reversed(named)}.values()


def _blocks(model: Model) -> list[tuple[Block, bool]]:
    """Return the blocks whose functions the user has written, and whether they read the state."""
    network = model.force_callbacks.network
    blocks = () if network is None else network.blocks
    names = {} if network is None else network.read_by
    return [(b, bool(b.states or any(names[key] for key in names if key[0] is b))) for b in blocks if type(b) is Block]


def _functions_of(driver: Driver) -> tuple[Callable[[Any], Any], ...]:
    """Return the functions that a driver is made of."""
    if isinstance(driver, Expression):
        return () if driver.faults() or driver.tape is None else (driver.at,)
    return driver.functions if isinstance(driver, TimeFunction | Functions) else ()


def _of_block(output: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return an output of a block without states and signals as a function of time."""
    function: Any = plain(output)
    return lambda t: function(t, (), {})


class Watched(NamedTuple):
    """A function of the state: what it is called, and its arguments at (t, y, signals of force elements)."""

    where: str
    function: Callable[..., Any]
    arguments: Callable[[float, Array, Array], tuple[Any, ...]]

    def taken(self, t: float, y: Array, signals: Array) -> tuple[Any, ...] | None:
        """Return the branches that it takes; None if it does not take numbers that note them."""
        try:
            return branches(self.function, *self.arguments(t, y, signals))
        except Exception:  # noqa: BLE001  the run meets the error itself
            return None

    def breaks_in_time(self, start: float, end: float, y: Array, signals: Array) -> Iterator[Break]:
        """Return the breaks between two times of the function at the state and the signals that are those of the end."""
        _, *others = self.arguments(end, y, signals)
        noted = [points(x) for x in others]
        return breaks_of(lambda t: self.function(t, *noted), start, end)


class StateBreaks:
    """The breaks of the functions of the state of one run.  need: raises the error of a status code at a time

    Beside friction that may stick none are looked for: it turns with the rates on its own, and says where that has no end.
    """

    def __init__(self, model: Model | None, problem: Problem, method: Any, need: Need) -> None:
        self.problem, self.method, self.need = problem, method, need
        looks = model is not None and method.step is None and method.stops_at_kinks and not may_stick(model)
        self.functions = functions_of_state(model) if looks and model is not None else []
        self._taken: tuple[Any, ...] = ()
        self._times: deque[float] = deque(maxlen=MOST_BREAKS)
        self._longest, self._left = 0.0, -np.inf
        self._crowd = deque[float]([-np.inf], maxlen=FEW)

    def start(self, t: float, y: Array) -> None:
        """Take the branches at the start of the run, or behind a break; functions without branches are not looked at again."""
        if self.functions:
            self._taken = self._branches(t, y)
            with_branches = [k for k, taken in enumerate(self._taken) if taken]
            self.functions = [self.functions[k] for k in with_branches]
            self._taken = tuple(self._taken[k] for k in with_branches)

    def cut(self, last: Moment, batch: StepBatch) -> tuple[StepBatch, Break | None]:
        """Return the batch up to the first break within it, and the break; the whole batch and None without one."""
        if not self.functions or batch.curve is not None:
            return batch, None
        start = last
        for k, (t, y, y_dot) in enumerate(zip(batch.t.tolist(), batch.y, batch.y_dot, strict=True)):
            end = Moment(t, y, y_dot)
            taken = self._branches(t, y)
            crossed = self._enclosed(start, end) if taken != self._taken else self._pulse(start, end)
            if crossed is not None and self._is_rounding(crossed, start, end):
                self._taken = taken
            elif crossed is not None:
                self._crowd.append(crossed.before)
                near = SHORTEST * (1.0 + abs(t))
                self._need_progress(crossed, start)
                if crossed.before - start.t > near:
                    there = self._step_before(start, crossed)
                    return ended_at(batch, k, there), crossed if there.t == crossed.before else Break(there.t, there.t)
                if crossed.before - start.t <= near < start.t - self._left:
                    # the step begins at the break, and its first rates are those before: it is made again from behind it
                    self._left = start.t + 2.0 * near
                    return batch.first(k), Break(start.t, self._left)
                self._taken = taken
            self._longest, start = max(self._longest, end.t - start.t), end
        return batch, None

    def _branches(self, t: float, y: Array) -> tuple[Any, ...]:
        """Return the branches that each function takes at a state."""
        self._rates(t, y)
        signals = workspace_array(self.problem.pack, "SIGNALS")
        return tuple(function.taken(t, y, signals) for function in self.functions)

    def _is_rounding(self, crossed: Break, start: Moment, end: Moment) -> bool:
        """Return whether a break follows a few others at once, and is a kink."""
        if len(self._crowd) < FEW or crossed.before - self._crowd[0] > ROUNDING * (1.0 + abs(crossed.before)):
            return False
        between = self._dense(start, end)
        before, after = (self._rates(t, between(t)) for t in (crossed.before, crossed.after))
        return np.allclose(after, before, rtol=SAME_RATES, atol=SAME_RATES)

    def _rates(self, t: float, y: Array) -> Array:
        """Return the rates at a state."""
        p, y_dot = self.problem, np.zeros_like(y)
        self.need(p.rates(p.pack, copy_options(p.options), t, y, y_dot), t)
        return y_dot

    def _enclosed(self, start: Moment, end: Moment) -> Break:
        """Return the first break of a step, by bisection on dense output."""
        at, lower, upper = self._dense(start, end), start.t, end.t
        while upper - lower > CLOSE * (1.0 + abs(upper)):
            middle = 0.5 * (lower + upper)
            lower, upper = (middle, upper) if self._branches(middle, at(middle)) == self._taken else (lower, middle)
        return Break(lower, upper)

    def _pulse(self, start: Moment, end: Moment) -> Break | None:
        """Return a break by time alone within a step whose ends have the same branches, such as that of a short pulse; None without one."""
        signals = workspace_array(self.problem.pack, "SIGNALS")  # of the end, where functions were called last
        times = [next(one.breaks_in_time(start.t, end.t, end.y, signals), None) for one in self.functions]
        pulse = min((one for one in times if one is not None), default=None)
        if pulse is None:
            return None
        between = self._dense(start, end)(pulse.after)
        return pulse if self._branches(pulse.after, between) != self._taken else None

    def _dense(self, start: Moment, end: Moment) -> Callable[[float], Array]:
        """Return the dense output of a step, as a function of the time [s]."""
        ends = np.array([start.t, end.t]), np.stack([start.y, end.y]), np.stack([start.y_dot, end.y_dot])
        return lambda t: self.problem.state_space.between(np.array([t]), *ends)[0]

    def _need_progress(self, crossed: Break, start: Moment) -> None:
        """Raise SimulationError, with the function, where the breaks follow each other without end, as those of dry friction that holds."""
        self._times.append(crossed.before)
        if len(self._times) < MOST_BREAKS or self._times[-1] - self._times[0] > AT_ONCE * self._longest:
            return
        there = self._branches(crossed.after, start.y + (crossed.after - start.t) * start.y_dot)
        changed = [function.where for function, old, new in zip(self.functions, self._taken, there, strict=True) if old != new]
        where = " and ".join(changed or [function.where for function in self.functions])
        raise SimulationError(
            f"{where} jumps to and fro with the state without end at t = {crossed.before:.9g} s, as dry friction that holds a body does, "
            "and no step follows that. Use JointFriction(stick=True) or a contact with mu=, whose friction may hold, or a law that is "
            "smooth near the jump, such as tanh(rate / 1e-3); fixed steps, h=, go on with an error of their size."
        )

    def _step_before(self, start: Moment, crossed: Break) -> Moment:
        """Return the end of a step up to a break, whose stages have all seen the old branch.

        Dense output of a step across the break is not exact, and a step may end behind it: it is then made shorter, by more each time;
        and where that leads to its start, as with a rate that jumps by much of itself, the longest one is enclosed by bisection.
        """
        t, shorter = crossed.before, CLOSE * (1.0 + abs(crossed.before))
        while t > start.t:
            there = step_to(self.problem, self.method, start, t, self.need)
            if self._branches(there.t, there.y) == self._taken:
                return there
            if t - shorter <= start.t:
                return self._longest_step(start, t)
            t, shorter = t - shorter, SHORTER * shorter
        return step_to(self.problem, self.method, start, t, self.need)

    def _longest_step(self, start: Moment, upper: float) -> Moment:
        """Return the end of the longest step, shorter than to `upper` [s], that ends in the old branch."""
        there = step_to(self.problem, self.method, start, start.t, self.need)
        while upper - there.t > CLOSE * (1.0 + abs(upper)):
            middle = step_to(self.problem, self.method, start, 0.5 * (there.t + upper), self.need)
            if self._branches(middle.t, middle.y) == self._taken:
                there = middle
            else:
                upper = middle.t
        return there


def functions_of_state(model: Model) -> list[Watched]:
    """Return the functions of loads and blocks that read the state."""
    callbacks, watched = model.force_callbacks, []
    for call in callbacks.force_calls:
        user = call.user_function
        if user.form != TIME:
            constants = () if user.constants is None else (np.array(user.constants),)
            watched.append(Watched(f"{user.words} of {user.where}", plain(user.function), partial(_of_load, call, constants)))
    for block, reads in _blocks(model):
        assert callbacks.network is not None
        at = partial(_of_block_at, callbacks.network, block)
        watched += [Watched(f"a function of {block.where}", plain(f), at) for f in block.functions() if reads]
    return watched


def _of_load(call: ForceCall, constants: tuple[Any, ...], t: float, y: Array, signals: Array) -> tuple[Any, ...]:
    """Return the arguments of a function of a load."""
    return (t, *arguments(call, y, signals), *constants)


def _of_block_at(network: Network, block: Block, t: float, y: Array, signals: Array) -> tuple[Any, ...]:
    """Return the arguments of a function of a block."""
    return (t, y[network.columns(block, y)], NotedSignals(Instant(network, t, y, measured=signals)))


class NotedSignals(Mapping[str, Any]):
    """Signals whose values note the branches of functions that read them."""

    def __init__(self, instant: Instant) -> None:
        self.instant = instant

    def __getitem__(self, name: str) -> Any:
        return points(self.instant[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.instant)

    def __len__(self) -> int:
        return len(self.instant)


class StepLengths:
    """The lengths of the steps since the last break or stop: an adaptive method goes on with one of them behind it.

    Its default at the start of a run, a millionth of the way, would come again at every one.
    """

    def __init__(self, t: float) -> None:
        self._longest, self._first, self._before = 0.0, 0.0, t

    def remember(self, t: Array) -> None:
        """Take the ends of steps (n,) [s]."""
        if len(t):
            lengths = np.diff(t, prepend=self._before)
            self._first = self._first or float(lengths[0])
            self._longest, self._before = max(self._longest, float(lengths.max())), float(t[-1])

    def restarted(self, method: Any) -> Any:
        """Return the method for the steps that follow."""
        longest, first = self._longest, self._first
        self._longest = self._first = 0.0
        if method.step is not None or not longest:
            return method
        return method.starting_with(longest if method.one_step else min(longest, LONGER * first))
