"""Small files that would become large, or that name files elsewhere: each reader refuses them before anything is expanded."""

from __future__ import annotations

import json
import struct
import zlib

import pytest

import haugmbd as mbd

BODY = '<body><joint/><geom size="0.1"/></body>'
CONFIG = '<config key="file" value="../x"/>'
MESHES = "".join(f'<mesh name="m{k}" file="a.stl"/>' for k in range(1000))
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
    return f'<mujoco><asset><model name="{model}" file="part.xml"/></asset><worldbody>{attach}</worldbody></mujoco>', {
        "part.xml": inside
    }


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
    "an include in capitals": (
        ('<mujoco><INCLUDE file="/etc/passwd"/></mujoco>', {}),
        "<INCLUDE>: it names '/etc/passwd', outside",
    ),
    "backslashes": (("<mujoco><asset><mesh file='..\\..\\x.stl'/></asset></mujoco>", {}), "outside of the folder"),
    "a hidden way up": (("<mujoco><asset><mesh file='no/../../x.stl'/></asset></mujoco>", {}), "outside of the folder"),
    "a texture elsewhere": (
        ("<mujoco><asset><texture type='cube' fileup='../x.png'/></asset></mujoco>", {}),
        "outside of the folder",
    ),
    "a skin elsewhere": (("<mujoco><asset><skin file='../x.skn'/></asset></mujoco>", {}), "outside of the folder"),
    "a height field elsewhere": (
        ("<mujoco><asset><hfield file='../x.png' size='1 1 1 1'/></asset></mujoco>", {}),
        "outside of the folder",
    ),
    "a file of a plugin elsewhere": (
        (
            f'<mujoco><extension><plugin plugin="p"><instance name="i">{CONFIG}</instance></plugin></extension></mujoco>',
            {},
        ),
        "<config>: it names '../x', outside",
    ),
    "an image of 4e9 pixels": (
        ("<mujoco><asset><texture type='2d' file='a.png'/></asset></mujoco>", {"a.png": png(60000, 70000)}),
        "4200000000 pixels",
    ),
    "a file that is named a thousand times": (
        (
            "<mujoco><asset>" + "".join(f'<mesh name="m{k}" file="a.stl"/>' for k in range(1000)) + "</asset></mujoco>",
            {"a.stl": bytes(10**6)},
        ),
        "its files have more than 512 MiB",
    ),
    "attributes": (
        ("<mujoco><option " + " ".join(f'a{k}="1"' for k in range(20_000)) + "/></mujoco>", {}),
        "more than 1000 attributes",
    ),
    "keyframes one by one": (
        (f"<mujoco><worldbody>{BODY}</worldbody><keyframe>{'<key/>' * 11_000}</keyframe></mujoco>", {}),
        "11000 keyframes",
    ),
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


def chain_of_followers(n):
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l0"/><child link="l{k + 1}"/><mimic joint="j{k + 1}"/></joint>'
        for k in range(n - 1)
    )
    return f'<robot name="r">{links(n)}{joints}</robot>'


def links(n):
    return "".join(f'<link name="l{k}"/>' for k in range(n))


def lost(n):
    return "".join(f'<joint name="j{k}" type="fixed"><parent link="x{k}"/><child link="y{k}"/></joint>' for k in range(n))


