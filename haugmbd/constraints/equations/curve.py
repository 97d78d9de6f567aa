r"""PointOnCurve: a point of body j stays on a spline curve that is fixed on body i. Two rows, one for each normal direction.

In the frame of body i, with the point x = A_i^T (r_j + s_j - r_i), the curve c(s), two vector fields n(s) across it, and e = x - c:

    s        the nearest point of the curve:  c' . e = 0           w = c' . c' - c'' . e  > 0 within the radius of curvature
    Phi      = n . e
    d Phi    = g . dx         g = n + k c'         k = (n' . e - n . c') / w
    s_dot    = c' . x_dot / w
    s_ddot   = ( c' . x_ddot + s_dot c'' . x_dot - w_dot s_dot ) / w        w_dot = 2 c' . c'' s_dot - c''' . e s_dot - c'' . e_dot
    d2 Phi   = n'' . e s_dot^2 + n' . e s_ddot + 2 n' . e_dot s_dot + n . ( x_ddot - c'' s_dot^2 - c' s_ddot )     gamma = - d2 Phi

All formulas are exact off the curve, too. c and n are quintic splines over the same breakpoints.
Source: Haug (2021), kinematics of point-follower and slot constraints; closest points: Piegl and Tiller (1997), ch. 6. Derived here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import kernel, routine
from haugmbd.constraints.base import (
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
)
from haugmbd.deprecated import public_class
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_body, to_global

N_PIECES, N_LINES = FIRST_MARKER + 2, FIRST_MARKER + 3
"""Columns after the markers (the origin of body i, the point on body j): pieces of the spline, lines of numbers that follow."""
PERIOD = 0
"""Column of the constants: the length of a closed curve, 0 for an open one."""
PIECE = 36
"""Numbers of a piece: six coefficients, highest power first, of three components of c and of n."""

MAX_NEWTON, NEAREST_TOL = 40, 1e-10
"""Steps of Newton's method for the nearest point, and its last step, relative to the length of the curve: what is left is its square."""


