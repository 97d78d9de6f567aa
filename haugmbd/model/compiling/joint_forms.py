"""Edges whose rows have a form that a solver knows: those of revolute, of separable and of coupled joints.

It is the rows that count, not the class of the joint: they may be written by hand, belong to several joints, or be those of drivers.

A revolute joint: three CD along x, y, z between the same points, then two DP1 of unit vectors. Where the recursion over a forest is the
solver, its rows are also written at once, unless one of them is driven.

A separable joint: rows that restrict the translation of one point, or the rotation, but no row both; see `kkt.separable_joint`.

    translation    CD that join one pair of points;  or DP2 of vectors of one body and a point of the other
    rotation       DP1, Rotation, ConstantVelocity: their rows have no force
    thread         beside two of each: one Coupling of the angle and of the displacement along the direction that DP2 rows leave free,
                   see `kkt.helical_joint`

A coupled joint: couplings of joint coordinates, which the recursion over a forest takes out of the graph. Such an edge has no other row,
and each coordinate is that of two bodies between which there is an edge of the forest.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.equations.cd import CD
from haugmbd.constraints.equations.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.equations.coupling import ANGLE, MARKERS, CouplingRow
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.dp2 import DP2
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.kkt.cluster_order import CoupledRow, Term
from haugmbd.kkt.helical_joint import N_ANGULAR_OF_SCREW, N_LINEAR_OF_SCREW
from haugmbd.kkt.tree_order import FORM_POINTS, FORM_ROWS, NO_FORM, REVOLUTE_FORM, SEPARABLE_FORM
from haugmbd.model.compiling.equations import Equations, Flags
from haugmbd.model.compiling.numbering import Numbering
from haugmbd.model.compiling.row_table import ROWS_PER_EDGE, Edges

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
    forms = np.full((n, SEPARABLE_FORM), NO_FORM, dtype=np.int64)
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
    is_separable = right[edge[order]]
    forms[edge[order][is_separable], FORM_ROWS + nth[is_separable]] = edges.slot[order][is_separable] % ROWS_PER_EDGE
    forms[right, :FORM_ROWS] = np.column_stack([n_linear, n_angular, n_threads])[right]
    pinned = right & (n_linear > 0)
    forms[pinned, FORM_POINTS:] = points[first[pinned]]
    return forms


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


COUPLINGS = ROW_KINDS.index(CouplingRow)
READ_OF_ANGLES = [MARKERS, MARKERS + 1, MARKERS + 2]


def coupled_rows(equations: Equations, edges: Edges, number: Numbering, first_line: int) -> tuple[CoupledRow, ...]:
    """Return the rows of those edges;  first_line: line of the first coupling in the table of rows, which has one for each term."""
    found, other, line = list[CoupledRow](), set(edges.of_row[equations.kind != COUPLINGS].tolist()), first_line
    for r in np.flatnonzero(equations.kind == COUPLINGS).tolist():
        primitive = equations.objects[r]
        assert isinstance(primitive, CouplingRow)
        edge, row = divmod(int(edges.slot[r]), ROWS_PER_EDGE)
        of = number.bodies
        terms = tuple(
            Term((of[q.bodies[0]], of[q.bodies[1]]), line + n, c, q.key, not q.turns) for n, (q, c) in enumerate(primitive.terms)
        )
        found.append(CoupledRow(edge, row, terms))
        line += len(primitive.terms)
    return tuple(row for row in found if row.edge not in other)


def angle_table(lines: Ints, row_ints: Ints, body_of: Ints) -> Ints:
    """Return CLUSTER_ANGLES, (na, 7), see `cluster_order`, for angles of these lines (na, 1) of the table of rows."""
    own = row_ints[lines[:, 0]]
    e_n_v = own[:, READ_OF_ANGLES]
    return np.column_stack([lines, e_n_v, body_of[e_n_v[:, [0, 2]]], own[:, ANGLE]])
