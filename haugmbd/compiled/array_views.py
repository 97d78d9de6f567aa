r"""Matrices inside a flat array, at no cost: `borrow(buffer, start, rows, columns)` in compiled code.

A slice and `reshape` make Numba count references and call a library function, for each of the many views of a right-hand side.
The borrowed view is a pointer and a shape.  It must not outlive its buffer: kernels never return one to Python.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import types
from numba.extending import intrinsic

from haugmbd.compiled.compiler.quick_arrays import DATA, ITEM_SIZE, SHAPE, SIZE, STRIDES, array_value, part, product, tuple_value


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


if numba.config.DISABLE_JIT:
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
