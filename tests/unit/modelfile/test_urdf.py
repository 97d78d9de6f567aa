"""URDF: pose and inertia against closed forms and sums of point masses; merged against unmerged trees; what is doubtful is said."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.math import euler_parameters
from haugmbd.modelfile.urdf.robot import rotation
from joints import SJ
from tests.support import robots
from tests.support.robots import axis, hinge, inertial, joint, leg, link, origin, read, robot
from tests.support.seeds import seeds

ROUNDING = 1e-13
"""Relative: products of rotations and inertias lose a few digits of 2e-16."""
ACCELERATION = 1e-11
"""Relative to the largest acceleration: solutions of a well-conditioned system of 80 rows; seen 1e-14."""
GRAVITY = 9.80665
ZERO = (0.0, 0.0, 0.0)


def point_masses(mass, moments, xyz, rpy):
    """Six equal masses on the principal axes that have these moments: positions (6, 3) and their mass."""
    a, b, c = np.sqrt(3.0 * (np.sum(moments) / 2.0 - np.asarray(moments)) / mass)
    local = np.array([[a, 0, 0], [-a, 0, 0], [0, b, 0], [0, -b, 0], [0, 0, c], [0, 0, -c]])
    return np.asarray(xyz) + local @ rotation(*rpy).T, mass / 6.0


def test_roll_pitch_yaw_is_about_fixed_axes():
    x, y, z = 0.3, -1.1, 2.5
    about = [euler_parameters.from_axis_angle(a, t) for a, t in zip(np.eye(3), (x, y, z), strict=True)]
    p = euler_parameters.product(about[2], euler_parameters.product(about[1], about[0]))
    np.testing.assert_allclose(rotation(x, y, z), euler_parameters.rotation_matrix(p), rtol=0, atol=ROUNDING)


def test_a_pendulum_by_its_closed_form(tmp_path):
    """A bar about y: J q'' = -m g l cos(q) - c q' with the coordinate measured from the horizontal, axis against y."""
    m, l, c, q, rate = 2.0, 1.2, 0.7, 0.4, 0.9
    text = robot(
        link("base"),
        link("bar", inertial(m, (0.01, 0.2, 0.2), (l / 2.0, 0.0, 0.0))),
        joint("pin", "continuous", "base", "bar", axis((0, -3, 0)), f'<dynamics damping="{c}"/>'),
    )
    system = read(tmp_path, text, q={"pin": q})
    model = system.compile()
    arm = np.array((np.cos(q), 0.0, np.sin(q)))
    np.testing.assert_allclose(system["bar"].r, 0.5 * l * arm, rtol=0, atol=ROUNDING)
    omega = np.array((0.0, -rate, 0.0))
    state = model.state()
    v, omega_bar = state.v.copy(), state.omega_bar.copy()
    v[1], omega_bar[1] = np.cross(omega, 0.5 * l * arm), system["bar"].A.T @ omega
    found = mbd.accelerations(model, state.replace(v=v, omega_bar=omega_bar))
    exact = -(m * GRAVITY * 0.5 * l * np.cos(q) + c * rate) / (0.2 + m * (0.5 * l) ** 2)
    assert found.omega_bar_dot[1][1] == pytest.approx(-exact, rel=1e-12)
    assert model.gravity[2] == -GRAVITY


def test_sliding_with_damping_and_default_axis(tmp_path):
    m, c, v0 = 3.0, 5.0, 0.25
    text = robot(
        link("base"),
        link("car", inertial(m, (1.0, 1.0, 1.0))),
        joint("rail", "prismatic", "base", "car", origin((0.1, 0, 0), (0, 0, 0.5)), f'<dynamics damping="{c}" friction="0.3"/>'),
    )
    system = read(tmp_path, text, q={"rail": 0.7})
    along = np.array((np.cos(0.5), np.sin(0.5), 0.0))
    np.testing.assert_allclose(system["car"].r, np.array((0.1, 0, 0)) + 0.7 * along, rtol=0, atol=ROUNDING)
    model = system.compile()
    state = model.state()
    v = state.v.copy()
    v[1] = v0 * along
    for far in (0.0, -10.0, -25.0):
        r = state.r + [[0, 0, 0], far * along]
        found = mbd.accelerations(model, state.replace(r=r, v=v)).v_dot[1]
        np.testing.assert_allclose(found, -c * v0 / m * along, rtol=0, atol=1e-12)
    assert "joint friction (1)" in system.import_report.ignored


