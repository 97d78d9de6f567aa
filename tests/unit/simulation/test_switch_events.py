"""Touch and release, which compiled code looks for in every step, against a search of all steps in Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.watches.event_watch import NO_EVENTS
from haugmbd.simulation.stepping.switches import switching
from haugmbd.simulation.stepping.switches.switch_events import SwitchEvent, SwitchPlaces
from joints import RJ, TJ
from tests.support.contacts import ball_on_floor
from tests.support.seeds import seeds

SAME = 1e-12
"""[s] Both searches end on the same step; seen 0."""
METHODS = {
    "RK4": {"h": 2e-3},
    "SemiImplicitEuler": {"h": 1e-3, "integrator": mbd.SemiImplicitEuler()},
    "RKMK4": {"h": 2e-3, "integrator": mbd.RKMK4()},
    "HEM4": {"h": 2e-3, "integrator": mbd.HEM4()},
    "RATTLE": {"h": 1e-3, "integrator": mbd.RATTLE()},
    "DormandPrince": {"rtol": 1e-7, "atol": 1e-9},
    "DOP853": {"rtol": 1e-7, "atol": 1e-9, "integrator": mbd.DOP853()},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-6, atol=1e-8)},
    "SciPy": {"rtol": 1e-7, "atol": 1e-9, "integrator": mbd.SciPySolver("RK45")},
}


class Unwatched(SwitchPlaces):
    """Places of a run that compiled code does not look at."""

    def __init__(self, ny, switches):
        super().__init__(ny, switches)
        self.watch = self.watch._replace(places=NO_EVENTS.places)


def chain(rng, bound=0.3):
    """Three links with damped stops in every joint, and random speeds."""
    system = mbd.System("chain", gravity=(0.0, 0.0, -9.81))
    before = system.ground
    for k, speed in enumerate(np.cumsum(rng.uniform(-3.0, 3.0, 3))):
        link = mbd.Body(f"link {k}", 1.0, (0.01, 0.1, 0.1), r=(k + 0.5, 0.0, 0.0), omega_bar=(0.0, speed, 0.0))
        system.add(link)
        pin = system.add(RJ(f"pin {k}", before, link, point=(k, 0.0, 0.0), axis=(0, 1, 0)))
        system.add(mbd.JointLimit(f"stop {k}", pin, lower=-bound, upper=bound, k=200.0, c=rng.choice([0.0, 2.0])))
        before = link
    return system


def tumbling_box(rng):
    """A box that falls on a floor, with a random spin."""
    system = mbd.System("box", gravity=(0.0, 0.0, -9.81))
    box = system.add(mbd.Body("box", 1.0, (0.01, 0.02, 0.03), r=(0.0, 0.0, 0.4), omega_bar=rng.uniform(-5.0, 5.0, 3)))
    shapes = {"shape_i": mbd.Box((0.2, 0.3, 0.1)), "shape_j": mbd.Plane(point=(0, 0, 0), normal=(0, 0, 1))}
    system.add(mbd.ContactForce("floor", box, system.ground, **shapes, K=1e5, restitution=0.5, mu=0.3))
    return system


def both(system, t_end, monkeypatch, **options):
    """Return the results with and without the look in compiled code."""
    watched = mbd.simulate(system, t_end, **options)
    monkeypatch.setattr(switching, "SwitchPlaces", Unwatched)
    return watched, mbd.simulate(system, t_end, **options)


def same_events(one, other):
    assert [event.name for event in one.events] == [event.name for event in other.events]
    np.testing.assert_allclose([event.t for event in one.events], [event.t for event in other.events], rtol=0.0, atol=SAME)
    np.testing.assert_array_equal(one.t, other.t)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_events_of_stops(method, monkeypatch):
    watched, searched = both(chain(np.random.default_rng(1)), 0.8, monkeypatch, project_velocity=True, **METHODS[method])
    assert len(watched.events) > 1
    same_events(watched, searched)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(3))
@pytest.mark.parametrize("make", [chain, tumbling_box])
@pytest.mark.filterwarnings("ignore:the step h")  # its friction is steep where a corner creeps
def test_random_motions_have_the_same_events(make, seed, monkeypatch):
    watched, searched = both(make(np.random.default_rng(seed)), 0.8, monkeypatch, h=1e-3, project_velocity=True)
    assert len(watched.events) > 1
    same_events(watched, searched)


@pytest.mark.parametrize("options", [{"h": 1e-3}, {"rtol": 1e-8, "atol": 1e-10}, {"integrator": mbd.GeneralizedAlpha(h=1e-3)}])
def test_a_place_far_from_its_event_is_never_evaluated_in_python(options, monkeypatch):
    def fails(*arguments):
        raise AssertionError

    for name in ("value", "clear"):
        monkeypatch.setattr(SwitchEvent, name, fails)
    result = mbd.simulate(chain(np.random.default_rng(1), bound=50.0), 0.5, project_velocity=True, **options)
    assert result.events == ()


PULL, SPEED, STEP = 2.0, 1.0, 0.1


def thrown(limit, middle_of_step=0.5):
    """A mass that turns back at the height 1 / 4 m, at a part of a step of `STEP`; a stop at `limit` below it."""
    system = mbd.System("thrown")
    turn = SPEED / PULL - (0.5 - middle_of_step) * STEP + 0.5 * STEP  # at 0.55 s: in the middle of the sixth step
    start = SPEED * (turn / (SPEED / PULL))
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1), v=(start, 0.0, 0.0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.PointForce("pull", mass, point=(0, 0, 0), force=(-PULL, 0.0, 0.0)))
    system.add(mbd.JointLimit("stop", rail, upper=0.5 * start**2 / PULL - limit, k=10.0))
    return system


def test_a_touch_between_the_ends_of_a_step_is_found():
    """The mass is beyond the stop for 2 sqrt(2 x / a) = 0.03 s in the middle of a step of 0.1 s, both ends of which are 2.3 mm below it."""
    depth = 0.5 * PULL * (0.015) ** 2
    result = mbd.simulate(thrown(depth), 1.0, h=STEP)
    assert [event.name for event in result.events] == ["stop upper: touch", "stop upper: release"]
    assert result.events[0].t == pytest.approx(0.55 - 0.015, abs=1e-9)


@pytest.mark.parametrize("missed", [1e-9, 1e-6, 1e-3])
def test_a_mass_that_turns_back_before_its_stop_has_no_event(missed):
    result = mbd.simulate(thrown(-missed), 1.0, h=STEP)
    assert result.events == ()
    assert result["mass"].r[-1, 0] == pytest.approx(1.1 - 1.0, abs=1e-12)


def test_an_integrated_angle_that_is_off_by_part_of_a_turn_does_not_hide_an_event():
    """It chooses the turn alone."""
    model = chain(np.random.default_rng(2)).compile()
    state = model.state()
    off = replace(state, angles=state.angles + np.array([0.9, -0.9, 0.5]))
    first, other = (mbd.simulate(model, 0.5, h=1e-3, state=given, project_velocity=True) for given in (state, off))
    assert len(first.events) > 1
    same_events(first, other)


def test_events_of_the_user_are_found_beside_those_of_contacts():
    system, _ = ball_on_floor(0.05, e=0.8)
    height = mbd.Event("low", lambda t, state: state.r[1, 2] - system.bodies[1].r[2] + 0.02)
    alone, beside = (mbd.simulate(system, 0.4, h=1e-3, events=events) for events in ([], [height]))
    assert sum(event.name == "low" for event in beside.events) > 1
    assert [(e.name, e.t) for e in beside.events if e.name != "low"] == [(e.name, e.t) for e in alone.events]
