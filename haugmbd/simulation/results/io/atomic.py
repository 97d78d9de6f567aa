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


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a binary file. `path` is replaced by it if the block ends without an error, and is unchanged otherwise.

    Raises OSError, of `path`, if the folder is missing or cannot be written to, and the errors of the block.
    """
    target = path.resolve()  # a link keeps pointing to where it points
    temporary = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.tmp")
    try:
        file = temporary.open("xb")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
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
