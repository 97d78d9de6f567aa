r"""What the formulations in Python cost: one answer for accelerations of a chain of n links, and the exponent of its growth.

Beside them NewtonEuler's right-hand side in compiled code.  The exponent is that from 40 to 80 bodies: LAPACK's cubic work does not yet
rule there, the loops and calls around it do no longer.
"""

from __future__ import annotations

import time
import warnings
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd import Formulation
from haugmbd.formulations import FORMULATIONS
from haugmbd.formulations.python_formulation import kkt_system_of
from haugmbd.gallery import chain
from tests.benchmarks.turns import best, in_turn
from tests.benchmarks.worker import Worker

SIZES = (5, 10, 20, 40, 60, 80)
REPEATS = 3
IN_PYTHON: dict[str, Formulation] = {
    **{kind.__name__: kind() for kind in FORMULATIONS if kind is not mbd.NewtonEuler},
    "NullSpace, SVD": mbd.NullSpace(mbd.SVD()),
}


@cache
def prepared(name: str, n: int) -> tuple[Any, Any]:
    """The solver, and the system."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.SlowFormulationWarning)
        model = chain(n).compile()
        solver, kkt = IN_PYTHON[name].begin(model), kkt_system_of(IN_PYTHON[name], model)
    solver.solve(kkt)
    return solver, kkt


def answer(name: str, n: int, seconds: float = 0.05) -> dict[str, Any]:
    """One sample [us] of a solution."""
    solver, kkt = prepared(name, n)
    start, count = time.process_time(), 0
    while time.process_time() - start < seconds:
        solver.solve(kkt)
        count += 1
    return {"us": (time.process_time() - start) / count * 1e6}


def section(ours: Worker) -> None:
    """Print the table."""
    print("\nFormulations [us a system], chain of n links, 5 n rows; exponent: growth from n = 40 to 80")
    print(f"{'':>24} " + " ".join(f"{n:>8}" for n in SIZES) + "  exponent; what it says itself: exponent, with 60 links")
    mine = [best(in_turn({"ours": lambda n=n: ours.ask("rhs", shape="chain", n=n)}, REPEATS)["ours"]) for n in SIZES]
    for name, times in {"NewtonEuler, compiled": mine, **{name: _times(ours, name) for name in IN_PYTHON}}.items():
        exponent = np.log(times[-1] / times[-3]) / np.log(SIZES[-1] / SIZES[-3])
        said = IN_PYTHON.get(name, mbd.NewtonEuler())
        print(f"{name:>24} " + " ".join(f"{us:>8.1f}" for us in times) + f"  {exponent:.2f}  {said.exponent}  {said.ms:g} ms")


def _times(ours: Worker, name: str) -> list[float]:
    """Best times of one formulation."""
    return [best(in_turn({"ours": lambda n=n: ours.ask("formulation", name=name, n=n)}, REPEATS)["ours"]) for n in SIZES]
