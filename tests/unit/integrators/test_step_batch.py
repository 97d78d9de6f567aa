"""Batches of steps, and how often a run is searched for singular configurations."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar
from haugmbd.integrators.singularities.singularity_crossing import FAR
from haugmbd.integrators.singularities.singularity_search import SingularSearch
from haugmbd.integrators.step_batch import batch_lengths


def test_batches_grow_to_the_motion_that_the_search_looks_ahead():
    """The search for singular configurations is made once in FAR of motion, not once in a fixed number of steps."""
    problem = SimpleNamespace(y=np.zeros(52), first_batch=None, longest_batch=8, batch_seconds=None)
    lengths = batch_lengths(problem)
    assert next(lengths) == 8
    problem.longest_batch = 300
    assert next(lengths) == 300
    problem.longest_batch = 2
    assert next(lengths) == 2
    problem.longest_batch, problem.first_batch = 5, 2
    lengths = batch_lengths(problem)
    assert [next(lengths) for _ in range(4)] == [2, 4, 5, 5]
    problem.longest_batch = 10**6
    assert [next(lengths) for _ in range(8)] == [32, 64, 128, 256, 512, 1000, 1000, 1000]


@pytest.mark.parametrize("formulation", [mbd.NullSpace(), mbd.CoordinatePartitioning()], ids=lambda f: type(f).__name__)
def test_a_closed_loop_is_searched_as_often_as_it_moves(formulation, monkeypatch):
    """The rocker-crank turns by some radians: some searches for each radian, and not one for every eight of 1000 steps.

    A formulation in Python leaves no pivots that a method could watch.
    """
    searches, places = [], SingularSearch.places
    monkeypatch.setattr(SingularSearch, "places", lambda self, *given: searches.append(1) or places(self, *given))
    result = mbd.simulate(four_bar(), 1.0, h=1e-3, integrator=mbd.SemiImplicitEuler(), formulation=formulation)
    moved = np.trapezoid(np.abs(result.omega_bar).max(axis=(1, 2)), result.t)
    assert 1 < len(searches) < 4.0 + 4.0 * moved / FAR
