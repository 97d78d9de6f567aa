"""Dense output where positions are not the integral of velocities: a method of order one, and events in its steps."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.dense_output import interpolate
from joints import RJ

ROUNDING = 1e-13
"""Of speeds and positions of order 10."""
G, H = 10.0, 0.1


def falling() -> mbd.System:
    """A body that falls from rest; semi-implicit Euler has v = -G t, and r = -G t (t + h) / 2, at the ends of its steps."""
    system = mbd.System("stone", gravity=(0.0, 0.0, -G))
    system.add(mbd.Body("stone", 1.0, (1.0, 1.0, 1.0)))
    return system


def fall(t_end: float = 1.0, **options) -> mbd.Result:
    return mbd.simulate(falling(), t_end, h=H, integrator=mbd.SemiImplicitEuler(), **options)


def test_velocities_between_steps_of_order_one():
    """The quintic through positions and velocities exceeded them by 15/16 h a in the middle of each step."""
    result, times = fall(), np.linspace(0.0, 1.0, 41)
    between = result.resample(times)
    np.testing.assert_allclose(between.v[:, 1, 2], -G * times, rtol=0.0, atol=ROUNDING)
    wanted = fall(t_eval=times)
    np.testing.assert_allclose(wanted.v[:, 1, 2], -G * times, rtol=0.0, atol=ROUNDING)
    assert (np.diff(between.r[:, 1, 2]) <= 0.0).all()
    np.testing.assert_array_equal(between.r[::4], result.r)


def test_velocities_between_sparse_states_of_order_one():
    """Ten steps between stored states: positions still miss the integral of velocities by h / 2 times their change."""
    times = np.linspace(0.0, 1.0, 41)
    result = mbd.simulate(falling(), 1.0, h=0.02, integrator=mbd.SemiImplicitEuler(), store_every=5).resample(times)
    np.testing.assert_allclose(result.v[:, 1, 2], -G * times, rtol=0.0, atol=ROUNDING)


def test_angular_velocities_between_steps_of_order_one():
    """A wheel under a constant torque: omega grows linearly; and so does the rate of the same link of a chain."""
    system = mbd.System("wheel", gravity=(0.0, 0.0, 0.0))
    wheel = system.add(mbd.Body("wheel", 1.0, (1.0, 1.0, 2.0)))
    system.add(RJ("axle", system.ground, wheel, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(mbd.Torque("drive", wheel, torque=(0.0, 0.0, 4.0)))
    result = mbd.simulate(system, 1.0, h=H, integrator=mbd.SemiImplicitEuler())
    times = np.linspace(0.0, 1.0, 41)
    np.testing.assert_allclose(result.resample(times).omega_bar[:, 1, 2], 2.0 * times, rtol=0.0, atol=ROUNDING)
    chain = mbd.SerialChain([mbd.Link.revolute("wheel", 1.0, (1.0, 1.0, 2.0), c=0.0)], gravity=(0.0, 0.0, 0.0))
    rates = mbd.simulate(chain, 1.0, h=H, integrator=mbd.SemiImplicitEuler(), tau=lambda t, q, qd: [4.0], t_eval=times).qd
    np.testing.assert_allclose(rates[:, 0], 2.0 * times, rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("height", [-1.02, -1.22, -1.23, -1.24, -1.49])
def test_events_of_positions_of_order_one(height: float):
    """The step and the dense output pass a height in different halves of a step: the event stood in the middle, off its zero."""
    event = mbd.Event("passes", lambda t, state: state.r[1, 2] - height)
    result = fall(events=[event])
    assert len(result.events) == 1
    found = result.events[0]
    assert found.state.r[1, 2] == pytest.approx(height, abs=ROUNDING)
    after = found.t - 0.4
    assert -1.0 - after * G * (0.4 + after) == pytest.approx(height, abs=ROUNDING)


def test_events_of_velocities_of_order_one():
    """A speed that grows from 4 to 5 m/s in a step passes 4.99 m/s once; the quintic passed it three times."""
    result = fall(events=[mbd.Event("fast", lambda t, state: state.v[1, 2] + 4.99)])
    assert [event.t for event in result.events] == [pytest.approx(0.499, abs=ROUNDING)]


def on_a_circle(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States and rates of a body on the unit circle at 1 rad/s, which does not turn, behind the ground."""
    y, y_dot = np.zeros((len(t), 26)), np.zeros((len(t), 26))
    y[:, 13], y[:, 14], y[:, 16], y[:, 3] = np.cos(t), np.sin(t), 1.0, 1.0
    y[:, 20], y[:, 21] = -np.sin(t), np.cos(t)
    y_dot[:, 13:15], y_dot[:, 20], y_dot[:, 21] = y[:, 20:22], -np.cos(t), -np.sin(t)
    return y, y_dot


@pytest.mark.parametrize("h", [0.2, 0.1])
def test_velocities_of_smooth_motions_are_derivatives_of_positions(h: float):
    """The quintic is of order five in v. Its derivative misses by (w h)^5 / 13000 at most; the cubic alone would miss by (w h)^4 / 384."""
    t, times = np.arange(0.0, 1.0 + 0.5 * h, h), np.linspace(0.0, 1.0, 101)
    found = interpolate(times, t, *on_a_circle(t), 2)[:, 20:22]
    worst = np.abs(found - on_a_circle(times)[0][:, 20:22]).max()
    assert worst < 1.1 * h**5 / 13000.0
