"""Joint coordinates in events and sensors: the numbers of the histories, located zeros, and wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from joints import RJ, RotationDriver
from tests.support.with_contacts import simulate_with

PRECISE = mbd.DOP853(rtol=1e-12, atol=1e-12, h_max=0.05)
FINE = 1e-8
"""Ten turns by this method are good to some 1e-10."""


def test_sensors_record_the_histories():
    system = slider_crank()
    wanted = {
        "R": dict(joint="R"),
        "T": dict(joint="T", what="displacement"),
        "U2": dict(joint="U", number=2),
        "rate": dict(joint="T", what="displacement", derivative=1),
        "spin": dict(joint="U", derivative=1),
    }
    sensors = [mbd.Sensor(name, mbd.JointCoordinate(system, **options)) for name, options in wanted.items()]
    result = mbd.simulate(system, 0.2, h=1e-2, sensors=sensors)
    expected = {
        "R": result.joint("R").angle,
        "T": result.joint("T").displacement,
        "U2": result.joint("U").angle[:, 1],
        "rate": result.joint("T").rate,
        "spin": result.joint("U").rate[:, 0],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(result.sensor(name).value, values, rtol=0.0, atol=1e-12 * max(1.0, abs(values).max()))


@pytest.mark.slow
def test_an_event_at_an_angle():
    system = mbd.System("rotor", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 2.0)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    stop = mbd.Event("stop", mbd.JointCoordinate(system, "pin", zero=1.2), terminal=True)
    result = mbd.simulate(system, 3.0, rtol=1e-10, atol=1e-12, events=[stop])
    assert result.t[-1] == pytest.approx(0.6, abs=1e-8)
    system.add(mbd.RSDA("spring", pin, k=0.0, c=1e-12))
    far = mbd.Event("far", mbd.JointCoordinate(system, "pin", zero=5.0 * np.pi), terminal=True)
    result = mbd.simulate(system, 10.0, rtol=1e-10, atol=1e-12, events=[far])  # the spring counts the turns
    assert result.t[-1] == pytest.approx(2.5 * np.pi, abs=1e-7)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (dict(joint="X"), "no joint is called 'X'"),
        (dict(joint="R", what="displacement"), "joint 'R' .* has 'angle'"),
        (dict(joint="S"), "joint 'S' .* has neither"),
        (dict(joint="U", number=3), "has 2 of 'angle', from 1"),
        (dict(joint="R", zero=np.nan), "must be a finite number"),
        (dict(joint="R", derivative=2), "a state has no accelerations"),
    ],
)
def test_wrong_arguments(options, match):
    with pytest.raises(mbd.UsageError, match=match):
        mbd.JointCoordinate(slider_crank(), **options)


@pytest.fixture
def rotor():
    """A wheel that speeds up and slows down, and turns about ten times in 8 s."""
    system = mbd.System("rotor", gravity=(0, 0, 0))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 8.0)))
    system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Torque("motor", wheel, torque=lambda t: (0.0, 0.0, 0.2 * np.sin(t))))  # angle 9 t - sin t
    return system


@pytest.mark.slow
def test_an_event_after_ten_turns_without_a_spring(rotor):
    target = 20.0 * np.pi
    exact = 7.0
    for _ in range(60):  # of 9 t - sin t = target, by Newton's method
        exact -= (9.0 * exact - np.sin(exact) - target) / (9.0 - np.cos(exact))
    passes = mbd.Event("half", mbd.JointCoordinate(rotor, "pin", zero=np.pi))
    stop = mbd.Event("stop", mbd.JointCoordinate(rotor, "pin", zero=target), terminal=True)
    for options in (dict(integrator=PRECISE), dict(integrator=PRECISE, t_eval=[0.0, 1.0])):
        result = mbd.simulate(rotor, 8.0, events=[passes, stop], **options)
        assert [event.name for event in result.events] == ["half", "stop"]  # once, and not at every turn
        assert all(event.jump == 0.0 for event in result.events)
        assert result.events[-1].t == pytest.approx(exact, abs=FINE)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"store_every": 40}, {"t_eval": [0.0, 3.3, 8.0]}], ids=["all", "few", "given"])
def test_a_sensor_counts_all_turns_whatever_is_stored(rotor, options):
    sensor = mbd.Sensor("angle", mbd.JointCoordinate(rotor, "pin", zero=1.0), unit="rad")
    result = mbd.simulate(rotor, 8.0, integrator=PRECISE, sensors=[sensor], **options)
    np.testing.assert_allclose(result.sensor("angle").value, 9.0 * result.t - np.sin(result.t) - 1.0, rtol=0.0, atol=FINE)
    again = mbd.simulate(rotor, 0.1, h=5e-3, sensors=[sensor])  # a run begins anew
    assert again.sensor("angle").value[0] == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.slow
def test_turns_go_on_over_impacts():
    """A ball on a swing hits a wall; a wheel beside it turns on."""
    system = mbd.System("wheel and ball", gravity=(0, 0, -9.81))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 9.0)))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(2.0, 0, 0.5)))
    system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    floor = mbd.Contact("floor", system.ground, ball, point=ball.r, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.6)
    sensor = mbd.Sensor("angle", mbd.JointCoordinate(system, "pin"))
    result = simulate_with(system, 2.0, contacts=[floor], integrator=PRECISE, sensors=[sensor])
    assert len(result.impacts) > 2
    np.testing.assert_allclose(result.sensor("angle").value, 9.0 * result.t, rtol=0.0, atol=FINE)
    np.testing.assert_allclose(result.joint("pin").angle, 9.0 * result.t, rtol=0.0, atol=FINE)


def test_a_driver_alone_knows_the_turns():
    system = mbd.System("crank")
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.2, 0.2)))
    pin = system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("drive", pin, lambda t: 30.0 * t))
    model = system.compile()
    angle = mbd.JointCoordinate(model, "pin")
    state = mbd.kinematics(model, [1.0]).state()
    assert angle(1.0, state) == pytest.approx(30.0, abs=1e-12 * 30.0)


def test_turns_that_cannot_be_counted_are_told():
    system = mbd.System("rotor", gravity=(0, 0, 0))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.2)))
    system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Torque("motor", wheel, torque=lambda t: (0.0, 0.0, 300.0 * np.sin(25.0 * t))))
    stop = mbd.Event("stop", mbd.JointCoordinate(system, "pin", zero=1000.0))
    with pytest.raises(
        mbd.SimulationError, match=r"event 'stop' raises UsageError: joint 'pin' turns by about .* Give a smaller h"
    ):
        mbd.simulate(system, 2.0, h=0.25, events=[stop])
