"""RATTLE and half-explicit Runge-Kutta: order, what they keep, and energy over a hundred thousand steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar, heavy_top
from haugmbd.integrators.hem4 import HEM4_METHOD
from haugmbd.integrators.rattle import find_turn
from joints import RJ
from tests.support.implicit import end_of
from tests.support.loops import stout_four_bar
from tests.support.models import model_of
from tests.support.symplectic_cases import CASES, METHODS

ORDER_TOL = 0.15

KEPT = 1e-10


def exact(make, t_end):
    return mbd.simulate(model_of(make), t_end, rtol=1e-13, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_order_and_violation(method, name):
    (make, t_end, n), (order, kind, options) = CASES[name], METHODS[method]
    end, errors = exact(make, t_end), []
    for steps in (n, 2 * n):
        result = mbd.simulate(model_of(make), t_end, integrator=kind(t_end / steps), **options)
        pairs = ((result.r, end.r), (result.v, end.v), (result.omega_bar, end.omega_bar), (result.lam, end.lam))
        errors.append([abs(a[-1] - b[-1]).max() for a, b in pairs])
        assert abs(result.violation("velocity")).max() < KEPT
        assert abs(result.violation("position")).max() < KEPT or method == "free"
    assert np.log2(np.divide(*errors)) == pytest.approx([order] * 4, abs=ORDER_TOL)


def test_the_multipliers_of_rattle_have_its_order():
    """Those of u' at the ends of steps, which dense output is made of."""
    exact_lam = exact(double_pendulum, 1.0).lam[-1]
    errors = [abs(end_of(mbd.RATTLE(1.0 / n), double_pendulum(), 1.0)[2] - exact_lam).max() for n in (200, 400)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=ORDER_TOL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "h", "steps"), [(heavy_top, 1e-3, 100_000), (double_pendulum, 2e-3, 100_000), (stout_four_bar, 2e-3, 30_000)]
)
def test_the_energy_of_rattle_is_bounded_over_many_steps(make, h, steps):
    """No drift: the mean over the last tenth is that over the first, to a part of the oscillation, and the largest error grows no more."""
    result = mbd.simulate(model_of(make), steps * h, integrator=mbd.RATTLE(h), store_every=20)
    energy = result.energy().total
    error = energy - energy[0]
    tenths = np.split(error[1:], 10)
    swing = abs(error).max()
    assert result.counters.steps == steps
    assert swing < 2e-3 * abs(energy).max()
    assert abs(tenths[-1].mean() - tenths[0].mean()) < 0.1 * swing
    assert abs(tenths[-1]).max() < 1.5 * abs(np.concatenate(tenths[:3])).max()
    assert abs(result.violation("position")).max() < KEPT
    assert abs(result.violation("velocity")).max() < KEPT


def test_rattle_keeps_the_angular_momentum_of_a_free_body_and_goes_back_the_way_it_came():
    system = mbd.System("free", gravity=(0, 0, 0))
    system.add(mbd.Body("body", 1.0, (1.0, 2.0, 2.5), omega_bar=(0.1, 5.0, 0.3)))
    there = mbd.simulate(system, 20.0, integrator=mbd.RATTLE(0.02))
    momentum = there.momentum().angular
    assert abs(momentum - momentum[0]).max() < 1e-12 * np.linalg.norm(momentum[0]) * len(there.t)
    last = there.state()
    turned = mbd.State.from_y(0.0, last.replace(omega_bar=-last.omega_bar).y, 2)
    back = mbd.simulate(system, 20.0, integrator=mbd.RATTLE(0.02), state=turned)
    assert abs(back.p[-1] - there.p[0]).max() < 1e-9


