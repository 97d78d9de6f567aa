"""The compiled kernels, and their plain Python, against the vectorised formulas."""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd.math import euler_kernels, euler_parameters

ROUNDING = 1e-14  # some ten products of numbers of size 1


@pytest.fixture(params=["compiled", "plain"])
def call(request):
    """Call a kernel compiled, or as the Python that it is written in."""
    return lambda kernel, *args: (kernel if request.param == "compiled" else getattr(kernel, "py_func", kernel))(*args)


@pytest.fixture
def p(rng):
    return euler_parameters.normalized(rng.normal(size=(20, 4)))


@pytest.mark.slow
def test_rotation_matrix(call, p):
    out = np.empty((20, 3, 3))
    for k in range(20):
        call(euler_kernels.put_rotation, out, k, *p[k])
    assert np.abs(out - euler_parameters.rotation_matrix(p)).max() < ROUNDING


@pytest.mark.slow
def test_p_dot(call, p, rng):
    omega_bar, rates = rng.normal(size=(20, 3)), np.empty((20, 13))
    bodies = np.hstack([np.zeros((20, 3)), p, np.zeros((20, 3)), omega_bar])
    for k in range(20):
        call(euler_kernels.put_euler_rate, bodies, rates, k)
    assert np.abs(rates[:, 3:7] - euler_parameters.p_dot_from(p, omega_bar)).max() < ROUNDING


def test_normalize_says_how_far_it_was(call, p):
    q = 1.25 * p[0]
    assert call(euler_kernels.normalize, q) == pytest.approx(0.25, abs=ROUNDING)
    assert np.abs(q - p[0]).max() < ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1e-3, 2.0])
def test_rotate_by(call, p, angle):
    theta_bar, q = angle * np.array([0.6, 0.0, -0.8]), p[0].copy()
    call(euler_kernels.rotate_by, q, theta_bar)
    assert np.abs(q - euler_parameters.product(p[0], euler_parameters.exponential(theta_bar))).max() < ROUNDING
