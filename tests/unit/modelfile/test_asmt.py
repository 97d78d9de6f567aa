"""ASMT: closed forms, joints on their whole manifolds, merged against unmerged parts, motions, open loops, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.math import euler_parameters
from tests.support import asmt
from tests.support.asmt import joint, limit, marker, motion, part

ROUNDING = 1e-12
"""Products of three rotations, of lengths of about 1 m; seen 2e-15."""
CLOSED = 1e-12
"""[m] What joints are closed to."""
SAME = 1e-9
"""Relative to the largest acceleration: the same mechanism from merged and unmerged parts; seen 1e-12."""


def read(tmp_path, text, **how):
    path = tmp_path / "model.asmt"
    path.write_text(text)
    return mbd.read_asmt(path, **how)


def random_pose(rng):
    return rng.normal(size=3), euler_parameters.rotation_matrix(euler_parameters.normalized(rng.normal(size=4)))


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def test_a_pendulum_by_its_closed_form(tmp_path):
    """J theta'' = m g l sin, with the part frame, the reference point, the marker and the mass marker all turned and shifted."""
    rng = np.random.default_rng(3)
    (r, A), (r_ref, A_ref), (r_mark, A_mark) = (random_pose(rng) for _ in range(3))
    m, J = 2.0, (0.3, 0.4, 0.5)
    z = A @ A_ref @ A_mark[:, 2]
    origin = r + A @ (r_ref + A_ref @ r_mark)
    c, (_, axes) = rng.normal(size=3), random_pose(rng)
    ground = marker("pin", origin, A @ A_ref @ A_mark @ about_z(0.4))
    bar = part("bar", marker("pin", r_mark, A_mark), r=r, A=A, mass=m, J=J, c=c, axes=axes, at=(r_ref, A_ref))
    text = asmt.assembly([bar], [joint("RevoluteJoint", "pin", ("pin",), ("bar", "pin"))], markers=[ground])
    system = read(tmp_path, text)
    body = system["bar"]
    np.testing.assert_allclose(body.r, r + A @ c, rtol=0, atol=ROUNDING)
    arm = body.r - origin
    turn = A @ axes
    about = z @ (turn @ np.diag(J) @ turn.T) @ z + m * np.linalg.norm(np.cross(z, arm)) ** 2
    exact = z @ np.cross(arm, (0, 0, -9.81 * m)) / about
    found = mbd.accelerations(system.compile())
    assert z @ body.A @ found.omega_bar_dot[1] == pytest.approx(exact, rel=1e-10)
    assert system.import_report.degrees_of_freedom == 1
    np.testing.assert_allclose(system.import_report.frames["bar"].point, r, rtol=0, atol=ROUNDING)


def test_velocities_are_of_the_origin_of_the_part(tmp_path):
    v, w, c = np.array((1.0, 2.0, 3.0)), np.array((0.1, -0.4, 0.7)), np.array((0.5, 0.0, -0.2))
    _, A = random_pose(np.random.default_rng(5))
    body = read(tmp_path, asmt.assembly([part("p", A=A, v=v, w=w, c=c)]))["p"]
    np.testing.assert_allclose(body.v, v + np.cross(w, A @ c), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(body.A @ body.omega_bar, w, rtol=0, atol=ROUNDING)


def turned_about(axis, angle):
    return euler_parameters.rotation_matrix(euler_parameters.from_axis_angle(axis, angle))


X, Z = np.eye(3)[0], np.eye(3)[2]
FLIP = np.diag((1.0, -1.0, -1.0))
KINDS = {
    "FixedJoint": (6, {}, lambda u, R: (np.zeros(3), np.eye(3))),
    "RevoluteJoint": (5, {}, lambda u, R: (np.zeros(3), about_z(u[3]))),
    "RevRevJoint": (5, {}, lambda u, R: (np.zeros(3), about_z(u[3]))),
    "CylindricalJoint": (4, {}, lambda u, R: (u[2] * Z, about_z(u[3]) @ FLIP)),
    "RevCylJoint": (4, {}, lambda u, R: (u[2] * Z, about_z(u[3]))),
    "TranslationalJoint": (5, {}, lambda u, R: (u[2] * Z, np.eye(3))),
    "SphericalJoint": (3, {}, lambda u, R: (np.zeros(3), R)),
    "SphSphJoint": (1, {"distanceIJ": 0.7}, lambda u, R: (0.7 * R[:, 0], turned_about(R[:, 1], u[3]))),
    "UniversalJoint": (4, {}, lambda u, R: (np.zeros(3), about_z(u[3]) @ turned_about(X, np.pi / 2) @ about_z(u[4]))),
    "ConstantVelocityJoint": (4, {}, lambda u, R: (np.zeros(3), turned_about((np.cos(u[3]), np.sin(u[3]), 0.0), u[4]))),
    "PlanarJoint": (3, {"offset": 0.3}, lambda u, R: (np.array((u[0], u[1], 0.3)), about_z(u[3]))),
    "PointInPlaneJoint": (1, {"offset": -0.2}, lambda u, R: (np.array((u[0], u[1], -0.2)), R)),
    "PointInLineJoint": (2, {}, lambda u, R: (u[2] * Z, R)),
    "CylSphJoint": (2, {}, lambda u, R: (u[2] * Z, R)),
    "LineInPlaneJoint": (
        2,
        {"offset": 0.1},
        lambda u, R: (np.array((u[0], u[1], 0.1)), about_z(u[3]) @ turned_about(X, np.pi / 2) @ about_z(u[4])),
    ),
    "ParallelAxesJoint": (2, {}, lambda u, R: (u[:3], about_z(u[3]))),
    "PerpendicularJoint": (1, {}, lambda u, R: (u[:3], about_z(u[3]) @ turned_about(X, np.pi / 2) @ about_z(u[4]))),
    "NoRotationJoint": (3, {}, lambda u, R: (u[:3], np.eye(3))),
    "AngleJoint": (1, {"theIzJz": 0.6}, lambda u, R: (u[:3], about_z(u[3]) @ turned_about(X, 0.6) @ about_z(u[4]))),
    "RevRevJoint ": (4, {"distanceIJ": 0.4}, lambda u, R: (0.4 * about_z(u[4])[:, 0], about_z(u[3]))),
}
"""Equations, numbers, and the relative pose of marker J for random coordinates u (6,) and a random rotation R."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_holds_for_all_its_coordinates_and_for_no_more(kind, tmp_path):
    """The rows vanish on a manifold, and have the rank that leaves just that manifold: this determines the joint."""
    rows, values, relative = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    for _ in range(3):
        (r, A), (r_i, A_i), (r_j, A_j) = (random_pose(rng) for _ in range(3))
        d, T = relative(rng.uniform(-1.0, 1.0, 6), random_pose(rng)[1])
        at_j, turn_j = r + A @ (r_i + A_i @ d), A @ A_i @ T
        B = turn_j @ A_j.T
        parts = [
            part("i", marker("m", r_i, A_i), r=r, A=A, c=(0.1, 0.2, 0.3)),
            part("j", marker("m", r_j, A_j), r=at_j - B @ r_j, A=B),
        ]
        text = asmt.assembly(parts, [joint(kind.strip(), "joint", ("i", "m"), ("j", "m"), **values)])
        system = read(tmp_path, text, close=False, merge_fixed=False)
        model = system.compile()
        found = mbd.evaluate(model)
        assert found.Phi.shape == (rows,)
        assert np.abs(found.Phi).max() <= ROUNDING
        assert np.linalg.matrix_rank(found.Phi_q.toarray(), tol=1e-9) == rows


