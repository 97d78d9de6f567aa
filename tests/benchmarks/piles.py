r"""The section of `make bench` on piles: a step of Moreau-Jean, with exact laws, beside one of MuJoCo (Newton, elliptic cones; soft).

Towers of boxes, and boxes side by side, on a plane, at rest, h = 1 ms; four points a face.  Ours is the whole run of
`simulate(model, t_end, h=1e-3, integrator=mbd.MoreauJean())`, which stores every step, over its steps; MuJoCo's is `mj_step`, which stores
none.  Both in the same turns, one thread.
"""

from __future__ import annotations

import sys
import time
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from tests.benchmarks.turns import best, in_turn, median, verdict
from tests.benchmarks.worker import Worker, serve

EDGES, DENSITY, MU, H = (0.2, 0.2, 0.1), 1000.0, 0.5, 1e-3
SIZES = ((10, "tower", 4.0), (50, "tower", 3.0), (10, "side by side", None), (50, "side by side", 2.0))
"""Boxes, how they stand, and the bar of our time over MuJoCo's."""
GROWTH = 1.3
"""Bar of the exponent from 10 to 50 boxes."""
REPEATS, STEPS = 5, 500


def place(k: int, shape: str) -> tuple[float, float, float]:
    """Return where box k stands."""
    return (0.5 * k, 0.0, 0.05) if shape == "side by side" else (0.0, 0.0, 0.05 + 0.1 * k)


@cache
def model(n: int, shape: str) -> mbd.Model:
    """The boxes as a model."""
    system = mbd.System(shape, gravity=(0.0, 0.0, -9.81))
    ground: Any = (system.ground, mbd.Plane())
    boxes = [
        ground,
        *(system.add(mbd.Body(f"box {k}", *mbd.inertia.box(EDGES, density=DENSITY), r=place(k, shape))) for k in range(n)),
    ]
    pairs = [(boxes[0] if shape == "side by side" else boxes[k], boxes[k + 1]) for k in range(n)]
    system.add(mbd.Contacts("pile", pairs=pairs, mu=MU))
    return system.compile()


def ours(n: int, shape: str) -> dict[str, Any]:
    """One sample [us] of a step; how far a box has moved [m]; the largest residual of the laws."""
    boxes, method = model(n, shape), mbd.MoreauJean()
    mbd.simulate(boxes, 5 * H, h=H, integrator=method)
    start = time.process_time()
    result = mbd.simulate(boxes, STEPS * H, h=H, integrator=method)
    cpu = time.process_time() - start
    moved = float(np.abs(result.r[-1] - result.r[0]).max())
    return {"us": cpu / STEPS * 1e6, "moved": moved, "laws": result.check_contacts().worst}


def section(other: Worker, repeats: int = REPEATS) -> None:
    """Print the table;  other: MuJoCo."""
    mine = Worker("piles", sys.executable, "haugmbd")
    print(
        "\nPiles at rest: a step of h = 1 ms [us] of `simulate(..., integrator=MoreauJean())`, whole run, and of MuJoCo's `mj_step`, "
        "whose law is another one (soft)"
    )
    print(f"{'boxes':>6} {'':>13} {'haugmbd':>8} {'median':>7} {'laws':>8} {'moved':>8} {'MuJoCo':>8} {'moved':>8} {'ratio':>6}")
    costs: dict[tuple[int, str], float] = {}
    for n, shape, bar in SIZES:
        asks = {"ours": lambda n=n, s=shape: mine.ask("ours", n=n, shape=s)}
        if not other.missing:
            places = [place(k, shape) for k in range(n)]
            asks["peer"] = lambda p=places: other.ask("pile", places=p, edges=EDGES, density=DENSITY, mu=MU, h=H, steps=STEPS)
        found = in_turn(asks, repeats)
        costs[n, shape], last = best(found["ours"]), found["ours"][-1]
        text = (
            f"{n:>6} {shape:>13} {costs[n, shape]:>8.1f} {median(found['ours']):>7.1f} {last['laws']:>8.1e} {last['moved']:>8.1e}"
        )
        if "peer" in found:
            ratio = costs[n, shape] / best(found["peer"])
            text += f" {best(found['peer']):>8.1f} {found['peer'][-1]['moved']:>8.1e} {ratio:>6.2f}"
            text += f" {verdict(ratio, bar)}" if bar is not None else ""
        print(text, flush=True)
    mine.close()
    for shape in ("tower", "side by side"):
        exponent = float(np.log(costs[50, shape] / costs[10, shape]) / np.log(5.0))
        print(f"{shape}: exponent from 10 to 50 boxes {exponent:.2f} {verdict(exponent, GROWTH)}")


if __name__ == "__main__":
    serve(ours=ours)
