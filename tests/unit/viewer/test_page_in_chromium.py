"""The page on a phone and on a projector, its paths, its curves, and its place in a notebook: in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import GALLERY, chain, pendulum, slider_crank
from joints import RJ, SJ, UJ

PHONE, PROJECTOR = (390, 844), (1920, 1080)
CURVE = 1.0 / 16000.0
"""Curves are stored to this part of their range."""

FIT = """(() => {
  const { hull, center } = player.data.view, x = [], y = [];
  for (let k = 0; k < hull.length; k += 3) {
    const at = player.world.pixels(new THREE.Vector3(...[0, 1, 2].map((a) => hull[k + a] + center[a])));
    x.push(at[0]); y.push(at[1]);
  }
  const { room } = player.world, { innerWidth: W, innerHeight: H } = window;
  const free = [W - room.left - room.right, H - room.top - room.bottom];
  return {
    gaps: [Math.min(...x) - room.left, W - room.right - Math.max(...x), Math.min(...y) - room.top, H - room.bottom - Math.max(...y)],
    fill: Math.max((Math.max(...x) - Math.min(...x)) / free[0], (Math.max(...y) - Math.min(...y)) / free[1]),
    cut: [...document.querySelectorAll("#switches button, #bar *")].filter((one) => { const box = one.getBoundingClientRect();
      return box.width > 0 && (box.left < 0 || box.right > W || box.bottom > H); }).map((one) => one.outerHTML),
  };
})()"""


def resized(browser, size):
    """Give the window another size, and wait until the page has fitted the picture to it."""
    browser.resize(*size)
    there = f"player.world.width === {size[0]} && player.world.height === {size[1]} ? done(true) : requestAnimationFrame(look)"
    browser.evaluate(f"new Promise((done) => {{ const look = () => {there}; look(); }})")


@pytest.fixture
def at_phone(chromium):
    """The browser, as wide as a phone; afterwards as wide as before."""
    chromium.resize(*PHONE, 2.0, mobile=True)
    yield chromium
    chromium.resize(1280, 720)


@pytest.fixture(scope="module")
def crank():
    return mbd.simulate(slider_crank(), 1.0, h=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("make", GALLERY[::3], ids=lambda make: make.__name__)
def test_mechanisms_of_the_gallery_fit_a_phone_and_a_projector(at_phone, make, tmp_path):
    """All of it is in what title, buttons and bar leave free, as large as this allows, and no button is cut off."""
    path = make().show().save(tmp_path / "still.html")
    at_phone.open(path.as_uri())
    for size in (PHONE, PROJECTOR):
        resized(at_phone, size)
        seen = at_phone.evaluate(FIT)
        assert min(seen["gaps"]) >= 0.0
        assert seen["fill"] >= 0.5  # glyphs are part of the rest
        assert seen["cut"] == []


@pytest.mark.slow
def test_the_panel_leaves_the_whole_mechanism_in_the_picture(at_phone, crank, tmp_path):
    at_phone.open(f"{crank.animate(tmp_path / 'crank.html').as_uri()}#t=0.3")
    for size in (PHONE, PROJECTOR):
        resized(at_phone, size)
        before = at_phone.evaluate(FIT)
        at_phone.click(*at_phone.evaluate("mechanism.screen('S')"))
        assert at_phone.evaluate("mechanism.selected") == "S"
        panel = at_phone.evaluate(FIT)
        for seen in (before, panel):
            assert min(seen["gaps"]) >= 0.0
            assert seen["cut"] == []
        at_phone.key("Escape")
        assert at_phone.evaluate(FIT) == before


@pytest.mark.slow
def test_a_view_that_was_turned_stays_until_r(chromium, crank, tmp_path):
    chromium.open(f"{crank.animate(tmp_path / 'crank.html').as_uri()}#t=0")
    eye = "player.world.camera.position.toArray()"
    first = chromium.evaluate(eye)
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    for kind, x in (("mousePressed", 300), ("mouseMoved", 340), ("mouseMoved", 380), ("mouseReleased", 380)):
        chromium.send("Input.dispatchMouseEvent", type=kind, x=x, y=500, **mouse)
    turned = chromium.evaluate(eye)
    assert np.abs(np.subtract(turned, first)).max() > 1e-3 * np.linalg.norm(first)
    chromium.key("e")
    assert chromium.evaluate(eye) == turned
    chromium.key("e")
    chromium.key("r")
    np.testing.assert_allclose(chromium.evaluate(eye), first, rtol=1e-9)


@pytest.mark.slow
def test_a_chosen_point_of_a_body_leaves_its_path(chromium, crank, tmp_path):
    """Shift and click on the rod: the path is that of this point, by the states."""
    chromium.open(f"{crank.animate(tmp_path / 'crank.html').as_uri()}#t=0.5")
    halfway = 0.5 * crank.model.joints["S"].s_bar_j  # from the centre of mass of the rod to its end
    x, y = chromium.evaluate(f"player.world.pixels(player.world.now(2, {halfway.tolist()})).slice(0, 2)")
    for kind in ("mousePressed", "mouseReleased"):
        chromium.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, modifiers=8)
    chosen = "player.world.traces.all.filter((one) => one.chosen)"
    assert chromium.evaluate(f"{chosen}.length") == 1
    s_bar = np.array(chromium.evaluate(f"{chosen}[0].dot.position.toArray()"))
    assert np.abs(s_bar - halfway).max() < 0.02
    starts = np.array(chromium.evaluate(f"Array.from({chosen}[0].whole.geometry.attributes.instanceStart.data.array)")).reshape(
        -1, 6
    )
    p, r = crank["rod"].p[:-1], crank["rod"].r[:-1]
    A = np.array([mbd.Body("b", 1.0, (1, 1, 1), p=one).A for one in p])
    np.testing.assert_allclose(starts[:, :3], r + A @ s_bar, atol=1e-5)
    chromium.send("Input.dispatchMouseEvent", type="mousePressed", x=5, y=300, button="left", clickCount=1, modifiers=8)
    chromium.send("Input.dispatchMouseEvent", type="mouseReleased", x=5, y=300, button="left", clickCount=1, modifiers=8)
    assert chromium.evaluate(f"{chosen}.length") == 0


@pytest.mark.slow
def test_a_selected_joint_shows_the_path_of_its_point(chromium, crank, tmp_path):
    chromium.open(f"{crank.animate(tmp_path / 'crank.html').as_uri()}#t=0.5")
    chromium.click(*chromium.evaluate("mechanism.screen('S')"))
    own = "player.world.traces.all.filter((one) => one.joint !== undefined && one.whole.visible)"
    shown = f"{own}.map((one) => player.world.joints[one.joint].name)"
    assert chromium.evaluate(shown) == ["S"]
    chromium.key("Escape")
    assert chromium.evaluate(shown) == []


@pytest.mark.slow
def test_curves_of_joints_are_the_coordinates_of_the_result(chromium, tmp_path):
    """Two angles of a universal joint, the rotation of a ball, and ten turns of a wheel."""
    system = mbd.System("arms", gravity=(0.0, 0.0, -9.81))
    for k, kind in enumerate((UJ, SJ, RJ)):
        at = (2.0 * k, 0.0, 0.0)
        r = np.add(at, (0.0, 0.0, -0.5 if k < 2 else 0.0))
        omega_bar = (0.5, 0.7, 0.0) if k < 2 else (0.0, 0.0, 63.0)
        body = system.add(mbd.Body(f"arm {k}", 1.0, (0.1, 0.11, 0.02), r=r, v=np.cross(omega_bar, r - at), omega_bar=omega_bar))
        more = {"axis_i": (1, 0, 0), "axis_j": (0, 1, 0)} if kind is UJ else {"axis": (0, 0, 1)} if kind is RJ else {}
        system.add(kind(f"joint {k}", system.ground, body, point=at, **more))
    result = mbd.simulate(system, 1.0, h=5e-3)
    chromium.open(f"{result.animate(tmp_path / 'arms.html').as_uri()}#t=0")
    for k, (what, columns) in enumerate((("angle", 2), ("rotation", 3), ("angle", 1))):
        curve = chromium.evaluate(
            f"(() => {{ const c = player.curves.ofJoint({k})[0]; return [c.title, c.lines.map((line) => Array.from(line))]; }})()"
        )
        expected = getattr(result.joint(f"joint {k}"), what).reshape(len(result), -1)
        assert curve[0] == f"{what} [rad]"
        assert expected.shape[1] == columns
        np.testing.assert_allclose(np.transpose(curve[1]), expected, atol=np.ptp(expected) * CURVE + 1e-12)
    assert result.joint("joint 2").angle[-1] == pytest.approx(63.0, abs=0.1)  # ten turns are counted


@pytest.mark.slow
def test_a_locked_loop_is_outlined(chromium, tmp_path):
    points = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.5), (1.0, 0.0, 0.8), (1.0, 0.0, 0.0)]
    system = mbd.System("locked")
    bodies = [system.ground]
    for k in range(3):
        middle = [0.5 * (a + b) for a, b in zip(points[k], points[k + 1], strict=True)]
        bodies.append(system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.1, 0.1), r=middle)))
    for k, axis in enumerate([(0.0, 1.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.3), (0.0, 1.0, 0.0)]):
        system.add(RJ("ABCD"[k], bodies[k], bodies[(k + 1) % 4], point=points[k], axis=axis))
    chromium.open(system.show().save(tmp_path / "locked.html").as_uri())
    starts = chromium.evaluate("Array.from(player.world.outlines[0].geometry.attributes.instanceStart.data.array)")
    corners = {tuple(np.round(corner, 6)) for corner in np.reshape(starts, (-1, 6))[:, :3]}
    assert corners == set(points)


@pytest.mark.slow
def test_a_notebook_plays_the_result_and_shows_the_system(chromium, tmp_path):
    """Two frames in one page, from srcdoc, as nbconvert writes them."""
    result = mbd.simulate(chain(3), 0.5, h=1e-2)
    page = tmp_path / "notebook.html"
    page.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{result._repr_html_()}{chain(3)._repr_html_()}", encoding="utf-8")
    chromium.send("Page.navigate", url=page.as_uri())
    chromium.wait_for("Page.loadEventFired")
    look = "const all = [...document.querySelectorAll('iframe')].map((one) => one.contentWindow.mechanism);"
    ready = (
        f"{look} all.every((one) => one && one.ready) ? done(all.map((one) => one.names().bodies.length)) : setTimeout(look, 20);"
    )
    assert chromium.evaluate(f"new Promise((done) => {{ const look = () => {{ {ready} }}; look(); }})") == [4, 4]
    moved = f"{look} all[0].time > 0 && all[0].playing && !all[1].playing ? done(true) : setTimeout(look, 20);"
    assert chromium.evaluate(f"new Promise((done) => {{ const look = () => {{ {moved} }}; look(); }})") is True


@pytest.mark.slow
def test_a_touch_selects_and_a_long_one_leaves_a_path(at_phone, crank, tmp_path):
    at_phone.send("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        at_phone.open(f"{crank.animate(tmp_path / 'crank.html').as_uri()}#t=0.3")
        x, y = at_phone.evaluate("mechanism.screen('T')")
        at_phone.evaluate("player.longTouch = 1e8")  # a busy machine may be slow between the two events
        touch = [{"x": x + 12.0, "y": y + 8.0}]  # a finger is not exact
        at_phone.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=touch)
        at_phone.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        assert at_phone.evaluate("mechanism.selected") == "T"
        at_phone.key("Escape")
        at_phone.evaluate("player.longTouch = 50")
        halfway = (0.5 * crank.model.joints["S"].s_bar_j).tolist()
        x, y = at_phone.evaluate(f"player.world.pixels(player.world.now(2, {halfway})).slice(0, 2)")
        at_phone.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        there = "player.world.traces.all.some((one) => one.chosen) ? done(true) : requestAnimationFrame(look)"
        assert at_phone.evaluate(f"new Promise((done) => {{ const look = () => {there}; look(); }})") is True
        at_phone.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        assert at_phone.evaluate("mechanism.selected") is None
    finally:
        at_phone.send("Emulation.setTouchEmulationEnabled", enabled=False)


@pytest.mark.slow
def test_long_names_leave_room_for_the_mechanism(chromium, tmp_path):
    system = pendulum()
    system.name = "a name " * 60
    path = mbd.simulate(system, 0.02, h=1e-2).animate(tmp_path / "long.html")
    chromium.open(f"{path.as_uri()}#t=0")
    assert chromium.evaluate("document.getElementById('title').offsetHeight") < 60
