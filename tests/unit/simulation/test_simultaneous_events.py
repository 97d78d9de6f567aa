"""A step has every event of its instant: mechanisms in one system have the events that each has alone.

Copies of a mechanism have theirs at one instant; copies whose data differ by a part of 1e-10 and less have them so soon after one another
that a run decides about all of them at the first.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, TranslationDriver
from tests.support.with_contacts import simulate_with

G = 9.81
END = 1.2
PARTS = (0.0, 0.0, 1e-10)
"""By which copies differ, relative to a length: two are the same."""
METHODS = {
    "fixed": ({"h": 4e-3}, 1e-8),
    "adaptive": ({"rtol": 1e-7, "atol": 1e-9}, 1e-4),
    "BDF": ({"integrator": mbd.BDF(rtol=1e-7, atol=1e-9)}, 1e-4),
    "Radau": ({"integrator": mbd.RadauIIA(rtol=1e-7, atol=1e-9)}, 1e-4),
    "generalized-alpha": ({"integrator": mbd.GeneralizedAlpha(h=4e-3)}, 1e-4),
}
"""Arguments of a run, and by how much times may differ [s]: copies change the steps of an adaptive method, within its tolerances."""


def pendulum(system, name, k, part):
    body = system.add(mbd.Body(f"{name} body", 1.0, (0.02, 0.02, 0.02), r=(1.0 + part, 3.0 * k, 0.0)))
    return body, system.add(RJ(f"{name} pin", system.ground, body, point=(0.0, 3.0 * k, 0.0), axis=(0, 1, 0)))


def rigid_stop(system, name, k, part):
    _, pin = pendulum(system, name, k, part)
    system.add(mbd.JointLimit(f"{name} stop", pin, lower=-1.0, upper=1.0, restitution=0.5))


def soft_stop(system, name, k, part):
    _, pin = pendulum(system, name, k, part)
    system.add(mbd.JointLimit(f"{name} stop", pin, upper=1.0, k=1e4, c=10.0))


def friction(system, name, k, part):
    _, pin = pendulum(system, name, k, part)
    system.add(mbd.JointFriction(f"{name} friction", pin, mbd.Coulomb(0.3), radius=0.2))


def stick_and_slip(system, name, k, part):
    block = system.add(mbd.Body(f"{name} block", 1.0, (0.01,) * 3, r=(0.0, 3.0 * k, 0.0)))
    rail = system.add(TJ(f"{name} rail", system.ground, block, point=block.r, axis=(1, 0, 0)))
    system.add(mbd.JointFriction(f"{name} friction", rail, mbd.Coulomb(0.4, 0.3)))
    ends = {"point_i": (-1.0, 3.0 * k, 0.0), "point_j": block.r}
    system.add(mbd.TSDA(f"{name} spring", system.ground, block, **ends, k=50.0 * (1.0 + part), c=0.0, l0=1.0))
    system.add(mbd.PointForce(f"{name} push", block, force=lambda t: (6.0 * np.sin(3.0 * t), 0.0, 0.0)))


def soft_ball(system, name, k, part):
    ball = system.add(mbd.Body(f"{name} ball", 1.0, (0.01,) * 3, r=(3.0 * k, 0.0, 0.5 + part)))
    shapes = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane()}
    system.add(mbd.ContactForce(f"{name} floor", ball, system.ground, **shapes, K=1e4, restitution=0.7))


def sampled(system, name, k, part):
    _, pin = pendulum(system, name, k, part)
    angle = f"{name} pin.angle"
    control = system.add(mbd.Sampled(f"{name} control", 0.1, lambda t, signals: -8.0 * signals[angle], inputs=(angle,)))
    system.add(mbd.Motor(f"{name} motor", pin, torque=control["out"]))
    system.add(mbd.JointFriction(f"{name} friction", pin, mbd.Coulomb(0.2), radius=0.2))


def of_user(system, name, k, part):
    body, _ = pendulum(system, name, k, part)
    n = len(system.bodies) - 1
    return [
        mbd.Event(f"{name} below", lambda t, state: state.r[n, 0]),
        mbd.Event(f"{name} turns", lambda t, state: state.v[n, 2], direction=-1),
        mbd.Event(f"{name} time", lambda t, state: t - 0.777),
    ]


def rigid_ball(system, name, k, part):
    ball = system.add(mbd.Body(f"{name} ball", 1.0, (0.01,) * 3, r=(3.0 * k, 0.0, 0.5 + part)))
    plane = {"point": ball.r, "radius": 0.1, "plane_point": (0, 0, 0), "normal": (0, 0, 1)}
    return [mbd.Contact(f"{name} floor", system.ground, ball, **plane, restitution=0.6)]


def shaken(system, name, k, part):
    at = (3.0 * k, 0.0, 0.0)
    table, block = (system.add(mbd.Body(f"{name} {what}", 1.0, (0.01,) * 3, r=at)) for what in ("table", "block"))
    lift = system.add(TJ(f"{name} lift", system.ground, table, point=at, axis=(0, 0, 1)))
    system.add(TranslationDriver(f"{name} shaker", lift, lambda t: 0.05 * (1.0 + part) * (1.0 - np.cos(18.0 * t))))
    system.add(TJ(f"{name} guide", system.ground, block, point=at, axis=(0, 0, 1)))
    return [mbd.Contact(f"{name} touch", table, block, point=at, normal=(0, 0, 1), plane_point=at)]


MIXED = 1e-4
"""[s] Events of one mechanism change the steps of the others, and with them the errors of an impact of some ten steps."""
EXACT = (rigid_stop, friction, stick_and_slip, sampled, rigid_ball, shaken)
"""Mechanisms of exact friction and rigid contacts, which explicit methods serve."""
ANY = (soft_stop, soft_ball, of_user)
CASES = [(make, name) for make in (*EXACT, *ANY) for name in METHODS if make in ANY or name in ("fixed", "adaptive")]


def events_of(parts, method):
    """Return the events of a run of mechanisms (make, name, number, part): times by name."""
    system = mbd.System("several", gravity=(0.0, 0.0, -G))
    made = [one for make, *data in parts for one in make(system, *data) or ()]
    contacts = [one for one in made if isinstance(one, mbd.Contact)]
    events = [one for one in made if isinstance(one, mbd.Event)]
    if contacts:
        result = simulate_with(system, END, contacts=contacts, events=events, **method)
    else:
        result = mbd.simulate(system, END, events=events, **method)
    found = {}
    for event in result.events:
        found.setdefault(event.name, []).append(event.t)
    return found


def check_as_alone(parts, method, accuracy):
    together, expected = events_of(parts, method), {}
    for part in parts:
        expected |= events_of([part], method)
    assert {name: len(times) for name, times in together.items()} == {name: len(times) for name, times in expected.items()}
    for name, times in together.items():
        np.testing.assert_allclose(times, expected[name], rtol=0.0, atol=accuracy, err_msg=name)
    assert len(together) >= len(parts)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "method"), CASES, ids=[f"{make.__name__}, {name}" for make, name in CASES])
def test_copies_have_the_events_that_each_has_alone(make, method):
    arguments, accuracy = METHODS[method]
    check_as_alone([(make, f"copy {k}", k, part) for k, part in enumerate(PARTS)], arguments, accuracy)


@pytest.mark.slow
def test_different_mechanisms_have_the_events_that_each_has_alone():
    kinds = (rigid_stop, soft_stop, friction, stick_and_slip, soft_ball, of_user, rigid_ball, shaken)
    check_as_alone([(make, f"{make.__name__} {k}", k, 0.0) for k, make in enumerate(kinds)], {"h": 2e-3}, MIXED)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.1, 1.0])
def test_contacts_that_meet_and_open_at_once_are_events_each(speed):
    """A plate on a table that falls away under it: all of its corners open at once, and meet again."""
    system = mbd.System("plate", gravity=(0.0, 0.0, -G))
    plate = system.add(mbd.Body("plate", 1.0, (0.01, 0.01, 0.02), r=(0.1, 0.0, 0.0), v=(0.0, 0.0, speed)))
    corners = [(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    contacts = [
        mbd.Contact(f"corner {k}", system.ground, plate, point=corner, normal=(0, 0, 1), plane_point=(0, 0, 0))
        for k, corner in enumerate(corners)
    ]
    push = lambda t: (0.0, 0.0, 0.0 if t < 0.5 else 30.0 * (t - 0.5))  # noqa: E731
    system.add(mbd.PointForce("lift", plate, force=push, point=(0.1, 0.0, 0.0)))
    result = simulate_with(system, 1.0, contacts=contacts, h=1e-3)
    for k in range(4):
        meets, opens = ([event.t for event in result.events if event.name == f"corner {k} {what}"] for what in ("meets", "opens"))
        np.testing.assert_allclose(meets, [2.0 * speed / G], atol=1e-9)
        np.testing.assert_allclose(opens, [0.5 + G / 30.0], atol=1e-9)
