r"""DP2: a vector of body i and the vector from a point of body i to a point of body j keep a prescribed dot product.

    Phi   = a_i . d_ij - f(t)                d_ij = r_j + s_j - r_i - s_i
    Phi_r_j = a_i = -Phi_r_i                 PiBar_i = A_i^T (a_i x (d_ij + s_i))        PiBar_j = A_j^T (s_j x a_i)
    nu    = f'
    gamma = f'' - (a_i'' . d_ij + 2 a_i' . d_ij' + a_i . d_ij'')                at v' = 0, omega' = 0

Source: Haug (2021), spatial kinematics: dot-product constraint of a body-fixed vector and d_ij.
"""

from __future__ import annotations

from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import routine
from haugmbd.constraints.base import (
    DRIVER,
    FIRST_MARKER,
    SLOT,
    Motion,
    Primitive,
    RowTable,
    as_vector,
    centripetal,
    distance,
    distance_rate,
    put_level,
    put_row,
    rate,
    value,
    zero_vector_faults,
)
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.math.vec3 import add, cross, dot, sub


@public_class
class DP2(Primitive):
    """Prescribed dot product of a vector of body i and d_ij: a_i . d_ij = f(t). Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The two bodies, or the ground.
    a_bar_i : array_like, (3,)
        The vector on body i, body frame.
    s_bar_i, s_bar_j : array_like, (3,)
        The points on body i and on body j [m], body frames, from the centre of mass.
    f : float, callable, sequence of three callables, or Driver
        The prescribed value f(t) [m, for a unit vector].

    Notes
    -----
    Phi = a_i . d_ij - f(t), with d_ij = r_j + A_j s_bar_j - r_i - A_i s_bar_i. Bad values are collected in `faults()`.
    Source: Haug (2021), spatial kinematics: dot-product constraint of a body-fixed vector and d_ij.
    """

    kind = "DP2"
    unit = "m"
    symbols = "Phi = a_i . d_ij - f(t),  a_i = A_i a_bar_i,  d_ij = r_j + A_j s_bar_j - r_i - A_i s_bar_i"

    def __init__(self, i: Body, a_bar_i: Any, s_bar_i: Any, j: Body, s_bar_j: Any, f: Any = 0.0) -> None:
        super().__init__(i, j, f)
        self.a_bar_i = as_vector(a_bar_i)
        self.s_bar_i = as_vector(s_bar_i)
        self.s_bar_j = as_vector(s_bar_j)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.a_bar_i), (self.i, self.s_bar_i), (self.j, self.s_bar_j))

    def extra_faults(self) -> tuple[Fault, ...]:
        return zero_vector_faults(self, a_bar_i=self.a_bar_i)

    def words(self) -> str:
        return f"along a vector of {self.i.name}, a point of {self.j.name} keeps the offset {self.f} from a point of {self.i.name}"


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all DP2."""
    for k in range(ints.shape[0]):
        a, P, Q = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1], ints[k, FIRST_MARKER + 2]
        i, j = m.body_of[P], m.body_of[Q]
        f, f_dot, f_ddot = m.F[ints[k, DRIVER], 0], m.F[ints[k, DRIVER], 1], m.F[ints[k, DRIVER], 2]
        a_i = value(m, a)
        d = distance(m, P, Q)
        put_row(rows, m, ints, k, i, j, a_i, cross(a_i, add(d, value(m, P))), cross(value(m, Q), a_i))
        gamma = (
            f_ddot
            - dot(centripetal(m, a), d)
            - 2.0 * dot(rate(m, a), distance_rate(m, P, Q))
            - dot(a_i, sub(centripetal(m, Q), centripetal(m, P)))
        )
        put_level(rows, ints[k, SLOT], dot(a_i, d) - f, f_dot, gamma)