def test_lumped_inertia_is_that_of_point_masses(tmp_path):
    rng = np.random.default_rng(4)
    solids = []
    for _ in range(3):
        a, b, c = rng.uniform(0.1, 0.5, 3)
        mass = rng.uniform(1.0, 3.0)
        solids.append((mass, mass * np.array((b + c, a + c, a + b)), rng.normal(size=3), rng.uniform(-3, 3, 3)))
    poses = [(rng.normal(size=3), rng.uniform(-3, 3, 3)) for _ in range(2)]
    text = robot(
        link("base"),
        *(link(f"l{k}", inertial(*solid)) for k, solid in enumerate(solids)),
        joint("free", "floating", "base", "l0"),
        joint("f1", "fixed", "l0", "l1", origin(*poses[0])),
        joint("f2", "fixed", "l1", "l2", origin(*poses[1])),
    )
    body = read(tmp_path, text)["l0"]
    clouds = [point_masses(*solid) for solid in solids]
    for depth, cloud in ((1, 1), (2, 2)):
        points, mass = clouds[cloud]
        for xyz, rpy in reversed(poses[:depth]):
            points = np.asarray(xyz) + points @ rotation(*rpy).T
        clouds[cloud] = (points, mass)
    total = sum(6.0 * mass for _, mass in clouds)
    center = sum(mass * points.sum(axis=0) for points, mass in clouds) / total
    J = np.zeros((3, 3))
    for points, mass in clouds:
        for d in points - center:
            J += mass * (d @ d * np.eye(3) - np.outer(d, d))
    assert body.mass == pytest.approx(total, rel=ROUNDING)
    np.testing.assert_allclose(body.r, center, rtol=0, atol=ROUNDING * np.abs(center).max() * 10)
    np.testing.assert_allclose(body.J_bar, J, rtol=0, atol=ROUNDING * np.abs(J).max() * 10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12))
def test_merged_and_unmerged_trees_accelerate_alike(seed, tmp_path):
    """The rows of fixed joints, and the lumped inertia, are two ways to one motion."""
    text, moving = robots.random_tree(seed, n=2 + seed % 7)
    rng = np.random.default_rng(seed)
    q = {name: float(rng.uniform(-1.0, 1.0)) for name, _ in moving}
    one = read(tmp_path, text, q=q, floating=seed % 2 == 1)
    two = read(tmp_path, text, q=q, floating=seed % 2 == 1, merge_fixed=False)
    if len(one.bodies) == 1:
        assert not moving
        return
    found = [mbd.accelerations(each.compile()) for each in (one, two)]
    scale = max(GRAVITY, np.abs(found[0].v_dot).max(), np.abs(found[0].omega_bar_dot).max())
    for k, body in enumerate(one.bodies[1:], start=1):
        j = next(n for n, other in enumerate(two.bodies) if other.name == body.name)
        # the same link, at rest: the accelerations of its origin, from two centres of mass
        frames = one.import_report.frames[body.name], two.import_report.frames[body.name]
        points = [
            f.v_dot[n] + each.bodies[n].A @ np.cross(f.omega_bar_dot[n], frame.s_bar)
            for f, each, n, frame in zip(found, (one, two), (k, j), frames, strict=True)
        ]
        np.testing.assert_allclose(points[0], points[1], rtol=0, atol=ACCELERATION * scale)
        np.testing.assert_allclose(found[0].omega_bar_dot[k], found[1].omega_bar_dot[j], rtol=0, atol=ACCELERATION * scale)
    assert one.import_report.degrees_of_freedom == two.import_report.degrees_of_freedom == len(moving) + 6 * (seed % 2)


