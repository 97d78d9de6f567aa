"""Members of a batch on all processors: threads of one process, whose compiled code runs at the same time.

results of blocks in order = in_blocks(n, size, threads, work)        work(first, last): members first ... last - 1
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

from haugmbd.errors import UsageError

T = TypeVar("T")

AHEAD = 2
"""Blocks for each thread that are given out before the first of them is taken back: it bounds the memory of results that wait."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: Any) -> int:
    """Return the number of threads, by default one for each processor. Raise UsageError unless it is a positive integer."""
    if threads is None:
        return processors()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise UsageError(f"batch: threads = {threads!r} must be a whole number of 1 or more, or None for one on each processor.")
    return threads


def in_blocks(n: int, size: int, threads: int, work: Callable[[int, int], T]) -> Generator[T]:
    """Yield work(first, last) of blocks of `size` members, in their order; with one thread in the calling one.

    After Ctrl-C or an exception no further block begins, and the running ones are waited for.
    """
    blocks = iter([(first, min(first + size, n)) for first in range(0, n, size)])
    if threads == 1 or n <= size:
        yield from (work(*block) for block in blocks)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="haugmbd batch") as pool:
        waiting: list[Future[T]] = []
        try:
            waiting += [pool.submit(work, *block) for block in islice(blocks, AHEAD * threads)]
            while waiting:
                done = waiting.pop(0).result()
                waiting += [pool.submit(work, *block) for block in islice(blocks, 1)]
                yield done
        finally:
            for future in waiting:
                future.cancel()
