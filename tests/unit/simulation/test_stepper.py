"""Stepper: the bits of one simulate, inputs that are held, outputs that a Result has, and refusals by name."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import GALLERY, bouncing_toy, four_bar, governor, pendulum, slider_crank
from joints import RJ, TJ, RotationDriver

H = 1e-3


def arm(n=3, torque=0.0):
    """A chain of rods with a motor in its first joint and a torque on its last rod;  torque: a number, or a sampled block."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    if isinstance(torque, mbd.Sampled):
        torque = system.add(torque)["out"]
    before = system.ground
    for k in range(n):
        rod = system.add(mbd.Body(f"rod {k}", 1.0 + 0.1 * k, (0.01, 0.1, 0.1), r=(k + 0.5, 0, 0)))
        pin = system.add(RJ(f"pin {k}", before, rod, point=(k, 0, 0), axis=(0, 1, 0)))
        if k == 0:
            system.add(mbd.Motor("motor", pin, torque=torque))
        before = rod
    system.add(mbd.Torque("tip", before, torque=(0.0, 0.0, 0.0)))
    return system


def states(stepper, n, inputs=None):
    found = [stepper.state.y]
    for k in range(n):
        stepper.step(None if inputs is None else inputs[k])
        found.append(stepper.state.y)
    return np.array(found)


SMOOTH = [make for make in GALLERY if make is not governor and not make().contacts]  # a Stepper takes no rigid contacts


@pytest.mark.slow
@pytest.mark.parametrize("make", SMOOTH, ids=lambda make: make.__name__)
def test_steps_have_the_bits_of_one_simulate(make):
    model = make().compile()
    whole = mbd.simulate(model, 20 * H, h=H)
    assert np.array_equal(states(mbd.Stepper(model, h=H), 20), whole.y)


@pytest.mark.parametrize(
    "method", [mbd.RK3(), mbd.Heun(), mbd.RKMK4(), mbd.SemiImplicitEuler(), mbd.HEM4(), mbd.RATTLE()], ids=repr
)
def test_every_method_of_fixed_step_has_the_bits_of_one_simulate(method):
    model = pendulum().compile() if isinstance(method, mbd.RATTLE) else four_bar().compile()
    whole = mbd.simulate(model, 12 * H, h=H, integrator=method)
    assert np.array_equal(states(mbd.Stepper(model, h=H, integrator=method), 12), whole.y)


@pytest.mark.parametrize("stabilization", [None, mbd.Baumgarte(5.0, 5.0), mbd.Projection(every=3)], ids=repr)
def test_every_stabilization_has_the_bits_of_one_simulate(stabilization):
    model = slider_crank().compile()
    whole = mbd.simulate(model, 12 * H, h=H, stabilization=stabilization)
    assert np.array_equal(states(mbd.Stepper(model, h=H, stabilization=stabilization), 12), whole.y)


def test_many_steps_in_one_call_are_the_same_steps():
    model = arm().compile()
    one, many = (mbd.Stepper(model, h=H, outputs=["pin 2.angle", "rod 1.v"]) for _ in range(2))
    for _ in range(60):
        one.step()
    many.step(n=1)
    many.step(n=59)
    assert np.array_equal(one.state.y, many.state.y)
    assert np.array_equal(one.outputs, many.outputs)
    assert one.t == many.t


def test_inputs_are_those_of_a_sampled_block_of_the_same_period():
    """A block that holds its values for a step is what a Stepper does: the same bits, at every change of the inputs."""
    u = np.round(np.random.default_rng(5).normal(size=40), 3)
    whole = mbd.simulate(arm(torque=mbd.Sampled("u", H, lambda t, signals: u[min(round(t / H), 39)], inputs=())), 40 * H, h=H)
    found = states(mbd.Stepper(arm(), h=H, inputs=["motor"]), 40, u)
    assert np.array_equal(found, whole.y[:, : found.shape[1]])


def test_an_input_that_does_not_change_costs_no_bit():
    model = arm(torque=2.5).compile()
    whole = mbd.simulate(model, 10 * H, h=H)
    stepper = mbd.Stepper(model, h=H, inputs=["motor", "tip"])
    assert np.array_equal(stepper.inputs, [2.5, 0.0, 0.0, 0.0])
    assert np.array_equal(states(stepper, 10, [[2.5, 0, 0, 0]] * 10), whole.y)


def test_inputs_with_equal_values_have_numbers_of_their_own():
    """Constants of one value share a number in the tables: an input moves nothing else that is zero."""
    model = arm(torque=0.0).compile()
    stepper = mbd.Stepper(model, h=H, inputs=["tip"], outputs=["tip.torque", "motor.torque"])
    stepper.step([0.0, 3.0, 0.0])
    assert np.allclose(stepper.outputs, [0.0, 3.0, 0.0, 0.0])
    assert np.abs(mbd.evaluate(model, stepper.state).Phi).max() < 1e-12


