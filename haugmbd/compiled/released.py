"""Entries that run beside other Python threads: they release Python's global lock while their machine code runs.

The machine code is the same; only its interface for Python differs. Functions of the user that it calls take the lock for themselves.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numba

Entry = TypeVar("Entry")


def released(compiled: Entry) -> Entry:
    """Let an `entry` release the global lock; return it."""
    if not numba.config.DISABLE_JIT:
        dispatcher: Any = compiled
        dispatcher.targetoptions["nogil"] = True
    return compiled
