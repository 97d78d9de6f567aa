"""Motors: rotors against the equations of motion with their spin, torque-speed curves against closed forms, files and faults."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Coupling

EXACT = 1e-11
"""Accelerations of size 10: rounding, and the negligible mass of a rotor (1e-13 of a body beside it)."""

RATIO, INERTIA, TORQUE = 10.0, 2e-4, 0.3


def drive(motor):
    system = mbd.System("drive")
    wheel = system.add(mbd.Body("wheel", 3.0, (0.2, 0.2, 0.4)))
    shaft = system.add(RJ("shaft", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1), q0=0.5))
    system.add(motor(shaft))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1.0, RATIO, -RATIO])
def test_on_the_ground_the_rotor_adds_the_square_of_the_ratio(ratio):
    system = drive(lambda q: mbd.Motor("motor", q, torque=TORQUE, ratio=ratio, rotor_inertia=INERTIA))
    a = mbd.accelerations(system).omega_bar_dot[1, 2]
    assert a == pytest.approx(ratio * TORQUE / (0.4 + ratio**2 * INERTIA), rel=1e-12)
    result = mbd.simulate(system, 1.0, h=1e-3)
    motor = result.load("motor")
    np.testing.assert_allclose(motor.angle, ratio * result.joint("shaft").angle, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(motor.torque, TORQUE, rtol=0.0, atol=0.0)
    assert result.energy().kinetic[-1] == pytest.approx(TORQUE * (motor.angle[-1] - motor.angle[0]), rel=1e-8)
    assert abs(result.energy().drift).max() < 1e-7  # RK4; the rotor turns by up to 0.07 rad in a step


def arm(motor, speeds):
    """A plane arm with a motor of link 1 that turns link 2; q = 0 as modelled, with the given rates."""
    w1, w2 = speeds
    system = mbd.System("arm", gravity=(0, -9.81, 0))
    one = system.add(mbd.Body("one", 2.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0), v=(0, 0.5 * w1, 0), omega_bar=(0, 0, w1)))
    velocity = w1 + 0.4 * (w1 + w2)
    two = system.add(mbd.Body("two", 1.0, (0.01, 0.05, 0.05), r=(1.4, 0, 0), v=(0, velocity, 0), omega_bar=(0, 0, w1 + w2)))
    system.add(RJ("shoulder", system.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
    elbow = system.add(RJ("elbow", one, two, point=(1.0, 0, 0), axis=(0, 0, 1)))
    system.add(motor(elbow))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("speeds", [(0.0, 0.0), (1.3, -2.1)])
def test_on_a_moving_link_the_rotor_spins_with_the_link_too(speeds):
    """Lagrange's equations of the arm with the spin energy J (q1' + n q2')^2 / 2 of the rotor."""
    n, h, c2 = RATIO, 0.4, 0.4
    M12 = 0.05 + c2**2 + h + n * INERTIA
    M = np.array([[0.1 + 2.0 * 0.25 + 0.05 + 1.0 + c2**2 + 2.0 * h + INERTIA, M12], [M12, 0.05 + c2**2 + n**2 * INERTIA]])
    weight = 9.81 * np.array([2.0 * 0.5 + 1.0 + c2, c2])
    wanted = np.linalg.solve(M, np.array([0.0, n * TORQUE]) - weight)  # at q2 = 0 there are no terms of the speeds
    system = arm(lambda q: mbd.Motor("motor", q, torque=TORQUE, ratio=n, rotor_inertia=INERTIA), speeds)
    a = mbd.accelerations(system).omega_bar_dot[:, 2]
    np.testing.assert_allclose([a[1], a[2] - a[1]], wanted, rtol=0.0, atol=EXACT * 100)
    result = mbd.simulate(system, 0.3, h=1e-3)
    assert abs(result.energy().drift).max() < 1e-6
    assert result.success


