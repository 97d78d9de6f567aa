"""The multipliers that implicit methods solve for: two ways to them, their order, what only they show, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, heavy_top, windows
from haugmbd.integrators.base import methods_below
from haugmbd.integrators.singularities.singularity_crossing import NEAR_AFTER
from tests.support.implicit import end_of, with_step
from tests.support.implicit_cases import CASES, FIXED, ORDER_TOL, exact
from tests.support.loops import four_revolutes
from tests.support.models import model_of
from tests.support.redundant_loops import bennett

SAME = 1e-6
"""Relative: the least-squares solution for the method's u', and what Newton's iteration has left."""


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name, (_, method) in FIXED.items() if method.own_multipliers])
@pytest.mark.parametrize("name", CASES)
def test_they_belong_to_the_accelerations_of_the_method(name, method):
    case, (order, integrator) = CASES[name], FIXED[method]
    steps = case.steps[order - 1]
    told = with_step(integrator, case.t_end / steps)
    own = mbd.simulate(model_of(case.make), case.t_end, integrator=told).lam_of_method
    lam = end_of(told, case.make(), case.t_end)[2]
    assert own.shape == (steps + 1, len(lam)) or "held" in method
    assert own[-1] == pytest.approx(lam, rel=0.0, abs=SAME * abs(lam).max())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GeneralizedAlpha, Index3", "GeneralizedAlpha, GGL", "GeneralizedAlphaR7", "BDF3"])
