"""Where cells run: one after the other in this process, or in an executor of `concurrent.futures` (threads, processes, Dask, MPI); Ctrl-C.

One function, `evaluate_cell`, builds the system of a cell, runs it, and returns the row: rows are equal bit by bit in every executor.
An executor of the user stays the user's: it is not shut down. An exception of a cell is a row; an exception of a future is the executor's
own, and ends the sweep when all results that have arrived are kept.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, ClassVar, NamedTuple, Self

from haugmbd.errors import HaugmbdError, UsageError, error_text
from haugmbd.study.sweeps.cells import RESERVED, Cell, as_number, digest, rounded_values, text_of

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
    results = task.run(system) if task.method is None else task.run(system, method=task.method)
    if not isinstance(results, Mapping):
        raise TypeError(f"run returned a {type(results).__name__}; it must return a dict of numbers")
    wrong = [f"{name!r} is not a string" for name in results if not isinstance(name, str)]
    wrong += [f"{name!r} is the name of a parameter, or reserved" for name in results if name in cell or name in RESERVED]
    numbers: dict[str, int | float | bool] = {}
    for name, x in results.items():
        try:
            numbers[name] = as_number(x)
        except TypeError as error:
            wrong.append(f"{name!r} is {error}")
    if wrong:
        raise TypeError(f"run must return a dict of numbers: {'; '.join(wrong)}")
    return numbers


IN_FLIGHT = 1000
"""Most cells that an executor has at a time; their order is that of the study."""


class Job(NamedTuple):
    """A cell to be run: its key, its parameters, and its seed if the study has one."""

    key: str
    cell: Cell
    seed: int | None


class BrokenSweepError(HaugmbdError, RuntimeError):
    """An executor cannot continue; the message says why. `sweep` turns it into a SimulationError with the rows that are done."""

    page: ClassVar[str] = "docs/errors.md#brokensweeperror"


def run_in_turn(task: Task, jobs: Iterator[Job]) -> Iterator[tuple[Job, Row]]:
    """Yield the rows of cells that run one after the other."""
    for job in jobs:
        yield job, evaluate_cell(task, job.cell, job.seed)


def run_in_executor(executor: Executor, task: Task, jobs: Iterator[Job], in_flight: int) -> Iterator[tuple[Job, Row]]:
    """Yield the rows of cells as they end. Raise BrokenSweepError if the executor breaks, after what has ended.

    An executor that runs a cell in `submit`, in this process, has ended it when it returns: its row is yielded before the next one begins.
    """
    running: dict[Future[Row], Job] = {}
    broken: BaseException | None = None
    try:
        while broken is None:
            job = next(jobs, None) if len(running) < in_flight else None
            if job is not None:
                broken, ended = _submit(executor, task, job, running)
            elif running:
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
            else:
                return
            if broken is not None:
                ended, _ = wait(running, timeout=0.0, return_when=FIRST_COMPLETED)
            for future in ended:
                job = running.pop(future)
                try:
                    row = future.result()
                except BaseException as error:  # noqa: BLE001  a cancelled future or a lost worker; user's errors are rows
                    broken = broken or error
                else:
                    yield job, row
        if isinstance(broken, KeyboardInterrupt):  # Ctrl-C in a cell that ran in this process
            raise broken
    finally:
        for future in running:
            future.cancel()
    raise BrokenSweepError(f"{type(executor).__name__}: {error_text(broken)}{picklable_or_why(task)}") from broken


def _submit(
    executor: Executor, task: Task, job: Job, running: dict[Future[Row], Job]
) -> tuple[BaseException | None, set[Future[Row]]]:
    """Submit a cell. Return the exception of an executor that takes no more, and the future of the cell if it has ended already."""
    try:
        future = executor.submit(evaluate_cell, task, job.cell, job.seed)
    except Exception as error:  # noqa: BLE001  it is shut down, or broken
        return error, set()
    running[future] = job
    return None, {future} if future.done() else set()


def picklable_or_why(task: Task) -> str:
    """Return a sentence if build, run or method cannot be sent to another process; "" if they can."""
    wrong = []
    for name in ("build", "run", "method"):
        part: Any = getattr(task, name)
        try:
            pickle.dumps(part)
        except Exception as error:  # noqa: BLE001  pickling calls methods of the user's objects
            called = getattr(part, "__qualname__", repr(part))
            what = "a lambda" if "<lambda>" in called else f"{called}" if "<locals>" in called else f"{called} ({error})"
            wrong.append(f"{name} is {what}")
    if not wrong:
        return ""
    return (
        f" {' and '.join(wrong)}, which other processes cannot import. Write a function with def at the top of a module "
        '(or of a script, with the call of sweep under `if __name__ == "__main__":`), or give executor="serial" or "threads".'
    )


# Ctrl-C in a sweep: it is noticed even where a simulation has caught it, because its numbers are those of an unfinished run.


class InterruptWatch:
    """A context in which `seen` tells whether Ctrl-C was pressed. It passes the signal on."""

    def __init__(self) -> None:
        self.seen = False
        self._before: Any = None

    def __enter__(self) -> Self:
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self._before = before
            signal.signal(signal.SIGINT, self._notice)
        return self

    def _notice(self, number: int, frame: FrameType | None) -> Any:
        self.seen = True
        return self._before(number, frame)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
