"""Dry friction at rigid contacts, event driven: closed forms, events, and what is refused."""

import itertools
import warnings

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.errors import ModelError, UsageError

G = 9.81
Z = (0.0, 0.0, 1.0)
SHARP = {"rtol": 1e-10, "atol": 1e-12}


def block(mu, gravity=(0.0, 0.0, -G), v=(0.0, 0.0, 0.0), **more):
    """Return a system with a block of 1 kg, 0.2 x 0.2 x 0.1 m, on the plane z = 0."""
    system = mbd.System("block", gravity=gravity)
    body = system.add(mbd.Body("block", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.05), v=v))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=mbd.Box((0.2, 0.2, 0.1)), mu=mu, **more))
    return system


def ball(mu=0.3, restitution=0.0, height=0.0, v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0), R=0.1):
    """Return a system with a ball of 1 kg on the plane z = 0."""
    system = mbd.System("ball", gravity=(0, 0, -G))
    body = system.add(mbd.Body("ball", 1.0, (0.4 * R * R,) * 3, r=(0, 0, R + height), v=v, omega_bar=w))
    shapes = {"shape_i": mbd.Plane(), "shape_j": mbd.Sphere(R)}
    system.add(mbd.Contact("floor", system.ground, body, mu=mu, restitution=restitution, **shapes))
    return system


@pytest.mark.slow
def test_a_block_slides_to_its_stop():
    result = mbd.simulate(block(0.3, v=(1.0, 0, 0)), 0.5, t_eval=[0.0, 0.1, 0.5], **SHARP)
    (stop,) = [event for event in result.events if event.name == "floor: sticks"]
    assert abs(stop.t - 1.0 / (0.3 * G)) <= 1e-11
    assert abs(result["block"].r[-1, 0] - 1.0 / (0.6 * G)) <= 1e-11
    contact = result.contact("floor")
    assert np.abs(contact.normal_force.sum(axis=1) - G).max() <= 1e-9
    assert np.abs(contact.friction_force.sum(axis=1)[:2] - (-0.3 * G, 0, 0)).max() <= 1e-9
    assert set(contact.state[0]) == {"slip"}
    assert set(contact.state[-1]) == {"stick"}


@pytest.mark.slow
def test_a_block_on_an_incline_does_not_creep():
    gravity = (G * np.sin(np.pi / 6), 0, -G * np.cos(np.pi / 6))
    result = mbd.simulate(block(np.tan(np.pi / 6) / 0.96, gravity), 10.0, h=0.2, t_eval=[0.0, 10.0])
    assert np.abs(result["block"].r[-1] - (0, 0, 0.05)).max() <= 1e-12
    contact = result.contact("floor")
    assert not contact.unique.all()
    assert np.abs(contact.friction_force.sum(axis=1) - (-G / 2, 0, 0)).max() <= 1e-9


@pytest.mark.slow
def test_a_ball_slips_until_it_rolls():
    R, v, w = 0.1, np.array([1.0, 0.5, 0.0]), np.array([3.0, -2.0, 4.0])
    result = mbd.simulate(ball(0.3, v=v, w=w), 0.6, t_eval=[0.0, 0.6], **SHARP)
    s = v - R * np.cross(w, Z)
    t = 2.0 * np.linalg.norm(s) / (7.0 * 0.3 * G)
    (stick,) = [event.t for event in result.events if event.name == "floor: sticks"]
    assert abs(stick - t) <= 1e-10
    assert np.abs(result["ball"].v[-1] - (v - 0.3 * G * t * s / np.linalg.norm(s))).max() <= 1e-10


@pytest.mark.slow
def test_a_bouncing_ball_ends_at_rest():
    result = mbd.simulate(ball(0.0, 0.5, 0.2), 2.0, t_eval=[0.0, 2.0], rtol=1e-9)
    first = np.sqrt(0.4 / G)
    assert abs(result.impacts[0].t - first) <= 1e-9
    assert abs(result.impacts[-1].t - 3.0 * first) <= 2e-6
    assert np.abs(result["ball"].r[-1] - (0, 0, 0.1)).max() <= 1e-11


