"""Runs that begin with shapes deep inside each other: a warning with the amount."""

from __future__ import annotations

import warnings

import pytest

import haugmbd as mbd
from joints import TJ
from tests.support.with_contacts import simulate_with

G = 9.81


def ball(height: float, K: float = 1e6, *, radius: float = 0.1, held: float = 0.0, shape: object = None) -> mbd.System:
    """A ball of 1 kg at a height above a plane, pressed on it with a force in addition to its weight."""
    system = mbd.System("ball", gravity=(0, 0, -G))
    body = system.add(mbd.Body("ball", 1.0, (0.01, 0.01, 0.01), r=(0, 0, height)))
    system.add(TJ("guide", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    solid = mbd.Sphere(radius) if shape is None else shape
    system.add(mbd.ContactForce("floor", system.ground, body, shape_i=mbd.Plane(normal=(0, 0, 1)), shape_j=solid, K=K))
    if held:
        system.add(mbd.PointForce("press", body, force=(0, 0, -held)))
    return system


def told(system: mbd.System, **options) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        mbd.simulate(system, 0.01, h=1e-4, **options)
    return [str(one.message) for one in found if issubclass(one.category, mbd.RunWarning) and "starts" in str(one.message)]


def test_a_start_deep_against_the_radius_is_told():
    (text,) = told(ball(0.08))
    assert "ContactForce 'floor' starts 0.02 m deep, 0.2 of the smaller radius, with an elastic force of 2.83e+03 N" in text
    assert "288 times the weight of body 'ball'" in text
    (text,) = told(ball(0.03, K=10.0, shape=mbd.Box((0.1, 0.1, 0.1))))
    assert "0.02 m deep" in text
    assert "0.4 of the smaller radius" in text


def test_a_force_that_throws_a_body_is_told():
    """1 mm deep in a ball of 0.1 m, which is not much against the radius."""
    (text,) = told(ball(0.099, K=1e8))
    assert "starts 0.001 m deep, with an elastic force of 3.16e+03 N, 322 times the weight of body 'ball'" in text
    assert "accelerates by 3.15e+03 m/s2" in text


def test_a_preload_and_a_body_at_rest_are_not_told():
    K = 1e8
    N = K * 0.001**1.5
    assert told(ball(0.099, K=K, held=N - G)) == []
    assert told(ball(0.1 - (G / 1e6) ** (2.0 / 3.0))) == []
    assert told(ball(0.2)) == []


def test_a_run_with_impacts_tells_it_at_its_start_alone():
    system = ball(0.08)
    wall = mbd.Contact("wall", system.ground, system.bodies[1], point=(0, 0, -1), normal=(0, 0, 1), restitution=0.5)
    with pytest.warns(mbd.RunWarning, match="starts 0.02 m deep"):
        result = simulate_with(system, 0.01, contacts=[wall], h=1e-4)
    assert sum("starts" in str(one) for one in result.warnings) == 1
