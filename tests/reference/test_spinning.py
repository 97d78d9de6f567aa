"""Spatial rotation against references: the heavy top and the Dzhanibekov effect."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import heavy_top


@pytest.mark.slow
def test_heavy_top(table, published):
    reference = table("heavy_top")
    result = mbd.simulate(heavy_top(), 2.0, rtol=1e-13, atol=1e-13, t_eval=reference["t"])
    top = result["top"]
    problem = "Bruels and Cardona (2010), heavy top, 2 s"
    published(problem, "centre of mass [m]", top.r, np.column_stack([reference[name] for name in "xyz"]), 1e-9)
    p = np.column_stack([reference[name] for name in ("e0", "e1", "e2", "e3")])
    sign = np.sign(np.sum(p * top.p, axis=1, keepdims=True))
    published(problem, "Euler parameters", sign * top.p, p, 2e-9)
    np.testing.assert_allclose(top.omega_bar, np.column_stack([reference[name] for name in ("Wx", "Wy", "Wz")]), atol=1e-9 * 150.0)
    force = np.column_stack([reference[name] for name in ("Fx", "Fy", "Fz")])
    published(problem, "reaction of the tip [N]", result.reaction("tip").force, force, 1e-11 * np.abs(force).max())


def test_dzhanibekov(table, published):
    """Each of the flips multiplies what rounding has gathered: by DOP853, whose 390 steps gather least (Dormand-Prince: 4117, 1.5e-9)."""
    reference = table("dzhanibekov")
    system = mbd.System("Dzhanibekov")
    system.add(mbd.Body("nut", 1.0, (1.0, 2.0, 3.0), omega_bar=(0.01, 5.0, 0.02)))
    result = mbd.simulate(system, 20.0, integrator=mbd.DOP853(rtol=1e-13, atol=1e-13), t_eval=reference["t"])
    nut = result["nut"]
    p = np.column_stack([reference[name] for name in ("e0", "e1", "e2", "e3")])
    rates = np.column_stack([reference[name] for name in ("w1", "w2", "w3")])
    published("Euler's equations, Dzhanibekov's nut, 20 s", "angular velocity [rad/s]", nut.omega_bar, rates, 1e-9)
    np.testing.assert_allclose(nut.p * np.sign(np.sum(p * nut.p, axis=1, keepdims=True)), p, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(np.sum(np.array([1, 2, 3]) * nut.omega_bar**2, axis=1), 50.0013, rtol=1e-11)
    np.testing.assert_allclose(np.sum((np.array([1, 2, 3]) * nut.omega_bar) ** 2, axis=1), 100.0037, rtol=1e-11)


def test_dzhanibekov_period(parameters):
    system = mbd.System("Dzhanibekov")
    system.add(mbd.Body("nut", 1.0, (1.0, 2.0, 3.0), omega_bar=(0.01, 5.0, 0.02)))
    period = float(parameters("spatial_analytic")["dzhanibekov"]["period"])
    result = mbd.simulate(system, period, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(result["nut"].omega_bar[-1], [0.01, 5.0, 0.02], rtol=0.0, atol=1e-10)
