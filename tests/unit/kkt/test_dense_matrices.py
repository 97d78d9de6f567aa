"""The algebra of the formulations in Python against LAPACK's singular value decomposition."""

import numpy as np
import pytest

from haugmbd.formulations.dense_matrices import triangular, without_dependencies

ROUNDING = 1e-12
"""Of products of matrices of 20 rows with entries of the order of ten."""
CURVATURE = 10.0
"""Times the square of what the rows are off their rank: the least singular values of such matrices are about a tenth of the entries."""


def nearest(rows: np.ndarray, rank: int) -> np.ndarray:
    """The projection on the left singular vectors of the rank."""
    U = np.linalg.svd(rows[:, :-1], full_matrices=False)[0][:, :rank]
    return U @ (U.T @ rows)


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize(("k", "n", "rank"), [(20, 18, 17), (12, 30, 11), (6, 6, 3), (1, 6, 1), (2, 6, 1)])
def test_the_nearest_system_of_lower_rank(rng, off: float, k: int, n: int, rank: int):
    A = rng.standard_normal((k, rank)) @ rng.standard_normal((rank, n)) + off * rng.standard_normal((k, n))
    rows = np.column_stack([A, A @ rng.standard_normal(n) + off * rng.standard_normal(k)])
    found = without_dependencies(rows, rank)
    np.testing.assert_allclose(found, nearest(rows, rank), rtol=0.0, atol=ROUNDING + CURVATURE * off**2)
    assert np.linalg.matrix_rank(found, tol=1e-10) == rank


def test_a_rank_that_is_missing_too_is_left_to_the_singular_values(rng):
    A = rng.standard_normal((8, 3)) @ rng.standard_normal((3, 9))
    rows = np.column_stack([A, A @ rng.standard_normal(9)])
    np.testing.assert_allclose(without_dependencies(rows, 5), rows, rtol=0.0, atol=ROUNDING)
    assert not without_dependencies(rows, 0).any()


@pytest.mark.parametrize("columns", [(), (1,), (3,), (0,)], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_a_triangular_system_is_solved_whatever_stands_below(columns, transposed, rng):
    T, b = np.triu(rng.normal(size=(5, 5))) + 4.0 * np.eye(5), rng.normal(size=(5, *columns))
    for order in "CF":
        given = np.array(T + np.tril(rng.normal(size=(5, 5)), -1), order=order)
        found = triangular(given, b, transposed=transposed)
        assert found.shape == b.shape
        np.testing.assert_allclose((T.T if transposed else T) @ found, b, rtol=0.0, atol=1e-14)
    assert triangular(np.zeros((0, 0)), np.zeros(0)).shape == (0,)
