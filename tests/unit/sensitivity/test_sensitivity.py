import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.sensitivity.parameters import nominal_model
from haugmbd.sensitivity.sensitivity import Problem
from joints import CJ, RJ, TJ, UJ, Cam, Coupling, Distance, Gear, RollingDisc, RotationDriver
from tests.support.designs import differences, four_bar, pendulum, worst

EXACT = 1e-8
OUTPUTS = ["body.crank.r[0]", "body.rocker.omega[2]", "joint.A.angle", "reaction.A.force[0]"]


def of_run(build, outputs, t_end, **arguments):
    def f(**p):
        result = mbd.simulate(build(**p), t_end, **arguments)
        return read(result, outputs)

    return f


def read(result, outputs):
    found = []
    for name in outputs:
        kind, owner, what = name.split(".")
        what, _, index = what.partition("[")
        of = {"body": result.__getitem__, "joint": result.joint, "reaction": result.reaction, "load": result.load}[kind](owner)
        values = getattr(of, what)
        found.append(values[-1, int(index[:-1])] if index else values[-1])
    return np.array(found)


@pytest.mark.parametrize("integrator", [mbd.RK4(h=5e-3), mbd.Heun(h=2e-3)], ids=lambda x: type(x).__name__)
def test_it_is_the_derivative_of_the_discrete_solution_with_redundant_rows(integrator):
    p = {"l2": 1.1, "m": 1.0, "d": 1.0003}
    S = mbd.sensitivity(four_bar, p, OUTPUTS, t_end=0.05, integrator=integrator)
    f = of_run(four_bar, OUTPUTS, 0.05, integrator=integrator)
    assert np.abs(S.values - f(**p)).max() < 1e-9
    assert worst(S.jacobian, differences(f, p)) < EXACT


def pendulum_by_angle(p, t_end, steps=400):
    """Return angle, rate and their derivatives by complex step, by RK4 in the angle."""
    columns = []
    for name in p:
        q = dict(p) | {name: p[name] + 1e-40j}
        I = q["J"] + q["m"] * q["L"] ** 2

        def f(y, q=q, I=I):
            th, w = y
            return np.array([w, (-q["m"] * q["g"] * q["L"] * np.cos(th) - q["k"] * (th - q["angle"]) - q["c"] * w) / I])

        y, h = np.array([q["angle"], q["rate"]], dtype=complex), t_end / steps
        for _ in range(steps):
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))
        columns.append(y.imag / 1e-40)
    return y.real, np.array(columns).T


def test_it_agrees_with_the_complex_step_of_the_motion_in_the_angle_by_every_parameter():
    p = {"m": 1.2, "L": 0.5, "J": 0.05, "k": 1.5, "c": 0.12, "angle": -0.4, "rate": 2.0, "g": 9.81}
    outputs = ["joint.pin.angle", "body.bob.omega[2]"]
    S = mbd.sensitivity(pendulum, p, outputs, t_end=0.5, integrator=mbd.DOP853(rtol=1e-11, atol=1e-12))
    values, exact = pendulum_by_angle(p, 0.5)
    exact[0, list(p).index("angle")] -= 1.0  # the joint's angle is 0 at the modelled pose
    assert abs(S.values[1] - values[1]) < 1e-9
    assert worst(S.jacobian, exact) < EXACT


def test_outputs_at_times_between_steps_and_over_all_steps_are_those_of_runs_that_end_there():
    p, arguments = {"L": 0.5, "k": 1.5}, {"integrator": mbd.DormandPrince(rtol=1e-9, atol=1e-10)}
    times = np.array([0.111, 0.2345])
    S = mbd.sensitivity(pendulum, p, "joint.pin.angle", t_end=0.3, t_eval=times, **arguments)
    _, exact = pendulum_by_angle(
        {"m": 1.2, "L": 0.5, "J": 0.05, "k": 1.5, "c": 0.12, "angle": -0.4, "rate": 2.0, "g": 9.81}, 0.2345
    )
    assert np.allclose(S.over_time.t, times)
    assert S.over_time.jacobian.shape == (2, 1, 2)
    assert np.abs(S.jacobian[0] - exact[0, [1, 3]]).max() < 1e-7
    whole = mbd.sensitivity(pendulum, p, "joint.pin.angle", t_end=0.3, **arguments).over_time
    assert len(whole.t) > 5
    assert np.abs(whole.jacobian[0]).max() < 1e-10


