"""The budget of a run: it ends the run with what it has; no test looks at the real clock."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import heavy_top
from haugmbd.integrators import step_batch
from haugmbd.integrators.step_batch import PacedLengths
from haugmbd.simulation.stepping import run


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances by `.tick` [s] each time a run looks at it."""
    made = SimpleNamespace(now=0.0, tick=0.04)

    def look():
        made.now += made.tick
        return made.now

    for module in (run, step_batch):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=look, process_time=look))
    return made


METHODS = [mbd.RK4(1e-3), mbd.DormandPrince(), mbd.GeneralizedAlpha(1e-3), mbd.RATTLE(1e-3), mbd.SciPySolver(), mbd.BDF()]


@pytest.mark.slow
@pytest.mark.parametrize("integrator", METHODS, ids=lambda one: type(one).__name__)
def test_a_run_that_takes_longer_is_stopped_with_what_it_has(clock, integrator):
    result = mbd.simulate(heavy_top(), 10.0, integrator=integrator, budget=0.5)
    assert (result.status, result.success, result.interrupted) == (mbd.RunStatus.BUDGET_EXHAUSTED, False, True)
    assert result.message.endswith("before t_end = 10 s: its budget of 0.5 s was used up")
    assert 1 < len(result) < 200  # the batches last longer than wanted on this clock, so that they stay short
    assert result.t[-1] < 1.0
    assert np.isfinite(result.y).all()


@pytest.mark.parametrize("integrator", METHODS[:3], ids=lambda one: type(one).__name__)
def test_a_run_within_its_budget_is_the_same(clock, integrator):
    clock.tick = 1e-6
    whole, bare = (mbd.simulate(heavy_top(), 0.05, integrator=integrator, budget=budget) for budget in (10.0, None))
    assert whole.success
    assert np.array_equal(whole.y, bare.y)


def test_a_chain_has_a_budget_too(clock):
    result = mbd.simulate(mbd.random_chain(3, 0), 10.0, h=1e-3, budget=0.5)
    assert result.status == mbd.RunStatus.BUDGET_EXHAUSTED


def test_batches_grow_while_they_are_short_and_shrink_when_they_are_long(clock):
    lengths, found = PacedLengths(0.1, 40), []
    for clock.tick in (0.0, 0.01, 0.01, 0.01, 0.07, 0.2, 0.01, 0.01, 0.01, 0.01):
        found.append(next(lengths))
    assert found == [1, 2, 4, 8, 8, 4, 8, 16, 32, 40]


def test_a_budget_is_a_positive_number():
    with pytest.raises(mbd.UsageError, match="budget = 0 s must be positive"):
        mbd.simulate(heavy_top(), 1.0, h=0.01, budget=0)
    with pytest.raises(mbd.UsageError, match="budget = '1' must be a number"):
        mbd.simulate(heavy_top(), 1.0, h=0.01, budget="1")
