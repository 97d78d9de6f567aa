"""What every study has beside its numbers: its table for other programs, a file, and a page with the machine, the date and the versions.

StudyData      the base class: a study gives its columns, one line a case, and the columns that span a grid
StudyTable     a study from its file: the same table, the text and the facts, without the runs
load_study     a StudyTable from a file
"""

from __future__ import annotations

import csv
import io
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from haugmbd.deprecated import did_you_mean, public_class
from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of, path_with_ending

if TYPE_CHECKING:
    import pandas
    import xarray

FORMAT = "haugmbd study 1"
PACKAGES = ("haugmbd", "numpy", "scipy", "numba")
LARGEST = 256 * 2**20
"""[bytes] Largest file that is read."""
SHOWN = 500
"""Lines of a table on a page; the file has all."""
Columns = dict[str, npt.NDArray[Any]]


class StudyData:
    """Base class of studies: a table with one line a case, by `_columns`; `_grid` names the columns that span a grid, if they do."""

    _grid: ClassVar[tuple[str, ...]] = ()

    def _columns(self) -> Columns:
        """Return the columns by name, all of one length: numbers, booleans or texts."""
        raise NotImplementedError

    def _grid_of(self) -> tuple[str, ...]:
        return self._grid

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a DataFrame: one line a case (needs pandas).

        Raises
        ------
        UsageError
            If pandas is not installed.
        """
        try:
            import pandas  # noqa: PLC0415  only where it is asked for
        except ImportError:
            raise UsageError("to_pandas needs pandas, which is not installed: pip install pandas, or use to_csv.") from None
        frame: pandas.DataFrame = pandas.DataFrame(self._columns())
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """Return the table as a Dataset over its grid, or over `case` (needs the extra `xarray`).

        Raises
        ------
        UsageError
            If xarray is not installed.
        """
        try:
            import xarray  # noqa: PLC0415  only where it is asked for
        except ImportError:
            raise UsageError("to_xarray needs xarray, which is not installed: pip install xarray.") from None
        columns, grid = self._columns(), self._grid_of()
        facts = {"study": kind_of(self)} | facts_of_here()
        axes = {name: list(dict.fromkeys(columns[name].tolist())) for name in grid}
        n = len(next(iter(columns.values()), ()))
        if not grid or int(np.prod([len(axis) for axis in axes.values()])) != n:
            made: xarray.Dataset = xarray.Dataset({name: ("case", _plain(x)) for name, x in columns.items()}, attrs=facts)
            return made
        positions = [np.array([axis.index(x) for x in columns[name].tolist()]) for name, axis in axes.items()]
        shape = tuple(len(axis) for axis in axes.values())
        order = np.argsort(np.ravel_multi_index(tuple(positions), shape), kind="stable")
        coordinates = {name: (name, _plain(np.array(axis))) for name, axis in axes.items()}
        values = {name: (grid, _plain(x[order]).reshape(shape)) for name, x in columns.items() if name not in grid}
        gridded: xarray.Dataset = xarray.Dataset(values, coordinates, facts)
        return gridded

    def to_csv(self, path: str | Path) -> Path:
        """Write one line a case, with all digits, and return the path. After an error an old file is unchanged."""
        path = path_with_ending(path, ".csv", "Other tables: to_pandas().to_excel(...), .to_parquet(...).")
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(_lines(self._columns()))
        with replace_file(path) as file:
            file.write(text.getvalue().encode())
        return path

    def to_parquet(self, path: str | Path) -> Path:
        """Write one line a case as a Parquet file (needs pandas and pyarrow), and return the path.

        Raises
        ------
        UsageError
            If the ending is not .parquet, or if a package is not installed.
        """
        return write_parquet(self.to_pandas(), path)

    def save(self, path: str | Path) -> Path:
        """Write the table, the printed text, the machine, the date and the versions to a .json file, and return the path.

        `mbd.load_study(path)` reads it. Runs are not in it: save those that are wanted by themselves, `result.save(path)`.
        """
        path = path_with_ending(path, ".json", "Tables for other programs: to_csv, to_pandas, to_xarray.")
        columns = {name: {"kind": x.dtype.kind, "values": _jsonable(x)} for name, x in self._columns().items()}
        document = {
            "format": FORMAT,
            "study": kind_of(self),
            "facts": self._facts(),
            "grid": list(self._grid_of()),
            "text": str(self),
            "columns": columns,
        }
        with replace_file(path) as file:
            file.write((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
        return path

    def report(self, path: str | Path) -> Path:
        """Write the study as one HTML page that needs no network: text, table, machine, date and versions; return the path."""
        path = path_of(path)
        if path.suffix not in (".html", ".htm"):
            raise UsageError(f"report: path is {str(path)!r:.200}: a page ends with .html.")
        facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in self._facts().items())
        lines = _lines(self._columns())
        head = "".join(f"<th>{escape(str(x))}</th>" for x in lines[0])
        rows = "".join("<tr>" + "".join(f"<td>{escape(_short(x))}</td>" for x in line) + "</tr>" for line in lines[1 : SHOWN + 1])
        more = f"<p>{len(lines) - 1 - SHOWN} more lines are in save and to_csv.</p>" if len(lines) - 1 > SHOWN else ""
        title = escape(kind_of(self))
        page = PAGE.format(title=title, facts=facts, text=escape(str(self)), head=head, rows=rows, more=more)
        with replace_file(path) as file:
            file.write(page.encode())
        return path

    def _facts(self) -> dict[str, str]:
        """Return machine, date and versions."""
        return facts_of_here()


def write_parquet(frame: Any, path: str | Path) -> Path:
    """Write a DataFrame as a Parquet file. After an error an old file is unchanged."""
    path = path_with_ending(path, ".parquet", "Other tables: to_csv, to_pandas, to_xarray.")
    file = io.BytesIO()
    try:
        frame.to_parquet(file, engine="pyarrow", index=False)
    except ImportError:
        raise UsageError("to_parquet needs pyarrow, which is not installed: pip install pyarrow, or use to_csv.") from None
    with replace_file(path) as kept:
        kept.write(file.getvalue())
    return path


PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color: #111; background: #fff }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }} th, td {{ padding: .2em .7em; border-bottom: 1px solid #ddd;
text-align: left }} pre {{ overflow-x: auto; background: #f6f6f6 }} dl {{ display: grid; grid-template-columns: max-content 1fr;
gap: .2em 1em }} dt {{ color: #555 }} dd {{ margin: 0 }} div {{ overflow-x: auto }}
</style></head><body><h1>{title}</h1><pre>{text}</pre><dl>{facts}</dl><div><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>
{more}</body></html>
"""


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class StudyTable(StudyData):
    """A study from its file.

    Attributes
    ----------
    study : str
        Its kind, such as "GainMap".
    columns : dict of str to ndarray
        The table: one line a case.
    grid : tuple of str
        The columns that span a grid; () if there is none.
    facts : dict of str to str
        Machine, date and versions of the study.
    text : str
        What the study printed.
    """

    study: str
    columns: Mapping[str, npt.NDArray[Any]]
    grid: tuple[str, ...]
    facts: Mapping[str, str]
    text: str

    def _columns(self) -> Columns:
        return dict(self.columns)

    def _grid_of(self) -> tuple[str, ...]:
        return self.grid

    def _facts(self) -> dict[str, str]:
        return dict(self.facts)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column. Raise UsageError if there is none of that name."""
        if name not in self.columns:
            raise UsageError(f"no column {name!r}{did_you_mean(name, self.columns)}: there are {', '.join(self.columns)}.")
        return self.columns[name]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"StudyTable of a {self.study}: {len(next(iter(self.columns.values()), ()))} cases, {', '.join(self.columns)}"


def load_study(path: str | Path) -> StudyTable:
    """Return a study that `save` wrote: its table, its text, and the machine, date and versions; nothing of the file is executed.

    Parameters
    ----------
    path : str or Path
        The file, .json.

    Returns
    -------
    StudyTable
        The table with `.to_pandas() .to_xarray() .to_csv() .save() .report()`.

    Raises
    ------
    UsageError
        If there is no such file, or it is no study.
    """
    path = path_of(path)
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{str(path)!r:.200} has more than {LARGEST >> 20} MiB.")
        document = json.loads(path.read_bytes())
        if document["format"] != FORMAT:
            raise UsageError(f"{str(path)!r:.200} is no study of this version: its format is {document['format']!r:.60}.")
        columns = {str(name): _array(one["kind"], one["values"]) for name, one in document["columns"].items()}
        facts = {str(name): str(text) for name, text in document["facts"].items()}
        grid = tuple(str(name) for name in document["grid"] if name in columns)
        if len({len(x) for x in columns.values()}) > 1:
            raise UsageError(f"{str(path)!r:.200} is damaged: its columns have different lengths.")
        return StudyTable(str(document["study"]), columns, grid, facts, str(document["text"]))
    except OSError as error:
        raise UsageError(f"{str(path)!r:.200} cannot be read: {error.strerror}.") from None
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise UsageError(f"{str(path)!r:.200} is no study that `save` wrote: {type(error).__name__}: {error}"[:400] + ".") from None


def kind_of(study: Any) -> str:
    """Return the kind of a study: the name of its class, also of one from its file."""
    return study.study if isinstance(study, StudyTable) else type(study).__name__


def facts_of_here() -> dict[str, str]:
    """Return the machine, the date and the versions."""
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}, {platform.processor() or 'processor not told'}"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"machine": machine, "date": now, "versions": f"Python {sys.version.split()[0]}, {versions()}"}


def versions() -> str:
    """Return the packages that numbers depend on, with their versions."""
    return ", ".join(f"{name} {installed_version(name)}" for name in PACKAGES)


def installed_version(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def column(values: Any) -> npt.NDArray[Any]:
    """Return values as a column: numbers, booleans, or texts."""
    array = np.asarray(values)
    return array if array.dtype.kind in "iufb" else np.array([str(x) for x in array.ravel()], dtype=object)


def _plain(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return texts in an array of strings, which every file format takes."""
    return x.astype(str) if x.dtype.kind == "O" else x


def _jsonable(x: npt.NDArray[Any]) -> list[Any]:
    """Return a column for JSON, which has no NaN and infinities."""
    return [repr(v) if isinstance(v, float) and not np.isfinite(v) else v for v in x.tolist()]


def _array(kind: str, values: Any) -> npt.NDArray[Any]:
    """Return a column from JSON."""
    if kind in ("O", "U"):
        return np.array([str(x) for x in values], dtype=object)
    return (
        np.array([float(x) for x in values])
        if kind == "f"
        else np.array(values, dtype={"b": bool, "i": np.int64, "u": np.int64}[kind])
    )


def _lines(columns: Columns) -> list[list[Any]]:
    """Return the head and the lines of a table, numbers with 17 digits."""
    rows = zip(*(x.tolist() for x in columns.values()), strict=True)
    return [list(columns), *([f"{x:.17g}" if isinstance(x, float) else x for x in row] for row in rows)]


def _short(x: Any) -> str:
    """Return an entry of a page: numbers with six digits."""
    try:
        return f"{float(x):.6g}" if isinstance(x, str) and x[:1] in "-0123456789in" else str(x)
    except ValueError:
        return str(x)
