"""The animation page in a real browser, from file://, without a network."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum, slider_crank

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


def test_poses_in_the_scene_are_those_of_the_states(page, crank):
    assert page.evaluate("mechanism.names()") == {
        "bodies": ["ground", "crank", "rod", "slider"],
        "joints": ["R", "S", "U", "T", "drive"],
    }
    assert page.evaluate("[mechanism.t0, mechanism.t1]") == [0.0, 1.0]
    worst = max(gap(page, crank, name, k) for name in ("crank", "rod", "slider") for k in (0, 77, 250, 499, 500))
    assert worst <= POSE
    assert page.evaluate("mechanism.pose('ground')") == {"r": [0, 0, 0], "p": [1, 0, 0, 0]}


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


def test_a_click_names_what_is_there(page):
    page.evaluate("mechanism.seek(0.1)")
    for name in ("T", "S", "rod", "drive"):
        page.click(*page.evaluate(f"mechanism.screen({name!r})"))
        assert page.evaluate("mechanism.selected") == name
    page.click(3, 300)
    assert page.evaluate("mechanism.selected") is None


@pytest.mark.parametrize("call", ["pose('slidr')", "screen('slidr')"])
def test_an_unknown_name_is_answered_with_the_nearest(page, call):
    with pytest.raises(mbd.HaugmbdError, match="Did you mean 'slider'"):
        page.evaluate(f"mechanism.{call}")


def test_the_address_seeks_and_pauses(chromium, tmp_path):
    path = mbd.simulate(pendulum(), 2.0, h=1e-2).animate(tmp_path / "with space.html")
    chromium.open(f"{path.as_uri()}#t=0.75")
    assert chromium.evaluate("[mechanism.time, mechanism.playing]") == [0.75, False]
    chromium.evaluate("location.hash = '#t=1.25'; new Promise((done) => setTimeout(done, 50))")
    assert chromium.evaluate("[mechanism.time, mechanism.playing]") == [1.25, False]
