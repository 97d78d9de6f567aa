"""The plain layer of the compiler: Numba's public interface, and nothing else.

    kernel    numba.njit                       compiled when a caller needs it
    entry     numba.njit(cache=True)           called from Python
    address   numba.cfunc(signature, cache=True).address      called by other compiled code

It serves every Numba that has these three.  Machine code runs as fast as that of the fast layer, up to a tenth; compilation takes about
four times as long, and loading twice as long.

Numba's disk cache compares the file of the outermost function only. The folder of the plain layer is therefore named after the text of
the whole package: after any edit, and after an update, everything is compiled again. Files of the fast layer are never in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

from haugmbd.compiled.cache_stamp import PACKAGE, package_stamp
from haugmbd.compiled.layer import DeferredKernel, Layer
from haugmbd.compiled.notices import NO_FOLDER, announce, warn_uncached


def kernel(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a kernel, which its callers contain."""
    return DeferredKernel(function, numba_function, options)


def entry(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function that Python or a `Routine` calls, and whose machine code is kept on disk."""
    return PlainEntry(function, _kept, {name: value for name, value in options.items() if name != "no_cpython_wrapper"})


def machine_code(compiled: Any, signature: Any, variant: str) -> tuple[int, None]:
    """Return the address of an entry for a signature.  Python calls it through Numba's dispatcher, so there is no second way in."""
    return compiled.address_for(signature), None


def direct_call(compiled: Any) -> None:
    """Return None: an entry is called through Numba's dispatcher."""


def inlined(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function that Numba copies into its callers before LLVM."""
    return numba_function(function, inline="always", **options)


def numba_function(function: Callable[..., Any], **options: Any) -> Any:
    """Return Numba's function."""
    return numba.njit(**public(options))(function)


def public(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that Numba's documentation names: all but `_nrt`.  Counting references costs a tenth of the compilation."""
    return {name: value for name, value in options.items() if not name.startswith("_")}


_in_use: list[Any] = []
"""The functions that compiled code calls by their addresses: their machine code lasts as long as the process."""


class PlainEntry(DeferredKernel):
    """An entry: a dispatcher for calls from Python, and one address for each signature by which compiled code calls it."""

    def address_for(self, signature: Any) -> int:
        """Return the address of the machine code for a signature, compiled or loaded now.

        The function gets a name of its own: Numba would otherwise keep both kinds of machine code under one.
        """
        plain: Any = self.py_func
        named = FunctionType(plain.__code__, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__)
        named.__qualname__, named.__module__ = f"{plain.__qualname__}.by_address", plain.__module__
        options = {name: value for name, value in self.options.items() if name != "nogil"}
        compiled = _kept_by(numba.cfunc, named, signature, **options)
        _in_use.append(compiled)
        return int(compiled.address)


def _kept(function: Callable[..., Any], **options: Any) -> Any:
    """Return a function of Python whose machine code is kept on disk."""
    return _kept_by(numba.njit, function, **options)


def _kept_by(decorator: Any, function: Callable[..., Any], *signature: Any, **options: Any) -> Any:
    """Return a decorated function whose machine code is kept in the folder of the plain layer."""
    folder = cache_folder()
    if folder is None:
        warn_uncached(NO_FOLDER)
        return decorator(*signature, **public(options))(function)
    with _numba_keeps_in(folder):
        return decorator(*signature, cache=True, **public(options))(function)


@contextmanager
def _numba_keeps_in(folder: Path) -> Iterator[None]:
    """Let Numba choose this folder for the functions that are decorated now."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@cache
def cache_folder() -> Path | None:
    """Return the folder of compiled code of this version of the package; None if none can be written to.  Announce that it is new."""
    name = f"haugmbd-plain-{package_stamp()}"
    wish = numba.config.CACHE_DIR
    candidates = [Path(wish)] if wish else [PACKAGE / "__pycache__", _user_cache()]
    for parent in candidates:
        folder = parent / name
        if folder.is_dir() and os.access(folder, os.W_OK):
            return folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        announce(folder)
        return folder
    return None


def _user_cache() -> Path:
    """Return the user's folder of caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "haugmbd"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "haugmbd"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "haugmbd"


PLAIN = Layer("plain", kernel, inlined, entry, machine_code, direct_call)
