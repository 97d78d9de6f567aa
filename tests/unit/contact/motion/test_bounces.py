"""Impacts against closed forms: bouncing balls, a sphere on a slope, a rod on a plane, a pendulum at a wall, a box that lands flat."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.contact.gap import PlacedContacts, gap_at
from haugmbd.simulation.hybrid.resting_contact import REST_HEIGHT
from joints import RJ
from tests.support.bouncing import DOWN, METHODS, G, ball, box
from tests.support.with_contacts import simulate_with

METHOD = pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)


@pytest.mark.slow
@METHOD
@pytest.mark.parametrize("e", [0.3, 0.7, 0.9])
def test_all_bounces_of_a_ball_and_its_rest(options, e):
    """t_n = t_1 (1 + 2 e + ... + 2 e^(n-1)), v_n = e^n v_0, until v0 (1 + e) / (g (1 - e)) = t_1 (1 + e) / (1 - e)."""
    t_1 = np.sqrt(2.0 / G)
    zeno = t_1 * (1.0 + e) / (1.0 - e)
    system, contacts = ball(e)
    result = simulate_with(system, zeno + 0.5, contacts=contacts, **options)
    n = np.arange(len(result.impacts))
    expected = t_1 * (1.0 + 2.0 * e * (1.0 - e**n) / (1.0 - e))
    np.testing.assert_allclose([i.t for i in result.impacts], expected, rtol=0.0, atol=1e-10)
    speed = G * t_1 * e**n
    np.testing.assert_allclose([-i.before.v[1, 2] for i in result.impacts], speed, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose([i.normal["floor"] for i in result.impacts], 2.0 * (1.0 + e) * speed, rtol=0.0, atol=1e-8)
    # It is at rest when a bounce would rise less than REST_HEIGHT: the rest of the cascade is not waited for.
    last = np.sqrt(8.0 * REST_HEIGHT * 1.1 / G)
    floor = result.contact("floor")
    assert 0.0 <= zeno - floor.t[floor.closed][0] <= last / (1.0 - e)
    np.testing.assert_allclose(floor.force[floor.closed], 2.0 * G, rtol=0.0, atol=1e-10)
    assert abs(floor.gap[floor.closed]).max() <= 1e-12
    assert (floor.force[~floor.closed] == 0.0).all()
    assert floor.gap.min() >= -1e-12
    assert result.t[-1] == zeno + 0.5


@pytest.mark.slow
@pytest.mark.parametrize("height", [1.0, 0.0])
@pytest.mark.parametrize("e", [0.3, 0.5])
def test_a_point_whose_only_length_is_its_height_comes_to_rest(e, height):
    """A ball without a radius strikes where all its coordinates are zero: rest is judged by the heights of the motion."""
    rise = 3.0 if height == 0.0 else 0.0
    system = mbd.System("point", gravity=DOWN)
    point = system.add(mbd.Body("ball", 2.0, (0.1, 0.1, 0.1), r=(0, 0, height), v=(0, 0, rise)))
    floor = mbd.Contact("floor", system.ground, point, point=point.r, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=e)
    first = np.sqrt(2.0 * height / G) + 2.0 * rise / G
    speed = np.sqrt(2.0 * G * height) + rise
    zeno = first + 2.0 * speed * e / (1.0 - e) / G
    result = simulate_with(system, zeno + 0.5, contacts=[floor], h=1e-2)
    closed = result.contact("floor").closed
    assert result.contact("floor").t[closed][-1] == zeno + 0.5
    highest = max(height, rise**2 / (2.0 * G))
    fewest = np.log(np.sqrt(highest / (REST_HEIGHT * highest))) / -np.log(e)
    assert len(result.impacts) == pytest.approx(fewest, abs=2.0)
    np.testing.assert_allclose(result["ball"].v[-1], 0.0, rtol=0.0, atol=1e-12)


def test_both_states_of_an_impact_are_kept():
    system, contacts = ball(0.5)
    result = simulate_with(system, 1.0, contacts=contacts, h=1e-2)
    assert len(result.impacts) == 2
    assert len(result.segments) == 3
    twice = np.nonzero(np.diff(result.t) == 0.0)[0]
    assert [result.t[k] for k in twice] == [i.t for i in result.impacts]
    for k, impact in zip(twice, result.impacts, strict=True):
        np.testing.assert_array_equal(result.y[k], impact.before.y)
        np.testing.assert_array_equal(result.y[k + 1], impact.after.y)
        assert impact.energy_after == pytest.approx(0.25 * impact.energy_before, rel=1e-12)
        assert impact.contacts == ("floor",)
    assert len(result) == len(result.t) == sum(map(len, result.segments))
    assert result.counters.steps == sum(s.counters.steps for s in result.segments) > 100


@pytest.mark.slow
def test_a_ball_that_loses_nothing_and_one_that_loses_all():
    system, contacts = ball(1.0)
    result = simulate_with(system, 5.0, contacts=contacts, h=1e-2)
    assert abs(result.energy().drift).max() <= 1e-11
    assert len(result.impacts) == 6  # at 0.45 s, then every 0.90 s
    system, contacts = ball(0.0)
    result = simulate_with(system, 1.0, contacts=contacts, h=1e-2)
    assert [i.t for i in result.impacts] == pytest.approx([np.sqrt(2.0 / G)], rel=0.0, abs=1e-12)
    assert len(result.segments) == 2
    assert result.segments[1].t[0] == result.impacts[0].t
    np.testing.assert_allclose(result["ball"].v[-1], 0.0, rtol=0.0, atol=1e-12)


@pytest.mark.slow
@METHOD
def test_a_sphere_on_a_slope(options):
    """Across the slope it bounces with g cos(alpha), along the slope it slides with g sin(alpha), whatever happens across."""
    alpha, e, radius, height = 0.4, 0.5, 0.2, 0.5
    n, along = np.array([np.sin(alpha), 0.0, np.cos(alpha)]), np.array([np.cos(alpha), 0.0, -np.sin(alpha)])
    system = mbd.System("slope", gravity=DOWN)
    foot = np.array([1.0, 2.0, 3.0])
    sphere = system.add(mbd.Body("sphere", 3.0, (0.05, 0.05, 0.05), r=foot + (radius + height) * n))
    slope = mbd.Contact(
        "slope", system.ground, sphere, point=sphere.r, normal=5.0 * n, plane_point=foot, restitution=e, radius=radius
    )
    result = simulate_with(system, 2.0, contacts=[slope], **options)
    t_1 = np.sqrt(2.0 * height / (G * np.cos(alpha)))
    k = np.arange(len(result.impacts))
    expected = t_1 * (1.0 + 2.0 * e * (1.0 - e**k) / (1.0 - e))
    np.testing.assert_allclose([i.t for i in result.impacts], expected, rtol=0.0, atol=1e-10)
    slid = (result["sphere"].r - sphere.r) @ along
    np.testing.assert_allclose(slid, 0.5 * G * np.sin(alpha) * result.t**2, rtol=0.0, atol=1e-10)
    history = result.contact("slope")
    assert history.closed[-1]
    np.testing.assert_allclose(history.force[history.closed], 3.0 * G * np.cos(alpha), rtol=0.0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("theta", [0.3, 0.8, 1.2])
def test_a_rod_that_falls_on_a_smooth_plane(e, theta):
    """P = m v (1 + e) / (1 + 3 cos^2 theta), theta from the plane; omega = 6 P cos(theta) / (m L)."""
    m, L, drop = 1.5, 2.0, 0.7
    axis = np.array([np.cos(theta), 0.0, np.sin(theta)])
    system = mbd.System("rod", gravity=DOWN)
    p = (np.cos(0.5 * theta), 0.0, -np.sin(0.5 * theta), 0.0)
    rod = system.add(mbd.Body("rod", m, (1e-3, m * L**2 / 12.0, m * L**2 / 12.0), r=0.5 * L * axis + (0.0, 0.0, drop), p=p))
    tip = mbd.Contact(
        "tip", system.ground, rod, point=rod.r - 0.5 * L * axis, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=e
    )
    v = np.sqrt(2.0 * G * drop)
    result = simulate_with(system, v / G + 0.05, contacts=[tip], rtol=1e-10, atol=1e-12)
    P = m * v * (1.0 + e) / (1.0 + 3.0 * np.cos(theta) ** 2)
    first = result.impacts[0]
    assert first.t == pytest.approx(v / G, rel=0.0, abs=1e-11)
    assert first.normal["tip"] == pytest.approx(P, rel=1e-11)
    assert first.after.omega_bar[1, 1] == pytest.approx(6.0 * P * np.cos(theta) / (m * L), rel=1e-11)
    if e == 0.0:  # the tip stays down and slides: the force is that of a rod that falls over on a smooth plane
        closed = result.segments[1]
        a_0 = closed.reaction("tip").force[0, 2]
        omega = first.after.omega_bar[1, 1]
        free = m * (G - 0.5 * L * np.sin(theta) * omega**2) / (1.0 + 3.0 * np.cos(theta) ** 2)
        assert a_0 == pytest.approx(free, rel=1e-10)


@pytest.mark.slow
@METHOD
@pytest.mark.parametrize("e", [0.6, 1.0])
def test_a_pendulum_at_a_wall(options, e):
    """At 30 degrees past the lowest point: the energy above that at the wall is e^2 of what it was."""
    L, m, wall = 1.0, 2.0, np.radians(30.0)
    system = mbd.System("pendulum", gravity=DOWN)
    bar = system.add(mbd.Body("bar", m, (1e-3, m / 12.0, m / 12.0), r=(-0.5 * L, 0.0, 0.0), p=(0.0, 0.0, 0.0, 1.0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    side = np.array([-np.cos(wall), 0.0, -np.sin(wall)])  # against the motion of the end there
    at = L * np.array([np.sin(wall), 0.0, -np.cos(wall)])
    stop = mbd.Contact("wall", system.ground, bar, point=(-L, 0, 0), normal=side, plane_point=at, restitution=e)
    result = simulate_with(system, 2.0, contacts=[stop], **options)
    assert len(result.impacts) >= 2
    first = result.impacts[0]
    fallen = m * G * 0.5 * L * np.cos(wall)
    assert first.energy_before == pytest.approx(fallen, rel=1e-7)  # RK4 at h = 1e-2
    for impact in result.impacts:
        assert impact.energy_after == pytest.approx(e**2 * impact.energy_before, rel=1e-11)
        np.testing.assert_allclose(impact.before.r[1], 0.5 * at, rtol=0.0, atol=1e-11)
    # The pin takes its part of the blow: m (v+ - v-) = P n + P_pin.
    P_pin = first.impulse.joint("pin").force
    jump = m * (first.after.v[1] - first.before.v[1])
    np.testing.assert_allclose(jump, P_pin + first.normal["wall"] * side, rtol=0.0, atol=1e-11)
    assert result.reaction("pin").force.shape == (len(result), 3)


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_box_that_lands_flat(e):
    """All four corners at once; at rest they carry the box: four forces are not unique, and those of least norm are equal."""
    system, contacts = box(e)
    t_1 = np.sqrt(2.0 / G)
    result = simulate_with(system, t_1 * (1.0 + e) / (1.0 - e) + 0.2, contacts=contacts, h=1e-2)
    assert set(result.impacts[0].contacts) == {"a", "b", "c", "d"}
    total = sum(result.impacts[0].normal.values())
    assert total == pytest.approx(3.0 * G * t_1 * (1.0 + e), rel=1e-11)
    n = np.arange(len(result.impacts))
    expected = t_1 * (1.0 + 2.0 * e * (1.0 - e**n) / (1.0 - e))
    np.testing.assert_allclose([i.t for i in result.impacts], expected, rtol=0.0, atol=1e-10)
    histories = [result.contact(name) for name in "abcd"]
    assert all(h.closed[-1] and not h.unique[-1] for h in histories)
    np.testing.assert_allclose([h.force[-1] for h in histories], 0.75 * G, rtol=1e-9)
    assert sum(h.force[-1] for h in histories) == pytest.approx(3.0 * G, rel=1e-11)
    assert min(h.force.min() for h in histories) >= -1e-9
    np.testing.assert_allclose([h.gap[-1] for h in histories], 0.0, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(result.omega_bar[-1], 0.0, rtol=0.0, atol=1e-10)


def test_the_gap_in_plain_numbers_is_that_of_the_contact(rng):
    system, contacts = box(0.5)
    model = system.compile()
    state = model.state()
    for contact in contacts:
        p = rng.normal(size=4)
        other = state.replace(r=state.r + [[0.0], [1.0]] * rng.normal(size=3), p=np.array([state.p[0], p / np.linalg.norm(p)]))
        placed = contact.placed(model)
        assert gap_at(placed, other) == pytest.approx(PlacedContacts.of([placed]).gaps(other.y[None])[0, 0], rel=1e-14, abs=1e-15)


@pytest.mark.slow
def test_a_torsion_spring_keeps_its_angle_over_impacts():
    """The angle of the spring, a state of its own, is that of the hinge, and energy falls at impacts only."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0.2)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0.2), axis=(0, 1, 0)))
    system.add(mbd.RSDA("spring", pin, k=0.5))
    floor = mbd.Contact("floor", system.ground, arm, point=(1, 0, 0.2), normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.6)
    result = simulate_with(system, 0.6, contacts=[floor], h=1e-3)
    assert len(result.impacts) > 1
    np.testing.assert_allclose(result.load("spring").angle, result.joint("pin").angle, rtol=0.0, atol=1e-9)
    total, at_impact = result.energy().total, np.diff(result.t) == 0.0
    assert np.all(np.diff(total)[at_impact] < 0.0)
    np.testing.assert_allclose(np.diff(total)[~at_impact], 0.0, atol=1e-9)
