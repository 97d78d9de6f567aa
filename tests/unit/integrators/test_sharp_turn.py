"""Sharp turns of joints with friction of several rates.

A load that only friction at rest would hold turns the motion, and does not stop it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd.integrators.stick_slip.sharp_turn import slowest_speed
from joints import Planar

FOUND = 2e-3
"""Relative: the slowest speed is found at the end of a step that turns by 0.05 rad at most."""
FOLLOWED = 1e-6
"""[m] Of fixed steps that do not resolve the turn: 1e-8."""
REST = 1e-9
"""[m/s]"""
G, MU_S, MU = 9.81, 0.04, 0.03
GIVEN = ({"h": 2e-3}, {"h": 1e-3}, {"rtol": 1e-8}, {"integrator": mbd.DOP853(rtol=1e-9)})


@pytest.mark.slow
@pytest.mark.parametrize("N", [1.02, 1.3, 5.0])
@pytest.mark.parametrize("off", [1.0, 1e-2, 1e-3])
def test_the_slowest_speed_is_that_of_the_closed_form(N: float, off: float):
    """With A a multiple of 1, and the angle theta from the load:  s sin(theta) / tan(theta / 2)^(1 / N)  is constant."""
    at_start, slowest = np.pi - off, np.arccos(1.0 / N)
    factor = [np.tan(0.5 * angle) ** (1.0 / N) / np.sin(angle) for angle in (at_start, slowest)]
    start = 0.3 * np.array([np.cos(at_start), np.sin(at_start)])
    found = slowest_speed(start, 2.5 * np.eye(2), np.array([-N, 0.0]), REST)
    assert found == pytest.approx(0.3 * factor[1] / factor[0], rel=FOUND)


@pytest.mark.parametrize("need", [(-0.999, 0.0), (-1.2, 0.0)])
def test_friction_that_is_enough_stops_and_so_does_a_motion_exactly_against_the_load(need: Any):
    assert slowest_speed(np.array([-0.3, 0.0]), np.eye(2), np.array(need), REST) == 0.0


@pytest.mark.slow
def test_the_slowest_speed_of_unequal_inertias_is_that_of_scipy():
    A, need, start = np.array([[1.0, 0.3], [0.3, 4.0]]), np.array([-1.1, 0.2]), np.array([-0.4, 0.15])

    def rates(t: float, s: Any) -> Any:
        return -A @ (s / np.linalg.norm(s) + need)

    run = solve_ivp(rates, (0.0, 0.6), start, method="DOP853", rtol=1e-11, atol=1e-13, max_step=1e-3)
    slowest = np.linalg.norm(run.y, axis=0).min()
    assert slowest_speed(start, A, need, REST) == pytest.approx(slowest, rel=FOUND)


def on_a_plane(velocity: Any, spring: float, force: Any = (0, 0, 0)) -> mbd.System:
    """A body of 1 kg that slides on a plane, by a spring or a force."""
    system = mbd.System("plane", gravity=(0, 0, -G))
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), v=(*velocity, 0)))
    plane = system.add(Planar("plane", system.ground, body, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointFriction("rub", plane, mbd.Coulomb(MU_S, MU)))
    if spring:
        system.add(mbd.TSDA("spring", system.ground, body, point_i=(1, 0.5, 0), point_j=(0, 0, 0), k=spring, l0=0.8))
    system.add(mbd.PointForce("force", body, force=force))
    return system


@cache
def by_scipy() -> Any:
    """Return where the body on a spring comes to rest: the equations of a point, smooth while it moves at more than 1e-6 m/s."""

    def rates(t: float, y: Any) -> Any:
        d = np.array([1.0, 0.5]) - y[:2]
        length = np.linalg.norm(d)
        return np.r_[y[2:], 3.0 * (length - 0.8) / length * d - MU * G * y[2:] / np.linalg.norm(y[2:])]

    def rests(t: float, y: Any) -> float:
        return float(np.linalg.norm(y[2:])) - 1e-6

    rests.terminal = True  # type: ignore[attr-defined]
    start = np.array([0.0, 0.0, 0.5, 0.3])
    run = solve_ivp(rates, (0.0, 6.0), start, method="DOP853", rtol=1e-11, atol=1e-13, events=rests)
    return run.t[-1], run.y[:2, -1]


@pytest.mark.slow
@pytest.mark.parametrize("given", GIVEN, ids=["h = 2e-3", "h = 1e-3", "error control", "DOP853"])
def test_a_body_on_a_spring_turns_where_it_nearly_stops(given: dict[str, Any]):
    """At t = 3.05 s it has 4e-6 m/s, under a load between sliding friction and that at rest: fixed steps stuck there, 16 mm off."""
    t, place = by_scipy()
    result = mbd.simulate(on_a_plane((0.5, 0.3), 3.0), 6.0, **given)
    assert [event.name for event in result.events] == ["rub stops"]
    assert result.events[0].t == pytest.approx(t, abs=2e-4)
    np.testing.assert_allclose(result["body"].r[-1, :2], place, rtol=0.0, atol=FOLLOWED)


@pytest.mark.slow
@pytest.mark.parametrize("given", GIVEN, ids=["h = 2e-3", "h = 1e-3", "error control", "DOP853"])
@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0])
def test_a_body_that_slides_exactly_against_its_load_stops_and_sticks(given: dict[str, Any], angle: float):
    load = 0.5 * (MU + MU_S) * G
    along = np.array([np.cos(angle), np.sin(angle)])
    result = mbd.simulate(on_a_plane(0.4 * along, 0.0, (*(-load * along), 0)), 1.0, **given)
    (stop,) = result.events
    deceleration = load + MU * G
    assert stop.t == pytest.approx(0.4 / deceleration, abs=1e-9)
    np.testing.assert_allclose(result["body"].r[-1, :2], 0.08 / deceleration * along, rtol=0.0, atol=1e-9)
