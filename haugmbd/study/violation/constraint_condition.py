r"""The condition of the constraints at a pose: how far Phi_q is from losing rank.

    J = D Phi_q W^-1         D: rows of length 1;  W: columns of rotations times the length L of the model
    condition = sigma_max / sigma_min        over the rows that are independent at a general pose

sigma_min is the distance from the next pose-like matrix of smaller rank; at a singular pose it is zero.

Of many rows both follow from the extreme eigenvalues of J J^T, by Lanczos' method with its sparse factor: an error of rounding times
condition^2, which is why the decomposition of the full matrix decides near a singular pose.
Source: Golub and Van Loan, Matrix Computations, sec. 2.4 and 10.1.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State


def independent_rows(model: Model) -> Ints:
    """Return the numbers of the rows that do not depend on others at every pose."""
    redundancy = model.redundancy
    always = set(redundancy.dropped) - set(redundancy.only_here)
    return np.array([k for k in range(redundancy.n_rows) if k not in always], dtype=np.int64)


DENSE = 300
"""Largest number of rows that are decomposed as a full matrix: its time grows with their cube, 4 s for 2000."""
WELL = 1e-5
"""sigma_min over sigma_max down to which eigenvalues of J J^T give it, to 1e-6 of its size."""
TOL = 1e-6
"""Residual of Lanczos' method, relative; the errors of eigenvalues are about its square."""


def singular_values(rows: Rows, kept: Ints) -> Array:
    """Return the singular values of the scaled rows, from the largest on."""
    J = rows.Phi_q.toarray()[kept]
    J.reshape(len(kept), rows.nb, 6)[:, :, 3:] /= rows.model.length
    size = np.linalg.norm(J, axis=1, keepdims=True)
    found: Array = np.linalg.svd(J / np.where(size > 0.0, size, 1.0), compute_uv=False)
    return found


def extreme_singular_values(rows: Rows, kept: Ints) -> tuple[float, float]:
    """Return the largest and the smallest singular value of the scaled rows."""
    found = _sparse_extremes(rows, kept) if len(kept) > DENSE else None
    if found is None or found[1] <= WELL * found[0]:
        sigma = singular_values(rows, kept)
        return float(sigma[0]), float(sigma[-1])
    return found


def _sparse_extremes(rows: Rows, kept: Ints) -> tuple[float, float] | None:
    """Return both singular values by Lanczos' method; None where it does not converge, or a row vanishes or depends on others."""
    from scipy.sparse import diags  # noqa: PLC0415  only for many rows
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu  # noqa: PLC0415

    J = rows.Phi_q.tocsr()[kept] @ diags(np.tile(np.repeat([1.0, 1.0 / rows.model.length], 3), rows.nb))
    size = np.sqrt(np.asarray(J.multiply(J).sum(axis=1)).ravel())
    if not (size > 0.0).all():
        return None
    J = diags(1.0 / size) @ J
    A = (J @ J.T).tocsc()
    start = np.random.default_rng(0).normal(size=len(kept))  # the same result each time
    try:
        factor = splu(A, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        pivots = np.abs(factor.U.diagonal())
        if not pivots.min() > WELL**2 * pivots.max():
            return None
        inverse = LinearOperator(A.shape, matvec=factor.solve, dtype=np.float64)
        largest, least = (eigsh(one, k=1, which="LM", tol=TOL, v0=start, return_eigenvectors=False)[0] for one in (A, inverse))
    except (ArpackError, RuntimeError):
        return None
    return (float(np.sqrt(largest)), float(1.0 / np.sqrt(least))) if least > 0.0 else None


def smallest_and_condition(model: Model, states: list[State]) -> tuple[Array, Array]:
    """Return the smallest singular value and the condition number at each state; inf where a row vanishes or depends on others."""
    kept = independent_rows(model)
    least, condition = np.empty(len(states)), np.empty(len(states))
    for k, state in enumerate(states):
        largest, least[k] = extreme_singular_values(evaluate(model, state), kept)
        condition[k] = largest / least[k] if least[k] > 0.0 else np.inf
    return least, condition
