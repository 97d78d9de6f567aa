"""ASMT: closed forms, merged against unmerged parts, motions, limits, open loops, and what is doubtful."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.math import euler_parameters
from tests.support import asmt
from tests.support.asmt import about_z, joint, limit, marker, motion, part, random_pose, read, turned_about

ROUNDING = 1e-12
"""Products of three rotations, of lengths of about 1 m; seen 2e-15."""
CLOSED = 1e-12
"""[m] What joints are closed to."""
SAME = 1e-9
"""Relative to the largest acceleration: the same mechanism from merged and unmerged parts; seen 1e-12."""


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


@pytest.mark.slow
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
    T = turned_about((1, 0, 0), 0.7)
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


@pytest.mark.slow
def test_motions_are_the_angle_and_the_displacement_of_the_markers(tmp_path):
    """The angle from x_i to x_j is the formula itself, also where it is not zero at first."""
    _, A_i = random_pose(np.random.default_rng(8))
    parts = [
        part("arm", marker("pin", A=A_i), marker("rail", (0, 300, 0), turned_about((1, 0, 0), 0.3)), A=np.eye(3)),
        part("cart", marker("rail"), r=(0, 300, 0), A=turned_about((1, 0, 0), 0.3)),
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
    assert "part 'b' has no mass: given 1e-10 kg" in report.substituted[0]
    assert "limit 'stop' (RotationLimit =< 30.0*pi/180.0)" in report.ignored
    assert "simulation parameters" in report.ignored
    assert any("pass length=0.001" in text for text in report.warnings)
    same = read(tmp_path, asmt.assembly([part("a"), part("b", r=(1, 0, 0))])).import_report
    assert "as FreeCAD writes them" in same.warnings[0]


def test_misspelt_records_are_said(tmp_path):
    """A part whose RotationMatrix is misspelt would not be turned, in silence."""
    text = asmt.assembly(
        [part("a", marker("m"))],
        [joint("RevoluteJoint", "j", ("g",), ("a", "m"))],
        [asmt.motion("RotationalMotion", "drive", "j", "time")],
        markers=[marker("g")],
    )
    assert not [told for told in read(tmp_path, text).import_report.ignored if told.startswith("the record")]
    head, tail = text.split("\tParts\n")
    tail = tail.replace("RotationMatrix", "RotationMatix", 1).replace(
        "MarkerJ", "MarkerJ\n\t\t\t\t\t/Assembly/a/m\n\t\t\t\tMarkrJ", 1
    )
    ignored = read(tmp_path, f"{head}\tParts\n{tail}".replace("Position3D", "Position", 1), close=False).import_report.ignored
    assert {told for told in ignored if told.startswith("the record")} == {
        "the record 'RotationMatix' of a part",
        "the record 'MarkrJ' of a joint",
        "the record 'Position'",
    }


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


@pytest.mark.slow
def test_the_command_line_knows_the_format(tmp_path, capsys):
    path = tmp_path / "four_bar.asmt"
    path.write_text(asmt.four_bar(gap=3.0))
    assert main.main(["convert", str(path), str(tmp_path / "out.json"), "--length", "0.001"]) == 0
    assert "joint 'D' (SphericalJoint, ASMT) was open by" in capsys.readouterr().out
    assert len(mbd.load_model(tmp_path / "out.json").bodies) == 4
    assert main.main(["check", str(tmp_path / "out.json"), "--length", "0.001"]) == 2
    assert "--length is for assemblies" in capsys.readouterr().err
