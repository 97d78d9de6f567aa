"""Small files that would become large, or that name files elsewhere: each reader refuses them before anything is expanded."""

from __future__ import annotations

import json
import struct
import zlib

import pytest

import haugmbd as mbd

BODY = '<body><joint/><geom size="0.1"/></body>'
FEW = 2000
"""Characters of an error: a bomb is told in a few lines, not in as many as it has parts."""


def png(width, height):
    """A file that says that it is an image of this size, and is 100 bytes long."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + head
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(head)) + chunk + struct.pack(">I", zlib.crc32(chunk))


def attached(inside, *, times=1, model="part"):
    """A model that attaches another one, and that one's file."""
    attach = "".join(f'<frame><attach model="{model}" prefix="{k}-"/></frame>' for k in range(times))
    return f'<mujoco><asset><model name="{model}" file="part.xml"/></asset><worldbody>{attach}</worldbody></mujoco>', {"part.xml": inside}


def chain(levels):
    """Models that attach the next one twice: 2 ** levels of the last one."""
    files = {f"m{levels}.xml": f"<mujoco><worldbody>{BODY}</worldbody></mujoco>"}
    for k in range(levels):
        files[f"m{k}.xml"] = attached("", times=2)[0].replace("part.xml", f"m{k + 1}.xml")
    return files.pop("m0.xml"), files


def copies(levels):
    """Parts of one model that are copied, each with the copies in it."""
    text = f'<body name="b0">{BODY}</body>'
    for k in range(levels):
        two = "".join(f'<frame><attach body="b{k}" prefix="{x}{k}"/></frame>' for x in "xy")
        text += f'<body name="b{k + 1}">{two}</body>'
    return f"<mujoco><worldbody>{text}</worldbody></mujoco>", {}


def world(*inside):
    return f"<mujoco><worldbody>{''.join(inside)}</worldbody></mujoco>", {}


def replicate(count, *inside):
    return f'<replicate count="{count}" offset="1 0 0">{"".join(inside)}</replicate>'


