"""Records: named numbers that compiled code reads and writes by name, in place of numbered registers.

A class lists the fields; its NumPy dtype is what Numba compiles, and what Python fills:

    class Step:
        h: float

    STEP = record_dtype(Step)       step = new_record(STEP, h=1e-3)        step.h in Python and in kernels alike
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


def record_dtype(fields: type) -> np.dtype[Any]:
    """Return the dtype of the annotated fields of a class, every one a float."""
    return np.dtype([(name, np.float64) for name in fields.__annotations__], align=True)


def record_type(dtype: np.dtype[Any]) -> Any:
    """Return the Numba type of a record."""
    return numba.from_dtype(dtype)


def new_record(dtype: np.dtype[Any], **values: float) -> Any:
    """Return a record with these values, all others zero."""
    record = np.zeros(1, dtype=dtype).view(np.recarray)[0]
    for name, value in values.items():
        record[name] = value
    return record
