"""Access to arrays in few LLVM instructions.

For each access Numba writes the array to the stack and reads its parts from there: some forty instructions, which are printed, read,
verified, and removed again.  Here the parts of an array stay values, and a number at constant subscripts takes three instructions.  The
arithmetic, and so the optimised code, is the same.

Contiguous arrays of int64 and float64 and subscripts that are integers only; all else, and code that checks bounds, is Numba's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numba.core.types
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core.imputils import impl_ret_borrowed

from haugmbd.compiled.array_views import (
    DATA,
    ITEM_SIZE,
    OWNER,
    PARENT,
    SHAPE,
    SIZE,
    STRIDES,
    array_value,
    part,
    product,
    tuple_value,
)

types: Any = numba.core.types
"""Numba's types, which have no annotations."""

NUMBERS = (types.int64, types.float64)


def quick_access(context: Any, function: Any, signature: Any) -> Callable[..., Any] | None:
    """Return the code writer of an operation on an array, called as (builder, arguments); None if it is Numba's."""
    key = getattr(function, "typing_key", None)
    if key not in (operator.getitem, operator.setitem) or not _is_plain(signature.args[0]) or context.enable_boundscheck:
        return None
    kinds, n = _subscripts(signature.args[1]), signature.args[0].ndim
    if kinds is None or not 0 < len(kinds) <= n:
        return None
    if key is operator.setitem:
        write = _put if len(kinds) == n and isinstance(signature.args[2], types.Number) else None
    elif len(kinds) == n:
        write = _get
    else:
        write = _view if _is_plain(signature.return_type) else None
    return None if write is None else lambda builder, arguments, loc=None: write(context, builder, signature, arguments)


def quick_attribute(kind: Any, name: str) -> Callable[..., Any] | None:
    """Return the code writer of an attribute, called as (context, builder, kind, value, name); None if it is Numba's."""
    if not _is_plain(kind) or name not in ("shape", "size"):
        return None
    k = SHAPE if name == "shape" else SIZE
    return lambda context, builder, kind, value, name: part(builder, value, k)


def _is_plain(kind: Any) -> bool:
    """Return whether a type is that of a contiguous array of numbers."""
    return type(kind) is types.Array and kind.layout == "C" and kind.aligned and kind.dtype in NUMBERS


def _subscripts(kind: Any) -> tuple[Any, ...] | None:
    """Return the types of subscripts; None if they are not all integers."""
    kinds = tuple(kind.types) if isinstance(kind, types.BaseTuple) else (kind,)
    return kinds if all(isinstance(one, types.Integer) for one in kinds) else None


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the address of the first number at some subscripts."""
    array, kind = arguments[0], signature.args[1]
    n, kinds, shape = signature.args[0].ndim, _subscripts(kind) or (), part(builder, array, SHAPE)
    lengths = [part(builder, shape, k) for k in range(n)]
    in_tuple = isinstance(kind, types.BaseTuple)
    given = [part(builder, arguments[1], k) for k in range(len(kinds))] if in_tuple else [arguments[1]]
    place = None
    for k, (value, one) in enumerate(zip(given, kinds, strict=True)):
        index = _from_start(context, builder, one, value, lengths[k])
        if isinstance(index, ir.Constant) and index.constant == 0:
            continue
        term = product(builder, [index, *lengths[k + 1 :]])
        place = term if place is None else builder.add(place, term)
    data = part(builder, array, DATA)
    return data if place is None else builder.gep(data, [place])


def _from_start(context: Any, builder: Any, kind: Any, value: Any, length: Any) -> Any:
    """Return a subscript that counts from the start; a negative one of a signed type counts from the end."""
    if not kind.signed:
        return context.cast(builder, value, kind, types.uintp)
    index = context.cast(builder, value, kind, types.intp)
    if isinstance(index, ir.Constant) and index.constant >= 0:
        return index
    return builder.select(builder.icmp_signed("<", index, index.type(0)), builder.add(index, length), index)


def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return a number of an array."""
    return builder.load(_address(context, builder, signature, arguments))


def _view(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the part of an array at its first subscripts; where references are counted, it is one to the memory of the array."""
    array, result = arguments[0], signature.return_type
    data, n = _address(context, builder, signature, arguments), signature.args[0].ndim
    shape, strides = (part(builder, array, k) for k in (SHAPE, STRIDES))
    lengths, steps = ([part(builder, whole, k) for k in range(n - result.ndim, n)] for whole in (shape, strides))
    parts = {
        OWNER: part(builder, array, OWNER),
        PARENT: part(builder, array, PARENT),
        SIZE: product(builder, lengths),
        ITEM_SIZE: part(builder, array, ITEM_SIZE),
        DATA: data,
        SHAPE: tuple_value(builder, lengths),
        STRIDES: tuple_value(builder, steps),
    }
    return impl_ret_borrowed(context, builder, result, array_value(builder, context.get_value_type(result), parts))


def _put(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write a number to an array."""
    kind, given = signature.args[0], signature.args[2]
    value = context.cast(builder, arguments[2], given, kind.dtype)
    builder.store(value, _address(context, builder, signature, arguments))
    return context.get_dummy_value()
