r"""Eigenvalues and modes of  M x'' + C x' + K x = 0.

    C = 0, K = K^T      K x = kappa M x,   eigenvalues +- sqrt(-kappa): pairs +- i omega where kappa > 0
    otherwise           A = [0 1; -M^-1 K  -M^-1 C],   A (x, x') = eigenvalue (x, x')
    velocity rows       x' = G x + N y,  M y' + C y + K x = 0: see `velocity_rows`
    blocks              M y' + C y + K x = E z,  z' = Z (x, y, z): see `block_modes`
    free motions        K x = 0: the eigenvalue 0, once, or twice where the motion continues by itself (y C x = 0)

Zero eigenvalues are counted from K and C, not from A, where rounding splits a double zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.analysis.mobility.free_motions import Complex
from haugmbd.compiled.array_types import Array

NO_STIFFNESS = 1e-9
"""Singular value of K, relative to the largest stiffness and to the forces at work, below which a motion is free: see `stiffness.NOISE`."""


EQUILIBRATIONS = 3
"""Times that rows and columns are scaled to one, before the rank is found."""


NO_GROWTH = 1e-10
"""Rate of growth, relative to the largest |eigenvalue|, that is rounding."""


CORRECTIONS, QR_ERROR, NEAR = 2, 10.0, 1e-3
"""Newton steps of an eigenvalue; error of the QR algorithm, in units of n eps |A|; largest correction of an eigenvector of length 1."""


EXACT, SMALL = 1e-9, 24
"""Relative error of the QR algorithm up to which an eigenvalue is not corrected; size of matrices whose eigenvalues all are."""


class Modes(NamedTuple):
    """Eigenvalues and mode shapes.

    eigenvalues: (nm,) [1/s], one of each pair;  shapes: (nd, nm) x, the smallest |eigenvalue| first;  states: (ns, nm) of blocks
    """

    eigenvalues: Complex
    shapes: Complex
    states: Complex | None = None


def state_matrix(M: Array, C: Array, K: Array) -> Array:
    """Return A (2 nd, 2 nd): (x, x')' = A (x, x')."""
    n = len(M)
    lower = -np.linalg.solve(M, np.hstack([K, C]))
    return np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), lower])


def rolling_state_matrix(M: Array, C: Array, K: Array, N: Array, G: Array) -> Array:
    """Return A (np + nv, np + nv): (x, y)' = A (x, y)."""
    lower = -np.linalg.solve(M, np.hstack([K, C]))
    return np.vstack([np.hstack([G, N]), lower])


def with_block_states(A: Array, M: Array, E: Array, Z: Array) -> Array:
    """Return the state matrix of (x, y, z) from that of (x, y): M y' + C y + K x = E z,  z' = Z (x, y, z)."""
    forced = np.vstack([np.zeros((len(A) - len(M), E.shape[1])), np.linalg.solve(M, E)])
    return np.vstack([np.hstack([A, forced]), Z])


def deflated_eigenvalues(A: Array, least: Array, free: Array) -> tuple[Array, Complex, Complex]:
    """Return the null vectors of A (n, n), and its eigenvalues that are not zero with their eigenvectors.

    least: (n,) size of each row by which it is measured at least, as rounding of larger forces is in it;  free: (n,) coordinates whose
    units are any. Rows and free columns are measured by themselves, not by the fastest motion: a slow one beside it is not zero.
    In the basis (Z, e_r), A Z = 0 and r the coordinates that Z does not need, A is block triangular, and
    A_rr - Z_r Z_p^-1 A_pr has the other eigenvalues.
    """
    Z = _null_vectors(A, least, free)
    if not Z.shape[1]:
        return Z, *_eigenvalues(A)
    _, _, pivots = scipy.linalg.qr(Z.T, pivoting=True, mode="economic")
    p, r = pivots[: Z.shape[1]], np.sort(pivots[Z.shape[1] :])
    back = np.linalg.solve(Z[p].T, Z[r].T).T
    rest = A[np.ix_(r, r)] - back @ A[np.ix_(p, r)]
    _, eigenvalues, inner = deflated_eigenvalues(rest, np.maximum(least[r], np.abs(back) @ least[p]), free[r])
    vectors = Z @ np.linalg.solve(Z[p], A[np.ix_(p, r)] @ inner) / eigenvalues
    vectors[r] += inner
    return Z, eigenvalues, vectors


