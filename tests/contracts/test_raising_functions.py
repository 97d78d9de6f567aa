"""Functions of the user that raise in the middle of a run: the error is theirs, it says whose function it was, and the result is kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver
from tests.support.with_contacts import simulate_with

FUSE = 0.05
"""[s] From here on the functions raise."""


class BrokenError(Exception):
    """What the functions raise."""


class Fuse:
    """Stands in a function of time, and raises from FUSE on once it is lit."""

    def __init__(self) -> None:
        self.at = 1e9

    def light(self) -> None:
        self.at = FUSE

    def __call__(self, t: float, value: object) -> object:
        if t >= self.at:
            raise BrokenError("boom")
        return value


Arm = tuple[mbd.System, mbd.Body, mbd.Joint]


def motor(arm: Arm, fuse: Fuse) -> None:
    arm[0].add(mbd.Motor("drive", arm[2], torque=lambda t, q, qd: fuse(t, 1.0)))


def motor_of_time(arm: Arm, fuse: Fuse) -> None:
    arm[0].add(mbd.Motor("drive", arm[2], torque=lambda t: fuse(t, 1.0)))


def joint_force(arm: Arm, fuse: Fuse) -> None:
    arm[0].add(mbd.JointForce("drive", arm[2], lambda t, q, qd: fuse(t, 1.0)))


def actuator(arm: Arm, fuse: Fuse) -> None:
    system, link, _ = arm
    force = lambda t, l, l_dot: fuse(t, 1.0)  # noqa: E731, E741  the names of the documentation
    system.add(mbd.LinearActuator("drive", system.ground, link, point_i=(0, 0, 1), point_j=(1, 0, 0), force=force))


def state_force(arm: Arm, fuse: Fuse) -> None:
    arm[0].add(mbd.StateForce("drive", [arm[1]], force=lambda t, r, p, v, omega_bar: fuse(t, np.zeros((1, 6)))))


def driver(arm: Arm, fuse: Fuse) -> None:
    arm[0].add(RotationDriver("drive", arm[2], (lambda t: fuse(t, 1.0 - np.cos(t)), np.sin, np.cos)))


def derivative(arm: Arm, fuse: Fuse) -> None:
    lag = mbd.Block("drive", 1.0, derivative=lambda t, x, signals: fuse(t, -x), outputs={"out": lambda t, x, signals: x[0]})
    arm[0].add(mbd.Motor("motor", arm[2], torque=arm[0].add(lag)["out"]))


def output(arm: Arm, fuse: Fuse) -> None:
    gain = mbd.Block("drive", outputs={"out": lambda t, x, signals: fuse(t, signals["pin.angle"])})
    arm[0].add(mbd.Motor("motor", arm[2], torque=arm[0].add(gain)["out"]))


def unread_output(arm: Arm, fuse: Fuse) -> None:
    arm[0].add(mbd.Block("drive", outputs={"out": lambda t, x, signals: fuse(t, signals["pin.angle"])}))


def update(arm: Arm, fuse: Fuse) -> None:
    block = arm[0].add(mbd.Sampled("drive", 0.02, lambda t, signals: fuse(t, signals["pin.angle"])))
    arm[0].add(mbd.Motor("motor", arm[2], torque=block["out"]))


def setpoint(arm: Arm, fuse: Fuse) -> None:
    block = arm[0].add(mbd.PID("drive", "pin.angle", lambda t: fuse(t, 0.0), kp=1.0))
    arm[0].add(mbd.Motor("motor", arm[2], torque=block["out"]))


def sensor(arm: Arm, fuse: Fuse) -> None:
    arm[0].add(mbd.Sensor("drive", lambda t, state: fuse(t, 1.0)))


def sensor_of_a_block(arm: Arm, fuse: Fuse) -> None:
    sensor(arm, fuse)
    block = arm[0].add(mbd.Block("gain", outputs={"out": lambda t, x, signals: signals["drive"]}))
    arm[0].add(mbd.Motor("motor", arm[2], torque=block["out"]))


KINDS: dict[str, Callable[[Arm, Fuse], None]] = {
    kind.__name__: kind
    for kind in (
        motor,
        motor_of_time,
        joint_force,
        actuator,
        state_force,
        driver,
        derivative,
        output,
        unread_output,
        update,
        setpoint,
        sensor,
        sensor_of_a_block,
    )
}


def arm_with(kind: str, fuse: Fuse) -> mbd.System:
    system = mbd.System("arm", gravity=(0.0, 0.0, -9.81))
    link = system.add(mbd.Body("link", 1.0, (0.1, 0.1, 0.1), r=(1.0, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    KINDS[kind]((system, link, pin), fuse)
    return system


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.RK4(h=0.01), mbd.GeneralizedAlpha(h=0.01)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_names_the_element_and_keeps_the_result(kind: str, method: mbd.Integrator):
    fuse = Fuse()
    model = arm_with(kind, fuse).compile()
    fuse.light()
    with pytest.raises((BrokenError, mbd.SimulationError)) as caught:
        mbd.simulate(model, 0.2, integrator=method)
    error = caught.value
    assert isinstance(error, BrokenError) or isinstance(error.__cause__, BrokenError)
    told = "\n".join([str(error), *getattr(error, "__notes__", [])])
    assert "'drive'" in told
    assert "boom" in told
    assert FUSE - 0.011 < error.result.t[-1] < FUSE + 0.011
    assert error.result.status is mbd.RunStatus.FAILED
    assert "'drive'" in error.result.message, "the text of a result names the element, too"
    assert "boom" in error.result.message


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["motor", "update", "derivative"])
def test_members_of_a_batch_and_runs_with_impacts_name_the_element(kind: str):
    fuse = Fuse()
    system = arm_with(kind, fuse)
    model = system.compile()
    fuse.light()
    runs = mbd.batch(model, np.stack([model.y0, model.y0])).simulate(0.2, h=0.01)
    assert set(runs.failures) == {0, 1}
    assert all("'drive'" in reason and "boom" in reason for reason in runs.failures.values())
    floor = mbd.Contact("floor", system.ground, system.bodies[1], point=(0, 0, -9), normal=(0, 0, 1), restitution=0.0)
    with pytest.raises(BrokenError) as caught:
        simulate_with(system, 0.2, contacts=[floor], h=0.01)
    assert "'drive'" in caught.value.result.message


def test_sweeps_and_comparisons_name_the_element():
    def build(gain: float) -> mbd.Model:
        fuse = Fuse()
        model = arm_with("motor", fuse).compile()
        fuse.light()
        return model

    table = mbd.sweep(build, {"gain": [1.0]}, lambda model: {"end": mbd.simulate(model, 0.2, h=0.01).t[-1]}, "serial")
    assert "'drive'" in table.rows[0].reason
    compared = mbd.compare(build(1.0), [mbd.Method(integrator=mbd.RK4(h=0.01))], 0.2, reference=False)
    assert "'drive'" in str(compared)
