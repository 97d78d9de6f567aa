"""What only a run knows is refused where there is no run: rigid stops, touch speeds, held values, delays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, RotationDriver

HEIGHT = 0.2
"""Of the plane below the pin [m]; the ball on the arm touches it where the arm hangs lower."""


def arm(motion=None):
    """An arm on a pin about y, 0.4 m to its ball, which falls from the horizontal or is driven."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 1.3, (0.01, 0.05, 0.05), r=(0.4, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    if motion is not None:
        system.add(RotationDriver("drive", pin, mbd.Expression(motion)))
    return system, bar, pin


def ball(system, bar, **law):
    """Let the end of the bar touch a plane below the pin."""
    shapes = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane(point=(0, 0, -HEIGHT))}
    system.add(mbd.ContactForce("floor", bar, system.ground, **shapes, K=1e4, **law))


def test_a_right_hand_side_alone_names_all_that_it_lacks():
    system, bar, pin = arm()
    system.add(mbd.JointLimit("stop", pin, upper=1.0, restitution=0.5))
    ball(system, bar, restitution=0.5)
    held = system.add(mbd.Sampled("held", 0.1, lambda t, signals: -signals["pin.angle"]))
    late = system.add(mbd.DelayLine("late", "pin.angle", 0.1))
    system.add(mbd.Motor("motor", pin, torque=held["out"]))
    system.add(mbd.RSDA("spring", pin, actuator=late["out"]))
    with pytest.raises(
        mbd.UsageError, match=r"JointLimit 'stop'.*ContactForce 'floor'.*Sampled 'held'.*DelayLine 'late'.*SciPySolver"
    ):
        mbd.ode_function(system)


def test_a_contact_without_damping_needs_no_run():
    """Its force is that of the state: SciPy alone, and a run that locates the touch."""
    system, bar, _ = arm()
    ball(system, bar)
    model = system.compile()
    y = solve_ivp(mbd.ode_function(model), (0.0, 0.5), model.state().y, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    result = mbd.simulate(model, 0.5, rtol=1e-10, atol=1e-12)
    assert len(result.events) > 1
    columns = np.delete(np.arange(len(y)), model.touch_columns)
    np.testing.assert_allclose(y[columns], result.y[-1, columns], rtol=0.0, atol=1e-6)  # SciPy steps over the kinks at touch


def test_an_equilibrium_beyond_a_rigid_stop_is_refused():
    """Without the stop the arm hangs, at pi / 2."""
    system, _, pin = arm()
    system.add(mbd.JointLimit("stop", pin, upper=0.7, restitution=0.5))
    with pytest.raises(
        mbd.SimulationError, match=r"JointLimit 'stop': pin.angle is 1.5708 rad .* rigid limit upper = 0.7 rad"
    ) as caught:
        mbd.equilibrium(system)
    np.testing.assert_allclose(caught.value.result.r[1], (0.0, 0.0, -0.4), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1e4, 1e6])
def test_an_equilibrium_rests_on_a_stiff_stop(k):
    """The stop begins to push where the forces are still far from balance, and balances them within microradians."""
    system, _, pin = arm()
    system.add(mbd.JointLimit("stop", pin, upper=0.7, k=k))
    r = mbd.equilibrium(system).state.r[1]
    angle = np.arctan2(-r[2], r[0])
    assert angle - 0.7 == pytest.approx(1.3 * 9.81 * 0.4 * np.cos(angle) / k, abs=1e-9)  # size of the last Newton step


def test_an_equilibrium_within_rigid_stops_is_that_without_them():
    system, _, pin = arm()
    system.add(mbd.JointLimit("stop", pin, upper=2.0, restitution=0.5))
    np.testing.assert_allclose(mbd.equilibrium(system).state.r[1], (0.0, 0.0, -0.4), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("compute", [mbd.kinematics, mbd.inverse_dynamics])
def test_a_prescribed_motion_stays_within_rigid_stops(compute):
    times = np.linspace(0.0, 1.0, 11)
    system, _, pin = arm("0.6 * (1 - cos(3 * t))")
    system.add(mbd.JointLimit("stop", pin, upper=0.7, restitution=0.5))
    with pytest.raises(
        mbd.SimulationError, match=r"JointLimit 'stop': pin.angle is 0.7\d* rad at t = 0.6 s, beyond its rigid limit upper = 0.7"
    ):
        compute(system, times)
    assert compute(system, times[:5]) is not None


def test_states_beyond_a_rigid_stop_are_no_motion():
    times = np.linspace(0.0, 1.0, 11)
    system, _, pin = arm("0.6 * (1 - cos(3 * t))")
    free = mbd.kinematics(system, times)
    states = [free.state(k) for k in range(len(free))]
    system, _, pin = arm("0.6 * (1 - cos(3 * t))")
    system.add(mbd.JointLimit("stop", pin, upper=0.7, restitution=0.5))
    states = [
        state.replace(angles=np.append(state.angles, angle)) for state, angle in zip(states, free.joint("pin").angle, strict=True)
    ]
    with pytest.raises(mbd.ModelError, match=r"JointLimit 'stop': pin.angle is 0.7\d* rad at t = 0.6 s"):
        mbd.inverse_dynamics(system, states)


@pytest.mark.slow
def test_a_prescribed_motion_does_not_know_the_speed_of_a_touch():
    """With damping only a run does; without it the torque of the driver is that of a run."""
    motion, times = "0.6 * (1 - cos(3 * t))", np.linspace(0.0, 1.0, 41)
    system, bar, _ = arm(motion)
    ball(system, bar, restitution=0.5)
    with pytest.raises(mbd.SimulationError, match=r"ContactForce 'floor': it is closed at t = .* speed of a touch"):
        mbd.kinematics(system, times)
    assert len(mbd.kinematics(system, times[:5])) == 5  # it does not touch
    run = mbd.simulate(system, 1.0, rtol=1e-10, atol=1e-12, t_eval=times)
    along = mbd.inverse_dynamics(system, run)  # the states of a run hold the speed
    np.testing.assert_allclose(along.force["drive"], run.driver("drive").torque, rtol=0.0, atol=1e-6)
    system, bar, _ = arm(motion)
    ball(system, bar)
    torque = mbd.simulate(system, 1.0, rtol=1e-10, atol=1e-12, t_eval=times).driver("drive").torque
    np.testing.assert_allclose(mbd.kinematics(system, times).driver("drive").torque, torque, rtol=0.0, atol=1e-4)
