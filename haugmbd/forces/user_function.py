r"""Values of a force element: a number, a function of time or a function of the state.

    number                      a constant driver
    f(t)                        a driver, if it can be recorded on a tape: no Python at run time
    f(t) otherwise, f(t, ...)   a UserFunction, called at every evaluation; its value is written to the place of a driver

The number of required arguments decides which function it is: those that are positional and have no default.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.bodies.validation import masked, numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.numba_names import is_jitted
from haugmbd.drivers import Constant, Driver, Expression, Unusable, as_driver, driver_of, note_what_can_change
from haugmbd.drivers.driver import LONGEST_REPR, shown
from haugmbd.drivers.program import CONSTANT, PYTHON, Program
from haugmbd.errors import Fault, SimulationError

TIME = "t"
BODY = "t, r, p, v, omega_bar"
LENGTH = "t, l, l_dot"
ANGLE = "t, theta, theta_dot"
COORDINATE = "t, q, qd"
SCALARS = (LENGTH, ANGLE, COORDINATE)
SHAFT = "t, angle, speed"
"""Argument lists of a function; BODY: r (3,), p (4,), v (3,), omega_bar (3,) of one body, or (n, .) of several.
COORDINATE: q and qd of a joint are numbers, (n,) of several coordinates."""


class VectorDriver(Driver):
    """A driver that may stand for a vector, such as an output of a block."""

    @property
    def may_be_vector(self) -> bool:
        """Return whether it may stand for a vector; one number of an output does not."""
        return True

    @abstractmethod
    def parts(self, n: int) -> tuple[Driver, ...]:
        """Return the drivers of its n numbers."""


class ReturnedValue(Driver):
    """A place in the driver table for the value of a user's function; NaN until it is called."""

    def values(self, t: ArrayLike) -> Array:
        """Return NaN: the value does not depend on time alone."""
        return np.full((*np.shape(t), 3), np.nan)

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault: the element checks the function."""
        return ()

    def fault_at(self, t: float) -> Fault | None:
        """Return no fault: the element checks the function."""
        return None

    def program(self) -> Program:
        """Return a constant, which is overwritten at each evaluation."""
        return Program(CONSTANT)


class UserFunction(NamedTuple):
    """A function of the user that is called at each evaluation: its element (`where`), its name (`label`), its arguments (`form`).

    shape: of its value, () for a scalar, (3,) for a vector, (n, 6) for generalized forces of n bodies
    constants: its last argument x, if it has one more than `form` says
    """

    where: str
    label: str
    function: Callable[..., Any]
    form: str
    shape: tuple[int, ...]
    constants: tuple[float, ...] | None = None

    @property
    def words(self) -> str:
        """Return the call as the user wrote it: actuator(t, l, l_dot)."""
        return f"{self.label}({self.form}{'' if self.constants is None else ', x'})"

    def call(self, t: float, *arguments: Any) -> Array:
        """Return the value, finite numbers of `shape`.

        Raise SimulationError for any other value; an exception of the function is raised unchanged, with a note.
        """
        if self.constants is not None:
            arguments = (*arguments, np.array(self.constants))
        try:
            given = self.function(t) if self.form == TIME else self.function(t, *arguments)
        except Exception as error:
            error.add_note(f"raised by {self.words} of {self.where} at t = {t:.9g} s")
            raise
        try:
            value = np.array(None) if masked(given) else np.asarray(given)
        except ValueError:  # a list of lists that are not of one length
            value = np.array(None)
        if value.shape == () and self.shape == (1,):
            value = value.reshape(1)
        if value.shape == self.shape and value.dtype.kind in "iuf" and all(map(isfinite, value.ravel().tolist())):
            return value
        raise SimulationError(f"{self.where}: {self.unusable(given)} at t = {t:.9g} s, must be {self.wanted}")

    def unusable(self, given: Any) -> str:
        """Return what is wrong with a value."""
        array = numbers(given)
        if array is not None and array.shape == self.shape:
            return f"{self.words} returns {array.tolist()}"
        short = isinstance(given, tuple | list) and len(repr(given)) <= LONGEST_REPR
        return f"{self.words} returns {given if short else shown(given)}"

    @property
    def wanted(self) -> str:
        """Return a text on what the value must be."""
        return "a finite number" if self.shape == () else f"finite numbers of shape {self.shape}"

    def faults_at(self, t: float, *arguments: Any) -> tuple[Fault, ...]:
        """Return the faults of the value at this time; the function is called once."""
        try:
            self.call(t, *arguments)
        except SimulationError as error:
            return (Fault(self.where, error.message.removeprefix(f"{self.where}: "), f"Let {self.label} return {self.wanted}."),)
        except Exception as error:  # noqa: BLE001  a user's function may raise anything
            what = f"{self.words} raises {type(error).__name__} at t = {t:.9g} s: {error}"
            return (Fault(self.where, what, "Try the function by itself with these arguments."),)
        return ()


class Value(NamedTuple):
    """A number (1 driver) or a vector (3 drivers) of a force element, and the user's function that returns it, if there is one."""

    drivers: tuple[Driver, ...]
    user_function: UserFunction | None = None

    @property
    def is_nothing(self) -> bool:
        """Return whether it is zero at all times."""
        return self.user_function is None and all(isinstance(driver, Constant) and driver.value == 0.0 for driver in self.drivers)

    def sampled(self, t: Array, *arguments: Array) -> Array:
        """Return the value at times t (nt,), (nt,) or (nt, 3); `arguments` have nt rows."""
        if self.user_function is None:
            columns = [driver.values(t)[..., 0] for driver in self.drivers]
            return columns[0] if len(columns) == 1 else np.stack(columns, axis=-1)
        values = [self.user_function.call(float(s), *(a[k].copy() for a in arguments)) for k, s in enumerate(t)]
        return np.array(values, dtype=np.float64).reshape(len(t), *self.user_function.shape)


