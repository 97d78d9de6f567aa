"""Contacts that do not switch change nothing: each of many bounces as it does alone, and its touches are those of it alone."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd

H = 1e-3


def balls(heights):
    """Balls side by side above a floor, each of one size, with these heights above it [m]."""
    system = mbd.System("balls", gravity=(0, 0, -9.81))
    floor = mbd.Plane(point=(0, 0, 0), normal=(0, 0, 1))
    for k, height in enumerate(heights):
        ball = system.add(mbd.Body(f"ball {k}", 1.0, (0.004, 0.004, 0.004), r=(0.5 * k, 0, 0.1 + height)))
        system.add(
            mbd.ContactForce(
                f"contact {k}", ball, system.ground, shape_i=mbd.Sphere(0.1), shape_j=floor, K=1e5, restitution=0.7, mu=0.3
            )
        )
    return system


@pytest.mark.slow
def test_balls_side_by_side_bounce_as_they_do_alone():
    heights = [0.02, 0.021, 0.035, 0.9, 0.9]
    many = mbd.simulate(balls(heights), 0.16, rtol=1e-9, atol=1e-12)
    for k, height in enumerate(heights[:3]):
        alone = mbd.simulate(balls([height]), 0.16, rtol=1e-9, atol=1e-12)
        times = [(one.name.partition(": ")[2], one.t) for one in many.events if one.name.startswith(f"contact {k}:")]
        expected = [(one.name.partition(": ")[2], one.t) for one in alone.events]
        assert [name for name, _ in times] == [name for name, _ in expected] != []
        assert np.allclose([t for _, t in times], [t for _, t in expected], atol=1e-8)
        assert abs(many[f"ball {k}"].r[-1, 2] - alone["ball 0"].r[-1, 2]) < 1e-7
    assert not [one for one in many.events if one.name.startswith(("contact 3", "contact 4"))]


@pytest.mark.slow
def test_balls_that_touch_at_one_instant_are_switched_together():
    run = mbd.simulate(balls([0.02, 0.02, 0.05, 0.02]), 0.1, h=H)
    touches = [one for one in run.events if one.name.endswith(": touch")]
    first = [one for one in touches if one.t - touches[0].t <= 1e-11]
    assert {one.name for one in first} == {f"contact {k}: touch" for k in (0, 1, 3)}
