r"""Jumps of the user's functions that steps have crossed, told behind the run: an error of first order in the step.

    J = |f(b) - f(a)|      stays while [a, b] is halved down to rounding, and always the half with the larger change is kept

    share = h J / (the mean of |f| times the duration of the run)      the part of the impulse of f that one step may miss

[a, b] are neighbours of some stored states, for functions of time also of evenly spaced times. Functions of time that take intervals
tell their jumps themselves (`drivers.kinks`).

Told are jumps at which the steps do not end: with fixed steps all; with error control those of functions that hide their branches
(`math.sin`, tables), functions tau of chains, and, of methods that step across kinks, all functions of the state (`breaks`).

A function that stores something when it is called, such as a list of its values, is not called behind the run. One that takes no branch at
the modelled state, or whose code is arithmetic and smooth functions alone, has none, and no run asks again.
Runs of few fixed steps, which would take less time than the search, are not looked at.
A law that jumps to and fro between two of the states may stay unseen.
"""

from __future__ import annotations

import builtins
import dis
import math
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.content_digest import of_library, values_read
from haugmbd.diagnostics.run_warnings import FEWEST_STEPS, RunNote
from haugmbd.drivers.autodiff.interval import Interval, Undecided, branches, hides_branches
from haugmbd.drivers.kinks import breaks_of
from haugmbd.drivers.user_function import plain
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import copy_options
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model
from haugmbd.simulation.stepping.breaks import Watched, functions_of_state, named_functions_of_time
from haugmbd.workspace.layout import workspace_array

if TYPE_CHECKING:
    from haugmbd.integrators.chain_state_space import ChainStateSpace

CROSSED_JUMPS = "whether steps cross jumps"
"""What is checked."""
STATES, TIMES, PER_STATE = 33, 257, 24
"""Stored states at which functions of the state are called; times at which those of time are, and how many of them a state at most."""
SEARCHED = 3
"""Largest changes between neighbours that are searched for a jump."""
MOST = 20
"""Breaks of one function of time that are looked at."""
HALVES = 45
"""Of the way between two neighbours: the rest is rounding of the time."""
STAYS = 0.3
"""Part of the change between two neighbours that stays where f jumps."""
GONE = 0.25
"""Part of it, less than STAYS, that is left of a smooth change after two halves: the search ends."""
SMALL = 1e-7
"""Relative to the largest value: a smaller jump is rounding, or the two sides of a kink."""
LEAST = 1e-6
"""Share of the impulse that is worth a note, with fixed steps; with error control the relative tolerance is."""
AT_AN_END = 1e-9
"""Part of the run: a jump so near to its start or end is none within it."""
STORES = frozenset(["STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "DELETE_SUBSCR", "YIELD_VALUE"])
CHANGES = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "extend",
        "insert",
        "next",
        "pop",
        "popleft",
        "print",
        "put",
        "remove",
        "send",
        "update",
        "write",
    ]
)
"""Instructions and names in a function that stores what it is called with, or counts its calls."""

PLAIN = frozenset(
    [
        "RESUME",
        "NOP",
        "CACHE",
        "PUSH_NULL",
        "PRECALL",
        "KW_NAMES",
        "COPY_FREE_VARS",
        "LOAD_FAST",
        "LOAD_CONST",
        "LOAD_GLOBAL",
        "LOAD_DEREF",
        "LOAD_ATTR",
        "LOAD_METHOD",
        "STORE_FAST",
        "CALL",
        "BINARY_OP",
        "UNARY_NEGATIVE",
        "UNARY_POSITIVE",
        "BUILD_TUPLE",
        "BUILD_LIST",
        "BUILD_MAP",
        "RETURN_VALUE",
        "RETURN_CONST",
    ]
)
"""Instructions of a function that is one expression: no comparison, no loop, no item of a table."""
CONTINUOUS = frozenset(
    [float, abs, min, max]
    + [
        math.sin,
        math.cos,
        math.tanh,
        math.sinh,
        math.cosh,
        math.exp,
        math.sqrt,
        math.asin,
        math.acos,
        math.atan,
        math.hypot,
        math.fabs,
    ]
    + [np.sin, np.cos, np.tanh, np.sinh, np.cosh, np.exp, np.sqrt, np.arcsin, np.arccos, np.arctan, np.hypot, np.abs]
    + [np.minimum, np.maximum, np.array, np.float64]
)
"""Functions that do not jump."""
BUILTINS = vars(builtins)

CAN_STORE = (list, dict, np.ndarray)
"""Types of what an item may be stored in."""

Values = Callable[[float], Array]


class Jump(NamedTuple):
    """A jump.  where: of which function;  t: its time [s];  share: of the impulse;  hidden: the function hides its branches"""

    where: str
    t: float
    share: float
    hidden: bool


