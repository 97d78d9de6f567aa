"""Reading what a user gives: always an array of the asked shape comes back, and what is wrong becomes a `Fault`.

A value that cannot be used is stored as NaN, so that a faulty object is still an object and all faults are reported at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.errors import Fault

FloatArray = npt.NDArray[np.float64]


def frozen(array: npt.ArrayLike) -> FloatArray:
    """Return a read-only float copy of `array`."""
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def numbers(value: Any) -> FloatArray | None:
    """Return `value` as a float array of any shape, or None where it is not made of real numbers (text is not)."""
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "iuf" and not (raw.dtype.kind == "O" and all(isinstance(x, int | float) for x in raw.flat)):
            return None
        return np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def read_array(
    faults: list[Fault], where: str, label: str, value: Any, *shapes: tuple[int, ...], unit: str = "", remedy: str = ""
) -> FloatArray:
    """Read `value` as a finite array of one of `shapes`; NaN of the first shape, and a fault in `faults`, where it is not.

    Parameters
    ----------
    faults: the list that a fault is appended to
    where, label: "body 'crank'" and "r", for the text of the fault
    value: what the user gave
    shapes: the shapes that are accepted
    unit, remedy: for the text of the fault
    """
    wanted = " or ".join(str(shape) for shape in shapes)
    remedy = remedy or f"Give {label} as finite numbers{f' [{unit}]' if unit else ''} of shape {wanted}."
    array = numbers(value)
    if array is None:
        faults.append(Fault(where, f"{label} is {_short(value)}, not an array of numbers", remedy))
    elif array.shape not in shapes:
        faults.append(Fault(where, f"{label} has shape {array.shape}, expected {wanted}", remedy))
    elif not np.isfinite(array).all():
        faults.append(Fault(where, f"{label} = {array.tolist()} is not finite", remedy))
    else:
        return frozen(array)
    return frozen(np.full(shapes[0], np.nan))


def read_number(faults: list[Fault], where: str, label: str, value: Any, *, unit: str = "", remedy: str = "") -> float:
    """Read `value` as one finite number; NaN, and a fault in `faults`, where it is not."""
    remedy = remedy or f"Give {label} as one finite number{f' [{unit}]' if unit else ''}."
    array = numbers(value)
    if array is None or array.shape != ():
        faults.append(Fault(where, f"{label} is {_short(value)}, not a number", remedy))
        return math.nan
    if not np.isfinite(array):
        faults.append(Fault(where, f"{label} is {float(array)}, not finite", remedy))
        return math.nan
    return float(array)


def _short(value: Any) -> str:
    """The text of a value, cut at 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
