r"""Drivers from plain Python functions: one function of t written with NumPy (its 2-jet is exact), or f, f', f'' as three functions.

If the functions can be recorded on a tape, compiled code evaluates them; otherwise Python does, at each evaluation. A tape holds the
operations of the function when the driver was made: a later change of a variable that the function reads has no effect, and is reported
(`recorded_values`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.drivers.autodiff.tape import Tape, trace
from haugmbd.drivers.autodiff.tape_machine import Floats
from haugmbd.drivers.derivative_check import NAMES, agreed, disagreements, times_inside
from haugmbd.drivers.driver import Driver
from haugmbd.drivers.program import PYTHON, Program, sample, tape_program
from haugmbd.drivers.recorded_values import Recorded, changed_values, names_that_can_change, recorded_values
from haugmbd.drivers.user_function import (
    FunctionFault,
    callable_faults,
    first_fault,
    float_at,
    interval_faults,
    jet_at,
    plain,
    row_or_nan,
)
from haugmbd.errors import Fault


class _Start(tuple[float, float]):
    """A time in place of an interval; pickled by its name, so that it is itself again."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "AT_START"


AT_START = _Start((0.0, 0.0))
"""[s] where a function is evaluated first, unless an interval is given: no driver is evaluated at times that no simulation reaches."""
LONGEST = 1.0
"""Length [s] of the first part of a run in which functions for f, f' and f'' are compared with each other."""


class ComparisonEnds(Exception):  # noqa: N818  no user meets it
    """A function fails at a time of the comparison."""


class PythonDriver(Driver):
    """Base class of TimeFunction and Functions.

    `row` evaluates one time in Python; the tape, if there is one, evaluates all times in compiled code.
    """

    tape: Tape | None
    _faults: tuple[Fault, ...]
    _recorded: Recorded = ()

    @property
    def functions(self) -> tuple[Callable[[Any], Any], ...]:
        """Return the functions of the user that are recorded; none of a formula."""
        return ()

    def changed(self) -> tuple[str, ...]:
        """Return what the functions read and has changed since they were recorded, as texts; nothing if Python evaluates them."""
        return () if self.tape is None else changed_values(self.functions, self._recorded)

    def names_that_can_change(self) -> tuple[str, ...]:
        """Return what the recorded functions read and can change, as texts; nothing if Python evaluates them."""
        return () if self.tape is None else names_that_can_change(self.functions)

    @abstractmethod
    def row(self, t: float) -> Floats:
        """Return f, f', f'' at one t by Python, shape (3,). Raise FunctionFault if a function does not return a finite real number."""

    def values(self, t: ArrayLike) -> Floats:
        """Return f, f', f'' at t, shape (..., 3); NaN where a function does not return a finite real number."""
        times = np.asarray(t, dtype=np.float64)
        if self.tape is not None:
            return sample(self.program(), times)
        F = np.empty((times.size, 3))
        for k, s in enumerate(times.reshape(-1)):
            F[k] = row_or_nan(self.row, float(s))
        return F.reshape(*times.shape, 3)

    def faults(self) -> tuple[Fault, ...]:
        """Return the fault of a function without a finite real value, with the time; or of two functions that disagree, and by how much."""
        return self._faults

    def fault_at(self, t: float) -> Fault | None:
        """Return the fault of a function without a finite real value at t; None if all values are finite."""
        return next(iter(first_fault(self.row, np.array([t]))), None)

    def program(self) -> Program:
        """Return the tape, if there is one."""
        return Program(PYTHON) if self.tape is None else tape_program(self.tape)


