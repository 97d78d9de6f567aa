r"""`make bench`: haugmbd beside Pinocchio, Exudyn and MuJoCo, on the same mechanisms;  `make bench-quick`: the main figures in 2 minutes.

Each tool is one process with one thread.  They take turns (A B A B ...), so that a machine that slows down slows all of them.  Times
are CPU times, minimum and median; ratios are those of the minima.  The peers' Python is this one, or HAUGMBD_PEERS_PYTHON.  A tool
that is not installed is left out.  Work-precision diagrams go to `benchmarks/`, see `diagram`, and all answers as JSON, see `record`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.benchmarks import (
    batches,
    calls,
    closed_loops,
    couplings,
    explicit,
    formulations,
    friction,
    joints,
    kamino,
    meshes,
    piles,
    precision,
    record,
    reduced,
    surroundings,
    work_precision,
)
from tests.benchmarks.diagram import FOLDER
from tests.benchmarks.turns import best, in_turn, median, verdict
from tests.benchmarks.worker import Worker

LENGTHS = (1, 5, 10, 50, 100, 200, 1000)
PEER_LENGTHS = (1, 5, 10, 50, 100, 200)
IMPACT_LENGTHS = (10, 100, 1000)
REPEATS = 25
STEP_REPEATS = 7
STEP = {"n": 50, "steps": 1000, "h": 1e-3}


def right_hand_sides(ours: Worker, pinocchio: Worker) -> None:
    """Chains and a star against ABA; growth; one evaluation at n = 5."""
    print(
        "\nRight-hand side [us]: haugmbd with all multipliers, beside Pinocchio's ABA, without multipliers, by the same call path:"
    )
    print(
        "loop: haugmbd in compiled code; C++: a loop in C++ over a batch (abaInParallel, one thread; convention WORLD, its fastest)"
    )
    print("accelerations, evaluator: a call from Python of mbd.accelerations, of model.evaluator(), each over that of pin.aba")
    print(
        f"{'':>10} {'loop':>8} {'median':>7} {'C++':>8} {'median':>7} {'ratio':>6} {'pin.aba':>7} {'accelerations':>13} {'ratio':>6} "
        f"{'evaluator':>9} {'ratio':>6}  accelerations differ"
    )
    found = {(shape, n): _line(ours, pinocchio, shape, n) for shape, n in [("chain", n) for n in LENGTHS] + [("star", 100)]}
    lengths = np.array([n for n in LENGTHS if n >= 10])
    slope = np.polyfit(np.log(lengths), np.log([found["chain", n] for n in lengths]), 1)[0]
    wide = found["star", 100] / found["chain", 100]
    print(f"growth exponent, n = 10 ... 1000: {slope:.3f}; distance from 1: {verdict(abs(slope - 1.0), 0.05)}")
    print(f"star of 100 arms / chain of 100:  {wide:.2f}   {verdict(wide, 1.2)}")
    print(f"one evaluation at n = 5:          {found['chain', 5]:.2f} us {verdict(found['chain', 5], 3.5)}")


def _line(ours: Worker, pinocchio: Worker, shape: str, n: int, repeats: int = REPEATS) -> float:
    """Print one line of the table; return our time."""
    asks = {"ours": lambda: ours.ask("rhs", shape=shape, n=n)}
    if not pinocchio.missing and n in PEER_LENGTHS:
        asks["aba"] = lambda: pinocchio.ask("rhs", shape=shape, n=n)
    answers = in_turn(asks, repeats)
    mine = best(answers["ours"])
    text = f"{shape:>5} {n:>4} {mine:>8.2f} {median(answers['ours']):>7.2f}"
    if "aba" in answers:
        aba = answers["aba"]
        loop, called = best(aba), best(aba, "called")
        a, b = np.array(answers["ours"][0]["acceleration"]), np.array(aba[0]["acceleration"])
        asked, evaluated = (best(answers["ours"], what) for what in ("accelerations", "evaluator"))
        text += f" {loop:>8.2f} {median(aba):>7.2f} {mine / loop:>6.2f} {called:>7.2f} {asked:>13.2f} {asked / called:>6.2f}"
        text += f" {evaluated:>9.2f} {evaluated / called:>6.2f}"
        text += f"  {abs(a - b).max() / abs(b).max():<9.1e}"
        if shape == "chain" and 10 <= n <= 200:
            text += f" C++: {verdict(mine / loop, 1.6)}; evaluator: {verdict(evaluated / called, 1.6)}"
    print(text)
    return mine


def steps(ours: Worker, exudyn: Worker, mujoco: Worker, repeats: int = STEP_REPEATS) -> None:
    """A chain of 50 over one second."""
    asks: dict[str, Callable[[], dict[str, Any]]] = {
        f"haugmbd, {method}": lambda m=method: ours.ask("step", method=m, **STEP) for method in ("RK4", "generalized-alpha")
    }
    if not exudyn.missing:
        for method in ("generalized-alpha", "trapezoidal index 2"):
            asks[f"Exudyn, {method}"] = lambda m=method: exudyn.ask("step", method=m, **STEP)
    if not mujoco.missing:
        asks["MuJoCo, RK4, minimal"] = lambda: mujoco.ask("step", **STEP)
    answers = in_turn(asks, repeats)
    mine, implicit = answers["haugmbd, RK4"], answers["haugmbd, generalized-alpha"]
    print(f"\nOne step of h = 1 ms [us], chain of {STEP['n']} links from rest, 1 s; energy error / (n m g L); joint gap [m];")
    print("largest distance of a body from RK4's at the end [m]; time of RK4 and of generalized-alpha / its time")
    print(f"{'':>30} {'step':>7} {'median':>7} {'energy':>8} {'gap':>8} {'from ours':>9} {'RK4':>6} {'alpha':>6}")
    for name, found in answers.items():
        last, ratio, like = found[-1], best(mine) / best(found), best(implicit) / best(found)
        away = np.linalg.norm(np.array(last["r"]) - mine[-1]["r"], axis=1).max()
        text = f"{name:>30} {best(found):>7.1f} {median(found):>7.1f} {last['energy']:>8.1e} {last['gap']:>8.1e} {away:>9.1e}"
        text += f" {ratio:>6.2f} {like:>6.2f}"
        print(text + ("  " + verdict(max(ratio, like), 0.35) if name.startswith("Exudyn") else ""))
    print(f"haugmbd: energy {verdict(mine[-1]['energy'], 1e-9)}; joint gap {verdict(mine[-1]['gap'], 1e-12)}")
    print("Exudyn: EigenSparse, Euler parameters, modified Newton, default tolerances; its explicit methods take no joints.")
    print("MuJoCo: joint angles, so that no gap is possible.")


def memory(ours: Worker) -> None:
    """Bytes a body."""
    print("\nMemory [bytes a body]: the pack (tables and room to compute in), one stored step")
    for n in (10, 100, 1000):
        found = ours.ask("memory", n=n)
        print(f"{'chain':>5} {n:>4} {found['pack']:>8.0f} {found['stored']:>7.0f}")


def impacts(ours: Worker, repeats: int = REPEATS) -> None:
    """One more question to the factor, beside the factorization."""
    print(
        "\nImpulse in maximal coordinates [us]: factorization, one back-substitution with the factor at hand (an applied impulse, or a"
    )
    print("contact more, costs one), and the whole call from Python, checks included")
    print(f"{'':>10} {'factorize':>9} {'solve':>7} {'ratio':>6} {'mbd.impulse':>12}")
    solves = {}
    for n in IMPACT_LENGTHS:
        found = in_turn({"ours": lambda n=n: ours.ask("impact", n=n)}, repeats)["ours"]
        factorize, solves[n], call = (best(found, what) for what in ("factorize", "solve", "impulse"))
        print(f"{'chain':>5} {n:>4} {factorize:>9.2f} {solves[n]:>7.2f} {solves[n] / factorize:>6.2f} {call:>12.0f}")
    slope = np.polyfit(np.log(IMPACT_LENGTHS), np.log([solves[n] for n in IMPACT_LENGTHS]), 1)[0]
    print(f"growth exponent of the back-substitution: {slope:.3f}")


def quick(ours: Worker, peers: dict[str, Worker]) -> None:
    """The figures that a change of the code is most likely to move."""
    print(
        f"{'':>10} {'haugmbd':>8} {'median':>7} {'C++':>8} {'median':>7} {'ratio':>6} {'called':>7} {'ratio':>6}  accelerations differ"
    )
    for n in (10, 100):
        _line(ours, peers["pinocchio"], "chain", n, repeats=10)
    steps(ours, peers["exudyn"], peers["mujoco"], repeats=2)
    impacts(ours, repeats=5)
    friction.section(repeats=3)
    calls.from_python(repeats=3)
    batches.section(repeats=3)
    calls.starts(repeats=1)
    calls.large((20_000,))


class Tools(NamedTuple):
    """The tools, each a process."""

    ours: Worker
    runs: Worker
    pinocchio: Worker
    exudyn: Worker
    mujoco: Worker


def chains(tools: Tools) -> None:
    """Work against precision of the chain, and at equal error."""
    work_precision.chains_at_equal_error(precision.section(work_precision.chains(tools.ours, tools.exudyn, tools.mujoco)))


def windows(tools: Tools) -> None:
    """Work against precision of the windows."""
    for task in work_precision.four_bars(tools.runs, tools.exudyn, tools.mujoco):
        precision.section(task)


def loops(tools: Tools) -> None:
    """Work against precision of closed loops in space."""
    for task in closed_loops.precision(tools.runs, tools.exudyn, tools.mujoco):
        precision.section(task)


LOOP = "a loop in compiled code over the right-hand side"
SIMULATE = "`mbd.simulate`, the whole run over its steps"
OURS_ONLY = "haugmbd only"
SAME, EQUAL_ERROR, ANOTHER = "the same law and the same step", "compared at equal error", "another law: soft contacts"


class Section(NamedTuple):
    """A section: what measures it, the path by which each row calls haugmbd, and how its peers compare."""

    measure: Callable[[Tools], Any]
    path: str
    beside: str = OURS_ONLY


SECTIONS: dict[str, Section] = {
    "rhs": Section(lambda tools: right_hand_sides(tools.ours, tools.pinocchio), f"{LOOP}, and what each column names", SAME),
    "reduced": Section(lambda tools: reduced.section(tools.pinocchio), "`SerialChain` methods called from Python", SAME),
    "explicit": Section(lambda tools: explicit.section(), SIMULATE),
    "steps": Section(
        lambda tools: steps(tools.ours, tools.exudyn, tools.mujoco), SIMULATE, f"{SAME}; errors stand beside the times"
    ),
    "chains": Section(chains, SIMULATE, EQUAL_ERROR),
    "andrews": Section(
        lambda tools: precision.section(work_precision.andrews(tools.runs, tools.pinocchio, tools.exudyn)), SIMULATE, EQUAL_ERROR
    ),
    "windows": Section(windows, SIMULATE, EQUAL_ERROR),
    "tops": Section(
        lambda tools: precision.section(work_precision.tops(tools.runs, tools.exudyn, tools.mujoco)), SIMULATE, EQUAL_ERROR
    ),
    "loops": Section(loops, SIMULATE, EQUAL_ERROR),
    "cloth": Section(lambda tools: precision.section(work_precision.cloths(tools.runs, tools.exudyn)), SIMULATE, EQUAL_ERROR),
    "kamino": Section(lambda tools: kamino.section(), SIMULATE, "cited errors, no times"),
    "over_time": Section(lambda tools: closed_loops.over_time(tools.runs), SIMULATE),
    "memory": Section(lambda tools: memory(tools.ours), "arrays of a compiled model and of a Result"),
    "impacts": Section(lambda tools: impacts(tools.ours), "a loop in compiled code, and `mbd.impulse` where it is named"),
    "formulations": Section(
        lambda tools: formulations.section(tools.ours), "an evaluation of a formulation in Python; NewtonEuler: " + LOOP
    ),
    "couplings": Section(lambda tools: couplings.section(), LOOP),
    "meshes": Section(lambda tools: meshes.section(), LOOP, "SciPy's SuperLU of the same matrix, `splu` and `solve`"),
    "friction": Section(lambda tools: friction.section(), LOOP),
    "joints": Section(lambda tools: joints.section(), LOOP),
    "memories": Section(lambda tools: calls.memories(), "a process that compiles, and takes one step by `mbd.simulate`"),
    "calls": Section(lambda tools: calls.from_python(), "calls from Python, as named"),
    "batches": Section(lambda tools: batches.section(), "`mbd.batch(...).accelerations()` and `.simulate(...)`", SAME),
    "starts": Section(lambda tools: calls.starts(), "whole processes"),
    "large": Section(lambda tools: calls.large(), "`compile` and `mbd.simulate`"),
    "surroundings": Section(lambda tools: surroundings.section(), "as each row names"),
    "piles": Section(lambda tools: piles.section(tools.mujoco), f"{SIMULATE}, with MoreauJean", ANOTHER),
}
"""What `make bench` measures, in this order; `python -m tests.benchmarks NAME ...` measures these only."""


def main() -> None:
    """Print everything, or the sections that are named."""
    wanted = [name for name in sys.argv[1:] if not name.startswith("-")]
    if unknown := set(wanted) - set(SECTIONS):
        sys.exit(f"no section is called {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    python = os.environ.get("HAUGMBD_PEERS_PYTHON", sys.executable)
    ours = Worker("ours", sys.executable, "haugmbd")
    peers = {needs: Worker(f"peer_{needs}", python, needs) for needs in ("pinocchio", "exudyn", "mujoco")}
    missing = [name for name, worker in peers.items() if worker.missing]
    print("haugmbd beside its peers: CPU time, one thread, the tools take turns; minima (and medians)")
    if missing:
        print(f"not installed, left out: {', '.join(missing)}")
    if "--quick" in sys.argv:
        quick(ours, peers)
        record.write(FOLDER / "results.json")
    else:
        tools = Tools(ours, Worker("ours_precision", sys.executable, "haugmbd"), **peers)
        for name in wanted or SECTIONS:
            section = SECTIONS[name]
            print(f"\n[{name}] path: {section.path}; peers: {section.beside}", flush=True)
            section.measure(tools)
            record.write(FOLDER / "results.json")  # after each section: what is measured stays, however the run ends
        tools.runs.close()
    for worker in (ours, *peers.values()):
        worker.close()
    print(f"\nAll answers, with machine and versions: {FOLDER / 'results.json'}")


if __name__ == "__main__":
    main()
