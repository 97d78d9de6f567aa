"""haugmbd in reduced coordinates, as one of the tools: aba, rnea, crba of the same chains, called from Python as users call them."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from tests.benchmarks import chain
from tests.benchmarks.worker import serve

ALGORITHMS = {"aba": mbd.aba, "rnea": mbd.rnea, "crba": mbd.crba}


@cache
def arguments(n: int) -> tuple[Any, ...]:
    """The chain, q, qd, and zero forces or accelerations."""
    links = chain.chain(n, moving=True)
    L = np.diff(np.vstack([links.point, links.point[-1:]]), axis=0)
    inertia = np.tile(chain.INERTIA, (n, 1))
    gravity = (0.0, 0.0, -chain.GRAVITY)
    reduced = mbd.SerialChain.from_tables(np.ones(n), links.r - links.point, L, inertia, links.axis, gravity=gravity)
    return reduced, np.zeros(n), links.rate.copy(), np.zeros(n)


def recursion(algorithm: str, n: int, seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of a call, and its answer at the modelled pose (at most the last hundred numbers)."""
    function, given = ALGORITHMS[algorithm], arguments(n)[: 2 if algorithm == "crba" else 4]
    answer = function(*given)
    count = max(4, int(seconds / (2e-6 + 2e-7 * n)))
    start = time.process_time()
    for _ in range(count):
        function(*given)
    return {"us": (time.process_time() - start) / count * 1e6, "answer": answer.ravel()[-100:].tolist()}


if __name__ == "__main__":
    serve(recursion=recursion)
