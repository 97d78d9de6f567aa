"""Flights in compiled code, and single impacts, against the loop of a run in Python: the same steps, events and impacts."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.simulation.hybrid import flight, simulator
from joints import RJ, TJ
from tests.support.bouncing import DOWN


def bouncing_balls(rng):
    """Balls of any spin over tilted planes of the ground, two of them one above the other."""
    system = mbd.System("balls", gravity=DOWN)
    n = int(rng.integers(2, 6))
    balls = []
    for k in range(n):
        omega = rng.normal(size=3)
        r = (2.0 * k, 0.0, 0.3 + 0.5 * rng.random())
        balls.append(system.add(mbd.Body(f"ball {k}", 1.0, (0.01, 0.02, 0.015), r=r, v=rng.normal(size=3), omega_bar=omega)))
        normal = (0.3 * rng.normal(), 0.3 * rng.normal(), 1.0)
        point = np.array(balls[-1].r) + 0.05 * rng.normal(size=3)
        floor = {"point": point, "normal": normal, "plane_point": (2.0 * k, 0.0, -0.2), "radius": 0.1}
        system.add(mbd.Contact(f"floor {k}", system.ground, balls[-1], restitution=0.4 + 0.6 * rng.random(), **floor))
    top = system.add(mbd.Body("top", 1.0, (0.01, 0.01, 0.01), r=(0.0, 0.0, 2.0)))
    at = {"point": top.r, "normal": (0, 0, 1), "plane_point": (0, 0, balls[0].r[2] + 0.8)}
    system.add(mbd.Contact("between", balls[0], top, restitution=0.8, **at))
    return system


def pendulums_with_stops(rng):
    """A chain of pendulums with stops, on a slider with stops."""
    system = mbd.System("stops", gravity=(3.0, 0.0, -9.81))
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("ends", rail, lower=-0.1 - 0.2 * rng.random(), upper=0.1, restitution=rng.random()))
    before = cart
    for k in range(int(rng.integers(1, 4))):
        body = system.add(mbd.Body(f"link {k}", 1.0, (0.02, 0.1, 0.1), r=(k + 0.5, 0, 0)))
        pin = system.add(RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=(0, 1, 0)))
        system.add(mbd.JointLimit(f"limit {k}", pin, lower=-0.4, upper=0.3 + rng.random(), restitution=rng.random()))
        before = body
    return system


KINDS = {"balls": bouncing_balls, "stops": pendulums_with_stops}


def run(monkeypatch, model, *, flights, alone, t_end=0.45, **options):
    """Return the result, with flights and single impacts in compiled code or not, and how many flights there were."""
    made = []
    with monkeypatch.context() as changed:
        if not flights:
            changed.setattr(simulator, "flights_of", lambda *_: None)
        if not alone:
            changed.setattr(simulator, "single_impacts_of", lambda *_: None)
        make = simulator.HybridSimulation._flight
        changed.setattr(
            simulator.HybridSimulation,
            "_flight",
            lambda self, *rest: (found := make(self, *rest), found is not None and made.append(1))[0],
        )
        return mbd.simulate(model, t_end, **options), len(made)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_flights_are_the_segments_of_the_loop_bit_by_bit(kind, seed, monkeypatch):
    model = KINDS[kind](np.random.default_rng(seed)).compile()
    quick, number = run(monkeypatch, model, flights=True, alone=True, h=2e-3)
    slow, none = run(monkeypatch, model, flights=False, alone=True, h=2e-3)
    assert number > 0
    assert none == 0
    assert [(event.name, event.t) for event in quick.events] == [(event.name, event.t) for event in slow.events]
    np.testing.assert_array_equal(quick.t, slow.t)
    np.testing.assert_array_equal(quick.y, slow.y)
    assert (quick.message, quick.counters.steps) == (slow.message, slow.counters.steps)
    assert [segment.message for segment in quick.segments] == [segment.message for segment in slow.segments]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_single_impacts_are_those_of_the_law_for_many(kind, seed, monkeypatch):
    model = KINDS[kind](np.random.default_rng(seed)).compile()
    quick, _ = run(monkeypatch, model, flights=True, alone=True, h=2e-3)
    slow, _ = run(monkeypatch, model, flights=True, alone=False, h=2e-3)
    assert [event.name for event in quick.events] == [event.name for event in slow.events]
    assert len(quick.impacts) == len(slow.impacts) > 0
    np.testing.assert_allclose(quick.t, slow.t, atol=1e-11)
    largest = max(f for impact in slow.impacts for f in impact.normal.values())
    for one, other in zip(quick.impacts, slow.impacts, strict=True):
        assert one.contacts == other.contacts
        np.testing.assert_allclose(list(one.normal.values()), list(other.normal.values()), rtol=1e-9, atol=1e-10 * largest)
        np.testing.assert_allclose(
            one.impulse.Lam, other.impulse.Lam, atol=1e-9 * max(1.0, np.abs(other.impulse.Lam).max(initial=0.0))
        )
        assert one.energy_before == pytest.approx(other.energy_before, rel=1e-9)
        assert one.energy_after == pytest.approx(other.energy_after, rel=1e-9)
    np.testing.assert_allclose(quick.y, slow.y, atol=1e-9)


def test_a_gap_that_closes_and_opens_within_a_step_is_left_to_the_loop(monkeypatch):
    """A tip that swings below a plane for a fifth of a step: the loop finds where it enters."""
    system = mbd.System("swing", gravity=(0, 0, 0))
    body = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 2.0, 0)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    at = {"point": (1, 0, 0), "normal": (0, 0, 1), "plane_point": (0, 0, -0.9999)}
    system.add(mbd.Contact("floor", system.ground, body, restitution=0.5, **at))
    result, _ = run(monkeypatch, system.compile(), flights=True, alone=True, h=0.1, t_end=1.0)
    assert result.events[0].name == "floor meets"
    assert result.impacts[0].t == pytest.approx((np.pi / 2 - np.arccos(0.9999)) / 2.0, abs=1e-6)


def test_chosen_times_have_the_states_of_all_steps():
    """Of chosen times the loop makes the same motion."""
    model = bouncing_balls(np.random.default_rng(5)).compile()
    every = mbd.simulate(model, 0.5, h=2e-3)
    some = mbd.simulate(model, 0.5, h=2e-3, t_eval=np.linspace(0.0, 0.5, 11))
    own = [np.flatnonzero(every.t == t)[-1] for t in some.t if (every.t == t).any()]
    same = [k for k, t in enumerate(some.t) if (every.t == t).any()]
    assert len(same) > 1
    np.testing.assert_allclose(some.y[same], every.y[own], atol=1e-11)
    assert [event.name for event in some.events] == [event.name for event in every.events]


def test_an_interrupted_flight_leaves_the_states_so_far(monkeypatch):
    model = bouncing_balls(np.random.default_rng(2)).compile()
    whole, calls, fly = mbd.simulate(model, 0.45, h=2e-3), [], flight.fly

    def interrupting(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fly(*arguments)

    monkeypatch.setattr(flight, "fly", interrupting)
    part = mbd.simulate(model, 0.45, h=2e-3)
    assert part.interrupted
    assert 1 < len(part.t) < len(whole.t)
    np.testing.assert_array_equal(part.y, whole.y[: len(part.t)])


def test_a_run_that_would_need_too_much_memory_is_refused_before_its_first_step():
    model = bouncing_balls(np.random.default_rng(2)).compile()
    with pytest.raises(mbd.UsageError, match="would be stored"):
        mbd.simulate(model, 1e9, h=1e-6)


CHOICES = {"every third": {"store_every": 3}, "given times": {"t_eval": np.linspace(0.0, 0.45, 17)}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choice", CHOICES)
def test_flights_store_the_states_that_are_wanted(kind, choice, monkeypatch):
    model = KINDS[kind](np.random.default_rng(1)).compile()
    quick, number = run(monkeypatch, model, flights=True, alone=True, h=2e-3, **CHOICES[choice])
    slow, _ = run(monkeypatch, model, flights=False, alone=True, h=2e-3, **CHOICES[choice])
    assert number > 0
    assert [(event.name, event.t) for event in quick.events] == [(event.name, event.t) for event in slow.events]
    np.testing.assert_array_equal(quick.t, slow.t)
    np.testing.assert_array_equal(quick.y, slow.y)
    for joint in model.joints.values():
        if hasattr(joint, "angle"):
            np.testing.assert_array_equal(quick.value(joint.angle), slow.value(joint.angle))
    assert [len(segment) for segment in quick.segments] == [len(segment) for segment in slow.segments]
    assert (quick.message, quick.counters.steps) == (slow.message, slow.counters.steps)


@pytest.mark.parametrize("seed", range(3))
def test_events_of_the_user_are_found_in_flights(seed, monkeypatch):
    model = bouncing_balls(np.random.default_rng(seed)).compile()
    events = [
        mbd.Event("top", lambda t, state: state.v[1, 2], direction=-1),
        mbd.Event("tick", lambda t, state: np.sin(2.0 * np.pi * 13.0 * (t + 0.003))),
        mbd.Event("turned", lambda t, state: state.omega_bar[2, 0] - 0.1),
    ]
    quick, number = run(monkeypatch, model, flights=True, alone=True, h=2e-3, events=events)
    slow, _ = run(monkeypatch, model, flights=False, alone=True, h=2e-3, events=events)
    assert number > 0
    assert [event.name for event in quick.events] == [event.name for event in slow.events]
    np.testing.assert_allclose([event.t for event in quick.events], [event.t for event in slow.events], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(quick.y, slow.y)


def test_an_event_that_ends_the_run_and_one_that_fails_end_a_flight(monkeypatch):
    model = bouncing_balls(np.random.default_rng(0)).compile()
    ends = [mbd.Event("late", lambda t, state: t - 0.3, terminal=True)]
    quick, _ = run(monkeypatch, model, flights=True, alone=True, h=2e-3, events=ends)
    slow, _ = run(monkeypatch, model, flights=False, alone=True, h=2e-3, events=ends)
    np.testing.assert_array_equal(quick.y, slow.y)
    assert quick.message == slow.message

    def fails(t, state):
        if t > 0.3:
            raise ValueError("no more")
        return 1.0

    results = []
    for flights in (True, False):
        with pytest.raises(mbd.SimulationError, match="no more") as error:
            run(monkeypatch, model, flights=flights, alone=True, h=2e-3, events=[mbd.Event("fails", fails)])
        results.append(error.value.result)
    np.testing.assert_array_equal(results[0].y, results[1].y)
