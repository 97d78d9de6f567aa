r"""Many linear programs over one small polyhedron: the least values of c . w over { w in R^d : A w <= b },  b >= 0.

    s = b - A w                          slacks, all >= 0 at w = 0
    x_B = beta - T x_N                   a dictionary: basic variables by the nonbasic ones, which are zero
    c . w = value + reduced . x_N

The polyhedron is factored once: each program begins at the vertex where the last one ended, and a row that is added (a tangent of a circle)
is made good first, by steps along which its slack grows. So a program costs a few exchanges of a table with as many rows as A.
Sources: Chvatal, Linear Programming (1983), ch. 2, 3 and 10; Bland, New finite pivoting rules for the simplex method (1977).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError

PIVOT = 1e-9
"""Relative to the largest entry of a row of the table: a smaller one is rounding, and no pivot."""
DESCENT = 1e-11
"""Relative to the largest entry of the costs: a smaller reduced cost is zero."""
FEASIBLE = 1e-12
"""Relative to the largest limit: a slack that is less negative is zero."""
PATIENCE = 50
"""Exchanges that follow the steepest cost; then the first one is taken (Bland), which does not circle at a degenerate vertex."""
MOST_EXCHANGES = 5000
"""For one program; five to fifty are usual."""
RENEWED = 200
"""Exchanges after which the table is computed anew from A."""

Flags = npt.NDArray[np.bool_]


class Polyhedron:
    """{ w : A w <= b } with b >= 0, and its vertex of the last program.

    A: (n, d);  b: (n,)
    """

    def __init__(self, A: Array, b: Array) -> None:
        self.A, self.b = np.array(A, dtype=np.float64), np.maximum(b, 0.0)
        n, self.d = self.A.shape
        # variables: w_0 .. w_(d-1), then the slacks; first all slacks are basic
        self.basic = np.arange(self.d, self.d + n)
        self.free = np.arange(self.d)
        self.table, self.beta = self.A.copy(), self.b.copy()
        self.exchanges = 0

    def add(self, row: Array, limit: float) -> None:
        """Add row . w <= limit; `least` makes it good."""
        self.A, self.b = np.vstack([self.A, row]), np.append(self.b, limit)
        x, T = self._of_w()
        self.basic = np.append(self.basic, self.d + len(self.b) - 1)
        self.beta, self.table = np.append(self.beta, limit - row @ x), np.vstack([self.table, row @ T])

    def _of_w(self) -> tuple[Array, Array]:
        """Return w = x + T x_N at the vertex."""
        x, T = np.zeros(self.d), np.zeros((self.d, self.d))
        inside = self.basic < self.d
        x[self.basic[inside]], T[self.basic[inside]] = self.beta[inside], -self.table[inside]
        outside = self.free < self.d
        T[self.free[outside], np.flatnonzero(outside)] = 1.0
        return x, T

    def least(self, cost: Array) -> tuple[Array, bool]:
        """Return w of the least cost . w, and whether there is a least value; else the direction in which it falls without end.

        Raises SimulationError if the exchanges do not end.
        """
        size = float(np.abs(cost).max(initial=0.0))
        if size == 0.0:
            return self.vertex(), True
        done = 0
        while done < MOST_EXCHANGES:
            low, steady = self._broken(), done > PATIENCE
            if low >= 0:  # a row that was added: its slack grows until it is zero, or another one is
                line = self.table[low]
                enter, sign = self._descending(line, PIVOT * float(np.abs(line).max(initial=0.0)), steady)
                if enter < 0:
                    raise SimulationError("the limits of a linear program of contact forces contradict each other.")
                leave = self._first_limit(sign * self.table[:, enter], steady, low)
            else:
                _, T = self._of_w()
                enter, sign = self._descending(cost @ T, DESCENT * size, steady)
                if enter < 0:
                    return self.vertex(), True
                leave = self._first_limit(sign * self.table[:, enter], steady)
                if leave < 0:
                    return np.asarray(sign * T[:, enter]), False
            self._exchange(leave, enter)
            done += 1
        raise SimulationError(f"a linear program of contact forces does not end in {MOST_EXCHANGES} exchanges.")

    def vertex(self) -> Array:
        """Return w at the vertex, from the rows that hold there."""
        rows = self.free[self.free >= self.d] - self.d
        if len(rows) < self.d:
            return self._of_w()[0]
        return np.asarray(np.linalg.solve(self.A[rows], self.b[rows]))

    def _slacks(self) -> Flags:
        """Return which rows of the table are those of slacks."""
        return np.asarray(self.basic >= self.d, dtype=np.bool_)

    def _broken(self) -> int:
        """Return the row of the most negative slack, -1 if there is none."""
        value = np.where(self._slacks(), self.beta, 0.0)
        k = int(np.argmin(value)) if len(value) else -1
        return k if k >= 0 and value[k] < -self._rounding() else -1

    def _rounding(self) -> float:
        """Return what rounding leaves of a slack that is zero."""
        return FEASIBLE * (1.0 + float(np.abs(self.b).max(initial=0.0)))

    def _descending(self, reduced: Array, least: float, first: bool) -> tuple[int, float]:
        """Return the column along which the cost falls, and in which sense; -1 if there is none."""
        fall = np.where(self.free < self.d, np.abs(reduced), -reduced)
        falling = fall > least
        if not falling.any():
            return -1, 0.0
        k = int(np.flatnonzero(falling)[np.argmin(self.free[falling])]) if first else int(np.argmax(fall))
        return k, 1.0 if reduced[k] < 0.0 else -1.0

    def _first_limit(self, column: Array, first: bool, low: int = -1) -> int:
        """Return the row whose slack vanishes first along a column, -1 if none does;  low: a broken row, which vanishes on its way."""
        can = self._slacks() & (column > PIVOT * float(np.abs(column).max(initial=0.0))) & (self.beta >= -self._rounding())
        step = np.where(can, np.maximum(self.beta, 0.0) / np.where(can, column, 1.0), np.inf)
        if low >= 0:
            step[low] = self.beta[low] / column[low]
        if not np.isfinite(step).any():
            return -1
        ties = np.flatnonzero(step <= step.min() * (1.0 + 1e-12))
        return int(ties[np.argmin(self.basic[ties])]) if first else int(ties[np.argmax(np.abs(column[ties]))])

    def _exchange(self, row: int, column: int) -> None:
        """Let a basic and a nonbasic variable change places."""
        pivot = self.table[row, column]
        line, beta = self.table[row] / pivot, self.beta[row] / pivot
        line[column] = 1.0 / pivot
        along = self.table[:, column].copy()
        along[row] = 0.0
        self.table[:, column] = 0.0
        self.table -= np.outer(along, line)
        self.beta -= along * beta
        self.table[row], self.beta[row] = line, beta
        self.basic[row], self.free[column] = self.free[column], self.basic[row]
        self.exchanges += 1
        if self.exchanges % RENEWED == 0:
            self._renew()

    def _renew(self) -> None:
        """Compute the table anew from A and b."""
        n, d = self.A.shape
        whole = np.hstack([self.A, np.eye(n)])
        B = whole[:, self.basic]
        self.table, self.beta = np.linalg.solve(B, whole[:, self.free]), np.linalg.solve(B, self.b)
