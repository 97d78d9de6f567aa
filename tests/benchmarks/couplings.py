"""The section of `make bench` on coupled rows: what one costs in the right-hand side, relative to a row of the joints that it couples.

Each mechanism is measured with and without its coupled rows: evaluation of all rows, and factorization and solution of the augmented
matrix.  The bar is twice a row of the joints, which costs less by the recursion over trees than by blocks: both ratios are told, beside the
solver of the mechanism.  The growth is that of chains of gear pairs with the number of pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import haugmbd as mbd
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry
from haugmbd.formulations.newton_euler import factorize, factorize_and_solve_entry, finish
from haugmbd.kkt.solver import BLOCK, MULTIFRONTAL
from haugmbd.model.evaluate import prepare, rows_entry
from haugmbd.workspace.layout import Pack
from joints import CJ, RJ, TJ, Belt, Coupling, Distance, Gear, PointInPlane, RackPinion, RollingDisc, Screw
from tests.benchmarks import record
from tests.benchmarks.turns import best, in_turn, verdict

BAR, EXPONENT_BAR = 2.0, 0.05
PAIRS = (25, 50, 100, 250, 500)
SIZE, REPEATS, SECONDS = 100, 15, 0.01
J_BAR, Z = (0.1, 0.2, 0.3), (0.0, 0.0, 1.0)


class Built(NamedTuple):
    """A mechanism, and how many of its rows couple joints or close loops."""

    system: mbd.System
    coupled: int


def links(n: int, *, on_ground: bool = False, cls: Any = RJ) -> tuple[mbd.System, list[Any]]:
    """A chain of n links, or n bodies on the ground, and their joints."""
    system, joints = mbd.System("links", gravity=(0.3, -9.81, 1.0)), []
    before = system.ground
    for k in range(n):
        body = system.add(mbd.Body(f"body {k}", 1.0 + 0.1 * (k % 3), J_BAR, r=(k + 0.5, 0.1 * (k % 2), 0.0)))
        joints.append(
            system.add(cls(f"joint {k}", before, body, point=(k, 0, 0), axis=(0.0, 0.0 if on_ground else 0.2 * (k % 3), 1.0)))
        )
        before = before if on_ground else body
    return system, joints


def pairs(n: int, coupled: bool) -> Built:
    """A chain of n pairs of joints, a gear in each pair."""
    system, joints = links(2 * n)
    for k in range(n * coupled):
        system.add(Gear(f"gear {k}", joints[2 * k], joints[2 * k + 1], ratio=-2.0))
    return Built(system, n)


def apart(n: int, coupled: bool) -> Built:
    """The same with gears between joints that share no body."""
    system, joints = links(2 * n)
    first = range(0, 2 * n - 2, 4)
    for k in first if coupled else ():
        system.add(Gear(f"gear {k}", joints[k], joints[k + 2], ratio=-2.0))
    return Built(system, len(first))


def on_ground(
    n: int, coupled: bool, couple: Callable[[str, Any, Any], Any] = lambda name, a, b: Gear(name, a, b, ratio=-1.1)
) -> Built:
    """2 n wheels on the ground, each of them coupled to the next one."""
    system, joints = links(2 * n, on_ground=True)
    for k in range((2 * n - 1) * coupled):
        system.add(couple(f"coupling {k}", joints[k], joints[k + 1]))
    return Built(system, 2 * n - 1)


def belts(n: int, coupled: bool) -> Built:
    """The same with belts."""
    return on_ground(n, coupled, lambda name, a, b: Belt(name, a, b, radii=(0.1, 0.2)))


def differentials(n: int, coupled: bool) -> Built:
    """n times three wheels on the ground, coupled by Willis' equation."""
    system, joints = links(3 * n, on_ground=True)
    for k in range(n * coupled):
        left, right, cage = joints[3 * k : 3 * k + 3]
        system.add(Coupling(f"bevel gears {k}", {left: 1.0, right: 1.0, cage: -2.0}))
    return Built(system, n)


