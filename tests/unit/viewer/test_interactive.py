"""A page that simulates: its numbers are those of the models that sliders stand for, and its motion is that of `simulate`."""

from __future__ import annotations

import base64
import itertools
import json
import zlib

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery, interactive
from haugmbd.engine.blob import blob_of_model
from haugmbd.engine.host import library_for
from haugmbd.gallery import double_pendulum, four_bar
from haugmbd.interactive import apart
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.sensitivity.parameters import driver_constants, varied_model
from haugmbd.viewer.animate import _read
from joints import RJ

STEPS = 1000
SAME = 1e-8
"""Largest difference from `simulate` after a second, of the size of the mechanism: the engine's rounding, grown by the motion."""


def has_engine(*names):
    """Whether one of these libraries is built."""
    for name in names:
        try:
            return bool(library_for(name))
        except mbd.UsageError:
            continue
    return False


needs_engine = pytest.mark.skipif(not has_engine(*interactive.ENGINES), reason="no engine for pages is built: make engine")
needs_blocks = pytest.mark.skipif(not has_engine("wasm32_blocks", "wasm32"), reason="no engine of blocks is built: make engine")


def pendulum(length=0.5, mass=2.0, angle=0.4):
    """Return a rod on a pin, whose length moves its centre and changes its inertia, and whose angle turns it."""
    system = mbd.System("rod", gravity=(0.0, 0.0, -9.81))
    J = mass * length**2 / 12.0
    rod = system.add(
        mbd.Body(
            "rod",
            mass,
            (J, J, 1e-3),
            r=(0.5 * length * np.sin(angle), 0.0, -0.5 * length * np.cos(angle)),
            p=(np.cos(0.5 * angle), 0.0, -np.sin(0.5 * angle), 0.0),
        )
    )
    system.add(RJ("pin", system.ground, rod, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system


@pytest.mark.slow
def test_the_numbers_of_all_sliders_are_those_of_the_models():
    sliders = interactive._sliders(pendulum, {"length": (0.5, 0.3, 0.9), "mass": (2.0, 1.0, 4.0)})
    build, models = models_of(pendulum, sliders)
    nominal = models.nominal
    numbers, table = interactive._fitted(models, sliders)
    assert {kind for kind, _ in numbers} >= {0, 2}
    for length, mass in itertools.product((0.31, 0.55, 0.9), (1.0, 3.3)):
        model = varied_model(build({"length": length, "mass": mass}).system, nominal)
        right = [(model.tables.reals, driver_constants(model).ravel(), model.y0)[kind][place] for kind, place in numbers]
        x = [2.0 * (length - 0.6) / 0.6, 2.0 * (mass - 2.5) / 3.0]
        assert interactive.value_at(table, x) == pytest.approx(np.array(right), abs=1e-10)


@pytest.mark.parametrize(
    ("system", "live", "told"),
    [
        (four_bar(), ["crnk.mass"], "crnk.mass"),
        (four_bar(), ["gravity"], r"gravity.*\(3,\).*'gravity\[0\]'"),
        (four_bar(), {"gravity[2]": (0.0, 5.0)}, "'gravity\\[2\\]' has the value -9.8.* and the range 0 to 5"),
        (four_bar(), {"gravity[2]": (1.0,)}, r"'gravity\[2\]' has the range"),
        (pendulum, {"length": (0.3, 0.9)}, "'length' is an argument of a function and needs its value"),
    ],
)
def test_sliders_that_are_none_are_told(system, live, told):
    with pytest.raises(mbd.UsageError, match=told):
        interactive._sliders(system, live)


def models_of(system, sliders):
    """The builder, and the models of sliders, as a page has them."""
    p = mbd.Parameters({slider.name: slider.value for slider in sliders})
    build = interactive._with_handles(interactive._builder(system, p))
    return build, interactive._Models(build, interactive.page_model(build(dict(p)).system), sliders)


def lever(length=0.4):
    """Return a four-bar whose crank and coupler depend on its length, closed for each."""
    A, D = np.zeros(3), np.array([1.0, 0.0, 0.0])
    B = np.array([0.0, 0.0, length])
    C = np.array([0.9, 0.0, 0.7])
    system = mbd.System("lever", gravity=(0.0, 0.0, -9.81))
    bars = [
        system.add(mbd.Body(name, 1.0, (0.02, 0.02, 1e-3), r=0.5 * (P + Q)))
        for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", C, D))
    ]
    for name, i, j, point in (
        ("A", system.ground, bars[0], A),
        ("B", bars[0], bars[1], B),
        ("C", bars[1], bars[2], C),
        ("D", system.ground, bars[2], D),
    ):
        system.add(RJ(name, i, j, point=tuple(point), axis=(0.0, 1.0, 0.0)))
    return system


def open_lever(length=0.4):
    """Return the same mechanism in the pose of a crank of 0.4 m, with another length: open, until it is assembled."""
    closed = lever(0.4)
    system = mbd.System("lever", gravity=(0.0, 0.0, -9.81))
    bodies = [system.ground, *(system.add(mbd.Body(b.name, b.mass, (0.02, 0.02, 1e-3), r=b.r)) for b in closed.bodies[1:])]
    for joint in closed.joints:
        i, j = (next(k for k, body in enumerate(closed.bodies) if body is own) for own in (joint.i, joint.j))
        s_i, s_j = (np.array(frame.s_bar) for frame in (joint.frame_i, joint.frame_j))
        if joint.name == "B":
            s_i = np.array([0.0, 0.0, length - 0.2])
        system.add(RJ.from_vectors(joint.name, bodies[i], s_i, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), bodies[j], s_j, (0.0, 1.0, 0.0)))
    return system


@pytest.mark.parametrize("make", [pendulum, lever])
def test_what_is_drawn_follows_the_sliders(make):
    """Points of joints as in the models, to what can be seen, and shapes; what no polynomial gives is drawn by sticks."""
    value, low, high = (0.5, 0.3, 0.9) if make is pendulum else (0.4, 0.3, 0.6)
    sliders = interactive._sliders(make, {"length": (value, low, high)})
    build, models = models_of(make, sliders)
    assert interactive._moves_points(models, sliders)
    picture = interactive._picture(models, sliders)
    table = np.frombuffer(zlib.decompress(base64.b64decode(picture["coefficients"])), "<f4").astype(float)
    table = table.reshape(picture["degrees"][0] + 1, -1)
    meshes = interactive.MeshTable(interactive.Packer())
    for u in (-0.77, 0.1, 0.95):
        numbers = interactive.value_at(table, [u])
        drawn = interactive._drawn(models([u]), picture["size"], meshes)
        _, points = interactive._leaves(drawn[0])
        assert np.abs(np.abs(numbers[: len(points)]) - np.abs(points)).max() < 10.0 * interactive.DRAWN
        rest = [
            np.abs(interactive._leaves(body)[1])
            for body, part in zip(drawn[1:], picture["parts"][1:], strict=True)
            if part is not None
        ]
        assert (
            np.abs(np.abs(numbers[len(points) :]) - np.concatenate([np.zeros(0), *rest])).max(initial=0.0) < 10.0 * interactive.SEEN
        )


def test_a_mass_moves_no_points():
    sliders = interactive._sliders(four_bar(), ["crank.mass", "gravity[2]"])
    build, models = models_of(four_bar(), sliders)
    assert not interactive._moves_points(models, sliders)


def test_a_range_that_cannot_be_built_is_told():
    sliders = interactive._sliders(pendulum, {"mass": (2.0, -1.0, 4.0)})
    build, models = models_of(pendulum, sliders)
    with pytest.raises(mbd.UsageError, match="cannot be built at mass = -"):
        interactive._fitted(models, sliders)


@needs_engine
@pytest.mark.slow
def test_lengths_move_the_page_as_simulate_does(chromium, tmp_path):
    page = interactive.live(lever, tmp_path / "lever.html", {"length": (0.4, 0.3, 0.6)})
    chromium.open(page.as_uri())
    chromium.evaluate("player.pause()")
    for length in (0.4, 0.57, 0.33):
        assert chromium.evaluate(f"live.set('length', {length})") is True
        assert chromium.evaluate(f"live.steps({STEPS})") is True
        right = mbd.simulate(lever(length), STEPS * 1e-3, h=1e-3)
        assert np.abs(np.array(chromium.evaluate("live.state")) - right.y[-1]).max() < SAME
        B = np.array(
            chromium.evaluate(
                "(() => { const w = player.world, j = w.joints.find((one) => one.name === 'B'); return w.now(j.i, j.s_i).toArray(); })()"
            )
        )
        crank = right["crank"]
        wanted = crank.r[-1] + rotation_matrix(crank.p[-1]) @ np.array([0.0, 0.0, 0.5 * length])
        assert np.abs(B - wanted).max() < 1e-6


@needs_engine
@pytest.mark.slow
def test_a_length_that_opens_the_loop_is_closed_on_its_branch_or_told(chromium, tmp_path):
    """An open pose is closed in the page as `assemble` closes it; one that cannot be closed leaves the last that can, with a word."""
    page = interactive.live(open_lever, tmp_path / "lever.html", {"length": (0.4, 0.1, 3.0)})
    chromium.open(page.as_uri())
    chromium.evaluate("player.pause()")
    assert chromium.evaluate("live.set('length', 0.55)") is True
    assert chromium.evaluate("live.violation") < 1e-9
    y = np.array(chromium.evaluate("live.state"))
    model = open_lever(0.55).compile(check_pose=False)
    assembled = mbd.assemble(model)
    crank = np.array(y[13:16]) - np.array(assembled.state.r)[1]
    assert np.abs(crank).max() < 0.1  # the same branch; where the free motion stands is a choice
    assert chromium.evaluate("live.set('length', 2.9)") is False
    assert "cannot be closed with length = 2.9" in chromium.evaluate("live.said")
    stays = chromium.evaluate("live.values.length")
    assert 0.55 < stays < 2.9
    assert chromium.evaluate("live.violation") < 1e-9
    assert chromium.evaluate("live.set('length', 0.4)") is True
    assert chromium.evaluate("live.said") == ""


@needs_engine
@pytest.mark.slow
def test_the_pointer_drags_a_body_and_lets_it_go(chromium, tmp_path):
    page = four_bar().live(tmp_path / "x.html")
    chromium.open(page.as_uri())
    chromium.evaluate("player.pause(); live.reset()")
    energy = chromium.evaluate("live.energy")
    chromium.evaluate("live.hold('crank', [0, 0, 0], [1, 0, 3]); live.pass(0.2)")
    assert chromium.evaluate("live.said") == ""
    assert abs(chromium.evaluate("live.energy") - energy) > 1e-3
    chromium.evaluate("live.let()")
    energy = chromium.evaluate("live.energy")
    chromium.evaluate("live.steps(200)")
    assert chromium.evaluate("live.energy") == pytest.approx(energy, rel=1e-5)


@needs_engine
@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [lambda: gallery.chain(20), gallery.jansen_leg, gallery.planetary_gear], ids=["20 bodies", "redundant rows", "gears"]
)
def test_a_page_is_small_beside_three_js(tmp_path, make):
    text = make().live(tmp_path / "x.html", ["gravity[2]"]).read_text()
    assert len(text) - len(_read("bundle", "three.min.js")) <= 260_000


