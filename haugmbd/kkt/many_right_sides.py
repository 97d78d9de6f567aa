r"""K^-1 B for many right-hand sides B in one sweep, with the factor of the block LDL^T at hand.

    forward     x_n <- L_n^-1 x_n,   x_k <- x_k - W^T d^-1 x_n        for each neighbour k eliminated later, W = L_n^-1 [n, k]
    backward    x_n <- L_n^-T (d^-1 x_n - d^-1 W x_k)

A single right-hand side waits for itself from node to node.  Sixteen fill the vector units of a processor, at the cost of three.
Source: as `block_ldl`.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.kkt.block_ldl import Factor
from haugmbd.kkt.elimination_order import WIDE, EliminationSteps

LANES = 16
"""Right-hand sides in one sweep: other numbers leave vector units empty."""


@kernel
def forward_lanes(L: Array, x: Array, m: int) -> None:
    """Set x <- L^-1 x for x (6, m)."""
    l10, l20, l21 = L[1, 0], L[2, 0], L[2, 1]
    l30, l31, l32 = L[3, 0], L[3, 1], L[3, 2]
    l40, l41, l42, l43 = L[4, 0], L[4, 1], L[4, 2], L[4, 3]
    l50, l51, l52, l53, l54 = L[5, 0], L[5, 1], L[5, 2], L[5, 3], L[5, 4]
    for r in range(m):
        x0 = x[0, r]
        x1 = x[1, r] - l10 * x0
        x2 = x[2, r] - l20 * x0 - l21 * x1
        x3 = x[3, r] - l30 * x0 - l31 * x1 - l32 * x2
        x4 = x[4, r] - l40 * x0 - l41 * x1 - l42 * x2 - l43 * x3
        x5 = x[5, r] - l50 * x0 - l51 * x1 - l52 * x2 - l53 * x3 - l54 * x4
        x[1, r], x[2, r], x[3, r], x[4, r], x[5, r] = x1, x2, x3, x4, x5


@kernel
def backward_lanes(L: Array, x: Array, m: int) -> None:
    """Set x <- L^-T x for x (6, m)."""
    l10, l20, l21 = L[1, 0], L[2, 0], L[2, 1]
    l30, l31, l32 = L[3, 0], L[3, 1], L[3, 2]
    l40, l41, l42, l43 = L[4, 0], L[4, 1], L[4, 2], L[4, 3]
    l50, l51, l52, l53, l54 = L[5, 0], L[5, 1], L[5, 2], L[5, 3], L[5, 4]
    for r in range(m):
        x5 = x[5, r]
        x4 = x[4, r] - l54 * x5
        x3 = x[3, r] - l43 * x4 - l53 * x5
        x2 = x[2, r] - l32 * x3 - l42 * x4 - l52 * x5
        x1 = x[1, r] - l21 * x2 - l31 * x3 - l41 * x4 - l51 * x5
        x0 = x[0, r] - l10 * x1 - l20 * x2 - l30 * x3 - l40 * x4 - l50 * x5
        x[0, r], x[1, r], x[2, r], x[3, r], x[4, r] = x0, x1, x2, x3, x4


@kernel
def update_lanes(W: Array, d: Array, x: Array, y: Array, m: int) -> None:
    """Set y <- y - W^T d x for x, y (6, m)."""
    for c in range(6):
        w0, w1, w2 = W[0, c] * d[0], W[1, c] * d[1], W[2, c] * d[2]
        w3, w4, w5 = W[3, c] * d[3], W[4, c] * d[4], W[5, c] * d[5]
        for r in range(m):
            y[c, r] -= (w0 * x[0, r] + w1 * x[1, r] + w2 * x[2, r]) + (w3 * x[3, r] + w4 * x[4, r] + w5 * x[5, r])


@kernel
def subtract_lanes(W: Array, d: Array, y: Array, x: Array, m: int) -> None:
    """Set x <- x - d W y for x, y (6, m)."""
    for a in range(6):
        w0, w1, w2 = W[a, 0] * d[a], W[a, 1] * d[a], W[a, 2] * d[a]
        w3, w4, w5 = W[a, 3] * d[a], W[a, 4] * d[a], W[a, 5] * d[a]
        for r in range(m):
            x[a, r] -= (w0 * y[0, r] + w1 * y[1, r] + w2 * y[2, r]) + (w3 * y[3, r] + w4 * y[4, r] + w5 * y[5, r])


@kernel
def forward_narrow_lanes(L: Array, x: Array, n: int, m: int) -> None:
    """Set x <- L^-1 x for the first n rows of x (6, m)."""
    for a in range(1, n):
        for b in range(a):
            for r in range(m):
                x[a, r] -= L[a, b] * x[b, r]


@kernel
def backward_narrow_lanes(L: Array, x: Array, n: int, m: int) -> None:
    """Set x <- L^-T x for the first n rows of x (6, m)."""
    for a in range(n - 2, -1, -1):
        for b in range(a + 1, n):
            for r in range(m):
                x[a, r] -= L[b, a] * x[b, r]


@kernel
def add_product(factor: float, x: Array, y: Array, m: int) -> None:
    """Set y <- y + factor x for x, y (m,)."""
    for r in range(m):
        y[r] += factor * x[r]


@kernel
def update_narrow_lanes(W: Array, d: Array, x: Array, y: Array, rows: int, n: int, m: int) -> None:
    """Set y <- y - W^T d x, where the node of x (6, m) has `rows` unknowns and that of y has n; not both six.

    W (rows, n), but (n, 6) where only the node of y is narrow: blocks of narrow nodes are kept by their lines
    """
    for a in range(rows):
        for c in range(n):
            add_product(-d[a] * (W[c, a] if rows == WIDE else W[a, c]), x[a], y[c], m)


@kernel
def subtract_narrow_lanes(W: Array, d: Array, y: Array, x: Array, rows: int, n: int, m: int) -> None:
    """Set x <- x - d W y, with the sizes of `update_narrow_lanes`."""
    for a in range(rows):
        for c in range(n):
            add_product(-d[a] * (W[c, a] if rows == WIDE else W[a, c]), y[c], x[a], m)


@kernel
def solve_many(s: EliminationSteps, f: Factor, X: Array) -> None:
    """Set X <- K^-1 X for X (nn, 6, LANES) by nodes, with the current factor."""
    forward_many(s, f, X)
    backward_many(s, f, X)


@kernel
def forward_many(s: EliminationSteps, f: Factor, X: Array) -> None:
    """Set X <- L^-1 X."""
    m = X.shape[2]
    for step in range(s.order.shape[0]):
        node, rows = s.order[step, 0], s.order[step, 1]
        if rows == WIDE:
            forward_lanes(f.D[node], X[node], m)
        else:
            forward_narrow_lanes(f.D[node], X[node], rows, m)
        for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
            other, W, n = s.neighbors[k, 0], f.B[s.neighbors[k, 1]], s.neighbors[k, 2]
            if rows + n == 2 * WIDE:
                update_lanes(W, f.d_inv[node], X[node], X[other], m)
            else:
                update_narrow_lanes(W, f.d_inv[node], X[node], X[other], rows, n, m)


@kernel
def backward_many(s: EliminationSteps, f: Factor, X: Array) -> None:
    """Set X <- L^-T d^-1 X."""
    m = X.shape[2]
    for step in range(s.order.shape[0] - 1, -1, -1):
        node, rows = s.order[step, 0], s.order[step, 1]
        x, d = X[node], f.d_inv[node]
        for a in range(6):
            for r in range(m):
                x[a, r] *= d[a]
        for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
            other, W, n = s.neighbors[k, 0], f.B[s.neighbors[k, 1]], s.neighbors[k, 2]
            if rows + n == 2 * WIDE:
                subtract_lanes(W, d, X[other], x, m)
            else:
                subtract_narrow_lanes(W, d, X[other], x, rows, n, m)
        if rows == WIDE:
            backward_lanes(f.D[node], x, m)
        else:
            backward_narrow_lanes(f.D[node], x, rows, m)
