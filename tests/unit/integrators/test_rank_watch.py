"""The watch for rows that are about to become dependent: its volumes, and that a run is searched only where it ends a batch."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.crosscheck import dense_system
from haugmbd.gallery import andrews, bennett, four_bar, stewart_platform, windows
from haugmbd.integrators.singularities.singularity_search import SingularSearch
from haugmbd.integrators.watches.rank_watch import begin_watch, new_watch
from joints import RJ, SJ, TJ
from tests.support.models import model_of

ROUNDING = 1e-10
"""Relative, of the logarithm of a determinant."""


def volumes_of(model, y):
    """The volumes of the edges of a model at a state."""
    watch = new_watch(len(model.tables["EDGES"]), model.pack(), y.size)
    assert begin_watch(watch, 0.0, 0.0, y, np.zeros_like(y)) == 0
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


METHODS = [
    mbd.RK4(2e-4),
    mbd.DOP853(rtol=1e-7),
    mbd.GeneralizedAlpha(2e-4),
    mbd.GeneralizedAlphaR7(2e-4),
    mbd.GeneralizedAlpha(rtol=1e-4),
    mbd.BDF(rtol=1e-5),
    mbd.RadauIIA(rtol=1e-7),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "t_end"), [(four_bar, 0.5), (andrews, 0.03), (bennett, 1.5)], ids=["four-bar", "Andrews", "Bennett"]
)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{type(m).__name__}{'' if m.step is None else ' fixed'}")
def test_a_run_that_keeps_its_rank_is_not_searched(build, t_end, method, monkeypatch):
    """Every search costs as much as ten steps of a small mechanism.

    Andrews' mechanism has a spring, whose tangent is in the matrices of implicit methods; Bennett's linkage selects other rows on its way.
    """
    searches, places = [], SingularSearch.places
    monkeypatch.setattr(SingularSearch, "places", lambda self, *given: searches.append(1) or places(self, *given))
    result = mbd.simulate(model_of(build), t_end, integrator=method)
    assert result.singular_crossings == ()
    assert searches == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formulation", "stabilization"),
    [(mbd.NullSpace(), mbd.Projection()), (mbd.RangeSpace(), mbd.Baumgarte(5.0, 5.0)), (mbd.EulerParameters(), mbd.Projection())],
    ids=["null space", "range space", "Euler parameters"],
)
@pytest.mark.parametrize("method", [mbd.RK4(1e-2), mbd.DOP853(rtol=1e-6)], ids=["RK4", "DOP853"])
def test_nor_is_that_of_a_formulation_in_python(formulation, stabilization, method, monkeypatch):
    """It leaves no pivots: the watch factors the rows itself."""
    searches, places = [], SingularSearch.places
    monkeypatch.setattr(SingularSearch, "places", lambda self, *given: searches.append(1) or places(self, *given))
    mbd.simulate(model_of(bennett), 1.0, integrator=method, formulation=formulation, stabilization=stabilization)
    assert searches == []


@pytest.mark.parametrize("method", [mbd.RadauIIA(rtol=1e-4, atol=1e-4), mbd.GeneralizedAlpha(0.1)], ids=["Radau", "fixed step"])
def test_nor_is_that_of_implicit_steps_of_half_a_radian(method, monkeypatch):
    """Where no force has tangents, the watch looks between the ends of such steps."""
    searches, places = [], SingularSearch.places
    monkeypatch.setattr(SingularSearch, "places", lambda self, *given: searches.append(1) or places(self, *given))
    result = mbd.simulate(model_of(bennett), 10.0, integrator=method)
    turned = np.diff(result.t) * np.linalg.norm(result.omega_bar[1:, 1:], axis=2).max(axis=1)
    assert np.count_nonzero(turned > 0.35) >= 5
    assert searches == []


@pytest.mark.slow
@pytest.mark.parametrize("formulation", [mbd.NullSpace(), mbd.UdwadiaPhohomsiri()], ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("method", [mbd.RK4(0.01), mbd.DOP853(rtol=1e-3, atol=1e-3), mbd.DormandPrince(rtol=1e-6)], ids=str)
def test_formulations_in_python_cross_as_often_as_the_bar_changes_sides(formulation, method):
    """One of them selects rows, the other takes all of them."""
    result = mbd.simulate(model_of(windows, 1), 3.0, integrator=method, formulation=formulation)
    sides = np.sign(result["bar 0"].r[:, 2])
    assert len(result.singular_crossings) == np.count_nonzero(np.diff(sides)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("method", [mbd.DOP853, mbd.DormandPrince], ids=lambda m: m.__name__)
def test_steps_of_half_a_turn_do_not_leap_over_a_singular_configuration(method, rtol):
    """With few digits a step turns the uprights by a radian; they lie flat where the bar changes sides."""
    result = mbd.simulate(model_of(windows, 1), 10.0, integrator=method(rtol=rtol, atol=rtol))
    sides = np.sign(result["bar 0"].r[:, 2])
    assert len(result.singular_crossings) == np.count_nonzero(np.diff(sides)) >= 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("stiffness", [0.0, 1e5], ids=["no spring", "stiff spring"])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.parametrize("method", [mbd.RadauIIA, mbd.BDF, mbd.GeneralizedAlpha], ids=lambda m: m.__name__)
def test_implicit_steps_of_any_length_do_not_leap_over_a_singular_configuration(method, rtol, stiffness):
    """The spring between the tops of the uprights keeps its length: it only enters the matrices, with a factor that changes with the step.

    At the large tolerance the energy drifts, of which the run warns.
    """
    system = windows(1)
    if stiffness:
        tops = system["upright 0"], system["upright 1"]
        system.add(mbd.TSDA("spring", *tops, point_i=(0, 0, 1), point_j=(1, 0, 1), k=stiffness, l0=1.0))
    result = mbd.simulate(system, 10.0, integrator=method(rtol=rtol, atol=rtol))
    sides = np.sign(result["bar 0"].r[:, 2])
    assert len(result.singular_crossings) == np.count_nonzero(np.diff(sides)) >= 10


def two_cylinders():
    """A crank with two rods without inertia about their axes, 20 degrees apart; each slider-crank of RJ, SJ and TJ has a row too many."""
    crank_radius, length = 0.045, 0.15
    system = mbd.System("engine", gravity=(0, 0, -9.81))
    crank = system.add(mbd.Body("crank", 20.0, (0.1, 0.3, 0.3), omega_bar=(200.0, 0, 0)))
    system.add(RJ("main", system.ground, crank, point=(0, 0, 0), axis=(1, 0, 0)))
    for k, angle in enumerate(np.radians([0.0, 20.0])):
        x = 0.065 * k
        pin = np.array([x, crank_radius * np.sin(angle), crank_radius * np.cos(angle)])
        top = np.array([x, 0.0, pin[2] + np.sqrt(length**2 - pin[1] ** 2)])
        rod = system.add(mbd.Body(f"rod {k}", *mbd.inertia.rod(length, mass=0.5, axis=top - pin), r=(pin + top) / 2))
        piston = system.add(mbd.Body(f"piston {k}", 0.4, (1e-3, 1e-3, 1e-3), r=top))
        system.add(RJ(f"big end {k}", crank, rod, point=pin, axis=(1, 0, 0)))
        system.add(SJ(f"small end {k}", rod, piston, point=top))
        system.add(TJ(f"bore {k}", system.ground, piston, point=top, axis=(0, 0, 1)))
    return system


def test_rows_that_take_the_place_of_others_do_not_make_a_run_seem_singular():
    """Where a rod is upright, the other of two rows of its RJ meets the axis without inertia; no motion of the engine is singular there."""
    model = two_cylinders().compile()
    assert len(model.redundancy.dropped) == 2
    result = mbd.simulate(model, 0.02, h=1e-3, project_velocity=True)
    least = []
    for k in range(len(result)):
        rows = mbd.evaluate(model, result.state(k)).Phi_q.toarray()
        least.append(np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None], compute_uv=False)[model.redundancy.rank - 1])
    assert min(least) > 0.5 * max(least)
    assert result.warnings == ()
    search = SingularSearch(model, model.pack().callback)
    assert np.ptp(search.values(result.t.copy(), result.y.copy())) < 1.0