def orbit(i, j):
    """The angle of the origin of marker j in the axes of marker i, about z; a marker is (point, axes)."""
    d = i[1].T @ (j[0] - i[0])
    return np.arctan2(d[1], d[0])


def turn_between(i, j):
    """The angle from x of marker i to x of marker j, about z of marker i."""
    T = i[1].T @ j[1]
    return np.arctan2(T[1, 0], T[0, 0])


def away(axis):
    """A component of the vector from marker i to marker j in the axes of marker i."""
    return lambda i, j: float(i[1][:, axis] @ (j[0] - i[0]))


def two_wheels(radii, flip=False):
    """Two wheels on an arm that turns on the ground; the solver counts the angles of a gear from the line between its markers."""
    A = turned_about((1, 2, 3), 0.7)
    ends = {"one": about_z(0.4), "two": (FLIP if flip else np.eye(3)) @ about_z(-0.6)}
    parts = [
        part("arm", marker("o"), marker("a", (0.1, 0, 0)), marker("b", (0.5, 0.2, 0.1)), A=A),
        part("one", marker("m", A=ends["one"]), r=A @ (0.1, 0, 0), A=A @ about_z(0.3), J=(2, 2, 3)),
        part("two", marker("m", A=ends["two"]), r=A @ (0.5, 0.2, 0.1), A=A @ about_z(-0.2), J=(1, 1, 1.5)),
    ]
    joints = [
        joint("GearJoint", "coupled", ("one", "m"), ("two", "m"), radiusI=radii[0], radiusJ=radii[1]),
        joint("RevoluteJoint", "pivot", ("g",), ("arm", "o")),
        joint("RevoluteJoint", "hinge a", ("arm", "a"), ("one", "m")),
        joint("RevoluteJoint", "hinge b", ("two", "m"), ("arm", "b")),
    ]
    return parts, joints, ends, ((radii[0], orbit, True), (radii[1], lambda i, j: orbit(j, i), True))


