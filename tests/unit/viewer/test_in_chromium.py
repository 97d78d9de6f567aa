"""The animation page in a real browser, from file://, without a network."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum, slider_crank
from joints import RJ, Distance
from tests.support.with_contacts import simulate_with

COMPLAINTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
POSE = 2e-6
"""What the page promises of a pose [m] and [1]."""


@pytest.fixture(scope="module")
def crank():
    return mbd.simulate(slider_crank(driven=True), 1.0, h=2e-3)


@pytest.fixture
def page(chromium, crank, tmp_path):
    """The page of the slider-crank, paused at its start; afterwards, that it has complained of nothing and asked for nothing."""
    path = crank.animate(tmp_path / "crank.html")
    chromium.events.clear()
    chromium.open(f"{path.as_uri()}#t=0")
    yield chromium
    chromium.evaluate("1")
    assert [event for event in chromium.events if event["method"] in COMPLAINTS] == []
    asked = [event["params"]["request"]["url"] for event in chromium.events if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def gap(browser, result, name, k):
    """How far the drawn pose of a body is from state k."""
    drawn = browser.evaluate(f"(mechanism.seek({float(result.t[k])!r}), mechanism.pose({name!r}))")
    history = result[name]
    return max(abs(np.array(drawn["r"]) - history.r[k]).max(), abs(np.array(drawn["p"]) - history.p[k]).max())


@pytest.mark.slow
def test_poses_in_the_scene_are_those_of_the_states(page, crank):
    assert page.evaluate("mechanism.names()") == {
        "bodies": ["ground", "crank", "rod", "slider"],
        "joints": ["R", "S", "U", "T", "drive"],
    }
    assert page.evaluate("[mechanism.t0, mechanism.t1]") == [0.0, 1.0]
    worst = max(gap(page, crank, name, k) for name in ("crank", "rod", "slider") for k in (0, 77, 250, 499, 500))
    assert worst <= POSE
    assert page.evaluate("mechanism.pose('ground')") == {"r": [0, 0, 0], "p": [1, 0, 0, 0]}


@pytest.mark.slow
def test_it_plays_pauses_and_seeks_exactly(page):
    assert page.evaluate("mechanism.playing") is False
    advanced = page.evaluate(
        "(mechanism.seek(0.25), mechanism.play(), new Promise((done) => {"
        " const look = () => mechanism.time > 0.25 ? done(mechanism.playing) : requestAnimationFrame(look); look(); }))"
    )
    assert advanced is True
    page.evaluate("mechanism.pause()")
    for t in (0.123456789012345, 0.0, 1.0):
        assert page.evaluate(f"(mechanism.seek({t!r}), mechanism.time)") == t
    assert page.evaluate("(mechanism.seek(7.5), mechanism.time)") == 1.0
    page.key(" ", "Space")
    assert page.evaluate("mechanism.playing") is True
    page.key(" ", "Space")
    assert page.evaluate("mechanism.playing") is False


@pytest.mark.slow
def test_a_click_names_what_is_there(page):
    page.evaluate("mechanism.seek(0.1)")
    for name in ("T", "S", "rod", "drive"):
        page.click(*page.evaluate(f"mechanism.screen({name!r})"))
        assert page.evaluate("mechanism.selected") == name
    page.click(3, 300)
    assert page.evaluate("mechanism.selected") is None


@pytest.mark.slow
@pytest.mark.parametrize("call", ["pose('slidr')", "screen('slidr')"])
def test_an_unknown_name_is_answered_with_the_nearest(page, call):
    with pytest.raises(mbd.HaugmbdError, match="Did you mean 'slider'"):
        page.evaluate(f"mechanism.{call}")


@pytest.mark.slow
def test_the_address_seeks_and_pauses(chromium, tmp_path):
    path = mbd.simulate(pendulum(), 2.0, h=1e-2).animate(tmp_path / "with space.html")
    chromium.open(f"{path.as_uri()}#t=0.75")
    assert chromium.evaluate("[mechanism.time, mechanism.playing]") == [0.75, False]
    chromium.evaluate("location.hash = '#t=1.25'; new Promise((done) => setTimeout(done, 50))")
    assert chromium.evaluate("[mechanism.time, mechanism.playing]") == [1.25, False]


@pytest.mark.slow
def test_a_selection_shows_its_curves_and_another_click_those_of_the_next(page):
    page.evaluate("mechanism.seek(0.1)")
    titles = "[...document.querySelectorAll('#plots .head span')].map((one) => one.textContent)"
    page.click(*page.evaluate("mechanism.screen('R')"))
    assert page.evaluate(titles) == ["angle [rad]", "force on crank [N]", "torque on crank [N m]", "violation, position level"]
    page.evaluate("mechanism.seek(0.25)")
    shown = page.evaluate("document.querySelector('#plots .legend').textContent")
    assert float(shown.split()[1]) == pytest.approx(np.pi / 2.0, abs=2e-3)  # the drive is 2 pi t
    page.key("Escape")
    assert page.evaluate("document.getElementById('panel').hidden") is True


@pytest.mark.slow
def test_reactions_are_arrows_along_the_force(page, crank):
    k = 100
    page.key("f")
    drawn = page.evaluate(
        f"(mechanism.seek({float(crank.t[k])!r}), player.world.arrows.map(({{force}}) => force.visible &&"
        " new THREE.Vector3(0, 0, 1).applyQuaternion(force.quaternion).toArray()))"
    )
    page.key("f")
    for name, direction in zip(crank.model.joints, drawn, strict=True):
        force = crank.reaction(name).force[k]
        if direction:
            np.testing.assert_allclose(direction, force / np.linalg.norm(force), atol=0.05)  # curves have a 16000th of their range
    assert sum(bool(direction) for direction in drawn) >= 3


def test_arrows_are_seen_through_bodies_and_their_lengths_are_linear_logarithmic_or_of_each_joint(page, crank):
    """Of the largest force: a part of it, its decades of four, or its part of the joint's own largest."""
    k, longest = 100, "0.3 * player.data.size"
    lengths = "player.world.arrows.map(({force}) => force.visible && force.heads[0].position.z + 0.5 * force.heads[0].scale.z)"
    page.key("f")
    assert page.evaluate(
        "player.world.arrows.every(({force}) => force.shafts.every((mesh) => !mesh.material.depthTest && mesh.renderOrder > 0))"
    )
    page.evaluate(f"mechanism.seek({float(crank.t[k])!r})")
    forces = {name: np.linalg.norm(crank.reaction(name).force, axis=1) for name in crank.model.joints}
    most = max(size.max() for size in forces.values())
    wanted = {
        "linear": lambda size: size[k] / most,
        "logarithmic": lambda size: 1.0 + np.log10(size[k] / most) / 4.0,
        "by joint": lambda size: size[k] / size.max(),
    }
    for scale, law in wanted.items():
        assert page.evaluate("player.scaling.textContent") == scale
        drawn = page.evaluate(f"{lengths}.map((x) => x && x / ({longest}))")
        for (name, size), part in zip(forces.items(), drawn, strict=True):
            if part:
                assert part == pytest.approx(law(size), rel=0.02, abs=0.01), (scale, name)
        page.key("s")
    assert page.evaluate("player.scaling.textContent") == "linear"
    page.key("f")
    assert page.evaluate("player.scaling.hidden")


