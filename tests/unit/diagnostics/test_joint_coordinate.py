"""Joint coordinates in events and sensors: the numbers of the histories, located zeros, and wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from joints import RJ


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
