"""How fast Newton's iteration of implicit steps is where forces of the user are unsymmetric: by the rates in the head of `tangents`."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.implicit.generalized_alpha import of_rho

H, FIRST_CORRECTION = 1e-3, 5e-5
"""Step [s]; of a step at 0.1 m/s [m], the size of the first correction, to half a digit."""
NUMBERS = of_rho(0.8)
KAPPA = (1.0 - NUMBERS.alpha_f) / (1.0 - NUMBERS.alpha_m)
C_Q, C_U = H * H * NUMBERS.beta * KAPPA, H * NUMBERS.gamma * KAPPA
ONE, NONE = np.diag([1.0, 1.0, 0.0]), np.zeros((3, 3))
SKEW = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
ONE_WAY = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

K, C = 1.0 / H**2, 1.0 / H
FORCES = {
    "skew": lambda rate: (K * ONE + rate * (1.0 + C_Q * K) / C_Q * SKEW, NONE),
    "gyroscopic beside a damper": lambda rate: (NONE, C * ONE + rate * (1.0 + C_U * C) / C_U * SKEW),
    "gyroscopic": lambda rate: (NONE, rate / C_U * SKEW),
    "one way": lambda rate: (2.0 * rate / np.sqrt(1.0 + rate**2) / C_Q * ONE_WAY, NONE),
}
"""Stiffness and damping of 1 kg with that rate."""


def work(kind: str, rate: float, steps: int = 5) -> mbd.Counters:
    """Of some steps of a mass that starts at 0.1 m/s, not along an axis."""
    stiffness, damping = FORCES[kind](rate)
    system = mbd.System("mass", gravity=(0, 0, 0))
    mass = system.add(mbd.Body("mass", 1.0, (1, 1, 1), v=(0.1, 0.05, 0)))
    law = {
        "force": lambda t, r, p, v, w: -stiffness @ r - damping @ v,
        "jacobian": lambda t, r, p, v, w: (-stiffness, 0, -damping, 0),
    }
    system.add(mbd.PointForce("law", mass, **law))
    return mbd.simulate(system, steps * H, integrator=mbd.GeneralizedAlpha(H, rho=0.8)).counters


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("kind", FORCES)
def test_errors_fall_by_the_rate(kind, rate):
    counters = work(kind, rate)
    assert counters.rejected == 0
    predicted = np.log(1e-10 / FIRST_CORRECTION) / np.log(rate)  # tol is 1e-10 m
    assert abs(counters.projections / counters.steps - predicted) < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gyroscopic", "one way", "gyroscopic beside a damper"])
def test_steps_are_cut_where_errors_do_not_fall(kind):
    assert work(kind, 1.1, steps=10).rejected >= 5
