"""The library's own blocks in compiled code: the same numbers as their functions in Python, in evaluations and in implicit steps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.callbacks import ForceCallbacks
from haugmbd.control.diagram.tables import evaluated, tables_of
from joints import RJ, TJ

SAME = {"rtol": 1e-13, "atol": 1e-13}
"""Rounding: fused multiply-add, another order of sums."""
T_END = 0.12
"""[s] Three calls of the sampled block."""


def arm(*more):
    """A pendulum on a cart with every block of the library that has a table."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1), v=(0.3, 0, 0)))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0), v=(0.3, 0, 0)))
    rail = system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    pin = system.add(RJ("pin", cart, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    strut = system.add(mbd.TSDA("strut", system.ground, rod, point_i=(0, 0, 1), point_j=(1, 0, 0), k=5.0, c=0.1, l0=1.0))
    slow = system.add(mbd.LowPass("slow", "pin.angle", 0.05))
    shaped = system.add(mbd.TransferFunction("shaped", "strut.length", [0.3, 1.0, 2.0], [0.01, 0.2, 1.0]))
    proper = system.add(mbd.TransferFunction("proper", "rail.rate", [1.0, 2.0], [1.0, 3.0, 5.0, 7.0]))
    gain = system.add(mbd.TransferFunction("gain", "shaped.out", [3.0], [2.0]))
    first = system.add(mbd.PID("first", "pin.angle", 0.4, kp=8.0, ki=3.0, kd=0.5, tau=0.02, lower=-2.0, upper=1.5))
    second = system.add(mbd.PID("second", "rail.displacement", "slow.out", kp=8.0, ki=3.0))
    count = system.add(mbd.Sampled("count", 0.05, lambda t, x, signals: x + signals["gain.out"]))
    system.add(mbd.JointForce("torque", [pin], first["out"]))
    system.add(mbd.JointForce("force", [rail], second["out"]))
    for part in more:
        system.add(part)
    return system, (slow, shaped, proper, gain, first, second, count, strut)


def places(model):
    callbacks = model.force_callbacks
    return (
        callbacks.network,
        tables_of(callbacks.network, len(model.y0)),
        np.zeros(callbacks.shapes[1]),
        np.zeros(callbacks.shapes[2]),
    )


def states(model, rng):
    y = model.y0.copy()
    y[13:] += 0.5 * rng.normal(size=len(y) - 13)
    return y


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_rates_outputs_and_implicit_states_are_those_of_the_functions(seed, c):
    model, rng = arm()[0].compile(), np.random.default_rng(seed)
    network, tables, measured, F = places(model)
    y = states(model, rng)
    measured[:] = rng.normal(size=measured.shape)
    if c:
        lines = slice(network.place, network.place + network.size)
        F[lines, 1], F[lines, 2] = rng.normal(size=network.size), c
    own, other, F_own = y.copy(), y.copy(), F.copy()
    assert evaluated(tables, own, measured, F_own)
    network.evaluate(0.1, other, measured, F)
    np.testing.assert_allclose(own, other, rtol=1e-10 if c else 1e-13, atol=1e-10 if c else 0.0)
    np.testing.assert_allclose(F_own, F, rtol=1e-9 if c else 1e-12, atol=1e-9 if c else 1e-12)
    assert np.any(F[[place for place, _ in network.outputs], 0] != 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"h": 1e-3}, {"rtol": 1e-8}, {"h": 2e-3, "integrator": mbd.HHT(alpha=-0.05)}, {"integrator": mbd.BDF()}]
)
def test_runs_are_those_with_the_functions(options, monkeypatch):
    fast = mbd.simulate(arm()[0], T_END, **options)
    monkeypatch.setattr(ForceCallbacks, "_tables", None)
    slow = mbd.simulate(arm()[0], T_END, **options)
    close = 1e-10 if "h" in options else 1e-6  # error control may choose other steps by rounding
    np.testing.assert_allclose(fast.y[-1], slow.y[-1], rtol=0.0, atol=close)


def test_a_value_that_is_not_finite_is_the_error_of_the_functions():
    system, (*_, strut) = arm()
    model = system.compile()
    network, tables, measured, F = places(model)
    y = model.y0.copy()
    y[-network.size] = np.inf
    before, F_before = y.copy(), F.copy()
    assert not evaluated(tables, y, measured, F)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(F[:, 1:], F_before[:, 1:])
    with pytest.raises(mbd.SimulationError, match="not finite|must be a finite number"):
        model.force_callbacks.call(0.0, y, measured, F, np.zeros((model.nb + 1, 6)))


class Twice(mbd.LowPass):
    """A class of the user, whose law may be another."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        mbd.Block("other", 1.0, derivative=lambda t, x, signals: -x),
        mbd.PID("moving", "pin.angle", lambda t: t, kp=1.0),
        mbd.DelayLine("late", "pin.angle", 0.1),
        Twice("twice", "pin.angle", 0.1),
        mbd.Sampled("vector", 0.1, lambda t, x, signals: x, x0=[1.0, 2.0]),
        mbd.LowPass("power", "strut.power", 0.1),
    ],
    ids=lambda block: block.name,
)
def test_other_blocks_have_no_table(block):
    model = arm(block)[0].compile()
    assert tables_of(model.network, len(model.y0)) is None


def test_a_sensor_that_no_block_reads_does_not_matter_and_one_that_is_read_does():
    sensor = mbd.Sensor("height", lambda t, state: state.r[1, 2])
    model = arm(sensor)[0].compile()
    assert tables_of(model.network, len(model.y0)) is not None
    model = arm(sensor, mbd.LowPass("reads", "height", 0.1))[0].compile()
    assert tables_of(model.network, len(model.y0)) is None


def test_a_model_with_tables_is_pickled():
    model = arm_without_calls()
    run = mbd.simulate(model, 0.05, h=1e-2)
    np.testing.assert_array_equal(mbd.simulate(pickle.loads(pickle.dumps(model)), 0.05, h=1e-2).y, run.y)


def arm_without_calls():
    system = mbd.System("plain")
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1), v=(1, 0, 0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    slow = system.add(mbd.LowPass("slow", "rail.rate", 0.1))
    system.add(mbd.JointForce("brake", [rail], slow["out"]))
    return system.compile()


def test_the_length_of_a_linear_actuator_is_measured_as_that_of_a_spring():
    """A ram of 5 N against weight and spring: with the block in a table, and by the functions of `quantities` at the stored states."""
    system = mbd.System("ram", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    slow = system.add(mbd.LowPass("slow", "ram.rate", 0.05))
    long = system.add(mbd.LowPass("long", "ram.length", 0.05))
    system.add(mbd.LinearActuator("ram", system.ground, rod, point_i=(0, 0, 1), point_j=(1, 0, 0), force=5.0))
    system.add(mbd.Torque("brake", rod, torque=(0, slow["out"], 0)))
    system.add(mbd.Torque("more", rod, torque=(0, long["out"], 0)))
    model = system.compile()
    assert tables_of(model.network, len(model.y0)) is not None
    result = mbd.simulate(model, 0.1, h=1e-3)
    ram = result.load("ram")
    for name, signal in (("slow", ram.rate), ("long", ram.length)):
        slope = np.gradient(result.block(name).x[:, 0], result.t, edge_order=2)
        np.testing.assert_allclose(slope[2:-2], ((signal - result.block(name).x[:, 0]) / 0.05)[2:-2], atol=1e-2)
