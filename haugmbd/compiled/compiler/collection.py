"""A pause of Python's garbage collector, while many objects are made that all stay: it would visit each of them again and again.

After the pause these objects are treated as old ones, which only a full collection visits. Otherwise the next collection of young
objects would visit all of them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the garbage collector; it continues afterwards if it was on before."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            _let_grow_old()
            gc.enable()


_aside: list[bool] = [False]
"""Whether objects are set aside at present."""
_left_alone: list[bool] = [False]
"""Whether the user has set objects aside, which a full collection must not give back. They are counted once, which takes long."""


def _let_grow_old() -> None:
    """Set all objects aside until the next full collection, unless the user has set some aside for good."""
    if _left_alone[0]:
        return
    if _give_back not in gc.callbacks:
        gc.callbacks.append(_give_back)
    _left_alone[0] = not _aside[0] and gc.get_freeze_count() > 0
    if not _left_alone[0]:
        _aside[0] = True
        gc.freeze()


def _give_back(phase: str, collection: dict[str, int]) -> None:
    """Give the objects back to the collector when a full collection begins; Python calls this before each collection."""
    if phase == "start" and collection["generation"] == 2 and _aside[0]:
        _aside[0] = False
        gc.unfreeze()
