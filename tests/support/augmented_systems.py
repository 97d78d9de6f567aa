"""The augmented system of a model as a dense matrix, its solution by LAPACK or in extended precision, and by the solver of the model."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd.crosscheck import dense_system

GROWTH = 1e3
"""Of rounding, relative to the unit times the condition number: 30 is seen."""


def equilibrated(model: mbd.Model, state: mbd.State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """S K S with entries of order one, S b, and the diagonal of S."""
    K, b = dense_system(model, state)
    s = 1.0 / np.sqrt(np.abs(K).max(axis=0))
    return s[:, None] * K * s, s * b, s


def condition(K: np.ndarray) -> float:
    """The condition number of a symmetric matrix, by its eigenvalues: they take half the time of singular values."""
    sizes = np.abs(np.linalg.eigvalsh(K))
    return float(sizes.max() / sizes.min()) if sizes.min() > 0.0 else np.inf


def solution(model: mbd.Model, state: mbd.State) -> np.ndarray:
    """(u_dot, lam) as one vector."""
    found = mbd.accelerations(model, state)
    return np.concatenate([np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel(), found.lam])


def solved_in_long_double(K: np.ndarray, b: np.ndarray) -> np.ndarray:
    """K^-1 b by Gaussian elimination with partial pivoting in extended precision."""
    A = np.column_stack([K, b]).astype(np.longdouble)
    n = len(b)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, pivot]] = A[[pivot, k]]
        A[k + 1 :, k:] -= np.outer(A[k + 1 :, k] / A[k, k], A[k, k:])
    x = np.zeros(n, dtype=np.longdouble)
    for k in range(n - 1, -1, -1):
        x[k] = (A[k, n] - A[k, k + 1 : n] @ x[k + 1 :]) / A[k, k]
    return x
