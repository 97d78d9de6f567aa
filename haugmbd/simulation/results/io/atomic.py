r"""Atomic writing of files: all data go to a new file in the same folder, which then replaces the old one.

After a full disk, an error or Ctrl-C the old file is unchanged. A reader gets the old file or the new one.
Source: POSIX.1-2017, rename(): an atomic change of the directory entry; fsync() before it, so that the name never comes before the bytes.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from haugmbd.simulation.results.io.paths import unwritable


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a binary file. `path` is replaced by it if the block ends without an error, and is unchanged otherwise.

    Raises UnwritableFileError, of `path`, if it cannot be written to, and other errors of the block.
    """
    try:
        with _replacement(path.resolve()) as file:  # a link keeps pointing to where it points
            yield file
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def _replacement(target: Path) -> Iterator[BinaryIO]:
    """Yield a new file beside the target, which takes its place."""
    temporary = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.tmp")
    file = temporary.open("xb")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Write the new directory entry to disk, if the system can open folders (POSIX)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:  # a file system without it: the rename is atomic all the same
        pass
    finally:
        os.close(handle)
