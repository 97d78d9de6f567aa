"""Where a sweep keeps its rows as they come: nowhere, in a folder, or in a NetCDF file with a journal beside it.

The journal is a file of JSON lines that is only ever appended to.

    {"sweep": 1, "study": {...}, "check": "..."}                                                      first line: what the study is
    {"key": "...", "cell": {...}, "status": "ok", "values": {...}, "seconds": ..., "check": "..."}    one line a cell

A line is written by one call, and its `check` is the CRC-32 of the rest. After kill -9 or a power failure the last lines may be torn:
they are cut off, and their cells run again. A line that is damaged before good ones is refused. A lock of the operating system keeps a
second process out; it ends with its process, however that ends.

folder       folder/cells.jsonl, the journal
study.nc     while the sweep runs: the journal, study.nc.cells.jsonl. At the end study.nc replaces the old one; the journal is deleted.

An HDF5 file that is written to when its process is killed is lost; a file that is only appended to is not. Therefore the journal is
what counts while cells run, and the NetCDF file is written whole, under another name, and renamed. A sweep that continues reads both.
"""

from __future__ import annotations

import io
import json
import os
import re
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.content_digest import DIGITS
from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.checksums import check_seal, seal
from haugmbd.study.sweeps.cells import READS, TEXT, Value, text_of
from haugmbd.study.sweeps.executors import Row

FORMAT = 2
"""The identity of a study of format 1 did not hold the values that its functions read: its rows could be those of another study."""
SYNC_EVERY = 1.0
"""Seconds between two commands that bring the file from the system's memory to the disk."""

SHOWN = 5
"""Number of values that differ and are listed."""

Record = dict[str, Any]

_open: set[Path] = set()
"""Files that this process writes: locks of one process do not exclude each other."""


class Journal:
    """An open journal: `rows` has what was there, `append` adds a row.

    what: the word for what is kept, in messages
    """

    def __init__(self, path: Path, study: Mapping[str, Any], what: str = "study") -> None:
        self.path, self._what = path.resolve(), what
        if self.path in _open:
            raise UsageError(f"store {str(path)!r} is in use by another sweep of this process.")
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        _open.add(self.path)
        try:
            _lock(self._handle, path)
            self.rows = self._read(study)
        except BaseException:
            self.close()
            raise
        self._synced = time.monotonic()

    def records(self) -> list[Record]:
        """Return the records of the file as it is now, without its head."""
        return good_lines(self._content(), self.path)[0][1:]

    def _content(self) -> bytes:
        """Return all bytes. They are read through the one handle: closing another one of the same file would end the lock (POSIX)."""
        os.lseek(self._handle, 0, os.SEEK_SET)
        parts = []
        while part := os.read(self._handle, 1 << 24):
            parts.append(part)
        return b"".join(parts)

    def _read(self, study: Mapping[str, Any]) -> dict[str, Row]:
        """Return the rows by key, and go to the end of the good lines."""
        records, good = good_lines(self._content(), self.path)
        if len(records) > 1:
            refuse_other_study(records[0], study, self.path, self._what)
        else:  # a study without rows: nothing is lost if this one begins anew
            records, good = [], 0
        os.ftruncate(self._handle, good)
        os.lseek(self._handle, good, os.SEEK_SET)
        if not records:
            self._write({"sweep": FORMAT, "study": dict(study)})
        return {record["key"]: row_of(record) for record in records[1:]}

    def append(self, key: str, cell: Mapping[str, Value], row: Row) -> None:
        """Write a row."""
        self._write(record_of(key, cell, row))
        if time.monotonic() - self._synced > SYNC_EVERY:
            os.fsync(self._handle)
            self._synced = time.monotonic()

    def _write(self, record: Record) -> None:
        data = checked_line(record)
        while data:
            data = data[os.write(self._handle, data) :]

    def delete(self) -> None:
        """Delete the file, while it is locked where the system allows that."""
        try:
            self.path.unlink()
        except PermissionError:  # Windows deletes no open file
            self.close()
            self.path.unlink()

    def close(self) -> None:
        """Bring everything to the disk, and close the file."""
        _open.discard(self.path)
        if self._handle >= 0:
            try:
                os.fsync(self._handle)
            finally:
                os.close(self._handle)
                self._handle = -1


def record_of(key: str, cell: Mapping[str, Value], row: Row) -> Record:
    """Return a row as it is written."""
    found = {"key": key, "cell": dict(cell), "status": row.status, "values": row.values, "seconds": row.seconds}
    return found | ({"reason": row.reason} if row.reason else {})


def row_of(record: Record) -> Row:
    """Return the row of a record."""
    return Row(record["status"], record["values"], record.get("reason", ""), record["seconds"])


