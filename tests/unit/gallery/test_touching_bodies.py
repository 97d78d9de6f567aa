"""Mechanisms that touch: closed forms and invariants."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import haugmbd as mbd
from haugmbd import gallery

G = 9.81


@pytest.mark.slow
def test_the_tippe_top_keeps_jelletts_number_and_turns_over():
    """Friction acts at the point of contact, so that H . a is kept while the top turns upside down."""

    def run(t_end, **how):
        system = gallery.tippe_top()
        (body,) = system.bodies[1:]
        result = mbd.simulate(system, t_end, **how)
        top, low = result["top"], body.shape[0].center[2]
        H = np.einsum("tij,tj->ti", top.A, top.omega_bar @ np.asarray(body.J_bar).T)
        a = low * top.A[:, :, 2] - (0.0, 0.0, body.shape[0].radius)
        return result, np.einsum("ti,ti->t", H, a)

    exact, jellett = run(0.2, rtol=1e-8, atol=1e-11)
    assert np.ptp(jellett) <= 1e-6 * abs(jellett[0])
    assert np.diff(exact.energy().total).max() <= 1e-12
    assert set(exact.contact("floor").state.ravel()) == {"slip"}
    stepped, jellett = run(4.0, h=1e-3, integrator=mbd.MoreauJean(), store_every=20)
    assert stepped["top"].A[0, 2, 2] > 0.9
    assert stepped["top"].A[-1, 2, 2] < -0.8
    assert stepped.check_contacts().worst <= 1e-9


@pytest.mark.slow
def test_the_woodpecker_pecks_in_a_limit_cycle():
    result = mbd.simulate(gallery.woodpecker(), 0.9, rtol=1e-8)
    pecks = [event for event in result.events if event.name == "beak: touch"]
    period, height = np.diff([event.t for event in pecks]), np.diff([event.state.r[1, 1] for event in pecks])
    assert abs(period[-1] - period[-2]) <= 1e-7
    assert abs(height[-1] - height[-2]) <= 1e-8
    assert period[-1] == pytest.approx(0.13074753, abs=1e-7)  # by Dormand-Prince and DOP853
    assert height[-1] == pytest.approx(-0.01449691, abs=1e-7)
    assert {"lower: sticks", "lower: slips"} <= {event.name for event in result.events}
    assert np.diff(result.energy().total).max() <= 1e-12
    assert np.abs(result.violation("position")).max() <= 1e-12


@pytest.mark.slow
def test_the_block_holds_below_the_limit_and_slides_above_it():
    held = mbd.simulate(gallery.incline_block(0.96), 10.0, h=0.1, integrator=mbd.MoreauJean())
    assert np.abs(held["block"].r - held["block"].r[0]).max() <= 1e-12
    slides = mbd.simulate(gallery.incline_block(1.05), 1.0, rtol=1e-9)
    acceleration = -G * np.sin(np.pi / 6) * (1.0 - 1.0 / 1.05)
    moved = slides["block"].r[-1] - slides["block"].r[0]
    np.testing.assert_allclose(moved, 0.5 * acceleration * np.array([np.cos(np.pi / 6), 0.0, np.sin(np.pi / 6)]), atol=1e-12)


@pytest.mark.slow
def test_the_stack_stands_and_each_face_carries_what_is_above_it():
    result = mbd.simulate(gallery.stack(10), 0.1, h=1e-2, integrator=mbd.MoreauJean())
    assert np.abs(result.r - result.r[0]).max() <= 1e-12
    for k, name in enumerate(["floor", *(f"face {k}" for k in range(2, 11))]):
        assert result.contact(name).normal_force[-1].sum() == pytest.approx((10 - k) * G, abs=1e-9)


@pytest.mark.slow
def test_the_box_tumbles_to_rest_on_a_face():
    result = mbd.simulate(gallery.tumbling_box(), 1.5, h=2e-3, integrator=mbd.MoreauJean())
    box = result["box"]
    assert np.abs(box.v[-1]).max() <= 1e-12
    assert np.abs(box.A[-1] @ (0.0, 0.0, 1.0))[2] == pytest.approx(1.0, abs=1e-12)
    assert box.r[-1, 2] == pytest.approx(0.05, abs=1e-12)
    assert result.contact("floor: ground-box").normal_force[-1].sum() == pytest.approx(G, abs=1e-9)
    check = result.check_contacts()
    assert max(check.signorini.max(), check.coulomb.max(), check.newton_euler.max()) <= 1e-10


@pytest.mark.slow
def test_the_gripper_holds_below_its_limit_and_begins_to_slip_where_the_part_needs_more():
    held = mbd.simulate(gallery.gripper(0.99), 0.4, h=0.02, integrator=mbd.RK4())
    np.testing.assert_allclose(held["part"].r[-1], (0.0, 0.0, 0.3), atol=1e-9)
    assert not held.events
    need, share = G + 2.0 * np.pi * 0.3 / 0.4**2, 1.02
    begins = 0.4 / (2.0 * np.pi) * np.arcsin((need / share - G) / (need - G))
    slips = mbd.simulate(gallery.gripper(share), 0.083, rtol=1e-8)
    assert [event.name for event in slips.events] == ["grip left: slips", "grip right: slips"]
    assert slips.events[0].t == pytest.approx(begins, abs=1e-8)
    assert slips.check_contacts().worst <= 1e-8


@pytest.mark.slow
def test_the_follower_leaves_its_cam_lands_and_leaves_it_again():
    e, w = 0.02, 30.0
    leaves = np.arcsin(G / (e * w * w)) / w

    def gap(t):
        flight = t - leaves
        return e * np.sin(w * leaves) + e * w * np.cos(w * leaves) * flight - 0.5 * G * flight**2 - e * np.sin(w * t)

    times = leaves, brentq(gap, 0.1, 0.2, xtol=1e-15), leaves + 2.0 * np.pi / w
    exact = mbd.simulate(gallery.jumping_follower(), 0.25, rtol=1e-9)
    assert [event.name for event in exact.events] == [f"cam face: {what}" for what in ("opens", "touch", "opens")]
    np.testing.assert_allclose([event.t for event in exact.events], times, atol=1e-10)
    stepped = mbd.simulate(gallery.jumping_follower(), 0.25, h=1e-3, integrator=mbd.MoreauJean())
    assert np.abs(stepped["follower"].r[-1] - exact["follower"].r[-1]).max() <= 2e-3


@pytest.mark.slow
def test_the_rimless_wheel_walks_into_its_limit_cycle():
    """Of the speed right behind each step the part eta^2 of the distance of its square from the limit is left."""
    m_l, J, half, slope = 0.3, 0.02, np.pi / 8.0, np.radians(5.0)
    I = J + m_l * 0.3  # noqa: E741  m = 1 kg
    eta = (J + m_l * 0.3 * np.cos(2.0 * half)) / I
    limit = eta**2 / (1.0 - eta**2) * 4.0 * G * m_l * np.sin(half) * np.sin(slope) / I
    result = mbd.simulate(gallery.rimless_wheel(2.5), 1.6, rtol=1e-9)
    steps = [event for event in result.events if event.name.endswith("touch")]
    squares = np.array([2.5**2, *(event.state.omega_bar[1, 1] ** 2 for event in steps)]) - limit
    assert len(steps) == 4
    np.testing.assert_allclose(squares[1:], eta**2 * squares[:-1], rtol=1e-6)
    assert result.check_contacts().worst <= 1e-9
    stepped = mbd.simulate(gallery.rimless_wheel(2.5), 1.6, h=1e-3, integrator=mbd.MoreauJean())
    assert np.abs(stepped["wheel"].r[-1] - result["wheel"].r[-1]).max() <= 5e-3


@pytest.mark.slow
def test_the_first_domino_strikes_the_second_when_it_has_turned_by_its_angle():
    """I a'^2 / 2 + m g l cos(b - a) is kept, b the angle of its middle beside its edge; it strikes at sin(a) = space / height."""
    (thick, _, high), space, push = gallery.driven_by_contact.DOMINO, gallery.driven_by_contact.SPACE, 6.0
    half, first, last = 0.5 * np.hypot(thick, high), np.arctan2(thick, high), np.arcsin(space / high)
    inertia = (thick**2 + high**2) / 3.0
    rate = lambda a: np.sqrt(push**2 + 2.0 * G * half / inertia * (np.cos(first) - np.cos(a - first)))  # noqa: E731
    when = quad(lambda a: 1.0 / rate(a), 0.0, last, epsabs=1e-13)[0]
    exact = mbd.simulate(gallery.dominoes(2), when + 1e-3, rtol=1e-8)
    assert next(event.t for event in exact.events if event.name == "hit 2: touch") == pytest.approx(when, abs=1e-8)
    stepped = mbd.simulate(gallery.dominoes(3), 0.4, h=2e-3, integrator=mbd.MoreauJean())
    assert all(stepped[f"domino {k}"].A[-1, 2, 2] < 0.6 for k in (1, 2, 3))  # all have fallen
    check = stepped.check_contacts()
    assert max(check.signorini.max(), check.coulomb.max(), check.newton_euler.max()) <= 1e-10


