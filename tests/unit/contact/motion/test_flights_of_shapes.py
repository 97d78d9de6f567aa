"""Runs with shapes at rigid contacts, in compiled code between their switches, against the same steps in Python, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies import inertia
from haugmbd.simulation.hybrid.frictional_motion import first_zero
from joints import RJ, TJ
from tests.support.bouncing import DOWN


def balls_in_a_corner(rng):
    """Balls that spin, between walls and among each other, with friction."""
    system = mbd.System("balls", gravity=DOWN)
    balls, ball = [], mbd.Sphere(0.1)
    for k in range(4):
        r = (0.25 * k, 0.05 * rng.normal(), 0.2 + 0.1 * rng.random())
        v, omega = rng.normal(size=3), 5.0 * rng.normal(size=3)
        balls.append(system.add(mbd.Body(f"ball {k}", *inertia.sphere(0.1, mass=1.0), r=r, v=v, omega_bar=omega)))
    for normal in ((0, 0, 1), (1, 0, 0), (-1, 0, 0.2)):
        wall = mbd.Plane(point=-0.5 * np.array(normal) * (1, 0, 0) * 2.4, normal=normal)
        for k, body in enumerate(balls):
            system.add(mbd.Contact(f"{normal} {k}", system.ground, body, shape_i=wall, shape_j=ball, restitution=0.7, mu=0.3))
    for k in range(4):
        for j in range(k):
            system.add(mbd.Contact(f"{j}-{k}", balls[j], balls[k], shape_i=ball, shape_j=ball, restitution=0.8, mu=0.2))
    return system


def solids_that_tumble(rng):
    """A box, a cylinder and a capsule that fall on their corners and rims."""
    system = mbd.System("solids", gravity=DOWN)
    solids = {"box": mbd.Box((0.2, 0.3, 0.1)), "drum": mbd.Cylinder(0.1, 0.2), "pill": mbd.Capsule(0.05, 0.2)}
    for k, (name, shape) in enumerate(solids.items()):
        p = rng.normal(size=4)
        body = mbd.Body(
            name, 1.0, (0.009, 0.005, 0.011), r=(k, 0, 0.3), p=p / np.linalg.norm(p), omega_bar=3.0 * rng.normal(size=3)
        )
        system.add(body)
        system.add(mbd.Contact(f"floor {name}", system.ground, body, shape_i=mbd.Plane(), shape_j=shape, restitution=0.6, mu=0.4))
    return system


def hammer(rng):
    """A pendulum of two links whose head, a sphere, strikes a wall that moves on a pendulum of its own."""
    system = mbd.System("hammer", gravity=DOWN)
    arm = system.add(mbd.Body("arm", 1.0, (0.02, 0.02, 0.02), r=(0.25, 0, 0)))
    head = system.add(mbd.Body("head", 1.0, (0.02, 0.02, 0.02), r=(0.75, 0, 0), v=(0, 0, -rng.random())))
    gate = system.add(mbd.Body("gate", 2.0, (0.05, 0.05, 0.05), r=(0.35, 0, -0.5)))
    system.add(RJ("shoulder", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RJ("elbow", arm, head, point=(0.5, 0, 0), axis=(0, 1, 0)))
    system.add(RJ("hinge", system.ground, gate, point=(0.35, 0, 0), axis=(0, 1, 0)))
    face, ball = mbd.Box((0.1, 0.4, 0.8)), mbd.Sphere(0.1)
    system.add(mbd.Contact("blow", gate, head, shape_i=face, shape_j=ball, restitution=0.5, mu=0.3))
    system.add(
        mbd.Contact("floor", system.ground, head, shape_i=mbd.Plane(point=(0, 0, -0.6)), shape_j=ball, restitution=0.6, mu=0.1)
    )
    return system


KINDS = {"balls": balls_in_a_corner, "solids": solids_that_tumble, "hammer": hammer}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seed", "method"), [(0, {"h": 2.5e-3}), (1, {"h": 2.5e-3}), (2, {"rtol": 1e-10})])
def test_flights_are_the_steps_in_python(kind, seed, method):
    model = KINDS[kind](np.random.default_rng(seed)).compile()
    never = mbd.Event("never", lambda t, state: 1.0)  # events of the user are searched between steps in Python
    t_end = 0.45 if kind == "hammer" else 0.3
    quick = mbd.simulate(model, t_end, **method, project_velocity=True)
    slow = mbd.simulate(model, t_end, **method, events=[never], project_velocity=True)
    assert len(quick.impacts) >= 2
    assert [event.name for event in quick.events] == [event.name for event in slow.events]
    np.testing.assert_allclose([event.t for event in quick.events], [event.t for event in slow.events], rtol=0, atol=1e-10)
    np.testing.assert_allclose(quick.y[-1], slow.y[-1], rtol=0, atol=1e-8)
    for one, other in zip(quick.impacts, slow.impacts, strict=True):
        assert one.contacts == other.contacts
        scale = max(one.normal.values())
        for name, normal in one.normal.items():
            assert normal == pytest.approx(other.normal[name], abs=1e-9 * scale)
            np.testing.assert_allclose(one.tangential[name], other.tangential[name], rtol=0, atol=1e-9 * scale)
        assert one.energy_lost == pytest.approx(other.energy_lost, abs=1e-9 * max(one.energy_before, 1.0))
        np.testing.assert_allclose(one.impulse.Lam, other.impulse.Lam, rtol=0, atol=1e-8 * scale)
    assert quick.check_contacts().worst < 1e-9


def test_a_ball_between_two_walls_strikes_at_the_times_of_the_closed_form():
    e, length, R, v = 0.99, 0.3, 0.02, 5.0
    system = mbd.System("channel")
    body = system.add(mbd.Body("ball", *inertia.sphere(R, mass=0.3), r=(0.1, 0, 0), v=(v, 0, 0)))
    for name, normal, x in (("left", (1, 0, 0), 0.0), ("right", (-1, 0, 0), length)):
        wall = mbd.Plane(point=(x, 0, 0), normal=normal)
        system.add(mbd.Contact(name, system.ground, body, shape_i=wall, shape_j=mbd.Sphere(R), restitution=e))
    result = mbd.simulate(system, 1.0, h=1e-2)
    times, speed, t = [], v, (length - R - 0.1) / v
    while t < 1.0:
        times.append(t)
        speed *= e
        t += (length - 2 * R) / speed
    assert [impact.contacts for impact in result.impacts[:2]] == [("right",), ("left",)]
    np.testing.assert_allclose([impact.t for impact in result.impacts], times, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shift", [0.0, 1e-9, 0.37])
def test_a_zero_of_a_guard_takes_few_steps(shift):
    calls = []

    def guard(x):
        calls.append(x)
        return 0.3 + shift - x * (1.0 + 0.2 * x)

    zero = first_zero(guard, 1.0, 1e-15)
    assert zero == pytest.approx((np.sqrt(1.0 + 0.8 * (0.3 + shift)) - 1.0) / 0.4, abs=1e-14)
    assert len(calls) <= 10  # an interval that is halved takes 50


def test_the_zero_of_a_guard_that_jumps_is_where_it_jumps():
    zero = first_zero(lambda x: 1.0 if x <= 0.3 else -1e9, 1.0, 1e-15)
    assert zero == pytest.approx(0.3, abs=2e-15)
    assert zero <= 0.3


@pytest.mark.parametrize("stopped", [False, True])
def test_a_contact_along_a_held_direction_and_one_beside_a_limit_are_not_flown(stopped):
    """A cart on a rail touches the floor below it, which its rail carries: it slides on without friction, up to the stop of its rail."""
    system = mbd.System("cart", gravity=DOWN)
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1), r=(0, 0, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, cart, point=(0, 0, 0.1), axis=(1, 0, 0)))
    system.add(mbd.Contact("floor", system.ground, cart, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.1), mu=0.5))
    if stopped:
        system.add(mbd.JointLimit("stop", rail, upper=0.05, restitution=0.5))
    result = mbd.simulate(system, 0.1, h=5e-3)
    end = (0.05 - 0.5 * 0.05, -0.5) if stopped else (0.1, 1.0)
    np.testing.assert_allclose([result.r[-1, 1, 0], result.v[-1, 1, 0]], end, rtol=0, atol=1e-9)
