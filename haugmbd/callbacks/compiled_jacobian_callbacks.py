r"""Calls of the declared jacobians without Python: one Numba cfunc, composed of the @njit functions of a model.

    callback(t, y, signals, D, nothing, succeeded):   for each function: for each element that uses it: D[at ...] <- its parts

Columns dr, dpi_bar, dv, domega_bar, as in `forces.jacobian`. A part is an array or 0; its type decides when the callback is compiled.
Models that call the same functions in the same places share the machine code, as those of `compiled_force_callbacks` do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from haugmbd.callbacks.compiled_force_callbacks import SHARED, composed, numba, types
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.forces.jacobian import TURN
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.workspace.layout import WIDTH

if TYPE_CHECKING:
    from haugmbd.callbacks.calls import JacobianCall

Step = Callable[[float, Array, Array, Array, Array], None]


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
    return _shared(tuple(map(_calls, groups.values())), tuple(shapes))


def _calls(group: Sequence[JacobianCall]) -> JacobianCalls:
    """Return the calls of one function."""
    jacobian = group[0].jacobian
    places = tuple((d.at, d.signal, *d.bodies) for d in group)
    of_one_body = jacobian.of_bodies and len(jacobian.user_function.shape) == 1
    return JacobianCalls(jacobian.function, jacobian.of_bodies, of_one_body, jacobian.bodies, places)


@lru_cache(maxsize=SHARED)
def _shared(calls: tuple[JacobianCalls, ...], shapes: tuple[tuple[int, ...], ...]) -> Any:
    """Return the cfunc that makes these calls, the same one for equal calls."""
    return composed([_step(each) for each in calls], shapes)


def _step(calls: JacobianCalls) -> Step:
    """Return the step that calls one function for all elements that use it;  at: (place in D, signal, bodies)."""
    at = np.array(calls.places, dtype=np.int64)
    if not calls.of_bodies:
        return _signal_step(calls.function, at)
    return _body_step(calls.function, at) if calls.of_one_body else _system_step(calls.function, at, calls.bodies)


def _signal_step(f: Any, at: Ints) -> Step:
    """Return the step of f(t, l, l_dot) -> two numbers."""

    def step(t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        for k in range(at.shape[0]):
            D[at[k, 0]], D[at[k, 0] + 1] = f(t, signals[at[k, 1], 0], signals[at[k, 1], 1])

    return step


def _body_step(f: Any, at: Ints) -> Step:
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


def _system_step(f: Any, at: Ints, n: int) -> Step:
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


@numba.extending.overload(put_part)  # type: ignore[untyped-decorator]
def _put_part(M: Any, k: Any, given: Any, p: Any) -> Any:
    """Return the implementation for an array or for a number."""
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
