"""The .glb file: by the Khronos validator where it is installed, and read back here in any case."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import inertia
from haugmbd.gallery import andrews, delta_robot, pendulum, slider_crank
from haugmbd.viewer import to_gltf
from tests.support.with_contacts import simulate_with

VALIDATOR = """
const validator = require("gltf-validator"), fs = require("fs");
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1]))).then((report) => console.log(JSON.stringify(report.issues)));
"""


def read(path):
    """The JSON of a .glb file, and its arrays by the number of their accessor."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<III", data)
    assert (magic, version, length) == (0x46546C67, 2, len(data))
    size, kind = struct.unpack_from("<II", data, 12)
    assert kind == 0x4E4F534A
    content, binary = json.loads(data[20 : 20 + size]), data[28 + size :]

    def array(number):
        accessor = content["accessors"][number]
        view = content["bufferViews"][accessor["bufferView"]]
        kind, count = "<f4" if accessor["componentType"] == 5126 else "<u4", view["byteLength"] // 4
        numbers = np.frombuffer(binary, kind, offset=view["byteOffset"], count=count)
        return numbers.reshape(accessor["count"], -1)

    return content, array


@pytest.fixture(scope="module")
def crank():
    return mbd.simulate(slider_crank(), 0.5, h=1e-3)


def test_the_animation_of_a_body_is_its_motion(crank, tmp_path):
    content, array = read(crank.to_gltf(tmp_path / "crank.glb"))
    nodes = [node.get("name") for node in content["nodes"]]
    motion = content["animations"][0]
    for name in ("crank", "rod", "slider"):
        for channel in motion["channels"]:
            if channel["target"]["node"] != nodes.index(name):
                continue
            sampler = motion["samplers"][channel["sampler"]]
            np.testing.assert_allclose(array(sampler["input"])[:, 0], crank.t, atol=1e-7)
            values = array(sampler["output"])
            if channel["target"]["path"] == "translation":
                np.testing.assert_allclose(values, crank[name].r, atol=1e-6)
            else:
                p = values[:, [3, 0, 1, 2]]
                np.testing.assert_allclose(np.abs(np.sum(p * crank[name].p, axis=1)), 1.0, atol=1e-6)
                assert np.all(np.sum(p[1:] * p[:-1], axis=1) > 0.0)
    root = content["nodes"][content["scenes"][0]["nodes"][0]]
    np.testing.assert_allclose(root["rotation"], [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], atol=1e-7)  # z up to y up


def test_a_system_is_written_at_its_modelled_pose(tmp_path):
    system = slider_crank()
    content, _ = read(to_gltf(system, tmp_path / "x.glb"))
    assert "animations" not in content
    nodes = {node.get("name"): node for node in content["nodes"]}
    for body in system.bodies[1:]:
        np.testing.assert_allclose(nodes[body.name]["translation"], body.r, atol=1e-6)
        p = np.array(nodes[body.name]["rotation"])[[3, 0, 1, 2]]
        assert abs(p @ body.p) == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(mbd.UsageError, match="is not a result to draw"):
        to_gltf("x", tmp_path / "y.glb")


def test_times_increase_where_an_impact_stands_twice(tmp_path):
    system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.004, 0.004, 0.004), r=(0.0, 0.0, 0.3)))
    floor = mbd.Contact(
        "floor", system.ground, ball, point=(0.0, 0.0, 0.2), normal=(0.0, 0.0, 1.0), plane_point=(0.0, 0.0, 0.0), restitution=0.5
    )
    result = simulate_with(system, 0.5, contacts=[floor], h=1e-2)
    content, array = read(result.to_gltf(tmp_path / "ball.glb"))
    assert np.all(np.diff(array(content["animations"][0]["samplers"][0]["input"])[:, 0]) > 0.0)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [("x.gltf", {}, "'.gltf'"), ("x.glb", {"frames": 0}, "frames is 0"), ("no/x.glb", {}, "cannot write")],
)
def test_mistakes_are_named(crank, tmp_path, name, options, words):
    with pytest.raises(mbd.UsageError, match=words):
        crank.to_gltf(tmp_path / name, **options)


@pytest.mark.parametrize("case", ["crank", "andrews", "still", "named", "shapes", "rods", "system"])
def test_the_validator_of_khronos_finds_nothing(crank, tmp_path, case):
    modules = os.environ.get("HAUGMBD_NODE_MODULES")
    if not (modules and shutil.which("node")):
        if os.environ.get("HAUGMBD_NO_SKIPS"):
            pytest.fail("the validator is missing: npm install gltf-validator, and set HAUGMBD_NODE_MODULES to its node_modules")
        pytest.skip("gltf-validator is not installed: npm install gltf-validator, and set HAUGMBD_NODE_MODULES to its node_modules")
    if case == "andrews":
        result = mbd.simulate(andrews(), 0.01, rtol=1e-6, atol=1e-6)
    elif case == "rods":
        result = mbd.simulate(delta_robot(), 0.02, h=5e-3)
    elif case == "named":
        system = mbd.System('quotes " and \\ and é', gravity=(9.81, 0.0, 0.0))
        system.add(mbd.Body("<b>", 1.0, (1e-3, 1e-3, 1e-3)))
        result = mbd.simulate(system, 0.1, h=1e-2)
    elif case == "shapes":
        system = mbd.System("shapes", ground_shape=mbd.Box((2.0, 1.0, 0.0), center=(0.0, 0.0, -1.0), color="#336699"))
        solids = [inertia.tube(0.2, 0.1, 0.3, mass=1.0), inertia.cone(0.2, 0.3, mass=1.0), inertia.plate((0.1, 0.2), mass=1.0)]
        net = mbd.Mesh.from_arrays([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2), (0, 3, 1), (1, 3, 2)])
        for k, solid in enumerate(solids):
            system.add(mbd.Body(f"body {k}", *solid, r=(0.5 * k, 0.0, 0.0), omega_bar=(1.0, 0.0, 0.0), shape=[..., net]))
        result = mbd.simulate(system, 0.1, h=1e-2)
    else:
        result = crank if case == "crank" else mbd.simulate(pendulum(), 0.1, h=1e-2)
    path = result.to_gltf(tmp_path / "x.glb", frames=1 if case == "still" else None)
    if case == "system":
        path = to_gltf(delta_robot(), tmp_path / "x.glb")
    command = ["node", "-e", VALIDATOR, str(path)]
    found = subprocess.run(command, env={**os.environ, "NODE_PATH": modules}, capture_output=True, text=True, check=True)
    issues = json.loads(found.stdout)
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"][:5]