def test_in_space_the_rotor_turns_its_carrier_by_the_gyroscopic_torque():
    """A free gyrostat: d(H)/dt + omega x H = 0 with H = J omega + (J_w q' + J_r (omega_z + n q')) z, and the equation of the wheel."""
    n, omega, rate = RATIO, np.array([0.4, -0.7, 0.3]), 5.0
    J_c, J_w, J_r = np.array([0.5, 0.6, 0.7]), np.array([0.05, 0.05, 0.08]), 3e-3
    system = mbd.System("gyrostat")
    carrier = system.add(mbd.Body("carrier", 4.0, J_c, omega_bar=omega))
    wheel = system.add(mbd.Body("wheel", 1.0, J_w, omega_bar=omega + np.array([0.0, 0.0, rate])))
    pin = system.add(RJ("pin", carrier, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    motor = system.add(mbd.Motor("motor", pin, torque=TORQUE, ratio=n, rotor_inertia=J_r))
    assert motor.parts()[0].omega_bar[2] == pytest.approx(omega[2] + n * rate, rel=1e-14)
    z = np.array([0.0, 0.0, 1.0])
    H = (J_c + J_w) * omega + (J_w[2] * rate + J_r * (omega[2] + n * rate)) * z
    A = np.zeros((4, 4))
    A[:3, :3] = np.diag(J_c + J_w + J_r * z)
    A[:3, 3] = (J_w[2] + J_r * n) * z
    A[3, 2:] = J_w[2] + n * J_r, J_w[2] + n**2 * J_r
    wanted = np.linalg.solve(A, np.concatenate([-np.cross(omega, H), [n * TORQUE]]))
    a = mbd.accelerations(system).omega_bar_dot
    np.testing.assert_allclose([*a[1], a[2, 2] - a[1, 2]], wanted, rtol=0.0, atol=EXACT * 100)


def test_a_spindle_drives_a_slide_and_a_linear_motor_pushes_it():
    """x'' = n T / (m + n^2 J), n in rad/m; without a rotor n T / m, and F / m."""

    def slide(motor):
        system = mbd.System("slide")
        block = system.add(mbd.Body("block", 4.0, (0.1, 0.1, 0.1)))
        system.add(motor(system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))))
        return mbd.accelerations(system).v_dot[1, 0]

    n = 2.0 * np.pi / 0.01
    with_rotor = slide(lambda q: mbd.Motor("motor", q, torque=0.01, ratio=n, rotor_inertia=1e-5))
    assert with_rotor == pytest.approx(n * 0.01 / (4.0 + n * n * 1e-5), rel=1e-12)
    assert slide(lambda q: mbd.Motor("motor", q, torque=0.01, ratio=n)) == pytest.approx(n * 0.01 / 4.0, rel=1e-14)
    assert slide(lambda q: mbd.Motor("motor", q, force=3.0)) == pytest.approx(0.75, rel=1e-14)


CURVES = {
    "two points": ((0.0, 200.0), (2.0, 0.0)),
    "spline": mbd.QuinticSpline(np.linspace(0.0, 200.0, 9), 2.0 - 0.01 * np.linspace(0.0, 200.0, 9)),
}


@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("rotor", [0.0, INERTIA])
@pytest.mark.parametrize("method", [mbd.RK4(1e-3), mbd.GeneralizedAlpha(1e-3, rho=1.0)], ids=lambda m: type(m).__name__)
def test_a_motor_with_a_falling_curve_approaches_its_no_load_speed(curve, rotor, method):
    """T = T_0 (1 - w / w_0):  w = w_0 (1 - exp(-t / tau)),  tau = w_0 (J / n^2 + J_r) / T_0."""
    system = drive(lambda q: mbd.Motor("motor", q, curve=CURVES[curve], ratio=RATIO, rotor_inertia=rotor))
    result = mbd.simulate(system, 0.5, integrator=method)
    tau = 200.0 * (0.4 / RATIO**2 + rotor) / 2.0
    w = 200.0 * (1.0 - np.exp(-result.t / tau))
    tolerance = 1e-9 if isinstance(method, mbd.RK4) else 1e-4  # orders four and two; w is 100 rad/s
    np.testing.assert_allclose(result.load("motor").rate, w, rtol=0.0, atol=100 * tolerance)
    np.testing.assert_allclose(result.load("motor").torque, 2.0 - 0.01 * w, rtol=0.0, atol=tolerance)


def control(t, angle, speed):
    return 0.5 - 0.02 * angle - 0.001 * speed


