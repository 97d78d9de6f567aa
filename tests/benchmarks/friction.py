"""The section of `make bench` on friction in joints: what friction by reactions costs a right-hand side."""

from __future__ import annotations

import sys
import time
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.integrators.stabilization.none import RATES
from haugmbd.integrators.step_context import make_options
from joints import RJ
from tests.benchmarks import chain
from tests.benchmarks.turns import best, in_turn, median, verdict
from tests.benchmarks.worker import Worker, serve

LAWS: dict[str, Any] = {
    "none": None,
    "Coulomb": mbd.Coulomb(0.2, 0.15),
    "Coulomb, smooth": mbd.Coulomb(0.2, velocity=0.05),
    "BrownMcPhee": mbd.BrownMcPhee(0.2, 0.15, 0.02),
    "LuGre": mbd.LuGre(0.2, 0.15, 0.02, 1e3, 0.05),
}
BEARINGS: dict[str, dict[str, float]] = {
    "radius 0.02": {"radius": 0.02},
    "radius 0.02, length 0.1": {"radius": 0.02, "length": 0.1, "thrust_radius": 0.03},
}
SIZES = ((1, 1), (10, 1), (10, 10), (50, 1), (50, 50))
"""Links, and joints with friction among them."""
BAR = 2.0
DEFLECTION = 1e-4
"""[m] Of the bristles."""
REPEATS = 9


@cache
def evaluated(n: int, rub: int, law: str, bearing: str) -> tuple[Any, ...]:
    """Return what `ours.many` needs for a moving chain."""
    links = chain.chain(n, moving=True)
    system = mbd.System("chain", gravity=(0, 0, -chain.GRAVITY))
    bodies, pins = [system.ground], []
    for k, i in enumerate(links.parent):
        state = {"r": links.r[k], "v": links.v[k], "omega_bar": links.omega[k]}
        bodies.append(system.add(mbd.Body(f"b{k}", chain.MASS, chain.INERTIA, **state)))
        pins.append(system.add(RJ(f"j{k}", bodies[i], bodies[-1], point=links.point[k], axis=links.axis[k])))
    for k in np.linspace(0, n - 1, rub).round().astype(int) if LAWS[law] else ():
        system.add(mbd.JointFriction(f"f{k}", pins[k], LAWS[law], **BEARINGS[bearing]))
    model = system.compile()
    y = model.state().y.copy()
    y[13 * (n + 1) :] = DEFLECTION
    return RATES, model.pack(), make_options(), y, np.zeros(y.size)


def rhs(n: int, rub: int, law: str, bearing: str, seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of the right-hand side."""
    from tests.benchmarks.ours import many  # noqa: PLC0415  the process of its own compiles it

    arguments = evaluated(n, rub, law, bearing)
    if many(*arguments, 1) != 0:
        raise RuntimeError(f"no solution for {n} links with {law}, {bearing}")
    count = max(3, int(seconds / (2e-6 * n)))
    start = time.process_time()
    many(*arguments, count)
    return {"us": (time.process_time() - start) / count * 1e6}


def section(repeats: int = REPEATS) -> None:
    """Print the table."""
    ours = Worker("friction", sys.executable, "haugmbd")
    print("\nFriction in revolute joints by their own reactions: right-hand side [us] of a moving chain, and its ratio to none")
    for bearing in BEARINGS:
        print(f"{bearing}:\n{'links':>6} {'rub':>4} {'law':>16} {'us':>8} {'median':>8} {'ratio':>6}")
        for n, rub in SIZES:
            asks = {law: lambda n=n, rub=rub, law=law, b=bearing: ours.ask("rhs", n=n, rub=rub, law=law, bearing=b) for law in LAWS}
            found = in_turn(asks, repeats)
            for law, answers in found.items():
                ratio = best(answers) / best(found["none"])
                text = f"{n:>6} {rub:>4} {law:>16} {best(answers):>8.2f} {median(answers):>8.2f} {ratio:>6.2f}"
                print(text + (f"  {verdict(ratio, BAR)}" if law != "none" else ""))
    ours.close()


if __name__ == "__main__":
    serve(rhs=rhs)
