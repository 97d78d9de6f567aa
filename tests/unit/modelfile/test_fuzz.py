"""Mutated model files: a system or a UsageError, never another exception. By hand: HAUGMBD_FUZZ=5000."""

from __future__ import annotations

import json
import os
import random
import re

import pytest

import haugmbd as mbd
from haugmbd.gallery import andrews, four_bar, governor, slider_crank
from tests.support import asmt, mjcf, model_files, robots, simengine3d

FILES = int(os.environ.get("HAUGMBD_FUZZ", "200"))
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


def mutate_text(content, rng):
    """The text with some characters changed, dropped or repeated."""
    for _ in range(rng.randint(1, 4)):
        a = rng.randrange(len(content))
        b = min(len(content), a + rng.randint(0, 30))
        content = content[:a] + rng.choice(["", content[a:b] * 2, rng.choice('{}[]",:.-e0 \n\\u'), rng.choice(WORDS)]) + content[b:]
        content = content or "{"
    return content


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    systems = [four_bar(), governor(), andrews(), model_files.rich_system()]
    return [system.save(folder / f"{k}.json").read_text() for k, system in enumerate(systems)]


def attempt(path):
    """Whether the file is read; a UsageError is an answer."""
    try:
        system = mbd.load_model(path)
    except mbd.UsageError:
        return False
    assert isinstance(system, mbd.System)
    return True


def test_mutated_data_and_text(documents, tmp_path):
    rng = random.Random(7)
    path, read = tmp_path / "mutated.json", 0
    for k in range(FILES):
        content = documents[k % len(documents)]
        if rng.random() < 0.5:
            data = json.loads(content)
            for _ in range(rng.randint(1, 3)):
                data = mutate_data(data, rng)
            content = json.dumps(data)
        else:
            content = mutate_text(content, rng)
        path.write_text(content, errors="replace")
        read += attempt(path)
    assert 0 < read < FILES


def test_mutated_toml(tmp_path):
    rng = random.Random(8)
    path = tmp_path / "mutated.toml"
    read = 0
    for _ in range(FILES):
        path.write_text(mutate_text(model_files.BY_HAND, rng), errors="replace")
        read += attempt(path)
    assert 0 < read < FILES


SIDECAR = "closed_loop: [[coupler_end, rocker_tip], [a, b]]\ntype: ['3d', '6d']\nname: x\n"
ENDS = (("coupler", (0.5, 0.0, 0.0), (0.0, 0.0, 0.0)), ("rocker", (0.45, 0.0, 0.0), (0.0, 0.0, 0.0)))


def mutate_values(content, rng):
    """The text with some values of attributes changed."""
    for _ in range(rng.randint(1, 2)):
        places = list(re.finditer('="([^"]*)"', content))
        place = rng.choice(places)
        value = rng.choice(
            [
                "0",
                "-1",
                "1e-300",
                "1e300",
                "0 0 0",
                "1 0 0",
                "1e9 0 1e-9",
                "nan",
                "fixed",
                "floating",
                "prismatic",
                rng.choice(places)[1],
                "",
            ]
        )
        content = content[: place.start(1)] + value + content[place.end(1) :]
    return content


def urdf_texts():
    """Robots with and without loops."""
    with_loop = robots.four_bar_leg(robots.loop_joint("revolute", *ENDS))
    return [with_loop, robots.four_bar_leg(robots.urdf_plus("fixed", *ENDS)), *(robots.random_tree(k, n=5)[0] for k in range(2))]


def test_mutated_urdf(tmp_path):
    rng = random.Random(9)
    path, sidecar, texts, read = tmp_path / "mutated.urdf", tmp_path / "mutated.yaml", urdf_texts(), 0
    for k in range(FILES // 4):
        mutate = rng.choice((mutate_text, mutate_values, mutate_values))
        path.write_text(mutate(texts[k % len(texts)], rng), errors="replace")
        read += answered(mbd.read_urdf, path, repair_inertia=k % 3 == 0)
        path.write_text(texts[0])
        sidecar.write_text(mutate_text(SIDECAR, rng), errors="replace")
        if k % 10 == 0:
            answered(mbd.read_urdf, path, loops=sidecar, close=False)
    assert 0 < read < FILES


def test_mutated_simengine3d(tmp_path):
    rng = random.Random(10)
    path, read = tmp_path / "mutated.mdl", 0
    document = simengine3d.document_of(slider_crank())
    for k in range(FILES // 4):
        if rng.random() < 0.6:
            data = mutate_data(document, rng)
            content = json.dumps(data)
        else:
            content = mutate_text(json.dumps(document), rng)
        path.write_text(content, errors="replace")
        read += answered(mbd.read_simengine3d, path, close=k % 5 == 0)
    assert 0 < read < FILES


def answered(reader, path, **how):
    """Whether a file is read; an error of haugmbd is an answer."""
    try:
        system = reader(path, **how)
    except (mbd.UsageError, mbd.ModelError):
        return False
    assert isinstance(system, mbd.System)
    return True


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


MOTION = asmt.motion("RotationalMotion", "run", "A", "1.5 + 0.1*sin(2*time)^2")


def test_mutated_asmt(tmp_path):
    rng = random.Random(11)
    path, read = tmp_path / "mutated.asmt", 0
    texts = [asmt.four_bar(gap=2.0), asmt.four_bar(motions=[MOTION])]
    for k in range(FILES // 4):
        mutate = rng.choice((mutate_lines, mutate_lines, mutate_text))
        path.write_text(mutate(texts[k % 2], rng), errors="replace")
        read += answered(mbd.read_asmt, path, length=0.001, merge_fixed=k % 3 > 0, close=k % 5 == 0)
    assert 0 < read < FILES


def test_mutated_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    rng = random.Random(12)
    path, read = tmp_path / "mutated.xml", 0
    texts = [mjcf.random_tree(k)[0] for k in range(4)]
    for k in range(FILES // 8):
        mutate = rng.choice((mutate_text, mutate_values, mutate_values))
        path.write_text(mutate(texts[k % 4], rng), errors="replace")
        read += answered(mbd.read_mjcf, path)
    assert 0 < read < FILES