@pytest.mark.slow
def test_the_discrete_free_motion_is_that_of_moser_and_veselov():
    """h J omega = (F Jd - Jd F^T)^v with F = cay(f) and Jd = tr(J)/2 - J."""
    J, c = np.diag([1.0, 2.0, 2.5]), np.array([0.2, -0.4, 0.3])
    inertia = np.array([[0.0] * 10, [1.0, *J.ravel()]])
    f, found = find_turn(inertia, 1, tuple(c), tuple(0.5 * np.linalg.solve(J, c)))
    assert found
    f = np.array(f)
    tilde = np.array([[0, -f[2], f[1]], [f[2], 0, -f[0]], [-f[1], f[0], 0]])
    F = np.linalg.solve(np.eye(3) - tilde, np.eye(3) + tilde)
    Jd = 0.5 * np.trace(J) * np.eye(3) - J
    S = F @ Jd - Jd @ F.T
    assert np.array([S[2, 1], S[0, 2], S[1, 0]]) == pytest.approx(c, abs=1e-14)


def test_forces_of_velocities_keep_order_two():
    def damped():
        system = stout_four_bar()
        pin = next(j for j in system.joints if isinstance(j, RJ))
        system.add(mbd.RSDA("damper", pin, k=3.0, c=2.0))
        return system

    end = exact(damped, 0.5)
    errors = [abs(mbd.simulate(damped(), 0.5, integrator=mbd.RATTLE(0.5 / n)).r[-1] - end.r[-1]).max() for n in (60, 120)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=ORDER_TOL)


def test_the_tableau_of_hem4_fulfils_its_conditions():
    """The classical ones to order four, and b A^-1-like chains are not needed: its stages fulfil velocity constraints at c_(i+1)."""
    c, A, b = HEM4_METHOD
    assert A.sum(axis=1) == pytest.approx(c, abs=1e-14)
    assert [b.sum(), b @ c, b @ c**2, b @ c**3] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4], abs=1e-14)
    assert [b @ A @ c, b @ (c * (A @ c)), b @ A @ c**2, b @ A @ A @ c] == pytest.approx([1 / 6, 1 / 8, 1 / 12, 1 / 24], abs=1e-14)


def test_what_they_do_not_take_is_said():
    with pytest.raises(mbd.UsageError, match="'crank', 'coupler', 'rocker' have no inertia about some axis"):
        mbd.simulate(four_bar(), 0.1, integrator=mbd.RATTLE(1e-3))
    with pytest.raises(mbd.UsageError, match="RATTLE fulfils the constraints"):
        mbd.simulate(model_of(heavy_top), 0.1, integrator=mbd.RATTLE(1e-3), stabilization=mbd.Baumgarte(1.0, 1.0))
    chain = mbd.random_chain(3, 1)
    for method in (mbd.RATTLE(1e-3), mbd.HEM4(1e-3), mbd.GeneralizedAlpha(1e-3), mbd.BDF()):
        with pytest.raises(mbd.UsageError, match=r"a SerialChain has none: use RK4"):
            mbd.simulate(chain, 0.1, integrator=method)


@pytest.mark.slow
def test_events_and_wanted_times_of_methods_with_and_without_memory():
    """A height is passed, seen by methods whose steps start from the state alone and by those that remember more."""
    passes = mbd.Event("half way down", lambda t, state: state.r[1, 2] + 1.0)
    found = []
    implicit = (mbd.GeneralizedAlpha(1e-3), mbd.GeneralizedAlphaR7(1e-3), mbd.BDF(rtol=1e-9, atol=1e-9))
    for method in (mbd.RATTLE(1e-3), mbd.HEM4(1e-3), *implicit):
        result = mbd.simulate(model_of(double_pendulum), 1.5, integrator=method, events=[passes], t_eval=np.linspace(0.0, 1.5, 31))
        assert len(result) == 31
        found.append([event.t for event in result.events])
        assert abs(result.violation("position")).max() < KEPT
    exact_times = [e.t for e in mbd.simulate(model_of(double_pendulum), 1.5, rtol=1e-12, atol=1e-12, events=[passes]).events]
    assert len(exact_times) >= 1
    for times in found:
        assert times == pytest.approx(exact_times, abs=1e-4)
    assert all(a <= b for a, b in pairwise(found[0]))
