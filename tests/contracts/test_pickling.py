"""Systems, models and results go to other processes, with functions of a module; what cannot go is named, and errors keep their message."""

from __future__ import annotations

import copy
import pickle

import numba
import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver


def push(t):
    return (np.sin(t), 0.0 * t, 1.0 + 0.0 * t)


def push_by_state(t, r, p, v, omega_bar):
    return (0.0, 0.0, 1.0 - v[2])


def f(t):
    return 0.5 * t**2


def f_dot(t):
    return 1.0 * t


def f_ddot(t):
    return 1.0


def f_python(t):
    return 0.5 * t**2 if t < 1.0 else 1.0 * t - 0.5


def motor(t, theta, theta_dot):
    return -0.1 * theta_dot


fast_motor = numba.njit(cache=True)(motor)


ELEMENTS = {
    "nothing": (),
    "force": (lambda link, pin: mbd.PointForce("push", link, force=push),),
    "force of the state": (lambda link, pin: mbd.PointForce("push", link, force=push_by_state),),
    "torque": (lambda link, pin: mbd.Torque("twist", link, torque=push),),
    "motor": (lambda link, pin: mbd.RSDA("motor", pin, actuator=motor),),
    "compiled motor": (lambda link, pin: mbd.RSDA("motor", pin, actuator=fast_motor),),
    "driver": (lambda link, pin: RotationDriver("drive", pin, f),),
    "three functions": (lambda link, pin: RotationDriver("drive", pin, (f, f_dot, f_ddot)),),
    "driver in Python": (lambda link, pin: RotationDriver("drive", pin, f_python),),
}


def swing(*parts):
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    link = system.add(mbd.Body("link", 2.0, (0.1, 0.3, 0.3), r=(1.0, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    for part in parts:
        system.add(part(link, pin))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("parts", ELEMENTS.values(), ids=ELEMENTS)
def test_system_model_and_result_come_back_as_they_were(parts):
    system = swing(*parts)
    result = mbd.simulate(system, 0.02, h=0.01)
    for given in (system, result.model):
        again = mbd.simulate(pickle.loads(pickle.dumps(given)), 0.02, h=0.01)
        np.testing.assert_array_equal(again.y, result.y)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.y, result.y)
    np.testing.assert_array_equal(again.lam, result.lam)


LAMBDAS = {
    "PointForce 'push'": lambda link, pin: mbd.PointForce("push", link, force=lambda t: (0.0, 0.0, 1.0)),
    "RSDA 'motor'": lambda link, pin: mbd.RSDA("motor", pin, actuator=lambda t, theta, theta_dot: -theta_dot),
    "joint 'drive'": lambda link, pin: RotationDriver("drive", pin, lambda t: 0.5 * t**2),
}


@pytest.mark.parametrize("where", LAMBDAS)
def test_a_lambda_is_named_with_its_element_and_the_remedy(where):
    system = swing(LAMBDAS[where])
    for given in (system, system.compile(), mbd.simulate(system, 0.02, h=0.01)):
        with pytest.raises(pickle.PicklingError, match=rf"{where} .*<lambda>.*write each with def at the top of a module"):
            pickle.dumps(given)


def test_errors_keep_their_message_and_their_states_where_the_model_stays_behind():
    """The user's own error, and one of haugmbd's."""

    def mistake(t, r, p, v, w):
        if t > 0.015:
            raise ZeroDivisionError("my own mistake")
        return (0.0, 0.0, 0.0)

    for force, words in ((mistake, "my own mistake"), (lambda t, r, p, v, w: (0.0, 0.0, 0.0) if t < 0.015 else None, "'push'")):
        with pytest.raises((ZeroDivisionError, mbd.SimulationError), match=words) as caught:
            mbd.simulate(swing(lambda link, pin, force=force: mbd.PointForce("push", link, force=force)), 0.05, h=0.01)
        error = pickle.loads(pickle.dumps(caught.value))
        assert type(error) is type(caught.value)
        assert str(error) == str(caught.value)
        assert not error.result.has_model
        np.testing.assert_array_equal(error.result.y, caught.value.result.y)
        assert any("was left behind" in sentence and "'push'" in sentence for sentence in error.result.warnings)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))], ids=["copy", "pickle"])
def test_a_run_of_a_chain_keeps_its_quantities(copied):
    """Without wrenches, which were taken for wrenches of no link."""
    result = mbd.simulate(mbd.random_chain(3, 1), 0.02, h=0.01)
    again = copied(result)
    np.testing.assert_array_equal(again.qdd, result.qdd)
    np.testing.assert_array_equal(again.energy().drift, result.energy().drift)
    np.testing.assert_array_equal(again.maximal().y, result.maximal().y)


def sine(t):
    return 0.5 * np.sin(3.0 * t)


def sine_dot(t):
    return 1.5 * np.cos(3.0 * t)


def wrong_ddot(t):
    return 4.5 * np.sin(3.0 * t)


def test_a_wrong_derivative_is_found_after_pickling_too():
    """It was compared with differences at the start of a run only before."""
    system = swing(lambda link, pin: RotationDriver("drive", pin, (sine, sine_dot, wrong_ddot)))
    for given in (system, copy.deepcopy(system), pickle.loads(pickle.dumps(system)), pickle.loads(pickle.dumps(system.compile()))):
        with pytest.raises(mbd.ModelError, match="'drive': its driver f_ddot is .* and differences of f_dot give"):
            mbd.simulate(given, 0.5, h=0.01, project_velocity=True)
