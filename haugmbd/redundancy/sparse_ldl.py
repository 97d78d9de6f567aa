r"""Block LDL^T of [ 1 J^T; J 0 ] in NumPy that leaves out rows near the span of the ones before: O(n) for chains, trees, ladders.

    K = [ 1  J^T; J  0 ]      J = Phi_q, columns of omega_bar divided by a length, rows of length 1: rank is no matter of mass
    pivot of a row            = - (distance of the row from the span of the rows before it)^2
    K (u, c) = (g, s)         u = the motion nearest to g with J u = s of the kept rows,  c = their coefficients

The elimination is that of `kkt.block_ldl` (its schedule, its blocks); it runs once a model, and needs no compiler.  Edges come in the
order of the schedule; inside an edge the row that is farthest from the span of those before is taken next (diagonal pivoting), and a
row whose pivot is too small is left out where it stands.  Rounding of a pivot is 1e-16 |C|^2, C the coefficients by which its row follows
from those before: rows that are kept near the span of others make C large, and pivots that should be zero look like 1e-8.  So a first
pass keeps only rows that are far from the others (WELL_TOL); `rank` decides about the rest.
The unit matrix separates best: with masses of 1 g beside 1 t a pivot would be a distance in a metric that stretches by 1e6, and rows
between light bodies would look far apart, those between heavy ones near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.model.model import Model
from haugmbd.workspace import layout as at

PIVOT_TOL = 1e-10
"""Square of the distance from the span of the others below which a row of length 1 depends on them: a pose typed with five digits."""

WELL_TOL = 1e-4
"""Pivot, relative to the largest value that its diagonal ever had, below which the first pass leaves a row out: the square of 1e-2."""

FLOOR = 1e-14
"""The same where it has been decided which rows are independent: only what rounding has made of a zero."""

PREFERRED = 0.5
"""Inside an edge the first row is kept whose pivot is at least this part of the largest one: the same rows on every machine, whatever
rounding does to equal pivots, and at most a factor of two a row is lost."""

INVERSE_STEPS = 3
"""Of inverse iteration: a null vector that rounding hides has an eigenvalue of 1e-12 beside 1e-8, and stands out after two."""

SLOTS = 6


class Elimination(NamedTuple):
    """Inverse diagonal blocks (nn, 6, 6), zero for rows left out; carried blocks (n_blocks, 6, 6); dropped slots.

    weakest: the smallest pivot, relative, that was kept
    """

    inverse: Array
    B: Array
    dropped: list[int]
    weakest: float


def eliminate(model: Model, J: Array, active: Array, tol: float = WELL_TOL) -> Elimination:
    """Eliminate all nodes in the order of the schedule; leave rows out whose relative pivot is not above `tol`.

    J: (6 ne, 2, 6) rows of length 1 in their slots;  active: (6 ne,) which of them take part
    """
    table = model.tables
    order, near_at, pair_at = (integers(model, name).ravel().tolist() for name in ("ORDER", "NEAR_AT", "PAIR_AT"))
    near, pairs = integers(model, "NEAR").tolist(), integers(model, "PAIRS").tolist()
    n, n_nodes = model.nb + 1, model.nb + 1 + len(table["EDGES"])
    D = np.zeros((n_nodes, SLOTS, SLOTS))
    D[1:n] = np.eye(SLOTS)
    B = _coupling(model, J, active)
    inverse, peak = np.zeros_like(D), np.zeros((n_nodes, SLOTS))
    dropped: list[int] = []
    weak = 1.0
    for step, node in enumerate(order):
        if node < n:
            inverse[node] = np.linalg.inv(D[node])
        else:
            first = SLOTS * (node - n)
            rows = np.nonzero(active[first : first + SLOTS])[0]
            keep, pivot = _independent(D[node], rows, peak[node], tol)
            weak = min(weak, pivot)
            inverse[node][np.ix_(keep, keep)] = np.linalg.inv(D[node][np.ix_(keep, keep)])
            if len(keep) < len(rows):
                dropped += [first + int(k) for k in np.setdiff1d(rows, keep)]
        carried = {block: inverse[node] @ B[block] for _, block in near[near_at[step] : near_at[step + 1]]}
        for other, block in near[near_at[step] : near_at[step + 1]]:
            D[other] -= B[block].T @ carried[block]
            np.maximum(peak[other], np.abs(np.diagonal(D[other])), out=peak[other])
        for a, b, target in pairs[pair_at[step] : pair_at[step + 1]]:
            B[target] -= B[a].T @ carried[b]
    return Elimination(inverse, B, dropped, weak)


def integers(model: Model, name: str) -> Ints:
    """A table of whole numbers."""
    return model.tables[name].astype(np.int64)


def _coupling(model: Model, J: Array, active: Array) -> Array:
    """The blocks that couple edges with their bodies; zero for the fill and for rows that take no part."""
    table = model.tables
    B = np.zeros((int(table.ints[3 * at.B + 1]), SLOTS, SLOTS))
    by_edge = np.where(active[:, None, None], J, 0.0).reshape(-1, SLOTS, 2, SLOTS)
    for edge, (numbers, body_first) in enumerate(zip(integers(model, "BODY_BLOCK"), integers(model, "BODY_FIRST"), strict=True)):
        for side in (0, 1):
            if numbers[side] >= 0:
                block = by_edge[edge, :, side]
                B[numbers[side]] = block.T if body_first[side] else block
    return B


def _independent(D: Array, rows: Ints, peak: Array, tol: float) -> tuple[Ints, float]:
    """Those of `rows` whose pivots in D (6, 6), negative semidefinite, are above `tol`, relative to `peak` (6,); the smallest pivot."""
    size = np.sqrt(np.where(peak > 0.0, peak, 1.0))
    S = -D / np.outer(size, size)
    left, keep, weak = rows.tolist(), [], 1.0
    while left:
        pivots = S[left, left]
        largest = pivots.max()
        if not largest > tol:
            break
        row = left.pop(int(np.argmax(pivots >= PREFERRED * largest)))
        keep.append(row)
        weak = min(weak, float(S[row, row]))
        S -= np.outer(S[:, row], S[row]) / S[row, row]
    return np.array(sorted(keep), dtype=np.int64), weak


def solve(model: Model, e: Elimination, x: Array) -> Array:
    """Overwrite right-hand sides x (nn, 6, nd) by the solutions of K x = b."""
    order, near_at = integers(model, "ORDER").ravel().tolist(), integers(model, "NEAR_AT").ravel().tolist()
    near = integers(model, "NEAR").tolist()
    for step, node in enumerate(order):
        q = e.inverse[node] @ x[node]
        for other, block in near[near_at[step] : near_at[step + 1]]:
            x[other] -= e.B[block].T @ q
    for step in range(len(order) - 1, -1, -1):
        node = order[step]
        total = x[node].copy()
        for other, block in near[near_at[step] : near_at[step + 1]]:
            total -= e.B[block] @ x[other]
        x[node] = e.inverse[node] @ total
    return x


def random_motions(model: Model, e: Elimination, n: int) -> Array:
    """`n` motions that the kept rows allow, (nb + 1, 6, n), normally distributed: displacements and scaled turns; always the same."""
    x = np.zeros((len(e.inverse), SLOTS, n))
    x[1 : model.nb + 1] = np.random.default_rng(0).normal(size=(model.nb, SLOTS, n))
    u = solve(model, e, x)[: model.nb + 1]
    u[0] = 0.0
    return u


def weakest_combination(model: Model, J: Array, e: Elimination) -> tuple[Array, float]:
    """The combination y (6 ne,), |y| = 1, of the kept rows J (6 ne, 2, 6) that is nearest to zero, and |y J|: inverse iteration."""
    pair, n = integers(model, "EDGES"), model.nb + 1
    y = np.random.default_rng(0).normal(size=(len(pair), SLOTS))
    for _ in range(INVERSE_STEPS):
        x = np.zeros((len(e.inverse), SLOTS, 1))
        x[n:, :, 0] = y
        y = solve(model, e, x)[n:, :, 0]
        y /= np.linalg.norm(y) or 1.0
    left = np.zeros((n, SLOTS))
    rows = J.reshape(-1, SLOTS, 2, SLOTS)
    for side in (0, 1):
        np.add.at(left, pair[:, side], np.einsum("es,esc->ec", y, rows[:, :, side]))
    return y.ravel(), float(np.linalg.norm(left[1:]))
