"""The choice of rows of an edge with dependent rows: the squared volume that all of them span, beside the sum over all selections."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from haugmbd.kkt.rank_deficient import RowChoice, choose

ROUNDING = 1e-11
"""Relative, of determinants of matrices with a condition number of some 1e3."""


def edge(rng, n, rank, kept):
    """S of n rows of this rank, in units of their gradients, D (6, 6) with paddings, and the choice of the rows `kept`, with scales."""
    S = np.zeros((6, 6))
    rows = rng.normal(size=(n, rank))
    S[:n, :n] = rows @ rows.T
    scale = np.ones((1, 6))
    scale[0, :n] = rng.uniform(0.5, 2.0, n)
    pad, table = np.zeros((1, 6)), np.zeros((1, 6))
    pad[0, n:], table[0, list(kept)] = -1.0, 1.0
    J, length = np.zeros((6, 2, 6)), 0.1
    J[:n] = rng.normal(size=(n, 2, 6))
    size = np.sqrt((J[:n, :, :3] ** 2 + (J[:n, :, 3:] / length) ** 2).sum(axis=(1, 2)))
    D = np.zeros((6, 6))
    D[:n, :n] = -S[:n, :n] * np.outer(size, size)
    return S[:n, :n], D, RowChoice(pad, table, scale, np.zeros((6, 9)), np.zeros((1, 1)), J, length)


@pytest.mark.parametrize(("n", "rank"), [(2, 1), (5, 1), (5, 3), (5, 4), (6, 5), (6, 2)])
def test_the_squared_volume_is_the_sum_over_all_selections_whichever_is_kept(n, rank):
    """The formula of Cauchy and Binet, by determinants of LAPACK."""
    for seed in range(5):
        found = []
        for kept in (range(rank), range(n - rank, n)):
            S, D, choice = edge(np.random.default_rng(seed), n, rank, kept)
            assert choose(choice, 0, 0, D)
            found.append(choice.span[0, 0])
        sums = sum(np.linalg.det(S[np.ix_(rows, rows)]) for rows in combinations(range(n), rank))
        np.testing.assert_allclose(found, sums, rtol=ROUNDING)


def test_the_squared_volume_falls_with_the_rank():
    """Rows of rank two that are a little apart from rank one."""
    for distance in (1e-3, 1e-6):
        rows = np.outer([1.0, 2.0, -1.0], [1.0, 0.0]) + distance * np.outer([1.0, 0.5, 3.0], [0.0, 1.0])
        S, D, choice = edge(np.random.default_rng(1), 3, 2, (0, 1))
        D[:3, :3] *= (rows @ rows.T) / S
        assert choose(choice, 0, 0, D)
        sums = sum(np.linalg.det(rows[list(pair)]) ** 2 for pair in combinations(range(3), 2))
        np.testing.assert_allclose(choice.span[0, 0], sums, rtol=1e-13 / distance**2)
