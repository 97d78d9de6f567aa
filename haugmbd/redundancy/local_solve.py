r"""Sparse solutions of the eliminated [ 1 J^T; J 0 ]: only nodes with nonzero values are visited.

    forward    q = D^-1 x of a node,  x_other -= B^T q       from the bodies of a dropped row, until the row is expressed by others
    backward   x = D^-1 (x - sum B x_other)                  to the neighbours of nodes with a value

A dropped row follows from rows that were eliminated before it, most often those of its own loop. All dropped rows of a ladder of n
four-bars are found in O(n) together; full passes over n nodes for each of them would take O(n^2).
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.model.model import Model
from haugmbd.redundancy.sparse_ldl import Elimination, integers

ZERO_TOL = 1e-9
"""Part of the largest value below which a value counts as zero: above rounding, and below TERM_TOL of `rank`."""


class LocalSolver:
    """An elimination, with the neighbours of each node before it and after it in the order, and the blocks between them."""

    def __init__(self, model: Model, e: Elimination) -> None:
        order, neighbor_starts = integers(model, "ORDER")[:, 0].tolist(), integers(model, "NEIGHBOR_STARTS").ravel().tolist()
        neighbors = integers(model, "NEIGHBORS")[:, :2].tolist()
        self._e, self._order = e, order
        self._step = {node: step for step, node in enumerate(order)}
        self._later = [neighbors[neighbor_starts[step] : neighbor_starts[step + 1]] for step in range(len(order))]
        self._earlier: dict[int, list[int]] = {node: [] for node in order}
        for step, others in enumerate(self._later):
            for other, _ in others:
                self._earlier[other].append(step)

    def solve(self, b: dict[int, Array]) -> dict[int, Array]:
        """Return the values (6, n) of the nodes where they are not zero, for right-hand sides (6, n) in the same form."""
        least = ZERO_TOL * max(float(np.abs(part).max()) for part in b.values())
        x = {node: part.copy() for node, part in b.items()}
        self._forward(x, least)
        return self._backward(x, least)

    def _forward(self, x: dict[int, Array], least: float) -> None:
        """Eliminate the right-hand sides, in the order of the elimination."""
        ahead = sorted(self._step[node] for node in x)
        while ahead:
            step = heappop(ahead)
            node = self._order[step]
            q = self._e.inverse[node] @ x[node]
            if np.abs(q).max() <= least:
                continue
            for other, block in self._later[step]:
                if other not in x:
                    x[other] = np.zeros_like(q)
                    heappush(ahead, self._step[other])
                x[other] -= self._e.B[block].T @ q

    def _backward(self, x: dict[int, Array], least: float) -> dict[int, Array]:
        """Return the solution, by back substitution in the opposite order."""
        found: dict[int, Array] = {}
        behind = sorted(-self._step[node] for node in x)
        marked = set(behind)
        while behind:
            step = -heappop(behind)
            node = self._order[step]
            total = x[node].copy() if node in x else None
            for other, block in self._later[step]:
                if other in found:
                    part = self._e.B[block] @ found[other]
                    total = -part if total is None else total - part
            value = None if total is None else self._e.inverse[node] @ total
            if value is None or np.abs(value).max() <= least:
                continue
            found[node] = value
            for before in self._earlier[node]:
                if -before not in marked:
                    marked.add(-before)
                    heappush(behind, -before)
        return found
