"""Linear systems with inputs and outputs: closed forms, own minimal coordinates, and the nonlinear motion itself."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, RollingDisc, RotationDriver, TranslationDriver

G = 9.81
W = np.array([0.3, 2.0, 9.0])


def cart_pole(M=2.0, m=0.5, l=0.7, J=0.02, damping=0.0):
    s = mbd.System("cart-pole", gravity=(0, 0, -G))
    cart = s.add(mbd.Body("cart", M, (1, 1, 1)))
    pole = s.add(mbd.Body("pole", m, (J, J, J), r=(0, 0, l)))
    rail = s.add(TJ("rail", s.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    s.add(RJ("pin", cart, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    s.add(mbd.Motor("motor", rail, force=0.0))
    s.add(mbd.PointForce("push", pole, point=(0, 0, 2 * l), force=(0, 0, 0)))
    if damping:
        s.add(mbd.JointSpring("damper", rail, k=0.0, c=damping))
    return s


def test_cart_pole_is_its_closed_form():
    M, m, l, J = 2.0, 0.5, 0.7, 0.02
    names = ["rail.displacement", "pin.angle"]
    lin = mbd.linearize(cart_pole(), inputs=["motor.force"], outputs=[*names, "reaction.rail.force[2]"], coordinates=names)
    D = np.array([[M + m, m * l], [m * l, J + m * l * l]])
    K = np.linalg.solve(D, [[0.0, 0.0], [0.0, m * G * l]])
    np.testing.assert_allclose(lin.A, np.block([[np.zeros((2, 2)), np.eye(2)], [K, np.zeros((2, 2))]]), atol=1e-9)
    np.testing.assert_allclose(lin.B[:, 0], [0, 0, *np.linalg.solve(D, [1, 0])], atol=1e-10)
    np.testing.assert_allclose(lin.C, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], atol=1e-8)
    assert lin.states == ("rail.displacement", "pin.angle", "rate of rail.displacement", "rate of pin.angle")
    assert lin.outputs0[2] == pytest.approx((M + m) * G)
    assert lin.motions.frequencies.max() > 0.0


@pytest.mark.slow
def test_response_does_not_depend_on_the_coordinates():
    outputs = ["pin.angle", "pin.force[0]", "body.pole.a[0]", "point.pole(0, 0, 0.3).r[0]", "rail.rate"]
    inputs = ["motor", "push.force[0]"]
    own = mbd.linearize(cart_pole(damping=0.8), inputs=inputs, outputs=outputs).frequency_response(W)
    named = mbd.linearize(cart_pole(damping=0.8), inputs=inputs, outputs=outputs, coordinates=["pole.r[0]", "pin.angle"])
    assert own.shape == (3, 5, 2)
    np.testing.assert_allclose(named.frequency_response(W), own, rtol=1e-8, atol=1e-9)
    one = named.frequency_response(W, input="motor", output="pin.angle")
    np.testing.assert_array_equal(one, named.frequency_response(W)[:, 0, 0])
    whole = mbd.linearize(cart_pole(), inputs=["push"], outputs=["pin.force"])
    assert whole.inputs == ("push[0]", "push[1]", "push[2]")
    assert whole.outputs == ("pin.force[0]", "pin.force[1]", "pin.force[2]")


MS, MU, KS, CS, KT = 300.0, 40.0, 2e4, 1500.0, 1.8e5


def quarter_car():
    s = mbd.System("quarter car", gravity=(0, 0, -G))
    road = s.add(mbd.Body("road", 1.0, (1, 1, 1)))
    wheel = s.add(mbd.Body("wheel", MU, (1, 1, 1), r=(0, 0, 0.3)))
    body = s.add(mbd.Body("body", MS, (1, 1, 1), r=(0, 0, 0.8)))
    rail = s.add(TJ("road rail", s.ground, road, point=(0, 0, 0), axis=(0, 0, 1)))
    for part in (wheel, body):
        s.add(TJ(f"{part.name} rail", s.ground, part, point=(0, 0, 0), axis=(0, 0, 1)))
    s.add(TranslationDriver("profile", rail, 0.0))
    s.add(mbd.TSDA("tyre", road, wheel, point_i=(0, 0, 0), point_j=(0, 0, 0.3), k=KT, c=0, l0=0.3 + (MS + MU) * G / KT))
    s.add(mbd.TSDA("strut", wheel, body, point_i=(0, 0, 0.3), point_j=(0, 0, 0.8), k=KS, c=CS, l0=0.5 + MS * G / KS))
    return s


OF_THE_CAR = ["body.body.r[2]", "body.body.a[2]", "load.tyre.force", "driver.profile.force"]


def of_the_car(w):
    s = 1j * w
    K = np.array([[MS * s * s + CS * s + KS, -CS * s - KS], [-CS * s - KS, MU * s * s + CS * s + KS + KT]])
    body, wheel = np.linalg.solve(K, [0, KT])
    return [body, s * s * body, KT * (wheel - 1.0), s * s + KT * (1.0 - wheel)]


@pytest.mark.slow
def test_quarter_car_on_a_road_that_moves():
    lin = mbd.linearize(quarter_car(), inputs=["profile"], outputs=OF_THE_CAR)
    w = np.array([1.0, 7.0, 60.0])
    np.testing.assert_allclose(lin.frequency_response(w)[:, :, 0], [of_the_car(x) for x in w], rtol=1e-7, atol=1e-7)
    assert not lin.proper  # the road has a mass of its own
    for refused in (lin.to_scipy, lin.step_response):
        with pytest.raises(mbd.UsageError, match=r"'driver.profile.force'.*'profile.acceleration'"):
            refused()


@pytest.mark.parametrize(("name", "order", "states"), [("profile.rate", 1, 5), ("profile.acceleration", 2, 6)])
def test_rate_and_acceleration_of_a_motion_are_inputs(name, order, states):
    lin = mbd.linearize(quarter_car(), inputs=[name], outputs=OF_THE_CAR)
    w = np.array([1.0, 7.0, 60.0])
    want = np.array([of_the_car(x) for x in w]) / (1j * w[:, None]) ** order
    np.testing.assert_allclose(lin.frequency_response(w)[:, :, 0], want, rtol=1e-7, atol=1e-7)
    assert len(lin.states) == states
    assert lin.proper == (order == 2)


@pytest.mark.slow
def test_pendulum_on_a_driven_carriage_follows_accelerations():
    """(J + m l^2) th'' + m g l th + c th' = -m l f'': a relative coordinate is shifted by the motion, the response is not."""
    m, l, J, c = 1.2, 0.6, 0.05, 0.3
    s = mbd.System("crane", gravity=(0, 0, -G))
    crab = s.add(mbd.Body("crab", 3.0, (1, 1, 1)))
    bob = s.add(mbd.Body("bob", m, (J, J, J), r=(0, 0, -l)))
    rail = s.add(TJ("rail", s.ground, crab, point=(0, 0, 0), axis=(1, 0, 0)))
    pin = s.add(RJ("pin", crab, bob, point=(0, 0, 0), axis=(0, -1, 0)))
    s.add(TranslationDriver("drive", rail, 0.0))
    s.add(mbd.RSDA("damper", pin, c=c))
    x = 1j * W
    th = -m * l * x * x / ((J + m * l * l) * x * x + c * x + m * G * l)
    for coordinates in (None, ["pin.angle"], ["bob.r[0]"]):
        lin = mbd.linearize(
            s, inputs=["drive"], outputs=["pin.angle", "body.bob.r[0]", "driver.drive.force"], coordinates=coordinates
        )
        want = [th, 1.0 + l * th, 3.0 * x * x + m * x * x * (1.0 + l * th)]
        np.testing.assert_allclose(lin.frequency_response(W)[:, :, 0].T, want, rtol=1e-7, atol=1e-8)