def rack(radius):
    """A rack that slides on an arm, and a pinion on it."""
    A = turned_about((1, -2, 1), 0.9)
    along = turned_about((0, 1, 0), np.pi / 2)  # z of the slide along x of the arm
    ends = {"rack": np.eye(3), "pinion": about_z(0.8)}
    parts = [
        part("arm", marker("o"), marker("s", (0, -0.1, 0), along), marker("p", (0, 0.1, 0)), A=A),
        part("rack", marker("m"), marker("s", A=along), r=A @ (0.2, -0.1, 0), A=A, mass=2.0),
        part("pinion", marker("m", A=ends["pinion"]), r=A @ (0, 0.1, 0), A=A @ about_z(0.3), J=(1, 1, 0.5)),
    ]
    joints = [
        joint("RackPinionJoint", "coupled", ("rack", "m"), ("pinion", "m"), pitchRadius=radius),
        joint("RevoluteJoint", "pivot", ("g",), ("arm", "o")),
        joint("TranslationalJoint", "rail", ("rack", "s"), ("arm", "s")),
        joint("RevoluteJoint", "hinge", ("arm", "p"), ("pinion", "m")),
    ]
    return parts, joints, ends, ((1.0, away(0), False), (radius, turn_between, True))


def screw(pitch, way):
    """A screw in a nut: a cylindrical joint; or a nut that slides and a screw that turns on an arm; or two cylindrical joints."""
    A = turned_about((2, -1, 1), 1.1)
    place = {"r": A @ (0, 0.1, 0.3), "A": A}
    ends = {"nut": np.eye(3), "screw": FLIP @ about_z(0.5) if way == "carrier" else about_z(0.5)}
    parts = [
        part("arm", marker("o"), marker("p", (0, 0.1, 0)), marker("q", (0, 0.1, 0.3)), A=A),
        part("nut", marker("m"), **place, mass=2.0),
        part("screw", marker("m", A=ends["screw"]), **place, J=(1, 1, 0.2)),
    ]
    joints = [
        joint("ScrewJoint", "coupled", ("nut", "m"), ("screw", "m"), pitch=pitch),
        joint("RevoluteJoint", "pivot", ("g",), ("arm", "o")),
        joint("CylindricalJoint" if way == "two" else "TranslationalJoint", "rail", ("arm", "p"), ("nut", "m")),
    ]
    if way == "direct":
        joints.append(joint("CylindricalJoint", "thread", ("screw", "m"), ("nut", "m")))
    else:
        kind = "CylindricalJoint" if way == "two" else "RevoluteJoint"
        joints.append(joint(kind, "hinge", ("screw", "m"), ("arm", "q")))
    return parts, joints, ends, ((2.0 * np.pi, away(2), False), (-pitch, turn_between, True))


COUPLED = {
    "gears": (two_wheels((0.2, 0.3)), "Gear", 2),
    "gears with antiparallel axes": (two_wheels((0.2, 0.3), flip=True), "Gear", 2),
    "belt": (two_wheels((0.2, -0.3)), "Gear", 2),
    "rack": (rack(0.07), "RackPinion", 2),
    "negative rack": (rack(-0.07), "RackPinion", 2),
    "screw": (screw(0.3, "direct"), "Screw", 3),
    "screw on a carrier": (screw(-0.2, "carrier"), "RackPinion", 2),
    "two cylindrical joints": (screw(0.3, "two"), "Coupling", 4),
}
DRIFT = 1e-8
"""Of the solver's equation over 0.6 s of RK4 with projection, relative to numbers of 1; seen 1e-11."""


