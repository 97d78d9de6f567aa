"""Rows on disk as they come: a file of JSON lines that is only ever appended to.

    {"sweep": 1, "study": {...}, "check": "..."}                                                      first line: what the study is
    {"key": "...", "cell": {...}, "status": "ok", "values": {...}, "seconds": ..., "check": "..."}    one line a cell

A line is written by one call, and its `check` is the CRC-32 of the rest. After kill -9 or a power failure the last lines may be torn:
they are cut off, and their cells run again. A line that is damaged before good ones is refused. A lock of the operating system keeps a
second process out; it ends with its process, however that ends.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from haugmbd.content_digest import DIGITS
from haugmbd.errors import UsageError
from haugmbd.study.sweeps.evaluate import Row
from haugmbd.study.sweeps.identity import READS, TEXT, Value

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
