r"""Fronts of a good size, and their tables: which fronts are folded into their parents, and where every row goes.

A small front costs more than its arithmetic.  It is folded into its parent where a model of the time says that this pays.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.compiled.jit import counted, counted_entry

FRONT_NS, ROW_NS, ENTRY_NS, PRODUCT_NS, UPDATE_NS = 300.0, 8.0, 0.15, 0.08, 0.4
"""Time of a front [ns]: of its own, for each row, each entry, each multiply-add, and each entry that it passes to its parent."""

COLUMNS = 11
PIVOTS, ROWS, FIRST_ROW, FACTOR, CHILD, SIBLING, FIRST_RUN, END_RUN, FIRST_BODY, END_BODY, STACKED = range(COLUMNS)
"""Columns of the table of fronts: number of pivots and of rows; where its rows, its part of the factor, its runs and its bodies begin
and end; first child and next sibling (-1: none); where its update is stacked."""


@counted
def front_ns(k: float, n: float) -> float:
    """Return the time of a front of n rows with k pivots [ns]."""
    products = k * (n * n - n * k + k * k / 3.0)
    return FRONT_NS + ROW_NS * n + ENTRY_NS * n * n + PRODUCT_NS * products + UPDATE_NS * (n - k) * (n - k)


@counted_entry
def fold(
    pivot_starts: Ints, pivots: Ints, boundary_starts: Ints, boundary: Ints, parents: Ints, weight: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, float, float]:
    """Fold fronts into their parents where that saves time.

    Return for each front the one that it is folded into (itself if not), the number of pivots, of boundary rows, its parent, its first
    child and its next sibling; the time of all [ns], and the number of multiply-adds.
    """
    nf = parents.size
    k, r, into, parent = np.zeros(nf, np.int64), np.zeros(nf, np.int64), np.arange(nf), parents.copy()
    child, sibling = np.full(nf, -1), np.full(nf, -1)
    for f in range(nf - 1, -1, -1):
        for m in range(pivot_starts[f], pivot_starts[f + 1]):
            k[f] += weight[pivots[m]]
        for m in range(boundary_starts[f], boundary_starts[f + 1]):
            r[f] += weight[boundary[m]]
        if parent[f] >= 0:
            sibling[f] = child[parent[f]]
            child[parent[f]] = f
    for p in range(nf):
        while True:
            best, gain, own = -1, 0.0, front_ns(k[p], k[p] + r[p])
            c = child[p]
            while c >= 0:
                saved = own + front_ns(k[c], k[c] + r[c]) - front_ns(k[p] + k[c], k[p] + k[c] + r[p])
                if saved > gain:
                    best, gain = c, saved
                c = sibling[c]
            if best < 0:
                break
            into[best] = p
            k[p] += k[best]
            before, c = -1, child[p]
            while c != best:
                before, c = c, sibling[c]
            if before < 0:
                child[p] = sibling[best]
            else:
                sibling[before] = sibling[best]
            c = child[best]
            while c >= 0:
                following = sibling[c]
                parent[c], sibling[c], child[p] = p, child[p], c
                c = following
    ns = products = 0.0
    for f in range(nf):
        if into[f] == f:
            ns += front_ns(k[f], k[f] + r[f])
            products += 0.5 * k[f] * (float((k[f] + r[f]) ** 2) - (k[f] + r[f]) * k[f] + k[f] * k[f] / 3.0)
    return into, k, r, parent, child, sibling, ns, products


@counted
def postorder(into: Ints, parent: Ints, child: Ints, sibling: Ints) -> Ints:
    """Return the fronts that are left, each after its children."""
    nf = into.size
    order, n, stack, ahead = np.empty(nf, np.int64), 0, np.empty(nf + 1, np.int64), child.copy()
    for f in range(nf):
        if into[f] == f and parent[f] < 0:
            top, stack[0] = 0, f
            while top >= 0:
                c = ahead[stack[top]]
                if c >= 0:
                    ahead[stack[top]] = sibling[c]
                    top += 1
                    stack[top] = c
                else:
                    order[n] = stack[top]
                    n += 1
                    top -= 1
    return order[:n].copy()


@counted_entry
def lay_out(
    pivot_starts: Ints, pivots: Ints, boundary_starts: Ints, boundary: Ints,
    into: Ints, k: Ints, r: Ints, parent: Ints, child: Ints, sibling: Ints,
    weight: Ints, bodies: Ints, n_bodies: int,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:  # fmt: skip
    """Return the tables of the fronts in postorder.

    weight: (ne,) number of rows of each edge;  bodies: (ne, sides), 0 for none;  n_bodies: the ground counted
    Return (nf, COLUMNS) fronts;  (.,) number of each row of a front among all unknowns;  (., 3) runs of a front's boundary in its parent:
    first row in the boundary, first row in the parent, length;  (., 3) bodies that the fronts assemble: number, first and end of their
    rows in (., 3) rows of bodies: gradient, unknown, row in the front;  sizes of factor, stack, largest front.
    """
    ne, sides, nf = weight.size, bodies.shape[1], into.size
    order = postorder(into, parent, child, sibling)
    n = order.size
    number = np.full(nf, -1)
    for q in range(n):
        number[order[q]] = q
    final = np.empty(nf, np.int64)
    for f in range(nf - 1, -1, -1):
        final[f] = number[f] if into[f] == f else final[into[f]]
    edge_starts = np.zeros(n + 1, np.int64)
    for f in range(nf):
        edge_starts[final[f] + 1] += pivot_starts[f + 1] - pivot_starts[f]
    edge_starts = np.cumsum(edge_starts)
    edges, filled, place, front_of = np.empty(ne, np.int64), edge_starts[:-1].copy(), np.empty(ne, np.int64), np.empty(ne, np.int64)
    for f in range(nf):
        q = final[f]
        for m in range(pivot_starts[f], pivot_starts[f + 1]):
            edges[filled[q]], place[pivots[m]], front_of[pivots[m]] = pivots[m], filled[q], q
            filled[q] += 1
    table = np.full((n, COLUMNS), -1)
    n_rows = n_boundary = 0
    for q in range(n):
        f = order[q]
        table[q, PIVOTS], table[q, ROWS], table[q, FIRST_ROW] = k[f], k[f] + r[f], n_rows
        n_rows += k[f] + r[f]
        n_boundary += boundary_starts[f + 1] - boundary_starts[f]
    for q in range(n - 1, -1, -1):
        p = parent[order[q]]
        if p >= 0:
            table[q, SIBLING], table[number[p], CHILD] = table[number[p], CHILD], q
    on_starts = np.zeros(n_bodies + 1, np.int64)
    for e in range(ne):
        for body in bodies[e]:
            on_starts[body + 1] += body > 0
    on_starts = np.cumsum(on_starts)
    on, filled = np.empty(on_starts[n_bodies], np.int64), on_starts.copy()
    for m in range(ne):
        for side in range(sides):
            body = bodies[edges[m], side]
            if body > 0:
                on[filled[body]] = sides * edges[m] + side
                filled[body] += 1
    body_starts = np.zeros(n + 1, np.int64)
    for body in range(1, n_bodies):
        if on_starts[body + 1] > on_starts[body]:
            body_starts[front_of[on[on_starts[body]] // sides] + 1] += 1
    body_starts = np.cumsum(body_starts)
    of_front, filled = np.zeros((body_starts[n], 3), np.int64), body_starts[:-1].copy()
    for body in range(1, n_bodies):
        if on_starts[body + 1] > on_starts[body]:
            q = front_of[on[on_starts[body]] // sides]
            of_front[filled[q], 0] = body
            filled[q] += 1
    n_body_rows = 0
    for m in on:
        n_body_rows += weight[m // sides]
    rows, runs, body_rows = np.empty(n_rows, np.int64), np.empty((n_boundary, 3), np.int64), np.empty((n_body_rows, 3), np.int64)
    local = np.zeros(ne, np.int64)
    n_runs = n_body_rows = n_factor = stacked = most_stacked = most = 0
    starts = np.zeros(n + 1, np.int64)
    positions = np.empty(n_boundary, np.int64)
    for q in range(n):
        f, at = order[q], table[q, FIRST_ROW]
        starts[q + 1] = starts[q] + boundary_starts[f + 1] - boundary_starts[f]
        for m in range(boundary_starts[f], boundary_starts[f + 1]):
            positions[starts[q] + m - boundary_starts[f]] = place[boundary[m]]
        positions[starts[q] : starts[q + 1]] = np.sort(positions[starts[q] : starts[q + 1]])
        i = 0
        for m in range(edge_starts[q], edge_starts[q + 1]):
            local[edges[m]] = i
            for a in range(weight[edges[m]]):
                rows[at + i] = 6 * (n_bodies + edges[m]) + a
                i += 1
        for m in range(starts[q], starts[q + 1]):
            e = edges[positions[m]]
            local[e] = i
            for a in range(weight[e]):
                rows[at + i] = 6 * (n_bodies + e) + a
                i += 1
        c = table[q, CHILD]
        while c >= 0:
            table[c, FIRST_RUN], source = n_runs, 0
            for m in range(starts[c], starts[c + 1]):
                e = edges[positions[m]]
                if n_runs > table[c, FIRST_RUN] and runs[n_runs - 1, 1] + runs[n_runs - 1, 2] == local[e]:
                    runs[n_runs - 1, 2] += weight[e]
                else:
                    runs[n_runs, 0], runs[n_runs, 1], runs[n_runs, 2] = source, local[e], weight[e]
                    n_runs += 1
                source += weight[e]
            table[c, END_RUN] = n_runs
            stacked -= (table[c, ROWS] - table[c, PIVOTS]) ** 2
            c = table[c, SIBLING]
        table[q, STACKED] = stacked
        stacked += (table[q, ROWS] - table[q, PIVOTS]) ** 2
        most_stacked = max(most_stacked, stacked)
        table[q, FACTOR] = n_factor
        n_factor += table[q, PIVOTS] * table[q, ROWS]
        most = max(most, table[q, ROWS])
        table[q, FIRST_BODY], table[q, END_BODY] = body_starts[q], body_starts[q + 1]
        for t in range(body_starts[q], body_starts[q + 1]):
            body = of_front[t, 0]
            of_front[t, 1] = n_body_rows
            for m in range(on_starts[body], on_starts[body + 1]):
                e, side = on[m] // sides, on[m] % sides
                for a in range(weight[e]):
                    body_rows[n_body_rows, 0] = sides * (6 * e + a) + side
                    body_rows[n_body_rows, 1] = 6 * (n_bodies + e) + a
                    body_rows[n_body_rows, 2] = local[e] + a
                    n_body_rows += 1
            of_front[t, 2] = n_body_rows
    sizes = np.array([n_factor, most_stacked, most])
    return table, rows, runs[:n_runs].copy(), of_front, body_rows, sizes
