"""Setpoints of a PID controller as functions of time: expressions with parameters of the system, and splines."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ

H, T_END = 1e-2, 0.3
TEXT = "amplitude * sin(3 * t)"


def controlled(setpoint, **parameters):
    system = mbd.System("controlled", gravity=(0, 0, -9.81), parameters=parameters)
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    pid = system.add(mbd.PID("pid", "pin.angle", setpoint, kp=80.0, ki=60.0, kd=15.0, tau=0.01))
    system.add(mbd.Motor("motor", pin, torque=pid["out"]))
    return system


def angle(system):
    return mbd.simulate(system, T_END, h=H).joint("pin").angle


@pytest.fixture(scope="module")
def by_function():
    return angle(controlled(lambda t: 0.4 * np.sin(3.0 * t)))


def test_an_expression_is_the_function_of_its_text(by_function):
    np.testing.assert_allclose(angle(controlled(mbd.Expression(TEXT), amplitude=0.4)), by_function, rtol=0.0, atol=1e-14)
    own = mbd.Expression(TEXT, parameters={"amplitude": 0.4})
    np.testing.assert_allclose(angle(controlled(own)), by_function, rtol=0.0, atol=1e-14)


def test_a_spline_is_followed(by_function):
    t = np.linspace(0.0, 0.4, 41)
    found = angle(controlled(mbd.QuinticSpline(t, 0.4 * np.sin(3.0 * t))))
    np.testing.assert_allclose(found, by_function, rtol=0.0, atol=1e-6)  # of the spline between its points


def test_a_setpoint_moves_in_every_method(by_function):
    result = mbd.simulate(controlled(mbd.Expression(TEXT), amplitude=0.4), T_END, integrator=mbd.RadauIIA(rtol=1e-8))
    assert result.joint("pin").angle[-1] == pytest.approx(by_function[-1], abs=1e-4)  # of RK4 with h = 0.01


def test_it_is_saved_loaded_copied_and_pickled(by_function, tmp_path):
    system = controlled(mbd.Expression(TEXT), amplitude=0.4)
    loaded = mbd.load_model(system.save(tmp_path / "controlled.json"))
    assert loaded.blocks[0].setpoint.text == TEXT
    for again in (loaded, copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        np.testing.assert_allclose(angle(again), by_function, rtol=0.0, atol=1e-14)
    spline = mbd.QuinticSpline(np.linspace(0.0, 0.4, 9), 0.1 * np.sin(np.linspace(0.0, 3.0, 9)))
    again = mbd.load_model(controlled(spline).save(tmp_path / "spline.json"))
    np.testing.assert_array_equal(angle(again), angle(controlled(spline)))


def test_a_batch_varies_the_parameters_of_a_setpoint():
    values = [0.1, 0.4]
    batch = mbd.batch(controlled(mbd.Expression(TEXT), amplitude=0.2).compile(), parameters={"amplitude": values}, threads=1)
    runs = batch.simulate(T_END, h=H)
    for run, value in zip(runs, values, strict=True):
        np.testing.assert_array_equal(run.joint("pin").angle, angle(controlled(mbd.Expression(TEXT), amplitude=value)))


def test_what_is_no_setpoint_is_refused():
    with pytest.raises(mbd.ModelError, match="Block|PID 'pid': the expression .* reads 'amplitude', which is not a parameter"):
        controlled(mbd.Expression(TEXT)).compile()
    for wrong in (mbd.Sensor("x", lambda t, state: 0.0), None, [1.0]):
        with pytest.raises(mbd.ModelError, match="setpoint is .*Give a number, the name of a signal, or a function of t"):
            controlled(wrong).compile()
