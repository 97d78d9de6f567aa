r"""Dense output of any integrator: positions by quintic Hermite interpolation of (r, p), velocities by its derivative.

    s = (t - t0) / h      x(s) = combination of x, h x', h^2 x'' at both ends          O(h^6) for r and p, O(h^5) for v and omega_bar
    p'' = G^T omega_bar' / 2 - |omega_bar|^2 p / 4                             omega_bar = 2 G p'
    x'(s) = c(s) + w 30 s^2 (1 - s)^2 e / h          c: cubic Hermite interpolant of x', with x'' at both ends;  e = x1 - x0 - h int c ds
    w = max(0, 1 - (15/8 |e| / h)^2 / b^2)           b = TRUST h (|x''_0| + |x''_1|)

e is of order five where velocities are the derivatives of positions, and the quartic term then raises the order of x' from four to five.
It is a term of a convergent series, small beside h x'': w = 1 - O(h^6).  Positions of a method of order one (semi-implicit Euler) miss
the integral of their velocities by e = h^2 x'' / 2; velocities are then interpolated by themselves, w = 0.
It needs only states and rates at the ends of a step.  They are exact there for every method, with or without projection.
Integrated angles are interpolated by cubic Hermite polynomials.
Source: de Boor, A Practical Guide to Splines (Hermite interpolation); the form for Euler parameters follows from p' = G^T omega_bar / 2.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_kernels import normalize
from haugmbd.workspace.layout import WIDTH

TRUST = 1.0 / 16.0
"""Of the change of a velocity by the accelerations at the ends of a step: the quartic term of a motion with the frequency w is
(w h)^3 / 48 of this part.  It is 2 % in steps of one radian, and 7.5 times this part after semi-implicit Euler."""


@kernel
def second_rates(p: Array, w: Array, w_dot: Array) -> tuple[float, float, float, float]:
    """Return p'' = G^T omega_bar' / 2 - |omega_bar|^2 p / 4."""
    a, b, c = 0.5 * w_dot[0], 0.5 * w_dot[1], 0.5 * w_dot[2]
    q = 0.25 * (w[0] ** 2 + w[1] ** 2 + w[2] ** 2)
    return (
        -p[1] * a - p[2] * b - p[3] * c - q * p[0],
        p[0] * a - p[3] * b + p[2] * c - q * p[1],
        p[3] * a + p[0] * b - p[1] * c - q * p[2],
        -p[2] * a + p[1] * b + p[0] * c - q * p[3],
    )


@kernel
def put_parabola(tau: float, y: Array, y_dot: Array, n_bodies: int, out: Array) -> None:
    """Write the state after tau on the parabola from y:  q + tau q' + tau^2 q'' / 2,  u + tau u',  with q = (r, p)."""
    half = 0.5 * tau * tau
    for a in range(y.size):
        out[a] = y[a] + tau * y_dot[a]
    for body in range(1, n_bodies):
        k = WIDTH * body
        for a in range(3):
            out[k + a] += half * y_dot[k + VELOCITY + a]
        p_ddot = second_rates(y[k + 3 : k + 7], y[k + 10 : k + 13], y_dot[k + 10 : k + 13])
        for a in range(4):
            out[k + 3 + a] += half * p_ddot[a]
        normalize(out[k + 3 : k + 7])


