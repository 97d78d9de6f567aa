"""The damped least motion of sparse equations, against NumPy's dense solution of its normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from haugmbd.analysis.assembly import regularized_least_squares
from haugmbd.analysis.assembly.regularized_least_squares import least_motion

ROUNDING = 1e-12
"""Relative, of equations of condition 1e3."""


@pytest.mark.parametrize("shape", [(60, 90), (90, 60), (1, 7), (7, 1)])
def test_sparse_equations_have_the_dense_solution(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """z = -J^T (J J^T + mu)^-1 b minimizes |z|^2 + |J z + b|^2 / mu; some rows have no number, or zeros that are stored."""
    rng, mu = np.random.default_rng(0), 1e-3
    J = sparse.random_array(shape, density=0.1, format="csc", rng=rng)
    J.data[:2] = 0.0
    b = rng.normal(size=shape[0])
    monkeypatch.setattr(regularized_least_squares, "DENSE", 0)
    dense = J.toarray()
    expected = -dense.T @ np.linalg.solve(dense @ dense.T + mu * np.eye(shape[0]), b)
    np.testing.assert_allclose(least_motion(J, b, mu), expected, atol=ROUNDING * max(1.0, np.abs(expected).max()))
