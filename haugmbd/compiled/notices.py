"""What is said where compilation, or another program, takes time; of compilation once a process.

HAUGMBD_QUIET=1 silences it, or the level of the logger "haugmbd".
"""

from __future__ import annotations

import logging
import os
import warnings
from pathlib import Path

LOGGER = logging.getLogger("haugmbd")
QUIET = "HAUGMBD_QUIET"
NO_FOLDER = "there is no folder to keep compiled code in (neither beside haugmbd nor in the user's cache)"

_said: set[str] = set()
"""Messages that this process has already sent."""


def announce(folder: Path) -> None:
    """Announce once that compilation takes time, and where its result is kept."""
    if "compiling" not in _said and os.environ.get(QUIET, "") in ("", "0"):
        LOGGER.warning(
            "haugmbd: compiling what has not run on this machine before (about 10 s for a first simulation); kept in %s", folder
        )
    _said.add("compiling")


def note_engine(why: str) -> None:
    """Say once that there is an engine which is not taken."""
    if "engine" not in _said and os.environ.get(QUIET, "") in ("", "0"):
        LOGGER.warning("haugmbd: the engine is not used: %s; code is compiled just in time. `make engine` builds it again.", why)
    _said.add("engine")


def note_wait(what: str, seconds: float) -> None:
    """Say that something takes time, before it does."""
    if os.environ.get(QUIET, "") in ("", "0"):
        LOGGER.warning("haugmbd: %s, which takes about %.1g s", what, seconds)


def note_plain(name: str) -> None:
    """Say once of an entry that it runs as plain Python."""
    if name not in _said:
        _said.add(name)
        LOGGER.info("haugmbd: %s runs as plain Python, which is slow; HAUGMBD_ENGINE=0 compiles it by Numba", name)


def warn_uncached(what: str) -> None:
    """Warn once that every process compiles anew."""
    if "uncached" not in _said:
        _said.add("uncached")
        warnings.warn(
            f"{what}: every new process compiles again, about 10 s. Set NUMBA_CACHE_DIR to a folder that can be written to.",
            RuntimeWarning,
            stacklevel=2,
        )
