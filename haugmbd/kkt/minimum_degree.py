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
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import counted, counted_entry, kernel

Flags = npt.NDArray[np.bool_]

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


class Quotient(NamedTuple):
    """The quotient graph: n variables and the elements, those that are given first, then one for each front.

    size, active: of each variable, its weight with all that it stands for, and whether it is still to be eliminated
    member_next, member_last: the variables that it stands for, as a list: twins are eliminated together
    own_starts, own, own_count: the elements that it is on
    starts, ends: of each element, the range of its variables in the pool;  element_size: their weight;  alive: whether it is not merged
    front_of: the front of each element, -1 for a given one
    stamp: the front at which a variable was seen last;  outside, outside_stamp: weight of an element outside of the new one, and when
    bucket, bucket_stamp, next_in_bucket: variables that may be twins, by the sum of their elements
    """

    size: Ints
    active: Flags
    member_next: Ints
    member_last: Ints
    own_starts: Ints
    own: Ints
    own_count: Ints
    starts: Ints
    ends: Ints
    element_size: Ints
    alive: Flags
    front_of: Ints
    stamp: Ints
    outside: Ints
    outside_stamp: Ints
    bucket: Ints
    bucket_stamp: Ints
    next_in_bucket: Ints


@counted_entry
def minimum_degree(weight: Ints, element_starts: Ints, elements: Ints, level: Ints, tie: float) -> Fronts:
    """Return the fronts for variables of these weights, in the cliques that `elements` lists one after the other.

    level: (n,) variables of a lower level are eliminated first;  tie: -1, 0 or 1, see TIE
    """
    n, n_given = weight.size, element_starts.size - 1
    q = _quotient(weight, element_starts, elements)
    pool, used = with_room(elements, 64 + 4 * elements.size), elements.size
    key = _first_keys(q, level)
    heap = [(0.0, 0)]
    heap.clear()  # Numba takes the type of a list from its entries
    for v in range(n):
        heap.append((key[v], v))
    heapq.heapify(heap)
    pivot_starts, pivots, n_pivots = np.zeros(n + 1, np.int64), np.empty(n, np.int64), 0
    boundary_starts, boundary, n_boundary = np.zeros(n + 1, np.int64), np.empty(64 + 8 * n, np.int64), 0
    parents, f, count = np.full(n, -1), 0, 0
    while len(heap) > 0:
        degree, p = heapq.heappop(heap)
        if not q.active[p] or degree != key[p]:
            continue
        new = n_given + f
        n_pivots = _list_members(q, p, pivots, n_pivots)
        pool = with_room(pool, used + _most_in_front(q, p))
        used = _merge(q, p, new, f, parents, pool, used)
        _look_outside(q, new, f, pool)
        n_pivots = _leave_out(q, new, f, pool, level, pivots, n_pivots)
        used = q.ends[new]
        for m in range(q.starts[new], used):
            v = pool[m]
            count += 1
            key[v] = _degree(q, v, new) + tie * TIE * count + LEVEL_WEIGHT * level[v]
            heapq.heappush(heap, (key[v], v))
            q.own[q.own_starts[v] + q.own_count[v]] = new
            q.own_count[v] += 1
            boundary = with_room(boundary, n_boundary + n)
            n_boundary = _list_members(q, v, boundary, n_boundary)
        f += 1
        pivot_starts[f], boundary_starts[f] = n_pivots, n_boundary
    return Fronts(
        pivot_starts[: f + 1].copy(), pivots, boundary_starts[: f + 1].copy(), boundary[:n_boundary].copy(), parents[:f].copy()
    )


@counted
def with_room(a: Ints, size: int) -> Ints:
    """Return the array, or a copy of twice the size if `size` entries do not fit in it."""
    if size <= a.size:
        return a
    larger = np.empty(2 * size, np.int64)
    larger[: a.size] = a
    return larger


@counted
def _quotient(weight: Ints, element_starts: Ints, elements: Ints) -> Quotient:
    """Return the quotient graph before anything is eliminated."""
    n, n_given = weight.size, element_starts.size - 1
    most = n_given + n
    own_starts = np.zeros(n + 1, np.int64)
    for v in elements:
        own_starts[v + 1] += 1
    own_starts = np.cumsum(own_starts)
    own, own_count = np.empty(elements.size, np.int64), np.zeros(n, np.int64)
    starts, ends, element_size = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    for e in range(n_given):
        starts[e], ends[e] = element_starts[e], element_starts[e + 1]
        for k in range(starts[e], ends[e]):
            v = elements[k]
            own[own_starts[v] + own_count[v]] = e
            own_count[v] += 1
            element_size[e] += weight[v]
    active, alive = np.ones(n, np.bool_), np.ones(most, np.bool_)
    nowhere, nothing = np.full(most, -1), np.zeros(most, np.int64)
    return Quotient(
        weight.copy(), active, np.full(n, -1), np.arange(n), own_starts, own, own_count, starts, ends, element_size, alive,
        nowhere.copy(), np.full(n, -1), nothing.copy(), nowhere.copy(), nothing.copy(), nowhere.copy(), np.full(n, -1),
    )  # fmt: skip


