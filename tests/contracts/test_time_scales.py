"""Motions of microseconds and of days: every method gives the motion of one second, to its accuracy.

A second is a unit as a metre is.  Rates are measured against the fastest ones, and steps against the run: where they were measured by a
second alone, error control, Newton's iteration and the crossing of singular configurations failed in motions of microseconds.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.inertia import rod
from joints import RJ

TIMES = (1e-6, 1e-3, 1e3)
"""[s] of a motion of the same shape."""

METHODS = {
    "RK4": lambda T: mbd.RK4(h=5e-3 * T),
    "DormandPrince": lambda T: mbd.DormandPrince(rtol=1e-8),
    "DOP853": lambda T: mbd.DOP853(rtol=1e-8),
    "GeneralizedAlpha": lambda T: mbd.GeneralizedAlpha(h=5e-3 * T),
    "Trapezoidal": lambda T: mbd.Trapezoidal(h=5e-3 * T),
    "BDF": lambda T: mbd.BDF(h=5e-3 * T),
    "RadauIIA": lambda T: mbd.RadauIIA(h=2e-2 * T),
    "RATTLE": lambda T: mbd.RATTLE(h=5e-3 * T),
    "HEM4": lambda T: mbd.HEM4(h=5e-3 * T),
}
CONTROLLED = 3e-6
"""Of runs with error control: steps differ where atol, an absolute number, counts."""
SAME = 1e-7
"""Of runs of equal steps: Newton's iterations end at different corrections."""


def pendulum(T):
    """A pendulum that starts level and at rest, with a spring and a damper in its pin, and two hinges in line."""
    system = mbd.System("pendulum", gravity=(0.0, 0.0, -9.81 / T**2))
    upper = system.add(mbd.Body("upper", 1.0, (0.1, 0.2, 0.3), r=(1.0, 0.0, 0.0)))
    lower = system.add(mbd.Body("lower", 0.5, (0.1, 0.2, 0.3), r=(1.5, 0.0, -0.5)))
    pin = system.add(RJ("pin", system.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RJ("knee", upper, lower, point=(1.5, 0, 0), axis=(0, 1, 0)))
    system.add(RJ("knee again", upper, lower, point=(1.5, 0.3, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("spring", pin, k=2.0 / T**2, c=0.3 / T))
    return system


def windows(T):
    """Two windows of uniform rods, which pass their flat position: from upright with 1 rad/T."""
    system = mbd.System("windows", gravity=(0.0, 0.0, -9.81 / T**2))
    bars = [
        system.add(
            mbd.Body(f"bar {k}", *rod(1.0, mass=1.0, axis=(0, 0, 1)), r=(k, 0, 0.5), v=(0.5 / T, 0, 0), omega_bar=(0, 1.0 / T, 0))
        )
        for k in range(3)
    ]
    for k, bar in enumerate(bars):
        system.add(RJ(f"foot {k}", system.ground, bar, point=(k, 0, 0), axis=(0, 1, 0)))
    for k in range(2):
        top = system.add(mbd.Body(f"top {k}", *rod(1.0, mass=1.0, axis=(1, 0, 0)), r=(k + 0.5, 0, 1.0), v=(1.0 / T, 0, 0)))
        system.add(RJ(f"left {k}", bars[k], top, point=(k, 0, 1), axis=(0, 1, 0)))
        system.add(RJ(f"right {k}", bars[k + 1], top, point=(k + 1, 0, 1), axis=(0, 1, 0)))
    return system


def end_of(result, T):
    """Positions and orientations, and velocities times T, at the end."""
    return np.concatenate([x[-1].ravel() for x in (result.r, result.p, T * result.v, T * result.omega_bar)])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("T", TIMES)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_motions_take_any_time(method, T):
    wanted = mbd.simulate(pendulum(1.0), 1.0, integrator=method(1.0))
    found = mbd.simulate(pendulum(T), T, integrator=method(T))
    tolerance = CONTROLLED if method(1.0).step is None else SAME
    np.testing.assert_allclose(end_of(found, T), end_of(wanted, 1.0), rtol=0.0, atol=tolerance)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("T", TIMES)
@pytest.mark.parametrize("name", ["RK4", "DormandPrince", "DOP853", "GeneralizedAlpha"])
def test_singular_configurations_are_crossed_at_any_time(name, T):
    """Two or three of them in a run; the crossing's own polynomials fulfil the constraints at 1e-15 of the fastest velocity."""
    wanted = mbd.simulate(windows(1.0), 3.0, integrator=METHODS[name](1.0))
    found = mbd.simulate(windows(T), 3.0 * T, integrator=METHODS[name](T))
    assert len(found.singular_crossings) == len(wanted.singular_crossings) == 3
    t = [[crossing.t / unit for crossing in one.singular_crossings] for one, unit in ((found, T), (wanted, 1.0))]
    np.testing.assert_allclose(t[0], t[1], atol=1e-5)
    np.testing.assert_allclose(end_of(found, T), end_of(wanted, 1.0), rtol=0.0, atol=1e-5)