@pytest.mark.slow
def test_the_ratchet_holds_by_the_forces_of_statics_and_turns_one_way():
    """Without friction the radial face and the back of a tooth carry: two moments, about the axle and about the pivot, give both forces."""
    held = mbd.simulate(gallery.ratchet("-0.05", mu=0.0), 0.02, rtol=1e-8)
    assert np.abs(held.r[-1] - held.r[0]).max() <= 1e-9
    data = gallery.driven_by_contact
    pitch = 2.0 * np.pi / data.TEETH
    back = np.array([data.TIP * np.sin(pitch), data.TIP * np.cos(pitch) - data.ROOT])
    n = np.array([-back[1], back[0]]) / np.linalg.norm(back)
    nose = np.array([data.NOSE, data.ROOT + data.NOSE * (1.0 - n[0]) / n[1]])
    about = lambda x, f: x[0] * f[1] - x[1] * f[0]  # noqa: E731
    face, places = (1.0, 0.0), [nose - (data.NOSE, 0.0), nose - data.NOSE * n]
    pivot = nose + data.PAWL_PIVOT
    rows = [
        [-about(x, f) for x, f in zip(places, (face, n), strict=True)],
        [about(x - pivot, f) for x, f in zip(places, (face, n), strict=True)],
    ]
    forces = np.linalg.solve(rows, [0.05, -data.PAWL_SPRING * data.PAWL_LEAN])
    carried = sorted(float(held.contact(f"tooth {k}").normal_force[-1].sum()) for k in range(data.TEETH))[-2:]
    np.testing.assert_allclose(carried, sorted(forces), rtol=1e-7)
    turned = mbd.simulate(gallery.ratchet(), 1.3, h=1e-3, integrator=mbd.MoreauJean())
    angle = turned.joint("axle").angle
    teeth = np.floor(angle / pitch + 1e-6)
    assert angle.min() >= -1e-6
    assert teeth[-1] >= 2
    assert np.diff(teeth).min() >= 0  # no tooth is given back


