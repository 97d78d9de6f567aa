"""Paths that are given to functions, and the error of a file that cannot be written."""

from __future__ import annotations

import errno
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from haugmbd.errors import UsageError

FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


class UnwritableFileError(OSError, UsageError):
    """A file cannot be written: a UsageError, and an OSError with `errno`, `strerror` and `filename`."""

    def __str__(self) -> str:
        """Return what is wrong, and what to do."""
        return f"cannot write {str(self.filename)!r}: {self.strerror}. {_remedy(self.errno, Path(self.filename))}"


def unwritable(path: Path, error: OSError) -> UnwritableFileError:
    """Return the error of a path that cannot be written."""
    return UnwritableFileError(error.errno, error.strerror or str(error), str(path))


def _remedy(number: int | None, path: Path) -> str:
    """Return what to do."""
    if path.is_dir():
        return "It is a folder: give the name of a file in it."
    file = next((above for above in path.parents if above.exists() and not above.is_dir()), None)
    if file is not None:
        return f"{str(file)!r} is a file: give a path below a folder."
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r}: create it, or give a file in a folder that exists."
    if number in FULL:
        return "An old file of that name is unchanged: make room, or give a path on another disk."
    return "Give a file in a folder that can be written to."


def path_of(given: Any, what: str = "path") -> Path:
    """Return a path. Raise UsageError for anything else."""
    if not isinstance(given, str | PathLike) or not isinstance(fspath(given), str):
        raise UsageError(f"{what} is {given!r:.80}, must be the path of a file as str or Path.")
    if not fspath(given) or "\0" in fspath(given):
        raise UsageError(f"{what} is {given!r:.80}, which names no file: give its path as str or Path.")
    return Path(given)


def path_with_ending(given: Any, ending: str, instead: str = "") -> Path:
    """Return a path with this ending. Raise UsageError for another one: the file would not hold what its name says.

    instead: what writes other files, for the message
    """
    path = path_of(given)
    if path.suffix.lower() != ending:
        raise UsageError(
            f"{str(path)!r} does not end with {ending!r}, the only kind of file that is written here. {instead}".rstrip()
        )
    return path
