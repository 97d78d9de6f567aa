"""Arrays that grow while a run continues."""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.model.memory import GIGA
from haugmbd.simulation.stepping.state_memory import full, need_memory_to_grow

GROWTH, FEWEST = 1.125, 512
"""Factor by which a full array grows in place, and numbers by which it grows at least, so that short batches do not grow it each time."""


class Growing:
    """An array to which rows are appended in place. Joining pieces at the end would need twice the memory."""

    def __init__(self, width: int) -> None:
        self._array = np.empty((0, width))
        self._n = 0
        self._given = False

    def append(self, more: Array) -> None:
        """Append rows (k, width), or (k,) if the width is 1. Raise SimulationError if the memory is full."""
        if self._given:  # somebody holds the array: it must stay where it is
            self._array, self._given = self._array[: self._n].copy(), False
        end, width = self._n + len(more), self._array.shape[1]
        if end > len(self._array):
            more_rows = FEWEST // max(width, 1) if self._n else 0
            self._grow(max(end, int(GROWTH * len(self._array)), len(self._array) + more_rows))
        self._array[self._n : end] = more.reshape(len(more), width)
        self._n = end

    def _grow(self, rows: int) -> None:
        """Make room for so many rows. Raise SimulationError if the memory has none."""
        stored, width = self._array.nbytes, self._array.shape[1]
        need_memory_to_grow(stored, 8.0 * rows * width - stored)
        try:
            self._array.resize((rows, width), refcheck=False)
        except MemoryError:
            raise full(stored, f"the system gives no {8.0 * rows * width / GIGA:.3g} GB") from None

    def __len__(self) -> int:
        return self._n

    def drop_first(self, n: int) -> None:
        """Forget the first n rows."""
        self._array, self._given = self._array[n : self._n].copy(), False
        self._n = len(self._array)

    def ends_with(self, value: float) -> bool:
        """Return whether the first number of the last row is `value`."""
        return self._n > 0 and float(self._array[self._n - 1, 0]) == value

    def last(self) -> Array:
        """Return the last row, (width,), a copy."""
        row: Array = self._array[self._n - 1].copy()
        return row

    def put_last(self, row: Array) -> None:
        """Replace the last row."""
        if self._given:
            self._array, self._given = self._array[: self._n].copy(), False
        self._array[self._n - 1] = row

    def rows(self) -> Array:
        """Return all rows (n, width); rows that are appended later go to another array."""
        if not self._given:
            self._array.resize((self._n, self._array.shape[1]), refcheck=False)
            self._given = True
        return self._array
