"""The progress of a sweep with the expected time: tqdm if it is installed, otherwise one line every ten percent through `logging`."""

from __future__ import annotations

import logging
import time
from typing import Any

LOG = logging.getLogger("haugmbd")


class SweepProgress:
    """A progress bar: `done()` after each cell, `close()` at the end.

    total: number of cells, None if it is not known;  known: those that are in the store.
    """

    def __init__(self, shown: bool, total: int | None, known: int) -> None:
        self._shown, self._total, self._known = shown, total, known
        self._begun, self._ended, self._failed, self._said = time.perf_counter(), 0, 0, 0
        self._bar = _tqdm(total, known) if shown else None

    def done(self, good: bool) -> None:
        """Count one more cell."""
        self._ended += 1
        self._failed += not good
        if self._bar is not None:
            self._bar.update(1)
            if not good:
                self._bar.set_postfix_str(f"{self._failed} not ok")
        elif self._shown:
            self._say()

    def _say(self) -> None:
        """Write a line if another tenth of the cells has ended."""
        now = self._known + self._ended
        tenth = now if self._total is None else 10 * now // self._total
        if tenth > self._said:
            self._said = tenth
            LOG.warning("%s", self.line())

    def line(self) -> str:
        """Return the state of the sweep: 40 of 100 cells, 3 not ok, 12 s to go."""
        now = self._known + self._ended
        if self._total is None:
            return f"{now} cells, {self._failed} not ok"
        return f"{now} of {self._total} cells, {self._failed} not ok, {self.expected():.3g} s to go"

    def expected(self) -> float:
        """Return the expected time to the end [s], from the mean time of the cells that ended in this process."""
        if self._total is None or not self._ended:
            return float("nan")
        return (time.perf_counter() - self._begun) / self._ended * (self._total - self._known - self._ended)

    def close(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def _tqdm(total: int | None, known: int) -> Any:
    """Return a bar, None where tqdm is not installed."""
    try:
        from tqdm import tqdm  # noqa: PLC0415  only where a bar is shown
    except ImportError:
        return None
    return tqdm(total=total, initial=known, unit="cell")
