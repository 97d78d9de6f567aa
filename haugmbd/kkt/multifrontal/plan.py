r"""The plan of a multifrontal elimination, made once per model: the cheapest of a few orders, and its tables.

    one front   the dense matrix of all rows, for study
    orders   minimum degree with equal degrees oldest first or newest first; the same below a bisection of the bodies by their positions
Plane nets are best ordered by degree alone, spatial trusses by bisection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.kkt.multifrontal.front_folding import FoldedFronts, fold
from haugmbd.kkt.multifrontal.front_layout import Edges, lay_out
from haugmbd.kkt.multifrontal.minimum_degree import Fronts, bisection_levels, minimum_degree

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
        folded, cost = fold(fronts, weight)
        if best is None or cost[0] < best[2][0]:
            best = fronts, folded, cost
    assert best is not None
    return _plan(*best, Edges(weight, bodies, n))


def plan_one_front(n_bodies: int, bodies: Ints, weight: Ints) -> FrontPlan:
    """Return the plan with all rows in one front, the dense range-space matrix; n_bodies: the ground counted."""
    ne = len(bodies)
    none = np.zeros(0, dtype=np.int64)
    count = 1 if ne else 0
    starts, ends = np.array([0, ne][: count + 1], dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    fronts = Fronts(starts, np.arange(ne), ends, none, np.full(count, -1))
    return _plan(fronts, *fold(fronts, weight), Edges(weight, bodies, n_bodies))


def _plan(fronts: Fronts, folded: FoldedFronts, cost: Array, edges: Edges) -> FrontPlan:
    """Return the plan of these fronts."""
    return FrontPlan(*lay_out(fronts, folded, edges), float(cost[0]), float(cost[1]))


def _cliques(n: int, bodies: Ints) -> tuple[Ints, Ints]:
    """Return the edges on each body: where they start, and their numbers."""
    edge, side = np.nonzero(bodies)
    body = bodies[edge, side]
    order = np.lexsort((edge, body))
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(body, minlength=n), out=starts[1:])
    return starts, edge[order].astype(np.int64)
