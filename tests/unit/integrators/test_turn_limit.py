"""Error control of implicit methods limits the rotation in a step: a turn that is lost in one has no error that it could see."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Gear, RackPinion
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


OMEGA, T_LONG = 10.0, 2000.0
DRIFT = 1.0
"""[rad] What integrated angles and orientations may be apart, until the run goes on without it."""
KEPT = 1e-10
"""[rad] Of 4e4 rad, through which the angles of gears turn: some units in their last place."""


def pair_of_gears():
    """Two gears that turn evenly: the wheel by 2e4 rad, the pinion by 4e4 rad."""
    system = mbd.System("gears")
    wheel = system.add(mbd.Body("wheel", MASS, (0.02, 0.02, J), omega_bar=(0, 0, OMEGA)))
    pinion = system.add(mbd.Body("pinion", MASS, (0.01, 0.01, 0.02), r=(0.3, 0, 0), omega_bar=(0, 0, -2.0 * OMEGA)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    shaft = system.add(RJ("shaft", system.ground, pinion, point=(0.3, 0, 0), axis=(0, 0, 1)))
    system.add(Gear("mesh", axle, shaft, ratio=-2.0))
    return system


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.errors.RunWarning")
@pytest.mark.parametrize(
    ("t_end", "given"),
    [
        (500.0, {"h": 0.06, "store_every": 50}),
        (T_LONG, {"rtol": 1e-4, "t_eval": np.linspace(0.0, T_LONG, 1001)}),
        (100.0, {"rtol": 1e-3, "integrator": mbd.BDF(), "t_eval": np.linspace(0.0, 100.0, 201)}),
        (200.0, {"h": 0.01, "store_every": 100, "integrator": mbd.RATTLE()}),
    ],
    ids=["RK4", "DormandPrince", "BDF", "RATTLE"],
)
def test_integrated_angles_that_drift_from_the_orientations_in_long_runs_are_set_back(t_end, given):
    """These runs were refused, though their steps lose no turn: small errors of the orientation had grown to 2 rad.

    Each ends when the drift has been taken off once or more; one goes on to 4e4 rad.
    """
    result = mbd.simulate(pair_of_gears(), t_end, **given)
    assert result.success
    axle, shaft = (result.joint(name).angle for name in ("axle", "shaft"))
    assert abs(2.0 * axle + shaft).max() < KEPT
    assert abs(result.violation("position")).max() < KEPT
    assert abs(result["wheel"].omega[:, 2] - OMEGA).max() < 1e-6
    assert abs(axle[-1] - OMEGA * t_end) > DRIFT  # the phase that the steps lose in all
    gaps = result.angles[:, :2] - np.stack([axle, shaft], axis=1)
    assert abs(gaps).max() < 1.1 * DRIFT


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.errors.RunWarning")
def test_a_run_that_sets_angles_back_continues_and_repeats_itself():
    """Whatever parts it is made of: the turns that the angles count do not change, nor any number of the motion."""
    system, whole = pair_of_gears(), mbd.simulate(pair_of_gears(), 1000.0, h=0.04)
    model = system.compile()
    first = mbd.simulate(model, 500.0, h=0.04)
    second = mbd.simulate(model, 1000.0, h=0.04, state=first.state())
    np.testing.assert_array_equal(second.p[-1], whole.p[-1])
    timed = mbd.simulate(model, 1000.0, h=0.04, budget=60.0)  # in other batches of steps
    np.testing.assert_array_equal(timed.p, whole.p)
    np.testing.assert_array_equal(timed.angles, whole.angles)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.errors.RunWarning")
def test_many_short_runs_go_as_far_as_a_long_one():
    """Each has too few steps to tell a drift from steps that are too long, and begins with the drift of those before."""
    model = pair_of_gears().compile()
    state = model.state()
    for _ in range(40):
        state = mbd.simulate(model, state.t + 4.8, h=0.06, state=state).state()
    whole = mbd.simulate(model, 192.0, h=0.06)
    np.testing.assert_allclose(state.p, whole.p[-1], rtol=0.0, atol=KEPT)
    assert abs(whole.angles[-1] - OMEGA * 192.0 * np.array([1.0, -2.0])).max() > LARGEST_TURN
    assert abs(state.angles - whole.angles[-1]).max() < 2.0 * DRIFT
