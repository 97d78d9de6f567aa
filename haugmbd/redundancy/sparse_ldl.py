r"""Block LDL^T of [ 1 J^T; J 0 ] in NumPy that leaves out rows near the span of the ones before: O(n) for chains, trees, ladders.

    K = [ 1  J^T; J  0 ]      J = Phi_q, columns of omega_bar divided by a length, rows of length 1: the rank does not depend on masses
    pivot of a row            = - (distance of the row from the span of the rows before it)^2
    K (u, c) = (g, s)         u = the motion nearest to g with J u = s of the kept rows,  c = their coefficients

The elimination is that of `kkt.block_ldl` (its schedule, its blocks); it runs once for each model, and needs no compiler. Edges are
eliminated in the order of the schedule. Inside an edge the row that is farthest from the span of those before is next (diagonal
pivoting), and a row whose pivot is too small is left out. Rounding of a pivot grows with the square of the coefficients by which its
row follows from those before: rows that are kept near the span of others make them large, and hide pivots that should be zero. A first
pass therefore keeps only rows that are far from the others (WELL_TOL); `rank` decides about the rest.
The unit matrix replaces M, because with very different masses a pivot would not measure the angle between rows.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.kkt.front_solver import has_fronts
from haugmbd.model.model import Model
from haugmbd.redundancy.front_elimination import FrontElimination, eliminate_by_fronts
from haugmbd.tolerances import DEPENDENT

PIVOT_TOL = DEPENDENT**2
"""A row of length 1 depends on the others if the square of its distance from their span is below this: a pose typed with five digits."""

WELL_TOL = 1e-4
"""The first pass leaves a row out if its pivot, relative to the largest value of its diagonal, is below this: the square of 1e-2."""

FLOOR = 1e-14
"""The bound of pivots after the independent rows have been decided: rounding of zero only."""

PREFERRED = 0.5
"""Inside an edge the first row is kept whose pivot is at least this part of the largest one. The choice between equal pivots is then the
same on every machine, and at most a factor of two for each row is lost."""

INVERSE_STEPS = 3
"""Number of steps of inverse iteration; a null vector dominates after two of them."""

SLOTS = 6


class Elimination(NamedTuple):
    """Inverse diagonal blocks (nn, 6, 6), zero for rows left out; off-diagonal blocks (n_blocks, 6, 6); dropped slots.

    weakest: the smallest relative pivot that was kept
    """

    inverse: Array
    B: Array
    dropped: list[int]
    weakest: float

    @property
    def n_nodes(self) -> int:
        """Return the number of bodies, the ground counted, and edges."""
        return len(self.inverse)


AnyElimination: TypeAlias = Elimination | FrontElimination


def eliminate(model: Model, J: Array, active: Array, tol: float = WELL_TOL) -> AnyElimination:
    """Return the elimination of all nodes in the order of the schedule, without rows whose relative pivot is not above `tol`.

    J: (6 ne, sides, 6) rows of length 1 in their slots;  active: (6 ne,) 1 for the rows that take part
    """
    table = model.tables
    if has_fronts(table):
        return eliminate_by_fronts(model, J, active, tol, PREFERRED)
    order = integers(model, "ORDER")[:, 0].tolist()
    neighbor_starts, update_starts = (integers(model, name).ravel().tolist() for name in ("NEIGHBOR_STARTS", "UPDATE_STARTS"))
    neighbors, fill_updates = integers(model, "NEIGHBORS")[:, :2].tolist(), integers(model, "FILL_UPDATES")[:, :3].tolist()
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
            block = keep[:, None], keep
            inverse[node][block] = np.linalg.inv(D[node][block])
            if len(keep) < len(rows):
                dropped += [first + int(k) for k in np.setdiff1d(rows, keep)]
        carried = {block: inverse[node] @ B[block] for _, block in neighbors[neighbor_starts[step] : neighbor_starts[step + 1]]}
        for other, block in neighbors[neighbor_starts[step] : neighbor_starts[step + 1]]:
            D[other] -= B[block].T @ carried[block]
            np.maximum(peak[other], np.abs(D[other].reshape(-1)[:: SLOTS + 1]), out=peak[other])
        for a, b, target in fill_updates[update_starts[step] : update_starts[step + 1]]:
            B[target] -= B[a].T @ carried[b]
    return Elimination(inverse, B, dropped, weak)


def integers(model: Model, name: str) -> Ints:
    """Return a table of integers, also one of the block LDL^T of a model that another solver serves."""
    tables = model.tables if any(model.tables.place(name)) else model.block_tables
    return tables[name].astype(np.int64)


def _coupling(model: Model, J: Array, active: Array) -> Array:
    """Return the blocks that couple edges with their bodies; zero for the fill and for inactive rows."""
    B = np.zeros((model.block_tables.place("B")[1], SLOTS, SLOTS))
    by_edge = np.where(active[:, None, None], J, 0.0).reshape(-1, SLOTS, model.sides, SLOTS)
    for edge, (numbers, body_first) in enumerate(zip(integers(model, "BODY_BLOCK"), integers(model, "BODY_FIRST"), strict=True)):
        for side in range(model.sides):
            if numbers[side] >= 0:
                block = by_edge[edge, :, side]
                B[numbers[side]] = block.T if body_first[side] else block
    return B


def _independent(D: Array, rows: Ints, peak: Array, tol: float) -> tuple[Ints, float]:
    """Return those of `rows` whose pivots in D (6, 6), negative semidefinite, are above `tol` relative to `peak` (6,).

    Return the smallest pivot as well.
    """
    size = np.sqrt(np.where(peak > 0.0, peak, 1.0))
    S = (-D / (size[:, None] * size)).tolist()  # lists: for six numbers they take a quarter of the time of arrays
    left, keep, weak = rows.tolist(), [], 1.0
    while left:
        pivots = [S[r][r] for r in left]
        largest = max(pivots)
        if not largest > tol:
            break
        row = left.pop(next(k for k, x in enumerate(pivots) if x >= PREFERRED * largest))
        keep.append(row)
        line = S[row]
        pivot = line[row]
        weak = min(weak, pivot)
        for r in left:
            x = S[r][row]
            S[r] = [c - x * y / pivot for c, y in zip(S[r], line, strict=True)]
    return np.array(sorted(keep), dtype=np.int64), weak


def solve(model: Model, e: AnyElimination, x: Array) -> Array:
    """Overwrite right-hand sides x (nn, 6, nd) with the solutions of K x = b."""
    if isinstance(e, FrontElimination):
        return e.solve(x)
    order, neighbor_starts = integers(model, "ORDER")[:, 0].tolist(), integers(model, "NEIGHBOR_STARTS").ravel().tolist()
    neighbors = integers(model, "NEIGHBORS")[:, :2].tolist()
    for step, node in enumerate(order):
        q = e.inverse[node] @ x[node]
        for other, block in neighbors[neighbor_starts[step] : neighbor_starts[step + 1]]:
            x[other] -= e.B[block].T @ q
    for step in range(len(order) - 1, -1, -1):
        node = order[step]
        total = x[node].copy()
        for other, block in neighbors[neighbor_starts[step] : neighbor_starts[step + 1]]:
            total -= e.B[block] @ x[other]
        x[node] = e.inverse[node] @ total
    return x


def random_motions(model: Model, e: AnyElimination, n: int) -> Array:
    """Return `n` motions that the kept rows allow, (nb + 1, 6, n), normally distributed, with rotations as lengths; always the same."""
    x = np.zeros((e.n_nodes, SLOTS, n))
    x[1 : model.nb + 1] = np.random.default_rng(0).normal(size=(model.nb, SLOTS, n))
    u = solve(model, e, x)[: model.nb + 1]
    u[0] = 0.0
    return u


def weakest_combination(model: Model, J: Array, e: AnyElimination) -> tuple[Array, float]:
    """Return the combination y (6 ne,), |y| = 1, of the kept rows J (6 ne, sides, 6) nearest to zero, and |y J|, by inverse iteration."""
    pair, n = integers(model, "EDGES"), model.nb + 1
    y = np.random.default_rng(0).normal(size=(len(pair), SLOTS))
    for _ in range(INVERSE_STEPS):
        x = np.zeros((e.n_nodes, SLOTS, 1))
        x[n:, :, 0] = y
        y = solve(model, e, x)[n:, :, 0]
        y /= np.linalg.norm(y) or 1.0
    left = np.zeros((n, SLOTS))
    rows = J.reshape(-1, SLOTS, model.sides, SLOTS)
    for side in range(model.sides):
        np.add.at(left, pair[:, side], np.einsum("es,esc->ec", y, rows[:, :, side]))
    return y.ravel(), float(np.linalg.norm(left[1:]))
