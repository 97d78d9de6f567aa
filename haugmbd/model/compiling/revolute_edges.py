r"""The edges whose rows are those of a revolute joint: three CD along x, y, z between the same points, then two DP1 of unit vectors.

Where the recursion over a forest is the solver, the rows of such a joint are also written at once, unless one of them is driven.
It is the rows that count, not the class of the joint: they may be written by hand, and belong to several joints.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.equations.cd import CD
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.kkt.tree_order import NO_FORM, REVOLUTE_FORM
from haugmbd.model.compiling.edges import ROWS_PER_EDGE, Edges
from haugmbd.model.compiling.equations import Equations

UNIT_TOL = 1e-9
"""Difference of the length of a vector from 1: above the rounding of typed directions that were normalised."""

KINDS = np.array([ROW_KINDS.index(kind) for kind in (CD, CD, CD, DP1, DP1)])


def revolute_edges(equations: Equations, edges: Edges, x_bar: Array) -> Ints:
    """Return the markers of those edges, (ne, 6), see `kkt.tree_order`; -1 for the others.  x_bar: (nm, 3) all markers."""
    found = np.full((len(edges.bodies), REVOLUTE_FORM), NO_FORM, dtype=np.int64)
    edge, rows = _edges_of_five(edges)
    right = (equations.kind[rows] == KINDS).all(axis=1)
    edge, rows = edge[right], rows[right]
    points, vectors = equations.markers[rows[:, :3], :2], equations.markers[rows[:, 3:], :2]
    along = (equations.constants[rows[:, :3]][:, :, :3] == np.eye(3)).all(axis=(1, 2))
    same = (points == points[:, :1]).all(axis=(1, 2))
    of_unit_length = (np.abs(np.linalg.norm(x_bar[vectors], axis=3) - 1.0) < UNIT_TOL).all(axis=(1, 2))
    right = along & same & of_unit_length
    found[edge[right], :2], found[edge[right], 2:] = points[right, 0], vectors[right].reshape(-1, 4)
    return found


def _edges_of_five(edges: Edges) -> tuple[Ints, Ints]:
    """Return the edges with as many rows as a revolute joint (n,), and these rows in the order of their slots (n, 5)."""
    n_rows = np.bincount(edges.of_row, minlength=len(edges.bodies))
    row_at = np.zeros(ROWS_PER_EDGE * len(edges.bodies), dtype=np.int64)
    row_at[edges.slot] = np.arange(len(edges.slot))
    edge = np.flatnonzero(n_rows == len(KINDS))
    return edge, row_at[ROWS_PER_EDGE * edge[:, None] + np.arange(len(KINDS))]


def hinge_table(revolute: Ints, equations: Equations, edges: Edges) -> Ints:
    """Return the table of the hinges, see `constraints.hinge`: the revolute joints that are not driven, all rows from i to j."""
    edge, rows = _edges_of_five(edges)
    side = edges.side[rows]
    still = (equations.driver[rows] == 0).all(axis=1)  # the constant 0
    hinge = (revolute[edge, 0] != NO_FORM) & still & (side == side[:, :1]).all(axis=1)
    return np.column_stack([ROWS_PER_EDGE * edge[hinge], side[hinge, 0], revolute[edge[hinge]]])


def set_hinges_apart(ints: Ints, reals: Array, starts: Ints, hinges: Ints) -> Ints:
    """Move the rows of hinges behind the others of their kind, in place; return where the others end, (1, kinds)."""
    ends = starts[:, 1:].copy()
    if not len(hinges):
        return ends
    is_hinge = np.zeros(int(ints[:, 0].max()) // ROWS_PER_EDGE + 1, dtype=bool)
    is_hinge[hinges[:, 0] // ROWS_PER_EDGE] = True
    for kind in (ROW_KINDS.index(CD), ROW_KINDS.index(DP1)):
        part = slice(*starts[0, kind : kind + 2])
        of_hinge = is_hinge[ints[part, 0] // ROWS_PER_EDGE]
        ends[0, kind] -= np.count_nonzero(of_hinge)
        if not of_hinge.all():
            order = np.argsort(of_hinge, kind="stable")
            ints[part], reals[part] = ints[part][order], reals[part][order]
    return ends