def test_values_by_name_change_these_alone():
    stepper = mbd.Stepper(arm(), h=H, inputs=["motor", "tip"])
    stepper.step({"tip[1]": 2.0, "motor": 1.0})
    stepper.step({"tip": (0.0, 0.5, 0.0)})
    assert stepper.input_names == ("motor", "tip[0]", "tip[1]", "tip[2]")
    assert np.array_equal(stepper.inputs, [1.0, 0.0, 0.5, 0.0])


def test_the_acceleration_of_a_driver_is_held_and_its_angle_goes_on():
    system = mbd.System("driven")
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0), omega_bar=(0, 0.3, 0), v=(0, 0, -0.15)))
    pin = system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RotationDriver("drive", pin, lambda t: 0.3 * t))
    stepper = mbd.Stepper(system, h=H, inputs=["drive"], outputs=["pin.angle", "pin.rate", "drive.torque"])
    q, rate = 0.0, 0.3
    for a in (0.0, 4.0, -2.0):
        angle = stepper.step(a, n=100).copy()
        q, rate = q + 0.1 * rate + 0.005 * a, rate + 0.1 * a
        assert angle[:2] == pytest.approx([q, rate], abs=1e-9)
        assert angle[2] == pytest.approx((0.1 + 0.25) * a, abs=1e-9)


def test_names_may_say_of_what_kind_their_part_is():
    short = ["pin 0.angle", "pin 1.force", "rod 0.v", "motor.torque"]
    long = ["joint.pin 0.angle", "reaction.pin 1.force", "body.rod 0.v", "load.motor.torque"]
    one, other = (mbd.Stepper(arm(), h=H, inputs=["motor"], outputs=names) for names in (short, long))
    one.step(3)
    other.step(3)
    assert np.array_equal(one.outputs, other.outputs)
    with pytest.raises(mbd.UsageError, match="there is no reaction 'rod 0.force'"):
        mbd.Stepper(arm(), h=H, outputs=["reaction.rod 0.force"])


def test_outputs_are_those_of_a_result():
    model = slider_crank().compile()
    body, joint = model.body_names[-1], next(name for name, entry in model.joints.items() if isinstance(entry.part, RJ))
    names = [
        f"{body}.r",
        f"{body}.v[0]",
        f"{body}.p",
        f"{body}.v_dot",
        f"{body}.omega",
        f"{joint}.angle",
        f"{joint}.rate",
        f"{joint}.force",
    ]
    stepper = mbd.Stepper(model, h=H, outputs=[*names, "energy.total"])
    given = stepper.outputs
    assert stepper.step(n=37) is given
    whole = mbd.simulate(model, 37 * H, h=H)
    history, coordinate = whole[body], whole.joint(joint)
    own = [history.r[-1], history.v[-1, 0], history.p[-1], history.a[-1], history.omega[-1]]
    own += [coordinate.angle[-1], coordinate.rate[-1], whole.reaction(joint).force[-1]]
    expected = np.concatenate([*map(np.atleast_1d, own)])
    assert np.allclose(given[:-1], expected, rtol=1e-9, atol=1e-9)
    assert len(stepper.output_names) == len(given)


def test_angles_go_through_any_number_of_turns():
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 30.0)))
    system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    stepper = mbd.Stepper(system, h=H, outputs=["axle.angle"])
    assert stepper.step(n=2500)[0] == pytest.approx(75.0, rel=1e-9)


def test_reset_repeats_the_run():
    stepper = mbd.Stepper(arm(), h=H, inputs=["motor"], outputs=["pin 0.angle"])
    first = states(stepper, 8, np.arange(8.0))
    stepper.reset()
    assert stepper.t == 0.0
    assert np.array_equal(stepper.inputs, [0.0])
    assert np.array_equal(states(stepper, 8, np.arange(8.0)), first)
    there = stepper.state
    stepper.step(9.0)
    assert stepper.reset(there) is stepper.outputs
    assert np.array_equal(stepper.state.r, there.r)


def test_a_pickled_stepper_goes_on_with_the_same_bits():
    stepper = mbd.Stepper(arm(), h=H, inputs=["motor", "tip"], outputs=["pin 0.angle", "pin 1.force"])
    stepper.step([1.0, 0.0, 0.2, 0.0], n=5)
    other = pickle.loads(pickle.dumps(stepper))
    for one in (stepper, other):
        one.step(n=3)
        one.step([0.5, 0.0, 0.0, 0.0])
    assert np.array_equal(stepper.state.y, other.state.y)
    assert np.array_equal(stepper.outputs, other.outputs)


