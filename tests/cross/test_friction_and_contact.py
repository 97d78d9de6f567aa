"""A cart that slides on a rail with friction, strikes a bumper and comes to rest: three kinds of events in one run."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import TJ

MU, G, WAY = 0.1, 9.81, 0.25
CLOSED_FORM = 1e-9
"""[s, m/s] Sliding is quadratic in time, and RK4 is exact there; events are located to about 1e-12 s."""


@pytest.mark.slow
def test_a_cart_slides_strikes_a_bumper_and_comes_to_rest():
    system = mbd.System("cart", gravity=(0, 0, -G))
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(0.2, MU)))
    wall, ball = mbd.Plane(point=(WAY + 0.05, 0, 0), normal=(-1, 0, 0)), mbd.Sphere(0.05)
    system.add(mbd.ContactForce("bumper", system.ground, cart, shape_i=wall, shape_j=ball, K=1e5, restitution=0.5))
    result = mbd.simulate(system, 2.0, h=1e-3)
    touch, turn, release, rest = result.events
    assert [event.name for event in result.events] == ["bumper: touch", "rub stops", "bumper: release", "rub stops"]
    decel = MU * G
    assert abs(touch.t - (1.0 - np.sqrt(1.0 - 2.0 * decel * WAY)) / decel) < CLOSED_FORM
    assert touch.t < turn.t < release.t
    v = -release.state.v[1, 0]
    assert abs(rest.t - release.t - v / decel) < CLOSED_FORM
    assert abs(result["cart"].r[-1, 0] - (release.state.r[1, 0] - 0.5 * v * v / decel)) < CLOSED_FORM
    assert not result["cart"].v[-1].any()
