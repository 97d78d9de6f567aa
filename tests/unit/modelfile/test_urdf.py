"""URDF: pose and inertia against closed forms and sums of point masses; merged against unmerged; loops in three conventions."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.math import euler_parameters
from haugmbd.modelfile.urdf.robot import rotation
from haugmbd.modelfile.urdf.sidecar import read_sidecar
from tests.support import robots
from tests.support.robots import axis, hinge, inertial, joint, link, origin, robot

ROUNDING = 1e-13
"""Relative: products of rotations and inertias lose a few digits of 2e-16."""
CLOSED = 1e-12
"""[m] What the loops are closed to; seen 1e-15."""
ACCELERATION = 1e-11
"""Relative to the largest acceleration: solutions of a well-conditioned system of 80 rows; seen 1e-14."""
GRAVITY = 9.80665
ZERO = (0.0, 0.0, 0.0)


def read(tmp_path, text, name="robot.urdf", **how):
    path = tmp_path / name
    path.write_text(text)
    return mbd.read_urdf(path, **how)


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
    found = mbd.accelerations(model, state.replace(v=v)).v_dot[1]
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
@pytest.mark.parametrize("seed", range(30))
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


ENDS = (("coupler", (robots.LENGTHS[1], 0.0, 0.0), ZERO), ("rocker", (robots.LENGTHS[2], 0.0, 0.0), ZERO))


def leg(tmp_path, convention, gravity=(0.0, -GRAVITY, 0.0)):
    """The four-bar leg with its loop in one of the three conventions."""
    if convention == "sidecar":
        sidecar = tmp_path / "loops.yaml"
        sidecar.write_text("closed_loop: [[coupler_end, rocker_tip]]\ntype: ['6d']\n".replace("6d", "3d"))
        return read(tmp_path, robots.four_bar_leg(""), loops=sidecar, gravity=gravity)
    write = {"<loop>": robots.urdf_plus, "<loop_joint>": robots.loop_joint}[convention]
    return read(tmp_path, robots.four_bar_leg(write("revolute", *ENDS)), gravity=gravity)


@pytest.mark.parametrize("convention", ["<loop>", "<loop_joint>", "sidecar"])
def test_a_four_bar_leg_is_closed(convention, tmp_path):
    system = leg(tmp_path, convention)
    report = system.import_report
    (loop,) = report.loops
    assert loop.distance == pytest.approx(0.03, rel=0.01)
    assert report.closed
    assert report.iterations > 0
    assert report.degrees_of_freedom == 1
    rows = mbd.evaluate(system.compile())
    assert np.abs(rows.Phi).max() <= CLOSED
    frames = report.frames
    gap = frames["coupler_end"].point - frames["rocker_end"].point
    assert np.linalg.norm(gap) <= CLOSED
    for name, length in zip(("crank", "coupler", "rocker"), robots.LENGTHS, strict=True):
        tip = frames[name].point + length * frames[name].A[:, 0]
        other = {"crank": "coupler", "coupler": "rocker_end", "rocker": "coupler_end"}[name]
        np.testing.assert_allclose(tip, frames[other].point, rtol=0, atol=CLOSED)
    assert f"loop {loop.name!r}" in str(report)


def test_the_three_conventions_are_one_mechanism(tmp_path):
    states = [leg(tmp_path, convention).compile() for convention in ("<loop>", "<loop_joint>", "sidecar")]
    for model in states[1:]:
        np.testing.assert_allclose(model.y0, states[0].y0, rtol=0, atol=1e-11)
        one, two = mbd.accelerations(states[0]), mbd.accelerations(model)
        np.testing.assert_allclose(two.v_dot, one.v_dot, rtol=0, atol=1e-9 * GRAVITY)


@pytest.mark.parametrize("convention", ["<loop_joint>", "sidecar"])
def test_a_delta_is_closed(convention, tmp_path):
    pairs = []
    if convention == "sidecar":
        text = robots.delta(lambda rod, tip, platform, seat, n: pairs.append(n) or "")
        sidecar = tmp_path / "delta.yaml"
        blocks = "".join(f"  - - tip{n}\n    - seat{n}\n" for n in pairs)
        sidecar.write_text(f"# five loops\nclosed_loop:\n{blocks}type: 3d\nrotor_inertia: [1, 2]\n")
        system = read(tmp_path, text, loops=sidecar)
        assert any("'rotor_inertia'" in text for text in system.import_report.ignored)
    else:

        def write(rod, tip, platform, seat, n):
            return robots.loop_joint("spherical", (rod, tip, ZERO), (platform, seat, ZERO), name=f"s{n}")

        system = read(tmp_path, robots.delta(write))
    report = system.import_report
    assert len(report.loops) == 5
    assert min(loop.distance for loop in report.loops) > 0.01
    assert report.degrees_of_freedom == 3
    assert np.abs(mbd.evaluate(system.compile()).Phi).max() <= CLOSED
    for n in ("0b", "1a", "1b", "2a", "2b"):
        np.testing.assert_allclose(report.frames[f"tip{n}"].point, report.frames[f"seat{n}"].point, rtol=0, atol=CLOSED)
    turned = report.frames["platform"].A
    np.testing.assert_allclose(turned[2], (0.0, 0.0, 1.0), rtol=0, atol=0.2)  # near its modelled attitude


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "fixed", "spherical"])
def test_loops_of_every_kind_close_a_five_bar(kind, tmp_path):
    """Two arms of two bars on one base; the loop joins their tips, whose frames are turned against each other."""
    sizes = (0.4, 0.5, 0.5, 0.4)
    parts = [link("base"), *(robots.bar(f"b{k}", length) for k, length in enumerate(sizes))]
    turns = (2.0, -1.1, -2.0 + np.pi, 1.1)
    for k, (parent, x) in enumerate((("base", 0.0), ("b0", sizes[0]), ("base", 0.3), ("b2", sizes[2]))):
        place = origin((x, 0, 0), (0, 0, turns[k] - (0.2 if k == 3 else 0.0)))
        parts.append(joint(f"j{k}", "continuous", parent, f"b{k}", place, axis((0, 0, 1))))
    if kind in ("fixed", "prismatic"):
        parts.append(robots.loop_joint(kind, ("b1", (sizes[1], 0, 0), ZERO), ("b3", (sizes[3], 0, 0), (0, 0, -2.0)), (1, 0, 0)))
    else:
        parts.append(robots.loop_joint(kind, ("b1", (sizes[1], 0, 0), ZERO), ("b3", (sizes[3], 0, 0), ZERO)))
    system = read(tmp_path, robot(*parts))
    assert np.abs(mbd.evaluate(system.compile()).Phi).max() <= CLOSED
    assert system.import_report.degrees_of_freedom == {"revolute": 2, "prismatic": 2, "fixed": 1, "spherical": 2}[kind]
    assert system.import_report.loops[0].distance > 0.01


def test_loops_may_be_left_open_and_closed_later(tmp_path):
    text = robots.four_bar_leg(robots.loop_joint("revolute", *ENDS))
    system = read(tmp_path, text, close=False)
    assert not system.import_report.closed
    assert "left open" in str(system.import_report)
    with pytest.raises(mbd.ModelError, match="'closure': its points are 0.0299944 m apart"):
        system.compile()
    closed = mbd.assemble(system)
    np.testing.assert_allclose(closed.model.y0, read(tmp_path, text).compile().y0, rtol=0, atol=1e-13)


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
    assert "link 'ghost' has no mass: given 1e-06 kg" in report.substituted[0]
    for words in (
        "collision shapes (1)",
        "transmissions (1)",
        "<mystery> (1)",
    ):
        assert words in report.ignored
    assert any("joint 'b' is modelled at 0, outside its limits 0.5 to 1" in warning for warning in report.warnings)
    assert report.degrees_of_freedom == 2
    assert repr(report) == str(report)


def test_limits_become_stops_in_the_coordinates_of_the_file(tmp_path):
    """Beyond a limit the stop pushes back with k times the excess: against the same robot without limits."""
    arm = inertial(1.0, (0.1, 0.1, 0.1), (0.2, 0, 0))
    text = robot(
        link("base"),
        link("a", arm),
        link("b", arm),
        joint("turn", "revolute", "base", "a", axis((0, 0, 1)), '<limit lower="-0.5" upper="0.8" effort="20" velocity="1"/>'),
        joint("slide", "prismatic", "a", "b", axis((0, 0, 1)), '<limit lower="-2e3" upper="0.4" effort="30" velocity="1"/>'),
    )
    system = read(tmp_path, text, q={"turn": 0.3, "slide": 0.1})
    turn, slide = system.loads
    assert (turn.lower, turn.upper, turn.k) == pytest.approx((-0.8, 0.5, 2000.0))
    assert (slide.lower, slide.upper, slide.k) == pytest.approx((-np.inf, 0.3, 30000.0))
    assert "joint limits (2) became JointLimit, which the effort" in system.import_report.substituted[0]
    soft, free = (read(tmp_path, text, limits=limits, stop_stiffness=50.0) for limits in (True, False))
    assert not free.loads
    assert "joint limits (2)" in free.import_report.ignored
    assert [load.k for load in soft.loads] == [50.0, 50.0]
    model, other = soft.compile(), free.compile()
    start = model.state()
    angle, rise = 0.9, 0.7  # beyond both limits
    place = read(tmp_path, text, limits=False, q={"turn": angle, "slide": rise}).compile().state()
    state = start.replace(r=place.r, p=place.p, angles=np.full_like(start.angles, angle))
    with_stops = mbd.accelerations(model, state)
    without = mbd.accelerations(other, other.state().replace(r=place.r, p=place.p))
    change = with_stops.omega_bar_dot[1, 2] - without.omega_bar_dot[1, 2]
    inertia = 2.0 * (0.1 + 0.2**2)  # of both links about the vertical axis of the joint
    assert change == pytest.approx(-50.0 * (angle - 0.8) / inertia, rel=1e-9)
    assert (with_stops.v_dot - without.v_dot)[2, 2] == pytest.approx(-50.0 * (rise - 0.4), rel=1e-9)


@pytest.mark.slow
def test_limits_of_robots_with_loops_and_those_that_cannot_be(tmp_path):
    limit = '<limit lower="{}" upper="{}" effort="{}" velocity="1"/>'
    text = robots.four_bar_leg(robots.loop_joint("revolute", *ENDS)).replace('"continuous"', '"revolute"')
    joints = ("motor", "knee", "hip")

    def limited(*limits):
        made = text
        for name, given in zip(joints, limits, strict=True):
            made = made.replace(
                f'<joint name="{name}" type="revolute">', f'<joint name="{name}" type="revolute">{limit.format(*given)}'
            )
        return read(tmp_path, made, gravity=(0, -GRAVITY, 0))

    closed = limited((-1, 1, 10), (-2, 2, 10), (-0.5, 3, 10))
    stops = {load.name: load for load in closed.loads}
    model = closed.compile()
    for name, lower in zip(joints, (-1, -2, -0.5), strict=True):  # the closed pose is not q = 0: limits are counted from there
        moved = lower - stops[f"{name} limit"].lower
        was = read(tmp_path, text.replace(robots.loop_joint("revolute", *ENDS), ""), q={name: 0.0})
        turned = {x: read_angle(closed, name, each) for x, each in (("now", model), ("then", was.compile()))}
        assert moved == pytest.approx(turned["now"] - turned["then"], abs=1e-9)
    assert max(abs(stops[f"{name} limit"].upper - upper) for name, upper in zip(joints, (1, 2, 3), strict=True)) > 1e-3
    report = limited((0.5, 1, 10), (1, 1, 10), (-1, 1, 0)).import_report
    assert "joint limits (1), for want of a stiffness: give stop_stiffness=" in report.ignored
    assert any("joint 'motor' is modelled at" in told and "they were not read" in told for told in report.warnings)
    assert any("joint 'knee' has the limits 1 to 1, between which it cannot be" in told for told in report.warnings)
    for bad in (0.0, -1, "soft", np.nan):
        with pytest.raises(mbd.UsageError, match="stop_stiffness is"):
            read(tmp_path, text, stop_stiffness=bad)


def read_angle(system, name, model):
    """The angle of the child of a hinge about z of its parent, from the x-axes of the two links."""
    ends = {"motor": (None, "crank"), "knee": ("crank", "coupler"), "hip": (None, "rocker")}[name]
    p = dict(zip(model.body_names, model.state().p, strict=True))
    A = [np.eye(3) if end is None else euler_parameters.rotation_matrix(p[end]) for end in ends]
    T = A[0].T @ A[1]
    return np.arctan2(T[1, 0], T[0, 0])


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


def test_followers(tmp_path):
    text = robot(
        link("base"),
        *(link(name, inertial(1.0, (0.1, 0.1, 0.1), (0.1, 0, 0))) for name in "xyz"),
        hinge("a", "base", "x", 0.0),
        joint("b", "continuous", "base", "y", axis((0, 0, 1)), '<mimic joint="a" multiplier="-2" offset="0.3"/>'),
        joint("c", "continuous", "base", "z", axis((0, 0, 1)), '<mimic joint="b"/>'),
    )
    coupled = read(tmp_path, text, q={"a": 0.1}, gravity=(0, -GRAVITY, 0))
    assert coupled.import_report.degrees_of_freedom == 1
    assert not coupled.import_report.ignored
    # by power: 9 J q_a'' = tau_a - 2 tau_b - 2 tau_c with tau = -m g l cos q, and q_b = q_c = -2 q_a + 0.3
    exact = -GRAVITY * 0.1 * (np.cos(0.1) - 4.0 * np.cos(0.1)) / (9.0 * (0.1 + 0.01))
    found = mbd.accelerations(coupled.compile()).omega_bar_dot[1:, 2]
    np.testing.assert_allclose(found, (exact, -2.0 * exact, -2.0 * exact), rtol=1e-11)
    assert read(tmp_path, text, free_mimic=True).import_report.q == {"a": 0.0, "b": 0.3, "c": 0.3}
    system = read(tmp_path, text, free_mimic=True, q={"a": 0.1})
    assert system.import_report.q == {"a": 0.1, "b": pytest.approx(0.1), "c": pytest.approx(0.1)}
    assert "the mimic of joint 'b'" in system.import_report.ignored
    with pytest.raises(mbd.UsageError, match="follows 'a': give that one"):
        read(tmp_path, text, free_mimic=True, q={"b": 0.1})
    circle = text.replace(hinge("a", "base", "x", 0.0), joint("a", "continuous", "base", "x", '<mimic joint="c"/>'))
    with pytest.raises(mbd.UsageError, match="follows itself"):
        read(tmp_path, circle, free_mimic=True)


def test_an_inertia_that_no_body_can_have_is_refused_or_repaired(tmp_path):
    text = robot(link("base"), link("odd", inertial(1.0, (0.1, 0.1, 0.5))), hinge("a", "base", "odd", 0.0))
    with pytest.raises(mbd.ModelFileError, match=r"line \d+, link 'odd': J_bar breaks the triangle.*repair_inertia=True"):
        read(tmp_path, text)
    system = read(tmp_path, text, repair_inertia=True)
    np.testing.assert_allclose(np.diag(system["odd"].J_bar), (0.25, 0.25, 0.5), rtol=ROUNDING)
    assert "(0.1, 0.1, 0.5) became (0.25, 0.25, 0.5)" in system.import_report.substituted[0]


def test_a_floating_root_falls_and_planar_joints_keep_their_plane(tmp_path):
    text = robot(link("base", inertial(2.0, (0.1, 0.2, 0.25), (0.1, 0, 0))))
    found = mbd.accelerations(read(tmp_path, text, floating=True, gravity=(0, 1, 2)))
    np.testing.assert_allclose(found.v_dot[1], (0, 1, 2), rtol=0, atol=1e-14)
    text = robot(link("base"), link("puck", inertial(1.0, (1, 1, 1))), joint("p", "planar", "base", "puck", axis((0, 3, 4))))
    found = mbd.accelerations(read(tmp_path, text)).v_dot[1]
    normal = np.array((0, 0.6, 0.8))
    g = np.array((0, 0, -GRAVITY))
    np.testing.assert_allclose(found, g - (g @ normal) * normal, rtol=0, atol=1e-13)


FAULTS = [
    (robot(link("a"), link("a"), joint("j", "revolut", "a", "b")), ["link 'a': the name is there twice", "'revolute'?", "no link 'b'"]),
    (robot(link("a"), link("b")), ["one root link, it has 2: 'a', 'b'"]),
    (robot(link("a"), link("b"), hinge("j", "a", "b", 0), hinge("k", "b", "a", 0)), ["one root link, it has 0"]),
    (robot(link("r"), link("a"), link("b"), hinge("j", "a", "b", 0), hinge("k", "b", "a", 0)), ["form a circle"]),
    (robot(link("r"), link("a"), hinge("j", "r", "a", 0), hinge("k", "r", "a", 0)), ["is the child of 'j', too", "<loop_joint>"]),
    (robot(link("r", inertial(-1, (1, 1, 1)))), ["line 3, link 'r': its mass is -1.0 kg"]),
    (robot(link("g"), link("r", inertial(0, (1, 1, 1))), hinge("h", "g", "r", 0)), ["link 'r'", "mass is 0.0 kg"]),
    (robot(link("r"), link("a"), joint("j", "continuous", "r", "a", axis((0, 0, 0)))), ["its axis is [0.0, 0.0, 0.0]"]),
    (robot(link("r"), link("a"), joint("j", "fixed", "r", "a", '<origin xyz="1 2"/>')), ['xyz="1 2" is not 3 finite']),
    (robot(link("r"), link("a"), joint("j", "fixed", "r", "a", '<origin rpy="0 nan 0"/>')), ['rpy="0 nan 0"']),
    ("<robot><xacro:macro/></robot>".replace("<robot>", "<robot xmlns:xacro='x'>"), ["xacro"]),
    ("<mujoco/>", ["root element is not <robot>"]),
    (robot(link("r"), robots.urdf_plus("spherical", ("r", ZERO, ZERO), ("r", ZERO, ZERO))), ["URDF+ has no spherical loop", "<loop_joint"]),
    (robot(link("r"), robots.loop_joint("screw", ("r", ZERO, ZERO), ("x", ZERO, ZERO))), ["its type is 'screw'", "no link 'x'"]),
    (robot(link("r"), robots.loop_joint("fixed", ("r", ZERO, ZERO), ("r", ZERO, ZERO))), ["parts of one body"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), FAULTS, ids=range(len(FAULTS)))
def test_faults_are_said_with_their_lines(text, said, tmp_path):
    with pytest.raises(mbd.ModelFileError) as told:
        read(tmp_path, text)
    for words in said:
        assert words in str(told.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'<!DOCTYPE r [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>', "document type or entities"),
        (b'<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "document type or entities"),
        (b"<robot>&undefined;</robot>", "line 1: it is no XML: undefined entity"),
        (b"<a>" * 100 + b"</a>" * 100, "deeper than 40 levels"),
        (b"<robot>", "line 1: it is no XML: no element found"),
        (b"", "no element found"),
        (b"\x00\xff", "no XML"),
        (b'<?xml version="1.0" encoding="klingon"?><robot/>', "no XML"),
    ],
)
def test_hostile_xml_is_refused(data, told, tmp_path):
    (tmp_path / "bad.urdf").write_bytes(data)
    with pytest.raises(mbd.UsageError, match=told):
        mbd.read_urdf(tmp_path / "bad.urdf")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("closed_loop: [[a, b], ['c d', \"e\"]]\ntype: ['3d', 6D]", [("spherical", "a", "b"), ("fixed", "c d", "e")]),
        ("---\ntype: ['6d']  # comment\nclosed_loop:\n  [\n  [a, b] # one\n  ]\n", [("fixed", "a", "b")]),
        ("closed_loop:\n- [a, b]\n- [c, d]\ntype:\n  - 3d\n  - 6d", [("spherical", "a", "b"), ("fixed", "c", "d")]),
        ("closed_loop:\n- - a\n  - b\ntype: 3d", [("spherical", "a", "b")]),
    ],
)
def test_sidecar_files(text, found):
    assert read_sidecar(text)[0] == found


NO_SIDECARS = [
    "",
    "a",
    "closed_loop: [[a]]\ntype: ['3d']",
    "closed_loop: [[a, b]]",
    "closed_loop: [[a, b]]\ntype: ['4d']",
    "closed_loop: [[a, b]\ntype: 3d",
    "closed_loop: ]\ntype: 3d",
    "closed_loop: [[[[[a]]]]]\ntype: 3d",
    "closed_loop: [[a, b]]\ntype: ['3d', '3d']",
    "type: 3d\ntype: 3d",
    "closed_loop: !!python/object:os.system [x]\ntype: 3d",
    "closed_loop: &a [*a]\ntype: 3d",
    "closed_loop:\n" + "- " * 50 + "a\ntype: 3d",
    "closed_loop: {a: b}\ntype: 3d",
    "x: '",
]


@pytest.mark.parametrize("text", NO_SIDECARS, ids=range(len(NO_SIDECARS)))
def test_sidecar_files_that_are_none(text):
    with pytest.raises(mbd.UsageError):
        read_sidecar(text)


def test_frames_of_a_sidecar_that_are_not_there(tmp_path):
    (tmp_path / "s.yaml").write_text("closed_loop: [[crank, nowhere]]\ntype: 3d")
    with pytest.raises(mbd.ModelFileError, match="no link or joint 'nowhere'"):
        read(tmp_path, robots.four_bar_leg(""), loops=tmp_path / "s.yaml")


def test_coordinates_that_are_none(tmp_path):
    text = robots.four_bar_leg("")
    for q, told in (
        ({"motr": 1.0}, "did you mean 'motor'"),
        ({"motor": np.nan}, "finite"),
        ({"coupler_tip": 1.0}, "turns or slides"),
    ):
        with pytest.raises(mbd.UsageError, match=told):
            read(tmp_path, text, q=q)


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
