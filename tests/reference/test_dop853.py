"""DOP853 against the references: 100 s of a pendulum in closed form, the slider-crank, the heavy top."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import haugmbd as mbd
from haugmbd.gallery import heavy_top, slider_crank
from haugmbd.gallery.spatial_linkages import crank_angle
from joints import RJ, Distance

SHARP = mbd.DOP853(rtol=1e-13, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["D", "RJ"])
def test_a01_for_100_s(kind):
    """sin(theta / 2) = k cd(w t), k = sin(45 degrees), from level; a point mass on a massless bar of 1 m."""
    system = mbd.System("A01", gravity=(0.0, -9.81, 0.0))
    J_bar = (0.0, 0.0, 0.0) if kind == "RJ" else (1e-3, 1e-3, 1e-3)
    mass = system.add(mbd.Body("mass", 1.0, J_bar, r=(1.0, 0.0, 0.0)))
    if kind == "RJ":
        system.add(RJ("bar", system.ground, mass, point=(0, 0, 0), axis=(0, 0, 1)))
    else:
        system.add(Distance("bar", system.ground, mass, point_i=(0, 0, 0), point_j=(1, 0, 0)))
    times = np.linspace(0.0, 100.0, 1001)
    result = mbd.simulate(system, 100.0, integrator=SHARP, t_eval=times)
    sn, cn, dn, _ = ellipj(np.sqrt(9.81) * times + ellipk(0.5), 0.5)  # cd(x) = sn(x + K)
    theta = 2.0 * np.arcsin(np.sqrt(0.5) * sn)
    np.testing.assert_allclose(result["mass"].r[:, :2], np.column_stack([np.sin(theta), -np.cos(theta)]), rtol=0.0, atol=1e-9)
    assert np.abs(result.violation("position")).max() <= 1e-12


@pytest.mark.slow
def test_slider_crank(table):
    reference = table("slidercrank3d_free_crankCOMatA")
    fine = np.union1d(reference["t"], np.linspace(0.0, 5.0, 501))
    result = mbd.simulate(slider_crank(), 5.0, integrator=SHARP, t_eval=fine)
    at = np.searchsorted(fine, reference["t"])
    first = reference["t"] <= 1.0 + 1e-12
    for found, name in ((crank_angle(result)[at], "theta"), (result["slider"].r[at, 0], "x_slider")):
        gap = np.abs(found - reference[name])
        assert gap[first].max() < 1e-8, name
        assert gap.max() < 2e-7, name


def test_heavy_top(table):
    reference = table("heavy_top")
    result = mbd.simulate(heavy_top(), 2.0, integrator=SHARP, t_eval=reference["t"])
    np.testing.assert_allclose(result["top"].r, np.column_stack([reference[name] for name in "xyz"]), rtol=0.0, atol=1e-9)
    force = np.column_stack([reference[name] for name in ("Fx", "Fy", "Fz")])
    np.testing.assert_allclose(result.reaction("tip").force, force, rtol=0.0, atol=1e-11 * np.abs(force).max())
