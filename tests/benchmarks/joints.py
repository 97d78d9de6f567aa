"""The section of `make bench` on other joints and trees on loops: the right-hand side by the recursion, and by the block LDL^T."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.integrators.stabilization.none import RATES
from haugmbd.integrators.step_context import make_options
from haugmbd.kkt.solver import BLOCK, TREE, TREES_ON_BLOCKS
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, Planar, RotationDriver
from tests.benchmarks import chain
from tests.benchmarks.turns import best, in_turn, verdict
from tests.benchmarks.worker import Worker, serve


def driven(name: str, i: mbd.Body, j: mbd.Body, P: Any, a: Any) -> tuple[mbd.Joint, ...]:
    """A revolute joint that is driven: no freedom remains."""
    joint = RJ(name, i, j, point=P, axis=a)
    return joint, RotationDriver(f"{name} drive", joint, 0.0)


JOINTS: dict[str, Callable[..., tuple[mbd.Joint, ...]]] = {
    "RJ": lambda name, i, j, P, a: (RJ(name, i, j, point=P, axis=a),),
    "SJ": lambda name, i, j, P, a: (SJ(name, i, j, point=P),),
    "UJ": lambda name, i, j, P, a: (UJ(name, i, j, point=P, axis_i=a, axis_j=np.cross(a, (0.3, 0.5, 0.8))),),
    "CJ": lambda name, i, j, P, a: (CJ(name, i, j, point=P, axis=a),),
    "TJ": lambda name, i, j, P, a: (TJ(name, i, j, point=P, axis=a),),
    "Planar": lambda name, i, j, P, a: (Planar(name, i, j, point=P, normal=a),),
    "Fixed": lambda name, i, j, P, a: (Fixed(name, i, j, point=P),),
    "RJ, driven": driven,
}
SIZES = (10, 100)
PENDANTS = (0, 2, 10, 50)
"""Links of the chain that hangs on a loop, or behind a vehicle."""
BAR = 1.0
REPEATS = 9


def add_chain(system: mbd.System, before: mbd.Body, joint: str, n: int) -> None:
    """Add a chain at rest that hangs on a body."""
    links, start = chain.chain(max(n, 1), moving=False), before.r
    for k in range(n):
        body = system.add(mbd.Body(f"b{k}", chain.MASS, chain.INERTIA, r=links.r[k] + start))
        for row in JOINTS[joint](f"j{k}", before, body, links.point[k] + start, links.axis[k]):
            system.add(row)
        before = body


def chain_of(joint: str, n: int) -> mbd.System:
    """A chain on the ground."""
    system = mbd.System("chain", gravity=(0, 0, -chain.GRAVITY))
    add_chain(system, system.ground, joint, n)
    return system


def four_bar(joint: str, n: int) -> mbd.System:
    """A four-bar whose rows are independent, with a chain on its coupler."""
    system = mbd.System("four-bar", gravity=(0, 0, -chain.GRAVITY))
    places = ((0, 0.5, 0), (1, 1.1, 0), (2, 0.6, 0))
    bars = [system.add(mbd.Body(f"bar {k}", chain.MASS, chain.INERTIA, r=r)) for k, r in enumerate(places)]
    system.add(RJ("a", system.ground, bars[0], point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(UJ("b", bars[0], bars[1], point=(0, 1, 0), axis_i=(0, 0, 1), axis_j=(1, 0, 0)))
    system.add(SJ("c", bars[1], bars[2], point=(2, 1.2, 0)))
    system.add(RJ("d", bars[2], system.ground, point=(2, 0, 0), axis=(0, 0, 1)))
    add_chain(system, bars[1], joint, n)
    return system


def vehicle(joint: str, n: int) -> mbd.System:
    """A frame with four double wishbones, tie rods and wheels, and a chain behind it: 17 bodies, of which the wheels hang on loops."""
    system = mbd.System("vehicle", gravity=(0, 0, -chain.GRAVITY))
    frame = system.add(mbd.Body("frame", 500.0, (100.0, 300.0, 350.0), r=(0, 0, 0.6)))
    for k, (x, y) in enumerate(((1.2, 1.0), (1.2, -1.0), (-1.2, 1.0), (-1.2, -1.0))):
        add = {"mass": 10.0, "J_bar": (0.2, 0.3, 0.25)}
        lower = system.add(mbd.Body(f"lower {k}", r=(x, 0.5 * y, 0.3), **add))
        upper = system.add(mbd.Body(f"upper {k}", r=(x, 0.5 * y, 0.7), **add))
        upright = system.add(mbd.Body(f"upright {k}", r=(x, 0.75 * y, 0.5), **add))
        wheel = system.add(mbd.Body(f"wheel {k}", r=(x, 0.9 * y, 0.5), **add))
        system.add(RJ(f"lower {k} pin", frame, lower, point=(x, 0.25 * y, 0.3), axis=(1, 0, 0)))
        system.add(RJ(f"upper {k} pin", frame, upper, point=(x, 0.3 * y, 0.7), axis=(1, 0.05, 0)))
        system.add(SJ(f"lower {k} ball", lower, upright, point=(x, 0.75 * y, 0.3)))
        system.add(SJ(f"upper {k} ball", upper, upright, point=(x, 0.7 * y, 0.7)))
        system.add(Distance(f"rod {k}", frame, upright, point_i=(x - 0.2, 0.3 * y, 0.4), point_j=(x - 0.2, 0.7 * y, 0.4)))
        system.add(RJ(f"bearing {k}", upright, wheel, point=(x, 0.9 * y, 0.5), axis=(0, 1, 0)))
    add_chain(system, frame, joint, n)
    return system


SHAPES = {"chain": chain_of, "four-bar": four_bar, "vehicle": vehicle}


@cache
def evaluated(joint: str, n: int, solver: str, shape: str) -> tuple[Any, ...]:
    """Return what `ours.many` needs for a system at rest."""
    model = SHAPES[shape](joint, n).compile(solver=solver, check_pose=False)
    y = model.state().y.copy()
    return RATES, mbd.NewtonEuler().pack(model), make_options(), y, np.zeros(y.size)


def rhs(joint: str, n: int, solver: str, shape: str = "chain", seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of the right-hand side."""
    from tests.benchmarks.ours import many  # noqa: PLC0415  the process of its own compiles it

    arguments = evaluated(joint, n, solver, shape)
    if many(*arguments, 1) != 0:
        raise RuntimeError(f"no solution for {n} links on {joint}, {shape}")
    count = max(3, int(seconds / (0.3e-6 * (n + 3))))
    start = time.process_time()
    many(*arguments, count)
    return {"us": (time.process_time() - start) / count * 1e6}


