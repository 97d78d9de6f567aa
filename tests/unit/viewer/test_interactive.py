"""A page that simulates: its numbers are those of the models that sliders stand for, and its motion is that of `simulate`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import interactive
from haugmbd.engine.host import library_for
from haugmbd.gallery import double_pendulum, four_bar
from haugmbd.sensitivity.parameters import driver_constants, nominal_model, varied_model
from joints import RJ

STEPS = 1000
SAME = 1e-8
"""Largest difference from `simulate` after a second, of the size of the mechanism: the engine's rounding, grown by the motion."""


def has_engine():
    try:
        return bool(library_for("wasm32"))
    except mbd.UsageError:
        return False


needs_engine = pytest.mark.skipif(not has_engine(), reason="no engine for pages is built: make engine")


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
    p = mbd.Parameters(length=0.5, mass=2.0)
    build = interactive._with_handles(interactive._builder(pendulum, p))
    nominal = nominal_model(build(dict(p)).system)
    numbers, table = interactive._fitted(build, nominal, sliders)
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


def test_lengths_are_refused_since_bodies_are_drawn_once():
    sliders = interactive._sliders(pendulum, {"length": (0.5, 0.3, 0.9)})
    build = interactive._with_handles(interactive._builder(pendulum, mbd.Parameters(length=0.5)))
    with pytest.raises(mbd.UsageError, match="'length' moves points"):
        interactive._refuse_moving_points(build, nominal_model(build({"length": 0.5}).system), sliders)


def test_a_range_that_cannot_be_built_is_told():
    sliders = interactive._sliders(pendulum, {"mass": (2.0, -1.0, 4.0)})
    build = interactive._with_handles(interactive._builder(pendulum, mbd.Parameters(mass=2.0)))
    with pytest.raises(mbd.UsageError, match="cannot be built at mass = -"):
        interactive._fitted(build, nominal_model(build({"mass": 2.0}).system), sliders)


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
