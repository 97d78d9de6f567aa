"""The section of `make bench` on explicit methods: what a step costs on the chain of 50 links."""

from __future__ import annotations

import sys
import time
from functools import cache
from typing import Any

import haugmbd as mbd
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.explicit.runge_kutta import Explicit
from tests.benchmarks.turns import best, in_turn, median
from tests.benchmarks.worker import Worker, serve

METHODS = {
    kind.__name__: kind
    for kind in (mbd.SemiImplicitEuler, mbd.Heun, mbd.RK3, mbd.CrouchGrossman3, mbd.RK4, mbd.RKMK4, mbd.DormandPrince, mbd.DOP853)
}
STABILIZATIONS: dict[str, Any] = {
    "none": None,
    "Baumgarte": mbd.Baumgarte(5.0, 5.0),
    "Projection": mbd.Projection(),
    "every 10th": mbd.Projection(every=10),
    "UnweightedProjection": mbd.UnweightedProjection(),
    "EnergyProjection": mbd.EnergyProjection(),
}
LINKS, STEPS, H = 50, 500, 1e-3
REPEATS = 5


def held(kind: type[Any]) -> Integrator:
    """The method with a fixed step: an adaptive one by its first and largest step, and a tolerance that refuses nothing."""
    found: Integrator = kind(h=H) if issubclass(kind, Explicit) else kind(rtol=1e12, atol=1e12, h_first=H, h_max=H)
    return found


@cache
def chain_model() -> mbd.Model:
    """The chain of 50 links, at rest."""
    from tests.benchmarks.ours import model  # noqa: PLC0415  it reads the numbers of the chain

    return model("chain", LINKS, False)[1]


def step(method: str, stabilization: str) -> dict[str, Any]:
    """One sample [us] of a step, and evaluations and factorizations a step."""
    start = time.process_time()
    rule = STABILIZATIONS[stabilization]
    result = mbd.simulate(chain_model(), STEPS * H, integrator=held(METHODS[method]), stabilization=rule, store_every=STEPS)
    us = (time.process_time() - start) / STEPS * 1e6
    work = result.counters
    return {"us": us, "evaluations": (work.evaluations - 1) / work.steps, "factorizations": work.factorizations / work.steps}


def section() -> None:
    """Print the table."""
    ours = Worker("explicit", sys.executable, "haugmbd")
    print(f"\nExplicit methods: a step of 1 ms [us], chain of {LINKS} links")
    print(f"{'':>18} {'':>16} {'us':>8} {'median':>8} {'evaluations':>12} {'factorizations':>15} {'us each':>8}")
    pairs = [(name, "Projection") for name in METHODS] + [("RK4", name) for name in STABILIZATIONS if name != "Projection"]
    asks = {f"{m:>18} {s:>16}": lambda m=m, s=s: ours.ask("step", method=m, stabilization=s) for m, s in pairs}
    for name, answers in in_turn(asks, REPEATS).items():
        us, evaluations, factors = best(answers), answers[0]["evaluations"], answers[0]["factorizations"]
        print(f"{name} {us:>8.1f} {median(answers):>8.1f} {evaluations:>12.1f} {factors:>15.2f} {us / evaluations:>8.1f}")
    ours.close()


if __name__ == "__main__":
    serve(step=step)
