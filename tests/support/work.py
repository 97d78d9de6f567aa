"""How much a call computes, counted: the same on every machine, however busy it is."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple


class Work(NamedTuple):
    """calls: of functions, Python's and C's;  memory: the most that was allocated at once [bytes]."""

    calls: int
    memory: int


def work_of(task: Callable[[], Any]) -> Work:
    """What `task` costs.  A dense algorithm on n bodies shows in the memory, a loop over all pairs in the calls: both grow with n^2."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    tracemalloc.start()
    before, profiler = tracemalloc.get_traced_memory()[0], sys.getprofile()
    try:
        sys.setprofile(count)
        task()
    finally:
        sys.setprofile(profiler)
        memory = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
    return Work(calls, memory)


def assert_linear(small: Work, large: Work) -> None:
    """Doubling the size doubles the work, and does not make it fourfold."""
    assert large.calls < 3.0 * small.calls, (small, large)
    assert large.memory < 3.0 * small.memory, (small, large)
