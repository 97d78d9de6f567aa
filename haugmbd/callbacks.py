"""Calls of the user's functions, at every evaluation and at every factorization: by Python, or without it where all are @njit functions.

    F[slot, 0] <- actuator(t, l, l_dot), force(t, r, p, v, omega_bar), ...            the value is written to the place of a driver
    F[k]       <- f, f', f'' of drivers that only Python can evaluate
    Q_user     +=  the value of a StateForce

Declared jacobians are called by the same callback (`compiled.ffi.Callback`), with D in the place of F.

    D[at ...] <- jacobian(t, l, l_dot), jacobian(t, r, p, v, omega_bar), ...       row by row, as `forces.jacobian` orders them

`compile_force_callbacks` and `compile_jacobian_callbacks` make one Numba cfunc of all calls of a model, composed of its @njit functions.

    callback(t, y, signals, F, Q_user, succeeded):   for each function: for each element that uses it: F[slot, 0] <- function(t, ...)

A value that is not finite stops the loop; Python then calls the same functions again, and reports which one it was.
Functions are composed by closures: `both(first, second)` is compiled code that calls two others. Models that call the same functions in
the same places share the machine code: variants of a sweep compile it once.

    callback(t, y, signals, D, nothing, succeeded):   for each function: for each element that uses it: D[at ...] <- its parts

Columns dr, dpi_bar, dv, domega_bar, as in `forces.jacobian`. A part is an array or 0; its type decides when the callback is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import NO_CALLBACK, YES, Callback, CompiledCallback
from haugmbd.compiled.jit import joined
from haugmbd.compiled.numba_names import is_jitted, users_numba
from haugmbd.control.diagram.compiled import compilable, compile_network
from haugmbd.control.diagram.in_kernels import CAN_ENTER, NetworkCallback
from haugmbd.control.diagram.memory import Memory
from haugmbd.control.diagram.network import Network
from haugmbd.control.diagram.tables import NetworkTables, evaluated, tables_of
from haugmbd.drivers import Driver
from haugmbd.drivers.autodiff.operators import NotAFloat
from haugmbd.drivers.functions import PythonDriver
from haugmbd.drivers.user_function import FunctionFault
from haugmbd.errors import HaugmbdError, SimulationError
from haugmbd.forces.jacobian import TURN, Jacobian
from haugmbd.forces.user_function import BODY, TIME, UserFunction
from haugmbd.math.body_columns import EULER, OMEGA_BAR, PARTS, VELOCITY
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array


class JacobianCall(NamedTuple):
    """A jacobian, and the places of its arguments and its value: body numbers, signal, index of the first number in D."""

    jacobian: Jacobian
    bodies: tuple[int, ...]
    signal: int
    at: int

    @property
    def size(self) -> int:
        """Return the number of values that the user's jacobian returns."""
        return self.jacobian.shape[0] * self.jacobian.shape[1]


class ForceCall(NamedTuple):
    """A user's function, and the places of its arguments and its value: body numbers, signal, places in the driver table.

    Without places in the driver table the value is added to Q_user: rows of generalized forces.
    constants: places in the driver table of the numbers that the function takes as its last argument, if it takes them
    """

    user_function: UserFunction
    bodies: tuple[int, ...]
    signal: int
    slots: tuple[int, ...]
    constants: tuple[int, ...] = ()


def arguments(force_call: ForceCall, y: Array, signals: Array) -> Sequence[Array | float]:
    """Return the arguments of the function after t: copies, so that it may keep or change them."""
    return arguments_of(force_call.user_function, force_call.bodies, force_call.signal, y, signals)


