"""The 6 x 6 kernels of the block LDL^T: factor a pivot block, transform the block of a neighbour, update the remaining blocks.

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


# The kernels of narrow edges, of one or two rows: the same LDL^T with blocks of true sizes, see above.
#
# A block between a narrow node and a wide one has one line of six numbers for each row of the narrow node, whichever is eliminated first;
# a block between two narrow nodes a and b, a first, has the lines of a.
#
#     wide pivot D = L d L^T:      w = L^-1 b  of each line b        T <- T - W_a^T d^-1 W_b
#     narrow pivot:                W = L^-1 B  of its lines          T <- T - W_a^T d^-1 W_b


@kernel
def put_lines(B: Array, J: Array, pad: Array, slot: int, side: int, n: int) -> None:
    """Write n rows of J from `slot` on one side to the block B."""
    for a in range(n):
        keep = 1.0 + pad[slot + a]
        for c in range(6):
            B[a, c] = keep * J[slot + a, side, c]


@kernel
def factor_narrow(D: Array, d_inv: Array, n: int) -> None:
    """Overwrite the lower triangle of D (n, n) by L, and d_inv (6,) by 1/d; padding has d = -1."""
    for k in range(n):
        d_inv[k] = 1.0 / D[k, k]
        for a in range(k + 1, n):
            part = D[a, k] * d_inv[k]
            for b in range(k + 1, a + 1):
                D[a, b] -= part * D[b, k]
        for a in range(k + 1, n):
            D[a, k] *= d_inv[k]
    for k in range(n, 6):
        d_inv[k] = -1.0


@kernel
def eliminate_from_lines(L: Array, d_inv: Array, W: Array, T: Array, x: Array, node: int, other: int, n: int) -> None:
    """Eliminate a wide pivot from a narrow neighbour with n lines in W.

    w <- L^-1 w of each line;  T <- T - W d^-1 W^T, lower triangle;  x[other] <- x[other] - W d^-1 x[node]
    """
    for r in range(n):
        forward_block(L, W, r)
        q0, q1, q2 = W[r, 0] * d_inv[0], W[r, 1] * d_inv[1], W[r, 2] * d_inv[2]
        q3, q4, q5 = W[r, 3] * d_inv[3], W[r, 4] * d_inv[4], W[r, 5] * d_inv[5]
        for s in range(r + 1):
            T[r, s] -= (q0 * W[s, 0] + q1 * W[s, 1] + q2 * W[s, 2]) + (q3 * W[s, 3] + q4 * W[s, 4] + q5 * W[s, 5])
        x[other, r] -= (q0 * x[node, 0] + q1 * x[node, 1] + q2 * x[node, 2]) + (q3 * x[node, 3] + q4 * x[node, 4] + q5 * x[node, 5])


@kernel
def product(V: Array, r: int, d_inv: Array, W: Array, s: int) -> float:
    """Return v d^-1 w of a line of V and one of W."""
    total = 0.0
    for k in range(6):
        total += V[r, k] * d_inv[k] * W[s, k]
    return total


@kernel
def update_lines(V: Array, d_inv: Array, W: Array, T: Array, n: int) -> None:
    """Set T <- T - V d^-1 W: a wide pivot, n lines V of a narrow neighbour, block W (6, 6) of a wide one."""
    for r in range(n):
        t0, t1, t2, t3, t4, t5 = T[r, 0], T[r, 1], T[r, 2], T[r, 3], T[r, 4], T[r, 5]
        for k in range(6):
            q = V[r, k] * d_inv[k]
            t0, t1, t2 = t0 - q * W[k, 0], t1 - q * W[k, 1], t2 - q * W[k, 2]
            t3, t4, t5 = t3 - q * W[k, 3], t4 - q * W[k, 4], t5 - q * W[k, 5]
        T[r, 0], T[r, 1], T[r, 2], T[r, 3], T[r, 4], T[r, 5] = t0, t1, t2, t3, t4, t5


@kernel
def update_narrow(V: Array, d_inv: Array, W: Array, T: Array, n: int, m: int) -> None:
    """Set T <- T - V d^-1 W^T: a wide pivot, n and m lines of two narrow neighbours."""
    for r in range(n):
        for s in range(m):
            T[r, s] -= product(V, r, d_inv, W, s)


@kernel
def carry_narrow(L: Array, B: Array, n: int) -> None:
    """Set B <- L^-1 B, with the factor of a narrow pivot of n rows."""
    for r in range(1, n):
        for s in range(r):
            for c in range(6):
                B[r, c] -= L[r, s] * B[s, c]


@kernel
def update_diagonal_from_narrow(W: Array, d_inv: Array, T: Array, n: int, m: int) -> None:
    """Set T <- T - W^T d^-1 W, lower triangle: a narrow pivot of n rows, a neighbour of m unknowns."""
    for r in range(n):
        if m == 6:
            subtract_square(W, r, d_inv[r], T)
        else:
            for a in range(m):
                for b in range(a + 1):
                    T[a, b] -= d_inv[r] * W[r, a] * W[r, b]


@kernel
def subtract_square(W: Array, r: int, d: float, T: Array) -> None:
    """Set T <- T - d w w^T for a line w of W, lower triangle of T (6, 6)."""
    w0, w1, w2, w3, w4, w5 = W[r, 0], W[r, 1], W[r, 2], W[r, 3], W[r, 4], W[r, 5]
    q1, q2, q3, q4, q5 = d * w1, d * w2, d * w3, d * w4, d * w5
    T[0, 0] -= d * w0 * w0
    T[1, 0], T[1, 1] = T[1, 0] - q1 * w0, T[1, 1] - q1 * w1
    T[2, 0], T[2, 1], T[2, 2] = T[2, 0] - q2 * w0, T[2, 1] - q2 * w1, T[2, 2] - q2 * w2
    T[3, 0], T[3, 1], T[3, 2], T[3, 3] = T[3, 0] - q3 * w0, T[3, 1] - q3 * w1, T[3, 2] - q3 * w2, T[3, 3] - q3 * w3
    T[4, 0], T[4, 1], T[4, 2] = T[4, 0] - q4 * w0, T[4, 1] - q4 * w1, T[4, 2] - q4 * w2
    T[4, 3], T[4, 4] = T[4, 3] - q4 * w3, T[4, 4] - q4 * w4
    T[5, 0], T[5, 1], T[5, 2] = T[5, 0] - q5 * w0, T[5, 1] - q5 * w1, T[5, 2] - q5 * w2
    T[5, 3], T[5, 4], T[5, 5] = T[5, 3] - q5 * w3, T[5, 4] - q5 * w4, T[5, 5] - q5 * w5


@kernel
def subtract_product(A: Array, r: int, d: float, B: Array, T: Array, n: int) -> None:
    """Set T <- T - d a b^T for lines a of A and b (6,) of B, T (n, 6)."""
    b0, b1, b2, b3, b4, b5 = B[r, 0], B[r, 1], B[r, 2], B[r, 3], B[r, 4], B[r, 5]
    for k in range(n):
        q = d * A[r, k]
        t0, t1, t2 = T[k, 0] - q * b0, T[k, 1] - q * b1, T[k, 2] - q * b2
        t3, t4, t5 = T[k, 3] - q * b3, T[k, 4] - q * b4, T[k, 5] - q * b5
        T[k, 0], T[k, 1], T[k, 2], T[k, 3], T[k, 4], T[k, 5] = t0, t1, t2, t3, t4, t5


@kernel
def update_between(A: Array, d_inv: Array, B: Array, T: Array, rows: int, n: int, m: int) -> None:
    """Set T <- T - A^T d^-1 B: a narrow pivot, two narrow neighbours of n and m unknowns."""
    for r in range(rows):
        for a in range(n):
            for b in range(m):
                T[a, b] -= d_inv[r] * A[r, a] * B[r, b]


@kernel
def forward_narrow(L: Array, x: Array, node: int, n: int) -> None:
    """Overwrite x[node] (n,) by L^-1 x[node]."""
    for r in range(1, n):
        for s in range(r):
            x[node, r] -= L[r, s] * x[node, s]


@kernel
def backward_narrow(L: Array, x: Array, node: int, n: int) -> None:
    """Overwrite x[node] (n,) by L^-T x[node]."""
    for r in range(n - 2, -1, -1):
        for s in range(r + 1, n):
            x[node, r] -= L[s, r] * x[node, s]


@kernel
def update_vector_by_lines(W: Array, d_inv: Array, x: Array, node: int, other: int, n: int) -> None:
    """Set x[other] <- x[other] - W d^-1 x[node]: a wide pivot, n lines of a narrow neighbour."""
    for r in range(n):
        first = (
            W[r, 0] * d_inv[node, 0] * x[node, 0] + W[r, 1] * d_inv[node, 1] * x[node, 1] + W[r, 2] * d_inv[node, 2] * x[node, 2]
        )
        last = W[r, 3] * d_inv[node, 3] * x[node, 3] + W[r, 4] * d_inv[node, 4] * x[node, 4] + W[r, 5] * d_inv[node, 5] * x[node, 5]
        x[other, r] -= first + last


@kernel
def update_vector_from_narrow(W: Array, d_inv: Array, x: Array, node: int, other: int, rows: int, n: int) -> None:
    """Set x[other] <- x[other] - W^T d^-1 x[node]: a narrow pivot, a neighbour of n unknowns."""
    for r in range(rows):
        q = x[node, r] * d_inv[node, r]
        for c in range(n):
            x[other, c] -= W[r, c] * q


@kernel
def substitute_lines(W: Array, x: Array, node: int, other: int, n: int) -> None:
    """Set x[node] <- x[node] - W^T x[other]: a wide node, n lines of a narrow one that is known."""
    for r in range(n):
        y = x[other, r]
        x0, x1, x2 = x[node, 0] - W[r, 0] * y, x[node, 1] - W[r, 1] * y, x[node, 2] - W[r, 2] * y
        x3, x4, x5 = x[node, 3] - W[r, 3] * y, x[node, 4] - W[r, 4] * y, x[node, 5] - W[r, 5] * y
        x[node, 0], x[node, 1], x[node, 2], x[node, 3], x[node, 4], x[node, 5] = x0, x1, x2, x3, x4, x5


@kernel
def substitute_in_narrow(W: Array, x: Array, node: int, other: int, rows: int, n: int) -> None:
    """Set x[node] <- x[node] - W x[other]: a narrow node, n unknowns of another one that are known."""
    for r in range(rows):
        total = 0.0
        for c in range(n):
            total += W[r, c] * x[other, c]
        x[node, r] -= total
