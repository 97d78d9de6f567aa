"""The section of `make bench` on chains of other joints: the right-hand side by the recursion over trees, and by the block LDL^T."""

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
from haugmbd.kkt.solver_choice import BLOCK, TREE
from joints import CJ, RJ, SJ, TJ, UJ, Fixed, Planar, RotationDriver
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
BAR = 1.0
REPEATS = 9


@cache
def evaluated(joint: str, n: int, solver: str) -> tuple[Any, ...]:
    """Return what `ours.many` needs for a chain at rest."""
    links = chain.chain(n, moving=False)
    system = mbd.System("chain", gravity=(0, 0, -chain.GRAVITY))
    bodies = [system.ground]
    for k, i in enumerate(links.parent):
        bodies.append(system.add(mbd.Body(f"b{k}", chain.MASS, chain.INERTIA, r=links.r[k])))
        for row in JOINTS[joint](f"j{k}", bodies[i], bodies[-1], links.point[k], links.axis[k]):
            system.add(row)
    model = system.compile(solver=solver, check_pose=False)
    y = model.state().y.copy()
    return RATES, mbd.NewtonEuler().pack(model), make_options(), y, np.zeros(y.size)


def rhs(joint: str, n: int, solver: str, seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of the right-hand side."""
    from tests.benchmarks.ours import many  # noqa: PLC0415  the process of its own compiles it

    arguments = evaluated(joint, n, solver)
    if many(*arguments, 1) != 0:
        raise RuntimeError(f"no solution for {n} links on {joint}")
    count = max(3, int(seconds / (0.3e-6 * n)))
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
    ours.close()


if __name__ == "__main__":
    serve(rhs=rhs)
