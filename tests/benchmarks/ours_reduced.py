"""haugmbd in reduced coordinates, as one of the tools: aba, rnea, crba of the same chains, called from Python as users call them."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.compiled.jit import entry
from haugmbd.serial_chain.impulses import KEPT, Response, impulse_entry, strike_record
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


@entry
def many(tables: Any, kept: Any, motion: Any, applied: Any, strike: Any, response: Any, count: int) -> int:
    """Compute so many contacts of the last link in one compiled loop."""
    weak = 0
    for _ in range(count):
        weak = impulse_entry(tables, kept, motion, applied, strike, response)
    return weak


def impact(n: int, seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of an impact on the last link: called from Python, and in a compiled loop."""
    reduced, q, qd, tau = arguments(n)
    moving = mbd.link_motion(reduced, q, qd)
    contact = {"point": moving.r[-1], "plane_normal": -moving.v[-1], "restitution": 0.5}
    found = mbd.articulated_impulse(reduced, q, qd, **contact)
    strike = strike_record(n - 1)
    strike["normal"], strike["point"], strike["restitution"] = found.normal_wrench[:3], moving.r[-1], 0.5
    tables = (reduced.tables.ints, reduced.tables.reals, reduced.workspace())
    response = Response(np.empty(n), np.empty((n, 6)), np.empty((n, 6)))
    given = (tables, np.empty((n, KEPT)), (q, qd), (tau, np.zeros((0, 6))), strike, response)
    many(*given, 1)
    count = max(4, int(seconds / (3e-7 * n)))
    start = time.process_time()
    many(*given, count)
    middle = time.process_time()
    calls = max(4, count // 10)
    for _ in range(calls):
        mbd.articulated_impulse(reduced, q, qd, **contact)
    end = time.process_time()
    return {
        "us": (middle - start) / count * 1e6,
        "called": (end - middle) / calls * 1e6,
        "differs": float(abs(strike["impulse"] - found.J)),
    }


if __name__ == "__main__":
    serve(recursion=recursion, impact=impact)