@pytest.mark.slow
@pytest.mark.parametrize("case", COUPLED)
def test_couplings_keep_the_equation_of_the_solver(case, tmp_path):
    """The solver's own equation, from the poses of the markers alone, along a motion of large angles."""
    (parts, joints, ends, terms), kind, freedom = COUPLED[case]
    system = read(tmp_path, asmt.assembly(parts, joints, markers=[marker("g")]))
    assert next(type(each).__name__ for each in system.joints if each.name == "coupled") == kind
    assert system.import_report.degrees_of_freedom == freedom
    model = system.compile()
    rows = mbd.evaluate(model).Phi_q.toarray().reshape(-1, 6 * model.nb)
    *_, right = np.linalg.svd(rows)
    free = right[np.linalg.matrix_rank(rows, tol=1e-9) :]
    u = (np.random.default_rng(1).normal(size=len(free)) @ free).reshape(-1, 6)
    u = np.vstack([np.zeros((1, 6)), 4.0 / np.abs(u).max() * u])
    run = mbd.simulate(model, 0.6, h=2e-3, state=model.state().replace(v=u[:, :3], omega_bar=u[:, 3:]))
    poses = []
    for name, A_m in ends.items():
        frame, k = system.import_report.frames[name], next(k for k, body in enumerate(system.bodies) if body.name == name)
        A = euler_parameters.rotation_matrix(run.p[:, k])
        poses.append([(r + Q @ frame.s_bar, Q @ frame.A_bar @ A_m) for r, Q in zip(run.r[:, k], A, strict=True)])
    total, moved = np.zeros(len(run.t)), []
    for c, value, is_angle in terms:
        series = np.array([value(i, j) for i, j in zip(*poses, strict=True)])
        series = np.unwrap(series) if is_angle else series
        total += c * series
        moved.append(np.ptp(c * series))
    assert min(moved) > 0.01
    assert np.ptp(total) <= DRIFT


def test_couplings_without_the_joints_that_they_couple_are_refused(tmp_path):
    for change, what in (
        (("radiusI", "0.0"), "a GearJoint needs radiusI and radiusJ, which are not zero"),
        (("hinge b", None), "the wheels of a GearJoint need hinges on a common carrier"),
    ):
        parts, joints, *_ = two_wheels((0.2, 0.3))
        if change[1] is None:
            joints = [each for each in joints if each[1][0][1][0] != change[0]]
        else:
            joints[0] = joint("GearJoint", "coupled", ("one", "m"), ("two", "m"), radiusI=0.0, radiusJ=1.0)
        with pytest.raises(mbd.ModelFileError, match=what):
            read(tmp_path, asmt.assembly(parts, joints, markers=[marker("g")]))
    for made, left, what in (
        (rack(0.1), "rail", "a RackPinionJoint needs a slide of the rack"),
        (screw(0.1, "direct"), "thread", "the parts of a ScrewJoint need a cylindrical joint"),
    ):
        parts, joints, *_ = made
        with pytest.raises(mbd.ModelFileError, match=what):
            read(tmp_path, asmt.assembly(parts, [each for each in joints if each[1][0][1][0] != left], markers=[marker("g")]))


@pytest.mark.parametrize("merge", [True, False])
def test_a_four_bar_in_millimetres_is_closed_and_moves(merge, tmp_path):
    system = read(tmp_path, asmt.four_bar(gap=8.0), length=0.001, merge_fixed=merge)
    report = system.import_report
    assert report.degrees_of_freedom == 1
    assert report.body_of["base"] == ("ground" if merge else "base")
    assert {loop.name for loop in report.loops} == {"C", "D"}
    assert sum(loop.distance for loop in report.loops) == pytest.approx(0.016, rel=0.2)
    model = system.compile()
    assert np.abs(mbd.evaluate(model).Phi).max() <= CLOSED
    assert model.gravity[1] == pytest.approx(-9.81)
    assert "4 parts and 5 joints" in str(report)


