r"""The names of signals that a function reads: the texts in its code, and in the functions and values that it refers to.

    lambda t, x, signals: -2.0 * signals["pin.angle"]              reads "pin.angle"

Texts that name no signal are ignored. A name that a function puts together itself is not found here, and must be declared: inputs=(...).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from haugmbd.forces.user_function import plain_function


def texts_of(function: Callable[..., Any]) -> set[str]:
    """Return all texts that a function may use as names."""
    return set(_texts(function, set()))


def _texts(given: Any, seen: set[int]) -> Iterator[str]:
    """Yield the texts in a value, or in the code of a function and in what it refers to."""
    if isinstance(given, str):
        yield given
        return
    if id(given) in seen:
        return
    seen.add(id(given))
    if isinstance(given, CodeType):
        for constant in given.co_consts:
            yield from _texts(constant, seen)
    elif isinstance(given, tuple | list | frozenset | set):
        for part in given:
            yield from _texts(part, seen)
    elif isinstance(given, dict):
        for key, part in given.items():
            yield from _texts(key, seen)
            yield from _texts(part, seen)
    elif isinstance(given, functools.partial):
        for part in (given.func, given.args, given.keywords):
            yield from _texts(part, seen)
    elif callable(given):
        yield from _texts_of_function(given, seen)


def _texts_of_function(function: Any, seen: set[int]) -> Iterator[str]:
    """Yield the texts of a function, of the values in its closure, and of the global names that it uses."""
    plain = plain_function(function)
    plain = getattr(plain, "__func__", plain)
    code = getattr(plain, "__code__", None)
    if code is None:
        call = getattr(type(plain), "__call__", None)  # noqa: B004  its code is read, it is not called
        if getattr(call, "__code__", None) is not None:
            yield from _texts(vars(plain) if hasattr(plain, "__dict__") else (), seen)
            yield from _texts(call, seen)
        return
    yield from _texts(code, seen)
    for cell in plain.__closure__ or ():
        try:
            yield from _texts(cell.cell_contents, seen)
        except ValueError:  # an empty cell
            continue
    for name in code.co_names:
        value = plain.__globals__.get(name)
        if isinstance(value, str | tuple) or getattr(value, "__module__", None) == plain.__module__:
            yield from _texts(value, seen)
