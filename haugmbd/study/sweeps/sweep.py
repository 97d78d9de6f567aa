"""Sweep: build and run a system for many cells of parameters; every row is on disk when it is known, and nothing runs twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.batches.threads import processors
from haugmbd.deprecated import check_keywords
from haugmbd.errors import SimulationError, UsageError
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.study.sweeps.cells import AskTell, read_cells
from haugmbd.study.sweeps.evaluate import OK, PENDING, Row, Task
from haugmbd.study.sweeps.executors import IN_FLIGHT, BrokenSweepError, InterruptWatch, Job, run_in_executor, run_in_turn
from haugmbd.study.sweeps.identity import rounded_values
from haugmbd.study.sweeps.progress import SweepProgress
from haugmbd.study.sweeps.store import NOWHERE
from haugmbd.study.sweeps.study_rows import StudyRows
from haugmbd.study.sweeps.table import Sweep
from haugmbd.study.sweeps.variants import Variants
from haugmbd.study.sweeps.worker_pool import WorkerPool, check_processes
from haugmbd.system.system import System

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
        (threads, processes, Dask's `client.get_executor()`, mpi4py's `MPIPoolExecutor`) is used and not shut down.
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
    if not (executor is None or executor in (SERIAL, THREADS) or isinstance(executor, Executor)):
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
