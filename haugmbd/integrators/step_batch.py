"""Batches of accepted states with their rates, as integrators return them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.integrators.step_context import Problem

Stopped = BaseException | None
"""The error or Ctrl-C that has stopped a batch."""

NUMBERS = 200_000
"""Numbers of a batch: small enough that progress and Ctrl-C are handled in time."""


class StepBatch(NamedTuple):
    """A batch of accepted steps.

    t: (k,);  y, y_dot: (k, ny) after each accepted step;  code: OK, or the code of the failure;  t_stop: the time of the failure
    lam: (k, nc) the method's own multipliers, by rows; None if the method has none at its steps
    u_dot: (k, 6 (nb + 1)) the accelerations that belong to lam, if they are not those in y_dot
    start_rates: (ny,) rates at the start of the batch, where those at the end of the batch before jump: friction that sticks or slips
    events: records of what the model itself does at the end of the batch, such as friction that sticks or slips
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
    u_dot: Array | None = None
    start_rates: Array | None = None
    events: tuple[Any, ...] = ()

    def first(self, k: int) -> StepBatch:
        """Return the first k steps."""
        lam, u_dot = (None if own is None else own[:k] for own in (self.lam, self.u_dot))
        return self._replace(t=self.t[:k], y=self.y[:k], y_dot=self.y_dot[:k], accepted=k, lam=lam, u_dot=u_dot)


def split_multipliers(lam: Array | None, kept: int, others: int) -> Array | None:
    """Return the multipliers of the first steps, then NaN for states that are not steps of the method."""
    return None if lam is None else np.vstack([lam[:kept], np.full((others, lam.shape[1]), np.nan)])


class PacedLengths:
    """Numbers of steps of batches that take about `seconds` each, from one step on; at most `most`."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds, self._most, self._length, self._before = seconds, most, 0, 0.0

    def __iter__(self) -> PacedLengths:
        return self

    def __next__(self) -> int:
        now = time.perf_counter()
        took, self._before = now - self._before, now
        if not self._length or took > self._seconds:
            self._length = max(1, self._length // 2)
        elif took < 0.5 * self._seconds:
            self._length = min(2 * self._length, self._most)
        return self._length


def most_steps(ny: int) -> int:
    """Return the largest number of steps of a batch of states of ny numbers."""
    return max(1, min(1000, NUMBERS // ny))


def batch_lengths(problem: Problem) -> Iterator[int]:
    """Return the number of steps of each batch: as many as possible, or `first_batch`, doubled each time; at most `longest_batch`.

    `longest_batch` is read before each batch, because the search for singular configurations changes it.  The iterator is no
    generator: Ctrl-C inside one would close it, and end the run as if it were complete.  With
    `batch_seconds` a batch takes about that long.
    """
    most = most_steps(problem.y.size)
    lengths: Iterator[int] = (
        growing_lengths(problem.first_batch, most) if problem.batch_seconds is None else PacedLengths(problem.batch_seconds, most)
    )
    if problem.longest_batch is None:
        return lengths
    return map(min, lengths, iter(partial(getattr, problem, "longest_batch"), None))


def growing_lengths(first: int | None, most: int) -> Iterator[int]:
    """Return `first`, doubled until it is `most`, by default at once."""
    length = most if first is None else min(first, most)
    growing = []
    while length < most:
        growing.append(length)
        length *= 2
    return chain(growing, repeat(most))
