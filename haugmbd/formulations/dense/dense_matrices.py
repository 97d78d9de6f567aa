r"""Dense matrices of the formulations in Python, and factorizations that raise an error with names where the matrix is singular.

scaling       K x = b  as  (S K S) (S^-1 x) = S b,   where the diagonal of S K S (or its largest entries) is one:
              kg, kg m2 and the units of the rows become comparable
refinement    x <- x + K^-1 (b - K x),  once:  removes the rounding of the factors
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SimulationError, SingularKKTError
from haugmbd.formulations.base import KKTSystem
from haugmbd.formulations.error_messages import TOO_LARGE, torn
from haugmbd.model.inspection.constraint_rows import evaluate

SINGULAR_TOL = 1e-12
"""Relative to the largest singular value: a smaller one counts as zero.  Rounding of the rows is some powers of ten below it."""

NO_DIGIT = 1e-15
"""Reciprocal condition number below which no digit of the solution is right."""


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
    apart = torn(kkt.model, evaluate(kkt.model, kkt.state)) if finite else "rows or forces overflow"
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
    return np.asarray(np.einsum("kab,kb...->ka...", blocks, x.reshape(nb, n, *x.shape[1:])).reshape(nb * m, *x.shape[1:]))


def split(kkt: KKTSystem, A: Array, rank: int, *, with_Z: bool = True) -> Split:
    """Return the singular value decomposition of A, cut at the rank of the compiled model."""
    U, s, Vt = np.linalg.svd(A, full_matrices=with_Z)
    if rank > len(s) or (rank and not s[rank - 1] > SINGULAR_TOL * s[0]):
        smallest = s[rank - 1] / s[0] if rank <= len(s) else 0.0
        raise singular(kkt, f"singular value {rank} of the rows is {smallest:.1e} of the largest")
    return Split(U[:, :rank], s[:rank], Vt[:rank].T, Vt[rank:].T)


def solve_definite(kkt: KKTSystem, S: Array, b: Array, what: str) -> Array:
    """Return S^-1 b for a symmetric positive definite S, by Cholesky.  Raise SingularKKTError if S is not positive definite."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack  # noqa: PLC0415  only where it is used

    d = np.diagonal(S)
    if not (d > 0.0).all():
        raise singular(kkt, f"{what} is not positive definite")
    s = 1.0 / np.sqrt(d)
    scaled = s[:, None] * S * s
    try:
        factor = cho_factor(scaled, check_finite=False)
    except LinAlgError as error:
        raise singular(kkt, f"{what} is not positive definite ({error})") from error
    if len(b):
        need_regular(kkt, lapack.dpocon(factor[0], np.abs(scaled).sum(axis=0).max())[0], what)
    x = s * cho_solve(factor, s * b, check_finite=False)
    return np.asarray(x + s * cho_solve(factor, s * (b - S @ x), check_finite=False))


def solve_symmetric(kkt: KKTSystem, K: Array, b: Array, what: str) -> Array:
    """Return K^-1 b for a symmetric indefinite K, by LU with partial pivoting.  Raise SingularKKTError if K is singular."""
    from scipy.linalg import lapack, lu_solve  # noqa: PLC0415  only where it is used

    size = np.abs(K).max(axis=0, initial=0.0)
    s = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    scaled = s[:, None] * K * s
    factor, pivots, info = lapack.dgetrf(scaled)
    need_regular(kkt, 0.0 if info > 0 else lapack.dgecon(factor, np.abs(scaled).sum(axis=0).max())[0], what)
    x = s * lu_solve((factor, pivots), s * b, check_finite=False)
    return np.asarray(x + s * lu_solve((factor, pivots), s * (b - K @ x), check_finite=False))


def need_regular(kkt: KKTSystem, reciprocal: float, what: str) -> None:
    """Raise SingularKKTError if the reciprocal condition number (LAPACK's estimate) is below NO_DIGIT or NaN."""
    if not reciprocal > NO_DIGIT:
        raise singular(kkt, f"{what} is singular (reciprocal condition number {reciprocal:.1e})")


def triangular(T: Array, b: Array, *, transposed: bool = False) -> Array:
    """Return T^-1 b, or T^-T b, for an upper triangular T."""
    from scipy.linalg import solve_triangular  # noqa: PLC0415  only where it is used

    return np.asarray(solve_triangular(T, b, trans=int(transposed), check_finite=False)) if len(b) else b


def pivoted_qr(A: Array) -> tuple[Array, Array, Ints]:
    """Return Q, R and the column order of A[:, order] = Q R with column pivoting."""
    from scipy.linalg import qr  # noqa: PLC0415  only where it is used

    if A.size == 0:
        return np.eye(len(A)), np.zeros(A.shape), np.arange(A.shape[1])
    Q, R, order = qr(A, pivoting=True, check_finite=False)
    return np.asarray(Q), np.asarray(R), np.asarray(order, dtype=np.int64)
