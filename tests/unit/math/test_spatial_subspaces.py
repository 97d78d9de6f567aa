"""Constraints, motion subspaces and the split of a wrench: every identity of spatial vectors, and against KKT systems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.math import spatial
from haugmbd.notation import NOTATION
from tests.support.spatial_samples import ROUNDING, near

ranks = pytest.mark.parametrize("k", [0, 1, 2, 3, 5, 6])


@ranks
def test_apparent_inverse_inertia_is_the_inverse_in_the_subspace(rng, body, k):
    S = rng.normal(size=(6, k))
    inverse_inertia = mbd.apparent_inverse_inertia(body.I, S)
    assert near(inverse_inertia, inverse_inertia.T, 1e-11)
    assert np.linalg.matrix_rank(inverse_inertia, 1e-9) == k  # rank = degrees of freedom
    if k:
        assert near(inverse_inertia, S @ np.linalg.inv(S.T @ body.I @ S) @ S.T, 1e-10)
        assert np.linalg.matrix_rank(np.hstack([S, inverse_inertia]), 1e-9) == k  # range = S
    if k == 6:
        assert near(inverse_inertia, np.linalg.inv(body.I), 1e-10)
    Q = rng.normal(size=(k, k)) + 3.0 * np.eye(k)  # another basis of the same space
    assert near(mbd.apparent_inverse_inertia(body.I, S @ Q), inverse_inertia, 1e-9)


@ranks
def test_a_wrench_splits_into_what_accelerates_and_what_the_joint_opposes(rng, body, wrench, k):
    S = rng.normal(size=(6, k))
    f_a, f_c = mbd.split_wrench(body.I, S, wrench)
    inverse_inertia = mbd.apparent_inverse_inertia(body.I, S)
    assert near(f_a + f_c, wrench)
    assert np.abs(S.T @ f_c).max(initial=0.0) < 1e-11
    assert near(f_a, body.I @ inverse_inertia @ wrench, 1e-11)
    assert near(inverse_inertia @ f_a, inverse_inertia @ wrench, 1e-10)
    assert near(inverse_inertia @ f_c, np.zeros(6), 1e-11)
    again = mbd.split_wrench(body.I, S, f_a)
    assert near(again.f_a, f_a, 1e-10)


@ranks
def test_the_opposed_part_is_the_reaction_of_the_KKT_system(rng, body, wrench, k):
    """[I K^T; K 0] (a, lambda) = (f, 0) with S = null(K): -K^T lambda = -f_c, a in S."""
    S = rng.normal(size=(6, k))
    K = null_space(S.T).T
    n_c = len(K)
    assert np.abs(K @ S).max(initial=0.0) < ROUNDING
    kkt = np.block([[body.I, K.T], [K, np.zeros((n_c, n_c))]])
    x = np.linalg.solve(kkt, [*wrench, *np.zeros(n_c)])
    a, reaction = x[:6], -K.T @ x[6:]
    f_a, f_c = mbd.split_wrench(body.I, S, wrench)
    assert near(reaction, -f_c, 1e-11)
    assert near(a, mbd.apparent_inverse_inertia(body.I, S) @ wrench, 1e-10)
    assert near(f_a, body.I @ a, 1e-10)
    assert abs(reaction @ S @ rng.normal(size=k)) < 1e-10  # no power along any free velocity


def test_an_overconstrained_system_has_a_singular_KKT_matrix_and_unique_accelerations(rng, body, wrench):
    """n_ic = rank(K) < n_c: [H K^T; K 0] is singular; a and K^T lambda stay unique."""
    S = rng.normal(size=(6, 2))
    K = null_space(S.T).T
    K = np.vstack([K, K[0] + K[1]])
    kkt = np.block([[body.I, K.T], [K, np.zeros((5, 5))]])
    assert np.linalg.matrix_rank(K) == 4
    assert np.linalg.matrix_rank(kkt) == 6 + 4
    x = np.linalg.lstsq(kkt, [*wrench, *np.zeros(5)], rcond=None)[0]
    assert near(K.T @ x[6:], mbd.split_wrench(body.I, S, wrench).f_c, 1e-10)


def test_the_split_does_not_depend_on_the_frame(rng, R, r, body, wrench):
    S = rng.normal(size=(6, 2))
    X, X_star = spatial.motion_transform(R, r), spatial.force_transform(R, r)
    here = mbd.split_wrench(body.I, S, wrench)
    there = mbd.split_wrench(spatial.transformed_inertia(body.I, R, r), X @ S, X_star @ wrench)
    assert near(there.f_a, X_star @ here.f_a, 1e-11)
    order = [3, 4, 5, 0, 1, 2]
    pluecker = mbd.split_wrench(spatial.matrix_to_pluecker(body.I), S[order], spatial.force_to_pluecker(wrench))
    assert near(pluecker.f_c, spatial.force_to_pluecker(here.f_c), 1e-11)


@ranks
def test_a_motion_vector_along_two_complementary_subspaces(rng, twist, k):
    S_1, S_2 = rng.normal(size=(6, k)), rng.normal(size=(6, 6 - k))
    alpha_1, alpha_2 = spatial.along_subspaces(S_1, S_2, twist)
    assert (alpha_1.shape, alpha_2.shape) == ((k,), (6 - k,))
    assert near(S_1 @ alpha_1 + S_2 @ alpha_2, twist, 1e-11)
    assert near([*alpha_1, *alpha_2], np.linalg.inv(np.hstack([S_1, S_2])) @ twist, 1e-10)


def test_wrench_spaces_of_a_joint_are_complementary(rng, body, wrench):
    """F^6 = T_a + T_c with T_a = I S, T_c = S-perp: the split by coordinates is the split by projection."""
    S = rng.normal(size=(6, 2))
    T_a, T_c = body.I @ S, null_space(S.T)
    alpha, _ = spatial.along_subspaces(T_a, T_c, wrench)
    assert near(alpha, np.linalg.inv(S.T @ body.I @ S) @ S.T @ wrench, 1e-10)
    assert near(T_a @ alpha, mbd.split_wrench(body.I, S, wrench).f_a, 1e-11)


def test_a_motion_without_inertia_is_refused_with_numbers():
    rod = spatial.spatial_inertia(2.0, np.diag([0.0, 1.0, 1.0]), (0.3, 0.0, 0.0))
    about_itself = np.array([[0.0, 0, 0, 1, 0, 0]]).T
    with pytest.raises(UsageError, match=r"smallest singular value is 0 of the largest. .*inertia about every axis"):
        mbd.apparent_inverse_inertia(rod, about_itself)
    with pytest.raises(UsageError, match=r"the spatial inertia \(6 x 6\).* is singular"):
        spatial.acceleration_from_wrench(rod, np.zeros(6), np.ones(6))
    assert near(mbd.apparent_inverse_inertia(rod, np.eye(6)[:, [4]])[4, 4], 1.0 / (1.0 + 2.0 * 0.3**2))


def test_the_clashing_symbols_of_other_sources_are_in_the_table():
    told = {code: entry.clashes for entry in NOTATION for code in entry.code}
    assert "spatial vectors" in told["E"]
    assert told["propagation"]["chain impulses"].startswith("Phi_i")
    assert "Psi_i" in told["propagation"]["chain impulses"]
    assert told["inverse_inertia"]["spatial vectors"] == "Phi"
    assert told["Phi_q"]["spatial vectors"] == "K"
    assert told["gamma"]["spatial vectors"] == "k"
