"""haugmbd called from Python: single calls, the first simulation of a process, and large models with the memory that they take."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from joints import RJ
from tests.benchmarks import chain, meshes
from tests.benchmarks.worker import serve

CALLS = ("accelerations", "evaluate", "evaluator", "impulse", "simulate, one step", "compile")
WARM = 20
"""Links of a chain that loads all machine code."""
SECONDS = 0.02
"""CPU time of one sample of a call."""


def system(shape: str, n: int) -> mbd.System:
    """A slider-crank, or the chain of the other benchmarks, moving."""
    if shape == "slider-crank":
        return slider_crank()
    links = chain.chain(n, moving=True)
    made = mbd.System(shape, gravity=(0, 0, -chain.GRAVITY))
    bodies = [made.ground]
    for k, i in enumerate(links.parent):
        state = {"r": links.r[k], "v": links.v[k], "omega_bar": links.omega[k]}
        bodies.append(made.add(mbd.Body(f"b{k}", chain.MASS, chain.INERTIA, **state)))
        made.add(RJ(f"j{k}", bodies[i], bodies[-1], point=links.point[k], axis=links.axis[k]))
    return made


@cache
def calls(shape: str, n: int) -> dict[str, Callable[[], Any]]:
    """What is called, by its name."""
    made = system(shape, n)
    model = made.compile()
    state, evaluator = model.state(), model.evaluator()
    y, blow = state.y, mbd.PointImpulse("blow", model.bodies[-1], impulse=(1, 2, 3))
    found: dict[str, Callable[[], Any]] = {
        "accelerations": lambda: mbd.accelerations(model, state),
        "evaluate": lambda: mbd.evaluate(model, state),
        "evaluator": lambda: evaluator(0.0, y),
        "impulse": lambda: mbd.impulse(model, state, applied=blow),
        "simulate, one step": lambda: mbd.simulate(model, 1e-3, h=1e-3),
        "compile": made.compile,
    }
    for call in found.values():
        call()
    return found


def call(shape: str, n: int, what: str) -> dict[str, Any]:
    """One sample [us] of a call."""
    made, count = calls(shape, n)[what], 0
    start = time.process_time()
    while time.process_time() - start < SECONDS:
        made()
        count += 1
    return {"us": (time.process_time() - start) / count * 1e6}


def straight(n: int) -> mbd.System:
    """A straight chain of n links at rest, with axes normal to it in turn."""
    made = mbd.System("chain", gravity=(0, 0, -chain.GRAVITY))
    before = made.ground
    for k in range(n):
        body = made.add(mbd.Body(f"b{k}", chain.MASS, chain.INERTIA, r=(k + 0.5, 0, 0)))
        made.add(RJ(f"j{k}", before, body, point=(k, 0, 0), axis=((0, 1, 0), (0, 0, 1))[k % 2]))
        before = body
    return made


def large(n: int, steps: int) -> dict[str, Any]:
    """A chain of n links: CPU time [s] to build and to compile it, of runs of RK4 with projection [us a link], largest memory [GB].

    first, start: what the first run, and a later one, do once;  us: a step, from runs of `steps` and of three times as many
    """
    _run(straight(WARM).compile(), steps)
    start = time.process_time()
    made = straight(n)
    built = time.process_time()
    model = made.compile()
    compiled = time.process_time()
    first, again, long = (_run(model, m) / n * 1e6 for m in (steps, steps, 3 * steps))
    step = (long - again) / (2 * steps)
    return {
        "build": built - start,
        "compile": compiled - built,
        "first": first - steps * step,
        "start": again - steps * step,
        "us": step,
        "gigabytes": memory(),
    }


def _run(model: mbd.Model, steps: int) -> float:
    """CPU time [s] of a run that stores its ends."""
    began = time.process_time()
    mbd.simulate(model, steps * 1e-4, h=1e-4, store_every=steps)
    return time.process_time() - began


def mobility(n: int) -> dict[str, Any]:
    """CPU time [s] to compile the same chain, and of `mobility` of it: minima of three."""
    mbd.mobility(straight(WARM))
    made, found = straight(n), dict[str, float]()
    for _ in range(3):
        for name, call in (("compile", made.compile), ("mobility", lambda: mbd.mobility(made))):
            began = time.process_time()
            call()
            found[name] = min(found.get(name, float("inf")), time.process_time() - began)
    return found


def room(kind: str, shape: list[int]) -> dict[str, Any]:
    """Largest memory [GB] of a process that compiles a mesh and makes one step, above what the process has before; its rows."""
    warm = meshes.mesh((3,) * len(shape), kind).compile()
    mbd.simulate(warm, 1e-4, h=1e-4)
    before = memory()
    model = meshes.mesh(tuple(shape), kind).compile()
    mbd.simulate(model, 1e-5, h=1e-5)
    return {"gigabytes": memory() - before, "rows": model.nc}


def memory() -> float:
    """The largest memory of this process so far [GB]; `ru_maxrss` begins, on Linux, with that of the process which started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(1024e-9 * int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0) / 1e9


if __name__ == "__main__":
    serve(call=call, large=large, mobility=mobility, room=room)
