"""Worker processes of the sweep itself, and what they do: they are spawned, and a cell that takes too long or kills its process is a row.

Each worker has a pipe of its own, and one cell at a time: its row is kept before it gets the next one, so that a sweep that is killed
loses the running cells and no other, and no cell waits behind a long one. A message takes some 0.1 ms. When a worker ends by itself, its
cell gets the row "killed", and a new worker is spawned; a worker whose cell uses up its budget is killed.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from haugmbd.errors import UsageError, error_text
from haugmbd.study.sweeps.executors import (
    KILLED,
    BrokenSweepError,
    Job,
    Row,
    Task,
    check_values,
    evaluate_cell,
    picklable_or_why,
    timeout_row,
)

PATIENCE = 5.0
"""Seconds that a worker has to end after its pipe is closed."""

GUARD = 'A script calls sweep under `if __name__ == "__main__":`, because each worker process imports the script.'
NOTEBOOK = (
    'Functions of a notebook or of an interactive session go into a module (a .py file); or give executor="serial" or "threads".'
)


@dataclass(eq=False)
class Worker:
    """A worker process, the cell that it has, and since when it runs it."""

    process: Any
    pipe: Connection
    job: Job | None = None
    ready: bool = False
    since: float = 0.0

    def give(self, job: Job) -> None:
        """Send a cell to an idle worker."""
        self.job, self.since = job, time.monotonic()
        try:
            self.pipe.send((job.cell, job.seed))
        except (BrokenPipeError, ConnectionResetError):  # it has just died; that is noticed where all are watched
            pass

    def seconds(self) -> float:
        """Return the time that the running cell has taken [s]; 0 while there is none, or the process starts."""
        return time.monotonic() - self.since if self.ready and self.job else 0.0


class WorkerPool:
    """The processes of one sweep."""

    def __init__(self, task: Task, jobs: Iterator[Job], count: int) -> None:
        self._task, self._jobs, self._count = task, jobs, count
        self._workers: list[Worker] = []
        self._pickled = pickle.dumps(task)

    def rows(self) -> Iterator[tuple[Job, Row]]:
        """Yield the rows of all cells as they end; at the end, or after an error, no process is left."""
        try:
            while True:
                self._give_work()
                if not any(worker.job for worker in self._workers):
                    return
                yield from self._received()
        finally:
            self._stop()

    def _give_work(self) -> None:
        """Give a cell to each idle worker, and spawn workers while there are cells and not enough workers."""
        for worker in self._workers:
            if worker.job is None and (job := next(self._jobs, None)):
                worker.give(job)
        while len(self._workers) < self._count and (job := next(self._jobs, None)):
            self._workers.append(self._spawn())
            self._workers[-1].give(job)

    def _spawn(self) -> Worker:
        """Return a new worker."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, self._pickled), daemon=True, name="haugmbd sweep")
        process.start()
        theirs.close()  # with its process this end of the pipe closes, too
        return Worker(process, ours)

    def _received(self) -> Iterator[tuple[Job, Row]]:
        """Wait for messages, deaths and the end of a budget; yield the rows."""
        by_pipe: dict[Any, Worker] = {worker.pipe: worker for worker in self._workers}
        for pipe in wait(list(by_pipe), timeout=self._time_to_wait()):
            yield from self._from_worker(by_pipe[pipe])
        budget = self._task.budget
        for worker in [worker for worker in self._workers if budget is not None and worker.seconds() > budget]:
            job, seconds = worker.job, worker.seconds()
            self._remove(worker)
            if job is not None and budget is not None:
                yield job, timeout_row(budget, seconds)

    def _from_worker(self, worker: Worker) -> Iterator[tuple[Job, Row]]:
        """Yield the row that a worker has sent; the row of the cell that killed it, if it has died."""
        try:
            what, answer = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            yield from self._after_crash(worker)
            return
        if what == UNABLE:
            raise UsageError(f"a worker process cannot import build, run or method: {answer}. {NOTEBOOK}")
        if what == OTHER:
            raise UsageError(f"sweep: {answer}.")
        worker.ready, worker.since = True, time.monotonic()  # importing does not count against the budget
        if what == ROW and worker.job is not None:
            job, worker.job = worker.job, None
            yield job, answer

    def _after_crash(self, worker: Worker) -> Iterator[tuple[Job, Row]]:
        """Yield the row of the cell that ran in a process that has ended. Raise BrokenSweepError if no cell had begun."""
        worker.process.join(PATIENCE)
        how, job, seconds = _ended_how(worker.process.exitcode), worker.job, worker.seconds()
        self._remove(worker)
        if not worker.ready:
            raise BrokenSweepError(f"a worker process {how} before its first cell. {GUARD}")
        if job is not None:
            yield job, Row(KILLED, reason=f"its worker process {how}", seconds=seconds)

    def _time_to_wait(self) -> float | None:
        """Return the time until the first budget ends [s], None if there is none."""
        if self._task.budget is None:
            return None
        left = [self._task.budget - worker.seconds() for worker in self._workers if worker.ready and worker.job]
        return max(0.0, min(left)) + 1e-3 if left else None

    def _remove(self, worker: Worker) -> None:
        """Kill a worker."""
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join(PATIENCE)
        worker.pipe.close()

    def _stop(self) -> None:
        """End all processes: idle ones by closing their pipes, busy ones by killing them."""
        for worker in self._workers:
            worker.pipe.close()
            if worker.job or not worker.ready:
                worker.process.kill()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join(PATIENCE)
        self._workers.clear()


def check_processes(task: Task) -> None:
    """Raise UsageError if worker processes cannot import the functions, or if this is one that imports a script."""
    why = picklable_or_why(task)
    if why:
        raise UsageError(f"sweep:{why}")
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise UsageError(f"sweep is called while a worker process imports this script. {GUARD}")


def _ended_how(code: int | None) -> str:
    """Return how a process has ended."""
    if code is None or code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


# What a worker process does: it reads a cell from its pipe, runs it, and sends the row.
#
#     to the worker       (cell, seed)
#     from the worker     ("ready", "")    ("unable", why)    ("other values", why)    ("row", row)
#
# It ends when the other end of the pipe is closed: no worker outlives a parent that is killed by more than its running cell.

READY, UNABLE, OTHER, ROW = "ready", "unable", "other values", "row"


def work(pipe: Connection, pickled: bytes) -> None:
    """Run the cells that come through the pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    try:
        task: Task = pickle.loads(pickled)  # noqa: S301  from the parent
        check_values(task)
    except UsageError as error:
        pipe.send((OTHER, str(error)))
        return
    except BaseException as error:  # noqa: BLE001  importing the user's module may raise anything
        pipe.send((UNABLE, error_text(error)))
        return
    pipe.send((READY, ""))
    try:
        while True:
            cell, seed = pipe.recv()
            pipe.send((ROW, evaluate_cell(task, cell, seed)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