@public_class
class PointOnCurveRow(Primitive):
    """A point of body j stays on a curve of body i, across one direction. Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The body of the curve, or the ground; the body of the point.
    breakpoints : array_like, (m + 1,)
        Parameters where the pieces of the curve meet [m], increasing.
    c, n : array_like, (m, 3, 6)
        Coefficients of the curve [m] and of a vector field across it, body frame of i, highest power first.
    s_bar_j : array_like, (3,)
        The point, body frame of j [m].
    period : float
        Length of a closed curve; 0 for an open one.

    Notes
    -----
    Phi = n . (x - c) at the nearest point c of the curve. `joints.PointOnCurve` makes two of them.
    Source: Haug (2021), point-follower constraints.
    """

    kind = "PointOnCurve"
    unit = "m"
    symbols = "Phi = n(s) . (x - c(s)),  x = A_i^T (r_j + s_j - r_i),  c' . (x - c) = 0"

    def __init__(self, i: Body, breakpoints: Any, c: Any, n: Any, j: Body, s_bar_j: Any, period: float = 0.0) -> None:
        super().__init__(i, j, 0.0)
        self.breakpoints = np.array(breakpoints, dtype=np.float64)
        self.c, self.n = np.array(c, dtype=np.float64), np.array(n, dtype=np.float64)
        self.s_bar_j = as_vector(s_bar_j)
        self.period = float(period)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.i, as_vector((0.0, 0.0, 0.0))), (self.j, self.s_bar_j))

    def given(self) -> dict[str, Array]:
        return {"s_bar_j": self.s_bar_j}

    def words(self) -> str:
        return f"a point of {self.j.name} stays on a curve of {self.i.name}"

    def numbers(self) -> Array:
        """Return breakpoints and coefficients as the kernel reads them, filled with zeros to whole lines of three."""
        pieces = np.concatenate([self.c, self.n], axis=1).reshape(len(self.c), PIECE)
        flat = np.concatenate([self.breakpoints, pieces.ravel()])
        return np.append(flat, np.zeros(-len(flat) % 3))

    def lines(self, slot: int, side: int, driver: int, markers: list[int]) -> list[tuple[list[int], tuple[float, ...]]]:
        """Return the line of the row, and the lines of its numbers."""
        numbers = self.numbers().reshape(-1, 3)
        first = ([slot, side, driver, *markers, len(self.c), len(numbers)], (self.period,))
        return [first, *(([slot, side, driver], tuple(line)) for line in numbers.tolist())]

    def parameters(self, x: Array) -> Array:
        """Return the parameter s [m] of the nearest point for points x (nt, 3), body frame of i; beyond the ends the curve continues."""
        t = np.linspace(self.breakpoints[0], self.breakpoints[-1], 8 * len(self.c) + 1)
        s: Array = t[((x[:, None] - self.at(t)[0]) ** 2).sum(axis=2).argmin(axis=1)]
        for _ in range(MAX_NEWTON):
            c, c1, c2 = self.at(s)
            w = (c1 * c1 - c2 * (x - c)).sum(axis=1)
            s = s + (c1 * (x - c)).sum(axis=1) / np.where(w > 0.0, w, (c1 * c1).sum(axis=1))
        return s

    def at(self, s: Array) -> tuple[Array, Array, Array]:
        """Return the curve and two derivatives, (n, 3) each, at parameters s (n,)."""
        s = self.breakpoints[0] + np.remainder(s - self.breakpoints[0], self.period) if self.period > 0.0 else s
        k = np.clip(np.searchsorted(self.breakpoints, s, side="right") - 1, 0, len(self.c) - 1)
        u, f = (s - self.breakpoints[k])[:, None], np.zeros((3, len(s), 3))
        for power in range(6):
            f[2], f[1], f[0] = f[2] * u + 2.0 * f[1], f[1] * u + f[0], f[0] * u + self.c[k, :, power]
        return f[0], f[1], f[2]


class CurveDerivatives(NamedTuple):
    """A vector function of s and its derivatives."""

    f: Vec
    f1: Vec
    f2: Vec
    f3: Vec


@kernel
def polynomial(numbers: Array, row: int, x: float) -> tuple[float, float, float, float]:
    """Return a quintic and three derivatives at x."""
    f, f1, f2, f3 = numbers[row], 0.0, 0.0, 0.0
    for k in range(1, 6):
        f3 = f3 * x + 3.0 * f2
        f2 = f2 * x + 2.0 * f1
        f1 = f1 * x + f
        f = f * x + numbers[row + k]
    return f, f1, f2, f3


@kernel
def piece_of(numbers: Array, first: int, pieces: int, s: float) -> int:
    """Return the number of the spline piece that contains s; the first and the last piece extend to infinity."""
    low, high = 0, pieces
    while high - low > 1:
        middle = (low + high) // 2
        if s < numbers[first + middle]:
            high = middle
        else:
            low = middle
    return low


@kernel
def function_at(numbers: Array, first: int, pieces: int, s: float, which: int) -> CurveDerivatives:
    """Return the curve c(s) (which = 0) or its normal n(s) (which = 1), frame of body i, (3,)."""
    k = piece_of(numbers, first, pieces, s)
    x, row = s - numbers[first + k], first + pieces + 1 + PIECE * k + 18 * which
    a, b, c = polynomial(numbers, row, x), polynomial(numbers, row + 6, x), polynomial(numbers, row + 12, x)
    return CurveDerivatives((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2]), (a[3], b[3], c[3]))