@pytest.mark.slow
def test_a_second_run_is_a_ghost_of_its_own(chromium, tmp_path):
    first = mbd.simulate(pendulum(), 1.0, h=1e-2)
    late = mbd.simulate(pendulum(driven=True), 1.0, h=1e-2)
    path = first.animate(tmp_path / "both.html", other=late)
    chromium.open(f"{path.as_uri()}#t=0.5")
    ghost = chromium.evaluate("player.world.ghost.groups[1].position.toArray()")
    np.testing.assert_allclose(ghost, late["bar"].r[50], atol=POSE)
    assert gap(chromium, first, "bar", 50) <= POSE
    with pytest.raises(mbd.UsageError, match="no body in common"):
        first.animate(tmp_path / "x.html", other=mbd.simulate(slider_crank(), 0.1, h=1e-2))


@pytest.mark.slow
def test_without_webgl_there_is_a_sentence_and_a_drawing(chromium, crank, tmp_path):
    path = crank.animate(tmp_path / "flat.html")
    lack = "HTMLCanvasElement.prototype.getContext = () => null;"
    script = chromium.send("Page.addScriptToEvaluateOnNewDocument", source=lack)["identifier"]
    try:
        chromium.open(f"{path.as_uri()}#t=0.2")
        assert "no WebGL" in chromium.evaluate("document.getElementById('fallback').textContent")
        chromium.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert chromium.evaluate("document.querySelectorAll('#flat polyline').length") >= 3
        points = "document.querySelector('#flat polyline').getAttribute('points')"
        before = chromium.evaluate(points)
        assert chromium.evaluate(f"(mechanism.seek(0.4), {points})") != before
        assert gap(chromium, crank, "rod", 200) <= POSE
    finally:
        chromium.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


