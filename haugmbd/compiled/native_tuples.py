"""Named tuples that Python passes to compiled code as one address.

Numba takes a tuple apart at every call from Python: each array and each function is asked for its address, 40 us for a Pack, whatever
the size of the model. A `NativeTuple` is taken apart once: `compiled_form` stores its compiled form in memory, and every later call
reads it from there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from haugmbd.compiled.array_types import Ints
from haugmbd.compiled.function_pointers import types
from haugmbd.compiled.jit import entry


class NativeTuple(types.NamedTuple):  # type: ignore[misc]  # Numba has no types
    """The Numba type of a named tuple whose attribute `address` is the address of its compiled form."""


register_model(NativeTuple)(models.TupleModel)


@unbox(NativeTuple)  # type: ignore[untyped-decorator]
def read(kind: Any, given: Any, c: Any) -> Any:
    """Read the compiled form of a tuple from the address that it names."""
    value_type = c.context.get_value_type(kind)
    result = cgutils.alloca_once_value(c.builder, cgutils.get_null_value(value_type))
    failed = cgutils.alloca_once_value(c.builder, cgutils.true_bit)
    address = c.pyapi.object_getattr_string(given, "address")
    with cgutils.if_likely(c.builder, cgutils.is_not_null(c.builder, address)):
        place = c.pyapi.long_as_voidptr(address)
        c.pyapi.decref(address)
        c.builder.store(c.builder.load(c.builder.bitcast(place, value_type.as_pointer())), result)
        c.builder.store(cgutils.false_bit, failed)
    return NativeValue(c.builder.load(result), is_error=c.builder.load(failed))


@intrinsic  # type: ignore[untyped-decorator]
def _store(typing_context: Any, value: Any, address: Any) -> Any:
    """Store the compiled form of a value at an address."""

    def store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[1], ir.PointerType(arguments[0].type))
        builder.store(arguments[0], place)
        return context.get_dummy_value()

    return types.void(value, address), store


@entry
def store_entry(fields: Any, address: int) -> None:
    """Store the compiled form of a plain named tuple at an address."""
    _store(fields, address)


@cache
def words(kind: Any) -> int:
    """Return the size of the compiled form of a Numba type, in words of eight bytes."""
    context = cpu_target.target_context
    return -(-int(context.get_abi_sizeof(context.get_value_type(kind))) // 8)


def compiled_form(fields: Any) -> Ints:
    """Return the compiled form of a plain named tuple; it is valid while the arrays and functions of the tuple live."""
    form = np.zeros(words(numba.typeof(fields)), dtype=np.int64)
    store_entry(fields, form.ctypes.data)
    return form
