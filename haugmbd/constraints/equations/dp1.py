r"""DP1: two body-fixed vectors keep a prescribed dot product.

    Phi   = a_i . a_j - f(t)
    PiBar_i = A_i^T (a_i x a_j)        PiBar_j = -A_j^T (a_i x a_j)        Phi_r = 0
    nu    = f'
    gamma = f'' - (a_i'' . a_j + 2 a_i' . a_j' + a_i . a_j'')                 a'' at omega' = 0

Singular if a_i and a_j are parallel (|f| = |a_i| |a_j|): the gradient of the dot product is zero there. Use `Rotation` for an angle.
Source: Haug (2021), spatial kinematics: dot-product constraint of two body-fixed vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
    put_level,
    put_row,
    rate,
    value,
    zero_vector_faults,
)
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.math.vec3 import cross, dot, scale


@public_class
class DP1(Primitive):
    """Prescribed dot product of two body-fixed vectors: a_i . a_j = f(t). Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The two bodies, or the ground.
    a_bar_i, a_bar_j : array_like, (3,)
        The vectors on body i and on body j, body frames.
    f : float, callable, sequence of three callables, or Driver
        The prescribed value f(t).

    Notes
    -----
    Phi = a_i . a_j - f(t), with a = A a_bar. Bad values are collected in `faults()`.
    The row is singular if the two vectors are parallel; use `Rotation` to prescribe an angle.
    Source: Haug (2021), spatial kinematics: dot-product constraint of two body-fixed vectors.
    """

    kind = "DP1"
    unit = "1"
    symbols = "Phi = a_i . a_j - f(t),  a_i = A_i a_bar_i,  a_j = A_j a_bar_j"

    def __init__(self, i: Body, a_bar_i: Any, j: Body, a_bar_j: Any, f: Any = 0.0) -> None:
        super().__init__(i, j, f)
        self.a_bar_i = as_vector(a_bar_i)
        self.a_bar_j = as_vector(a_bar_j)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.a_bar_i), (self.j, self.a_bar_j))

    def extra_faults(self) -> tuple[Fault, ...]:
        if np.count_nonzero(self.a_bar_i) and np.count_nonzero(self.a_bar_j):
            return ()
        return zero_vector_faults(self, a_bar_i=self.a_bar_i, a_bar_j=self.a_bar_j)

    def words(self) -> str:
        return f"a vector of {self.i.name} and a vector of {self.j.name} keep the dot product {self.f}"


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all DP1."""
    for k in range(ints.shape[0]):
        i_marker, j_marker = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1]
        i, j = m.body_of[i_marker], m.body_of[j_marker]
        f, f_dot, f_ddot = m.F[ints[k, DRIVER], 0], m.F[ints[k, DRIVER], 1], m.F[ints[k, DRIVER], 2]
        a_i, a_j = value(m, i_marker), value(m, j_marker)
        moment = cross(a_i, a_j)
        put_row(rows, m, ints, k, i, j, (0.0, 0.0, 0.0), moment, scale(-1.0, moment))
        gamma = (
            f_ddot
            - dot(centripetal(m, i_marker), a_j)
            - 2.0 * dot(rate(m, i_marker), rate(m, j_marker))
            - dot(a_i, centripetal(m, j_marker))
        )
        put_level(rows, ints[k, SLOT], dot(a_i, a_j) - f, f_dot, gamma)
