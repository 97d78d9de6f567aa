"""A terminal event that has ended a run is armed again when its g has left zero; a motion in several runs has each event once."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ

L, G = 0.8, 9.81
METHODS = {
    "fixed": {"h": 2e-3},
    "adaptive": {"rtol": 1e-9, "atol": 1e-11},
    "BDF": {"integrator": mbd.BDF(rtol=1e-7, atol=1e-9)},
    "Radau": {"integrator": mbd.RadauIIA(rtol=1e-7, atol=1e-9)},
    "generalized-alpha": {"integrator": mbd.GeneralizedAlpha(h=2e-3)},
    "Baumgarte": {"h": 2e-3, "stabilization": mbd.Baumgarte(5.0, 5.0)},
}


def pendulum(angle=0.3):
    system = mbd.System("pendulum", gravity=(0.0, 0.0, -G))
    bob = system.add(mbd.Body("bob", 1.0, (1e-4,) * 3, r=(L * np.sin(angle), 0.0, -L * np.cos(angle))))
    pin = system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("loss", pin, c=0.05))
    return system


def place(t, state):
    return state.r[1, 0]


def speed(t, state):
    return state.omega_bar[1, 1]


def clock(t, state):
    return np.sin(7.0 * t)


def kicked(model, state):
    """The state after a kick of 0.1 N m s about y."""
    return mbd.impulse(model, state, applied=mbd.AngularImpulse("kick", model.bodies[1], impulse=(0.0, 0.1, 0.0))).state


def in_pieces(model, event, arguments, end, behind=lambda model, state: state):
    """Return the times of the event in runs that it ends, each of which continues from the last."""
    times, state = [], model.state()
    for _ in range(60):
        result = mbd.simulate(model, end, events=[event], state=state, **arguments)
        if result.status is not mbd.RunStatus.TERMINAL_EVENT:
            return times
        assert result.t[-1] > result.t[0]
        times.append(result.t[-1])
        state = behind(model, result.state())
    raise AssertionError(f"{len(times)} runs to t = {times[-1]}")


@pytest.mark.slow
@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("function", [place, speed, clock])
@pytest.mark.parametrize("method", METHODS)
def test_runs_that_an_event_ends_have_the_events_of_one_run(method, function, direction):
    model, arguments = pendulum().compile(), METHODS[method]
    whole = mbd.simulate(model, 4.0, events=[mbd.Event("zero", function, direction=direction)], **arguments)
    expected = [event.t for event in whole.events]
    event = mbd.Event("zero", function, direction=direction, terminal=True)
    np.testing.assert_allclose(in_pieces(model, event, arguments, 4.0), expected, rtol=0.0, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fixed", "adaptive", "BDF"])
def test_a_kick_at_each_passage(method):
    """Behind a kick g leaves zero faster; the event that it started from does not come again until the pendulum is back."""
    event = mbd.Event("passage", place, direction=-1, terminal=True)
    times = in_pieces(pendulum().compile(), event, METHODS[method], 6.0, kicked)
    assert len(times) in (3, 4)
    assert np.diff(times).min() > 1.5


def test_the_state_of_a_file_arms_the_event_alike(tmp_path):
    model, event = pendulum().compile(), mbd.Event("passage", place, terminal=True)
    first = mbd.simulate(model, 4.0, h=5e-3, events=[event])
    loaded = mbd.load(first.save(tmp_path / "first.npz"))
    second = mbd.simulate(model, 4.0, h=5e-3, events=[event], state=loaded.state())
    assert second.t[-1] - second.t[0] > 0.8


@pytest.mark.parametrize("part", [-1e-16, -1e-12, -5e-11, 0.0, 1e-12])
def test_an_event_at_the_end_of_a_run_is_of_this_run_alone(part):
    """A run that is cut where g is zero, or less before that than the accuracy of located times: once, and not again in the next run."""
    model, event = pendulum().compile(), mbd.Event("time", lambda t, state: t - 1.0, direction=1)
    first = mbd.simulate(model, 1.0 + part, h=1e-2, events=[event])
    second = mbd.simulate(model, 1.5, h=1e-2, events=[event], state=first.state())
    assert len(first.events) == 1
    assert second.events == ()


def test_an_event_behind_the_start_is_found():
    """The start is not at zero if the zero comes later than the accuracy of located times."""
    event = mbd.Event("time", lambda t, state: t - 1e-7)
    assert [one.t for one in mbd.simulate(pendulum(), 0.1, h=1e-2, events=[event]).events] == pytest.approx([1e-7])


def test_runs_with_a_kick_between_are_one_motion_of_two_segments():
    """Time and pose stand twice at the kick; energies, accelerations and multipliers are those of each run."""
    model, event = pendulum().compile(), mbd.Event("passage", place, terminal=True)
    first = mbd.simulate(model, 2.0, h=5e-3, events=[event])
    plain = mbd.simulate(model, 2.0, h=5e-3, state=first.state())
    assert first.join(plain).t[-1] == 2.0
    behind = mbd.simulate(model, 2.0, h=5e-3, state=kicked(model, first.state()))
    joined = first.join(behind)
    assert [len(one) for one in joined.segments] == [len(first), len(behind)]
    for name in ("t", "y", "lam", "v_dot"):
        np.testing.assert_array_equal(getattr(joined, name), np.concatenate([getattr(first, name), getattr(behind, name)]))
    np.testing.assert_array_equal(joined.energy().kinetic, np.concatenate([first.energy().kinetic, behind.energy().kinetic]))
    assert joined.at(first.t[-1]).v[1, 0] == behind.v[0, 1, 0]
