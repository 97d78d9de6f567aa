"""A result accepts no model whose laws differ: a file, a run that is joined, a reference, a store of a batch."""

from __future__ import annotations

import os

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver


def pendulum():
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    return system, bob, pin


def state_law(k):
    system, bob, _ = pendulum()
    gain = np.array([0.0, k])
    system.add(mbd.Torque("motor", bob, torque=lambda t, r, p, v, omega_bar: (0.0, gain[1] * np.cos(t), 0.0)))
    return system


def constant(k):
    system, bob, _ = pendulum()
    system.add(mbd.Torque("motor", bob, torque=(0.0, k, 0.0)))
    return system


def law_of_time(k):
    system, bob, _ = pendulum()
    system.add(mbd.Torque("motor", bob, torque=(0.0, np.sin if k == 2 else np.cos, 0.0)))
    return system


def expression(k):
    system, bob, _ = pendulum()
    system.add(mbd.Torque("motor", bob, torque=(0.0, mbd.Expression("sin(2 * t)" if k == 2 else "cos(2 * t)"), 0.0)))
    return system


def driver_with_a_branch(k):
    system, _, pin = pendulum()
    system.add(RotationDriver("motor", pin, lambda t: 0.0 * t if t < 10 else k * t))
    return system


def spring_with_actuator(k):
    system, bob, pin = pendulum()
    system.add(mbd.RSDA("motor", pin, k=1.0, theta0=0.0, actuator=Law(k)))
    return system


def motor_curve(k):
    system, _, pin = pendulum()
    system.add(mbd.Motor("motor", pin, torque=lambda t, angle, speed: k - speed))
    return system


def block(k):
    system, bob, _ = pendulum()
    part = system.add(mbd.Block("motor", 0.0, derivative=lambda t, x, s: -k * x, outputs={"u": lambda t, x, s: 1.0 + x[0]}))
    system.add(mbd.JointForce("push", [system["pin"]], part["u"]))
    return system


def gains(k):
    system, _, pin = pendulum()
    part = system.add(mbd.PID("motor", "pin.angle", setpoint=0.0, kp=k, ki=0.0, kd=0.0))
    system.add(mbd.JointForce("push", [pin], part["out"]))
    return system


class Law:
    """A callable object."""

    def __init__(self, k):
        self.table = {"k": [k]}

    def __call__(self, t, theta, theta_dot):
        return self.table["k"][0] * theta


LAWS = (
    state_law, constant, law_of_time, expression, driver_with_a_branch, spring_with_actuator, motor_curve, block, gains,
)  # fmt: skip


def run(system, t_end=0.05, **options):
    return mbd.simulate(system, t_end, h=1e-2, **options)


@pytest.mark.slow
@pytest.mark.parametrize("make", LAWS, ids=lambda make: make.__name__)
def test_a_model_with_another_law_is_refused(make, tmp_path):
    first, path = run(make(2.0)), tmp_path / "run.npz"
    first.save(path)
    loaded = mbd.load(path, model=make(2.0).compile())
    assert loaded.model.name == "pendulum"
    for read in (
        lambda other: mbd.load(path, model=other.compile()),
        lambda other: first.join(run(other, 0.1, state=first.state())),
    ):
        with pytest.raises(mbd.UsageError, match=r"another model: .*motor'"):
            read(make(3.0))
    assert len(first.join(run(make(2.0), 0.1, state=first.state()))) == 11
    with pytest.raises(mbd.UsageError, match=r"no reference possible: .*motor'"):
        mbd.compare(make(3.0), [mbd.Method(integrator=mbd.RK4(h=1e-2))], 0.05, reference=first)


@pytest.mark.slow
def test_a_loaded_result_that_is_joined_keeps_its_law(tmp_path):
    first = run(state_law(2.0))
    first.save(tmp_path / "run.npz")
    loaded = mbd.load(tmp_path / "run.npz")
    assert not loaded.has_model  # a lambda is in no file
    with pytest.raises(mbd.UsageError, match=r"another model: the law of Torque 'motor'"):
        loaded.join(run(state_law(3.0), 0.1, state=first.state()))
    loaded.save(tmp_path / "again.npz")
    with pytest.raises(mbd.UsageError, match=r"another model: the law of Torque 'motor'"):
        mbd.load(tmp_path / "again.npz", model=state_law(3.0).compile())


@pytest.mark.slow
def test_a_law_that_cannot_be_compared_is_said(tmp_path):
    with open(os.devnull, "w") as log:

        def make():
            system, bob, _ = pendulum()
            system.add(mbd.Torque("motor", bob, torque=lambda t, r, p, v, omega_bar: (0.0, 0.0 * log.write("x"), 0.0)))
            return system

        system = make()
        first = run(system)
        assert len(first.join(run(system, 0.1, state=first.state()))) == 11  # the same function
        first.save(tmp_path / "run.npz")
        with pytest.warns(
            UserWarning, match=r"the laws of Torque 'motor' \(it reads log: a _io.TextIOWrapper\) cannot be compared"
        ):
            mbd.load(tmp_path / "run.npz", model=system.compile())


@pytest.mark.slow
@pytest.mark.parametrize("make", [state_law, law_of_time, spring_with_actuator, gains], ids=lambda make: make.__name__)
def test_a_batch_with_another_law_does_not_continue_a_store(make, tmp_path):
    def go(k):
        return mbd.batch(make(k), parameters={"bob.mass": [1.0, 2.0]}).simulate(0.05, h=1e-2, store=tmp_path / "runs")

    first, again = go(2.0), go(2.0)
    assert all((first[k].y == again[k].y).all() for k in range(2))
    with pytest.raises(mbd.UsageError, match="another batch, of another model, other laws"):
        go(3.0)


def test_a_batch_refuses_a_law_that_cannot_be_compared(tmp_path):
    system, bob, _ = pendulum()
    with open(os.devnull, "w") as log:
        system.add(mbd.Torque("motor", bob, torque=lambda t, r, p, v, omega_bar: (0.0, 0.0 * log.write("x"), 0.0)))
        batch = mbd.batch(system, parameters={"bob.mass": [1.0]})
        with pytest.raises(mbd.UsageError, match=r"reads .*log: a _io.TextIOWrapper.*Give version="):
            batch.simulate(0.01, h=1e-2, store=tmp_path / "runs")
        assert batch.simulate(0.01, h=1e-2, store=tmp_path / "runs", version="1").success.all()


@pytest.mark.parametrize("model", ["pendulum", 3, mbd.System("other")], ids=["text", "number", "system"])
def test_a_model_that_is_none_is_refused_before_the_file_is_read(model, tmp_path):
    with pytest.raises(mbd.UsageError, match="must be the compiled Model of the run"):
        mbd.load(tmp_path / "run.npz", model=model)
