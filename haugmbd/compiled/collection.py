"""A pause of Python's garbage collector, while many objects are made that all stay: it would visit each of them again and again.

Imports make two hundred thousand, most of them Numba's; compiling and building long models make more.

After the pause these objects are treated as old ones, which only a full collection visits. Otherwise the next collection of young
objects would visit all of them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

BY_PYTHON = 1000
"""Objects that may be set aside without a wish of the user: Python 3.12 starts with 375. A user sets aside all, some thousands."""


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


_left_alone: list[bool] = [False]
"""Whether the user has set objects aside, which must not be given back. They are counted once, which takes long."""


def _let_grow_old() -> None:
    """Make all objects old ones, unless the user has set some aside for good.

    They are set aside and given back at once, which joins lists. A callback of the collector that gives them back later would be Python
    code that runs at any moment: a Ctrl-C that arrives there is printed, and lost.
    """
    _left_alone[0] = _left_alone[0] or gc.get_freeze_count() > BY_PYTHON
    if not _left_alone[0]:
        gc.freeze()
        gc.unfreeze()
