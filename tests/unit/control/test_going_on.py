"""Runs that continue from a state of another: blocks and held values continue exactly; delays do not know the motion before, and say so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ

TOLERANCES = {"rtol": 1e-9, "atol": 1e-11}
SAME = 1e-8
"""Error of two runs with these tolerances whose steps differ."""


def arm(*blocks):
    """A bar on a pin, turned by the last block."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    for block in blocks:
        system.add(block)
    system.add(mbd.Motor("motor", pin, torque=blocks[-1]["out"]))
    return system.compile()


def in_two_runs(model, t, end):
    """The last states of one run, and of one that continues at t."""
    whole, first = mbd.simulate(model, end, **TOLERANCES), mbd.simulate(model, t, **TOLERANCES)
    return whole.y[-1], mbd.simulate(model, end, state=first.state(-1), **TOLERANCES)


@pytest.mark.slow
@pytest.mark.parametrize("t", [0.24, 0.25])
def test_held_values_and_controllers_go_on(t):
    held = mbd.Sampled("law", 0.04, lambda t, s: 30.0 * (0.2 - s["pin.angle"]) - 5.0 * s["pin.rate"])
    pid = mbd.PID("pid", "pin.angle", 0.2, kp=30.0, ki=10.0, kd=3.0, tau=0.02)
    for block in (held, pid):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            wanted, run = in_two_runs(arm(block), t, 0.5)
        np.testing.assert_allclose(run.y[-1], wanted, atol=SAME)
        assert run.warnings == ()


@pytest.mark.slow
def test_a_delay_says_that_it_does_not_know_the_motion_before():
    late = mbd.DelayLine("late", "pin.angle", 0.05)
    pid = mbd.PID("pid", "late.out", 0.2, kp=30.0, ki=10.0, kd=3.0, tau=0.02)
    with pytest.warns(
        mbd.RunWarning, match=r"continues from a state at t = 0.25 s, and its delays 'late' do not .* up to t = 0.3 s"
    ):
        wanted, run = in_two_runs(arm(late, pid), 0.25, 0.5)
    assert abs(run.y[-1] - wanted).max() > 0.1
    assert len(run.warnings) == 1
    known = mbd.DelayLine("late", "pin.angle", 0.05, before=0.0)  # a value before the start of a motion is not the motion itself
    with pytest.warns(mbd.RunWarning, match="its delays 'late' do not know the motion before"):
        wanted, run = in_two_runs(arm(known, pid), 0.25, 0.5)
    assert abs(run.y[-1] - wanted).max() > 0.1


def test_the_modelled_state_at_a_later_time_is_a_beginning():
    late = mbd.DelayLine("late", "pin.angle", 0.05, before=0.1)
    model = arm(late, mbd.PID("pid", "late.out", 0.2, kp=30.0, ki=10.0, kd=3.0, tau=0.02))
    first, later = mbd.simulate(model, 0.1, h=0.01), mbd.simulate(model, 1.1, state=model.state().replace(t=1.0), h=0.01)
    assert later.warnings == ()
    np.testing.assert_allclose(later.y[-1], first.y[-1], atol=1e-12)
