"""Derivatives a second way: eighth-order central differences, in extended precision where the machine has it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

OFFSETS = np.arange(-4, 5)
FIRST = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3], dtype=np.longdouble) / 840
SECOND = np.array([-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9], dtype=np.longdouble) / 5040
STEP = np.longdouble(1) / 512  # truncation 1e-24 of the tenth derivative; rounding 1e-13, and 1e-10 where long double is double


@pytest.fixture
def differences() -> Callable[[Callable[[Any], Any], float], np.ndarray]:
    def jet_by_differences(fn: Callable[[Any], Any], t: float) -> np.ndarray:
        f = np.array([fn(np.longdouble(t) + k * STEP) for k in OFFSETS], dtype=np.longdouble)
        return np.array([f[4], FIRST @ f / STEP, SECOND @ f / STEP**2], dtype=np.float64)

    return jet_by_differences
