"""Dense kernels of one front: a symmetric matrix F (n, n), of which the upper triangle is used, row by row.

    F = U^T d^-1 U     row i of U is stored unscaled: d_i on the diagonal, then d_i L_ji for the rows j that follow

Four pivots at a time update two rows each: every number that is loaded takes part in eight multiply-adds.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.engine_layer import use_blas
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.numba_names import COMPILES, PLAIN, cgutils, intrinsic, ir, make_array, types

BLAS_FROM, LEAST_PANEL, BLOCK = 64, 8, 64
"""Rows behind a panel, and pivots of it, from which BLAS updates them; rows of a block, of which it updates more than the triangle."""

PANEL, STRIP = 32, 128
"""Pivots of a panel, and columns that it is applied to at a time: together they fit into the first-level cache."""


@kernel
def clear_upper(F: Array) -> None:
    """Set the upper triangle to zero."""
    n = F.shape[0]
    for i in range(n):
        row = F[i]
        for j in range(i, n):
            row[j] = 0.0


@kernel
def eliminate(F: Array, d_inv: Array, first: int, end: int, panel: Array) -> None:
    """Eliminate the pivots `first` to `end` of F, and write their inverses to d_inv.

    panel: work array of PANEL rows, as long as those of F
    """
    n = F.shape[0]
    p = first
    while p < end:
        q = min(end, p + PANEL)
        # the pivots of a panel among themselves
        factor_rows(F, d_inv, p, q)
        # the rows behind the panel:  F <- F - U_p^T d^-1 U_p, by BLAS where it is large
        if n - q >= BLAS_FROM and q - p >= LEAST_PANEL:
            update_by_blas(F, d_inv, p, q, panel)
        else:
            strip = q
            while strip < n:
                update_strip(F, d_inv, p, q, strip, min(n, strip + STRIP))
                strip += STRIP
        p = q


@kernel
def factor_rows(F: Array, d_inv: Array, p: int, q: int) -> None:
    """Eliminate the pivots p to q from one another's rows, over all columns."""
    n, c = F.shape[0], p
    while c < q:
        b = min(4, q - c)
        for a in range(c, c + b):
            row = F[a]
            for m in range(c, a):
                above, part = F[m], F[m, a] * d_inv[m]
                for j in range(a, n):
                    row[j] -= part * above[j]
            d_inv[a] = 1.0 / row[a]
        i = c + b
        if b == 4:
            while i + 1 < q:
                update_two_rows(F, d_inv, c, i, i, n)
                i += 2
        while i < q:
            for m in range(c, c + b):
                update_row(F, d_inv, m, i, i, n)
            i += 1
        c += b


@kernel
def update_by_blas(F: Array, d_inv: Array, p: int, q: int, panel: Array) -> None:
    """Subtract the part of the pivots p to q from the rows behind them, in blocks of rows."""
    n = F.shape[0]
    r = n - q
    for a in range(p, q):
        source, target = F[a], borrow_line(panel, (a - p) * r, r)
        for j in range(r):
            target[j] = source[q + j] * d_inv[a]
    j = q
    while j < n:
        subtract_product(F, p, j, j, n - j, panel, j - q, min(BLOCK, n - j), q - p)
        j += BLOCK


@kernel
def update_strip(F: Array, d_inv: Array, p: int, q: int, first: int, end: int) -> None:
    """Subtract the part of the pivots p to q from the columns `first` to `end` of the rows behind them."""
    i = q
    while i + 1 < end:
        c = p
        while c + 3 < q:
            update_two_rows(F, d_inv, c, i, max(i, first), end)
            c += 4
        while c < q:
            update_row(F, d_inv, c, i, max(i, first), end)
            update_row(F, d_inv, c, i + 1, max(i + 1, first), end)
            c += 1
        i += 2
    if i < end:
        for c in range(p, q):
            update_row(F, d_inv, c, i, max(i, first), end)


