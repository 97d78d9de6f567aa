r"""The least motion that fulfils linear equations, in a metric of the bodies, whatever the rank of the equations.

    min |z|^2 / 2 + |J z + b|^2 / (2 mu)         [ 1  J^T; J  -mu ] (z, c) = (0, -b)          mu > 0: regular for every J

    metric     W = diag(m 1, J_bar)      |d|^2 = d^T W d      z = W^(1/2) d      J = Phi_q W^(-1/2), rows of length 1
    rank       mu -> 0 gives the least-squares solution of least norm; directions of a singular value sigma << sqrt(mu) are left alone
    exact      for equations that do not contradict each other: repeated with the rest, b <- b + J z (proximal point): the part
               mu / (sigma^2 + mu) of the error stays in each direction

Principal moments that are zero (rods, point masses) are lifted, so that a turn costs something.
Source: Levenberg (1944), Marquardt (1963); Fan and Yuan (2005) on mu ~ |Phi|^2 where J has no full rank; Rockafellar (1976).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from haugmbd.bodies.body import MASSLESS_RTOL
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.model.model import Model

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Matrix: TypeAlias = "Array | csc_array"
"""Equations by their columns: a dense matrix if it is small."""

LIFT = 0.1
"""Principal moments below this part of the body's largest are raised to it when positions are corrected. A rotation of a rod about itself
moves no point, but its correction must be bounded.
"""

EXACT_MU = 1e-9
"""mu of an exact solution, for rows of length 1: below sigma^2 of any regular mechanism, and well above rounding."""

SWEEPS = 300
"""Largest number of repetitions of an exact solution; each leaves the part mu / (sigma^2 + mu) of the error. Directions of a very small
sigma belong to a singular configuration, and keep their error: see `Assembly.rate_after`. `simulate` does not accept such a start.
"""

DENSE = 150
"""Equations of a system that is factored as a dense matrix: making a sparse one of them takes longer than solving."""

CONVERGED = 1e-15
"""Residual of the equations, relative to their right-hand side, below which the repetition ends."""


class Metric(NamedTuple):
    """W^(1/2) and W^(-1/2) by bodies, (nb, 6, 6) each."""

    half: Array
    inverse: Array


def body_metric(model: Model, factors: Array | None = None, size: float = 1.0, lift: float = LIFT) -> Metric:
    """Return the metric of the bodies' inertia, each times a factor (nb,); a point mass gets the inertia of the model's size [m].

    A body without mass has the part `lift` of the lightest one: joints give its motion.
    """
    factors = np.ones(model.nb) if factors is None else factors
    root = np.zeros((model.nb, 6, 6))
    inverse = np.zeros((model.nb, 6, 6))
    masses = model.mass[1:]
    lightest = float(masses[masses > 0.0].min()) if (masses > 0.0).any() else 1.0
    for k in range(model.nb):
        mass, moments, axes = float(masses[k]) or lift * lightest, *np.linalg.eigh(model.J_bar[k + 1])
        largest = float(moments[-1])
        least = lift * (largest if largest > MASSLESS_RTOL * mass * size**2 else mass * size**2)
        w = factors[k] * np.maximum(moments, least)
        root[k, :3, :3] = np.sqrt(factors[k] * mass) * np.eye(3)
        root[k, 3:, 3:] = axes * np.sqrt(w) @ axes.T
        inverse[k, :3, :3] = np.eye(3) / np.sqrt(factors[k] * mass)
        inverse[k, 3:, 3:] = axes / np.sqrt(w) @ axes.T
    return Metric(root, inverse)


def geometric_metric(nb: int, size: float) -> Metric:
    """Return the metric in which all bodies weigh the same, and an angle counts as a length over the size [m]."""
    lengths = np.array([1.0, 1.0, 1.0, size, size, size])
    return Metric(np.tile(np.diag(lengths), (nb, 1, 1)), np.tile(np.diag(1.0 / lengths), (nb, 1, 1)))


def whitened(metric: Metric, J: Array, bodies: Ints) -> Array:
    """Return rows (nr, 2, 6) of the bodies (nr, 2), 0 the ground, times W^(-1/2); zero on the ground."""
    inverse = np.concatenate([np.zeros((1, 6, 6)), metric.inverse])
    return np.asarray(np.einsum("rsc,rscd->rsd", J, inverse[bodies]), dtype=np.float64)


def dense(J: Matrix) -> Array:
    """Return the matrix as an array."""
    return J if isinstance(J, np.ndarray) else np.asarray(J.toarray())


def least_motion(J: Matrix, b: Array, mu: float | Array) -> Array:
    """Return z of the equations J z = -b, (n,), damped by mu, of all of them or of each."""
    return _factor(J, mu)(b)


def exact_motion(J: Matrix, b: Array, mu: float = EXACT_MU, *, enough: float = CONVERGED, sweeps: int = SWEEPS) -> Array:
    """Return z of least norm with J z = -b, (n,), for rows of length about 1; the least-squares solution of contradicting equations.

    Directions of a small singular value are left out, and their residual b + J z remains.
    enough: residual relative to b that ends the repetition;  sweeps: largest number of repetitions
    """
    z = np.zeros(J.shape[1])
    if not len(z):  # everything is held
        return z
    solve = _factor(J, mu)
    before = np.inf
    for _ in range(sweeps):
        rest = b + J @ z
        size = float(np.abs(rest).max(initial=0.0))
        if size <= enough * float(np.abs(b).max(initial=0.0)) or not size < before:
            return z
        before = size
        z = z + solve(rest)
    return z


def _factor(J: Matrix, mu: float | Array) -> _Solve:
    """Return the factorization of [ 1 J^T; J -mu ]: dense where it is small."""
    if sum(J.shape) <= DENSE:
        return _Solve(_DenseFactor(dense(J), mu), J.shape[1])
    from scipy.sparse.linalg import splu  # noqa: PLC0415  imported only where something is assembled

    return _Solve(splu(bordered(J, mu)), J.shape[1])


def bordered(J: csc_array, mu: float | Array) -> csc_array:
    """Return [ 1 J^T; J -mu ], written by columns: `scipy.sparse.block_array` takes as long as the factorization."""
    from scipy.sparse import csc_array  # noqa: PLC0415  imported only where something is assembled

    rows, columns = J.shape
    by_row, column = np.argsort(J.indices, kind="stable"), np.repeat(np.arange(columns), np.diff(J.indptr))
    indptr = np.zeros(rows + columns + 1, dtype=J.indptr.dtype)
    indptr[1 : columns + 1] = np.diff(J.indptr) + 1
    indptr[columns + 1 :] = np.bincount(J.indices, minlength=rows) + 1
    np.cumsum(indptr, out=indptr)
    indices, data = np.empty(indptr[-1], dtype=J.indices.dtype), np.empty(indptr[-1])
    ones, ends = indptr[:columns], indptr[columns + 1 :] - 1  # the first number of a column of J, the last one of a column of J^T
    diagonal = np.zeros(indptr[-1], dtype=bool)
    diagonal[ones] = diagonal[ends] = True
    indices[ones], data[ones] = np.arange(columns), 1.0
    indices[ends], data[ends] = columns + np.arange(rows), -np.asarray(mu)
    indices[~diagonal] = np.concatenate([columns + J.indices, column[by_row]])
    data[~diagonal] = np.concatenate([J.data, J.data[by_row]])
    return csc_array((data, indices, indptr), shape=(rows + columns, rows + columns))


class _DenseFactor:
    """The LU factorization of [ 1 J^T; J -mu ] by LAPACK."""

    def __init__(self, J: Array, mu: float | Array) -> None:
        from scipy.linalg.lapack import dgetrf, dgetrs  # noqa: PLC0415  imported only where something is assembled

        rows, columns = J.shape
        K = np.zeros((rows + columns, rows + columns))
        np.fill_diagonal(K, 1.0)
        K[columns:, columns:] *= -np.asarray(mu)
        K[columns:, :columns] = J
        K[:columns, columns:] = J.T
        self.substitute: Any = dgetrs
        self.lu, self.pivots, _ = dgetrf(K.T, overwrite_a=True)  # K is its own transpose, and then by columns, as LAPACK takes it

    def solve(self, b: Array) -> Array:
        """Return x with K x = b."""
        x: Array = self.substitute(self.lu, self.pivots, b)[0]
        return x


class _Solve(NamedTuple):
    """A factorization, and the number of its unknowns that are motions."""

    factor: object
    columns: int

    def __call__(self, b: Array) -> Array:
        """Return the motion for the right-hand side (0, -b)."""
        x: Array = self.factor.solve(np.concatenate([np.zeros(self.columns), -b]))  # type: ignore[attr-defined]
        return x[: self.columns]