@pytest.mark.slow
def test_angles_beyond_a_turn_over_time():
    t, p = np.linspace(0.1, 1.0, 8), {"L": 0.5, "k": 0.3}

    def build(L, k):
        return pendulum(L=L, k=k, rate=9.0)

    over = mbd.sensitivity(build, p, ["joint.pin.angle", "joint.pin.rate"], t_end=1.0, h=5e-3, t_eval=t).over_time
    exact = differences(lambda **p: mbd.simulate(build(**p), 1.0, h=5e-3, t_eval=t).joint("pin").angle, p)
    assert np.abs(over.jacobian[:, 0] - exact).max() < EXACT * np.abs(exact).max()


def test_kinematics_by_lengths_and_speed():
    p, t = {"l1": 0.4, "l3": 0.9, "d": 1.0, "speed": 2.0}, np.array([0.0, 0.3, 0.5])
    outputs = ["body.coupler.r[1]", "body.rocker.omega[2]", "body.rocker.omega_dot[2]", "reaction.drive.torque[2]"]
    S = mbd.sensitivity(four_bar, p, outputs, run="kinematics", t=t)
    exact = differences(lambda **p: read(mbd.kinematics(four_bar(**p), t), outputs), p)
    assert worst(S.jacobian, exact) < EXACT
    torque = mbd.sensitivity(four_bar, p, ["driver.drive.torque"], run="inverse_dynamics", motion=t)
    assert np.allclose(np.abs(torque.jacobian[0]), np.abs(S.jacobian[3]), rtol=1e-6)


def test_a_number_that_opens_the_modelled_pose_moves_it_by_the_least_change_and_then_with_the_motion():
    """Discs a, which a spring holds, and b with a + b = f:  da/df = b's part of the inertia times cos(w t)."""

    def build(f):
        system, joints = mbd.System("discs"), []
        for name, J, z in (("a", 0.3, 0.0), ("b", 0.2, 1.0)):
            disc = system.add(mbd.Body(name, 1.0, (J, J, J), r=(0, 0, z)))
            joints.append(system.add(RJ(f"pin {name}", system.ground, disc, point=(0, 0, z), axis=(0, 0, 1))))
        system.add(mbd.RSDA("spring", joints[0], k=4.0))
        system.add(Coupling("grip", {joints[0]: 1.0, joints[1]: 1.0}, f=f))
        return system

    w, outputs = np.sqrt(4.0 / 0.5), ["joint.pin a.angle", "joint.pin a.rate"]
    exact = 0.4 * np.array([[np.cos(0.3 * w)], [-w * np.sin(0.3 * w)]])
    for method in (mbd.RK4(h=2e-3), mbd.RadauIIA(h=1e-2)):
        S = mbd.sensitivity(build, {"f": 0.0}, outputs, t_end=0.3, integrator=method)
        assert worst(S.jacobian, exact) < EXACT


def test_accelerations_of_the_modelled_state_in_closed_form():
    p = {"m": 1.7, "L": 0.45, "J": 0.09}
    S = mbd.sensitivity(lambda m, L, J: pendulum(m, L, J, k=0.0, c=0.0), p, "body.bob.omega_dot[2]", run="accelerations")
    I, b = 0.09 + 1.7 * 0.45**2, 9.81 * np.cos(-0.4)
    exact = np.array(
        [-0.45 * b / I + 1.7 * 0.45**3 * b / I**2, -1.7 * b / I + 2 * 1.7**2 * 0.45**2 * b / I**2, 1.7 * 0.45 * b / I**2]
    )
    assert worst(S.jacobian, exact[None]) < EXACT


