"""Where a sweep keeps its rows: nowhere, in a folder, or in a NetCDF file.

folder       folder/cells.jsonl, the journal
study.nc     while the sweep runs: the journal, study.nc.cells.jsonl. At the end study.nc replaces the old one; the journal is deleted.

An HDF5 file that is written to when its process is killed is lost; a file that is only appended to is not. Therefore the journal is
what counts while cells run, and the NetCDF file is written whole, under another name, and renamed. A sweep that continues reads both.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.checksums import check_seal, seal
from haugmbd.study.sweeps.evaluate import Row
from haugmbd.study.sweeps.identity import Value, text_of
from haugmbd.study.sweeps.journal import FORMAT, Journal, Record, refuse_other_study, row_of

JOURNAL = "cells.jsonl"
NOWHERE = "nowhere"


class Store:
    """Rows in memory alone: `rows` by key, `keep` adds one, `finish` ends it."""

    where = NOWHERE

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def keep(self, key: str, cell: Mapping[str, Value], row: Row) -> None:
        """Keep a row."""
        self.rows[key] = row

    def finish(self) -> None:
        """Write what is left to write, and close all files."""


class FolderStore(Store):
    """Rows in the journal of a folder."""

    def __init__(self, folder: Path, study: Mapping[str, Any]) -> None:
        super().__init__()
        self.where = str(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._journal = Journal(folder / JOURNAL, study)
        except OSError as error:
            raise UsageError(f"store {str(folder)!r} cannot be written to: {error.strerror}.") from None
        self.rows = self._journal.rows

    def keep(self, key: str, cell: Mapping[str, Value], row: Row) -> None:
        self.rows[key] = row
        self._journal.append(key, cell, row)

    def finish(self) -> None:
        self._journal.close()


class NetCDFStore(Store):
    """Rows in a NetCDF file, and in a journal beside it while the sweep runs."""

    def __init__(self, path: Path, study: Mapping[str, Any]) -> None:
        super().__init__()
        _need_netcdf()
        self.where, self._path, self._study = str(path), path, dict(study)
        self._records: dict[str, Record] = {}
        try:
            if path.exists():
                self._records = {record["key"]: record for record in read_netcdf(path, study)}
            self._journal = Journal(path.with_name(f"{path.name}.{JOURNAL}"), study)
        except OSError as error:
            raise UsageError(f"store {str(path)!r} cannot be used: {error.strerror or error}.") from None
        self.rows = {key: row_of(record) for key, record in self._records.items()} | self._journal.rows

    def keep(self, key: str, cell: Mapping[str, Value], row: Row) -> None:
        self.rows[key] = row
        self._journal.append(key, cell, row)

    def finish(self) -> None:
        """Write the NetCDF file if there are new rows; delete the journal when the file is complete."""
        new = self._journal.records()
        try:
            if new:
                self._records |= {record["key"]: record for record in new}
                data = netcdf_of(list(self._records.values()), self._study)
                with replace_file(self._path) as file:
                    file.write(data)
            self._journal.delete()
        finally:
            self._journal.close()


def open_store(store: Any, study: Mapping[str, Any]) -> Store:
    """Return the open store. Raise UsageError for another kind of path, a store of another study, or one that is in use."""
    if store is None:
        return Store()
    if not isinstance(store, str | Path):
        raise UsageError(f"store = {store!r} must be a path: a folder, or a file that ends with .nc (NetCDF-4).")
    path = Path(store)
    if path.suffix == ".nc":
        return NetCDFStore(path, study)
    if path.is_file() or path.suffix in (
        ".csv",
        ".npz",
        ".json",
        ".jsonl",
        ".h5",
        ".hdf5",
        ".zip",
        ".html",
        ".txt",
        ".xlsx",
        ".parquet",
    ):
        raise UsageError(f"store = {str(store)!r} must be a folder, or a file that ends with .nc (NetCDF-4); to_csv writes tables.")
    return FolderStore(path, study)


def netcdf_of(records: list[Record], study: Mapping[str, Any]) -> bytes:
    """Return a NetCDF-4 file: a variable for each parameter and each number over `cell`, and the exact records as texts.

    A name with a slash would be a group in HDF5: it is written with a colon.
    """
    h5netcdf, h5py = _need_netcdf()
    data, text = io.BytesIO(), h5py.string_dtype()
    with h5netcdf.File(data, "w") as file:
        file.attrs["sweep"] = FORMAT
        file.attrs["study"] = text_of(study)
        file.dimensions = {"cell": len(records)}

        def write(name: str, column: list[Any]) -> None:
            name = name.replace("/", ":") or "(no name)"
            if name in file.variables:  # "a/b" beside "a:b": the records have both
                return
            if all(isinstance(x, int | float) and not isinstance(x, bool) for x in column):
                file.create_variable(name, ("cell",), data=np.array(column, dtype=np.float64))
            else:
                words = [x if isinstance(x, str) else text_of(x) for x in column]
                file.create_variable(name, ("cell",), dtype=text)[:] = np.array(words, dtype=object)

        for name in study["parameters"]:
            write(name, [record["cell"][name] for record in records])
        for name in dict.fromkeys(name for record in records for name in record["values"]):
            write(name, [float(record["values"].get(name, np.nan)) for record in records])
        write("status", [record["status"] for record in records])
        write("record", [json.dumps(record) for record in records])
    return seal(data.getvalue())


def read_netcdf(path: Path, study: Mapping[str, Any]) -> list[Record]:
    """Return the records of a NetCDF file. Raise UsageError for a damaged file, or one of another study."""
    h5netcdf, _ = _need_netcdf()
    data = path.read_bytes()
    try:
        check_seal(data)
        with h5netcdf.File(io.BytesIO(data), "r") as file:
            head = {"sweep": int(file.attrs["sweep"]), "study": json.loads(file.attrs["study"])}
            texts = np.asarray(file["record"][...]).tolist() if len(file.dimensions["cell"]) else []
    except UsageError as error:
        raise UsageError(f"store {str(path)!r}: {error}.") from None
    except (KeyError, OSError, ValueError, TypeError):
        raise UsageError(f"{str(path)!r} is not a store of a sweep. Give a new name, or delete it.") from None
    refuse_other_study(head, study, path)
    return [json.loads(text) for text in texts]


def _need_netcdf() -> Any:
    """Return h5netcdf and h5py. Raise UsageError, which names the extra, if they are missing."""
    try:
        import h5netcdf  # noqa: PLC0415  only where a file is written
        import h5py  # noqa: PLC0415
    except ImportError:
        raise UsageError("a .nc store needs h5netcdf: pip install h5netcdf, or give a folder as store.") from None
    return h5netcdf, h5py
