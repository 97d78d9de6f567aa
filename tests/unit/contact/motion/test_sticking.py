"""Contacts that close and open again: lifted in closed form, tables that tip, cascades without end, energy that never rises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import haugmbd as mbd
from haugmbd import PointForce, Torque
from joints import RJ, TJ, TranslationDriver
from tests.support.bouncing import DOWN, METHODS, G, ball, box
from tests.support.with_contacts import simulate_with

METHOD = pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)


@METHOD
def test_a_body_that_is_lifted_from_the_floor(options):
    """F = 40 N/s t on 2 kg: the floor carries m g - F until t_0 = m g / 40, then z = 20 (t - t_0)^3 / (3 m)."""
    system, contacts = ball(0.3, z=0.0)
    system.add(PointForce("lift", system["ball"], point=system["ball"].r, force=lambda t: (0.0, 0.0, 40.0 * t)))
    t_0 = 2.0 * G / 40.0
    result = simulate_with(system, 1.0, contacts=contacts, **options)
    assert result.impacts == ()
    assert len(result.segments) == 2
    floor = result.contact("floor")
    assert result.segments[0].t[-1] == pytest.approx(t_0, rel=0.0, abs=1e-10)
    np.testing.assert_allclose(floor.force[floor.closed], 2.0 * G - 40.0 * floor.t[floor.closed], rtol=0.0, atol=1e-9)
    risen = np.maximum(0.0, floor.t - t_0) ** 3 * 40.0 / 12.0
    np.testing.assert_allclose(floor.gap, risen, rtol=0.0, atol=1e-10)


@pytest.mark.slow
@METHOD
def test_it_is_put_down_and_lifted_again(options):
    """F = -30 N sin(2 pi t) lifts the ball off in every second half of a second; impulses, reactions and gravity balance."""
    system, contacts = ball(0.2, z=0.0)
    w = 2.0 * np.pi
    system.add(PointForce("shake", system["ball"], point=system["ball"].r, force=lambda t: (0.0, 0.0, -30.0 * np.sin(w * t))))
    result = simulate_with(system, 3.0, contacts=contacts, **options)
    floor = result.contact("floor")
    closed = floor.closed.astype(int)
    opens = floor.t[np.nonzero(np.diff(closed) == -1)[0]]
    t_0 = 0.5 + np.arcsin(2.0 * G / 30.0) / w
    np.testing.assert_allclose(opens, t_0 + np.arange(3.0), rtol=0.0, atol=1e-10)
    assert (np.diff(closed) == 1).sum() == 2
    assert floor.gap.min() >= -1e-9
    assert floor.force.min() >= -1e-9
    # Momentum: m v(t) = integral of forces + impulses.
    held = [c for c in result.segments if "floor" in c.model.joints]
    carried = sum(CubicSpline(c.t, -c.lam[:, -1]).integrate(c.t[0], c.t[-1]) for c in held)
    blows = sum(i.normal["floor"] for i in result.impacts)
    pushed = -30.0 * (1.0 - np.cos(w * 3.0)) / w - 2.0 * G * 3.0
    assert 2.0 * result["ball"].v[-1, 2] == pytest.approx(carried + blows + pushed, rel=0.0, abs=2e-5)  # of the splines


def test_a_table_that_is_tipped():
    """A growing torque about y tips the box over its edge when it exceeds m g a / 2; then two corners carry it all."""
    system, contacts = box(0.0, z=0.0)
    system.add(Torque("tip", system["box"], torque=lambda t: (0.0, 10.0 * t, 0.0)))
    t_0 = 3.0 * G * 0.3 / 10.0
    result = simulate_with(system, t_0 + 0.1, contacts=contacts, h=1e-2)
    assert result.impacts == ()
    ends = [segment.t[-1] for segment in result.segments]
    assert min(abs(np.array(ends) - t_0)) <= 1e-9
    histories = {name: result.contact(name) for name in "abcd"}
    assert {name for name, h in histories.items() if h.closed[-1]} == {"a", "d"}  # at x > 0
    before = result.t < t_0 - 1e-6
    total = sum(h.force for h in histories.values())
    np.testing.assert_allclose(total[before], 3.0 * G, rtol=0.0, atol=1e-9)
    lever = sum(h.force * x for h, x in zip(histories.values(), (0.3, -0.3, -0.3, 0.3), strict=True))
    np.testing.assert_allclose(lever[before], 10.0 * result.t[before], rtol=0.0, atol=1e-9)
    assert histories["b"].gap[-1] > 1e-4
    assert min(h.gap.min() for h in histories.values()) >= -1e-11


@pytest.mark.slow
def test_a_box_that_lands_on_an_edge_comes_to_rest_flat():
    """Inclined by 0.1 rad, e = 0.3: it rattles from edge to edge, and carries m g in the end; the energy only falls."""
    system, contacts = box(0.3, z=0.3, turned=0.1)
    result = simulate_with(system, 2.0, contacts=contacts, h=5e-3)
    histories = [result.contact(name) for name in "abcd"]
    np.testing.assert_allclose([h.gap[-1] for h in histories], 0.0, rtol=0.0, atol=1e-11)
    assert sum(h.force[-1] for h in histories) == pytest.approx(3.0 * G, rel=1e-10)
    assert np.diff(result.energy().total).max() <= 1e-8
    assert min(h.gap.min() for h in histories) >= -1e-9


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_double_pendulum_on_the_floor_never_gains_energy(e):
    system = mbd.System("double", gravity=DOWN)
    upper = system.add(mbd.Body("upper", 2.0, (1e-3, 0.2, 0.2), r=(0.5, 0.0, 0.0)))
    lower = system.add(mbd.Body("lower", 1.0, (1e-3, 0.1, 0.1), r=(1.5, 0.0, 0.0)))
    system.add(RJ("shoulder", system.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RJ("elbow", upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    at = {"normal": (0, 0, 1), "plane_point": (0, 0, -1.2), "restitution": e}
    contacts = [
        mbd.Contact("hand", system.ground, lower, point=(2, 0, 0), **at),
        mbd.Contact("joint", system.ground, upper, point=(1, 0, 0), **at),
    ]
    result = simulate_with(system, 3.0, contacts=contacts, rtol=1e-10, atol=1e-11)
    assert len(result.impacts) >= 2
    assert all(i.energy_after <= i.energy_before * (1.0 + 1e-12) for i in result.impacts)
    total = result.energy().total
    assert np.diff(total).max() <= 1e-8
    assert result.contact("hand").gap.min() >= -1e-9
    if e == 1.0:
        assert abs(total - total[0]).max() <= 1e-7
    np.testing.assert_allclose(result.reaction("shoulder").force.shape, (len(result), 3))


def parallelogram() -> mbd.System:
    """Two cranks of 1 m and a coupler of 2 m on four parallel RJ: five rows depend on the others; the cranks stand upright."""
    system = mbd.System("parallelogram", gravity=DOWN)
    left, right = (
        system.add(mbd.Body(name, 1.0, (0.1, 0.1, 1e-3), r=(x, 0.0, 0.5))) for name, x in (("left", 0.0), ("right", 2.0))
    )
    bar = system.add(mbd.Body("bar", 2.0, (1e-3, 0.7, 0.7), r=(1.0, 0.0, 1.0)))
    for name, i, j, point in (
        ("A", system.ground, left, (0, 0, 0)),
        ("B", left, bar, (0, 0, 1)),
        ("C", right, bar, (2, 0, 1)),
        ("D", system.ground, right, (2, 0, 0)),
    ):
        system.add(RJ(name, i, j, point=point, axis=(0, 1, 0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_redundant_mechanism_on_a_stop(e):
    """The parallelogram falls on a stop at 60 degrees: each impact leaves e^2, and the stop carries what the weight asks for."""
    system = parallelogram()
    assert len(system.compile().redundancy.dropped) > 0
    bar, angle = system["bar"], np.radians(60.0)
    at = bar.r + (np.sin(angle), 0.0, np.cos(angle) - 1.0)
    stop = mbd.Contact("stop", system.ground, bar, point=bar.r, normal=(0, 0, 1), plane_point=at, restitution=e)
    state = system.compile().state()
    v, omega = np.array(state.v), 0.5
    omega_bar = np.array(state.omega_bar)
    v[1:3, 0], v[3, 0], omega_bar[1:3, 1] = 0.5 * omega, omega, omega
    result = simulate_with(system, 4.0, contacts=[stop], h=2e-3, state=state.replace(v=v, omega_bar=omega_bar))
    for impact in result.impacts[:5]:
        assert impact.energy_after == pytest.approx(e**2 * impact.energy_before, rel=1e-9, abs=1e-20)
    history = result.contact("stop")
    assert history.closed[-1]
    # Virtual work of the weights along the path: the bar sinks by sin(angle) a radian, the cranks by half of that.
    assert history.force[-1] == pytest.approx((2.0 + 0.5 + 0.5) * G, rel=1e-9)
    assert abs(np.concatenate([s.violation("position").ravel() for s in result.segments])).max() <= 1e-9


@METHOD
def test_a_ladder_leaves_the_wall_at_two_thirds_of_its_height(options):
    """A rod slides down between a smooth wall and a smooth floor, from rest: Goldstein's ladder, whatever its length."""
    L, m, theta = 2.0, 1.0, 1.2
    system = mbd.System("ladder", gravity=DOWN)
    foot, axis = np.array([L * np.cos(theta), 0.0, 0.0]), np.array([-np.cos(theta), 0.0, np.sin(theta)])
    half = 0.5 * (np.pi - theta)
    J = m * L**2 / 12.0
    rod = system.add(mbd.Body("rod", m, (1e-3, J, J), r=foot + 0.5 * L * axis, p=(np.cos(half), 0.0, -np.sin(half), 0.0)))
    contacts = [
        mbd.Contact("foot", system.ground, rod, point=foot, normal=(0, 0, 1)),
        mbd.Contact("wall", system.ground, rod, point=foot + L * axis, normal=(1, 0, 0)),
    ]
    result = simulate_with(system, 0.75, contacts=contacts, **options)
    assert result.impacts == ()
    first = result.segments[0]
    assert first.r[-1, 1, 2] == pytest.approx(2.0 / 3.0 * rod.r[2], rel=1e-8)
    wall = result.contact("wall")
    assert wall.closed[0]
    assert not wall.closed[-1]
    assert result.contact("foot").closed.all()
    assert abs(result.energy().drift).max() <= 1e-7


