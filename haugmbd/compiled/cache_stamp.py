"""The dependencies of cached machine code: the text of a file and of every file of the package that it imports, directly or not.

Numba's disk cache looks only at the file of the outermost function. After an edit of a kernel or of a constant that this function takes
from ANOTHER file it would silently run the old code. Compiled code cannot use a kernel or constant of a file that is not imported.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[__name__.count(".") - 1]
"""The folder of the package, however deep this file is in it."""

IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w.]+))", re.MULTILINE)
NAME = re.compile(r"\w+")
ENTRY = re.compile(rb"^@(entry|counted_entry|routine|released)\b|\bentry_from\(", re.MULTILINE)
"""Where a file has an entry of its own."""


@cache
def source_stamp(file: Path, package: Path = PACKAGE) -> str:
    """Return the digest of `file` and of all files of `package` that it imports, directly or not."""
    digest = hashlib.sha1(usedforsecurity=False)
    for one in sorted(imported_by([str(file)], package)):
        digest.update(_read(one, package)[0])
    return digest.hexdigest()


def imported_by(files: Iterable[str], package: Path = PACKAGE) -> set[str]:
    """Return these files, and all files of `package` that they import, directly or not."""
    seen: set[str] = set()
    waiting = list(files)
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += _read(one, package)[1]
    return seen


@cache
def files_of_entries(package: Path = PACKAGE) -> tuple[str, ...]:
    """Return the files of `package` that machine code of any entry depends on, by their places in it, sorted."""
    own = [file for file in _files(package) if ENTRY.search(Path(file).read_bytes())]
    return tuple(sorted(Path(file).relative_to(package).as_posix() for file in imported_by(own, package)))


@cache
def package_stamp(package: Path = PACKAGE) -> str:
    """Return the digest of all files of the package, short enough for the name of a folder."""
    digest = hashlib.sha1(usedforsecurity=False)
    for file in sorted(_files(package)):
        digest.update(hashlib.sha1(Path(file).read_bytes(), usedforsecurity=False).digest())
    return digest.hexdigest()[:16]


@cache
def _read(file: str, package: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return the digest of one file, and the files of the package that it imports."""
    text = Path(file).read_bytes()
    imported: list[str] = []
    for module, names, plain in IMPORT.findall(text):
        dotted = (module or plain).decode()
        if dotted == package.name or dotted.startswith(package.name + "."):
            place = os.sep.join([str(package), *dotted.split(".")[1:]])
            candidates = [f"{place}{os.sep}{name}.py" for name in NAME.findall(names.decode())]
            imported += [f for f in (f"{place}.py", f"{place}{os.sep}__init__.py", *candidates) if f in _files(package)]
    return hashlib.sha1(text, usedforsecurity=False).digest(), tuple(imported)


@cache
def _files(package: Path) -> frozenset[str]:
    """Return the source files of the package: a question to this set is quicker than one to the disk."""
    return frozenset(os.path.join(place, name) for place, _, names in os.walk(package) for name in names if name.endswith(".py"))
