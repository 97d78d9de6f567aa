r"""Derivatives by differences, and how far a given derivative is from them.

    f'(0) = (4/5 (f_1 - f_-1) - 1/5 (f_2 - f_-2) + 4/105 (f_3 - f_-3) - 1/280 (f_4 - f_-4)) / h + O(h^8),   f_k = f(k h)

No step fits all functions: several are tried, and the nearest difference counts, entry by entry. The rounding of f is taken off.
Source: Fornberg, Math. Comp. 51 (1988) 699-706.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array

OFFSETS = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEPS = (1e-2, 1e-3, 1e-4, 1e-5)
"""Relative to the scale of the argument."""
SHORT_STEPS = (1e-1, 1e-2)
"""Of functions of time that change faster, times the rate at which they change."""
ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Rounding of f relative to its size: some dozen products; a difference divides it by the step."""
ALLOWED = 1e-6
"""Largest relative error that passes: truncation and rounding stay below 1e-9, a wrong term is of size 1."""


class DerivativeGap(NamedTuple):
    """Entry by entry: the error of a derivative after rounding is taken off, and the difference that is nearest to it."""

    error: Array
    nearest: Array


def rate_of(F: Array) -> float:
    """Return the rate [1/s] at which a function of time changes, from f, f' and f'' at some times, (n, 3)."""
    f_dot, f_ddot = np.nanmax(np.abs(F[:, 1:]), axis=0, initial=0.0)
    return float(f_ddot / f_dot) if f_dot > 0.0 else 0.0


def steps_at(rate: float) -> tuple[float, ...]:
    """Return steps in time for functions that change at a rate [1/s]."""
    return (*STEPS, *(step / rate for step in SHORT_STEPS if step < rate * STEPS[-1]))


def gap_of(given: Array, f: Callable[[float], Array], scale: float = 1.0, steps: tuple[float, ...] = STEPS) -> DerivativeGap:
    """Return how far the given derivative of f at 0 is from differences; scale: the size of the argument of f."""
    error, nearest = np.full(given.shape, np.inf), np.full(given.shape, np.nan)
    for step in steps:
        h = scale * step
        values = np.array([f(h * k) for k in OFFSETS])
        slope = np.tensordot(WEIGHTS, values, axes=1) / h
        left = np.maximum(np.abs(slope - given) - ROUNDING * np.abs(values).max(axis=0) / h, 0.0)
        better = left < error
        error[better], nearest[better] = left[better], slope[better]
        if not error.any():  # nothing but rounding is left
            break
    return DerivativeGap(np.where(np.isinf(error), np.nan, error), nearest)
