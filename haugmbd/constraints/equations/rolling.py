r"""Rolling on a plane: the edge of a disc, or a sphere, touches a plane (position), does not slip (velocity); a knife edge.

    n unit normal and t tangent, fixed on body i (the plane);  c centre on body j, a unit axis of the disc there (0 for a sphere)
    k = n . a      w = n - k a      s = |w|      rho = -R w / s          from the centre to the contact point

    DiscOnPlane    Phi = n . d - R s                            d from a point of the plane to the centre: the contact point is in the plane
    Slip           0 = t . S,  S = v_j + omega_j x rho_j - v_i - omega_i x rho_i        rho_i, rho_j from the centres of mass to the contact
    KnifeEdge      0 = l . S,  l = n x e                        e the direction of the blade, fixed on body j;  contact at its point

Slip and KnifeEdge are equations of velocities only (nonholonomic): Phi = 0 by definition, Phi_q u = 0, gamma = -d/dt(Phi_q) u.
With S' = omega_j x rho_j' - omega_i x rho_i' at u' = 0:   gamma = -(t' . S + t . S').
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
from haugmbd.deprecated import public_class
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_global

RADIUS = 0
"""Column of the constants."""


@public_class
class DiscOnPlane(Primitive):
    """The edge of a disc, or a sphere, of body j touches a plane of body i. Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The body of the plane, or the ground; the body of the disc.
    n_bar_i, s_bar_i : array_like, (3,)
        Unit normal and a point of the plane, body frame of i.
    a_bar_j, s_bar_j : array_like, (3,)
        Unit axis and centre of the disc, body frame of j; the axis of a sphere is (0, 0, 0).
    radius : float
        Radius [m].

    Notes
    -----
    Phi = n . d - R sqrt(1 - (n . a)^2). Source: Neimark and Fufaev (1972).
    """

    kind = "DiscOnPlane"
    unit = "m"
    symbols = "Phi = n . d_ij - R sqrt(1 - (n . a)^2),  n = A_i n_bar_i,  a = A_j a_bar_j"

    def __init__(self, i: Body, n_bar_i: Any, s_bar_i: Any, j: Body, a_bar_j: Any, s_bar_j: Any, radius: float) -> None:
        super().__init__(i, j, 0.0)
        self.n_bar_i, self.s_bar_i, self.a_bar_j, self.s_bar_j = map(as_vector, (n_bar_i, s_bar_i, a_bar_j, s_bar_j))
        self.radius = float(radius)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.n_bar_i), (self.i, self.s_bar_i), (self.j, self.a_bar_j), (self.j, self.s_bar_j))

    def constants(self) -> tuple[float, ...]:
        return (self.radius,)

    def given(self) -> dict[str, Array]:
        return {"n_bar_i": self.n_bar_i, "a_bar_j": self.a_bar_j, "s_bar_j": self.s_bar_j}

    def words(self) -> str:
        return f"{self.j.name} touches a plane of {self.i.name} at the radius {self.radius:g} m"


@public_class
class Slip(Primitive):
    """The point of body j that touches a plane of body i does not slip along one direction. Removes 1 degree of freedom of velocity.

    Parameters
    ----------
    i, j : Body
        The body of the plane, or the ground; the body of the disc or sphere.
    t_bar_i, n_bar_i : array_like, (3,)
        Unit tangent and unit normal of the plane, body frame of i.
    a_bar_j, s_bar_j : array_like, (3,)
        Unit axis and centre of the disc, body frame of j; the axis of a sphere is (0, 0, 0).
    radius : float
        Radius [m].

    Notes
    -----
    A velocity row: t . S = 0 with the velocity S of the contact point of body j against that of body i. It has no position equation.
    Source: Neimark and Fufaev (1972).
    """

    kind = "Slip"
    unit = "m"
    velocity_only = True
    symbols = "0 = t . (v_j + omega_j x rho_j - v_i - omega_i x rho_i),  t = A_i t_bar_i,  rho to the contact point; Phi = 0 by definition"

    def __init__(self, i: Body, t_bar_i: Any, n_bar_i: Any, j: Body, a_bar_j: Any, s_bar_j: Any, radius: float) -> None:
        super().__init__(i, j, 0.0)
        self.t_bar_i, self.n_bar_i, self.a_bar_j, self.s_bar_j = map(as_vector, (t_bar_i, n_bar_i, a_bar_j, s_bar_j))
        self.radius = float(radius)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.t_bar_i), (self.i, self.n_bar_i), (self.j, self.a_bar_j), (self.j, self.s_bar_j))

    def constants(self) -> tuple[float, ...]:
        return (self.radius,)

    def given(self) -> dict[str, Array]:
        return {"t_bar_i": self.t_bar_i, "n_bar_i": self.n_bar_i, "a_bar_j": self.a_bar_j, "s_bar_j": self.s_bar_j}

    def words(self) -> str:
        return f"the point of {self.j.name} that touches a plane of {self.i.name} does not slip along a direction of the plane"


@public_class
class KnifeEdgeRow(Primitive):
    """A point of body j does not move across a direction of body j in a plane of body i. Removes 1 degree of freedom of velocity.

    Parameters
    ----------
    i, j : Body
        The body of the plane, or the ground; the body of the blade.
    n_bar_i : array_like, (3,)
        Unit normal of the plane, body frame of i.
    e_bar_j, s_bar_j : array_like, (3,)
        Unit direction of the blade and its point, body frame of j.

    Notes
    -----
    A velocity row: (n x e) . S = 0 with the velocity S of the point against body i. It has no position equation.
    Source: Neimark and Fufaev (1972).
    """

    kind = "KnifeEdge"
    unit = "m"
    velocity_only = True
    symbols = (
        "0 = (n x e) . (v_j + omega_j x rho_j - v_i - omega_i x rho_i),  n = A_i n_bar_i,  e = A_j e_bar_j; Phi = 0 by definition"
    )

    def __init__(self, i: Body, n_bar_i: Any, j: Body, e_bar_j: Any, s_bar_j: Any) -> None:
        super().__init__(i, j, 0.0)
        self.n_bar_i, self.e_bar_j, self.s_bar_j = map(as_vector, (n_bar_i, e_bar_j, s_bar_j))

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, self.n_bar_i), (self.j, self.e_bar_j), (self.j, self.s_bar_j))

    def given(self) -> dict[str, Array]:
        return {"n_bar_i": self.n_bar_i, "e_bar_j": self.e_bar_j, "s_bar_j": self.s_bar_j}

    def words(self) -> str:
        return f"a point of {self.j.name} does not move across its blade in a plane of {self.i.name}"


class Moving(NamedTuple):
    """A global vector and its rate."""

    value: Vec
    rate: Vec


class DiscContact(NamedTuple):
    """Geometry of the contact: k, s and w, with their rates."""

    k: float
    k_dot: float
    s: float
    s_dot: float
    w: Vec
    w_dot: Vec


@kernel
def contact(m: Motion, n: int, a: int) -> DiscContact:
    """Return the geometry of the contact of a disc with the axis marker a and a plane with the normal marker n."""
    N, A = value(m, n), value(m, a)
    k, k_dot = dot(N, A), dot(rate(m, n), A) + dot(N, rate(m, a))
    w = sub(N, scale(k, A))
    w_dot = sub(sub(rate(m, n), scale(k_dot, A)), scale(k, rate(m, a)))
    s = sqrt(dot(w, w))
    return DiscContact(k, k_dot, s, dot(w, w_dot) / s, w, w_dot)


@routine
def assemble_disc(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all DiscOnPlane."""
    for row in range(ints.shape[0]):
        n, P, a, Q = ints[row, FIRST_MARKER], ints[row, FIRST_MARKER + 1], ints[row, FIRST_MARKER + 2], ints[row, FIRST_MARKER + 3]
        R = floats[row, RADIUS]
        c, N, d = contact(m, n, a), value(m, n), distance(m, P, Q)
        tilt = scale(R * c.k / c.s, cross(N, value(m, a)))
        m_i, m_j = add(cross(N, add(d, value(m, P))), tilt), sub(cross(value(m, Q), N), tilt)
        put_row(rows, m, ints, row, m.body_of[P], m.body_of[Q], N, m_i, m_j)
        k_ddot = dot(centripetal(m, n), value(m, a)) + 2.0 * dot(rate(m, n), rate(m, a)) + dot(N, centripetal(m, a))
        s_ddot = -(c.k_dot * c.k_dot + c.k * k_ddot + c.s_dot * c.s_dot) / c.s
        height = (
            dot(centripetal(m, n), d)
            + 2.0 * dot(rate(m, n), distance_rate(m, P, Q))
            + dot(N, sub(centripetal(m, Q), centripetal(m, P)))
        )
        put_level(rows, ints[row, SLOT], dot(N, d) - R * c.s, 0.0, R * s_ddot - height)