def planetary_sets(n: int, coupled: bool) -> Built:
    """n sets of sun, carrier and planet in a row on the ground, two meshes each."""
    system = mbd.System("planetary sets")
    for k in range(n):
        places = (("sun", 0.0), ("carrier", 0.0), ("planet", 0.2))
        sun, carrier, planet = (system.add(mbd.Body(f"{name} {k}", 1.0, J_BAR, r=(k + x, 0, 0))) for name, x in places)
        a = system.add(RJ(f"sun axis {k}", system.ground, sun, point=(k, 0, 0), axis=Z))
        c = system.add(RJ(f"carrier axis {k}", system.ground, carrier, point=(k, 0, 0), axis=Z))
        p = system.add(RJ(f"pin {k}", carrier, planet, point=(k + 0.2, 0, 0), axis=Z))
        if coupled:
            system.add(Coupling(f"sun mesh {k}", {a: 20.0, c: -20.0, p: 16.0}))
            system.add(Coupling(f"ring mesh {k}", {p: 16.0, c: 52.0}))
    return Built(system, 2 * n)


def racks(n: int, coupled: bool) -> Built:
    """n pinions on the ground, and their racks."""
    system, joints = links(n, on_ground=True)
    for k in range(n):
        rack = system.add(mbd.Body(f"rack {k}", 1.0, J_BAR, r=(k, 0.1, 0.0)))
        guide = system.add(TJ(f"guide {k}", system.ground, rack, point=(k, 0.1, 0), axis=(1, 0, 0)))
        if coupled:
            system.add(RackPinion(f"mesh {k}", joints[k], guide, radius=0.1))
    return Built(system, n)


def screws(n: int, coupled: bool) -> Built:
    """A chain of n screws: their rows stand in the edges of the joints."""
    system, joints = links(n, cls=CJ)
    for k in range(n * coupled):
        system.add(Screw(f"thread {k}", joints[k], pitch=0.01))
    return Built(system, n)


def rods(n: int, coupled: bool) -> Built:
    """A chain of 2 n links, rods between every other one: a row that closes a loop of three joints."""
    return closed(n, coupled, lambda name, i, j, at: Distance(name, i, j, point_i=i.r + (0.0, 0.5, 0.1), point_j=at))


def points_in_planes(n: int, coupled: bool) -> Built:
    """The same loops closed by one row of a joint: what of a rod's cost is that of the loop."""
    return closed(n, coupled, lambda name, i, j, at: PointInPlane(name, i, j, point=at, normal=(0.1, 1.0, 0.3)))


def closed(n: int, coupled: bool, close: Callable[[str, Any, Any, Any], Any]) -> Built:
    """A chain of 2 n links, and a joint between every other one, at a point on the second."""
    system, _ = links(2 * n)
    bodies = [body for body in system.bodies if not body.is_ground]
    first = range(0, 2 * n - 2, 2)
    for k in first if coupled else ():
        system.add(close(f"closing {k}", bodies[k], bodies[k + 2], bodies[k + 2].r + (0.1, 0.7, -0.2)))
    return Built(system, len(first))


def wheels(n: int, coupled: bool) -> Built:
    """n axles with two wheels that roll on a plane: three rows each, two of them of velocities."""
    system = mbd.System("wheels")
    for k in range(n):
        axle = system.add(mbd.Body(f"axle {k}", 1.0, J_BAR, r=(k, 0, 1.0)))
        for side in (-0.5, 0.5):
            wheel = system.add(mbd.Body(f"wheel {k} {side}", 1.0, J_BAR, r=(k, side, 1.0)))
            system.add(RJ(f"bearing {k} {side}", axle, wheel, point=(k, side, 1.0), axis=(0, 1, 0.1 * side)))
            if coupled:
                up = {"plane_point": (0, 0, 0), "plane_normal": Z}
                system.add(
                    RollingDisc(f"rolling {k} {side}", wheel, center=(k, side, 1.0), axis=(0, 1, 0.1 * side), radius=1.0, **up)
                )
    return Built(system, 6 * n)


CASES = (pairs, apart, on_ground, belts, differentials, planetary_sets, racks, screws, rods, points_in_planes, wheels)


@cache
def prepared(make: Callable[[int, bool], Built], n: int, coupled: bool, solver: str | None) -> tuple[mbd.Model, Any, Any]:
    """The model, a workspace with its rows, and the state."""
    model = make(n, coupled).system.compile(check_pose=make is not wheels, solver=solver)
    pack, y = model.pack(), model.state().y
    rows_entry(pack, 0.0, y)
    return model, pack, y


def sample(make: Callable[[int, bool], Built], n: int, coupled: bool, solver: str | None) -> dict[str, Any]:
    """One sample [us]: evaluation of the rows; factorization and solution."""
    _, pack, y = prepared(make, n, coupled, solver)
    rows, solved = _us(lambda: rows_entry(pack, 0.0, y)), _us(lambda: factorize_and_solve_entry(pack))
    return {"rows": rows, "solved": solved, "us": rows + solved}


