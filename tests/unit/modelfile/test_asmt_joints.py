"""Joints and couplings of ASMT: each holds for all its coordinates and for no more, and couplings keep the equation of that solver."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math import euler_parameters
from tests.support import asmt
from tests.support.asmt import about_z, away, joint, marker, part, random_pose, read, turned_about

ROUNDING = 1e-12
"""Products of three rotations, of lengths of about 1 m; seen 2e-15."""


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
    "ConstantVelocityJoint": (4, {}, lambda u, R: (np.zeros(3), turned_about((np.cos(u[3]), np.sin(u[3]), 0.0), u[4]) @ FLIP)),
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
