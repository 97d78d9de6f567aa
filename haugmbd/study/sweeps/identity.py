"""What a study is, the key of a cell, and what its parameters and results may be.

study = (build, run, method, seed, version, haugmbd's version, names of the parameters)         key = SHA-256 of study and cell

A function is its name, its code, and the values of all that it reads besides its arguments, at any depth (`content_digest`): two studies
whose functions differ in one of these values are two studies. What is read is kept by name, so that a store of another study says what
differs. A value that cannot be compared is refused, unless `version=` stands for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from haugmbd.content_digest import (
    DIGITS,
    PYTHON,
    NoContent,
    code_digest,
    digest_of,
    text_of_value,
    values_read,
)
from haugmbd.errors import UsageError
from haugmbd.study.sweeps.variants import Variants

READS = " reads"
"""What `build` and `run` read is kept under "build reads" and "run reads"."""
TEXT = "text"
"""The name of the digest of the code itself among these."""


def digest(text: str) -> str:
    """Return the digest of a text."""
    return digest_of(text)


def study_identity(
    build: Callable[..., Any],
    run: Callable[..., Any],
    method: Any,
    seed: int | None,
    version: str,
    library: str,
    names: list[str],
    who: str = "sweep",
) -> dict[str, Any]:
    """Return the identity of a study, as texts: two studies with the same identity may share a store.

    who: the function that asks for it.
    Raise UsageError if `build`, `run` or `method` holds something that cannot be compared, and there is no version that stands for it.
    """
    vouched = bool(version)
    found: dict[str, Any] = {}
    for name, given in (("build", build), ("run", run), ("method", method)):
        if given is None:
            found |= {name: None, f"{name}{READS}": {}}
            continue
        try:
            found |= {name: describe(given, vouched=vouched), f"{name}{READS}": values_of(given, vouched=vouched)}
        except NoContent as error:
            raise UsageError(
                f"{who}: {name} reads {error}, which cannot be compared with that of another call: the store could return rows of "
                'another study. Give version="1" with this store, and another version whenever that changes; or make it inside of '
                f"{name}, from numbers."
            ) from None
    return {**found, "python": PYTHON, "seed": seed, "version": version, "haugmbd": library, "parameters": sorted(names)}


def cell_key(identity: Mapping[str, Any], cell: Mapping[str, Value]) -> str:
    """Return the key of a cell of a study: it depends on nothing else, in particular not on the order or the other cells."""
    return digest(text_of([identity, cell]))


def cell_seed(seed: int, cell: Mapping[str, Value]) -> int:
    """Return the seed of a cell, a number of 63 bits, from the seed of the study and the cell."""
    return int(digest(text_of([seed, cell])), 16) >> (4 * DIGITS - 63)


def describe(given: Any, *, vouched: bool = False) -> str:
    """Return the name of a function, method, partial or callable object, and the digest of its code and of all that it reads.

    Raise NoContent, with its place, for a value that cannot be compared, unless it is vouched for.
    """
    return f"{_name(given)} {digest(text_of(values_of(given, vouched=vouched)))}"


def values_of(given: Any, *, vouched: bool = False) -> dict[str, str]:
    """Return the code of a function and what it reads, by name, as texts that differ where the values do."""
    return {name: _text(name, x, vouched) for name, x in sorted(_values(given).items())}


def rounded_values(build: Any, run: Any) -> dict[str, str]:
    """Return digests of what `build` and `run` read, by name: another process that imports them must find the same values."""
    found: dict[str, str] = {}
    for what, given in (("build", build), ("run", run)):
        if not is_imported(given):  # it was sent by its content, with all that it reads
            continue
        for name, x in _values(given).items():
            with contextlib.suppress(NoContent):
                found[f"{name!r}, which {what} reads"] = digest_of(x, rounded=True, vouched=True)
    return found


def is_imported(given: Any) -> bool:
    """Return whether a function is the one that its module has under its name, as it is where another process has imported it."""
    found: Any = sys.modules.get(getattr(given, "__module__", None) or "")
    for part in str(getattr(given, "__qualname__", "<locals>")).split("."):
        found = getattr(found, part, None)
    return inspect.isfunction(given) and found is given


def _name(given: Any) -> str:
    """Return module and name of a function or class, the class of an object; the main script has one name in all processes."""
    if isinstance(given, functools.partial):
        return f"partial({_name(given.func)})"
    if isinstance(given, Variants):
        return "Model"
    if dataclasses.is_dataclass(given) and not isinstance(given, type) and not callable(given) and " at 0x" not in repr(given):
        return repr(given)
    is_function = inspect.isroutine(given) or inspect.isclass(given)
    known = given if is_function else type(given)
    name = f"{getattr(known, '__module__', '')}.{getattr(known, '__qualname__', repr(type(known)))}".replace(
        "__mp_main__", "__main__"
    )
    return name if is_function or not callable(given) else f"call of {name}"


def _values(given: Any) -> dict[str, Any]:
    """Return the values by name."""
    if isinstance(given, functools.partial):
        named = {f"argument {k}": x for k, x in enumerate(given.args)} | {f"{name}=": x for name, x in given.keywords.items()}
        return named | {"function": given.func, "attributes": vars(given)}
    if isinstance(given, Variants):
        return given.values()
    if inspect.isfunction(given):
        wrapped = {name: x for name, x in vars(given).items() if name != "__wrapped__"}
        return {TEXT: code_digest(given)} | values_read(given) | ({"attributes": wrapped} if wrapped else {})
    if inspect.ismethod(given):
        return {TEXT: code_digest(given), "self": given.__self__, "function": given.__func__}
    return {"value": given}


def _text(name: str, x: Any, vouched: bool) -> str:
    try:
        return text_of_value(x, vouched=vouched)
    except NoContent as error:
        raise error.inside(name) from None


# What a parameter and a result of a sweep may be, and their exact text.
#
# A parameter is a number, a string, True, False, None, or a tuple of these; a result is a number. NumPy's numbers become Python's, so that
# one value has one text. JSON writes a float with as many digits as it takes to read the same float again; NaN and infinities as words.

Value = Any
"""int, float, bool, str, None, or a tuple of them."""


def as_value(x: Any) -> Value:
    """Return a parameter's value as plain Python. Raise TypeError, which says what it may be."""
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        x = x.item()
    if isinstance(x, np.ndarray):
        x = tuple(x.tolist())
    if isinstance(x, tuple | list):
        return tuple(as_value(part) for part in x)
    if isinstance(x, float) and math.isnan(x):
        raise TypeError("it is NaN")
    if x is None or isinstance(x, bool | int | float | str):
        return x
    raise TypeError(f"it is a {type(x).__name__}; a value is a number, a string, True, False, None, or a tuple of these")


def as_number(x: Any) -> int | float | bool:
    """Return a result as a plain Python number. Raise TypeError, which says what it is."""
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        x = x.item()
    if isinstance(x, bool | int | float):
        return x
    shape = f" of shape {x.shape}" if isinstance(x, np.ndarray) else ""
    raise TypeError(f"a {type(x).__name__}{shape}, not a number")


def text_of(x: Any) -> str:
    """Return the exact text of values: JSON with sorted names."""
    return json.dumps(x, sort_keys=True, separators=(",", ":"))


def show(cell: Mapping[str, Value]) -> str:
    """Return a cell for people: mass=1.5, length=2."""
    return ", ".join(f"{name}={value!r}" for name, value in cell.items()) or "(no parameters)"
