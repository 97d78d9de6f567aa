r"""The tables of a multifrontal elimination: where every row of every front stands, and what it passes to its parent.

pivots     the edges of a front, in the order of elimination, with those of the fronts that are folded into it
boundary   the edges that it updates, in the order in which its parents eliminate them
runs       a front's boundary in the rows of its parent, as pieces without gaps
bodies     each body is assembled by the first front that eliminates one of its edges
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.compiled.jit import counted, counted_entry, kernel
from haugmbd.kkt.multifrontal.front_folding import FoldedFronts, postorder
from haugmbd.kkt.multifrontal.minimum_degree import Fronts

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
    ordered, filled, place, front_of = np.empty(ne, np.int64), starts.copy(), np.empty(ne, np.int64), np.empty(ne, np.int64)
    for f in range(nf):
        q = final[f]
        for m in range(fronts.pivot_starts[f], fronts.pivot_starts[f + 1]):
            e = fronts.pivots[m]
            ordered[filled[q]], place[e], front_of[e] = e, filled[q], q
            filled[q] += 1
    return Eliminated(starts, ordered, place, front_of)


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
