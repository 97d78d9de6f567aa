"""Mutated files of every format that is read: a system or a UsageError is an answer.

By hand: python -m tests.support.mutations 5000 [kind ...]; it prints outcomes and the longest times of each kind, and ends with 1 if a file
gave another exception or took longer than LIMIT of CPU time.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import haugmbd as mbd
from haugmbd.gallery import andrews, double_wishbone, four_bar, governor, slider_crank
from tests.support import asmt, mechanisms, mjcf, model_files, robots, simengine3d, usd

LIMIT = 2.0
"""CPU time of one file [s]."""
WORDS = [
    "ground",
    "RJ",
    "type",
    "name",
    "frame_i",
    "sin(t)",
    "1/0",
    "9**9**9",
    "__import__('os')",
    "os:system",
    "\u0000",
    "",
    "a" * 2000,
]
VALUES = [
    None,
    True,
    -1,
    0,
    1e308,
    -0.0,
    10**400,
    [],
    {},
    [[]],
    [1, 2, 3],
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    {"function": "os:getcwd"},
    {"spline": {}},
]
NUMBERS = ["0", "-1", "1e-300", "1e300", "0 0 0", "1 0 0", "1e9 0 1e-9", "nan", "fixed", "floating", "prismatic", ""]


def mutate_data(value, rng):
    """The data with a random change somewhere."""
    if rng.random() < 0.2 or not isinstance(value, dict | list) or not value:
        return rng.choice([*VALUES, *WORDS, value])
    if isinstance(value, list):
        k = rng.randrange(len(value))
        change = rng.choice(["in", "in", "drop", "twice"])
        if change == "in":
            return [*value[:k], mutate_data(value[k], rng), *value[k + 1 :]]
        return value[:k] + value[k + 1 :] if change == "drop" else [*value, value[k]]
    key = rng.choice(list(value))
    change = rng.choice(["in", "in", "in", "drop", "rename", "add"])
    if change == "in":
        return value | {key: mutate_data(value[key], rng)}
    rest = {name: x for name, x in value.items() if name != key}
    if change == "drop":
        return rest
    return rest | {rng.choice(WORDS): value[key]} if change == "rename" else value | {rng.choice(WORDS): rng.choice(VALUES)}


def mutate_json(content, rng):
    """A JSON text with some values changed."""
    data = json.loads(content)
    for _ in range(rng.randint(1, 3)):
        data = mutate_data(data, rng)
    return json.dumps(data)


def mutate_text(content, rng):
    """The text with some characters changed, dropped or repeated."""
    for _ in range(rng.randint(1, 4)):
        a = rng.randrange(len(content))
        b = min(len(content), a + rng.randint(0, 30))
        content = content[:a] + rng.choice(["", content[a:b] * 2, rng.choice('{}[]",:.-e0 \n\\u'), rng.choice(WORDS)]) + content[b:]
        content = content or "{"
    return content


def mutate_values(content, rng):
    """The text with some values of attributes changed."""
    for _ in range(rng.randint(1, 2)):
        places = list(re.finditer('="([^"]*)"', content))
        place = rng.choice(places)
        value = rng.choice([*NUMBERS, rng.choice(places)[1]])
        content = content[: place.start(1)] + value + content[place.end(1) :]
    return content


def mutate_lines(content, rng):
    """The text with lines dropped, repeated, exchanged or indented otherwise, or with another number."""
    lines = content.split("\n")
    for _ in range(rng.randint(1, 3)):
        k, n = rng.randrange(len(lines)), rng.randrange(len(lines))
        change = rng.choice(["drop", "twice", "swap", "indent", "number", "number", "word"])
        if change == "drop":
            del lines[k]
        elif change == "twice":
            lines.insert(k, lines[n])
        elif change == "swap":
            lines[k], lines[n] = lines[n], lines[k]
        elif change == "indent":
            lines[k] = rng.choice(["\t" + lines[k], lines[k][1:]])
        elif change == "number":
            lines[k] = re.sub(r"-?\d[\d.e+-]*", rng.choice(["0", "1e300", "-1", "nan", "1e-300", "7"]), lines[k], count=1)
        else:
            lines[k] = re.sub(r"\w+", rng.choice(["PlanarJoint", "FixedJoint", "RevRevJoint", "Name", "crank"]), lines[k], count=1)
    return "\n".join(lines)


class Kind(NamedTuple):
    """A kind of file: its ending, its reader, arguments for file k, sound texts, mutations, and the seed."""

    ending: str
    read: Callable[..., Any]
    how: Callable[[int], dict[str, Any]]
    texts: Callable[[], list[str]]
    mutations: tuple[Callable[[str, random.Random], str], ...]
    seed: int


ENDS = (("coupler", (0.5, 0.0, 0.0), (0.0, 0.0, 0.0)), ("rocker", (0.45, 0.0, 0.0), (0.0, 0.0, 0.0)))
SIDECAR = "closed_loop: [[coupler_end, rocker_tip], [crank, rocker]]\ntype: ['3d', '6d']\nname: x\n"
JOINTS = "joint_name: [hip, knee]\njoint_type: [SPHERICAL, UJOINT_XY]\n"


def robot_texts():
    """Robots with and without loops."""
    with_loop = robots.four_bar_leg(robots.loop_joint("revolute", *ENDS))
    return [with_loop, robots.four_bar_leg(robots.urdf_plus("fixed", *ENDS)), *(robots.random_tree(k, n=5)[0] for k in range(2))]


def model_texts():
    """Model files of systems with everything that they hold."""
    with tempfile.TemporaryDirectory() as folder:
        systems = [four_bar(), governor(), andrews(), model_files.rich_system()]
        return [system.save(Path(folder) / f"{k}.json").read_text() for k, system in enumerate(systems)]


def assembly_texts():
    """An assembly that is open, one with a motion, and one with a gear, a rack and a screw."""
    motion = asmt.motion("RotationalMotion", "run", "A", "1.5 + 0.1*sin(2*time)^2")
    return [
        asmt.four_bar(gap=2.0),
        asmt.four_bar(motions=[motion]),
        exported(mbd.write_asmt, ".asmt", length=0.001),
        exported(mbd.write_asmt, ".asmt", double_wishbone),
    ]


def engine_texts():
    """Random trees, and one with equalities of joints."""
    return [
        *(mjcf.random_tree(k)[0] for k in range(4)),
        exported(mbd.write_mjcf, ".xml"),
        exported(mbd.write_mjcf, ".xml", double_wishbone),
    ]


def exported(write, ending, make=mechanisms.geared, **how):
    """What an exporter writes of a system, by default with couplings."""
    with tempfile.TemporaryDirectory() as folder:
        return write(make(), Path(folder) / f"x{ending}", **how).files[0].read_text()


def read_sidecar(path, **how):
    """Read a sidecar file, with a robot beside it."""
    robot = path.with_suffix(".urdf")
    robot.write_text(robots.four_bar_leg(""))
    return mbd.read_urdf(robot, loops=path, **how)


def mutate_numbers(text, rng):
    """A text with another value between two of its tags."""
    places = [m.span(1) for m in re.finditer(r">([^<>]+)<", text)]
    first, last = rng.choice(places)
    value = rng.choice(
        ("0", "-1", "nan", "1e308", "inf", "", "1 2", "0 0 0", "world", "a", "__model__", "1e-320", "2 0 0 0 3.14159 0")
    )
    return text[:first] + value + text[last:]


def world_texts():
    """A closed loop with springs, limits, frames, nested models and a plugin, and a world."""
    link = (
        "<link name='{n}'><pose>{x} 0 0 0 0.1 0</pose><inertial><pose>0.1 0 0 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx>"
        "<iyy>0.1</iyy>"
        "<izz>0.1</izz></inertia></inertial><visual name='v'><geometry><box><size>1 1 1</size></box></geometry></visual></link>"
    )
    joint = (
        "<joint name='{n}' type='{t}'><parent>{a}</parent><child>{b}</child><pose>0 0 0.1 0 0 0</pose><axis><xyz>0 1 0</xyz><limit>"
        "<lower>-1</lower><upper>1</upper><effort>5</effort></limit><dynamics><damping>0.1</damping></dynamics></axis></joint>"
    )
    links = "".join(link.format(n=name, x=k) for k, name in enumerate("abcd"))
    pairs = (
        ("revolute", "world", "a"),
        ("revolute", "a", "b"),
        ("prismatic", "b", "c"),
        ("ball", "c", "inner::a"),
        ("fixed", "inner::a", "d"),
    )
    joints = "".join(joint.format(n=f"j{k}", t=kind, a=a, b=b) for k, (kind, a, b) in enumerate(pairs))
    frame = "<frame name='f' attached_to='b'><pose relative_to='c' degrees='true'>0 0 1 90 0 0</pose></frame>"
    inner = f"<model name='inner'><pose>3 0 0 0 0 0</pose>{link.format(n='a', x=0)}</model>"
    model = f"<model name='m'>{links}{frame}{inner}{joints}<plugin name='p' filename='x.so'/></model>"
    return [
        f"<sdf version='1.9'>{model}</sdf>",
        f"<sdf version='1.6'><world name='w'><gravity>0 0 -9.8</gravity>{model}</world></sdf>",
        exported(mbd.write_sdf, ".sdf", double_wishbone),
    ]


def freecad_texts():
    """The Document.xml of an assembly with three hinges, a gear and limits."""
    parts = "".join(
        f'<Object name="{name}"><Properties><Property name="Label"><String value="part {name}"/></Property><Property name="Placement">'
        f'<PropertyPlacement Px="{10 * k}" Py="0" Pz="0" Q0="0" Q1="0" Q2="0" Q3="1"/></Property><Property name="Length"><Float value="9"/>'
        f'</Property><Property name="Width"><Float value="8"/></Property><Property name="Height"><Float value="7"/></Property>'
        f"</Properties></Object>"
        for k, name in enumerate("ABC")
    )
    sides = (
        '<Property name="Reference{n}"><XLink file="" name="Assembly" count="1"><Sub value="{part}.Vertex1"/></XLink></Property>'
        '<Property name="Placement{n}"><PropertyPlacement Px="{x}" Py="0" Pz="0" Q0="0" Q1="0" Q2="0" Q3="1"/></Property>'
    )
    joints, names = "", []
    for k, (a, b, kind) in enumerate((("A", "B", 1), ("A", "C", 1), ("B", "C", 11), ("C", "A", 5))):
        names.append(f"J{k}")
        ends = sides.format(n=1, part=a, x=10 * "ABC".index(b) - 10 * "ABC".index(a)) + sides.format(n=2, part=b, x=0)
        more = '<Property name="Distance"><Float value="5"/></Property><Property name="Distance2"><Float value="5"/></Property>'
        bound = '<Property name="EnableAngleMin"><Bool value="true"/></Property><Property name="AngleMin"><Float value="-90"/></Property>'
        chosen = f'<Property name="JointType"><Integer value="{kind}"/></Property>'
        joints += f'<Object name="J{k}"><Properties>{chosen}{ends}{more}{bound}</Properties></Object>'
    ground = '<Object name="G"><Properties><Property name="ObjectToGround"><Link value="A"/></Property></Properties></Object>'
    kinds = [
        ("Assembly", "Assembly::AssemblyObject"),
        *((name, "Part::Box") for name in "ABC"),
        *((n, "App::FeaturePython") for n in (*names, "G")),
    ]
    heads = "".join(f'<Object type="{kind}" name="{name}"/>' for name, kind in kinds)
    return [f"<Document><Objects>{heads}</Objects><ObjectData>{parts}{joints}{ground}</ObjectData></Document>"]


def stage_texts():
    """A chain of three bodies with colliders, a general joint and a drive, in centimetres."""
    box = usd.prim("Cube", "box", "double size = 2", "float3 xformOp:scale = (1, 2, 3)", schemas=("PhysicsCollisionAPI",))
    frames = ((0.0, 0.0, 1.0), np.eye(3)), ((0.0, 0.0, -1.0), np.eye(3))
    drive = "float drive:angular:physics:stiffness = 2", "float drive:angular:physics:targetPosition = 10"
    return [
        usd.stage(
            usd.body("a", usd.mass(2.0, np.diag((1.0, 2.0, 2.5)))),
            usd.body("b", box, "float physics:density = 3", r=(0, 0, 2)),
            usd.body("c", box, "float physics:mass = 3", r=(0, 0, 4)),
            usd.joint("PhysicsRevoluteJoint", "h", ("", "/a"), frames, *drive, schemas=("PhysicsDriveAPI:angular",)),
            usd.joint("PhysicsJoint", "g", ("/a", "/b"), frames, free={"transZ", "rotZ"}),
            usd.joint("PhysicsSphericalJoint", "s", ("/b", "/c"), frames, "float physics:coneAngle0Limit = 30"),
            L=0.01,
        )
    ]


def mutate_words(text, rng):
    """Exchange two words of a text."""
    words = re.findall(r"[A-Za-z:]+", text)
    return text.replace(rng.choice(words), rng.choice(words), rng.randint(1, 3))


def read_document(path, **how):
    """Read a Document.xml as that of a file of FreeCAD."""
    file = path.with_suffix(".FCStd")
    with zipfile.ZipFile(file, "w") as archive:
        archive.write(path, "Document.xml")
    return mbd.read_fcstd(file, **how)


KINDS = {
    "json": Kind(".json", mbd.load_model, lambda k: {}, model_texts, (mutate_json, mutate_text), 7),
    "toml": Kind(".toml", mbd.load_model, lambda k: {}, lambda: [model_files.BY_HAND], (mutate_text,), 8),
    "urdf": Kind(
        ".urdf",
        mbd.read_urdf,
        lambda k: {"repair_inertia": k % 3 == 0},
        robot_texts,
        (mutate_text, mutate_values, mutate_values),
        9,
    ),
    "sidecar": Kind(".yaml", read_sidecar, lambda k: {"close": False}, lambda: [SIDECAR, SIDECAR + JOINTS], (mutate_text,), 13),
    "simengine3d": Kind(
        ".mdl",
        mbd.read_simengine3d,
        lambda k: {"close": k % 5 == 0},
        lambda: [simengine3d.text_of(slider_crank())],
        (mutate_json, mutate_json, mutate_text),
        10,
    ),
    "asmt": Kind(
        ".asmt",
        mbd.read_asmt,
        lambda k: {"length": 0.001, "merge_fixed": k % 3 > 0, "close": k % 5 == 0},
        assembly_texts,
        (mutate_lines, mutate_lines, mutate_text),
        11,
    ),
    "sdf": Kind(
        ".sdf",
        mbd.read_sdf,
        lambda k: {"merge_fixed": k % 3 > 0},
        world_texts,
        (mutate_text, mutate_numbers, mutate_numbers),
        12,
    ),
    "fcstd": Kind(
        ".xml",
        read_document,
        lambda k: {"close": k % 5 == 0, "density": 1000.0 if k % 2 else None},
        freecad_texts,
        (mutate_text, mutate_values, mutate_values),
        14,
    ),
    "usd": Kind(
        ".usda",
        mbd.read_usd,
        lambda k: {"close": k % 5 == 0, "merge_fixed": k % 3 > 0},
        stage_texts,
        (mutate_text, mutate_numbers, mutate_words),
        15,
    ),
    "mjcf": Kind(
        ".xml",
        mbd.read_mjcf,
        lambda k: {},
        engine_texts,
        (mutate_text, mutate_values, mutate_values),
        13,
    ),
}


def files(kind: Kind, n: int) -> Iterator[tuple[int, str]]:
    """Mutated texts, numbered; the same for the same kind and n."""
    rng, texts = random.Random(kind.seed), kind.texts()
    for k in range(n):
        yield k, rng.choice(kind.mutations)(texts[k % len(texts)], rng)


def answered(kind: Kind, path: Path, k: int) -> str:
    """ "read", with warnings of the library's own or without, or "refused"; any other exception passes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            system = kind.read(path, **kind.how(k))
    except (mbd.UsageError, mbd.ModelError):
        return "refused"
    assert isinstance(system, mbd.System)
    return "read"