@kernel
def nearest(numbers: Array, first: int, pieces: int, period: float, x: Vec) -> float:
    """Return s of the nearest point: the nearest of four points of each piece, then Newton's method; NaN if it does not converge."""
    start: float = numbers[first]
    length: float = numbers[first + pieces] - start
    s, best = start, np.inf
    for k in range(4 * pieces + 1):
        piece = min(k // 4, pieces - 1)
        at = numbers[first + piece] + 0.25 * (k - 4 * piece) * (numbers[first + piece + 1] - numbers[first + piece])
        d = sub(x, function_at(numbers, first, pieces, at, 0).f)
        if dot(d, d) < best:
            best, s = dot(d, d), at
    longest = length / pieces
    for _ in range(MAX_NEWTON):
        c = function_at(numbers, first, pieces, s, 0)
        e = sub(x, c.f)
        w = dot(c.f1, c.f1) - dot(c.f2, e)
        step = dot(c.f1, e) / (w if w > 0.0 else dot(c.f1, c.f1))
        s += min(longest, max(-longest, step))
        if period > 0.0:
            s = start + np.remainder(s - start, period)
        if abs(step) <= NEAREST_TOL * length:
            return s
    return np.nan


class SeenPoint(NamedTuple):
    """A point of body j from the origin of body i, global, omega of body i, and x, x_dot, x_ddot at u' = 0 in the frame of body i."""

    d: Vec
    omega: Vec
    x: Vec
    x_dot: Vec
    x_ddot: Vec


@kernel
def seen_point(m: Motion, i: int, j: int, Q: int) -> SeenPoint:
    """Return the point of marker Q of body j as body i sees it."""
    d = sub(add(load(m.bodies, j, 0), value(m, Q)), load(m.bodies, i, 0))
    d_dot = sub(add(load(m.bodies, j, VELOCITY), rate(m, Q)), load(m.bodies, i, VELOCITY))
    omega = to_global(m.A, i, load(m.bodies, i, OMEGA_BAR))
    turned = sub(d_dot, cross(omega, d))
    acceleration = sub(centripetal(m, Q), add(cross(omega, d_dot), cross(omega, turned)))
    return SeenPoint(d, omega, to_body(m.A, i, d), to_body(m.A, i, turned), to_body(m.A, i, acceleration))


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all PointOnCurve."""
    k = 0
    while k < ints.shape[0]:
        i_marker, Q, pieces = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1], ints[k, N_PIECES]
        i, j = m.body_of[i_marker], m.body_of[Q]
        first = 3 * (k + 1)
        numbers = borrow_line(floats, 0, first + 3 * ints[k, N_LINES])
        d, _, x, x_dot, x_ddot = seen_point(m, i, j, Q)
        s = nearest(numbers, first, pieces, floats[k, PERIOD], x)
        c, n = function_at(numbers, first, pieces, s, 0), function_at(numbers, first, pieces, s, 1)
        e = sub(x, c.f)
        w = dot(c.f1, c.f1) - dot(c.f2, e)
        g = to_global(m.A, i, add(n.f, scale((dot(n.f1, e) - dot(n.f, c.f1)) / w, c.f1)))
        put_row(rows, m, ints, k, i, j, g, cross(g, d), cross(value(m, Q), g))
        s_dot = dot(c.f1, x_dot) / w
        e_dot = sub(x_dot, scale(s_dot, c.f1))
        w_dot = s_dot * (2.0 * dot(c.f1, c.f2) - dot(c.f3, e)) - dot(c.f2, e_dot)
        s_ddot = (dot(c.f1, x_ddot) + s_dot * dot(c.f2, x_dot) - w_dot * s_dot) / w
        along = sub(x_ddot, add(scale(s_dot * s_dot, c.f2), scale(s_ddot, c.f1)))
        across = s_dot * s_dot * dot(n.f2, e) + s_ddot * dot(n.f1, e) + 2.0 * s_dot * dot(n.f1, e_dot)
        put_level(rows, ints[k, SLOT], dot(n.f, e), 0.0, -across - dot(n.f, along))
        k += 1 + ints[k, N_LINES]