def test_trees_accelerate_as_with_pinocchio(tmp_path):
    pin = pytest.importorskip("pinocchio")
    for seed in range(30):
        text, moving = robots.random_tree(seed, n=3 + seed % 9)
        floating = seed % 3 == 2
        m = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromXML(text)
        if m.nv == 0:
            continue
        m.gravity.linear[:] = (0.0, 0.0, -GRAVITY)
        d, rng = m.createData(), np.random.default_rng(seed)
        q, v, named = pin.neutral(m), rng.normal(size=m.nv), {}
        for name, kind in moving:
            at, x = m.joints[m.getJointId(name)].idx_q, float(rng.uniform(-1.0, 1.0))
            named[name] = x
            q[at : at + 1 + (kind == "continuous")] = (np.cos(x), np.sin(x)) if kind == "continuous" else x
        pin.forwardKinematics(m, d, q, v, pin.aba(m, d, q, v, np.zeros(m.nv)))
        pin.updateFramePlacements(m, d)
        system = read(tmp_path, text, q=named, floating=floating)
        model = system.compile()
        start = model.state()
        u, w, u_dot, w_dot = (np.zeros_like(start.v) for _ in range(4))
        for k, body in enumerate(system.bodies[1:], start=1):
            frame, s = m.getFrameId(body.name), -system.import_report.frames[body.name].s_bar
            V = pin.getFrameVelocity(m, d, frame, pin.ReferenceFrame.LOCAL)
            A = pin.getFrameClassicalAcceleration(m, d, frame, pin.ReferenceFrame.LOCAL)
            R = d.oMf[frame].rotation
            w[k], w_dot[k] = V.angular, A.angular
            u[k] = R @ (V.linear + np.cross(w[k], s))
            u_dot[k] = R @ (A.linear + np.cross(w_dot[k], s) + np.cross(w[k], np.cross(w[k], s)))
        found = mbd.accelerations(model, start.replace(v=u, omega_bar=w))
        scale = max(np.abs(u_dot).max(), np.abs(w_dot).max())
        np.testing.assert_allclose(found.v_dot, u_dot, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(found.omega_bar_dot, w_dot, rtol=0, atol=1e-12 * scale)


def test_what_is_substituted_ignored_and_doubtful_is_said(tmp_path):
    text = robot(
        link("base"),
        link("ghost"),
        link(
            "arm",
            inertial(1.0, (0.1, 0.1, 0.1)),
            "<visual><geometry><mesh filename='../../x.stl'/></geometry></visual>",
            "<collision/>",
        ),
        link("camera"),
        hinge("a", "base", "ghost", 0.0),
        joint("b", "revolute", "ghost", "arm", axis((1, 0, 0)), '<limit lower="0.5" upper="1" effort="1" velocity="1"/>'),
        joint("c", "fixed", "arm", "camera"),
        "<transmission name='t'/><gazebo/><material name='red'/><mystery/>",
    )
    report = read(tmp_path, text).import_report
    assert report.body_of == {"base": "ground", "ghost": "ghost", "arm": "arm", "camera": "arm"}
    assert report.substituted[0] == "link 'ghost' has no mass, and needs none: joints give its motion"
    for words in (
        "collision shapes (1)",
        "transmissions (1)",
        "<mystery> (1)",
    ):
        assert words in report.ignored
    assert any("joint 'b' is modelled at 0, outside its limits 0.5 to 1" in warning for warning in report.warnings)
    assert report.degrees_of_freedom == 2
    assert repr(report) == str(report)


def test_an_inertia_without_mass_counts_where_it_is_fixed(tmp_path):
    text = robot(
        link("base"),
        link("arm", inertial(2.0, (0.1, 0.1, 0.1))),
        link("rotor", inertial(0.0, (0.01, 0.02, 0.03), (5, 5, 5), (0.1, 0.2, 0.3))),
        hinge("a", "base", "arm", 0.0),
        joint("b", "fixed", "arm", "rotor", origin((1, 2, 3), (0.4, 0.5, 0.6)), axis((0, 0, 0))),
    )
    body = read(tmp_path, text)["arm"]
    A = rotation(0.4, 0.5, 0.6) @ rotation(0.1, 0.2, 0.3)
    np.testing.assert_allclose(body.J_bar, 0.1 * np.eye(3) + A @ np.diag((0.01, 0.02, 0.03)) @ A.T, rtol=0, atol=ROUNDING)
    assert body.mass == 2.0


def test_a_mass_far_above_all_others_is_doubted(tmp_path):
    solids = [(f"l{k}", mass) for k, mass in enumerate((1.0, 654498.0, 2.0))]
    parts = [link(name, inertial(mass, (0.1 * mass,) * 3, (0.5, 0, 0))) for name, mass in solids]
    text = robot(link("base"), *parts, hinge("a", "base", "l0", 0.0), hinge("b", "l0", "l1", 1.0), hinge("c", "l1", "l2", 1.0))
    (doubt,) = (text for text in read(tmp_path, text).import_report.warnings if "more than 100 times" in text)
    assert doubt.startswith("link 'l1' has a mass of 654498 kg")


def test_a_floating_root_falls_and_planar_joints_keep_their_plane(tmp_path):
    text = robot(link("base", inertial(2.0, (0.1, 0.2, 0.25), (0.1, 0, 0))))
    found = mbd.accelerations(read(tmp_path, text, floating=True, gravity=(0, 1, 2)))
    np.testing.assert_allclose(found.v_dot[1], (0, 1, 2), rtol=0, atol=1e-14)
    text = robot(link("base"), link("puck", inertial(1.0, (1, 1, 1))), joint("p", "planar", "base", "puck", axis((0, 3, 4))))
    found = mbd.accelerations(read(tmp_path, text)).v_dot[1]
    normal = np.array((0, 0.6, 0.8))
    g = np.array((0, 0, -GRAVITY))
    np.testing.assert_allclose(found, g - (g @ normal) * normal, rtol=0, atol=1e-13)


@pytest.mark.slow
def test_an_imported_robot_is_saved_and_runs(tmp_path, capsys):
    system = leg(tmp_path, "<loop_joint>", gravity=(0.0, 0.0, -GRAVITY))
    again = mbd.load_model(system.save(tmp_path / "leg.json"))
    one, two = (mbd.simulate(each, 0.02, h=1e-3) for each in (system, again))
    assert one.y.tobytes() == two.y.tobytes()
    assert main.main(["convert", str(tmp_path / "robot.urdf"), str(tmp_path / "leg2.json")]) == 0
    assert "loop 'closure'" in capsys.readouterr().out
    assert (tmp_path / "leg2.json").read_bytes() == (tmp_path / "leg.json").read_bytes()
    assert main.main(["check", str(tmp_path / "robot.urdf"), "--loops", str(tmp_path / "none.yaml")]) == 1
    assert main.main(["check", "pendulum", "--loops", "x.yaml"]) == 2


def ball(name, parent, child, place=""):
    """Three hinges with one point, and two links without mass between them."""
    ends = ((parent, f"{name}v0", (0, 0, 1)), (f"{name}v0", f"{name}v1", (0, 1, 0)), (f"{name}v1", child, (1, 0, 0)))
    return [joint(f"{name}{k}", "continuous", i, j, axis(a), place if k == 0 else "") for k, (i, j, a) in enumerate(ends)]


LOOP = (
    '<loop_joint name="c" type="spherical"><link1 link="lower" xyz="0 0 -0.4"/><link2 link="base" xyz="0.1 0.2 -0.7"/></loop_joint>'
)


def with_balls(*loops, part=1.0):
    """Two bodies on balls that are written as hinges, and what closes a loop.  part: of the mass that the lower one has otherwise"""
    links = [link("base"), *(link(f"{n}v{k}") for n in "ab" for k in (0, 1))]
    bodies = [
        link("upper", inertial(4.0, (0.06, 0.05, 0.02), (0.02, 0.01, -0.2))),
        link("lower", inertial(2.0 * part, part * np.array((0.03, 0.04, 0.015)), (0.01, -0.02, -0.18))),
    ]
    return robot(*links, *bodies, *ball("a", "base", "upper"), *ball("b", "upper", "lower", origin((0, 0, -0.45))), *loops)


@pytest.mark.slow
@pytest.mark.parametrize("loops", [(), (LOOP,)])
def test_links_without_mass_between_hinges_are_not_felt(loops, tmp_path):
    """The same mechanism with ball joints in their place has the same accelerations, as a tree and in a closed loop."""
    start = {"a0": 0.3, "a1": 0.5, "a2": -0.4, "b0": 0.2, "b1": -0.7, "b2": 0.6}
    system = read(tmp_path, with_balls(*loops), q=start)
    report = system.import_report
    assert len(report.substituted) == 4
    assert not report.warnings
    balls = mbd.System("balls", gravity=system.gravity)
    place = {"upper": report.frames["upper"].point, "lower": report.frames["lower"].point}
    for name in place:
        body = system[name]
        balls.add(mbd.Body(name, body.mass, body.J_bar, r=body.r, p=body.p))
    balls.add(SJ("a", balls.ground, balls["upper"], point=place["upper"]))
    balls.add(SJ("b", balls["upper"], balls["lower"], point=place["lower"]))
    if loops:
        balls.add(SJ("c", balls["lower"], balls.ground, point=(0.1, 0.2, -0.7)))
    found, exact = mbd.accelerations(system), mbd.accelerations(balls)
    kept = [[body.name for body in system.bodies].index(name) for name in place]
    for one, two in ((found.v_dot, exact.v_dot), (found.omega_bar_dot, exact.omega_bar_dot)):
        np.testing.assert_allclose(one[kept], two[1:], rtol=0, atol=1e-9 * np.abs(two).max())


@pytest.mark.slow
def test_links_without_mass_are_not_felt_beside_light_bodies(tmp_path):
    """Beside a body of a ten millionth of the mass of the other, too: they have none."""
    system = read(tmp_path, with_balls(LOOP, part=1e-7), q={"a0": 0.3, "a1": 0.2, "b1": 0.3, "b2": 0.2})
    assert not [text for text in system.import_report.warnings if "change accelerations by" in text]
    assert [body.mass for body in system.bodies].count(0.0) == 5  # the ground, and four links
