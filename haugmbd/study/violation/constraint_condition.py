r"""The condition of the constraints at a pose: how far Phi_q is from losing rank.

    J = D Phi_q W^-1         D: rows of length 1;  W: columns of rotations times the length L of the model
    condition = sigma_max / sigma_min        over the rows that are independent at a general pose

sigma_min is the distance from the next pose-like matrix of smaller rank; at a singular pose it is zero.
Source: Golub and Van Loan, Matrix Computations, sec. 2.4.
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


def singular_values(rows: Rows, kept: Ints) -> Array:
    """Return the singular values of the scaled rows, from the largest on."""
    J = rows.Phi_q.toarray()[kept]
    J.reshape(len(kept), rows.nb, 6)[:, :, 3:] /= rows.model.length
    size = np.linalg.norm(J, axis=1, keepdims=True)
    found: Array = np.linalg.svd(J / np.where(size > 0.0, size, 1.0), compute_uv=False)
    return found


def smallest_and_condition(model: Model, states: list[State]) -> tuple[Array, Array]:
    """Return the smallest singular value and the condition number at each state; inf where a row vanishes or depends on others."""
    kept = independent_rows(model)
    least, condition = np.empty(len(states)), np.empty(len(states))
    for k, state in enumerate(states):
        sigma = singular_values(evaluate(model, state), kept)
        least[k] = sigma[-1]
        condition[k] = sigma[0] / sigma[-1] if sigma[-1] > 0.0 else np.inf
    return least, condition
