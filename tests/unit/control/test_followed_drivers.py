"""Drivers that follow a block: the motion is that of an ODE of one's own, in every method; what has no f'' is refused by its signal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, TJ, Coupling, Distance, Rope, TranslationDriver

G, M, L, J, GAIN = 9.81, 1.0, 0.7, 0.02, 0.8
METHODS = {
    "fixed": ({"h": 2e-3}, 1e-9),
    "adaptive": ({"rtol": 1e-11, "atol": 1e-12}, 1e-9),
    "Baumgarte": ({"h": 2e-3, "stabilization": mbd.Baumgarte(20, 20)}, 1e-8),
    "null space": ({"h": 2e-3, "formulation": mbd.NullSpace()}, 1e-9),
    "Udwadia": ({"h": 2e-3, "formulation": mbd.UdwadiaKalaba()}, 1e-9),
    "Radau": ({"integrator": mbd.RadauIIA(rtol=1e-9, atol=1e-11)}, 1e-8),
    "BDF": ({"integrator": mbd.BDF(rtol=1e-9, atol=1e-11)}, 1e-6),
    "HHT": ({"h": 1e-3, "integrator": mbd.HHT()}, 1e-5),
    "generalized alpha": ({"h": 1e-3, "integrator": mbd.GeneralizedAlpha()}, 1e-5),
}


def crab():
    """A carriage on a rail, from which a pendulum hangs."""
    system = mbd.System("crab", gravity=(0, 0, -G))
    carriage = system.add(mbd.Body("crab", 3.0, (1, 1, 1), v=(GAIN * 0.5, 0, 0)))
    bob = system.add(mbd.Body("bob", M, (J, J, J), r=(L * np.sin(0.5), 0, -L * np.cos(0.5)), v=(GAIN * 0.5, 0, 0)))
    system.add(TJ("rail", system.ground, carriage, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("pin", carriage, bob, point=(0, 0, 0), axis=(0, -1, 0), q0=0.5))
    return system


def follower(output, derivative=None, x0=()):
    system = crab()
    block = system.add(mbd.Block("ref", x0, derivative=derivative, outputs={"x": output}))
    system.add(TranslationDriver("servo", system["rail"], block["x"]))
    return system


def state(t, x, signals):
    return x[0]


def servo():
    return follower(state, lambda t, x, signals: GAIN * signals["pin.angle"], 0.0)


def own_motion(t):
    """The carriage, the angle and its rate by an ODE of one's own:  x' = k th,  (J + m l^2) th'' = -m l (g sin th + k th' cos th)."""

    def rates(_, y):
        return [GAIN * y[1], y[2], -M * L * (G * np.sin(y[1]) + GAIN * y[2] * np.cos(y[1])) / (J + M * L * L)]

    return solve_ivp(rates, (0, t[-1]), [0, 0.5, 0], t_eval=t, rtol=1e-12, atol=1e-13, method="DOP853").y


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_speed_command_that_depends_on_the_mechanism_is_its_own_ode(method):
    how, bar = METHODS[method]
    result = mbd.simulate(servo(), 0.3, **how)
    x, angle, rate = own_motion(result.t)
    assert np.abs(result.joint("rail").displacement - x).max() < bar
    assert np.abs(result.joint("pin").angle - angle).max() < bar
    driver = result.driver("servo")
    assert np.abs(driver.value - x).max() < bar
    assert np.abs(driver.rate - GAIN * angle).max() < bar
    assert np.abs(driver.acceleration - GAIN * result.joint("pin").rate).max() < 1e-12
    assert np.abs(result.violation("acceleration")).max() < 1e-9


@pytest.mark.slow
def test_the_energy_that_the_driver_gives_is_that_of_the_motion():
    result = mbd.simulate(servo(), 0.6, rtol=1e-10, atol=1e-12)
    energy = result.energy()
    gained = energy.kinetic + energy.potential - energy.kinetic[0] - energy.potential[0]
    assert abs(gained[-1]) > 1e-3
    assert np.abs(gained - energy.applied_work).max() < 1e-8
    assert np.abs(result.driver("servo").work - gained).max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("way", ["Coupling", "Distance", "Rope"])
def test_every_part_with_a_function_of_time_follows_a_block(way):
    system = crab()
    first = 0.0 if way == "Coupling" else 2.0
    block = system.add(mbd.Block("ref", first, derivative=lambda t, x, signals: GAIN * signals["pin.angle"], outputs={"x": state}))
    ends = {"point_i": (-2, 0, 0), "point_j": (0, 0, 0)}
    made = {
        "Coupling": lambda: Coupling("servo", {system["rail"]: 1.0}, f=block["x"]),
        "Distance": lambda: Distance("servo", system.ground, system["crab"], **ends, f=block["x"]),
        "Rope": lambda: Rope("servo", [(system.ground, (-2, 0, 0)), (system["crab"], (0, 0, 0))], length=block["x"]),
    }
    system.add(made[way]())
    result = mbd.simulate(system, 0.3, h=2e-3)
    assert abs(result["crab"].r[-1, 0] - own_motion(result.t)[0, -1]) < 1e-9


@pytest.mark.slow
def test_blocks_of_the_library_are_differentiated_as_functions_of_a_user_are():
    def command(system, *, by_hand):
        tau, k, kd, filtered = 0.1, 0.8, 0.1, 0.05
        if by_hand:

            def rates(t, x, signals):
                u = k * (0.5 - signals["pin.angle"]) - kd * (signals["pin.angle"] - x[0]) / filtered
                return (signals["pin.angle"] - x[0]) / filtered, (u - x[1]) / tau

            return system.add(mbd.Block("lag", (0.5, 0.0), derivative=rates, outputs={"out": lambda t, x, signals: x[1]}))
        system.add(mbd.PID("pid", "pin.angle", 0.5, kp=k, kd=kd, tau=filtered))
        return system.add(mbd.LowPass("lag", "pid.out", tau))

    motions = []
    for by_hand in (True, False):
        system = crab()
        system.add(TranslationDriver("servo", system["rail"], command(system, by_hand=by_hand)["out"]))
        motions.append(mbd.simulate(system, 0.3, h=5e-3, project_velocity=True)["bob"].r)
    assert np.abs(motions[0] - motions[1]).max() < 1e-12
    assert np.abs(motions[0][-1] - motions[0][0]).max() > 1e-2


REFUSED = {
    "the angle itself": (lambda t, x, signals: GAIN * (signals["pin.angle"] - 0.5), None, (), "pin.angle"),
    "a rate behind one state": (state, lambda t, x, signals: signals["pin.rate"], 0.0, "pin.rate"),
    "its own force": (lambda t, x, s: x[0], lambda t, x, s: (x[1], s["servo.force"]), (0.0, 0.0), "servo.force"),
    "a vector": (lambda t, x, signals: x, lambda t, x, signals: (0.1, 0.2), (0.0, 0.0), "one number is needed"),
    "another start": (state, lambda t, x, signals: 0.1, 0.3, "off by 0.3 m"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_second_rate_is_refused_by_its_signal(what):
    output, derivative, x0, named = REFUSED[what]
    with pytest.raises(mbd.ModelError, match=r"1 fault: joint 'servo'") as raised:
        follower(output, derivative, x0).compile()
    assert named in str(raised.value)


@pytest.mark.parametrize("part", ["Sampled", "DelayLine"])
def test_a_value_that_jumps_drives_no_joint_at_once(part):
    system = crab()
    blocks = {
        "Sampled": lambda: mbd.Sampled("held", 0.1, lambda t, s: 0.1),
        "DelayLine": lambda: mbd.DelayLine("held", "pin.angle", 0.1),
    }
    system.add(blocks[part]())
    block = system.add(mbd.Block("ref", 0.0, derivative=lambda t, x, s: s["held.out"], outputs={"x": state}))
    system.add(TranslationDriver("servo", system["rail"], block["x"]))
    with pytest.raises(mbd.ModelError, match=r"joint 'servo'.*'held.out'"):
        system.compile()


def test_a_held_acceleration_drives_a_joint_through_two_states():
    system = crab()
    system.add(mbd.Sampled("held", 0.1, lambda t, signals: 0.5))
    rates = (lambda t, x, signals: (x[1], signals["held.out"]), (0.0, 0.4))
    block = system.add(mbd.Block("ref", rates[1], derivative=rates[0], outputs={"x": state}))
    system.add(TranslationDriver("servo", system["rail"], block["x"]))
    result = mbd.simulate(system, 0.4, h=0.02)
    assert abs(result.joint("rail").displacement[-1] - (0.4 * 0.4 + 0.25 * 0.4**2)) < 1e-12


def test_a_block_that_was_not_added_is_named():
    system = crab()
    block = mbd.Block("ref", 0.0, derivative=lambda t, x, s: 0.1, outputs={"x": state})
    system.add(TranslationDriver("servo", system["rail"], block["x"]))
    with pytest.raises(mbd.ModelError, match=r"joint 'servo': it uses 'ref.x', and Block 'ref' is not in the system"):
        system.compile()


def saved_servo():
    system = crab()
    system.add(mbd.LowPass("lag", "pin.angle", 0.1, x0=0.0))
    system.add(TranslationDriver("servo", system["rail"], system.blocks[0]["out"]))
    return system


@pytest.mark.slow
def test_a_followed_driver_is_saved_verified_and_goes_on(tmp_path):
    system = saved_servo()
    system.save(tmp_path / "servo.json")
    again = mbd.load_model(tmp_path / "servo.json")
    one, other = (mbd.simulate(s, 0.2, h=0.01, project_velocity=True) for s in (system, again))
    assert np.array_equal(one["bob"].r, other["bob"].r)
    assert mbd.verify(system).ok
    half = mbd.simulate(system, 0.1, h=0.01, project_velocity=True)
    rest = mbd.simulate(system, 0.2, h=0.01, state=half.state())
    assert np.abs(rest["bob"].r[-1] - one["bob"].r[-1]).max() < 1e-13


def test_kinematics_names_the_block_that_it_does_not_integrate():
    with pytest.raises(mbd.UsageError, match="Block 'ref'"):
        mbd.kinematics(servo(), [0.0, 0.1])


def test_what_takes_drivers_for_functions_of_time_names_the_output():
    for ask in (
        lambda s: mbd.linearize(s, moving=True),
        lambda s: mbd.batch(s.compile(), parameters={"gravity": np.zeros((2, 3))}),
    ):
        with pytest.raises(mbd.UsageError, match=r"here a driver follows 'ref.x'"):
            ask(servo())
