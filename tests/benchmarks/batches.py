"""Section of `make bench`: many variants of a chain of 5 at once, on one thread and on two."""

from __future__ import annotations

import os
import sys

from tests.benchmarks.ours_batch import FEW_STEPS, SHORT_RUNS
from tests.benchmarks.turns import best, in_turn
from tests.benchmarks.worker import Worker

LINKS, REPEATS = 5, 7
WORDS = {
    "states": "right-hand side with multipliers, of many states",
    "masses": "the same, other masses for each member",
    "runs": "a step of RK4 with projection, of many runs",
    "short": "the same of a thousand short runs, with their starts",
}
LEAST_RATE, LEAST_GAIN = 1.0, 1.9
"""Bars: millions of right-hand sides a second on two threads, and how much faster two threads are than one."""


def section(repeats: int = REPEATS) -> None:
    """Elapsed and CPU times.  On a machine that does other work, only the CPU times tell what two free processors would do."""
    worker = Worker("ours_batch", sys.executable, "haugmbd")
    print(
        f"\nBatches, chain of {LINKS} links [us]: elapsed and CPU time on one thread and on two; one / two elapsed; 2 x one / two of CPU"
    )
    print(f"{'':>50} {'one':>7} {'CPU':>7} {'two':>7} {'CPU':>7} {'gain':>6} {'of CPU':>7}")
    for what, words in WORDS.items():
        asks = {
            threads: lambda what=what, threads=threads: worker.ask("batch", n=LINKS, what=what, threads=threads)
            for threads in (1, 2)
        }
        answers = in_turn({str(threads): ask for threads, ask in asks.items()}, repeats)
        one, two = answers["1"], answers["2"]
        gain, of_cpu = best(one) / best(two), 2.0 * best(one, "cpu") / best(two, "cpu")
        times = (best(one), best(one, "cpu"), best(two), best(two, "cpu"))
        text = f"{words:>50} {' '.join(f'{x:>7.2f}' for x in times)} {gain:>6.2f} {of_cpu:>7.2f}"
        if what == "states":
            rate = 2.0 / best(two, "cpu")
            text += f"   {rate:.2f} million/s of CPU: {_verdict(rate, LEAST_RATE)}; gain of CPU: {_verdict(of_cpu, LEAST_GAIN)}"
        print(text)
    worker.close()
    of_rollout(best(one, "cpu"), repeats)


def of_rollout(ours: float, repeats: int) -> None:
    """MuJoCo's `rollout` of the same chain, with RK4: its loop in C over members, one thread.  ours: CPU time of a step [us]"""
    peer = Worker("peer_mujoco", os.environ.get("HAUGMBD_PEERS_PYTHON", sys.executable), "MuJoCo")
    asks = {"1": lambda: peer.ask("rollout", n=LINKS, members=SHORT_RUNS, steps=FEW_STEPS, h=1e-3)}
    theirs = best(in_turn(asks, repeats)["1"])
    peer.close()
    ratio = f"`batch(...).simulate` / it {ours / theirs:>5.2f}"
    print(f"{'the same by `mujoco.rollout`':>50} {theirs:>15.2f}   {ratio}")


def _verdict(value: float, bar: float) -> str:
    """The bar, and whether it is reached."""
    return f"bar {bar:g} {'met' if value >= bar else 'MISSED'}"