@pytest.mark.slow
def test_the_page_reads_what_python_writes_in_base_85(chromium):
    """Bytes of every length beside a word, of any content; and no letter that HTML or JSON reads in another way."""
    rng = np.random.default_rng(0)
    contents = [bytes(rng.integers(0, 256, n, dtype=np.uint8)) for n in (*range(12), 4097)] + [b"\0" * 65537, b"\xff" * 5]
    texts = [interactive._dense(content) for content in contents]
    assert not set("".join(texts)) & set("<>&\"'\\")
    read = f"(async () => {{ {_read('static', 'data.js')}; const found = []; "
    read += f"for (const text of {json.dumps(texts)}) found.push([...(await unpack(` ${{text}}\n`))]); return found; }})()"
    assert [bytes(found) for found in chromium.evaluate(read)] == contents


@pytest.mark.parametrize("name", ["four_bar", "peaucellier"])
def test_a_blob_comes_back_from_its_difference_to_another(name):
    """Of another stabilization: other arrays, and some of another size."""
    model, method = getattr(gallery, name)().compile(), mbd.RK4(h=1e-3)
    rules = (mbd.Projection(), mbd.Baumgarte.critical(0.02), None)
    first, *others = (blob_of_model(model, h=1e-3, integrator=method, stabilization=rule).bytes() for rule in rules)
    before = np.frombuffer(first, dtype="<u4")
    for blob in others:
        pieces, data = apart(blob, first)
        found = np.frombuffer(data, dtype="<u4").copy()
        for k, (start, shift) in enumerate(pieces):
            end = pieces[k + 1][0] if k + 1 < len(pieces) else found.size
            there = np.arange(start, end) + shift
            inside = (there >= 0) & (there < before.size)
            found[start:end][inside] += before[there[inside]]
        assert found.tobytes() == blob
        assert np.count_nonzero(np.frombuffer(data, dtype="<u4")) < 0.2 * found.size


