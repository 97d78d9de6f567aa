r"""The tangent of a force, as an implicit step needs it: symmetric 6 x 6 blocks of bodies, and of pairs of them.

    delta Q = -(K delta q + C delta u)           delta q = (dr, dpi_bar) of body i and body j
    K = B^T D B,   D = k e e^T + max(f / l, 0) (1 - e e^T),   C = B^T c e e^T B         B = [-G_i, G_j],   G = [1, -s~ A]
    about an axis h:   K = k g^T g,   C = c g^T g,    g = [0, -A_i^T h, 0, A_j^T h]

Two terms are left out, so that M + c K stays definite: the rotation of the lever under a constant force, and the negative stiffness
of compression. Newton's iteration is then a modified one with the same fixed point. A declared jacobian loses only its skew part:

    force at s_bar      delta F_bar = A^T delta F + F_bar x delta pi_bar      delta Q = (delta F,  s_bar x delta F_bar)      F = A F_bar
    turning with it     delta F = A (delta F_bar + delta pi_bar x F_bar)      delta Q = (delta F,  s_bar x delta F_bar)
    torque n            delta n_bar = A^T delta n + n_bar x delta pi_bar      delta Q = (0, delta n_bar)
Source: Haug (2021), generalized forces; Geradin, Cardona, Flexible Multibody Dynamics, for tangents and their symmetric part.
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.math.vec3 import Vec, cross, to_body


class Tangents(NamedTuple):
    """The blocks that c_K K + c_C C is added to, and the data that the elements read for it.

    own: (nb + 1, 36) blocks of the bodies;  pair_blocks: (n, 36) blocks of the coupled pairs of bodies
    c_K, c_C: the factors of stiffness and damping;  D: the declared jacobians, one after another
    couplings: (nl, 2) pair of each element between two bodies, and where its declared jacobian starts in D; -1 for none
    pairs: (n, 4) bodies i and j of each pair, and two numbers of its block
    jacobian_pairs: (., 7) the pairs of bodies of each StateForce with a jacobian, see `workspace.layout`
    """

    own: Array
    pair_blocks: Array
    c_K: float
    c_C: float
    D: Array
    couplings: Ints
    pairs: Ints
    jacobian_pairs: Ints


@kernel
def lever(A: Array, body: int, e: Vec, s: Vec) -> tuple[Vec, Vec]:
    """Return G^T e = (e, A^T (s x e)): the generalized force of a force along e at the point s (global, from the centre of mass)."""
    return e, to_body(A, body, cross(s, e))


@kernel
def add_outer(T: Array, row: int, c: float, a: Vec, b: Vec, x: Vec, y: Vec) -> None:
    """Add c (a, b) (x, y)^T to T[row], a 6 x 6 block in 36 numbers."""
    left = (c * a[0], c * a[1], c * a[2], c * b[0], c * b[1], c * b[2])
    right = (x[0], x[1], x[2], y[0], y[1], y[2])
    for m in range(6):
        for n in range(6):
            T[row, 6 * m + n] += left[m] * right[n]


@kernel
def add_pair(T: Tangents, k: int, i: int, j: int, c: float, g_i: tuple[Vec, Vec], g_j: tuple[Vec, Vec]) -> None:
    """Add c g^T g, g = (-g_i, g_j), of element k to the blocks of bodies i and j and of their pair (in the order of the pair)."""
    pair = T.couplings[k, 0]
    add_outer(T.own, i, c, g_i[0], g_i[1], g_i[0], g_i[1])
    add_outer(T.own, j, c, g_j[0], g_j[1], g_j[0], g_j[1])
    if pair >= 0:
        if T.pairs[pair, 0] == i:
            add_outer(T.pair_blocks, pair, -c, g_i[0], g_i[1], g_j[0], g_j[1])
        else:
            add_outer(T.pair_blocks, pair, -c, g_j[0], g_j[1], g_i[0], g_i[1])


@inlined
def declared_stiffness(T: Tangents, k: int) -> float:
    """Return c_K df/dl + c_C df/dl' of the actuator of element k (theta for l in an RSDA); 0 if its jacobian is not declared."""
    start = T.couplings[k, 1]
    return T.c_K * T.D[start] + T.c_C * T.D[start + 1] if start >= 0 else 0.0


@kernel
def add_half(own: Array, body: int, row: int, column: int, x: float) -> None:
    """Add the symmetric part of an entry x to the block of a body."""
    own[body, 6 * row + column] += 0.5 * x
    own[body, 6 * column + row] += 0.5 * x


@inlined
def given_column(T: Tangents, start: int, column: int) -> Vec:
    """Return c_K dF/dq + c_C dF/du by coordinate `column` of a body, of a jacobian (3, 12) that starts at `start` in D."""
    a, b = start + column, start + column + 6
    return (
        T.c_K * T.D[a] + T.c_C * T.D[b],
        T.c_K * T.D[a + 12] + T.c_C * T.D[b + 12],
        T.c_K * T.D[a + 24] + T.c_C * T.D[b + 24],
    )


@kernel
def unit(a: int) -> Vec:
    """Return the rotation about axis a of a body, by its number 3, 4, 5; zero for a displacement."""
    return (1.0 if a == 3 else 0.0, 1.0 if a == 4 else 0.0, 1.0 if a == 5 else 0.0)


@kernel
def add_column(own: Array, body: int, column: int, dF: Vec, dn_bar: Vec) -> None:
    """Add the symmetric part of -(dF, dn_bar), the change of the force by coordinate `column`."""
    for a in range(3):
        add_half(own, body, a, column, -dF[a])
        add_half(own, body, 3 + a, column, -dn_bar[a])
