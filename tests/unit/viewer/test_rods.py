"""Massless rods are drawn where they are: in the page, in pictures, and in glTF files."""

from __future__ import annotations

import json
import re
import struct

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import delta_robot
from haugmbd.viewer.animate import mechanism_of
from haugmbd.viewer.drawing import BAR, Drawing
from haugmbd.viewer.frames import frames_of
from haugmbd.viewer.mechanism import of_system
from joints import RJ, Distance, RevoluteSpherical, UniversalSpherical

POSE = 2e-6
"""What the page promises of a pose [m]."""


class Truss:
    """A joint of the user: two rods."""

    name = "truss"

    def __init__(self, i, j):
        self.i, self.j = i, j

    def primitives(self):
        ends = ((0.1, 0, 0), (0, 0, 0.1)), ((-0.1, 0, 0), (0, 0.1, 0))
        return [mbd.D(self.i, s_i, self.j, s_j, 1.0) for s_i, s_j in ends]


def system_of_rods():
    """A body on every kind of massless rod, and one row D by itself."""
    system = mbd.System("rods", gravity=(0, 0, -9.81))
    first = system.add(mbd.Body("first", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, 0.0)))
    second = system.add(mbd.Body("second", 1.0, (0.1, 0.1, 0.1), r=(1.0, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, first, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(Distance("link", first, second, point_i=(0.2, 0, 0), point_j=(0.8, 0, 0.1)))
    system.add(UniversalSpherical("US", first, second, point_i=(0.2, 0.1, 0), point_j=(0.8, 0, 0.2), axis=(0, 1, 0)))
    system.add(RevoluteSpherical("RS", first, second, point_i=(0, 0.2, 0), point_j=(1.0, 0.2, 0), axis=(0, 0, 1)))
    system.add(mbd.D(first, (0, 0, 0.3), second, (0, 0, 0.3), 1.0))
    system.add(Truss(first, second))
    return system


def scene_of(page):
    return json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)[1])


def test_every_distance_between_points_is_a_rod():
    joints = {joint.name: joint for joint in of_system(system_of_rods()).joints}
    assert {name: len(joint.rods) for name, joint in joints.items()} == {
        "pin": 0,
        "link": 1,
        "US": 1,
        "RS": 1,
        "D 1": 1,
        "truss": 2,
    }
    (rod,) = joints["link"].rods
    np.testing.assert_allclose([rod.s_i, rod.s_j], [(0.2, 0, 0), (-0.2, 0, 0.1)], atol=1e-15)
    assert {joints[name].glyph for name in ("link", "D 1", "truss")} == {"distance"}
    assert joints["RS"].glyph == "revolute-spherical"


def test_a_joint_whose_equations_fail_has_no_rods_and_the_picture_stays():
    class Broken(RJ):
        def primitives(self):
            raise ValueError("no equations")

    system = mbd.System("broken")
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    system.add(Broken("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    assert of_system(system).joints[0].rods == ()


@pytest.fixture(scope="module")
def robot():
    return mbd.simulate(delta_robot(), 0.2, h=5e-3)


def ends_of(result, name, k):
    """The ends of a rod at state k, by the points of its joint."""
    return np.array([result.point(f"{name}.{side}").r[k] for side in "ij"])


@pytest.mark.slow
def test_the_page_draws_the_rods_of_a_robot_where_its_points_are(chromium, robot, tmp_path):
    chromium.open(f"{robot.animate(tmp_path / 'robot.html').as_uri()}#t=0")
    names = [
        joint["name"] for joint in scene_of((tmp_path / "robot.html").read_text(encoding="utf-8"))["joints"] if "rods" in joint
    ]
    assert len(names) == 6
    for k in (0, 17, 40):
        drawn = chromium.evaluate(
            f"(mechanism.seek({float(robot.t[k])!r}), player.world.scene.updateMatrixWorld(true), player.world.joints"
            ".filter(({ links }) => links.length).map(({ links: [{ object }] }) =>"
            " [0, 1].map((z) => new THREE.Vector3(0, 0, z).applyMatrix4(object.matrixWorld).toArray())))"
        )
        for name, ends in zip(names, drawn, strict=True):
            np.testing.assert_allclose(ends, ends_of(robot, name, k), atol=3.0 * POSE)  # a point far from the centre of mass
    chromium.click(*chromium.evaluate(f"mechanism.screen({names[0]!r})"))
    assert chromium.evaluate("mechanism.selected") == names[0]


@pytest.mark.slow
def test_a_picture_has_the_triangles_of_rods(robot):
    drawing = Drawing(mechanism_of(robot), frames_of(robot))
    drawing.place(10)
    rods = [joint.name for joint in drawing.mechanism.joints if joint.rods]
    n = len(BAR)
    assert len(drawing.surfaces.get_paths()) == sum(map(len, drawing.bodies)) + n * len(rods)
    seen = np.array([path.vertices.mean(axis=0) for path in drawing.surfaces.get_paths()])
    for name in rods:
        middle = drawing.project(ends_of(robot, name, 10).mean(axis=0)[None])[0, :2]
        assert np.linalg.norm(seen - middle, axis=1).min() < 0.2 * np.ptp(seen, axis=0).max()
    drawing.close()


@pytest.mark.slow
def test_a_gltf_file_has_a_cylinder_for_every_rod(robot, tmp_path):
    data = robot.to_gltf(tmp_path / "robot.glb").read_bytes()
    content = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    nodes = {node["name"]: node for node in content["nodes"] if node.get("name", "").startswith("rod of ")}
    assert len(nodes) == 6
    for name, node in nodes.items():
        ends = ends_of(robot, name.removeprefix("rod of "), 0)
        np.testing.assert_allclose(node["translation"], ends.mean(axis=0), atol=1e-6)  # single precision
        assert node["scale"][2] == pytest.approx(np.linalg.norm(ends[1] - ends[0]), rel=1e-6)


@pytest.mark.slow
def test_without_webgl_rods_are_lines(chromium, robot, tmp_path):
    lack = "HTMLCanvasElement.prototype.getContext = () => null;"
    script = chromium.send("Page.addScriptToEvaluateOnNewDocument", source=lack)["identifier"]
    try:
        chromium.open(f"{robot.animate(tmp_path / 'flat.html').as_uri()}#t=0")
        chromium.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        ends = "['x1', 'y1', 'x2', 'y2'].map((k) => Number(one.getAttribute(k)))"
        lines = f"[...document.querySelectorAll('#flat .held')].map((one) => {ends})"
        first = np.array(chromium.evaluate(lines))
        assert first.shape == (6, 4)
        assert np.all(np.hypot(*(first[:, 2:] - first[:, :2]).T) > 10.0)  # pixels
        chromium.evaluate(
            "new Promise((done) => { mechanism.seek(0.2); requestAnimationFrame(() => requestAnimationFrame(done)); })"
        )
        assert np.abs(np.array(chromium.evaluate(lines)) - first).max() > 1.0
    finally:
        chromium.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
