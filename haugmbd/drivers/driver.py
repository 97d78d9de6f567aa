r"""A driver: a prescribed function of time f(t) with its exact first and second derivatives; the right-hand sides use all three.

    Phi = ... - f(t),   nu = ... + f'(t),   gamma = ... + f''(t)

A driver is frozen data. Its constructor does not raise: `faults()` returns its faults. `values(t)` returns (f, f', f'').
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.bodies.validation import masked
from haugmbd.drivers.autodiff.tape_machine import Floats
from haugmbd.drivers.program import CONSTANT, PYTHON, Program
from haugmbd.errors import Fault

ACCEPTED = "Give a number, a function of t written with NumPy, three functions (f, f_dot, f_ddot), or a driver."
LONGEST_REPR = 60  # characters of a wrong value that are shown


class Driver(ABC):
    """Base class of drivers. A subclass defines `values` and `faults`, and `program` if compiled code can evaluate it."""

    @abstractmethod
    def values(self, t: ArrayLike) -> Floats:
        """Return f, f', f'' at times t [s] of any shape (...), shape (..., 3); NaN if they cannot be evaluated (see `fault_at`)."""

    @abstractmethod
    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this driver; () if there is none."""

    def faults_of_motion(self) -> tuple[Fault, ...]:
        """Return the faults of this driver where it prescribes a motion, which needs f' and f'', too."""
        return self.faults()

    def program(self) -> Program:
        """Return the program for compiled code; here an empty one, and `values` is called from Python."""
        return Program(PYTHON)

    def at_start(self) -> float:
        """Return f(0); NaN if it has no value there."""
        return float(np.ravel(self.values(0.0))[0])

    @property
    def reads_state(self) -> bool:
        """Return whether the driver follows the state of the mechanism, so that `values` does not know it."""
        return False

    @property
    def t_range(self) -> tuple[float, float]:
        """Return the first and last time [s] at which the driver is defined."""
        return -np.inf, np.inf

    def faults_between(self, t_start: float, t_end: float) -> tuple[Fault, ...]:
        """Return the faults of a simulation from t_start to t_end [s] with this driver, such as a range that it leaves; () if none."""
        t_min, t_max = self.t_range
        if t_min <= t_start and t_end <= t_max:
            return ()
        what = f"is given for t = {t_min:.9g} .. {t_max:.9g} s, and the simulation runs from {t_start:.9g} to {t_end:.9g} s"
        return (Fault("driver", what, "Give a table over the whole interval, or shorten the simulation."),)

    def __str__(self) -> str:
        """Return the driver in one sentence."""
        return "f(t)"

    def fault_at(self, t: float) -> Fault | None:
        """Return the reason why `values(t)` is not finite at this time [s]; None if it is finite."""
        f = self.values(t)
        if np.all(np.isfinite(f)):
            return None
        return Fault("driver", f"(f, f', f'') is {shown_jet(f)} at t = {t:.9g} s", "All three must be finite.")


@dataclass(frozen=True, eq=False)
class Constant(Driver):
    """The constant driver f(t) = value.

    value: a real number; NaN, with a fault, if something else was given.
    """

    value: float
    _: KW_ONLY
    _faults: tuple[Fault, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        value = real_or_nan(self.value)
        if not np.isfinite(value):
            fault = Fault("driver", f"the constant is {shown(self.value)}, must be a finite real number", ACCEPTED)
            object.__setattr__(self, "_faults", (fault,))
        object.__setattr__(self, "value", value)

    def __str__(self) -> str:
        """Return the number."""
        return f"{self.value:g}"

    def values(self, t: ArrayLike) -> Floats:
        """Return (value, 0, 0) at every t."""
        F = np.zeros((*np.shape(t), 3))
        F[..., 0] = self.value
        return F

    def faults(self) -> tuple[Fault, ...]:
        """Return a fault if the value is not a finite real number."""
        return self._faults

    def program(self) -> Program:
        """Return the number as a program."""
        return Program(CONSTANT, value=self.value)


@dataclass(frozen=True, eq=False)
class Unusable(Driver):
    """Placeholder for a value that is not a driver, so that validation can report it."""

    given: Any

    def values(self, t: ArrayLike) -> Floats:
        """Return NaN at every t."""
        return np.full((*np.shape(t), 3), np.nan)

    def faults(self) -> tuple[Fault, ...]:
        """Return a fault that shows the given value."""
        formula = f" A formula as text is mbd.Expression({self.given!r:.40})." if isinstance(self.given, str) else ""
        return (Fault("driver", f"{shown(self.given)} is not a function of time", f"{ACCEPTED}{formula}"),)

    def fault_at(self, t: float) -> Fault | None:
        """Return the same fault at all times."""
        return self.faults()[0]


def shown(value: Any) -> str:
    """Return a short text of a wrong value: shape of an array, length of a list, type and value of anything else."""
    if isinstance(value, np.ndarray) and value.shape != ():
        return f"{'a masked array' if masked(value) else 'an array'} of shape {value.shape}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of length {len(value)}"
    if value is None:
        return "None"
    if isinstance(value, float):
        return f"{float(value)}"
    text = repr(value)
    return f"{text if len(text) <= LONGEST_REPR else text[:LONGEST_REPR] + '...'} ({type(value).__name__})"


def shown_jet(f: Floats) -> str:
    """Return (f, f', f'') as text."""
    return "(" + ", ".join(f"{float(x):.6g}" for x in f) + ")"


def is_real_scalar(value: Any) -> bool:
    """Return whether value is one real number: Python's, NumPy's or an array of shape (); booleans are not."""
    if isinstance(value, np.ndarray):
        return value.shape == () and value.dtype.kind in "iuf" and not masked(value)
    return isinstance(value, Real) and not isinstance(value, bool | np.bool)


def real_or_nan(value: Any) -> float:
    """Return value as a float; NaN if it is not a real number, or an integer that is too large for a float."""
    try:
        return float(value) if is_real_scalar(value) else np.nan
    except OverflowError:
        return np.nan
