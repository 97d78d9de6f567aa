"""What an integrator hands out: accepted states with their rates, some thousand numbers at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from haugmbd.algebra.vec3 import Array

NUMBERS = 200_000
"""Numbers of a chunk (1.6 MB): about 50 ms of computing, so that progress and Ctrl-C come in time."""


class Chunk(NamedTuple):
    """t: (k,);  y, y_dot: (k, ny) after each accepted step;  code: OK or what stopped it;  t_stop: the time it was stopped at."""

    t: Array
    y: Array
    y_dot: Array
    code: int
    t_stop: float
    accepted: int
    rejected: int


def chunk_lengths(ny: int, first: int | None) -> Iterator[int]:
    """How many steps make each chunk, for a state of `ny` numbers: at once as many as may be, or `first`, doubled each time."""
    most = max(1, min(1000, NUMBERS // ny))
    length = most if first is None else min(first, most)
    while True:
        yield length
        length = min(2 * length, most)
