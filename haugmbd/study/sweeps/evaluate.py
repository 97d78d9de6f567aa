"""One cell: build its system, run it, and return the row. The same function works in every executor: the rows are equal bit by bit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from haugmbd.errors import UsageError, error_text
from haugmbd.study.sweeps.cells import RESERVED, Cell
from haugmbd.study.sweeps.identity import as_number, digest, rounded_values, text_of

OK, FAILED, TIMEOUT, KILLED, PENDING = "ok", "failed", "timeout", "killed", "pending"
"""The status of a row: what ended its cell; pending: it has not run."""


@dataclass(frozen=True)
class Row:
    """The outcome of one cell of a sweep.

    Attributes
    ----------
    status : str
        "ok", "failed" (an exception), "timeout" (longer than the budget), "killed" (its worker process died), "pending" (not run).
    values : dict
        The numbers that `run` returned.
    reason : str
        Why there are none; "" for "ok".
    seconds : float
        Wall time of build and run [s].
    """

    status: str
    values: dict[str, int | float | bool] = field(default_factory=dict)
    reason: str = ""
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Task:
    """The work on each cell of a sweep."""

    build: Callable[..., Any]
    run: Callable[..., Any]
    method: Any
    budget: float | None
    reads: Mapping[str, str] = field(default_factory=dict)
    """Digests of what `build` and `run` read in the process of the sweep; empty where no other one runs its cells."""
    home: int = 0
    """The number of that process."""


_same: set[str] = set()
"""Digests of what has been compared in this process."""


def check_values(task: Task) -> None:
    """Raise UsageError if this process has imported other values of the globals that `build` and `run` read than the sweep has."""
    if not task.reads or task.home == os.getpid():
        return
    key = digest(text_of(dict(task.reads)))
    if key in _same:
        return
    here = rounded_values(task.build, task.run)
    other = [name for name, text in task.reads.items() if here.get(name, text) != text]
    if other:
        raise UsageError(
            f"{', '.join(other)}, is another value in a worker process than in the process of the sweep: worker processes import a module "
            'anew, as it is in its file. Make it a parameter of the cells, set it at the top of the module, or give executor="serial"'
        )
    _same.add(key)


def evaluate_cell(task: Task, cell: Cell, seed: int | None) -> Row:
    """Return the row of a cell; an exception of `build` or `run` becomes a row, too."""
    check_values(task)
    begun = time.perf_counter()
    try:
        values = _evaluate(task, cell, seed)
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a user's function raises belongs to its row
        row = Row(FAILED, reason=error_text(error), seconds=time.perf_counter() - begun)
    else:
        row = Row(OK, values, seconds=time.perf_counter() - begun)
    if task.budget is not None and row.seconds > task.budget:
        return timeout_row(task.budget, row.seconds)
    return row


def timeout_row(budget: float, seconds: float) -> Row:
    """Return the row of a cell that took too long."""
    return Row(TIMEOUT, reason=f"longer than the budget of {budget:g} s", seconds=seconds)


def _evaluate(task: Task, cell: Cell, seed: int | None) -> dict[str, int | float | bool]:
    """Build, run, and return the numbers."""
    seeded = {} if seed is None else {"seed": seed}
    system = task.build(**cell, **seeded)
    found = task.run(system) if task.method is None else task.run(system, method=task.method)
    if not isinstance(found, Mapping):
        raise TypeError(f"run returned a {type(found).__name__}; it must return a dict of numbers")
    wrong = [f"{name!r} is not a string" for name in found if not isinstance(name, str)]
    wrong += [f"{name!r} is the name of a parameter, or reserved" for name in found if name in cell or name in RESERVED]
    numbers: dict[str, int | float | bool] = {}
    for name, x in found.items():
        try:
            numbers[name] = as_number(x)
        except TypeError as error:
            wrong.append(f"{name!r} is {error}")
    if wrong:
        raise TypeError(f"run must return a dict of numbers: {'; '.join(wrong)}")
    return numbers
