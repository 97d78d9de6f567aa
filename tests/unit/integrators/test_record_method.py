"""Accelerations and multipliers of the method itself: M u' + Phi_q^T lam = Q for every method, and what only they show."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.gallery import double_pendulum, heavy_top
from haugmbd.integrators.base import methods_below
from haugmbd.simulation.compatibility import STABILIZATIONS, incompatibility, integrators
from tests.support.loops import four_revolutes
from tests.support.models import model_of

H, T_END = 1e-3, 0.005
NEWTON_TOL = 1e-6
"""Relative to the largest force: what Newton's iteration leaves; of explicit methods 1e-12 is seen."""
EQUATIONS_TOL = 1e-9
"""Relative to the largest force: M u' + Phi_q^T lam - Q of methods that evaluate accelerations; Penalty rounds to 1e-10."""
PENALTY_TOL = 1e-6
"""The same of Penalty, whose matrix has a condition number of 1e7."""
RADIAL_TOL = 1e-3
"""The same of GeneralizedAlphaR7: its equations contain p^T p', which is of the order of its error."""
METHODS = integrators()


def recorded(system, integrator, **more):
    numbers = {"h": H} if integrator.takes_step else {"rtol": 1e-6, "atol": 1e-8}
    return mbd.simulate(system, T_END, integrator=integrator, record_method=True, **numbers, **more)


def residual(result):
    """M u' + Phi_q^T lam - Q at every state, relative to the largest force; Q is that of NewtonEuler's own solution."""
    model, size, worst = result.model, 0.0, 0.0
    u_dot = np.concatenate([result.v_dot, result.omega_bar_dot], axis=2)
    change, dlam = result.accelerations_of_method - u_dot, result.lam_of_method - result.lam
    for k in range(len(result)):
        Phi_q = mbd.evaluate(model, result.state(k)).Phi_q.toarray()
        inertia = np.concatenate(
            [model.mass[1:, None] * change[k, 1:, :3], np.einsum("kab,kb->ka", model.J_bar[1:], change[k, 1:, 3:])], axis=1
        )
        worst = max(worst, np.abs(inertia.ravel() + Phi_q.T @ dlam[k]).max())
        size = max(size, np.abs(Phi_q.T @ result.lam[k]).max())
    return worst / size


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_every_integrator_records_what_fulfils_its_equations_of_motion(name):
    method = METHODS[name]
    rule = None if method.solves_constraints or not method.correctable else mbd.Projection()
    result = recorded(heavy_top(), method, stabilization=rule)
    assert result.accelerations_of_method.shape == (len(result), result.model.nb + 1, 6)
    assert result.lam_of_method.shape == (len(result), result.model.nc)
    assert not result.accelerations_of_method[:, 0].any()
    radial = isinstance(method, mbd.GeneralizedAlphaR7)
    assert residual(result) < (RADIAL_TOL if radial else NEWTON_TOL if method.lam_at_steps else EQUATIONS_TOL)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMULATIONS)
@pytest.mark.parametrize("rule", STABILIZATIONS)
def test_every_formulation_and_stabilization_records_its_own(kind, rule):
    formulation, given = kind(), STABILIZATIONS[rule]
    if incompatibility(formulation, mbd.RK4(), given):
        return
    result = recorded(double_pendulum(), mbd.RK4(), formulation=formulation, stabilization=None if rule == "None" else given)
    assert residual(result) < (PENALTY_TOL if isinstance(formulation, mbd.Penalty) else EQUATIONS_TOL)
    gap = np.abs(result.violation("acceleration", of_method=True)).max()
    exact = not isinstance(formulation, mbd.Penalty) and not given.feeds_back
    assert gap < 1e-7 if exact else gap > 0.0
    assert np.abs(result.violation("acceleration")).max() < 1e-9


def test_penalty_shows_its_own_multipliers():
    """Two ways: `accelerations` with the same formulation at the same states."""
    penalty = mbd.Penalty(alpha=100.0)
    result = recorded(double_pendulum(), mbd.RK4(), formulation=penalty)
    for k in (0, 2, -1):
        own = mbd.accelerations(result.model, result.state(k), formulation=penalty)
        assert result.lam_of_method[k] == pytest.approx(own.lam, rel=1e-9, abs=1e-9)
        assert result.accelerations_of_method[k] == pytest.approx(np.hstack([own.v_dot, own.omega_bar_dot]), abs=1e-9)
    gap = np.abs(result.lam_of_method - result.lam).max()
    assert 1e-4 < gap / np.abs(result.lam).max() < 0.1


def test_baumgarte_shows_its_feedback():
    rule = mbd.Baumgarte(alpha=20.0, beta=30.0)
    result = mbd.simulate(model_of(double_pendulum), 1.0, h=0.02, stabilization=rule, record_method=True)
    Phi, Phi_dot = result.violation("position"), result.violation("velocity")
    expected = -2.0 * rule.alpha * Phi_dot - rule.beta**2 * Phi
    assert np.abs(expected).max() > 1e-4
    assert result.violation("acceleration", of_method=True) == pytest.approx(expected, abs=1e-11)


def test_an_unconverged_augmented_lagrangian_is_seen():
    gaps = [
        np.abs(
            recorded(
                double_pendulum(), mbd.RK4(), formulation=mbd.AugmentedLagrangian(alpha=10.0, tol=tol, most_iterations=400)
            ).violation("acceleration", of_method=True)
        ).max()
        for tol in (1e-2, 1e-4, 1e-12)
    ]
    assert gaps[0] > 10.0 * gaps[1] > 100.0 * gaps[2]


