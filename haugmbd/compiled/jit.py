"""The way to the compiler: every compiled function of haugmbd passes through `kernel` or `entry`.

Kernels take numbers and arrays, never objects; an `entry` is a kernel that Python calls, a `function_pointers` one that is called
by address only;
both are cached on disk.  Three things differ from a bare `numba.njit`:

* `fastmath={"contract"}` lets a*b + c become one fused multiply-add (one rounding less); nothing is reordered, NaN stays NaN.
* No references are counted: kernels borrow what they read, and make nothing.  A `counted` one may.  It takes a tenth off every compilation,
  and a third off a step of a small model.
* A cached kernel is bound to the text of all files that its own file imports (`cache_stamp`); Numba looks at its own file only.
  The cache bears damaged files and missing folders (`code_cache`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from haugmbd.compiled.code_cache import keep_on_disk

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "_nrt": False}


def kernel(function: Function) -> Function:
    """Compile `function` with Numba where an entry needs it; it becomes part of that entry's machine code."""
    return numba.njit(no_cfunc_wrapper=True, **OPTIONS)(function)  # type: ignore[no-any-return]


def counted(function: Function) -> Function:
    """A kernel in which Numba counts references: one that returns a view, or makes an array."""
    return numba.njit(no_cfunc_wrapper=True, **{**OPTIONS, "_nrt": True})(function)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Write `function` out in whoever calls it, before LLVM: for the storey between leaf kernels and entries.

    LLVM optimises the whole of a callee again with each caller: every storey of plain kernels would cost its seconds once more.
    """
    return numba.njit(inline="always", **OPTIONS)(function)  # type: ignore[no-any-return]


def entry(function: Function) -> Function:
    """Compile `function`, which Python calls, and keep the machine code on disk."""
    return keep_on_disk(numba.njit(**OPTIONS)(function))  # type: ignore[no-any-return]


def routine(function: Function) -> Function:
    """The same for a function that only a `Routine` hands to others: what Python would call it by is not compiled (0.1 s each)."""
    return keep_on_disk(numba.njit(no_cpython_wrapper=True, **OPTIONS)(function))  # type: ignore[no-any-return]