@kernel
def quintic_value(s: float, h: float, start: tuple[float, float, float], end: tuple[float, float, float]) -> tuple[float, float]:
    """Return value and time derivative of the quintic through value, rate and second derivative at both ends; s = (t - t0) / h."""
    (x0, d0, a0), (x1, d1, a1) = start, end
    c1, c2 = h * d0, 0.5 * h * h * a0
    gap, slope, bend = x1 - x0 - c1 - c2, h * d1 - c1 - 2.0 * c2, h * h * a1 - 2.0 * c2
    c3 = 10.0 * gap - 4.0 * slope + 0.5 * bend
    c4 = -15.0 * gap + 7.0 * slope - bend
    c5 = 6.0 * gap - 3.0 * slope + 0.5 * bend
    x = x0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    return x, (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h


@kernel
def cubic_value(s: float, h: float, d0: float, a0: float, d1: float, a1: float) -> float:
    """Return the cubic through value and derivative at both ends; s = (t - t0) / h."""
    gap, slope, end = d1 - d0, h * a0, h * a1
    return d0 + s * (slope + s * (3.0 * gap - 2.0 * slope - end + s * (slope + end - 2.0 * gap)))


@kernel
def mismatch(h: float, start: tuple[float, float, float], end: tuple[float, float, float]) -> float:
    """Return e = x1 - x0 - h int c ds, the change of a position without the integral of its velocity."""
    (x0, d0, a0), (x1, d1, a1) = start, end
    return x1 - x0 - 0.5 * h * (d0 + d1) + h * h * (a1 - a0) / 12.0


@kernel
def weight(h: float, e2: float, a0: float, a1: float) -> float:
    """Return w of the quartic term of a velocity, from |e|^2 and the sizes of both accelerations."""
    term, bound = (1.875 / h) ** 2 * e2, (TRUST * h * (a0 + a1)) ** 2
    return max(0.0, 1.0 - term / bound) if bound > 0.0 else 0.0


@kernel
def put_body(s: float, h: float, y0: Array, d0: Array, y1: Array, d1: Array, out: Array) -> None:
    """Write one body (13,) between two states with their rates."""
    e2, n0, n1 = 0.0, 0.0, 0.0
    for a in range(3):
        start, end = (y0[a], d0[a], d0[VELOCITY + a]), (y1[a], d1[a], d1[VELOCITY + a])
        out[a], out[VELOCITY + a] = quintic_value(s, h, start, end)
        e2, n0, n1 = e2 + mismatch(h, start, end) ** 2, n0 + start[2] ** 2, n1 + end[2] ** 2
    w = weight(h, e2, sqrt(n0), sqrt(n1))
    for a in range(VELOCITY, OMEGA_BAR):
        c = cubic_value(s, h, y0[a], d0[a], y1[a], d1[a])
        out[a] = c + w * (out[a] - c)
    put_rotation(s, h, y0, d0, y1, d1, out)


@kernel
def put_rotation(s: float, h: float, y0: Array, d0: Array, y1: Array, d1: Array, out: Array) -> None:
    """Write p and omega_bar of one body (13,) between two states with their rates."""
    p0 = second_rates(y0[EULER:VELOCITY], y0[OMEGA_BAR:WIDTH], d0[OMEGA_BAR:WIDTH])
    p1 = second_rates(y1[EULER:VELOCITY], y1[OMEGA_BAR:WIDTH], d1[OMEGA_BAR:WIDTH])
    e0, f0 = quintic_value(s, h, (y0[3], d0[3], p0[0]), (y1[3], d1[3], p1[0]))
    e1, f1 = quintic_value(s, h, (y0[4], d0[4], p0[1]), (y1[4], d1[4], p1[1]))
    e2, f2 = quintic_value(s, h, (y0[5], d0[5], p0[2]), (y1[5], d1[5], p1[2]))
    e3, f3 = quintic_value(s, h, (y0[6], d0[6], p0[3]), (y1[6], d1[6], p1[3]))
    out[3], out[4], out[5], out[6] = e0, e1, e2, e3
    normalize(out[EULER:VELOCITY])
    e0, e1, e2, e3 = out[3], out[4], out[5], out[6]
    out[10] = 2.0 * (-e1 * f0 + e0 * f1 + e3 * f2 - e2 * f3)
    out[11] = 2.0 * (-e2 * f0 - e3 * f1 + e0 * f2 + e1 * f3)
    out[12] = 2.0 * (-e3 * f0 + e2 * f1 - e1 * f2 + e0 * f3)
    gap2, n0, n1 = 0.0, 0.0, 0.0
    for a in range(4):
        k = EULER + a
        gap2 += mismatch(h, (y0[k], d0[k], p0[a]), (y1[k], d1[k], p1[a])) ** 2
    for k in range(OMEGA_BAR, WIDTH):
        n0, n1 = n0 + d0[k] ** 2, n1 + d1[k] ** 2
    w = weight(h, 4.0 * gap2, sqrt(n0), sqrt(n1))
    for k in range(OMEGA_BAR, WIDTH):
        c = cubic_value(s, h, y0[k], d0[k], y1[k], d1[k])
        out[k] = c + w * (out[k] - c)


@kernel
def put_state(s: float, h: float, start: tuple[Array, Array], end: tuple[Array, Array], n_bodies: int, out: Array) -> None:
    """Write the state at the part s of a step of h between two states with their rates."""
    (y0, d0), (y1, d1) = start, end
    for a in range(WIDTH):
        out[a] = y0[a]
    for b in range(1, n_bodies):
        at = slice(WIDTH * b, WIDTH * (b + 1))
        put_body(s, h, y0[at], d0[at], y1[at], d1[at], out[at])
    for a in range(WIDTH * n_bodies, y0.size):
        out[a] = cubic_value(s, h, y0[a], d0[a], y1[a], d1[a])


@entry
def interpolate_entry(t_new: Array, t: Array, y: Array, y_dot: Array, n_bodies: int, out: Array) -> None:
    """Write the states at t_new (k,) to out (k, ny)."""
    last = t.size - 2
    for row in range(t_new.size):
        k = min(max(np.searchsorted(t, t_new[row], side="right") - 1, 0), last)
        h = t[k + 1] - t[k]
        put_state((t_new[row] - t[k]) / h, h, (y[k], y_dot[k]), (y[k + 1], y_dot[k + 1]), n_bodies, out[row])


put_between = DirectCall(interpolate_entry)


def interpolate(t_new: Array, t: Array, y: Array, y_dot: Array, n_bodies: int) -> Array:
    """Return states (k, ny) at `t_new` (k,) within [t[0], t[-1]], from states and rates (nt, ny) at increasing `t` (nt,)."""
    if not len(t_new):
        return y[:0].copy()
    if len(t) == 1:
        return np.repeat(y, len(t_new), axis=0)
    out = np.empty((len(t_new), y.shape[1]))
    arrays = [t_new, t, y, y_dot]
    if not all(x.dtype == np.float64 and x.flags.c_contiguous and x.flags.writeable for x in arrays):
        arrays = [np.require(x, np.float64, ("C", "W")) for x in arrays]
    put_between(*arrays, n_bodies, out)
    return out


def quintic(s: Array, h: Array, ends: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Return value and time derivative of the quintic through value, rate and second derivative at both ends, and e."""
    (x0, d0, a0), (x1, d1, a1) = ends
    c1, c2 = h * d0, 0.5 * h * h * a0
    gap, slope, bend = x1 - x0 - c1 - c2, h * d1 - c1 - 2.0 * c2, h * h * a1 - 2.0 * c2
    c3 = 10.0 * gap - 4.0 * slope + 0.5 * bend
    c4 = -15.0 * gap + 7.0 * slope - bend
    c5 = 6.0 * gap - 3.0 * slope + 0.5 * bend
    x = x0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    x_dot = (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
    return x, x_dot, x1 - x0 - 0.5 * h * (d0 + d1) + h * h * (a1 - a0) / 12.0


def between_rates(s: Array, h: Array, derived: Array, e: Array, ends: list[tuple[Array, Array]]) -> Array:
    """Return rates (k, n) of one joint: the derivative of its quintic, or with a large e the cubic through rates and accelerations.

    ends: rates and accelerations at both ends
    """
    (d0, a0), (d1, a1) = ends
    gap, slope, end = d1 - d0, h * a0, h * a1
    cubic = d0 + s * (slope + s * (3.0 * gap - 2.0 * slope - end + s * (slope + end - 2.0 * gap)))
    e2, n0, n1 = (np.sum(x**2, axis=1, keepdims=True) for x in (e, a0, a1))
    term, bound = (1.875 / h) ** 2 * e2, (TRUST * h * (np.sqrt(n0) + np.sqrt(n1))) ** 2
    w = np.maximum(0.0, 1.0 - np.divide(term, bound, out=np.ones_like(term), where=bound > 0.0))
    found: Array = cubic + w * (derived - cubic)
    return found