@needs_engine
@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(390, 780), (1280, 720)])
def test_the_panel_covers_no_joint(chromium, tmp_path, width, height):
    """All joints stand below the panel of a phone, and beside that of a wide window."""
    chromium.resize(width, height, mobile=width < height)
    try:
        chromium.open(four_bar().live(tmp_path / "x.html", ["gravity[2]"]).as_uri())
        seen = chromium.evaluate("""(() => {
          player.pause(); const w = player.world, box = document.getElementById("lab").getBoundingClientRect();
          const at = w.joints.map((j) => { const p = w.now(j.i, j.s_i).clone().project(w.camera);
            return [0.5 * (1 + p.x) * innerWidth, 0.5 * (1 - p.y) * innerHeight]; });
          return { at, right: box.right, bottom: box.bottom };
        })()""")
    finally:
        chromium.resize(1280, 720)
    assert len(seen["at"]) == len(four_bar().joints)
    for x, y in seen["at"]:
        assert 0 <= x <= width
        assert 0 <= y <= height
        assert y > seen["bottom"] if width < height else x > seen["right"]


@needs_blocks
@pytest.mark.slow
def test_a_page_with_stops_takes_the_engine_of_blocks_and_moves_as_a_stepper(chromium, tmp_path):
    def make():
        system = pendulum()
        system.add(mbd.JointLimit("stop", system.joints[0], lower=-1.0, upper=0.2, k=1e3, c=2.0))
        return system

    chromium.open(interactive.live(make(), tmp_path / "stop.html", ["gravity[2]"]).as_uri())
    chromium.evaluate("player.pause()")
    chromium.evaluate("live.reset()")
    assert chromium.evaluate("live.steps(600)") is True
    stepper = mbd.Stepper(make(), h=1e-3)
    for _ in range(600):
        stepper.step()
    found = np.array(chromium.evaluate("live.state"))
    assert np.abs(found[:26] - stepper.state.y[:26]).max() < SAME


