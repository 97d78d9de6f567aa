r"""Matrices inside a flat array, at no cost: `borrow(buffer, start, rows, columns)` in compiled code.

A slice and `reshape` make Numba count references and call a library function, for each of the many views of a right-hand side.
The borrowed view is a pointer and a shape.  It must not outlive its buffer: kernels never return one to Python.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from haugmbd.compiled.numba_names import COMPILES, PLAIN, intrinsic, ir, types

if COMPILES:
    from llvmlite.ir.instructions import ExtractValue, InsertValue  # type: ignore[import-untyped]

OWNER, PARENT, SIZE, ITEM_SIZE, DATA, SHAPE, STRIDES = range(7)
"""Parts of an array, as Numba arranges them."""


def part(builder: Any, whole: Any, k: int) -> Any:
    """Return part k of an LLVM aggregate: the value that was written there, where it is known."""
    known = _known(whole, k)
    return builder.extract_value(whole, k) if known is None else known


def _known(whole: Any, k: int) -> Any:
    """Return the value that was written to part k; None if it is not known."""
    while isinstance(whole, InsertValue):
        before, value = whole.operands
        if whole.indices[0] == k:
            return _origin(value) if len(whole.indices) == 1 else None
        whole = before
    origin = _origin(whole)
    return None if origin is whole else _known(origin, k)


def _origin(value: Any) -> Any:
    """Return the value that a part of an aggregate is a copy of; any other value as it is."""
    if isinstance(value, ExtractValue) and len(value.indices) == 1:
        known = _known(value.aggregate, value.indices[0])
        return value if known is None else known
    return value


def array_value(builder: Any, llvm_type: Any, parts: dict[int, Any]) -> Any:
    """Return an array of its parts; those that are not given are zero."""
    value = ir.Constant(llvm_type, None)
    for k, one in parts.items():
        value = builder.insert_value(value, one, k)
    return value


def tuple_value(builder: Any, values: Sequence[Any]) -> Any:
    """Return an LLVM array of values of one type."""
    whole = ir.Constant(ir.ArrayType(values[0].type, len(values)), ir.Undefined)
    for k, one in enumerate(values):
        whole = builder.insert_value(whole, one, k)
    return whole


def product(builder: Any, factors: Sequence[Any]) -> Any:
    """Return the product of integers; constants are multiplied here."""
    numbers = [one.constant for one in factors if isinstance(one, ir.Constant)]
    constant = reduce(operator.mul, numbers, 1)
    others = [one for one in factors if not isinstance(one, ir.Constant)]
    if not others:
        return factors[0].type(constant) if factors else ir.IntType(64)(1)
    whole = reduce(builder.mul, others)
    return whole if constant == 1 else builder.mul(whole, whole.type(constant))


def _plain_view(buffer: Any, start: int, *shape: int) -> Any:
    """Return the view by NumPy if the compiler is switched off."""
    size = 1
    for n in shape:
        size *= n
    return buffer.reshape(-1)[start : start + size].reshape(shape)


def lower_view(context: Any, builder: Any, array_type: Any, data: Any, shape: list[Any]) -> Any:
    """Return the LLVM value of a C-contiguous array of `array_type` over the memory at `data`, of a shape of LLVM integers."""
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(array_type.dtype)))
    strides = [item]
    for n in reversed(shape[1:]):
        strides.insert(0, product(builder, [strides[0], n]))
    parts = {
        SIZE: product(builder, shape),
        ITEM_SIZE: item,
        DATA: data,
        SHAPE: tuple_value(builder, shape),
        STRIDES: tuple_value(builder, strides),
    }
    return array_value(builder, context.get_value_type(array_type), parts)


def _lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return an array of the signature's type from (buffer, start, shape ...)."""
    data = part(builder, arguments[0], DATA)
    return lower_view(context, builder, signature.return_type, builder.gep(data, [arguments[1]]), list(arguments[2:]))


def _typed(buffer: Any, dimensions: int) -> Any:
    """Return the signature: intp for start and shape, an array of the buffer's numbers as result."""
    array = types.Array(buffer.dtype, dimensions, "C")
    return array(buffer, *([types.intp] * (dimensions + 1)))


if PLAIN:
    borrow: Any = _plain_view
    borrow_blocks: Any = _plain_view
    borrow_line: Any = _plain_view
else:

    @intrinsic  # type: ignore[untyped-decorator]
    def borrow_line(typing: Any, buffer: Any, start: Any, size: Any) -> Any:
        """Return (size,) numbers of `buffer` from `start`."""
        return _typed(buffer, 1), _lower

    @intrinsic  # type: ignore[untyped-decorator]
    def borrow(typing: Any, buffer: Any, start: Any, rows: Any, columns: Any) -> Any:
        """Return a (rows, columns) matrix in `buffer` from `start`."""
        return _typed(buffer, 2), _lower

    @intrinsic  # type: ignore[untyped-decorator]
    def borrow_blocks(typing: Any, buffer: Any, start: Any, n: Any, rows: Any, columns: Any) -> Any:
        """Return (n, rows, columns) matrices in `buffer` from `start`."""
        return _typed(buffer, 3), _lower
