r"""LDL^T of [ 1  J^T; J  0 ] that leaves out dependent rows, by fronts: for models that the multifrontal solver serves.

The rules are those of `sparse_ldl`; the order, and with it the choice among dependent rows, is that of the fronts.  With the unit matrix in
place of M the pivot of a row of length 1 is the square of its distance from the span of the rows before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.kkt.front_solver import factorize_independent_entry, solve_columns_entry
from haugmbd.model.model import Model
from haugmbd.workspace.layout import Pack, Workspace, workspace_array

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
    """The solver of `local_solve` for an elimination by fronts: all nodes are visited."""

    def __init__(self, e: FrontElimination) -> None:
        self._e = e

    def solve(self, b: dict[int, Array]) -> dict[int, Array]:
        """Return the values (6, n) of all nodes, for right-hand sides (6, n) of some."""
        n = next(iter(b.values())).shape[1]
        x = np.zeros((self._e.n_nodes, 6, n))
        for node, part in b.items():
            x[node] = part
        found = self._e.solve(x)
        return dict(enumerate(found))
