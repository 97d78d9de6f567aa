"""Drivers of joints that jump or kink are refused by every method, with joint, time and size; smooth ones are never accused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.drivers import as_driver
from haugmbd.integrators.base import FixedStep
from haugmbd.model.inspection.driver_breaks import break_between
from joints import RJ, RotationDriver
from tests.support.runs import INTEGRATORS, method_for, pendulum


def python_jump(t):
    return 0.5 * t**2 + (0.2 if t >= 0.0503 else 0.0)


BREAKS = {
    "jump": (lambda t: np.where(t < 0.0503, 0.5 * t**2, 0.5 * t**2 + 0.01), "f of its driver jumps from 0.001265.* to 0.011265"),
    "kink": (lambda t: 0.5 * t**2 + 0.3 * np.maximum(t - 0.0503, 0.0), "f' of its driver jumps from 0.0503 to 0.3503"),
    "python jump": (python_jump, "f of its driver jumps from 0.001265.* to 0.201265"),
}


@pytest.fixture(scope="module")
def driven():
    return {name: pendulum(driver=f) for name, (f, _) in BREAKS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BREAKS)
@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_method_refuses_a_driver_that_breaks(name, kind, driven):
    method = method_for(INTEGRATORS[name])
    options = {} if method.correctable or method.solves_constraints else {"stabilization": None}
    with pytest.raises(mbd.SimulationError, match=r"stops at t = 0.0503 s: joint 'drive': " + BREAKS[kind][1]) as caught:
        mbd.simulate(driven[kind], 0.1, integrator=method, **options)
    result = caught.value.result
    assert 0.03 < result.t[-1] < 0.0503 + 1e-12
    theta = 0.5 * result.t**2
    bar = result["link"].r
    assert np.abs(np.hypot(bar[:, 0], bar[:, 2]) - 1.0).max() < 1e-3
    assert np.abs(np.arctan2(-bar[:, 2], bar[:, 0]) - theta).max() < 1e-3
    if isinstance(method, FixedStep):
        assert len(result.t) == 6


SMOOTH = {
    "sine": lambda t: np.sin(3.0 * t),
    "fast sine": lambda t: 0.1 * np.sin(2000.0 * t),
    "chirp": lambda t: np.sin(50.0 * t**3),
    "steep": lambda t: np.tanh(1e4 * (t - 0.5137)),
    "bump": lambda t: np.exp(-(((t - 0.3) / 1e-3) ** 2)),
    "large": lambda t: 1e6 + 1e3 * t,
    "force sets in": lambda t: np.maximum(t - 0.4321, 0.0) ** 2,
    "force changes": lambda t: np.where(t < 0.5, t**2, 2.0 * t**2 - t + 0.25),
    "noise": lambda t: (1e8 + np.sin(t)) - 1e8,
    "root": lambda t: np.sqrt(t + 1e-6),
    "python": lambda t: np.sin(t) if t < 0.5 else np.sin(t),
}


@pytest.mark.slow
@pytest.mark.parametrize("f", SMOOTH.values(), ids=SMOOTH)
@pytest.mark.parametrize("h", [1e-3, 0.0213, 0.25])
def test_no_smooth_driver_is_accused(f, h):
    assert break_between(as_driver(f), np.arange(0.0, 1.0 + 1e-12, h)) is None
    assert break_between(as_driver(f), 1e3 + np.arange(0.0, 1.0 + 1e-12, h)) is None


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1])
def test_breaks_are_found_where_they_are(order, rng):
    """At random times, of random size, on a driver that moves itself."""
    for _ in range(40):
        at, size, h = rng.uniform(0.1, 0.9), 10.0 ** rng.uniform(-3, 1), 10.0 ** rng.uniform(-3, -1)
        w, phase = rng.uniform(0.5, 5.0), rng.uniform(0.0, 6.0)

        def f(t, at=at, size=size, w=w, phase=phase):
            return np.sin(w * t + phase) + np.where(t < at, 0.0, size * (t - at) ** order)

        found = break_between(as_driver(f), np.append(np.arange(0.0, 1.0, h), 1.0))
        assert found is not None
        assert (found.t, found.order) == (pytest.approx(at, abs=1e-12), order)
        assert found.after - found.before == pytest.approx(size, rel=1e-6, abs=1e-9)


class Asked(list):
    """A table that is valid to 0.15 s, and remembers when it was asked."""

    def __call__(self, t):
        self.append(float(t))
        if not 0.0 <= t <= 0.15:
            raise ValueError("outside the table")
        return 0.5 * math.sin(t) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("name", INTEGRATORS)
def test_nobody_is_asked_beyond_the_simulated_time(name):
    """Functions for f, f', f'' that only Python can evaluate, and a force of time."""
    asked = Asked()
    system = mbd.System("swing")
    link = system.add(mbd.Body("link", 2.0, (0.1, 0.3, 0.3), r=(1.0, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    rates = (lambda t: math.sin(t) * math.cos(t), lambda t: math.cos(2.0 * t))
    system.add(RotationDriver("drive", pin, (asked, *rates)))
    system.add(mbd.Torque("torque", link, torque=lambda t: (asked(t), 0.0, 0.0)))
    method = method_for(INTEGRATORS[name])
    options = {} if method.correctable or method.solves_constraints else {"stabilization": None}
    model = system.compile()
    assert set(asked) == {0.0}
    assert mbd.simulate(model, 0.1, integrator=method, **options).t[-1] == pytest.approx(0.1)
    assert max(asked) <= 0.1 * (1.0 + 1e-12)