def section(repeats: int = REPEATS) -> None:
    """Print the table."""
    ours = Worker("joints", sys.executable, "haugmbd")
    print(
        "\nChains of each joint: right-hand side with all multipliers [us a link], by the recursion over trees and by the block LDL^T"
    )
    print(f"{'joint':>12} {'links':>6} {'tree':>7} {'blocks':>7} {'ratio':>6}")
    for joint in JOINTS:
        for n in SIZES:
            asks = {
                name: lambda joint=joint, n=n, name=name: ours.ask("rhs", joint=joint, n=n, solver=name) for name in (TREE, BLOCK)
            }
            found = in_turn(asks, repeats)
            tree, blocks = (best(found[name]) / n for name in (TREE, BLOCK))
            print(f"{joint:>12} {n:>6} {tree:>7.3f} {blocks:>7.3f} {tree / blocks:>6.2f}  {verdict(tree / blocks, BAR)}")
    print("\nLoops with a chain that hangs on them: right-hand side [us], by the recursion and blocks, and by blocks alone")
    print(f"{'':>12} {'joints':>6} {'links':>6} {'trees':>7} {'blocks':>7} {'ratio':>6}")
    for shape, joint, n in [(shape, joint, n) for shape in ("four-bar", "vehicle") for joint in ("RJ", "SJ") for n in PENDANTS]:
        if n == 0 and (shape == "four-bar" or joint == "SJ"):  # nothing hangs, or the same again
            continue
        given = {"joint": joint, "n": n, "shape": shape}
        asks = {name: lambda given=given, name=name: ours.ask("rhs", **given, solver=name) for name in (TREES_ON_BLOCKS, BLOCK)}
        found = in_turn(asks, repeats)
        trees, blocks = (best(found[name]) for name in (TREES_ON_BLOCKS, BLOCK))
        print(f"{shape:>12} {joint:>6} {n:>6} {trees:>7.2f} {blocks:>7.2f} {trees / blocks:>6.2f}  {verdict(trees / blocks, BAR)}")
    ours.close()


if __name__ == "__main__":
    serve(rhs=rhs)
