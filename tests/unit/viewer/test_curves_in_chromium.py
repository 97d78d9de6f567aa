"""Curves of springs, forces, drivers, and of joints with impacts: a click shows them, and they are those of the result."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from joints import RJ, RotationDriver
from tests.support.with_contacts import simulate_with

CURVE = 1.0 / 16000.0
"""Curves are stored to this part of their range."""
TITLES = "[...document.querySelectorAll('#plots .head span')].map((one) => one.textContent)"


@pytest.fixture(scope="module")
def machine():
    """A driven crank with a spring, a torsion spring, a force and a torque, and a force between two bodies."""
    system = mbd.System("machine", gravity=(0, 0, -9.81))
    crank = system.add(mbd.Body("crank", mass=2.0, J_bar=(0.01, 0.02, 0.02), r=(0.1, 0, 0), omega_bar=(0, -2.0, 0), v=(0, 0, 0.2)))
    tip = system.add(mbd.Body("tip", mass=1.0, J_bar=(0.01, 0.01, 0.01), r=(0.4, 0, 0), omega_bar=(0, -2.0, 0), v=(0, 0, 0.8)))
    pin = system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, -1, 0)))
    knee = system.add(RJ("knee", crank, tip, point=(0.2, 0, 0), axis=(0, -1, 0)))
    system.add(RotationDriver("motor", pin, lambda t: 2.0 * t + 0.1 * t * t))
    system.add(mbd.TSDA("strut", system.ground, crank, point_i=(0, 0, 0.3), point_j=(0.2, 0, 0), k=50.0, c=1.0, l0=0.2))
    system.add(mbd.RSDA("clock spring", knee, k=3.0, c=0.1))
    system.add(mbd.PointForce("wind", tip, point=(0.5, 0, 0), force=lambda t: (np.sin(9.0 * t), 0.0, 1.0)))
    system.add(mbd.Torque("brake", tip, torque=lambda t: (0.0, 0.1 * t, 0.0)))
    system.add(mbd.StateForce("magnet", [crank, tip], force=lambda t, r, p, v, w: np.full((2, 6), 0.01 * t)))
    sensors = [
        mbd.Sensor("height", lambda t, state: state.r[2, 2], unit="m"),
        mbd.Sensor("place", lambda t, state: state.r[2]),
        mbd.Sensor("everything", lambda t, state: state.y),
    ]
    return mbd.simulate(system, 1.0, h=5e-3, sensors=sensors)


@pytest.fixture
def page(chromium, machine, tmp_path):
    chromium.open(f"{machine.animate(tmp_path / 'machine.html').as_uri()}#t=0.3")
    return chromium


def curves(browser, call):
    """Titles and lines of the plots that a call in the page returns."""
    found = browser.evaluate(f"player.curves.{call}.map(({{ title, lines }}) => [title, lines.map((line) => Array.from(line))])")
    return {title: np.transpose(lines) for title, lines in found}


def assert_same(drawn, expected):
    expected = expected.reshape(len(expected), -1)
    np.testing.assert_allclose(drawn, expected, rtol=0.0, atol=np.ptp(expected, axis=0).max() * CURVE + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "quantities"),
    [
        ("strut", {"length": "m", "force": "N", "power": "W"}),
        ("clock spring", {"angle": "rad", "torque": "N m", "power": "W"}),
        ("wind", {"force": "N", "power": "W"}),
        ("brake", {"torque": "N m", "power": "W"}),
    ],
)
def test_a_click_on_a_load_shows_its_name_and_its_curves(page, machine, name, quantities):
    page.click(*page.evaluate(f"mechanism.screen({name!r})"))
    assert page.evaluate("[mechanism.selected, document.getElementById('what').textContent]") == [name, name]
    titles = [f"{what} [{unit}]" for what, unit in quantities.items()]
    assert page.evaluate(TITLES) == titles
    k = [load["name"] for load in page.evaluate("player.data.loads")].index(name)
    for what, drawn in zip(quantities, curves(page, f"ofLoad({k})").values(), strict=True):
        assert_same(drawn, getattr(machine.load(name), what))
    page.key("Escape")


@pytest.mark.slow
def test_a_click_on_a_driver_shows_what_it_takes(page, machine):
    page.click(*page.evaluate("mechanism.screen('motor')"))
    titles = ["prescribed value [rad]", "torque of the driver [N m]", "power of the driver [W]"]
    assert page.evaluate(TITLES)[:3] == titles
    drawn, motor = curves(page, f"ofJoint({list(machine.model.joints).index('motor')})"), machine.driver("motor")
    for title, values in zip(titles, (motor.value, motor.torque, motor.power), strict=True):
        assert_same(drawn[title], values)
    page.key("Escape")


@pytest.mark.slow
def test_sensors_and_forces_without_a_place_are_among_the_curves_of_the_whole(page, machine):
    drawn = curves(page, "ofAll()")
    assert_same(drawn["magnet: power [W]"], machine.load("magnet").power)
    assert_same(drawn["length of strut [m]"], machine.load("strut").length)
    assert_same(drawn["sensor height [m]"], machine["tip"].r[:, 2])
    assert_same(drawn["sensor place"], machine["tip"].r)
    assert not any("everything" in title for title in drawn)


@pytest.mark.slow
def test_names_are_shown_and_an_unknown_one_is_answered_with_the_nearest(page):
    page.key("n")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shown = page.evaluate("[...document.querySelectorAll('#labels span:not([hidden])')].map((one) => one.textContent)")
    page.key("n")
    assert {"strut", "clock spring", "wind", "brake", "motor", "tip"} <= set(shown)
    with pytest.raises(mbd.HaugmbdError, match="Did you mean 'strut'"):
        page.evaluate("mechanism.screen('strt')")


@pytest.mark.slow
def test_joints_of_a_motion_with_impacts_have_their_coordinates(chromium, tmp_path):
    system = pendulum()
    bar = system["bar"]
    wall = mbd.Contact("wall", system.ground, bar, point=bar.r, normal=(0, 1, 0), plane_point=(0, -0.5, 0), restitution=0.8)
    result = simulate_with(system, 2.0, contacts=[wall], h=1e-2)
    assert result.impacts
    chromium.open(f"{result.animate(tmp_path / 'wall.html').as_uri()}#t=0")
    drawn = curves(chromium, "ofJoint(0)")
    assert_same(drawn["angle [rad]"], result.joint(next(iter(result.model.joints))).angle)


@pytest.mark.slow
def test_a_long_run_has_forces_at_the_states_that_are_shown(chromium, machine, tmp_path, monkeypatch):
    """Of many states only some are evaluated; drivers, loads and joints agree with the whole run there."""
    monkeypatch.setattr("haugmbd.viewer.quantities.EASY", 10)
    few = machine[0.0:0.2]
    chromium.open(f"{few.animate(tmp_path / 'few.html').as_uri()}#t=0")
    drawn = curves(chromium, f"ofJoint({list(machine.model.joints).index('motor')})")
    assert_same(drawn["torque of the driver [N m]"], few.driver("motor").torque)
    assert_same(curves(chromium, "ofLoad(0)")["force [N]"], few.load("strut").force)


@pytest.mark.slow
def test_contacts_of_shapes_have_one_arrow_each_where_their_points_press(chromium, tmp_path):
    """Box on box on a plane: the plane is there once, and each contact has the arrow of its whole force, at the middle of its points."""
    system = mbd.System("stack", gravity=(0.0, 0.0, -9.81))
    solid = mbd.inertia.box((0.2, 0.2, 0.1), density=1000.0)
    low, high = (system.add(mbd.Body(name, *solid, r=(x, 0.0, z))) for name, x, z in (("low", 0.0, 0.05), ("high", 0.05, 0.15)))
    system.add(mbd.Contacts("stack", [(system.ground, mbd.Plane()), low, high], mu=0.5))
    result = mbd.simulate(system, 0.1, rtol=1e-7)
    chromium.open(f"{result.animate(tmp_path / 'stack.html').as_uri()}#t=0.05")
    look = "({arrow, contact}) => [contact.name, contact.plane, arrow.visible, arrow.position.toArray()]"
    drawn = chromium.evaluate(f"(mechanism.seek(0.05), player.world.touches.map({look}))")
    assert [(name, plane, visible) for name, plane, visible, _ in drawn] == [
        ("stack: ground-low", True, True),
        ("stack: ground-high", False, False),
        ("stack: low-high", False, True),
    ]
    np.testing.assert_allclose(drawn[2][3], (0.05, 0.0, 0.1), atol=1e-4)
    np.testing.assert_allclose(drawn[0][3], (0.025, 0.0, 0.0), atol=1e-4)
