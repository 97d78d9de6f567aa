"""Rows that are independent at a pose, singular poses, and the null space of the rows of large models.

    rows nearly dependent           others take their place: across its plane a loop has one row too many, wherever the plane turns
    rank lost at this pose only     a singular pose: bars in line, a lattice that has collapsed

At a singular pose the tangent space of the constraints is not defined: the null space of Phi_q has directions in which the mechanism
cannot move. Stiffness along them would be that of motions that do not exist.

The null space of large sparse matrices.

    [ 1  J^T ] (g)   (f)            g = N N^T f,  f = g + J^T c:  c the multipliers of least |g|        J: rows of length 1
    [ J   0  ] (c) = (0)            N = Q of  (N N^T X) = Q R,  X random: as many columns as the null space has

    [ 1  J^T ] (x)   (0)            c = -(J J^T)^-1 y: by inverse iteration the combination y of rows that is nearest to zero,
    [ J   0  ] (c) = (y)            sigma = |J^T y|;  the distance of row r from the span of the others is at most sigma / |y_r|

A basis takes n nd^2 operations, that of the orthogonal factors of J^T n^3, and a projection about n.
Source: Haug (2021), null space of the constraint Jacobian; Halko, Martinsson and Tropp (2011), sec. 4 (range by random vectors); Golub
and Van Loan, Matrix Computations, sec. 8.2.2 (inverse iteration).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.analysis.assembly.constraint_system import unit_rows
from haugmbd.analysis.assembly.regularized_least_squares import bordered
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SingularKKTError
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import analyse_rank
from haugmbd.redundancy.redundancy import redundancy_of
from haugmbd.system.checks.solvability import dependence_faults

if TYPE_CHECKING:
    from scipy.sparse import csc_array

INVERSE_STEPS = 3
"""Steps of inverse iteration: a combination far nearer to zero than the others dominates after two."""


class SparseProjection(NamedTuple):
    """The projection on the null space of J (nk, n).

    lam: (nk,) multipliers of least |f - J^T lam|;  weakest: distance of the weakest row from the span of the others
    """

    factor: Any
    J: csc_array
    lam: Array
    weakest: float

    def along(self, x: Array) -> Array:
        """Return N N^T x of x (n,) or (n, m)."""
        n = self.J.shape[1]
        for _ in range(2):  # once leaves rounding over the smallest singular value
            x = self.factor.solve(np.concatenate([x, np.zeros((self.J.shape[0], *x.shape[1:]))]))[:n]
        return np.asarray(x)

    def basis(self) -> Array:
        """Return N (n, nd), by parts of J that share no row; coordinates that no row has are columns of their own."""
        rows, n = self.J.shape
        of_row, of_column = _parts(self.J)
        held = np.flatnonzero(of_column >= 0)
        count = max(1, int(max(of_row.max(initial=-1), of_column.max(initial=-1))) + 1)
        freedoms = np.bincount(of_column[held], minlength=count) - np.bincount(of_row, minlength=count)
        X = np.zeros((n, int(freedoms.max(initial=0))))
        X[held] = np.random.default_rng(0).normal(size=(len(held), X.shape[1]))
        X = self.along(X)  # of all parts at once: none knows of the others
        free = np.flatnonzero(of_column < 0)
        N, first = np.zeros((n, n - rows)), len(free)
        N[free, np.arange(len(free))] = 1.0
        for part in np.flatnonzero(freedoms).tolist():
            columns, last = np.flatnonzero(of_column == part), first + int(freedoms[part])
            N[columns, first:last] = scipy.linalg.qr(X[columns, : last - first], mode="economic", check_finite=False)[0]
            first = last
        return N


def _parts(J: csc_array) -> tuple[Ints, Ints]:
    """Return the number of the part of each row (nk,) and column (n,), -1 for a column that no row has."""
    from scipy.sparse import coo_array  # noqa: PLC0415  imported only where a model is large
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    rows, n = J.shape
    there = np.flatnonzero(J.data)
    row, column = J.indices[there], np.repeat(np.arange(n), np.diff(J.indptr))[there]
    ends = (row, rows + column)
    graph = coo_array((np.ones(len(there), dtype=np.int8), ends), shape=(rows + n, rows + n))
    part = connected_components(graph, directed=False)[1].astype(np.int64)
    of_column = part[rows:].copy()
    of_column[np.bincount(column, minlength=n) == 0] = -1
    return part[:rows], of_column


def sparse_projection(J: csc_array, force: Array) -> SparseProjection | None:
    """Return the projection on the null space of J (nk, n); None if its rows are dependent up to rounding."""
    from scipy.sparse.linalg import splu  # noqa: PLC0415  imported only where a model is large

    unit, length = unit_rows(J)
    n = J.shape[1]
    try:
        factor = splu(bordered(unit, 0.0))
    except RuntimeError:  # exactly singular
        return None
    y = np.random.default_rng(0).normal(size=J.shape[0])
    for _ in range(INVERSE_STEPS):
        y = factor.solve(np.concatenate([np.zeros(n), y / np.linalg.norm(y)]))[n:]
    sigma, largest = float(np.linalg.norm(y)) ** -0.5, float(np.abs(y).max() / np.linalg.norm(y))
    if not np.isfinite(sigma):
        return None
    lam = factor.solve(np.concatenate([force, np.zeros(J.shape[0])]))[n:]
    lam += factor.solve(np.concatenate([force - unit.T @ lam, np.zeros(J.shape[0])]))[n:]
    return SparseProjection(factor, unit, lam / length, sigma / largest)


def kept_at(model: Model, state: State, kept: Ints) -> Ints:
    """Return as many rows as `kept`, or more, that are as far from dependent as any at a pose; `kept` itself if there are none."""
    examined = analyse_rank(model, evaluate(model, state))
    if examined.flat.any() or model.nc - len(examined.dropped) < len(kept):
        return kept
    return np.setdiff1d(np.arange(model.nc), examined.dropped)


def check_regular(model: Model, state: State, kept: Ints, what: str) -> None:
    """Raise SingularKKTError with the rows that lose their rank, if the pose is singular;  what: the pose, in the message."""
    rows = singular_rows(model, state, kept)
    if rows:
        raise SingularKKTError(
            f"{what} is singular: {rows}. The tangent space of the constraints is not defined there, so that the pose has neither "
            "stiffness nor small motions: more than one motion is possible, or none. Start from another pose, hold the bodies apart, or "
            "leave out what can collapse.",
            state,
        )


def singular_rows(model: Model, state: State, kept: Ints) -> str:
    """Return the rows, by joint, that are dependent at a pose and only there; "" at a regular pose.

    kept: rows that are independent elsewhere
    """
    if not len(kept):
        return ""
    rows = evaluate(model, state)
    alone = analyse_rank(model, rows, without=np.setdiff1d(np.arange(model.nc), kept))
    if not (len(alone.dropped) or alone.flat[kept].any()):
        return ""
    redundancy = redundancy_of(model, rows, analyse_rank(model, rows))
    if not (redundancy.only_here or set(redundancy.flat) & set(kept.tolist())):
        return ""
    here = replace(redundancy, gaps=np.zeros(model.nc))  # at rest nothing moves that could conflict
    return "; ".join(f"{fault.where}: {fault.what}" for fault in dependence_faults(model, here, "this pose"))
