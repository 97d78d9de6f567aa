r"""A compiled function that other compiled functions call by its address: compiled once, on its own, when it is first needed.

Handing a kernel to another kernel as a plain function would compile the caller anew for each; a Routine has one fixed signature, so
that an integrator is compiled once for all formulations, and a right-hand side once for all integrators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba.core.types
import numba.experimental.function_type  # registers WrapperAddressProtocol with Numba

types: Any = numba.core.types
"""Numba's types, which carry no annotations of their own."""

I1 = types.Array(types.int64, 1, "C")
F1 = types.Array(types.float64, 1, "C")
F2 = types.Array(types.float64, 2, "C")
F3 = types.Array(types.float64, 3, "C")
I2 = types.Array(types.int64, 2, "C")


class Routine(types.WrapperAddressProtocol):  # type: ignore[misc]
    """An `entry` and its signature; `Routine(None, signature)` stands where nothing will ever be called."""

    def __init__(self, function: Callable[..., Any] | None, signature: Any) -> None:
        self._function = function
        self._signature = signature
        self._address = 1

    def signature(self) -> Any:
        """The Numba signature."""
        return self._signature

    def __wrapper_address__(self) -> int:
        """The address of the machine code; compiles it, or loads it from disk, at the first call (every call asks for a dozen)."""
        if self._function is not None and self._address == 1:
            dispatcher: Any = self._function
            dispatcher.compile(self._signature)
            compiled = dispatcher.overloads[self._signature.args]
            self._address = int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))
        return self._address

    def __call__(self, *arguments: Any) -> int:
        """The plain Python function, where the compiler is switched off."""
        assert self._function is not None
        return self._function(*arguments)  # type: ignore[no-any-return]


INTERRUPTED = KeyboardInterrupt()
"""Made beforehand: nothing can be called, not even to make it, while the first one is pending."""


def _guarded(ask: Callable[[Any, Any], int], quick: Callable[[Any], int]) -> Callable[..., int]:
    """Numba's question for the address of a function argument, which loses no Ctrl-C.

    Numba asks it for each function at each call from Python, and leaves the signature out where Ctrl-C came while it was made: the question
    then failed with a TypeError in place of the KeyboardInterrupt.
    """

    def guarded(function: Any, signature: Any = None) -> int:
        if signature is None:
            raise INTERRUPTED
        return quick(function) if isinstance(function, types.WrapperAddressProtocol) else ask(function, signature)

    return guarded


_numba: Any = numba.experimental.function_type
_numba._get_wrapper_address = _guarded(_numba._get_wrapper_address, lambda function: function.__wrapper_address__())
_numba._get_jit_address = _guarded(_numba._get_jit_address, lambda function: 0)


def function_type(signature: Any) -> Any:
    """The type of a Routine inside another signature."""
    return types.FunctionType(signature)