def test_an_eigenvalue_in_closed_form_about_a_rest_that_moves():
    p = {"m": 1.2, "L": 0.5, "J": 0.05, "k": 30.0, "c": 0.3}

    def build(**p):
        return pendulum(angle=-np.pi / 2, rate=0.0, **p)

    S = mbd.sensitivity(build, p, ["eigenvalue[0].real", "eigenvalue[0].imag"], run="linearize")

    def exact(m, L, J, k, c):
        I = J + m * L**2
        return np.array([-c / (2 * I), np.sqrt((m * 9.81 * L + k) / I - (c / (2 * I)) ** 2)])

    assert worst(S.jacobian, differences(exact, p)) < EXACT
    moves = mbd.sensitivity(
        lambda k, m: pendulum(m=m, k=k, c=0.0, angle=-0.3, rate=0.0),
        {"k": 60.0, "m": 1.2},
        "eigenvalue[0].imag",
        run="linearize",
        settle=True,
    )

    def settled(k, m):
        th = 0.0
        for _ in range(60):  # k th = -m g L cos(angle + th)
            th -= (k * th + m * 9.81 * 0.5 * np.cos(th - 0.3)) / (k - m * 9.81 * 0.5 * np.sin(th - 0.3))
        return np.array([np.sqrt((k - m * 9.81 * 0.5 * np.sin(th - 0.3)) / (0.05 + m * 0.25))])

    assert worst(moves.jacobian, differences(settled, {"k": 60.0, "m": 1.2})) < EXACT


def test_an_equilibrium_and_its_reactions():
    def build(k, m):
        return pendulum(m=m, k=k, angle=-0.3, rate=0.0)

    outputs = ["body.bob.r[0]", "reaction.pin.torque[2]", "load.spring.torque"]
    S = mbd.sensitivity(build, {"k": 60.0, "m": 1.2}, outputs[:1], run="equilibrium")

    def exact(k, m):
        return np.array([mbd.equilibrium(build(k, m)).state.r[1, 0]])

    assert worst(S.jacobian, differences(exact, {"k": 60.0, "m": 1.2}, 1e-2)) < 1e-7


def test_a_pose_that_is_closed_moves_with_lengths():
    p = {"l2": 1.1, "d": 1.0}
    S = mbd.sensitivity(four_bar, p, ["body.rocker.r[0]", "body.rocker.r[1]"], run="assemble")
    assert worst(S.jacobian, differences(lambda **p: four_bar(**p).bodies[3].r[:2], p)) < EXACT


def test_reactions_that_redundant_rows_share_have_no_derivative_and_the_others_have():
    S = mbd.sensitivity(four_bar, {"l2": 1.1}, ["reaction.D.force[2]", "reaction.D.force[0]"], t_end=0.02, h=5e-3)
    assert S.unique.tolist() == [False, True]
    assert np.isnan(S.jacobian[0]).all()
    assert np.isfinite(S.jacobian[1]).all()
    assert "not unique" in S.table()


def test_equal_points_and_axes_have_derivatives_of_their_own():
    by_value = mbd.sensitivity(four_bar, {"d": 1.0}, ["joint.A.rate"], t_end=0.03, h=5e-3).jacobian
    beside = mbd.sensitivity(four_bar, {"d": 1.0 + 1e-9}, ["joint.A.rate"], t_end=0.03, h=5e-3).jacobian
    assert abs(by_value - beside) < 1e-6 * abs(beside)


def test_paths_of_a_system_are_parameters():
    system = pendulum()
    by_path = mbd.sensitivity(system, {"bob.mass": 1.2, "spring.k": 1.5, "gravity[1]": -9.81}, "joint.pin.rate", t_end=0.05, h=5e-3)
    by_build = mbd.sensitivity(pendulum, {"m": 1.2, "k": 1.5, "g": 9.81}, "joint.pin.rate", t_end=0.05, h=5e-3)
    assert np.allclose(by_path.jacobian, by_build.jacobian * [1, 1, -1], rtol=1e-8)


def kinked(L):
    return pendulum(m=1.0 + abs(L - 0.5))


