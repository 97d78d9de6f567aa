r"""Numba's names, for all files of the house that tell it something; and nothing in their place where an engine has done its work.

    COMPILES    Numba compiles; otherwise an engine has every entry, and Numba is neither needed nor imported
    PLAIN       decorated functions are plain Python for Python: the compiler is switched off (NUMBA_DISABLE_JIT=1), or there is an engine

What declares types, lowers code or registers something is then said to `Nothing`, which takes it and does nothing.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any, Self

from haugmbd.compiled.engine_library import WISH, Choice, choose
from haugmbd.compiled.notices import note_engine

SWITCHED_OFF = "NUMBA_DISABLE_JIT"
"""Numba's variable of the environment that leaves all functions as they are."""


class Nothing:
    """What stands in place of Numba: it takes every call, attribute and class, and is nothing."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __call__(self, *_: Any, **__: Any) -> Any:
        return Nothing()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __setattr__(self, name: str, value: Any) -> None: ...

    def __ior__(self, other: Any) -> Self:
        return self


def engine_here() -> Choice:
    """Return the engine that fits, or why there is none, with one note where there is one that does not.

    Where Numba is installed it compiles, unless HAUGMBD_ENGINE=1 asks for the engine.
    """
    if os.environ.get(SWITCHED_OFF, "") not in ("", "0"):
        return Choice(None, "")
    if not os.environ.get(WISH, "") and find_spec("numba") is not None:
        return Choice(None, "")
    choice = choose()
    if choice.reason:
        note_engine(choice.reason)
    return choice


ENGINE, REFUSED = engine_here()
"""The engine of this process, and why there is none where one was built."""
COMPILES = ENGINE is None


def names_of_numba() -> tuple[Any, ...]:
    """Return Numba and its names below.  Raise ImportError with the remedy if it is not installed."""
    try:
        import numba as own  # noqa: PLC0415  with an engine it is not needed
    except ImportError as error:
        raise ImportError(
            "haugmbd needs a compiler here, and Numba is not installed: pip install numba. A wheel with an engine for this machine "
            f"needs none{f'; the engine that is here is not used: {REFUSED}' if REFUSED else ''}."
        ) from error
    from llvmlite import ir as llvm  # type: ignore[import-untyped]  # noqa: PLC0415
    from numba.core import cgutils as tools  # noqa: PLC0415
    from numba.core import types as kinds  # noqa: PLC0415
    from numba.extending import intrinsic as lowered  # noqa: PLC0415
    from numba.extending import typeof_impl as typeof  # noqa: PLC0415
    from numba.np.arrayobj import make_array as array  # noqa: PLC0415

    return own, kinds, llvm, tools, lowered, typeof, array


NAMES: tuple[Any, ...] = names_of_numba() if COMPILES else (Nothing(),) * 7
numba, types, ir, cgutils, intrinsic, typeof_impl, make_array = NAMES
OFF = COMPILES and bool(numba.config.DISABLE_JIT)
PLAIN = OFF or not COMPILES


def is_jitted(function: Any) -> bool:
    """Return whether a function is one of numba.njit; a process that has not imported Numba has none."""
    own: Any = sys.modules.get("numba")
    return own is not None and bool(own.extending.is_jitted(function))


def users_numba(what: str) -> Any:
    """Return Numba, for functions that a user has compiled by it.  Raise ImportError with what needs it."""
    try:
        import numba as own  # noqa: PLC0415  where an engine fits, only functions of the user need it
    except ImportError as error:
        raise ImportError(f"{what} needs Numba, which is not installed: pip install numba.") from error
    return own
