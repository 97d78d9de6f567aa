"""Visual geometry of URDF: shapes where the links are, colours, meshes inside and outside of the folder; xacro."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.modelfile.urdf.robot import rotation
from tests.support.robots import axis, inertial, joint, link, origin, robot

ROUNDING = 1e-13
"""[m] Products of three rotations."""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def visual(geometry, xyz=(0, 0, 0), rpy=(0, 0, 0), more=""):
    return f"<visual>{origin(xyz, rpy)}<geometry>{geometry}</geometry>{more}</visual>"


def mesh(name, scale=""):
    return f'<mesh filename="{name}" {scale}/>'


def read(tmp_path, text, name="robot.urdf", **how):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return mbd.read_urdf(path, **how)


def arm(*visuals, base=()):
    return robot(
        '<material name="steel"><color rgba="0.5 0.5 1 1"/></material>',
        link("base", *base),
        link("arm", inertial(2.0, (0.1, 0.1, 0.1), (0.3, 0.0, 0.1)), *visuals),
        joint("pin", "continuous", "base", "arm", origin((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)), axis((0, 0, 1))),
        link("tool", visual('<sphere radius="0.02"/>', (0, 0, 0.1))),
        joint("weld", "fixed", "arm", "tool", origin((0.6, 0, 0), (0.0, 1.0, 0.0))),
    )


def test_shapes_stand_where_the_links_are(tmp_path):
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    box = visual('<box size="0.6 0.1 0.2"/>', (0.3, 0, 0), (0.1, 0.2, 0.3), red)
    rod = visual('<cylinder radius="0.05" length="0.4"/>', (0, 0.1, 0), (1.0, 0.0, 0.0), '<material name="steel"/>')
    system = read(tmp_path, arm(box, rod, base=(visual('<box size="1 1 0.1"/>'),)), q={"pin": 0.3})
    body, frames = system["arm"], system.import_report.frames
    one, two, ball = body.shape
    for shape, frame, xyz in ((one, "arm", (0.3, 0, 0)), (two, "arm", (0, 0.1, 0)), (ball, "tool", (0, 0, 0.1))):
        there = frames[frame].point + frames[frame].A @ np.array(xyz)
        np.testing.assert_allclose(body.r + body.A @ shape.center, there, rtol=0, atol=ROUNDING)
    A = body.A @ rotation_matrix(one.p)
    np.testing.assert_allclose(A, frames["arm"].A @ rotation(0.1, 0.2, 0.3), rtol=0, atol=ROUNDING)
    z = body.A @ rotation_matrix(two.p)[:, 2]
    np.testing.assert_allclose(z, frames["arm"].A @ rotation(1.0, 0, 0)[:, 2], rtol=0, atol=ROUNDING)
    assert [shape.color for shape in body.shape] == ["#ff0000", "#8080ff", None]
    assert (one.edges.tolist(), two.radius, two.length, ball.radius) == ([0.6, 0.1, 0.2], 0.05, 0.4, 0.02)
    (plate,) = system.ground.shape
    assert plate.edges.tolist() == [1, 1, 0.1]
    assert not any("visual" in text or "material" in text for text in system.import_report.ignored)


def test_a_floating_root_has_its_own_shapes(tmp_path):
    solid = inertial(1.0, (1, 1, 1), (0, 0, 0.5))
    text = robot(link("base", solid, visual('<sphere radius="0.1"/>')))
    body = read(tmp_path, text, floating=True)["base"]
    np.testing.assert_allclose(body.shape[0].center, (0, 0, -0.5), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", ["parts/t.obj", "package://robot/parts/t.obj", "package://parts/t.obj", "file://parts/t.obj"])
def test_meshes_of_the_folder_are_read(name, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "t.obj").write_text(TETRAHEDRON)
    body = read(tmp_path, arm(visual(mesh(name, 'scale="0.1 0.1 0.1"')), visual(mesh(name, 'scale="-1 1 2"'))))["arm"]
    uniform, mirrored = body.shape[:2]
    np.testing.assert_allclose(uniform.size, (0.1, 0.2, 0.3), rtol=1e-12)
    np.testing.assert_allclose(mirrored.size, (1.0, 2.0, 6.0), rtol=1e-12)
    for shape, volume in ((uniform, 1e-3), (mirrored, 2.0)):  # of 1 2 3 / 6 = 1: positive if the triangles look outwards
        a, b, c = (shape.vertices[shape.triangles[:, k]] for k in range(3))
        assert np.einsum("nk,nk->", a, np.cross(b, c)) / 6.0 == pytest.approx(volume)


@pytest.mark.slow
def test_meshes_that_cannot_be_read_are_warnings(tmp_path):
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    (tmp_path / "urdf" / "bad").mkdir(parents=True)
    (tmp_path / "urdf" / "bad" / "x.stl").write_text("solid x\nvertex\n")
    names = ("missing.stl", "../secret.obj", "/etc/passwd", "bad/x.stl", "x.dae", "package://other", "\x01", "", "bad")
    text = arm(*(visual(mesh(name.replace("\x01", "~" * 300))) for name in names))
    system = read(tmp_path, text, name="urdf/robot.urdf")
    warnings = "\n".join(system.import_report.warnings)
    assert len([line for line in warnings.splitlines() if "drawn" in line]) == len(names)
    assert "mesh '../secret.obj' is outside of that folder" in warnings
    assert "mesh '/etc/passwd' is outside of that folder" in warnings
    assert "mesh 'missing.stl' is not there" in warnings
    assert "mesh 'bad/x.stl' is not drawn" in warnings
    assert len(system["arm"].shape) == 1  # the ball of the tool
    wider = read(tmp_path, text, name="urdf/robot.urdf", meshes=tmp_path)
    assert len(wider["arm"].shape) == 2
    assert "secret" not in "\n".join(wider.import_report.warnings)


def test_shapes_stay_when_loops_are_closed_and_in_model_files(tmp_path):
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    bar = inertial(1.0, (0.01, 0.1, 0.1), (0.5, 0, 0))
    ends = '<link1 link="a" xyz="1 0 0"/><link2 link="b" xyz="0.99 0 0"/><axis xyz="0 0 1"/>'
    loop = f'<loop_joint name="l" type="revolute">{ends}</loop_joint>'
    text = robot(
        link("base"),
        link("a", bar, visual(mesh("t.obj"))),
        link("b", bar),
        joint("j", "continuous", "base", "a", origin((0, 0, 0), (0, 0, 0.8)), axis((0, 0, 1))),
        joint("k", "continuous", "base", "b", origin((1.4, 0, 0), (0, 0, 2.3)), axis((0, 0, 1))),
        loop,
    )
    system = read(tmp_path, text)
    assert system.import_report.iterations > 0
    assert system["a"].shape[0].source.endswith("t.obj")
    assert system["b"].shape == (...,)
    again = mbd.load_model(system.save(tmp_path / "out.json"))
    np.testing.assert_array_equal(again["a"].shape[0].vertices, system["a"].shape[0].vertices)


def test_bad_geometry(tmp_path):
    unknown = visual('<capsule radius="1"/>') + "<visual/>"
    system = read(tmp_path, arm(unknown, visual('<box size="-1 1 1"/>'), visual(mesh("t.obj", 'scale="0 0 0"'))))
    assert "visuals of unknown geometry (2)" in system.import_report.ignored
    assert any("the box is not drawn" in text for text in system.import_report.warnings)
    for odd, what in (
        ('<box size="1 1"/>', 'size="1 1" is not 3 finite'),
        (mesh("t.obj", 'scale="1 1 1 1"'), 'scale="1 1 1 1" is not 3'),
    ):
        (told,) = (text for text in read(tmp_path, arm(visual(odd))).import_report.warnings if what in text)
        assert "is not drawn" in told


def test_xacro_is_expanded_only_where_code_is_allowed(tmp_path, monkeypatch, capsys):
    path = tmp_path / "robot.urdf.xacro"
    path.write_text('<robot xmlns:xacro="http://wiki.ros.org/xacro"/>')
    with pytest.raises(mbd.UsageError, match="is a xacro file, a program.*allow_code=True"):
        mbd.read_urdf(path)
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(mbd.UsageError, match=r"pip install xacrodoc"):
        mbd.read_urdf(path, allow_code=True)
    calls = []

    class XacroDoc:
        @classmethod
        def from_file(cls, name):
            calls.append(name)
            return cls()

        def to_urdf_string(self):
            if len(calls) > 2:
                raise RuntimeError("no such property")
            return arm()

    module = ModuleType("xacrodoc")
    module.XacroDoc = XacroDoc
    monkeypatch.setitem(sys.modules, "xacrodoc", module)
    assert len(mbd.read_urdf(path, allow_code=True).bodies) == 2
    assert main.main(["check", str(path), "--allow-code"]) == 0
    assert calls == [str(path), str(path)]
    with pytest.raises(mbd.ModelFileError, match="xacro raises RuntimeError: no such property"):
        mbd.read_urdf(path, allow_code=True)
    capsys.readouterr()


def test_a_real_xacro(tmp_path):
    pytest.importorskip("xacrodoc")
    path = tmp_path / "robot.urdf.xacro"
    text = arm().replace("<robot ", '<robot xmlns:xacro="http://wiki.ros.org/xacro" ').replace('value="2.0"', 'value="${2*1.5}"')
    path.write_text(text)
    assert mbd.read_urdf(path, allow_code=True)["arm"].mass == 3.0