def read_value(faults: list[Fault], where: str, label: str, given: Any, form: str, shape: tuple[int, ...], unit: str) -> Value:
    """Return the Value of a number or vector (`shape` () or (3,)), a function of t, or a function of `form`.

    Faults are added for anything else.
    """
    if callable(given) and not isinstance(given, type):
        return _read_function(faults, where, label, given, form, shape)
    remedy = f"Give {_kind(shape, unit)}, a function {label}(t), or a function {label}({form})."
    law = given.law(tuple(form.split(", "))) if isinstance(given, Expression) and shape == () and form in SCALARS else None
    if law is not None:
        return _called(where, label, law, form, shape)
    parts = [given] if shape == () else _three(given)
    drivers = tuple(as_driver(part) for part in parts)
    if len(parts) != max(1, *shape, 1):
        faults.append(Fault(where, f"{label} is {shown(given)}", remedy))
        return Value((Constant(np.nan),) * max(1, *shape, 1))
    if _without_derivatives(parts, drivers):
        return _called(where, label, PartByPart(tuple(parts)), TIME, shape)
    for driver in drivers:
        if isinstance(driver, Expression):  # its parameters may be known later: `ForceElement.faults` reports it
            continue
        simple = isinstance(driver, Constant | Unusable)
        faults.extend(Fault(where, f"{label}: {f.what}", remedy if simple else f.remedy) for f in driver.faults())
    return Value(drivers)


def _kind(shape: tuple[int, ...], unit: str) -> str:
    return f"a number [{unit}]" if shape == () else f"{'three' if shape == (3,) else shape[0]} numbers [{unit}]"


def _three(given: Any) -> list[Any]:
    """Return the parts of a vector, each a number or a driver; [] if it has no parts."""
    if isinstance(given, VectorDriver):
        return list(given.parts(3)) if given.may_be_vector else []
    if isinstance(given, np.ndarray) and given.ndim != 1:
        return []
    return list(given) if isinstance(given, tuple | list | np.ndarray) else []


