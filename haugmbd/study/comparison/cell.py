"""One cell of a comparison: a method that is run, with what it cost; a failure is a cell, too.

compilation    a run of two steps before the others: its time is that of the compiler, and of loading compiled code
CPU time       the least of several runs; it holds the run only, not the compilation of the model, and not the recording
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.errors import ModelError, RunWarning, SlowFormulationWarning, UsageError, error_text
from haugmbd.model.model import Model
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.study.method import Method

COMPLETED, BUDGET, FAILED, REFUSED, NOT_RUN = "completed", "budget", "failed", "refused", "not run"
"""Status of a cell: at t_end; stopped by its budget; by an error; not possible with this method or model; after Ctrl-C."""

REPEATS_FOR = 1.0
"""[s] Runs are repeated while all runs of a cell together have taken less than this: longer ones are measured well by one."""
FIRST_PART = 1e-3
"""Of the interval: the run before the others, of methods with error control."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One method of a comparison.

    Attributes
    ----------
    label : str
        Name of the method.
    status, reason : str
        "completed", or "budget", "failed", "refused", "not run", with the text of the error or of the end of the run.
    method : Method or None
        The method; None where its parts cannot be combined.
    result : Result or None
        The result, up to where it failed; None if there is none.
    cpu : float
        CPU time of the run [s], the least of `runs`.
    compilation : float
        Time of the first, short run [s].
    runs : int
        Number of runs that were measured.
    """

    label: str
    status: str
    reason: str = ""
    method: Method | None = None
    result: Result | None = None
    cpu: float = np.nan
    compilation: float = np.nan
    runs: int = 0

    @property
    def completed(self) -> bool:
        """Return whether the run reached its end."""
        return self.status == COMPLETED


def run_cell(method: Method, model: Model, t_end: float, *, repeats: int, budget: float | None, more: Mapping[str, Any]) -> Cell:
    """Return the cell of a method; `more`: other arguments of `simulate`. What it raises is its reason; Ctrl-C ends its run."""
    compilation = warm(method, model, t_end, more)
    began = time.perf_counter()
    try:
        result = _without_warnings(method, model, t_end, budget=budget, record_method=True, **more)
    except (ModelError, UsageError) as error:
        return Cell(method.label, REFUSED, str(error), method, compilation=compilation)
    except Exception as error:  # noqa: BLE001  of a user's function, too: a failure is a row
        found = getattr(error, "result", None)
        return Cell(method.label, FAILED, error_text(error), method, found, compilation=compilation)
    status = {RunStatus.BUDGET_EXHAUSTED: BUDGET, RunStatus.INTERRUPTED: NOT_RUN}.get(result.status, COMPLETED)
    cpu, runs = result.counters.cpu, 1
    while status == COMPLETED and runs < repeats:
        taken = time.perf_counter() - began
        if taken > min(REPEATS_FOR, np.inf if budget is None else budget * runs / (runs + 1)):
            break
        again = _without_warnings(method, model, t_end, **more)  # it keeps within the budget, and its batches need not be short
        if not again.success:
            break
        cpu, runs = min(cpu, again.counters.cpu), runs + 1
    return Cell(method.label, status, "" if status == COMPLETED else result.message, method, result, cpu, compilation, runs)


def run_cells(
    methods: Sequence[Method],
    model: Model,
    t_end: float,
    *,
    repeats: int,
    budget: float | None,
    more: Mapping[str, Any],
    progress: bool,
) -> list[Cell]:
    """Return the cells of methods; after Ctrl-C the others are cells that were not run."""
    cells: list[Cell] = []
    with Progress(progress, 0, len(methods), "methods") as bar:
        for method in methods:
            stopped = bool(cells) and cells[-1].status == NOT_RUN
            if not stopped:
                try:
                    cells.append(run_cell(method, model, t_end, repeats=repeats, budget=budget, more=more))
                except KeyboardInterrupt:
                    stopped = True
            if stopped:
                cells.append(Cell(method.label, NOT_RUN, "not run: Ctrl-C", method))
            bar.reach(len(cells))
    return cells


def warm(method: Method, model: Model, t_end: float, more: Mapping[str, Any]) -> float:
    """Run the method for two steps, so that its code is compiled and loaded; return the time [s]. Errors are those of the whole run."""
    state = more.get("state")
    t_start = 0.0 if state is None else float(state.t)
    span, h = t_end - t_start, method.integrator.step
    part = min(span, FIRST_PART * span if h is None else 2.0 * h)
    began = time.perf_counter()
    try:
        _without_warnings(method, model, t_start + part, record_method=True, **more)
    except Exception:  # noqa: BLE001, S110  the run itself reports it
        pass
    return time.perf_counter() - began


def _without_warnings(method: Method, model: Model, t_end: float, **more: Any) -> Result:
    """Run a method; its warnings stay in the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        warnings.simplefilter("ignore", SlowFormulationWarning)
        return method.run(model, t_end, **more)
