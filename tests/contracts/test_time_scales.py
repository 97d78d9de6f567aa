"""Motions of microseconds and of days: every method gives the motion of one second, to its accuracy.

A second is a unit as a metre is.  Rates are measured against the fastest ones, and steps against the run: where they were measured by a
second alone, error control, Newton's iteration and the crossing of singular configurations failed in motions of microseconds.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.inertia import rod
from joints import RJ, SJ, UJ
from tests.support.models import model_of

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
    wanted = mbd.simulate(model_of(pendulum, 1.0), 1.0, integrator=method(1.0))
    found = mbd.simulate(model_of(pendulum, T), T, integrator=method(T))
    tolerance = CONTROLLED if method(1.0).step is None else SAME
    np.testing.assert_allclose(end_of(found, T), end_of(wanted, 1.0), rtol=0.0, atol=tolerance)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("T", TIMES)
@pytest.mark.parametrize("name", ["RK4", "DormandPrince", "DOP853", "GeneralizedAlpha"])
def test_singular_configurations_are_crossed_at_any_time(name, T):
    """Two or three of them in a run; the crossing's own polynomials fulfil the constraints at 1e-15 of the fastest velocity."""
    wanted = mbd.simulate(model_of(windows, 1.0), 3.0, integrator=METHODS[name](1.0))
    found = mbd.simulate(model_of(windows, T), 3.0 * T, integrator=METHODS[name](T))
    assert len(found.singular_crossings) == len(wanted.singular_crossings) == 3
    t = [[crossing.t / unit for crossing in one.singular_crossings] for one, unit in ((found, T), (wanted, 1.0))]
    np.testing.assert_allclose(t[0], t[1], atol=1e-5)
    np.testing.assert_allclose(end_of(found, T), end_of(wanted, 1.0), rtol=0.0, atol=1e-5)


def hanging_rods(T, x0):
    """Three slender rods on universal joints, level and at rest, at a distance x0 from the origin [m]."""
    system = mbd.System("rods", gravity=(0.0, 0.0, -9.81 / T**2))
    before = system.ground
    for k in range(3):
        bar = system.add(mbd.Body(f"rod {k}", *rod(1.0, mass=1.0, axis=(1, 0, 0)), r=(x0 + k + 0.5, 0, 0)))
        system.add(UJ(f"joint {k}", before, bar, point=(x0 + k, 0, 0), axis_i=(0, 1, 0), axis_j=(0, 0, 1)))
        before = bar
    return system


FAR = 1e4
"""[m] Lengths from the origin: coordinates have a rounding of 1e-12."""
FAR_AWAY = 1e-6
"""Relative to 1 m: what error control by default tolerances and the rounding of coordinates leave."""


@pytest.mark.slow
@pytest.mark.parametrize("T", [1e-6, 1e-9])
@pytest.mark.parametrize("method", [lambda T: mbd.BDF(), lambda T: mbd.RadauIIA(h=5e-3 * T)], ids=["BDF", "RadauIIA"])
def test_slender_rods_far_from_the_origin_fall_in_microseconds(method, T):
    """Newton's iteration measured velocities by 1 /s where they are 1e6 /s: what is rounding there did not converge."""
    far = mbd.simulate(model_of(hanging_rods, T, FAR), 0.3 * T, integrator=method(T))
    near = mbd.simulate(model_of(hanging_rods, 1.0, 0.0), 0.3, integrator=method(1.0))
    np.testing.assert_allclose(far.r[-1, 1:] - [FAR, 0.0, 0.0], near.r[-1, 1:], rtol=0.0, atol=FAR_AWAY)


def damped_chain(T):
    """Four bodies in space on ball and pin joints, with springs and dampers, whose forces depend on the velocities of the step."""
    system = mbd.System("damped chain", gravity=(0.0, 0.5 / T**2, -9.81 / T**2))
    before = system.ground
    for k in range(4):
        body = system.add(mbd.Body(f"body {k}", 1.0, (0.05, 0.1, 0.12), r=(k + 0.5, 0.1 * k, 0)))
        if k % 2:
            system.add(SJ(f"joint {k}", before, body, point=(k, 0.1 * k, 0)))
        else:
            pin = system.add(RJ(f"joint {k}", before, body, point=(k, 0.1 * k, 0), axis=(0, 1, 0)))
            system.add(mbd.RSDA(f"spring {k}", pin, k=2.0 / T**2, c=0.3 / T))
        before = body
    return system


@pytest.mark.slow
@pytest.mark.parametrize("T", [1e-9, 1e-12])
@pytest.mark.parametrize("method", [mbd.RATTLE, mbd.HEM4], ids=lambda method: method.__name__)
def test_dampers_in_motions_of_nanoseconds(method, T):
    """RATTLE's iteration for forces measured small velocities by 1 /s, where the rounding of 1e9 /s is more."""
    found = mbd.simulate(model_of(damped_chain, T), 0.5 * T, integrator=method(h=5e-3 * T))
    wanted = mbd.simulate(model_of(damped_chain, 1.0), 0.5, integrator=method(h=5e-3))
    np.testing.assert_allclose(end_of(found, T), end_of(wanted, 1.0), rtol=0.0, atol=SAME)