@pytest.mark.slow
def test_an_impact_stands_twice_and_the_state_after_is_shown(chromium, tmp_path):
    system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.004, 0.004, 0.004), r=(0.0, 0.0, 1.0), v=(0.5, 0.0, 0.0)))
    floor = mbd.Contact(
        "floor",
        system.ground,
        ball,
        point=(0.0, 0.0, 1.0),
        normal=(0.0, 0.0, 1.0),
        plane_point=(0.0, 0.0, 0.0),
        radius=0.1,
        restitution=0.7,
    )
    result = simulate_with(system, 1.0, contacts=[floor], h=1e-2)
    chromium.open(f"{result.animate(tmp_path / 'ball.html').as_uri()}#t=0")
    t = result.impacts[0].t
    for moment in (t, 0.0, 1.0):
        drawn = chromium.evaluate(f"(mechanism.seek({moment!r}), mechanism.pose('ball'))")
        k = int(np.searchsorted(result.t, moment, side="right")) - 1
        np.testing.assert_allclose(drawn["r"], result["ball"].r[k], atol=POSE)


@pytest.mark.slow
def test_a_large_motion_stays_small_and_plays(chromium, tmp_path):
    """200 bodies, 2000 frames."""
    system = mbd.System("flock", gravity=(0.0, 0.0, -9.81))
    for k in range(200):
        system.add(
            mbd.Body(
                f"body {k}", 1.0, (0.01, 0.02, 0.025), r=(k % 20, k // 20, 0.0), v=(0.1, 0.0, 9.0), omega_bar=(3.0, 0.1 * k, 1.0)
            )
        )
    result = mbd.simulate(system, 2.0, h=1e-3)
    path = result.animate(tmp_path / "flock.html", frames=2000)
    assert path.stat().st_size <= 10_000_000
    chromium.open(f"{path.as_uri()}#t=0")
    k = 1000
    drawn = chromium.evaluate(f"(mechanism.seek({float(result.t[k])!r}), mechanism.pose('body 123'))")
    np.testing.assert_allclose(drawn["r"], result["body 123"].r[k], atol=POSE)
    look = "const look = () => mechanism.time > 1.0 ? done(mechanism.playing) : requestAnimationFrame(look); look();"
    assert chromium.evaluate(f"(mechanism.play(), new Promise((done) => {{ {look} }}))") is True
    chromium.evaluate("mechanism.pause()")


@pytest.fixture(scope="module")
def switched():
    """A bar that leaves its pin for a spring at 0.2 s, and is gripped twice, from 0.5 s on and from 0.8 s on."""
    system = mbd.System("bar", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (1e-3, 1 / 6, 1 / 6), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(Distance("rod", system.ground, bar, point_i=(0, 0, 1), point_j=(0.5, 0, 0)), active=False)
    system.add(mbd.TSDA("spring", system.ground, bar, point_i=(0, 0, 1), point_j=(0.5, 0, 0), k=10.0, l0=1.0), active=False)
    at = {t: mbd.Event(f"at {t}", lambda time, state, t=t: time - t) for t in (0.2, 0.5, 0.7, 0.8)}
    events = [
        at[0.2].then(release="pin", lock="spring"),
        at[0.5].then(grip="rod"),
        at[0.7].then(release="rod"),
        at[0.8].then(grip="rod"),
    ]
    return mbd.simulate(system, 1.0, h=1e-2, events=events)


def test_parts_are_drawn_while_they_are_on(chromium, switched, tmp_path):
    """Also those that are off at the start; a grip at each of its poses."""
    chromium.open(f"{switched.animate(tmp_path / 'bar.html').as_uri()}#t=0")  # it does not play
    drawn = """(mechanism.seek(%r), [...player.world.joints, ...player.world.loads, ...player.world.late].filter((part) =>
      !part.hidden && part.parts.every((mesh) => mesh.visible)).map((part) => part.name))"""
    lines = (
        """[...player.world.late].flatMap((part) => part.links || [part]).filter(({ object }) => object && object.visible).length"""
    )
    for t, names, shown in (
        (0.1, ["pin"], 0),
        (0.3, ["spring"], 1),
        (0.6, ["rod", "spring"], 2),
        (0.75, ["spring"], 1),
        (0.9, ["rod", "spring"], 2),
    ):
        assert sorted(chromium.evaluate(drawn % t)) == names, t
        assert chromium.evaluate(lines) == shown, t
    assert chromium.evaluate("mechanism.names().joints") == ["pin"]
