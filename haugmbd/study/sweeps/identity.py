"""What a study is, and the key of a cell.

study = (build, run, method, seed, version, haugmbd's version, names of the parameters)         key = SHA-256 of study and cell

A function counts by its name and its text: without comments and layout, with its defaults and what it encloses, unless that can change
(a list that counts calls). What it calls elsewhere does not count: `version` is there for that.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import inspect
import pickle
import textwrap
from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import CodeType
from typing import Any

import numpy as np

from haugmbd.study.sweeps.values import Value, text_of
from haugmbd.study.sweeps.variants import Variants

DIGITS = 32
"""Hexadecimal digits of a digest that are kept: 128 bits."""


def digest(text: str) -> str:
    """Return the first digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def study_identity(
    build: Callable[..., Any], run: Callable[..., Any], method: Any, seed: int | None, version: str, library: str, names: list[str]
) -> dict[str, Any]:
    """Return the identity of a study, as texts: two studies with the same identity may share a store."""
    return {
        "build": describe(build),
        "run": describe(run),
        "method": None if method is None else describe_value(method),
        "seed": seed,
        "version": version,
        "haugmbd": library,
        "parameters": sorted(names),
    }


def cell_key(identity: Mapping[str, Any], cell: Mapping[str, Value]) -> str:
    """Return the key of a cell of a study: it depends on nothing else, in particular not on the order or the other cells."""
    return digest(text_of([identity, cell]))


def cell_seed(seed: int, cell: Mapping[str, Value]) -> int:
    """Return the seed of a cell, a number of 63 bits, from the seed of the study and the cell."""
    return int(digest(text_of([seed, cell])), 16) >> (4 * DIGITS - 63)


def describe(function: Any) -> str:
    """Return the name and the digest of the text of a function, partial, method or callable object; of variants that of their model."""
    if isinstance(function, functools.partial):
        given = [describe_value(x) for x in function.args], {k: describe_value(x) for k, x in function.keywords.items()}
        return f"partial({describe(function.func)}, {digest(text_of(given))})"
    if inspect.ismethod(function):
        return f"{describe(function.__func__)} of {describe_value(function.__self__)}"
    if isinstance(function, Variants):
        compiled, called = function.parts()
        return f"Model {compiled[:DIGITS]} {digest(text_of([describe_value(each) for each in called]))}"
    function = inspect.unwrap(function)
    if not inspect.isroutine(function) and not inspect.isclass(function):
        return f"call of {describe_value(function)}"
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', repr(type(function)))}"
    return f"{name.replace('__mp_main__', '__main__')} {digest(text_of(_text(function)))}"


def describe_value(x: Any) -> str:
    """Return a text of an object that is the same in every process, and another one for another object: no address, nothing left out."""
    if callable(x) and (inspect.isroutine(x) or inspect.isclass(x) or isinstance(x, functools.partial)):
        return describe(x)
    if x is None or isinstance(x, bool | int | float | complex | str | bytes | PurePath | np.generic):
        return repr(x)
    if isinstance(x, np.ndarray):
        return f"array {x.dtype} {x.shape} {hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:DIGITS]}"
    if isinstance(x, dict):
        return text_of({describe_value(key): describe_value(value) for key, value in x.items()})
    if isinstance(x, tuple | list | set | frozenset):
        parts = [describe_value(part) for part in x]
        return f"{type(x).__name__} {text_of(sorted(parts) if isinstance(x, set | frozenset) else parts)}"
    if dataclasses.is_dataclass(x):
        parts = [f"{field.name}={describe_value(getattr(x, field.name))}" for field in dataclasses.fields(x)]
        return f"{type(x).__name__}({', '.join(parts)})"
    try:
        return f"{describe(type(x))} {hashlib.sha256(pickle.dumps(x)).hexdigest()[:DIGITS]}"
    except Exception:  # noqa: BLE001  pickling calls methods of the user's objects
        return f"{describe(type(x))} {repr(x) if not repr(x).startswith('<') else ''}"


def _describe_constant(x: Any) -> str:
    """Return the text of a default or an enclosed value; of one that can change its type alone."""
    if isinstance(x, tuple | frozenset):
        return text_of(sorted(map(_describe_constant, x)) if isinstance(x, frozenset) else [_describe_constant(part) for part in x])
    options: Any = getattr(type(x), "__dataclass_params__", None)
    if (
        x is None
        or (options is not None and options.frozen)
        or callable(x)
        or isinstance(x, bool | int | float | complex | str | bytes | PurePath)
    ):
        return describe_value(x)
    return type(x).__qualname__


def _text(function: Any) -> list[Any]:
    """Return the text of a function, its defaults and the values that it encloses."""
    return [
        _source(function),
        [_describe_constant(x) for x in getattr(function, "__defaults__", None) or ()],
        {name: _describe_constant(x) for name, x in (getattr(function, "__kwdefaults__", None) or {}).items()},
        [_enclosed(cell) for cell in getattr(function, "__closure__", None) or ()],
    ]


def _enclosed(cell: Any) -> str:
    """Return the values that a function encloses; "" where it is not bound yet, as in a function that calls itself."""
    try:
        value = cell.cell_contents
    except ValueError:
        return ""
    return str(value.__qualname__) if inspect.isfunction(value) and cell in (value.__closure__ or ()) else _describe_constant(value)


def _source(function: Any) -> Any:
    """Return the text without comments and layout; the instructions where there is no text, or where a line holds several lambdas."""
    code = getattr(function, "__code__", None)
    if code is not None and code.co_name == "<lambda>":
        return _instructions(code)
    try:
        return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function))))
    except (OSError, TypeError, SyntaxError):
        return "" if code is None else _instructions(code)


def _instructions(code: CodeType) -> list[Any]:
    """Return the instructions, names and constants of compiled Python."""
    constants = [_instructions(x) if isinstance(x, CodeType) else repr(x) for x in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), list(code.co_varnames), constants]
