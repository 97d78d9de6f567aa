r"""The double pendulum of seed 002, problem 40, in closed form, against the recursions and the twin.

Point masses m1, m2 at the ends of massless bars l1, l2;  q1 from the downward vertical, q2 from bar 1;  M q_ddot - f - g = tau.
Derived here by the seed's own Jacobi-transposed mapping (M = sum J^T m J, f = -sum J^T m sigma, g = sum J^T F):

    x1 = l1 (sin q1, -cos q1)        x2 = x1 + l2 (sin(q1 + q2), -cos(q1 + q2))        sigma = J_dot q_dot

M, f and g of problem 40 are printed correctly.  What differs in the seed is the general formula of its section 5.3, which lacks the minus
sign of f = -sum J^T m sigma (the summary after it has it); without it the pendulum does not keep its energy (tested below).
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Link, SerialChain

G = 9.81
CASES = [(seed, *np.random.default_rng(seed).uniform(0.3, 2.0, size=4)) for seed in range(10)]
ROUNDING = 1e-13
"""Numbers of order 1 to 100, a few dozen operations."""


def closed_form(m1, m2, l1, l2, q, qd):
    """M, f, g as printed."""
    q1, q2, s, c = q[0], q[1], np.sin(q[1]), np.cos(q[1])
    off = m2 * l2 * (l2 + l1 * c)
    M = np.array([[m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * c + l2**2), off], [off, m2 * l2**2]])
    f = m2 * l1 * l2 * s * np.array([qd[1] * (2 * qd[0] + qd[1]), -(qd[0] ** 2)])
    far = m2 * l2 * np.sin(q1 + q2)
    return M, f, -G * np.array([(m1 + m2) * l1 * np.sin(q1) + far, far])


def mapped(m1, m2, l1, l2, q, qd):
    """M, f, g by the mapping: Jacobians and bias accelerations of both particles, written out."""
    a, b, w = q[0], q[0] + q[1], qd[0] + qd[1]
    near, far = l1 * np.array([np.cos(a), np.sin(a)]), l2 * np.array([np.cos(b), np.sin(b)])
    J1, J2 = np.column_stack([near, 0 * near]), np.column_stack([near + far, far])
    sigma1 = -l1 * qd[0] ** 2 * np.array([np.sin(a), -np.cos(a)])
    sigma2 = sigma1 - l2 * w**2 * np.array([np.sin(b), -np.cos(b)])
    weight = np.array([0.0, -G])
    M = m1 * J1.T @ J1 + m2 * J2.T @ J2
    return M, -m1 * J1.T @ sigma1 - m2 * J2.T @ sigma2, m1 * J1.T @ weight + m2 * J2.T @ weight


def pendulum(m1, m2, l1, l2) -> SerialChain:
    """The chain: bars along -y at q = 0, point masses at their ends."""
    bars = [(m1, l1), (m2, l2)]
    links = [Link.revolute(f"bar {k}", m, (0, 0, 0), c=(0, -l, 0), L=(0, -l, 0)) for k, (m, l) in enumerate(bars, start=1)]
    return SerialChain(links, gravity=(0, -G, 0), name="problem 40")


def motion(seed):
    rng = np.random.default_rng(seed + 100)
    return rng.uniform(-3.0, 3.0, size=2), rng.normal(size=2), rng.normal(size=2)


@pytest.mark.parametrize(("seed", "m1", "m2", "l1", "l2"), CASES)
def test_closed_form_mapping_and_recursions(seed, m1, m2, l1, l2):
    q, qd, tau = motion(seed)
    chain = pendulum(m1, m2, l1, l2)
    projected = mbd.projected_newton_euler(chain, q, qd)
    for printed, derived, found in zip(
        closed_form(m1, m2, l1, l2, q, qd), mapped(m1, m2, l1, l2, q, qd), (projected.M, projected.f, projected.g), strict=True
    ):
        assert abs(derived - printed).max() <= ROUNDING * max(1.0, abs(printed).max())
        assert abs(found - printed).max() <= ROUNDING * max(1.0, abs(printed).max())
    M, f, g = closed_form(m1, m2, l1, l2, q, qd)
    assert abs(mbd.crba(chain, q) - M).max() <= ROUNDING * M.max()
    qdd = np.linalg.solve(M, tau + f + g)
    condition = np.linalg.cond(M)
    assert abs(mbd.aba(chain, q, qd, tau) - qdd).max() <= ROUNDING * condition * max(1.0, abs(qdd).max())
    assert abs(mbd.rnea(chain, q, qd, qdd) - tau).max() <= ROUNDING * max(1.0, abs(M @ qdd).max(), abs(g).max())
    assert abs(projected.tau(qdd) - tau).max() <= ROUNDING * max(1.0, abs(M @ qdd).max(), abs(g).max())


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "m1", "m2", "l1", "l2"), CASES)
def test_the_maximal_model(seed, m1, m2, l1, l2):
    q, qd, tau = motion(seed)
    chain = pendulum(m1, m2, l1, l2)
    M, f, g = closed_form(m1, m2, l1, l2, q, qd)
    qdd = np.linalg.solve(M, tau + f + g)
    found = mbd.accelerations(chain.to_system(tau, q=q, qd=qd).compile())
    scale = max(1.0, abs(qdd).max()) * np.linalg.cond(M)
    assert found.omega_bar_dot[1:, 2] == pytest.approx([qdd[0], qdd[0] + qdd[1]], abs=ROUNDING * scale)
    assert mbd.crosscheck(chain, q, qd, tau).ok


def energy(m1, m2, l1, l2, q, qd):
    M, _, _ = closed_form(m1, m2, l1, l2, q, qd)
    return 0.5 * qd @ M @ qd - G * ((m1 + m2) * l1 * np.cos(q[0]) + m2 * l2 * np.cos(q[0] + q[1]))


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_sign_of_f_in_the_general_formula(sign):
    masses, h = (1.0, 0.7, 0.8, 1.1), 1e-3
    y = np.array([0.9, 0.6, -1.2, 2.0])
    start = energy(*masses, y[:2], y[2:])

    def rate(y):
        M, f, g = closed_form(*masses, y[:2], y[2:])
        return np.concatenate([y[2:], np.linalg.solve(M, sign * f + g)])

    for _ in range(500):
        k1 = rate(y)
        k2 = rate(y + 0.5 * h * k1)
        k3 = rate(y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(y + h * k3))
    drift = abs(energy(*masses, y[:2], y[2:]) - start)
    assert drift <= 1e-8 if sign > 0.0 else drift >= 0.1
