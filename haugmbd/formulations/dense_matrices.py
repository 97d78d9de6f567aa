r"""Dense matrices of the formulations in Python, and factorizations that raise an error with names where the matrix is singular.

scaling       K x = b  as  (S K S) (S^-1 x) = S b,   where the diagonal of S K S (or its largest entries) is one:
              kg, kg m2 and the units of the rows become comparable
refinement    x <- x + K^-1 (b - K x),  once:  removes the rounding of the factors
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SimulationError, SingularKKTError
from haugmbd.formulations.base import KKTSystem
from haugmbd.formulations.error_messages import TOO_LARGE, opened_joint
from haugmbd.model.inspection.constraint_rows import evaluate

SINGULAR_TOL = 1e-12
"""Relative to the largest singular value: a smaller one counts as zero.  Rounding of the rows is some powers of ten below it."""

NO_DIGIT = 1e-15
"""Reciprocal condition number below which no digit of the solution is right."""

BLOCK = 32
"""Columns that LAPACK's QR treats at a time."""


class Split(NamedTuple):
    """The factors of Phi_q = U diag(s) V^T for the independent part: U (k, rank), s (rank,), V (6 nb, rank).

    Z: (6 nb, dof) a basis of the null space, if requested
    """

    U: Array
    s: Array
    V: Array
    Z: Array


def singular(kkt: KKTSystem, what: str) -> SimulationError:
    """Return the error of a formulation whose factorization failed; that of an unbounded motion where this is the cause."""
    t, finite = kkt.state.t, np.isfinite(kkt.Phi_q).all() and np.isfinite(kkt.b_u).all()
    apart = opened_joint(kkt.model, evaluate(kkt.model, kkt.state)) if finite else "rows or forces overflow"
    if apart:
        return SimulationError(f"the motion grows without bound at t = {t:.6g} s: {apart}. {TOO_LARGE}")
    return SingularKKTError(
        f"SingularKKTError at t = {kkt.state.t:.6g} s: {what}. A singular position, rows that depend on others there, or a free axis "
        "without inertia: NewtonEuler() names the joints."
    )


def mass_matrix(kkt: KKTSystem) -> Array:
    """Return diag(M_1, ..., M_nb), (6 nb, 6 nb)."""
    nb = len(kkt.M)
    M = np.zeros((nb, 6, nb, 6))
    M[np.arange(nb), :, np.arange(nb)] = kkt.M
    return M.reshape(6 * nb, 6 * nb)


def times_mass(kkt: KKTSystem, x: Array) -> Array:
    """Return M x, body by body; x: (6 nb, ...)."""
    return blockwise(kkt.M, x)


def blockwise(blocks: Array, x: Array) -> Array:
    """Return diag(B_1, ..., B_nb) x for blocks (nb, m, n) and x (n nb, ...)."""
    nb, m, n = blocks.shape
    return np.asarray((blocks @ x.reshape(nb, n, -1)).reshape(nb * m, *x.shape[1:]))


def split(kkt: KKTSystem, A: Array, rank: int, *, with_Z: bool = True) -> Split:
    """Return the singular value decomposition of A, cut at the rank of the compiled model."""
    U, s, Vt = np.linalg.svd(A, full_matrices=with_Z)
    if rank > len(s) or (rank and not s[rank - 1] > SINGULAR_TOL * s[0]):
        smallest = s[rank - 1] / s[0] if rank <= len(s) else 0.0
        raise singular(kkt, f"singular value {rank} of the rows is {smallest:.1e} of the largest")
    return Split(U[:, :rank], s[:rank], Vt[:rank].T, Vt[rank:].T)


class Definite(NamedTuple):
    """A symmetric positive definite S, scaled by diag(s) from both sides, and its Cholesky factor."""

    S: Array
    s: Array
    factor: Array

    def solve(self, b: Array) -> Array:
        """Return S^-1 b, (n,)."""
        if not len(b):
            return b
        S, s, factor = self
        solve = lapack().dpotrs
        x = s * solve(factor, s * b)[0]
        return np.asarray(x + s * solve(factor, s * (b - S @ x))[0])


def definite(kkt: KKTSystem, S: Array, what: str) -> Definite:
    """Return a symmetric S with its factor.  Raise SingularKKTError if it is not positive definite."""
    d = np.diagonal(S)
    if not d.min(initial=np.inf) > 0.0:
        raise singular(kkt, f"{what} is not positive definite")
    s = 1.0 / np.sqrt(d)
    if not len(S):
        return Definite(S, s, S)
    scaled = s[:, None] * S * s
    factor, minor = lapack().dpotrf(scaled.T)
    if minor:
        raise singular(kkt, f"{what} is not positive definite (leading minor {minor})")
    need_regular(kkt, lapack().dpocon(factor, lapack().dlange("1", scaled.T))[0], what)
    return Definite(S, s, factor)


def solve_definite(kkt: KKTSystem, S: Array, b: Array, what: str) -> Array:
    """Return S^-1 b for a symmetric positive definite S, by Cholesky.  Raise SingularKKTError if S is not positive definite."""
    return definite(kkt, S, what).solve(b)


def solve_symmetric(kkt: KKTSystem, K: Array, b: Array, what: str) -> Array:
    """Return K^-1 b for a symmetric indefinite K, by LU with partial pivoting.  Raise SingularKKTError if K is singular."""
    size = np.abs(K).max(axis=0, initial=0.0)
    s = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    scaled = s[:, None] * K * s
    factor, pivots, info = lapack().dgetrf(scaled.T)
    need_regular(kkt, 0.0 if info > 0 else lapack().dgecon(factor, lapack().dlange("1", scaled.T))[0], what)
    solve = lapack().dgetrs
    x = s * solve(factor, pivots, s * b)[0]
    return np.asarray(x + s * solve(factor, pivots, s * (b - K @ x))[0])


