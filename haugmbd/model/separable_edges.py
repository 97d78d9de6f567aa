r"""The edges whose rows restrict the translation of one point, or the rotation, but no row both; see `kkt.tree.separable_joint`.

    translation    CD that join one pair of points;  or DP2 of vectors of one body and a point of the other
    rotation       DP1, Rotation, ConstantVelocity: their rows have no force

It is the rows that count, not the class of the joint: drivers, and rows that are written by hand, belong to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from haugmbd.constraints.base import Primitive
from haugmbd.constraints.cd import CD
from haugmbd.constraints.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.dp1 import DP1
from haugmbd.constraints.dp2 import DP2
from haugmbd.constraints.rotation import Rotation
from haugmbd.kkt.tree.tree_order import SeparableRows
from haugmbd.model.revolute_edges import UNIT_TOL, Marker

N_VECTORS = {CD: 0, DP2: 1, DP1: 2, Rotation: 3, ConstantVelocityRow: 4}
"""How many markers of a row are vectors; the others, behind them, are points."""

LINEAR = (CD, DP2)
"""The kinds of rows that restrict translation."""

MOST = 3
"""Number of rows that restrict translation, or rotation."""


def separable_edges(rows_of: Mapping[int, Sequence[Primitive]], marker: Marker) -> dict[int, SeparableRows]:
    """Return the rows of those edges;  rows_of: the rows of each edge, in the order of their slots."""
    found = {e: separable_rows(rows, marker) for e, rows in rows_of.items()}
    return {e: rows for e, rows in found.items() if rows is not None}


def separable_rows(rows: Sequence[Primitive], marker: Marker) -> SeparableRows | None:
    """Return the rows of an edge by what they restrict; None if one restricts both, or they have no common point."""
    if not all(type(row) in N_VECTORS and of_unit_vectors(row) for row in rows):
        return None
    linear = tuple(a for a, row in enumerate(rows) if isinstance(row, LINEAR))
    angular = tuple(a for a, row in enumerate(rows) if not isinstance(row, LINEAR))
    points = {(type(rows[a]), points_of(rows[a], marker)) for a in linear}
    if len(linear) > MOST or len(angular) > MOST or len(points) > 1:
        return None
    return SeparableRows(linear, angular, points_of(rows[linear[0]], marker) if linear else ())


def points_of(row: Primitive, marker: Marker) -> tuple[int, ...]:
    """Return the markers of the points through which a row acts: of CD on both bodies, of DP2 that on body j."""
    markers = row.markers() if isinstance(row, CD) else row.markers()[-1:]
    return tuple(marker(*place) for place in markers)


def of_unit_vectors(row: Primitive) -> bool:
    """Return whether the vectors of a row, and the direction of a CD, have the length 1: then volumes of rows compare with 1."""
    vectors = [x_bar for _, x_bar in row.markers()[: N_VECTORS[type(row)]]]
    vectors += [np.array(row.constants())] if isinstance(row, CD) else []
    return all(abs(np.linalg.norm(vector) - 1.0) < UNIT_TOL for vector in vectors)