def arguments_of(
    user_function: UserFunction, bodies: Sequence[int], signal: int, y: Array, signals: Array
) -> Sequence[Array | float]:
    """Return the arguments of a function of these bodies, or of this signal."""
    if user_function.form == TIME:
        return ()
    if user_function.form != BODY and user_function.shape:
        own = signals[signal : signal + user_function.shape[0]].T.copy()
        return own[0], own[1]
    if user_function.form != BODY:
        return float(signals[signal, 0]), float(signals[signal, 1])
    if len(user_function.shape) == 1:
        row = y[WIDTH * bodies[0] :][:WIDTH].copy()
        return row[0:3], row[EULER:VELOCITY], row[VELOCITY:OMEGA_BAR], row[OMEGA_BAR:WIDTH]
    rows = np.array([y[WIDTH * k :][:WIDTH] for k in bodies])
    return [np.ascontiguousarray(rows[:, a:b]) for a, b in PARTS]


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
    numba = _overloaded()
    run = _compiled(steps[0])
    for step in steps[1:]:
        run = _both(run, _compiled(step))
    y_shape, signals_shape, F_shape, Q_shape = shapes

    @numba.cfunc(_signature(numba.types))  # type: ignore[untyped-decorator]
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


def _signature(types: Any) -> Any:
    """Return the signature of `compiled.ffi`, in the types of Numba."""
    return types.void(types.float64, *([types.CPointer(types.float64)] * 5))


@cache
def _overloaded() -> Any:
    """Return Numba, which knows how values of each type are written: only models with @njit functions need it."""
    numba = users_numba("a model with @njit functions")
    numba.extending.overload(put_vector)(_put_three)
    numba.extending.overload(put_numbers)(_put_numbers)
    numba.extending.overload(put_part)(_put_part)
    return numba


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
            put_vector(F, slots, k, f(t, row[0:3], row[EULER:VELOCITY], row[VELOCITY:OMEGA_BAR], row[OMEGA_BAR:WIDTH]))

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


def put_vector(F: Any, at: Any, k: Any, vector: Any) -> Any:
    """Write three numbers to the slots at[k, 1:]; NaN if the vector has another length.  For compiled code only."""


def _put_three(F: Any, at: Any, k: Any, vector: Any) -> Any:
    """Return the implementation for any vector."""
    return _put_vector


def _put_vector(F: Any, at: Any, k: Any, vector: Any) -> None:
    right = len(vector) == 3
    F[at[k, 1], 0] = vector[0] if right else np.nan
    F[at[k, 2], 0] = vector[1] if right else np.nan
    F[at[k, 3], 0] = vector[2] if right else np.nan


def put_numbers(F: Any, at: Any, k: Any, first: Any, given: Any) -> Any:
    """Write the numbers of a value to the slots at[k, first:]; NaN if it has another length.  For compiled code only."""


def _put_numbers(F: Any, at: Any, k: Any, first: Any, given: Any) -> Any:
    """Return the implementation for a number, a tuple of any numbers, or an array or list."""
    types = _overloaded().types
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


class DriverCall(NamedTuple):
    """A driver that only Python can evaluate: its index in the driver table, and the part that it drives."""

    slot: int
    driver: Driver
    where: str


