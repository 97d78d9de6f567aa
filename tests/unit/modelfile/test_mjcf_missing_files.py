"""MJCF whose meshes and images are not there: the same mechanism, where no mass depends on them; refused by name where one does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.slow

OBJ = "v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
INERTIAL = '<inertial pos="0.1 0 0.2" mass="2" fullinertia="0.3 0.4 0.5 0.01 0.02 0.03"/>'
ASSETS = '<mesh name="hull" file="hull.obj"/><mesh file="plate.obj" scale="2 2 2"/>'
BODY = '<body name="a" pos="0 0 1"><joint axis="0 1 0"/>{inertial}<geom type="mesh" mesh="hull" pos="1 2 3"{more}/>{inside}</body>'


def model(assets: str = ASSETS, *, inertial: str = INERTIAL, more: str = "", inside: str = "", compiler: str = "") -> str:
    """A body on a hinge with a mesh, in a file with these assets."""
    body = BODY.format(inertial=inertial, more=more, inside=inside)
    settings = f'<compiler meshdir="parts" {compiler}/>'
    return f"<mujoco>{settings}<asset>{assets}</asset><worldbody>{body}</worldbody></mujoco>"


def read(folder: Path, text: str, *, files: bool, **how: object) -> mbd.System:
    (folder / "parts").mkdir(exist_ok=True)
    for name in ("hull.obj", "plate.obj"):
        (folder / "parts" / name).unlink(missing_ok=True)
        if files:
            (folder / "parts" / name).write_text(OBJ)
    (folder / "x.xml").write_text(text)
    return mbd.read_mjcf(folder / "x.xml", **how)


@pytest.mark.parametrize(
    "text",
    [
        model(),
        model(more=' mass="3"'),
        model(inside='<body name="b" pos="0 1 0"><joint type="slide"/>' + INERTIAL + '<geom size="1" type="sphere"/></body>'),
        model(inertial='<geom type="box" size="1 2 3"/>', more=' mass="0"'),
        model(inertial='<geom type="box" size="1 2 3"/>', more=' density="0"'),
        model(inertial='<geom type="box" size="1 2 3"/>', more=' group="2"', compiler='inertiagrouprange="0 1"'),
    ],
)
def test_the_mechanism_is_the_same_without_its_meshes(text: str, tmp_path: Path) -> None:
    with_files, without = (read(tmp_path, text, files=files).compile() for files in (True, False))
    for name in ("mass", "J_bar", "y0"):
        np.testing.assert_array_equal(getattr(with_files, name), getattr(without, name), err_msg=name)
    np.testing.assert_array_equal(*(mbd.evaluate(one, one.state()).Phi_q.toarray() for one in (with_files, without)))


def test_the_report_names_what_is_not_there(tmp_path: Path) -> None:
    system = read(tmp_path, model(), files=False)
    assert "hull.obj, plate.obj" in str(system.import_report)
    assert "hull.obj" not in str(read(tmp_path, model(), files=True).import_report)


def test_textures_height_fields_and_skins_are_not_needed(tmp_path: Path) -> None:
    rest = (
        '<texture name="sky" type="skybox" file="sky.png"/><texture name="wood" type="2d" file="wood.png"/>'
        '<material name="m" texture="wood"/><hfield name="hill" file="hill.png" size="1 1 1 1"/>'
    )
    field = '<worldbody><geom type="hfield" hfield="hill" material="m"/></worldbody>'
    text = model(ASSETS + rest).replace("</mujoco>", field + "</mujoco>")
    np.testing.assert_array_equal(read(tmp_path, text, files=False).compile().mass, [0.0, 2.0])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (model(inertial=""), r"mesh 'hull': its file 'hull.obj' is not there, and body 'a' has its mass from it.*<inertial>"),
        (model(compiler='inertiafromgeom="true"'), "body 'a' has its mass from it"),
        (model().replace('type="mesh"', 'type="box"'), "a geom has its size from it"),
        (model('<mesh name="hull" file="../../hull.obj"/>'), "outside of the folder"),
    ],
)
def test_what_gives_a_mass_or_a_size_is_refused_by_name(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(mbd.ModelFileError, match=told):
        read(tmp_path, text, files=False)


def test_other_errors_of_mujoco_stay_its_own(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hull.obj").write_text("no mesh")
    (tmp_path / "x.xml").write_text(model('<mesh name="hull" file="hull.obj"/>'))
    with pytest.raises(mbd.ModelFileError, match="MuJoCo: "):
        mbd.read_mjcf(tmp_path / "x.xml")
