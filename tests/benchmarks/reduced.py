"""The section of `make bench` on reduced coordinates: aba, rnea and crba against Pinocchio's, both called from Python; impacts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.turns import best, in_turn, median, verdict
from tests.benchmarks.worker import Worker

BARS = {"aba": 1.0, "rnea": 1.5, "crba": 1.5}
LENGTHS = (1, 10, 30, 100, 200, 1000)
LONGEST_PEER = 200
IMPACTS = (10, 100, 1000)
REPEATS = 15


def section(pinocchio: Worker) -> None:
    """Print the table."""
    ours = Worker("ours_reduced", sys.executable, "haugmbd")
    print(
        "\nReduced coordinates [us]: one call from Python, revolute chain of n links, beside Pinocchio's function of the same name"
    )
    print(f"{'':>5} {'n':>4} {'haugmbd':>8} {'median':>7} {'Pin.':>8} {'median':>7} {'ratio':>6}  answers differ")
    for algorithm, bar in BARS.items():
        times = [_line(ours, pinocchio, algorithm, n, bar) for n in LENGTHS]
        print(f"      growth exponent, n = 100 ... 1000: {np.log(times[-1] / times[3]) / np.log(10.0):.2f}")
    _impacts(ours)
    ours.close()


def _impacts(ours: Worker) -> None:
    """An impact on the last link: times, and how they grow."""
    print("\narticulated_impulse [us]: an impact on the last link, J, l, dqd and dv, in a compiled loop, and called from Python")
    print(f"{'n':>10} {'loop':>8} {'median':>7} {'a link':>7} {'called':>8}")
    times = []
    for n in IMPACTS:
        answers = in_turn({"ours": lambda n=n: ours.ask("impact", n=n)}, REPEATS)["ours"]
        assert max(answer["differs"] for answer in answers) == 0.0
        times.append(best(answers))
        print(f"{n:>10} {times[-1]:>8.2f} {median(answers):>7.2f} {times[-1] / n:>7.3f} {best(answers, 'called'):>8.1f}")
    slope = np.polyfit(np.log(IMPACTS), np.log(times), 1)[0]
    print(f"growth exponent, n = 10 ... 1000: {slope:.3f}; distance from 1: {verdict(abs(slope - 1.0), 0.05)}")


def _line(ours: Worker, pinocchio: Worker, algorithm: str, n: int, bar: float) -> float:
    """Print one line; return our time."""
    asks: dict[str, Callable[[], dict[str, Any]]] = {"ours": lambda: ours.ask("recursion", algorithm=algorithm, n=n)}
    if not pinocchio.missing and n <= LONGEST_PEER:
        asks["peer"] = lambda: pinocchio.ask("recursion", algorithm=algorithm, n=n)
    answers = in_turn(asks, REPEATS)
    mine = best(answers["ours"])
    text = f"{algorithm:>5} {n:>4} {mine:>8.2f} {median(answers['ours']):>7.2f}"
    if "peer" in answers:
        theirs = best(answers["peer"])
        a, b = np.array(answers["ours"][0]["answer"]), np.array(answers["peer"][0]["answer"])
        text += f" {theirs:>8.2f} {median(answers['peer']):>7.2f} {mine / theirs:>6.2f}  {abs(a - b).max() / abs(b).max():<8.1e}"
        text += f" {verdict(mine / theirs, bar)}" if n >= 10 else ""
    print(text)
    return mine
