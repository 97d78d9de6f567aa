"""The decorators of compiled functions: every compiled function of haugmbd passes through `kernel` or `entry`.

Kernels take numbers and arrays, never objects. An `entry` is a kernel that Python calls, a `routine` one that is called by address
only; both are cached on disk. Three things differ from a bare `numba.njit`:

* `fastmath={"contract"}` lets a*b + c become one fused multiply-add (one rounding less); nothing is reordered, NaN stays NaN.
* References are not counted: kernels borrow the arrays that they read, and allocate none. A `counted` one may allocate. Compilation and
  small models are faster.
* A cached kernel is bound to the text of all files that its own file imports (`cache_stamp`); Numba considers its own file only.
  The cache tolerates damaged files and missing folders (`code_cache`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from haugmbd.compiled.compiler.code_cache import keep_on_disk
from haugmbd.compiled.compiler.linked_kernels import DeferredKernel, EntryCompiler

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "_nrt": False}


def kernel(function: Function) -> Function:
    """Compile `function` with Numba where an entry needs it; it becomes part of that entry's machine code."""
    return _linked(function, OPTIONS)


def inlined_kernel(function: Function) -> Function:
    """Compile a kernel that LLVM copies into every caller: for short ones whose arguments and results are many numbers.

    LLVM's own choice is to call those that a module contains more than once, and all numbers then pass through memory.
    """
    return _linked(function, {**OPTIONS, "forceinline": True})


def counted(function: Function) -> Function:
    """Compile a kernel in which Numba counts references: one that returns a view, or allocates an array."""
    return _linked(function, {**OPTIONS, "_nrt": True})


def _linked(function: Function, options: dict[str, Any]) -> Function:
    """Return a function that its callers contain; the plain function if the compiler is switched off."""
    return function if numba.config.DISABLE_JIT else DeferredKernel(function, options)  # type: ignore[return-value]


def inlined(function: Function) -> Function:
    """Inline `function` in its callers, before LLVM: for the level between leaf kernels and entries.

    LLVM optimises the whole of a callee again with each caller, so that every level of plain kernels adds to the compilation time.
    """
    return numba.njit(inline="always", **OPTIONS)(function)  # type: ignore[no-any-return]


def entry(function: Function) -> Function:
    """Compile `function`, which Python calls, and keep the machine code on disk."""
    return keep_on_disk(numba.njit(pipeline_class=EntryCompiler, **OPTIONS)(function))  # type: ignore[no-any-return]


def counted_entry(function: Function) -> Function:
    """Return an entry in which Numba counts references: one that makes an array."""
    return keep_on_disk(numba.njit(pipeline_class=EntryCompiler, **{**OPTIONS, "_nrt": True})(function))  # type: ignore[no-any-return]


def routine(function: Function) -> Function:
    """Compile `function`, which only a `Routine` passes to others; the interface for calls from Python is not compiled."""
    return keep_on_disk(numba.njit(pipeline_class=EntryCompiler, no_cpython_wrapper=True, **OPTIONS)(function))  # type: ignore[no-any-return]


class DirectCall:
    """An entry with one signature, whose machine code is entered without Numba's search for the signature, which takes 5 us."""

    def __init__(self, compiled: Any) -> None:
        self._compiled, self._enter = compiled, None

    def __call__(self, *arguments: Any) -> Any:
        """Call the entry; arguments must have the types of the first call."""
        if self._enter is not None:
            return self._enter(*arguments)
        result = self._compiled(*arguments)
        overloads = list(getattr(self._compiled, "overloads", {}).values())
        if len(overloads) == 1:
            self._enter = overloads[0].entry_point
        return result