def need_regular(kkt: KKTSystem, reciprocal: float, what: str) -> None:
    """Raise SingularKKTError if the reciprocal condition number (LAPACK's estimate) is below NO_DIGIT or NaN."""
    if not reciprocal > NO_DIGIT:
        raise singular(kkt, f"{what} is singular (reciprocal condition number {reciprocal:.1e})")


def triangular(T: Array, b: Array, *, transposed: bool = False) -> Array:
    """Return T^-1 b, or T^-T b, for an upper triangular T without zeros on its diagonal.

    LAPACK's dtrtrs does the same, and OpenBLAS starts threads for it at any size: milliseconds for the matrices of a mechanism.
    """
    if not b.size:
        return b
    return np.asarray(blas().dtrsm(1.0, T, b.reshape(len(b), -1), trans_a=int(transposed))).reshape(b.shape)


class PivotedQR(NamedTuple):
    """Factors of A[:, order] = Q R, Q (m, m), R (m, n)."""

    Q: Array
    R: Array
    order: Ints


def pivoted_qr(A: Array) -> PivotedQR:
    """Return the factors of A (m, n) by Householder reflections with column pivoting."""
    m, n = A.shape
    if A.size == 0:
        return PivotedQR(np.eye(m), np.zeros(A.shape), np.arange(n))
    factor, order, tau, *_ = lapack().dgeqp3(A, lwork=2 * n + (n + 1) * BLOCK)
    Q = np.empty((m, m), order="F")
    Q[:, : min(m, n)] = factor[:, : min(m, n)]
    Q, *_ = lapack().dorgqr(Q, tau, lwork=BLOCK * m, overwrite_a=1)
    return PivotedQR(Q, np.where(upper(m, n), factor, 0.0), np.asarray(order, dtype=np.int64) - 1)


def reduced_qr(A: Array) -> tuple[Array, Array]:
    """Return Q (m, n) and R (n, n) of A = Q R, m >= n."""
    m, n = A.shape
    if A.size == 0:
        return np.zeros((m, n)), np.zeros((n, n))
    factor, tau, *_ = lapack().dgeqrf(A, lwork=BLOCK * n)
    Q, *_ = lapack().dorgqr(factor, tau, lwork=BLOCK * n)
    return np.asarray(Q), np.where(upper(n, n), factor[:n], 0.0)


def pivots_of(A: Array) -> tuple[Array, Ints]:
    """Return the sizes of the pivots of a QR factorization with column pivoting, from the largest down, and the order of the columns."""
    if A.size == 0:
        return np.zeros(0), np.arange(A.shape[1])
    factor, order, *_ = lapack().dgeqp3(A, lwork=2 * A.shape[1] + (A.shape[1] + 1) * BLOCK)
    return np.abs(np.diagonal(factor)), np.asarray(order, dtype=np.int64) - 1


def without_dependencies(rows: Array, rank: int) -> Array:
    """Return the consistent system of this rank that is nearest to [A b] (k, n + 1), up to the square of what A is off that rank.

    A^T P = Q [R_11 R_12; 0 R_22],     N = P (-R_11^-1 R_12; 1):  A^T N = Q (0; R_22)      [A b] - N (N^T N)^-1 N^T [A b]

    The columns of N span the space of the least left singular vectors, since A A^T N = P (0; R_22^T R_22).  Where R_11 is singular within
    rounding they are computed.
    """
    k, n = rows.shape[0], rows.shape[1] - 1
    if rank >= k:
        return rows
    if not rank:
        return np.zeros_like(rows)
    factor, order, *_ = lapack().dgeqp3(rows[:, :n].T, lwork=2 * k + (k + 1) * BLOCK)
    if rank > n or not abs(factor[rank - 1, rank - 1]) > NO_DIGIT * abs(factor[0, 0]):
        U = np.linalg.svd(rows[:, :n], full_matrices=False)[0][:, :rank]
        return np.asarray(U @ (U.T @ rows))
    N = np.zeros((k, k - rank))
    N[order[:rank] - 1] = -triangular(factor[:rank, :rank], factor[:rank, rank:])
    N[order[rank:] - 1] = np.eye(k - rank)
    return np.asarray(rows - N @ lapack().dposv(N.T @ N, N.T @ rows)[1])


def least_pivot(A: Array) -> float:
    """Return the least pivot of a QR factorization without pivoting: how near the columns are to dependence."""
    return float(np.abs(np.diagonal(lapack().dgeqrf(A, lwork=BLOCK * A.shape[1])[0])).min()) if A.size else np.inf


@lru_cache(maxsize=8)
def upper(m: int, n: int) -> Array:
    """Return where the upper triangle of an (m, n) matrix is."""
    return np.triu(np.ones((m, n), dtype=bool))


@cache
def blas() -> Any:
    """Return SciPy's BLAS, imported where it is first used."""
    from scipy.linalg import blas as routines  # noqa: PLC0415

    return routines


@cache
def lapack() -> Any:
    """Return SciPy's LAPACK, imported where it is first used.

    What `scipy.linalg` does around it takes several times as long as the algebra of a small mechanism.
    """
    from scipy.linalg import lapack as routines  # noqa: PLC0415

    return routines
