"""What a stranger gives to the analyses: arguments of the wrong kind are refused by name, and everything prints in a few lines."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver


def pendulum(f=None, *, driver="motor"):
    """A bar on a pin, driven where f is given."""
    system = mbd.System("pendulum", gravity=(0, -9.81, 0))
    bar = system.add(mbd.Body("bar", 1.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    if f is not None:
        system.add(RotationDriver(driver, pin, f))
    return system, bar, pin


@pytest.mark.slow
@pytest.mark.parametrize("state", ["x", 3, np.zeros(26)])
@pytest.mark.parametrize("analysis", [mbd.mobility, mbd.assemble, mbd.assembly_modes, mbd.equilibrium, mbd.linearize])
def test_a_state_that_is_none(analysis, state):
    with pytest.raises(mbd.UsageError, match="must be a State"):
        analysis(pendulum()[0], state)


@pytest.mark.parametrize("t", ["abc", 1j, [[1], [2, 3]], None, [], [1.0, 0.0], [np.nan]])
@pytest.mark.parametrize("analysis", [mbd.kinematics, mbd.inverse_dynamics])
def test_times_that_are_none(analysis, t):
    with pytest.raises(mbd.UsageError, match=r"\bt\b.*increasing"):
        analysis(pendulum(lambda t: t)[0], t)


def test_holds_that_are_none():
    system, bar, pin = pendulum()
    for hold, words in (
        (3, "3 is neither a body nor a joint"),
        (None, "None is neither a body nor a joint"),
        ("pin", "'pin' is neither a body nor a joint"),
        (mbd.FixedCoordinates(pin, value="x"), "value = 'x' of 'pin' must be one finite number"),
        (mbd.FixedCoordinates(pin, value=np.nan), "value = nan"),
        (mbd.FixedCoordinates(pin, rate=np.inf), "rate = inf"),
        (mbd.FixedCoordinates(bar, "x", value=(1, 2)), "must be one finite number"),
        (mbd.FixedCoordinates(bar, 3), "3 is not a coordinate"),
        (mbd.FixedCoordinates(system.ground, "x", value=1.0), "'ground' is the ground"),
    ):
        with pytest.raises(mbd.UsageError, match="hold: ") as caught:
            mbd.assemble(system, hold=hold)
        assert words in str(caught.value)
    assert mbd.assemble(system, hold=[]).held == ()


def test_weights_and_tolerances_that_are_none():
    system, bar, _ = pendulum()
    for options, words in (
        ({"weights": 3}, "weights = 3 must be a dictionary"),
        ({"weights": [1, 2]}, "must be a dictionary"),
        ({"weights": {bar: "x"}}, "'x' of 'bar' must be a positive number"),
        ({"weights": {bar: np.inf}}, "must be a positive number"),
        ({"tol": "x"}, "tol = 'x' must be a positive number"),
        ({"tol": None}, "tol = None"),
    ):
        with pytest.raises(mbd.UsageError) as caught:
            mbd.assemble(system, **options)
        assert words in str(caught.value)


@pytest.mark.parametrize(("option", "value"), [("starts", "x"), ("starts", 1.5), ("starts", 0), ("seed", "x"), ("seed", -1)])
def test_counts_that_are_none(option, value):
    with pytest.raises(mbd.UsageError, match=f"{option} = .* must be a whole number"):
        mbd.assembly_modes(pendulum()[0], **{option: value})


@pytest.mark.slow
def test_what_an_analysis_returns_prints_in_a_few_lines():
    system, _, pin = pendulum(lambda t: t)
    free = pendulum()[0]
    model = free.compile()
    found = [model, mbd.evaluate(model), mbd.assemble(free), *mbd.assembly_modes(free), mbd.equilibrium(free)]
    found += [mbd.linearize(found[-1]), mbd.kinematics(system, [0.0, 1.0]), mbd.inverse_dynamics(system, [0.0, 1.0])]
    for one in found:
        assert "pendulum" in repr(one)
        assert len(repr(one)) < 400, repr(one)
    assert repr(model) == "Model('pendulum': 1 bodies, 1 joints, 5 rows, 0 loads)"
    assert str(mbd.assembly_modes(free)[0]).endswith(f"with {pin.name!r} held")


@pytest.mark.slow
@pytest.mark.parametrize("f0", [1.0, 2.0, 3.0, pi, -3.0, 4.0, 100.0])
def test_a_driver_that_begins_anywhere_is_led_to(f0):
    """sin(theta - f) = 0 holds half a turn off as well: the pose is the one that the driver asks for."""
    system, _, _ = pendulum(lambda t: f0 + t)
    t = np.linspace(0.0, 1.0, 5)
    result = mbd.kinematics(system, t)
    centre = 0.5 * np.array([np.cos(f0 + t), np.sin(f0 + t), 0.0 * t]).T
    np.testing.assert_allclose(result["bar"].r, centre, atol=1e-12)
    np.testing.assert_allclose(mbd.assemble(system).state.r[1], centre[0], atol=1e-12)


@pytest.mark.slow
def test_a_driver_with_an_apostrophe_is_named_in_full():
    system, _, pin = pendulum(lambda t: pi + t, driver="Watt's motor")
    with pytest.raises(mbd.AssemblyError, match='joint "Watt\'s motor"'):
        mbd.assemble(system, hold=pin)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda t: np.where(t < 1.0, 0.3 * t, 0.3 * t + 1.0), "f of its driver jumps from 0.3 to 1.3 there"),
        (lambda t: np.abs(t - 1.0) - 1.0, "f' of its driver jumps from -1 to 1 there"),
    ],
)
def test_a_driver_that_jumps_is_named_and_no_position_is_called_singular(f, words):
    system, _, _ = pendulum(f)
    with pytest.raises(mbd.SimulationError, match="the motion ends at t = (1|0.99999)") as caught:
        mbd.kinematics(system, [0.0, 0.5, 1.5])
    assert f"joint 'motor': {words}" in str(caught.value)
    assert "singular" not in str(caught.value)
    assert caught.value.result.t.tolist() == [0.0, 0.5]


def test_inverse_dynamics_asks_by_its_own_name():
    with pytest.raises(mbd.UsageError, match="^inverse_dynamics needs as many drivers"):
        mbd.inverse_dynamics(pendulum()[0], [0.0, 1.0])


def four_bar(*drivers):
    """Four hinges, a crank of 1 m upright, and drivers as (joint, f)."""
    points = np.array([(0, 0, 0), (0, 1, 0), (3, 2, 0), (4, 0, 0)], dtype=float)
    system = mbd.System("four-bar")
    centres = (points[:-1] + points[1:]) / 2
    links = [system.add(mbd.Body(name, 1.0, (0.1, 0.2, 0.25), r=r)) for name, r in zip("123", centres, strict=True)]
    bodies = [system.ground, *links, system.ground]
    for k, point in enumerate(points):
        system.add(RJ("ABCD"[k], bodies[k], bodies[k + 1], point=point, axis=(0, 0, 1)))
    for joint, f in drivers:
        system.add(RotationDriver(f"motor {joint}", system[joint], f))
    return system


def test_drivers_that_contradict_each_other_are_named_and_no_joint_is():
    with pytest.raises(mbd.AssemblyError) as caught:
        mbd.kinematics(four_bar(("A", lambda t: t), ("D", lambda t: t)), [0.0, 1.0])
    assert [fault.where for fault in caught.value.faults] == ["joint 'motor A'", "joint 'motor D'"]
    assert "its driver prescribes 1 rad/s at t = 0 s, and the nearest velocities give" in str(caught.value)


@pytest.mark.slow
def test_an_angle_that_a_linkage_does_not_come_to_is_told_with_the_angle():
    """No crank of this four-bar turns by 3 rad: its rocker swings."""
    with pytest.raises(mbd.AssemblyError, match=r"joint 'motor D': its driver gives 3 rad at t = 0 s, and the mechanism comes to"):
        mbd.assemble(four_bar(("D", lambda t: 3.0 + t)))


def test_a_pose_that_does_not_fit_is_sent_to_assemble():
    """The remedy is a program that runs."""
    for system, joint in ((four_bar(("A", lambda t: 0.3 + t)), "motor A"), (four_bar(), "A")):
        if joint == "A":
            system.add(
                RJ.from_vectors("E", system.ground, (0, 0, 0), (1, 0, 0), (0, 1, 0), system.bodies[1], (0, -0.6, 0), (0, 0, 1))
            )
        with pytest.raises(mbd.ModelError, match=r"mbd\.assemble\(system\)\.model") as caught:
            system.compile()
        assert "  " not in str(caught.value).replace("\n  ", "")
    assert mbd.simulate(mbd.assemble(four_bar(("A", lambda t: 0.3 + t))).model, 0.01, h=1e-3).t[-1] == pytest.approx(0.01)


@pytest.mark.slow
def test_equilibrium_of_a_long_chain_of_any_axes_is_found():
    """Links at random: the joints' reactions carry what hangs below them."""
    random = np.random.default_rng(4)
    system, p, n = mbd.System("chain", gravity=(0, 0, -9.81)), np.zeros(3), 25
    before = system.ground
    for k in range(n):
        step = random.normal(size=3)
        step /= np.linalg.norm(step)
        body = system.add(mbd.Body(f"b{k}", 1.0, (0.05, 0.1, 0.1), r=p + step / 2))
        system.add(RJ(f"j{k}", before, body, point=p, axis=random.normal(size=3)))
        before, p = body, p + step
    found = mbd.equilibrium(system)
    weights = [found.reaction(f"j{k}").force[2] for k in range(n)]
    np.testing.assert_allclose(weights, 9.81 * (n - np.arange(n)), rtol=1e-9)
    assert found.stability is mbd.Stability.STABLE


