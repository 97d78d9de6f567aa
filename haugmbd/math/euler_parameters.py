r"""Euler parameters p = (e0, e), scalar first, |p| = 1, on arrays whose last axis has length 4.

    A(p)      = E G^T = (2 e0^2 - 1) I + 2 (e e^T + e0 e~)           turns body components into global ones: a = A a_bar
    E(p)      = [-e,  e~ + e0 I]       E p = 0    E E^T = I           omega     = 2 E p_dot
    G(p)      = [-e, -e~ + e0 I]       G p = 0    G G^T = I           omega_bar = 2 G p_dot      p_dot = G^T omega_bar / 2
    product   A(p q) = A(p) A(q);      p and -p are one rotation
    exp, log  exp(theta_bar) = (cos |theta|/2, theta_bar/|theta| sin |theta|/2),   A(p exp(theta_bar)) = A(p) exp(theta_bar~)

Every function is vectorised over the leading axes. The norm of p is not changed unless the docstring states it.
Source: Haug (2021), Euler parameters and angular velocity;
Shepperd (1978) for `from_rotation_matrix`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

SMALL_ANGLE = 1e-4
"""[rad] Below it sin(x)/x is 1 - x^2/6 + x^4/120: the next term, x^6/5040, is below 1e-27;
above it the quotient is exact to rounding."""

PLACES = np.array([[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
SIGNS_OF_E = np.array([[-1.0, 1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]])
SIGNS_OF_G = np.array([[-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 1.0]])
"""Each entry of E and of G is one of the Euler parameters, with its sign:  E = [-e1 e0 -e3 e2; -e2 e3 e0 -e1; -e3 -e2 e1 e0]."""

NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
"""The two other components of a vector, for each one, in cyclic order."""


FEW = 1000
"""Numbers of an array from which on NumPy's own cross product is the faster one."""


