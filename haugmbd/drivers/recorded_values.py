r"""What a recorded function of time has read: a tape holds the values of that moment, and a later change has no effect on it.

    lambda t: gain[0] * np.sin(w * t)            reads 'gain', an array that can change, and 'w', a number

Functions of the state and of blocks are called at each evaluation, and read what is there then. Therefore a function that reads something
that can change is reported when it is recorded, and a value that has changed since is reported by each run.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from haugmbd.content_digest import NoContent, digest_of, of_library, values_read

COLLECTIONS = (list, dict, set, bytearray, collections.deque, types.SimpleNamespace)
FIXED = (bool, int, float, complex, str, bytes, type(None), type, types.ModuleType, types.BuiltinFunctionType, np.ufunc, np.generic)
"""Types whose objects cannot change, or are the same for everybody."""

Recorded = tuple[tuple[str, Any], ...]
"""Names, and for each a value that cannot change, or the digest of what it was."""


class Digest(str):
    """The digest of a value, in its place; empty for one that cannot be digested."""

    __slots__ = ()


def recorded_values(functions: tuple[Any, ...]) -> Recorded:
    """Return what functions read at this moment, by name."""
    return tuple((name, _kept(value)) for name, value in _read_by(functions).items())


def names_that_can_change(functions: tuple[Any, ...]) -> tuple[str, ...]:
    """Return what functions read and can change without being bound anew, as texts: 'gain' (ndarray)."""
    return tuple(f"{name!r} ({type(value).__name__})" for name, value in _read_by(functions).items() if _can_change(value))


def changed_values(functions: tuple[Any, ...], recorded: Recorded) -> tuple[str, ...]:
    """Return what has changed since functions were recorded, as texts."""
    if not recorded:
        return ()
    now = _read_by(functions)
    return tuple(
        f"{name!r}{'' if isinstance(before, Digest) else f' (was {before!r:.40}, is {now[name]!r:.40})'}"
        for name, before in recorded
        if name in now and not _is_same(before, now[name])
    )


def _kept(value: Any) -> Any:
    """Return a value that cannot change as it is, and a digest of any other."""
    if isinstance(value, FIXED):
        return value
    try:
        return Digest(digest_of(value))
    except NoContent:
        return Digest("")


def _is_same(before: Any, value: Any) -> bool:
    if before is value:
        return True
    if not isinstance(before, Digest):
        return type(before) is type(value) and bool(before == value or (before != before and value != value))  # noqa: PLR0124  NaN
    try:
        return before == "" or before == digest_of(value)
    except NoContent:
        return True


def _can_change(value: Any) -> bool:
    """Return whether a value can change: a collection, an array that can be written to, an object of the user's class."""
    if isinstance(value, np.ndarray):
        return bool(value.flags.writeable)
    if isinstance(value, tuple):
        return any(map(_can_change, value))
    if isinstance(value, COLLECTIONS):
        return True
    if isinstance(value, (*FIXED, enum.Enum, types.FunctionType, functools.partial, frozenset)) or not hasattr(value, "__dict__"):
        return False
    options: Any = getattr(type(value), "__dataclass_params__", None)
    return not (options is not None and options.frozen) and not of_library(type(value).__module__)


def _read_by(functions: tuple[Any, ...]) -> dict[str, Any]:
    """Return the values by name; functions of the user that these call are read through, and are no values themselves."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    begun = [("", part) for function in functions for part in _parts(function)]
    while begun:
        prefix, function = begun.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for name, value in _values_of(function):
            called = list(_parts(value)) if callable(value) and not isinstance(value, type) else []
            begun += [(f"{prefix}{name}.", part) for part in called if isinstance(part, types.FunctionType)]
            if not isinstance(value, types.FunctionType | types.ModuleType | types.BuiltinFunctionType | type | np.ufunc):
                found.setdefault(f"{prefix}{name}", value)
    return found


def _values_of(function: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(function, types.FunctionType):
        yield from values_read(function).items()
    else:
        yield "self", function


def _parts(function: Any) -> Iterator[Any]:
    """Yield the Python functions that a call of `function` runs, and the object whose method or call it is."""
    inner = getattr(function, "py_func", None)
    if isinstance(function, types.FunctionType):
        yield function
    elif isinstance(inner, types.FunctionType):
        yield inner
    elif isinstance(function, types.MethodType):
        yield from (function.__func__, function.__self__)
    elif isinstance(function, functools.partial):
        yield from _parts(function.func)
        yield from (x for x in (*function.args, *function.keywords.values()) if not isinstance(x, FIXED))
    elif dataclasses.is_dataclass(function) and callable(vector := getattr(function, "f", None)):  # one number of a vector function
        yield from _parts(vector)
    elif isinstance(getattr(type(function), "__call__", None), types.FunctionType):  # noqa: B004  its code is read
        yield from (type(function).__call__, function)
