"""URDF that is refused: every fault with its line, hostile XML, impossible inertias, coordinates that are none."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import haugmbd as mbd
from tests.support import robots
from tests.support.robots import axis, hinge, inertial, joint, link, read, robot

ROUNDING = 1e-13
"""Relative: products of rotations and inertias lose a few digits of 2e-16."""
ZERO = (0.0, 0.0, 0.0)


def test_an_inertia_that_no_body_can_have_is_refused_or_repaired(tmp_path):
    text = robot(link("base"), link("odd", inertial(1.0, (0.1, 0.1, 0.5))), hinge("a", "base", "odd", 0.0))
    with pytest.raises(mbd.ModelFileError, match=r"line \d+, link 'odd': J_bar breaks the triangle.*repair_inertia=True"):
        read(tmp_path, text)
    system = read(tmp_path, text, repair_inertia=True)
    np.testing.assert_allclose(np.diag(system["odd"].J_bar), (0.25, 0.25, 0.5), rtol=ROUNDING)
    assert "(0.1, 0.1, 0.5) became (0.25, 0.25, 0.5)" in system.import_report.substituted[0]


def test_every_inertia_that_is_refused_can_be_repaired(tmp_path):
    """Half of the excess of J3 over J1 + J2 was compared with the tolerance that the whole excess is judged by."""
    for J3 in (0.2001, 0.2003, 0.2006):
        text = robot(link("base"), link("odd", inertial(1.0, (0.1, 0.1, J3))), hinge("a", "base", "odd", 0.0))
        with pytest.raises(mbd.ModelFileError, match="J_bar breaks the triangle") if J3 > 0.2002 else nullcontext():
            read(tmp_path, text)
        J_bar = read(tmp_path, text, repair_inertia=True)["odd"].J_bar
        np.testing.assert_allclose(np.diag(J_bar), (0.5 * J3, 0.5 * J3, J3) if J3 > 0.2002 else (0.1, 0.1, J3), rtol=ROUNDING)


def test_moments_that_a_shift_of_axes_has_left_are_repaired_to_zero(tmp_path):
    """A mass of 1 kg at .05 m from the origin: 2.5e-3 kg m2 were taken from as much, with errors of 1e-18."""
    left = '<origin xyz="0 0 0.05"/><mass value="1"/><inertia ixx="-2e-19" iyy="4e-18" izz="0" ixy="0" ixz="0" iyz="0"/>'
    text = robot(link("base"), link("point", f"<inertial>{left}</inertial>"), hinge("a", "base", "point", 0.0))
    system = read(tmp_path, text)
    assert not system["point"].J_bar.any()
    assert "(-2e-19, 0, 4e-18) kg m2 are rounding beside 1 kg" in system.import_report.substituted[0]
    system = read(tmp_path, text, repair_inertia=True)
    assert not system["point"].J_bar.any()
    assert "(-2e-19, 0, 4e-18) became (0, 0, 0)" in system.import_report.substituted[0]


FAULTS = [
    (robot(), ["it has no link"]),
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
    (
        robot(link("r"), link("a"), link("b"), joint("j", "fixed", "r", "a"), joint("k", "continuous", "a", "b", '<mimic joint="j"/>')),
        ["line 7, joint 'k': it follows the joint 'j', which is fixed"],
    ),
    (
        robot(link("r"), link("a"), link("b"), hinge("jaw", "r", "a", 0), joint("k", "continuous", "a", "b", '<mimic joint="jw"/>')),
        ["line 7, joint 'k': it follows the joint 'jw', which is not there (did you mean 'jaw'?)"],
    ),
    (robot(link("r"), link("a"), joint("j", "continuous", "r", "a", '<mimic joint="j"/>')), ["line 5, joint 'j': it follows itself"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), FAULTS, ids=range(len(FAULTS)))
def test_faults_are_said_with_their_lines(text, said, tmp_path):
    with pytest.raises(mbd.ModelFileError) as told:
        read(tmp_path, text)
    for words in said:
        assert words in str(told.value)


def test_what_is_misspelt_or_there_twice_is_said(tmp_path):
    """It is no fault of XML, and would move a link in silence."""
    text = robot(
        link("base"),
        link("a", inertial(1, (1, 1, 1)), inertial(2, (1, 1, 1)), "<visual/><visual/><collision/><collision/>"),
        joint("j", "continuous", "base", "a", '<orgin xyz="1 0 0"/><axis xzy="0 1 0"/><limit lower="-1" upper="1"/>'),
        joint("k", "fixed", "base", "b", '<mimic joint="j"/><gazebo><orgin/></gazebo>'),
        link(
            "b", '<visual><geometry><capsule radius="1"/></geometry><material name="x"><color rbga="1 0 0 1"/></material></visual>'
        ),
        robots.loop_joint("revolute", ("a", ZERO, ZERO), ("b", ZERO, ZERO)).replace("<link1", '<link1 quat="1 0 0 0"'),
    )
    report = read(tmp_path, text, close=False).import_report
    assert sorted(report.ignored) == [
        "<orgin> in <joint>, first in line 5 (1)",
        "a second <inertial> in <link>, first in line 4 (1)",
        "attribute 'quat' of <link1>, first in line 8 (1)",
        "attribute 'rbga' of <color>, first in line 7 (1)",
        "attribute 'xzy' of <axis>, first in line 5 (1)",
        "collision shapes (2)",
        "extensions of a simulator (1)",
        "limits of continuous joints (1)",
        "mimic of fixed joints (1)",
        "visuals of unknown geometry (3)",
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'<!DOCTYPE r [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>', "document type or entities"),
        (b'<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "document type or entities"),
        (b"<robot>&undefined;</robot>", "line 1: it is not XML: undefined entity"),
        (b"<a>" * 100 + b"</a>" * 100, "deeper than 40 levels"),
        (b"<robot>", "line 1: it is not XML: no element found"),
        (b"", "no element found"),
        (b"\x00\xff", "not XML"),
        (b'<?xml version="1.0" encoding="klingon"?><robot/>', "not XML"),
    ],
)
def test_hostile_xml_is_refused(data, told, tmp_path):
    (tmp_path / "bad.urdf").write_bytes(data)
    with pytest.raises(mbd.UsageError, match=told):
        mbd.read_urdf(tmp_path / "bad.urdf")


def test_coordinates_that_are_none(tmp_path):
    text = robots.four_bar_leg("")
    for q, told in (
        ({"motr": 1.0}, "did you mean 'motor'"),
        ({"motor": np.nan}, "finite"),
        ({"coupler_tip": 1.0}, "turns or slides"),
    ):
        with pytest.raises(mbd.UsageError, match=told):
            read(tmp_path, text, q=q)
