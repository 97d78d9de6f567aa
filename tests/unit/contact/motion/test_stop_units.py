"""Rigid stops of an angle: their gaps are measured in radians, whatever the length of the mechanism."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ

SAME = 1e-9
"""[rad, and of the time unit] What error control leaves in different units, whose absolute tolerance is in metres."""


@cache
def fallen(L: float, T: float) -> tuple[list[float], float]:
    """Bounce a pendulum of length L on its stop until it rests there; return the times of the impacts in T, and the last angle [rad]."""
    system = mbd.System("pendulum", gravity=(0, 0, -9.81 * L / T**2))
    body = system.add(mbd.Body("body", 1.0, 0.1 * L**2 * np.ones(3), r=(0.5 * L, 0, 0)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointLimit("stop", pin, upper=1.2, restitution=0.1))
    result = mbd.simulate(system, T, h=1e-2 * T)
    return [impact.t / T for impact in result.impacts], float(result.joint("pin").angle[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("L", "T"), [(1e-3, 1e-6), (1e-6, 1e-6), (1e5, 1.0)])
def test_a_pendulum_of_any_length_comes_to_rest_on_its_stop(L: float, T: float):
    """The rounding of an angle was taken for L times 1e-12 rad: small pendulums bounced without end, or through their stop."""
    times, angle = fallen(L, T)
    wanted, rest = fallen(1.0, 1.0)
    np.testing.assert_allclose(times, wanted, rtol=0.0, atol=SAME)
    assert angle == pytest.approx(1.2, abs=SAME)
    assert rest == pytest.approx(1.2, abs=SAME)
