r"""Edges: the pairs of bodies between which there are rows, six at most each, and the place of every row on its edge.

    row r  ->  slot 6 e + k        the k-th row between its bodies stands on the first edge of them that has a slot left
    side   ->  0 if the first body of the row is the first of its edge, whose bodies are in ascending order, otherwise 1

A body has six unknowns: more rows between two bodies depend on one another, and stand on further edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.kkt.elimination_order import ABSOLUTE, RELATIVE, RELATIVE_TO_GROUND, EdgeRows
from haugmbd.model.compiling.equations import Equations

ROWS_PER_EDGE = 6


class Edges(NamedTuple):
    """The edges, and the slot (nc,) and side (nc,) of each row.

    bodies: (ne, sides) in ascending order, 0 behind the last;  more: those of edges with more than two bodies, without the zeros
    """

    bodies: Ints
    slot: Ints
    side: Ints
    more: dict[int, tuple[int, ...]]

    @property
    def of_row(self) -> Ints:
        """Return the edge of each row, (nc,)."""
        return self.slot // ROWS_PER_EDGE

    def touched(self, edge: int) -> tuple[int, ...]:
        """Return the bodies of an edge, in ascending order."""
        return self.more.get(edge) or tuple(self.bodies[edge, :2].tolist())

    def tuples(self) -> list[tuple[int, ...]]:
        """Return the bodies of all edges, in ascending order."""
        return [self.more.get(e, pair) for e, pair in enumerate(map(tuple, self.bodies[:, :2].tolist()))]


def place_rows(equations: Equations) -> Edges:
    """Return the edges of the equations.

    Rows that also read the ground (`Primitive.reads_ground`) have edges of their own.
    """
    key = _bodies_as_numbers(equations)
    n = len(key)
    order = np.argsort(key, kind="stable")
    number = np.arange(n)
    is_first = np.ones(n, dtype=bool)
    is_first[1:] = key[order[1:]] != key[order[:-1]]
    nth = number - np.maximum.accumulate(np.where(is_first, number, 0))  # rows of the same bodies that stand before
    opens = nth % ROWS_PER_EDGE == 0
    opening = np.zeros(n, dtype=bool)
    opening[order[opens]] = True
    edge_opened = np.cumsum(opening) - 1
    opened_by = order[np.maximum.accumulate(np.where(opens, number, 0))] if n else order
    slot = np.empty(n, dtype=np.int64)
    slot[order] = ROWS_PER_EDGE * edge_opened[opened_by] + nth % ROWS_PER_EDGE
    more = {int(slot[row]) // ROWS_PER_EDGE: tuple(sorted(touched)) for row, touched in equations.more_bodies.items()}
    bodies = np.zeros((int(opening.sum()), max([2, *map(len, more.values())])), dtype=np.int64)
    bodies[:, :2] = np.sort(equations.bodies[opening], axis=1)
    for e, touched in more.items():
        bodies[e, : len(touched)] = touched
    side = (equations.bodies[:, 0] > equations.bodies[:, 1]).astype(np.int64)
    side[list(equations.more_bodies)] = 0  # rows of more bodies keep the edge's order
    return Edges(bodies, slot, side, more)


def _bodies_as_numbers(equations: Equations) -> Ints:
    """Return a number for the bodies of each row, (nc,), the same for rows of the same bodies."""
    low, high = np.sort(equations.bodies, axis=1).T
    n = int(high.max(initial=0)) + 1
    key: Ints = low * n + high
    special: dict[tuple[tuple[int, ...], bool], int] = {}
    for row in sorted({*equations.more_bodies, *np.flatnonzero(equations.reads_ground).tolist()}):
        touched = tuple(sorted(equations.more_bodies.get(row, tuple(equations.bodies[row].tolist()))))
        key[row] = special.setdefault((touched, bool(equations.reads_ground[row])), n * n + len(special))
    return key


def edge_rows(equations: Equations, edges: Edges) -> EdgeRows:
    """Return the number of rows of each edge, and their kind."""
    n, edge = len(edges.bodies), edges.of_row
    kind = np.full(n, RELATIVE)
    kind[edge[equations.reads_ground]] = RELATIVE_TO_GROUND
    kind[edge[~equations.relative]] = ABSOLUTE
    return EdgeRows(np.bincount(edge, minlength=n).tolist(), kind.tolist())
