"""Parameters of a batch: paths, and all faults at once."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.batches.parameters import variables_of
from tests.support.variants import driven, swinging


@pytest.fixture(scope="module")
def model():
    return swinging().compile()


def test_a_model_has_paths_for_all_that_can_vary(model):
    found = set(variables_of(model))
    assert {
        "gravity",
        "link 1.mass",
        "link 3.J_bar",
        "second.point",
        "second.axis",
        "third.point",
        "coil.theta0",
        "spring.l0",
    } <= found
    assert "third.axis" not in found
    assert {"length", "speed", "bob.mass", "rail.axis"} <= set(variables_of(driven().compile()))


def test_all_faults_are_named_at_once(model):
    n = 4
    given = {
        "link 2.mass": np.ones(n),
        "link 3.mass": np.ones(3),
        "link 1.J_bar": np.ones((n, 2)),
        "lnk 1.mass": np.ones(n),
        "second.pint": np.ones((n, 3)),
        "second.i": np.ones(n),
        "link 1.omega_bar": np.ones((n, 3)),
        "coil.k": ["stiff"] * n,
        "gravity": [[0.0, 0.0, np.inf]] * n,
        3: np.ones(n),
    }
    with pytest.raises(mbd.UsageError) as raised:
        mbd.batch(model, parameters=given)
    text = str(raised.value)
    for part in (
        "'link 3.mass' has 3 values, and the others have 4 members",
        "'link 1.J_bar' has shape (4, 2), and must have (N, 3) or (N, 3, 3)",
        "'lnk 1.mass' is not a parameter of model 'swinging' (did you mean 'link 1.mass'?)",
        "'second.pint' is not a parameter of RJ 'second' (did you mean 'point'?): it has 'point', 'axis'",
        "'second.i' changes the topology",
        "'link 1.omega_bar' belongs to the state",
        "'coil.k' is ['stiff', 'stiff', 'stiff', 'stiff'], and must be an array of numbers of shape (N,)",
        "'gravity' is not finite for member 0 and 3 more",
        "3 is not a path",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "give states=, parameters=, or both"),
        ({"states": np.zeros((0, 53))}, "states and parameters have no members"),
        ({"parameters": {"link 1.mass": []}}, "states and parameters have no members"),
        ({"states": np.zeros(52)}, r"states is of shape \(52,\), and must be numbers of shape \(N, 53\)"),
        ({"states": "all"}, "must be numbers of shape"),
        ({"parameters": {"link 1.mass": 1.0}}, r"'link 1.mass' has shape \(\), and must have \(N,\)"),
        ({"parameters": [1.0]}, "must be a dict of arrays by path"),
        ({"parameters": {"link 1.mass": [1.0, 2.0]}, "t": [0.0, 1.0, 2.0]}, "must be a finite time"),
        ({"parameters": {"link 1.mass": [1.0, 2.0]}, "threads": 0}, "threads = 0 must be a whole number"),
        ({"parameters": {"weight": [1.0]}}, "'weight' is not a parameter of model 'swinging': paths are"),
    ],
)
def test_bad_arguments_are_refused(model, arguments, words):
    with pytest.raises(mbd.UsageError, match=words):
        mbd.batch(model, **arguments)


def test_states_give_the_number_of_members(model):
    with pytest.raises(mbd.UsageError, match="'link 1.mass' has 2 values, and states have 3 members"):
        mbd.batch(model, np.tile(model.y0, (3, 1)), {"link 1.mass": [1.0, 2.0]})


def test_a_system_is_compiled_and_what_is_no_model_is_refused():
    assert len(mbd.batch(swinging(), parameters={"coil.k": [1.0, 2.0]})) == 2
    with pytest.raises(mbd.UsageError, match="batch needs a compiled Model"):
        mbd.batch("model", parameters={"coil.k": [1.0]})


def test_a_member_is_a_model_and_a_state(model):
    batch = mbd.batch(model, parameters={"link 2.mass": [1.0, 4.0], "gravity": [[0, 0, -1.0], [0, 0, -2.0]]})
    member = batch.member_model(1)
    assert member.mass[2] == member.bodies[2].mass == 4.0
    assert member.gravity.tolist() == [0.0, 0.0, -2.0]
    np.testing.assert_array_equal(batch.member_state(1).y, model.y0)
    with pytest.raises(mbd.UsageError, match="member 2: give a number from 0 to 1"):
        batch.member_model(2)
    assert "2 members, 'link 2.mass', 'gravity'" in repr(batch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [joints.Cam, joints.CoordinateFunction])
def test_a_named_parameter_is_that_of_profiles_too(kind):
    """The profile and the motor read the same parameter: both follow it, as in a system that is built with the value."""

    def built(a):
        system = mbd.System("cam", gravity=(1.3, -2.0, -9.81), parameters={"a": a})
        arm = system.add(mbd.Body("arm", 1.3, (0.1, 0.2, 0.25), r=(0.4, 0.05, 0.1)))
        slide = system.add(mbd.Body("slide", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
        pin = system.add(joints.RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0.3, 1, 0.2)))
        rail = system.add(joints.TJ("rail", arm, slide, point=(0.5, 0, 0), axis=(1, 0, 0.3)))
        profile = mbd.Expression("0.1 * a * (1 - cos(t))", parameters={"a": a})
        system.add(kind("cam", pin, rail, profile))
        system.add(mbd.Motor("motor", pin, torque=mbd.Expression("a * t")))
        return system

    batch = mbd.batch(built(1.0), parameters={"a": [1.0, 2.0]})
    runs, found = batch.simulate(0.2, h=1e-2), batch.accelerations()
    assert runs.success.all(), runs.failures
    for k, a in enumerate((1.0, 2.0)):
        np.testing.assert_array_equal(runs[k].y, mbd.simulate(built(a), 0.2, h=1e-2).y)
        np.testing.assert_array_equal(found.lam[k], mbd.accelerations(built(a)).lam)