TENFOLD = "".join(f"<!ENTITY {b} '{('&' + a + ';') * 10}'>" for a, b in zip("abcdefg", "bcdefgh", strict=True))
LAUGHS = f"<!DOCTYPE r [<!ENTITY a '1'>{TENFOLD}"
ROBOTS = {
    "entities that double": (f"{LAUGHS}]><robot name='&h;'/>", "it has a document type or entities"),
    "a file by an entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        "a document type or entities",
    ),
    "joints whose links are not there": (f'<robot name="r">{links(1000)}{lost(300)}</robot>', "it has 200 faults or more"),
    "a chain of followers": (chain_of_followers(3000), "it follows the joint 'j2999', which is not there"),
    "links": (f'<robot name="r">{links(20_001)}</robot>', "it has 20001 links, more than 20000"),
    "attributes": ("<robot " + " ".join(f'a{k}="1"' for k in range(2000)) + "/>", "more than 1000 attributes"),
    "nested elements": ("<a>" * 100_000, "nested deeper than 40 levels"),
    "a long number": (
        f'<robot name="r"><link name="a"><inertial><mass value="{"1" * 10**6}"/></inertial></link></robot>',
        'value="111',
    ),
    "a long name": (
        f'<robot name="r"><link name="{"b" * 10**6}"/>{lost(1).replace("x0", "c" * 10**6)}</robot>',
        "there is no link",
    ),
}
"""Robots, and what is told of them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name, tmp_path):
    text, what = ROBOTS[name]
    (tmp_path / "r.urdf").write_text(text)
    with pytest.raises(mbd.ModelFileError) as error:
        mbd.read_urdf(tmp_path / "r.urdf")
    assert what in str(error.value)
    assert len(str(error.value)) < 20 * FEW


@pytest.mark.slow
def test_loops_of_a_sidecar_file(tmp_path):
    """Nested lists, and a million blanks, are told in a time of the first order."""
    (tmp_path / "r.urdf").write_text('<robot name="r"><link name="l"/></robot>')
    for text, what in (
        ("closed_loop: " + "[" * 100_000, "nested deeper than 3 levels"),
        ("closed_loop: [[a, b]" + " " * 300_000 + "{", "a bracket is not closed"),
        ("closed_loop: [[a, b]\n" + "  # a\n" * 30_000 + "!]", "no link or joint|one value is expected|must be a list"),
        ("closed_loop: [\n" + "  a\n" * 100_000, "a bracket is not closed"),
        ("closed_loop:\n" + "- a\n" * 100_000, "more than 10000 entries"),
        (" " * 1_100_000, "more than 1 MiB"),
    ):
        (tmp_path / "s.yaml").write_text(text)
        with pytest.raises(mbd.UsageError, match=what):
            mbd.read_urdf(tmp_path / "r.urdf", loops=tmp_path / "s.yaml")


def records(*lines):
    return "OndselSolver\nAssembly\n\tName\n\t\tA\n" + "".join(f"{line}\n" for line in lines)


MARKERS = [f"\t\t\t\tMarker\n\t\t\t\t\tName\n\t\t\t\t\t\tm{k}" for k in range(300)]
JOINTS = [f"\t\t\tRevoluteJoint\n\t\t\t\tName\n\t\t\t\t\tj{k}\n\t\t\t\tMarkerI\n\t\t\t\t\t/A/x{k}" for k in range(300)]
ASSEMBLIES = {
    "joints whose markers are not there": (
        records("\tRefPoints\n\t\tRefPoint\n\t\t\tMarkers", *MARKERS, "\tConstraintSets\n\t\tJoints", *JOINTS),
        "it has 200 faults or more",
    ),
    "joints of nothing": (records("\tConstraintSets\n\t\tJoints", *["\t\t\tRevoluteJoint"] * 3000), "it has 200 faults or more"),
    "parts": (records("\tParts", *(f"\t\tPart\n\t\t\tName\n\t\t\t\tp{k}" for k in range(20_001))), "it has 20001 parts"),
    "records": (records(*["\tx"] * 500_001), "it has more than 500000 lines"),
    "nested records": (records(*("\t" * k + "x" for k in range(1, 100))), "nested deeper than 20 levels"),
}
"""Assemblies, and what is told of them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSEMBLIES)
def test_assemblies(name, tmp_path):
    text, what = ASSEMBLIES[name]
    (tmp_path / "a.asmt").write_text(text)
    with pytest.raises(mbd.ModelFileError) as error:
        mbd.read_asmt(tmp_path / "a.asmt")
    assert what in str(error.value)
    assert len(str(error.value)) < 20 * FEW


BODIES = [{"name": f"b{k}", "mass": 1, "J_bar": [1, 1, 1]} for k in range(300)]
HINGE = {"type": "RJ", "j": "b1", "point": [0, 0, 0], "axis": [0, 0, 1]}
DOCUMENTS = {
    "keys": ("a.json", json.dumps({f"k{k}": 1 for k in range(20_000)}), "it has 200 faults or more"),
    "joints whose bodies are not there": (
        "a.json",
        json.dumps({"bodies": BODIES, "joints": [{**HINGE, "name": f"j{k}", "i": f"x{k}"} for k in range(300)]}),
        "it has 200 faults or more",
    ),
    "nested lists": ("a.json", "[" * 10**6, "deeper than 12 levels"),
    "nested tables": ("a.json", '{"a":' * 10**4, "deeper than 12 levels"),
    "a long number": ("a.json", '{"a": ' + "1" * 10**6 + "}", "it is not JSON"),
    "nested keys of TOML": ("a.toml", "a" + ".a" * 900 + "=1", "deeper than 12 levels"),
    "nested lists of TOML": ("a.toml", "a=" + "[\n" * 10**4, "deeper than 12 levels"),
    "nested tables of TOML": ("a.toml", "a=" + "{a=" * 3000, "deeper than 12 levels"),
}
"""Model files, and what is told of them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_model_files(name, tmp_path):
    file, text, what = DOCUMENTS[name]
    (tmp_path / file).write_text(text)
    with pytest.raises(mbd.ModelFileError) as error:
        mbd.load_model(tmp_path / file)
    assert what in str(error.value)
    assert len(str(error.value)) < 20 * FEW


@pytest.mark.slow
def test_what_takes_mujoco_long_is_said_before(tmp_path, caplog, monkeypatch):
    """Within the bounds, 5,000 bodies take MuJoCo's compiler ten seconds: nothing is silent that long."""
    monkeypatch.delenv("HAUGMBD_QUIET", raising=False)
    for n, told in ((20, False), (1100, True)):
        path = tmp_path / "many.xml"
        path.write_text(world(replicate(n, BODY))[0])
        caplog.clear()
        mbd.read_mjcf(path)
        assert (f"MuJoCo compiles {n} bodies of many.xml" in caplog.text) is told
