"""Sweep: build and run a system for many cells of parameters; every row is on disk when it is known, and nothing runs twice.

Rows that are known, cells that run, and those who wait for them are in `StudyRows`. The expected time is shown by tqdm if it is installed,
otherwise by one line every ten percent through `logging`.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.batches.threads import processors
from haugmbd.choices import is_one_of
from haugmbd.deprecated import check_keywords
from haugmbd.errors import SimulationError, UsageError
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.study.sweeps.cells import (
    AskTell,
    Cell,
    Variants,
    as_value,
    cell_faults,
    cell_key,
    cell_seed,
    read_cells,
    rounded_values,
    study_identity,
)
from haugmbd.study.sweeps.executors import (
    IN_FLIGHT,
    OK,
    PENDING,
    BrokenSweepError,
    InterruptWatch,
    Job,
    Row,
    Task,
    run_in_executor,
    run_in_turn,
)
from haugmbd.study.sweeps.store import NOWHERE, Store, open_store
from haugmbd.study.sweeps.table import Sweep, pending_row
from haugmbd.study.sweeps.worker_pool import WorkerPool, check_processes
from haugmbd.system.system import System

LOG = logging.getLogger("haugmbd")


class SweepProgress:
    """A progress bar: `done()` after each cell, `close()` at the end.

    total: number of cells, None if it is not known;  known: those that are in the store.
    """

    def __init__(self, shown: bool, total: int | None, known: int) -> None:
        self._shown, self._total, self._known = shown, total, known
        self._begun, self._ended, self._failed, self._said = time.perf_counter(), 0, 0, 0
        self._bar = _tqdm(total, known) if shown else None

    def done(self, good: bool) -> None:
        """Count one more cell."""
        self._ended += 1
        self._failed += not good
        if self._bar is not None:
            self._bar.update(1)
            if not good:
                self._bar.set_postfix_str(f"{self._failed} not ok")
        elif self._shown:
            self._say()

    def _say(self) -> None:
        """Write a line if another tenth of the cells has ended."""
        now = self._known + self._ended
        tenth = now if self._total is None else 10 * now // self._total
        if tenth > self._said:
            self._said = tenth
            LOG.warning("%s", self.line())

    def line(self) -> str:
        """Return the state of the sweep: 40 of 100 cells, 3 not ok, 12 s to go."""
        now = self._known + self._ended
        if self._total is None:
            return f"{now} cells, {self._failed} not ok"
        return f"{now} of {self._total} cells, {self._failed} not ok, {self.expected():.3g} s to go"

    def expected(self) -> float:
        """Return the expected time to the end [s], from the mean time of the cells that ended in this process."""
        if self._total is None or not self._ended:
            return float("nan")
        return (time.perf_counter() - self._begun) / self._ended * (self._total - self._known - self._ended)

    def close(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def _tqdm(total: int | None, known: int) -> Any:
    """Return a bar, None where tqdm is not installed."""
    try:
        from tqdm import tqdm  # noqa: PLC0415  only where a bar is shown
    except ImportError:
        return None
    return tqdm(total=total, initial=known, unit="cell")


class StudyRows:
    """All cells of a sweep, by key; a key that comes again waits for the first one."""

    def __init__(self, task: Task, seed: int | None, version: str, store: Any, retry: bool) -> None:
        self._task, self._seed, self._version, self._retry, self._where = task, seed, version, retry, store
        self._identity: dict[str, Any] = {}
        self._tell: Callable[[Any, Any], Any] | None = None
        self._cells: list[Cell] = []
        self._keys: list[str] = []
        self._waiting: dict[str, list[Any]] = {}
        self._ran: set[str] = set()
        self.store = Store()

    def jobs_of(self, cells: list[Cell]) -> Iterator[Job]:
        """Open the store, and return the cells that have no row."""
        self._open(list(cells[0]) if cells else [])
        self._cells, self._keys = cells, [cell_key(self._identity, cell) for cell in cells]
        return (job for key, cell in zip(self._keys, cells, strict=True) if (job := self._job(key, cell, cell)) is not None)

    def jobs_asked_by(self, asking: AskTell) -> Iterator[Job]:
        """Yield the cells that are asked for and have no row; tell of those that have one."""
        self._tell = asking.tell
        for asked in asking.asked():
            variants = self._task.build if isinstance(self._task.build, Variants) else None
            faults = cell_faults(asked, self._cells[0] if self._cells else asked, paths=variants is not None)
            if self._seed is not None and "seed" in asked:
                faults.append("'seed' is what sweep(seed=) gives")
            if faults:
                raise UsageError(f"ask returned a bad cell: {'; '.join(faults)}.")
            if variants is not None:
                variants.check([asked])
            if not self._cells:
                self._open(list(asked))
            cell = {name: as_value(x) for name, x in asked.items()}
            self._cells.append(cell)
            self._keys.append(cell_key(self._identity, cell))
            job = self._job(self._keys[-1], cell, asked)
            if job is not None:
                yield job

    @property
    def known(self) -> int:
        """Return the number of cells that have a row."""
        return sum(self._is_known(key) for key in self._keys)

    def keep(self, job: Job, row: Row) -> None:
        """Keep a row, and tell those who wait for it."""
        self.store.keep(job.key, job.cell, row)
        self._ran.add(job.key)
        for asked in self._waiting.pop(job.key):
            if self._tell is not None:
                self._tell(asked, row)

    def table(self, axes: tuple[str, ...] | None, interrupted: bool) -> Sweep:
        """Return the rows in the order of the cells."""
        rows = tuple(self.store.rows.get(key) or pending_row() for key in self._keys)
        return Sweep(tuple(self._cells), rows, axes, self.store.where, interrupted)

    def _open(self, names: list[str]) -> None:
        task, library = self._task, sys.modules["haugmbd"].__version__  # an import would be a circle
        if self._where is not None:  # rows in memory are of this call alone
            self._identity = study_identity(task.build, task.run, task.method, self._seed, self._version, library, names)
        self.store = open_store(self._where, self._identity)

    def _is_known(self, key: str) -> bool:
        """Return whether a cell has a row that stays."""
        row = self.store.rows.get(key)
        return row is not None and (row.status == OK or not self._retry or key in self._ran)

    def _job(self, key: str, cell: Cell, asked: Any) -> Job | None:
        """Return the job of a cell; None if its row is known, or if it is running already."""
        if key in self._waiting:
            self._waiting[key].append(asked)
            return None
        if self._is_known(key):
            if self._tell is not None:
                self._tell(asked, self.store.rows[key])
            return None
        self._waiting[key] = [asked]
        return Job(key, cell, None if self._seed is None else cell_seed(self._seed, cell))


SERIAL, THREADS = "serial", "threads"


@check_keywords
def sweep(
    build: Callable[..., Any] | System | Model,
    parameters: Any,
    run: Callable[..., Any],
    executor: Executor | str | None = None,
    store: str | Path | None = None,
    budget: float | None = None,
    *,
    method: Any = None,
    seed: int | None = None,
    version: str = "",
    workers: int | None = None,
    retry: bool = False,
    progress: bool = False,
) -> Sweep:
    """Build and run a system for many values of its parameters.

    Parameters
    ----------
    build : callable, System or Model
        `build(**cell)` returns a System, or whatever else `run` takes. With a System or Model the cells share its topology: their
        parameters are the paths that `batch` takes, such as "link.mass", the model is compiled once, and `run` gets the model of a cell.
    parameters : dict, list of dict, RandomCells or AskTell
        The cells: a dict of lists is a grid, a list of dicts is itself. A value is a number, a string, True, False, None, or a tuple of
        these.
    run : callable
        `run(system)`, or `run(model)`, returns a dict of numbers, by name.
    executor : None, "serial", "threads" or concurrent.futures.Executor, optional
        None spawns worker processes; with a System or Model it takes "threads". "serial" runs the cells one after the other in this
        process; "threads" runs them on threads of it, whose compiled steps take place at the same time, as in `batch`; an executor
        (threads, processes, a Client of Dask or its `get_executor()`, mpi4py's `MPIPoolExecutor`) is used and not shut down.
    store : path, optional
        A folder, or a file that ends with .nc. Rows are written there as they come. A sweep with the same store continues where another
        one of the same study ended, however it ended; cells that were not asked for before are added.
    budget : float, optional
        Wall time for one cell [s]. A worker process of the sweep is ended when its cell takes longer; elsewhere the cell ends by itself.
        Its row has the status "timeout" in both cases.
    method : object, optional
        What `run` gets as `method=`, such as a Method; its repr belongs to the key of a cell.
    seed : int, optional
        If given, `build` also gets `seed=`, an integer that depends on this number and the cell alone. Only for a function.
    version : str
        A version of what a store cannot compare: files that `build` and `run` read, objects without content (an open file). A new one makes
        another study.
    workers : int, optional
        Number of worker processes or threads, or of cells that AskTell is asked for at a time; by default as many as there are processors.
    retry : bool
        If True, cells of the store that failed, timed out or were killed run again.
    progress : bool
        If True, show a progress bar with the expected time.

    Returns
    -------
    Sweep
        A row for each cell, in the order of the cells. After Ctrl-C the rows so far, with `interrupted` set.

    Raises
    ------
    UsageError
        If an argument is not valid, a model has no such parameters, worker processes cannot import a function (a lambda, a function of a
        notebook), or the store is that of another study, damaged, or in use, or a function reads something that a store cannot compare, and
        there is no `version`.
    ModelError
        If a System has faults.
    SimulationError
        If an executor breaks. The rows that are known are in the store and in the attribute `result`; call sweep again to continue.

    Notes
    -----
    A cell's key is the SHA-256 of the study (name and code of build and run with the values that they read, or numbers and laws of the
    model; method, seed, version, the versions of haugmbd and Python, names of the parameters) and of its values. The table is the same, bit
    by bit, for every executor and every order.
    """
    client: Any = executor
    executor = client.get_executor() if hasattr(client, "get_executor") else executor  # a Client of Dask
    _check(executor, seed, version, workers, retry=retry, progress=progress)
    variants = Variants(model_given(build, "sweep")) if isinstance(build, System | Model) else None
    task = Task(variants or _function("build", build), _function("run", run), method, _positive("budget", budget))
    if variants is not None:
        executor = executor or THREADS
        _need_no_seed(seed)
    elif executor is None:
        check_processes(task)
    if executor not in (SERIAL, THREADS):
        task = replace(task, reads=rounded_values(task.build, task.run), home=os.getpid())
    study = StudyRows(task, seed, version, store, retry)
    if isinstance(parameters, AskTell):
        jobs, axes, total = study.jobs_asked_by(parameters), None, parameters.n
    else:
        cells, axes = read_cells(parameters, paths=variants is not None)
        if variants is not None:
            variants.check(cells)
        if seed is not None and any("seed" in cell for cell in cells[:1]):
            raise UsageError("seed= is given, and a parameter is called 'seed', too: build would get it twice. Leave one out.")
        jobs, total = study.jobs_of(cells), len(cells)
    rows = _rows(executor, task, jobs, workers or processors(), asking=isinstance(parameters, AskTell))
    return _collect(study, rows, axes, SweepProgress(progress, total, study.known))


def _rows(executor: Any, task: Task, jobs: Iterator[Job], count: int, *, asking: bool) -> Generator[tuple[Job, Row]]:
    """Yield the rows from where the cells run."""
    if executor == SERIAL:
        yield from run_in_turn(task, jobs)
    elif executor == THREADS:
        with ThreadPoolExecutor(count) as pool:
            yield from run_in_executor(pool, task, jobs, count if asking else IN_FLIGHT)
    elif executor is None:
        yield from WorkerPool(task, jobs, count).rows()
    else:
        yield from run_in_executor(executor, task, jobs, count if asking else IN_FLIGHT)


def _collect(study: StudyRows, rows: Generator[tuple[Job, Row]], axes: tuple[str, ...] | None, progress: SweepProgress) -> Sweep:
    """Keep rows as they come, and return the table; close everything, however the sweep ends."""
    interrupted = False
    try:
        with InterruptWatch() as ctrl_c, closing(rows):
            for job, row in rows:
                if ctrl_c.seen:  # the simulation has caught it: this is the row of a part of a run
                    raise KeyboardInterrupt
                study.keep(job, row)
                progress.done(row.status == OK)
    except KeyboardInterrupt:
        interrupted = True
    except BrokenSweepError as error:
        table = study.table(axes, interrupted=False)
        raise SimulationError(f"the executor of the sweep broke: {error}. {_how_to_resume(table)}", table) from error
    finally:
        progress.close()
        study.store.finish()
    return study.table(axes, interrupted)


def _how_to_resume(table: Sweep) -> str:
    """Return how many rows are kept, and how the sweep continues."""
    known = f"{sum(status != PENDING for status in table.status)} of {len(table)} cells"
    if table.store == NOWHERE:
        return (
            f"{known} are in the attribute `result` of this error. Give store= to keep them: a sweep with a store can be resumed."
        )
    return f"{known} are kept in {table.store!r}: call sweep again with this store and another executor, and it continues there."


def _function(name: str, given: Any) -> Callable[..., Any]:
    """Return a function. Raise UsageError if it cannot be called."""
    if not callable(given):
        kinds = "a function, System or Model" if name == "build" else "a function"
        raise UsageError(f"{name} = {given!r} must be {kinds}; pass a function itself, not what it returns.")
    return given  # type: ignore[no-any-return]


def _need_no_seed(seed: int | None) -> None:
    """Raise UsageError if there is a seed, and no function that could take it."""
    if seed is not None:
        raise UsageError(
            f"sweep: seed = {seed} is for a function that builds, and a System or Model has none: leave it out, or build in a function."
        )


def _positive(name: str, x: Any) -> float | None:
    """Return a positive number or None. Raise UsageError for anything else."""
    if x is None:
        return None
    if isinstance(x, bool) or not isinstance(x, Real) or not np.isfinite(float(x)) or not float(x) > 0.0:
        raise UsageError(f"{name} = {x!r} must be a positive number of seconds, or None.")
    return float(x)


def _check(executor: Any, seed: Any, version: Any, workers: Any, **flags: Any) -> None:
    """Raise UsageError, with all faults, for arguments of another kind."""
    faults = []
    if not (executor is None or is_one_of(executor, (SERIAL, THREADS)) or isinstance(executor, Executor)):
        hint = "client.get_executor()" if hasattr(executor, "get_executor") else "ThreadPoolExecutor()"
        faults.append(
            f"executor = {executor!r} must be None (worker processes), 'serial', 'threads', or an executor such as {hint}"
        )
    if seed is not None and not _is_integer(seed, 0):
        faults.append(f"seed = {seed!r} must be an integer, 0 or more, or None")
    if not isinstance(version, str):
        faults.append(f"version = {version!r} must be a string")
    if workers is not None and not _is_integer(workers, 1):
        faults.append(f"workers = {workers!r} must be a positive integer, or None")
    faults += [f"{name} = {x!r} must be True or False" for name, x in flags.items() if not isinstance(x, bool)]
    if faults:
        raise UsageError(f"sweep: {'; '.join(faults)}.")


def _is_integer(x: Any, least: int) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and x >= least
