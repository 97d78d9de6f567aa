r"""ConstantVelocity: two bodies do not twist about their axes against each other, however far the axes are bent.

With a_i, b_i across the axis of body i and a_j, b_j across that of body j:

    Phi     = a_i . b_j - b_i . a_j - f(t)
    PiBar_i = A_i^T m        PiBar_j = -A_j^T m        m = a_i x b_j - b_i x a_j        Phi_r = 0
    nu      = f'
    gamma   = f'' - (a_i'' . b_j + 2 a_i' . b_j' + a_i . b_j'') + (b_i'' . a_j + 2 b_i' . a_j' + b_i . a_j'')        at omega' = 0

For orthonormal pairs that coincide where the axes h_i, h_j are straight, Phi = 0 says that the turn from one to the other has its axis
across h_i: the difference of two elements of a rotation matrix, 4 e0 e3, is zero. Then m = -(h_i + h_j): with axes at rest in space
both bodies turn at the same rate. The row is singular if the axes are bent by a half turn.
Source: Haug (2021), spatial kinematics: Euler parameters and composite constraints; derived here.
"""

from __future__ import annotations

from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel, routine
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
from haugmbd.math.vec3 import cross, dot, scale, sub


@public_class
class ConstantVelocityRow(Primitive):
    """Two bodies do not twist about their axes against each other: a_i . b_j - b_i . a_j = f(t). Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The two bodies, or the ground.
    a_bar_i, b_bar_i : array_like, (3,)
        Two orthonormal vectors across the axis of body i, body frame.
    a_bar_j, b_bar_j : array_like, (3,)
        The vectors of body j that coincide with them where the axes are straight, body frame.
    f : float, callable, sequence of three callables, or Driver
        The prescribed value f(t).

    Notes
    -----
    Phi = a_i . b_j - b_i . a_j - f(t). `joints.ConstantVelocity` uses it. Bad values are collected in `faults()`.
    Source: Haug (2021), spatial kinematics: composite constraints.
    """

    kind = "ConstantVelocity"
    unit = "1"
    symbols = "Phi = a_i . b_j - b_i . a_j - f(t),  a_i = A_i a_bar_i,  b_i = A_i b_bar_i,  a_j = A_j a_bar_j,  b_j = A_j b_bar_j"

    def __init__(self, i: Body, a_bar_i: Any, b_bar_i: Any, j: Body, a_bar_j: Any, b_bar_j: Any, f: Any = 0.0) -> None:
        super().__init__(i, j, f)
        self.a_bar_i, self.b_bar_i, self.a_bar_j, self.b_bar_j = map(as_vector, (a_bar_i, b_bar_i, a_bar_j, b_bar_j))

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.a_bar_i), (self.i, self.b_bar_i), (self.j, self.a_bar_j), (self.j, self.b_bar_j))

    def extra_faults(self) -> tuple[Fault, ...]:
        return zero_vector_faults(self, a_bar_i=self.a_bar_i, b_bar_i=self.b_bar_i, a_bar_j=self.a_bar_j, b_bar_j=self.b_bar_j)

    def words(self) -> str:
        return f"{self.i.name} and {self.j.name} do not twist about their axes against each other, up to {self.f}"


@kernel
def product_ddot(m: Motion, a: int, b: int) -> float:
    """Return (a . b)'' at omega' = 0."""
    first: float = dot(centripetal(m, a), value(m, b)) + 2.0 * dot(rate(m, a), rate(m, b))
    return first + dot(value(m, a), centripetal(m, b))


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all ConstantVelocity."""
    for k in range(ints.shape[0]):
        a_i, b_i, a_j, b_j = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1], ints[k, FIRST_MARKER + 2], ints[k, FIRST_MARKER + 3]
        i, j, driver = m.body_of[a_i], m.body_of[a_j], ints[k, DRIVER]
        moment = sub(cross(value(m, a_i), value(m, b_j)), cross(value(m, b_i), value(m, a_j)))
        put_row(rows, m, ints, k, i, j, (0.0, 0.0, 0.0), moment, scale(-1.0, moment))
        Phi = dot(value(m, a_i), value(m, b_j)) - dot(value(m, b_i), value(m, a_j)) - m.F[driver, 0]
        gamma = m.F[driver, 2] - product_ddot(m, a_i, b_j) + product_ddot(m, b_i, a_j)
        put_level(rows, ints[k, SLOT], Phi, m.F[driver, 1], gamma)
