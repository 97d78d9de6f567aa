"""Batches of accepted states with their rates, as integrators return them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.integrators.step_context import Problem

NUMBERS = 200_000
"""Numbers of a batch: small enough that progress and Ctrl-C are handled in time."""


class StepBatch(NamedTuple):
    """A batch of accepted steps.

    t: (k,);  y, y_dot: (k, ny) after each accepted step;  code: OK, or the code of the failure;  t_stop: the time of the failure
    lam: (k, nc) the method's own multipliers, by rows; None if the method has none at its steps
    curve: dense output across a singular configuration, `states(t)` and `rates(t)`; None for steps, where states and rates determine it
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
    """Return the multipliers of the first steps, then NaN for states that are not steps of the method."""
    return None if lam is None else np.vstack([lam[:kept], np.full((others, lam.shape[1]), np.nan)])


def batch_lengths(problem: Problem) -> Iterator[int]:
    """Return the number of steps of each batch: as many as possible, or `first_batch`, doubled each time; at most `longest_batch`."""
    most = max(1, min(1000, NUMBERS // problem.y.size))
    longest = most if problem.longest_batch is None else min(problem.longest_batch, most)
    length = most if problem.first_batch is None else min(problem.first_batch, most)
    growing = []
    while length < longest:
        growing.append(length)
        length *= 2
    return chain(growing, repeat(longest))
