"""haugmbd in batches: right-hand sides with multipliers, and runs, of many variants of a chain, on one thread or more."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.gallery import chain
from tests.benchmarks.worker import serve

MEMBERS, RUNS, STEPS = 32768, 24, 1000
"""Members of a batch of right-hand sides, and of one of runs, of so many steps of RK4 with projection of 1 ms."""
SHORT_RUNS, FEW_STEPS = 1000, 10
"""The same of short runs."""


@cache
def batches(n: int, what: str) -> Callable[[int], Callable[[], Any]]:
    """Return the function that makes a measured call for a number of threads; the batch, with its copy of the states, is made before."""
    model, rng = chain(n).compile(), np.random.default_rng(0)
    y = mbd.simulate(model, 1.0, h=1e-2).y
    states = y[rng.integers(0, len(y), MEMBERS)]
    masses = {f"link {k + 1}.mass": rng.uniform(0.5, 2.0, MEMBERS) for k in range(n)}
    if what in ("runs", "short"):
        runs, steps = (RUNS, STEPS) if what == "runs" else (SHORT_RUNS, FEW_STEPS)
        starts = mbd.batch(model, np.tile(model.y0, (runs, 1)), threads=1)
        starts.simulate(0.01, h=1e-3)
        return lambda threads: partial(mbd.batch(model, starts.states, threads=threads).simulate, 1e-3 * steps, h=1e-3)
    given = masses if what == "masses" else None
    return lambda threads: mbd.batch(model, states, given, threads=threads).accelerations


def batch(n: int, what: str, threads: int) -> dict[str, Any]:
    """One sample: elapsed and CPU time [us], of a right-hand side or of a step."""
    call = batches(n, what)(threads)
    count = {"runs": RUNS * STEPS, "short": SHORT_RUNS * FEW_STEPS}.get(what, MEMBERS)
    cpu, begun = time.process_time(), time.perf_counter()
    call()
    elapsed, used = time.perf_counter() - begun, time.process_time() - cpu
    return {"us": elapsed / count * 1e6, "cpu": used / count * 1e6}


if __name__ == "__main__":
    serve(batch=batch)
