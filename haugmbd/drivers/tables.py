r"""All drivers of a model as flat arrays, and the kernel that evaluates them at t.

Once:   tables = compile_drivers(drivers);   F = tables.F0.copy()       (nd, 3), with the constants
At t:   evaluate_drivers(t, tables.table, tables.ops, tables.numbers, F)    tapes and splines; callable from other kernels
        call_python_drivers(t, tables, drivers, F)                          the others, if there are any
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.jit import counted, kernel
from haugmbd.drivers.autodiff.tape_machine import Floats, Ints
from haugmbd.drivers.driver import Constant, Driver, Unusable, is_real_scalar
from haugmbd.drivers.functions import Functions, PythonDriver, TimeFunction
from haugmbd.drivers.program import COLUMNS, CONSTANT, NO_NUMBERS, NO_OPS, PYTHON, evaluate_row, frozen_ints, scratch_size
from haugmbd.errors import warn_user


class DriverTables(NamedTuple):
    """The drivers of a model; all arrays are read-only.

    F0: f, f', f'' of the constants, shape (nd, 3); NaN in the rows of all others.
    table: one row for each tape and spline, shape (n, 9); its columns are named in `program`.
    ops: operations of all tapes, shape (n_ops, 4).
    numbers: constants of the tapes, data of the splines, shape (n_numbers,).
    python_drivers: indices of the drivers that only Python can evaluate, shape (n_python,).
    """

    F0: Floats
    table: Ints
    ops: Ints
    numbers: Floats
    python_drivers: Ints


def compile_drivers(drivers: Sequence[Driver]) -> DriverTables:
    """Return the programs of all drivers in common arrays."""
    programs = [driver.program() for driver in drivers]
    F0 = np.full((len(programs), 3), np.nan)
    rows, op_first, first = [], 0, 0
    for index, program in enumerate(programs):
        if program.kind == CONSTANT:
            F0[index] = program.value, 0.0, 0.0
        elif program.kind != PYTHON:
            rows.append(program.row(index, op_first, first))
            op_first += len(program.ops)
            first += len(program.numbers)
    ops = np.concatenate([NO_OPS, *(p.ops for p in programs)])
    numbers = np.concatenate([NO_NUMBERS, *(p.numbers for p in programs)])
    python = np.array([k for k, p in enumerate(programs) if p.kind == PYTHON], dtype=np.int64)
    for array in (F0, ops, numbers, python):
        array.flags.writeable = False
    return DriverTables(F0, frozen_ints(rows, COLUMNS), ops, numbers, python)


@counted
def evaluate_drivers(t: float, table: Ints, ops: Ints, numbers: Floats, F: Floats) -> None:
    """Fill the rows of F (nd, 3) that belong to tapes and splines; the rows of constants (from F0) and Python drivers stay."""
    if table.shape[0] == 0:
        return
    evaluate_with_room(t, table, ops, numbers, np.empty((scratch_size(table), 3)), F)


@kernel
def evaluate_with_room(t: float, table: Ints, ops: Ints, numbers: Floats, W: Floats, F: Floats) -> None:
    """Do what `evaluate_drivers` does, with room W (n, 3) for the longest tape."""
    for k in range(table.shape[0]):
        evaluate_row(t, k, table, ops, numbers, W, F, table[k, 0])


def call_python_drivers(t: float, tables: DriverTables, drivers: Sequence[Driver], F: Floats) -> None:
    """Fill the rows of F of the drivers that only Python can evaluate."""
    for k in tables.python_drivers:
        F[k] = drivers[k].values(t)


ZERO = Constant(0.0)
"""The driver of most equations."""


def as_driver(x: Driver | float | Callable[[Any], Any] | Sequence[Callable[[Any], Any]], start: float = 0.0) -> Driver:
    """Return the driver for a number, a function of t, three functions, or a driver. It does not raise (see `faults`).

    A function that is recorded, and reads something that can change, is reported by a warning.
    start: where functions are evaluated first
    """
    driver = driver_of(x, start)
    note_what_can_change([driver] if driver is not x else [])
    return driver


def note_what_can_change(drivers: Sequence[Driver]) -> None:
    """Warn of what recorded functions read and can change."""
    names = dict.fromkeys(name for driver in drivers if isinstance(driver, PythonDriver) for name in driver.names_that_can_change())
    if names:
        warn_user(
            f"a function of time reads {', '.join(names)}, which can change: it is recorded now, and a later change has no effect until "
            "its part is made again. Give it numbers, a tuple, or an array with flags.writeable = False."
        )


def driver_of(x: Driver | float | Callable[[Any], Any] | Sequence[Callable[[Any], Any]], start: float = 0.0) -> Driver:
    """Return the driver of `as_driver`, without a warning."""
    given: Any = x
    if type(given) is float and given == 0.0:
        return ZERO
    if isinstance(given, Driver):
        return given
    if is_real_scalar(given):
        return Constant(given)
    if isinstance(given, tuple | list) and len(given) == 3 and all(callable(fn) for fn in given):
        return Functions(*given, start=start)
    if callable(given) and not isinstance(given, type):
        return TimeFunction(given, start=start)
    return Unusable(given)
