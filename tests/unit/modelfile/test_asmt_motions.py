"""ASMT: motions of six coordinates, forces along a line, markers of masses, comments in formulas, joints of curves, joints of one part."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import haugmbd as mbd
from tests.support import asmt
from tests.support.asmt import about_z, below, joint, marker, motion, part, path, read


def general(name, i, j, position=("0", "0", "0"), angles=("0", "0", "0"), order="1\t2\t3"):
    keys = [below(f"rIJI{k}", text) for k, text in enumerate(position, 1)]
    keys += [below(f"angIJJ{k}", text) for k, text in enumerate(angles, 1)]
    ends = below("MarkerI", path(*i)), below("MarkerJ", path(*j))
    return below("GeneralMotion", below("Name", name), *ends, *keys, below("RotationOrder", order))


def about(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    A = np.eye(3)
    b, d = (axis + 1) % 3, (axis + 2) % 3
    A[b, b] = A[d, d] = c
    A[b, d], A[d, b] = -s, s
    return A


@pytest.mark.parametrize(("order", "moving"), [*itertools.product(((1, 2, 3), (3, 1, 2), (2, 1, 3)), (0, 1, 2))][::2])
def test_a_general_motion_is_its_formulas(order, moving, tmp_path):
    """Position and rotation of marker J in the axes of marker I, with one angle that moves between two that do not."""
    still = [0.3, -0.5, 0.8]
    formulas = [repr(x) for x in still]
    formulas[moving] = f"{still[moving]!r} + 0.9d*time"
    I, J = about(0, 0.4) @ about_z(0.2), about(1, -0.7)
    box = part("box", marker("m", (0.1, 0.2, 0.3), J), mass=2.0, c=(0.05, 0, 0))
    move = general(
        "m", ("at",), ("box", "m"), ("0.1*time", '"a comment"0.2', "0.3 + sin(time)"), formulas, "\t".join(map(str, order))
    )
    text = asmt.assembly([box], motions=[move], markers=[marker("at", (1.0, 0, 0), I)])
    system = read(tmp_path, text)
    result = mbd.kinematics(system, [0.0, 0.4])
    t = 0.4
    angles = list(still)
    angles[moving] += 0.9 * t
    R = I @ np.linalg.multi_dot([about(axis - 1, x) for axis, x in zip(order, angles, strict=True)])
    A = R @ J.T
    r = np.array([1.0, 0, 0]) + I @ (0.1 * t, 0.2, 0.3 + np.sin(t)) - A @ (0.1, 0.2, 0.3)
    np.testing.assert_allclose(result["box"].A[-1] @ system["box"].A.T @ system["box"].A, result["box"].A[-1])
    frame = system.import_report.frames["box"]
    got = result["box"].A[-1] @ frame.A_bar
    np.testing.assert_allclose(got, A, atol=1e-9)
    np.testing.assert_allclose(result["box"].r[-1] + result["box"].A[-1] @ frame.s_bar, r, atol=1e-9)


def test_general_motions_that_cannot_be_read(tmp_path):
    parts = [part("box", marker("m"))]
    bad = [
        general("tumble", ("at",), ("box", "m"), angles=("time", "time", "0")),
        general("order", ("at",), ("box", "m"), order="1\t1\t2"),
        general("lost", ("at",), ("box", "n")),
    ]
    for move, what in zip(bad, ("2 of its three angles move", "RotationOrder", "'/Assembly/box/n'"), strict=True):
        with pytest.raises(mbd.ModelFileError, match=what):
            read(tmp_path, asmt.assembly(parts, motions=[move], markers=[marker("at")]))


def force(tension, twist="0"):
    ends = below("MarkerI", path("at")), below("MarkerJ", path("box", "MassMarker"))
    return below("InLineForceTorque", below("Name", "spring"), *ends, below("tension", tension), below("twist", twist))


def test_a_force_along_a_line_is_a_spring_damper(tmp_path):
    """Its end is the marker of the mass, and its tension is in units of the file: millimetres."""
    box = part("box", marker("m"), mass=2.0, c=(0, 0, -800.0))
    text = asmt.assembly(
        [box], markers=[marker("at")], forces=[force("(0.0d + 0.01d*(rIJ(self) + (-500.0d)) + 0.002d*vrIJ(self))")]
    )
    system = read(tmp_path, text, length=0.001)
    spring = system["spring"]
    assert (spring.k, spring.c, spring.l0) == pytest.approx((10.0, 2.0, 0.5))
    found = mbd.accelerations(system.compile())
    assert found.v_dot[1, 2] == pytest.approx(-9.81e-3 + 10.0 * 0.3 / 2.0)
    for bad, what in (("rIJ(self)^2", "not linear"), ("sin(time)", "has"), ("rJI(self)", "rJI")):
        with pytest.raises(mbd.ModelFileError, match=what):
            read(tmp_path, asmt.assembly([box], markers=[marker("at")], forces=[force(bad)]))
    with pytest.raises(mbd.ModelFileError, match="it has a twist"):
        read(tmp_path, asmt.assembly([box], markers=[marker("at")], forces=[force("0", "1.0")]))


def test_formulas_with_comments_and_joints_of_curves(tmp_path):
    parts = [part("bar", marker("m"), c=(0.5, 0, 0))]
    hinge = joint("RevoluteJoint", "hinge", ("at",), ("bar", "m"))
    move = motion("RotationalMotion", "run", "hinge", '"ramp(T1, H1)"<n>2.0d*time')
    system = read(tmp_path, asmt.assembly(parts, [hinge], [move], markers=[marker("at")]))
    assert mbd.kinematics(system, [0.0, 0.1]).joint("hinge").angle[-1] == pytest.approx(0.2)
    curve = joint("CurveCurveContact", "cam", ("bar", "edge"), ("at",))
    with pytest.raises(mbd.ModelFileError, match="curves or surfaces") as error:
        read(tmp_path, asmt.assembly(parts, [hinge, curve], markers=[marker("at")]))
    assert "no marker" not in str(error.value)


def test_a_joint_of_a_part_with_itself_is_dropped_with_a_word(tmp_path):
    parts = [part("bar", marker("m"), c=(0.5, 0, 0))]
    joints = [joint("RevoluteJoint", "hinge", ("at",), ("bar", "m")), joint("PlanarJoint", "mate", ("at",), ("there",))]
    system = read(tmp_path, asmt.assembly(parts, joints, markers=[marker("at"), marker("there", (0, 0, 0.2))]))
    assert [text for text in system.import_report.warnings if "'mate'" in text and "open by 0.2" in text]
    assert "mate" not in system


@pytest.mark.parametrize(("kind", "rows"), [("CylSphJoint", 1), ("RevCylJoint", 3)])
def test_a_distance_from_an_axis_is_a_link_without_mass(kind, rows, tmp_path):
    """Marker J keeps its distance from z of marker I, and with RevCyl its direction; accelerations are those of a fitting constraint."""
    I = about(0, 0.3)
    at = np.array([0.1, 0.2, 0.3])
    place = at + I @ (0.5 * np.cos(0.7), 0.5 * np.sin(0.7), 0.4)
    arm = np.array([0.05, 0.1, -0.2])
    along = 0.3 * I[:, 2]  # a push along the axis, which the link allows
    bar = part("bar", marker("m", arm, I), mass=2.0, J=(0.2, 0.3, 0.25), r=place - arm, v=along)
    text = asmt.assembly([bar], [joint(kind, "tube", ("at",), ("bar", "m"), distanceIJ=0.5)], markers=[marker("at", at, I)])
    system = read(tmp_path, text)
    assert system.import_report.degrees_of_freedom == 6 - rows
    result = mbd.simulate(system, 0.3, h=1e-3, project_velocity=True)
    frame = system.import_report.frames["bar"]
    tip = result["bar"].point(frame.s_bar + frame.A_bar @ (0.05, 0.1, -0.2)).r
    local = (tip - at) @ I
    np.testing.assert_allclose(np.hypot(local[:, 0], local[:, 1]), 0.5, atol=1e-9)
    assert np.ptp(local[:, 2]) > 1e-3
    if rows == 3:
        z = result["bar"].A @ (frame.A_bar @ I[:, 2])
        np.testing.assert_allclose(z, np.broadcast_to(I[:, 2], z.shape), atol=1e-9)
