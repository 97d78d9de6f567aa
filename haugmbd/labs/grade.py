"""Grades of a class: every program or notebook of a folder runs in a process of its own, and what `check` says is collected.

A thread waits for each process, so that several files run at once; rows are put in the order of the names, whichever file ends first.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from numbers import Integral, Real
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from haugmbd.choices import check_flags
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.labs.answers import MISSING, RIGHT
from haugmbd.labs.check import PROGRAM, RECORD, add_from, lab_named
from haugmbd.labs.hand_out import program_of
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of, path_with_ending
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.text_table import table_lines

ENDINGS = (".py", ".ipynb")
NOT_RUN = "not run: Ctrl-C"
PATIENCE = 0.2
"""How long to wait before looking for Ctrl-C again [s]: where a wait cannot be interrupted (Windows), a person does not notice it."""

Row: TypeAlias = tuple[str, dict[str, str], str]
"""Name, states and error of a file, see `Grades.rows`."""


@dataclass(frozen=True)
class Grades:
    """The table of a class; print it, or write it with `to_csv`.

    Attributes
    ----------
    lab : str
        Name of the lab.
    exercises : tuple of str
        Its exercises.
    rows : tuple of (str, dict, str)
        For each file its name, the state of every exercise, and what went wrong when it ran; "" if nothing did.
    """

    lab: str
    exercises: tuple[str, ...]
    rows: tuple[Row, ...]

    def right(self, name: str) -> int:
        """Return how many answers of a file are right. Raise UsageError if there is no such file."""
        for file, states, _ in self.rows:
            if file == name:
                return sum(state == RIGHT for state in states.values())
        raise UsageError(f"no file is called {name!r}; there are {', '.join(repr(row[0]) for row in self.rows)}.")

    def to_csv(self, path: str | Path) -> Path:
        """Write the table to a CSV file, and return its path."""
        where, text = path_with_ending(path, ".csv"), StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["file", *self.exercises, "right", "error"])
        writer.writerows([name, *states.values(), self.right(name), reason] for name, states, reason in self.rows)
        with replace_file(where) as file:
            file.write(text.getvalue().encode())
        return where

    def __str__(self) -> str:
        """Return the table."""
        lines = [[name, *states.values(), str(self.right(name)), reason] for name, states, reason in self.rows]
        return "\n".join([self.lab, *table_lines(["file", *self.exercises, "right", "error"], lines)])


@check_keywords
def grade(
    folder: str | Path,
    lab: str,
    *,
    module: str | Path | None = None,
    timeout: float = 300.0,
    workers: int = 1,
    progress: bool = False,
) -> Grades:
    """Run every program and notebook of a folder, and collect what `check` says about one lab.

    Parameters
    ----------
    folder : path
        A folder with .py and .ipynb files, one for each student.
    lab : str
        The lab, "lab1" to "lab16", or one of your own.
    module : path, optional
        The Python file that adds a lab of your own by `add`. The programs import it by its name, from a copy beside them.
    timeout : float
        Longest time for one file [s].
    workers : int
        How many files run at once; the table is the same. With more workers than processors a file takes longer, and `timeout` counts.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    Grades
        A row for each file, in the order of their names. The last check of a file counts. After Ctrl-C the files that have ended keep
        their rows, and the others have the error "not run: Ctrl-C".

    Raises
    ------
    UsageError
        If there is no such folder, lab or module, no file in the folder, or `timeout` or `workers` is not positive.

    Notes
    -----
    The files are run as they are: do it in an account where students' programs may run. No network is needed.
    """
    check_flags(progress=progress)
    where, module_file = path_of(folder, "folder"), None if module is None else path_of(module, "module")
    if module_file is not None:
        add_from(module_file)
    exercises = tuple(lab_named(lab).exercises)
    if isinstance(timeout, bool) or not (isinstance(timeout, Real) and 0.0 < timeout < float("inf")):
        raise UsageError(f"timeout = {timeout!r} must be a positive number of seconds.")
    if isinstance(workers, bool) or not (isinstance(workers, Integral) and workers >= 1):
        raise UsageError(f"workers = {workers!r} must be a positive whole number of files that run at once.")
    if not where.is_dir():
        raise UsageError(f"folder = {str(folder)!r} is not a folder.")
    files = sorted(path for path in where.iterdir() if path.suffix.lower() in ENDINGS)
    if module_file is not None:  # it may lie in the folder itself
        files = [path for path in files if path.resolve() != module_file.resolve()]
    if not files:
        raise UsageError(f"folder {str(folder)!r} has no .py and no .ipynb files.")
    return Grades(lab, exercises, _rows(files, _Class(lab, exercises, module_file, timeout), int(workers), progress))


def _rows(files: list[Path], task: _Class, workers: int, progress: bool) -> tuple[Row, ...]:
    """Run the files, and return their rows; after Ctrl-C the others are rows that were not run."""
    waiting: set[Future[Row | None]] = set()
    with Progress(progress, 0, len(files), "files") as bar, ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(task.row, path) for path in files]
        try:
            waiting = set(futures)
            while waiting:
                ended, waiting = wait(waiting, PATIENCE, FIRST_COMPLETED)
                for future in futures:  # in their order, so that rows before a Ctrl-C count
                    if future in ended and future.result() is not None:
                        bar.done()
        except KeyboardInterrupt:
            task.stop()
        except BaseException:
            task.stop()
            raise
    missing = dict.fromkeys(task.exercises, MISSING)
    rows = (None if future.exception() else future.result() for future in futures)
    return tuple(row or (path.name, missing, NOT_RUN) for path, row in zip(files, rows, strict=True))


class _Class:
    """The rows of a class for one lab, and the processes that run now, which `stop` ends."""

    def __init__(self, lab: str, exercises: tuple[str, ...], module: Path | None, timeout: float) -> None:
        self.exercises = exercises
        self._lab, self._module, self._timeout = lab, module, timeout
        self._lock, self._running, self._stopped = Lock(), set[subprocess.Popen[str]](), False

    def stop(self) -> None:
        """End all processes, and begin no other ones."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)

    def row(self, path: Path) -> Row | None:
        """Run one file, and return its row; None if it was stopped, or not begun."""
        if self._stopped:
            return None
        try:
            row = self._row(path)
        except KeyboardInterrupt:
            self.stop()  # at once: the next file waits for this thread only
            raise
        return None if self._stopped and row[2] else row

    def _row(self, path: Path) -> Row:
        """Return the row of a file that runs to its end."""
        states = dict.fromkeys(self.exercises, MISSING)
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.jsonl"
            script = Path(folder) / PROGRAM
            if self._module is not None:
                (Path(folder) / self._module.name).write_bytes(self._module.read_bytes())
            if path.suffix.lower() == ".py":
                script.write_bytes(path.read_bytes())
            else:
                try:
                    script.write_text(program_of(path.read_text(encoding="utf-8")), encoding="utf-8")
                except (ValueError, KeyError, TypeError) as error:
                    return path.name, states, f"it is not a notebook: {error}"
            reason = _run(script, record, self._timeout, self)
            lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
            said: list[dict[str, Any]] = [json.loads(line) for line in lines]
        for report in said:
            if report["lab"] == self._lab:
                states |= {name: state for name, state, _ in report["findings"]}
        labs = dict.fromkeys(report["lab"] for report in said)
        if self._lab not in labs and not reason:
            reason = f"it calls no check of {self._lab}" + (f", but of {', '.join(labs)}" if labs else "")
        return path.name, states, reason

    def begin(self, script: Path, record: Path) -> subprocess.Popen[str] | None:
        """Begin a program; None after `stop`."""
        with self._lock:
            if self._stopped:
                return None
            process = _begun(script, record)
            self._running.add(process)
            return process

    def end(self, process: subprocess.Popen[str]) -> None:
        """End a program, if it runs still."""
        with self._lock:
            self._running.discard(process)
        _end(process)


def _run(script: Path, record: Path, timeout: float, task: _Class) -> str:
    """Run a program without a display, and return what went wrong; "" if nothing did."""
    process = task.begin(script, record)
    if process is None:
        return NOT_RUN
    try:
        _, said = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return f"it took more than {timeout:g} s"
    finally:
        task.end(process)
    return "" if process.returncode == 0 else (said.strip().splitlines() or [f"exit code {process.returncode}"])[-1]


def _begun(script: Path, record: Path) -> subprocess.Popen[str]:
    """Begin a program in a group of its own, so that Ctrl-C reaches this process only, which then ends the others."""
    environment = {**os.environ, RECORD: str(record), "MPLBACKEND": "Agg"}
    return subprocess.Popen(
        [sys.executable, str(script)],
        cwd=script.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def _end(process: subprocess.Popen[str]) -> None:
    """End a process, with the processes that it began where a group has a number (POSIX)."""
    if process.poll() is None:
        with suppress(ProcessLookupError):  # it has ended in between
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