def jump_notes(model: Model, t: Array, y: Array, method: Any, *, all_steps: bool) -> list[RunNote]:
    """Return a note on the largest jump that steps have crossed.  t (nt,), y (nt, ny): the stored states;  all_steps: they are all"""
    fixed = method.step is not None
    if len(t) < (FEWEST_STEPS if fixed else 2) or not (model.loads or model.network):
        return []
    jumps = list(_of_time(model, t, fixed=fixed, all_steps=all_steps, step=method.step))
    if all_steps:
        every = fixed or not method.stops_at_kinks or may_stick(model)
        jumps += _of_state(model, t, y, every=every, step=method.step)
    return _notes(jumps, method)


def chain_jump_notes(space: ChainStateSpace, t: Array, y: Array, method: Any, *, all_steps: bool) -> list[RunNote]:
    """Return a note on a jump of tau that the steps of a chain have crossed."""
    tau: Any = space.tau
    if len(t) < 2 or not callable(tau) or not all_steps or stores_something(tau):  # noqa: PLR2004
        return []
    nq = space.chain.nq

    def at(x: float) -> Array:
        k = min(int(x), len(t) - 2)
        state = y[k] + (x - k) * (y[k + 1] - y[k])
        return space.tau_at(float(t[k] + (x - k) * (t[k + 1] - t[k])), state[:nq].copy(), state[nq:].copy())

    jumps = _jumps(f"tau of chain {space.chain.name!r}", at, _some(len(t)), t, method.step, hidden=False)
    return _notes(list(jumps), method)


def _notes(jumps: Sequence[Jump], method: Any) -> list[RunNote]:
    """Return the note of the jumps that matter."""
    fixed = method.step is not None
    least = LEAST if fixed else float(getattr(method, "rtol", LEAST))
    matter = sorted((jump for jump in jumps if jump.share > least), key=lambda jump: jump.t)
    if not matter:
        return []
    names = list(dict.fromkeys(jump.where for jump in matter))
    where = " and ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")  # noqa: PLR2004
    worst = max(jump.share for jump in matter)
    how = (
        f"{where} jumps at about t = {matter[0].t:.6g} s, and a step goes across: it may miss {100.0 * worst:.2g} % of the impulse"
    )
    if fixed:
        remedy = f"Give a smaller h than {float(method.step):.3g} s, to which the error is proportional, or rtol=: steps then end at jumps."
        if any(jump.hidden for jump in matter):
            remedy += " That needs a function that is written with NumPy: float(), math and tables hide where it jumps."
    elif any(jump.hidden for jump in matter):
        remedy = (
            "Write the function with NumPy (np.where, np.sign), so that steps end at jumps: float(), math and tables hide them."
        )
    else:
        remedy = "Steps of this method do not end at jumps: take a smaller rtol, an explicit method, or a law without jumps, such as tanh."
    return [RunNote("jump", f"{how}. {remedy}", worst)]