ANALYSES = [
    *(mbd.assemble, mbd.assembly_modes, mbd.equilibrium, mbd.linearize, mbd.mobility, mbd.evaluate, mbd.verify),
    *((lambda x, f=f: f(x, [0.0])) for f in (mbd.kinematics, mbd.inverse_dynamics)),
]
NAMES = [
    "assemble",
    "assembly_modes",
    "equilibrium",
    "linearize",
    "mobility",
    "evaluate",
    "verify",
    "kinematics",
    "inverse_dynamics",
]


@pytest.mark.parametrize(("analysis", "name"), list(zip(ANALYSES, NAMES, strict=True)), ids=NAMES)
@pytest.mark.parametrize("given", [3, None, "pendulum"])
def test_what_is_no_system_is_refused_by_the_name_of_the_function(analysis, name, given):
    with pytest.raises(mbd.UsageError) as caught:
        analysis(given)
    assert str(caught.value).startswith(f"{name} ")
    for word in (f"{given!r}", "System", "Model"):
        assert word in str(caught.value)


@pytest.mark.parametrize("read", [mbd.load, mbd.load_model, mbd.read_urdf, mbd.read_mjcf, mbd.read_asmt, mbd.read_simengine3d])
@pytest.mark.parametrize("given", [3, None, [1]])
def test_what_is_no_path_is_refused(read, given):
    """`load` raised TypeError."""
    with pytest.raises(mbd.UsageError, match="path is .*, must be the path of a file as str or Path"):
        read(given)
