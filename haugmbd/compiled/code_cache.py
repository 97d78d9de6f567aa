"""The disk cache of compiled functions: that of Numba, which here tolerates damaged files and missing folders, and announces compilation.

* No folder to write to: functions are compiled for this process alone, with one warning that names NUMBA_CACHE_DIR.
* A data file contains the signature that it was compiled for: two processes that compile different signatures of a function at the same
  time may both take the same name for their files.
* Each file begins with the SHA-256 of the rest, then Numba's version and the stamp of the sources. A file that is cut off, damaged or of
  another version is deleted or ignored, and its function is compiled again.
* The first compilation of a process is announced on stderr, through the logger "haugmbd"; HAUGMBD_QUIET=1 or the logger's level
  silences it.

Nothing of this happens when haugmbd is imported.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.runtime import rtsys

from haugmbd.compiled.cache_stamp import PACKAGE, source_stamp
from haugmbd.compiled.notices import LOGGER, NO_FOLDER, announce, warn_uncached

DIGEST = hashlib.sha256().digest_size
NO_CODE = "no compiled object yet"
"""What Numba says of code that it was not given."""


def keep_on_disk(compiled: Any) -> Any:
    """Attach a disk cache to a compiled function, bound to the text that it depends on; return the function."""
    if not numba.config.DISABLE_JIT:
        compiled._cache = DeferredCache(compiled.py_func)
    return compiled


class DeferredCache:
    """The cache of one function, which is opened when it is first used: most processes use a few functions of many."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _opened(self) -> Any:
        """The cache itself."""
        try:
            return CodeCache(
                self._function,
                source_stamp(Path(getattr(self._function, "sources", self._function.__code__.co_filename)).resolve()),
            )
        except RuntimeError:  # Numba finds no folder that it may write to
            return NoCache()

    def __getattr__(self, name: str) -> Any:
        """Return what the cache itself has."""
        return getattr(self._opened, name)


class CodeCacheFile(IndexDataCacheFile):  # type: ignore[misc]  # Numba has no types
    """Index and data files with a check sum; a data file with the key of its entry."""

    def save(self, key: Any, data: Any) -> None:
        """Write an entry, with its key."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """Return an entry; None if there is none, or if its file has become that of another one."""
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def _head(self) -> bytes:
        """Return Numba's version and the stamp; a file with another head is not unpickled."""
        return f"{self._version} {self._source_stamp}\n".encode()

    def _dump(self, content: Any) -> bytes:
        data: bytes = self._head() + super()._dump(content)
        return hashlib.sha256(data).digest() + data

    def _save_index(self, overloads: Any) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump(overloads))

    def _load_index(self) -> Any:
        found = self._read(self._index_path)
        return {} if found is None else found

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _read(self, path: str) -> Any:
        """Return the content of a file; None if there is none or it has another version. A damaged file is deleted, and None returned."""
        try:
            data = Path(path).read_bytes()
        except OSError:
            return None
        digest, body = data[:DIGEST], data[DIGEST:]
        if hashlib.sha256(body).digest() != digest:
            _delete(path)
            return None
        head = self._head()
        return pickle.loads(body[len(head) :]) if body.startswith(head) else None


class CodeCache(FunctionCache):  # type: ignore[misc]
    """The cache of one function.  Raise RuntimeError if there is no folder to write to."""

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)
        place = {"cache_path": self._cache_path, "filename_base": self._impl.filename_base}
        self._cache_file = CodeCacheFile(**place, source_stamp=stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function; None, after an announcement, if it must be compiled.

        Machine code needs Numba's run-time library only.  Numba's own functions, which take 0.2 s to prepare, are those of compilation.
        """
        rtsys.initialize(target_context)
        found = None
        try:
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  whatever a whole file of this version cannot be turned into code for: it is compiled again
            LOGGER.info("haugmbd: compiled code in %s cannot be used", self._cache_path, exc_info=True)
        if found is None:
            folder = Path(self._cache_path)
            announce(PACKAGE if folder.is_relative_to(PACKAGE) else folder.parent)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled function; a full disk raises a warning, not an error. Raise KeyboardInterrupt after Ctrl-C while LLVM ran.

        LLVM hands the machine code over in a callback, where Ctrl-C that has waited for LLVM is raised, and ignored.
        """
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_uncached(f"compiled code cannot be kept in {self._cache_path} ({error.strerror})")
        except RuntimeError as error:
            if not str(error).startswith(NO_CODE):
                raise
            raise KeyboardInterrupt from None


class NoCache(NullCache):  # type: ignore[misc]
    """The cache if there is no folder to write to."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Return None, with one warning."""
        warn_uncached(NO_FOLDER)


def _delete(path: str) -> None:
    """Remove a damaged file, if that is permitted."""
    try:
        os.unlink(path)
    except OSError:
        pass
