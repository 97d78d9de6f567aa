"""Contacts and stops within one fixed step: each touch is an event at its time, and an impact that the steps cannot follow is told.

A stage of a step looked into a stiff contact that had not touched, threw the ball back at 120 m/s, and no event or note said so; balls
passed through each other between the ends and the middle of a step.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from joints import TJ

H = 1e-3
G, HEIGHT = 9.81, 0.5
FALL = (2.0 * HEIGHT / G) ** 0.5
"""[s] until a ball touches the ground, closed form."""
SPEED, RADIUS = 100.0, 0.02
LOCATED = 1e-9
"""[s] Methods of order two and more integrate a fall exactly, and events are located to rounding."""
INERTIA = (0.004, 0.004, 0.004)


def dropped(K: float) -> mbd.System:
    """A ball that falls on the ground."""
    system = mbd.System("ball", gravity=(0, 0, -G))
    ball = system.add(mbd.Body("ball", 1.0, INERTIA, r=(0, 0, HEIGHT + 0.1)))
    system.add(mbd.ContactForce("floor", system.ground, ball, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.1), K=K, restitution=0.8))
    return system


def shot(distance: float, aside: float = 0.0, K: float = 1e8) -> mbd.System:
    """A ball that flies at another one, and moves by two of their diameters in a step."""
    system = mbd.System("balls")
    one = system.add(mbd.Body("one", 1.0, INERTIA))
    other = system.add(mbd.Body("other", 1.0, INERTIA, r=(-distance, 0, aside), v=(SPEED, 0, 0)))
    shape = mbd.Sphere(RADIUS)
    system.add(mbd.ContactForce("hit", one, other, shape_i=shape, shape_j=shape, K=K, restitution=0.8))
    return system


def stopped(k: float, c: float) -> mbd.System:
    """A slider in a viscous guide that falls on a stop: it does not keep its energy."""
    system = mbd.System("slider", gravity=(0, 0, -G))
    slider = system.add(mbd.Body("slider", 1.0, INERTIA))
    guide = system.add(TJ("guide", system.ground, slider, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("stop", guide, lower=-HEIGHT, k=k, c=c))
    system.add(mbd.JointSpring("guide", guide, k=0.0, c=1e-3))
    return system


def run(system: mbd.System, t_end: float, integrator: Any) -> tuple[mbd.Result, list[str]]:
    """Return a run, and its notes on impacts, which are issued as warnings."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = mbd.simulate(system, t_end, integrator=integrator)
    notes = [note for note in result.warnings if note.startswith("an impact of")]
    assert [str(one.message) for one in issued if "an impact of" in str(one.message)] == notes
    return result, notes


@pytest.mark.parametrize("K", [1e10, 1e14])
@pytest.mark.parametrize("method", [mbd.RK4, mbd.RadauIIA, mbd.GeneralizedAlpha])
def test_a_stiff_contact_is_touched_where_the_motion_reaches_it(method: Any, K: float) -> None:
    """RK4 had a ball of 1e2 to 1e6 m/s, RadauIIA one that bounced half a millimetre above the ground, both without an event."""
    result, notes = run(dropped(K), 0.33, method(h=H))
    touch, release = result.events[:2]
    assert (touch.name, release.name) == ("floor: touch", "floor: release")
    assert abs(touch.t - FALL) < LOCATED
    assert len(notes) == 1
    assert notes[0].startswith("an impact of floor lasts")


def test_until_it_touches_a_contact_has_no_force() -> None:
    """The step that ends at the touch is a free fall, to rounding, whatever its stages see behind the surface."""
    result, _ = run(dropped(1e10), 0.33, mbd.RK4(h=H))
    before = result.t <= result.events[0].t
    np.testing.assert_allclose(result.r[before, 1, 2], HEIGHT + 0.1 - 0.5 * G * result.t[before] ** 2, atol=1e-14)


@pytest.mark.parametrize("distance", np.linspace(0.5, 0.56, 5))
@pytest.mark.parametrize("method", [mbd.RK4, mbd.Heun, mbd.GeneralizedAlpha])
def test_balls_that_meet_and_part_within_a_step_touch(method: Any, distance: float) -> None:
    """Gaps at the ends of steps and in their middle are positive. With Heun's method they pass through each other, which is told."""
    result, notes = run(shot(distance), 0.009, method(h=H))
    assert abs(result.events[0].t - (distance - 2.0 * RADIUS) / SPEED) < LOCATED
    assert len(notes) == 1


