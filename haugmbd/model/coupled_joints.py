"""The edges whose rows are couplings of joint angles with constant coefficients: the recursion over a forest takes them out of the graph.

It is the rows that count: such an edge has no other row, and each angle is that of two bodies between which there is an edge of the forest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haugmbd.bodies.body import Body
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.coupling import CouplingRow
from haugmbd.kkt.tree.cluster_order import CoupledRow, Term

SLOTS = 6
"""Slots of an edge."""


def coupled_rows(
    primitives: Sequence[Primitive], slots: Sequence[int], number: Mapping[Body, int], first_line: int
) -> tuple[CoupledRow, ...]:
    """Return the rows of those edges.

    slots: of each row;  number: of the bodies;  first_line: line of the first coupling in the tables of the rows, one for each term
    """
    found, other = list[CoupledRow](), set[int]()
    line = first_line
    for primitive, slot in zip(primitives, slots, strict=True):
        edge, row = divmod(slot, SLOTS)
        if type(primitive) is not CouplingRow or not all(q.turns for q, _ in primitive.terms):
            other.add(edge)
        else:
            terms = tuple(Term((number[q.bodies[0]], number[q.bodies[1]]), line + n, c) for n, (q, c) in enumerate(primitive.terms))
            found.append(CoupledRow(edge, row, terms))
        line += len(primitive.terms) if type(primitive) is CouplingRow else 0
    return tuple(row for row in found if row.edge not in other)
