"""Sensors are recorded with the run, in every kind of result; what fails is told with name and time."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from joints import RJ
from tests.support.with_contacts import simulate_with


def tip(t, state):
    return state.r[1, 2]


def both(t, state):
    return np.array([t, state.v[1, 0]])


SENSORS = [mbd.Sensor("height", tip, unit="m"), mbd.Sensor("both", both)]


@pytest.mark.parametrize("options", [{"h": 1e-2}, {"h": 1e-2, "store_every": 3}, {"rtol": 1e-6, "t_eval": [0.0, 0.1, 0.33]}])
def test_values_are_those_of_the_stored_states(options):
    result = mbd.simulate(pendulum(), 0.4, sensors=SENSORS, **options)
    assert result.sensors == ("height", "both")
    np.testing.assert_array_equal(result.sensor("height").value, result.r[:, 1, 2])
    np.testing.assert_array_equal(result.sensor("both").value, np.stack([result.t, result.v[:, 1, 0]], axis=1))
    np.testing.assert_array_equal(result.sensor("both").t, result.t)
    assert result.sensor("height").unit == "m"


def test_of_chains_and_of_motions_with_impacts():
    chain = mbd.SerialChain([mbd.Link.revolute("wheel", 1.0, (1.0, 1.0, 1.0))])
    reduced = mbd.simulate(chain, 0.1, h=1e-2, sensors=[mbd.Sensor("q", lambda t, state: state.q[0])], tau=[1.0])
    np.testing.assert_array_equal(reduced.sensor("q").value, reduced.q[:, 0])
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.25)))
    floor = mbd.Contact(
        "floor", system.ground, ball, point=(0, 0, 0.25), radius=0.05, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.5
    )
    bounced = simulate_with(system, 0.4, contacts=floor, h=1e-3, sensors=SENSORS)
    np.testing.assert_array_equal(bounced.sensor("height").value, bounced.r[:, 1, 2])


def test_a_sensor_that_fails_stops_the_run_and_keeps_what_is_before():
    def late(t, state):
        return 1.0 if t < 0.205 else [1.0, 2.0]

    with pytest.raises(mbd.SimulationError, match=r"sensor 'late' gives shape \(2,\) at t = 0.21 s, and \(\) before") as caught:
        mbd.simulate(pendulum(), 1.0, h=1e-2, sensors=[mbd.Sensor("late", late)])
    assert len(caught.value.result.sensor("late").value) == len(caught.value.result) == 21
    with pytest.raises(mbd.SimulationError, match=r"sensor 'x' raises ZeroDivisionError: .* \(at t = 0 s\)"):
        mbd.simulate(pendulum(), 1.0, h=1e-2, sensors=[mbd.Sensor("x", lambda t, state: 1 / 0)])
    with pytest.raises(mbd.SimulationError, match="sensor 'x' gives 'text'"):
        mbd.simulate(pendulum(), 1.0, h=1e-2, sensors=[mbd.Sensor("x", lambda t, state: "text")])


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (tip, "must be a list of Sensor objects"),
        (SENSORS[0], "must be a list of Sensor objects"),
        ([tip], "which is not a Sensor"),
        ([mbd.Sensor("", tip)], "give it a name"),
        ([mbd.Sensor("a", 3)], "must be a function"),
        ([SENSORS[0], SENSORS[0]], "'height' names more than one sensor"),
    ],
)
def test_wrong_sensors_are_refused(wrong, match):
    with pytest.raises(mbd.UsageError, match=match):
        mbd.simulate(pendulum(), 0.1, h=1e-2, sensors=wrong)


def test_unknown_names():
    result = mbd.simulate(pendulum(), 0.1, h=1e-2, sensors=SENSORS)
    with pytest.raises(
        mbd.UsageError, match=r"no sensor is called 'hight'; the sensors are 'height', 'both' \(did you mean 'height'"
    ):
        result.sensor("hight")
    with pytest.raises(mbd.UsageError, match="no sensor is called 'height'; there are no sensors"):
        result.resample([0.05]).sensor("height")


@pytest.mark.parametrize("t_eval", [None, [0.0, 0.1, 0.15, 0.2, 0.25]], ids=["steps", "t_eval"])
def test_sensors_are_called_at_the_states_behind_calls_of_blocks_and_jumps_of_delays(t_eval):
    """They had the values before the calls, beside states after them."""
    system = mbd.System("held", gravity=(0, 0, 0))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 2.0)))
    pin = system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Sampled("law", 0.1, lambda t, s: np.sin(5.0 * t) - s["pin.rate"]))
    late = system.add(mbd.DelayLine("late", "law.out", 0.05))
    system.add(mbd.Motor("motor", pin, torque=late["out"]))
    angles = mbd.Sensor("angles", lambda t, state: np.array(state.angles))
    result = mbd.simulate(system, 0.25, h=1e-2, sensors=[angles], t_eval=t_eval)
    np.testing.assert_array_equal(result.sensor("angles").value, result.angles)
    assert len(np.unique(result.angles[:, -1])) == 2  # the delay has jumped


def bouncing():
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.25)))
    system.add(mbd.Contact("floor", system.ground, ball, point=(0, 0, 0.25), radius=0.05, normal=(0, 0, 1), plane_point=(0, 0, 0)))
    return system


RUNS = {
    "fixed steps": (pendulum, {"h": 1e-2}),
    "error control": (pendulum, {"rtol": 1e-6, "t_eval": np.linspace(0.0, 0.3, 7)}),
    "impacts": (bouncing, {"h": 1e-2}),
    "chain": (lambda: mbd.SerialChain([mbd.Link.revolute("wheel", 1.0, (1.0, 1.0, 1.0))]), {"h": 1e-2, "tau": [1.0]}),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_numbers_that_are_not_finite_are_told_by_name_and_time(run, value):
    make, options = RUNS[run]
    late = mbd.Sensor("ratio", lambda t, state: [1.0, value if t > 0.199 else t])
    with pytest.warns(mbd.RunWarning, match=f"sensor 'ratio' gives {value} at t = 0.2 s, and no finite number at .* stored states"):
        result = mbd.simulate(
            make(), 0.3, sensors=[late, mbd.Sensor("t", lambda t, state: t), mbd.Sensor("none", lambda t, state: [])], **options
        )
    told = [text for text in result.warnings if "sensor" in text]
    assert len(told) == 1
    assert f"{(result.t > 0.199).sum()} of {len(result.t)} stored states" in told[0]
