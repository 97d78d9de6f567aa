"""What a parameter and a result of a sweep may be, and their exact text.

A parameter is a number, a string, True, False, None, or a tuple of these; a result is a number. NumPy's numbers become Python's, so that
one value has one text. JSON writes a float with as many digits as it takes to read the same float again; NaN and infinities as words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

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
