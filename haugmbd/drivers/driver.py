r"""A driver: a prescribed function of time f(t) with its exact first and second derivatives; the right-hand sides use all three.

    Phi = ... - f(t),   nu = ... + f'(t),   gamma = ... + f''(t)

A driver is frozen data, made without ever raising; `faults()` says what is wrong with it.  `values(t)` gives (f, f', f'').
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
    """Base of all drivers.  A new kind gives `values` and `faults`; `program` only if compiled code can evaluate it."""

    @abstractmethod
    def values(self, t: ArrayLike) -> Floats:
        """f, f', f'' at times t [s] of any shape (...), shape (..., 3); NaN where it cannot be evaluated (see `fault_at`)."""

    @abstractmethod
    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with this driver; empty when it is right."""

    def program(self) -> Program:
        """Return what compiled code needs; here: nothing, `values` is called from Python."""
        return Program(PYTHON)

    @property
    def t_range(self) -> tuple[float, float]:
        """The times [s] for which the driver is meant."""
        return -np.inf, np.inf

    def faults_between(self, t_start: float, t_end: float) -> tuple[Fault, ...]:
        """Return the faults of a simulation from t_start to t_end [s] with this driver: empty, or the range that it leaves."""
        t_min, t_max = self.t_range
        if t_min <= t_start and t_end <= t_max:
            return ()
        what = f"is given for t = {t_min:.9g} .. {t_max:.9g} s, and the simulation runs from {t_start:.9g} to {t_end:.9g} s"
        return (Fault("driver", what, "Give a table over the whole interval, or shorten the simulation."),)

    def __str__(self) -> str:
        """The driver in a sentence."""
        return "f(t)"

    def fault_at(self, t: float) -> Fault | None:
        """Say why `values(t)` is not finite at this time [s]; None when it is."""
        f = self.values(t)
        if np.all(np.isfinite(f)):
            return None
        return Fault("driver", f"(f, f', f'') is {shown_jet(f)} at t = {t:.9g} s", "All three must be finite.")


@dataclass(frozen=True, eq=False)
class Constant(Driver):
    """f(t) = value, for all t.

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
        """The number."""
        return f"{self.value:g}"

    def values(self, t: ArrayLike) -> Floats:
        """Return (value, 0, 0) at every t."""
        F = np.zeros((*np.shape(t), 3))
        F[..., 0] = self.value
        return F

    def faults(self) -> tuple[Fault, ...]:
        """Say whether the value is no finite real number."""
        return self._faults

    def program(self) -> Program:
        """A number."""
        return Program(CONSTANT, value=self.value)


@dataclass(frozen=True, eq=False)
class Unusable(Driver):
    """What stands in a model for something that is no driver, so that validation can say so."""

    given: Any

    def values(self, t: ArrayLike) -> Floats:
        """NaN at every t."""
        return np.full((*np.shape(t), 3), np.nan)

    def faults(self) -> tuple[Fault, ...]:
        """Say what was given."""
        return (Fault("driver", f"{shown(self.given)} is no function of time", ACCEPTED),)

    def fault_at(self, t: float) -> Fault | None:
        """Return the same fault at all times."""
        return self.faults()[0]


def shown(value: Any) -> str:
    """Say what a wrong value is, in a few words: shape of an array, length of a list, type and value of anything else."""
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
    """(f, f', f'') as text."""
    return "(" + ", ".join(f"{float(x):.6g}" for x in f) + ")"


def is_real_scalar(value: Any) -> bool:
    """Say whether value is one real number: Python's, NumPy's or an array of shape (); booleans are not."""
    if isinstance(value, np.ndarray):
        return value.shape == () and value.dtype.kind in "iuf" and not masked(value)
    return isinstance(value, Real) and not isinstance(value, bool | np.bool)


def real_or_nan(value: Any) -> float:
    """value as a float, NaN if it is no real number, or a whole one that is too large for a float."""
    try:
        return float(value) if is_real_scalar(value) else np.nan
    except OverflowError:
        return np.nan