@needs_engine
@pytest.mark.slow
def test_sliders_move_the_page_as_simulate_does(chromium, tmp_path):
    page = interactive.live(pendulum, tmp_path / "rod.html", {"angle": (0.4, 0.1, 1.4), "mass": (2.0, 1.0, 4.0)})
    chromium.open(page.as_uri())
    chromium.evaluate("player.pause()")
    for angle, mass in ((0.4, 2.0), (1.23, 3.1)):
        chromium.evaluate(f"live.set('angle', {angle}); live.set('mass', {mass}); live.reset()")
        assert chromium.evaluate(f"live.steps({STEPS})") is True
        right = mbd.simulate(pendulum(angle=angle, mass=mass), STEPS * 1e-3, h=1e-3)
        assert np.abs(np.array(chromium.evaluate("live.state")) - right.y[-1]).max() < SAME
    assert chromium.evaluate("live.violation") < 1e-12
    told = "(() => { try { live.set('mass', 4.5); } catch (error) { return error.message; } })()"
    assert "outside its range" in chromium.evaluate(told)
    assert chromium.evaluate("live.values.mass") == 3.1


@needs_engine
@pytest.mark.slow
def test_drift_is_seen_where_nothing_stabilizes(chromium, tmp_path):
    system = double_pendulum()
    page = system.live(tmp_path / "double.html", {"gravity[2]": (-20.0, 0.0)})
    chromium.open(page.as_uri())
    chromium.evaluate("player.pause(); live.choose('none'); live.reset()")
    chromium.evaluate(f"live.steps({STEPS})")
    right = mbd.simulate(system, STEPS * 1e-3, h=1e-3, stabilization=None)
    assert chromium.evaluate("live.violation") == pytest.approx(np.abs(right.violation("position")).max(axis=1)[-1], rel=1e-3)
    with pytest.raises(Exception, match="there is no slider"):
        chromium.evaluate("live.set('gravty', 1)")


def test_a_page_without_an_engine_says_how_to_get_one(tmp_path, monkeypatch):
    def missing(target):
        raise mbd.UsageError(f"the engine has no library for {target!r}: none was built. Build it: make engine.")

    monkeypatch.setattr(interactive, "library_for", missing)
    with pytest.raises(mbd.UsageError, match="make engine"):
        four_bar().live(tmp_path / "x.html")
    with pytest.raises(mbd.UsageError, match="frames"):
        mbd.simulate(four_bar(), 0.1, h=1e-2).animate(tmp_path / "x.html", live=["gravity[2]"], frames=3)
