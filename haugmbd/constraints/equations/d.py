r"""D: two points keep a prescribed distance.

    Phi   = d_ij . d_ij - f(t)^2             d_ij = r_j + s_j - r_i - s_i,   f > 0 the distance
    Phi_r_j = 2 d_ij = -Phi_r_i              PiBar_i = -A_i^T (s_i x 2 d_ij)            PiBar_j = A_j^T (s_j x 2 d_ij)
    nu    = 2 f f'
    gamma = 2 (f'^2 + f f'') - 2 d_ij' . d_ij' - 2 d_ij . d_ij''                at v' = 0, omega' = 0

f = 0 is a fault: the gradient 2 d_ij is zero there (use a spherical joint).
Source: Haug (2021), spatial kinematics: distance constraint.
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
    value,
)
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.math.vec3 import cross, dot, scale, sub


@public_class
class D(Primitive):
    """Prescribed distance of two points: |d_ij| = f(t). Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The two bodies, or the ground.
    s_bar_i, s_bar_j : array_like, (3,)
        The points on body i and on body j [m], body frames, from the centre of mass.
    f : float, callable, sequence of three callables, or Driver
        The prescribed distance f(t) [m], positive.

    Notes
    -----
    Phi = d_ij . d_ij - f(t)^2, with d_ij = r_j + A_j s_bar_j - r_i - A_i s_bar_i. Bad values are collected in `faults()`.
    Source: Haug (2021), spatial kinematics: distance constraint.
    """

    kind = "D"
    unit = "m2"
    symbols = "Phi = d_ij . d_ij - f(t)^2,  d_ij = r_j + A_j s_bar_j - r_i - A_i s_bar_i"

    def __init__(self, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any, f: Any) -> None:
        super().__init__(i, j, f)
        self.s_bar_i = as_vector(s_bar_i)
        self.s_bar_j = as_vector(s_bar_j)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.s_bar_i), (self.j, self.s_bar_j))

    def extra_faults(self) -> tuple[Fault, ...]:
        if self.f.faults_of_motion() or self.f.reads_state:
            return ()
        f = float(self.f.values(0.0)[0])
        if f > 0.0:
            return ()
        what = f"the distance is {f:g} m; D needs f > 0, as its gradient 2 d_ij is zero where the points coincide"
        return (Fault(repr(self), what, "Use a spherical joint (SJ) for coincident points."),)

    def words(self) -> str:
        return f"a point of {self.i.name} and a point of {self.j.name} keep the distance {self.f}"


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all D."""
    for k in range(ints.shape[0]):
        P, Q = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1]
        i, j = m.body_of[P], m.body_of[Q]
        f, f_dot, f_ddot = m.F[ints[k, DRIVER], 0], m.F[ints[k, DRIVER], 1], m.F[ints[k, DRIVER], 2]
        d = distance(m, P, Q)
        d_dot = distance_rate(m, P, Q)
        g = scale(2.0, d)
        put_row(rows, m, ints, k, i, j, g, cross(g, value(m, P)), cross(value(m, Q), g))
        gamma = 2.0 * (f_dot * f_dot + f * f_ddot) - 2.0 * dot(d_dot, d_dot) - dot(g, sub(centripetal(m, Q), centripetal(m, P)))
        put_level(rows, ints[k, SLOT], dot(d, d) - f * f, 2.0 * f * f_dot, gamma)
