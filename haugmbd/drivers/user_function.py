r"""Calls of a user's function of time, and their faults: which function, at which t, and what it returned."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from haugmbd.compiled.numba_names import is_jitted
from haugmbd.drivers.autodiff.jet import Jet
from haugmbd.drivers.autodiff.operators import NotAFloat
from haugmbd.drivers.autodiff.tape_machine import Floats
from haugmbd.drivers.driver import is_real_scalar, real_or_nan, shown, shown_jet
from haugmbd.errors import Fault, HaugmbdError

WITH_NUMPY = (
    "Write f with NumPy functions of t (np.sin, np.where, ...), or give three functions (f, f_dot, f_ddot), or QuinticSpline(t, f)."
)


class FunctionFault(HaugmbdError):
    """Error of a user's function that did not return a finite real number at some time; `fault` has the reason."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


def plain(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the Python function behind a Numba function, because compiled code does not accept a Jet."""
    given: Any = fn
    python: Callable[[Any], Any] = given.py_func if is_jitted(given) else given
    return python


def float_at(fn: Callable[[Any], Any], t: float, name: str) -> float:
    """Return fn(t) as a finite float. Raise FunctionFault if it is not one."""
    return _finite(_called(fn, t, t, name), t, name)


def jet_at(fn: Callable[[Any], Any], t: float) -> Floats:
    """Return f, f', f'' of fn at one t, shape (3,), by its 2-jet. Raise FunctionFault if fn does not return a finite real number."""
    y = _called(plain(fn), Jet.variable(t), t, "f")
    if not isinstance(y, Jet):
        return np.array([_finite(y, t, "f"), 0.0, 0.0])
    f: Floats = y.stacked()
    if f.shape != (3,):
        raise _returned(y.f, t, "f")
    if not np.all(np.isfinite(f)):
        what = f"(f, f', f'') is {shown_jet(f)} at t = {t:.9g} s"
        raise FunctionFault(Fault("driver", what, "All three must be finite wherever the driver is used."))
    return f


def row_or_nan(row: Callable[[float], Floats], t: float) -> Floats:
    """Return row(t), or NaN of shape (3,) if a function does not return a finite real number."""
    try:
        return row(t)
    except FunctionFault:
        return np.full(3, np.nan)


def first_fault(row: Callable[[float], Floats], times: Floats) -> tuple[Fault, ...]:
    """Return the fault at the first of the times that has one; else nothing."""
    try:
        for t in times:
            row(float(t))
    except FunctionFault as error:
        return (error.fault,)
    return ()


def callable_faults(fn: Any, name: str) -> tuple[Fault, ...]:
    """Return a fault if fn is not a function."""
    if callable(fn):
        return ()
    return (Fault("driver", f"{name} is {shown(fn)}, must be a function of t", "Give a function: lambda t: np.sin(t)."),)


def interval_faults(check: Any) -> tuple[Fault, ...]:
    """Return a fault if `check` is not an interval of time."""
    is_pair = isinstance(check, tuple | list) and len(check) == 2 and all(is_real_scalar(x) and np.isfinite(x) for x in check)
    if is_pair and check[0] < check[1]:
        return ()
    return (Fault("driver", f"check is {shown(check)}, must be two increasing times [s]", "Give check=(t_start, t_end)."),)


def _called(fn: Callable[[Any], Any], argument: Any, t: float, name: str) -> Any:
    """Return fn(argument). Raise FunctionFault for any exception of fn."""
    try:
        with np.errstate(all="ignore"):
            return fn(argument)
    except NotAFloat as error:
        what = f"{name}(t) converts t to a plain float, as the functions of `math` do, and would lose the derivatives"
        raise FunctionFault(Fault("driver", what, f"Use {_numpy_names(fn)}. {WITH_NUMPY}")) from error
    except Exception as error:  # noqa: BLE001 - a user's function may raise anything
        what = f"{name}(t) raises {type(error).__name__} at t = {t:.9g} s: {error}"
        raise FunctionFault(Fault("driver", what, WITH_NUMPY)) from error


def _numpy_names(fn: Callable[[Any], Any]) -> str:
    """Return the NumPy functions to use for those of `math` that fn names."""
    used = fn.__code__.co_names if isinstance(fn, FunctionType) else ()
    names = [name for name in used if callable(vars(math).get(name))]
    return " and ".join(f"np.{name} instead of math.{name}" for name in names) or "np.cos instead of math.cos, and so on"


def _finite(y: Any, t: float, name: str) -> float:
    value = real_or_nan(y)
    if not np.isfinite(value):
        raise _returned(y, t, name)
    return value


def _returned(y: Any, t: float, name: str) -> FunctionFault:
    what = f"{name}(t) returns {shown(y)} at t = {t:.9g} s, must be a finite real number"
    return FunctionFault(Fault("driver", what, f"Let {name} return one finite real number for every t of the simulation."))
