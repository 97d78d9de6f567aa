r"""The order of a multifrontal elimination: minimum degree on the quotient graph.

    variables   blocks of unknowns: the rows of one edge                       weight = number of rows, true sizes
    elements    cliques: at first the bodies (the edges on a body), then one for each front
    eliminate v   all elements of v merge to a new one, its front:  pivots v  |  boundary = the other variables of these elements

A body is an element because it is eliminated first: M_b^-1 couples all rows on it.  Eliminating an edge between two clusters of bodies
joins them; the boundary of the new cluster is the edges that leave it.  The external degree of an edge between clusters a and b is
wt(a) + wt(b) - 2 wt(a and b), which is exact; for rows on more than two bodies it is an upper bound.
Variables with the same elements are eliminated together.
Source: Amestoy, Davis and Duff, An approximate minimum degree ordering algorithm, SIAM J. Matrix Anal. Appl. 17 (1996).
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import counted_entry

LEVEL_WEIGHT = 1e9
"""Added to the degree for each level of a bisection, so that the variables of a level wait for those below it."""

TIE = 1e-7
"""Added to the degree times the count of changes: equal degrees are taken oldest first, or newest first if it is subtracted."""


class Fronts(NamedTuple):
    """An elimination as a forest of fronts, children before parents.

    pivot_starts, pivots: the variables that each front eliminates;  boundary_starts, boundary: those that it updates
    parents: (nf,) the front that each one updates, -1 for none
    """

    pivot_starts: Ints
    pivots: Ints
    boundary_starts: Ints
    boundary: Ints
    parents: Ints


@counted_entry
def minimum_degree(
    weight: Ints, element_starts: Ints, elements: Ints, level: Ints, tie: float
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return the arrays of `Fronts` for variables of these weights, in the cliques that `elements` lists one after the other.

    level: (n,) variables of a lower level are eliminated first;  tie: -1, 0 or 1, see TIE
    """
    n, n_given = weight.size, element_starts.size - 1
    size = weight.copy()
    active = np.ones(n, np.bool_)
    member_next, member_last = np.full(n, -1), np.arange(n)
    starts, ends = np.zeros(n_given + n, np.int64), np.zeros(n_given + n, np.int64)
    element_size = np.zeros(n_given + n, np.int64)
    alive = np.ones(n_given + n, np.bool_)
    front_of = np.full(n_given + n, -1)
    pool = np.empty(max(64, 4 * elements.size), np.int64)
    pool[: elements.size] = elements
    used = elements.size
    own_starts = np.zeros(n + 1, np.int64)
    for v in elements:
        own_starts[v + 1] += 1
    own_starts = np.cumsum(own_starts)
    own, own_count = np.empty(elements.size, np.int64), np.zeros(n, np.int64)
    for e in range(n_given):
        starts[e], ends[e] = element_starts[e], element_starts[e + 1]
        for k in range(starts[e], ends[e]):
            v = elements[k]
            own[own_starts[v] + own_count[v]] = e
            own_count[v] += 1
            element_size[e] += weight[v]
    stamp = np.full(n, -1)
    outside, outside_stamp = np.zeros(n_given + n, np.int64), np.full(n_given + n, -1)
    bucket, bucket_stamp, next_in_bucket = np.empty(n_given + n, np.int64), np.full(n_given + n, -1), np.empty(n, np.int64)
    key = np.empty(n)
    heap = [(0.0, 0) for _ in range(0)]
    for v in range(n):
        degree = 0.0
        for k in range(own_starts[v], own_starts[v] + own_count[v]):
            degree += element_size[own[k]] - size[v]
        key[v] = degree + LEVEL_WEIGHT * level[v]
        heap.append((key[v], v))
    heapq.heapify(heap)
    pivot_starts, pivots, n_pivots = np.zeros(n + 1, np.int64), np.empty(n, np.int64), 0
    boundary_starts, boundary, n_boundary = np.zeros(n + 1, np.int64), np.empty(max(64, 8 * n), np.int64), 0
    parents, n_fronts, count = np.full(n, -1), 0, 0
    while len(heap) > 0:
        found, p = heapq.heappop(heap)
        if not active[p] or found != key[p]:
            continue
        active[p] = False
        v = p
        while v >= 0:
            pivots[n_pivots] = v
            n_pivots += 1
            v = member_next[v]
        new, f = n_given + n_fronts, n_fronts
        most = 0
        for k in range(own_starts[p], own_starts[p] + own_count[p]):
            most += ends[own[k]] - starts[own[k]]
        if used + most > pool.size:
            larger = np.empty(2 * pool.size + most, np.int64)
            larger[:used] = pool[:used]
            pool = larger
        starts[new] = used
        total = 0
        for k in range(own_starts[p], own_starts[p] + own_count[p]):
            e = own[k]
            alive[e] = False
            if front_of[e] >= 0:
                parents[front_of[e]] = f
            for m in range(starts[e], ends[e]):
                v = pool[m]
                if active[v] and stamp[v] != f:
                    stamp[v] = f
                    pool[used] = v
                    used += 1
                    total += size[v]
        for m in range(starts[new], used):  # the elements that are left, and what they have outside of the new one
            v, kept = pool[m], own_starts[pool[m]]
            for k in range(own_starts[v], own_starts[v] + own_count[v]):
                e = own[k]
                if alive[e]:
                    own[kept] = e
                    kept += 1
                    if outside_stamp[e] != f:
                        outside_stamp[e] = f
                        outside[e] = element_size[e]
                    outside[e] -= size[v]
            own_count[v] = kept - own_starts[v]
        end = starts[new]
        for m in range(starts[new], used):
            v = pool[m]
            if own_count[v] == 0:  # on nothing else: eliminated by the same front
                active[v] = False
                total -= size[v]
                while v >= 0:
                    pivots[n_pivots] = v
                    n_pivots += 1
                    v = member_next[v]
                continue
            code = 0
            for k in range(own_starts[v], own_starts[v] + own_count[v]):
                code += own[k]
            code %= n_given + n
            twin = bucket[code] if bucket_stamp[code] == f else -1
            if bucket_stamp[code] != f:
                bucket_stamp[code], bucket[code] = f, -1
            while twin >= 0:
                same = own_count[twin] == own_count[v] and level[twin] == level[v]
                for k in range(own_count[v]):
                    same = same and own[own_starts[v] + k] == own[own_starts[twin] + k]
                if same:
                    break
                twin = next_in_bucket[twin]
            if twin >= 0:
                active[v] = False
                size[twin] += size[v]
                member_next[member_last[twin]] = v
                member_last[twin] = member_last[v]
                continue
            next_in_bucket[v] = bucket[code]
            bucket[code] = v
            pool[end] = v
            end += 1
        used = end
        ends[new], element_size[new], front_of[new] = end, total, f
        for m in range(starts[new], end):
            v = pool[m]
            degree = float(total - size[v])
            for k in range(own_starts[v], own_starts[v] + own_count[v]):
                degree += outside[own[k]]
            own[own_starts[v] + own_count[v]] = new
            own_count[v] += 1
            count += 1
            key[v] = degree + tie * TIE * count + LEVEL_WEIGHT * level[v]
            heapq.heappush(heap, (key[v], v))
            while v >= 0:
                if n_boundary == boundary.size:
                    larger = np.empty(2 * n_boundary, np.int64)
                    larger[:n_boundary] = boundary
                    boundary = larger
                boundary[n_boundary] = v
                n_boundary += 1
                v = member_next[v]
        n_fronts += 1
        pivot_starts[n_fronts], boundary_starts[n_fronts] = n_pivots, n_boundary
    return (
        pivot_starts[: n_fronts + 1].copy(),
        pivots,
        boundary_starts[: n_fronts + 1].copy(),
        boundary[:n_boundary].copy(),
        parents[:n_fronts].copy(),
    )


