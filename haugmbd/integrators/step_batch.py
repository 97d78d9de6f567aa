"""What an integrator hands out: accepted states with their rates, some thousand numbers at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.integrators.step_context import Problem

NUMBERS = 200_000
"""Numbers of a chunk (1.6 MB): about 50 ms of computing, so that progress and Ctrl-C come in time."""


class StepBatch(NamedTuple):
    """t: (k,);  y, y_dot: (k, ny) after each accepted step;  code: OK or what stopped it;  t_stop: the time it was stopped at.

    lam: (k, nc) the method's own multipliers, by rows; None of a method that has none at its steps
    curve: dense output across a singular configuration, `states(t)` and `rates(t)`; None of steps, where states and rates say it
    """

    t: Array
    y: Array
    y_dot: Array
    code: int
    t_stop: float
    accepted: int
    rejected: int
    lam: Array | None = None
    curve: Any = None


def split_multipliers(lam: Array | None, kept: int, others: int) -> Array | None:
    """The multipliers of the first steps, then NaN for states that are no steps of the method."""
    return None if lam is None else np.vstack([lam[:kept], np.full((others, lam.shape[1]), np.nan)])


def batch_lengths(problem: Problem) -> Iterator[int]:
    """How many steps make each chunk: at once as many as may be, or `first_chunk`, doubled each time; never more than `longest_chunk`."""
    most = max(1, min(1000, NUMBERS // problem.y.size))
    length = most if problem.first_chunk is None else min(problem.first_chunk, most)
    while True:
        yield length if problem.longest_chunk is None else min(length, problem.longest_chunk)
        length = min(2 * length, most)