def _eigenvalues(A: Array) -> tuple[Complex, Complex]:
    """Return the eigenvalues and eigenvectors of A, corrected by Newton's method where the QR algorithm may err by more than EXACT.

        [ A - s   -x ] (dx)   (s x - A x)
        [ x^*      0 ] (ds) = (    0    )

    The QR algorithm errs by rounding of the largest eigenvalue in all of them, so that slow motions beside fast ones are inaccurate. With
    rows measured by themselves a correction errs by rounding of each row. One beyond the error of the QR algorithm is not taken: it is
    that of a multiple eigenvalue, whose matrix is singular. A correction takes n^3 operations, as the QR algorithm does: those of all
    eigenvalues of a large model would take n^4. Of pairs the one with the positive imaginary part is corrected.
    Source: Peters, Wilkinson, SIAM Review 21 (1979), sec. 4 (inverse iteration as Newton's method).
    """
    if not len(A):
        return np.zeros(0, dtype=complex), np.zeros((0, 0), dtype=complex)
    eigenvalues, vectors = (part.astype(complex) for part in np.linalg.eig(A))
    rounding = len(A) * np.finfo(float).eps
    error = QR_ERROR * rounding * np.linalg.norm(A)
    small = rounding / EXACT * np.linalg.norm(scipy.linalg.matrix_balance(A)[0])  # LAPACK balances, too
    for k in np.flatnonzero((eigenvalues.imag >= 0.0) & ((np.abs(eigenvalues) < small) | (len(A) <= SMALL))).tolist():
        s0, x0 = eigenvalues[k], vectors[:, k].copy()
        s, x = s0, x0
        for _ in range(CORRECTIONS):
            system = np.block([[A - s * np.eye(len(A)), -x[:, None]], [x.conj()[None, :], np.zeros((1, 1))]])
            right = np.append(s * x - A @ x, 0.0)
            rows = np.abs(system).max(axis=1)
            rows[rows == 0.0] = 1.0
            try:
                change = np.linalg.solve(system / rows[:, None], right / rows)
            except np.linalg.LinAlgError:
                break
            x, s = x + change[:-1], s + change[-1]
        if abs(s - s0) <= error and np.isfinite(x).all() and np.linalg.norm(x - x0) <= NEAR:
            eigenvalues[k], vectors[:, k] = s, x / np.linalg.norm(x)
    return eigenvalues, vectors


def _null_vectors(A: Array, least: Array, free: Array) -> Array:
    """Return the null vectors (n, nn) of A; arguments as in `deflated_eigenvalues`."""
    rows, columns = np.ones(len(A)), np.ones(len(A))
    for _ in range(EQUILIBRATIONS):
        size = np.maximum(np.abs(A * columns).max(axis=1, initial=0.0), least)
        rows = 1.0 / np.where(size > 0.0, size, 1.0)
        size = np.abs(A * rows[:, None]).max(axis=0, initial=0.0)
        columns = 1.0 / np.where(free & (size > 0.0), size, 1.0)
    _, s, Vt = np.linalg.svd(A * rows[:, None] * columns)
    Z = columns[:, None] * Vt[s <= NO_STIFFNESS].T
    return np.asarray(Z / np.linalg.norm(Z, axis=0))


def find_modes(M: Array, C: Array, K: Array, work: float, rounding: float, *, conservative: bool) -> Modes:
    """Return all modes in an orthonormal basis.

    work: scale of the balance [J];  rounding: stiffness [J] that counts as zero;  conservative: C is zero and K symmetric up to rounding
    """
    if conservative:
        return _undamped_modes(M, 0.5 * (K + K.T), rounding)
    U, s, Vt = np.linalg.svd(K)
    free = s <= rounding
    Z, Y = Vt[free].T, U[:, free]
    n_free = int(free.sum())
    double = 0
    if n_free:
        held = np.linalg.svd(Y.T @ C @ Z, compute_uv=False)
        double = int(np.sum(held <= NO_STIFFNESS * max(work, float(np.linalg.norm(C)))))
    eigenvalues, vectors = _eigenvalues(state_matrix(M, C, K))
    order = np.argsort(np.abs(eigenvalues), kind="stable")[n_free + double :]
    order = order[eigenvalues[order].imag >= 0.0]
    shapes = vectors[: len(M), order]
    return Modes(np.concatenate([np.zeros(n_free), eigenvalues[order]]), np.hstack([Z, shapes]))


def slowest(modes: Modes, count: int | None) -> Modes:
    """Return the modes of the smallest |eigenvalues|, and all that grow beyond rounding; all of them if `count` is None."""
    if count is None:
        return modes
    grows = modes.eigenvalues.real > NO_GROWTH * np.abs(modes.eigenvalues).max(initial=0.0)
    chosen = np.flatnonzero(grows | (np.arange(len(grows)) < count))
    return Modes(modes.eigenvalues[chosen], modes.shapes[:, chosen], None if modes.states is None else modes.states[:, chosen])


def _undamped_modes(M: Array, K: Array, rounding: float) -> Modes:
    """Return the modes of a symmetric K without damping;  rounding: stiffness [J] that counts as zero"""
    n_free = int(np.sum(np.abs(np.linalg.eigvalsh(K)) <= rounding))
    kappa, X = scipy.linalg.eigh(K, M) if len(K) else (np.zeros(0), np.zeros((0, 0)))
    kappa[np.argsort(np.abs(kappa))[:n_free]] = 0.0
    pairs: list[tuple[complex, Array]] = []
    for k, x in zip(kappa, X.T, strict=True):
        roots = (1j * np.sqrt(k),) if k > 0.0 else (0.0,) if k == 0.0 else (np.sqrt(-k), -np.sqrt(-k))
        pairs += [(complex(root), x) for root in roots]
    pairs.sort(key=lambda pair: abs(pair[0]))
    return Modes(
        np.array([e for e, _ in pairs], dtype=complex), np.array([x for _, x in pairs], dtype=complex).reshape(len(pairs), len(M)).T
    )
