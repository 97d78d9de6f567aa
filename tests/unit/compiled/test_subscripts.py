"""Unsigned subscripts: the same numbers, and no row from the end."""

import numba
import numpy as np
import pytest

from haugmbd.compiled.subscripts import unsigned
from haugmbd.math.vec3 import load


def number(table: np.ndarray, row: int) -> float:
    """Return a number of a table."""
    return table[unsigned(row), 1]


TABLE = np.arange(6.0).reshape(3, 2)


def test_a_subscript_is_the_same_number():
    compiled = number if numba.config.DISABLE_JIT else numba.njit(number)
    assert [compiled(TABLE, row) for row in range(3)] == [1.0, 3.0, 5.0]
    assert load(np.arange(12.0).reshape(2, 6), 1, 2) == (8.0, 9.0, 10.0)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="NumPy takes a negative subscript from the end")
def test_a_negative_one_is_out_of_bounds_where_bounds_are_checked():
    compiled = numba.njit(boundscheck=True)(number)
    assert compiled(TABLE, 2) == 5.0
    for row in (-1, -3, 3):
        with pytest.raises(IndexError):
            compiled(TABLE, row)


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there is no machine code")
def test_nothing_is_compared_with_zero():
    """Numba's code of a signed subscript selects between two rows, that of an unsigned one does not."""

    def signed(table: np.ndarray, row: int) -> float:
        return table[row, 1]

    def selections(function: object) -> int:
        compiled = numba.njit((numba.float64[:, ::1], numba.int64))(function)
        (code,) = compiled.inspect_llvm().values()
        return sum(" select i1" in line or "ashr i64" in line for line in code.splitlines() if "define" not in line)

    assert selections(number) < selections(signed)
