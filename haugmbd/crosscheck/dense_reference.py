r"""The dense reference solver: the same augmented system, assembled from `Rows` and handed to LAPACK.

    K = [ M       Phi_q^T ]        S K S (S^-1 x) = S b,    S = diag(s),   s_a = 1 / sqrt(max_b |K_ab|)
        [ Phi_q   0       ]

Only the rows and the generalized forces are shared with the block LDL^T. The dense solver is an independent reference for tests.
O(n^3) time, O(n^2) memory. S scales the largest entry of every row to about one, so that partial pivoting compares rows of different
units (kg, kg m2, units of the rows). One iterative refinement removes the rounding of the factors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.compiled.array_types import Array
from haugmbd.errors import SingularKKTError
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import workspace_array


class DenseSystem(NamedTuple):
    """The augmented matrix and its right-hand side, dense.

    K: (6 nb + nc, 6 nb + nc), symmetric indefinite;  b: (6 nb + nc,) = (Q, gamma);  unknowns: u_dot by bodies, then lam
    """

    K: Array
    b: Array


class DenseSolution(NamedTuple):
    """The solution of the dense augmented system.

    v_dot: (nb + 1, 3) global [m/s2];  omega_bar_dot: (nb + 1, 3) body frames [rad/s2];  lam: (nc,) by rows; ground in row 0
    """

    v_dot: Array
    omega_bar_dot: Array
    lam: Array


def dense_system(model: Model, state: State | None = None) -> DenseSystem:
    """Return the augmented matrix and its right-hand side at `state` (by default the modelled one)."""
    state = model.state() if state is None else state
    rows = evaluate(model, state)
    n, nc = 6 * model.nb, model.nc
    K = np.zeros((n + nc, n + nc))
    for k in range(model.nb):
        at = 6 * k
        K[at : at + 3, at : at + 3] = model.mass[k + 1] * np.eye(3)
        K[at + 3 : at + 6, at + 3 : at + 6] = model.J_bar[k + 1]
    K[n:, :n] = rows.Phi_q.toarray()
    K[:n, n:] = K[n:, :n].T
    return DenseSystem(K, np.concatenate([_generalized_forces(model, state), rows.gamma]))


def solve_dense(model: Model, state: State | None = None) -> DenseSolution:
    """Return the solution of the augmented system of the kept rows by LAPACK's LU.

    Raise SingularKKTError if the matrix is exactly singular.
    """
    whole, right = dense_system(model, state)
    kept = np.delete(np.arange(len(right)), 6 * model.nb + np.array(model.redundancy.dropped, dtype=np.int64))
    K, b = whole[np.ix_(kept, kept)], right[kept]
    size = np.abs(K).max(axis=0, initial=0.0)
    s = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    lu, pivots, first_zero = scipy.linalg.lapack.dgetrf(s[:, None] * K * s)
    if first_zero:
        raise SingularKKTError(
            "SingularKKTError: the dense augmented matrix is exactly singular: rows depend on others, or a massless axis is free."
        )
    x = s * scipy.linalg.lapack.dgetrs(lu, pivots, s * b)[0]
    x += s * scipy.linalg.lapack.dgetrs(lu, pivots, s * (b - K @ x))[0]
    bodies = np.vstack([np.zeros(6), x[: 6 * model.nb].reshape(-1, 6)])
    lam = np.zeros(model.nc)
    lam[kept[6 * model.nb :] - 6 * model.nb] = x[6 * model.nb :]
    return DenseSolution(bodies[:, :3], bodies[:, 3:], lam)


def _generalized_forces(model: Model, state: State) -> Array:
    """Return Q by bodies (6 nb,), without the ground."""
    pack = model.pack()
    rows_entry(pack, state.t, state.y)
    model.raise_user_error(pack)
    Q: Array = workspace_array(pack, "Q")[1:].ravel().copy()
    return Q
