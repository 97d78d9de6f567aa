"""Andrews' squeezing mechanism (IVP test set, IFToMM A03) to 0.03 s and 0.05 s, by explicit and implicit methods."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import andrews
from haugmbd.gallery.andrews import CRANK, beta

SHARP = {"DOP853": (mbd.DOP853(rtol=1e-12, atol=1e-12), 1e-9), "BDF": (mbd.BDF(rtol=1e-13, atol=1e-13), 2e-9)}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARP)
def test_the_crank_follows_the_curve(table, parameters, name):
    reference = table("A03_andrews")
    method, tol = SHARP[name]
    fine = np.union1d(reference["t"], np.linspace(0.0, 0.05, 501))
    result = mbd.simulate(andrews(), 0.05, integrator=method, t_eval=fine)
    at = np.searchsorted(fine, reference["t"])
    gap = abs(beta(result)[at] - reference["beta"])
    assert gap[reference["t"] <= 0.03 + 1e-12].max() < tol
    assert gap.max() < tol
    F = result["OF"].r[at] * (0.007 / 0.00092)
    assert abs(F[:, :2] - np.column_stack([reference["Fx"], reference["Fy"]])).max() < tol
    rate = result["OF"].omega_bar[at, 2]
    assert abs(rate - reference["dbeta"]).max() < 1e3 * tol  # of 1100 rad/s
    (published,) = CRANK
    k = int(np.searchsorted(fine, published.t - 1e-9))
    end = beta(result)[k]
    assert end == pytest.approx(published.value, abs=published.tol)
    assert end == pytest.approx(parameters("andrews")["own_y_end_q_v"][0], abs=tol)


@pytest.mark.slow
def test_fixed_implicit_steps_approach_it_as_fast_as_their_order():
    exact = 15.810771195153597
    errors = [beta(mbd.simulate(andrews(), 0.03, h=h, integrator=mbd.GeneralizedAlpha()))[-1] - exact for h in (2e-5, 1e-5, 5e-6)]
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx([2.0, 2.0], abs=0.15)
