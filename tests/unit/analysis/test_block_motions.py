"""Equilibria and small motions of bodies with the states of blocks: closed forms, and the simulated motion along each mode."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import haugmbd as mbd
from haugmbd.gallery import double_pendulum
from haugmbd.math.euler_parameters import exponential, product
from joints import RJ, TJ
from tests.support import bicycle
from tests.support.bicycle import straight_ahead

CLOSED_FORM = 1e-8
"""Relative error of eigenvalues: matrices by differences have about 1e-10, a balanced matrix of size 4 some 1e1 of that."""
BALANCED = 1e-12
"""Angles of a balance whose last Newton step is below 1e-9."""
G, MASS, LENGTH, J = 9.81, 2.0, 0.5, 0.2
KP, KI, KD, TAU, TARGET = 40.0, 30.0, 8.0, 0.01, 0.3
SWING = 1e-5
"""[rad] Size of a motion along a mode: what is left of second order is 1e-5 of it."""


def arm(block, output="out"):
    """A bar on a pin, turned by a motor whose torque is an output of the block."""
    system = mbd.System("arm", gravity=(0, 0, -G))
    bar = system.add(mbd.Body("bar", MASS, (0.01, J, J), r=(LENGTH, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.Motor("motor", pin, torque=system.add(block)[output]))
    return system


def python_pid(unit=1.0):
    """A PID controller by hand, whose integral is measured in `unit`."""
    return mbd.Block(
        "pid",
        (0.0, 0.0),
        derivative=lambda t, x, signals: ((TARGET - signals["pin.angle"]) / unit, (signals["pin.angle"] - x[1]) / TAU),
        outputs={
            "out": lambda t, x, signals: (
                KP * (TARGET - signals["pin.angle"]) + KI * unit * x[0] - KD * (signals["pin.angle"] - x[1]) / TAU
            )
        },
    )


def njit_pid():
    @njit
    def derivative(t, x, signals):
        return np.array([TARGET - signals["pin.angle"], (signals["pin.angle"] - x[1]) / TAU])

    @njit
    def out(t, x, signals):
        angle = signals["pin.angle"]
        return KP * (TARGET - angle) + KI * x[0] - KD * (angle - x[1]) / TAU

    return mbd.Block("pid", (0.0, 0.0), derivative=derivative, outputs={"out": out})


CONTROLLERS = {
    "library": lambda: mbd.PID("pid", "pin.angle", TARGET, kp=KP, ki=KI, kd=KD, tau=TAU),
    "python": python_pid,
    "njit": njit_pid,
    "large unit": lambda: python_pid(1e9),
    "small unit": lambda: python_pid(1e-9),
}


def arm_matrix():
    """A of (angle, rate, integral, filtered angle) of the arm at its target."""
    about = J + MASS * LENGTH**2
    gravity = MASS * G * LENGTH * np.sin(TARGET)
    return np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [(-gravity - KP - KD / TAU) / about, 0.0, KI / about, KD / TAU / about],
            [-1.0, 0.0, 0.0, 0.0],
            [1.0 / TAU, 0.0, 0.0, -1.0 / TAU],
        ]
    )


def half_of(eigenvalues):
    """One of each conjugate pair, sorted."""
    return np.sort_complex(np.asarray(eigenvalues, dtype=complex)[np.asarray(eigenvalues).imag >= 0.0])


@pytest.mark.parametrize("name", CONTROLLERS)
def test_an_arm_under_pid_control(name):
    found = mbd.equilibrium(arm(CONTROLLERS[name]()))
    angle = 2.0 * np.arctan2(found.state.p[1, 2], found.state.p[1, 0])
    assert angle == pytest.approx(TARGET, abs=BALANCED)
    integral = found.state.y[-3] * {"large unit": 1e9, "small unit": 1e-9}.get(name, 1.0)
    assert KI * integral == pytest.approx(
        -MASS * G * LENGTH * np.cos(TARGET), rel=1e-9
    )  # the motor holds the weight, down is positive
    wanted = half_of(np.linalg.eigvals(arm_matrix()))
    motions = mbd.linearize(found)
    np.testing.assert_allclose(np.sort_complex(motions.eigenvalues), wanted, rtol=CLOSED_FORM)
    np.testing.assert_allclose(half_of(np.linalg.eigvals(motions.A)), wanted, rtol=CLOSED_FORM)
    np.testing.assert_allclose(np.sort_complex(found.eigenvalues), wanted, rtol=CLOSED_FORM)
    assert found.stable
    assert motions.stable
    assert [name.split(" of ")[0] for name in motions.states] == ["x[0]", "x[1]"]
    assert "with the states of blocks: eigenvalues -0.8155" in str(found)


def test_too_much_integral_action_is_unstable():
    found = mbd.equilibrium(arm(mbd.PID("pid", "pin.angle", TARGET, kp=KP, ki=2000.0, kd=KD, tau=TAU)))
    assert found.stability is mbd.Stability.UNSTABLE
    assert not mbd.linearize(found).stable
    assert all(kind is mbd.Stability.STABLE for kind in found.kinds)  # with the integral held


def controlled_double_pendulum():
    """Two links, each with a controller that reads its own joint; one of them holds its link to the side."""
    system = double_pendulum()
    for k, joint in enumerate(system.joints):
        name = joint.name
        pid = system.add(mbd.PID(f"pid {k}", f"{name}.angle", 0.2 * k, kp=900.0, ki=150.0, kd=400.0, tau=0.05))
        system.add(mbd.Motor(f"motor {k}", joint, torque=pid["out"]))
    return system


def along(found, mode, t):
    """The state of a small motion along a mode at the time t, relative to its size."""
    factor = SWING * np.exp(mode.eigenvalue * t)
    u, rate, z = (factor * mode.shape).real, (factor * mode.eigenvalue * mode.shape).real, (factor * mode.states).real
    at = found.state
    return at.r + u[:, :3], product(at.p, exponential(u[:, 3:])), rate, z


@pytest.mark.parametrize("make", [controlled_double_pendulum, lambda: arm(CONTROLLERS["library"]())], ids=["two links", "arm"])
def test_a_simulation_goes_along_each_mode(make):
    """The nonlinear motion from eps * mode is eps * mode * exp(s t), up to eps^2."""
    system = make()
    found = mbd.linearize(mbd.equilibrium(system, downhill=False))
    columns = found.model.y0.size - found.model.n_states + np.arange(found.model.n_states)
    blocks = columns[: len(found.states)]  # the turns of angles stand behind them
    for mode in found.modes:
        end = min(0.5, 2.0 / abs(mode.eigenvalue))
        r, p, rate, z = along(found, mode, 0.0)
        angles = found.state.angles.copy()
        angles[-found.model.n_states :][: len(z)] += z
        start = found.state.replace(r=r, p=p, v=rate[:, :3], omega_bar=rate[:, 3:], angles=angles)
        run = mbd.simulate(found.model, end, rtol=1e-11, atol=1e-13, state=start)
        r, p, rate, z = along(found, mode, end)
        last = run.y[-1]
        np.testing.assert_allclose(last[blocks] - found.state.y[blocks], z, atol=1e-3 * max(SWING, np.abs(z).max()))
        np.testing.assert_allclose(last[: 13 * len(r)].reshape(-1, 13)[:, :3] - found.state.r, r - found.state.r, atol=1e-3 * SWING)


def test_a_rotor_at_a_controlled_speed():
    """J w' = -c w + kp (w0 - w) + ki z, z' = w0 - w: a steady rotation, and a free angle."""
    inertia, c, kp, ki, speed = 0.3, 0.2, 1.5, 4.0, 12.0
    system = mbd.System("rotor")
    disc = system.add(mbd.Body("disc", 1.0, (0.2, 0.2, inertia), omega_bar=(0, 0, speed)))
    axle = system.add(RJ("axle", system.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("drag", axle, c=c))
    pid = system.add(mbd.PID("pid", "axle.rate", speed, kp=kp, ki=ki))
    system.add(mbd.Motor("motor", axle, torque=pid["out"]))
    steady = mbd.UniformRotation((0, 0, speed))
    found = mbd.equilibrium(system, steady=steady)
    assert ki * found.state.angles[-2] == pytest.approx(c * speed, rel=1e-9)
    motions = mbd.linearize(found)
    wanted = np.roots([inertia, c + kp, ki])
    moving = [mode.eigenvalue for mode in motions.modes if mode.shape.any() and mode.eigenvalue != 0.0]  # the filter drives nothing
    np.testing.assert_allclose(np.sort_complex(moving), half_of(wanted), rtol=CLOSED_FORM)
    assert int((motions.eigenvalues == 0.0).sum()) == 1
    with pytest.raises(mbd.UsageError, match="the forces are out of balance|left over"):
        mbd.linearize(system, steady=steady)


def test_a_bicycle_whose_steering_is_damped_through_a_filter():
    """M q'' + v C1 q' + (g K0 + v^2 K2) q = (0, -c z),  tau z' = steer' - z."""
    v, c, tau = 5.0, 3.0, 0.15
    system = bicycle.bicycle(v)
    damper = mbd.Block(
        "damper",
        0.0,
        derivative=lambda t, x, signals: (signals["steering.rate"] - x[0]) / tau,
        outputs={"torque": lambda t, x, signals: -c * x[0]},
    )
    system.add(mbd.Motor("motor", system["steering"], torque=system.add(damper)["torque"]))
    found = mbd.linearize(system, steady=straight_ahead(v))
    A = np.zeros((5, 5))
    A[:4, :4] = bicycle.state_matrix(v)
    A[2:4, 4] = np.linalg.solve(bicycle.PUBLISHED["M"], (0.0, -c))
    A[4, 3], A[4, 4] = 1.0 / tau, -1.0 / tau
    moving = found.eigenvalues[np.abs(found.eigenvalues) > 0.0]
    np.testing.assert_allclose(np.sort_complex(moving), half_of(np.linalg.eigvals(A)), rtol=CLOSED_FORM, atol=CLOSED_FORM)
    assert found.A.shape == (len(found.G) + found.dof + 1,) * 2


