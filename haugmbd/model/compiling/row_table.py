"""The table of rows: sorted by kind, with integers (slot, side, driver, markers) and constants, as the kernels of `constraints` read them.

Most equations have one line. Couplings have one for each term, and curves and functions of coordinates have further ones for their data.

Edges: the pairs of bodies between which there are rows, six at most each, and the place of every row on its edge.

    row r  ->  slot 6 e + k        the k-th row between its bodies stands on the first edge of them that has a slot left
    side   ->  0 if the first body of the row is the first of its edge, whose bodies are in ascending order, otherwise 1

A body has six unknowns: more rows between two bodies depend on one another, and stand on further edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.equations.coordinate_function import CoordinateFunctionRow
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.equations.curve import PointOnCurveRow
from haugmbd.constraints.equations.pose import PoseRow
from haugmbd.constraints.equations.rope import RopeRow
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.kkt.elimination_order import ABSOLUTE, RELATIVE, RELATIVE_TO_GROUND, EdgeRows
from haugmbd.model.compiling.equations import REAL_COLUMNS, SEVERAL_LINES, Equations, padded
from haugmbd.model.compiling.numbering import Numbering, Turns

INT_COLUMNS = 6

Line = tuple[Sequence[int], Sequence[float]]
"""Integers and constants of a line of a table."""


def row_table(equations: Equations, edges: Edges, number: Numbering, turns: Turns) -> tuple[Ints, Array, Ints]:
    """Return lines sorted by kind: integers, constants, and the first line of each kind; the angles of couplings are added to `turns`."""
    several = SEVERAL_LINES[equations.kind]
    further: dict[int, list[Line]] = {}
    for row in np.flatnonzero(several).tolist():
        further.setdefault(int(equations.kind[row]), []).extend(_lines(equations, edges, row, number, turns))
    plain = np.flatnonzero(~several)
    plain = plain[np.argsort(equations.kind[plain], kind="stable")]
    columns = (edges.slot[plain], edges.side[plain], equations.driver[plain], np.maximum(equations.markers[plain], 0))
    ints, reals = np.column_stack(columns), equations.constants[plain]
    counts = np.bincount(equations.kind[plain], minlength=len(ROW_KINDS))
    ends = np.cumsum(counts)
    parts = [(ints[end - n : end], reals[end - n : end]) for n, end in zip(counts, ends, strict=True)]
    for kind, lines in further.items():
        parts[kind] = lines_as_arrays(lines, INT_COLUMNS, REAL_COLUMNS)
    used = [part for part in parts if len(part[0])]
    starts = np.cumsum([0, *(len(part[0]) for part in parts)], dtype=np.int64)
    if not further:
        return ints, reals, starts[None, :]
    return _joined([part[0] for part in used], INT_COLUMNS), _joined([part[1] for part in used], REAL_COLUMNS), starts[None, :]


def _lines(equations: Equations, edges: Edges, row: int, number: Numbering, turns: Turns) -> list[Line]:
    """Return the lines of a coupling, a function of coordinates, a curve, a rope or an orientation."""
    primitive, slot, driver = equations.objects[row], int(edges.slot[row]), int(equations.driver[row])
    markers = equations.several_markers[row]
    if isinstance(primitive, PointOnCurveRow):
        return list[Line](primitive.lines(slot, int(edges.side[row]), driver, markers))
    if isinstance(primitive, PoseRow):
        drivers = [number.driver(f) for f in primitive.functions]
        return [primitive.line(slot, int(edges.side[row]), markers, drivers)]
    edge, lines = edges.touched(slot // 6), list[Line]()
    if isinstance(primitive, RopeRow):

        def side(body: Body) -> int:
            return edge.index(k) if (k := number.bodies[body]) in edge else -1

        return list[Line](primitive.lines(slot, driver, markers, side, turns.number))
    assert isinstance(primitive, CouplingRow)
    further = primitive.term_lines() if isinstance(primitive, CoordinateFunctionRow) else ()
    for term, (q, c) in enumerate(primitive.terms):
        a, b = (edge.index(k) if (k := number.bodies[body]) in edge else -1 for body in q.bodies)
        angle = turns.number(q)
        own, markers = markers[: len(q.markers())], markers[len(q.markers()) :]
        more, constant = further[term] if further else ((), 0.0)
        lines.append(([slot, a, driver, *own, b, angle, int(term == 0), *more], (c, q.modelled() - q.q0, constant)))
    if isinstance(primitive, CoordinateFunctionRow):
        lines.extend(primitive.program_lines(slot, driver))
    return lines


def sorted_table(by_kind: Sequence[Sequence[Line]], int_columns: int, real_columns: int) -> tuple[Ints, Array, Ints]:
    """Return lists of lines, one list a kind, as two zero-padded matrices and the first line of each kind."""
    ints, reals = lines_as_arrays([line for kind in by_kind for line in kind], int_columns, real_columns)
    starts = np.cumsum([0, *(len(kind) for kind in by_kind)], dtype=np.int64)
    return ints, reals, starts[None, :]


def lines_as_arrays(lines: Sequence[Line], int_columns: int, real_columns: int) -> tuple[Ints, Array]:
    """Return lines as two zero-padded matrices of at least so many columns."""
    ints = padded([numbers for numbers, _ in lines], int_columns, np.dtype(np.int64))
    return ints, padded([constants for _, constants in lines], real_columns, np.dtype(np.float64))


def _joined(parts: Sequence[Any], columns: int) -> Any:
    """Return matrices below one another, with the columns of the widest, filled with zeros."""
    width = max([columns, *(part.shape[1] for part in parts)])
    return np.concatenate([np.pad(part, [(0, 0), (0, width - part.shape[1])]) for part in parts])


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
    nth = _by_joints(nth, order, equations)
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


def _by_joints(nth: Ints, order: Ints, equations: Equations) -> Ints:
    """Return the places of rows, with those of each joint on one edge where bodies have more rows than an edge.

    Rows that depend on others are chosen anew along a motion, and only among those of one edge (`kkt.rank_deficient`): of the three rows
    of a point that keep one, which are along the axes of the ground, none is the right one at every pose.
    """
    if not (nth >= ROWS_PER_EDGE).any():
        return nth
    nth = nth.copy()
    joint = np.searchsorted(equations.first, order, side="right")
    starts = np.append(np.flatnonzero(nth == 0), len(nth))
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if end - begin <= ROWS_PER_EDGE:
            continue
        place, first = 0, begin
        while first < end:
            after = first + int(np.searchsorted(joint[first:end], joint[first], side="right"))
            room = ROWS_PER_EDGE - place % ROWS_PER_EDGE
            if after - first > room and room < ROWS_PER_EDGE:
                place += room
            nth[first:after] = place + np.arange(after - first)
            place, first = place + after - first, after
    return nth


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
