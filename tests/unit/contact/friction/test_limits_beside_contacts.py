"""Rigid limits beside contacts with friction, event-driven and by time stepping: the same impacts as alone, and shared by friction."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, SJ, TJ, Rope

pytestmark = pytest.mark.slow
G = 9.81


def sliding_block(system, v=1.0):
    """A block that slides aside of everything else, with friction."""
    block = system.add(mbd.Body("block", 1.0, (0.01, 0.01, 0.01), r=(5.0, 0, 0.05), v=(v, 0, 0)))
    floor = mbd.Contact("floor", system.ground, block, shape_i=mbd.Plane(), shape_j=mbd.Box((0.2, 0.2, 0.1)), mu=0.3)
    system.add(floor)


def limited(kind, beside):
    """A body in space that strikes its limit several times in a second."""
    system = mbd.System(kind, gravity=(0, 0, -G))
    body = system.add(mbd.Body("body", 2.0, (0.2, 0.25, 0.3), r=(0.5, 0, 2.0), omega_bar=(0.3, 0.2, 0.5)))
    pivot = (0, 0, 2.0)
    if kind == "rope":
        system.add(Rope("rope", [(system.ground, pivot), (body, body.r)], length=0.8, unilateral=True, restitution=0.4))
    elif kind == "angle":
        pin = system.add(RJ("pin", system.ground, body, point=pivot, axis=(0, 1, 0), q0=0.3))
        system.add(mbd.JointLimit("limit", pin, lower=-0.4, upper=0.5, restitution=0.6))
    else:
        ball = system.add(SJ("ball", system.ground, body, point=pivot))
        axis, more = (1, 0, 0), {"restitution": 0.5}
        load = mbd.ConeLimit if kind == "cone" else mbd.TwistLimit
        size = {"angle": 0.7} if kind == "cone" else {"lower": -0.2, "upper": 0.05}
        system.add(load("limit", ball, axis=axis, **size, **more))
    if beside:
        sliding_block(system)
    return system


@pytest.mark.parametrize("kind", ["angle", "cone", "twist", "rope"])
def test_a_limit_strikes_as_it_does_alone(kind):
    alone, beside = (mbd.simulate(limited(kind, some), 0.6, rtol=1e-9, project_velocity=True) for some in (False, True))
    assert len(alone.impacts) >= 1
    np.testing.assert_allclose([hit.t for hit in beside.impacts], [hit.t for hit in alone.impacts], rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(beside["body"].r[-1], alone["body"].r[-1], rtol=0.0, atol=1e-7)
    assert beside.check_contacts().worst <= 1e-10
    stepped = mbd.simulate(limited(kind, True), 0.6, h=1e-3, integrator=mbd.MoreauJean(), project_velocity=True)
    np.testing.assert_allclose(stepped["body"].r[-1], alone["body"].r[-1], rtol=0.0, atol=2e-2)
    assert stepped.check_contacts().worst <= 1e-10


def test_a_slider_that_reaches_its_end_drags_its_block_over_the_floor(tmp_path):
    """1 kg at 1.5 m/s strikes the end of its rail on a block of 2 kg, e = 0: 0.5 m/s, then v^2 / (2 mu g); the floor carries both."""
    system = mbd.System("rail", gravity=(0, 0, -G))
    block = system.add(mbd.Body("base", 2.0, (0.2, 0.2, 0.2), r=(0, 0, 0.05)))
    slider = system.add(mbd.Body("slider", 1.0, (0.2, 0.2, 0.2), r=(0, 0, 0.05), v=(1.5, 0, 0)))
    rail = system.add(TJ("rail", block, slider, point=(0, 0, 0.05), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("end", rail, upper=0.1, restitution=0.0))
    shapes = {"shape_i": mbd.Plane(), "shape_j": mbd.Box((2.0, 1.0, 0.1))}
    system.add(mbd.Contact("floor", system.ground, block, **shapes, mu=0.4))
    result = mbd.simulate(system, 0.4, rtol=1e-9)
    way = 0.5**2 / (2 * 0.4 * G)
    assert result["base"].r[-1, 0] == pytest.approx(way, abs=1e-12)
    assert result.joint("rail").displacement[-1] == pytest.approx(0.1, abs=1e-12)
    assert "end upper: touch" in [event.name for event in result.events]
    while_sliding = np.flatnonzero((result.t > 0.08) & (result.t < 0.15))
    end = result.contact("end upper")
    np.testing.assert_allclose(end.normal_force[while_sliding, 0], 0.4 * G, rtol=1e-9)  # m mu g: both brake together
    result.save(tmp_path / "run.npz")
    again = mbd.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.contact("end upper").normal_force, end.normal_force)
