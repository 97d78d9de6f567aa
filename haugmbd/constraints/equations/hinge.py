r"""The five rows of a revolute joint at once: three CD along x, y, z, and two DP1, all between the same bodies and equal to zero.

    Phi   = ( d_ij,  a . c,  b . c )                                      d_ij = r_j + s_j - r_i - s_i
    Phi_r = ( 1, 0, 0 ) on body j and -1 on body i
    PiBar = ( s_i~ A_i, (a x c)^T A_i, (b x c)^T A_i ) on body i          ( -s_j~ A_j, -(a x c)^T A_j, -(b x c)^T A_j ) on body j
    nu    = 0
    gamma = ( s_i'' - s_j'',  -(a'' . c + 2 a' . c' + a . c''),  -(b'' . c + 2 b' . c' + b . c'') )

The rows are those of `cd` and `dp1`; together they cost about a third. Rows of other joints, and driven ones, are written one by one.
Source: Haug (2021), spatial kinematics: revolute joint.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.constraints.base import Motion, RowTable, centripetal, distance, put_level, rate, value
from haugmbd.math.vec3 import Vec, cross, dot, scale, store, sub, to_body

SLOT, SIDE, POINT_I, POINT_J, A_I, C_J, B_I, C_J_AGAIN = range(8)
"""Columns of HINGES: the first slot, and the side of body i; the points; the vectors of the first and of the second DP1."""
COLUMNS = 8


@inlined
def assemble_hinges(hinges: Ints, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all hinges."""
    put_hinge_rows(hinges, m, rows.J)
    measure_hinges(hinges, m, rows)


@inlined
def put_hinge_rows(hinges: Ints, m: Motion, J: Array) -> None:
    """Fill the rows of all hinges in J; the state is not read."""
    for k in range(hinges.shape[0]):
        slot, side, point_i, point_j = hinges[k, SLOT], hinges[k, SIDE], hinges[k, POINT_I], hinges[k, POINT_J]
        i, j = m.body_of[point_i], m.body_of[point_j]
        put_coincidence(J, slot, side, m.A, i, value(m, point_i), -1.0)
        put_coincidence(J, slot, 1 - side, m.A, j, value(m, point_j), 1.0)
        put_normal(J, m, slot + 3, side, hinges[k, A_I], hinges[k, C_J])
        put_normal(J, m, slot + 4, side, hinges[k, B_I], hinges[k, C_J_AGAIN])


@inlined
def measure_hinges(hinges: Ints, m: Motion, rows: RowTable) -> None:
    """Write Phi, nu and gamma of all hinges, and leave their rows in J as they are."""
    for k in range(hinges.shape[0]):
        slot, point_i, point_j = hinges[k, SLOT], hinges[k, POINT_I], hinges[k, POINT_J]
        d, gamma = distance(m, point_i, point_j), sub(centripetal(m, point_i), centripetal(m, point_j))
        for a in range(3):
            put_level(rows, slot + a, d[a], 0.0, gamma[a])
        put_dot_product(rows, m, slot + 3, hinges[k, A_I], hinges[k, C_J])
        put_dot_product(rows, m, slot + 4, hinges[k, B_I], hinges[k, C_J_AGAIN])


@inlined
def put_coincidence(J: Array, slot: int, side: int, A: Array, k: int, s: Vec, sign: float) -> None:
    """Write three rows on one body:  sign (1, -s~ A)."""
    x, y, z = sign * s[0], sign * s[1], sign * s[2]
    for a in range(3):
        for c in range(3):
            J[slot + a, side, c] = sign if a == c else 0.0
        J[slot, side, 3 + a] = z * A[k, 1, a] - y * A[k, 2, a]
        J[slot + 1, side, 3 + a] = x * A[k, 2, a] - z * A[k, 0, a]
        J[slot + 2, side, 3 + a] = y * A[k, 0, a] - x * A[k, 1, a]


@inlined
def put_normal(J: Array, m: Motion, slot: int, side: int, a: int, c: int) -> None:
    """Write the gradient of a . c of two markers."""
    moment = cross(value(m, a), value(m, c))
    for n in range(3):
        J[slot, 0, n] = J[slot, 1, n] = 0.0
    store(J[slot], side, 3, to_body(m.A, m.body_of[a], moment))
    store(J[slot], 1 - side, 3, to_body(m.A, m.body_of[c], scale(-1.0, moment)))


@inlined
def put_dot_product(rows: RowTable, m: Motion, slot: int, a: int, c: int) -> None:
    """Write the levels of a . c = 0."""
    a_i, c_j = value(m, a), value(m, c)
    gamma = -(dot(centripetal(m, a), c_j) + 2.0 * dot(rate(m, a), rate(m, c)) + dot(a_i, centripetal(m, c)))
    put_level(rows, slot, dot(a_i, c_j), 0.0, gamma)