@dataclass(frozen=True, eq=False)
class ForceCallbacks:
    """All calls of the user's functions of one model.  shapes: of (y, signals, F, Q_user);  network: the blocks, None without."""

    force_calls: tuple[ForceCall, ...] = ()
    driver_calls: tuple[DriverCall, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = field(default=((0,), (0, 2), (0, 3), (0, 6)))
    network: Network | None = None

    @property
    def any(self) -> bool:
        """Return whether there are calls."""
        return bool(self.force_calls or self.driver_calls or self.network is not None)

    @cached_property
    def compiled(self) -> bool:
        """Return whether all functions are @njit functions, so that no Python is needed."""
        return (
            not self.driver_calls
            and (self.network is None or compilable(self.network))
            and all(is_jitted(a.user_function.function) for a in self.force_calls)
        )

    def callback(self) -> Callback:
        """Return the callback for one run."""
        if not self.any:
            return NO_CALLBACK
        if self.compiled:
            return CompiledCallback(self._entry)
        if self.network is None:
            return Callback(self.call, self.shapes)
        memory = Memory(self.network)
        call = partial(self.call, memory=memory)
        alone = CAN_ENTER and self._tables is not None and not (self.force_calls or self.driver_calls)
        callback = NetworkCallback(call, self.shapes, self._tables) if alone and self._tables else Callback(call, self.shapes)
        callback.memory = memory
        return callback

    @cached_property
    def _entry(self) -> Any:
        """Return the compiled callback, made once for a model."""
        return compile_force_callbacks(self.force_calls, self.shapes, self.network)

    @cached_property
    def _tables(self) -> NetworkTables | None:
        """Return the tables of the blocks, made once for a model; None if their functions must be called."""
        return None if self.network is None else tables_of(self.network, self.shapes[0][0], (self.shapes[1][0], self.shapes[2][0]))

    def call(self, t: float, y: Array, signals: Array, F: Array, Q_user: Array, *, memory: Memory | None = None) -> None:
        """Call every function, and write the values into F and Q_user;  memory: of the blocks in a run."""
        try:
            for call in self.driver_calls:
                F[call.slot] = driver_values(call, t)
            for force_call in self.force_calls:
                returned = force_call.user_function.call(t, *arguments(force_call, y, signals))
                if force_call.slots:
                    for slot, value in zip(force_call.slots, returned.ravel().tolist(), strict=True):
                        F[slot, 0] = value
                else:
                    for body, row in zip(force_call.bodies, returned, strict=True):  # a body may occur twice
                        Q_user[body] += row
            if self.network is not None and not (self._tables is not None and evaluated(self._tables, y, signals, F)):
                self.network.evaluate(t, y, signals, F, memory)
        except SimulationError as error:
            if np.isfinite(y).all():
                raise
            raise SimulationError(f"the state is not finite at t = {t:.9g} s, and with it {error.message}") from error

    @property
    def unchecked_outputs(self) -> tuple[str, ...]:
        """Return the outputs of blocks that no evaluation calls, so that nothing tells whether they are finite."""
        if self.network is None or (self._tables is not None and not self.compiled):
            return ()
        return self.network.unread

    def names(self) -> str:
        """Return the names of the functions, for a message."""
        blocks = () if self.network is None else (block.where for block in self.network.blocks)
        return ", ".join([*(a.user_function.where for a in self.force_calls), *(c.where for c in self.driver_calls), *blocks])


def driver_values(call: DriverCall, t: float) -> Array:
    """Return f, f', f'' (3,), finite. Exceptions of the user's function are raised unchanged, with a note."""
    try:
        F = call.driver.row(t) if isinstance(call.driver, PythonDriver) else np.asarray(call.driver.values(t))
    except FunctionFault as error:
        raised = error.__cause__
        if isinstance(raised, Exception) and not isinstance(raised, NotAFloat | HaugmbdError):
            raised.add_note(f"raised by the driver of {call.where} at t = {t:.9g} s")
            raise raised from None
        raise SimulationError(f"{call.where}: {error.fault}") from error
    except Exception as error:
        error.add_note(f"raised by the driver of {call.where} at t = {t:.9g} s")
        raise
    if F.shape != (3,) or not np.isfinite(F).all():
        what = f"its driver gives {F.tolist()} at t = {t:.9g} s, must be three finite numbers f, f', f''"
        raise SimulationError(f"{call.where}: {what}")
    return F


class JacobianCalls(NamedTuple):
    """The calls of one function: what its arguments are, and the places (place in D, signal, bodies) of each element that uses it."""

    function: Any
    of_bodies: bool
    of_one_body: bool
    bodies: int
    places: tuple[tuple[int, ...], ...]


def compile_jacobian_callbacks(jacobian_calls: Sequence[JacobianCall], shapes: Sequence[tuple[int, ...]]) -> Any:
    """Return the cfunc that makes all of `jacobian_calls`; shapes of (y, signals, D, nothing)."""
    groups: dict[tuple[Any, tuple[int, int]], list[JacobianCall]] = {}
    for jacobian_call in jacobian_calls:
        groups.setdefault((jacobian_call.jacobian.function, jacobian_call.jacobian.shape), []).append(jacobian_call)
    return _shared_of_jacobians(tuple(map(_calls, groups.values())), tuple(shapes))


def _calls(group: Sequence[JacobianCall]) -> JacobianCalls:
    """Return the calls of one function."""
    jacobian = group[0].jacobian
    places = tuple((d.at, d.signal, *d.bodies) for d in group)
    of_one_body = jacobian.of_bodies and len(jacobian.user_function.shape) == 1
    return JacobianCalls(jacobian.function, jacobian.of_bodies, of_one_body, jacobian.bodies, places)


@lru_cache(maxsize=SHARED)
def _shared_of_jacobians(calls: tuple[JacobianCalls, ...], shapes: tuple[tuple[int, ...], ...]) -> Any:
    """Return the cfunc that makes these calls, the same one for equal calls."""
    return composed([_jacobian(each) for each in calls], shapes)


def _jacobian(calls: JacobianCalls) -> Step:
    """Return the step that calls one function for all elements that use it;  at: (place in D, signal, bodies)."""
    at = np.array(calls.places, dtype=np.int64)
    if not calls.of_bodies:
        return _signal_jacobian(calls.function, at)
    return _body_jacobian(calls.function, at) if calls.of_one_body else _system_jacobian(calls.function, at, calls.bodies)


def _signal_jacobian(f: Any, at: Ints) -> Step:
    """Return the step of f(t, l, l_dot) -> two numbers."""

    def step(t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        for k in range(at.shape[0]):
            D[at[k, 0]], D[at[k, 0] + 1] = f(t, signals[at[k, 1], 0], signals[at[k, 1], 1])

    return step


def _body_jacobian(f: Any, at: Ints) -> Step:
    """Return the step of f(t, r, p, v, omega_bar) of one body -> four parts."""

    def step(t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        for k in range(at.shape[0]):
            row = y[WIDTH * at[k, 2] : WIDTH * at[k, 2] + WIDTH].copy()
            parts = f(t, row[0:3], row[EULER:VELOCITY], row[VELOCITY:OMEGA_BAR], row[OMEGA_BAR:WIDTH])
            p = row[EULER:VELOCITY].reshape(1, 4)
            M = D[at[k, 0] : at[k, 0] + 36].reshape(3, 12)
            put_part(M, 0, parts[0], p)
            put_part(M, 1, parts[1], p)
            put_part(M, 2, parts[2], p)
            put_part(M, 3, parts[3], p)

    return step


def _system_jacobian(f: Any, at: Ints, n: int) -> Step:
    """Return the step of f(t, r, p, v, omega_bar) of n bodies -> four parts."""

    def step(t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        for k in range(at.shape[0]):
            r, p, v, omega_bar = np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))
            for b in range(n):
                first = WIDTH * at[k, 2 + b]
                for a in range(3):
                    r[b, a], v[b, a], omega_bar[b, a] = y[first + a], y[first + VELOCITY + a], y[first + OMEGA_BAR + a]
                for a in range(4):
                    p[b, a] = y[first + 3 + a]
            parts = f(t, r, p.copy(), v, omega_bar)
            M = D[at[k, 0] : at[k, 0] + 72 * n * n].reshape(6 * n, 12 * n)
            put_part(M, 0, parts[0], p)
            put_part(M, 1, parts[1], p)
            put_part(M, 2, parts[2], p)
            put_part(M, 3, parts[3], p)

    return step


def put_part(M: Any, k: Any, given: Any, p: Any) -> Any:
    """Write part k of a value to the columns of its argument in M; NaN if it has another shape.  For compiled code only."""


def _put_part(M: Any, k: Any, given: Any, p: Any) -> Any:
    """Return the implementation for an array or for a number."""
    numba = _overloaded()
    types = numba.types
    if not isinstance(given, types.Array | types.Number):
        raise numba.errors.TypingError(f"a part of a compiled jacobian is {given}, must be an array, or 0 where it vanishes")
    return _put_array if isinstance(given, types.Array) else _put_zero


def _put_zero(M: Any, k: Any, given: Any, p: Any) -> Any:
    width = M.shape[1] // 4
    for m in range(M.shape[0]):
        for c in range(width):
            M[m, k * width + c] = 0.0 if given == 0 else np.nan


def _put_array(M: Any, k: Any, given: Any, p: Any) -> Any:
    width, n = M.shape[1] // 4, M.shape[1] // 12
    X = np.ascontiguousarray(given).reshape(given.size)
    if X.size == M.shape[0] * width:
        for m in range(M.shape[0]):
            for c in range(width):
                M[m, k * width + c] = X[m * width + c]
        return
    turned = k == TURN and X.size == 4 * M.shape[0] * n
    for m in range(M.shape[0]):
        for b in range(n):
            x0, x1, x2, x3 = np.nan, np.nan, np.nan, np.nan
            if turned:
                at = 4 * (m * n + b)
                x0, x1, x2, x3 = 0.5 * X[at], 0.5 * X[at + 1], 0.5 * X[at + 2], 0.5 * X[at + 3]
            e0, e1, e2, e3 = p[b, 0], p[b, 1], p[b, 2], p[b, 3]
            M[m, k * width + 3 * b] = -e1 * x0 + e0 * x1 + e3 * x2 - e2 * x3
            M[m, k * width + 3 * b + 1] = -e2 * x0 - e3 * x1 + e0 * x2 + e1 * x3
            M[m, k * width + 3 * b + 2] = -e3 * x0 + e2 * x1 - e1 * x2 + e0 * x3


@dataclass(frozen=True, eq=False)
class JacobianCallbacks:
    """All jacobians of one model.  shapes: of (y, signals, D, nothing)."""

    jacobian_calls: tuple[JacobianCall, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ((0,), (0, 2), (0,), (0,))

    @property
    def size(self) -> int:
        """Return how many numbers all of them return."""
        return sum(jacobian_call.size for jacobian_call in self.jacobian_calls)

    @property
    def compiled(self) -> bool:
        """Return whether all jacobians are @njit functions."""
        return all(is_jitted(d.jacobian.function) for d in self.jacobian_calls)

    def callback(self) -> Callback:
        """Return the callback for one run."""
        if not self.jacobian_calls:
            return NO_CALLBACK
        return CompiledCallback(self._entry) if self.compiled else Callback(self.call, self.shapes)

    @cached_property
    def _entry(self) -> Any:
        """Return the compiled callback, made once for a model."""
        return compile_jacobian_callbacks(self.jacobian_calls, self.shapes)

    def call(self, t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        """Call every jacobian, and write the values into D."""
        for jacobian_call in self.jacobian_calls:
            jacobian = jacobian_call.jacobian
            arguments = arguments_of(jacobian.user_function, jacobian_call.bodies, jacobian_call.signal, y, signals)
            D[jacobian_call.at : jacobian_call.at + jacobian_call.size] = jacobian.call(t, *arguments).ravel()

    def error_of(self, pack: Pack) -> BaseException | None:
        """Return what stopped the run of `pack`, if a jacobian did: its exception, or the error for what a compiled one returned."""
        _, place, t = workspace_array(pack, "STATUS")[0, :3].tolist()
        if place != 1:
            return None
        error = pack.derive.take_error()
        if error is not None or not self.compiled:
            return error or KeyboardInterrupt()  # lost between compiled code and Python, see `compiled.ffi`
        y, signals = workspace_array(pack, "Y_STOPPED")[0].copy(), workspace_array(pack, "SIGNALS")
        try:
            self.call(t, y, signals, np.zeros(self.size), np.zeros(0))
        except Exception as error:  # noqa: BLE001  handed on, and raised where all errors of a run are
            return error
        return None
