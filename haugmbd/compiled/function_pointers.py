r"""A compiled function that other compiled functions call by its address: compiled once, on its own, when it is first needed.

If a kernel were passed to another kernel as a plain function, the caller would be compiled anew for each. A Routine has one fixed
signature, so that an integrator is compiled once for all formulations, and a right-hand side once for all integrators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba.core.types
import numba.experimental.function_type  # registers WrapperAddressProtocol with Numba

types: Any = numba.core.types
"""Numba's types, which have no annotations."""

I1 = types.Array(types.int64, 1, "C")
F1 = types.Array(types.float64, 1, "C")
F2 = types.Array(types.float64, 2, "C")
F3 = types.Array(types.float64, 3, "C")
I2 = types.Array(types.int64, 2, "C")


class Routine(types.WrapperAddressProtocol):  # type: ignore[misc]
    """An `entry` and its signature; `Routine(None, signature)` is a placeholder that is never called."""

    def __init__(self, function: Callable[..., Any] | None, signature: Any) -> None:
        self._function = function
        self._signature = signature
        self._address = 1

    def signature(self) -> Any:
        """Return the Numba signature."""
        return self._signature

    def __wrapper_address__(self) -> int:
        """Return the address of the machine code; compile it, or load it from disk, at the first call."""
        if self._function is not None and self._address == 1:
            dispatcher: Any = self._function
            dispatcher.compile(self._signature)
            compiled = dispatcher.overloads[self._signature.args]
            self._address = int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))
        return self._address

    def __call__(self, *arguments: Any) -> int:
        """Call the plain Python function, if the compiler is switched off."""
        assert self._function is not None
        return self._function(*arguments)  # type: ignore[no-any-return]


INTERRUPTED = KeyboardInterrupt()
"""Created in advance: while the first exception is pending, nothing can be called, not even its constructor."""


def _guarded(full: Callable[[Any, Any], int], quick: Callable[[Any], int]) -> Callable[..., int]:
    """Return Numba's function for the address of a function argument, with a guard that does not lose Ctrl-C.

    Numba calls it for each function argument at each call from Python. If Ctrl-C came during its creation, the signature is missing:
    the call would fail with a TypeError in place of the KeyboardInterrupt.
    """

    def guarded(function: Any, signature: Any = None) -> int:
        if signature is None:
            raise INTERRUPTED
        return quick(function) if isinstance(function, types.WrapperAddressProtocol) else full(function, signature)

    return guarded


_numba: Any = numba.experimental.function_type
_numba._get_wrapper_address = _guarded(_numba._get_wrapper_address, lambda function: function.__wrapper_address__())
_numba._get_jit_address = _guarded(_numba._get_jit_address, lambda function: 0)


def function_type(signature: Any) -> Any:
    """Return the type of a Routine inside another signature."""
    return types.FunctionType(signature)
