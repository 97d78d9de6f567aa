"""Reading what a user gives: always an array of the asked shape comes back, and what is wrong becomes a `Fault`.

A value that cannot be used is stored as NaN, so that a faulty object is still an object and all faults are reported at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.errors import Fault, UsageError

FloatArray = npt.NDArray[np.float64]


def frozen(array: npt.ArrayLike) -> FloatArray:
    """Return a read-only float copy of `array`."""
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def read_only(array: FloatArray) -> FloatArray:
    """Return the numbers of `array` as an array that cannot be written to; nothing is copied."""
    view = array.view()
    view.flags.writeable = False
    return view


def for_kernels(array: FloatArray) -> FloatArray:
    """Return the numbers of `array` as compiled code takes them, in one piece and writable; a copy only where there is no such array.

    Kernels have one type of array, so that they are compiled once; they write to no array of states.
    """
    base = array.base
    if (
        isinstance(base, np.ndarray)
        and not array.flags.writeable
        and array.flags.c_contiguous
        and base.flags.carray
        and base.dtype == array.dtype == np.float64
        and base.size == array.size
    ):
        return base.reshape(array.shape)
    return np.require(array, np.float64, ("C", "W"))


def masked(value: Any) -> bool:
    """Say whether some numbers of `value`, a masked array or a list with such parts, are masked: they are no numbers to compute with."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.is_masked(value))
    return isinstance(value, list | tuple) and any(masked(part) for part in value)


def need_unmasked(what: str, value: Any) -> None:
    """Raise UsageError where some numbers of `value` are masked; NumPy would go on with what lies below the mask."""
    if masked(value):
        raise UsageError(f"{what} has masked values. Give finite numbers, such as {what}.filled(...) or {what}.compressed().")


def numbers(value: Any) -> FloatArray | None:
    """Return `value` as a float array of any shape, or None where it is not made of real numbers (text and masked values are not)."""
    if masked(value):
        return None
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
