"""Loops with a maximum: they converge, or say that they did not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import splu

import haugmbd as mbd
from haugmbd.analysis.assembly import regularized_least_squares
from haugmbd.gallery import double_pendulum, pendulum
from haugmbd.integrators.event_location import Bracket, _zero
from haugmbd.redundancy import minimum_norm
from tests.support.loops import FIRST
from tests.support.redundant_loops import bennett, ladder


@pytest.mark.parametrize("make", [pendulum, double_pendulum], ids=lambda make: make.__name__)
def test_the_energy_projection_keeps_energy_or_says_that_it_cannot(make):
    """Steps from a thousandth of a second to half of one."""
    model, kept, refused = make().compile(), 0, 0
    for h in np.geomspace(1e-3, 0.5, 12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbd.RunWarning)
            try:
                result = mbd.simulate(model, 20.0 * h, h=h, stabilization=mbd.EnergyProjection())
            except mbd.SimulationError:
                refused += 1
                continue
        energy = result.energy()
        largest = max(abs(energy.kinetic).max(), abs(energy.potential).max())
        assert abs(energy.drift).max() <= 2e-9 * largest
        kept += 1
    assert kept + refused == 12
    assert kept >= 6


def test_multipliers_of_least_norm_of_a_long_ladder():
    """Against sweeps with a sparse factor of Phi_q Phi_q^T + 1e-9.  Sixty sweeps with 1e-5 left 1e-5 of the multipliers."""
    model = ladder(400).compile()
    Phi_q = mbd.evaluate(model).Phi_q.tocsc()
    kept, found = mbd.accelerations(model), mbd.accelerations(model, redundancy=mbd.MinimumNorm())
    wrench, expected = Phi_q.T @ kept.lam, np.zeros(model.nc)
    solve = splu((Phi_q @ Phi_q.T + 1e-9 * eye_array(model.nc)).tocsc()).solve
    for _ in range(40):
        expected += solve(Phi_q @ (wrench - Phi_q.T @ expected))
    np.testing.assert_allclose(found.lam, expected, rtol=0.0, atol=1e-10 * abs(expected).max())


def test_multipliers_that_are_not_found_are_an_error(monkeypatch):
    model = bennett().compile()
    monkeypatch.setattr(minimum_norm, "spread_entry", _no_convergence)
    with pytest.raises(mbd.SimulationError, match="3.0e-05. Take DropDependentRows"):
        mbd.accelerations(model, redundancy=mbd.MinimumNorm())


def _no_convergence(pack, t, y, x, w, lam):
    from haugmbd.compiled.status_codes import NO_CONVERGENCE
    from haugmbd.workspace.layout import workspace_array

    workspace_array(pack, "STATUS")[0, :3] = NO_CONVERGENCE, 0, 3e-5
    return NO_CONVERGENCE


@pytest.mark.parametrize("sigma", [1.0, 1e-2, 1e-4, 3e-5])
def test_exact_motions_are_exact_with_nearly_dependent_rows(sigma):
    """Two rows of length one that differ by sigma: twelve sweeps left a third of it at 3e-5."""
    J = csc_array(np.array([[1.0, 0.0, 0.0], [np.sqrt(1.0 - sigma**2), sigma, 0.0]]))
    b = np.array([0.3, -0.2])
    z = regularized_least_squares.exact_motion(J, b)
    np.testing.assert_allclose(J @ z, -b, rtol=0.0, atol=1e-9)
    assert z[2] == 0.0


def test_a_zero_that_brent_does_not_find_is_found_by_bisection(monkeypatch):
    """Its worst case is many times its hundred steps; here it is stopped after three."""
    import scipy.optimize

    brentq = scipy.optimize.brentq
    monkeypatch.setattr(scipy.optimize, "brentq", lambda *a, **k: brentq(*a, **{**k, "maxiter": 3}))

    def g(x):
        return np.sign(x - 0.3) * abs(x - 0.3) ** 9

    assert abs(_zero(g, Bracket(0.0, 1.0, g(0.0), g(1.0))) - 0.3) < 1e-12


SETTINGS = {"fixed": {"h": 1e-3}, "adaptive": {"rtol": 1e-8}}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("make", FIRST, ids=lambda make: make.__name__)
def test_no_mechanism_of_the_gallery_is_warned_of(make, settings):
    """With steps that its docstring allows: Andrews's squeezer is fast, and the governor stiff."""
    t_end = 0.05 if make.__name__ == "andrews" else 0.2 if make.__name__ == "governor" else 1.0
    if "h" in settings and t_end < 1.0:
        settings = {"h": 1e-4}
    assert mbd.simulate(make(), t_end, **settings).warnings == ()
