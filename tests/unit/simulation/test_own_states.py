"""A result of states that a user has integrated in a loop of their own, and what is refused as such."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum

H, STEPS = 1e-2, 40
SAME = 1e-9
"""Between two loops of the same steps: rounding of RK4 and of the norms of Euler parameters [m, N of some 1000]."""


@pytest.fixture(scope="module")
def model():
    return double_pendulum().compile()


@pytest.fixture(scope="module")
def states(model):
    """RK4 without stabilization, in Python."""
    f, y = mbd.ode_function(model), model.state().y.copy()
    found = [y]
    for k in range(STEPS):
        t = k * H
        k1 = f(t, y)
        k2 = f(t + H / 2, y + H / 2 * k1)
        k3 = f(t + H / 2, y + H / 2 * k2)
        y = y + H / 6 * (k1 + 2 * k2 + 2 * k3 + f(t + H, y + H * k3))
        for body in range(model.nb + 1):
            p = y[13 * body + 3 : 13 * body + 7]
            p /= np.linalg.norm(p)
        found.append(y)
    return np.array(found)


def test_states_of_a_loop_are_a_result_like_that_of_a_run(model, states, tmp_path):
    own = mbd.Result(model, H * np.arange(STEPS + 1), states)
    run = mbd.simulate(model, H * STEPS, h=H, stabilization=None)
    np.testing.assert_allclose(own.r, run.r, atol=SAME)
    np.testing.assert_allclose(own.violation("position"), run.violation("position"), atol=SAME)
    np.testing.assert_allclose(own.reaction("pin 1").force, run.reaction("pin 1").force, atol=1e3 * SAME)
    np.testing.assert_allclose(own.energy().drift, run.energy().drift, atol=1e3 * SAME)
    assert mbd.load(own.save(tmp_path / "own.npz")).joint("pin 2").angle[-1] == own.joint("pin 2").angle[-1]


def test_times_and_states_may_be_lists(model, states):
    own = mbd.Result(model, [0, H], [list(states[0]), list(states[1])])
    np.testing.assert_array_equal(own.y, states[:2])
    assert own.t.dtype == np.float64
    assert len(own.energy().total) == 2


@pytest.mark.parametrize(
    ("t", "y", "text"),
    [
        (lambda t: t, lambda y: y[:, :5], r"y has the shape \(41, 5\), and 'double pendulum' needs \(41, 39\): a flat state"),
        (lambda t: t, lambda y: y[:-1], r"y has the shape \(40, 39\), .* needs \(41, 39\)"),
        (lambda t: t, lambda y: y[0], r"y has the shape \(39,\)"),
        (lambda t: t[0], lambda y: y, r"t has the shape \(\)"),
        (lambda t: t[::-1], lambda y: y, "times do not increase: t falls from 0.4 s to 0.39 s"),
        (lambda t: np.where(t == t[3], np.nan, t), lambda y: y, "t must be finite, and t = nan s at index 3"),
        (lambda t: t, lambda y: "many", "y must be numbers"),
    ],
)
def test_what_cannot_be_the_states_of_a_motion_is_refused(model, states, t, y, text):
    with pytest.raises(mbd.UsageError, match=text):
        mbd.Result(model, t(H * np.arange(STEPS + 1)), y(states))


def test_a_system_in_place_of_its_model_is_refused(states):
    with pytest.raises(mbd.UsageError, match=r"Result needs a compiled Model, not System.*: give system.compile\(\)"):
        mbd.Result(double_pendulum(), H * np.arange(STEPS + 1), states)


def test_euler_parameters_that_have_drifted_are_not_saved_and_the_error_says_by_how_much(model, states, tmp_path):
    drifted = states.copy()
    drifted[3, 16:20] *= 1.001
    with pytest.raises(mbd.UsageError, match=r"'bar 1' .* at t = 0.03 s: their length must be 1, and differs by 0.001 \(divide p"):
        mbd.Result(model, H * np.arange(STEPS + 1), drifted).save(tmp_path / "drifted.npz")