MODELS = {
    "replicate of an attached model": (attached(world(replicate(3_000_000, BODY))[0]), "makes 3e+06 repetitions"),
    "replicates of an attached model in turn": (
        attached(world(replicate(2000, BODY))[0], times=20),
        "bodies, repetitions and copies included",
    ),
    "models that attach the next one twice": (chain(40), "repetitions and copies included"),
    "a model that attaches itself": (attached(attached("")[0]), "attaches itself"),
    "parts that are copied with their copies": (copies(40), "repetitions and copies included"),
    "replicates side by side": (world(*(replicate(1000, BODY) for _ in range(100))), "bodies, repetitions and copies included"),
    "replicates of what has no body": (world(*(replicate(9000, '<geom size="1"/>') for _ in range(10))), "elements, repetitions"),
    "replicate of an included file": (
        (world(replicate(9000, '<include file="part.xml"/>'))[0], {"part.xml": f"<mujocoinclude>{BODY * 10}</mujocoinclude>"}),
        "elements, repetitions and copies included",
    ),
    "a count that is no number": (world(replicate("0x7fffffff", BODY)), "makes inf repetitions"),
    "a mesh of an attached model elsewhere": (
        attached('<mujoco><asset><mesh name="m" file="/etc/passwd"/></asset></mujoco>'),
        "part.xml, line 1, <mesh>: it names '/etc/passwd', outside of the folder",
    ),
    "a folder of an attached model elsewhere": (
        attached('<mujoco><compiler meshdir="../.."/><asset><mesh name="m" file="a.stl"/></asset></mujoco>'),
        "part.xml, line 1, <compiler>: it names '../..', outside of the folder",
    ),
    "an attached model elsewhere": (
        ('<mujoco><asset><model name="a" file="../../a.xml"/></asset></mujoco>', {}),
        "<model>: it names '../../a.xml', outside",
    ),
    "an attached model that includes one elsewhere": (
        attached('<mujoco><include file="/etc/passwd"/></mujoco>'),
        "part.xml, line 1, <include>: it names '/etc/passwd', outside",
    ),
    "an include in capitals": (('<mujoco><INCLUDE file="/etc/passwd"/></mujoco>', {}), "<INCLUDE>: it names '/etc/passwd', outside"),
    "backslashes": (("<mujoco><asset><mesh file='..\\..\\x.stl'/></asset></mujoco>", {}), "outside of the folder"),
    "a hidden way up": (("<mujoco><asset><mesh file='no/../../x.stl'/></asset></mujoco>", {}), "outside of the folder"),
    "a texture elsewhere": (("<mujoco><asset><texture type='cube' fileup='../x.png'/></asset></mujoco>", {}), "outside of the folder"),
    "a skin elsewhere": (("<mujoco><asset><skin file='../x.skn'/></asset></mujoco>", {}), "outside of the folder"),
    "a height field elsewhere": (("<mujoco><asset><hfield file='../x.png' size='1 1 1 1'/></asset></mujoco>", {}), "outside of the folder"),
    "a file of a plugin elsewhere": (
        ('<mujoco><extension><plugin plugin="p"><instance name="i"><config key="file" value="../x"/></instance></plugin></extension></mujoco>', {}),
        "<config>: it names '../x', outside",
    ),
    "an image of 4e9 pixels": (
        ("<mujoco><asset><texture type='2d' file='a.png'/></asset></mujoco>", {"a.png": png(60000, 70000)}),
        "4200000000 pixels",
    ),
    "a file that is named a thousand times": (
        ("<mujoco><asset>" + "".join(f'<mesh name="m{k}" file="a.stl"/>' for k in range(1000)) + "</asset></mujoco>", {"a.stl": bytes(10**6)}),
        "its files have more than 512 MiB",
    ),
    "attributes": (("<mujoco><option " + " ".join(f'a{k}="1"' for k in range(20_000)) + "/></mujoco>", {}), "more than 1000 attributes"),
    "classes of defaults": (
        ("<mujoco><default>" + "".join(f'<default class="c{k}"/>' for k in range(6_000)) + "</default></mujoco>", {}),
        "6001 classes of defaults",
    ),
    "elements": (world('<geom size="1"/>' * 60_001), "line 1: it has more than 60000 elements"),
    "keyframes": (('<mujoco><size nkey="100000000"/></mujoco>', {}), "its nkey is '100000000'"),
    "user data": (('<mujoco><size nuserdata="1000000000"/></mujoco>', {}), "its nuserdata is"),
    "user data of bodies": (('<mujoco><size nuser_body="100000000"/></mujoco>', {}), "its nuser_body is"),
    "a sensor": (('<mujoco><sensor><user name="x" dim="1000000000" datatype="real"/></sensor></mujoco>', {}), "its dim is"),
    "steps for the length of an actuator": (
        ('<mujoco><compiler><lengthrange inttotal="1e9" timestep="1e-6"/></compiler></mujoco>', {}),
        "steps for each actuator",
    ),
    "a camera": (world('<camera resolution="100000 100000"/>'), "makes 1e+10 cells"),
    "a deformable body": (world('<flexcomp name="f" count="100 100 1"/>'), "deformable bodies cannot be read"),
    "a part of a model": (("<mujocoinclude/>", {}), "Read the file that includes it"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_models_of_mujoco(name, tmp_path):
    pytest.importorskip("mujoco")
    (text, files), what = MODELS[name]
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "model.xml").write_text(text)
    for file, content in files.items():
        (inside / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(mbd.ModelFileError) as error:
        mbd.read_mjcf(inside / "model.xml")
    assert what in str(error.value)
    assert len(str(error.value)) < FEW + 2 * len(str(tmp_path))


def test_a_link_to_a_file_elsewhere_in_an_attached_model(tmp_path):
    pytest.importorskip("mujoco")
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.stl").write_bytes(bytes(84))
    (inside / "a.stl").symlink_to(tmp_path / "secret.stl")
    text, files = attached('<mujoco><asset><mesh name="m" file="a.stl"/></asset></mujoco>')
    (inside / "model.xml").write_text(text)
    (inside / "part.xml").write_text(files["part.xml"])
    with pytest.raises(mbd.ModelFileError, match=r"<mesh>: it names 'a\.stl', outside of the folder"):
        mbd.read_mjcf(inside / "model.xml")


def test_attached_models_and_replicates_within_the_bounds_are_read(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "sub").mkdir()
    solid = '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>'
    part = f'<mujoco model="part"><worldbody><body name="p"><joint name="j"/>{solid}</body></worldbody></mujoco>'
    (tmp_path / "sub" / "part.xml").write_text(part)
    bodies = f'<replicate count="3" offset="1 0 0"><body name="b"><joint/>{solid}</body></replicate>'
    attach = "".join(f'<frame><attach model="part" body="p" prefix="{k}"/></frame>' for k in range(2))
    model = f'<mujoco><asset><model file="sub/part.xml"/></asset><worldbody>{bodies}{attach}</worldbody></mujoco>'
    (tmp_path / "model.xml").write_text(model)
    assert len(mbd.read_mjcf(tmp_path / "model.xml").bodies) == 6
