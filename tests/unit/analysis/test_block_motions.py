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
    @njit(cache=True)
    def derivative(t, x, signals):
        return np.array([TARGET - signals["pin.angle"], (signals["pin.angle"] - x[1]) / TAU])

    @njit(cache=True)
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    with pytest.raises(mbd.SimulationError, match=r"x\[0\] of Block 'clock' keeps moving, at 2 per second"):
        mbd.equilibrium(system)
    with pytest.raises(mbd.UsageError, match=r"there moves x\[0\] of Block 'clock' at 2 per second"):
        mbd.linearize(system)


@pytest.mark.slow
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
    with pytest.raises(
        mbd.UsageError, match=r"the rate of x\[0\] of Block 'relay' is not smooth in x\[0\] of Block 'relay' \(they jump there\)"
    ):
        mbd.linearize(cart(block))


def gain_of(law, rate=lambda angle, z: angle - z):
    """An arm without weight on a spring, with a filter z whose torque is law(z)."""
    block = mbd.Block(
        "filter",
        0.0,
        derivative=lambda t, x, signals: rate(signals["pin.angle"], x[0]),
        outputs={"out": lambda t, x, signals: law(x[0])},
    )
    system = arm(block)
    system.gravity = (0, 0, 0)
    system.add(mbd.RSDA("spring", system["pin"], k=20.0, c=0.5))
    return system


def gain_matrix(torque, rate=1.0):
    """A of (angle, rate, z) with the slopes of the torque by z, and of the rate of z by the angle."""
    about = J + MASS * LENGTH**2
    return np.array([[0.0, 1.0, 0.0], [-20.0 / about, -0.5 / about, torque / about], [rate, 0.0, -1.0]])


@pytest.mark.slow
@pytest.mark.parametrize("width", [1.0, 1e-3, 1e-5])
@pytest.mark.parametrize("what", ["limit", "dead zone", "limit of the angle", "dead zone of the angle"])
def test_a_small_motion_is_smaller_than_a_limit_or_a_dead_zone(what, width):
    limited = lambda x: 5.0 * np.clip(x, -width, width)  # noqa: E731
    dead = lambda x: 5.0 * (x - np.clip(x, -width, width))  # noqa: E731
    system, A = {
        "limit": (gain_of(limited), gain_matrix(5.0)),
        "dead zone": (gain_of(dead), gain_matrix(0.0)),
        "limit of the angle": (gain_of(lambda x: x, lambda angle, z: limited(angle) - z), gain_matrix(1.0, 5.0)),
        "dead zone of the angle": (gain_of(lambda x: x, lambda angle, z: dead(angle) - z), gain_matrix(1.0, 0.0)),
    }[what]
    found = mbd.linearize(mbd.equilibrium(system))
    np.testing.assert_allclose(np.sort_complex(found.eigenvalues), half_of(np.linalg.eigvals(A)), rtol=CLOSED_FORM)


@pytest.mark.slow
def test_a_quadratic_law_has_no_slope_at_zero():
    """A throttle, Q ~ x |x|, whose difference quotient goes to zero with the step."""
    found = mbd.linearize(mbd.equilibrium(gain_of(lambda x: 5.0 * x * abs(x))))
    smallest_step = 1e-6  # the slope that is left
    np.testing.assert_allclose(np.sort_complex(found.eigenvalues), half_of(np.linalg.eigvals(gain_matrix(0.0))), rtol=smallest_step)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "message"),
    [
        (gain_of(abs), r"forces are not smooth in x\[0\] of Block 'filter' \(they have a kink"),
        (gain_of(lambda x: -50.0 * max(x, 0.0)), r"forces are not smooth in x\[0\] of Block 'filter' \(they have a kink"),
        (gain_of(np.sign), r"forces are not smooth in x\[0\] of Block 'filter' \(they jump"),
        (
            gain_of(lambda x: x, lambda angle, z: np.sign(angle) - z),
            r"the rate of x\[0\] .* not smooth in the motion .* \(they jump",
        ),
        (
            gain_of(lambda x: x, lambda angle, z: abs(angle) - z),
            r"the rate of x\[0\] .* not smooth in the motion .* \(they have a kink",
        ),
    ],
    ids=["absolute value", "one side", "relay", "relay of the angle", "absolute angle"],
)
def test_what_is_not_smooth_has_no_small_motions(system, message):
    with pytest.raises(mbd.UsageError, match=message):
        mbd.linearize(system)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "tolerance"), [(9.5, CLOSED_FORM), (9.38, 1e-6)])
