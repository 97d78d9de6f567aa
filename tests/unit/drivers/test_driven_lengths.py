"""A driven length that reaches zero: refused with its joint, by every method; it was a singular matrix, or a step that was too large."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.model.inspection.driver_breaks import zero_between
from joints import TJ, Distance

FIXED = 0.03
"""[s] Steps that leap over the zero."""
DRIFT = 1e-5
"""[m] Of RK4 without stabilization, in its last step before the zero; other methods keep the length to rounding."""


def winch(length: Callable[[float], float], *, guided: bool = False) -> mbd.System:
    """A load on a rope of driven length, or on a vertical guide beside it."""
    system = mbd.System("winch", gravity=(0.0, 0.0, -9.81))
    load = system.add(mbd.Body("load", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, -1.0)))
    if guided:
        system.add(TJ("guide", system.ground, load, point=(0, 0, -1), axis=(0, 0, 1)))
    system.add(Distance("rope", system.ground, load, point_i=(0, 0, 0), point_j=(0, 0, -1), distance=length))
    return system


METHODS = {
    "RK4": {"h": FIXED},
    "DormandPrince": {"rtol": 1e-6},
    "GeneralizedAlpha": {"h": FIXED, "integrator": mbd.GeneralizedAlpha()},
    "BDF": {"integrator": mbd.BDF()},
    "RATTLE": {"h": FIXED, "integrator": mbd.RATTLE()},
    "not stabilized": {"h": FIXED, "stabilization": None},
}


@pytest.mark.slow
@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_length_that_reaches_zero_is_refused(method: str, guided: bool):
    with pytest.raises(mbd.SimulationError, match=r"joint 'rope': its length f\(t\) .* zero") as caught:
        mbd.simulate(winch(lambda t: 1.0 - t * t, guided=guided), 1.4, **METHODS[method])
    assert 0.9 < caught.value.result.t[-1] <= 1.0
    np.testing.assert_allclose(caught.value.result.r[:, 1, 2], caught.value.result.t**2 - 1.0, atol=DRIFT)


@pytest.mark.parametrize("depth", [1.0, 1.001])
def test_a_length_that_grows_again_within_a_step_is_refused(depth: float):
    """f = 0 and f < 0 for a moment: d^2 = f^2 holds before and after it."""
    with pytest.raises(mbd.SimulationError, match=r"joint 'rope': its length"):
        mbd.simulate(winch(lambda t: 1.0 - depth * np.sin(t) ** 2, guided=True), 2.0, h=0.04)


def test_kinematics_refuses_a_length_that_reaches_zero():
    with pytest.raises(mbd.SimulationError, match=r"joint 'rope': its length f\(t\) reaches zero"):
        mbd.kinematics(winch(lambda t: 1.0 - t, guided=True), np.linspace(0.0, 1.5, 16))


def test_short_lengths_are_allowed():
    result = mbd.simulate(winch(lambda t: 1.0 - 0.99 * np.sin(t) ** 2, guided=True), 2.0, h=0.02)
    assert result.success


def test_the_time_of_a_zero():
    t = np.linspace(0.0, 3.0, 7)
    values = lambda s: np.stack([2.25 - s * s, -2.0 * s, np.full(len(s), -2.0)], axis=1)  # noqa: E731
    assert zero_between(values, t) == pytest.approx(1.5, abs=1e-15)
    assert zero_between(lambda s: values(s) * [1.0, 1.0, np.nan] + [10.0, 0.0, 0.0], t) is None
