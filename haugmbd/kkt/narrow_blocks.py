r"""The kernels of narrow edges, of one or two rows: the same LDL^T with blocks of true sizes, see `kernels6`.

A block between a narrow node and a wide one has one line of six numbers for each row of the narrow node, whichever is eliminated first;
a block between two narrow nodes a and b, a first, has the lines of a.

    wide pivot D = L d L^T:      w = L^-1 b  of each line b        T <- T - W_a^T d^-1 W_b
    narrow pivot:                W = L^-1 B  of its lines          T <- T - W_a^T d^-1 W_b
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.kkt.kernels6 import forward_block


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
