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
from math import isfinite
from numbers import Real
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import kernel
from haugmbd.errors import UsageError


class Tableau(NamedTuple):
    """A Butcher tableau of s stages.

    c: (s,) nodes;  a: (s, s) weights of the stages, strictly lower triangular;  b: (s,) weights of the step
    """

    c: Array
    a: Array
    b: Array


CONSISTENT = 1e-9
"""Of the sums of weights, and of the order conditions: digits of fractions that are typed."""


HIGHEST = 4
"""Order up to which conditions are known here."""


def tableau(*rows: Sequence[float]) -> Tableau:
    """Return the tableau of the rows (c_i, a_i1, ..., a_i,i-1), i = 1 ... s, and (b_1, ..., b_s).

    Raise UsageError for rows of another length, or weights that do not sum to c_i and to 1.
    """
    if len(rows) < 2:  # noqa: PLR2004
        raise UsageError("tableau needs a row for each stage, and the weights b.")
    stages, weights = rows[:-1], rows[-1]
    wrong = [
        text for i, row in enumerate(stages, 1) for text in _faults(f"row {i}", row, i, "c, and a weight for each stage before")
    ]
    wrong += _faults("b", weights, len(stages), "one for each stage")
    if not wrong:
        wrong += [
            f"row {i}: the weights sum to {sum(row[1:]):g}, and must sum to c = {row[0]:g}"
            for i, row in enumerate(stages, 1)
            if abs(sum(row[1:]) - row[0]) > CONSISTENT
        ]
        wrong += [f"the weights b sum to {sum(weights):g}, and must sum to 1"] if abs(sum(weights) - 1.0) > CONSISTENT else []
    if wrong:
        raise UsageError(f"tableau: {'; '.join(wrong)}.")
    b = np.array(weights, dtype=np.float64)
    a = np.zeros((len(b), len(b)))
    for i, row in enumerate(stages):
        a[i, :i] = row[1:]
    return Tableau(np.array([row[0] for row in stages], dtype=np.float64), a, b)


def _faults(name: str, row: Sequence[float], n: int, what: str) -> list[str]:
    """Return what is wrong with the numbers of one row of n."""
    if len(row) != n:
        return [f"{name} has {len(row)} number{'s' if len(row) != 1 else ''}, and needs {n}: {what}"]
    if not all(isinstance(x, Real) and isfinite(x) for x in row):
        return [f"{name}: {row!r} must be finite numbers"]
    return []


def order_of(method: Tableau) -> int:
    """Return the largest order up to four whose conditions a tableau fulfils (Hairer, Norsett, Wanner, Solving ODE I, table II.2.2)."""
    c, a, b = method
    conditions = (
        (b.sum() - 1.0,),
        (b @ c - 1 / 2,),
        (b @ c**2 - 1 / 3, b @ a @ c - 1 / 6),
        (b @ c**3 - 1 / 4, (b * c) @ a @ c - 1 / 8, b @ a @ c**2 - 1 / 12, b @ a @ a @ c - 1 / 24),
    )
    fulfilled = [max(abs(x) for x in each) <= CONSISTENT for each in conditions]
    return fulfilled.index(False) if False in fulfilled else len(conditions)


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
