"""Batches of steps, and how often a run is searched for singular configurations."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

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
