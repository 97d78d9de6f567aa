r"""The matrix product of BLAS for compiled code: SciPy's dgemm, linked by name, so that kernels with it can be kept on disk."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

SYMBOL = "haugmbd_dgemm"


@cache
def link_blas() -> None:
    """Make the address of SciPy's dgemm known to the linker; needed before code with it is compiled or loaded from disk."""
    import llvmlite.binding  # type: ignore[import-untyped]  # noqa: PLC0415  SciPy's BLAS takes time to load, and few models need it
    import scipy.linalg.cython_blas  # noqa: F401, PLC0415
    from numba.extending import get_cython_function_address  # noqa: PLC0415

    llvmlite.binding.add_symbol(SYMBOL, get_cython_function_address("scipy.linalg.cython_blas", "dgemm"))


def _plain_product(F: Any, p: int, i: int, j: int, m: int, B: Any, b: int, width: int, k: int) -> None:
    """Subtract the product if the compiler is switched off."""
    F[i : i + width, j : j + m] -= _columns(B, b, width, k, F.shape[0] - p - k) @ F[p : p + k, j : j + m]


def _columns(B: Any, b: int, width: int, k: int, stride: int) -> Any:
    """Return (width, k): the columns of a panel of k rows, `stride` numbers apart."""
    line = B.reshape(-1)
    return line[[[b + a * stride + c for a in range(k)] for c in range(width)]]


def _typed(typing: Any, F: Any, p: Any, i: Any, j: Any, m: Any, B: Any, b: Any, width: Any, k: Any) -> Any:
    """Return the signature of the product, and its code."""
    return types.void(F, *([types.intp] * 4), B, *([types.intp] * 3)), _lower


def _lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Call dgemm with the transposed matrices, which are stored by columns."""
    F, p, i, j, m, B, b, width, k = arguments
    front = make_array(signature.args[0])(context, builder, F)
    panel = make_array(signature.args[5])(context, builder, B)
    n = cgutils.unpack_tuple(builder, front.shape)[0]
    stride = builder.sub(builder.sub(n, p), k)

    def number(value: Any, kind: Any) -> Any:
        return cgutils.alloca_once_value(builder, builder.trunc(value, kind) if kind == ir.IntType(32) else value)

    def entry(row: Any, column: Any) -> Any:
        return builder.gep(front.data, [builder.add(builder.mul(row, n), column)])

    short, letter, real = ir.IntType(32), ir.IntType(8), ir.DoubleType()
    plain, transposed = (number(ir.Constant(letter, ord(x)), letter) for x in "NT")
    minus, one = (number(ir.Constant(real, x), real) for x in (-1.0, 1.0))
    columns, rows, depth, step, panel_step = (number(x, short) for x in (m, width, k, n, stride))
    given = [
        plain, transposed, columns, rows, depth, minus, entry(p, j), step, builder.gep(panel.data, [b]), panel_step, one, entry(i, j), step,
    ]  # fmt: skip
    pointer = ir.PointerType(letter)
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [pointer] * len(given)), SYMBOL)
    builder.call(function, [builder.bitcast(x, pointer) for x in given])
    return context.get_dummy_value()


subtract_product: Any = _plain_product if numba.config.DISABLE_JIT else intrinsic(_typed)
"""subtract_product(F, p, i, j, m, B, b, width, k):  F[i : i + width, j : j + m] -= C F[p : p + k, j : j + m]

C (width, k) are columns of a panel B of k rows that are n - p - k numbers long, for F (n, n): C[c, a] = B[b + a (n - p - k) + c].
"""
