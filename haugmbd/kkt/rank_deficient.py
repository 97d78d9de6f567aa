r"""The block LDL^T with dependent rows: each edge eliminates as many rows as it keeps, and leaves out the others.

    D = - (distances of the edge's rows from the span of the rows before)        rank = kept rows, known from the compiled model

The NUMBER of kept rows of an edge is fixed.  The SELECTION may change: rows that are independent at the modelled pose can become
dependent at another pose although the rank of the joint does not change (as in Bennett's linkage).  Rows are kept while their pivots are
at least SWITCH of the best; then a better row replaces one of them until they are good again.  Since the number is fixed, no threshold
decides the rank off the manifold.  A row that is left out has an infinite pivot: its multiplier is zero for any right-hand side.

    V^2 = sum of det(S_k), over all selections k of r of the n rows        S = -D
        = det(S_k) det(1 + W W^T),  W = S_dk S_k^-1                        by one selection, d: the rows that are left out

is the squared volume that all the rows of an edge span (Cauchy, Binet), while its rank is r.  It does not depend on the selection, and
vanishes where the rank falls: see `integrators.rank_watch`.  Rows are scaled by their compliance for their selection only: those that
meet a body without inertia about an axis are larger by powers of ten, and which of two rows does so changes along the motion. In the
volume their unit is the length of their gradient, with rotations as lengths, so that rows of points and of angles can be added.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.kkt.block_kernels import pivot_ratio
from haugmbd.kkt.block_ldl import Factor, eliminate_node, factor_pivot
from haugmbd.kkt.elimination_order import WIDE, EliminationSteps
from haugmbd.math.larger import worst_of

SWITCH = 1e-2
"""A kept row is replaced by one whose pivot is larger by this factor, which limits the loss of digits."""


class RowChoice(NamedTuple):
    """The selection of rows.

    pad, kept: (ne, 6) tables of the model;  scale: (nn, 6) scales of the pivots;  S: (6, 9) work array
    J: (6 ne, sides, 6) gradients of the rows;  length: the characteristic length [m]
    span: (ne, 1) squared volume of the rows of each edge of which some are left out
    """

    pad: Array
    kept: Array
    scale: Array
    S: Array
    span: Array
    J: Array
    length: float


@inlined
def factor_chosen_nodes(s: EliminationSteps, c: RowChoice, f: Factor, x: Array, all_wide: bool) -> tuple[float, int]:
    """Factor as `block_ldl.factor_nodes` does, with dependent rows left out;  all_wide: a compile-time constant, see there."""
    D, d_inv, B = f.D, f.d_inv, f.B
    first_edge = c.scale.shape[0] - c.kept.shape[0]
    worst, where = 1.0, -1
    for step in range(s.order.shape[0]):
        node = s.order[step, 0]
        drops = node >= first_edge and choose(c, node - first_edge, node, D[node])
        factor_pivot(s, f, step, node, all_wide)
        if drops:
            for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
                by_lines = not all_wide and s.order[step, 1] == WIDE and s.neighbors[k, 2] != WIDE
                clear_rows(c.S, B[s.neighbors[k, 1]], by_lines)
            for a in range(6):
                if c.S[a, 6] == 0.0:
                    d_inv[node, a] = 0.0
        weak = pivot_ratio(d_inv[node], c.scale[node])
        worst, where = worst_of(worst, where, weak, node)
        eliminate_node(s, f, x, step, node, all_wide)
    return 1.0 / worst, where


@kernel
def choose(c: RowChoice, edge: int, node: int, D: Array) -> bool:
    """Write 1 to S[:, 6] for rows that are eliminated and 0 for the others, whose rows and columns in D (6, 6) become those of -1.

    S[:, 7]: the rows in the order of their elimination, after the scaling of each;  S[:, 8]: see `put_units`
    Return whether any row is left out.
    """
    S, wanted, rows = c.S, 0, 0
    for a in range(6):
        wanted += c.kept[edge, a] == 1.0
        rows += c.pad[edge, a] == 0.0
    if wanted == rows:
        return False
    for a in range(6):
        S[a, 6] = 0.0 if c.pad[edge, a] == 0.0 else 1.0
        S[a, 7] = 1.0 / sqrt(c.scale[node, a])
        for b in range(a + 1):
            S[a, b] = S[b, a] = -D[a, b] * S[a, 7] * S[b, 7]
    for k in range(wanted):
        row = next_row(S, c.kept[edge])
        S[k, 7] = row
        take(S, row)
    put_units(c, edge, node)
    c.span[edge, 0] = squared_volume(S, wanted)
    for a in range(6):
        if S[a, 6] == 0.0:
            for b in range(6):
                D[max(a, b), min(a, b)] = 0.0
            D[a, a] = -1.0
    return True


@kernel
def next_row(S: Array, kept: Array) -> int:
    """Return the remaining row with the largest pivot; a kept row is preferred unless it is much worse."""
    best, own = -1, -1
    for a in range(6):
        if S[a, 6] == 0.0:
            if best < 0 or S[a, a] > S[best, best]:
                best = a
            if kept[a] == 1.0 and (own < 0 or S[a, a] > S[own, own]):
                own = a
    return own if own >= 0 and S[own, own] >= SWITCH * S[best, best] else best


@kernel
def take(S: Array, row: int) -> None:
    """Mark a row as taken, and subtract its part from the others in S."""
    S[row, 6] = 1.0
    for a in range(6):
        if S[a, 6] == 0.0:
            part = S[a, row] / S[row, row]
            for b in range(6):
                if S[b, 6] == 0.0:
                    S[a, b] -= part * S[row, b]


@kernel
def put_units(c: RowChoice, edge: int, node: int) -> None:
    """Write by what a row in units of its scale is multiplied to be one in units of its gradient to S[:, 8]."""
    turns = 1.0 / (c.length * c.length)
    for row in range(6):
        squared = 0.0
        for side in range(c.J.shape[1]):
            d = c.J[6 * edge + row, side]
            squared += d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + turns * (d[3] * d[3] + d[4] * d[4] + d[5] * d[5])
        c.S[row, 8] = sqrt(c.scale[node, row] / squared) if squared > 0.0 else 1.0


@kernel
def squared_volume(S: Array, n_taken: int) -> float:
    """Return V^2 of all rows, by the elimination of those in S[:, 7]; the rows of S that are left out become W, and L of 1 + W W^T."""
    found = 1.0
    for i in range(n_taken - 1, -1, -1):
        row = int(S[i, 7])
        found *= S[row, row] * S[row, 8] * S[row, 8]
        for a in range(6):
            if S[a, 6] == 0.0:
                for j in range(i + 1, n_taken):
                    later = int(S[j, 7])
                    S[a, row] -= S[a, later] * S[later, row]
                S[a, row] /= S[row, row]
    for a in range(6):
        if S[a, 6] == 0.0:
            for i in range(n_taken):
                row = int(S[i, 7])
                S[a, row] *= S[a, 8] / S[row, 8]
            for b in range(a + 1):
                if S[b, 6] == 0.0:
                    S[a, b] = 1.0 if a == b else 0.0
                    for i in range(n_taken):
                        S[a, b] += S[a, int(S[i, 7])] * S[b, int(S[i, 7])]
                    for k in range(b):
                        if S[k, 6] == 0.0:
                            S[a, b] -= S[a, k] * S[b, k] / S[k, k]
            found *= S[a, a]
    return found


@kernel
def clear_rows(S: Array, B: Array, by_lines: bool) -> None:
    """Set the rows of B (6, 6) that are left out to zero;  by_lines: B has the lines of a narrow neighbour, and they are columns."""
    for a in range(6):
        if S[a, 6] == 0.0:
            for b in range(6):
                if by_lines:
                    B[b, a] = 0.0
                else:
                    B[a, b] = 0.0