@kernel
def update_two_rows(F: Array, d_inv: Array, c: int, i: int, first: int, end: int) -> None:
    """Subtract the part of the pivots c to c + 3 from the columns `first` to `end` of the rows i and i + 1."""
    r0, r1, r2, r3, s, t = F[c], F[c + 1], F[c + 2], F[c + 3], F[i], F[i + 1]
    a0, a1, a2, a3 = r0[i] * d_inv[c], r1[i] * d_inv[c + 1], r2[i] * d_inv[c + 2], r3[i] * d_inv[c + 3]
    b0, b1, b2, b3 = r0[i + 1] * d_inv[c], r1[i + 1] * d_inv[c + 1], r2[i + 1] * d_inv[c + 2], r3[i + 1] * d_inv[c + 3]
    for j in range(first, end):
        x0, x1, x2, x3 = r0[j], r1[j], r2[j], r3[j]
        s[j] -= (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
        t[j] -= (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)


@kernel
def update_row(F: Array, d_inv: Array, c: int, i: int, first: int, end: int) -> None:
    """Subtract the part of pivot c from the columns `first` to `end` of row i."""
    above, row = F[c], F[i]
    part = above[i] * d_inv[c]
    for j in range(first, end):
        row[j] -= part * above[j]


@kernel
def extend_add(C: Array, runs: Ints, first: int, end: int, F: Array) -> None:
    """Add the update C of a child to F: its rows are in F by runs (first row in C, first row in F, length)."""
    for u in range(first, end):
        for a in range(runs[u, 2]):
            i = runs[u, 0] + a
            source, target = C[i], F[runs[u, 1] + a]
            for v in range(u, end):
                start, shift = runs[v, 0], runs[v, 1] - runs[v, 0]
                stop = start + runs[v, 2]
                if v == u:
                    start = i
                for j in range(start, stop):
                    target[shift + j] += source[j]


@kernel
def forward_rows(P: Array, d_inv: Array, z: Array) -> None:
    """Eliminate the pivots of P (k, n) from z (n,); the first k become d^-1 L^-1 z."""
    k, n = P.shape
    i = 0
    while i + 1 < k:
        r0, r1 = P[i], P[i + 1]
        g0 = z[i] * d_inv[i]
        g1 = (z[i + 1] - g0 * r0[i + 1]) * d_inv[i + 1]
        z[i], z[i + 1] = g0, g1
        for j in range(i + 2, n):
            z[j] -= g0 * r0[j] + g1 * r1[j]
        i += 2
    if i < k:
        row = P[i]
        g0 = z[i] * d_inv[i]
        z[i] = g0
        for j in range(i + 1, n):
            z[j] -= g0 * row[j]


@kernel
def backward_rows(P: Array, d_inv: Array, z: Array) -> None:
    """Substitute the rows behind the pivots of P (k, n) in z (n,)."""
    k, n = P.shape
    for i in range(k - 1, -1, -1):
        row = P[i]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        j = i + 1
        while j + 3 < n:
            s0 += row[j] * z[j]
            s1 += row[j + 1] * z[j + 1]
            s2 += row[j + 2] * z[j + 2]
            s3 += row[j + 3] * z[j + 3]
            j += 4
        while j < n:
            s0 += row[j] * z[j]
            j += 1
        z[i] -= ((s0 + s1) + (s2 + s3)) * d_inv[i]


# The matrix product of BLAS for compiled code: SciPy's dgemm, linked by name, so that kernels with it can be kept on disk.

SYMBOL = "haugmbd_dgemm"


@cache
def link_blas() -> int:
    """Make the address of SciPy's dgemm known to the linker, before code with it is compiled or loaded from disk; return it."""
    if not COMPILES:
        return use_blas()
    import scipy.linalg.cython_blas  # noqa: F401, PLC0415  SciPy's BLAS takes time to load, and few models need it
    from llvmlite.binding import add_symbol  # type: ignore[import-untyped]  # noqa: PLC0415
    from numba.extending import get_cython_function_address  # noqa: PLC0415

    address = int(get_cython_function_address("scipy.linalg.cython_blas", "dgemm"))
    add_symbol(SYMBOL, address)
    return address


DGEMM = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * 13))


def _call_blas(*arguments: int) -> None:
    """Call SciPy's dgemm for code that was linked before it was loaded: by way of Python, with the same numbers."""
    DGEMM(link_blas())(*arguments)


BEFORE_BLAS = DGEMM(_call_blas)
"""What code finds by the name until SciPy's BLAS is linked: LLVM ends the process where a name has no address."""
if COMPILES:
    from llvmlite.binding import add_symbol

    add_symbol(SYMBOL, int(ctypes.cast(BEFORE_BLAS, ctypes.c_void_p).value or 0))


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


subtract_product: Any = _plain_product if PLAIN else intrinsic(_typed)
"""subtract_product(F, p, i, j, m, B, b, width, k):  F[i : i + width, j : j + m] -= C F[p : p + k, j : j + m]

C (width, k) are columns of a panel B of k rows that are n - p - k numbers long, for F (n, n): C[c, a] = B[b + a (n - p - k) + c].
"""