@pytest.mark.slow
def test_a_stack_of_two_balls_comes_to_rest():
    """Each on the other, both on the floor: the lower contact carries both weights, the upper one; the energy only falls."""
    system = mbd.System("stack", gravity=DOWN)
    lower, upper = (
        system.add(mbd.Body(name, 1.0, (0.01, 0.01, 0.01), r=(0, 0, z))) for name, z in (("lower", 0.5), ("upper", 1.0))
    )
    contacts = [
        mbd.Contact(
            "floor", system.ground, lower, point=lower.r, normal=(0, 0, 1), plane_point=(0, 0, 0), radius=0.1, restitution=0.5
        ),
        mbd.Contact("between", lower, upper, point=upper.r, normal=(0, 0, 1), plane_point=(0, 0, 0.6), radius=0.1, restitution=0.5),
    ]
    result = simulate_with(system, 3.0, contacts=contacts, h=5e-3)
    assert result.contact("floor").force[-1] == pytest.approx(2.0 * G, rel=1e-12)
    assert result.contact("between").force[-1] == pytest.approx(G, rel=1e-12)
    assert np.diff(result.energy().total).max() <= 1e-10
    assert min(result.contact(name).gap.min() for name in ("floor", "between")) >= -1e-11


def test_a_contact_that_the_joints_carry_is_left_to_them():
    """A slider on a guide that touches a floor along it: nothing can give way, and nothing presses."""
    system = mbd.System("guided", gravity=DOWN)
    slider = system.add(mbd.Body("slider", 1.0, (0.1, 0.1, 0.1), v=(1.0, 0.0, 0.0)))
    system.add(TJ("guide", system.ground, slider, point=(0, 0, 0), axis=(1, 0, 0)))
    floor = mbd.Contact("floor", system.ground, slider, point=(0, 0, 0), normal=(0, 0, 1))
    result = simulate_with(system, 1.0, contacts=[floor], h=1e-2)
    assert len(result.segments) == 1
    assert result["slider"].r[-1, 0] == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(result.reaction("guide").force[:, 2], G, rtol=1e-12)