def test_merged_and_unmerged_parts_accelerate_alike(tmp_path):
    one, two = (read(tmp_path, asmt.four_bar(turn=0.7), length=0.001, merge_fixed=merge) for merge in (True, False))
    found = [mbd.accelerations(each.compile()) for each in (one, two)]
    scale = max(9.81, np.abs(found[0].omega_bar_dot).max())
    for name in ("crank", "coupler", "rocker"):
        k, n = (next(k for k, body in enumerate(each.bodies) if body.name == name) for each in (one, two))
        np.testing.assert_allclose(found[0].omega_bar_dot[k], found[1].omega_bar_dot[n], rtol=0, atol=SAME * scale)
        np.testing.assert_allclose(found[0].v_dot[k], found[1].v_dot[n], rtol=0, atol=SAME * scale)


def test_parts_that_are_fixed_to_each_other_are_one_body(tmp_path):
    """Two parts, welded through markers that do not meet: the second is moved; the sum of two solids."""
    T = turned_about(X, 0.7)
    parts = [
        part("a", marker("m", (1.0, 0, 0), T), mass=2.0, J=(1, 2, 2.5), c=(0.1, 0, 0)),
        part("b", marker("m", (0, 0, 0.5)), r=(5, 5, 5), mass=3.0, J=(1, 1, 1), c=(0, 0.2, 0)),
    ]
    system = read(tmp_path, asmt.assembly(parts, [joint("FixedJoint", "weld", ("a", "m"), ("b", "m"))]))
    assert [body.name for body in system.bodies] == ["ground", "a"]
    origin = np.array((1.0, 0, 0)) - T @ (0, 0, 0.5)
    centers = np.array((0.1, 0, 0)), origin + T @ (0, 0.2, 0)
    c = (2.0 * centers[0] + 3.0 * centers[1]) / 5.0
    J = np.diag((1, 2, 2.5)) + T @ np.eye(3) @ T.T
    for m, d in zip((2.0, 3.0), (x - c for x in centers), strict=True):
        J = J + m * (d @ d * np.eye(3) - np.outer(d, d))
    body = system["a"]
    np.testing.assert_allclose(body.r, c, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(body.J_bar, J, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(system.import_report.frames["b"].point, origin, rtol=0, atol=ROUNDING)
    assert "part 'b' was moved by" in system.import_report.substituted[0]


def test_motions_are_the_angle_and_the_displacement_of_the_markers(tmp_path):
    """The angle from x_i to x_j is the formula itself, also where it is not zero at first."""
    _, A_i = random_pose(np.random.default_rng(8))
    parts = [
        part("arm", marker("pin", A=A_i), marker("rail", (0, 300, 0), turned_about(X, 0.3)), A=np.eye(3)),
        part("cart", marker("rail"), r=(0, 300, 0), A=turned_about(X, 0.3)),
    ]
    joints = [
        joint("RevoluteJoint", "hinge", ("pin",), ("arm", "pin")),
        joint("TranslationalJoint", "rail", ("arm", "rail"), ("cart", "rail")),
    ]
    motions = [
        motion("RotationalMotion", "turn", "hinge", "0.3 + 2.0*pi*time/12 + asin(0.5)*0.1*time^2"),
        motion("TranslationalMotion", "rail", "rail", "-5.0d1*time<n>+ 20"),
    ]
    system = read(tmp_path, asmt.assembly(parts, joints, motions, markers=[marker("pin", A=A_i)]), length=0.001)
    assert [part.name for part in system.joints] == ["hinge", "rail", "turn", "rail (motion)"]
    frames, times = system.import_report.frames, np.array((0.0, 0.4, 1.1))
    run = mbd.kinematics(system, times)
    for k, t in enumerate(times):
        arm, cart = (euler_parameters.rotation_matrix(run.p[k, n]) for n in (1, 2))
        M = arm @ frames["arm"].A_bar @ A_i
        angle = np.arctan2(A_i[:, 1] @ M[:, 0], A_i[:, 0] @ M[:, 0])
        assert angle == pytest.approx(0.3 + np.pi * t / 6.0 + np.pi / 6.0 * 0.1 * t * t, abs=1e-10)
        away = run.r[k, 2] - run.r[k, 1] - arm @ (0, 0.3, 0)
        assert away @ cart[:, 2] == pytest.approx(0.02 - 0.05 * t, abs=1e-10)


def test_the_assembly_may_stand_elsewhere(tmp_path):
    r, A = random_pose(np.random.default_rng(2))
    text = asmt.assembly(
        [part("p", marker("m"))], [joint("RevoluteJoint", "j", ("g",), ("p", "m"))], markers=[marker("g", (1, 0, 0))], r=r, A=A
    )
    system = read(tmp_path, text)
    np.testing.assert_allclose(system["p"].r, r + A[:, 0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.abs(A[:, 2] @ system["p"].A[:, 2]), 1.0, rtol=0, atol=1e-10)


def test_what_is_doubtful_and_not_read_is_said(tmp_path):
    parts = [part("a", marker("m"), r=(250.0, 0, 0)), part("b", marker("m"), mass=0.0)]
    text = asmt.assembly(
        parts,
        [joint("RevoluteJoint", "j", ("a", "m"), ("b", "m"))],
        limits=[limit("stop", "j", "=<", "30.0*pi/180.0")],
        head="freeCAD: 3D CAD with Motion Simulation  by  askoh.com",
    )
    report = read(tmp_path, text, close=False).import_report
    assert "part 'b' has no mass: given 1e-06 kg" in report.substituted[0]
    assert "limit 'stop' (RotationLimit =< 30.0*pi/180.0)" in report.ignored
    assert "simulation parameters" in report.ignored
    assert any("pass length=0.001" in text for text in report.warnings)
    same = read(tmp_path, asmt.assembly([part("a"), part("b", r=(1, 0, 0))])).import_report
    assert "as FreeCAD writes them" in same.warnings[0]


def test_limits_become_stops(tmp_path):
    """Counted as motions are: the angle from x_i to x_j about z_i, and the displacement along it in the unit of the file."""
    parts = [
        part("arm", marker("pin", A=about_z(0.2)), marker("rail", (0, 300, 0))),
        part("cart", marker("rail"), r=(0, 300, 40)),
    ]
    joints = [
        joint("RevoluteJoint", "hinge", ("pin",), ("arm", "pin")),
        joint("TranslationalJoint", "rail", ("arm", "rail"), ("cart", "rail")),
    ]
    limits = [
        limit("high", "hinge", "=<", "30.0*pi/180.0"),
        limit("low", "hinge", "=>", "-1"),
        limit("lower", "hinge", "=>", "-2"),
        ("TranslationLimit", limit("end", "rail", "=<", "90")[1]),
        limit("moving", "hinge", "=<", "time"),
        limit("strange", "rail", "=<", "1"),
    ]
    text = asmt.assembly(parts, joints, limits=limits, markers=[marker("pin")])
    system = read(tmp_path, text, length=0.001, stop_stiffness=200.0)
    turn, slide = system.loads
    assert (turn.lower, turn.upper, turn.k) == pytest.approx((-1.2, np.pi / 6 - 0.2, 200.0))
    assert (slide.lower, slide.upper, slide.k) == pytest.approx((-np.inf, 0.05, 200.0))
    report = system.import_report
    assert report.substituted[-1] == "joint limits (2) became JointLimit, k = stop_stiffness"
    assert {"limit 'moving' (RotationLimit =< time)", "limit 'strange' (RotationLimit =< 1)"} <= set(report.ignored)
    assert len([told for told in read(tmp_path, text, length=0.001).import_report.ignored if told.startswith("limit ")]) == 6


def test_all_faults_at_once_with_lines(tmp_path):
    parts = [
        part("a", marker("m"), marker("m"), A=2.0 * np.eye(3)),
        part("a"),
        part("b", marker("m"), mass=-1.0),
        part("c", marker("m"), J=(1, 1, 5)),
    ]
    joints = [joint("RevoluteJoint", "j", ("a", "mm"), ("c", "m"))]
    text = asmt.assembly(parts, joints, forces=[asmt.below("ForceTorque", asmt.below("Name", "push"))])
    with pytest.raises(mbd.ModelFileError) as error:
        read(tmp_path, text.replace("ConstantGravity\n\t\t0.0", "ConstantGravity\n\t\tnan"))
    told = str(error.value)
    for what in (
        "part 'a': RotationMatrix is no rotation",
        "the name 'm' is empty, or that of another marker",
        "the name 'a' is empty, or that of another part",
        "part 'b': its mass is -1",
        "the load 'push' (ForceTorque) cannot be read",
        "MarkerI: there is no marker '/Assembly/a/mm' (did you mean '/Assembly/a/m'?)",
        "ConstantGravity is 'nan",
    ):
        assert what in told
    assert all(fault.where.startswith("line ") for fault in error.value.faults)


def test_what_cannot_be_read_is_refused_by_name(tmp_path):
    parts = [part("a", marker("m")), part("c", marker("m"), J=(1, 1, 5))]
    ends = ("a", "m"), ("c", "m")
    joints = [
        joint("GearJoint", "gear", *ends, radiusI=1, radiusJ=2),
        joint("CylSphJoint", "tube", *ends, distanceIJ=0.5),
        joint("HingeJoint", "odd", *ends),
        joint("RevoluteJoint", "self", ("a", "m"), ("a", "m")),
        joint("RevoluteJoint", "good", *ends),
    ]
    motions = [
        motion("RotationalMotion", "run", "goood", "time"),
        motion("RotationalMotion", "ramp", "good", "rampstep(time)"),
        motion("TranslationalMotion", "slide", "good", "time"),
    ]
    with pytest.raises(mbd.ModelFileError) as error:
        read(tmp_path, asmt.assembly(parts, joints, motions))
    told = str(error.value)
    for what in (
        "joint 'gear': the markers of a GearJoint are on one axis",
        "joint 'tube': a CylSphJoint with distanceIJ = 0.5 m cannot be read",
        "the type 'HingeJoint' is not known",
        "joint 'self': both its markers are on 'a'",
        "there is no joint 'goood' that moves (did you mean 'good'?)",
        "the formula 'rampstep(time)' has 'rampstep'",
        "motion 'slide'" if "motion 'slide'" in told else "joint 'slide'",
        "body 'c': J_bar",
    ):
        assert what in told
    with pytest.raises(mbd.ModelFileError, match="motion 'spin': its type 'GeneralMotion' cannot be read"):
        read(tmp_path, asmt.assembly(parts[:1], motions=[motion("GeneralMotion", "spin", "good", "time")]))


def test_fixed_joints_in_a_circle(tmp_path):
    parts = [part(name, marker("m"), marker("n", (0, 0, 0.1 * (name == "c")))) for name in "abc"]
    joints = [joint("FixedJoint", f"{i}{j}", (i, "m"), (j, "m")) for i, j in ("ab", "bc")]
    assert len(read(tmp_path, asmt.assembly(parts, [*joints, joint("FixedJoint", "ca", ("c", "m"), ("a", "m"))])).bodies) == 2
    with pytest.raises(mbd.ModelFileError, match="circle contradict each other by 0.1"):
        read(tmp_path, asmt.assembly(parts, [*joints, joint("FixedJoint", "ca", ("c", "n"), ("a", "m"))]))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "line 1: it begins with ''"),
        ("Solver\n", "it is no ASMT file"),
        ("OndselSolver\nPart\n", "one record 'Assembly' is expected"),
        ("OndselSolver\nAssembly\n\t\t\tName\n", "line 3: 'Name' has 3 tabs"),
        ("OndselSolver\nAssembly\n\tParts\n", "it has no name"),
        ("OndselSolver\nAssembly\n" + "".join("\t" * k + "x\n" for k in range(1, 40)), "nested deeper than 20"),
    ],
)
def test_texts_that_are_no_assembly(text, what, tmp_path):
    with pytest.raises(mbd.ModelFileError, match=what):
        read(tmp_path, text)


def test_bad_arguments(tmp_path):
    for length in (0.0, -1, float("nan"), "mm"):
        with pytest.raises(mbd.UsageError, match="length is"):
            read(tmp_path, asmt.four_bar(), length=length)


def test_the_command_line_knows_the_format(tmp_path, capsys):
    path = tmp_path / "four_bar.asmt"
    path.write_text(asmt.four_bar(gap=3.0))
    assert main.main(["convert", str(path), str(tmp_path / "out.json"), "--length", "0.001"]) == 0
    assert "joint 'D' (SphericalJoint, ASMT) was open by" in capsys.readouterr().out
    assert len(mbd.load_model(tmp_path / "out.json").bodies) == 4
    assert main.main(["check", str(tmp_path / "out.json"), "--length", "0.001"]) == 2
    assert "--length is for assemblies" in capsys.readouterr().err