def checked_line(record: Record) -> bytes:
    """Return the line of a record, with its checksum."""
    return (json.dumps({**record, "check": _check(record)}) + "\n").encode()


def _check(record: Record) -> str:
    return f"{zlib.crc32(json.dumps(record).encode()):08x}"


def good_lines(data: bytes, path: Path) -> tuple[list[Record], int]:
    """Return the records of a journal, and the length [bytes] of its undamaged part; UsageError if good lines follow a damaged one."""
    lines = data.split(b"\n")
    whole = lines[:-1]  # what follows the last end of a line is torn
    records = [_record(line) for line in whole]
    good = records.index(None) if None in records else len(records)
    if any(record is not None for record in records[good:]):
        remedy = (
            "or delete that line: its cell will run again" if good else "or give another store: the line says what the study is"
        )
        raise UsageError(
            f"store {str(path)!r} is damaged in line {good + 1}: its checksum is not that of its text. Restore the file from a copy, "
            f"{remedy}."
        )
    if data and not good and not data.startswith(b'{"sweep"'):
        raise UsageError(f"{str(path)!r} is not a store of a sweep. Give a new name, or delete it.")
    return [record for record in records[:good] if record is not None], sum(len(line) + 1 for line in whole[:good])


def _record(line: bytes) -> Record | None:
    """Return the record of a line, None if it is torn or damaged."""
    try:
        record = json.loads(line)
        check = record.pop("check")
    except (ValueError, KeyError, AttributeError):  # no JSON, no checksum, no object
        return None
    return record if check == _check(record) else None


def refuse_other_study(head: Record, study: Mapping[str, Any], path: Path, what: str = "study") -> None:
    """Raise UsageError, with what differs, if a store is that of another study;  what: the word for it."""
    if head.get("sweep") != FORMAT:
        why = ", whose studies do not hold the values that their functions read" if head.get("sweep") == 1 else ""
        raise UsageError(
            f"store {str(path)!r} has format {head.get('sweep')!r}{why}; this version of haugmbd reads {FORMAT}. Give another store."
        )
    stored = head["study"]
    differ = [name for name in study if stored.get(name) != study[name] and not name.endswith(READS)]
    if "python" in differ:  # it compiles the same text to other code
        differ = [name for name in differ if f"{name}{READS}" not in study]
    other = [_difference(name, stored, study) for name in differ]
    if other:
        raise UsageError(
            f"store {str(path)!r} is that of another {what}: {'; '.join(other)}. Give another store, or delete this one. "
            f"(A {what} is build, run and the values that they read, method, seed, version, and the names of its parameters.)"
        )


def _difference(name: str, stored: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return what differs, in words; digests only where nothing else does."""
    before, now = stored.get(name), given[name]
    if f"{name}{READS}" not in given or before is None or now is None:
        return f"{name} was {before!r}, is {now!r}"
    before, now = (str(text).rpartition(" ")[0] for text in (before, now))
    if before != now:
        return f"{name} was {before!r}, is {now!r}" if name == "method" else f"{name} was {before}, is {now}"
    read, reads = stored.get(f"{name}{READS}") or {}, given[f"{name}{READS}"]
    if read.get(TEXT) != reads.get(TEXT):
        return f"the text of {name}, {now}, has changed"
    differ = [each for each in dict.fromkeys([*read, *reads]) if read.get(each) != reads.get(each)]
    words = [_difference_of_value(each, read.get(each), reads.get(each)) for each in differ[:SHOWN]]
    more = f" and {len(differ) - SHOWN} more" if len(differ) > SHOWN else ""
    return f"what is read by {name}, {now}, has changed: {', '.join(words)}{more}"


def _difference_of_value(name: str, stored: str | None, given: str | None) -> str:
    if stored is None or given is None:
        return f"{name!r} is {'new' if stored is None else 'gone'}"
    before, now = (re.sub(rf" [0-9a-f]{{{DIGITS}}}$", "", text) for text in (stored, given))
    return f"{name!r} was {before}, is {now}" if before != now else f"{name!r} ({now})"


def _lock(handle: int, path: Path) -> None:
    """Lock an open file for this process. Raise UsageError if another process has locked it."""
    try:
        import fcntl  # noqa: PLC0415  POSIX only
    except ImportError:  # Windows refuses nothing here: two processes must not share a store
        return
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
            return
    except (BlockingIOError, PermissionError):
        pass
    except OSError:  # a file system without locks
        return
    # locked by another process, or replaced by one between opening and locking
    raise UsageError(f"store {str(path)!r} is in use by another process: wait for it, or give another store.")


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
