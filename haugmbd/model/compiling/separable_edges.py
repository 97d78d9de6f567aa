r"""The edges whose rows restrict the translation of one point, or the rotation, but no row both; see `kkt.separable_joint`.

    translation    CD that join one pair of points;  or DP2 of vectors of one body and a point of the other
    rotation       DP1, Rotation, ConstantVelocity: their rows have no force
    thread         beside two of each: one Coupling of the angle and of the displacement along the direction that DP2 rows leave free,
                   see `kkt.helical_joint`

It is the rows that count, not the class of the joint: drivers, and rows that are written by hand, belong to them.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.equations.cd import CD
from haugmbd.constraints.equations.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.dp2 import DP2
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.kkt.helical_joint import N_ANGULAR_OF_SCREW, N_LINEAR_OF_SCREW
from haugmbd.kkt.tree_order import FORM_POINTS, FORM_ROWS, NO_FORM, SEPARABLE_FORM
from haugmbd.model.compiling.edges import ROWS_PER_EDGE, Edges
from haugmbd.model.compiling.equations import Equations, Flags
from haugmbd.model.compiling.revolute_edges import UNIT_TOL

N_VECTORS = {CD: 0, DP2: 1, DP1: 2, Rotation: 3, ConstantVelocityRow: 4}
"""How many markers of a row are vectors; the others, behind them, are points."""

VECTORS_OF_KIND = np.array([N_VECTORS.get(kind, -1) for kind in ROW_KINDS])
OF_CD, OF_DP2 = ROW_KINDS.index(CD), ROW_KINDS.index(DP2)
"""The kinds of rows that restrict translation."""

OF_COUPLING, MARKERS_OF_TERM = ROW_KINDS.index(CouplingRow), 3
"""The kind of rows that couple; the markers that each of their terms reads, of a displacement its direction first."""

MOST = 3
"""Number of rows that restrict translation, or rotation."""


def separable_edges(equations: Equations, edges: Edges, x_bar: Array, body_of: Ints) -> Ints:
    """Return the forms of those edges, (ne, 11), see `kkt.tree_order`; -1 for the others.

    x_bar, body_of: (nm, 3), (nm,) all markers
    """
    n, edge, kind = len(edges.bodies), edges.of_row, equations.kind
    found = np.full((n, SEPARABLE_FORM), NO_FORM, dtype=np.int64)
    linear = (kind == OF_CD) | (kind == OF_DP2)
    threads = _threads(equations, edges, x_bar, body_of)
    angular = ~linear & ~threads
    n_linear, n_angular, n_threads = (np.bincount(edge[which], minlength=n) for which in (linear, angular, threads))
    right = np.bincount(edge, minlength=n) > 0
    right[edge[~_unit_vector_rows(equations, x_bar) & ~threads]] = False
    right &= (n_linear <= MOST) & (n_angular <= MOST)
    right &= (n_threads == 0) | ((n_threads == 1) & (n_linear == N_LINEAR_OF_SCREW) & (n_angular == N_ANGULAR_OF_SCREW))
    points = _points(equations)
    first = np.full(n, -1, dtype=np.int64)
    first[edge[linear][::-1]] = np.flatnonzero(linear)[::-1]
    other = linear & ((points != points[first[edge]]).any(axis=1) | (kind != kind[first[edge]]))
    right[edge[other]] = False
    order = np.lexsort((edges.slot, threads, ~linear, edge))
    nth = np.arange(len(order)) - np.searchsorted(edge[order], edge[order])
    own = right[edge[order]]
    found[edge[order][own], FORM_ROWS + nth[own]] = edges.slot[order][own] % ROWS_PER_EDGE
    found[right, :FORM_ROWS] = np.column_stack([n_linear, n_angular, n_threads])[right]
    pinned = right & (n_linear > 0)
    found[pinned, FORM_POINTS:] = points[first[pinned]]
    return found


def _threads(equations: Equations, edges: Edges, x_bar: Array, body_of: Ints) -> Flags:
    """Return which rows couple one displacement and angles of the bodies of their edge, whose DP2 leave the displacement free, (nc,)."""
    found = np.zeros(len(equations.kind), dtype=bool)
    couplings = np.flatnonzero(equations.kind == OF_COUPLING).tolist()
    beside = {int(edges.of_row[row]): list[int]() for row in couplings}
    for row in np.flatnonzero(equations.kind == OF_DP2).tolist() if beside else ():
        beside.get(int(edges.of_row[row]), []).append(int(equations.markers[row, 0]))
    for row in couplings:
        primitive, markers = equations.objects[row], equations.several_markers[row]
        assert isinstance(primitive, CouplingRow)
        slides = [markers[MARKERS_OF_TERM * n] for n, (q, c) in enumerate(primitive.terms) if not q.turns and c != 0.0]
        normals = beside[int(edges.of_row[row])]
        found[row] = len(slides) == 1 and all(
            body_of[a] == body_of[slides[0]] and abs(x_bar[a] @ x_bar[slides[0]]) < UNIT_TOL for a in normals
        )
    return found


def _points(equations: Equations) -> Ints:
    """Return the markers of the points through which rows act, (nc, 2): of CD on both bodies, of DP2 that on body j; -1 for none."""
    points = np.full((len(equations.kind), 2), -1, dtype=np.int64)
    for kind, columns in ((OF_CD, (0, 1)), (OF_DP2, (2,))):
        rows = np.flatnonzero(equations.kind == kind)
        for place, column in enumerate(columns):
            points[rows, place] = equations.markers[rows, column]
    return points


def _unit_vector_rows(equations: Equations, x_bar: Array) -> Flags:
    """Return which rows are of such kinds with vectors of length 1, so that volumes of rows compare with 1; of CD the direction counts."""
    kind, n_vectors = equations.kind, VECTORS_OF_KIND[equations.kind]
    unit = np.abs(np.linalg.norm(x_bar, axis=1) - 1.0) < UNIT_TOL
    right: Flags = n_vectors >= 0
    for column in range(min(int(n_vectors.max(initial=0)), equations.markers.shape[1])):
        reads = n_vectors > column
        right[reads] &= unit[equations.markers[reads, column]]
    along = equations.constants[kind == OF_CD, :3]
    right[kind == OF_CD] &= np.abs(np.linalg.norm(along, axis=1) - 1.0) < UNIT_TOL
    return right
