r"""The plan of a multifrontal elimination, made once per model: the cheapest of a few orders, and its tables.

    one front   the dense matrix of all rows, for study
    orders   minimum degree with equal degrees oldest first or newest first; the same below a bisection of the bodies by their positions
Plane nets are best ordered by degree alone, spatial trusses by bisection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.kkt.multifrontal.front_layout import fold, lay_out
from haugmbd.kkt.multifrontal.minimum_degree import bisection_levels, minimum_degree

LEAVES = (64, 256)
"""Numbers of bodies down to which the bisections go."""

BISECTED = 200
"""Models with fewer bodies are not bisected: the orders by degree are as good there."""


class FrontPlan(NamedTuple):
    """The tables of a multifrontal elimination, see `front_layout.lay_out`, and its cost.

    sizes: of the factor, the stack, and the largest front
    ns: predicted time of a factorization [ns];  products: number of multiply-adds
    """

    fronts: Ints
    rows: Ints
    runs: Ints
    bodies: Ints
    body_rows: Ints
    sizes: Ints
    ns: float
    products: float


def plan_fronts(positions: Array, bodies: Ints, weight: Ints) -> FrontPlan:
    """Return the plan for edges between these bodies.

    positions: (nb + 1, 3) of the bodies;  bodies: (ne, sides) the bodies of each edge, 0 for the ground or none;  weight: (ne,) rows
    """
    n = len(positions)
    element_starts, elements = _cliques(n, bodies)
    flat = np.zeros(len(bodies), dtype=np.int64)
    orders = [(flat, 1.0), (flat, -1.0)]
    if n > BISECTED:
        r = np.ascontiguousarray(positions, dtype=np.float64)
        orders += [(bisection_levels(r, bodies, leaf), 0.0) for leaf in LEAVES]
    best = None
    for level, tie in orders:
        fronts = minimum_degree(weight, element_starts, elements, level, tie)
        folded = fold(*fronts, weight)
        if best is None or folded[6] < best[1][6]:
            best = fronts, folded
    assert best is not None
    fronts, folded = best
    tables = lay_out(*fronts[:4], *folded[:6], weight, bodies, n)
    return FrontPlan(*tables, float(folded[6]), float(folded[7]))


def plan_one_front(n_bodies: int, bodies: Ints, weight: Ints) -> FrontPlan:
    """Return the plan with all rows in one front, the dense range-space matrix; n_bodies: the ground counted."""
    ne = len(bodies)
    none = np.zeros(0, dtype=np.int64)
    count = 1 if ne else 0
    starts, ends = np.array([0, ne][: count + 1], dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    fronts = starts, np.arange(ne), ends, none, np.full(count, -1)
    folded = fold(*fronts, weight)
    tables = lay_out(*fronts[:4], *folded[:6], weight, bodies, n_bodies)
    return FrontPlan(*tables, float(folded[6]), float(folded[7]))


def _cliques(n: int, bodies: Ints) -> tuple[Ints, Ints]:
    """Return the edges on each body: where they start, and their numbers."""
    edge, side = np.nonzero(bodies)
    body = bodies[edge, side]
    order = np.lexsort((edge, body))
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(body, minlength=n), out=starts[1:])
    return starts, edge[order].astype(np.int64)
