"""The declared derivative of a user's function, which replaces differences in implicit steps.

    actuator(t, l, l_dot)               jacobian(t, l, l_dot) -> df/dl, df/dl_dot
    force(t, r, p, v, omega_bar)        jacobian(t, r, p, v, omega_bar) -> dF/dr, dF/dp, dF/dv, dF/domega_bar

A jacobian returns a tuple with one part for each argument after t. The shape of a part is that of the function's value, followed by
that of the argument; a part that vanishes is 0. Automatic differentiation returns this form. In place of dF/dp, (..., 4), the
derivative by a small rotation about the body's axes is accepted, (..., 3):

    dp = G^T dpi_bar / 2,   dF/dpi_bar = dF/dp G^T / 2,   and  d(A a)/dpi_bar = -A a~.

The parts are joined to one matrix:  rows of the value;  columns dr, dpi_bar, dv, domega_bar, each of all bodies;  or l, l_dot.
Source: Haug (2021), spatial kinematics: Euler parameters and the matrix G.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault, SimulationError
from haugmbd.forces.user_function import BODY, TIME, UserFunction, Value, arguments_needed, arguments_text
from haugmbd.math import euler_parameters

TURN = 1
"""Index of the argument of a body's function that is a rotation."""


class Jacobian(NamedTuple):
    """A declared derivative: the element, the derivative, and the function that it belongs to."""

    where: str
    function: Callable[..., Any]
    user_function: UserFunction

    @property
    def words(self) -> str:
        """Return the call as the user wrote it."""
        return f"jacobian({self.user_function.form})"

    @property
    def of_bodies(self) -> bool:
        """Return whether the function depends on states of bodies; otherwise it depends on two numbers."""
        return self.user_function.form == BODY

    @property
    def is_of_generalized_forces(self) -> bool:
        """Return whether the function returns generalized forces (n, 6) of n bodies."""
        return len(self.user_function.shape) == 2

    @property
    def bodies(self) -> int:
        """Return the number of bodies of one call of the function."""
        return self.user_function.shape[0] if len(self.user_function.shape) == 2 else 1

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of the matrix."""
        return int(np.prod(self.user_function.shape)), 12 * self.bodies if self.of_bodies else 2

    def call(self, t: float, *arguments: Any) -> Array:
        """Return the matrix. Raise SimulationError for an unusable value; an exception of the user's function gets a note."""
        p = np.array(arguments[TURN]) if self.of_bodies else np.zeros(0)
        try:
            given = self.function(t, *arguments)
        except Exception as error:
            error.add_note(f"raised by {self.words} of {self.where} at t = {t:.9g} s")
            raise
        found = [self._part(k, part, p) for k, part in enumerate(given)] if _is_tuple(given, len(self._parts())) else [None]
        if any(part is None or not np.isfinite(part).all() for part in found):
            raise SimulationError(
                f"{self.where}: {self.words} returns {self._shown(given)} at t = {t:.9g} s, must be {self.wanted}"
            )
        return np.concatenate([part for part in found if part is not None], axis=1)

    def _parts(self) -> list[tuple[str, tuple[int, ...]]]:
        """Return name and shape of each argument after t."""
        names = self.user_function.form.split(", ")[1:]
        if not self.of_bodies:
            return [(name, ()) for name in names]
        each = () if len(self.user_function.shape) == 1 else (self.bodies,)
        return [(name, (*each, 4 if k == TURN else 3)) for k, name in enumerate(names)]

    def _part(self, k: int, given: Any, p: Array) -> Array | None:
        """Return part k as a matrix with the columns of its argument, dpi_bar for p; None if it has another shape."""
        rows, columns = self.shape
        array = numbers(given)
        if array is None:
            return None
        if array.shape == () and self.of_bodies:
            return np.zeros((rows, columns // 4)) if array == 0.0 else None
        wanted = (*self.user_function.shape, *self._parts()[k][1])
        if self.of_bodies and k == TURN and array.shape == wanted:
            half = 0.5 * euler_parameters.G(p.reshape(-1, 4))
            return np.asarray(np.einsum("mbc,bac->mba", array.reshape(rows, self.bodies, 4), half).reshape(rows, columns // 4))
        if self.of_bodies and k == TURN:
            wanted = (*wanted[:-1], 3)
        return array.reshape(rows, -1) if array.shape == wanted else None

    @property
    def wanted(self) -> str:
        """Return a text on what the value must be."""
        S = self.user_function.shape
        if not self.of_bodies:
            return "two finite numbers, the derivatives by " + " and ".join(name for name, _ in self._parts())
        parts = [f"{name} {(*S, *shape)}" for name, shape in self._parts()]
        turn = (*S, *self._parts()[TURN][1][:-1], 3)
        return f"a tuple of the derivatives by {', '.join(parts)} (or by a turn about the body's axes, {turn}), finite; or 0 for a part"

    def _shown(self, given: Any) -> str:
        """Return a short text of a value."""
        if not isinstance(given, tuple | list):
            return shown(given)
        return f"({', '.join(shown(part) for part in given)})"

    def faults_at(self, t: float, *arguments: Any) -> tuple[Fault, ...]:
        """Return the faults of the value at this time, apart from its numbers; the function is called once."""
        try:
            self.call(t, *arguments)
        except SimulationError as error:
            what, remedy = error.message.removeprefix(f"{self.where}: ").split(", must be ", 1)
            return (Fault(self.where, what, f"Let jacobian return {remedy}."),)
        except Exception as error:  # noqa: BLE001  a user's function may raise anything
            what = f"{self.words} raises {type(error).__name__} at t = {t:.9g} s: {error}"
            return (Fault(self.where, what, "Try the function by itself with these arguments."),)
        return ()


def _is_tuple(given: Any, size: int) -> bool:
    return isinstance(given, tuple | list) and len(given) == size


def read_jacobian(faults: list[Fault], where: str, label: str, given: Any, value: Value) -> Jacobian | None:
    """Return the derivative of the function in `value`, called `label`; None, and faults, if it is not one."""
    if given is None:
        return None
    user_function = value.user_function
    if user_function is None or user_function.form == TIME:
        what = f"a jacobian is given, but {label} does not depend on the state"
        faults.append(Fault(where, what, f"Leave jacobian out, or give {label} as a function of the state."))
        return None
    if not callable(given) or isinstance(given, type):
        faults.append(Fault(where, f"jacobian is {shown(given)}, must be a function", f"Give jacobian({user_function.form})."))
        return None
    needed, wanted = arguments_needed(given), len(user_function.form.split(","))
    if needed != wanted:
        what = f"jacobian {arguments_text(needed)}"
        faults.append(Fault(where, what, f"Give jacobian({user_function.form}); arguments with a default are not counted."))
        return None
    return Jacobian(where, given, user_function)


def copies(arguments: Sequence[Any]) -> list[Any]:
    """Return copies of the arguments of a function, so that it may keep or change them."""
    return [np.array(a) if isinstance(a, np.ndarray) and a.ndim else float(a) for a in arguments]


# Comparison of a declared jacobian with differences of its function, once, when they are read: at the modelled state and some
# nearby.
#
#     dF/dx = (8 (F_1 - F_-1) - (F_2 - F_-2)) / (12 h) + O(h^4),   F_k = F(x + k h)        x = l, l_dot;  r, v, omega_bar
#     about axis a of a body:   p o exp(k h e_a)                                            and one-sided, because F may have a kink nearby
#
# No step fits all functions: the nearest difference counts, as it does for drivers. The differences are used for this comparison only.
# Source: Fornberg, Math. Comp. 51 (1988) 699-706; Dennis, Schnabel, Numerical Methods for Unconstrained Optimization, sec. 5.4.

NEARBY = 3
"""Number of states besides the modelled one; they reveal an entry that is right only at rest, or only for an unturned body."""
SPREAD, AT_LEAST = 0.05, 0.1
"""Displacement of these states: this part of the size of an argument, which is at least 0.1 (m, m/s, rad/s); as many rad."""

TOL = 1e-6
"""Allowed error, relative to the largest entry by the same argument in the same row; above truncation and rounding."""
NOISE = 1e-12
"""Allowed error, relative to the largest entry in the row: cancellation in a stiff force."""
STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Steps, relative to the size of an argument, which is at least 1."""
ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Rounding of the force, relative to it; a difference divides it by the step."""

ONE_SIDED = np.array([-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4])
STENCILS = (
    (np.array([-2, -1, 1, 2]), np.array([1.0, -8.0, 8.0, -1.0]) / 12.0),
    (np.arange(5), ONE_SIDED),
    (-np.arange(5), -ONE_SIDED),
)


def disagreement(jacobian: Jacobian, t: float, arguments: Sequence[Any]) -> tuple[Fault, ...]:
    """Return a fault for the first entry in which a jacobian and its function disagree; () if they agree."""
    for k, state in enumerate(nearby(jacobian, arguments)):
        try:
            given = jacobian.call(t, *copies(state))
        except (SimulationError, ArithmeticError, ValueError):  # out of the function's range; the modelled state was tried before
            continue
        for column in range(given.shape[1]):
            nearest = _nearest(jacobian, t, state, column, given)
            if nearest is not None:
                place = "the modelled state" if k == 0 else "a state near the modelled one"
                return (_fault(jacobian, t, column, given, nearest, place),)
    return ()


def nearby(jacobian: Jacobian, arguments: Sequence[Any]) -> list[list[Any]]:
    """Return the modelled arguments, and some displaced ones, the same at every call."""
    rng, found = np.random.default_rng(4), [copies(arguments)]
    for _ in range(NEARBY):
        state = copies(arguments)
        for k, x in enumerate(state):
            if jacobian.of_bodies and k == TURN:
                p = x.reshape(-1, 4)
                p[:] = euler_parameters.product(p, euler_parameters.exponential(SPREAD * rng.normal(size=(len(p), 3))))
            else:
                state[k] = x + SPREAD * max(float(np.linalg.norm(x)), AT_LEAST) * rng.normal(size=np.shape(x))
        found.append(copies(state))
    return found


def moved(jacobian: Jacobian, arguments: Sequence[Any], column: int, h: float) -> list[Any]:
    """Return the arguments with the coordinate of a column changed by h."""
    state = copies(arguments)
    if not jacobian.of_bodies:
        state[column] += h
        return state
    part, place = divmod(column, 3 * jacobian.bodies)
    if part == TURN:
        p = state[TURN].reshape(-1, 4)[place // 3]
        p[:] = euler_parameters.product(p, euler_parameters.exponential(h * np.eye(3)[place % 3]))
    else:
        state[part].reshape(-1)[place] += h
    return state


def _nearest(jacobian: Jacobian, t: float, state: Sequence[Any], column: int, given: Array) -> tuple[int, float, float] | None:
    """Return row, difference and allowed error of the entry of a column with the largest error; None if all agree."""
    part = column // (given.shape[1] // 4) if jacobian.of_bodies else column
    width = 3 * jacobian.bodies if jacobian.of_bodies else 1
    scale = np.abs(given[:, part * width : (part + 1) * width]).max(axis=1)
    allowed = TOL * scale + NOISE * np.abs(given).max(axis=1)
    size = 1.0 if jacobian.of_bodies and part == TURN else max(1.0, float(np.linalg.norm(state[part])))
    best, open_rows = np.full(len(given), np.inf), np.ones(len(given), dtype=bool)
    estimate, limit = np.zeros(len(given)), allowed
    for offsets, weights in STENCILS:
        for step in STEPS:
            h = step * size
            F = _displaced_values(jacobian, t, state, column, h * np.asarray(offsets, dtype=np.float64))
            if F is None:
                continue
            found, free = weights @ F / h, allowed + ROUNDING * np.abs(F).max(axis=0) / h
            off = np.abs(found - given[:, column])
            nearer = off - free < best
            best[nearer], estimate[nearer], limit[nearer] = (off - free)[nearer], found[nearer], free[nearer]
            open_rows &= off > free
            if not open_rows.any():
                return None
    rows = np.flatnonzero(open_rows & np.isfinite(best))
    if not len(rows):
        return None
    row = int(rows[np.argmax(best[rows])])
    return row, float(estimate[row]), float(limit[row])


def _displaced_values(jacobian: Jacobian, t: float, state: Sequence[Any], column: int, shifts: Array) -> Array | None:
    """Return the function's values (k, rows) for shifted coordinates; None if one of them is unusable."""
    values = []
    for shift in shifts:
        try:
            values.append(jacobian.user_function.call(t, *moved(jacobian, state, column, float(shift))).ravel())
        except Exception:  # noqa: BLE001  a user's function may raise anything, and need not be defined here
            return None
    return np.array(values, dtype=np.float64)


def _fault(jacobian: Jacobian, t: float, column: int, given: Array, nearest: tuple[int, float, float], place: str) -> Fault:
    row, estimate, limit = nearest
    label, entry = jacobian.user_function.label, float(given[row, column])
    derivative = f"d {_component(jacobian, row)} / d {_argument(jacobian, column)}"
    what = (
        f"the jacobian entry {derivative} is {entry:.9g} at {place} and t = {t:.9g} s, and "
        f"differences of {label} give {estimate:.9g}: off by {abs(entry - estimate):.3g} (allowed {limit:.3g})"
    )
    remedy = f"Correct jacobian or {label}; or leave jacobian out: {label} is then differenced."
    return Fault(jacobian.where, what, remedy)


def _component(jacobian: Jacobian, row: int) -> str:
    """Return the name of an entry of the value: force[1], force[0, 3], actuator."""
    shape, label = jacobian.user_function.shape, jacobian.user_function.label
    return label + (str([int(k) for k in np.unravel_index(row, shape)]) if shape else "")


def _argument(jacobian: Jacobian, column: int) -> str:
    """Return the name of a coordinate: r[0, 2], pi_bar[1] (a turn about the body's y axis), l."""
    names = jacobian.user_function.form.split(", ")[1:]
    if not jacobian.of_bodies:
        return names[column]
    part, place = divmod(column, 3 * jacobian.bodies)
    index = [place] if len(jacobian.user_function.shape) == 1 else [place // 3, place % 3]
    if part == TURN:
        return f"pi_bar{index} (a turn about the body's own {'xyz'[place % 3]})"
    return f"{names[part]}{index}"
