r"""A compiled function that other compiled functions call by its address: compiled once, on its own, when it is first needed.

If a kernel were passed to another kernel as a plain function, the caller would be compiled anew for each. A Routine has one fixed
signature, so that an integrator is compiled once for all formulations, and a right-hand side once for all integrators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from haugmbd.compiled.jit import machine_code
from haugmbd.compiled.numba_names import COMPILES, OFF, Nothing, cgutils, typeof_impl
from haugmbd.compiled.numba_names import types as types

if COMPILES:
    from numba.core.datamodel.models import ExternalFuncPointerModel
    from numba.extending import NativeValue, register_model, unbox
else:
    ExternalFuncPointerModel = NativeValue = register_model = unbox = Nothing()

I1 = types.Array(types.int64, 1, "C")
F1 = types.Array(types.float64, 1, "C")
F2 = types.Array(types.float64, 2, "C")
F3 = types.Array(types.float64, 3, "C")
I2 = types.Array(types.int64, 2, "C")


class FunctionPointer(types.ExternalFunctionPointer):  # type: ignore[misc]  # Numba has no types
    """The Numba type of everything that compiled code calls by its address: objects with `signature` and `address`.

    A call is one jump. A function of Numba's first-class function type has three addresses, of which each call seeks one.
    """

    def __init__(self, signature: Any) -> None:
        super().__init__(signature, None)

    def __reduce__(self) -> Any:
        """Return the pickled form: the index of the disk cache contains types."""
        return function_type, (self.sig,)


register_model(FunctionPointer)(ExternalFuncPointerModel)


@cache
def function_type(signature: Any) -> Any:
    """Return the type of functions of this signature, inside other signatures."""
    return FunctionPointer(signature)


@unbox(FunctionPointer)  # type: ignore[untyped-decorator]
def read_address(kind: Any, given: Any, c: Any) -> Any:
    """Read the attribute `address` of a Python object; the error of a failed attempt, such as Ctrl-C, is passed on."""
    return read_pointer(given, c.context.get_value_type(kind), c)


def read_pointer(given: Any, pointer_type: Any, c: Any) -> Any:
    """Return the attribute `address` of a Python object as a pointer, for an `unbox`.

    Numba reads all fields of a tuple, also after one that failed: its error, such as a Ctrl-C, must be the one that is raised.
    """
    result = cgutils.alloca_once_value(c.builder, cgutils.get_null_value(pointer_type))
    failed = cgutils.alloca_once_value(c.builder, cgutils.true_bit)
    with cgutils.if_likely(c.builder, cgutils.is_null(c.builder, c.pyapi.err_occurred())):
        address = c.pyapi.object_getattr_string(given, "address")
        with cgutils.if_likely(c.builder, cgutils.is_not_null(c.builder, address)):
            place = c.pyapi.long_as_voidptr(address)
            c.pyapi.decref(address)
            c.builder.store(c.builder.bitcast(place, pointer_type), result)
            c.builder.store(cgutils.false_bit, failed)
    return NativeValue(c.builder.load(result), is_error=c.builder.load(failed))


def has_layout(argument: Any) -> bool:
    """Return whether machine code of a signature takes an argument as it is: contiguous arrays, and tuples that have an address."""
    if isinstance(argument, np.ndarray):
        return argument.flags.c_contiguous
    return not isinstance(argument, tuple) or hasattr(argument, "address")


class Routine:
    """An `entry` and its signature; `Routine(None, signature)` is a placeholder that is never called.

    variant: what tells routines of one function apart, by which an engine knows them
    """

    address: int

    def __init__(self, function: Callable[..., Any] | None, signature: Any, variant: str = "") -> None:
        self._function, self.variant = function, variant
        self._enter: Any = None
        self.signature, self.type = signature, function_type(signature)

    def __getattr__(self, name: str) -> int:
        """Return the address of the machine code, which is compiled, or loaded from disk, when it is first asked for.

        Later it is an attribute as any other: no line of Python runs where compiled code reads it, in which a Ctrl-C could arrive.
        """
        if name != "address":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        self.address = 1 if self._function is None else self._compiled_address()
        return self.address

    def _compiled_address(self) -> int:
        """Compile the function, and return its address."""
        address, self._enter = machine_code(self._function, self.signature, self.variant)
        return address

    def __call__(self, *arguments: Any) -> int:
        """Call the function; once it is compiled without a search for the signature, if all arguments have its types."""
        if self._enter is not None and all(map(has_layout, arguments)):
            return self._enter(*arguments)  # type: ignore[no-any-return]
        assert self._function is not None
        return self._function(*arguments)  # type: ignore[no-any-return]


def resolve(*called: Any) -> None:
    """Let everything have its address that compiled code is about to call: Routines, and tuples of them.

    It is compiled here, and not while compiled code reads its arguments, so that a Ctrl-C is an exception as any other.
    """
    if not OFF:
        for one in called:
            _ = one.address


@typeof_impl.register(Routine)  # type: ignore[untyped-decorator]
def routine_type(routine: Routine, context: Any) -> Any:
    """Return the type of a routine."""
    return routine.type