@pytest.mark.slow
def test_files_and_pickles_give_the_same_motion_with_the_parts_in_their_order(tmp_path):
    system = mbd.System("file", gravity=(0, -9.81, 0))
    one = system.add(mbd.Body("one", 2.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0)))
    a = system.add(RJ("a", system.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Motor("first", a, torque=control, ratio=20.0, rotor_inertia=1e-4))
    two = system.add(mbd.Body("two", 1.0, (0.01, 0.05, 0.05), r=(1.4, 0, 0)))
    b = system.add(RJ("b", one, two, point=(1.0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Motor("second", b, curve=CURVES["two points"], ratio=5.0, rotor_inertia=1e-4))
    system.add(mbd.Motor("plain", b, torque=mbd.Expression("0.1 * sin(t)")))
    assert [body.name for body in system.bodies] == ["ground", "one", "first rotor", "two", "second rotor"]
    path = system.save(tmp_path / "model.json")
    again = mbd.load_model(path, allow_code=True)
    assert again.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert [body.name for body in again.bodies] == [body.name for body in system.bodies]
    assert [joint.name for joint in again.joints] == ["a", "first bearing", "first gear", "b", "second bearing", "second gear"]
    result = mbd.simulate(system, 0.1, h=1e-2)
    for other in (again, pickle.loads(pickle.dumps(system))):
        np.testing.assert_array_equal(mbd.simulate(other, 0.1, h=1e-2).y, result.y)
    result.save(tmp_path / "run.nc")
    np.testing.assert_array_equal(mbd.load(tmp_path / "run.nc", allow_code=True).load("first").torque, result.load("first").torque)
    assert not mbd.mobility(system).warnings
    assert mbd.mobility(system).degrees_of_freedom == 2
    assert abs(result.reaction("first gear", on="one").torque[-1, 2]) > 0.0


WRONG = {
    "nothing": (lambda q, x: mbd.Motor("m", q), "it has no torque"),
    "both": (lambda q, x: mbd.Motor("m", q, torque=1.0, curve=CURVES["two points"]), "it has torque and curve"),
    "force on an angle": (lambda q, x: mbd.Motor("m", q, force=1.0), "it has a force, and shaft.angle is an angle"),
    "ratio": (lambda q, x: mbd.Motor("m", q, torque=1.0, ratio=0.0), "ratio is zero"),
    "inertia": (lambda q, x: mbd.Motor("m", q, torque=1.0, rotor_inertia=-1.0), "rotor_inertia is -1 kg m2, must not be negative"),
    "linear rotor": (lambda q, x: mbd.Motor("m", x, force=1.0, rotor_inertia=1.0), "it is a linear motor, and has a rotor_inertia"),
    "torque": (lambda q, x: mbd.Motor("m", q, torque=lambda a, b: 0.0), r"Give torque\(t\) or torque\(t, angle, speed\)"),
    "curve": (lambda q, x: mbd.Motor("m", q, curve=(1.0, 2.0)), "not a table of two equally long lists"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_one_fault_that_names_the_motor(case):
    make, words = WRONG[case]
    system = mbd.System("rig")
    wheel, block = (system.add(mbd.Body(name, 1.0, (1, 1, 1))) for name in ("wheel", "block"))
    shaft = system.add(RJ("shaft", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(make(shaft, rail))
    with pytest.raises(mbd.ModelError, match=words) as caught:
        system.compile()
    assert [fault.where for fault in caught.value.faults] == ["Motor 'm'"]


def test_a_rotor_does_not_make_the_tolerances_of_its_model_large():
    """Everything at one place, where the length of the model is a radius of gyration, and not that of a rotor without mass."""

    def made(rotor_inertia):
        system = mbd.System("screw jack")
        nut = system.add(mbd.Body("nut", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
        rail = system.add(TJ("rail", system.ground, nut, point=(0, 0, 0), axis=(1, 0, 0)))
        wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 5.0, 0)))
        axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
        system.add(Coupling("pair", {axle: 1.0, rail: -7.0}))
        system.add(mbd.Motor("motor", axle, torque=0.0, ratio=5.0, rotor_inertia=rotor_inertia))
        return system

    lengths = [made(J).compile(check_pose=False).length for J in (0.0, 1e-4)]
    assert abs(lengths[1] / lengths[0] - 1.0) < 1e-3
    for J in (0.0, 1e-4):
        with pytest.raises(mbd.ModelError, match="pair"):
            mbd.simulate(made(J), 0.1, h=1e-2)
