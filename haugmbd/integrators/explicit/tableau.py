r"""Butcher tableaus of explicit Runge-Kutta methods, and the combination of stages that all of them make.

    c_1 = 0 |                           k_i = f( t + c_i h,  y + h sum_j a_ij k_j )
    c_2     | a_21                      y_1 = y + h sum_i b_i k_i
    ...     | ...
    c_s     | a_s1  ...  a_s,s-1
    --------+-------------------
            | b_1   ...      b_s

Source: Butcher 1963; Hairer, Norsett, Wanner, Solving ODE I, sec. II.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import kernel


class Tableau(NamedTuple):
    """A Butcher tableau of s stages.

    c: (s,) nodes;  a: (s, s) weights of the stages, strictly lower triangular;  b: (s,) weights of the step
    """

    c: Array
    a: Array
    b: Array


def tableau(*rows: Sequence[float]) -> Tableau:
    """Return the tableau of the rows (c_i, a_i1, ..., a_i,i-1), i = 1 ... s, and (b_1, ..., b_s)."""
    stages, b = rows[:-1], np.array(rows[-1], dtype=np.float64)
    a = np.zeros((len(b), len(b)))
    for i, row in enumerate(stages):
        a[i, : len(row) - 1] = row[1:]
    return Tableau(np.array([row[0] for row in stages], dtype=np.float64), a, b)


PART = 2048
"""Numbers of a state that are combined together: few enough for the fast memory of a processor, in which a large state does not fit."""


@kernel
def combine(weights: Array, h: float, y: Array, k1: Array, k: Array, stage: Array) -> None:
    """Set stage <- y + h sum_j weights_j k_j, with k_2, k_3, ... in the rows of `k`."""
    for first in range(0, y.size, PART):
        n = min(PART, y.size - first)
        part, y_part = borrow_line(stage, first, n), borrow_line(y, first, n)
        for a in range(n):
            part[a] = 0.0
        for j in range(weights.size):
            if weights[j] != 0.0:
                rates = borrow_line(k, (j - 1) * y.size + first, n) if j > 0 else borrow_line(k1, first, n)
                for a in range(n):
                    part[a] += weights[j] * rates[a]
        for a in range(n):
            part[a] = y_part[a] + h * part[a]
