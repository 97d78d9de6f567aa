r"""Dense output of any integrator: positions by quintic Hermite interpolation of (r, p), velocities by its derivative.

    s = (t - t0) / h      x(s) = combination of x, h x', h^2 x'' at both ends          O(h^6) for r and p, O(h^5) for v and omega_bar
    p'' = G^T omega_bar' / 2 - |omega_bar|^2 p / 4                             omega_bar = 2 G p'

It needs only states and rates at the ends of a step.  They are exact there for every method, with or without projection.
Integrated angles are interpolated by cubic Hermite polynomials.
Source: de Boor, A Practical Guide to Splines (Hermite interpolation); the form for Euler parameters follows from p' = G^T omega_bar / 2.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.math.euler_parameters import normalized, omega_bar_from, p_dot_from
from haugmbd.workspace.layout import WIDTH


def interpolate(t_new: Array, t: Array, y: Array, y_dot: Array, n_bodies: int) -> Array:
    """Return states (k, ny) at `t_new` (k,) within [t[0], t[-1]], from states and rates (nt, ny) at increasing `t` (nt,)."""
    if not len(t_new):
        return y[:0].copy()
    k = np.clip(np.searchsorted(t, t_new, side="right") - 1, 0, max(len(t) - 2, 0))
    if len(t) == 1:
        return np.repeat(y, len(t_new), axis=0)
    h = (t[k + 1] - t[k])[:, None, None]
    s = ((t_new - t[k]) / (t[k + 1] - t[k]))[:, None, None]
    x, x_dot = quintic(s, h, _jets(y, y_dot, k, n_bodies))
    p = normalized(x[..., 3:])
    bodies = np.concatenate([x[..., :3], p, x_dot[..., :3], omega_bar_from(p, x_dot[..., 3:])], axis=-1)
    bodies[:, 0] = y[k][:, :WIDTH]
    if y.shape[1] == WIDTH * n_bodies:
        return bodies.reshape(len(t_new), -1)
    angles = _cubic(s[:, 0], h[:, 0], y, y_dot, k, WIDTH * n_bodies)
    return np.concatenate([bodies.reshape(len(t_new), -1), angles], axis=1)


def _jets(y: Array, y_dot: Array, k: Ints, n: int) -> list[tuple[Array, Array, Array]]:
    """Return (r, p) and its derivatives at the states k and k + 1; each state is looked at once, if most of them are needed."""
    first, last = int(k[0]), int(k[-1]) + 2
    if not 0 < last - first <= 2 * len(k) or (k < first).any() or (k > last - 2).any():
        return [_jet(y[k + e], y_dot[k + e], n) for e in (0, 1)]
    jet = _jet(y[first:last], y_dot[first:last], n)
    return [(jet[0][j], jet[1][j], jet[2][j]) for j in (k - first, k - first + 1)]


def _jet(y: Array, y_dot: Array, n: int) -> tuple[Array, Array, Array]:
    """Return (r, p) and its first and second derivatives, (k, n, 7) each."""
    bodies = y[:, : WIDTH * n].reshape(-1, n, WIDTH)
    rates = y_dot[:, : WIDTH * n].reshape(-1, n, WIDTH)
    p, omega_bar = bodies[..., 3:7], bodies[..., 10:13]
    p_ddot = p_dot_from(p, rates[..., 10:13]) - 0.25 * np.sum(omega_bar**2, axis=-1, keepdims=True) * p
    return bodies[..., :7], rates[..., :7], np.concatenate([rates[..., 7:10], p_ddot], axis=-1)


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


def _cubic(s: Array, h: Array, y: Array, y_dot: Array, k: Ints, first: int) -> Array:
    """Return the columns from `first` on by cubic Hermite interpolation."""
    x0, x1, d0, d1 = y[k, first:], y[k + 1, first:], h * y_dot[k, first:], h * y_dot[k + 1, first:]
    gap = x1 - x0
    value: Array = x0 + s * (d0 + s * (3.0 * gap - 2.0 * d0 - d1 + s * (d0 + d1 - 2.0 * gap)))
    return value