def test_rattles_kicks_tend_to_the_accelerations():
    """To first order: the two kicks at a state differ by the force that bends the path."""
    gaps = []
    for h in (5e-4, 2.5e-4):
        result = mbd.simulate(model_of(heavy_top), 0.02, integrator=mbd.RATTLE(h), record_method=True)
        gaps.append(np.abs(result.lam_of_method - result.lam)[1:].max())
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(1.0, abs=0.2)


def test_implicit_methods_record_the_accelerations_of_their_steps():
    """Index 3 does not fulfil the rows at acceleration level, GGL of generalized-alpha only to its order, RadauIIA to rounding."""
    gap = {
        name: np.abs(recorded(heavy_top(), method).violation("acceleration", of_method=True))[1:].max()
        for name, method in {
            "index 3": mbd.GeneralizedAlpha(constraint_form=mbd.Index3()),
            "GGL": mbd.GeneralizedAlpha(constraint_form=mbd.GGL()),
            "Radau": mbd.RadauIIA(),
        }.items()
    }
    assert gap["Radau"] < 1e-6 < gap["GGL"] < gap["index 3"]


@pytest.mark.slow
def test_dependent_rows_share_them_as_lam_does():
    for rule in (mbd.DropDependentRows(), mbd.MinimumNorm()):
        for method in (mbd.RK4(), mbd.GeneralizedAlpha()):
            for formulation in (mbd.NewtonEuler(), mbd.NullSpace()) if not method.solves_constraints else (mbd.NewtonEuler(),):
                result = recorded(four_revolutes(), method, formulation=formulation, redundancy=rule)
                assert result.lam_of_method == pytest.approx(result.lam, abs=1e-3 * np.abs(result.lam).max())


def test_states_at_given_times_are_evaluated_and_steps_are_not_interpolated():
    times = [0.0, 0.0017, T_END]
    result = recorded(double_pendulum(), mbd.RK4(), t_eval=times)
    assert result.lam_of_method == pytest.approx(result.lam, abs=1e-9)
    for method in (mbd.GeneralizedAlpha(), mbd.RATTLE()):
        with pytest.raises(mbd.UsageError, match=f"what {type(method).__name__} solved for at its steps.*leave out t_eval"):
            recorded(heavy_top(), method, t_eval=times)


def test_recording_changes_nothing_else():
    for method in (mbd.RK4(), mbd.GeneralizedAlpha(), mbd.RATTLE(), mbd.DOP853()):
        whole, bare = (
            mbd.simulate(model_of(heavy_top), T_END, record_method=on, integrator=method, **({"h": H} if method.takes_step else {}))
            for on in (True, False)
        )
        assert np.array_equal(whole.y, bare.y)
        assert whole.counters.evaluations == bare.counters.evaluations
        assert not bare.has_accelerations_of_method
        with pytest.raises(mbd.UsageError, match="has no accelerations of the method's own: run simulate"):
            bare.violation("acceleration", of_method=True)
    some = mbd.simulate(model_of(heavy_top), T_END, record_method=True, integrator=mbd.RATTLE(H), store_every=2)
    every = mbd.simulate(model_of(heavy_top), T_END, record_method=True, integrator=mbd.RATTLE(H))
    assert np.array_equal(some.accelerations_of_method, every.accelerations_of_method[[0, 2, 4, 5]])


@pytest.mark.parametrize("method", [mbd.RK4(), mbd.GeneralizedAlpha(), mbd.RATTLE()], ids=repr)
def test_a_terminal_event_keeps_what_the_method_has(method):
    stop = mbd.Event("stop", lambda t, state: t - 0.0033, terminal=True)
    result = recorded(heavy_top(), method, events=[stop])
    assert len(result.accelerations_of_method) == len(result.lam_of_method) == len(result) == 5
    assert np.isnan(result.accelerations_of_method[-1, 1:]).all() == method.lam_at_steps
    assert np.isfinite(result.accelerations_of_method[:-1]).all()


@pytest.mark.parametrize("record", [True, False])
def test_a_run_that_fails_in_its_first_step_keeps_its_error_and_its_start(record):
    with pytest.raises(mbd.SimulationError, match="RATTLE cannot turn body 'top'") as raised:
        mbd.simulate(model_of(heavy_top), 0.02, integrator=mbd.RATTLE(0.01), record_method=record)
    kept = raised.value.result
    assert len(kept) == 1
    if record:
        assert kept.accelerations_of_method[0, 1, :3] == pytest.approx(kept.v_dot[0, 1], rel=1e-9)
        assert kept.lam_of_method[0] == pytest.approx(kept.lam[0], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "nc"])
def test_they_are_saved_copied_and_loaded(tmp_path, ending):
    if ending == "nc":
        pytest.importorskip("h5netcdf")
    result = recorded(double_pendulum(), mbd.RK4(), formulation=mbd.Penalty(alpha=100.0))
    for other in (mbd.load(result.save(tmp_path / f"run.{ending}"), model=result.model), pickle.loads(pickle.dumps(result))):
        assert np.array_equal(other.accelerations_of_method, result.accelerations_of_method)
        assert np.array_equal(other.lam_of_method, result.lam_of_method)
    assert not result.resample([0.001, 0.002]).has_accelerations_of_method


def test_who_says_that_lam_is_solved_for_at_its_steps():
    assert {kind for kind in methods_below() if kind.lam_at_steps} == {
        kind for kind in methods_below() if kind.own_multipliers or kind in (mbd.RadauIIA, mbd.RATTLE)
    }
    with pytest.raises(mbd.UsageError, match="record_method have no meaning"):
        mbd.simulate(mbd.random_chain(3, 0), 0.01, h=0.01, record_method=True)
    with pytest.raises(mbd.UsageError, match="record_method = 1 must be True or False"):
        mbd.simulate(model_of(heavy_top), 0.01, h=0.01, record_method=1)