def with_function(k):
    system = pendulum()
    system.add(mbd.StateForce("pull", [system["bob"]], force=lambda t, r, p, v, omega_bar: [(0.0, -k, 0.0, 0.0, 0.0, 0.0)]))
    return system


def structured(n):
    system = pendulum()
    if n > 1.0:
        system.add(mbd.Body("extra", 1.0, (1, 1, 1)))
    return system


REFUSED = {
    "enters nothing": (lambda L, idle: pendulum(L=L), {"L": 0.5, "idle": 1.0}, {}, "'idle' enters nothing"),
    "locks": (four_bar, {"tilt": 0.0}, {}, "'tilt' locks the mechanism.*'D'"),
    "kink": (kinked, {"L": 0.5}, {}, "'L'.*no derivative"),
    "structure": (structured, {"n": 1.0}, {}, "'n'.*structure"),
    "idle in a function": (lambda k, idle: with_function(k), {"k": 1.0, "idle": 1.0}, {}, "'idle' enters nothing"),
    "path": (pendulum(), {"bob.weight": 1.0}, {}, "'bob.weight'"),
}


@pytest.mark.parametrize(("build", "p", "more", "words"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_derivative_is_refused_by_name(build, p, more, words):
    output = "body.crank.r[0]" if build is four_bar else "joint.pin.angle"
    with pytest.raises(mbd.UsageError, match=words):
        mbd.sensitivity(build, p, output, t_end=0.05, **({"h": 5e-3} if "integrator" not in more else {}), **more)


def controlled(kp, kd, k):
    """Return a pendulum with a PID controller, whose gains are in no table."""
    system = with_function(k)
    pid = system.add(mbd.PID("pid", "pin.angle", setpoint=0.2, kp=kp, ki=1.0, kd=kd, tau=0.1))
    system.add(mbd.Motor("motor", system["pin"], torque=pid["out"]))
    return system


def test_functions_of_python_and_gains_of_blocks_are_differentiated_on_both_sides():
    p, outputs = {"kp": 3.0, "kd": 0.4, "k": 1.0}, ["joint.pin.angle", "joint.pin.rate"]
    S = mbd.sensitivity(controlled, p, outputs, t_end=0.05, h=5e-3)
    assert worst(S.jacobian, differences(of_run(controlled, outputs, 0.05, h=5e-3), p)) < EXACT


def test_the_time_of_an_event_moves_and_with_it_the_end_of_a_run_that_it_ends():
    def build(v, h, level):
        system = mbd.System("ball", gravity=(0, 0, -9.81))
        system.add(mbd.Body("ball", 1.0, (1, 1, 1), r=(0, 0, h), v=(1.5, 0, v)))
        return system, {"events": [mbd.Event("floor", lambda t, state: state.r[1, 2] - level, direction=-1, terminal=True)]}

    def exact(v, h, level):
        t = (v + np.sqrt(v**2 + 2 * 9.81 * (h - level))) / 9.81
        return np.array([t, 1.5 * t, v - 9.81 * t])

    p, outputs = {"v": 2.0, "h": 1.0, "level": 0.2}, ["event.floor[0].t", "body.ball.r[0]", "body.ball.v[2]"]
    S = mbd.sensitivity(build, p, outputs, t_end=2.0, h=0.05)
    assert np.abs(S.values - exact(**p)).max() < 1e-8
    assert worst(S.jacobian, differences(exact, p)) < EXACT
    with pytest.raises(mbd.UsageError, match="grazing"):
        mbd.sensitivity(build, p | {"level": 1.0 + 2.0**2 / 19.62 - 1e-12}, outputs[:1], t_end=2.0, h=0.05)


def test_functions_of_python_at_rest_are_refused():
    with pytest.raises(mbd.UsageError, match="not there yet"):
        mbd.sensitivity(with_function, {"k": 1.0}, "joint.pin.angle", run="equilibrium")


def test_a_repeated_eigenvalue_is_refused_and_its_subspace_offered():
    def build(k):
        system = mbd.System("ball")
        ball = system.add(mbd.Body("ball", 1.0, (1, 1, 1)))
        system.add(mbd.Bushing("hold", system.ground, ball, point=(0, 0, 0), K=(k, k, 2 * k, 5.0, 6.0, 7.0)))
        return system

    # s = i sqrt(k): both part by i / (2 sqrt(k)) = 0.09129j
    with pytest.raises(mbd.UsageError, match=r"repeated.*subspace of 2.*'k': .*0\.09129j"):
        mbd.sensitivity(build, {"k": 30.0}, "eigenvalue[3].imag", run="linearize")


@pytest.mark.parametrize(
    "name", ["body.bob", "bob.weight", "joint.pin.angle[0]", "body.bob.r", "body.bob.weight", "point.bob(1,2).r[0]"]
)
def test_a_name_that_is_no_output_is_refused(name):
    with pytest.raises(mbd.UsageError, match="output|bob"):
        mbd.sensitivity(pendulum, {"L": 0.5}, name, run="accelerations")


JOINTS = {"CJ": CJ, "TJ": TJ, "UJ": UJ, "RJ": RJ}


@pytest.mark.parametrize("kind", JOINTS)
def test_rows_of_every_joint_follow_a_length_and_a_mass(kind):
    rng = np.random.default_rng(7)
    axis, more = rng.normal(size=3), {}
    axis /= np.linalg.norm(axis)
    if kind == "UJ":
        other = np.cross(axis, rng.normal(size=3))
        more = {"axis_i": axis, "axis_j": other / np.linalg.norm(other)}
    else:
        more = {"axis": axis}

    def build(L, m):
        system = mbd.System("two", gravity=(1.0, -9.81, 2.0))
        first = system.add(mbd.Body("first", m, (0.1, 0.2, 0.25), r=(L, 0.1, 0)))
        second = system.add(mbd.Body("second", 1.0, (0.3, 0.2, 0.25), r=(2 * L, 0.3, 0.1)))
        system.add(RJ("pin", system.ground, first, point=(0, 0, 0.1), axis=(0, 0.6, 0.8)))
        system.add(JOINTS[kind]("tested", first, second, point=(1.5 * L, 0.2, 0), **more))
        return system

    outputs, p = ["body.second.r[0]", "body.second.omega[1]", "reaction.tested.force[2]"], {"L": 0.7, "m": 1.3}
    S = mbd.sensitivity(build, p, outputs, t_end=0.06, h=2e-2)
    assert worst(S.jacobian, differences(of_run(build, outputs, 0.06, h=2e-2), p)) < EXACT


def geared(ratio, m):
    system = mbd.System("geared", gravity=(0, -9.81, 0))
    joints = []
    for name, mass, x in (("first", m, 0.2), ("second", 1.0, 1.1)):
        body = system.add(mbd.Body(name, mass, (0.1, 0.1, 0.1), r=(x, 0, 0)))
        joints.append(system.add(RJ(f"{name} pin", system.ground, body, point=(x - 0.15, 0, 0), axis=(0, 0, 1))))
    system.add(Gear("gear", *joints, ratio=ratio))
    return system


def sprung(k, l0, w, a):
    system = pendulum()
    bob = system["bob"]
    system.add(mbd.TSDA("spring 2", system.ground, bob, point_i=(1, 1, 0), point_j=bob.r, k=k, c=2.0, l0=l0))
    system.add(mbd.Torque("drive", bob, torque=(0, 0, mbd.Expression("a * sin(w * t)", parameters={"a": a, "w": w}))))
    return system


def roped(L):
    system = mbd.System("roped", gravity=(0, -9.81, 0))
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.2, 0.3), r=(L, 0, 0)))
    system.add(Distance("rod", system.ground, bob, point_i=(0, 0, 0), point_j=(L, 0, 0)))
    return system


