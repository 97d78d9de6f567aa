"""An exception of a user's function keeps its type, and a note names the part and the time; what is no finite number is refused by name."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver


def pendulum():
    system = mbd.System("pendulum")
    bar = system.add(mbd.Body("bar", mass=1.0, J_bar=(0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    return system, bar, system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))


def late(error_or_value):
    """Return a function of time that fails from 0.05 s on."""

    def f(t, *others):
        if float(getattr(t, "f", t)) < 0.05:
            return 0.0
        if isinstance(error_or_value, Exception):
            raise error_or_value
        return error_or_value

    return f


def in_point_force(f):
    system, bar, _ = pendulum()
    system.add(mbd.PointForce("culprit", bar, point=(0.5, 0, 0), force=lambda t: (f(t), 0, 0)))
    return system


def in_motor(f):
    system, _, pin = pendulum()
    system.add(mbd.Motor("culprit", pin, torque=lambda t, angle, speed: f(t)))
    return system


def in_joint_force(f):
    system, _, pin = pendulum()
    system.add(mbd.JointForce("culprit", pin, lambda t, q, qd: f(t)))
    return system


def in_spring(f):
    system, bar, _ = pendulum()
    system.add(
        mbd.TSDA("culprit", system.ground, bar, point_i=(0, 0, 2), point_j=(1, 0, 0), k=1.0, l0=1.0, actuator=lambda t, l, v: f(t))
    )
    return system


def in_driver(f):
    system, _, pin = pendulum()
    system.add(RotationDriver("culprit", pin, f))
    return system


def in_block(f):
    system, _, pin = pendulum()
    block = system.add(mbd.Block("culprit", 0.0, derivative=lambda t, x, signals: f(t), outputs={"u": lambda t, x, signals: x[0]}))
    system.add(mbd.JointForce("push", pin, block["u"]))
    return system


def in_output(f):
    system, _, pin = pendulum()
    block = system.add(mbd.Block("culprit", outputs={"u": lambda t, x, signals: f(t)}))
    system.add(mbd.JointForce("push", pin, block["u"]))
    return system


def in_sampled(f):
    system, _, pin = pendulum()
    block = system.add(mbd.Sampled("culprit", 0.02, lambda t, signals: f(t)))
    system.add(mbd.JointForce("push", pin, block["out"]))
    return system


PLACES = (in_point_force, in_motor, in_joint_force, in_spring, in_driver, in_block, in_output, in_sampled)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"h": 1e-2}, {"rtol": 1e-6}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize(
    "error", [ZeroDivisionError("division by zero"), KeyError("missing"), ValueError("mine")], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("place", PLACES)
def test_an_exception_is_named(place, error, options):
    with pytest.raises(type(error)) as raised:
        mbd.simulate(place(late(error)), 0.2, **options)
    notes = " ".join(raised.value.__notes__)
    assert "'culprit'" in notes
    assert "t = 0.0" in notes
    assert raised.value.result.t[-1] < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("value", [np.nan, np.zeros((2, 2)), 1j, "text", None], ids=["nan", "shape", "complex", "text", "none"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_number_is_refused_by_name(place, value):
    with pytest.raises(mbd.SimulationError, match=r"(?s)'culprit'.*t = 0\.0"):
        mbd.simulate(place(late(value)), 0.2, h=1e-2)


def test_build_and_objective_are_named():
    def build(m):
        system, _, _ = pendulum()
        if m > 5.0:
            raise KeyError("no such part")
        return system

    with pytest.raises(KeyError) as raised:
        mbd.gradient(build, {"m": 6.0}, "joint.pin.angle", t_end=0.1, h=1e-2)
    assert "build(m=6.0)" in raised.value.__notes__[0]
