"""What joints carry, drivers take and bodies feel, as signals of blocks, events and sensors, and at one state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, TJ, Rope, RotationDriver

G, M, L, J = 9.81, 1.5, 0.4, 0.02
I, FINE = J + M * L * L, {"rtol": 1e-11, "atol": 1e-12}
METHODS = {
    "fixed": {"h": 1e-3},
    "adaptive": FINE,
    "BDF": {"integrator": mbd.BDF(rtol=1e-9, atol=1e-11)},
    "Radau": {"integrator": mbd.RadauIIA(rtol=1e-8, atol=1e-10)},
    "HEM4": {"integrator": mbd.HEM4(h=1e-3)},
}


def arm():
    system = mbd.System("arm", gravity=(0, 0, -G))
    body = system.add(mbd.Body("arm", M, (J, J, J), r=(L * np.cos(0.3), 0, L * np.sin(0.3))))
    return system, system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, -1, 0)))


def lift(y, u):
    """The vertical force of the pin on the arm with the motor torque u."""
    a = (u - M * G * L * np.cos(y[0])) / I
    return M * L * (a * np.cos(y[0]) - y[1] ** 2 * np.sin(y[0])) + M * G


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_block_with_states_reads_the_force_of_a_joint(method):
    def rates(t, y):
        u = 0.05 * y[2]
        return [y[1], (u - M * G * L * np.cos(y[0])) / I, (lift(y, u) - y[2]) / 0.05]

    right = solve_ivp(rates, (0, 0.5), [0.3, 0, 0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    system, pin = arm()
    outputs = {"u": lambda t, x, signals: 0.05 * x[0], "raw": lambda t, x, signals: signals["pin.force"]}
    filtered = mbd.Block("filter", 0.0, derivative=lambda t, x, s: (s["pin.force.z"] - x[0]) / 0.05, outputs=outputs)
    system.add(mbd.Motor("motor", pin, torque=system.add(filtered)["u"]))
    system.add(mbd.Sensor("cell", "pin.force"))
    system.add(mbd.Sensor("felt", "arm.acceleration"))
    result = mbd.simulate(system, 0.5, **METHODS[method])
    bar = 2e-7 if method == "BDF" else 1e-8
    assert abs(result.joint("pin").angle[-1] + 0.3 - right[0]) < bar
    assert abs(result.block("filter").x[-1, 0] - right[2]) < 100 * bar
    force = result.reaction("pin").force
    assert np.array_equal(result.sensor("cell").value, force)
    assert np.array_equal(result.block("filter").outputs["raw"], force)
    assert np.array_equal(result.sensor("felt").value, result["arm"].a)


@pytest.mark.slow
def test_a_sampled_block_reads_the_force_before_its_call():
    period, gain, n = 0.01, 0.3, 50
    u, y = 0.0, np.array([0.3, 0.0])
    for _ in range(n):
        u = u + gain * (lift(y, u) - 5.0) * L
        step = lambda t, y, u=u: [y[1], (u - M * G * L * np.cos(y[0])) / I]  # noqa: E731
        y = solve_ivp(step, (0, period), y, rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    system, pin = arm()
    law = lambda t, x, signals: x + gain * (signals["pin.force"][2] - 5.0) * L  # noqa: E731
    sampled = system.add(mbd.Sampled("controller", period, law))
    system.add(mbd.Motor("motor", pin, torque=sampled["out"]))
    result = mbd.simulate(system, n * period, **FINE)
    assert abs(result.joint("pin").angle[-1] + 0.3 - y[0]) < 1e-8


@pytest.mark.slow
def test_what_all_names_mean():
    system, pin = arm()
    system.add(RotationDriver("drive", pin, lambda t: 0.3 * np.sin(2 * t)))
    names = ("pin.force", "pin.torque", "drive.torque", "arm.acceleration", "arm.angular_acceleration", "pin.force.x")
    result = mbd.simulate(system, 0.3, h=1e-2, sensors=[mbd.Sensor(name, name) for name in names], project_velocity=True)
    right = [
        result.reaction("pin").force,
        result.reaction("pin").torque,
        result.driver("drive").torque,
        result["arm"].a,
        result.omega_bar_dot[:, 1],
        result.reaction("pin").force[:, 0],
    ]
    for name, value in zip(names, right, strict=True):
        assert result.sensor(name).value == pytest.approx(value, abs=1e-12)
    found = mbd.reactions(result.model, result.state(7))
    assert found["pin"].force == pytest.approx(result.reaction("pin").force[7], abs=1e-12)
    assert set(found) == {"pin", "drive"}


@pytest.mark.slow
def test_an_event_at_a_force_and_at_a_contact():
    system, _ = arm()
    result = mbd.simulate(system, 1.0, events=[mbd.Event("limit", "pin.force", level=20.0, terminal=True)], **FINE)
    assert np.linalg.norm(result.reaction("pin").force[-1]) == pytest.approx(20.0, rel=1e-9)
    system = mbd.System("ball", gravity=(0, 0, -G))
    ball = system.add(mbd.Body("ball", 2.0, (1, 1, 1)))
    system.add(TJ("rail", system.ground, ball, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Contact("floor", system.ground, ball, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.PointForce("press", ball, force=lambda t: (0.0, 0.0, -10.0 * t)))
    result = mbd.simulate(system, 1.0, h=1e-2, events=[mbd.Event("hard", "floor.force", level=2.0 * G + 5.0)])
    assert [one.t for one in result.events if one.name == "hard"] == pytest.approx([0.5])


@pytest.mark.slow
def hanging(**options):
    """A bob that falls into its rope, and swings."""
    system = mbd.System("bob", gravity=(0, 0, -G))
    bob = system.add(mbd.Body("bob", 1.3, (0.01, 0.01, 0.01), r=(0.4, 0, -0.45)))
    system.add(Rope("rope", [(system.ground, (0, 0, 0)), (bob, bob.r)], length=0.9, **options))
    return system


@pytest.mark.slow
def test_a_rope_that_pulls_too_much_breaks():
    system = hanging(unilateral=True)
    result = mbd.simulate(system, 1.2, rtol=1e-10, atol=1e-12)
    assert np.array_equal(result.load("rope").force, result.contact("rope").force)
    caught = result.impacts[0].impulse.state
    th, w2 = np.arctan2(caught.r[1, 0], -caught.r[1, 2]), np.sum(caught.v[1] ** 2) / 0.81

    def tension(a):
        return 1.3 * (G * np.cos(a) + 0.9 * (w2 + 2 * G / 0.9 * (np.cos(a) - np.cos(th))))

    snap = mbd.Event("snap", "rope.force", level=float(tension(0.25))).then(release="rope")
    system.add(mbd.Sensor("pull", "rope.force"))
    broken = mbd.simulate(system, 1.2, rtol=1e-10, atol=1e-12, events=[snap])
    state = broken.at(broken.switches[0].t)
    assert np.arctan2(state.r[1, 0], -state.r[1, 2]) == pytest.approx(0.25, abs=1e-8)
    before = broken.t < state.t
    pull = np.linalg.norm(broken.sensor("pull").value, axis=1)
    assert pull[before] == pytest.approx(broken.load("rope").force[before], abs=1e-8)

    elastic = mbd.simulate(
        hanging(EA=300.0), 1.2, rtol=1e-10, atol=1e-12, events=[mbd.Event("snap", "rope.force", level=25.0).then(release="rope")]
    )
    assert np.linalg.norm(elastic.at(elastic.switches[0].t).r[1]) == pytest.approx(0.9 * (1 + 25 / 300), abs=1e-9)


@pytest.mark.slow
def test_events_read_force_elements_and_stops():
    system = mbd.System("door")
    door = system.add(mbd.Body("door", 1.0, (1, 1, 1)))
    hinge = system.add(RJ("hinge", system.ground, door, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("stop", hinge, upper=0.5, restitution=0.0))
    system.add(mbd.Motor("motor", hinge, torque=lambda t: 3 + 2 * t))
    for name in ("stop upper.torque", "motor.torque"):
        event = mbd.Event("pressed", name, level=5.0, terminal=True)
        assert mbd.simulate(system, 2.0, rtol=1e-9, events=[event]).t[-1] == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(mbd.UsageError, match="'stop' is rigid, and carries nothing as a load.*'stop upper.torque'"):
        mbd.simulate(system, 2.0, events=[mbd.Event("pressed", "stop.torque", level=5.0)])
    system.add(mbd.JointFriction("drag", hinge, mbd.Coulomb(0.1), radius=0.1, preload=1.0))
    with pytest.raises(mbd.UsageError, match="'drag.force' is no function of the state while the joint sticks"):
        mbd.simulate(system, 2.0, events=[mbd.Event("pressed", "drag.force", level=5.0)])


def test_loops_and_names_are_told():
    system, pin = arm()
    block = mbd.Block("law", 0.0, derivative=lambda t, x, s: 0.0, outputs={"u": lambda t, x, s: 0.1 * s["pin.force.z"]})
    system.add(mbd.Motor("motor", pin, torque=system.add(block)["u"]))
    with pytest.raises(mbd.ModelError, match=r"algebraic loop: 'law.u' needs 'pin.force.z' needs 'the forces' needs 'law.u'"):
        system.compile()
    system, _ = arm()
    for name, word in (
        ("pin.forc", "did you mean 'force'"),
        ("pn.force", "did you mean 'pin.force'"),
        ("pin.angle", "JointCoordinate"),
    ):
        with pytest.raises(mbd.UsageError, match=word):
            mbd.simulate(system, 0.1, h=1e-2, events=[mbd.Event("x", name)])
    with pytest.raises(mbd.UsageError, match="level"):
        mbd.simulate(system, 0.1, h=1e-2, events=[mbd.Event("x", lambda t, state: t - 0.05, level=2.0)])
    system.add(mbd.Sensor("x", "arm.torque"))
    with pytest.raises(mbd.ModelError, match=r"no signal 'arm.torque'"):
        mbd.simulate(system, 0.1, h=1e-2)