@pytest.mark.parametrize("aside", [2.0 * RADIUS * 1.001, 3.0 * RADIUS])
def test_balls_that_miss_each_other_do_not_touch(aside: float) -> None:
    result, notes = run(shot(0.545, aside), 0.009, mbd.RK4(h=H))
    assert (result.events, notes) == ((), [])
    np.testing.assert_allclose(result.v[-1, 2], (SPEED, 0.0, 0.0), atol=1e-12)


@pytest.mark.parametrize("share", [0.999, 0.9])
def test_balls_that_graze_each_other_touch_where_they_do(share: float) -> None:
    aside = 2.0 * RADIUS * share
    result, _ = run(shot(0.545, aside, K=1e3), 0.009, mbd.RK4(h=H))
    touch = (0.545 - ((2.0 * RADIUS) ** 2 - aside**2) ** 0.5) / SPEED
    assert [event.name for event in result.events] == ["hit: touch", "hit: release"]
    assert abs(result.events[0].t - touch) < LOCATED


def test_a_ball_that_has_left_and_comes_back_within_half_a_step_touches() -> None:
    system = mbd.System("ball", gravity=(0, 0, -G))
    ball = system.add(mbd.Body("ball", 1.0, INERTIA, r=(0, 0, 0.1), v=(0, 0, H)))
    system.add(mbd.ContactForce("floor", system.ground, ball, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.1), K=1e5))
    result, _ = run(system, 5.0 * H, mbd.RK4(h=H))
    assert result.events[0].name == "floor: touch"
    assert abs(result.events[0].t - 2.0 * H / G) < LOCATED


@pytest.mark.parametrize("k", [1e10, 1e13])
def test_an_undamped_stop_that_is_stepped_across_is_told(k: float) -> None:
    """Implicit methods of order two do not end steps at a kink: there is no event, and no energy that should stay."""
    result, notes = run(stopped(k, 0.0), 0.35, mbd.GeneralizedAlpha(h=H))
    assert result.v[-1, 1, 2] > 1.5 * (G * 2.0 * HEIGHT) ** 0.5  # wrong, as the note says
    assert len(notes) == 1
    assert notes[0].startswith("an impact of stop lower lasts 0.001")


def test_an_undamped_stop_that_is_followed_has_no_note() -> None:
    _, notes = run(stopped(1e4, 0.0), 0.4, mbd.GeneralizedAlpha(h=H))
    assert notes == []


@pytest.mark.filterwarnings("ignore:an impact of stop upper")
@pytest.mark.parametrize("part", [2e-3, 1e-4])
@pytest.mark.parametrize("given", [{"restitution": 1.0}, {"k": 1e6, "c": 1e3}], ids=["rigid", "compliant"])
def test_a_stop_that_is_grazed_within_half_a_step_is_hit_where_it_is(given: dict[str, float], part: float) -> None:
    """An oscillator x = cos(t - 2) meets a stop at 1 - part, whatever the steps are; rigid stops were leapt over by most of them."""
    step, close = 0.3, 3e-3
    for ahead in np.linspace(0.0, step, 7):
        start = ahead - 2.0
        system = mbd.System("oscillator")
        x, v = (np.cos(start), 0, 0), (-np.sin(start), 0, 0)
        slider = system.add(mbd.Body("slider", 1.0, INERTIA, r=x, v=v))
        guide = system.add(TJ("guide", system.ground, slider, point=(0, 0, 0), axis=(1, 0, 0), q0=float(x[0])))
        system.add(mbd.JointSpring("spring", guide, k=1.0, free=0.0))
        system.add(mbd.JointLimit("stop", guide, upper=1.0 - part, **given))
        result = mbd.simulate(system, 2.5 - ahead, integrator=mbd.RK4(h=step))
        hits = [hit.t for hit in result.impacts] if "restitution" in given else [event.t for event in result.events]
        assert abs(hits[0] - (2.0 - ahead - np.arccos(1.0 - part))) < close
