r"""Which rows depend on the others at a pose: rank of Phi_q by a block LDL^T on the body-joint graph, O(n) for chains and trees.

    K = [ 1  J^T; J  0 ]      J = Phi_q, columns of omega_bar divided by a length, rows of length 1: rank is no matter of mass
    pivot of a row            = - (distance of the row from the span of the rows before it)^2
    J_r = c^T J_kept          from  u + J^T c = J_r^T,  J u = 0:  u is what the kept rows cannot say, 0 if r depends on them

The elimination is that of `saddle.factor` (its schedule, its blocks), in plain NumPy: it runs once a model, and needs no compiler.
A row whose pivot is zero is left out where it stands, so that one pass finds all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.model import tables as at
from haugmbd.model.model import Model, RowLabel
from haugmbd.model.rows import Rows

PIVOT_TOL = 1e-10
"""Pivot, relative to the largest value that its diagonal ever had, below which a row depends on the others: a pivot is the square
of a distance, so such a row is within 1e-5 of the span of the others (a pose typed with five digits); rounding leaves 1e-12."""

TERM_TOL = 1e-6
"""Coefficients below this part of the largest one are rounding (1e-12) or digits of the pose, and are left out."""

FLAT_TOL = 1e-10
"""|gradient| / |value| of a row whose gradient is zero: a dot product of parallel vectors has 1e-16."""

SLOTS = 6


class Dependency(NamedTuple):
    """`row` = sum of coefficient x row over `terms` (kept rows); no terms: the gradient of the row is zero at this pose."""

    row: int
    terms: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class RankReport:
    """How many rows there are, how many are independent, and how each of the others follows from those.

    rows, rank: counts;  dropped: numbers of the dependent rows;  dependencies: one for each of them;  labels: what each row is
    """

    rows: int
    rank: int
    dropped: tuple[int, ...]
    dependencies: tuple[Dependency, ...]
    labels: tuple[RowLabel, ...]

    def joints_of(self, dependency: Dependency) -> tuple[str, ...]:
        """The joints that a dependency ties together, in the order of the rows."""
        rows = sorted({dependency.row, *(row for row, _ in dependency.terms)})
        return tuple(dict.fromkeys(self.labels[row].joint for row in rows))

    def __str__(self) -> str:
        """One line for each dependent row: its label, and the rows that it follows from."""
        head = f"{self.rows} rows, rank {self.rank}"
        lines = []
        for row, terms in self.dependencies:
            sums = " ".join(f"{c:+.4g} ({self.labels[k]})" for k, c in terms) or "nothing: its gradient is zero"
            lines.append(f"{self.labels[row]} = {sums}")
        return "\n".join([head, *lines])


class _Elimination(NamedTuple):
    """Inverse diagonal blocks (nn, 6, 6), zero for rows left out; carried blocks (n_blocks, 6, 6); dropped slots."""

    inverse: Array
    B: Array
    dropped: list[int]


def rank_report(model: Model, rows: Rows) -> RankReport:
    """Rank of Phi_q at the pose where `rows` were evaluated, and the dependencies."""
    J, norm, flat = _normalised(model, rows)
    J_slots = np.zeros((SLOTS * len(model.tables["EDGES"]), 2, SLOTS))
    swap = np.stack([model.side_of_i, 1 - model.side_of_i], axis=1)[:, :, None]
    J_slots[model.slot_of_row] = np.take_along_axis(J, swap, axis=1)
    active = np.zeros(len(J_slots), dtype=bool)
    active[model.slot_of_row] = ~flat
    elimination = _eliminate(model, J_slots, active)
    row_of_slot = {int(slot): row for row, slot in enumerate(model.slot_of_row)}
    found = [Dependency(int(row), ()) for row in np.nonzero(flat)[0]]
    if elimination.dropped:
        found += _dependencies(model, J_slots, elimination, row_of_slot, norm)
    found.sort()
    return RankReport(model.nc, model.nc - len(found), tuple(d.row for d in found), tuple(found), model.labels)


def row_scale(model: Model, rows: Rows) -> Array:
    """J_r M^-1 J_r^T of each row, (nc,): the compliance of its two bodies, with the inertia that is factored."""
    inertia = model.tables["SHIFTED"]
    scale = np.zeros(model.nc)
    for side in (0, 1):
        body = rows.bodies[:, side]
        moving = body > 0
        mass, J_bar = inertia[body[moving], 0], inertia[body[moving], 1:].reshape(-1, 3, 3)
        Phi_r, PiBar = rows.Phi_r[moving, side], rows.PiBar[moving, side]
        turned = np.linalg.solve(J_bar, PiBar[:, :, None])[:, :, 0]
        scale[moving] += np.sum(Phi_r**2, axis=1) / mass + np.sum(PiBar * turned, axis=1)
    return scale


def put_row_scale(model: Model, rows: Rows) -> None:
    """Write the scales of the rows to the table SCALE of a model that nobody has seen yet."""
    start, _, columns = model.tables.ints[3 * at.SCALE :][:3]
    first = start + columns * (model.nb + 1)
    model.tables.reals[first + model.slot_of_row] = row_scale(model, rows)


def _normalised(model: Model, rows: Rows) -> tuple[Array, Array, Ints]:
    """Rows (nc, 2, 6) of length 1 over a common unit, zero for the ground; their lengths; which of them have no gradient at all."""
    force, moment = np.linalg.norm(rows.Phi_r, axis=2), np.linalg.norm(rows.PiBar, axis=2)
    pulls = force > 0.0
    length = np.sqrt(np.mean(np.square(moment[pulls] / force[pulls]))) if pulls.any() else 1.0
    J = np.concatenate([rows.Phi_r, rows.PiBar / (length or 1.0)], axis=2)
    J[rows.bodies == 0] = 0.0
    norm = np.sqrt(np.sum(J**2, axis=(1, 2)))
    value = np.abs(rows.Phi + driver_values(model, 0.0)[driver_of_row(model)])
    flat = (norm == 0.0) | (norm < FLAT_TOL * value)
    norm[flat] = 1.0
    return J / norm[:, None, None], norm, flat


def driver_of_row(model: Model) -> Ints:
    """The number of the driver of each row, (nc,)."""
    ints = _integers(model, "ROW_INTS")
    of_slot = np.zeros(SLOTS * len(model.tables["EDGES"]), dtype=np.int64)
    of_slot[ints[:, 0]] = ints[:, 2]
    numbers: Ints = of_slot[model.slot_of_row]
    return numbers


def driver_values(model: Model, t: float) -> Array:
    """f of each driver at time t [s], (nd,)."""
    return np.array([driver.values(t)[0] for driver in model.drivers])


def _eliminate(model: Model, J: Array, active: Array) -> _Elimination:
    """Eliminate all nodes in the order of the schedule; leave rows out whose pivot is zero."""
    table = model.tables
    order, near_at, pair_at = (_integers(model, name).ravel().tolist() for name in ("ORDER", "NEAR_AT", "PAIR_AT"))
    near, pairs = _integers(model, "NEAR").tolist(), _integers(model, "PAIRS").tolist()
    n, n_nodes = model.nb + 1, model.nb + 1 + len(table["EDGES"])
    D = np.zeros((n_nodes, SLOTS, SLOTS))
    D[1:n] = np.eye(SLOTS)
    B = _coupling(model, J, active)
    inverse, peak = np.zeros_like(D), np.zeros((n_nodes, SLOTS))
    dropped: list[int] = []
    for step, node in enumerate(order):
        if node < n:
            inverse[node] = np.linalg.inv(D[node])
        else:
            first = SLOTS * (node - n)
            rows = np.nonzero(active[first : first + SLOTS])[0]
            keep = _independent(D[node], rows, peak[node])
            inverse[node][np.ix_(keep, keep)] = np.linalg.inv(D[node][np.ix_(keep, keep)])
            dropped += [first + int(k) for k in np.setdiff1d(rows, keep)]
        carried = {block: inverse[node] @ B[block] for _, block in near[near_at[step] : near_at[step + 1]]}
        for other, block in near[near_at[step] : near_at[step + 1]]:
            D[other] -= B[block].T @ carried[block]
            np.maximum(peak[other], np.abs(np.diagonal(D[other])), out=peak[other])
        for a, b, target in pairs[pair_at[step] : pair_at[step + 1]]:
            B[target] -= B[a].T @ carried[b]
    return _Elimination(inverse, B, dropped)


def _integers(model: Model, name: str) -> Ints:
    """A table of whole numbers."""
    return model.tables[name].astype(np.int64)


def _coupling(model: Model, J: Array, active: Array) -> Array:
    """The blocks that couple edges with their bodies; zero for the fill and for rows that take no part."""
    table = model.tables
    B = np.zeros((int(table.ints[3 * at.B + 1]), SLOTS, SLOTS))
    by_edge = np.where(active[:, None, None], J, 0.0).reshape(-1, SLOTS, 2, SLOTS)
    for edge, (numbers, body_first) in enumerate(zip(_integers(model, "BODY_BLOCK"), _integers(model, "BODY_FIRST"), strict=True)):
        for side in (0, 1):
            if numbers[side] >= 0:
                block = by_edge[edge, :, side]
                B[numbers[side]] = block.T if body_first[side] else block
    return B


def _independent(D: Array, rows: Ints, peak: Array) -> Ints:
    """Those of `rows` whose pivots in D (6, 6), negative semidefinite, are not zero, relative to `peak` (6,)."""
    size = np.sqrt(np.where(peak > 0.0, peak, 1.0))
    S = -D / np.outer(size, size)
    keep: list[int] = []
    for row in rows.tolist():
        pivot = S[row, row]
        if not pivot > PIVOT_TOL:
            continue
        keep.append(row)
        S -= np.outer(S[:, row], S[row]) / pivot
    return np.array(keep, dtype=np.int64)


def _dependencies(model: Model, J: Array, e: _Elimination, row_of_slot: dict[int, int], norm: Array) -> list[Dependency]:
    """Each dropped row by the kept ones; a row that they cannot express after all is none of them."""
    x = _solve(model, e, _right_hand_sides(model, J, e.dropped))
    u, lam = x[: model.nb + 1], x[model.nb + 1 :].reshape(-1, len(e.dropped))
    left = np.sum(u**2, axis=(0, 1))
    found = []
    for k, slot in enumerate(e.dropped):
        if not left[k] <= 100.0 * PIVOT_TOL:
            continue
        size = np.abs(lam[:, k])
        row = row_of_slot[slot]
        kept = [(row_of_slot[int(s)], lam[s, k]) for s in np.nonzero(size > TERM_TOL * size.max())[0]]
        found.append(Dependency(row, tuple(sorted((other, float(c * norm[row] / norm[other])) for other, c in kept))))
    return found


def _right_hand_sides(model: Model, J: Array, dropped: list[int]) -> Array:
    """(J_r^T, 0) for each dropped row r, by nodes, (nn, 6, nd)."""
    edges = model.tables["EDGES"]
    b = np.zeros((model.nb + 1 + len(edges), SLOTS, len(dropped)))
    for k, slot in enumerate(dropped):
        for side, body in enumerate(map(int, edges[slot // SLOTS])):
            if body:
                b[body, :, k] += J[slot, side]
    return b


def _solve(model: Model, e: _Elimination, x: Array) -> Array:
    """Overwrite right-hand sides x (nn, 6, nd) by the solutions of K x = b."""
    order, near_at = _integers(model, "ORDER").ravel().tolist(), _integers(model, "NEAR_AT").ravel().tolist()
    near = _integers(model, "NEAR").tolist()
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
