r"""Rolling on curved surfaces: a ball rolls on or in a cylinder or a sphere: distance from the axis (position), no slip (velocity).

    h unit axis of the cylinder, fixed on body i (0 for a sphere);  d from a point of the axis, or the centre, to the centre of the ball
    z = h . d      w = d - z h      u = w / |w|      rho = c u       from the centre to the contact: c = -R outside, +R inside

    AxisDistance   Phi = |w| - L                                 L = R_surface + R outside, R_surface - R inside
    CurvedSlip     0 = t . S,  S = v_j + omega_j x rho_j - v_i - omega_i x rho_i      rho_i, rho_j from the centres of mass to the contact
                   cylinder: t = h, or h x u;   sphere: t = b x u / |b x u|, or u x (b x u) / |b x u|

    delta Phi = u . delta d - z u . delta h
    Phi''     = (|w'|^2 - (u . w')^2) / |w| + u . (d'' - 2 z' h' - z h'')                at u' = 0
    u'        = (w' - u (u . w')) / |w|,   t', rho' from u' and h' = omega_i x h,   gamma as of `rolling`

Tangents of a sphere have no smooth field: b is the axis of body i that is farthest from u. Where it changes, the two rows span the same
plane as before, so that motion and reactions go on; only the two multipliers are others.
Source: Neimark and Fufaev (1972), dynamics of nonholonomic systems; derivatives derived here.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel, routine
from haugmbd.constraints.base import (
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
)
from haugmbd.constraints.equations.rolling import Moving, put_velocity_row
from haugmbd.deprecated import public_class
from haugmbd.math.body_columns import OMEGA_BAR
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_global

LENGTH = 0
CONTACT, NUMBER = 0, 1
"""Columns of the constants: L of AxisDistance; c and the number of the direction, 0 or 1, of CurvedSlip."""


@public_class
class AxisDistance(Primitive):
    """A point of body j keeps its distance from an axis of body i. Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The body of the axis, or the ground; the body of the point.
    h_bar_i, s_bar_i : array_like, (3,)
        Unit axis and a point of it, body frame of i.
    s_bar_j : array_like, (3,)
        The point, body frame of j.
    length : float
        The distance, positive [m].

    Notes
    -----
    Phi = |d - (h . d) h| - L. The row is singular where the point is on the axis. Source: derived here.
    """

    kind = "AxisDistance"
    unit = "m"
    symbols = "Phi = |d_ij - (h . d_ij) h| - L,  h = A_i h_bar_i"

    def __init__(self, i: Body, h_bar_i: Any, s_bar_i: Any, j: Body, s_bar_j: Any, length: float) -> None:
        super().__init__(i, j, 0.0)
        self.h_bar_i, self.s_bar_i, self.s_bar_j = map(as_vector, (h_bar_i, s_bar_i, s_bar_j))
        self.length = float(length)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.h_bar_i), (self.i, self.s_bar_i), (self.j, self.s_bar_j))

    def constants(self) -> tuple[float, ...]:
        return (self.length,)

    def given(self) -> dict[str, Array]:
        return {"h_bar_i": self.h_bar_i, "s_bar_i": self.s_bar_i, "s_bar_j": self.s_bar_j}

    def words(self) -> str:
        return f"a point of {self.j.name} is {self.length:g} m from an axis of {self.i.name}"


@public_class
class CurvedSlip(Primitive):
    """The point of a ball of body j that touches a cylinder or a sphere of body i does not slip along one direction of two.

    Removes 1 degree of freedom of velocity.

    Parameters
    ----------
    i, j : Body
        The body of the surface, or the ground; the body of the ball.
    h_bar_i, s_bar_i : array_like, (3,)
        Unit axis of the cylinder, (0, 0, 0) for a sphere; a point of the axis, or the centre; body frame of i.
    s_bar_j : array_like, (3,)
        Centre of the ball, body frame of j.
    contact : float
        From the centre of the ball to the contact, along the direction away from the axis or centre [m]: -R outside, R inside.
    number : {0, 1}
        Which of the two directions.

    Notes
    -----
    A velocity row: t . S = 0 with the velocity S of the contact point of body j against that of body i. It has no position equation.
    Source: Neimark and Fufaev (1972).
    """

    kind = "CurvedSlip"
    unit = "m"
    velocity_only = True
    symbols = (
        "0 = t . (v_j + omega_j x rho_j - v_i - omega_i x rho_i),  t a tangent, rho to the contact point; Phi = 0 by definition"
    )

    def __init__(self, i: Body, h_bar_i: Any, s_bar_i: Any, j: Body, s_bar_j: Any, contact: float, number: int) -> None:
        super().__init__(i, j, 0.0)
        self.h_bar_i, self.s_bar_i, self.s_bar_j = map(as_vector, (h_bar_i, s_bar_i, s_bar_j))
        self.contact, self.number = float(contact), int(number)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.h_bar_i), (self.i, self.s_bar_i), (self.j, self.s_bar_j))

    def constants(self) -> tuple[float, ...]:
        return (self.contact, float(self.number))

    def given(self) -> dict[str, Array]:
        return {"h_bar_i": self.h_bar_i, "s_bar_i": self.s_bar_i, "s_bar_j": self.s_bar_j}

    def words(self) -> str:
        return (
            f"the point of {self.j.name} that touches a curved surface of {self.i.name} does not slip along one of two directions"
        )


class Away(NamedTuple):
    """From the axis or centre to the ball: u and its rate, |w|, w', z and z'."""

    u: Moving
    size: float
    w_dot: Vec
    z: float
    z_dot: float


@kernel
def away(m: Motion, h: int, P: int, Q: int) -> Away:
    """Return the direction from the axis (marker h, zero for a centre) through the point of marker P to the point of marker Q."""
    H, H_dot, d, d_dot = value(m, h), rate(m, h), distance(m, P, Q), distance_rate(m, P, Q)
    z, z_dot = dot(H, d), dot(H_dot, d) + dot(H, d_dot)
    w = sub(d, scale(z, H))
    w_dot = sub(d_dot, add(scale(z_dot, H), scale(z, H_dot)))
    size = sqrt(dot(w, w))
    u = scale(1.0 / size, w)
    return Away(Moving(u, scale(1.0 / size, sub(w_dot, scale(dot(u, w_dot), u)))), size, w_dot, z, z_dot)


@routine
def assemble_distance(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all AxisDistance."""
    for row in range(ints.shape[0]):
        h, P, Q = ints[row, FIRST_MARKER], ints[row, FIRST_MARKER + 1], ints[row, FIRST_MARKER + 2]
        a = away(m, h, P, Q)
        u = a.u.value
        # delta Phi = u . delta d - z u . delta h
        m_i, m_j = cross(u, add(value(m, P), scale(a.z, value(m, h)))), cross(value(m, Q), u)
        put_row(rows, m, ints, row, m.body_of[P], m.body_of[Q], u, m_i, m_j)
        # Phi'' at u' = 0
        along = dot(u, a.w_dot)
        w_ddot = dot(u, sub(centripetal(m, Q), centripetal(m, P)))
        w_ddot -= 2.0 * a.z_dot * dot(u, rate(m, h)) + a.z * dot(u, centripetal(m, h))
        Phi_ddot = (dot(a.w_dot, a.w_dot) - along * along) / a.size + w_ddot
        put_level(rows, ints[row, SLOT], a.size - floats[row, LENGTH], 0.0, -Phi_ddot)