@counted_entry
def bisection_levels(positions: Array, bodies: Ints, leaf: int) -> Ints:
    """Return the level of each edge (ne,) in a bisection of the bodies across their longest extent, down to `leaf` bodies.

    positions: (nb + 1, 3);  bodies: (ne, sides), 0 for the ground and for a side without body
    Level 0: the edge stays inside a part of the last bisection; otherwise the higher, the earlier its bodies were parted.
    """
    n = positions.shape[0] - 1
    order, code, depth = np.arange(1, n + 1), np.zeros(n + 1, np.int64), 0
    starts, ends, pending = [0], [n], True
    while pending:
        pending = False
        next_starts, next_ends = [0 for _ in range(0)], [0 for _ in range(0)]
        for part in range(len(starts)):
            a, b = starts[part], ends[part]
            if b - a <= leaf:
                continue
            axis, extent = 0, -1.0
            for c in range(3):
                least, largest = np.inf, -np.inf
                for k in range(a, b):
                    least, largest = min(least, positions[order[k], c]), max(largest, positions[order[k], c])
                if largest - least > extent:
                    axis, extent = c, largest - least
            value = np.empty(b - a)
            for k in range(a, b):
                value[k - a] = positions[order[k], axis]
            sorted_part, middle = order[a:b][np.argsort(value, kind="mergesort")], a + (b - a) // 2
            order[a:b] = sorted_part
            for k in range(middle, b):
                code[order[k]] |= 1 << depth
            next_starts += [a, middle]
            next_ends += [middle, b]
            pending = True
        if pending:
            depth += 1
            starts, ends = next_starts, next_ends
    level = np.zeros(bodies.shape[0], np.int64)
    for e in range(bodies.shape[0]):
        first = -1
        for body in bodies[e]:
            if body > 0 and first >= 0 and code[body] != code[first]:
                parted, split = code[body] ^ code[first], 0
                while (parted >> split) & 1 == 0:
                    split += 1
                level[e] = max(level[e], depth - split)
            if body > 0 and first < 0:
                first = body
    return level