@pytest.mark.slow
def test_flexible_joint_with_a_rotor():
    """Spong's flexible joint: J th'' + m g l th = k (phi / n - th),  n^2 I phi'' / n = n tau - k (phi / n - th) at the joint side."""
    m, l, J, k, n, I = 1.0, 0.4, 0.03, 80.0, 20.0, 2e-4
    s = mbd.System("flexible joint", gravity=(0, 0, -G))
    hub = s.add(mbd.Body("hub", 0.5, (0.01, 0.01, 0.01)))
    arm = s.add(mbd.Body("arm", m, (J, J, J), r=(0, 0, -l)))
    drive = s.add(RJ("gear side", s.ground, hub, point=(0, 0, 0), axis=(0, 1, 0)))
    flex = s.add(RJ("flex", hub, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    s.add(mbd.RSDA("spring", flex, k=k, c=0.1))
    s.add(mbd.Motor("motor", drive, torque=0.0, ratio=n, rotor_inertia=I))
    lin = mbd.linearize(s, inputs=["motor.torque"], outputs=["gear side.angle", "arm.omega[1]"])
    for w, H in zip(W, lin.frequency_response(W)[:, :, 0], strict=True):
        x = 1j * w
        Z = k + 0.1 * x
        K = np.array([[(0.01 + n * n * I) * x * x + Z, -Z], [-Z, (J + m * l * l) * x * x + m * G * l + Z]])
        hub_angle, arm_angle = np.linalg.solve(K, [n, 0.0])
        np.testing.assert_allclose(H, [hub_angle, x * arm_angle], rtol=1e-7)


POINTS = [np.array(x) for x in ((0.0, 0.0), (0.05, 0.2), (0.45, 0.35), (0.6, 0.0))]


def four_bar(drive=None):
    s = mbd.System("four-bar", gravity=(0, 0, -G))
    bodies = []
    for name, (a, b) in zip(("crank", "coupler", "rocker"), ((0, 1), (1, 2), (3, 2)), strict=True):
        c, d = 0.5 * (POINTS[a] + POINTS[b]), POINTS[b] - POINTS[a]
        angle = np.arctan2(d[1], d[0])
        p = (np.cos(angle / 2), 0, -np.sin(angle / 2), 0)
        bodies.append(s.add(mbd.Body(name, 1.0 + len(bodies), (0.001, 0.01, 0.01), r=(c[0], 0, c[1]), p=p)))
    ends = ((s.ground, bodies[0]), (bodies[0], bodies[1]), (bodies[1], bodies[2]), (s.ground, bodies[2]))
    for name, (i, j), (x, z) in zip("ABCD", ends, POINTS, strict=True):
        s.add(RJ(name, i, j, point=(x, 0, z), axis=(0, -1, 0)))
    if drive is None:
        s.add(mbd.Motor("motor", s["A"], torque=0.0))
    else:
        s.add(RotationDriver("drive", s["A"], drive))
    return s


def own_four_bar(q, qd, tau):
    """Angular acceleration of the crank by J(q) q'' + J' q'^2 / 2 + V' = tau, of a planar four-bar in its crank angle."""
    B, C, D = POINTS[1], POINTS[2], POINTS[3]
    l1, l2, l3 = np.hypot(*B), np.hypot(*(C - B)), np.hypot(*(C - D))
    q0 = np.arctan2(B[1], B[0])

    def pose(q):
        b = l1 * np.array([np.cos(q0 + q), np.sin(q0 + q)])
        d = D - b
        e = np.hypot(*d)
        a = np.arctan2(d[1], d[0]) + np.arccos((l2**2 + e**2 - l3**2) / (2 * l2 * e))
        c = b + l2 * np.array([np.cos(a), np.sin(a)])
        return np.array([*(b / 2), q0 + q, *((b + c) / 2), a, *((c + D) / 2), np.arctan2(*(c - D)[::-1])])

    M = np.array([1, 1, 0.01, 2, 2, 0.01, 3, 3, 0.01])

    def slope(f, x, h=2e-3):
        return (45 * (f(x + h) - f(x - h)) - 9 * (f(x + 2 * h) - f(x - 2 * h)) + (f(x + 3 * h) - f(x - 3 * h))) / (60 * h)

    def inertia(q):
        return M @ slope(pose, q) ** 2

    V = slope(lambda x: G * np.array([1, 2, 3]) @ pose(x)[1::3], q)
    return (tau - V - 0.5 * slope(inertia, q) * qd * qd) / inertia(q)


def own_matrices(q, qd, tau, h=1e-4):
    f = own_four_bar
    return [
        (f(q + h, qd, tau) - f(q - h, qd, tau)) / (2 * h),
        (f(q, qd + h, tau) - f(q, qd - h, tau)) / (2 * h),
        (f(q, qd, tau + h) - f(q, qd, tau - h)) / (2 * h),
    ]


@pytest.mark.slow
def test_four_bar_along_a_motion_by_its_own_minimal_coordinate():
    result = mbd.simulate(four_bar(), 0.2, h=1e-3)
    times = [0.05, 0.2]
    found = mbd.linearize(result, t=times, inputs=["motor"], outputs=["C.angle"], coordinates=["A.angle"])
    assert found.A.shape == (2, 2, 2)
    for k, t in enumerate(times):
        now = result.resample(np.array([t])).joint("A")
        a, b, c = own_matrices(now.angle[0], now.rate[0], 0.0)
        np.testing.assert_allclose(found.A[k], [[0, 1], [a, b]], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found.B[k], [[0], [c]], rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_released_driver_of_a_kinematic_trajectory():
    """The crank at a prescribed speed, its driver released: deviations by the torque about the inverse dynamics."""
    s = four_bar(drive=lambda t: 2.0 * t)
    motion = mbd.kinematics(s, [0.0, 0.1, 0.2])
    found = mbd.linearize(motion, inputs=["drive.torque"], coordinates=["A.angle"])
    torque = mbd.inverse_dynamics(s, [0.0, 0.1, 0.2])["drive"]
    np.testing.assert_allclose(found.inputs0[:, 0], torque, rtol=1e-8)
    for k, t in enumerate((0.0, 0.1, 0.2)):
        a, b, c = own_matrices(2.0 * t, 2.0, torque[k])
        np.testing.assert_allclose(found.A[k], [[0, 1], [a, b]], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found.B[k, 1, 0], c, rtol=1e-6)
    statics = mbd.linearize(motion, inputs=["drive"], outputs=["C.angle", "driver.drive.torque"])
    assert statics.A.shape == (3, 0, 0)
    ratio = motion.joint("C").rate / motion.joint("A").rate
    np.testing.assert_allclose(statics.D[:, 0, 0], ratio, rtol=1e-8)


@pytest.mark.slow
def test_deviations_of_a_tumbling_body_follow_the_matrices_along_its_motion():
    """Rotations are told in the frame of the body, which turns itself: s' = A(t) s against two runs side by side."""
    s = mbd.System("tumbling", gravity=(0, 0, -G))
    body = s.add(mbd.Body("body", 2.0, (0.2, 0.25, 0.4), omega_bar=(1.0, 3.0, -2.0), v=(0.2, 0, 1)))
    s.add(mbd.TSDA("line", s.ground, body, point_i=(0, 0, 1), point_j=(0.1, 0.2, 0.3), k=30.0, c=0.4, l0=0.2))
    h, T, eps = 5e-3, 0.1, 1e-6
    t = np.arange(0.0, T + h / 4, h / 2)
    A = mbd.linearize(mbd.simulate(s, T, h=h / 2), t=t).A
    assert A.shape == (len(t), 12, 12)
    state = s.compile().state()
    ends = []
    for sign in (1.0, -1.0):
        omega, r = state.omega_bar.copy(), state.r.copy()
        omega[1, 0] += sign * eps
        r[1, 1] += sign * eps
        run = mbd.simulate(s, T, h=h / 2, state=state.replace(omega_bar=omega, r=r))
        ends.append((run.r[-1, 1], run.p[-1, 1], run.v[-1, 1], run.omega_bar[-1, 1]))
    (r1, p1, v1, w1), (r0, p0, v0, w0) = ends
    turn = 2 * (p0[0] * p1[1:] - p1[0] * p0[1:] - np.cross(p0[1:], p1[1:]))
    want = np.concatenate([r1 - r0, turn, v1 - v0, w1 - w0]) / (2 * eps)
    x = np.zeros(12)
    x[1] = x[9] = 1.0
    for k in range(0, len(t) - 2, 2):
        k1 = A[k] @ x
        k2 = A[k + 1] @ (x + h / 2 * k1)
        k3 = A[k + 1] @ (x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + A[k + 2] @ (x + h * k3))
    np.testing.assert_allclose(x, want, atol=2e-6)


def controlled(setpoint=0.0):
    s = mbd.System("arm", gravity=(0, 0, -G))
    bar = s.add(mbd.Body("bar", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    pin = s.add(RJ("pin", s.ground, bar, point=(0, 0, 0), axis=(0, -1, 0)))
    pid = s.add(mbd.PID("pid", "pin.angle", setpoint=setpoint, kp=40.0, ki=30.0, kd=8.0, tau=0.01))
    s.add(mbd.Motor("motor", pin, torque=pid["out"]))
    return s


@pytest.mark.slow
def test_setpoint_and_disturbance_of_a_closed_loop():
    J, m, l, kp, ki, kd, tau = 0.7, 2.0, 0.5, 40.0, 30.0, 8.0, 0.01
    found = mbd.equilibrium(controlled(0.3))
    lin = mbd.linearize(found, inputs=["pid.setpoint", "motor"], outputs=["pin.angle", "pid.out"])
    for w, H in zip(W, lin.frequency_response(W), strict=True):
        x = 1j * w
        plant = J * x * x - m * G * l * np.sin(0.3)
        back = kp + ki / x + kd * x / (1 + tau * x)
        np.testing.assert_allclose(H[0], np.array([kp + ki / x, 1.0]) / (plant + back), rtol=1e-7)
        np.testing.assert_allclose(H[1, 1], -back / (plant + back), rtol=1e-7)
    assert lin.inputs0[0] == pytest.approx(0.3)
    assert lin.inputs0[1] == pytest.approx(m * G * l * np.cos(0.3), rel=1e-6)
    t, o = lin.step_response(input="pid.setpoint", output="pin.angle")
    assert o[-1] == pytest.approx(1.0, abs=1e-3)
    assert len(t) == len(o)


def test_output_of_a_block_is_an_input():
    s = mbd.System("command", gravity=(0, 0, -G))
    bar = s.add(mbd.Body("bar", 2.0, (0.01, 0.2, 0.2), r=(0, 0, -0.5)))
    pin = s.add(RJ("pin", s.ground, bar, point=(0, 0, 0), axis=(0, -1, 0)))
    lag = s.add(
        mbd.Block("lag", 0.0, derivative=lambda t, x, z: 5.0 * (z["command.u"] - x[0]), outputs={"x": lambda t, x, z: x[0]})
    )
    s.add(mbd.Block("command", outputs={"u": lambda t, x, z: 0.0}))
    s.add(mbd.Motor("motor", pin, torque=lag["x"]))
    lin = mbd.linearize(s, inputs=["command.u"], outputs=["pin.angle"])
    x = 1j * W
    np.testing.assert_allclose(lin.frequency_response(W)[:, 0, 0], 1 / ((0.7 * x * x + 2.0 * G * 0.5) * (x / 5 + 1)), rtol=1e-7)


@pytest.mark.slow
def test_swept_sine_of_the_nonlinear_model():
    """Small sines in, amplitude and phase of what comes out after the start has decayed."""
    a, w = 1e-4, 3.0
    s = controlled()
    s.add(mbd.JointForce("shake", s["pin"], lambda t: a * np.sin(w * t)))
    lin = mbd.linearize(mbd.equilibrium(controlled()), inputs=["motor"], outputs=["pin.angle", "pin.force[0]"])
    T = 2 * np.pi / w
    t = np.linspace(10 * T, 12 * T, 200, endpoint=False)
    start = mbd.equilibrium(controlled()).state
    result = mbd.simulate(
        s, 12 * T, rtol=1e-10, atol=1e-12, t_eval=t, state=s.compile().state().replace(r=start.r, p=start.p, angles=start.angles)
    )
    H = lin.frequency_response([w])[0, :, 0]
    for k, signal in enumerate((result.joint("pin").angle, result.reaction("pin").force[:, 0])):
        found = 2j * np.mean((signal - signal.mean()) * np.exp(-1j * w * t)) / a
        assert found == pytest.approx(H[k], rel=2e-3)


@pytest.mark.slow
def test_rotor_in_a_steady_motion_takes_forces():
    """A top that stands: outputs of joints are constant, global ones turn with it and are refused."""
    s = mbd.System("spinning", gravity=(0, 0, -G))
    arm = s.add(mbd.Body("arm", 1.0, (0.02, 0.02, 0.02)))
    bob = s.add(mbd.Body("bob", 1.0, (0.01, 0.01, 0.01), r=(0.3, 0, -0.4)))
    spin = s.add(RJ("spin", s.ground, arm, point=(0, 0, 0), axis=(0, 0, 1)))
    s.add(RJ("pin", arm, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    s.add(mbd.Motor("motor", spin, torque=0.0))
    l, m, cos = 0.5, 1.0, 0.8
    I, omega = 0.01 + m * l * l, np.sqrt(m * G * l / (cos * (m * l * l)))  # the sphere's own inertia does not tilt the balance
    model = s.compile()
    steady = mbd.UniformRotation((0, 0, omega))
    lin = mbd.linearize(model, steady=steady, inputs=["motor"], outputs=["pin.angle", "spin.rate"])
    a = 1j * W
    sin = 0.6
    Z = 0.02 + 0.01 + m * l * l * sin * sin
    gyro = 2 * m * l * l * sin * cos * omega
    K = I * a * a + m * l * l * omega**2 * sin * sin
    rate = 1.0 / (Z * a + gyro * gyro * a / K)
    found = lin.frequency_response(W)[:, :, 0]
    np.testing.assert_allclose(found[:, 1], rate, rtol=1e-6)
    np.testing.assert_allclose(np.abs(found[:, 0]), np.abs(gyro * rate / K), rtol=1e-6)
    with pytest.raises(mbd.UsageError, match=r"'body.bob.r\[0\]' turns with the steady motion"):
        mbd.linearize(model, steady=steady, inputs=["motor"], outputs=["body.bob.r[0]"])


@pytest.mark.slow
def test_wheel_that_rolls_is_pushed():
    m, J, R = 2.0, 0.3, 0.5
    s = mbd.System("wheel", gravity=(0, 0, -G))
    wheel = s.add(mbd.Body("wheel", m, (0.2, J, 0.2), r=(0, 0, R)))
    s.add(RollingDisc("road", wheel, center=(0, 0, R), axis=(0, 1, 0), radius=R, plane_point=(0, 0, 0), plane_normal=(0, 0, 1)))
    s.add(mbd.PointForce("push", wheel, point=(0, 0, R), force=(0, 0, 0)))
    lin = mbd.linearize(s, inputs=["push.force[0]"], outputs=["body.wheel.a[0]", "wheel.v[0]"])
    assert lin.D[0, 0] == pytest.approx(1.0 / (m + J / R**2), rel=1e-8)
    assert lin.frequency_response(2.0)[1, 0] == pytest.approx(1.0 / (2.0j * (m + J / R**2)), rel=1e-7)


@pytest.mark.slow
def test_forms_for_other_programs():
    lin = mbd.linearize(cart_pole(), inputs=["motor"], outputs=["pin.angle"])
    other = lin.to_scipy()
    np.testing.assert_array_equal(other.A, lin.A)
    figure = lin.bode(input="motor")
    assert len(figure.axes) == 2
    try:
        import control  # noqa: F401, PLC0415
    except ImportError:
        with pytest.raises(mbd.UsageError, match="pip install control"):
            lin.to_control()
    else:
        assert lin.to_control().input_labels == ["motor"]
    states = mbd.linearize(cart_pole(), inputs=["motor"])
    np.testing.assert_array_equal(states.C, np.eye(4))
    assert states.outputs == states.states
    assert "motor" in repr(states)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": ["moter"]}, r"no input 'moter' \(did you mean 'motor'\?\)"),
        ({"inputs": ["rail"]}, r"'rail' is a joint without a driver: add a Motor"),
        ({"inputs": ["pole"]}, r"'pole' is a body: add a PointForce"),
        ({"inputs": ["damper"]}, r"'damper': a JointSpring has no prescribed force"),
        ({"inputs": ["push[3]"]}, r"'push\[3\]'.*has 3 numbers"),
        ({"inputs": ["motor", "motor"]}, r"'motor' is given twice"),
        ({"inputs": ["motor.speed"]}, r"'motor.speed'.*its force or torque"),
        ({"inputs": 3}, "names of inputs"),
        ({"outputs": ["pin.angel"]}, r"'pin.angel'.*angle"),
        ({"outputs": ["pinn.angle"]}, r"'pinn.angle'.*pin.angle"),
        ({"outputs": []}, "names of quantities"),
        ({"outputs": ["event.x[0].t"]}, "no quantity of one state"),
        ({"outputs": ["pin.angle"], "coordinates": ["pin.angle"]}, "2 degrees of freedom"),
        ({"coordinates": ["pin.angle", "pin.angle"]}, "do not determine the motion"),
        ({"coordinates": ["pin.force[0]", "pin.angle"]}, "must be of a joint"),
        ({"t": [0.0]}, "belongs to a Result"),
    ],
)
def test_wrong_names_are_told(arguments, message):
    with pytest.raises(mbd.UsageError, match=message):
        mbd.linearize(cart_pole(damping=1.0), **arguments)


def test_names_for_python_control_have_no_dots(monkeypatch):
    """python-control refuses dots in names of signals."""
    given = {}

    def made(*matrices, **names):
        assert all("." not in name for some in names.values() for name in some)
        assert all(len(set(some)) == len(some) for some in names.values())
        given.update(names)
        return matrices

    monkeypatch.setitem(sys.modules, "control", SimpleNamespace(StateSpace=made))
    lin = mbd.linearize(cart_pole(), inputs=["motor"], outputs=["pin.angle", "pin.force[0]"])
    lin.to_control()
    assert given["outputs"] == ["pin_angle", "pin_force[0]"]
