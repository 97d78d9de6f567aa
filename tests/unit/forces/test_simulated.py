"""Simulated motions: an angle through many turns, and the energy that the ledger accounts for."""

import numpy as np
import pytest
from scipy.integrate import simpson

from haugmbd import RSDA, TSDA, Body, PointForce, SimulationError, System, Torque, accelerations, simulate
from haugmbd.diagnostics.work import load_ledger
from joints import RJ


def test_a_torsion_spring_wound_up_by_five_turns_and_a_bit():
    """theta'' = -k theta / J from rest at theta = 0 with theta' = w: theta = (w / s) sin(s t), s^2 = k / J; amplitude 5.3 turns."""
    k, J = 0.2, 0.2
    amplitude = 5.3 * 2.0 * np.pi
    system = System("flywheel")
    wheel = system.add(Body("wheel", 1.0, (0.1, 0.1, J), omega_bar=(0, 0, amplitude)))
    shaft = system.add(RJ("shaft", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    spring = system.add(RSDA("spring", shaft, k=k))
    result = simulate(system, 7.0, h=1e-3)
    y = result.y
    bodies = np.swapaxes(y[:, :26].reshape(-1, 2, 13), 0, 1)
    theta, _ = spring.arguments(bodies, y[:, 26])
    # RK4 turns Euler parameters by (omega h / 2)^5 / 120 = 1e-11 a step too little: 8e-8 in 7000 steps at full speed
    np.testing.assert_allclose(theta, amplitude * np.sin(result.t), rtol=0, atol=1e-7)
    assert theta.max() == pytest.approx(amplitude, rel=1e-6)  # the top lies between two samples


@pytest.mark.slow
def test_energy_is_accounted_for():
    """T + V of a driven, damped pendulum changes by the integral of applied minus dissipated power."""
    g = 9.81
    system = System("pendulum", gravity=(0, 0, -g))
    link = system.add(Body("link", 2.0, (0.1, 0.2, 0.3), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(TSDA("spring", system.ground, link, point_i=(1, 0, 1), point_j=(2, 0, 0), k=5.0, c=0.5, l0=1.0))
    system.add(RSDA("torsion", pin, k=3.0, c=0.1, actuator=lambda t, theta, theta_dot: 0.3 * np.sin(3.0 * theta)))
    system.add(PointForce("push", link, force=lambda t, r, p, v, w: (-0.2 * v[0], 0.0, 0.5 * r[0] * t)))
    system.add(Torque("turn", link, torque=lambda t: (0.0, np.sin(t), 1.0), frame="body"))
    result = simulate(system, 2.0, h=1e-3)
    y = result.y
    book = load_ledger(system.compile(), result.t, y)
    v, w, z = y[:, 20:23], y[:, 23:26], y[:, 15]
    energy = 0.5 * 2.0 * np.sum(v * v, axis=1) + 0.5 * np.sum(w * w * (0.1, 0.2, 0.3), axis=1) + 2.0 * g * z
    energy += sum(b.potential for b in book.values())
    power = sum(b.applied - b.dissipated for b in book.values())
    work = simpson(power, x=result.t)
    assert all(np.all(b.dissipated >= 0.0) for b in book.values())
    assert simpson(np.abs(power), x=result.t) > 0.1
    assert energy[-1] - energy[0] == pytest.approx(work, abs=1e-8)  # RK4 and Simpson at h = 1e-3: h^4 = 1e-12, times rates of 10^4


def test_a_callable_that_fails_in_a_simulation_names_itself():
    system = System("falling")
    ball = system.add(Body("ball", 1.0, (1, 1, 1)))
    system.add(PointForce("wind", ball, force=lambda t, r, p, v, w: (1.0, 0.0, 0.0 if t < 0.5 else np.nan)))
    with pytest.raises(SimulationError, match=r"PointForce 'wind': force\(t, r, p, v, omega_bar\) returns \[1.0, 0.0, nan\]"):
        simulate(system, 1.0, h=1e-2)


def test_the_ground_does_not_accelerate_whatever_acts_on_it():
    system = System("sprung")
    wheel = system.add(Body("wheel", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RSDA("spring", axle, k=2.0, theta0=1.0))
    model = system.compile()
    found = accelerations(model)
    assert not found.v_dot[0].any()
    assert not found.omega_bar_dot[0].any()
    assert found.omega_bar_dot[1, 2] == pytest.approx(20.0, rel=1e-12)
    result = simulate(model, 0.1, h=0.01)
    assert not result.v_dot[:, 0].any()
    assert not result.omega_bar_dot[:, 0].any()
    assert result.omega_bar_dot[0, 1, 2] == pytest.approx(20.0, rel=1e-12)