def test_steppers_in_threads_do_not_disturb_each_other():
    model = arm().compile()
    alone = mbd.Stepper(model, h=H, inputs=["motor"])
    expected = states(alone, 50, np.linspace(-1.0, 1.0, 50))[-1]
    steppers = [mbd.Stepper(model, h=H, inputs=["motor"]) for _ in range(4)]
    threads = [threading.Thread(target=states, args=(one, 50, np.linspace(-1.0, 1.0, 50))) for one in steppers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one.state.y, expected) for one in steppers)


def bouncing_mass():
    """A mass between two compliant stops: it switches within steps."""
    system = mbd.System("mass")
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("stop", rail, lower=-0.05, upper=0.05, k=1e4, c=5.0))
    return system


def rubbing_pendulum():
    """A pendulum that sticks at its turning points."""
    system = mbd.System("rubbing", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointFriction("brake", pin, mbd.Coulomb(0.4), radius=0.3))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("make", [bouncing_mass, rubbing_pendulum])
def test_steps_with_switches_are_those_of_a_run_that_stops_at_the_same_times(make):
    """A sampled block that nobody reads ends a step at each of its calls, as a Stepper does."""
    system, n, h = make(), 60, 0.01
    found = states(mbd.Stepper(make(), h=h), n)
    system.add(mbd.Sampled("clock", h, lambda t, signals: 0.0, inputs=()))
    whole = mbd.simulate(system, n * h, h=h)
    at = [int(np.flatnonzero(whole.t == t)[-1]) for t in h * np.arange(n + 1.0)]
    assert np.array_equal(found, whole.y[at][:, : found.shape[1]])


def test_error_control_meets_the_ends_of_steps():
    stepper = mbd.Stepper(pendulum(), h=0.05, integrator=mbd.DormandPrince(rtol=1e-10, atol=1e-12))
    stepper.step(n=10)
    whole = mbd.simulate(pendulum(), 0.5, rtol=1e-10, atol=1e-12)
    assert stepper.t == pytest.approx(0.5)
    assert np.abs(stepper.state.y - whole.y[-1]).max() < 1e-8


WRONG = {
    "input": ({"inputs": ["moter"]}, "did you mean 'motor'"),
    "joint as input": ({"inputs": ["pin 0"]}, "no number that could be set"),
    "input twice": ({"inputs": ["motor", "motor"]}, "more than once"),
    "no part": ({"outputs": ["x"]}, "PART.QUANTITY"),
    "quantity of a joint": ({"outputs": ["pin 0.angel"]}, "did you mean 'angle'"),
    "quantity of a body": ({"outputs": ["rod 0.q"]}, "it has r, p, v"),
    "quantity of a load": ({"outputs": ["motor.trque"]}, "torque"),
    "index": ({"outputs": ["rod 0.r[3]"]}, "3 numbers"),
    "no text": ({"outputs": [1]}, "must be names"),
    "method": ({"integrator": mbd.BDF()}, "BDF"),
    "step": ({"h": -1.0}, "positive"),
}


@pytest.mark.parametrize(("given", "words"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused_by_name(given, words):
    with pytest.raises(mbd.UsageError, match="Stepper") as caught:
        mbd.Stepper(arm(), **({"h": H} | given))
    assert words in str(caught.value)


@pytest.mark.parametrize("inputs", [[1.0, 2.0], {"motr": 1.0}, np.nan, "a", None])
def test_wrong_inputs_leave_the_state_as_it_is(inputs):
    stepper = mbd.Stepper(arm(), h=H, inputs=["motor"])
    with pytest.raises(mbd.UsageError, match="Stepper"):
        stepper.step(inputs, n=1 if inputs is not None else 0)
    assert stepper.t == 0.0


def test_rigid_stops_are_refused_by_name():
    system = bouncing_mass()
    system.loads.clear()
    system.add(mbd.JointLimit("hard stop", system.joints[0], lower=-0.05, upper=0.05, restitution=0.5))
    with pytest.raises(mbd.UsageError, match="hard stop"):
        mbd.Stepper(system, h=H)


def test_a_driver_that_breaks_stops_before_the_break():
    system = mbd.System("driven")
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RotationDriver("drive", pin, lambda t: np.where(t > 0.0105, 0.2 + 0.0 * t, 0.0 * t)))
    stepper = mbd.Stepper(system, h=H)
    with pytest.raises(mbd.SimulationError, match="drive"):
        states(stepper, 20)
    assert stepper.t == pytest.approx(0.010)


def test_the_toy_with_python_functions_is_stepped():
    stepper = mbd.Stepper(bouncing_toy(), h=H)
    stepper.step(n=3)
    assert stepper.t == pytest.approx(3 * H)