def bushed(k, L):
    system = mbd.System("bushed", gravity=(0, -9.81, 0))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.2, 0.3), r=(L, 0, 0)))
    system.add(mbd.Bushing("bushing", system.ground, arm, point=(0, 0, 0), K=(k, k, 2 * k, 50.0, 60.0, 70.0), C=(1.0,) * 6))
    return system


def rolling(radius, speed):
    system = mbd.System("rolling", gravity=(0, 0, -9.81))
    spin = (0, speed / radius, 0)
    disc = system.add(mbd.Body("disc", 1.0, (0.1, 0.2, 0.1), r=(0, 0, radius), v=(speed, 0, 0), omega_bar=spin))
    where = {"plane_point": (0, 0, 0), "plane_normal": (0, 0, 1)}
    system.add(RollingDisc("roll", disc, center=(0, 0, radius), axis=(0, 1, 0), radius=radius, **where))
    return system


NUMBERS = {
    "ratio of a gear": (geared, {"ratio": 2.0, "m": 1.2}, ["body.first.omega[2]", "body.second.r[1]"]),
    "springs and expressions": (sprung, {"k": 30.0, "l0": 0.4, "w": 7.0, "a": 2.0}, ["joint.pin.angle", "load.spring 2.force"]),
    "constant driver": (roped, {"L": 0.7}, ["body.bob.r[0]", "reaction.rod.force[0]"]),
    "bushing": (bushed, {"k": 300.0, "L": 0.4}, ["body.arm.r[1]", "body.arm.omega[2]"]),
    "radius and rate": (rolling, {"radius": 0.5, "speed": 1.0}, ["body.disc.omega[1]", "body.disc.r[2]"]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("build", "p", "outputs"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_every_kind_of_part(build, p, outputs):
    S = mbd.sensitivity(build, p, outputs, t_end=0.05, h=5e-3)
    assert worst(S.jacobian, differences(of_run(build, outputs, 0.05, h=5e-3), p)) < EXACT


def test_a_jump_in_time_that_moves_is_refused():
    def build(t0):
        system = pendulum()
        step = mbd.Expression("where(t > t0, 1.0, 0.0)", parameters={"t0": t0})
        system.add(mbd.Torque("push", system["bob"], torque=(0, 0, step)))
        return system

    with pytest.raises(mbd.UsageError, match="'t0' moves a jump"):
        mbd.sensitivity(build, {"t0": 0.0312}, "joint.pin.angle", t_end=0.05, h=5e-3)


WORK = ["load.spring.work", "energy.dissipated_work", "energy.total", "energy.applied_work"]


@pytest.mark.parametrize("t_eval", [None, np.array([0.033, 0.2])], ids=["at steps", "between steps"])
def test_works_are_integrals_over_all_of_the_motion(t_eval):
    p = {"k": 1.5, "c": 0.12, "L": 0.5, "rate": 2.0}
    S = mbd.sensitivity(pendulum, p, WORK, t_end=0.2, h=1e-2, **({} if t_eval is None else {"t_eval": t_eval}))

    def f(**p):
        result = mbd.simulate(pendulum(**p), 0.2, h=1e-2)
        energy = result.energy()
        return np.array([result.load("spring").work[-1], energy.dissipated_work[-1], energy.total[-1], energy.applied_work[-1]])

    exact = differences(f, p)
    assert np.abs(S.values - f(**p)).max() < EXACT
    assert np.abs(S.jacobian - exact).max() < EXACT
    assert np.abs(exact[:2]).max(axis=1).min() > 1e-2
    assert np.array_equal(S.over_time.jacobian[-1], S.jacobian)


def test_the_work_of_a_driver_is_an_integral_over_its_motion():
    p, t = {"l1": 0.4, "m": 1.0, "speed": 2.0}, np.linspace(0.0, 0.3, 16)
    S = mbd.sensitivity(four_bar, p, "driver.drive.work", run="inverse_dynamics", t=t)
    f = lambda **p: mbd.kinematics(four_bar(**p), t).driver("drive").work[-1:]  # noqa: E731
    assert np.abs(S.values - f(**p)).max() < EXACT
    assert worst(S.jacobian, differences(f, p)) < 1e-7


def test_a_work_through_events_is_refused():
    def build(e):
        system = pendulum()
        system.add(mbd.JointLimit("stop", system.joints[0], upper=0.1, restitution=e))
        return system

    with pytest.raises(mbd.UsageError, match="'load.spring.work' is an integral over the run, and events"):
        mbd.sensitivity(build, {"e": 0.5}, "load.spring.work", t_end=0.2, h=1e-2)


@pytest.mark.parametrize(
    "mass",
    [
        lambda a, b, c: a + 2 * b,
        lambda a, b, c: a * b,
        lambda a, b, c: a + max(0.0, b - 1.0),
        lambda a, b, c: a + max(0.0, b - 1.0) * c,
    ],
    ids=["linear", "product", "another law further on", "a law that acts by another parameter further on"],
)
def test_what_one_point_tells_of_the_next_is_told_only_where_it_is_so(mass):
    build = lambda a, b, c: pendulum(m=mass(a, b, c), J=0.05 + 0.1 * c + 0.01 * b, L=0.5)  # noqa: E731
    problem = Problem(build, {"a": 1.0, "b": 0.9, "c": 0.0}, "body.bob.r[0]", "simulate", {"t_end": 0.1, "h": 2e-2}, goes_on=True)
    for x in np.array([[1.0, 0.9, 0.0], [1.1, 1.2, 0.0], [1.2, 1.3, 0.1]]):
        found = problem.over_time(x).jacobian
        alone = mbd.sensitivity(build, dict(zip("abc", x, strict=True)), "body.bob.r[0]", t_end=0.1, h=2e-2).over_time.jacobian
        assert np.abs(found - alone).max() < 1e-9


def test_coordinates_of_joints_by_tangents_are_those_of_whole_runs():
    def build(w, tilt, u):
        e = np.array([0, np.sin(tilt), np.cos(tilt)])
        system, where = mbd.System("arm", gravity=(0, 2.0, -9.81)), [0.1 * e, 0.1 * e + [0.3, 0, 0]]
        slider, arm = (
            system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=r, v=w * np.cross(e, r) + u * e, omega_bar=w * e))
            for name, r in zip(("slider", "arm"), where, strict=True)
        )
        system.add(CJ("post", system.ground, slider, point=(0, 0, 0), axis=e))
        system.add(UJ("cross", slider, arm, point=0.1 * e, axis_i=(1, 0, 0), axis_j=np.cross(e, (1, 0, 0))))
        system.add(mbd.PointForce("push", arm, force=(0, 0.5, 1.0), point=where[1] + [0, 0, 0.1]))
        return system

    p = {"w": 3.0, "tilt": 0.1, "u": 0.2}
    outputs = ["joint.post.angle", "joint.post.displacement", "joint.post.rate[1]", "joint.cross.angle[0]", "joint.cross.rate[1]"]
    S = mbd.sensitivity(build, p, outputs, t_end=0.3, h=1e-2)

    def f(**p):
        result = mbd.simulate(build(**p), 0.3, h=1e-2)
        post, cross = result.joint("post"), result.joint("cross")
        return np.array([post.angle[-1], post.displacement[-1], post.rate[-1, 1], cross.angle[-1, 0], cross.rate[-1, 1]])

    assert worst(S.jacobian, differences(f, p)) < EXACT


def test_short_names_and_parameters_that_are_no_arguments():
    whole, short = (
        mbd.sensitivity(pendulum, {"k": 1.5}, names, t_end=0.1, h=2e-2)
        for names in (
            ["joint.pin.angle", "reaction.pin.force[1]", "body.bob.a[0]"],
            ["pin.angle", "pin.force[1]", "bob.acceleration[0]"],
        )
    )
    assert np.array_equal(short.values, whole.values)
    assert np.array_equal(short.jacobian, whole.jacobian)
    assert short.outputs == ("pin.angle", "pin.force[1]", "bob.acceleration[0]")
    for p, outputs, words in (
        ({"kk": 1.0}, "pin.angle", "unexpected keyword argument 'kk'|build.*cannot be called"),
        ({"k": 1.0}, "pn.angle", "there is no output 'pn.angle'"),
        ({"k": 1.0}, lambda L: "pin.angle", "outputs = .* cannot be called with the parameters k"),
    ):
        with pytest.raises(mbd.UsageError, match=words):
            mbd.sensitivity(pendulum, p, outputs, t_end=0.1, h=2e-2)


def leaning(m, L, J, b, angle, w):
    """Return a pendulum whose centre is off the plane of its pin."""
    c, s = np.cos(angle), np.sin(angle)
    system = mbd.System("leaning", gravity=(0, -9.81, 0))
    bob = system.add(mbd.Body("bob", m, (J, J, J), r=(L * c, L * s, b), v=(-L * w * s, L * w * c, 0), omega_bar=(0, 0, w)))
    system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 0, 1)))
    return system


