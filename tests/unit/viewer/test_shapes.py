"""What is drawn of bodies: found, given, or read from a file; in the page, in pictures, in glTF files, and after saving."""

from __future__ import annotations

import json
import re
import struct

import numpy as np
import pytest
from PIL import Image

import haugmbd as mbd
from haugmbd import inertia
from haugmbd.gallery import chain, pendulum
from haugmbd.viewer import animation
from haugmbd.viewer.animate import mechanism_of
from haugmbd.viewer.mechanism import of_model, of_system
from haugmbd.viewer.scene import size_of
from haugmbd.viewer.shapes import nearest_line, rod_radius, shapes_of, unit_mesh
from joints import RJ, Gear

POSE = 2e-6
"""What the page promises of a pose [m]."""


def scene_of(page):
    return json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)[1])


def drawn(system):
    """The shapes of each body, by name."""
    mechanism = of_system(system)
    shapes = shapes_of(mechanism, size_of(mechanism, mechanism.r, mechanism.p))
    return dict(zip(mechanism.bodies, shapes, strict=True))


def hung(name, mass, J_bar, below, **options):
    """A body on a pin at the origin, its centre of mass `below` it."""
    system = mbd.System(name, gravity=(0.0, 0.0, -9.81))
    body = system.add(mbd.Body("body", mass, J_bar, r=(0.0, 0.0, -below), **options))
    system.add(RJ("pin", system.ground, body, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system


@pytest.fixture(scope="module")
def ball(tmp_path_factory):
    """A mesh file in millimetres: a ball of 0.2 m, not in the middle."""
    vertices, triangles = unit_mesh("sphere")
    corners = (200.0 * vertices + [0.0, 0.0, 30.0])[triangles]
    path = tmp_path_factory.mktemp("meshes") / "ball.stl"
    facets = [struct.pack("<12fH", 0.0, 0.0, 0.0, *corner.ravel(), 0) for corner in corners]
    path.write_bytes(b"ball".ljust(80) + struct.pack("<I", len(facets)) + b"".join(facets))
    return path


@pytest.fixture(scope="module")
def meshed(ball):
    """A pendulum of a ball from a file, green, and a free body that shows the same file, a cone and what it would show anyway."""
    system = hung("meshed", 1.0, (0.01, 0.01, 0.01), 0.5, shape=mbd.Mesh(ball, scale=1e-3, color="#00aa00"))
    also = [..., mbd.Mesh(ball, scale=5e-4, p=(0.5, 0.5, 0.5, 0.5)), mbd.Cone(0.1, 0.2, center=(0.0, 0.0, 0.3))]
    system.add(mbd.Body("free", *inertia.tube(0.1, 0.08, 0.3, mass=1.0), r=(0.6, 0.0, -0.5), omega_bar=(0, 5, 0), shape=also))
    return mbd.simulate(system, 0.5, h=1e-2)


def test_a_solid_that_holds_its_joints_is_drawn_alone_and_one_that_does_not_on_a_stick():
    (bar,) = drawn(hung("bar", *inertia.box((0.05, 0.05, 1.0), mass=1.0), 0.5))["body"]
    assert (bar.kind, bar.size.tolist()) == ("box", [0.05, 0.05, 1.0])
    stick, bob = drawn(hung("bob", *inertia.sphere(0.1, mass=1.0), 1.0))["body"]
    assert (bob.kind, bob.size.tolist()) == ("sphere", [0.2, 0.2, 0.2])
    assert stick.size[2] == pytest.approx(1.0)


def test_a_given_shape_is_drawn_alone_and_nothing_where_nothing_is_wished():
    solid = inertia.sphere(0.1, mass=1.0)
    (box,) = drawn(hung("box", *solid, 1.0, shape=mbd.Box((0.1, 0.2, 0.3), center=(0.0, 0.0, 0.1))))["body"]
    assert box.r.tolist() == [0.0, 0.0, 0.1]
    assert drawn(hung("none", *solid, 1.0, shape=()))["body"] == ()
    both = drawn(hung("both", *solid, 1.0, shape=[mbd.Cone(0.1, 0.2), ...]))["body"]
    assert [shape.kind for shape in both] == ["cone", "cylinder", "sphere"]


def test_what_has_no_thickness_can_be_seen_and_what_would_hide_joints_is_translucent():
    rod = drawn(hung("rod", *inertia.rod(1.0, mass=1.0, axis=(0, 0, 1)), 0.5))["body"][0]
    plate = drawn(hung("plate", *inertia.plate((0.4, 1.0), mass=1.0), 0.5))["body"][-1]
    assert rod.size.min() > 0.0
    assert plate.size.min() > 0.0
    assert not rod.clear
    (block,) = drawn(hung("block", *inertia.box((0.5, 0.5, 1.0), mass=1.0), 0.4))["body"]
    assert block.clear


def test_the_ground_has_the_shapes_that_it_is_given():
    system = hung("frame", 1.0, (0.1, 0.1, 0.1), 0.5)
    assert drawn(system)["ground"] == ()
    framed = mbd.System("frame", ground_shape=mbd.Box((1.0, 1.0, 0.02), center=(0.0, 0.0, -1.0)))
    framed.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1)))
    assert drawn(framed)["ground"][0].size.tolist() == [1.0, 1.0, 0.02]
    assert mbd.simulate(framed, 0.1, h=0.05).model.bodies[0].shape[0].edges.tolist() == [1.0, 1.0, 0.02]


