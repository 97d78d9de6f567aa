"""Radau IIA: its tableau, its triangular factor, and one step against the collocation equations solved by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, heavy_top
from haugmbd.integrators.implicit.radau_tableau import GAMMA_0, A, C, E, L
from joints import RJ, TJ

SOLVED = 1e-11
"""What is left of a step of size one by Newton's iteration at 1e-13, and by fsolve."""


def test_tableau():
    """Collocation at the zeros of d^2/dx^2 (x^2 (x - 1)^3): sum_j a_ij c_j^(q - 1) = c_i^q / q to q = 3, the last row to q = 5."""
    for q in range(1, 4):
        np.testing.assert_allclose(A @ C ** (q - 1), C**q / q, rtol=0.0, atol=1e-15)
    for q in range(1, 6):
        assert A[-1] @ C ** (q - 1) == pytest.approx(1.0 / q, abs=1e-15)
    real = [v.real for v in np.linalg.eigvals(A) if abs(v.imag) < 1e-12]
    assert real == pytest.approx([GAMMA_0], abs=1e-14)


def test_the_error_is_of_order_three():
    """gamma u'(0) h + sum E_i (u(c_i h) - u(0)) vanishes for polynomials to degree three, not for degree four."""
    for q in range(1, 4):
        assert (GAMMA_0 if q == 1 else 0.0) + E @ C**q == pytest.approx(0.0, abs=1e-14)
    assert abs(E @ C**4) > 1e-3


