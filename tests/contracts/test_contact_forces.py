"""Every integrator takes compliant contact: touch and release are events, and the restitution is that of the law."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.base import methods_below
from joints import RJ
from tests.support.contacts import G, ball_on_floor

STEP = 2e-5
"""[s] A hundredth and less of a contact of 6 ms."""
FIRST_ORDER, OTHER = 2.5e-2, 5e-4
"""Relative error of the restitution, of methods of first order and of the others; seen 2.4e-3 and 4e-5."""


def reached(system, method, rtol=1e-7):
    """Return the speed at release over the speed at touch."""
    how = {"h": STEP} if method.takes_step and not method.takes_tolerances else {"rtol": rtol, "atol": 1e-2 * rtol}
    result = mbd.simulate(system, 0.008, integrator=method(), **how)
    names = [event.name for event in result.events]
    assert names == ["floor: touch", "floor: release"]
    touch, release = result.events
    assert touch.state.angles[0] == -touch.state.v[1, 2]
    assert release.t in result.t
    return -release.state.v[1, 2] / touch.state.v[1, 2]


@pytest.fixture(scope="module")
def drop():
    system, _ = ball_on_floor(0.001, speed=3.0, e=0.8, K=1e7)
    return system, reached(system, mbd.DormandPrince, rtol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("method", methods_below(), ids=lambda method: method.__name__)
def test_every_integrator_bounces(method, drop):
    system, exact = drop
    allowed = FIRST_ORDER if method in (mbd.SemiImplicitEuler, mbd.Newmark) else OTHER
    assert reached(system, method) == pytest.approx(exact, rel=allowed)


@pytest.mark.slow
def test_a_mechanism_with_a_loop_strikes_the_floor():
    """A parallelogram that swings against the floor: rows hold through the contact, and energy is accounted for."""
    system = mbd.System("parallelogram", gravity=(0, 0, -G))
    start, along = np.array([[0.0, 0, 0], [1.0, 0, 0]]), np.array([0.6, 0, -0.8])
    J = (1e-3, 1 / 12, 1 / 12)
    turn = np.arctan2(0.8, 0.6)
    p = (np.cos(turn / 2), 0, np.sin(turn / 2), 0)
    links = [system.add(mbd.Body(name, 1.0, J, r=s + 0.5 * along, p=p)) for name, s in zip(("left", "right"), start, strict=True)]
    coupler = system.add(mbd.Body("coupler", 1.0, J, r=(start + along).mean(axis=0)))
    for link, s in zip(links, start, strict=True):
        system.add(RJ(f"top of {link.name}", system.ground, link, point=s, axis=(0, 1, 0)))
        system.add(RJ(f"end of {link.name}", link, coupler, point=s + along, axis=(0, 1, 0)))
    floor = mbd.Plane(point=(0, 0, -0.95))
    system.add(mbd.ContactForce("floor", coupler, system.ground, shape_i=mbd.Sphere(0.05), shape_j=floor, K=1e6, restitution=0.6))
    result = mbd.simulate(system, 1.0, rtol=1e-9, atol=1e-11)
    names = [event.name for event in result.events]
    assert names[:2] == ["floor: touch", "floor: release"]
    assert abs(result.violation("position", by="row")).max() < 1e-9
    assert abs(result.energy().drift).max() < 1e-6
    assert result.energy().dissipated_work[-1] > 0.5


@pytest.mark.slow
def test_sampled_blocks_and_contacts_stop_a_run_at_their_own_times():
    """A block that nothing listens to changes neither touch and release nor the motion; both kinds of stops are kept."""
    alone, also = (ball_on_floor(0.001, speed=1.0, e=0.5, mu=0.2, along=0.3)[0] for _ in range(2))
    period = 7.3e-4
    also.add(mbd.Sampled("clock", period, lambda t, signals: t))
    runs = [mbd.simulate(system, 0.03, rtol=1e-10, atol=1e-12) for system in (alone, also)]
    events = [[(event.name, event.t) for event in run.events] for run in runs]
    assert [name for name, _ in events[0]] == [name for name, _ in events[1]] == ["floor: touch", "floor: release"]
    np.testing.assert_allclose([t for _, t in events[0]], [t for _, t in events[1]], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(runs[1].v[-1], runs[0].v[-1], rtol=0.0, atol=1e-7)
    due = period * np.arange(1, int(0.03 / period) + 1)
    assert abs(due[:, None] - runs[1].t[None]).min(axis=1).max() < 1e-12
