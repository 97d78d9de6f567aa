r"""Fronts of a good size: a front is folded into its parent where a model of the time says that this pays.

A small front costs more than its arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import counted, counted_entry, kernel
from haugmbd.kkt.multifrontal.minimum_degree import Fronts

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
    best, gain, own = -1, 0.0, front_ns(k[p], k[p] + r[p])
    c = folded.child[p]
    while c >= 0:
        saved = own + front_ns(k[c], k[c] + r[c]) - front_ns(k[p] + k[c], k[p] + k[c] + r[p])
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
