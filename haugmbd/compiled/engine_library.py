r"""The engine of this package: a library of its compiled entries, built beforehand, and whether it fits here.

    manifest    haugmbd/engine/library/engine.json: names of entries and routines, the sources they depend on, and for each library
                its size, digest, stamp of these sources, and what processor it needs

A library is taken if its stamp is that of the sources, its size and digest are as the manifest says, and the processor has what it was
compiled for.  What was read once is not read again while no file has another size or time of change: a note beside the library says so,
where its folder can be written to.  Any other is refused with the reason, and everything is compiled just in time.
HAUGMBD_ENGINE=0 refuses every one.
Where Numba is installed, the engine is taken with HAUGMBD_ENGINE=1 only: Numba compiles what no engine has, such as derivatives.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from haugmbd.compiled.cache_stamp import PACKAGE

FOLDER = PACKAGE / "engine" / "library"
MANIFEST = "engine.json"
FORMAT = 1
"""Of the manifest and of word doors."""
WISH = "HAUGMBD_ENGINE"
"""The variable of the environment: 0 refuses the engine, 1 takes it beside Numba, too; or the library to take, `linux_x86_64`."""
SEEN = "seen"
"""The note of what was read: the library and a digest of sizes and times of change of it, the manifest and the sources."""
SETTLED = 2_000_000_000
"""[ns] A file that was changed within so short a time may be changed again without another time: it is read."""
V3 = ("avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe")
"""What x86-64-v3 adds, in the words of Linux."""


class Library(NamedTuple):
    """A library that fits, and the manifest of its entries."""

    path: Path
    line: dict[str, Any]
    manifest: dict[str, Any]


class Choice(NamedTuple):
    """The library to take, or why there is none; an empty reason where nothing was built, or nothing was wished."""

    library: Library | None
    reason: str


def stamp_of(sources: Sequence[str], package: Path = PACKAGE) -> str:
    """Return the digest of some files of the package, by their places in it; of one that is missing, too."""
    digest, folder = hashlib.sha256(f"{FORMAT}".encode()), str(package)
    for name in sources:
        try:
            with open(f"{folder}/{name}", "rb", buffering=0) as file:  # by the shortest way: every process reads them all
                data = file.read()
        except OSError:
            data = b"missing"
        digest.update(f"{name} {len(data)} ".encode())
        digest.update(data)
    return digest.hexdigest()[:16]


def names_here() -> tuple[str, ...]:
    """Return the names of libraries that this machine could run, the best first."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if sys.byteorder != "little":
        return ()
    if sys.platform == "win32":
        return (f"windows_{machine}.dll",)
    if sys.platform == "darwin":
        return (f"macos_{'arm64' if machine == 'aarch64' else machine}.dylib",)
    if machine == "x86_64":
        return ("exact.so", "linux_x86_64_v3.so", "linux_x86_64.so")
    return (f"linux_{machine}.so",)


@cache
def processor() -> frozenset[str]:
    """Return what the processor has, in the words of Linux; nothing where the system does not say."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    return frozenset(next((line.partition(":")[2].split() for line in text.splitlines() if line.startswith("flags")), []))


def choose(folder: Path = FOLDER, package: Path = PACKAGE) -> Choice:
    """Return the library for this machine and these sources, or why there is none."""
    wish = os.environ.get(WISH, "")
    if wish == "0":
        return Choice(None, "")
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        libraries, sources = dict(manifest["libraries"]), list(manifest["sources"])
        _ = manifest["entries"], manifest["routines"]
    except FileNotFoundError:
        return Choice(None, "")
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Choice(None, f"its manifest cannot be read ({type(error).__name__})")
    stamp, reasons = "", []
    for name in names_here():
        if name not in libraries or (wish not in ("", "1") and name.partition(".")[0] != wish):
            continue
        if not (folder / name).exists():
            reasons.append(f"{name} is missing")
            continue
        marks = marks_of([*(f"{package}/{source}" for source in sources), f"{folder / MANIFEST}", f"{folder / name}"])
        known = bool(marks) and _seen(folder) == f"{name} {marks}"
        stamp = stamp or ("" if known else stamp_of(sources, package))
        reason = _fault(folder / name, libraries[name], "" if known else stamp)
        if not reason:
            if marks and not known:
                _note(folder, f"{name} {marks}")
            return Choice(Library(folder / name, libraries[name], manifest), "")
        reasons.append(f"{name} {reason}")
    return Choice(None, "; ".join(reasons) or f"it has no library for {sys.platform} on {platform.machine()}")


def marks_of(files: Sequence[str]) -> str:
    """Return the digest of sizes and times of change of files; nothing where one is missing, or was changed a moment ago."""
    newest, marks = 0, []
    for file in files:
        try:
            found = os.stat(file)  # noqa: PTH116  by the shortest way
        except OSError:
            return ""
        newest = max(newest, found.st_mtime_ns)
        marks.append((file, found.st_size, found.st_mtime_ns))
    return hashlib.sha256(repr(marks).encode()).hexdigest() if newest < time.time_ns() - SETTLED else ""


def _seen(folder: Path) -> str:
    """Return the note of what was read; nothing if there is none."""
    try:
        return (folder / SEEN).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _note(folder: Path, text: str) -> None:
    """Write the note of what was read, at once; leave it where the folder cannot be written to."""
    new = folder / f"{SEEN}.{os.getpid()}"
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(folder / SEEN)
    except OSError:
        return


def _fault(path: Path, line: dict[str, Any], stamp: str) -> str:
    """Return why a library does not fit; nothing if it does.  stamp: of the sources; empty where they and the library were read before"""
    if line.get("format") != FORMAT:
        return f"has format {line.get('format')}, and this is {FORMAT}"
    if stamp and line.get("stamp") != stamp:
        return "was built of other sources"
    if not set(line.get("needs", ())) <= processor():
        return "was built for another processor"
    if not stamp:
        return ""
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if len(data) != line.get("size") or hashlib.sha256(data).hexdigest() != line.get("sha256"):
        return "is damaged"
    return ""
