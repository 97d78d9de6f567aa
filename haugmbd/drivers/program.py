r"""Program: one driver as numbers for compiled code, and the kernels that run it.

A driver is one row of integers (see the columns below) that point into two flat arrays: `ops` of all tapes, and `numbers`
(constants of tapes; period, breakpoints and coefficients of splines).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.jit import counted_entry, kernel
from haugmbd.drivers.autodiff.tape import Tape
from haugmbd.drivers.autodiff.tape_machine import Floats, Ints, run_tape
from haugmbd.drivers.spline_kernel import evaluate_spline

CONSTANT, PYTHON, JET, VALUES, SPLINE = 0, 1, 2, 3, 4  # a number; Python only; tape of f; tape of f, f_dot, f_ddot; quintic spline

# columns of a row: index of the driver, kind, slices of ops and numbers, slots of the results
INDEX, KIND, OP_FIRST, OP_LAST, FIRST, LAST, OUT_F, OUT_F_DOT, OUT_F_DDOT, COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

NO_OPS: Ints = np.zeros((0, 4), dtype=np.int64)
NO_NUMBERS: Floats = np.zeros(0)


class Program(NamedTuple):
    """One driver as data; `value` is the value of a constant."""

    kind: int
    ops: Ints = NO_OPS
    numbers: Floats = NO_NUMBERS
    outputs: tuple[int, int, int] = (0, 0, 0)
    value: float = np.nan

    def row(self, index: int, op_first: int = 0, first: int = 0) -> list[int]:
        """Return the columns of this driver when its parts begin at `op_first` and `first`."""
        return [index, self.kind, op_first, op_first + len(self.ops), first, first + len(self.numbers), *self.outputs]


def tape_program(tape: Tape) -> Program:
    """Return the program of a tape with one output (its jet is the driver) or three (their values are)."""
    if len(tape.outputs) == 1:
        return Program(JET, tape.ops, tape.constants, (tape.outputs[0],) * 3)
    f, f_dot, f_ddot = tape.outputs
    return Program(VALUES, tape.ops, tape.constants, (f, f_dot, f_ddot))


@kernel
def scratch_size(table: Ints) -> int:
    """Return the number of slots of the longest tape."""
    most = 0
    for k in range(table.shape[0]):
        if table[k, KIND] != SPLINE:
            most = max(most, 1 + table[k, LAST] - table[k, FIRST] + table[k, OP_LAST] - table[k, OP_FIRST])
    return most


def room_for_tapes(table: Ints) -> int:
    """Return the number of slots of the longest tape, in Python."""
    tapes = table[table[:, KIND] != SPLINE]
    return int((1 + tapes[:, LAST] - tapes[:, FIRST] + tapes[:, OP_LAST] - tapes[:, OP_FIRST]).max(initial=0))


@kernel
def evaluate_row(t: float, k: int, table: Ints, ops: Ints, numbers: Floats, W: Floats, F: Floats, i: int) -> None:
    """Fill F[i] = f, f', f'' at t of the driver in row k of the table."""
    if table[k, KIND] == SPLINE:
        F[i, 0], F[i, 1], F[i, 2] = evaluate_spline(t, numbers, table[k, FIRST], table[k, LAST])
        return
    run_tape(t, ops, table[k, OP_FIRST], table[k, OP_LAST], numbers, table[k, FIRST], table[k, LAST], W)
    a = table[k, OUT_F]
    F[i, 0] = W[a, 0]
    if table[k, KIND] == JET:
        F[i, 1] = W[a, 1]
        F[i, 2] = W[a, 2]
    else:
        F[i, 1] = W[table[k, OUT_F_DOT], 0]
        F[i, 2] = W[table[k, OUT_F_DDOT], 0]


@counted_entry
def sample_kernel(t: Floats, table: Ints, ops: Ints, numbers: Floats, F: Floats) -> None:
    """Fill F (nt, 3) of the one driver of a table at all times t (nt,)."""
    W = np.empty((scratch_size(table), 3))
    for i in range(t.shape[0]):
        evaluate_row(t[i], 0, table, ops, numbers, W, F, i)


def frozen_ints(rows: list[list[int]], columns: int) -> Ints:
    """Return integers of shape (n, columns), read-only."""
    array = np.array(rows, dtype=np.int64).reshape(-1, columns)
    array.flags.writeable = False
    return array


def sample(program: Program, t: Floats) -> Floats:
    """Return f, f', f'' (..., 3) of a tape or a spline at times t (...)."""
    times = np.asarray(t, dtype=np.float64)
    F = np.empty((times.size, 3))
    table = frozen_ints([program.row(0)], COLUMNS)
    with np.errstate(all="ignore"):
        sample_kernel(np.ascontiguousarray(times.reshape(-1)), table, program.ops, program.numbers, F)
    return F.reshape(*times.shape, 3)


NO_OPS.flags.writeable = False
NO_NUMBERS.flags.writeable = False