def attack(name: str, n: int) -> bool:
    """Read n mutated files of a kind, print outcomes, and return whether all were answered in time."""
    kind, counts, times, good = KINDS[name], Counter(), [], True
    with tempfile.TemporaryDirectory() as folder:
        for k, text in files(kind, n):
            path = Path(folder) / f"mutated{kind.ending}"
            path.write_text(text, errors="replace")
            begun = time.process_time()
            try:
                outcome = answered(kind, path, k)
            except Exception as error:  # noqa: BLE001  this is what is looked for
                outcome, good = f"{type(error).__name__}", False
                sys.stdout.write(f"{name} {k}: {type(error).__name__}: {str(error)[:200]}\n")
            counts[outcome] += 1
            times.append((time.process_time() - begun, k))
    slowest = ", ".join(f"{t:.2f} s ({k})" for t, k in sorted(times, reverse=True)[:3])
    sys.stdout.write(f"{name:<12} {n} files: {dict(counts)}; slowest {slowest}\n")
    sys.stdout.flush()
    return good and max(times)[0] <= LIMIT


def main() -> int:
    """Attack the kinds of the command line."""
    warnings.simplefilter("error")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    return 0 if all([attack(name, n) for name in sys.argv[2:] or KINDS]) else 1


if __name__ == "__main__":
    sys.exit(main())