@pytest.mark.parametrize("name", CASES)
def test_they_have_the_order_of_the_method_and_tend_to_those_of_the_accelerations(name, method):
    case, (order, integrator) = CASES[name], FIXED[method]
    n, errors, gaps = case.steps[order - 1], [], []
    for steps in (n, 2 * n):
        result = mbd.simulate(model_of(case.make), case.t_end, integrator=with_step(integrator, case.t_end / steps))
        errors.append(abs(result.lam_of_method[-1] - exact(name)[2]).max())
        gaps.append(abs(result.lam_of_method - result.lam)[-steps // 2 :].max())
        assert np.array_equal(result.lam_of_method[0], result.lam[0])
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=ORDER_TOL)
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(order, abs=0.3)


def zigzag(lam: np.ndarray) -> float:
    """The largest second difference."""
    return float(abs(np.diff(lam, 2, axis=0)).max())


@pytest.mark.parametrize("kind", [mbd.GeneralizedAlpha, mbd.GeneralizedAlphaR7], ids=lambda kind: kind.__name__)
def test_index_3_without_damping_oscillates_and_the_states_do_not_tell(kind):
    undamped, damped = (mbd.simulate(model_of(heavy_top), 0.05, integrator=kind(5e-4, rho=rho)) for rho in (1.0, 0.8))
    ggl = mbd.simulate(model_of(heavy_top), 0.05, integrator=mbd.GeneralizedAlpha(5e-4, rho=1.0, constraint_form=mbd.GGL()))
    late, largest = slice(50, None), abs(ggl.lam).max()
    assert zigzag(undamped.lam_of_method[late]) > largest  # it changes by more than its size from step to step
    assert zigzag(undamped.lam[late]) < 0.02 * largest
    assert zigzag(ggl.lam_of_method[late]) < 1e-3 * largest
    assert zigzag(damped.lam_of_method[late]) < 1e-3 * largest


def test_index_3_starts_with_multipliers_of_order_one_which_damping_forgets():
    """The velocities of the start fulfil their constraints, those of the method do not: Arnold, Bruels, Cardona 2015."""
    first, late = [], []
    for h in (2.5e-4, 1.25e-4):
        result = mbd.simulate(model_of(heavy_top), 0.1, integrator=mbd.GeneralizedAlpha(h))
        gap = abs(result.lam_of_method - result.lam).max(axis=1)
        first.append(gap[:20].max())
        late.append(gap[-50:].max())
    assert np.log2(first[0] / first[1]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(late[0] / late[1]) == pytest.approx(2.0, abs=0.1)
    assert first[1] > 5.0 * late[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.GeneralizedAlpha(1e-3), mbd.BDF(1e-3, order=3), mbd.GeneralizedAlphaR7(1e-3)], ids=repr)
@pytest.mark.parametrize("make", [four_revolutes, bennett], ids=lambda make: make.__name__)
def test_dependent_rows_share_them_as_the_rule_says(make, method):
    """Bennett's linkage changes the rows that it keeps on its way."""
    kept, least = (
        mbd.simulate(make(), 1.0, integrator=method, redundancy=rule, store_every=5)
        for rule in (mbd.DropDependentRows(), mbd.MinimumNorm())
    )
    dropped = list(kept.model.redundancy.dropped)
    size = abs(kept.lam).max()
    assert dropped
    if make is four_revolutes:
        assert not kept.lam_of_method[:, dropped].any()
    for result in (kept, least):
        assert result.lam_of_method == pytest.approx(result.lam, rel=0.0, abs=1e-4 * size)
    for k in (20, -1):
        Phi_q = mbd.evaluate(least.model, least.state(k)).Phi_q.toarray()
        lam = least.lam_of_method[k]
        assert np.linalg.pinv(Phi_q @ Phi_q.T, rcond=1e-8) @ Phi_q @ (Phi_q.T @ lam) == pytest.approx(lam, abs=1e-6 * size)
        assert Phi_q.T @ kept.lam_of_method[k] == pytest.approx(Phi_q.T @ lam, abs=1e-9 * size)


def test_every_so_many_steps_are_the_same():
    method = mbd.GeneralizedAlpha(2e-3)
    every, some = (mbd.simulate(model_of(double_pendulum), 0.1, integrator=method, store_every=n) for n in (1, 7))
    assert np.array_equal(some.lam_of_method, every.lam_of_method[[*range(0, 50, 7), 50]])


def test_a_terminal_event_is_no_step_of_the_method():
    stop = mbd.Event("stop", lambda t, state: t - 0.0503, terminal=True)
    method = mbd.GeneralizedAlpha(1e-2)
    cut, whole = (mbd.simulate(model_of(double_pendulum), 0.1, integrator=method, events=events) for events in ([stop], []))
    assert cut.t[-1] == pytest.approx(0.0503, abs=1e-12)
    assert np.isnan(cut.lam_of_method[-1]).all()
    assert np.array_equal(cut.lam_of_method[:-1], whole.lam_of_method[:6])


def test_a_leap_over_a_singular_position_is_none_either():
    result = mbd.simulate(model_of(windows, 2), 1.0, integrator=mbd.BDF(rtol=1e-6, atol=1e-8))
    unknown = np.isnan(result.lam_of_method).any(axis=1)
    assert len(result.singular_crossings) == 1
    assert 1 <= unknown.sum() < 0.2 * len(result)
    motion = np.abs(result.omega_bar[unknown]).max() * (result.t[unknown] - result.singular_crossings[0].t)
    assert abs(motion).max() < NEAR_AFTER
    assert result.lam_of_method[~unknown] == pytest.approx(result.lam[~unknown], abs=1e-3 * abs(result.lam).max())


def test_an_interrupted_run_has_those_of_its_steps():
    def force(t):
        if t > 2.5:  # beyond where functions of time are tried when they are given
            raise KeyboardInterrupt
        return (np.sin(t), 0.0, 0.0)

    system = double_pendulum()
    system.add(mbd.PointForce("push", system.bodies[1], force=force))
    result = mbd.simulate(system, 3.0, integrator=mbd.GeneralizedAlpha(1e-2))
    assert result.interrupted
    assert result.lam_of_method.shape == result.lam.shape
    assert abs(result.lam_of_method - result.lam).max() < 0.05 * abs(result.lam).max()


def test_who_has_none_says_who_has():
    kinds = methods_below()
    assert len(kinds) == len(set(kinds))  # a class with two bases is told once
    names = {kind.__name__ for kind in kinds if kind.own_multipliers}
    implicit = {type(method).__name__ for _, method in FIXED.values()}
    assert names == implicit - {"RadauIIA"}  # its own are of order three, and those of the equations of motion take their place
    for options in ({}, {"integrator": mbd.RATTLE(), "h": 1e-3}, {"integrator": mbd.GeneralizedAlpha(1e-3), "t_eval": [0.0, 0.01]}):
        numbers = {"h": 1e-3} if not options else {}
        result = mbd.simulate(model_of(heavy_top), 0.01, **options, **numbers)
        assert not result.has_lam_of_method
        with pytest.raises(
            mbd.UsageError, match=r"integrator .*\) has no multipliers .* BDF, .*HHT.* without t_eval.*`lam` has"
        ) as caught:
            assert result.lam_of_method is None
        assert all(name in str(caught.value) for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "nc"])
def test_they_are_saved_and_loaded(tmp_path, ending):
    if ending == "nc":
        pytest.importorskip("h5netcdf")
    result = mbd.simulate(model_of(double_pendulum), 0.05, integrator=mbd.GeneralizedAlpha(1e-2))
    path = result.save(tmp_path / f"run.{ending}")
    bare, whole = mbd.load(path), mbd.load(path, model=result.model)
    assert np.array_equal(bare.lam_of_method, result.lam_of_method)
    assert np.array_equal(whole.lam_of_method, result.lam_of_method)
    again = bare.save(tmp_path / f"again.{ending}")
    assert np.array_equal(mbd.load(again).lam_of_method, result.lam_of_method)
    explicit = mbd.simulate(model_of(double_pendulum), 0.05, h=1e-2)
    with pytest.raises(mbd.UsageError, match="has no multipliers of the method's own"):
        assert mbd.load(explicit.save(tmp_path / f"other.{ending}")).lam_of_method is None
