"""The section of `make bench` on closed loops in space over 10 s: do energy and joints hold, by every method and formulation?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.benchmarks import loops
from tests.benchmarks.ours_precision import FORMULATIONS
from tests.benchmarks.precision import OURS, Study, Task
from tests.benchmarks.turns import in_turn, verdict
from tests.benchmarks.work_precision import methods
from tests.benchmarks.worker import Worker

ENOUGH = 1e-3
"""[J]: what the energy may be off."""
SETTING = 10
"""Of the formulations, by RK4: steps each 0.1 s."""
UNHELD = ("penalty", "no stabilization")
"""Meant to drift, or to be soft."""


def precision(ours: Worker, exudyn: Worker, mujoco: Worker) -> Iterator[Task]:
    """Both loops by several methods."""
    tolerances, steps = (1e-5, 1e-7, 1e-9), (10, 20, 50, 100)
    implicit = ("generalized-alpha", "trapezoidal", "RATTLE")
    mine = {
        **dict.fromkeys(("DOP853", "Dormand-Prince", "BDF", "Radau IIA", "adaptive gen.-alpha"), tolerances),
        **dict.fromkeys(("RK4", "RKMK4", "HEM4"), (3, 5, 10, 20)),
        **dict.fromkeys(implicit, steps),
    }
    notes = (
        "settings: tolerances, or steps each 0.1 s; behind the energy error how far rod 3 is from its place at the end.",
        "Exudyn: EigenDense with ignoreSingularJacobian, Euler parameters, rho 0.8; its other linear solvers terminate.",
        "MuJoCo: minimal coordinates, the last hinge by two soft `connect`.",
    )
    for name, title in (("A04", "Bricard's mechanism (A04) over 10 s"), ("Bennett", "Bennett's linkage over 10 s")):
        yield Task(
            Study(title, f"loop-{name.lower()}.png", "largest energy error [J]", ENOUGH, {}, notes),
            [
                *methods(OURS, ours, "close", mine, name=name),
                *methods("Exudyn", exudyn, "close", {"generalized-alpha": steps}, name=name),
                *methods("MuJoCo", mujoco, "close", {"RK4": (5, 10, 20, 50)}, name=name),
            ],
            repeats=2,
        )


def over_time(ours: Worker) -> None:
    """Every formulation by RK4: energy error and gap of the joints, in the first and in the last second."""
    print(
        "\nClosed loops over 10 s, RK4 of 10 ms: CPU [s]; energy error [J], and gap of any joint [m, rad], in the first and in the"
    )
    print("last second; how far rod 3 is from its place at the end [m]")
    for name in loops.LOOPS:
        for method in FORMULATIONS:
            ask = partial(ours.ask, "close", name=name, method=method, setting=SETTING)
            print(f"{name:>8} {method:>22} {_words(method, in_turn({method: ask}, 1)[method][0])}")


def _words(method: str, found: dict[str, Any]) -> str:
    """One line."""
    if "failed" in found:
        return found["failed"].split(": ", 1)[-1][:150]
    (e_0, e_1), (g_0, g_1) = found["errors"], found["gaps"]
    text = f"{found['seconds']:>6.2f}  energy {e_0:.1e} {e_1:.1e}  gap {g_0:.1e} {g_1:.1e}  away {found['away']:.1e}"
    return text if method in UNHELD else f"{text}  {verdict(found['error'], ENOUGH)}"