@kernel
def put_velocity_row(rows: RowTable, m: Motion, ints: Ints, row: int, i: int, j: int, t: Moving, arm: Moving) -> None:
    """Write the row t . S = 0 of the point at `arm` from the centre of mass of body j."""
    step = sub(load(m.bodies, j, 0), load(m.bodies, i, 0))
    v = sub(load(m.bodies, j, VELOCITY), load(m.bodies, i, VELOCITY))
    arm_i, arm_i_dot = add(arm.value, step), add(arm.rate, v)
    omega_i, omega_j = to_global(m.A, i, load(m.bodies, i, OMEGA_BAR)), to_global(m.A, j, load(m.bodies, j, OMEGA_BAR))
    S = add(v, sub(cross(omega_j, arm.value), cross(omega_i, arm_i)))
    S_dot = sub(cross(omega_j, arm.rate), cross(omega_i, arm_i_dot))
    put_row(rows, m, ints, row, i, j, t.value, cross(t.value, arm_i), cross(arm.value, t.value))
    put_level(rows, ints[row, SLOT], 0.0, 0.0, -dot(t.rate, S) - dot(t.value, S_dot))


@routine
def assemble_slip(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all Slip."""
    for row in range(ints.shape[0]):
        t, n, a, Q = ints[row, FIRST_MARKER], ints[row, FIRST_MARKER + 1], ints[row, FIRST_MARKER + 2], ints[row, FIRST_MARKER + 3]
        R, c = floats[row, RADIUS], contact(m, n, a)
        arm = sub(value(m, Q), scale(R / c.s, c.w))
        arm_dot = sub(rate(m, Q), scale(R / c.s, sub(c.w_dot, scale(c.s_dot / c.s, c.w))))
        put_velocity_row(rows, m, ints, row, m.body_of[t], m.body_of[Q], Moving(value(m, t), rate(m, t)), Moving(arm, arm_dot))


@routine
def assemble_knife_edge(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all KnifeEdge."""
    for row in range(ints.shape[0]):
        n, e, Q = ints[row, FIRST_MARKER], ints[row, FIRST_MARKER + 1], ints[row, FIRST_MARKER + 2]
        t = cross(value(m, n), value(m, e))
        t_dot = add(cross(rate(m, n), value(m, e)), cross(value(m, n), rate(m, e)))
        put_velocity_row(rows, m, ints, row, m.body_of[n], m.body_of[Q], Moving(t, t_dot), Moving(value(m, Q), rate(m, Q)))
