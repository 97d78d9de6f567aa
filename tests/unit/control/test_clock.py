"""Times of sampled blocks and delays: multiples of a period, also after very many of them."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.control.sampled import multiple_at
from haugmbd.simulation.stepping.clock import next_multiple
from joints import RJ

PERIODS = (1e-4, 1e-3, 1.0 / 300.0, 0.07, 1.0 / 3.0, 2.5)


@pytest.mark.parametrize("period", PERIODS)
def test_the_next_multiple_is_the_next_one_whatever_rounding_does(period, rng):
    for k in [0, 1, 2, 10, *np.rint(10.0 ** rng.uniform(1.0, 11.0, 500)).astype(int).tolist()]:
        t = k * period
        assert multiple_at(t, period) == k
        assert next_multiple(t, period) == k + 1
        assert (k + 1) * period > t
        between = t + 0.5 * period
        assert multiple_at(between, period) is None
        assert next_multiple(between, period) == k + 1


def test_a_controller_goes_on_after_many_periods():
    """At 300 Hz after 18.5 hours: the next call was at the same time, and the run did not end."""
    calls = []

    def update(t, signals):
        calls.append(t)
        return 1.0

    system = mbd.System("clock")
    system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1)))
    system.add(mbd.Sampled("law", 1.0 / 300.0, update))
    model = system.compile()
    start = 20_000_000 / 300.0
    calls.clear()
    mbd.simulate(model, start + 10.5 / 300.0, state=model.state().replace(t=start), h=1.0 / 600.0)
    np.testing.assert_allclose(calls, start + np.arange(11) / 300.0, rtol=1e-14)


def spring_and_controller(period):
    """A bar on a stiff, damped spring, whose motor follows a slow target that a controller sets, and damps it."""
    system = mbd.System("controlled", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("spring", pin, k=2000.0, c=20.0))
    law = system.add(mbd.Sampled("law", period, lambda t, signals: np.sin(3.0 * t) - 0.2 * signals["pin.rate"]))
    system.add(mbd.Motor("motor", pin, torque=law["out"]))
    return system.compile()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "most"),
    [(mbd.RadauIIA(rtol=1e-5), 4.0), (mbd.GeneralizedAlpha(rtol=1e-4, atol=1e-7), 8.0), (mbd.BDF(rtol=1e-5), 20.0)],
    ids=["RadauIIA", "GeneralizedAlpha", "BDF"],
)
def test_implicit_steps_do_not_begin_anew_at_every_call(method, most):
    """They began with a millionth of the period at every call: 10, 20 and 40 steps a period, whatever the motion."""
    model, calls = spring_and_controller(0.002), 50
    found = mbd.simulate(model, 0.1, integrator=method)
    assert found.counters.steps + found.counters.rejected < most * calls
    exact = mbd.simulate(model, 0.1, integrator=mbd.DOP853(rtol=1e-12, atol=1e-13))
    error = np.abs(found["bar"].r[-1] - exact["bar"].r[-1]).max()
    assert error < method.rtol * 0.5  # of the length of the bar