@pytest.mark.slow
def test_the_pin_turns_the_geneva_wheel_by_a_quarter():
    """The wall that drives is half of the play beside the middle of the pin: angle of the slot = that of the pin -+ asin(c / distance)."""
    data = gallery.driven_by_contact
    result = mbd.simulate(gallery.geneva_drive(), 0.4, h=5e-4, integrator=mbd.MoreauJean())
    assert result.check_contacts().worst <= 1e-10
    crank, middle = result.joint("shaft").angle - 0.25 * np.pi - 0.3, data.CRANK * np.sqrt(2.0)
    x, y = data.CRANK * np.cos(crank) - middle, data.CRANK * np.sin(crank)
    slot = -0.75 * np.pi + result.joint("axle").angle
    off = (slot - np.arctan2(y, x) + np.pi) % (2.0 * np.pi) - np.pi
    lean, inside = np.arcsin(data.PLAY / np.hypot(x, y)), np.hypot(x, y) < 0.995 * data.CRANK
    for name, side in (("slot 0 right", 1.0), ("slot 0 left", -1.0)):
        presses = (result.contact(name).normal_force.sum(axis=1) > 0.0) & inside
        assert presses.sum() > 20
        assert np.abs(off - side * lean)[presses].max() <= 1e-12
    assert result.joint("axle").angle[-1] == pytest.approx(-0.5 * np.pi, abs=5e-3)
