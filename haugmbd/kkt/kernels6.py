r"""The 6 x 6 kernels of the block LDL^T: factor a pivot block, transform the block of a neighbour, update the remaining blocks.

    D = L d L^T                W = L^-1 B                T <- T - W_a^T d^-1 W_b

L is unit lower triangular and overwrites the lower part of D; `d_inv` receives 1/d.  D is symmetric and definite of either sign
(bodies positive, constraint rows negative), so that no exchange of pivots is needed; only its lower triangle is read.
Entries are held in local names: registers cannot alias the block that is written, so that LLVM may reorder the operations.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.math.larger import larger


@kernel
def factor_block(D: Array, d_inv: Array) -> None:
    """Overwrite the lower triangle of D (6, 6) by L, and d_inv (6,) by 1/d."""
    a00 = D[0, 0]
    a10, a11 = D[1, 0], D[1, 1]
    a20, a21, a22 = D[2, 0], D[2, 1], D[2, 2]
    a30, a31, a32, a33 = D[3, 0], D[3, 1], D[3, 2], D[3, 3]
    a40, a41, a42, a43, a44 = D[4, 0], D[4, 1], D[4, 2], D[4, 3], D[4, 4]
    a50, a51, a52, a53, a54, a55 = D[5, 0], D[5, 1], D[5, 2], D[5, 3], D[5, 4], D[5, 5]
    q0 = 1.0 / a00
    l10 = a10 * q0
    l20 = a20 * q0
    l30 = a30 * q0
    l40 = a40 * q0
    l50 = a50 * q0
    a11 = a11 - l10 * a10
    a21, a22 = a21 - l20 * a10, a22 - l20 * a20
    a31, a32, a33 = a31 - l30 * a10, a32 - l30 * a20, a33 - l30 * a30
    a41, a42, a43, a44 = a41 - l40 * a10, a42 - l40 * a20, a43 - l40 * a30, a44 - l40 * a40
    a51, a52, a53, a54, a55 = a51 - l50 * a10, a52 - l50 * a20, a53 - l50 * a30, a54 - l50 * a40, a55 - l50 * a50
    q1 = 1.0 / a11
    l21 = a21 * q1
    l31 = a31 * q1
    l41 = a41 * q1
    l51 = a51 * q1
    a22 = a22 - l21 * a21
    a32, a33 = a32 - l31 * a21, a33 - l31 * a31
    a42, a43, a44 = a42 - l41 * a21, a43 - l41 * a31, a44 - l41 * a41
    a52, a53, a54, a55 = a52 - l51 * a21, a53 - l51 * a31, a54 - l51 * a41, a55 - l51 * a51
    q2 = 1.0 / a22
    l32 = a32 * q2
    l42 = a42 * q2
    l52 = a52 * q2
    a33 = a33 - l32 * a32
    a43, a44 = a43 - l42 * a32, a44 - l42 * a42
    a53, a54, a55 = a53 - l52 * a32, a54 - l52 * a42, a55 - l52 * a52
    q3 = 1.0 / a33
    l43 = a43 * q3
    l53 = a53 * q3
    a44 = a44 - l43 * a43
    a54, a55 = a54 - l53 * a43, a55 - l53 * a53
    q4 = 1.0 / a44
    l54 = a54 * q4
    a55 = a55 - l54 * a54
    q5 = 1.0 / a55
    D[1, 0] = l10
    D[2, 0], D[2, 1] = l20, l21
    D[3, 0], D[3, 1], D[3, 2] = l30, l31, l32
    D[4, 0], D[4, 1], D[4, 2], D[4, 3] = l40, l41, l42, l43
    D[5, 0], D[5, 1], D[5, 2], D[5, 3], D[5, 4] = l50, l51, l52, l53, l54
    d_inv[0], d_inv[1], d_inv[2], d_inv[3], d_inv[4], d_inv[5] = q0, q1, q2, q3, q4, q5


@kernel
def pivot_ratio(d_inv: Array, scale: Array) -> float:
    """Return the largest scale / |pivot| of a factored block; infinite or NaN for a singular block."""
    worst = 1.0
    for k in range(6):
        worst = larger(worst, abs(d_inv[k]) * scale[k])
    return worst


@kernel
def carry_block(L: Array, B: Array) -> None:
    """Set B <- L^-1 B, both (6, 6)."""
    l10, l20, l21 = L[1, 0], L[2, 0], L[2, 1]
    l30, l31, l32 = L[3, 0], L[3, 1], L[3, 2]
    l40, l41, l42, l43 = L[4, 0], L[4, 1], L[4, 2], L[4, 3]
    l50, l51, l52, l53, l54 = L[5, 0], L[5, 1], L[5, 2], L[5, 3], L[5, 4]
    for c in range(6):
        b0 = B[0, c]
        b1 = B[1, c] - l10 * b0
        b2 = B[2, c] - l20 * b0 - l21 * b1
        b3 = B[3, c] - l30 * b0 - l31 * b1 - l32 * b2
        b4 = B[4, c] - l40 * b0 - l41 * b1 - l42 * b2 - l43 * b3
        b5 = B[5, c] - l50 * b0 - l51 * b1 - l52 * b2 - l53 * b3 - l54 * b4
        B[1, c], B[2, c], B[3, c], B[4, c], B[5, c] = b1, b2, b3, b4, b5


@kernel
def update_diagonal(W: Array, d_inv: Array, T: Array) -> None:
    """Set T <- T - W^T d^-1 W, lower triangle only."""
    for a in range(6):
        w0, w1, w2 = W[0, a] * d_inv[0], W[1, a] * d_inv[1], W[2, a] * d_inv[2]
        w3, w4, w5 = W[3, a] * d_inv[3], W[4, a] * d_inv[4], W[5, a] * d_inv[5]
        for b in range(a + 1):
            T[a, b] -= w0 * W[0, b] + w1 * W[1, b] + w2 * W[2, b] + w3 * W[3, b] + w4 * W[4, b] + w5 * W[5, b]


@kernel
def update_block(Wa: Array, d_inv: Array, Wb: Array, T: Array) -> None:
    """Set T <- T - Wa^T d^-1 Wb."""
    for a in range(6):
        w0, w1, w2 = Wa[0, a] * d_inv[0], Wa[1, a] * d_inv[1], Wa[2, a] * d_inv[2]
        w3, w4, w5 = Wa[3, a] * d_inv[3], Wa[4, a] * d_inv[4], Wa[5, a] * d_inv[5]
        for b in range(6):
            T[a, b] -= w0 * Wb[0, b] + w1 * Wb[1, b] + w2 * Wb[2, b] + w3 * Wb[3, b] + w4 * Wb[4, b] + w5 * Wb[5, b]


@kernel
def forward_block(L: Array, x: Array, node: int) -> None:
    """Overwrite x[node] (6,) by L^-1 x[node]."""
    x0 = x[node, 0]
    x1 = x[node, 1] - L[1, 0] * x0
    x2 = x[node, 2] - L[2, 0] * x0 - L[2, 1] * x1
    x3 = x[node, 3] - L[3, 0] * x0 - L[3, 1] * x1 - L[3, 2] * x2
    x4 = x[node, 4] - L[4, 0] * x0 - L[4, 1] * x1 - L[4, 2] * x2 - L[4, 3] * x3
    x5 = x[node, 5] - L[5, 0] * x0 - L[5, 1] * x1 - L[5, 2] * x2 - L[5, 3] * x3 - L[5, 4] * x4
    x[node, 1], x[node, 2], x[node, 3], x[node, 4], x[node, 5] = x1, x2, x3, x4, x5


@kernel
def backward_block(L: Array, x: Array, node: int) -> None:
    """Overwrite x[node] (6,) by L^-T x[node]."""
    x5 = x[node, 5]
    x4 = x[node, 4] - L[5, 4] * x5
    x3 = x[node, 3] - L[4, 3] * x4 - L[5, 3] * x5
    x2 = x[node, 2] - L[3, 2] * x3 - L[4, 2] * x4 - L[5, 2] * x5
    x1 = x[node, 1] - L[2, 1] * x2 - L[3, 1] * x3 - L[4, 1] * x4 - L[5, 1] * x5
    x0 = x[node, 0] - L[1, 0] * x1 - L[2, 0] * x2 - L[3, 0] * x3 - L[4, 0] * x4 - L[5, 0] * x5
    x[node, 0], x[node, 1], x[node, 2], x[node, 3], x[node, 4] = x0, x1, x2, x3, x4
