"""result[t0:t1] and result.at(t) of every kind of result."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from tests.support.with_contacts import simulate_with


@pytest.fixture(scope="module")
def swung():
    events = [mbd.Event("low", lambda t, state: state.r[1, 0])]
    return mbd.simulate(pendulum(), 3.0, h=1e-2, events=events, sensors=[mbd.Sensor("x", lambda t, state: state.r[1, 0])])


@pytest.fixture(scope="module")
def bounced():
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.25)))
    floor = mbd.Contact(
        "floor", system.ground, ball, point=(0, 0, 0.25), radius=0.05, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.5
    )
    return simulate_with(system, 1.5, contacts=floor, h=1e-3)


def test_a_span_is_a_result(swung):
    part = swung[0.5:1.5]
    assert isinstance(part, mbd.Result)
    assert (part.t[0], part.t[-1], len(part)) == (pytest.approx(0.5), pytest.approx(1.5), 101)
    np.testing.assert_array_equal(part.y, swung.y[50:151])
    np.testing.assert_array_equal(part.lam, swung.lam[50:151])
    np.testing.assert_array_equal(part.sensor("x").value, swung.sensor("x").value[50:151])
    assert all(0.5 <= event.t <= 1.5 for event in part.events)
    assert len(swung[:0.5]) + len(swung[0.51:]) == len(swung)
    np.testing.assert_array_equal(swung[:].y, swung.y)


def test_turns_go_with_the_span():
    system = mbd.System("rotor", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 10.0)))
    from joints import RJ  # noqa: PLC0415

    system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    result = mbd.simulate(system, 3.0, h=1e-2, store_every=10)
    np.testing.assert_array_equal(result[2.0:3.0].joint("pin").angle, result.joint("pin").angle[20:])


def test_a_state_at_any_time(swung):
    assert swung.at(0.5).t == pytest.approx(0.5)
    np.testing.assert_array_equal(swung.at(swung.t[50]).y, swung.y[50])
    between = swung.at(0.50321)
    np.testing.assert_array_equal(between.y, swung.resample([0.50321]).y[0])
    assert isinstance(between, mbd.State)


def test_of_a_chain():
    chain = mbd.random_chain(2, 1)
    result = mbd.simulate(chain, 0.2, h=1e-2)
    part = result[0.05:0.1]
    assert isinstance(part, mbd.Result)
    np.testing.assert_array_equal(part.q, result.q[5:11])
    state = result.at(0.0512)
    assert isinstance(state, mbd.ChainState)
    exact = mbd.simulate(chain, 0.0512, h=0.0512 / 100).state()
    np.testing.assert_allclose(state.q, exact.q, rtol=0.0, atol=1e-6)


@pytest.mark.slow
def test_of_a_motion_with_impacts(bounced):
    t = bounced.impacts[1].t
    part = bounced[t - 0.05 : t + 0.05]
    assert isinstance(part, mbd.Result)
    assert [impact.t for impact in part.impacts] == [t]
    keep = (bounced.t >= t - 0.05) & (bounced.t <= t + 0.05)
    np.testing.assert_array_equal(part.y, bounced.y[keep])
    np.testing.assert_array_equal(bounced.at(t).y, bounced.impacts[1].after.y)
    np.testing.assert_allclose(bounced.at(0.1).r[1, 2], 0.25 - 0.5 * 9.81 * 0.01, rtol=0.0, atol=1e-9)


@pytest.mark.slow
def test_accelerations_of_a_motion_with_impacts_are_those_of_its_segments(bounced):
    resting = bounced.contact("floor").closed
    assert resting.any()
    a = bounced["ball"].a[:, 2]
    np.testing.assert_allclose(a[resting], 0.0, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(a[~resting], -9.81, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(bounced.point(("ball", (0, 0, 0))).a[:, 2], a)


@pytest.mark.parametrize("make", [lambda r: r[0.5:1.0:2], lambda r: r["a":1.0], lambda r: r[5.0:6.0], lambda r: r[np.nan :]])
def test_wrong_spans(swung, bounced, make):
    for result in (swung, bounced):
        with pytest.raises(mbd.UsageError, match=r"takes no step|must be a time|no state is stored from"):
            make(result)


@pytest.mark.parametrize("t", ["a", np.nan, -1.0, 99.0, True])
def test_wrong_times(swung, bounced, t):
    for result in (swung, bounced):
        with pytest.raises(mbd.UsageError, match=r"must be a time|is outside the result"):
            result.at(t)
