"""Forces of drivers: closed forms, dense least squares, power balance; and back: the torque without the driver moves alike."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar, pendulum, slider_crank
from joints import RJ, TJ, Distance, RotationDriver, TranslationDriver
from tests.support.faulty_mechanisms import planar_loop, zoo
from tests.support.redundant_loops import GRAVITY, bennett

SAME = 1e-10


def swung(t):
    """A motion of one driver: from rest, not symmetric."""
    return 0.4 * np.sin(1.3 * t) ** 2 + 0.2 * t


def driven(system, joint, f=swung, name="drive"):
    system.add(RotationDriver(name, system[joint], f))
    return system


@pytest.mark.slow
def test_me751_a7(table):
    reference = table("me751_driven_pendulum")
    found = mbd.inverse_dynamics(pendulum(driven=True), reference["t"])
    np.testing.assert_allclose(found["drive"], reference["drive_torque_x"], rtol=0.0, atol=SAME)
    np.testing.assert_allclose(found["drive"][0], -224.8256611173299, rtol=0.0, atol=SAME)
    reaction = found.reaction("pin").force
    np.testing.assert_allclose(
        reaction[:, 1:], np.column_stack([reference["reaction_y"], reference["reaction_z"]]), rtol=0.0, atol=SAME
    )


def test_the_driven_slider_crank(table):
    reference = table("slidercrank3d_driven_crankCOMatA")
    found = mbd.inverse_dynamics(slider_crank(driven=True), reference["t"])
    np.testing.assert_allclose(found["drive"], reference["driving_torque_x"], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(found.power["drive"], 2.0 * np.pi * reference["driving_torque_x"], rtol=0.0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: driven(planar_loop(), "hinge 0"), lambda: driven(bennett(), "hinge 0")])
def test_redundant_loops_against_dense_least_squares(make):
    """The driver's multiplier of numpy's least squares; the null space of Phi_q^T says which reactions are unique."""
    found = mbd.inverse_dynamics(make(), np.linspace(0.0, 1.5, 4))
    result = found.result
    model = result.model
    row = int(model.joints["drive"].rows[0])
    for k in range(len(result)):
        state = result.state(k)
        rows = mbd.evaluate(model, state)
        J = rows.Phi_q.toarray()
        u_dot = np.linalg.lstsq(J, rows.gamma, rcond=None)[0]
        J_bar, w = model.J_bar[1:], state.omega_bar[1:]
        gyroscopic = np.cross(w, np.einsum("kab,kb->ka", J_bar, w))
        inertial = np.hstack([model.mass[1:, None] * (u_dot.reshape(-1, 6)[:, :3] - GRAVITY), 0.0 * w])
        inertial[:, 3:] = np.einsum("kab,kb->ka", J_bar, u_dot.reshape(-1, 6)[:, 3:]) + gyroscopic
        lam = np.linalg.lstsq(J.T, -inertial.ravel(), rcond=None)[0]
        np.testing.assert_allclose(found["drive"][k], -lam[row], rtol=0.0, atol=1e-9)
        null = np.linalg.svd(J.T)[2][np.linalg.matrix_rank(J, tol=1e-8) :]
        assert np.abs(null[:, row]).max() < 1e-9
        shared = {e.name for e in model.joints.values() if np.abs(null[:, e.rows]).max() > 1e-6}
        assert set(found.shared) == shared


def test_flags_of_a_planar_loop_are_the_analytic_ones():
    """Forces in the plane are unique; what acts across it is not: the force along the axes, and torques across them."""
    found = mbd.inverse_dynamics(driven(planar_loop(), "hinge 0"), np.linspace(0.0, 1.0, 3))
    across = ("force z", "torque x", "torque y")
    assert found.shared == {f"hinge {k}": across for k in range(4)}
    with pytest.raises(mbd.UsageError, match="hinge 2.*not unique: force z"):
        found.reaction("hinge 2")
    assert found.reaction("drive").torque.shape == (3, 3)
    assert "not unique" in str(found)


@pytest.mark.slow
def test_redundant_and_minimal_four_bars_need_the_same_torque():
    """Four revolutes against RJ, RJ, SJ, CJ of the gallery."""
    minimal = four_bar()
    redundant = mbd.System("four-bar", gravity=minimal.gravity)
    bodies = {body.name: redundant.add(body) for body in minimal.bodies[1:]} | {"ground": redundant.ground}
    for joint in list(minimal.joints):
        point = joint.frame_i.point
        redundant.add(RJ(joint.name, bodies[joint.i.name], bodies[joint.j.name], point=point, axis=(0, 1, 0)))
    t = np.linspace(0.0, 2.0, 11)
    one = mbd.inverse_dynamics(driven(minimal, "A"), t)
    two = mbd.inverse_dynamics(driven(redundant, "A"), t)
    assert one.result.model.nc == 18
    assert two.result.model.nc == 21
    np.testing.assert_allclose(two["drive"], one["drive"], rtol=0.0, atol=SAME)
    assert one.shared == {}


@pytest.mark.slow
@pytest.mark.parametrize("redundant", [False, True])
def test_inverse_then_forward_returns_the_motion(redundant):
    """The torque, as an actuator between the same bodies, moves the mechanism as the driver did."""
    make, joint = (planar_loop, "hinge 0") if redundant else (four_bar, "A")
    t = np.linspace(0.0, 1.0, 201)
    prescribed = mbd.inverse_dynamics(driven(make(), joint), t)
    torque = mbd.QuinticSpline(t, prescribed["drive"])
    free = make()
    free.add(mbd.RSDA("motor", free[joint], k=0.0, actuator=lambda time, theta, rate: -float(torque.values(time)[0])))
    first = prescribed.result.state(0)
    start = free.compile().state().replace(v=first.v, omega_bar=first.omega_bar)
    result = mbd.simulate(free, 1.0, h=2e-3, state=start, store_every=100)
    np.testing.assert_allclose(result.r, prescribed.result.r[::40], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(result.omega_bar, prescribed.result.omega_bar[::40], rtol=0.0, atol=1e-7)


def test_power_of_all_kinds_of_drivers_is_the_rate_of_energy():
    """An angle, a distance (whose row is squared) and a displacement, driven together."""
    system = mbd.System("three drives", gravity=(0.3, -9.81, 1.0))
    arm = system.add(mbd.Body("arm", 2.0, (0.1, 0.2, 0.25), r=(1, 0, 0)))
    slider = system.add(mbd.Body("slider", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 2)))
    bob = system.add(mbd.Body("bob", 1.0, (0.3, 0.2, 0.25), r=(0, 3, 2)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 0, 1)))
    guide = system.add(TJ("guide", system.ground, slider, point=(0, 0, 2), axis=(1, 0, 0)))
    system.add(RotationDriver("turn", pin, swung))
    system.add(TranslationDriver("push", guide, lambda t: 0.3 * np.sin(t)))
    system.add(RJ("hinge", slider, bob, point=(0, 1, 2), axis=(0, 0, 1)))
    system.add(
        Distance("jack", arm, bob, point_i=(2, 0, 0), point_j=(0, 4, 2), distance=lambda t: np.sqrt(24.0) + 0.2 * np.sin(0.7 * t))
    )
    h = 1e-4
    t = np.array([0.5 - h, 0.5, 0.5 + h])
    found = mbd.inverse_dynamics(system, t)
    energy = found.result.energy()
    total = energy.kinetic + energy.potential
    rate = (total[2] - total[0]) / (2 * h)
    np.testing.assert_allclose(sum(found.power[name][1] for name in ("turn", "push", "jack")), rate, rtol=1e-7)
    np.testing.assert_allclose(found["push"], found.reaction("push", frame="joint").force[:, 2], rtol=0.0, atol=SAME)
    np.testing.assert_allclose(np.abs(found["jack"]), np.linalg.norm(found.reaction("jack").force, axis=1), rtol=1e-12)


def test_a_state_a_result_and_times_ask_the_same():
    system = driven(four_bar(), "A")
    times = mbd.inverse_dynamics(system, [0.1, 0.4])
    model = system.compile()
    assert mbd.inverse_dynamics(model, times.result)["drive"].tolist() == times["drive"].tolist()
    one = mbd.inverse_dynamics(model, times.result.state(1))
    np.testing.assert_allclose(one["drive"], times["drive"][1:], rtol=1e-12)
    two = mbd.inverse_dynamics(system, [times.result.state(0), times.result.state(1)], drivers=[system["drive"]])
    np.testing.assert_allclose(two[system["drive"]], times["drive"], rtol=1e-12)


@pytest.mark.slow
def test_two_motors_on_one_shaft_are_refused_and_named():
    system = driven(driven(pendulum(), "pin"), "pin", name="second")
    with pytest.raises(mbd.ModelError) as caught:
        mbd.inverse_dynamics(system, [0.0, 0.5])
    assert [fault.where for fault in caught.value.faults] == ["driver 'drive'", "driver 'second'"]
    assert "shares the load with 'second' in any proportion" in str(caught.value.faults[0])
    half = mbd.inverse_dynamics(system, [0.0, 0.5], redundancy=mbd.MinimumNorm())
    alone = mbd.inverse_dynamics(driven(pendulum(), "pin"), [0.0, 0.5])
    np.testing.assert_allclose(half["drive"], alone["drive"] / 2.0, rtol=1e-9)
    np.testing.assert_allclose(half["second"], alone["drive"] / 2.0, rtol=1e-9)


def test_too_few_drivers_are_refused():
    system = driven(double_pendulum(), "pin 1")
    with pytest.raises(mbd.UsageError, match=r"1 degree of freedom is free: .*'bar 2' turns"):
        mbd.inverse_dynamics(system, [0.0, 1.0])
    state = system.compile().state()
    with pytest.raises(mbd.UsageError, match="inverse_dynamics needs as many drivers"):
        mbd.inverse_dynamics(system, state)


def test_a_motion_that_does_not_fit_is_refused():
    system = driven(four_bar(), "A")
    result = mbd.kinematics(system, [0.0, 0.5])
    late = result.state(1).replace(t=0.1)
    with pytest.raises(mbd.ModelError, match=r"'drive': the motion does not fit at t = 0.1 s"):
        mbd.inverse_dynamics(system, [result.state(0), late])
    fast = result.state(1).replace(v=2.0 * result.state(1).v)
    with pytest.raises(mbd.ModelError, match="bodies move apart"):
        mbd.inverse_dynamics(system, fast)


@pytest.mark.slow
def test_bad_arguments():
    system = driven(four_bar(), "A")
    found = mbd.inverse_dynamics(system, [0.0])
    for call, text in (
        (lambda: found["motor"], "no driver is called 'motor'"),
        (lambda: mbd.inverse_dynamics(system, [0.0], drivers=["B"]), "5 driven rows"),
        (lambda: mbd.inverse_dynamics(system, [0.0], drivers=["Z"]), "no joint is called 'Z'"),
        (lambda: mbd.inverse_dynamics(system, [0.0], redundancy="least"), "must be an object"),
        (lambda: mbd.inverse_dynamics(system, []), "t must be"),
    ):
        with pytest.raises(mbd.UsageError, match=text):
            call()
    with pytest.raises(mbd.ModelError, match="shape"):
        mbd.inverse_dynamics(system, zoo().compile(check_pose=False).state())


def with_stop(system, limit):
    system.add(mbd.JointLimit("stop", system["pin"], lower=-limit, upper=limit, restitution=0.5))
    return system


@pytest.mark.slow
def test_a_motion_that_may_have_impacts_is_taken_piece_by_piece():
    free = mbd.simulate(pendulum(driven=True), 0.5, h=1e-3)
    system = with_stop(pendulum(driven=True), 10.0)
    unhit = mbd.simulate(system, 0.5, h=1e-3)
    assert isinstance(unhit, mbd.Result)
    assert len(unhit.segments) == 1
    found, wanted = mbd.inverse_dynamics(system, unhit), mbd.inverse_dynamics(pendulum(driven=True), free)
    np.testing.assert_allclose(found["drive"], wanted["drive"], rtol=0.0, atol=SAME)
    hit = mbd.simulate(with_stop(pendulum(), 0.1), 1.0, h=1e-3)
    assert len(hit.segments) > 1
    with pytest.raises(mbd.UsageError, match=r"pieces between impacts.*result\.segments\[0\]"):
        mbd.inverse_dynamics(system, hit)