@counted
def _first_keys(q: Quotient, level: Ints) -> Array:
    """Return the keys of the variables before anything is eliminated: degree and level."""
    key = np.empty(level.size)
    for v in range(level.size):
        key[v] = LEVEL_WEIGHT * level[v]
        for k in range(q.own_starts[v], q.own_starts[v + 1]):
            key[v] += q.element_size[q.own[k]] - q.size[v]
    return key


@kernel
def _degree(q: Quotient, v: int, new: int) -> float:
    """Return the degree of v: what the new element, and those that are left, have beside it."""
    degree = float(q.element_size[new] - q.size[v])
    for k in range(q.own_starts[v], q.own_starts[v] + q.own_count[v]):
        degree += q.outside[q.own[k]]
    return degree


@kernel
def _list_members(q: Quotient, v: int, listed: Ints, n: int) -> int:
    """Append v and all that it stands for; return the number of entries."""
    while v >= 0:
        listed[n] = v
        n += 1
        v = q.member_next[v]
    return n


@kernel
def _most_in_front(q: Quotient, p: int) -> int:
    """Return the number of variables on the elements of p, counted once for each element."""
    most = 0
    for k in range(q.own_starts[p], q.own_starts[p] + q.own_count[p]):
        most += q.ends[q.own[k]] - q.starts[q.own[k]]
    return most


@kernel
def _merge(q: Quotient, p: int, new: int, f: int, parents: Ints, pool: Ints, used: int) -> int:
    """Eliminate p: merge its elements to the element `new` of front f, the parent of their fronts; return the end of the pool."""
    q.active[p] = False
    q.starts[new], q.element_size[new], q.front_of[new] = used, 0, f
    for k in range(q.own_starts[p], q.own_starts[p] + q.own_count[p]):
        e = q.own[k]
        q.alive[e] = False
        if q.front_of[e] >= 0:
            parents[q.front_of[e]] = f
        for m in range(q.starts[e], q.ends[e]):
            v = pool[m]
            if q.active[v] and q.stamp[v] != f:
                q.stamp[v] = f
                pool[used] = v
                used += 1
                q.element_size[new] += q.size[v]
    q.ends[new] = used
    return used


@kernel
def _look_outside(q: Quotient, new: int, f: int, pool: Ints) -> None:
    """Drop merged elements from the variables of the new one, and weigh what those that are left have outside of it."""
    for m in range(q.starts[new], q.ends[new]):
        v = pool[m]
        kept = q.own_starts[v]
        for k in range(q.own_starts[v], q.own_starts[v] + q.own_count[v]):
            e = q.own[k]
            if q.alive[e]:
                q.own[kept] = e
                kept += 1
                if q.outside_stamp[e] != f:
                    q.outside_stamp[e] = f
                    q.outside[e] = q.element_size[e]
                q.outside[e] -= q.size[v]
        q.own_count[v] = kept - q.own_starts[v]


@kernel
def _leave_out(q: Quotient, new: int, f: int, pool: Ints, level: Ints, pivots: Ints, n_pivots: int) -> int:
    """Take from the new element what needs no place of its own; return the number of pivots.

    Variables on nothing else are eliminated by the same front; of twins, which are on the same elements, one stands for the others.
    """
    end = q.starts[new]
    for m in range(q.starts[new], q.ends[new]):
        v = pool[m]
        if q.own_count[v] == 0:
            q.active[v] = False
            q.element_size[new] -= q.size[v]
            n_pivots = _list_members(q, v, pivots, n_pivots)
            continue
        twin = _twin(q, v, f, level)
        if twin >= 0:
            q.active[v] = False
            q.size[twin] += q.size[v]
            q.member_next[q.member_last[twin]] = v
            q.member_last[twin] = q.member_last[v]
        else:
            pool[end] = v
            end += 1
    q.ends[new] = end
    return n_pivots


@kernel
def _twin(q: Quotient, v: int, f: int, level: Ints) -> int:
    """Return the variable of the new element that is on the same elements as v; -1, after v is kept for comparison, if there is none."""
    code = 0
    for k in range(q.own_starts[v], q.own_starts[v] + q.own_count[v]):
        code += q.own[k]
    code %= q.alive.size
    if q.bucket_stamp[code] != f:
        q.bucket_stamp[code], q.bucket[code] = f, -1
    twin: int = q.bucket[code]
    while twin >= 0:
        same = q.own_count[twin] == q.own_count[v] and level[twin] == level[v]
        for k in range(q.own_count[v]):
            same = same and q.own[q.own_starts[v] + k] == q.own[q.own_starts[twin] + k]
        if same:
            return twin
        twin = q.next_in_bucket[twin]
    q.next_in_bucket[v] = q.bucket[code]
    q.bucket[code] = v
    return -1


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
        next_starts, next_ends = [0], [0]
        next_starts.clear()  # Numba takes the type of a list from its entries
        next_ends.clear()
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
