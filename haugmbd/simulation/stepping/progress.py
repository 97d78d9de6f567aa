"""A progress bar: tqdm if it is installed, otherwise one line every ten percent through `logging`."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, Self

LOG = logging.getLogger("haugmbd")


class Progress:
    """A progress bar as a context manager: `with Progress(shown, start, stop) as bar: bar.reach(t)`, or `bar.done()` after each part."""

    def __init__(self, shown: bool, start: float, stop: float, unit: str = "s") -> None:
        self._start, self._stop, self._unit, self._said = start, stop, unit, 0
        self._now = start
        self._bar: Any = None
        self._shown = shown

    def __enter__(self) -> Self:
        if self._shown:
            try:
                from tqdm import tqdm  # noqa: PLC0415  only where a bar is shown
            except ImportError:
                return self
            self._bar = tqdm(
                total=self._stop - self._start,
                unit=self._unit,
                bar_format="{l_bar}{bar}| {n:.3g}/{total:.3g} {unit} [{elapsed}{postfix}]",
            )
        return self

    def reach(self, now: float) -> None:
        """Show that `now` has been reached."""
        self._now = now
        if self._bar is not None:
            self._bar.update(now - self._start - self._bar.n)
        elif self._shown:
            tenth = int(10.0 * (now - self._start) / (self._stop - self._start))
            if tenth > self._said:
                self._said = tenth
                LOG.warning("%d %%", 10 * tenth)

    def done(self) -> None:
        """Show that one more part is done."""
        self.reach(self._now + 1)

    def note(self, text: str) -> None:
        """Show a few words behind the bar."""
        if self._bar is not None:
            self._bar.set_postfix_str(text)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