def cart(block):
    """A cart on a spring, and a block that reads it."""
    system = mbd.System("cart")
    body = system.add(mbd.Body("body", MASS, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointSpring("spring", rail, k=50.0))
    system.add(block)
    return system


def test_a_filter_that_drives_nothing_has_a_mode_of_its_own():
    found = mbd.linearize(mbd.equilibrium(cart(mbd.LowPass("filter", "rail.rate", 0.2))))
    np.testing.assert_allclose(np.sort_complex(found.eigenvalues), [-5.0, 5.0j], rtol=CLOSED_FORM, atol=CLOSED_FORM)
    own = next(mode for mode in found.modes if mode.eigenvalue.imag == 0.0)
    assert own.text == "x[0] of LowPass 'filter' moves, and no body"
    np.testing.assert_allclose(own.states, [1.0])
    assert not own.shape.any()
    swings = next(mode for mode in found.modes if mode.eigenvalue.imag > 0.0)
    np.testing.assert_allclose(swings.states, [5j / (1 + 5j * 0.2)], rtol=1e-7)  # tau z' = x' - z with x = 1


def test_a_state_that_cannot_rest_is_named():
    system = cart(mbd.Block("clock", 0.0, derivative=lambda t, x, signals: 2.0, outputs={}))
    with pytest.raises(mbd.SimulationError, match=r"x\[0\] of Block 'clock' goes on moving, at 2 per second"):
        mbd.equilibrium(system)
    with pytest.raises(mbd.UsageError, match=r"there moves x\[0\] of Block 'clock' at 2 per second"):
        mbd.linearize(system)


def test_a_controller_at_its_limit_is_no_balance():
    """The motor cannot lift the arm to its target: nothing holds it level, and it hangs down under the largest torque."""
    found = mbd.equilibrium(arm(mbd.PID("pid", "pin.angle", -TARGET, kp=KP, ki=KI, kd=KD, tau=TAU, lower=-5.0, upper=5.0)))
    angle = 2.0 * np.arctan2(found.state.p[1, 2], found.state.p[1, 0])
    assert MASS * G * LENGTH * np.cos(angle) == pytest.approx(5.0, rel=1e-9)


def test_values_that_are_held_and_delays_are_refused():
    for block in (
        mbd.Sampled("held", 0.1, lambda t, signals: signals["rail.displacement"]),
        mbd.DelayLine("late", "rail.rate", 0.1),
    ):
        for what in (mbd.equilibrium, mbd.linearize):
            with pytest.raises(mbd.UsageError, match=f"{block.name}' has none: they are held"):
                what(cart(block))


def test_a_jump_in_a_state_is_refused():
    block = mbd.Block(
        "relay",
        0.0,
        derivative=lambda t, x, signals: signals["rail.displacement"] - np.sign(x[0]),
        outputs={},
    )
    with pytest.raises(mbd.UsageError, match=r"not smooth in x\[0\] of Block 'relay'"):
        mbd.linearize(cart(block))
