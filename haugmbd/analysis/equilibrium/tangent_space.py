r"""The constraint manifold: its tangent space at a pose, motion along it, and the projection on it.

    Phi_q x = 0,    x = (dr / L, dpi_bar)            L a length of the model: turns and displacements are measured alike
    Phi_q^T P = Q R                                  N = the last columns of Q, those without a row of R: an orthonormal tangent basis
    q (+) x:   r <- r + L dr,   p <- p exp(dpi_bar)
    back:      x = - Phi_q^+ Phi,  q <- q (+) x,  until Phi = 0                            the least motion, by Gauss and Newton

Redundant rows that the model drops are left out.
Source: Haug (2021), tangent space of the constraint manifold; Kim and Vanderploeg (1986), null space by QR of Phi_q^T.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from haugmbd.analysis.equilibrium.residual import Residual, ResidualEvaluator, evaluate_residual, moved
from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError

RANK_TOL = 1e-7
"""Distance of a row of Phi_q, of length 1, from the span of the others, below which it is dependent. It is above the rounding of closed
poses; a mechanism nearer than this to a singular configuration is treated as singular.
"""


CLOSED_TOL = 1e-13
"""Largest |Phi| over the row's length (in units of L or rad) that counts as zero: rounding of coordinates of size 1 to 100 L."""


STALLED_TOL = 1e-9
"""Largest |Phi|, measured in the same way, if Newton's method makes no more progress; above it the pose cannot be closed."""


MAX_CORRECTIONS = 30


class Tangent(NamedTuple):
    """Tangent space.  N: (6 nb, nd) orthonormal;  lam: (nk,) with the least norm of force - J^T lam, 0 for dependent rows."""

    N: Array
    lam: Array


def tangent(residual: Residual) -> Tangent:
    """Return the tangent space at `residual`, and the multipliers of least residual force."""
    length = _lengths(residual.J)
    Q, R, order = linalg.qr(residual.J.T / length, pivoting=True)
    sizes = np.abs(np.diagonal(R))
    rank = int(np.sum(sizes > RANK_TOL))
    lam = np.zeros(len(residual.J))
    if rank:  # SciPy 1.13 does not solve an empty system
        lam[order[:rank]] = linalg.solve_triangular(R[:rank, :rank], Q[:, :rank].T @ residual.force)
    return Tangent(Q[:, rank:], lam / length)


def closed(evaluator: ResidualEvaluator, y: Array) -> Array:
    """Return the nearest pose with Phi = 0. Raise SimulationError, which names the row that stays open, if there is none nearby."""
    last = np.inf
    for _ in range(MAX_CORRECTIONS):
        residual = evaluate_residual(evaluator, y)
        length = _lengths(residual.J)
        gaps = np.abs(residual.Phi / length)
        gap = float(gaps.max(initial=0.0))
        if gap <= CLOSED_TOL or (gap <= STALLED_TOL and gap >= 0.5 * last):
            return y
        x: Array = -linalg.lstsq(residual.J / length[:, None], residual.Phi / length, cond=RANK_TOL, lapack_driver="gelsy")[0]
        y, last = moved(evaluator, y, x / max(1.0, float(np.abs(x).max()))), gap
    row = int(np.argmax(gaps))
    label = evaluator.model.labels[evaluator.kept[row]]
    what = f"{label} is left at {residual.Phi[row]:.3g} {label.unit} at t = {evaluator.t:g} s"
    raise SimulationError(f"the mechanism cannot be closed: {what}. Correct the pose, the joints, or what drives them.")


def _lengths(J: Array) -> Array:
    """Return the lengths of the rows, 1 for a row without gradient."""
    length = np.linalg.norm(J, axis=1)
    return np.where(length > 0.0, length, 1.0)
