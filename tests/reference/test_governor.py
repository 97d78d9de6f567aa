"""The stiff flyball governor (IFToMM A05) over 10 s: implicit methods take steps that its eigenvalue -8117 forbids to explicit ones."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import governor
from haugmbd.gallery.spinning_bodies import SLIDER


@pytest.mark.slow
def test_bdf_meets_the_curve(table, published):
    reference = table("A05_flyball_omega2pi")
    result = mbd.simulate(governor(), 10.0, integrator=mbd.BDF(rtol=1e-13, atol=1e-13), t_eval=reference["t"])
    problem = "IFToMM A05, stiff flyball governor, 10 s, BDF"
    published(problem, "height of the slider [m]", result["slider"].r[:, 2], reference["s"], 1e-9)
    published(problem, "angular velocity [rad/s]", result["shaft"].omega_bar[:, 2], reference["omega"], 1e-8)
    for known in SLIDER:
        k = int(np.argmin(abs(result.t - known.t)))
        assert result["slider"].r[k, 2] == pytest.approx(known.value, abs=known.tol)
    assert abs(result.violation("position")).max() < 1e-10
    assert abs(result.violation("velocity")).max() < 1e-10


@pytest.mark.slow
def test_radau_meets_it_at_a_tolerance_of_1e_10(table):
    """Its error a step is estimated with order three and falls with order five: the error is that of a much smaller tolerance."""
    reference = table("A05_flyball_omega2pi")
    result = mbd.simulate(governor(), 10.0, integrator=mbd.RadauIIA(rtol=1e-10, atol=1e-10))
    for time_, wanted in zip(reference["t"][-1:], reference["s"][-1:], strict=True):
        assert result.t[-1] == time_
        assert result["slider"].r[-1, 2] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_implicit_steps_follow_the_motion_and_not_the_stiffness():
    """At a tolerance of 1e-6 an explicit method needs a hundred times as many steps, and more evaluations."""
    exact = SLIDER[1].value
    implicit = mbd.simulate(governor(), 10.0, integrator=mbd.BDF(rtol=1e-6, atol=1e-6))
    explicit = mbd.simulate(governor(), 1.0, integrator=mbd.DormandPrince(rtol=1e-6, atol=1e-6))
    assert abs(implicit["slider"].r[-1, 2] - exact) < 5e-4
    assert np.diff(implicit.t).max() > 5e-3 > 10.0 * 3.3 / 8117.0
    assert 10 * explicit.counters.steps > 20 * implicit.counters.steps
    assert 10 * explicit.counters.evaluations > 5 * implicit.counters.evaluations


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        mbd.GeneralizedAlpha(1e-3),
        mbd.GeneralizedAlphaR7(1e-3),
        mbd.HHT(1e-3),
        mbd.Trapezoidal(1e-3),
        mbd.BDF(1e-3, order=3),
        mbd.RadauIIA(1e-3),
    ],
    ids=repr,
)
def test_fixed_steps_of_a_millisecond_are_stable(method):
    """Eight times the explicit limit of RK4: 2.8 / 8117 s."""
    result = mbd.simulate(governor(), 1.0, integrator=method)
    assert result["slider"].r[-1, 2] == pytest.approx(SLIDER[0].value, abs=2e-5)
