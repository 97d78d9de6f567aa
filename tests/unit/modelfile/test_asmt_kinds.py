"""Kinds of ASMT files as solvers write them: numbers of double precision, blank lines, names left out, rounding, joints of fixed parts."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.modelfile.asmt.formulas import expression_of
from tests.support import asmt
from tests.support.asmt import joint, marker, motion, part, read, turned_about

FORMULAS = {
    "2.0d*pi*time": lambda t: 2.0 * np.pi * t,
    "0.0d + 360.0d*time*pi/180.0d": lambda t: 2.0 * np.pi * t,
    "2.0d0*pi*time": lambda t: 2.0 * np.pi * t,
    "(45.0d + 45.0d*sin((360.0d*time - 90.0d)*pi/180.0d))*pi/180.0d": (
        lambda t: np.radians(45.0 + 45.0 * np.sin(np.radians(360.0 * t - 90.0)))
    ),
    "1d-3*time^2 + .5D+1 - 3.d": lambda t: 1e-3 * t**2 + 2.0,
    "2.0D * time": lambda t: 2.0 * t,
}
"""Formulas as programs in Smalltalk and Fortran write them, and what they mean."""


@pytest.mark.parametrize("text", FORMULAS)
def test_numbers_of_double_precision(text):
    for t in np.linspace(0.0, 2.0, 7).tolist():
        assert float(np.ravel(expression_of(text).values(t))[0]) == pytest.approx(FORMULAS[text](t), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("text", ["2.0x*time", "2.0dd*time", "d*time", "2.0d_1*time", "time2.0d", "1_0*time", "٣*time"])
def test_numbers_that_are_none(text):
    with pytest.raises(mbd.UsageError):
        expression_of(text)


def pendulum(name="hinge", formula="2.0*pi*time", driver="turn"):
    hinge = joint("RevoluteJoint", name, ("pin",), ("bar", "pin"))
    return asmt.assembly(
        [part("bar", marker("pin"))], [hinge], [motion("RotationalMotion", driver, name, formula)], markers=[marker("pin")]
    )


@pytest.mark.parametrize("before", ["", "\n", " \n\t\n\r\n", "\ufeff\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_first_and_ends_of_lines(before, end, tmp_path):
    text = before + pendulum(formula="2.0d*time").replace("\n", end)
    path = tmp_path / "a.asmt"
    path.write_bytes(text.encode())
    system = mbd.read_asmt(path)
    assert [x.name for x in system.joints] == ["hinge", "turn"]


def test_a_fault_after_blank_lines_has_its_line(tmp_path):
    text = pendulum(formula="2.0x*time")
    line = 1 + text.splitlines().index("\t\t\tRotationalMotion")
    for blank in range(3):
        with pytest.raises(mbd.ModelFileError, match=f"line {line + blank}, motion 'turn'"):
            read(tmp_path, "\n" * blank + text)


def test_names_that_are_left_out(tmp_path):
    """Joints and motions without a name get one, which the report tells; two of one name are refused."""
    system = read(tmp_path, pendulum(driver=""))
    assert len(system.joints) == 2
    assert "without a name is called" in str(system.import_report)
    parts = [part("a", marker("m"), marker("n")), part("b", marker("m"), marker("n"))]
    joints = [joint("SphericalJoint", "", ("pin",), ("a", "m")), joint("SphericalJoint", "", ("a", "n"), ("b", "m"))]
    system = read(tmp_path, asmt.assembly(parts, joints, markers=[marker("pin")]))
    assert len({x.name for x in system.joints}) == 2
    two = [motion("RotationalMotion", "turn", "hinge", f) for f in ("time", "2*time")]
    text = asmt.assembly(
        [part("bar", marker("pin"))], [joint("RevoluteJoint", "hinge", ("pin",), ("bar", "pin"))], two, markers=[marker("pin")]
    )
    with pytest.raises(mbd.ModelFileError, match="motion 'turn': another motion has this name"):
        read(tmp_path, text)


def test_rounding_in_the_speed_of_the_assembly(tmp_path):
    text = pendulum().replace("\tOmega3D\n\t\t0.0\t0.0", "\tOmega3D\n\t\t0.0\t2.4015135522991e-20", 1)
    assert "Omega3D of the assembly" in str(read(tmp_path, text).import_report)
    with pytest.raises(mbd.ModelFileError, match="its Omega3D is not zero"):
        read(tmp_path, text.replace("e-20", "e-5"))


@pytest.mark.parametrize("kind", ["PlanarJoint", "RevoluteJoint", "FixedJoint", "SphericalJoint", "AngleJoint"])
@pytest.mark.parametrize("on", [(("base", "m"), ("pin",)), (("pin",), ("other",))])
def test_joints_of_parts_that_are_fixed_to_each_other(kind, on, tmp_path):
    """They are left out with a line of the report where they hold, or no motion can close them, and refused where they do not hold."""
    gap = 1e-9

    def text(z):
        others = [marker("pin", (0.0, 0.0, 0.0)), marker("other", (0.0, 0.0, z))]
        base = part("base", marker("m", (0.0, 0.0, z)), marker("fix"))
        joints = [joint("FixedJoint", "weld", ("pin",), ("base", "fix")), joint(kind, "extra", *on)]
        return asmt.assembly([base, part("bar")], joints, markers=others)

    system = read(tmp_path, text(gap))
    assert [x.name for x in system.joints] == []
    assert "extra" in str(system.import_report) or kind == "FixedJoint"
    if kind not in ("AngleJoint", "FixedJoint") and len(on[0]) == 1:
        assert "'extra': both its markers are on the assembly, open by 0.1" in str(read(tmp_path, text(0.1)).import_report)
    elif kind != "AngleJoint":
        with pytest.raises(mbd.ModelFileError, match="open by 0.1|contradict each other by 0.1"):
            read(tmp_path, text(0.1))


def test_an_allowed_rotation_is_told(tmp_path):
    text = pendulum().replace("RotationalMotion", "AllowRotation")
    assert "AllowRotation" in str(read(tmp_path, text).import_report)


def bent_shaft(bend, tilt, *, apart=0.0):
    """Two shafts with a constant-velocity joint, the second one in a sliding bearing whose marker is off by a rotation matrix `tilt`."""
    u = np.array((np.sin(bend), 0.0, np.cos(bend)))
    A, P = turned_about((0.0, 1.0, 0.0), bend), np.array((0.0, 0.0, 2.0))
    parts = [
        part("in", marker("foot"), marker("head", P)),
        part("out", marker("foot", A=np.diag((1.0, -1.0, -1.0))), marker("end", (0.0, 0.0, 3.0)), r=P, A=A),
    ]
    joints = [
        joint("RevoluteJoint", "hinge", ("pin",), ("in", "foot")),
        joint("ConstantVelocityJoint", "bend", ("in", "head"), ("out", "foot")),
        joint("CylindricalJoint", "bearing", ("out", "end"), ("bearing",)),
    ]
    motions = [motion("RotationalMotion", "turn", "hinge", "2.0d*pi*time")]
    markers = [marker("pin"), marker("bearing", P + 3.0 * u + (0.0, apart, 0.0), tilt @ A)]
    return asmt.assembly(parts, joints, motions, markers=markers), u


@pytest.mark.parametrize("off", [0.0, 1e-7, 0.01, 0.245, 0.7])
@pytest.mark.parametrize("about", [(1.0, 0.0, 0.0), (0.6, 0.8, 0.0)])
def test_a_bearing_that_contradicts_its_shaft(off, about, tmp_path):
    """All else holds at the pose of the file: the shafts turn at one rate about their own axes, and what is off is told."""
    tilt = turned_about(about, off)
    text, u = bent_shaft(1.03, tilt)
    if off > 1e-3:
        angle = np.degrees(np.arcsin(np.linalg.norm(np.cross(tilt @ u, u))))
        with pytest.warns(UserWarning, match=f"'bearing': its axes are {angle:.2g}.* degrees apart"):
            system = read(tmp_path, text)
        assert "'bearing': its axes" in str(system.import_report)
    else:
        system = read(tmp_path, text)
    run = mbd.kinematics(system, np.linspace(0.0, 0.4, 5))
    bar = 1e-9 if off != 1e-7 else 1e-6
    assert run["out"].omega == pytest.approx(np.outer(np.ones(5), 2.0 * np.pi * u), abs=2.0 * np.pi * bar)
    assert run["out"].A[:, :, 2] == pytest.approx(np.outer(np.ones(5), u), abs=bar)


def test_points_that_are_apart_are_refused(tmp_path):
    with pytest.raises(mbd.AssemblyError, match="bearing"):
        read(tmp_path, bent_shaft(0.5, np.eye(3), apart=0.1)[0])


def test_axes_that_a_motion_moves_apart_are_refused(tmp_path):
    """The axis of a bar swings in a plane, past one that is tilted out of the plane: the angle between them is least at the pose."""
    across = turned_about((0.0, 1.0, 0.0), 0.5 * np.pi)
    parts = [part("bar", marker("hinge", A=across), marker("axis"))]
    joints = [
        joint("RevoluteJoint", "hinge", ("pin",), ("bar", "hinge")),
        joint("ParallelAxesJoint", "along", ("axis",), ("bar", "axis")),
    ]
    markers = [marker("pin", A=across), marker("axis", A=turned_about((0.0, 1.0, 0.0), 0.3))]
    with pytest.raises(mbd.AssemblyError, match="along"):
        read(tmp_path, asmt.assembly(parts, joints, markers=markers))
