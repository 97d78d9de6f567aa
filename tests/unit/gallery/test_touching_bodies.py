"""Mechanisms that touch: closed forms and invariants."""

import numpy as np
import pytest

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
    assert slides["block"].r[-1, 0] == pytest.approx(0.5 * acceleration, abs=1e-12)


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