def test_the_triangular_factor():
    """A = L U with a unit diagonal in U: 1 - L^-1 A is nilpotent; what a sweep leaves elsewhere is that in the head of `collocation`."""
    U = np.linalg.solve(L, A)
    np.testing.assert_allclose(U, np.triu(U), rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(np.diag(U), 1.0, rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(L, np.tril(L))
    for z in [*-np.logspace(-3, 5, 30), *1j * np.logspace(-3, 3, 30)]:
        left = z * np.linalg.solve(np.eye(3) - z * L, A - L)
        assert max(abs(np.linalg.eigvals(left))) < (0.15 if z.real < 0.0 else 0.38)
    for y in np.logspace(-3, 5, 60):
        left = np.eye(3) - np.linalg.solve(np.eye(3) + y**2 * L @ L, np.eye(3) + y**2 * A @ A)
        assert max(abs(np.linalg.eigvals(left))) < 0.53


def last(system: mbd.System, h: float) -> mbd.State:
    """The state after one step."""
    result = mbd.simulate(system, h, integrator=mbd.RadauIIA(h, tol=1e-11))
    assert result.counters.steps == 1
    return result.state(-1)


def test_a_step_of_a_mass_on_a_stiff_spring():
    """One coordinate, a hardening spring with a damper: x_i, v_i by fsolve on the collocation equations."""
    h, k, c = 0.05, 400.0, 30.0
    system = mbd.System("slider")
    mass = system.add(mbd.Body("mass", 2.0, (1.0, 1.0, 1.0), r=(1.5, 0.0, 0.0), v=(0.4, 0.0, 0.0)))

    def pull(t, length, rate):
        return k * (length - 1.0) + 50.0 * (length - 1.0) ** 3 + c * rate

    system.add(mbd.TSDA("spring", system.ground, mass, point_i=(0, 0, 0), point_j=(1.5, 0, 0), l0=1.0, actuator=pull))

    def residual(z):
        x, v = z[:3], z[3:]
        a = -np.array([pull(0.0, xi, vi) for xi, vi in zip(x, v, strict=True)]) / 2.0
        return np.concatenate([x - 1.5 - h * A @ v, v - 0.4 - h * A @ a])

    z = fsolve(residual, [1.5, 1.5, 1.5, 0.4, 0.4, 0.4], xtol=1e-12)
    end = last(system, h)
    assert (end.r[1, 0], end.v[1, 0]) == pytest.approx((z[2], z[5]), abs=SOLVED)


def test_a_step_of_a_tumbling_body():
    """Free rotation in a step of half a radian: theta_i = h sum a_ij dexpinv(theta_j) w_j by fsolve, with the series of dexpinv."""
    h, J, w0 = 0.1, np.array([1.0, 2.0, 3.0]), np.array([3.0, -4.0, 2.0])
    system = mbd.System("tumbling")
    system.add(mbd.Body("body", 1.0, tuple(J), omega_bar=tuple(w0)))

    def rate(theta, w):
        once = np.cross(theta, w)
        value, term = w + 0.5 * once, once
        for factor in (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160):  # Bernoulli numbers over factorials
            term = np.cross(theta, term)
            value = value + factor * term
            term = np.cross(theta, term)
        return value

    def residual(z):
        theta, w = z[:9].reshape(3, 3), z[9:].reshape(3, 3)
        spin = np.cross(J * w, w) / J
        turn = np.array([rate(x, y) for x, y in zip(theta, w, strict=True)])
        return np.concatenate([(theta - h * A @ turn).ravel(), (w - w0 - h * A @ spin).ravel()])

    z = fsolve(residual, np.concatenate([np.outer(C * h, w0).ravel(), np.tile(w0, 3)]), xtol=1e-12)
    end = last(system, h)
    np.testing.assert_allclose(end.omega_bar[1], z[-3:], rtol=0.0, atol=SOLVED)
    angle = np.linalg.norm(z[6:9])
    p = np.array([np.cos(angle / 2), *np.sin(angle / 2) * z[6:9] / angle])
    np.testing.assert_allclose(end.p[1], p, rtol=0.0, atol=SOLVED)


def test_index_three_is_refused_with_what_to_do():
    for method in (mbd.RadauIIA(constraint_form=mbd.Index3()), mbd.RadauIIA(1e-3, constraint_form=mbd.Index3())):
        with pytest.raises(mbd.UsageError, match=r"leave (out level|level)|Index2"):
            mbd.simulate(double_pendulum(), 0.1, integrator=method)


def test_a_step_that_newton_cannot_take_is_taken_in_parts():
    """Half a turn of the top in a step: parts of it converge, and the end is as good as an order of five makes it."""
    exact = mbd.simulate(heavy_top(), 0.1, rtol=1e-12, atol=1e-12)
    with pytest.warns(mbd.RunWarning, match="turns by more than 1 rad"):
        found = mbd.simulate(heavy_top(), 0.1, integrator=mbd.RadauIIA(0.02))
    assert found.counters.steps == 5
    assert found.counters.rejected > 0
    assert abs(found.r[-1] - exact.r[-1]).max() < 1e-5


def swinging(k: float, c: float) -> mbd.System:
    """A pendulum with a slider on a spring along it."""
    system = mbd.System("swinging", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    slider = system.add(mbd.Body("slider", 1.0, (0.1, 0.1, 0.1), r=(1.5, 0, 0)))
    system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(TJ("guide", rod, slider, point=(1, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.TSDA("spring", rod, slider, point_i=(1, 0, 0), point_j=(1.5, 0, 0), k=k, c=c, l0=0.5))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(("k", "c"), [(1e8, 1e5), (1e8, 2e4)])
def test_states_between_long_steps_of_a_stiff_system_are_as_good_as_the_steps(k, c):
    """Steps many times the spring's own time: what Newton leaves of a pose, times k h^2, shows neither between them nor as an error."""
    method, sharp, system = mbd.RadauIIA(rtol=1e-5, atol=1e-5), mbd.RadauIIA(rtol=1e-10, atol=1e-10), swinging(k, c)
    at_steps, between = (mbd.simulate(system, 1.0, integrator=method, t_eval=t) for t in (None, np.linspace(0.0, 1.0, 1001)))
    worst = [abs(run.r - mbd.simulate(system, 1.0, integrator=sharp, t_eval=run.t).r).max() for run in (at_steps, between)]
    assert max(worst) < 3e-5
    assert at_steps.counters.rejected < at_steps.counters.steps


def test_a_given_tolerance_of_newtons_iteration_counts_under_error_control():
    """It was replaced by a hundredth of the allowed error where that is larger."""
    usual, sharp, loose = (mbd.RadauIIA(rtol=1e-6, atol=1e-6, **given) for given in ({}, {"tol": 1e-13}, {"tol": 1.0}))
    assert usual.newton_tol == loose.newton_tol == pytest.approx(1e-2 * 2e-6)
    assert sharp.newton_tol == pytest.approx(1e-13 * mbd.GGL().share)
    assert mbd.RadauIIA(rtol=1e-13, atol=1e-13).newton_tol == mbd.RadauIIA(1e-3).newton_tol


@pytest.mark.parametrize("g", [9.81, 1e-4, 1e-8])
def test_slow_motions_take_the_same_steps_as_fast_ones(g):
    """Errors that fall, and once grow by a fifth, were given up where velocities are too slow to count: 600 parts of 30 steps."""
    system = mbd.System("slow", gravity=(0, 0, -g))
    bar = system.add(mbd.Body("bar", 1.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    unit = float(np.sqrt(1.0 / g))
    result = mbd.simulate(system, 3.0 * unit, integrator=mbd.RadauIIA(h=0.1 * unit))
    exact = mbd.simulate(system, 3.0 * unit, integrator=mbd.DOP853(rtol=1e-12, atol=1e-12))
    assert (result.counters.steps, result.counters.rejected) == (30, 0)
    assert result["bar"].r[-1] == pytest.approx(exact["bar"].r[-1], abs=2e-5)  # of order five: 1e-5 of the length
