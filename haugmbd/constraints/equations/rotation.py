r"""Rotation: a vector of body j follows a vector that turns on body i by the prescribed angle f(t), through any number of turns.

With e, n unit vectors of body i across the axis, e' of body j, all perpendicular to the common axis, and theta the angle from e to e':

    a_i(t) = n cos f - e sin f               b_i(t) = -(e cos f + n sin f) = da_i/df
    Phi    = a_i . e'   ( = sin(theta - f) )
    PiBar_i = A_i^T (a_i x e')               PiBar_j = -A_j^T (a_i x e')                Phi_r = 0
    nu     = -f' b_i . e'  ( = f' cos(theta - f) )
    gamma  = -( a_i'' . e' + 2 a_i' . e'' + a_i . e''' ),   a_i' = omega_i x a_i + f' b_i,
             a_i'' = omega_i x (omega_i x a_i) + 2 f' omega_i x b_i + f'' b_i - f'^2 a_i                  at omega' = 0

The DP1 driver e . e' = cos f(t) is singular if the cosine is stationary (f = 0, pi, ...). This row is DP1 with a vector that turns with
f: d Phi / d theta = cos(theta - f) = 1 on the constraint, for every f. It also holds at theta = f + pi (the other branch), which a
step can only reach by a jump of half a turn.
Source: derived here from DP1; Haug (2021), kinematics: rotational driving constraints.
"""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import ORTHONORMAL_TOL
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
from haugmbd.math.vec3 import add, cross, dot, scale, sub


@public_class
class Rotation(Primitive):
    """Prescribed angle of body j relative to body i about a common axis. Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The two bodies, or the ground.
    e_bar_i, n_bar_i : array_like, (3,)
        Two orthonormal vectors of body i normal to the axis, body frame.
    e_bar_j : array_like, (3,)
        Unit vector of body j normal to the axis, body frame.
    f : float, callable, sequence of three callables, or Driver
        The prescribed angle f(t) [rad] from e_i to e_j, positive towards n_i, through any number of turns.

    Notes
    -----
    Phi = (n cos f - e sin f) . e' = sin(theta - f). The gradient is 1 for every f. Bad values are collected in `faults()`.
    Source: derived here from DP1; Haug (2021), kinematics: rotational driving constraints.
    """

    kind = "Rotation"
    unit = "rad"
    symbols = "Phi = (n cos f(t) - e sin f(t)) . e',  e = A_i e_bar_i,  n = A_i n_bar_i,  e' = A_j e_bar_j"

    def __init__(self, i: Body, e_bar_i: Any, n_bar_i: Any, j: Body, e_bar_j: Any, f: Any = 0.0) -> None:
        super().__init__(i, j, f)
        self.e_bar_i = as_vector(e_bar_i)
        self.n_bar_i = as_vector(n_bar_i)
        self.e_bar_j = as_vector(e_bar_j)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.e_bar_i), (self.i, self.n_bar_i), (self.j, self.e_bar_j))

    def extra_faults(self) -> tuple[Fault, ...]:
        e, n = self.e_bar_i, self.n_bar_i
        if not (e.shape == n.shape == (3,) and np.isfinite(e).all() and np.isfinite(n).all()):
            return ()
        gap = max(abs(float(e @ e) - 1.0), abs(float(n @ n) - 1.0), abs(float(e @ n)))
        if gap > ORTHONORMAL_TOL:
            what = f"e_bar_i and n_bar_i are not orthonormal: off by {gap:.3g}, so f would be another angle"
            return (Fault(repr(self), what, "Give two unit vectors at a right angle, such as f and g of a Frame."),)
        return zero_vector_faults(self, e_bar_j=self.e_bar_j)

    def words(self) -> str:
        return f"{self.j.name} has turned by the angle {self.f} from {self.i.name}"


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all Rotation."""
    for k in range(ints.shape[0]):
        e, n, q = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1], ints[k, FIRST_MARKER + 2]
        i, j = m.body_of[e], m.body_of[q]
        f, f_dot, f_ddot = m.F[ints[k, DRIVER], 0], m.F[ints[k, DRIVER], 1], m.F[ints[k, DRIVER], 2]
        c, s = cos(f), sin(f)
        a = sub(scale(c, value(m, n)), scale(s, value(m, e)))
        b = scale(-1.0, add(scale(c, value(m, e)), scale(s, value(m, n))))
        a_rate = sub(scale(c, rate(m, n)), scale(s, rate(m, e)))
        b_rate = scale(-1.0, add(scale(c, rate(m, e)), scale(s, rate(m, n))))
        a_centripetal = sub(scale(c, centripetal(m, n)), scale(s, centripetal(m, e)))
        a_dot = add(a_rate, scale(f_dot, b))
        a_ddot = add(add(a_centripetal, scale(2.0 * f_dot, b_rate)), sub(scale(f_ddot, b), scale(f_dot * f_dot, a)))
        e_j = value(m, q)
        moment = cross(a, e_j)
        put_row(rows, m, ints, k, i, j, (0.0, 0.0, 0.0), moment, scale(-1.0, moment))
        gamma = -dot(a_ddot, e_j) - 2.0 * dot(a_dot, rate(m, q)) - dot(a, centripetal(m, q))
        put_level(rows, ints[k, SLOT], dot(a, e_j), -f_dot * dot(b, e_j), gamma)