@dataclass(frozen=True, eq=False)
class TimeFunction(PythonDriver):
    """Driver from a plain function of t; f' and f'' are computed exactly, by its 2-jet.

    fn: called with t [s]; written with NumPy functions and operators.
    check: an interval [s] where it must be finite for the driver to be accepted; by default `start` alone; a run reports a later failure.
    start: where it is evaluated first; not 0 for a function of a coordinate, in place of the time
    """

    fn: Callable[[Any], Any]
    _: KW_ONLY
    check: tuple[float, float] = AT_START
    start: float = 0.0
    tape: Tape | None = field(default=None, init=False, repr=False)
    _faults: tuple[Fault, ...] = field(default=(), init=False, repr=False)
    _recorded: Recorded = field(default=(), init=False, repr=False)

    @property
    def functions(self) -> tuple[Callable[[Any], Any], ...]:
        return (self.fn,)

    def __post_init__(self) -> None:
        faults = (*callable_faults(self.fn, "f"), *_check_faults(self.check))
        if not faults:
            faults = first_fault(self.row, _times(self.check, self.start))
        object.__setattr__(self, "_faults", faults)
        if not faults:
            object.__setattr__(self, "tape", agreed(trace([plain(self.fn)]), self.row, _compared(self.check, self.start)))
            object.__setattr__(self, "_recorded", () if self.tape is None else recorded_values(self.functions))

    def row(self, t: float) -> Floats:
        """Return f, f', f'' at one t by the 2-jet. Raise FunctionFault if fn does not return a finite real number."""
        return jet_at(self.fn, t)


@dataclass(frozen=True, eq=False)
class Functions(PythonDriver):
    """Driver from three functions f, f', f'' of t, which are compared with each other.

    f, f_dot, f_ddot: called with a float t [s], return a float.
    check: the interval [s] of the comparison; by default each run compares within its time.
    start: where they are evaluated first; not 0 for functions of a coordinate, in place of the time
    """

    f: Callable[[Any], Any]
    f_dot: Callable[[Any], Any]
    f_ddot: Callable[[Any], Any]
    _: KW_ONLY
    check: tuple[float, float] = AT_START
    start: float = 0.0
    tape: Tape | None = field(default=None, init=False, repr=False)
    _faults: tuple[Fault, ...] = field(default=(), init=False, repr=False)
    _recorded: Recorded = field(default=(), init=False, repr=False)

    @property
    def functions(self) -> tuple[Callable[[Any], Any], ...]:
        return self.f, self.f_dot, self.f_ddot

    def __post_init__(self) -> None:
        given = (self.f, self.f_dot, self.f_ddot)
        faults = tuple(fault for fn, name in zip(given, NAMES, strict=True) for fault in callable_faults(fn, name))
        faults = (*faults, *_check_faults(self.check))
        if not faults:
            faults = first_fault(self.row, _times(self.check, self.start))
        if not faults and self.check is not AT_START:
            faults = disagreements(self.row, self.check)
        object.__setattr__(self, "_faults", faults)
        if not faults:
            object.__setattr__(
                self, "tape", agreed(trace([plain(fn) for fn in given]), self.row, _compared(self.check, self.start))
            )
            object.__setattr__(self, "_recorded", () if self.tape is None else recorded_values(self.functions))

    def faults_between(self, t_start: float, t_end: float) -> tuple[Fault, ...]:
        """Return a fault if f_dot or f_ddot is not the derivative in the first second of a run, within its time."""
        if self._faults or self.check is not AT_START or not t_start < t_end:
            return ()
        length = min(t_end - t_start, LONGEST)
        try:
            return disagreements(self._row_or_end, (t_start, t_start + length), within=(t_start, t_end))
        except ComparisonEnds:
            return ()

    def _row_or_end(self, t: float) -> Floats:
        """Return f, f', f'' at one t. Raise ComparisonEnds if a function fails.

        The run then meets the same error, and keeps the results before it.
        """
        try:
            return self.row(t)
        except FunctionFault as error:
            raise ComparisonEnds from error

    def row(self, t: float) -> Floats:
        """Return f, f', f'' at one t. Raise FunctionFault if a function does not return a finite real number."""
        return np.array([float_at(self.f, t, "f"), float_at(self.f_dot, t, "f_dot"), float_at(self.f_ddot, t, "f_ddot")])


def _check_faults(check: Any) -> tuple[Fault, ...]:
    """Return a fault if `check` is not an interval of time."""
    return () if check is AT_START else interval_faults(check)


def _times(check: tuple[float, float], start: float) -> Floats:
    """Return the times at which a function must be finite."""
    return np.array([start]) if check is AT_START else times_inside(check)


def _compared(check: tuple[float, float], start: float) -> tuple[float, float]:
    """Return where a tape is compared with Python: a recorded function is arithmetic without branches, and may be called at any time."""
    return (start, start + LONGEST) if check is AT_START else check
