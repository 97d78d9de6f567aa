"""Kinds of URDF files as programs and people write them: links that stand, commas, declarations behind comments, masses of zero."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from tests.support.robots import axis, hinge, inertial, joint, link, origin, read, robot

ARM = (link("base"), link("arm", inertial(1.0, (0.1, 0.1, 0.1), (0.2, 0.0, 0.0))))


@pytest.mark.parametrize("parts", [[link("box", inertial(1.0, (0.1, 0.1, 0.1)))], [*ARM, joint("weld", "fixed", "base", "arm")]])
def test_a_robot_that_does_not_move_names_what_to_do(parts, tmp_path):
    system = read(tmp_path, robot(*parts))
    assert "floating=True" in str(system.import_report)
    with pytest.raises(mbd.ModelError, match="it has no body.*floating=True"):
        mbd.accelerations(system)
    moving = read(tmp_path, robot(*parts), floating=True)
    assert "floating=True" not in str(moving.import_report)
    np.testing.assert_allclose(mbd.accelerations(moving).v_dot[1], (0.0, 0.0, -9.80665), rtol=1e-12)


@pytest.mark.parametrize("before", ["", "\n", " \r\n\t", "<!-- a licence -->\n", "<!-- a -->\n\n<!-- b\n - > -->\n"])
@pytest.mark.parametrize("declaration", ['<?xml version="1.0"?>', '<?xml version="1.0"\n encoding="utf-8"?>'])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_is_before_the_declaration(before, declaration, mark, tmp_path):
    """It is read, and lines of faults are those of the file."""
    text = robot(*ARM, hinge("pin", "base", "arm", 0.0)).replace('<?xml version="1.0"?>', f"{before}{declaration}")
    path = tmp_path / "r.urdf"
    path.write_bytes(mark + text.encode())
    assert len(mbd.read_urdf(path).joints) == 1
    path.write_bytes(mark + text.replace('type="continuous"', 'type="turning"').encode())
    line = 1 + text[: text.index('<joint name="pin"')].replace("\r\n", "\n").count("\n")
    with pytest.raises(mbd.ModelFileError, match=f"line {line}, joint 'pin'"):
        mbd.read_urdf(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.07, 0, -0.69", (0.07, 0.0, -0.69)),
        ("1 2 3,", (1.0, 2.0, 3.0)),
        ("  +1e0\t.2 3. ", (1.0, 0.2, 3.0)),
        ("1,5 2", None),
        ("0,1 0,2 0,3", None),
        ("1_0 0 0", None),
        ("٣ 0 0", None),
        ("0x1 0 0", None),
        ("1d0 0 0", None),
        ("nan 0 0", None),
        ("1e999 0 0", None),
        ("1 2 3 4", None),
        ("--1 0 0", None),
    ],
)
def test_numbers(text, value, tmp_path):
    """A number that other programs read as another one, or not at all, is refused."""
    content = robot(*ARM, joint("pin", "continuous", "base", "arm", f'<origin xyz="{text}"/>', axis((0, 0, 1))))
    if value is None:
        with pytest.raises(mbd.ModelFileError, match="joint 'pin': xyz="):
            read(tmp_path, content)
        return
    np.testing.assert_allclose(read(tmp_path, content).import_report.frames["arm"].point, value, rtol=1e-15)


def test_a_mass_of_zero_with_moments_names_what_to_do(tmp_path):
    parts = (*ARM, link("wheel", inertial(0.0, (0.1, 0.1, 0.1))), hinge("a", "base", "arm", 0.0), hinge("b", "arm", "wheel", 0.3))
    with pytest.raises(mbd.ModelFileError, match=r"link 'wheel': mass is 0\.0 kg.*repair_inertia=True"):
        read(tmp_path, robot(*parts))
    system = read(tmp_path, robot(*parts), repair_inertia=True)
    assert 0.0 < system["wheel"].mass < 1e-5
    assert any("its mass 0 became" in text for text in system.import_report.substituted)


def test_a_spherical_joint_is_a_ball(tmp_path):
    text = robot(*ARM, joint("ball", "spherical", "base", "arm", origin((0.1, 0.0, 0.0)), axis((0, 0, 1))))
    system = read(tmp_path, text)
    assert type(system.joints[0]).__name__ == "SJ"
    assert system.import_report.degrees_of_freedom == 3