def test_accelerations_and_reactions_are_exact():
    def exact(m, L, J, b, angle, w):
        c, s = np.cos(angle), np.sin(angle)
        turn = -m * 9.81 * L * c / (J + m * L**2)
        a = -L * (turn * s + w**2 * c), L * (turn * c - w**2 * s)
        F = m * a[0], m * (a[1] + 9.81)
        tip = 0.1 * (turn * np.array([-s, c]) - w**2 * np.array([c, s])) + a  # 0.1 further out, turned with the body
        return np.array([turn, *a, *F, -b * F[1], b * F[0], tip @ np.array([1.0, 0.0])])

    p = {"m": 1.7, "L": 0.45, "J": 0.09, "b": 0.2, "angle": 0.6, "w": 1.3}
    outputs = ["body.bob.omega_dot[2]", "body.bob.a[0]", "body.bob.a[1]"]
    outputs += [f"reaction.pin.{what}[{k}]" for what in ("force", "torque") for k in (0, 1)]

    def names(angle, **p):
        return [*outputs, f"point.bob({float(0.1 * np.cos(angle))!r}, {float(0.1 * np.sin(angle))!r}, 0).a[0]"]

    S = mbd.sensitivity(leaning, p, names, run="accelerations")
    J = np.array([np.imag(exact(**(p | {name: p[name] + 1e-30j}))) / 1e-30 for name in p]).T
    assert np.abs(S.values - exact(**p)).max() < 1e-12
    assert worst(S.jacobian, J) < 2e-10  # of numbers of the model beside the value


