r"""The tangent of a force between two bodies, as an implicit step needs it: 6 x 6 blocks, symmetric and positive semi-definite.

    delta Q = -(K delta q + C delta u)           delta q = (dr, dpi_bar) of body i and body j
    K = B^T D B,   D = k e e^T + max(f / l, 0) (1 - e e^T),   C = B^T c e e^T B         B = [-G_i, G_j],   G = [1, -s~ A]
    about an axis h:   K = k g^T g,   C = c g^T g,    g = [0, -A_i^T h, 0, A_j^T h]

What is left out (the turning of the lever under a constant force, compression's negative stiffness) keeps M + c K definite; Newton's
iteration is then a quasi-Newton, and its fixed point is the same.
Source: Haug sec. 11.2 for the forces; Geradin, Cardona, Flexible Multibody Dynamics, for tangents and their symmetric part.
"""

from __future__ import annotations

from haugmbd.algebra.jit import kernel
from haugmbd.algebra.vec3 import Array, Ints, Vec, cross, to_body


@kernel
def lever(A: Array, body: int, e: Vec, s: Vec) -> tuple[Vec, Vec]:
    """G^T e = (e, A^T (s x e)): how a force along e at the point s (global, from the centre of mass) acts on a body."""
    return e, to_body(A, body, cross(s, e))


@kernel
def add_outer(T: Array, row: int, c: float, a: Vec, b: Vec, x: Vec, y: Vec) -> None:
    """T[row] += c (a, b) (x, y)^T, a 6 x 6 block in 36 numbers."""
    left = (c * a[0], c * a[1], c * a[2], c * b[0], c * b[1], c * b[2])
    right = (x[0], x[1], x[2], y[0], y[1], y[2])
    for m in range(6):
        for n in range(6):
            T[row, 6 * m + n] += left[m] * right[n]


@kernel
def add_pair(
    own: Array, tied: Array, ties: Ints, tie: int, i: int, j: int, c: float, g_i: tuple[Vec, Vec], g_j: tuple[Vec, Vec]
) -> None:
    """Add c g^T g, g = (-g_i, g_j), to the blocks of the bodies and of their tie (in the order that the tie has)."""
    add_outer(own, i, c, g_i[0], g_i[1], g_i[0], g_i[1])
    add_outer(own, j, c, g_j[0], g_j[1], g_j[0], g_j[1])
    if tie >= 0:
        if ties[tie, 0] == i:
            add_outer(tied, tie, -c, g_i[0], g_i[1], g_j[0], g_j[1])
        else:
            add_outer(tied, tie, -c, g_j[0], g_j[1], g_i[0], g_i[1])