def _us(call: Callable[[], Any]) -> float:
    """CPU time of one of the calls that fit into SECONDS."""
    count, start = 0, time.process_time()
    while count == 0 or time.process_time() - start < SECONDS:
        call()
        count += 1
    return 1e6 * (time.process_time() - start) / count


def ratios(
    make: Callable[[int, bool], Built], n: int, solver: str | None, repeats: int = REPEATS
) -> tuple[dict[str, float], float]:
    """What a coupled row costs, relative to a row of the mechanism without them, by part; time with all of them [us].

    "blocks": all parts, relative to a row of the mechanism without them that is solved by blocks
    """
    asks = {str(coupled): lambda coupled=coupled: sample(make, n, coupled, solver) for coupled in (False, True)}
    asks[BLOCK] = lambda: sample(make, n, False, BLOCK)
    answers = in_turn(asks, repeats)
    for name, found in answers.items():
        for answer in found:
            by = BLOCK if name == BLOCK else str(solver)
            record.keep("ours", "coupled", {"case": make.__name__, "n": n, "coupled": name == "True", "solver": by}, answer)
    without, count = prepared(make, n, False, solver)[0].nc, make(n, True).coupled
    found = {}
    for part in ("rows", "solved", "us"):
        alone, together = (best(answers[name], part) for name in ("False", "True"))
        found[part] = (together - alone) / count / (alone / without)
    found["blocks"] = (best(answers["True"]) - best(answers["False"])) / count / (best(answers[BLOCK]) / without)
    return found, best(answers["True"])


@entry
def evaluate_and_solve(P: Pack, y: Array, count: int) -> int:
    """Evaluate the rows of a state, factor and solve, so many times: without what calls from Python cost."""
    code = 0
    for _ in range(count):
        code += prepare(P, 0.0, y)
        code += factorize(P) + finish(P)
    return code


def growth(solver: str | None, repeats: int) -> float:
    """Growth exponent of the time of chains of gear pairs with the number of pairs."""
    asks = {str(n): lambda n=n: {"us": _growth_us(n, solver)} for n in PAIRS}
    answers = in_turn(asks, repeats)
    for name, found in answers.items():
        for answer in found:
            record.keep("ours", "coupled growth", {"n": int(name), "solver": str(solver)}, answer)
    return float(np.polyfit(np.log(PAIRS), np.log([best(answers[str(n)]) for n in PAIRS]), 1)[0])


def _growth_us(n: int, solver: str | None) -> float:
    """CPU time of one evaluation and solution of n pairs [us]."""
    _, pack, y = prepared(pairs, n, True, solver)
    evaluate_and_solve(pack, y, 1)
    count, start = 5000 // n, time.process_time()
    assert evaluate_and_solve(pack, y, count) == 0
    return 1e6 * (time.process_time() - start) / count


def section(repeats: int = REPEATS) -> None:
    """Print the tables."""
    print(
        "\nA coupled row relative to a row of the joints that it couples: evaluation, factorization and solution, both (verdict);"
    )
    print("and both, relative to such a row by blocks. Solvers: without and with coupled rows")
    for make in CASES:
        for solver in (None, BLOCK, MULTIFRONTAL) if make is pairs else (None,):
            found, us = ratios(make, SIZE, solver, repeats)
            alone, name = (prepared(make, SIZE, coupled, solver)[0].solver for coupled in (False, True))
            parts = f"{found['rows']:>6.2f} {found['solved']:>6.2f} {found['us']:>6.2f}"
            text = f"{make.__name__:>16} {alone:>13} {name:>13} {parts}  {verdict(found['us'], BAR)}"
            print(f"{text} {found['blocks']:>6.2f}  {verdict(found['blocks'], BAR)} {us:>8.2f} us", flush=True)
    for solver in (None, BLOCK):
        name = prepared(pairs, PAIRS[0], True, solver)[0].solver
        slope = growth(solver, repeats)
        text = f"growth exponent {slope:.3f}; from 1: {verdict(abs(slope - 1.0), EXPONENT_BAR)}"
        print(f"chains of {PAIRS[0]} to {PAIRS[-1]} gear pairs, {name}: {text}", flush=True)


if __name__ == "__main__":
    section()
