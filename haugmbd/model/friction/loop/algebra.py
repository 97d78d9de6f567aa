r"""Small dense systems of the friction loop.

    sticking     S f = r,  S = B K^-1 B^T symmetric, positive semidefinite: channels that depend on others carry nothing
    sliding      f_t = C(w_0 + sum phi_s w_s),   C_k(w) = C_0 + C_1 N(w) + C_2 |thrust(w)|: convex, with the slopes A_ks = C_k(w_s) - C_0
                 unique if the spectral radius of A is below 1: where I - A is an M-matrix, whose elimination has positive pivots

Source: Berman, Plemmons, Nonnegative Matrices in the Mathematical Sciences, ch. 6 (M-matrices).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel

DEPENDENT = 1e-10
"""Relative to its own entry: a smaller pivot belongs to a channel whose rate follows from the others."""


@kernel
def eliminate_sticking(S: Array, R: Array, active: Array, weight: Array, done: Array) -> None:
    """Solve S f = r for each row r of R, in place, over the active channels; those that depend on others get 0.

    weight: (m,) the channel with the largest weight * S_pp comes first: what sticks with the longest lever;  done: (m,) work array
    """
    for p in range(S.shape[0]):
        done[p] = 1.0 if active[p] == 0.0 else 0.0
    for _ in range(S.shape[0]):
        p = -1
        for c in range(S.shape[0]):
            if done[c] == 0.0 and (p < 0 or weight[c] * S[c, c] > weight[p] * S[p, p]):
                p = c
        if p < 0:
            break
        done[p] = 1.0
        if not S[p, p] > DEPENDENT * active[p]:
            active[p] = -1.0
            continue
        for row in range(R.shape[0]):
            if R[row, p] != 0.0:  # most rows are of joints that stick, and empty
                for r in range(S.shape[0]):
                    if r != p and active[r] != 0.0:
                        R[row, r] -= S[r, p] / S[p, p] * R[row, p]
        for r in range(S.shape[0]):
            if r == p or active[r] == 0.0 or S[r, p] == 0.0:
                continue
            factor = S[r, p] / S[p, p]
            for c in range(S.shape[1]):
                S[r, c] -= factor * S[p, c]
    for p in range(S.shape[0]):
        for row in range(R.shape[0]):
            R[row, p] = R[row, p] / S[p, p] if active[p] > 0.0 else 0.0


@kernel
def is_m_matrix(A: Array, n: int) -> bool:
    """Return whether I - A, A >= 0 (n, n), has positive pivots; A is overwritten."""
    for r in range(n):
        for c in range(n):
            A[r, c] = (1.0 if r == c else 0.0) - A[r, c]
    for p in range(n):
        if not A[p, p] > 0.0:
            return False
        for r in range(p + 1, n):
            factor = A[r, p] / A[p, p]
            for c in range(p, n):
                A[r, c] -= factor * A[p, c]
    return True


@kernel
def solve_dense(A: Array, n: int) -> int:
    """Solve A x = b by elimination with row pivots; b is column n of A, and becomes x; return the sign of the determinant."""
    sign = 1
    for p in range(n):
        best = p
        for r in range(p + 1, n):
            if abs(A[r, p]) > abs(A[best, p]):
                best = r
        if A[best, p] == 0.0:
            return 0
        if best != p:
            sign = -sign
            for c in range(n + 1):
                A[p, c], A[best, c] = A[best, c], A[p, c]
        if A[p, p] < 0.0:
            sign = -sign
        inverse = 1.0 / A[p, p]
        for r in range(p + 1, n):
            factor = A[r, p] * inverse
            for c in range(p, n + 1):
                A[r, c] -= factor * A[p, c]
    for p in range(n - 1, -1, -1):
        for c in range(p + 1, n):
            A[p, n] -= A[p, c] * A[c, n]
        A[p, n] /= A[p, p]
    return sign
