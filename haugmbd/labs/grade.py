"""Grades of a class: every program or notebook of a folder runs in a process of its own, and what `check` says is collected."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from io import StringIO
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.labs.answers import MISSING, RIGHT
from haugmbd.labs.check import RECORD, lab_named
from haugmbd.labs.notebook import program_of
from haugmbd.labs.own import PROGRAM, add_from
from haugmbd.simulation.arguments import check_flags
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of, path_with_ending
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.text_table import table_lines

ENDINGS = (".py", ".ipynb")

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
    folder: str | Path, lab: str, *, module: str | Path | None = None, timeout: float = 300.0, progress: bool = False
) -> Grades:
    """Run every program and notebook of a folder, and collect what `check` says about one lab.

    Parameters
    ----------
    folder : path
        A folder with .py and .ipynb files, one for each student.
    lab : str
        The lab, "lab1" to "lab13", or one of your own.
    module : path, optional
        The Python file that adds a lab of your own by `add`. The programs import it by its name, from a copy beside them.
    timeout : float
        Longest time for one file [s].
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    Grades
        A row for each file, in the order of their names. The last check of a file counts. After Ctrl-C the files that were not run have
        the error "not run: Ctrl-C".

    Raises
    ------
    UsageError
        If there is no such folder, lab or module, no file in the folder, or the timeout is not positive.

    Notes
    -----
    The files are run as they are: do it in an account where students' programs may run. No network is needed.
    """
    check_flags(progress=progress)
    where, own = path_of(folder, "folder"), None if module is None else path_of(module, "module")
    if own is not None:
        add_from(own)
    exercises = tuple(lab_named(lab).exercises)
    if isinstance(timeout, bool) or not (isinstance(timeout, Real) and 0.0 < timeout < float("inf")):
        raise UsageError(f"timeout = {timeout!r} must be a positive number of seconds.")
    if not where.is_dir():
        raise UsageError(f"folder = {str(folder)!r} is not a folder.")
    files = sorted(path for path in where.iterdir() if path.suffix.lower() in ENDINGS)
    if own is not None:  # it may lie in the folder itself
        files = [path for path in files if path.resolve() != own.resolve()]
    if not files:
        raise UsageError(f"folder {str(folder)!r} has no .py and no .ipynb files.")
    return Grades(lab, exercises, _rows(files, lab, exercises, own, timeout, progress))


def _rows(
    files: list[Path], lab: str, exercises: tuple[str, ...], own: Path | None, timeout: float, progress: bool
) -> tuple[Row, ...]:
    """Run the files, and return their rows; after Ctrl-C the others are rows that were not run."""
    rows: list[Row] = []
    with Progress(progress, 0, len(files), "files") as bar:
        try:
            for path in files:
                rows.append(_row(path, lab, exercises, own, timeout))  # noqa: PERF401  those before Ctrl-C are kept
                bar.done()
        except KeyboardInterrupt:
            rows += [(path.name, dict.fromkeys(exercises, MISSING), "not run: Ctrl-C") for path in files[len(rows) :]]
    return tuple(rows)


def _row(path: Path, lab: str, exercises: tuple[str, ...], own: Path | None, timeout: float) -> Row:
    """Run one file, and return its row."""
    states = dict.fromkeys(exercises, MISSING)
    with tempfile.TemporaryDirectory() as place:
        record = Path(place) / "record.jsonl"
        script = Path(place) / PROGRAM
        if own is not None:
            (Path(place) / own.name).write_bytes(own.read_bytes())
        if path.suffix.lower() == ".py":
            script.write_bytes(path.read_bytes())
        else:
            try:
                script.write_text(program_of(path.read_text(encoding="utf-8")), encoding="utf-8")
            except (ValueError, KeyError, TypeError) as error:
                return path.name, states, f"it is not a notebook: {error}"
        reason = _run(script, record, timeout)
        lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
        said: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for one in said:
        if one["lab"] == lab:
            states |= {name: state for name, state, _ in one["findings"]}
    labs = dict.fromkeys(one["lab"] for one in said)
    if lab not in labs and not reason:
        reason = f"it calls no check of {lab}" + (f", but of {', '.join(labs)}" if labs else "")
    return path.name, states, reason


def _run(script: Path, record: Path, timeout: float) -> str:
    """Run a program without a display, and return what went wrong; "" if nothing did."""
    environment = {**os.environ, RECORD: str(record), "MPLBACKEND": "Agg"}
    try:
        run = subprocess.run(
            [sys.executable, str(script)],
            cwd=script.parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {timeout:g} s"
    return "" if run.returncode == 0 else (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
