"""Access to arrays in few instructions: the same numbers as Python's, whatever the subscripts and where the array comes from."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python as _nrt
from numba.core.runtime import rtsys

from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.jit import counted_entry, entry, kernel
from haugmbd.compiled.subscripts import unsigned

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there is no machine code")


@kernel
def last(table: np.ndarray) -> float:
    """Return the last number of a matrix."""
    return table[-1, -1]


@entry
def read(lines: np.ndarray, table: np.ndarray, blocks: np.ndarray, i: int, j: int, k: int, found: np.ndarray) -> int:
    """Write numbers at all kinds of subscripts to `found`; return how many."""
    n = 0
    for value in (
        lines[i],
        lines[2],
        lines[-1],
        table[i, j],
        table[0, j],
        table[i, 0],
        table[-2, j],
        table[unsigned(1), j],
        table[i][j],
        blocks[i, j, k],
        blocks[1, 0, 2],
        blocks[i][j, k],
        blocks[i, j][k],
        blocks[i][j][-1],
        last(blocks[i]),
        last(table),
        borrow(blocks[1, 1], 0, 2, 2)[1, 1],
        borrow_line(table[1], 1, 2)[i],
        float(blocks.shape[2] + 10 * blocks[0].shape[1] + 100 * blocks.size + 1000 * table[i].size + blocks[0, 1].shape[0]),
    ):
        found[n] = value
        n += 1
    return n


def plain(lines: np.ndarray, table: np.ndarray, blocks: np.ndarray, i: int, j: int, k: int) -> list[float]:
    """Return the same numbers by NumPy."""
    return [
        lines[i], lines[2], lines[-1], table[i, j], table[0, j], table[i, 0], table[-2, j], table[1, j], table[i, j], blocks[i, j, k],
        blocks[1, 0, 2], blocks[i, j, k], blocks[i, j, k], blocks[i, j, -1], blocks[i, -1, -1], table[-1, -1],
        blocks[1, 1].ravel()[3], table[1, 1:][i], 4 + 40 + 100 * 24 + 1000 * 3 + 4,
    ]  # fmt: skip


@pytest.mark.parametrize("i", [0, 1, -1, -2])
@pytest.mark.parametrize("j", [0, 2, -1])
def test_numbers_are_those_of_python(i: int, j: int) -> None:
    lines, table, blocks = np.arange(4.0), np.arange(20.0, 26.0).reshape(2, 3), np.arange(100.0, 124.0).reshape(2, 3, 4)
    for k in (0, 3, -4):
        found = np.zeros(20)
        n = read(lines, table, blocks, i, j, k, found)
        assert found[:n].tolist() == plain(lines, table, blocks, i, j, k)


@entry
def write(table: np.ndarray, whole: np.ndarray, i: int, number: float) -> int:
    """Write at all kinds of subscripts, also whole numbers to floats and the reverse, and through a part of the matrix."""
    table[i, 0] = number
    table[0, 1] = i
    table[i][2] = table[i, 0] + 1.0
    table[1, 1] = whole[0]
    whole[i] = int(number)
    whole[-1] += 3
    return 0


@pytest.mark.parametrize("i", [0, 1, -1])
def test_numbers_are_written_where_python_writes_them(i: int) -> None:
    pair = []
    for act in (write, write.py_func):
        table, whole = np.zeros((2, 3)), np.array([7, 8, 9])
        act(table, whole, i, 2.5)
        pair.append((table.tolist(), whole.tolist()))
    assert pair[0] == pair[1]


@counted_entry
def with_parts(table: np.ndarray) -> np.ndarray:
    """Return an array that is made here, filled through its parts."""
    copy = np.empty_like(table)
    for i in range(table.shape[0]):
        line, part = table[i], copy[i]
        for j in range(line.size):
            part[j] = line[j]
    return copy


def test_parts_are_references_to_the_memory_of_their_array() -> None:
    """Numba gives back a reference for each part: a part that had none would free the memory too early."""
    table = np.arange(60.0).reshape(20, 3)
    with_parts(table)
    _nrt.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(50):
            np.testing.assert_array_equal(with_parts(table), table)
        now = rtsys.get_allocation_stats()
    finally:
        _nrt.memsys_disable_stats()
    assert now.alloc - before.alloc == now.free - before.free > 0


@entry
def steps(start: np.ndarray, many: int) -> float:
    """Return a number by variables that are assigned once and used in many blocks, beside others that loops assign again."""
    first = start[0]
    step = 0.5 * first
    total, sign = 0.0, 1.0
    for k in range(many):
        if k % 3 == 1:
            sign = -sign
            here = step * k
        else:
            here = first
        part = here + step
        for a in range(2):
            if a == 1 and part > 2.0:
                continue
            total += sign * (part + a * first)
        before = part
        if before > 20.0:
            break
    return total - step


@pytest.mark.parametrize("many", [0, 1, 2, 7, 60])
def test_variables_keep_their_values_from_block_to_block(many: int) -> None:
    start = np.array([1.25, 3.0])
    assert steps(start, many) == steps.py_func(start, many)
