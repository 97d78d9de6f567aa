"""Andrews' squeezing mechanism (IVP test set, IFToMM A03) to 0.03 s and 0.05 s, by explicit and implicit methods."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import andrews
from haugmbd.gallery.planar_linkages import CRANK_ANGLES as CRANK
from haugmbd.gallery.planar_linkages import beta

SHARP = {"DOP853": (mbd.DOP853(rtol=1e-12, atol=1e-12), 1e-9), "BDF": (mbd.BDF(rtol=1e-13, atol=1e-13), 2e-9)}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARP)
def test_the_crank_follows_the_curve(table, parameters, published, name):
    reference = table("A03_andrews")
    method, tol = SHARP[name]
    fine = np.union1d(reference["t"], np.linspace(0.0, 0.05, 501))
    result = mbd.simulate(andrews(), 0.05, integrator=method, t_eval=fine)
    at = np.searchsorted(fine, reference["t"])
    gap = abs(beta(result)[at] - reference["beta"])
    assert gap[reference["t"] <= 0.03 + 1e-12].max() < tol
    problem = f"IFToMM A03, Andrews' squeezing mechanism, 0.05 s, {name}"
    published(problem, "angle of the crank [rad]", beta(result)[at], reference["beta"], tol)
    F = result["OF"].r[at] * (0.007 / 0.00092)
    assert abs(F[:, :2] - np.column_stack([reference["Fx"], reference["Fy"]])).max() < tol
    rate = result["OF"].omega_bar[at, 2]
    assert abs(rate - reference["dbeta"]).max() < 1e3 * tol  # of 1100 rad/s
    (known,) = CRANK
    k = int(np.searchsorted(fine, known.t - 1e-9))
    end = beta(result)[k]
    published(
        "IVP test set, Andrews' squeezing mechanism, 0.03 s", f"angle of the crank, {name} [rad]", end, known.value, known.tol
    )
    assert end == pytest.approx(parameters("andrews")["own_y_end_q_v"][0], abs=tol)


@pytest.mark.slow
def test_fixed_implicit_steps_approach_it_as_fast_as_their_order():
    exact = 15.810771195153597
    errors = [beta(mbd.simulate(andrews(), 0.03, h=h, integrator=mbd.GeneralizedAlpha()))[-1] - exact for h in (2e-5, 1e-5, 5e-6)]
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx([2.0, 2.0], abs=0.15)


PUBLISHED_TOL = 2e-6
"""Relative, of forces: the multipliers of the test set are good to 2e-7."""
RATE_TOL = 1e-7
"""Relative, of rates: those of the test set are good to 5e-8."""


@pytest.mark.slow
def test_errors_by_group_of_a_comparison_agree_with_the_published_digits(parameters):
    """At 0.03 s: angles, rates and forces of the test set say the same errors of a method as the reference of the comparison."""
    y = np.array(parameters("andrews")["y_end"])
    sums = ((0,), (0, 1), (2,), (4,), (3, 4), (6,), (5, 6))  # OF, FE, BDE, AG, EG, AH, EH of the seven angles
    angles, rates = (np.array([sum(y[start + k] for k in each) for each in sums]) for start in (0, 7))

    def forces(result):
        return np.hstack([result.reaction(name).force[:, :2] for name in ("E2", "E3")])

    def spins(result):
        return result.omega_bar[:, 1:, 2]

    methods = [
        mbd.Method(integrator=mbd.RK4(h=1e-4), label="RK4"),
        mbd.Method(integrator=mbd.GeneralizedAlpha(h=1e-4), label="alpha"),
    ]
    outputs = {"crank": beta, "forces": forces, "spins": spins}
    comparison = mbd.compare(andrews(), methods, 0.03, outputs=outputs, repeats=1)
    table, scales = comparison.to_pandas(), comparison.reference.scales
    for label, result in comparison.results.items():
        row, p = table.loc[label], result.p[-1, 1:]
        turned = np.angle(np.exp(1j * (2.0 * np.arctan2(p[:, 3], p[:, 0]) - angles)))
        (published,) = CRANK
        assert row.error_orientations_end == pytest.approx(np.abs(turned).max(), abs=2.0 * published.tol)
        crank = abs(beta(result)[-1] - published.value)
        assert row.error_crank_end * scales["crank"] == pytest.approx(crank, abs=2.0 * published.tol)
        spin = np.abs(spins(result)[-1] - rates).max()
        assert row.error_spins_end * scales["spins"] == pytest.approx(spin, abs=RATE_TOL * scales["spins"])
        force = np.abs(forces(result)[-1] - y[23:27]).max()  # at E2 and E3, the last four multipliers
        assert row.error_forces_end * scales["forces"] == pytest.approx(force, abs=PUBLISHED_TOL * scales["forces"])
    assert table.error_orientations_end["alpha"] > 1e-4  # what is compared is an error, not rounding
