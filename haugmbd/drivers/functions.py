r"""Drivers from plain Python functions: one function of t written with NumPy (its 2-jet is exact), or f, f', f'' as three.

Where the functions can be recorded on a tape, compiled code evaluates them; otherwise Python does, at each evaluation.  A tape
holds what the function computed when the driver was made: a later change of a variable that the function reads has no effect.
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

AT_START = (0.0, 0.0)
"""[s] where a function is tried, unless the driver is told an interval: no driver is asked about times that no simulation may reach."""
LONGEST = 1.0
"""[s] of a run in which functions for f, f' and f'' are held against each other."""


class ComparisonEnds(Exception):  # noqa: N818  no user meets it
    """A function fails at a time where it is compared."""


class PythonDriver(Driver):
    """What TimeFunction and Functions share: `row` computes one time in Python, the tape (if there is one) all times compiled."""

    tape: Tape | None
    _faults: tuple[Fault, ...]

    @abstractmethod
    def row(self, t: float) -> Floats:
        """f, f', f'' at one t by Python, shape (3,); FunctionFault if a function gives anything unusable."""

    def values(self, t: ArrayLike) -> Floats:
        """f, f', f'' at t, shape (..., 3); NaN where a function gives nothing usable."""
        times = np.asarray(t, dtype=np.float64)
        if self.tape is not None:
            return sample(self.program(), times)
        F = np.empty((times.size, 3))
        for k, s in enumerate(times.reshape(-1)):
            F[k] = row_or_nan(self.row, float(s))
        return F.reshape(*times.shape, 3)

    def faults(self) -> tuple[Fault, ...]:
        """Say which function gives no finite real number and at which t, or where and by how much two of them disagree."""
        return self._faults

    def fault_at(self, t: float) -> Fault | None:
        """Say which function gives no finite real number at t; None if all do."""
        return next(iter(first_fault(self.row, np.array([t]))), None)

    def program(self) -> Program:
        """Return the tape, if there is one."""
        return Program(PYTHON) if self.tape is None else tape_program(self.tape)


@dataclass(frozen=True, eq=False)
class TimeFunction(PythonDriver):
    """A plain function of t; f' and f'' are computed exactly, by its 2-jet.

    fn: called with t [s]; written with NumPy functions and operators.
    check: an interval [s] where it must be finite for the driver to be accepted; by default t = 0 alone, and a run tells what fails later.
    """

    fn: Callable[[Any], Any]
    _: KW_ONLY
    check: tuple[float, float] = AT_START
    tape: Tape | None = field(default=None, init=False, repr=False)
    _faults: tuple[Fault, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        faults = (*callable_faults(self.fn, "f"), *_check_faults(self.check))
        if not faults:
            faults = first_fault(self.row, _times(self.check))
        object.__setattr__(self, "_faults", faults)
        if not faults:
            object.__setattr__(self, "tape", agreed(trace([plain(self.fn)]), self.row, _compared(self.check)))

    def row(self, t: float) -> Floats:
        """f, f', f'' at one t by the 2-jet; FunctionFault if fn gives anything unusable."""
        return jet_at(self.fn, t)


@dataclass(frozen=True, eq=False)
class Functions(PythonDriver):
    """f, f', f'' given as three functions of t, which are held against each other.

    f, f_dot, f_ddot: called with a float t [s], return a float.
    check: the interval [s] where they are held against each other; by default in each run, within its time.
    """

    f: Callable[[Any], Any]
    f_dot: Callable[[Any], Any]
    f_ddot: Callable[[Any], Any]
    _: KW_ONLY
    check: tuple[float, float] = AT_START
    tape: Tape | None = field(default=None, init=False, repr=False)
    _faults: tuple[Fault, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        given = (self.f, self.f_dot, self.f_ddot)
        faults = tuple(fault for fn, name in zip(given, NAMES, strict=True) for fault in callable_faults(fn, name))
        faults = (*faults, *_check_faults(self.check))
        if not faults:
            faults = first_fault(self.row, _times(self.check))
        if not faults and self.check is not AT_START:
            faults = disagreements(self.row, self.check)
        object.__setattr__(self, "_faults", faults)
        if not faults:
            object.__setattr__(self, "tape", agreed(trace([plain(fn) for fn in given]), self.row, _compared(self.check)))

    def faults_between(self, t_start: float, t_end: float) -> tuple[Fault, ...]:
        """Say where f_dot or f_ddot is not the derivative in the first second of a run, within its time."""
        if self._faults or self.check is not AT_START or not t_start < t_end:
            return ()
        length = min(t_end - t_start, LONGEST)
        try:
            return disagreements(self._row_or_end, (t_start, t_start + length), within=(t_start, t_end))
        except ComparisonEnds:
            return ()

    def _row_or_end(self, t: float) -> Floats:
        """f, f', f'' at one t; the comparison ends where a function fails: the run meets the same, and keeps what is before it."""
        try:
            return self.row(t)
        except FunctionFault as error:
            raise ComparisonEnds from error

    def row(self, t: float) -> Floats:
        """f, f', f'' at one t; FunctionFault if a function gives anything unusable."""
        return np.array([float_at(self.f, t, "f"), float_at(self.f_dot, t, "f_dot"), float_at(self.f_ddot, t, "f_ddot")])


def _check_faults(check: Any) -> tuple[Fault, ...]:
    """Say whether `check` is no interval of time."""
    return () if check is AT_START else interval_faults(check)


def _times(check: tuple[float, float]) -> Floats:
    """When a function must be finite."""
    return np.zeros(1) if check is AT_START else times_inside(check)


def _compared(check: tuple[float, float]) -> tuple[float, float]:
    """Where a tape is held against Python: a function that could be recorded is arithmetic, without branches, and may be asked anywhere."""
    return (0.0, LONGEST) if check is AT_START else check
