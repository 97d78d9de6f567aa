"""Blocks: closed forms and SciPy at 1e-12, with every kind of integrator; sampled control against an exact discretization; delays."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, TJ

pytestmark = pytest.mark.slow

REFERENCE = {"rtol": 1e-12, "atol": 1e-14, "method": "DOP853"}
MASS = 2.0
EXACT = 1e-12  # rounding of states of size 1 over some hundred steps, measured 3e-16

METHODS = {  # method, step, error that its order leaves of the loop below, a tenth of the tolerance at most
    "RK4": (None, {"h": 2e-3}, 1e-8),
    "DormandPrince": (None, {"rtol": 1e-10, "atol": 1e-12}, 1e-8),
    "SemiImplicitEuler": (mbd.SemiImplicitEuler(), {"h": 2e-3}, 0.1),
    "HEM4": (mbd.HEM4(), {"h": 2e-3}, 1e-8),
    "RKMK4": (mbd.RKMK4(), {"h": 2e-3}, 1e-8),
    "RATTLE": (mbd.RATTLE(), {"h": 2e-3}, 2e-3),
    "HHT": (mbd.HHT(alpha=-0.05), {"h": 2e-3}, 2e-3),
    "Trapezoidal": (mbd.Trapezoidal(), {"h": 2e-3}, 2e-3),
    "GeneralizedAlpha": (mbd.GeneralizedAlpha(), {"rtol": 1e-7, "atol": 1e-9}, 1e-3),
    "BDF": (mbd.BDF(), {"rtol": 1e-9, "atol": 1e-11}, 1e-5),
    "RadauIIA": (mbd.RadauIIA(), {"h": 1e-2}, 1e-8),
}


def slider(x=0.0, v=1.0):
    """Return a mass on a rail: a double integrator."""
    system = mbd.System("slider")
    mass = system.add(mbd.Body("mass", MASS, (0.1, 0.1, 0.1), v=(v, 0, 0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    assert x == 0.0
    return system, mass, rail


def pendulum():
    """Return a pendulum of 1 kg at 1 m with an inertia of 0.1 kg m2, which hangs along x at the start."""
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    return system, rod, pin


def run(system, method=None, t_end=1.0, **options):
    return mbd.simulate(system, t_end, integrator=method, **options)


def test_step_response_of_a_low_pass_is_exponential():
    system, *_ = slider()
    system.add(mbd.Block("step", outputs={"u": lambda t, x, signals: 1.0}))
    system.add(mbd.LowPass("filter", "step.u", 0.3))
    result = run(system, rtol=1e-10, atol=1e-12)
    history = result.block("filter")
    np.testing.assert_allclose(history.x[:, 0], 1.0 - np.exp(-result.t / 0.3), atol=1e-9)
    np.testing.assert_array_equal(history["out"], history.x[:, 0])


PID_END = 0.2
"""[s] Twenty times of the filter of the controller."""


@cache
def pendulum_under_pid():
    """Angle, rate and the two states of the controller at the end."""

    def rates(t, y):
        angle, rate, integral, filtered = y
        error = 0.3 * np.sin(2.0 * t) - angle
        torque = 30.0 * error + 12.0 * integral - 6.0 * (angle - filtered) / 0.02
        return [rate, (torque + 9.81 * np.cos(angle)) / 1.1, error, (angle - filtered) / 0.02]

    return solve_ivp(rates, (0.0, PID_END), [0.0, 0.0, 0.0, 0.0], **REFERENCE).y[:, -1]


@pytest.mark.parametrize("name", METHODS)
def test_pid_on_a_pendulum_agrees_with_scipy(name):
    method, steps, tolerance = METHODS[name]
    system, _, pin = pendulum()
    gains = {"kp": 30.0, "ki": 12.0, "kd": 6.0, "tau": 0.02}
    pid = system.add(mbd.PID("pid", "pin.angle", lambda t: 0.3 * np.sin(2.0 * t), **gains))
    minus = system.add(mbd.Block("minus", outputs={"u": lambda t, x, signals: -signals["pid.out"]}))
    system.add(mbd.RSDA("motor", pin, actuator=minus["u"]))
    assert pid["out"] is pid["out"]

    result = run(system, method, PID_END, **steps)
    found = [result.joint("pin").angle[-1], result.joint("pin").rate[-1], *result.block("pid").x[-1]]
    np.testing.assert_allclose(found, pendulum_under_pid(), atol=tolerance)


def test_a_limited_pid_does_not_wind_up():
    system, mass, _ = slider(v=0.0)
    pid = system.add(mbd.PID("pid", "rail.displacement", 1.0, kp=8.0, ki=2.0, kd=8.0, tau=0.01, lower=-1.0, upper=1.0))
    system.add(mbd.PointForce("drive", mass, point=(0, 0, 0), force=(pid["out"], 0, 0)))
    result = run(system, t_end=2.0, h=1e-3)

    def rates(t, y):
        x, v, integral, filtered = y
        error = 1.0 - x
        u = 8.0 * error + 2.0 * integral - 8.0 * (x - filtered) / 0.01
        held = (u >= 1.0 and error > 0.0) or (u <= -1.0 and error < 0.0)
        return [v, min(max(u, -1.0), 1.0) / MASS, 0.0 if held else error, (x - filtered) / 0.01]

    exact = solve_ivp(rates, (0.0, 2.0), [0.0, 0.0, 0.0, 0.0], rtol=1e-10, atol=1e-12, max_step=1e-3).y[:, -1]
    u = result.block("pid")["out"]
    assert u.max() == 1.0
    assert result.block("pid").x[: int(0.4e3), 0].max() == 0.0  # at the limit from the start
    # the integral sets in between two steps: an error of order one in a step of it
    np.testing.assert_allclose([result.r[-1, 1, 0], *result.block("pid").x[-1]], exact[[0, 2, 3]], atol=5e-3)


@pytest.mark.parametrize("name", ["RK4", "DormandPrince", "RATTLE", "BDF", "RadauIIA"])
def test_sampled_control_is_the_exact_discretization(name):
    method, steps, _ = METHODS[name]
    system, mass, _ = slider()
    times = []

    def update(t, signals):
        times.append(t)
        return -3.0 * signals["rail.displacement"] - signals["rail.rate"]

    control = system.add(mbd.Sampled("control", 0.05, update))
    system.add(mbd.PointForce("drive", mass, point=(0, 0, 0), force=(control["out"], 0, 0)))
    result = run(system, method, **({"h": 0.03} if name == "RK4" else steps))
    x, A, B = np.array([0.0, 1.0]), np.array([[1.0, 0.05], [0.0, 1.0]]), np.array([0.05**2 / 2, 0.05]) / MASS
    values = []
    for _ in range(20):
        values.append(-3.0 * x[0] - x[1])
        x = A @ x + B * values[-1]
    tolerance = 1e-6 if name == "BDF" else EXACT  # its first steps after each call have order one
    np.testing.assert_allclose(times, 0.05 * np.arange(20), atol=1e-15)
    np.testing.assert_allclose([result.r[-1, 1, 0], result.v[-1, 1, 0]], x, atol=tolerance)
    held = result.block("control").x[:, 0]
    np.testing.assert_allclose(held, np.array(values)[np.minimum((result.t / 0.05 + 1e-9).astype(int), 19)], atol=tolerance)


def test_wanted_times_have_the_values_after_the_call():
    system, *_ = slider()
    system.add(mbd.Sampled("count", 0.25, lambda t, x, signals: x + 1.0))
    result = run(system, h=0.1, t_eval=[0.0, 0.2, 0.25, 0.3, 0.75, 1.0])
    np.testing.assert_array_equal(result.block("count").x[:, 0], [1, 1, 2, 2, 4, 4])


def test_wanted_times_that_differ_from_those_of_calls_by_rounding_have_the_values_after_them():
    system, *_ = slider()
    system.add(mbd.Sampled("count", 0.05, lambda t, x, signals: x + 1.0))
    times = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    assert 0.15 < 3 * 0.05
    for steps in ({"h": 0.02}, {"rtol": 1e-6}):
        result = run(system, t_eval=times, **steps)
        np.testing.assert_array_equal(result.block("count").x[:, 0], np.arange(2, 9))
        np.testing.assert_array_equal(result.t, times)
        np.testing.assert_allclose(result.r[:, 1, 0], times, atol=EXACT)


def test_sampled_blocks_follow_each_other_without_delay():
    system, *_ = slider()
    system.add(mbd.Sampled("second", 0.1, lambda t, signals: 10.0 * signals["first.out"]))
    system.add(mbd.Sampled("first", 0.1, lambda t, signals: t))
    result = run(system, h=0.05)
    np.testing.assert_allclose(result.block("second").x[::2, 0], [*np.arange(10), 9.0], atol=EXACT * 10)


@pytest.mark.parametrize("name", ["RK4", "DormandPrince", "BDF", "RadauIIA"])
def test_a_delay_is_exact(name):
    method, steps, _ = METHODS[name]
    system, mass, _ = slider(v=0.0)
    line = system.add(mbd.DelayLine("line", "rail.displacement", 0.3))
    push = system.add(mbd.Block("push", outputs={"u": lambda t, x, signals: MASS * (1.0 - 4.0 * signals["line.out"])}))
    system.add(mbd.PointForce("drive", mass, point=(0, 0, 0), force=(push["u"], 0, 0)))
    result = run(system, method, **({"h": 0.04} if name == "RK4" else steps))

    def exact(t):  # x'' = 1 - 4 x(t - 0.3), interval by interval
        x = t**2 / 2
        for n, sign in ((1, -1.0), (2, 1.0), (3, -1.0)):
            s, k = np.maximum(t - 0.3 * n, 0.0), 2 * n + 2
            x = x + sign * 4.0**n * s**k / float(np.prod(np.arange(1, k + 1)))
        return x

    np.testing.assert_allclose(result.r[:, 1, 0], exact(result.t), atol=2e-6 if name in ("BDF", "RK4") else 1e-8)
    assert line["out"].label == "line.out"
    np.testing.assert_allclose(result.block("line")["out"], exact(np.maximum(result.t - 0.3, 0.0)), atol=2e-6)
    np.testing.assert_allclose(result.v_dot[:, 1, 0], 1.0 - 4.0 * exact(np.maximum(result.t - 0.3, 0.0)), atol=1e-5)


def test_a_transfer_function_agrees_with_scipy():
    system, *_ = slider()
    system.add(mbd.Block("step", outputs={"u": lambda t, x, signals: np.sin(3.0 * t)}))
    system.add(mbd.TransferFunction("plant", "step.u", (2.0, 1.0, 5.0), (1.0, 0.4, 9.0)))

    def rates(t, x):
        return [x[1], np.sin(3.0 * t) - 9.0 * x[0] - 0.4 * x[1]]

    x = solve_ivp(rates, (0.0, 1.0), [0.0, 0.0], **REFERENCE).y[:, -1]
    exact = (5.0 - 9.0 * 2.0) * x[0] + (1.0 - 0.4 * 2.0) * x[1] + 2.0 * np.sin(3.0)
    result = run(system, rtol=1e-10, atol=1e-12)
    assert abs(result.block("plant")["out"][-1] - exact) < 1e-8


def test_a_stiff_block_follows_its_input_in_implicit_steps():
    system, *_ = slider()
    system.add(mbd.LowPass("fast", "rail.displacement", 1e-6, x0=0.0))
    for method in (mbd.BDF(), mbd.RadauIIA()):
        result = run(system, method, rtol=1e-6, atol=1e-8)
        assert result.counters.steps < 400  # an explicit method would need some million
        assert abs(result.block("fast").x[-1, 0] - (1.0 - 1e-6)) < 1e-6


def test_work_of_a_controlled_actuator_is_in_the_energy():
    system, mass, _ = slider(v=0.0)
    source = system.add(mbd.Block("source", (1.0,), derivative=lambda t, x, signals: -x, outputs={"u": lambda t, x, signals: x[0]}))
    system.add(mbd.PointForce("drive", mass, point=(0, 0, 0), force=(source["u"], 0, 0)))
    result = run(system, h=1e-2)
    v = (1.0 - np.exp(-result.t)) / MASS
    np.testing.assert_allclose(result.v[:, 1, 0], v, atol=1e-9)
    np.testing.assert_allclose(result.load("drive").force[:, 0], np.exp(-result.t), atol=1e-9)
    energy = result.energy()
    np.testing.assert_allclose(energy.applied_work, 0.5 * MASS * v**2, atol=1e-6)  # rates of x are differences between the states


def test_sensors_of_the_system_are_signals_and_are_recorded():
    system, *_ = slider()
    system.add(mbd.Sensor("speed", lambda t, state: state.v[1, 0]))
    system.add(mbd.Block("way", 0.0, derivative=lambda t, x, signals: signals["speed"], outputs={"s": lambda t, x, signals: x[0]}))
    result = run(system, h=0.1)
    np.testing.assert_allclose(result.block("way")["s"], result.t, atol=EXACT)
    np.testing.assert_allclose(result.sensor("speed").value, 1.0, atol=EXACT)


def test_a_held_value_is_not_interpolated():
    system, mass, _ = slider(v=0.0)
    stairs = system.add(mbd.Sampled("stairs", 0.25, lambda t, signals: 1.0 + t))
    system.add(mbd.PointForce("drive", mass, point=(0, 0, 0), force=(stairs["out"], 0, 0)))
    result = run(system, h=0.125)
    between = result.resample([0.1, 0.3, 0.6, 0.9])
    np.testing.assert_array_equal(between.block("stairs")["out"], [1.0, 1.25, 1.5, 1.75])
    energy = result.energy()
    np.testing.assert_allclose(energy.applied_work, 0.5 * MASS * result.v[:, 1, 0] ** 2, atol=EXACT)


def test_a_block_drives_a_force_along_a_joint():
    system, _, pin = pendulum()
    hold = system.add(mbd.Block("hold", outputs={"u": lambda t, x, signals: -9.81 * np.cos(signals["pin.angle"])}))
    system.add(mbd.JointForce("motor", [pin], hold["u"]))
    result = run(system, h=1e-2)
    np.testing.assert_allclose(result.joint("pin").angle, 0.0, atol=EXACT)
    np.testing.assert_allclose(result.load("motor").forces[:, 0], -9.81, atol=EXACT * 10)


def test_tables_have_the_states_and_outputs():
    system, *_ = slider()
    system.add(mbd.LowPass("low", "rail.rate", 0.1))
    system.add(mbd.Block("pair", outputs={"v": lambda t, x, signals: (t, 2.0 * t)}))
    result = run(system, h=0.5)
    frame = result.to_pandas()
    np.testing.assert_array_equal(frame["block.low.out"], result.block("low")["out"])
    np.testing.assert_allclose(frame["block.pair.v.1"], 2.0 * result.t)
    assert not [name for name in frame.columns if name.startswith("angles")]


def test_force_elements_are_verified_for_any_value_of_an_output():
    system, _, pin = pendulum()
    block = system.add(mbd.Block("u", outputs={"u": lambda t, x, signals: signals["pin.rate"]}))
    system.add(mbd.RSDA("drive", pin, k=2.0, c=0.3, actuator=block["u"]))
    assert mbd.verify(system).ok


@pytest.mark.parametrize(
    "method", [mbd.HHT(alpha=-0.05), mbd.GeneralizedAlpha(), mbd.GeneralizedAlphaR7(), mbd.RATTLE(), mbd.BDF()]
)
def test_more_states_of_blocks_than_numbers_of_a_body(method):
    """Fourteen filters of one rate, each with the answer of one alone."""
    system, _, rail = slider()
    for k in range(14):
        system.add(mbd.LowPass(f"filter {k}", "rail.rate", 0.1))
    step = {} if method.step is None and isinstance(method, mbd.BDF) else {"h": 1e-2}
    result = run(system, method, 0.1, **step)
    x = np.stack([result.block(f"filter {k}").x[:, 0] for k in range(14)])
    np.testing.assert_array_equal(x, np.tile(x[0], (14, 1)))
    assert x[0, -1] == pytest.approx(1.0 - np.exp(-1.0), abs=1e-3)


@pytest.mark.parametrize(
    "shape", [mbd.Cylinder(0.1, 0.1, axis=(0.3, 1.0, 0.2)), mbd.Box((0.2, 0.15, 0.1))], ids=["ends", "corners"]
)
def test_a_block_reads_a_contact_of_several_points(shape):
    """Each point has a touch speed of its own in the state, and a number of its own in the signal."""
    names = ("normal_force", "indentation", "rate", "slip")
    system = mbd.System("landing", gravity=(0.6, 0, -9.81))
    body = system.add(mbd.Body("body", 1.0, (0.004, 0.005, 0.006), r=(0, 0, 0.15), omega_bar=(0.3, 1.0, 0.2)))
    shapes = {"shape_i": shape, "shape_j": mbd.Plane()}
    system.add(mbd.ContactForce("floor", body, system.ground, **shapes, K=2e4, restitution=0.6, mu=0.05, creep=0.05))
    outputs = {name: (lambda t, x, signals, name=name: signals[f"floor.{name}"]) for name in names}
    system.add(mbd.Block("probe", outputs=outputs, inputs=[f"floor.{name}" for name in names]))
    result = mbd.simulate(system, 0.3, h=2e-3)
    load, probe = result.load("floor"), result.block("probe")
    assert load.normal_force.max() > 10.0
    for name in names:
        np.testing.assert_array_equal(probe[name], getattr(load, name))
