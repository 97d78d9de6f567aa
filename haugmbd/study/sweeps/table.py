"""The rows of a sweep, as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_with_ending
from haugmbd.simulation.results.study_data import Columns, StudyData
from haugmbd.study.sweeps.cells import Cell, show, text_of
from haugmbd.study.sweeps.executors import OK, PENDING, Row
from haugmbd.text_table import table_lines

if TYPE_CHECKING:
    import pandas
    import xarray

SHOWN = 20
"""Number of rows that are printed."""


@dataclass(frozen=True)
class SweepFailure:
    """A cell of a sweep that gave no numbers.

    Attributes
    ----------
    cell : dict
        Its parameters.
    status : str
        "failed", "timeout", "killed", or "pending" if it did not run.
    reason : str
        Why.
    """

    cell: Cell
    status: str
    reason: str

    def __str__(self) -> str:
        """Return one line: mass=-1.0: failed: ModelError: ..."""
        return f"{show(self.cell)}: {self.status}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, eq=False)
class Sweep(StudyData):
    """The rows of a sweep, in the order of its cells.

    Attributes
    ----------
    cells : tuple of dict
        The parameters of each cell.
    rows : tuple of Row
        What became of each cell: its status, values, reason and time.
    axes : tuple of str or None
        Names of the axes if the cells are a grid.
    store : str
        Where the rows are kept.
    interrupted : bool
        True if Ctrl-C ended the sweep; cells that have not run have the status "pending".
    """

    cells: tuple[Cell, ...]
    rows: tuple[Row, ...]
    axes: tuple[str, ...] | None
    store: str
    interrupted: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return tuple(self.cells[0]) if self.cells else self.axes or ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the numbers that `run` returned, in the order in which they appear."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    @property
    def status(self) -> tuple[str, ...]:
        """Return the status of each row: "ok", "failed", "timeout", "killed" or "pending"."""
        return tuple(row.status for row in self.rows)

    @property
    def seconds(self) -> npt.NDArray[np.float64]:
        """Return the wall time of each cell [s], (n,). It is no column of the table, which is the same in every repetition."""
        return np.array([row.seconds for row in self.rows])

    @property
    def failures(self) -> tuple[SweepFailure, ...]:
        """Return the cells without numbers, with their reasons."""
        pairs = zip(self.cells, self.rows, strict=True)
        return tuple(SweepFailure(cell, row.status, row.reason) for cell, row in pairs if row.status != OK)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column: a parameter, a number that `run` returned (NaN where there is none), "status" or "reason"."""
        columns = self._columns()
        if name not in columns:
            raise UsageError(f"no column is called {name!r}{did_you_mean(name, columns)}; the columns are {', '.join(columns)}.")
        return columns[name]

    def _columns(self) -> Columns:
        """Return all columns, by name."""
        columns = {name: _column([cell[name] for cell in self.cells]) for name in self.parameters}
        columns |= {name: _column([row.values.get(name, np.nan) for row in self.rows]) for name in self.names}
        return columns | {name: _texts([getattr(row, name) for row in self.rows]) for name in ("status", "reason")}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame: a row for each cell; parameters, numbers, status and reason as columns."""
        try:
            import pandas  # noqa: PLC0415  only where it is asked for
        except ImportError:
            raise UsageError("to_pandas needs pandas, which is not installed: pip install pandas, or use to_csv.") from None
        frame: pandas.DataFrame = pandas.DataFrame(self._columns(), index=pandas.RangeIndex(len(self), name="cell"))
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """Return a Dataset: a grid over its axes, other sweeps over `cell`."""
        try:
            import xarray  # noqa: PLC0415  only where it is asked for
        except ImportError:
            raise UsageError("to_xarray needs xarray, which is not installed: pip install xarray.") from None
        columns = self._columns()
        if self.axes is None or not self.axes:
            coordinates: dict[str, Any] = {name: ("cell", columns.pop(name)) for name in self.parameters}
            found: xarray.Dataset = xarray.Dataset({name: ("cell", x) for name, x in columns.items()}, coordinates)
            return found
        values = {name: list(dict.fromkeys((type(cell[name]), cell[name]) for cell in self.cells)) for name in self.axes}
        coordinates = {name: (name, _column([x for _, x in axis])) for name, axis in values.items()}
        shape = [len(axis) for axis in values.values()]
        data = {name: (self.axes, x.reshape(shape)) for name, x in columns.items() if name not in coordinates}
        grid: xarray.Dataset = xarray.Dataset(data, coordinates)
        return grid

    def to_csv(self, path: str | Path) -> Path:
        """Write one line for each cell, with all digits. After an error an old file is unchanged."""
        path = path_with_ending(path, ".csv", "Other tables: to_pandas().to_excel(...), .to_parquet(...).")
        columns, text = self._columns(), io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["cell", *columns])
        writer.writerows([k, *(_plain(x[k]) for x in columns.values())] for k in range(len(self)))
        with replace_file(path) as file:
            file.write(text.getvalue().encode())
        return path

    def __str__(self) -> str:
        """Return the first rows as a table, and how many cells gave no numbers."""
        columns = self._columns()
        numeric = {k for k, x in enumerate(columns.values()) if x.dtype != object}
        ran = [k for k, status in enumerate(self.status) if status != PENDING]  # the others are counted below
        lines = [[_shown(x[k]) for x in columns.values()] for k in ran[:SHOWN]]
        note = table_lines(list(columns), lines, right=numeric, width=132, may_be_cut=[len(columns) - 1])
        note += [f"... {len(ran) - SHOWN} more"] if len(ran) > SHOWN else []
        counts = {status: self.status.count(status) for status in dict.fromkeys(self.status)}
        return "\n".join([*note, f"{len(self)} cells: " + (", ".join(f"{n} {status}" for status, n in counts.items()) or "none")])

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} cells, {self.status.count(OK)} ok>"


def pending_row() -> Row:
    """Return the row of a cell that has not run."""
    return Row(PENDING, reason="not run")


def _column(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return an array of bool, int64 or float64 if all values are numbers, of objects otherwise."""
    kinds = {type(x) for x in values}
    if kinds <= {bool} or (kinds <= {int} and all(abs(x) < 2**63 for x in values)):
        return np.array(values, dtype=bool if kinds == {bool} else np.int64 if kinds else np.float64)
    if kinds <= {bool, int, float}:
        return np.array([float(x) for x in values])
    return _texts(values)


def _texts(values: Sequence[Any]) -> npt.NDArray[Any]:
    column = np.empty(len(values), dtype=object)
    for k, x in enumerate(values):  # a slice would take a tuple apart
        column[k] = x
    return column


def _plain(x: Any) -> Any:
    """Return an entry of a line of a CSV file."""
    if isinstance(x, tuple):
        return text_of(x)
    return repr(float(x)) if isinstance(x, np.floating) else x


def _shown(x: Any) -> str:
    return f"{x:.6g}" if isinstance(x, float | np.floating) else str(x)
