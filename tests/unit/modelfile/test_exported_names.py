"""What a format cannot hold is refused by name or left out, and any name can be written; the command converts to every format."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.gallery import planar_slider_crank
from joints import CJ, RJ, SJ, RollingSphere, RotationDriver
from tests.support import mechanisms


@pytest.mark.slow
def test_what_formats_cannot_hold_is_refused_by_name_or_left_out(tmp_path):
    system = mechanisms.random_tree(3, ("CJ",), n=3)
    pin = system.joints[0]
    system.add(RotationDriver("drive", pin, mbd.Expression("tan(t)")))
    third = system.bodies[3]
    system.add(RollingSphere("rolls", third, center=third.r, radius=0.5, plane_point=third.r - (0, 0, 0.5)))
    system.add(mbd.PointForce("sine", system.bodies[3], force=lambda t: (np.sin(t), 0.0, 0.0)))
    system.add(mbd.TSDA("spring", system.ground, system.bodies[3], point_i=(0, 0, 0), point_j=(1, 2, 3), k=5.0, l0=1.0))
    for write, name, parts in (
        (mbd.write_urdf, "x.urdf", ("'drive'", "'rolls'", "'spring'", "'sine'")),
        (mbd.write_mjcf, "x.xml", ("'drive'", "'rolls'", "'sine'")),
        (mbd.write_sdf, "x.sdf", ("'drive'", "'rolls'", "'sine'")),
        (mbd.write_asmt, "x.asmt", ("'drive'", "'rolls'", "'sine'")),
    ):
        path = tmp_path / name
        with pytest.raises(mbd.ModelFileError) as error:
            write(system, path)
        assert all(part in str(error.value) for part in parts)
        assert not path.exists()
        done = write(system, path, leave_out=True)
        assert all(any(part in text for text in done.left_out) for part in parts)
        assert path.exists()
        with pytest.raises(mbd.UsageError, match="must end with"):
            write(system, tmp_path / "x.dat")
        with pytest.raises(mbd.UsageError, match="must be a System"):
            write("x", path)
    assert any("gravity" in text for text in mbd.write_urdf(system, tmp_path / "x.urdf", leave_out=True).left_out)
    with pytest.raises(mbd.UsageError, match="length is 0"):
        mbd.write_asmt(system, tmp_path / "x.asmt", length=0)
    done = mbd.write_mjcf(planar_slider_crank(), tmp_path / "rods.xml")
    assert any("it has no inertia about an axis" in text for text in done.left_out)
    if find_spec("mujoco"):
        assert len(mbd.read_mjcf(tmp_path / "rods.xml").bodies) == 4


def test_names_with_marks_of_xml(tmp_path):
    system = mbd.System('a<b>"&', gravity=(0, 0, -1))
    body = system.add(mechanisms.solid('x"<y>', np.random.default_rng(0)))
    system.add(CJ("c & d", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Torque("e > f", body, torque=(0, 0, 1)))
    with pytest.raises(mbd.ModelFileError, match="'e > f'"):
        mbd.write_urdf(system, tmp_path / "x.urdf")
    for write, read, ending in ((mbd.write_urdf, mbd.read_urdf, ".urdf"), (mbd.write_sdf, mbd.read_sdf, ".sdf")):
        write(system, tmp_path / f"x{ending}", leave_out=True)
        again = read(tmp_path / f"x{ending}")
        assert again.name == system.name
        assert body.name in [each.name for each in again.bodies]
        assert "c & d" in [joint.name for joint in again.joints]


@pytest.mark.slow
def test_strange_names(tmp_path):
    """Names come back, or with marks in place of what paths and lists cannot hold, each of one part only; others are refused."""

    def named(name, other):
        rng = np.random.default_rng(0)
        system = mbd.System("names", gravity=(0, 0, -9.81))
        one, two = (system.add(mechanisms.solid(x, rng)) for x in (name, other))
        system.add(RJ(f"{name} j", system.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(RJ(f"{name} k", one, two, point=(1, 0, 0), axis=(0, 0, 1)))
        system.add(SJ(f"{name} l", two, system.ground, point=(2, 1, 0)))
        return system

    def again(write, read, ending, system):
        done = write(system, tmp_path / f"x{ending}")
        made = read(done.files[0], **({"loops": done.files[1]} if ending == ".urdf" else {}))
        assert len(made.joints) >= 3
        return [body.name for body in made.bodies[1:]]

    formats = [(mbd.write_urdf, mbd.read_urdf, ".urdf"), (mbd.write_asmt, mbd.read_asmt, ".asmt")]
    if find_spec("mujoco"):
        formats.append((mbd.write_mjcf, mbd.read_mjcf, ".xml"))
    for write, read, ending in formats:
        for name in (
            "a/b",
            "it's",
            '"',
            "[a, b]",
            " lead",
            "- x",
            "a#b",
            "\N{GRINNING FACE} \N{CJK UNIFIED IDEOGRAPH-65E5}",
            "<&>",
        ):
            plain = name.replace("/", "_").strip() if ending == ".asmt" else name
            twin = name.replace("/", "_").strip() + "2"
            assert again(write, read, ending, named(name, twin)) == [plain, twin]
        with pytest.raises(mbd.ModelFileError, match="body 'a.nb': its name has the character"):
            write(named("a\nb", "c"), tmp_path / f"x{ending}")
    assert again(*formats[1], named("a/b", "a_b")) == ["a_b", "a_b_"]
    with pytest.raises(mbd.ModelFileError, match="MuJoCo has its own body of this name"):
        mbd.write_mjcf(named("world", "c"), tmp_path / "x.xml")


@pytest.mark.slow
def test_the_command_converts_to_every_format(tmp_path, capsys):
    source = tmp_path / "loop.json"
    mechanisms.loop("SJ").save(source)
    for name in ("a.urdf", "a.xml", "a.asmt", "b.json", "a.glb"):
        assert main.main(["convert", str(source), str(tmp_path / name)]) == 0
        assert f"wrote {tmp_path / name}" in capsys.readouterr().out
    assert (tmp_path / "a.yaml").exists()
    assert main.main(["convert", str(source), str(tmp_path / "a.step")]) == 2
    assert "a model is written as .json, .urdf, .xml, .sdf, .asmt, .fmu, .glb" in capsys.readouterr().err
    assert main.main(["convert", "governor", str(tmp_path / "a.urdf")]) == 1
    assert main.main(["convert", "governor", str(tmp_path / "a.urdf"), "--leave-out"]) == 0
    assert "left out: TSDA 'coupling 1'" in capsys.readouterr().out
