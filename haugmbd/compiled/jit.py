"""The decorators of compiled functions: every compiled function of haugmbd passes through `kernel` or `entry`.

Kernels take numbers and arrays, never objects. An `entry` is a kernel that Python calls, a `routine` one that is called by address
only; both are cached on disk. Three things differ from a bare `numba.njit`:

* `fastmath={"contract"}` lets a*b + c become one fused multiply-add (one rounding less); nothing is reordered, NaN stays NaN.
* References are not counted: kernels borrow the arrays that they read, and allocate none. A `counted` one may allocate. Compilation and
  small models are faster.
* A cached kernel is bound to the text of all files that it may depend on (`cache_stamp`); Numba considers its own file only.

Behind the decorators is one of two layers of the compiler (`compiled.choice`), and nothing else in the house knows which one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from haugmbd.compiled.choice import chosen_layer
from haugmbd.compiled.numba_names import COMPILES, OFF, users_numba

Function = TypeVar("Function", bound=Callable[..., Any])

LAYER = chosen_layer()
"""The layer of the compiler: nothing but this file asks which one it is."""

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "_nrt": False}


def kernel(function: Function) -> Function:
    """Compile `function` with Numba where an entry needs it; it becomes part of that entry's machine code."""
    return _linked(function, OPTIONS)


def inlined_kernel(function: Function) -> Function:
    """Compile a kernel that LLVM copies into every caller: for short ones whose arguments and results are many numbers.

    LLVM's own choice is to call those that a module contains more than once, and all numbers then pass through memory.
    """
    return _linked(function, {**OPTIONS, "forceinline": True})


def uncontracted(function: Function) -> Function:
    """Compile a kernel that rounds every operation: one whose numbers Python computes as well, to the last bit."""
    return _linked(function, {**OPTIONS, "fastmath": False})


def counted(function: Function) -> Function:
    """Compile a kernel in which Numba counts references: one that returns a view, or allocates an array."""
    return _linked(function, {**OPTIONS, "_nrt": True})


def _linked(function: Function, options: dict[str, Any]) -> Function:
    """Return a function that its callers contain; the plain function if the compiler is switched off."""
    return function if OFF else LAYER.kernel(function, options)


def inlined(function: Function) -> Function:
    """Inline `function` in its callers, before LLVM: for the level between leaf kernels and entries.

    LLVM optimises the whole of a callee again with each caller, so that every level of plain kernels adds to the compilation time.
    """
    return LAYER.inlined(function, OPTIONS)  # type: ignore[no-any-return]


def joined(function: Function) -> Function:
    """Compile a function that is joined to @njit functions of the user: by Numba, also where an engine has all else."""
    if COMPILES:
        return counted(function)
    numba = users_numba("a model with @njit functions")
    return numba.njit(**{name: value for name, value in OPTIONS.items() if not name.startswith("_")})(function)  # type: ignore[no-any-return]


def entry(function: Function) -> Function:
    """Compile `function`, which Python calls, and keep the machine code on disk."""
    return _kept(function, OPTIONS)


def entry_from(template: Function, name: str, sources: str, **constants: Any) -> Function:
    """Return an entry with the text of a template, in which global names stand for other kernels and constants.

    name: of the entry, one for each set of constants;  sources: the module that has given them, whose imports bind the machine code on disk
    Machine code on disk is found by the name.  A closure would serve as well, but Numba tells closures apart by their content, which it
    cannot recognize in another process.
    """
    plain: Any = template
    function: Any = FunctionType(plain.__code__, plain.__globals__ | constants, name)
    function.__qualname__, function.__module__, function.__doc__ = name, plain.__module__, plain.__doc__
    function.sources = sys.modules[sources].__file__
    return entry(function)  # type: ignore[no-any-return]


def counted_entry(function: Function) -> Function:
    """Return an entry in which Numba counts references: one that makes an array."""
    return _kept(function, {**OPTIONS, "_nrt": True})


def routine(function: Function) -> Function:
    """Compile `function`, which only a `Routine` passes to others; the interface for calls from Python is not compiled."""
    return _kept(function, {**OPTIONS, "no_cpython_wrapper": True})


def released(function: Function) -> Function:
    """Return an entry that runs beside other Python threads: it releases Python's global lock while its machine code runs.

    Functions of the user that it calls take the lock for themselves.
    """
    return _kept(function, {**OPTIONS, "nogil": True})


def _kept(function: Function, options: dict[str, Any]) -> Function:
    """Return an entry; the plain function if the compiler is switched off."""
    return function if OFF else LAYER.entry(function, options)


def machine_code(compiled: Any, signature: Any, variant: str = "") -> tuple[int, Callable[..., Any] | None]:
    """Compile or load an entry for a signature; return its address, and the fastest way into it from Python, or None.

    variant: the name of the signature, where an entry has several
    """
    return LAYER.machine_code(compiled, signature, variant)


class DirectCall:
    """An entry with one signature, whose machine code is entered without Numba's search for the signature, where the layer can."""

    def __init__(self, compiled: Any) -> None:
        self._compiled, self._is_asked = compiled, False
        self._enter: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the entry; arguments must have the types of the first call."""
        if self._enter is not None:
            return self._enter(*arguments)
        result = self._compiled(*arguments)
        if not self._is_asked:
            self._is_asked, self._enter = True, None if OFF else LAYER.direct_call(self._compiled)
        return result
