r"""Symmetric positive semi-definite systems W x = h with dependent rows: rank, solution of least norm, and conflicts.

    S = diag(1 / sqrt d)      S W S = V diag(w) V^T,  w <= k      rank: w > RANK_TOL      d: mobility of the rows without joints
    x = S V+ w+^-1 V+^T S h  minus its part in the null space S V0, so that |x| is least
    W x = h can be solved only if V0^T S h = 0

Source: Golub and Van Loan, Matrix Computations, sec. 5.5 (minimum-norm least squares).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError

RANK_TOL = 1e-10
"""Relative to the mobility without joints: below it the joints of the model leave a row no motion."""
OPTIMAL = 1e-10
"""Of |column| |b|: a gradient of non-negative least squares below it is rounding."""
INDEPENDENT = 1e-9
"""Of its length: what a column has beside others that it does not depend on; the square root of RANK_TOL is larger."""
ROUNDS = 10
"""Exchanges of non-negative least squares, for each column; three are usual."""


class SpectralSolution(NamedTuple):
    """The spectral parts of W: scale S (k,), eigenvalues w and vectors V of the range, V0 of the null space."""

    scale: Array
    w: Array
    V: Array
    V0: Array

    @classmethod
    def of(cls, W: Array, d: Array) -> SpectralSolution:
        """Return the parts of W (k, k), scaled by the mobilities d (k,)."""
        scale = 1.0 / np.sqrt(d)
        w, V = np.linalg.eigh(scale[:, None] * W * scale)
        keep = w > RANK_TOL
        return cls(scale, w[keep], V[:, keep], V[:, ~keep])

    @property
    def rank(self) -> int:
        """The number of independent rows."""
        return len(self.w)

    def solve(self, h: Array) -> Array:
        """Return the x of least norm with W x = h in the least-squares sense; h (k,) or (k, m)."""
        x: Array = (self.scale * (self.V / self.w @ (self.V.T @ (self.scale * h.T).T)).T).T
        if len(self.w) == len(self.scale):
            return x
        N = self.scale[:, None] * self.V0
        least: Array = x - N @ np.linalg.lstsq(N, x, rcond=None)[0]
        return least

    def conflict(self, h: Array) -> Array:
        """Return the residual of each row of W x = h that no x can remove, (k,), in the units of h / sqrt(d)."""
        return np.asarray(self.V0 @ (self.V0.T @ (self.scale * h)))


def mobility(W: Array, free: Array) -> Array:
    """Return the scale of the rows of W: `free` (k,), or the diagonal of W where only massless axes move; 1 where nothing moves."""
    d = np.maximum(free, np.diag(W))
    return np.where(d > 0.0, d, 1.0)


def nonnegative(A: Array, b: npt.NDArray[Any]) -> Array:
    """Return the x >= 0, (k,), with the least |A x - b|, by the method of Lawson and Hanson; its positive columns are independent.

    SciPy's routine lets columns in that depend on the others up to rounding.  Its solution is taken where A^T (b - A x) <= 0.
    Raises SimulationError if the method does not converge.
    """
    from scipy.optimize import nnls  # noqa: PLC0415  imported only where contacts are coupled

    try:
        x: Array = nnls(A, b)[0]
    except RuntimeError as error:
        raise SimulationError(
            f"the forces of {A.shape[1]} contacts are not found: non-negative least squares stop with {error}. "
            "Contacts at nearly the same place depend on one another: leave some of them out."
        ) from error
    return x if _is_optimal(A, b, x) else _independent_nonnegative(A, b)


def _is_optimal(A: Array, b: Array, x: Array) -> bool:
    """Return whether no longer step along a column of A would bring A x nearer to b."""
    return bool((A.T @ (b - A @ x) <= OPTIMAL * np.linalg.norm(A, axis=0) * np.linalg.norm(b)).all())


def _independent_nonnegative(A: Array, b: Array) -> Array:
    """Return what `nonnegative` does, by a method that lets no column in that depends on the others.

    Raises SimulationError if the method does not converge.
    """
    length, k = np.linalg.norm(A, axis=0), A.shape[1]
    x, passive = np.zeros(k), np.zeros(k, dtype=np.bool_)
    for _ in range(ROUNDS * k + ROUNDS):
        w = np.where(passive, -np.inf, A.T @ (b - A @ x))
        for j in np.argsort(-w):
            if w[j] <= OPTIMAL * length[j] * np.linalg.norm(b):
                return x
            Q = np.linalg.qr(A[:, passive])[0]
            if np.linalg.norm(A[:, j] - Q @ (Q.T @ A[:, j])) > INDEPENDENT * length[j]:
                break
        else:
            return x
        passive[j] = True
        while True:
            s = np.zeros(k)
            s[passive] = np.linalg.lstsq(A[:, passive], b, rcond=None)[0]
            back = passive & (s <= 0.0)
            if not back.any():
                break
            share = np.min(x[back] / np.maximum(x[back] - s[back], np.finfo(np.float64).tiny))
            x = x + share * (s - x)
            leaving = back & (x <= OPTIMAL * max(float(x.max()), np.finfo(np.float64).tiny))
            passive &= ~(leaving if leaving.any() else back)
            x[~passive] = 0.0
        x = s
    raise SimulationError(
        f"the forces of {k} contacts are not found: non-negative least squares did not converge in {ROUNDS * k + ROUNDS} exchanges. "
        "Contacts at nearly the same place depend on one another: leave some of them out."
    )
