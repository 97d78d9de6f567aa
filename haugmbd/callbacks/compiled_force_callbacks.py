r"""Calls of the user's functions without Python: one Numba cfunc, composed of the @njit functions of a model.

    callback(t, y, signals, F, Q_user, succeeded):   for each function: for each element that uses it: F[slot, 0] <- function(t, ...)

A value that is not finite stops the loop; Python then calls the same functions again, and reports which one it was.
Functions are composed by closures: `both(first, second)` is compiled code that calls two others. Models that call the same functions in
the same places share the machine code: variants of a sweep compile it once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import YES
from haugmbd.compiled.jit import joined
from haugmbd.compiled.numba_names import users_numba
from haugmbd.forces.user_function import BODY, TIME
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.workspace.layout import WIDTH

if TYPE_CHECKING:
    from haugmbd.callbacks.calls import ForceCall

numba: Any = users_numba("a model with @njit functions")
types: Any = numba.types
SIGNATURE = types.void(types.float64, *([types.CPointer(types.float64)] * 5))
"""Of `compiled.ffi`."""

Step = Callable[[float, Array, Array, Array, Array], None]


SHARED = 64
"""So many compiled callbacks are kept for other models, with the functions that they call."""


class FunctionCalls(NamedTuple):
    """The calls of one function: its form and shape, and the places (signal, bodies, slots) of each element that uses it.

    reads: whether the slots are those of constants that it takes as its last argument
    """

    function: Any
    form: str
    shape: tuple[int, ...]
    reads: bool
    places: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]


def compile_force_callbacks(force_calls: Sequence[ForceCall], shapes: Sequence[tuple[int, ...]], network: Any = None) -> Any:
    """Return the cfunc of `SIGNATURE` that makes all of `force_calls`; shapes of (y, signals, F, Q_user);  network: the blocks."""
    groups: dict[tuple[Any, str, tuple[int, ...], bool], list[Any]] = {}
    for call in force_calls:
        user, slots = call.user_function, (*call.slots, *call.constants)
        key = (user.function, user.form, user.shape, user.constants is not None)
        groups.setdefault(key, []).append((call.signal, tuple(call.bodies), slots))
    calls = tuple(FunctionCalls(*key, tuple(places)) for key, places in groups.items())
    if network is None:
        return _shared(calls, tuple(shapes))
    from haugmbd.control.diagram.compiled import compile_network  # noqa: PLC0415  few models have blocks

    return composed([*map(_step, calls), _network_step(compile_network(network))], shapes)


@lru_cache(maxsize=SHARED)
def _shared(calls: tuple[FunctionCalls, ...], shapes: tuple[tuple[int, ...], ...]) -> Any:
    """Return the cfunc that makes these calls, the same one for equal calls."""
    return composed([_step(each) for each in calls], shapes)


def _network_step(run: Any) -> Step:
    """Return the step that evaluates the blocks."""

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        run(t, y, signals, F)

    return step


def composed(steps: Sequence[Step], shapes: Sequence[tuple[int, ...]]) -> Any:
    """Return the cfunc of `SIGNATURE` that runs these steps; shapes of its four arrays."""
    run = _compiled(steps[0])
    for step in steps[1:]:
        run = _both(run, _compiled(step))
    y_shape, signals_shape, F_shape, Q_shape = shapes

    @numba.cfunc(SIGNATURE)  # type: ignore[untyped-decorator]
    def callback(t: float, y: Any, signals: Any, F: Any, Q_user: Any, succeeded: Any) -> None:
        run(
            t,
            numba.carray(y, y_shape),
            numba.carray(signals, signals_shape),
            numba.carray(F, F_shape),
            numba.carray(Q_user, Q_shape),
        )
        succeeded[0] = YES

    return callback


def _both(first: Step, second: Step) -> Step:
    """Return a function that runs one step after the other."""

    def both(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        first(t, y, signals, F, Q_user)
        second(t, y, signals, F, Q_user)

    return _compiled(both)


def _compiled(function: Step) -> Step:
    return joined(function)


def _step(calls: FunctionCalls) -> Step:
    """Return the step that calls one function for all elements that use it."""
    function, form, shape, reads, places = calls
    _, bodies, slots = places[0]
    columns = np.array([[signal, *own_bodies, *own_slots] for signal, own_bodies, own_slots in places], dtype=np.int64)
    if reads:
        return _kernel_step(function, columns, shape[0])
    if form == BODY and not slots:
        return _system_step(function, columns, shape[0])
    if form == BODY:
        return _body_step(function, columns)
    at = np.ascontiguousarray(columns[:, [0, *range(1 + len(bodies), columns.shape[1])]])
    if form == TIME:
        return _scalar_time_step(function, at) if shape == () else _vector_time_step(function, at)
    return _signal_step(function, at) if shape == () else _signals_step(function, at)


def _signal_step(f: Any, at: Ints) -> Step:
    """Return the step of f(t, l, l_dot) or f(t, theta, theta_dot);  at: (signal, slot)."""

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        for k in range(at.shape[0]):
            F[at[k, 1], 0] = f(t, signals[at[k, 0], 0], signals[at[k, 0], 1])

    return step


def _signals_step(f: Any, at: Ints) -> Step:
    """Return the step of f(t, q, qd) -> (n,) of several coordinates;  at: (first signal, n slots)."""
    n = at.shape[1] - 1

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        q, q_dot = np.empty(n), np.empty(n)
        for k in range(at.shape[0]):
            for a in range(n):
                q[a], q_dot[a] = signals[at[k, 0] + a, 0], signals[at[k, 0] + a, 1]
            put_numbers(F, at, k, 1, f(t, q, q_dot))

    return step


def _scalar_time_step(f: Any, at: Ints) -> Step:
    """Return the step of f(t) of an actuator;  at: (signal, slot)."""

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        for k in range(at.shape[0]):
            F[at[k, 1], 0] = f(t)

    return step


def _vector_time_step(f: Any, at: Ints) -> Step:
    """Return the step of f(t) -> (n,);  at: (signal, n slots)."""

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        for k in range(at.shape[0]):
            put_numbers(F, at, k, 1, f(t))

    return step


def _body_step(f: Any, at: Ints) -> Step:
    """Return the step of f(t, r, p, v, omega_bar) -> (3,);  at: (signal, body, three slots)."""
    slots = np.ascontiguousarray(at[:, 1:])

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        for k in range(at.shape[0]):
            row = y[WIDTH * at[k, 1] : WIDTH * at[k, 1] + WIDTH].copy()
            _put_vector(F, slots, k, f(t, row[0:3], row[EULER:VELOCITY], row[VELOCITY:OMEGA_BAR], row[OMEGA_BAR:WIDTH]))

    return step


def _system_step(f: Any, at: Ints, n: int) -> Step:
    """Return the step of f(t, r, p, v, omega_bar) -> (n, 6);  at: (signal, n bodies)."""

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        r, p, v, omega_bar = np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))
        for k in range(at.shape[0]):
            for b in range(n):
                first = WIDTH * at[k, 1 + b]
                for a in range(3):
                    r[b, a], v[b, a], omega_bar[b, a] = y[first + a], y[first + VELOCITY + a], y[first + OMEGA_BAR + a]
                for a in range(4):
                    p[b, a] = y[first + 3 + a]
            rows = f(t, r, p, v, omega_bar)
            right = rows.shape[0] == n and rows.shape[1] == 6
            for b in range(n):
                for a in range(6):
                    Q_user[at[k, 1 + b], a] += rows[b, a] if right else np.nan

    return step


def _kernel_step(f: Any, at: Ints, n: int) -> Step:
    """Return the step of f(t, r, p, v, omega_bar, x) -> (n, 6);  at: (signal, n bodies, slots of the constants x)."""
    n_constants = at.shape[1] - 1 - n

    def step(t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        r, p, v, omega_bar, x = np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n_constants)
        for k in range(at.shape[0]):
            for b in range(n):
                first = WIDTH * at[k, 1 + b]
                for a in range(3):
                    r[b, a], v[b, a], omega_bar[b, a] = y[first + a], y[first + VELOCITY + a], y[first + OMEGA_BAR + a]
                for a in range(4):
                    p[b, a] = y[first + 3 + a]
            for a in range(n_constants):
                x[a] = F[at[k, 1 + n + a], 0]
            rows = f(t, r, p, v, omega_bar, x)
            right = rows.shape[0] == n and rows.shape[1] == 6
            for b in range(n):
                for a in range(6):
                    Q_user[at[k, 1 + b], a] += rows[b, a] if right else np.nan

    return step


@joined
def _put_vector(F: Array, at: Ints, k: int, vector: Any) -> None:
    """Write three numbers to the slots at[k, 1:]; NaN if the vector has another length."""
    right = len(vector) == 3
    F[at[k, 1], 0] = vector[0] if right else np.nan
    F[at[k, 2], 0] = vector[1] if right else np.nan
    F[at[k, 3], 0] = vector[2] if right else np.nan


def put_numbers(F: Any, at: Any, k: Any, first: Any, given: Any) -> Any:
    """Write the numbers of a value to the slots at[k, first:]; NaN if it has another length.  For compiled code only."""


@numba.extending.overload(put_numbers)  # type: ignore[untyped-decorator]
def _put_numbers(F: Any, at: Any, k: Any, first: Any, given: Any) -> Any:
    """Return the implementation for a number, a tuple of any numbers, or an array or list."""
    if isinstance(given, types.Number):
        return _put_one
    if isinstance(given, types.BaseTuple):
        return _put_tuple if len(given) else _put_nothing
    return _put_all


def _put_one(F: Any, at: Any, k: Any, first: Any, given: Any) -> None:
    F[at[k, first], 0] = given if first == at.shape[1] - 1 else np.nan


def _put_nothing(F: Any, at: Any, k: Any, first: Any, given: Any) -> None:
    if first < at.shape[1]:
        F[at[k, first], 0] = np.nan


def _put_tuple(F: Any, at: Any, k: Any, first: Any, given: Any) -> None:
    if first < at.shape[1]:
        F[at[k, first], 0] = given[0]
        put_numbers(F, at, k, first + 1, given[1:])
    else:
        F[at[k, 1], 0] = np.nan


def _put_all(F: Any, at: Any, k: Any, first: Any, given: Any) -> None:
    for a in range(first, at.shape[1]):
        F[at[k, a], 0] = given[a - first] if len(given) == at.shape[1] - first else np.nan
