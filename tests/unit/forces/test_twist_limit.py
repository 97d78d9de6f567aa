"""Limits of the twist of a ball joint: the time in a stop is that of its spring; the rate is the derivative of the angle at any swing."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import SJ

J, K = 0.2, 500.0
KINK = 1e-6  # a step across the start of the stop, where the force has a kink, at rtol = 1e-10
JUMP = 1e-3  # [J] a step across the start of a damped stop, where the force jumps by c times the rate


def ball(spin, *, lower=-0.2, upper=0.3, axis=(0, 0, 1), c=0.0):
    system = mbd.System("ball")
    head = system.add(mbd.Body("head", 1.0, (J, J, J), omega_bar=spin))
    joint = system.add(SJ("ball", system.ground, head, point=(0, 0, 0)))
    system.add(mbd.TwistLimit("twist", joint, axis=axis, lower=lower, upper=upper, k=K, c=c))
    return system


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_twist_is_thrown_back_after_half_a_period_of_its_stop(sign):
    result = mbd.simulate(ball((0, 0, 2.0 * sign)), 0.3, rtol=1e-10, atol=1e-12)
    limit, stop = 0.3 if sign > 0.0 else 0.2, np.pi * np.sqrt(J / K)
    angle = result.load("twist").angle[-1]
    assert abs(result["head"].omega[-1, 2] + 2.0 * sign) < KINK
    assert abs(angle - sign * (limit - 2.0 * (0.3 - limit / 2.0 - stop))) < KINK
    assert np.abs(result.energy().drift).max() < KINK


def test_the_rate_is_the_derivative_of_the_twist_at_any_swing():
    result = mbd.simulate(ball((1.3, -0.7, 0.4), lower=-3.0, upper=3.0, axis=(0.2, -0.3, 0.9)), 1.0, h=1e-3)
    load = result.load("twist")
    slope = (load.angle[2:] - load.angle[:-2]) / 2e-3
    assert np.abs(slope - load.rate[1:-1]).max() < 1e-5
    assert np.abs(load.angle).max() > 0.1


def test_swing_and_twist_are_limits_of_their_own():
    system = ball((3.0, 0, 0))
    system.add(mbd.ConeLimit("cone", system["ball"], axis=(0, 0, 1), angle=0.5, k=K))
    result = mbd.simulate(system, 0.25, rtol=1e-9)
    assert result.load("cone").torque.max() > 1.0
    assert np.abs(result.load("twist").torque).max() == 0.0


@pytest.mark.slow
def test_the_law_is_verified_and_saved(tmp_path):
    system = ball((0.5, 1.0, 3.0), c=2.0)
    assert mbd.verify(system["twist"]).ok
    system.save(tmp_path / "ball.json")
    again = mbd.load_model(tmp_path / "ball.json", allow_code=True)
    one, other = (mbd.simulate(s, 0.3, h=1e-3) for s in (system, again))
    assert np.array_equal(one["head"].p, other["head"].p)
    assert np.abs(mbd.simulate(system, 0.3, rtol=1e-9, atol=1e-11).energy().drift).max() < JUMP


@pytest.mark.parametrize("given", [{"lower": 0.1}, {"upper": 4.0}, {"axis": (0, 0, 0)}])
def test_limits_that_cannot_be_are_one_fault(given):
    with pytest.raises(mbd.ModelError, match="1 fault: TwistLimit 'twist'"):
        ball((0, 0, 0), **given).compile()