@pytest.mark.slow
def test_an_endless_cascade_is_stopped_and_keeps_what_there_is():
    system, contacts = ball(0.9)
    with pytest.raises(mbd.SimulationError, match=r"more than 50 impacts .*'floor meets' 51 times.*most_per_second") as caught:
        simulate_with(system, 20.0, contacts=contacts, h=1e-2, most_per_second=50)
    result = caught.value.result
    assert isinstance(result, mbd.Result)
    assert 50 < len(result.impacts) < 150
    assert 8.0 < result.t[-1] < 8.6
    assert np.isfinite(result.y).all()


@pytest.mark.slow
def test_a_ball_between_plates_that_close_is_stopped():
    """Two plates approach at 1 m/s; nothing is lost at impacts, so that the ball goes faster and faster."""
    system = mbd.System("squeezed")
    plate = system.add(mbd.Body("plate", 1e6, (1e6, 1e6, 1e6), r=(0, 0, 1.0), v=(0, 0, -1.0)))
    point = system.add(mbd.Body("ball", 1e-3, (1.0, 1.0, 1.0), r=(0, 0, 0.5), v=(0, 0, 3.0)))
    contacts = [
        mbd.Contact("top", plate, point, point=point.r, normal=(0, 0, -1), plane_point=plate.r, restitution=1.0),
        mbd.Contact("bottom", system.ground, point, point=point.r, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=1.0),
    ]
    with pytest.raises(mbd.SimulationError, match="a body bounces faster and faster|A body bounces faster and faster") as caught:
        simulate_with(system, 1.0, contacts=contacts, h=1e-2, most_per_second=200)
    assert 0.9 < caught.value.result.t[-1] < 1.0


def test_a_ball_that_a_press_crushes_is_stopped():
    """A driven plate comes down on a ball on the floor: no velocity of the ball allows both."""
    system = mbd.System("press", gravity=DOWN)
    plate = system.add(mbd.Body("plate", 5.0, (1.0, 1.0, 1.0), r=(0, 0, 0.5), v=(0, 0, -0.5)))
    body = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.1)))
    guide = system.add(TJ("guide", system.ground, plate, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(TranslationDriver("drive", guide, lambda t: -0.5 * t))
    contacts = [
        mbd.Contact("floor", system.ground, body, point=body.r, normal=(0, 0, 1), radius=0.1, restitution=0.3),
        mbd.Contact("top", plate, body, point=body.r, normal=(0, 0, -1), plane_point=plate.r, radius=0.1, restitution=0.3),
    ]
    with pytest.raises(mbd.SimulationError, match=r"the impact at t = 0\.6 s has no solution: .*'floor', 'top'") as caught:
        simulate_with(system, 1.0, contacts=contacts, h=1e-2)
    assert caught.value.result.t[-1] == pytest.approx(0.6, rel=0.0, abs=1e-10)