def test_a_controller_near_its_limit(limit, tolerance):
    """The motor holds 9.372 N m: the small motions are those without limits. Near to these steps are small, and rounding is larger."""
    found = mbd.equilibrium(arm(mbd.PID("pid", "pin.angle", TARGET, kp=KP, ki=KI, kd=KD, tau=TAU, lower=-limit, upper=limit)))
    np.testing.assert_allclose(np.sort_complex(found.eigenvalues), half_of(np.linalg.eigvals(arm_matrix())), rtol=tolerance)


@pytest.mark.slow
def test_a_controller_without_integral_leaves_its_integral_out():
    found = mbd.equilibrium(arm(mbd.PID("pid", "pin.angle", TARGET, kp=KP, kd=KD, tau=TAU)))
    angle = 2.0 * np.arctan2(found.state.p[1, 2], found.state.p[1, 0])
    assert KP * (TARGET - angle) == pytest.approx(-MASS * G * LENGTH * np.cos(angle), rel=1e-9)
    assert found.stable
    assert mbd.linearize(found).states == ("x[1] of PID 'pid'",)
    found = mbd.equilibrium(arm(mbd.PID("pid", "pin.angle", TARGET, kp=KP)))
    about, gravity = J + MASS * LENGTH**2, MASS * G * LENGTH
    angle = 2.0 * np.arctan2(found.state.p[1, 2], found.state.p[1, 0])
    np.testing.assert_allclose(
        mbd.linearize(found).eigenvalues, [1j * np.sqrt((KP + gravity * np.sin(angle)) / about)], rtol=CLOSED_FORM, atol=1e-7
    )


@pytest.mark.slow
def test_a_state_that_no_body_feels_comes_to_rest():
    """The heat of a motor: T' = M^2 / 2 - a (T^4 - T0^4) is not a linear equation."""
    system = arm(CONTROLLERS["library"]())
    system.add(
        mbd.Block(
            "heat",
            293.0,
            derivative=lambda t, x, signals: 0.5 * signals["pid.out"] ** 2 - 5e-8 * (x[0] ** 4 - 293.0**4),
            outputs={},
        )
    )
    found = mbd.equilibrium(system)
    torque = MASS * G * LENGTH * np.cos(TARGET)
    wanted = (293.0**4 + 0.5 * torque**2 / 5e-8) ** 0.25
    assert any(z == pytest.approx(wanted, rel=1e-9) for z in found.state.angles)
    assert found.stable


@pytest.mark.slow
@pytest.mark.parametrize("ki", [1e-2, 1e-4])
def test_a_slow_integral_beside_a_fast_current_is_not_zero(ki):
    """T' = out - T over 1 us, and an integral over hours: ten powers of ten."""
    fast = 1e6
    system = mbd.System("arm", gravity=(0, 0, 0))
    bar = system.add(mbd.Body("bar", MASS, (0.01, J, J), r=(LENGTH, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("spring", pin, k=20.0, c=2.0))
    system.add(mbd.PID("pid", "pin.angle", 0.1, ki=ki))
    current = mbd.Block(
        "current",
        0.0,
        derivative=lambda t, x, signals: (signals["pid.out"] - x[0]) * fast,
        outputs={"out": lambda t, x, signals: 5.0 * x[0]},
    )
    system.add(mbd.Motor("motor", pin, torque=system.add(current)["out"]))
    found = mbd.equilibrium(system)
    assert found.stable
    slow = found.eigenvalues[np.argmin(np.abs(found.eigenvalues))]
    s = -5.0 * ki / 20.0
    for _ in range(20):  # of (I s^2 + c s + k) (s / fast + 1) s + 5 ki = 0
        s = -5.0 * ki / (((J + MASS * LENGTH**2) * s**2 + 2.0 * s + 20.0) * (s / fast + 1.0))
    assert slow == pytest.approx(s, rel=1e-6)
