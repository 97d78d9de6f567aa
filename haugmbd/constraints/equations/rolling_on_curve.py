r"""Rolling on a curve: a wheel or ball rolls on the surface that a plane curve of body i sweeps along the normal b of its plane.

In the frame of body i, with the centre x = A_i^T (r_j + s_j - r_i), the curve c(s), e = x - c at its nearest point, c' . e = 0:

    t = c' / |c'|     n = b x t       w = c' . c' - c'' . e > 0 within the radius of curvature       kappa = b . (c' x c'') / |c'|^3
    s_dot = c' . x_dot / w            t_dot = kappa |c'| s_dot n       n_dot = -kappa |c'| s_dot t       b_dot = 0

    CurveDistance   Phi = n . e - R,    d Phi = n . dx              R < 0: the wheel is on the other side of the curve
                    Phi'' = n . x_ddot - kappa |c'| s_dot (t . x_dot)
    CurveSlip       0 = l . S,   l = b or t,   S as of `rolling`, rho = -R n from the centre to the contact

d n is along t, and t . e = 0: so the gradient is n alone, also where the wheel moves along b.
Source: Neimark and Fufaev (1972), dynamics of nonholonomic systems; closest points: Piegl and Tiller (1997), ch. 6. Derived here.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import kernel, routine
from haugmbd.constraints.base import FIRST_MARKER, SLOT, Motion, RowTable, as_vector, put_level, put_row, rate, value
from haugmbd.constraints.equations.curve import N_LINES, N_PIECES, PERIOD, PointOnCurveRow, function_at, nearest, seen_point
from haugmbd.constraints.equations.rolling import Moving, put_velocity_row
from haugmbd.deprecated import public_class
from haugmbd.math.vec3 import Vec, add, cross, dot, scale, sub, to_global

RADIUS, NUMBER = PERIOD + 1, PERIOD + 2
"""Columns of the constants behind the period: R with the sign of its side, and the number of the direction, 0 or 1, of CurveSlip."""


class _OnCurve(PointOnCurveRow):
    """Base class of the rows of a wheel on a plane curve.

    b_bar_i: unit normal of the plane, body frame of i
    """

    def __init__(
        self, i: Body, breakpoints: Any, c: Any, b_bar_i: Any, j: Body, s_bar_j: Any, radius: float, period: float, number: int = 0
    ) -> None:
        c = np.array(c, dtype=np.float64)
        field = np.zeros((len(c), 3, 6))
        field[:, :, 5] = as_vector(b_bar_i)
        super().__init__(i, breakpoints, c, field, j, s_bar_j, period)
        self.b_bar_i, self.radius, self.number = as_vector(b_bar_i), float(radius), int(number)

    def given(self) -> dict[str, Array]:
        return {"b_bar_i": self.b_bar_i, "s_bar_j": self.s_bar_j}

    def lines(self, slot: int, side: int, driver: int, markers: list[int]) -> list[tuple[list[int], tuple[float, ...]]]:
        """Return the line of the row, and the lines of its numbers."""
        (ints, reals), *numbers = super().lines(slot, side, driver, markers)
        return [(ints, (*reals, self.radius, float(self.number))), *numbers]


@public_class
class CurveDistance(_OnCurve):
    """A point of body j keeps its distance from a plane curve of body i, in the plane. Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The body of the curve, or the ground; the body of the wheel.
    breakpoints : array_like, (m + 1,)
        Parameters where the pieces of the curve meet [m], increasing.
    c : array_like, (m, 3, 6)
        Coefficients of the curve [m], body frame of i, highest power first.
    b_bar_i : array_like, (3,)
        Unit normal of the plane of the curve, body frame of i.
    s_bar_j : array_like, (3,)
        Centre of the wheel, body frame of j [m].
    radius : float
        Radius [m]; negative for a wheel on the side of -b x c'.
    period : float
        Length of a closed curve; 0 for an open one.

    Notes
    -----
    Phi = (b x t) . (x - c) - R at the nearest point c of the curve. Source: derived here.
    """

    kind = "CurveDistance"
    unit = "m"
    symbols = "Phi = (b x t) . (x - c(s)) - R,  x = A_i^T (r_j + s_j - r_i),  t = c' / |c'|,  c' . (x - c) = 0"

    def words(self) -> str:
        return f"a point of {self.j.name} is {abs(self.radius):g} m from a curve of {self.i.name}"


@public_class
class CurveSlip(_OnCurve):
    """The point of body j that touches a curve of body i does not slip along it, or across its plane.

    Removes 1 degree of freedom of velocity.

    Parameters
    ----------
    i, breakpoints, c, b_bar_i, j, s_bar_j, radius, period
        As of CurveDistance.
    number : {0, 1}
        0 for the direction across the plane, 1 for that along the curve.

    Notes
    -----
    A velocity row: l . S = 0 with the velocity S of the contact point of body j against that of body i. It has no position equation.
    Source: Neimark and Fufaev (1972).
    """

    kind = "CurveSlip"
    unit = "m"
    velocity_only = True
    symbols = (
        "0 = l . (v_j + omega_j x rho_j - v_i - omega_i x rho_i),  l = b or t, rho to the contact point; Phi = 0 by definition"
    )

    def words(self) -> str:
        along = "along it" if self.number else "across its plane"
        return f"the point of {self.j.name} that touches a curve of {self.i.name} does not slip {along}"


class AtCurve(NamedTuple):
    """The contact in the frame of body i: t and n with their rates there, n . e, and n . x_ddot + n_dot . x_dot at u' = 0.

    d: from the origin of body i to the centre, global
    """

    d: Vec
    t: Moving
    n: Moving
    b: Vec
    omega: Vec
    distance: float
    Phi_ddot: float


@kernel
def at_curve(ints: Ints, floats: Array, k: int, m: Motion) -> AtCurve:
    """Return the contact of the row of line k; omega of body i, global."""
    i_marker, Q, pieces = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1], ints[k, N_PIECES]
    i, j = m.body_of[i_marker], m.body_of[Q]
    first = 3 * (k + 1)
    numbers = borrow_line(floats, 0, first + 3 * ints[k, N_LINES])
    d, omega, x, x_dot, x_ddot = seen_point(m, i, j, Q)  # the centre
    # the nearest point, and t, n = b x t, kappa there
    s = nearest(numbers, first, pieces, floats[k, PERIOD], x)
    c, b = function_at(numbers, first, pieces, s, 0), function_at(numbers, first, pieces, s, 1).f
    size = sqrt(dot(c.f1, c.f1))
    t = scale(1.0 / size, c.f1)
    n, e = cross(b, t), sub(x, c.f)
    w = size * size - dot(c.f2, e)
    turn = dot(b, cross(c.f1, c.f2)) / (size * size) * dot(c.f1, x_dot) / w  # kappa |c'| s_dot
    Phi_ddot = dot(n, x_ddot) - turn * dot(t, x_dot)
    return AtCurve(d, Moving(t, scale(turn, n)), Moving(n, scale(-turn, t)), b, omega, dot(n, e), Phi_ddot)


@kernel
def seen(m: Motion, i: int, omega: Vec, a: Moving) -> Moving:
    """Return a vector that moves in body i, and its rate, global."""
    turned = to_global(m.A, i, a.value)
    return Moving(turned, add(cross(omega, turned), to_global(m.A, i, a.rate)))


@routine
def assemble_distance(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all CurveDistance."""
    k = 0
    while k < ints.shape[0]:
        at = at_curve(ints, floats, k, m)
        i, j, Q = m.body_of[ints[k, FIRST_MARKER]], m.body_of[ints[k, FIRST_MARKER + 1]], ints[k, FIRST_MARKER + 1]
        g = to_global(m.A, i, at.n.value)
        put_row(rows, m, ints, k, i, j, g, cross(g, at.d), cross(value(m, Q), g))
        put_level(rows, ints[k, SLOT], at.distance - floats[k, RADIUS], 0.0, -at.Phi_ddot)
        k += 1 + ints[k, N_LINES]


@routine
def assemble_slip(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all CurveSlip."""
    k = 0
    while k < ints.shape[0]:
        at = at_curve(ints, floats, k, m)
        i, j, Q = m.body_of[ints[k, FIRST_MARKER]], m.body_of[ints[k, FIRST_MARKER + 1]], ints[k, FIRST_MARKER + 1]
        n = seen(m, i, at.omega, at.n)
        arm = Moving(sub(value(m, Q), scale(floats[k, RADIUS], n.value)), sub(rate(m, Q), scale(floats[k, RADIUS], n.rate)))
        along = at.t if floats[k, NUMBER] > 0.5 else Moving(at.b, (0.0, 0.0, 0.0))  # noqa: PLR2004  a number of 0 or 1
        put_velocity_row(rows, m, ints, k, i, j, seen(m, i, at.omega, along), arm)
        k += 1 + ints[k, N_LINES]