def _read_function(
    faults: list[Fault], where: str, label: str, function: Callable[..., Any], form: str, shape: tuple[int, ...]
) -> Value:
    """Return a function of time as drivers if compiled code can evaluate it; any other function as a UserFunction."""
    size = max(1, *shape, 1)
    needed = arguments_needed(function)
    if needed == 1:
        drivers = _recorded(function, size)
        if drivers:
            return Value(drivers)
        return _called(where, label, function, TIME, shape)
    if needed != len(form.split(",")):
        faults.append(wrong_arguments(where, label, needed, f"{label}(t) or {label}({form})"))
        return Value((Constant(np.nan),) * size)
    return _called(where, label, function, form, shape)


def _called(where: str, label: str, function: Callable[..., Any], form: str, shape: tuple[int, ...]) -> Value:
    """Return the Value of a function that is called at each evaluation."""
    return Value(tuple(ReturnedValue() for _ in range(max(1, *shape, 1))), UserFunction(where, label, function, form, shape))


def wrong_arguments(where: str, label: str, needed: int | None, choices: str) -> Fault:
    """Return the fault of a function with neither of the argument lists."""
    return Fault(where, f"{label} {arguments_text(needed)}", f"Give {choices}; arguments with a default are not counted.")


def arguments_text(needed: int | None) -> str:
    """Return which arguments a function has, as text."""
    if needed is None:
        return "does not say how many arguments it needs"
    return f"is a function of {needed or 'no'} argument{'' if needed == 1 else 's'}"


def is_compiled(function: Any) -> bool:
    """Return whether a function is one of numba.njit."""
    return bool(is_jitted(function))


def plain_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function behind an @njit function; any other unchanged."""
    given: Any = function
    return given.py_func if is_jitted(given) else given  # type: ignore[no-any-return]


def arguments_needed(function: Callable[..., Any]) -> int | None:
    """Return the number of positional arguments without a default; None for a function of *args."""
    if isinstance(function, np.ufunc):
        return function.nin
    try:
        parameters = inspect.signature(plain_function(function)).parameters.values()
    except (TypeError, ValueError):  # some functions of C have no signature
        return None
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return len(needed) if needed or not any(p.kind == p.VAR_POSITIONAL for p in parameters) else None


def _recorded(function: Callable[..., Any], size: int) -> tuple[Driver, ...]:
    """Return the drivers of a function of t, () if compiled code cannot evaluate all of them."""
    f = plain_function(function)
    parts = [f] if size == 1 else [Component(f, k, size) for k in range(size)]
    drivers = tuple(driver_of(part) for part in parts)
    if any(driver.faults() or driver.program().kind == PYTHON for driver in drivers):
        return ()
    note_what_can_change(drivers)
    return drivers


def _without_derivatives(parts: list[Any], drivers: tuple[Driver, ...]) -> bool:
    """Return whether a part is a function of t that has no 2-jet, such as np.interp: a force needs its value alone, so it is called.

    Outputs of blocks and expressions stay drivers, whose faults are reported.
    """
    read_by_time = all(not isinstance(driver, VectorDriver | Expression | Unusable) for driver in drivers)
    functions = (driver for part, driver in zip(parts, drivers, strict=True) if _is_function_of_time(part))
    return read_by_time and any(driver.faults() for driver in functions)


def _is_function_of_time(part: Any) -> bool:
    """Return whether it is a function of one argument, and no driver."""
    return callable(part) and not isinstance(part, type | Driver) and arguments_needed(part) == 1


@dataclass(frozen=True)
class PartByPart:
    """A vector function of t whose parts are numbers, drivers and functions of t."""

    parts: tuple[Any, ...]

    def __call__(self, t: float) -> list[Any]:
        return [part.values(t)[0] if isinstance(part, Driver) else part(t) if callable(part) else part for part in self.parts]


@dataclass(frozen=True)
class Component:
    """Component k of a vector function f(t) -> (size,). It is at module level, so that it can be pickled if f can."""

    f: Callable[[Any], Any]
    k: int
    size: int

    def __call__(self, t: Any) -> Any:
        vector = self.f(t)
        if len(vector) != self.size:
            raise ValueError(f"{self.size} numbers are needed")
        return vector[self.k]
