r"""CD: the difference between the coordinates of two points, along a fixed global direction, is prescribed.

    Phi   = c . d_ij - f(t)                  d_ij = r_j + s_j - r_i - s_i,   c constant, global
    Phi_r_j = c = -Phi_r_i                   PiBar_i = -A_i^T (s_i x c)                 PiBar_j = A_j^T (s_j x c)
    nu    = f'
    gamma = f'' - c . d_ij''                                                    at v' = 0, omega' = 0

Source: Haug (2021), spatial kinematics: basic constraint on the coordinates of two points.
"""

from __future__ import annotations

from math import isfinite
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
    put_level,
    put_row,
    value,
    zero_vector_faults,
)
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.math.vec3 import cross, dot, load, sub


@public_class
class CD(Primitive):
    """Prescribed coordinate difference of two points: c . d_ij = f(t). Removes 1 degree of freedom.

    Parameters
    ----------
    c : array_like, (3,)
        Constant direction, global frame.
    i, j : Body
        The two bodies, or the ground.
    s_bar_i, s_bar_j : array_like, (3,)
        The points on body i and on body j [m], body frames, from the centre of mass.
    f : float, callable, sequence of three callables, or Driver
        The prescribed value f(t) [m].

    Notes
    -----
    Phi = c . d_ij - f(t), with d_ij = r_j + A_j s_bar_j - r_i - A_i s_bar_i. Bad values are collected in `faults()`.
    Source: Haug (2021), spatial kinematics: basic constraints.
    """

    kind = "CD"
    unit = "m"
    symbols = "Phi = c . d_ij - f(t),  d_ij = r_j + A_j s_bar_j - r_i - A_i s_bar_i"

    def __init__(self, c: Any, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any, f: Any = 0.0) -> None:
        super().__init__(i, j, f)
        self.c = as_vector(c)
        self.s_bar_i = as_vector(s_bar_i)
        self.s_bar_j = as_vector(s_bar_j)

    def relative(self) -> bool:
        return self.i.is_ground or self.j.is_ground  # c turns with no other body

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.s_bar_i), (self.j, self.s_bar_j))

    def constants(self) -> tuple[float, ...]:
        return tuple(self.c.tolist())

    def extra_faults(self) -> tuple[Fault, ...]:
        c = self.c.tolist()
        if self.c.shape != (3,) or not all(map(isfinite, c)):
            return (Fault(repr(self), f"c is {self.c.tolist()}", "Give a global direction: three finite numbers."),)
        return () if any(c) else zero_vector_faults(self, c=self.c)

    def words(self) -> str:
        c = "(" + ", ".join(f"{x:g}" for x in self.c) + ")"
        return f"along the global direction {c}, a point of {self.j.name} keeps the offset {self.f} from a point of {self.i.name}"


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all CD."""
    for k in range(ints.shape[0]):
        P, Q = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1]
        i, j = m.body_of[P], m.body_of[Q]
        f, f_dot, f_ddot = m.F[ints[k, DRIVER], 0], m.F[ints[k, DRIVER], 1], m.F[ints[k, DRIVER], 2]
        c = load(floats, k, 0)
        put_row(rows, m, ints, k, i, j, c, cross(c, value(m, P)), cross(value(m, Q), c))
        gamma = f_ddot - dot(c, sub(centripetal(m, Q), centripetal(m, P)))
        put_level(rows, ints[k, SLOT], dot(c, distance(m, P, Q)) - f, f_dot, gamma)
