"""Euler parameters against SciPy's Rotation (scalar-last), numpy-quaternion, and matrix exponentials."""

from __future__ import annotations

import numpy as np
import pytest
import quaternion
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from haugmbd.math import euler_parameters

# A dozen products of numbers of size 1: some 1e-15; 1e-14 leaves a factor of ten.
ROUNDING = 1e-14


@pytest.fixture
def p(rng):
    return euler_parameters.normalized(rng.normal(size=(50, 4)))


def as_scipy(p):
    return Rotation.from_quat(p[..., [1, 2, 3, 0]])


def same_rotation(p, q):
    return np.minimum(np.abs(p - q).max(axis=-1), np.abs(p + q).max(axis=-1)).max()


def test_rotation_matrix_is_scipys(p):
    assert np.abs(euler_parameters.rotation_matrix(p) - as_scipy(p).as_matrix()).max() < ROUNDING


def test_rotation_matrix_is_the_books_closed_form(p):
    e0, e = p[:, 0, None, None], p[:, 1:]
    book = (2 * e0**2 - 1) * np.eye(3) + 2 * (e[:, :, None] * e[:, None, :] + e0 * euler_parameters.skew(e))
    assert np.abs(euler_parameters.rotation_matrix(p) - book).max() < ROUNDING


def test_identities_of_E_and_G(p):
    E, G = euler_parameters.E(p), euler_parameters.G(p)
    for matrix in (E, G):
        assert np.abs(np.einsum("nij,nj->ni", matrix, p)).max() < ROUNDING
        assert np.abs(matrix @ np.swapaxes(matrix, -1, -2) - np.eye(3)).max() < ROUNDING
    projector = np.eye(4) - p[:, :, None] * p[:, None, :]
    assert np.abs(np.swapaxes(G, -1, -2) @ G - projector).max() < ROUNDING


def test_omega_bar_is_the_rate_of_the_rotation_matrix(p, rng):
    omega_bar = rng.normal(size=(50, 3))
    p_dot = euler_parameters.p_dot_from(p, omega_bar)
    assert np.abs(euler_parameters.omega_bar_from(p, p_dot) - omega_bar).max() < ROUNDING
    # A is quadratic in p, so the central difference of A(p + h p_dot) is exact up to rounding for any h.
    A_dot = (euler_parameters.rotation_matrix(p + p_dot) - euler_parameters.rotation_matrix(p - p_dot)) / 2
    assert np.abs(A_dot - euler_parameters.rotation_matrix(p) @ euler_parameters.skew(omega_bar)).max() < 10 * ROUNDING


def test_skew_is_the_cross_product(rng):
    a, b = rng.normal(size=(2, 20, 3))
    assert np.abs(np.einsum("nij,nj->ni", euler_parameters.skew(a), b) - np.cross(a, b)).max() < ROUNDING


@pytest.mark.parametrize(("first", "second"), [((3,), (3,)), ((3,), (20, 3)), ((20, 3), (3,)), ((4, 1, 3), (5, 3))])
def test_cross_has_the_digits_of_numpy(rng, first, second):
    a, b = rng.normal(size=first), rng.normal(size=second)
    assert np.array_equal(euler_parameters.cross(a, b), np.cross(a, b))
    assert np.array_equal(euler_parameters.cross(a.tolist(), b.tolist()), np.cross(a, b))


def test_product_and_conjugate_are_those_of_rotation_matrices(p):
    q = p[::-1]
    assert (
        np.abs(
            euler_parameters.rotation_matrix(euler_parameters.product(p, q))
            - euler_parameters.rotation_matrix(p) @ euler_parameters.rotation_matrix(q)
        ).max()
        < ROUNDING
    )
    assert np.abs(euler_parameters.product(p, euler_parameters.conjugate(p)) - [1, 0, 0, 0]).max() < ROUNDING


@pytest.mark.slow
@given(st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3), st.sampled_from([0.0, 1e-12, 1e-6, 1e-4, 1e-3, 1.0, 1.8]))
def test_exponential_is_the_matrix_exponential_at_every_angle(direction, scale):
    theta_bar = scale * np.array(direction)
    assert (
        np.abs(
            euler_parameters.rotation_matrix(euler_parameters.exponential(theta_bar)) - expm(euler_parameters.skew(theta_bar))
        ).max()
        < ROUNDING
    )
    if np.linalg.norm(theta_bar) < 3.1:
        assert np.abs(euler_parameters.logarithm(euler_parameters.exponential(theta_bar)) - theta_bar).max() < ROUNDING


def test_logarithm_is_scipys(p):
    assert np.abs(euler_parameters.logarithm(p) - as_scipy(p).as_rotvec()).max() < 10 * ROUNDING


def test_axis_angle_broadcasts_and_refuses_a_zero_axis():
    angles = np.linspace(-7.0, 7.0, 9)
    p = euler_parameters.from_axis_angle((0, 0, 2.5), angles)
    assert p.shape == (9, 4)
    assert np.abs(euler_parameters.rotation_matrix(p)[:, 1, 0] - np.sin(angles)).max() < ROUNDING
    assert np.isnan(euler_parameters.from_axis_angle((0, 0, 0), 1.0)[1:]).all()


def test_from_rotation_matrix_at_random_and_at_half_turns(p):
    assert same_rotation(euler_parameters.from_rotation_matrix(euler_parameters.rotation_matrix(p)), p) < ROUNDING
    half_turns = euler_parameters.from_axis_angle(np.vstack((np.eye(3), p[:, 1:])), np.pi)
    assert same_rotation(euler_parameters.from_rotation_matrix(euler_parameters.rotation_matrix(half_turns)), half_turns) < ROUNDING
    assert (euler_parameters.from_rotation_matrix(euler_parameters.rotation_matrix(p))[:, 0] >= 0).all()
    assert euler_parameters.from_rotation_matrix(np.eye(3)).tolist() == [1, 0, 0, 0]


def test_slerp_is_that_of_numpy_quaternion(p):
    q = np.where(np.sum(p * p[::-1], axis=-1, keepdims=True) < 0, -p[::-1], p[::-1])
    for tau in (0.0, 0.3, 1.0):
        theirs = [
            quaternion.as_float_array(quaternion.slerp_evaluate(*quaternion.from_float_array([a, b]), tau))
            for a, b in zip(p, q, strict=True)
        ]
        assert same_rotation(euler_parameters.slerp(p, q, np.full(50, tau)), np.array(theirs)) < 10 * ROUNDING


def test_resample_turns_uniformly_and_meets_the_samples():
    t = np.linspace(0.0, 2.0, 21)
    axes = np.array([[0, 0, 1.0], [1.0, 2.0, 3.0]])
    samples = euler_parameters.from_axis_angle(axes[None], t[:, None])
    t_new = np.array([0.0, 0.05, 0.77, 2.0])
    assert (
        same_rotation(euler_parameters.resample(t, samples, t_new), euler_parameters.from_axis_angle(axes[None], t_new[:, None]))
        < ROUNDING
    )
