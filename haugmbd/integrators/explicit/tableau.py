r"""Butcher tableaus of explicit Runge-Kutta methods, and the combination of stages that all of them make.

c_1 = 0 |                           k_i = f( t + c_i h,  y + h sum_j a_ij k_j )
c_2     | a_21                      y_1 = y + h sum_i b_i k_i
...     | ...
c_s     | a_s1  ...  a_s,s-1        in code one matrix: row i is (c_i, a_i1, ..., a_is), and the last row is (1, b_1, ..., b_s)
--------+-------------------
| b_1   ...      b_s
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel


def tableau(*rows: Sequence[float]) -> Array:
    """Return the matrix of the rows (c_i, a_i1, ..., a_i,i-1), i = 1 ... s, and (b_1, ..., b_s); read-only."""
    stages, weights = rows[:-1], rows[-1]
    matrix = np.zeros((len(stages) + 1, len(weights) + 1))
    for i, row in enumerate(stages):
        matrix[i, : len(row)] = row
    matrix[-1] = (1.0, *weights)
    return matrix


@kernel
def combine(T: Array, i: int, h: float, y: Array, room: Array, stage: Array) -> None:
    """stage <- y + h sum_j a_ij k_j, with k_j in the rows of `room`."""
    for a in range(y.size):
        stage[a] = 0.0
    for j in range(T.shape[1] - 1):
        a_ij = T[i, 1 + j]
        if a_ij != 0.0:
            for a in range(y.size):
                stage[a] += a_ij * room[j, a]
    for a in range(y.size):
        stage[a] = y[a] + h * stage[a]