def test_constants_of_a_profile_that_are_equal_have_derivatives_of_their_own():
    def build(a, b, m):
        system = mbd.System("cam", gravity=(0, 0, -9.81))
        bodies = [
            system.add(mbd.Body(name, mass, (0.1,) * 3, r=r)) for name, mass, r in (("cam", 1.0, (0, 0, 0)), ("lift", m, (0, 0, 1)))
        ]
        turns = system.add(RJ("pin", system.ground, bodies[0], point=(0, 0, 0), axis=(0, 1, 0)))
        rises = system.add(TJ("rail", system.ground, bodies[1], point=(0, 0, 1), axis=(0, 0, 1)))
        system.add(Cam("groove", turns, rises, lambda x: a * (1 - np.cos(x)) + b * np.sin(x) ** 2))
        system.add(RotationDriver("drive", turns, mbd.Expression("2 * t")))
        return system

    def exact(a, b, m, x=1.2):
        rate_2 = 4 * (a * np.cos(x) + 2 * b * np.cos(2 * x))
        torque = m * (9.81 + rate_2) * (a * np.sin(x) + b * np.sin(2 * x))
        return np.array([1 + a * (1 - np.cos(x)) + b * np.sin(x) ** 2, rate_2, torque])

    p, outputs = {"a": 0.1, "b": 0.1, "m": 2.0}, ["body.lift.r[2]", "body.lift.a[2]", "driver.drive.torque"]
    S = mbd.sensitivity(build, p, outputs, run="kinematics", t=[0.0, 0.6])
    assert np.abs(S.values - exact(**p)).max() < 1e-9
    assert worst(S.jacobian, differences(exact, p)) < EXACT


def test_the_model_of_a_design_is_solved_as_that_of_its_system():
    system = gallery.double_pendulum()
    model, known = nominal_model(system), system.compile()
    assert model.solver == known.solver == "tree"
    assert np.array_equal(model.tables["HINGES"][:, :2], known.tables["HINGES"][:, :2])