def _of_time(model: Model, t: Array, *, fixed: bool, all_steps: bool, step: float | None) -> Iterator[Jump]:
    """Yield a jump of each function of time at which steps do not end."""
    for where, f in _branching_in_time(model):
        takes_intervals = _takes_intervals(f, float(t[0]), float(t[-1]))
        if takes_intervals is False or (takes_intervals and not fixed):
            continue
        grid = np.union1d(t[_some(len(t)).astype(int)], np.linspace(t[0], t[-1], min(TIMES, PER_STATE * len(t))))
        if takes_intervals:
            values = np.array(
                [np.abs(np.asarray(f(float(x)), dtype=np.float64)).max() for x in grid[:: max(1, len(grid) // STATES)]]
            )
            whole = float(values.mean()) * (t[-1] - t[0])
            for time_break in islice(breaks_of(f, float(t[0]), float(t[-1])), MOST):
                after, before = (np.asarray(f(x), dtype=np.float64) for x in (time_break.after, time_break.before))
                size = float(np.abs(after - before).max())
                if size > SMALL * float(values.max(initial=size)) and _within(t, time_break.after):
                    yield Jump(where, time_break.after, _share(size, _length(t, time_break.after, step), whole), hidden=False)
                    break
        else:
            step_numbers = np.interp(grid, t, np.arange(len(t))) if all_steps else np.linspace(0.0, 1.0, len(grid))
            ends = t if all_steps else t[[0, -1]]
            with suppress(KeyError):  # a name that a function of a block has put together
                yield from _jumps(where, _numbers(partial(_at_place, f, ends)), step_numbers, ends, step, hidden=True)


def _at_place(f: Callable[[float], Any], ends: Array, x: float) -> Any:
    """Return a function of time at a place among the ends of steps, 0 for the first one."""
    return f(_between(ends, x))


def _between(t: Array, x: float) -> float:
    """Return the time at a place among times (n,), 0 for the first of them."""
    k = min(int(x), len(t) - 2)
    return float(t[k] + (x - k) * (t[k + 1] - t[k]))


def _takes_intervals(f: Callable[[Any], Any], start: float, end: float) -> bool | None:
    """Return whether a function of time tells its branches, and has some: False if it has none, None if it hides them."""
    try:
        f(Interval(start, end))
    except Undecided:
        return True
    except Exception:  # noqa: BLE001  a user's function may raise anything for what is no number
        return None
    return False


def _of_state(model: Model, t: Array, y: Array, *, every: bool, step: float | None) -> Iterator[Jump]:
    """Yield a jump of each function of the state; those that tell their branches only if `every` one is asked for."""
    functions = _branching_in_state(model)
    if not functions:
        return
    signals = _Signals(model)
    for function in functions:
        at_start = function.arguments(float(t[0]), y[0], signals.at(float(t[0]), y[0]))
        hidden = hides_branches(function.function, *at_start)
        if hidden or (every and function.taken(float(t[0]), y[0], workspace_array(signals.pack, "SIGNALS"))):
            with suppress(KeyError):  # a name that a function of a block has put together
                yield from _jumps(function.where, signals.values(function, t, y), _some(len(t)), t, step, hidden=hidden)


@once_per_model
def _branching_in_time(model: Model) -> list[tuple[str, Callable[[Any], Any]]]:
    """Return the functions of time that may take another branch some time, and what they are called."""
    asked = [(where, f) for where, f in named_functions_of_time(model) if not stores_something(f)]
    return [(where, f) for where, f in asked if _may_branch(f, 0.0)]


@once_per_model
def _branching_in_state(model: Model) -> list[Watched]:
    """Return the functions of the state that may take another branch at some other state."""
    functions = [one for one in functions_of_state(model) if not stores_something(one.function)]
    blocks = () if model.network is None else model.network.blocks
    if not functions or any(stores_something(f) for block in blocks for f in block.functions()):  # signals call all of them
        return []
    y = model.state().y
    try:
        measured = _Signals(model).at(0.0, y)
    except Exception:  # noqa: BLE001  the model may not be assembled, and a user's function may raise anything
        return functions
    return [one for one in functions if _may_branch(one.function, *one.arguments(0.0, y, measured))]


def _may_branch(f: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether a function takes a branch at one point, or hides which it takes."""
    if is_continuous(f):
        return False
    try:
        return hides_branches(f, *arguments) or bool(branches(f, *arguments))
    except Exception:  # noqa: BLE001  a user's function may raise anything
        return True


class _Signals:
    """The signals of force elements at states, by a workspace beside that of the run."""

    def __init__(self, model: Model) -> None:
        self.rule, self.space = Projection(), MaximalStateSpace(model)
        self.options, self.pack = self.rule.options(), self.rule.fitted(model, model.pack())

    def at(self, t: float, y: Array) -> Array:
        """Return the signals at a state."""
        code = self.rule.rates(self.pack, copy_options(self.options), t, y, np.zeros_like(y))
        if code:
            raise self.space.error(self.pack, code, t)
        return workspace_array(self.pack, "SIGNALS")

    def values(self, one: Watched, t: Array, y: Array) -> Values:
        """Return a function of the state between stored ones, at the number of a state, 2.5 between the third and the fourth one."""

        def at(x: float) -> Any:
            k = min(int(x), len(t) - 2)
            instant, state = float(t[k] + (x - k) * (t[k + 1] - t[k])), y[k] + (x - k) * (y[k + 1] - y[k])
            return one.function(*one.arguments(instant, state, self.at(instant, state)))

        return _numbers(at)


def _numbers(f: Callable[[float], Any]) -> Values:
    """Return a function whose values are arrays of floats."""
    return lambda x: np.asarray(f(x), dtype=np.float64).ravel()


def _some(n: int) -> Array:
    """Return the numbers of some of n states."""
    numbers: Array = np.unique(np.linspace(0, n - 1, min(STATES, n)).astype(int)).astype(np.float64)
    return numbers


def _jumps(where: str, f: Values, places: Array, t: Array, step: float | None, *, hidden: bool) -> Iterator[Jump]:
    """Yield the first jump of f among its largest changes between neighbouring places, numbers of states at the times t."""
    times = np.interp(places, np.arange(len(t)), t)
    values = np.array([f(x) for x in places.tolist()])
    changes = np.abs(np.diff(values, axis=0)).max(axis=1, initial=0.0)
    changes[np.diff(times) <= 0.0] = 0.0  # both sides of a stop of the run
    sizes = np.abs(values).max(axis=1, initial=0.0)
    whole = float(0.5 * (sizes[1:] + sizes[:-1]) @ np.diff(times))
    for k in sorted(np.argsort(changes)[::-1][:SEARCHED].tolist()):
        if not changes[k] > SMALL * max(sizes.max(), 1e-300) or not np.isfinite(changes[k]):
            continue
        a, b, at_a, at_b = float(places[k]), float(places[k + 1]), values[k], values[k + 1]
        for _ in range(HALVES):
            middle = 0.5 * (a + b)
            at_m = f(middle)
            if np.abs(at_m - at_a).max() >= np.abs(at_b - at_m).max():
                b, at_b = middle, at_m
            else:
                a, at_a = middle, at_m
            if np.abs(at_b - at_a).max() < GONE * changes[k]:
                break
        size = float(np.abs(at_b - at_a).max())
        when = _between(t, b)
        if size > STAYS * changes[k] and _within(t, when):
            yield Jump(where, when, _share(size, _length(t, when, step), whole), hidden)
            return


def _within(t: Array, when: float) -> bool:
    """Return whether a time lies within a run."""
    return bool(min(when - t[0], t[-1] - when) > AT_AN_END * (t[-1] - t[0]))


def _length(t: Array, when: float, step: float | None) -> float:
    """Return the length of the step at a time [s]."""
    if step is not None:
        return float(step)
    k = int(np.clip(np.searchsorted(t, when), 1, len(t) - 1))
    return float(t[k] - t[k - 1])


def _share(size: float, h: float, whole: float) -> float:
    """Return the part of the impulse that a step may miss, 1 at most."""
    return min(1.0, h * size / whole) if whole > 0.0 else 1.0


def is_continuous(function: Any, depth: int = 3) -> bool:
    """Return whether the code of a function shows that it cannot jump: arithmetic, constants, and functions that do not jump."""
    inner = plain(function)
    if not isinstance(inner, types.FunctionType) or not depth:
        return False
    code, read = inner.__code__, {name.rstrip("="): x for name, x in values_read(inner).items()}
    used = [x for x in read.values() if not isinstance(x, int | float)]
    for name in code.co_names:  # globals, which may be builtins, and attributes, of math and NumPy alone
        meant = [x for x in (inner.__globals__.get(name), BUILTINS.get(name)) if x is not None][:1]
        meant += [getattr(module, name) for module in (math, np) if hasattr(module, name)]
        used += [x for x in meant if not isinstance(x, int | float)]
        if not meant:
            return False
    if not set(code.co_freevars) <= set(read):
        return False
    if not all(is_continuous(x, depth - 1) if isinstance(x, types.FunctionType) else _is_in(x, CONTINUOUS) for x in used):
        return False
    before: Any = None
    for at in dis.get_instructions(inner):
        if at.opname not in PLAIN or (at.opname == "BINARY_OP" and not _is_arithmetic(at.argrepr.rstrip("="), before, read)):
            return False
        before = at
    return True


def _is_arithmetic(operator: str, before: Any, read: dict[str, Any]) -> bool:
    """Return whether an operator does not jump: a sum, a product, or one with a constant divisor or positive exponent, loaded before."""
    constant = None if before is None else before.argval if before.opname == "LOAD_CONST" else read.get(str(before.argval))
    if operator in ("/", "**"):
        return isinstance(constant, int | float) and (constant > 0.0 or (operator == "/" and constant != 0.0))
    return operator in ("+", "-", "*")


def _is_in(x: Any, functions: frozenset[Any]) -> bool:
    """Return whether an object, which may have no hash, is one of some functions, or a number or the module of one."""
    try:
        return x in functions or x is math or x is np
    except TypeError:
        return False


def stores_something(function: Any, depth: int = 2) -> bool:
    """Return whether a function, or one that it calls, may store something when it is called, by its code; unknown code may."""
    inner: Any = plain(getattr(function, "__func__", function))
    inner = inner if isinstance(inner, types.FunctionType) else getattr(type(inner), "__call__", None)  # noqa: B004  its code
    if not isinstance(inner, types.FunctionType):
        return not isinstance(function, np.ufunc | types.BuiltinFunctionType)
    if CHANGES & set(inner.__code__.co_names) or any(at.opname in STORES for at in dis.get_instructions(inner)):
        return True
    read = list(values_read(inner).values())
    if any(at.opname == "STORE_SUBSCR" for at in dis.get_instructions(inner)) and any(isinstance(x, CAN_STORE) for x in read):
        return True
    called: list[Any] = [x for x in read if isinstance(x, types.FunctionType | types.MethodType)]
    kinds = [type(x) for x in read if not isinstance(x, type) and not of_library(type(x).__module__)]
    methods = [getattr(kind, name, None) for kind in kinds for name in (*inner.__code__.co_names, "__call__")]
    called += [x for x in methods if isinstance(x, types.FunctionType)]
    return any(depth == 0 or stores_something(x, depth - 1) for x in called)
