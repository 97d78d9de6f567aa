r"""Free motions at a state, and motions that become free at a singular configuration, by singular values.

    J = U diag(sigma) V^T     rows of length 1, columns of omega_bar divided by a length, so that all are comparable
    free motions              V of sigma = 0 (and the rest of V)         sum of squares of U by joint: its part in a dependency

Dense algebra: for error messages only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.mobility.twist_format import motion_text
from haugmbd.compiled.array_types import Array
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import characteristic_length
from haugmbd.model.model import Model
from haugmbd.model.state import State

RANK_TOL = 1e-8
"""Singular value, of rows of length 1, below which a direction is free."""

SHOWN = 6
"""Number of joints that a text names."""

SMALL = 0.02
"""A joint with less than this part of a singular vector is left out of a text."""


class RowDecomposition(NamedTuple):
    """The singular value decomposition of the rows at a state.

    sigma: (min(nc, 6 nb),) falling;  left: (nc, .) and right: (6 nb, .) singular vectors, all of them;  length: the unit [m]
    """

    sigma: Array
    left: Array
    right: Array
    length: float

    @property
    def rank(self) -> int:
        """Return the number of independent rows."""
        return int(np.count_nonzero(self.sigma > RANK_TOL * max(1.0, float(self.sigma.max(initial=0.0)))))


def freedom_at(model: Model, state: State) -> RowDecomposition:
    """Return the singular value decomposition of the rows at a state."""
    rows = evaluate(model, state)
    length = characteristic_length(model, rows)
    J = rows.Phi_q.toarray().reshape(model.nc, model.nb, 6)
    J[:, :, 3:] /= length
    J = J.reshape(model.nc, 6 * model.nb)
    norm = np.linalg.norm(J, axis=1, keepdims=True)
    U, sigma, V = np.linalg.svd(J / np.where(norm > 0.0, norm, 1.0))
    return RowDecomposition(sigma, U, V.T, length)


def motion_words(model: Model, state: State, found: RowDecomposition, k: int) -> str:
    """Return a description of the motion of right singular vector k, by bodies."""
    u = np.zeros((model.nb + 1, 6))
    u[1:] = found.right[:, k].reshape(model.nb, 6)
    u[:, 3:] /= found.length
    return motion_text(u, state.p, model.body_names, found.length)


def joints_of(model: Model, found: RowDecomposition, k: int) -> tuple[str, ...]:
    """Return the joints with rows in left singular vector k, the largest part first."""
    part = {e.name: float(np.sum(found.left[e.rows, k] ** 2)) for e in model.joints.values()}
    names = sorted(part, key=lambda name: -part[name])
    return tuple(name for name in names if part[name] > SMALL**2)[:SHOWN]
