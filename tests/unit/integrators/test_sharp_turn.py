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
from haugmbd.integrators.stick_slip.slow_sliding import slowest_speed
from joints import CJ, Planar

FOUND = 2e-3
"""Relative: the slowest speed is found at the end of a step that turns by 0.05 rad at most."""
FOLLOWED = 1e-6
"""[m] Of fixed steps that do not resolve the turn: 1e-8."""
REST = 1e-9
"""[m/s]"""
FOURTH_ORDER, THIRD_ORDER = 1e-8, 1e-6
"""[m/s] Of steps of 2.5e-3 s, which leave 1e-9 and 2e-7."""
SLIDES_AT = 0.1
"""[m/s] A speed that the turning shaft is always faster than."""
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


@pytest.mark.parametrize(
    ("integrator", "allowed"), [(mbd.RK4(), FOURTH_ORDER), (mbd.RKMK4(), FOURTH_ORDER), (mbd.RK3(), THIRD_ORDER)]
)
def test_a_turn_by_a_right_angle_costs_no_order(integrator: Any, allowed: float):
    """The last stage of a step to the right angle looked beyond it, where friction jumped: an error of first order, 1e-3 m/s."""
    radius, mu, preload, J = 0.1, 0.3, 10.0, 0.0014

    def force(t: float) -> float:
        return 10.28 * np.cos(2.24 * t + 4.935)

    def torque(t: float) -> float:
        return 0.71 * np.cos(5.45 * t + 2.137)

    def rates(t: float, y: Any) -> Any:
        u = np.array([1.0, radius**2]) * y / np.hypot(y[0], radius * y[1])
        return (np.array([force(t), torque(t)]) - mu * preload * u) / np.array([1.0, J])

    run = solve_ivp(rates, (0.0, 1.0), (-1.13, -5.6), method="DOP853", rtol=1e-12, atol=1e-13)
    assert np.hypot(run.y[0], radius * run.y[1]).min() > SLIDES_AT
    system = mbd.System("shaft")
    shaft = system.add(mbd.Body("shaft", 1.0, (0.1, 0.1, J), v=(0, 0, -1.13), omega_bar=(0, 0, -5.6)))
    bearing = system.add(CJ("bearing", system.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointFriction("rub", bearing, mbd.Coulomb(mu), radius=radius, preload=preload))
    system.add(mbd.PointForce("push", shaft, force=lambda t: (0, 0, force(t))))
    system.add(mbd.Torque("turn", shaft, torque=lambda t: (0, 0, torque(t))))
    result = mbd.simulate(system, 1.0, h=2.5e-3, integrator=integrator)
    assert not result.events
    np.testing.assert_allclose(result["shaft"].v[-1, 2], run.y[0, -1], rtol=0.0, atol=allowed)
    np.testing.assert_allclose(result["shaft"].omega[-1, 2], run.y[1, -1], rtol=0.0, atol=allowed / radius)