def skew(a: npt.ArrayLike) -> FloatArray:
    """Return a~ with a~ b = a x b: (..., 3) to (..., 3, 3)."""
    a = np.asarray(a, dtype=np.float64)
    out = np.zeros((*a.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return out


def cross(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return a x b, (..., 3), with the digits of `numpy.cross`, in a tenth of its time for few vectors."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if max(a.size, b.size) > FEW:
        return np.cross(a, b)
    if a.ndim == b.ndim == 1:
        (x, y, z), (u, v, w) = a.tolist(), b.tolist()
        return np.array((y * w - z * v, z * u - x * w, x * v - y * u))
    found: FloatArray = a.take(NEXT, -1) * b.take(LAST, -1) - a.take(LAST, -1) * b.take(NEXT, -1)
    return found


def lengths(a: FloatArray) -> FloatArray:
    """Return |a|, (..., k) to (..., 1), with the digits of `numpy.linalg.norm`, in half of its time for few vectors."""
    size: FloatArray = np.sqrt(np.add.reduce(a * a, axis=-1, keepdims=True))
    return size


def E(p: npt.ArrayLike) -> FloatArray:
    """Return E = [-e, e~ + e0 I]: (..., 4) to (..., 3, 4); omega = 2 E p_dot is the angular velocity in the global frame."""
    matrix: FloatArray = np.asarray(p, dtype=np.float64).take(PLACES, -1) * SIGNS_OF_E
    return matrix


def G(p: npt.ArrayLike) -> FloatArray:
    """Return G = [-e, -e~ + e0 I]: (..., 4) to (..., 3, 4); omega_bar = 2 G p_dot is the angular velocity in the body frame."""
    matrix: FloatArray = np.asarray(p, dtype=np.float64).take(PLACES, -1) * SIGNS_OF_G
    return matrix


def rotation_matrix(p: npt.ArrayLike) -> FloatArray:
    """Return A(p) = E G^T: (..., 4) to (..., 3, 3), columns = body axes in the global frame; |p| = 1 is assumed."""
    return E(p) @ np.swapaxes(G(p), -1, -2)


def omega_bar_from(p: npt.ArrayLike, p_dot: npt.ArrayLike) -> FloatArray:
    """Return omega_bar = 2 G p_dot, body frame [rad/s], (..., 3)."""
    (e0, e1, e2, e3), (d0, d1, d2, d3) = _components(p), _components(p_dot)
    first = e0 * d1 - e1 * d0 + e3 * d2 - e2 * d3
    omega_bar = np.empty((*first.shape, 3))
    omega_bar[..., 0] = first
    omega_bar[..., 1] = e0 * d2 - e2 * d0 + e1 * d3 - e3 * d1
    omega_bar[..., 2] = e0 * d3 - e3 * d0 + e2 * d1 - e1 * d2
    omega_bar *= 2.0
    return omega_bar


def p_dot_from(p: npt.ArrayLike, omega_bar: npt.ArrayLike) -> FloatArray:
    """Return p_dot = G^T omega_bar / 2 [1/s], (..., 4)."""
    (e0, e1, e2, e3), (w1, w2, w3) = _components(p), _components(omega_bar)
    first = -(e1 * w1 + e2 * w2 + e3 * w3)
    p_dot = np.empty((*first.shape, 4))
    p_dot[..., 0] = first
    p_dot[..., 1] = e0 * w1 + e2 * w3 - e3 * w2
    p_dot[..., 2] = e0 * w2 + e3 * w1 - e1 * w3
    p_dot[..., 3] = e0 * w3 + e1 * w2 - e2 * w1
    p_dot *= 0.5
    return p_dot


def _components(x: npt.ArrayLike) -> list[FloatArray]:
    """Return the components of vectors (..., k), (...) each."""
    x = np.asarray(x, dtype=np.float64)
    return [x[..., k] for k in range(x.shape[-1])]


def normalized(p: npt.ArrayLike) -> FloatArray:
    """Return p / |p|, (..., 4); NaN where p is zero."""
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit: FloatArray = p / lengths(p)
    return unit


def conjugate(p: npt.ArrayLike) -> FloatArray:
    """Return (e0, -e), the inverse rotation, (..., 4)."""
    inverse: FloatArray = np.asarray(p, dtype=np.float64) * np.array([1.0, -1.0, -1.0, -1.0])
    return inverse


def product(p: npt.ArrayLike, q: npt.ArrayLike) -> FloatArray:
    """Return the Euler parameters of A(p) A(q): p q = e0_q p + G(p)^T e_q, (..., 4)."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    pq: FloatArray = q[..., :1] * p + np.einsum("...ji,...j->...i", G(p), q[..., 1:])
    return pq


def exponential(theta_bar: npt.ArrayLike) -> FloatArray:
    """Return the Euler parameters of the rotation vector theta_bar = axis * angle [rad]: (..., 3) to (..., 4)."""
    theta_bar = np.asarray(theta_bar, dtype=np.float64)
    half = 0.5 * lengths(theta_bar)
    small = half < SMALL_ANGLE
    ratio = np.where(small, 1.0 - half**2 / 6.0 + half**4 / 120.0, np.sin(half) / np.where(small, 1.0, half))
    return np.concatenate((np.cos(half), 0.5 * ratio * theta_bar), axis=-1)


def logarithm(p: npt.ArrayLike) -> FloatArray:
    """Return the rotation vector of p, with an angle in [0, pi] [rad]: (..., 4) to (..., 3)."""
    p = np.asarray(p, dtype=np.float64)
    p = np.where(p[..., :1] < 0.0, -p, p)  # of p and -p the one with the shorter way
    sine = lengths(p[..., 1:])
    angle = 2.0 * np.arctan2(sine, p[..., :1])
    zero = sine == 0.0
    return np.where(zero, 2.0, angle / np.where(zero, 1.0, sine)) * p[..., 1:]


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> FloatArray:
    """Return p = (cos angle/2, unit axis * sin angle/2): (..., 3) and (...) [rad] to (..., 4); NaN for a zero axis."""
    axis = np.asarray(axis, dtype=np.float64)
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = axis / lengths(axis)
    cosine, direction = np.broadcast_arrays(np.cos(half), unit)
    return np.concatenate((cosine[..., :1], np.sin(half) * direction), axis=-1)


def from_rotation_matrix(A: npt.ArrayLike) -> FloatArray:
    """Return p with e0 >= 0 and A(p) = A, by Shepperd's largest pivot: (..., 3, 3) to (..., 4).

    4 p p^T is linear in A; the row with the largest diagonal, at least 1, is p times a number: no cancellation at any angle.
    """
    A = np.asarray(A, dtype=np.float64)
    xx, yy, zz = A[..., 0, 0], A[..., 1, 1], A[..., 2, 2]
    outer = np.empty((*A.shape[:-2], 4, 4))
    outer[..., 0, 0], outer[..., 1, 1] = 1.0 + xx + yy + zz, 1.0 + xx - yy - zz
    outer[..., 2, 2], outer[..., 3, 3] = 1.0 - xx + yy - zz, 1.0 - xx - yy + zz
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[..., 0, i + 1] = outer[..., i + 1, 0] = A[..., k, j] - A[..., j, k]
        outer[..., j + 1, k + 1] = outer[..., k + 1, j + 1] = A[..., k, j] + A[..., j, k]
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :]
    p = normalized(row)
    return np.where(p[..., :1] < 0.0, -p, p)


def slerp(p: npt.ArrayLike, q: npt.ArrayLike, tau: npt.ArrayLike) -> FloatArray:
    """Return p exp(tau log(p* q)), the fraction tau of the shorter way from p (tau = 0) to q (tau = 1), (..., 4)."""
    tau = np.asarray(tau, dtype=np.float64)
    return product(p, exponential(tau[..., None] * logarithm(product(conjugate(p), q))))


def resample(t: npt.ArrayLike, p: npt.ArrayLike, t_new: npt.ArrayLike) -> FloatArray:
    """Return p at the times t_new (n,) within t, (n, ..., 4), by slerp between samples: t (nt,) increasing, p (nt, ..., 4)."""
    t, p, t_new = (np.asarray(x, dtype=np.float64) for x in (t, p, t_new))
    left = np.clip(np.searchsorted(t, t_new, side="right") - 1, 0, len(t) - 2)
    tau = (t_new - t[left]) / (t[left + 1] - t[left])
    return slerp(p[left], p[left + 1], tau.reshape(tau.shape + (1,) * (p.ndim - 2)))
