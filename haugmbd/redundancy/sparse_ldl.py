"""Block LDL^T of [ 1 J^T; J 0 ] in NumPy that leaves out rows near the span of the ones before: O(n) for chains, trees, ladders.

    K = [ 1  J^T; J  0 ]      J = Phi_q, columns of omega_bar divided by a length, rows of length 1: the rank does not depend on masses
    pivot of a row            = - (distance of the row from the span of the rows before it)^2
    K (u, c) = (g, s)         u = the motion nearest to g with J u = s of the kept rows,  c = their coefficients

The elimination is that of `kkt.block_ldl` (its schedule, its blocks); it runs once for each model, and needs no compiler. Edges are
eliminated in the order of the schedule. Inside an edge the row that is farthest from the span of those before is next (diagonal
pivoting), and a row whose pivot is too small is left out. Rounding of a pivot grows with the square of the coefficients by which its
row follows from those before: rows that are kept near the span of others make them large, and hide pivots that should be zero. A first
pass therefore keeps only rows that are far from the others (WELL_TOL); `rank` decides about the rest.
The unit matrix replaces M, because with very different masses a pivot would not measure the angle between rows.

Sparse solutions visit only nodes with nonzero values.

    forward    q = D^-1 x of a node,  x_other -= B^T q       from the bodies of a dropped row, until the row is expressed by others
    backward   x = D^-1 (x - sum B x_other)                  to the neighbours of nodes with a value

A dropped row follows from rows that were eliminated before it, most often those of its own loop. All dropped rows of a ladder of n
four-bars are found in O(n) together; full passes over n nodes for each of them would take O(n^2).

Models that the multifrontal solver serves are eliminated by fronts, with the same rules: the order, and with it the choice among
dependent rows, is that of the fronts. With the unit matrix in place of M the pivot of a row of length 1 is the square of its distance from
the span of the rows before it.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.kkt.front_solver import factorize_independent_entry, has_fronts, solve_columns_entry
from haugmbd.model.model import Model
from haugmbd.tolerances import DEPENDENT
from haugmbd.workspace.layout import Pack, Workspace, workspace_array

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
    """Return a table of integers, of the block LDL^T of all edges where it has it, also of a model that another solver serves."""
    tables = model.block_tables if any(model.block_tables.place(name)) else model.tables
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


ZERO_TOL = 1e-9
"""Part of the largest value below which a value counts as zero: above rounding, and below TERM_TOL of `rank`."""


class LocalSolver:
    """An elimination, with the neighbours of each node before it and after it in the order, and the blocks between them."""

    def __init__(self, model: Model, e: Elimination) -> None:
        order, neighbor_starts = integers(model, "ORDER")[:, 0].tolist(), integers(model, "NEIGHBOR_STARTS").ravel().tolist()
        neighbors = integers(model, "NEIGHBORS")[:, :2].tolist()
        self._e, self._order = e, order
        self._step = {node: step for step, node in enumerate(order)}
        self._later = [neighbors[neighbor_starts[step] : neighbor_starts[step + 1]] for step in range(len(order))]
        self._earlier: dict[int, list[int]] = {node: [] for node in order}
        for step, others in enumerate(self._later):
            for other, _ in others:
                self._earlier[other].append(step)

    def solve(self, b: dict[int, Array]) -> dict[int, Array]:
        """Return the values (6, n) of the nodes where they are not zero, for right-hand sides (6, n) in the same form."""
        least = ZERO_TOL * max(float(np.abs(part).max()) for part in b.values())
        x = {node: part.copy() for node, part in b.items()}
        self._forward(x, least)
        return self._backward(x, least)

    def _forward(self, x: dict[int, Array], least: float) -> None:
        """Eliminate the right-hand sides, in the order of the elimination."""
        ahead = sorted(self._step[node] for node in x)
        while ahead:
            step = heappop(ahead)
            node = self._order[step]
            q = self._e.inverse[node] @ x[node]
            if np.abs(q).max() <= least:
                continue
            for other, block in self._later[step]:
                if other not in x:
                    x[other] = np.zeros_like(q)
                    heappush(ahead, self._step[other])
                x[other] -= self._e.B[block].T @ q

    def _backward(self, x: dict[int, Array], least: float) -> dict[int, Array]:
        """Return the solution, by back substitution in the opposite order."""
        values: dict[int, Array] = {}
        behind = sorted(-self._step[node] for node in x)
        marked = set(behind)
        while behind:
            step = -heappop(behind)
            node = self._order[step]
            total = x[node].copy() if node in x else None
            for other, block in self._later[step]:
                if other in values:
                    part = self._e.B[block] @ values[other]
                    total = -part if total is None else total - part
            value = None if total is None else self._e.inverse[node] @ total
            if value is None or np.abs(value).max() <= least:
                continue
            values[node] = value
            for before in self._earlier[node]:
                if -before not in marked:
                    marked.add(-before)
                    heappush(behind, -before)
        return values


UNIT_INERTIA = np.array([1.0, *np.eye(3).ravel()])


class FrontElimination(NamedTuple):
    """A factorization by fronts; dropped slots; the smallest relative pivot that was kept.

    pack: a workspace of its own, with the factor;  kept: (ne, 6) whether a row was kept
    """

    pack: Pack
    kept: Array
    dropped: list[int]
    weakest: float

    @property
    def n_nodes(self) -> int:
        """Return the number of bodies, the ground counted, and edges."""
        return len(workspace_array(self.pack, "SOLUTION"))

    def solve(self, x: Array) -> Array:
        """Return the solutions of K x = b for right-hand sides x (nn, 6, nd)."""
        columns = np.ascontiguousarray(np.moveaxis(x, 2, 0), dtype=np.float64)
        columns[:, -len(self.kept) :][:, self.kept == 0.0] = 0.0
        solve_columns_entry(Workspace(*self.pack[:3]), columns)
        x[:] = np.moveaxis(columns, 0, 2)
        return x


AnyElimination: TypeAlias = Elimination | FrontElimination


def eliminate_by_fronts(model: Model, J: Array, active: Array, tol: float, preferred: float) -> FrontElimination:
    """Return the elimination of all rows whose relative pivot is above `tol`; see `sparse_ldl.eliminate`."""
    pack = model.pack()
    taking_part = np.asarray(active, dtype=np.float64).reshape(-1, 6)
    reals = model.tables.reals.copy()
    for name, value in (("SHIFTED", UNIT_INERTIA), ("PAD", 0.0), ("SCALE", 1.0), ("KEPT", taking_part)):
        start, m, n = model.tables.place(name)
        reals[start : start + m * n].reshape(m, n)[:] = value
    pack = pack._replace(reals=reals)
    rows = workspace_array(pack, "J")
    rows[:] = np.where(np.asarray(active, dtype=bool)[:, None], J.reshape(rows.shape), 0.0)
    factorize_independent_entry(Workspace(*pack[:3]), tol, preferred)
    d_inv = workspace_array(pack, "D_INV")[model.nb + 1 :]
    kept = np.where((d_inv != 0.0) & (taking_part == 1.0), 1.0, 0.0)
    left_out = (kept == 0.0) & (taking_part == 1.0)
    dropped: Ints = np.nonzero(left_out.ravel())[0]
    largest = np.abs(d_inv[kept == 1.0]).max(initial=1.0)
    return FrontElimination(pack, kept, dropped.tolist(), float(1.0 / largest))


class FullSolver:
    """The solver of `sparse_ldl` for an elimination by fronts: all nodes are visited."""

    def __init__(self, e: FrontElimination) -> None:
        self._e = e

    def solve(self, b: dict[int, Array]) -> dict[int, Array]:
        """Return the values (6, n) of all nodes, for right-hand sides (6, n) of some."""
        n = next(iter(b.values())).shape[1]
        x = np.zeros((self._e.n_nodes, 6, n))
        for node, part in b.items():
            x[node] = part
        solution = self._e.solve(x)
        return dict(enumerate(solution))