def test_sticks_and_glyphs_are_small_where_joints_are_close():
    def relative(system):
        mechanism = of_system(system)
        size = size_of(mechanism, mechanism.r, mechanism.p)
        return rod_radius(mechanism, size) / size

    assert relative(chain(40)) < 0.5 * relative(chain(4))


def test_bearings_and_gears_of_what_is_not_drawn_are_not_drawn():
    """They stood as dots in the air: such as those of the rotors that stand for an armature of a robot's joints."""
    system = mbd.System("motor", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.1), r=(0, 1, 0), shape=()))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    bearing = system.add(RJ("bearing", system.ground, rotor, point=(0, 1, 0), axis=(0, 1, 0)))
    system.add(Gear("gear", pin, bearing, ratio=10.0))
    for mechanism in (of_system(system), of_model(system.compile())):
        assert {joint.name: joint.placed for joint in mechanism.joints} == {"pin": True, "bearing": False, "gear": False}
    assert scene_of(mbd.picture(system).html)["joints"][1]["glyph"] == "none"


@pytest.mark.slow
def test_a_mesh_is_stored_once_however_many_bodies_show_it(ball):
    def page(n):
        system = mbd.System("many")
        for k in range(n):
            system.add(mbd.Body(f"ball {k}", 1.0, (0.01, 0.01, 0.01), r=(0.5 * k, 0.0, 0.0), shape=mbd.Mesh(ball, scale=1e-3)))
        return mbd.picture(system).html

    assert len(scene_of(page(5))["meshes"]) == 1
    each = (len(page(25)) - len(page(5))) / 20.0
    assert each < 700.0 < ball.stat().st_size  # bytes: names, pose and the number of the mesh


def test_too_many_triangles_for_a_page_are_refused(meshed, monkeypatch):
    monkeypatch.setattr("haugmbd.viewer.packing.MOST_TRIANGLES", 100)
    with pytest.raises(mbd.UsageError, match="more than 100 triangles together"):
        animation(meshed)


def test_saved_results_are_loaded_into_a_model_with_other_shapes(meshed, tmp_path):
    path = meshed.save(tmp_path / "run.npz")
    plain = hung("meshed", 1.0, (0.01, 0.01, 0.01), 0.5)
    plain.add(mbd.Body("free", *inertia.tube(0.1, 0.08, 0.3, mass=1.0), r=(0.6, 0.0, -0.5), omega_bar=(0, 5, 0)))
    loaded = mbd.load(path, model=plain.compile())
    np.testing.assert_array_equal(loaded.r, meshed.r)
    assert len(scene_of(animation(meshed))["meshes"]) == 1
    assert scene_of(animation(loaded))["meshes"] == []


@pytest.mark.slow
def test_pictures_show_colours(meshed, tmp_path):
    with Image.open(meshed.snapshot(0.2, tmp_path / "ball.png")) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=float)
    green = (pixels[..., 1] > 1.6 * pixels[..., 0]) & (pixels[..., 1] > 1.6 * pixels[..., 2])
    assert green.sum() > 500