@kernel
def unit_of(x: Moving) -> Moving:
    """Return x / |x| and its rate."""
    size = sqrt(dot(x.value, x.value))
    t = scale(1.0 / size, x.value)
    return Moving(t, scale(1.0 / size, sub(x.rate, scale(dot(t, x.rate), t))))


@kernel
def crossed(a: Moving, b: Moving) -> Moving:
    """Return a x b and its rate."""
    return Moving(cross(a.value, b.value), add(cross(a.rate, b.value), cross(a.value, b.rate)))


@kernel
def farthest_axis(m: Motion, i: int, u: Vec) -> Vec:
    """Return the axis of body i that is farthest from u, global; the first of equals."""
    x, y, z = to_global(m.A, i, (1.0, 0.0, 0.0)), to_global(m.A, i, (0.0, 1.0, 0.0)), to_global(m.A, i, (0.0, 0.0, 1.0))
    best, least = x, abs(dot(x, u))
    if abs(dot(y, u)) < least:
        best, least = y, abs(dot(y, u))
    return z if abs(dot(z, u)) < least else best


@kernel
def tangent(m: Motion, h: int, u: Moving, number: int) -> Moving:
    """Return the direction of a row: of a cylinder along or around it, of a sphere across or along an axis of its body."""
    H = Moving(value(m, h), rate(m, h))
    if dot(H.value, H.value) > 0.0:
        return H if number == 0 else crossed(H, u)
    i = m.body_of[h]
    b = farthest_axis(m, i, u.value)
    b_dot = cross(to_global(m.A, i, load(m.bodies, i, OMEGA_BAR)), b)
    first = unit_of(crossed(Moving(b, b_dot), u))
    return first if number == 0 else crossed(u, first)


@routine
def assemble_slip(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all CurvedSlip."""
    for row in range(ints.shape[0]):
        h, P, Q = ints[row, FIRST_MARKER], ints[row, FIRST_MARKER + 1], ints[row, FIRST_MARKER + 2]
        u, c = away(m, h, P, Q).u, floats[row, CONTACT]
        arm = Moving(add(value(m, Q), scale(c, u.value)), add(rate(m, Q), scale(c, u.rate)))
        t = tangent(m, h, u, int(floats[row, NUMBER]))
        put_velocity_row(rows, m, ints, row, m.body_of[P], m.body_of[Q], t, arm)
