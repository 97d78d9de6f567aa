"""Error control of implicit methods limits the rotation in a step: a turn that is lost in one has no error that it could see."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, RackPinion
from tests.support.models import model_of

RADIUS, MASS, J, G = 0.1, 1.0, 0.04, 9.80665
ACCELERATION = MASS * G / (MASS + J / RADIUS**2)
"""[m/s2] Of a rack that falls and turns its pinion."""
T_END = 10.0
LOST_TURN = 2.0 * np.pi * RADIUS / 5.0
"""[m] The way that the rack is displaced by one turn that the pinion loses, where both share it by their inertias."""
LARGEST_TURN = 2.0


def falling_rack():
    system = mbd.System("falling rack", gravity=(0, 0, -G))
    pinion = system.add(mbd.Body("pinion", MASS, (0.03, J, 0.03)))
    rack = system.add(mbd.Body("rack", MASS, (0.1, 0.1, 0.1), r=(RADIUS, 0, 0)))
    axle = system.add(RJ("axle", system.ground, pinion, point=(0, 0, 0), axis=(0, 1, 0)))
    guide = system.add(TJ("guide", system.ground, rack, point=(RADIUS, 0, 0), axis=(0, 0, 1)))
    system.add(RackPinion("mesh", axle, guide, radius=RADIUS))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.GeneralizedAlpha, mbd.RadauIIA], ids=lambda method: method.__name__)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_a_rack_that_falls_by_a_hundred_turns_loses_none(method, rtol):
    result = mbd.simulate(model_of(falling_rack), T_END, integrator=method(rtol=rtol))
    fallen = -0.5 * ACCELERATION * result.t**2
    assert abs(result["rack"].r[:, 2] - fallen).max() < 1e-3 * LOST_TURN  # both methods are exact for a constant acceleration
    assert abs(RADIUS * result.joint("axle").angle - fallen).max() < 1e-3 * LOST_TURN
    assert abs(result.violation("position")).max() < 1e-9


@pytest.mark.parametrize("method", [mbd.GeneralizedAlpha, mbd.BDF, mbd.RadauIIA], ids=lambda method: method.__name__)
def test_no_step_turns_further_than_its_limit(method):
    result = mbd.simulate(model_of(falling_rack), T_END / 3.0, integrator=method(rtol=1e-2))
    turned = np.abs(np.diff(result.joint("axle").angle))
    assert turned.max() < LARGEST_TURN


def test_steps_that_turn_nothing_are_not_limited():
    system = mbd.System("sledge")
    sledge = system.add(mbd.Body("sledge", MASS, (0.1, 0.1, 0.1), v=(100.0, 0, 0)))
    system.add(TJ("guide", system.ground, sledge, point=(0, 0, 0), axis=(1, 0, 0)))
    result = mbd.simulate(system, 1000.0, integrator=mbd.BDF())
    assert abs(result["sledge"].r[-1, 0] - 1e5) < 1e-5
    assert np.diff(result.t).max() > 1.0


POLYNOMIAL = [mbd.RK4, mbd.Heun, mbd.RK3, mbd.SemiImplicitEuler, mbd.HEM4, mbd.BDF]
ON_THE_GROUP = [mbd.RKMK4, mbd.CrouchGrossman3, mbd.GeneralizedAlpha, mbd.RadauIIA, mbd.Trapezoidal, mbd.Newmark]


@pytest.mark.slow
@pytest.mark.parametrize("method", POLYNOMIAL, ids=lambda method: method.__name__)
def test_fixed_steps_whose_turns_are_not_known_are_refused(method):
    """RK4 lost turns in steps of up to 20 rad: the rack was 0.3 m off at the end, with success."""
    with pytest.raises(
        mbd.SimulationError, match=r"the turn of axle.angle is not known any more at t = .* rad apart.* give h"
    ) as caught:
        mbd.simulate(model_of(falling_rack), T_END, integrator=method(h=0.1))
    result = caught.value.result
    assert 0.3 < result.t[-1] < T_END
    assert result.status is mbd.RunStatus.FAILED
    assert (
        abs(result["rack"].r[:, 2] + 0.5 * ACCELERATION * result.t**2).max()
        < 0.5 * LOST_TURN + 0.5 * ACCELERATION * 0.1 * result.t[-1]
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.errors.RunWarning")
@pytest.mark.parametrize("method", ON_THE_GROUP, ids=lambda method: method.__name__)
def test_fixed_steps_of_several_turns_on_the_group_lose_none(method):
    """The orientation is exact for a rotation about one axis, and the integrated angle counts three turns in a step."""
    result = mbd.simulate(model_of(falling_rack), T_END, integrator=method(h=0.1))
    assert abs(result["rack"].r[:, 2] + 0.5 * ACCELERATION * result.t**2).max() < 1e-3 * LOST_TURN


def test_a_spring_whose_turn_is_not_known_is_refused():
    """The orientation of a wheel at 50 rad/s in steps of 5 rad; a rotational spring reads it beside the integrated angle."""
    system = mbd.System("wound")
    wheel = system.add(mbd.Body("wheel", MASS, (0.04, 0.04, 0.04), omega_bar=(0, 0, 50.0)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("spring", axle, k=1e-3, theta0=0.0))
    with pytest.raises(mbd.SimulationError, match="the turn of spring is not known any more"):
        mbd.simulate(system, 3.0, h=0.1)


@pytest.mark.slow
def test_long_runs_in_fine_steps_keep_their_turns():
    result = mbd.simulate(model_of(falling_rack), T_END, h=1e-3, store_every=100)
    assert abs(result["rack"].r[:, 2] + 0.5 * ACCELERATION * result.t**2).max() < 1e-3 * LOST_TURN