def test_an_oblique_impact_has_the_friction_impulse_of_coulomb():
    result = mbd.simulate(ball(0.2, 0.0, 0.05, v=(3.0, 0, 0)), 0.11, rtol=1e-9)
    (impact,) = result.impacts
    N = impact.normal["floor"]
    assert abs(N - np.sqrt(2 * G * 0.05)) <= 1e-8
    assert np.abs(impact.tangential["floor"] - (-0.2 * N, 0, 0)).max() <= 1e-9
    assert impact.energy_lost > 0.0


def test_refusals_name_the_contact_and_the_number():
    with pytest.raises(ModelError, match=r"mu is -0\.1"):
        block(-0.1).compile()
    with pytest.raises(ModelError, match=r"restitution is 2"):
        block(0.1, restitution=2.0).compile()
    system = mbd.System("two", gravity=(0, 0, -G))
    body = system.add(mbd.Body("a", 1.0, (1, 1, 1), r=(0, 0, 0.02)))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.1), mu=0.3))
    with pytest.raises(ModelError, match=r"floor.*-0\.08"):
        mbd.simulate(system, 0.1)
    with pytest.raises(UsageError, match=r"BDF"):
        mbd.simulate(block(0.3), 0.1, h=0.01, integrator=mbd.BDF())


def test_a_compliant_law_makes_a_contact_force():
    system = mbd.System("two", gravity=(0, 0, -G))
    body = system.add(mbd.Body("a", 1.0, (1, 1, 1), r=(0, 0, 0.1)))
    part = mbd.Contact(
        "floor", system.ground, body, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.1), restitution=0.5, law=mbd.Compliant(1e5)
    )
    assert isinstance(part, mbd.ContactForce)
    assert (part.K, part.restitution) == (1e5, 0.5)


@pytest.mark.slow
def test_a_joint_and_a_sticking_contact_carry_the_weight_together():
    system = mbd.System("ladder", gravity=(0, -G, 0))
    length, angle = 2.0, 1.2
    half = 0.5 * length * np.array([np.cos(angle), np.sin(angle), 0.0])
    rod = system.add(mbd.Body("rod", 3.0, (1.0, 1.0, 1.0), r=half, p=(np.cos(angle / 2), 0, 0, np.sin(angle / 2))))
    system.add(joints.PointOnLine("wall", system.ground, rod, point=2.0 * half, axis=(0, 1, 0)))
    foot = mbd.Sphere(0.0, center=(-0.5 * length, 0, 0))
    system.add(mbd.Contact("foot", system.ground, rod, shape_i=mbd.Plane(normal=(0, 1, 0)), shape_j=foot, mu=0.9))
    result = mbd.simulate(system, 0.2, rtol=1e-8, t_eval=[0.0, 0.2])
    contact, wall = result.contact("foot"), result.reaction("wall")
    push = 3.0 * G * 0.5 / np.tan(angle)
    assert np.abs(contact.normal_force[:, 0] - 3.0 * G).max() <= 1e-8
    assert np.abs(contact.friction_force[:, 0, 0] - push).max() <= 1e-8
    assert np.abs(wall.force[:, 0] + push).max() <= 1e-8


@pytest.mark.slow
def test_a_row_of_touching_balls_says_that_its_law_is_a_choice():
    """Newton's law for all contacts at once, and one impact after the other, differ: five balls have the second, and are told both."""
    R = 0.1

    def row(n):
        system = mbd.System("row", gravity=(0.0, 0.0, 0.0))
        places = [(-0.05, 1.0), *((2.0 * R * k, 0.0) for k in range(1, n))]
        balls = [system.add(mbd.Body(f"b{k}", 1.0, (4e-3,) * 3, r=(x, 0, 0), v=(v, 0, 0))) for k, (x, v) in enumerate(places)]
        for k, (i, j) in enumerate(itertools.pairwise(balls)):
            shapes = {"shape_i": mbd.Sphere(R), "shape_j": mbd.Sphere(R)}
            system.add(mbd.Contact(f"c{k}", i, j, mu=0.2, restitution=1.0, **shapes))
        return system

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        five = mbd.simulate(row(5), 0.1, **SHARP)
        two = mbd.simulate(row(2), 0.1, **SHARP)
    assert any("'c0'" in text and "one after the other" in text for text in five.warnings)
    assert np.abs(five.v[-1, 1:, 0] - (0.0, 0.0, 0.0, 0.0, 1.0)).max() <= 1e-9
    assert two.warnings == ()
    assert np.abs(two["b1"].v[-1] - (1.0, 0.0, 0.0)).max() <= 1e-9
