r"""The edges whose rows are those of a revolute joint: three CD along x, y, z between the same points, then two DP1 of unit vectors.

Where the recursion over a forest is the solver, the rows of such a joint are also written at once, unless one of them is driven.
It is the rows that count, not the class of the joint: they may be written by hand, and belong to several joints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.cd import CD
from haugmbd.constraints.dp1 import DP1
from haugmbd.constraints.hinge import COLUMNS
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.drivers import Constant
from haugmbd.kkt.tree.tree_order import RevoluteMarkers

Marker = Callable[[Body, Array], int]
"""marker(body, x_bar): the number of a point or vector."""

UNIT_TOL = 1e-9
"""Difference of the length of a vector from 1: above the rounding of typed directions that were normalised."""

SLOTS = 6
"""Slots of an edge."""

KINDS = [CD, CD, CD, DP1, DP1]


def rows_of_edges(primitives: Sequence[Primitive], edge_of: Sequence[int]) -> dict[int, list[Primitive]]:
    """Return the rows of each edge, in the order of their slots;  edge_of: the edge of each row."""
    found: dict[int, list[Primitive]] = {}
    for primitive, e in zip(primitives, edge_of, strict=True):
        found.setdefault(e, []).append(primitive)
    return found


def revolute_edges(rows_of: Mapping[int, Sequence[Primitive]], marker: Marker) -> dict[int, RevoluteMarkers]:
    """Return the markers of those edges;  rows_of: the rows of each edge, in the order of their slots."""
    found: dict[int, RevoluteMarkers] = {}
    for e, rows in rows_of.items():
        markers = markers_of_hinge(rows, marker) if [type(row) for row in rows] == KINDS else None
        if markers is not None:
            found[e] = markers
    return found


def markers_of_hinge(rows: Sequence[Primitive], marker: Marker) -> RevoluteMarkers | None:
    """Return the markers of three CD and two DP1; None if they are not along x, y, z at one pair of points, or not of unit vectors."""
    directions = np.array([row.constants() for row in rows[:3]])
    numbers = [(marker(*i), marker(*j)) for i, j in (row.markers() for row in rows)]
    lengths = np.array([np.linalg.norm(x_bar) for row in rows[3:] for _, x_bar in row.markers()])
    if not np.array_equal(directions, np.eye(3)) or len(set(numbers[:3])) > 1 or not (np.abs(lengths - 1.0) < UNIT_TOL).all():
        return None
    return RevoluteMarkers(numbers[0], (numbers[3], numbers[4]))


def hinge_table(
    revolute: Mapping[int, RevoluteMarkers], primitives: Sequence[Primitive], slots: Sequence[int], sides: Sequence[int]
) -> Ints:
    """Return the table of the hinges, see `constraints.hinge`: the revolute joints that are not driven, all rows from i to j."""
    rows: dict[int, list[int]] = {}
    for row, slot in enumerate(slots):
        if slot // SLOTS in revolute:
            rows.setdefault(slot // SLOTS, []).append(row)
    found = []
    for e, own in rows.items():
        still = all(isinstance(f := primitives[row].f, Constant) and f.value == 0.0 for row in own)
        if still and len({sides[row] for row in own}) == 1:
            points, vectors = revolute[e]
            found.append((SLOTS * e, sides[own[0]], *points, *vectors[0], *vectors[1]))
    return np.array(found, dtype=np.int64).reshape(-1, COLUMNS)


def set_hinges_apart(ints: Ints, reals: Array, starts: Ints, hinges: Ints) -> tuple[Ints, Array, Ints]:
    """Return the tables of the rows with those of hinges behind the others of their kind, and where the others end, (1, kinds)."""
    bounds = starts[0].tolist()
    of_hinge = np.zeros(len(ints), dtype=bool)
    for kind in (ROW_KINDS.index(CD), ROW_KINDS.index(DP1)):
        part = slice(bounds[kind], bounds[kind + 1])
        of_hinge[part] = np.isin(ints[part, 0] // SLOTS, hinges[:, 0] // SLOTS)
    kind_of = np.repeat(np.arange(len(bounds) - 1), np.diff(starts[0]))
    order = np.lexsort((of_hinge, kind_of))
    ends = starts[:, 1:] - np.bincount(kind_of, weights=of_hinge, minlength=len(bounds) - 1).astype(np.int64)
    return np.ascontiguousarray(ints[order]), np.ascontiguousarray(reals[order]), ends
