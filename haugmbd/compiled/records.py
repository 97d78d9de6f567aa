"""Records: named numbers that compiled code reads and writes by name, in place of numbered registers.

A class lists the fields; its NumPy dtype is what Numba compiles, and what Python fills:

    class Step:
        h: float

    STEP = record_dtype(Step)       step = new_record(STEP, h=1e-3)        step.h in Python and in kernels alike

In Python the fields are properties: NumPy's own records search for a field at each access, which takes ten times as long.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from haugmbd.compiled.numba_names import numba


def record_dtype(fields: type) -> np.dtype[Any]:
    """Return the dtype of the annotated fields of a class, every one a float."""
    properties = {name: field_property(name) for name in fields.__annotations__}
    scalar = type(fields.__name__, (np.void,), {"__slots__": (), **properties})
    return np.dtype((scalar, np.dtype([(name, np.float64) for name in fields.__annotations__], align=True)))


def field_property(name: str) -> property:
    """Return the property that reads and writes a field of a record."""

    def put(record: Any, value: float) -> None:
        record[name] = value

    return property(itemgetter(name), put)


def record_type(dtype: np.dtype[Any]) -> Any:
    """Return the Numba type of a record."""
    return numba.from_dtype(dtype)


def new_record(dtype: np.dtype[Any], **values: float) -> Any:
    """Return a record with these values, all others zero."""
    record = np.zeros(1, dtype=dtype)[0]
    for name, value in values.items():
        record[name] = value
    return record


def copy_record(record: Any) -> Any:
    """Return a copy of a record; its own method takes three times as long."""
    copy = np.empty(1, dtype=record.dtype)
    copy[0] = record
    return copy[0]
