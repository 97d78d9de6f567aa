"""Still pictures: of systems that compile, of those that do not, and in notebooks."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import GALLERY, chain, slider_crank
from haugmbd.viewer.mechanism import of_model
from joints import RJ


def scene_of(page):
    return json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture
def open_joint():
    """A pendulum of two bars whose second hinge is open by 0.2 m, and a body of no mass."""
    system = mbd.System("open")
    first = system.add(mbd.Body("first", 1.0, (0.01, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    second = system.add(mbd.Body("second", 1.0, (0.01, 0.1, 0.1), r=(1.5, 0.0, 0.2)))
    system.add(RJ("A", system.ground, first, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(
        RJ.from_vectors("B", first, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), second, (-0.5, 0.0, 0.0), (0.0, 1.0, 0.0))
    )
    system.add(mbd.Body("bad", -1.0, (1.0, 1.0, 1.0)))
    return system


def test_the_joint_that_does_not_close_is_marked_and_faults_are_listed(open_joint):
    picture = mbd.picture(open_joint)
    joints = {joint["name"]: joint for joint in scene_of(picture.html)["joints"]}
    assert joints["B"]["mark"] == "fault"
    assert "0.2 m" in joints["B"]["said"]
    assert "mark" not in joints["A"]
    assert any("mass is -1.0 kg" in note for note in picture.notes)


def test_the_joints_of_a_locked_loop_are_marked():
    points = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.5), (1.0, 0.0, 0.8), (1.0, 0.0, 0.0)]
    system = mbd.System("locked")
    bodies = [system.ground]
    for k in range(3):
        middle = [0.5 * (a + b) for a, b in zip(points[k], points[k + 1], strict=True)]
        bodies.append(system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.1, 0.1), r=middle)))
    for k, axis in enumerate([(0.0, 1.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.3), (0.0, 1.0, 0.0)]):
        system.add(RJ("ABCD"[k], bodies[k], bodies[(k + 1) % 4], point=points[k], axis=axis))
    picture = mbd.picture(system)
    scene = scene_of(picture.html)
    assert {joint["name"]: joint.get("mark") for joint in scene["joints"]} == dict.fromkeys("ABCD", "locked")
    (outline,) = scene["outlines"]
    ends = {joint["name"]: {joint["i"], joint["j"]} for joint in scene["joints"]}
    assert sorted(outline) == list("ABCD")
    assert all(ends[a] & ends[b] for a, b in zip(outline, outline[1:] + outline[:1], strict=True))
    assert any("locked" in note for note in picture.notes)


@pytest.mark.slow
@pytest.mark.parametrize("make", GALLERY, ids=lambda make: make.__name__)
def test_every_mechanism_of_the_gallery_can_be_pictured(make):
    scene = scene_of(make().show().html)
    assert all(body["shapes"] for body in scene["bodies"][1:])
    assert "general" not in {joint["glyph"] for joint in scene["joints"]}


@pytest.mark.slow
def test_a_notebook_shows_a_frame_and_a_table(open_joint):
    result = mbd.simulate(slider_crank(), 0.05, h=1e-3)
    reduced = mbd.simulate(mbd.random_chain(3, seed=1), 0.05, h=1e-2)
    for shown in (open_joint, chain(2), chain(2).compile(), result, reduced):
        text = shown._repr_html_()
        assert text.count("<iframe srcdoc=") == 1
        assert text.count("<table>") == 1
    assert "<td>slider</td>" in result._repr_html_()


def test_a_system_without_a_body_in_place_can_be_pictured():
    """What is being written is seen from its first line on."""
    frame = mbd.System("frame", ground_shape=mbd.Box((1.0, 1.0, 0.1)))
    lost = mbd.System("lost")
    lost.add(mbd.Body("lost", 1.0, (1.0, 1.0, 1.0), p=(0.0, 0.0, 0.0, 0.0)))
    for system, shapes in ((mbd.System("empty"), 0), (frame, 1), (lost, 0)):
        scene = scene_of(system.show().html)
        assert [len(body["shapes"]) for body in scene["bodies"]] == [shapes]
        assert system.show().notes != ()


def test_what_cannot_be_pictured_is_refused():
    with pytest.raises(mbd.UsageError, match="give a System"):
        mbd.picture("pendulum")


def test_joint_springs_bushings_and_fluids_have_a_mark_where_they_act():
    """A ring or a body in the page's scene, on the bodies of the joint or at the shape."""
    system = mbd.System("marks")
    arm = system.add(mbd.Body("arm", 1.0, (1.0, 1.0, 1.0), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointSpring("spring", pin, k=1.0))
    system.add(mbd.Motor("motor", pin, torque=1.0))
    system.add(mbd.Bushing("mount", system.ground, arm, point=(2, 0, 0), K=(1.0,) * 6))
    system.add(mbd.Drag("air", arm, mbd.Sphere(0.1, center=(0.5, 0, 0)), density=1.0, coefficient=1.0))
    marks = {part.name: part for part in of_model(system.compile()).loads}
    assert {name: part.kind for name, part in marks.items()} == {
        "spring": "JointSpring",
        "motor": "Motor",
        "mount": "Bushing",
        "air": "Drag",
    }
    np.testing.assert_array_equal(marks["mount"].s_j, (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(marks["air"].s_j, (0.5, 0.0, 0.0))
    np.testing.assert_array_equal(marks["spring"].s_j, (-1.0, 0.0, 0.0))
