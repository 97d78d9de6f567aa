r"""Dense output of any integrator: positions by quintic Hermite interpolation of (r, p), velocities by its derivative.

    s = (t - t0) / h      x(s) = combination of x, h x', h^2 x'' at both ends          O(h^6) for r and p, O(h^5) for v and omega_bar
    p'' = G^T omega_bar' / 2 - |omega_bar|^2 p / 4                             omega_bar = 2 G p'

It needs only states and rates at the ends of a step.  They are exact there for every method, with or without projection.
Integrated angles are interpolated by cubic Hermite polynomials.
In a step so short that positions change by less than their rounding, beyond what rates say, their change is that of the rates: of the
quartic part, and the velocity is the cubic one.  Divided by h, the rounding would be a velocity: at 1e-11 s one of 1e-5 m/s.
Source: de Boor, A Practical Guide to Splines (Hermite interpolation); the form for Euler parameters follows from p' = G^T omega_bar / 2.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry, kernel
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_kernels import normalize
from haugmbd.workspace.layout import WIDTH

ROUNDING = 8.9e-16
"""Of the size of positions: four roundings, of both ends and what was added."""


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
def quintic_value(
    s: float, h: float, start: tuple[float, float, float], end: tuple[float, float, float], size: float
) -> tuple[float, float]:
    """Return value and time derivative of the quintic through value, rate and second derivative at both ends; s = (t - t0) / h.

    size: that of the values, of which they have the rounding
    """
    (x0, d0, a0), (x1, d1, a1) = start, end
    c1, c2 = h * d0, 0.5 * h * h * a0
    gap, slope, bend = x1 - x0 - c1 - c2, h * d1 - c1 - 2.0 * c2, h * h * a1 - 2.0 * c2
    by_rates = 0.5 * slope - bend / 12.0
    if abs(gap - by_rates) <= ROUNDING * size:
        gap = by_rates
    c3 = 10.0 * gap - 4.0 * slope + 0.5 * bend
    c4 = -15.0 * gap + 7.0 * slope - bend
    c5 = 6.0 * gap - 3.0 * slope + 0.5 * bend
    x = x0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    return x, (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h


@kernel
def put_body(s: float, h: float, y0: Array, d0: Array, y1: Array, d1: Array, out: Array) -> None:
    """Write one body (13,) between two states with their rates."""
    p0 = second_rates(y0[EULER:VELOCITY], y0[OMEGA_BAR:WIDTH], d0[OMEGA_BAR:WIDTH])
    p1 = second_rates(y1[EULER:VELOCITY], y1[OMEGA_BAR:WIDTH], d1[OMEGA_BAR:WIDTH])
    far = abs(y0[0]) + abs(y0[1]) + abs(y0[2])
    for a in range(3):
        start, end = (y0[a], d0[a], d0[VELOCITY + a]), (y1[a], d1[a], d1[VELOCITY + a])
        out[a], out[VELOCITY + a] = quintic_value(s, h, start, end, far)
    e0, f0 = quintic_value(s, h, (y0[3], d0[3], p0[0]), (y1[3], d1[3], p1[0]), 1.0)
    e1, f1 = quintic_value(s, h, (y0[4], d0[4], p0[1]), (y1[4], d1[4], p1[1]), 1.0)
    e2, f2 = quintic_value(s, h, (y0[5], d0[5], p0[2]), (y1[5], d1[5], p1[2]), 1.0)
    e3, f3 = quintic_value(s, h, (y0[6], d0[6], p0[3]), (y1[6], d1[6], p1[3]), 1.0)
    out[3], out[4], out[5], out[6] = e0, e1, e2, e3
    normalize(out[EULER:VELOCITY])
    e0, e1, e2, e3 = out[3], out[4], out[5], out[6]
    out[10] = 2.0 * (-e1 * f0 + e0 * f1 + e3 * f2 - e2 * f3)
    out[11] = 2.0 * (-e2 * f0 - e3 * f1 + e0 * f2 + e1 * f3)
    out[12] = 2.0 * (-e3 * f0 + e2 * f1 - e1 * f2 + e0 * f3)


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
        gap, r0, r1 = y1[a] - y0[a], h * d0[a], h * d1[a]
        out[a] = y0[a] + s * (r0 + s * (3.0 * gap - 2.0 * r0 - r1 + s * (r0 + r1 - 2.0 * gap)))


@entry
def interpolate_entry(t_new: Array, t: Array, y: Array, y_dot: Array, n_bodies: int, out: Array) -> None:
    """Write the states at t_new (k,) to out (k, ny)."""
    last = t.size - 2
    for row in range(t_new.size):
        k = min(max(np.searchsorted(t, t_new[row], side="right") - 1, 0), last)
        h = t[k + 1] - t[k]
        put_state((t_new[row] - t[k]) / h, h, (y[k], y_dot[k]), (y[k + 1], y_dot[k + 1]), n_bodies, out[row])


def interpolate(t_new: Array, t: Array, y: Array, y_dot: Array, n_bodies: int) -> Array:
    """Return states (k, ny) at `t_new` (k,) within [t[0], t[-1]], from states and rates (nt, ny) at increasing `t` (nt,)."""
    if not len(t_new):
        return y[:0].copy()
    if len(t) == 1:
        return np.repeat(y, len(t_new), axis=0)
    out = np.empty((len(t_new), y.shape[1]))
    times, t, y, y_dot = (np.require(x, np.float64, ("C", "W")) for x in (t_new, t, y, y_dot))
    interpolate_entry(times, t, y, y_dot, n_bodies, out)
    return out


def quintic(s: Array, h: Array, ends: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
    """Return value and time derivative of the quintic through value, rate and second derivative at both ends."""
    (x0, d0, a0), (x1, d1, a1) = ends
    c1, c2 = h * d0, 0.5 * h * h * a0
    gap, slope, bend = x1 - x0 - c1 - c2, h * d1 - c1 - 2.0 * c2, h * h * a1 - 2.0 * c2
    c3 = 10.0 * gap - 4.0 * slope + 0.5 * bend
    c4 = -15.0 * gap + 7.0 * slope - bend
    c5 = 6.0 * gap - 3.0 * slope + 0.5 * bend
    x = x0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    x_dot = (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
    return x, x_dot
