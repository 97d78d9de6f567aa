"""A looser tolerance is never dearer: governors with springs from soft to stiff, damped and hardly damped."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Distance


def governor(k: float, c: float, speed: float) -> mbd.System:
    """Watt's governor: two arms on a turning shaft, links to a sleeve that slides on it, a spring k [N/m] with damper c [N s/m]."""
    system = mbd.System("Watt's governor", gravity=(0, 0, -9.81))
    turning = {"omega_bar": (0, 0, speed)}
    shaft = system.add(mbd.Body("shaft", 2.0, (0.02, 0.02, 0.01), r=(0, 0, 0.5), **turning))
    system.add(RJ("bearing", system.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    angle = np.deg2rad(35.0)
    low = np.array([0.0, 0.0, 1.0 - 0.5 * np.cos(angle)])
    sleeve = system.add(mbd.Body("sleeve", 1.0, (0.005, 0.005, 0.005), r=low, **turning))
    system.add(TJ("slide", shaft, sleeve, point=low, axis=(0, 0, 1)))
    for n, side in enumerate((1.0, -1.0)):
        along = np.array([side * np.sin(angle), 0.0, -np.cos(angle)])
        r, middle = (0, 0, 1) + 0.4 * along, (0, 0, 1) + 0.25 * along
        arm = system.add(mbd.Body(f"arm {n}", 1.5, (0.01, 0.01, 0.005), r=r, v=np.cross((0, 0, speed), r), **turning))
        system.add(RJ(f"pin {n}", shaft, arm, point=(0, 0, 1), axis=(0, 1, 0)))
        system.add(Distance(f"link {n}", arm, sleeve, point_i=middle, point_j=low))
    system.add(mbd.TSDA("spring", shaft, sleeve, point_i=(0, 0, 0.05), point_j=low, k=k, c=c, l0=low[2] - 0.05))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "c", "speed"), [(2e2, 5.0, 8.0), (5.3e4, 2.4, 6.4), (8e5, 4e4, 8.0), (1.2e6, 8.3e3, 8.4), (6.4e6, 5.6e4, 13.1)]
)
def test_bdf_takes_fewer_steps_where_less_is_asked(k, c, speed):
    """Components that pass zero were held to atol alone: rtol = 1e-5 took twenty times the steps of 1e-8, a fifth of them refused."""
    model = governor(k, c, speed).compile()
    found = [mbd.simulate(model, 0.6, integrator=mbd.BDF(rtol=rtol)) for rtol in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)]
    steps = np.array([result.counters.steps for result in found])
    assert (steps[:-1] < 1.2 * steps[1:]).all(), steps
    assert steps[0] < 0.6 * steps[-1], steps
    exact = mbd.simulate(model, 0.6, integrator=mbd.RadauIIA(rtol=1e-11, atol=1e-12)).r[-1]
    errors = [np.abs(result.r[-1] - exact).max() for result in found]
    assert (errors < 1e3 * np.array([1e-5, 1e-6, 1e-7, 1e-8, 1e-9])).all(), errors