def test_a_gltf_file_has_every_mesh_once(meshed, tmp_path):
    data = meshed.to_gltf(tmp_path / "x.glb").read_bytes()
    content = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    of_file = {
        k: mesh["primitives"][0]["attributes"]["POSITION"]
        for k, mesh in enumerate(content["meshes"])
        if "NORMAL" not in mesh["primitives"][0]["attributes"]
    }
    assert len(of_file) == 2  # in two colours
    assert len(set(of_file.values())) == 1
    assert sorted(node["scale"][0] for node in content["nodes"] if node.get("mesh") in of_file) == pytest.approx([5e-4, 1e-3])


def corners(browser, k, mesh):
    """The vertices of mesh `mesh` of body k as they are in the scene, global."""
    return np.array(
        browser.evaluate(
            f"(() => {{ const g = player.world.bodies[{k}].group, m = g.children.filter((c) => c.userData.body === {k} &&"
            f" c.geometry && c.geometry.index && c.geometry.index.array instanceof Uint32Array)[{mesh}];"
            " const a = m.geometry.attributes.position;"
            " m.updateWorldMatrix(true, false); return Array.from({ length: a.count }, (_, i) =>"
            " new THREE.Vector3().fromBufferAttribute(a, i).applyMatrix4(m.matrixWorld).toArray()); })()"
        )
    )


@pytest.mark.slow
def test_the_page_draws_the_mesh_where_it_is(chromium, meshed, tmp_path):
    chromium.open(f"{meshed.animate(tmp_path / 'mesh.html', other=meshed).as_uri()}#t=0")
    t = float(meshed.t[30])
    chromium.evaluate(f"mechanism.seek({t!r})")
    for k, (name, number) in enumerate((("body", 0), ("free", 1)), start=1):
        shape = meshed.model.bodies[k].shape[number]
        A = mechanism_rotation(meshed[name].p[30]) @ mechanism_rotation(shape.p)
        center = meshed[name].r[30] + mechanism_rotation(meshed[name].p[30]) @ shape.center
        expected = center + shape.vertices @ A.T
        found = corners(chromium, k, 0)
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= POSE + shape.size.max() / 65536.0
    shared = (
        "new Set(player.world.bodies.flatMap(({ group }) => group.children.map((c) => c.geometry)).filter((g) => g && g.index &&"
    )
    assert chromium.evaluate(f"{shared} g.index.array instanceof Uint32Array)).size") == 1
    kinds = "player.world.bodies[2].group.children.filter((c) => c.userData.body === 2).map((c) => c.geometry.type)"
    assert chromium.evaluate(kinds) == ["BufferGeometry", "BufferGeometry", "ConeGeometry"]  # tube, mesh, cone


def mechanism_rotation(p):
    """The rotation matrix of Euler parameters, by SciPy."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(np.roll(p, -1)).as_matrix()


@pytest.mark.slow
def test_without_webgl_the_box_around_a_mesh_is_drawn(chromium, meshed, tmp_path):
    lack = "HTMLCanvasElement.prototype.getContext = () => null;"
    script = chromium.send("Page.addScriptToEvaluateOnNewDocument", source=lack)["identifier"]
    try:
        chromium.open(f"{meshed.animate(tmp_path / 'flat.html').as_uri()}#t=0.2")
        chromium.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert chromium.evaluate("document.querySelector('#flat polyline').getAttribute('points').split(' ').length") == 16
        assert chromium.evaluate("document.querySelectorAll('#flat line').length") == 4  # the axes and gravity
    finally:
        chromium.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


@pytest.mark.slow
def test_every_body_of_the_gallery_keeps_its_solid():
    bar = drawn(pendulum())["bar"]
    assert [shape.kind for shape in bar] == ["box"]
    result = mbd.simulate(pendulum(), 0.05, h=1e-2)
    assert mechanism_of(result).bodies == ("ground", "bar")


def test_the_line_between_points_that_is_nearest_to_the_centre(rng):
    """Of each pair by itself, as the least of |a + s (b - a)| over 0 <= s <= 1."""
    for n in (2, 3, 7):
        points = rng.normal(size=(n, 3)) + 1.0
        s = np.linspace(0.0, 1.0, 2001)[:, None]
        least = min(np.linalg.norm(a + s * (b - a), axis=1).min() for k, a in enumerate(points) for b in points[:k])
        assert nearest_line(points) == pytest.approx(least, abs=1e-3)
        assert nearest_line(points) <= least + 1e-12
