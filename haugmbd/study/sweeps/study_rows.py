"""The cells and rows of one sweep: what is known, what runs, and who waits for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from haugmbd.errors import UsageError
from haugmbd.study.sweeps.cells import AskTell, Cell, cell_faults
from haugmbd.study.sweeps.evaluate import OK, Row, Task
from haugmbd.study.sweeps.executors import Job
from haugmbd.study.sweeps.identity import as_value, cell_key, cell_seed, study_identity
from haugmbd.study.sweeps.store import Store, open_store
from haugmbd.study.sweeps.table import Sweep, pending_row
from haugmbd.study.sweeps.variants import Variants


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
