r"""The edges whose rows restrict the translation of one point, or the rotation, but no row both; see `kkt.tree.separable_joint`.

    translation    CD that join one pair of points;  or DP2 of vectors of one body and a point of the other
    rotation       DP1, Rotation, ConstantVelocity: their rows have no force

It is the rows that count, not the class of the joint: drivers, and rows that are written by hand, belong to them.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.equations.cd import CD
from haugmbd.constraints.equations.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.dp2 import DP2
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.kkt.tree.tree_order import FORM_POINTS, FORM_ROWS, NO_FORM, SEPARABLE_FORM
from haugmbd.model.compiling.edges import ROWS_PER_EDGE, Edges
from haugmbd.model.compiling.equations import Equations, Flags
from haugmbd.model.compiling.revolute_edges import UNIT_TOL

N_VECTORS = {CD: 0, DP2: 1, DP1: 2, Rotation: 3, ConstantVelocityRow: 4}
"""How many markers of a row are vectors; the others, behind them, are points."""

VECTORS_OF_KIND = np.array([N_VECTORS.get(kind, -1) for kind in ROW_KINDS])
OF_CD, OF_DP2 = ROW_KINDS.index(CD), ROW_KINDS.index(DP2)
"""The kinds of rows that restrict translation."""

MOST = 3
"""Number of rows that restrict translation, or rotation."""


def separable_edges(equations: Equations, edges: Edges, x_bar: Array) -> Ints:
    """Return the forms of those edges, (ne, 10), see `kkt.tree.tree_order`; -1 for the others.  x_bar: (nm, 3) all markers."""
    n, edge, kind = len(edges.bodies), edges.of_row, equations.kind
    found = np.full((n, SEPARABLE_FORM), NO_FORM, dtype=np.int64)
    linear = (kind == OF_CD) | (kind == OF_DP2)
    n_linear, n_angular = (np.bincount(edge[which], minlength=n) for which in (linear, ~linear))
    right = np.bincount(edge, minlength=n) > 0
    right[edge[~_of_unit_vectors(equations, x_bar)]] = False
    right &= (n_linear <= MOST) & (n_angular <= MOST)
    points = _points(equations)
    first = np.full(n, -1, dtype=np.int64)
    first[edge[linear][::-1]] = np.flatnonzero(linear)[::-1]
    other = linear & ((points != points[first[edge]]).any(axis=1) | (kind != kind[first[edge]]))
    right[edge[other]] = False
    order = np.lexsort((edges.slot, ~linear, edge))
    nth = np.arange(len(order)) - np.searchsorted(edge[order], edge[order])
    own = right[edge[order]]
    found[edge[order][own], FORM_ROWS + nth[own]] = edges.slot[order][own] % ROWS_PER_EDGE
    found[right, 0], found[right, 1] = n_linear[right], n_angular[right]
    pinned = right & (n_linear > 0)
    found[pinned, FORM_POINTS:] = points[first[pinned]]
    return found


def _points(equations: Equations) -> Ints:
    """Return the markers of the points through which rows act, (nc, 2): of CD on both bodies, of DP2 that on body j; -1 for none."""
    points = np.full((len(equations.kind), 2), -1, dtype=np.int64)
    for kind, columns in ((OF_CD, (0, 1)), (OF_DP2, (2,))):
        rows = np.flatnonzero(equations.kind == kind)
        for place, column in enumerate(columns):
            points[rows, place] = equations.markers[rows, column]
    return points


def _of_unit_vectors(equations: Equations, x_bar: Array) -> Flags:
    """Return which rows are of such kinds, with vectors, and a direction of a CD, of the length 1: then volumes of rows compare with 1."""
    kind, n_vectors = equations.kind, VECTORS_OF_KIND[equations.kind]
    unit = np.abs(np.linalg.norm(x_bar, axis=1) - 1.0) < UNIT_TOL
    right: Flags = n_vectors >= 0
    for column in range(min(int(n_vectors.max(initial=0)), equations.markers.shape[1])):
        reads = n_vectors > column
        right[reads] &= unit[equations.markers[reads, column]]
    along = equations.constants[kind == OF_CD, :3]
    right[kind == OF_CD] &= np.abs(np.linalg.norm(along, axis=1) - 1.0) < UNIT_TOL
    return right
