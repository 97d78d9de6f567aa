r"""Three-vectors as plain tuples, for use inside kernels (no allocation, and the formulas read like the book).

A vector is a tuple (x, y, z); matrices are (n, 3, 3) arrays of which one is chosen by its number.
"""

from __future__ import annotations

from typing import TypeAlias

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.subscripts import unsigned

Vec: TypeAlias = tuple[float, float, float]


@kernel
def load(table: Array, row: int, first: int) -> Vec:
    """Return the three numbers of `table[row]` that start at column `first`."""
    k, c = unsigned(row), unsigned(first)
    return (table[k, c], table[k, unsigned(first + 1)], table[k, unsigned(first + 2)])


@kernel
def store(table: Array, row: int, first: int, a: Vec) -> None:
    """Write `a` to `table[row]` from column `first`."""
    k, c = unsigned(row), unsigned(first)
    table[k, c] = a[0]
    table[k, unsigned(first + 1)] = a[1]
    table[k, unsigned(first + 2)] = a[2]


@kernel
def add(a: Vec, b: Vec) -> Vec:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a: Vec, b: Vec) -> Vec:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(c: float, a: Vec) -> Vec:
    """c a."""
    return (c * a[0], c * a[1], c * a[2])


@kernel
def dot(a: Vec, b: Vec) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vec, b: Vec) -> Vec:
    """a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def to_global(A: Array, k: int, a_bar: Vec) -> Vec:
    """A_k a_bar: from the frame of body k to the global frame."""
    (x, y, z), n = a_bar, unsigned(k)
    return (
        A[n, 0, 0] * x + A[n, 0, 1] * y + A[n, 0, 2] * z,
        A[n, 1, 0] * x + A[n, 1, 1] * y + A[n, 1, 2] * z,
        A[n, 2, 0] * x + A[n, 2, 1] * y + A[n, 2, 2] * z,
    )


@kernel
def to_body(A: Array, k: int, a: Vec) -> Vec:
    """A_k^T a: from the global frame to the frame of body k."""
    (x, y, z), n = a, unsigned(k)
    return (
        A[n, 0, 0] * x + A[n, 1, 0] * y + A[n, 2, 0] * z,
        A[n, 0, 1] * x + A[n, 1, 1] * y + A[n, 2, 1] * z,
        A[n, 0, 2] * x + A[n, 1, 2] * y + A[n, 2, 2] * z,
    )
