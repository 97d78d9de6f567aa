"""Energy that drivers give in an impact is no gain of the impact: the warning is the same in every frame in which the floor moves."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, RotationDriver, TranslationDriver

ALONG = np.array([0.6, 0.0, 0.8])
"""Direction in which the floor is driven: along and across its plane."""
CLEAR = 1e-6
"""[J] A smaller gain is not judged: the warning compares it with the energy, which depends on the frame."""


def rod_on_floor(speed, v, spin, *, e=0.9, mu=0.8):
    """Return a rod whose lower end strikes a floor that is driven with a speed; v: of the rod against the floor."""
    system = mbd.System("rod")
    d = speed * ALONG
    floor = system.add(mbd.Body("floor", 5.0, (1.0, 1.0, 1.0), r=(0, 0, -0.3), v=d))
    rail = system.add(TJ("rail", system.ground, floor, point=(0, 0, -0.3), axis=ALONG))
    system.add(TranslationDriver("drive", rail, lambda t: speed * t))
    c, s = np.cos(0.7), np.sin(0.7)
    body = system.add(
        mbd.Body(
            "rod",
            1.0,
            (1e-3, 1 / 12, 1 / 12),
            r=(0.5 * c, 0, 0.5 * s),
            p=(np.cos(0.35), 0, -np.sin(0.35), 0),
            v=np.array([v, 0, -1.0]) + d,
            omega_bar=(0, spin, 0),
        )
    )
    end, plane = mbd.Sphere(0.0, center=(-0.5, 0, 0)), mbd.Plane(point=(0, 0, 0.3))
    system.add(mbd.Contact("tip", floor, body, shape_i=plane, shape_j=end, mu=mu, restitution=e))
    return system


def struck(system):
    """Return the impulse at the start, and whether a gain of energy is warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = mbd.impulse(system.compile(), contacts=system.contacts, impact=mbd.NewtonImpact())
    return found, any(one.category is mbd.EnergyWarning for one in said)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.7, -3.0, 20.0])
def test_the_warning_does_not_depend_on_the_speed_of_a_driven_floor(speed):
    rng = np.random.default_rng(7)
    judged = {True: 0, False: 0}
    for _ in range(24):
        v, spin = rng.uniform(-4.0, 4.0), rng.uniform(-3.0, 1.5)
        still, warned = struck(rod_on_floor(0.0, v, spin))
        moving, warned_too = struck(rod_on_floor(speed, v, spin))
        assert np.allclose(moving.v[2] - speed * ALONG, still.v[2], rtol=0, atol=1e-11 * (1 + abs(speed)))
        if abs(still.energy_change) > CLEAR:
            assert warned == (still.energy_change > 0.0)
            assert warned_too == warned
            judged[warned] += 1
    assert min(judged.values()) > 0


@pytest.mark.slow
def test_drivers_give_the_difference_of_the_energies():
    """dE in the frame of the floor is dE - V . (momentum that the driver gives), and that momentum is Lam along the rail."""
    speed = 2.0
    still, moving = struck(rod_on_floor(0.0, -0.6, 1.0))[0], struck(rod_on_floor(speed, -0.6, 1.0))[0]
    given = speed * ALONG @ (moving.v[2] - moving.before.v[2]) * 1.0
    assert moving.energy_change - still.energy_change == pytest.approx(given, abs=1e-11)
    assert abs(given) > 1.0


@pytest.mark.slow
def test_a_paddle_that_a_driver_turns_gives_energy_without_a_warning():
    """An elastic ball at rest leaves with twice the speed of the paddle, which keeps its own."""
    system, omega = mbd.System("paddle"), 3.0
    paddle = system.add(mbd.Body("paddle", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, omega)))
    pin = system.add(RJ("pin", system.ground, paddle, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("drive", pin, lambda t: omega * t))
    ball = system.add(mbd.Body("ball", 0.2, (0.001,) * 3, r=(0.5, 0.1, 0)))
    face = mbd.Plane(normal=(0, 1, 0))
    system.add(mbd.Contact("hit", paddle, ball, shape_i=face, shape_j=mbd.Sphere(0.1), mu=0.3, restitution=1.0))
    found, warned = struck(system)
    assert not warned
    assert found.v[2, 1] == pytest.approx(2 * omega * 0.5, abs=1e-12)
    assert found.energy_change > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("v", "gains"), [(0.6, True), (-0.6, False)])
def test_a_run_warns_as_the_impulse_does(v, gains):
    system = rod_on_floor(2.0, v, -2.0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        mbd.simulate(system, 1e-3, rtol=1e-9)
    assert any(one.category is mbd.EnergyWarning for one in said) == gains
