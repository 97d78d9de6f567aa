"""The watch for rows that are about to become dependent: its volumes, and that a run is searched only where it ends a batch."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.crosscheck.dense_reference import dense_system
from haugmbd.gallery import andrews, four_bar, stewart_platform, windows
from haugmbd.integrators.rank_watch import begin_watch, new_watch
from haugmbd.integrators.singularities.singularity_search import SingularSearch

ROUNDING = 1e-10
"""Relative, of the logarithm of a determinant."""


def volumes_of(model, y):
    """The volumes of the edges of a model at a state."""
    watch = new_watch(len(model.tables["EDGES"]))
    assert begin_watch(model.pack(), watch, 0.0, 1e-3, 0.0, y, y.copy(), np.zeros_like(y)) == 0
    return watch.volumes[2].copy()


def test_the_volumes_of_a_loop_are_the_determinant_of_its_rows():
    """det(Phi_q M^-1 Phi_q^T) by LAPACK; every body of a Stewart platform lies in its loops, and is eliminated before the joints."""
    model = stewart_platform().compile()
    assert model.redundancy.dropped == ()
    K, n = dense_system(model).K, 6 * model.nb
    S = K[n:, :n] @ np.linalg.solve(K[:n, :n], K[:n, n:])
    volumes = volumes_of(model, model.state().y.copy())
    np.testing.assert_allclose(2.0 * np.log(volumes).sum(), np.linalg.slogdet(S)[1], rtol=ROUNDING)


def test_the_volumes_of_windows_vanish_like_the_distance_from_the_flat_pose():
    """A half of the distance halves the least of them."""
    leans = np.pi / 2 - np.array([2e-2, 1e-2])
    far, near = (volumes_of(windows(2, lean=lean).compile(), windows(2, lean=lean).compile().state().y.copy()) for lean in leans)
    np.testing.assert_allclose((far / near).max(), 2.0, rtol=0.05)


@pytest.mark.parametrize(("build", "t_end"), [(four_bar, 0.5), (andrews, 0.03)], ids=["four-bar", "Andrews"])
@pytest.mark.parametrize("method", [mbd.RK4(2e-4), mbd.DOP853(rtol=1e-7)], ids=lambda m: type(m).__name__)
def test_a_run_that_keeps_its_rank_is_not_searched(build, t_end, method, monkeypatch):
    """Every search costs as much as ten steps of a small mechanism."""
    searches, places = [], SingularSearch.places
    monkeypatch.setattr(SingularSearch, "places", lambda self, *given: searches.append(1) or places(self, *given))
    result = mbd.simulate(build(), t_end, integrator=method)
    assert result.singular_crossings == ()
    assert searches == []


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("method", [mbd.DOP853, mbd.DormandPrince], ids=lambda m: m.__name__)
def test_steps_of_half_a_turn_do_not_leap_over_a_singular_configuration(method, rtol):
    """With few digits a step turns the uprights by a radian; they lie flat where the bar changes sides."""
    result = mbd.simulate(windows(1), 10.0, integrator=method(rtol=rtol, atol=rtol))
    sides = np.sign(result["bar 0"].r[:, 2])
    assert len(result.singular_crossings) == np.count_nonzero(np.diff(sides)) >= 10
