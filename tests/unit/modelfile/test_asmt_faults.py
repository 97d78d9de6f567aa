"""ASMT that is refused: all faults at once with their lines, and by name what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from tests.support import asmt
from tests.support.asmt import joint, marker, motion, part, read


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
        "part 'a': RotationMatrix is not a rotation",
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
        "the type 'HingeJoint' is not known",
        "joint 'self': both its markers are '/Assembly/a/m', on 'a'",
        "there is no joint 'goood' that moves (did you mean 'good'?)",
        "the formula 'rampstep(time)' has 'rampstep'",
        "motion 'slide'" if "motion 'slide'" in told else "joint 'slide'",
        "body 'c': J_bar",
    ):
        assert what in told
    with pytest.raises(mbd.ModelFileError, match="motion 'spin': its type 'CurveMotion' cannot be read"):
        read(tmp_path, asmt.assembly(parts[:1], motions=[motion("CurveMotion", "spin", "good", "time")]))


def test_fixed_joints_in_a_circle(tmp_path):
    parts = [part(name, marker("m"), marker("n", (0, 0, 0.1 * (name == "c")))) for name in "abc"]
    joints = [joint("FixedJoint", f"{i}{j}", (i, "m"), (j, "m")) for i, j in ("ab", "bc")]
    assert len(read(tmp_path, asmt.assembly(parts, [*joints, joint("FixedJoint", "ca", ("c", "m"), ("a", "m"))])).bodies) == 2
    with pytest.raises(mbd.ModelFileError, match="circle contradict each other by 0.1"):
        read(tmp_path, asmt.assembly(parts, [*joints, joint("FixedJoint", "ca", ("c", "n"), ("a", "m"))]))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "line 1: .* is empty"),
        ("Solver\n", "it is not an ASMT file"),
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
