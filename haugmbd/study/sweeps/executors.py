"""Cells one after the other in this process, or through an executor of `concurrent.futures`: threads, processes, Dask, MPI; Ctrl-C.

An executor of the user stays the user's: it is not shut down. An exception of a cell is a row (`evaluate`); an exception of a future is the
executor's own, and ends the sweep when all results that have arrived are kept.
"""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from types import FrameType, TracebackType
from typing import Any, ClassVar, NamedTuple, Self

from haugmbd.errors import HaugmbdError, error_text
from haugmbd.study.sweeps.cells import Cell
from haugmbd.study.sweeps.evaluate import Row, Task, evaluate_cell

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
        given: Any = getattr(task, name)
        try:
            pickle.dumps(given)
        except Exception as error:  # noqa: BLE001  pickling calls methods of the user's objects
            called = getattr(given, "__qualname__", repr(given))
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
