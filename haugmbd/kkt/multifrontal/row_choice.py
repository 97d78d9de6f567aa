r"""The multifrontal LDL^T with dependent rows: each edge eliminates as many rows as it keeps, and leaves out the others.

The rules are those of `kkt.rank_deficient`.  A row that is left out has the inverse pivot zero and an empty row in the factor, so that
its multiplier is zero for any right-hand side.
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.kkt.multifrontal.front_kernels import eliminate
from haugmbd.kkt.rank_deficient import next_row, take


class Kept(NamedTuple):
    """The selection of rows.

    kept: (ne, 6) table of the model;  S: (6, 9) work array
    """

    kept: Array
    S: Array


class Independent(NamedTuple):
    """Rows are kept while their pivots, relative to their scales, are above `tol`.

    active: (ne, 6) 1 for the rows that take part;  preferred: part of the largest pivot above which the first row is taken
    """

    active: Array
    S: Array
    tol: float
    preferred: float


@kernel
def kept_rows_only(c: Kept, scale: Array, F: Array, d_inv: Array, rows: Ints, panel: Array) -> None:
    """Eliminate the pivots of a front, as many of each edge as it keeps;  scale: (nn, 6) scales of the pivots."""
    first_edge = scale.shape[0] - c.kept.shape[0]
    start = i = 0
    while i < rows.size:
        node, m, wanted = rows[i] // 6, 0, 0
        while i + m < rows.size and rows[i + m] // 6 == node:
            wanted += c.kept[node - first_edge, rows[i + m] % 6] == 1.0
            m += 1
        if wanted < m:
            eliminate(F, d_inv, start, i, panel)
            put_schur(F, i, m, rows, scale, c.S)
            for _ in range(wanted):
                take(c.S, next_row(c.S, c.kept[node - first_edge]))
            eliminate_marked(F, d_inv, i, m, c.S, panel)
            start = i + m
        i += m
    eliminate(F, d_inv, start, rows.size, panel)


@kernel
def independent_rows_only(c: Independent, scale: Array, F: Array, d_inv: Array, rows: Ints, panel: Array) -> None:
    """Eliminate the pivots of a front that are independent of those before;  scale: (nn, 6) scales of the pivots."""
    first_edge = scale.shape[0] - c.active.shape[0]
    i = 0
    while i < rows.size:
        node, m = rows[i] // 6, 0
        while i + m < rows.size and rows[i + m] // 6 == node:
            m += 1
        put_schur(F, i, m, rows, scale, c.S)
        for a in range(m):
            if c.active[node - first_edge, rows[i + a] % 6] == 0.0:
                c.S[a, 6] = 2.0
        for _ in range(m):
            row = first_good_row(c.S, c.tol, c.preferred)
            if row < 0:
                break
            take(c.S, row)
        eliminate_marked(F, d_inv, i, m, c.S, panel)
        i += m


@kernel
def put_schur(F: Array, i: int, m: int, rows: Ints, scale: Array, S: Array) -> None:
    """Write the rows i to i + m of -F, relative to their scales, to S; mark what is behind them as taken."""
    for a in range(6):
        S[a, 6] = 0.0 if a < m else 1.0
    for a in range(m):
        for b in range(a, m):
            size = scale[rows[i + a] // 6, rows[i + a] % 6] * scale[rows[i + b] // 6, rows[i + b] % 6]
            S[a, b] = S[b, a] = -F[i + a, i + b] / size**0.5


@kernel
def first_good_row(S: Array, tol: float, preferred: float) -> int:
    """Return the first remaining row whose pivot is `preferred` times the largest one; -1 if that is not above `tol`."""
    largest = 0.0
    for a in range(6):
        if S[a, 6] == 0.0:
            largest = max(largest, S[a, a])
    if not largest > tol:
        return -1
    for a in range(6):
        if S[a, 6] == 0.0 and S[a, a] >= preferred * largest:
            return a
    return -1


@kernel
def eliminate_marked(F: Array, d_inv: Array, i: int, m: int, S: Array, panel: Array) -> None:
    """Eliminate those of the pivots i to i + m that S marks as taken; make the rows of the others empty."""
    for a in range(m):
        if S[a, 6] != 1.0:
            for j in range(i, F.shape[0]):
                F[min(i + a, j), max(i + a, j)] = 0.0
            F[i + a, i + a] = -1.0
    eliminate(F, d_inv, i, i + m, panel)
    for a in range(m):
        if S[a, 6] != 1.0:
            d_inv[i + a] = 0.0
