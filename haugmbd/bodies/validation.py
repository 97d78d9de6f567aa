"""Reading values that a user gives. The functions return an array of the required shape, and record bad values as a `Fault`.

A bad value is stored as NaN. A faulty object is therefore still an object, and all faults are reported at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.errors import Fault, UsageError

FloatArray = npt.NDArray[np.float64]


FEW = 16
"""A loop over so many numbers takes less time than one call of NumPy."""


def frozen(array: npt.ArrayLike) -> FloatArray:
    """Return a read-only float copy of `array`."""
    copy = np.array(array, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def are_finite(array: FloatArray) -> bool:
    """Return whether all numbers of an array are finite."""
    return all(map(math.isfinite, array.ravel().tolist())) if array.size <= FEW else bool(np.isfinite(array).all())


SHARED: dict[tuple[tuple[int, ...], bytes], FloatArray] = {}
MOST_SHARED = 1024
"""The small arrays that bodies and joints share, and their largest number."""


def shared(array: npt.ArrayLike) -> FloatArray:
    """Return a read-only float copy of `array`, and the same one again for equal numbers: equal parts share what nobody writes to."""
    copy = frozen(array)
    key = copy.shape, copy.tobytes()
    known = SHARED.get(key)
    if known is None:
        if len(SHARED) >= MOST_SHARED:
            SHARED.clear()
        known = SHARED[key] = copy
    return known


def read_only(array: FloatArray) -> FloatArray:
    """Return the numbers of `array` as an array that cannot be written to; nothing is copied."""
    view = array.view()
    view.flags.writeable = False
    return view


def for_kernels(array: FloatArray) -> FloatArray:
    """Return the numbers of `array` as one contiguous, writable array; a copy only if `array` is not such an array.

    Kernels have one array type, so that they are compiled once. They do not write to arrays of states.
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
    """Return whether `value`, a masked array or a list that contains one, has masked entries."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.is_masked(value))
    return isinstance(value, list | tuple) and any(masked(part) for part in value)


def need_unmasked(what: str, value: Any) -> None:
    """Raise UsageError if `value` has masked entries; NumPy would use the numbers under the mask."""
    if masked(value):
        raise UsageError(f"{what} has masked values. Give finite numbers, such as {what}.filled(...) or {what}.compressed().")


def numbers(value: Any) -> FloatArray | None:
    """Return `value` as a float array of any shape; None if it is not made of real numbers, as text and masked values are not."""
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
    """Return `value` as a finite array of one of `shapes`; if it is not one, NaN of the first shape, and append a fault.

    Parameters
    ----------
    faults : list of Fault
        The list that a fault is appended to.
    where, label : str
        "body 'crank'" and "r", for the text of the fault.
    value : array_like
        The value that the user gave.
    shapes : tuple of int
        The shapes that are accepted.
    unit, remedy : str
        For the text of the fault.

    Returns
    -------
    ndarray
        Read-only.
    """
    if type(value) in (tuple, list) and (len(value),) in shapes and all(map(_is_plain, value)):
        return frozen(value)
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape in shapes and are_finite(value):
        return frozen(value)
    wanted = " or ".join(str(shape) for shape in shapes)
    remedy = remedy or f"Give {label} as finite numbers{f' [{unit}]' if unit else ''} of shape {wanted}."
    array = numbers(value)
    if array is None:
        faults.append(Fault(where, f"{label} is {_short(value)}, not an array of numbers", remedy))
    elif array.shape not in shapes:
        faults.append(Fault(where, f"{label} has shape {array.shape}, expected {wanted}", remedy))
    elif not are_finite(array):
        faults.append(Fault(where, f"{label} = {array.tolist()} is not finite", remedy))
    else:
        return frozen(array)
    return frozen(np.full(shapes[0], np.nan))


EXACT = 2**53


def _is_plain(x: Any) -> bool:
    """Return whether x is a finite float of Python, or a whole number that a float can have."""
    return math.isfinite(x) if type(x) is float else type(x) is int and -EXACT < x < EXACT


def read_number(faults: list[Fault], where: str, label: str, value: Any, *, unit: str = "", remedy: str = "") -> float:
    """Return `value` as one finite number; if it is not one, NaN, and append a fault."""
    if _is_plain(value):
        return float(value)
    remedy = remedy or f"Give {label} as one finite number{f' [{unit}]' if unit else ''}."
    array = numbers(value)
    if array is None or array.shape != ():
        faults.append(Fault(where, f"{label} is {_short(value)}, not a number", remedy))
        return math.nan
    if not np.isfinite(array):
        faults.append(Fault(where, f"{label} is {float(array)}, not finite", remedy))
        return math.nan
    return float(array)


def read_flag(faults: list[Fault], where: str, label: str, value: Any) -> bool:
    """Return `value` as True or False; if it is neither, False, and append a fault."""
    if isinstance(value, bool | np.bool):
        return bool(value)
    faults.append(Fault(where, f"{label} is {_short(value)}, neither True nor False", f"Give {label}=True or {label}=False."))
    return False


def _short(value: Any) -> str:
    """Return the text of a value, cut at 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
