r"""The edges whose rows are couplings of joint coordinates: the recursion over a forest takes them out of the graph.

It is the rows that count: such an edge has no other row, and each coordinate is that of two bodies between which there is an edge of the
forest.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.constraints.equations.coupling import ANGLE, MARKERS, CouplingRow
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.kkt.cluster_order import CoupledRow, Term
from haugmbd.model.compiling.edges import ROWS_PER_EDGE, Edges
from haugmbd.model.compiling.equations import Equations
from haugmbd.model.compiling.numbering import Numbering

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
