"""Clutches and brakes: friction in a joint that is pressed by a function of time or by a signal, with lock, slip and capacity."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.drivers.kinks import kinks_of
from joints import RJ

MU, R = 0.3, 0.1
I1, I2, W = 2.0, 1.0, 20.0


def clutch(preload, system=None):
    system = mbd.System("clutch")
    a = system.add(mbd.Body("engine", 1.0, (I1, I1, I1), omega_bar=(0, 0, W)))
    b = system.add(mbd.Body("gear", 1.0, (I2, I2, I2)))
    system.add(RJ("bearing", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    plates = system.add(RJ("plates", a, b, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(
        mbd.JointFriction("clutch", plates, mbd.Coulomb(MU), radius=R, preload=preload(system) if preload is block else preload)
    )
    return system


def block(system):
    """400 N through a first-order lag of 0.2 s."""
    return system.add(
        mbd.Block("press", 0.0, derivative=lambda t, x, s: (400.0 - x[0]) / 0.2, outputs={"N": lambda t, x, s: x[0]})
    )["N"]


def lag(t):
    return 400.0 * (1.0 - np.exp(-t / 0.2))


SLIP = MU * R * (1 / I1 + 1 / I2)
PRESSED = {  # normal force, and its integral
    "constant": (400.0, lambda t: 400.0 * t),
    "ramp": (lambda t: 400.0 * min(t, 1.0), lambda t: 200.0 * t**2 if t < 1 else 200.0 + 400.0 * (t - 1.0)),
    "smooth": (lambda t: 400.0 * np.sin(t) ** 2, lambda t: 200.0 * t - 100.0 * np.sin(2.0 * t)),
    "signal": (block, lambda t: 400.0 * (t - 0.2 * (1.0 - np.exp(-t / 0.2)))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESSED)
def test_a_clutch_locks_when_the_impulse_of_its_friction_has_taken_the_slip(name):
    preload, impulse = PRESSED[name]
    result = mbd.simulate(clutch(preload), 2.5, rtol=1e-10, atol=1e-12)
    low, high = 0.0, 2.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if SLIP * impulse(middle) < W else (low, middle)
    assert [one.name for one in result.events] == ["clutch: stops"] or len(result.events) == 1
    assert result.events[0].t == pytest.approx(low, abs=1e-8)
    assert result["gear"].omega[-1, 2] == pytest.approx(I1 * W / (I1 + I2), rel=1e-9)
    t = result.t[1:-1:7]
    force = {"constant": lambda t: 400.0, "signal": lag}.get(name, preload)
    assert np.interp(t, result.t, result.load("clutch").normal_force) == pytest.approx([force(s) for s in t], abs=1e-6)
    assert np.abs(result.energy().drift).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("method", [{"rtol": 1e-9}, {"h": 1e-3}, {"integrator": mbd.DOP853(rtol=1e-9)}])
def test_a_brake_stops_holds_and_slips_where_its_capacity_falls_below_the_load(method):
    """A brake of 40 (2 - t) N m stops a rotor of 1 kg m2 against 20 N m, and lets it go at t = 1.5 s."""
    system = mbd.System("brake")
    rotor = system.add(mbd.Body("rotor", 1.0, (1, 1, 1), omega_bar=(0, 0, -10)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Motor("load", pin, torque=-20.0))
    system.add(mbd.JointFriction("brake", pin, mbd.Coulomb(0.4), radius=0.1, preload=lambda t: 1000.0 * (2.0 - t)))
    result = mbd.simulate(system, 1.8, **method)
    stop = 1.5 - np.sqrt(1.5**2 - 0.5)  # 10 = 60 t - 20 t^2
    times = [one.t for one in result.events]
    assert times == pytest.approx([stop, 1.5], abs=1e-7)
    slipping = -20.0 * 0.3**2  # the integral of 40 (2 - t) - 20 from 1.5 s to 1.8 s
    assert result["rotor"].omega[-1, 2] == pytest.approx(slipping, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.BDF(rtol=1e-8, atol=1e-10), mbd.RadauIIA(rtol=1e-8, atol=1e-10), mbd.HHT(h=1e-3)])
def test_a_smooth_law_is_pressed_in_implicit_steps(method):
    system = mbd.System("brake")
    rotor = system.add(mbd.Body("rotor", 1.0, (1, 1, 1), omega_bar=(0, 0, 10)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    law = mbd.Coulomb(0.4, velocity=1e-3)
    system.add(mbd.JointFriction("brake", pin, law, radius=0.1, preload=lambda t: 100.0 * (1.0 + np.sin(t))))
    result = mbd.simulate(system, 1.0, integrator=method)
    assert result["rotor"].omega[-1, 2] == pytest.approx(10.0 - 4.0 * (2.0 - np.cos(1.0)), rel=1e-5)


@pytest.mark.slow
def test_it_is_saved_and_a_negative_force_presses_nothing(tmp_path):
    from haugmbd import QuinticSpline

    times = np.linspace(0.0, 2.0, 21)
    system = clutch(QuinticSpline(times, 100.0 * np.sin(3.0 * times)))
    system.save(tmp_path / "clutch.json")
    results = [mbd.simulate(one, 2.0, rtol=1e-9) for one in (system, mbd.load_model(tmp_path / "clutch.json"))]
    assert np.array_equal(results[0].y, results[1].y)
    normal = results[0].load("clutch").normal_force
    spline = 100.0 * np.sin(3.0 * results[0].t)
    assert normal == pytest.approx(np.maximum(spline, 0.0), abs=0.05)
    assert (normal[spline < -0.1] == 0.0).all()


def test_what_cannot_press_is_told():
    for preload, law, word in (
        (lambda t, q: 1.0, mbd.Coulomb(0.3), "argument"),
        (lambda t: 1.0, mbd.Viscous(0.1), "does not depend on it"),
    ):
        system = mbd.System("s")
        b = system.add(mbd.Body("b", 1.0, (1, 1, 1)))
        pin = system.add(RJ("pin", system.ground, b, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(mbd.JointFriction("brake", pin, law, radius=0.1, preload=preload))
        with pytest.raises(mbd.ModelError, match=word):
            system.compile()


@pytest.mark.parametrize(
    ("function", "right"),
    [
        (lambda t: 400.0 * min(t, 1.0), [1.0]),
        (lambda t: abs(np.sin(7.0 * t)), [np.pi / 7 * k for k in range(1, 7)]),
        (lambda t: 1.0 * (t > 0.777), [0.777]),
        (lambda t: np.interp(t, [0, 0.5, 0.7, 1.1], [0, 1, 1, 0]), [0.5, 0.7, 1.1]),
        (lambda t: np.sin(3.0 * t), []),
        (lambda t: 0.0, []),
        (lambda t: np.sin(5000.0 * t), []),
    ],
)
def test_kinks_of_a_function_of_time(function, right):
    assert kinks_of(function, 0.0, 3.0) == pytest.approx(right, abs=1e-12)
