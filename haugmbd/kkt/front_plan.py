"""The plan of a multifrontal elimination, made once per model: the cheapest of a few orders, and its tables.

    one front   the dense matrix of all rows, for study
    orders   minimum degree with equal degrees oldest first or newest first; the same below a bisection of the bodies by their positions
Plane nets are best ordered by degree alone, spatial trusses by bisection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import counted, counted_entry, kernel
from haugmbd.kkt.minimum_degree import Fronts, bisection_levels, minimum_degree

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


# The tables of a multifrontal elimination: where every row of every front stands, and what it passes to its parent.
#
# pivots     the edges of a front, in the order of elimination, with those of the fronts that are folded into it
# boundary   the edges that it updates, in the order in which its parents eliminate them
# runs       a front's boundary in the rows of its parent, as pieces without gaps
# bodies     each body is assembled by the first front that eliminates one of its edges

COLUMNS = 11
PIVOTS, ROWS, FIRST_ROW, FACTOR, CHILD, SIBLING, FIRST_RUN, END_RUN, FIRST_BODY, END_BODY, STACKED = range(COLUMNS)
"""Columns of the table of fronts: number of pivots and of rows; where its rows, its part of the factor, its runs and its bodies begin
and end; first child and next sibling (-1: none); where its update is stacked."""


class Edges(NamedTuple):
    """The edges of the body-joint graph.

    weight: (ne,) number of rows;  bodies: (ne, sides), 0 for the ground or none;  n_bodies: the ground counted
    """

    weight: Ints
    bodies: Ints
    n_bodies: int


class Eliminated(NamedTuple):
    """The edges in the order of elimination.

    starts: (n + 1,) where the edges of each front begin;  edges: (ne,);  place, front_of: (ne,) of each edge, its place and its front
    """

    starts: Ints
    edges: Ints
    place: Ints
    front_of: Ints


class Boundary(NamedTuple):
    """The edges that each front updates: where they begin (n + 1,), and their places in the order of elimination."""

    starts: Ints
    places: Ints


class OnBodies(NamedTuple):
    """The edges on each body: where they begin (n_bodies + 1,), and sides * edge + side in the order of elimination."""

    starts: Ints
    sides: Ints


@counted_entry
def lay_out(fronts: Fronts, folded: FoldedFronts, edges: Edges) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """Return the tables of the fronts in postorder.

    Return (nf, COLUMNS) fronts;  (.,) number of each row of a front among all unknowns;  (., 3) runs of a front's boundary in its parent:
    first row in the boundary, first row in the parent, length;  (., 3) bodies that the fronts assemble: number, first and end of their
    rows in (., 3) rows of bodies: gradient, unknown, row in the front;  sizes of factor, stack, largest front.
    """
    order = postorder(folded)
    table = _table(order, folded)
    eliminated = _eliminated(fronts, folded, order, edges.weight.size)
    boundary = _boundary(fronts, order, eliminated)
    on = _on_bodies(eliminated, edges)
    bodies = _assembled_bodies(table, on, eliminated, edges)
    n_rows = n_body_rows = n_runs = n_done = 0
    for q in range(order.size):
        n_rows += table[q, ROWS]
    for m in on.sides:
        n_body_rows += edges.weight[m // edges.bodies.shape[1]]
    rows, runs, body_rows = (
        np.empty(n_rows, np.int64),
        np.empty((boundary.places.size, 3), np.int64),
        np.empty((n_body_rows, 3), np.int64),
    )
    local = np.zeros(edges.weight.size, np.int64)
    for q in range(order.size):
        _number_rows(q, table, eliminated, boundary, edges, rows, local)
        c = table[q, CHILD]
        while c >= 0:
            n_runs = _put_runs(c, n_runs, table, eliminated, boundary, edges, local, runs)
            c = table[c, SIBLING]
        n_done = _number_body_rows(q, n_done, table, on, edges, local, bodies, body_rows)
    return table, rows, runs[:n_runs].copy(), bodies, body_rows, _stack(table)


@counted
def _table(order: Ints, folded: FoldedFronts) -> Ints:
    """Return the table of fronts with their sizes, first rows, children and siblings; -1 in the other columns."""
    n = order.size
    number, table = np.full(folded.into.size, -1), np.full((n, COLUMNS), -1)
    n_rows = 0
    for q in range(n):
        f = order[q]
        number[f] = q
        table[q, PIVOTS], table[q, ROWS], table[q, FIRST_ROW] = folded.pivots[f], folded.pivots[f] + folded.boundary[f], n_rows
        n_rows += table[q, ROWS]
    for q in range(n - 1, -1, -1):
        p = folded.parent[order[q]]
        if p >= 0:
            table[q, SIBLING], table[number[p], CHILD] = table[number[p], CHILD], q
    return table


@counted
def _eliminated(fronts: Fronts, folded: FoldedFronts, order: Ints, ne: int) -> Eliminated:
    """Return the edges in the order of elimination."""
    n, nf = order.size, folded.into.size
    final = np.empty(nf, np.int64)
    for q in range(n):
        final[order[q]] = q
    for f in range(nf - 1, -1, -1):
        if folded.into[f] != f:
            final[f] = final[folded.into[f]]
    starts = np.zeros(n + 1, np.int64)
    for f in range(nf):
        starts[final[f] + 1] += fronts.pivot_starts[f + 1] - fronts.pivot_starts[f]
    starts = np.cumsum(starts)
    ordered, filled, position, front_of = np.empty(ne, np.int64), starts.copy(), np.empty(ne, np.int64), np.empty(ne, np.int64)
    for f in range(nf):
        q = final[f]
        for m in range(fronts.pivot_starts[f], fronts.pivot_starts[f + 1]):
            e = fronts.pivots[m]
            ordered[filled[q]], position[e], front_of[e] = e, filled[q], q
            filled[q] += 1
    return Eliminated(starts, ordered, position, front_of)


@counted
def _boundary(fronts: Fronts, order: Ints, eliminated: Eliminated) -> Boundary:
    """Return the boundaries of the fronts that are left, each in the order of elimination."""
    starts = np.zeros(order.size + 1, np.int64)
    for q in range(order.size):
        f = order[q]
        starts[q + 1] = starts[q] + fronts.boundary_starts[f + 1] - fronts.boundary_starts[f]
    places = np.empty(starts[order.size], np.int64)
    for q in range(order.size):
        first = fronts.boundary_starts[order[q]]
        for m in range(starts[q], starts[q + 1]):
            places[m] = eliminated.place[fronts.boundary[first + m - starts[q]]]
        places[starts[q] : starts[q + 1]] = np.sort(places[starts[q] : starts[q + 1]])
    return Boundary(starts, places)


@counted
def _on_bodies(eliminated: Eliminated, edges: Edges) -> OnBodies:
    """Return the edges on each body."""
    sides = edges.bodies.shape[1]
    starts = np.zeros(edges.n_bodies + 1, np.int64)
    for e in range(edges.weight.size):
        for body in edges.bodies[e]:
            starts[body + 1] += body > 0
    starts = np.cumsum(starts)
    on, filled = np.empty(starts[edges.n_bodies], np.int64), starts.copy()
    for e in eliminated.edges:
        for side in range(sides):
            body = edges.bodies[e, side]
            if body > 0:
                on[filled[body]] = sides * e + side
                filled[body] += 1
    return OnBodies(starts, on)


@counted
def _assembled_bodies(table: Ints, on: OnBodies, eliminated: Eliminated, edges: Edges) -> Ints:
    """Return the table of bodies with their numbers, in the order of the fronts that assemble them, which get their columns."""
    n, sides = table.shape[0], edges.bodies.shape[1]
    starts = np.zeros(n + 1, np.int64)
    for body in range(1, edges.n_bodies):
        if on.starts[body + 1] > on.starts[body]:
            starts[eliminated.front_of[on.sides[on.starts[body]] // sides] + 1] += 1
    starts = np.cumsum(starts)
    bodies, filled = np.zeros((starts[n], 3), np.int64), starts.copy()
    for body in range(1, edges.n_bodies):
        if on.starts[body + 1] > on.starts[body]:
            q = eliminated.front_of[on.sides[on.starts[body]] // sides]
            bodies[filled[q], 0] = body
            filled[q] += 1
    table[:, FIRST_BODY], table[:, END_BODY] = starts[:n], starts[1:]
    return bodies


@kernel
def _number_rows(q: int, table: Ints, eliminated: Eliminated, boundary: Boundary, edges: Edges, rows: Ints, local: Ints) -> None:
    """Write the numbers of the rows of the front q, pivots first, and the row at which each of its edges begins to `local`."""
    i = 0
    for m in range(eliminated.starts[q], eliminated.starts[q + 1]):
        i = _number_edge(eliminated.edges[m], i, table[q, FIRST_ROW], edges, rows, local)
    for m in range(boundary.starts[q], boundary.starts[q + 1]):
        i = _number_edge(eliminated.edges[boundary.places[m]], i, table[q, FIRST_ROW], edges, rows, local)


@kernel
def _number_edge(e: int, i: int, first: int, edges: Edges, rows: Ints, local: Ints) -> int:
    """Write the numbers of the rows of an edge, which begin at row i of a front; return the next row."""
    local[e] = i
    for a in range(edges.weight[e]):
        rows[first + i + a] = 6 * (edges.n_bodies + e) + a
    following: int = i + edges.weight[e]
    return following


@kernel
def _put_runs(
    c: int, n_runs: int, table: Ints, eliminated: Eliminated, boundary: Boundary, edges: Edges, local: Ints, runs: Ints
) -> int:
    """Write the runs of the child c in the rows of its parent, which `local` has; return the number of runs so far."""
    table[c, FIRST_RUN], source = n_runs, 0
    for m in range(boundary.starts[c], boundary.starts[c + 1]):
        e = eliminated.edges[boundary.places[m]]
        if n_runs > table[c, FIRST_RUN] and runs[n_runs - 1, 1] + runs[n_runs - 1, 2] == local[e]:
            runs[n_runs - 1, 2] += edges.weight[e]
        else:
            runs[n_runs, 0], runs[n_runs, 1], runs[n_runs, 2] = source, local[e], edges.weight[e]
            n_runs += 1
        source += edges.weight[e]
    table[c, END_RUN] = n_runs
    return n_runs


@kernel
def _number_body_rows(
    q: int, n_done: int, table: Ints, on: OnBodies, edges: Edges, local: Ints, bodies: Ints, body_rows: Ints
) -> int:
    """Write the rows of the bodies that the front q assembles; return the number of rows so far."""
    sides = edges.bodies.shape[1]
    for t in range(table[q, FIRST_BODY], table[q, END_BODY]):
        body = bodies[t, 0]
        bodies[t, 1] = n_done
        for m in range(on.starts[body], on.starts[body + 1]):
            e, side = on.sides[m] // sides, on.sides[m] % sides
            for a in range(edges.weight[e]):
                body_rows[n_done, 0] = sides * (6 * e + a) + side
                body_rows[n_done, 1] = 6 * (edges.n_bodies + e) + a
                body_rows[n_done, 2] = local[e] + a
                n_done += 1
        bodies[t, 2] = n_done
    return n_done


@counted
def _stack(table: Ints) -> Ints:
    """Write where the factor and the update of each front begin; return the sizes of factor, stack and largest front."""
    sizes = np.zeros(3, np.int64)
    stacked = 0
    for q in range(table.shape[0]):
        c = table[q, CHILD]
        while c >= 0:
            stacked -= (table[c, ROWS] - table[c, PIVOTS]) ** 2
            c = table[c, SIBLING]
        table[q, FACTOR], table[q, STACKED] = sizes[0], stacked
        sizes[0] += table[q, PIVOTS] * table[q, ROWS]
        stacked += (table[q, ROWS] - table[q, PIVOTS]) ** 2
        sizes[1], sizes[2] = max(sizes[1], stacked), max(sizes[2], table[q, ROWS])
    return sizes


# Fronts of a good size: a front is folded into its parent where a model of the time says that this pays.
#
# A small front costs more than its arithmetic.

FRONT_NS, ROW_NS, ENTRY_NS, PRODUCT_NS, UPDATE_NS = 300.0, 8.0, 0.15, 0.08, 0.4
"""Time of a front [ns]: of its own, for each row, each entry, each multiply-add, and each entry that it passes to its parent."""


class FoldedFronts(NamedTuple):
    """A forest of fronts after folding, (nf,) each: what the front that each one is folded into has at its place.

    into: the front that it is folded into, itself if it is left;  pivots, boundary: number of rows that it eliminates, and updates
    parent, child, sibling: its parent, its first child and its next sibling, -1 for none
    """

    into: Ints
    pivots: Ints
    boundary: Ints
    parent: Ints
    child: Ints
    sibling: Ints


@counted
def front_ns(k: float, n: float) -> float:
    """Return the time of a front of n rows with k pivots [ns]."""
    products = k * (n * n - n * k + k * k / 3.0)
    return FRONT_NS + ROW_NS * n + ENTRY_NS * n * n + PRODUCT_NS * products + UPDATE_NS * (n - k) * (n - k)


@counted_entry
def fold(fronts: Fronts, weight: Ints) -> tuple[FoldedFronts, Array]:
    """Fold fronts into their parents where that saves time; return the time of all that are left [ns], and their multiply-adds, (2,)."""
    folded = _as_found(fronts, weight)
    into, k, r = folded.into, folded.pivots, folded.boundary
    cost = np.zeros(2)
    for p in range(into.size):
        c = _best_child(folded, p)
        while c >= 0:
            into[c] = p
            k[p] += k[c]
            _adopt(folded, p, c)
            c = _best_child(folded, p)
    for f in range(into.size):
        if into[f] == f:
            n = float(k[f] + r[f])
            cost[0] += front_ns(k[f], n)
            cost[1] += 0.5 * k[f] * (n * n - n * k[f] + k[f] * k[f] / 3.0)
    return folded, cost


@counted
def _as_found(fronts: Fronts, weight: Ints) -> FoldedFronts:
    """Return the forest before anything is folded."""
    nf = fronts.parents.size
    k, r = np.zeros(nf, np.int64), np.zeros(nf, np.int64)
    child, sibling = np.full(nf, -1), np.full(nf, -1)
    for f in range(nf - 1, -1, -1):
        for m in range(fronts.pivot_starts[f], fronts.pivot_starts[f + 1]):
            k[f] += weight[fronts.pivots[m]]
        for m in range(fronts.boundary_starts[f], fronts.boundary_starts[f + 1]):
            r[f] += weight[fronts.boundary[m]]
        p = fronts.parents[f]
        if p >= 0:
            sibling[f] = child[p]
            child[p] = f
    return FoldedFronts(np.arange(nf), k, r, fronts.parents.copy(), child, sibling)


@kernel
def _best_child(folded: FoldedFronts, p: int) -> int:
    """Return the child of p whose folding saves the most time, -1 if none does.  The boundary of both is that of p."""
    k, r = folded.pivots, folded.boundary
    best, gain, time_alone = -1, 0.0, front_ns(k[p], k[p] + r[p])
    c = folded.child[p]
    while c >= 0:
        saved = time_alone + front_ns(k[c], k[c] + r[c]) - front_ns(k[p] + k[c], k[p] + k[c] + r[p])
        if saved > gain:
            best, gain = c, saved
        c = folded.sibling[c]
    return best


@kernel
def _adopt(folded: FoldedFronts, p: int, gone: int) -> None:
    """Put the children of `gone` in its place among those of p."""
    child, sibling = folded.child, folded.sibling
    before, c = -1, child[p]
    while c != gone:
        before, c = c, sibling[c]
    if before < 0:
        child[p] = sibling[gone]
    else:
        sibling[before] = sibling[gone]
    c = child[gone]
    while c >= 0:
        following = sibling[c]
        folded.parent[c], sibling[c], child[p] = p, child[p], c
        c = following


@counted
def postorder(folded: FoldedFronts) -> Ints:
    """Return the fronts that are left, each after its children."""
    nf = folded.into.size
    order, n, stack, ahead = np.empty(nf, np.int64), 0, np.empty(nf + 1, np.int64), folded.child.copy()
    for f in range(nf):
        if folded.into[f] == f and folded.parent[f] < 0:
            top, stack[0] = 0, f
            while top >= 0:
                c = ahead[stack[top]]
                if c >= 0:
                    ahead[stack[top]] = folded.sibling[c]
                    top += 1
                    stack[top] = c
                else:
                    order[n] = stack[top]
                    n += 1
                    top -= 1
    return order[:n].copy()
