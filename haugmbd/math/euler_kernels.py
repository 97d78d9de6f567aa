r"""The formulas of `haugmbd.math.euler_parameters` for ONE body, compiled, written into arrays that the caller owns.

    A(p)  = E G^T / |p|^2      p_dot = G^T omega_bar / 2      p <- p / |p|      p <- p exp(theta_bar)

Body k is row k of the arrays of a model (13 numbers a body), or the row that is handed over.  Nothing is allocated, nothing is checked.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.jit import inlined, kernel
from haugmbd.math.euler_parameters import SMALL_ANGLE

FloatArray = npt.NDArray[np.float64]


@inlined
def put_rotation(A: FloatArray, k: int, e0: float, e1: float, e2: float, e3: float) -> None:
    """Write A_k of Euler parameters of any length but zero."""
    q = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    A[k, 0, 0] = 1.0 - q * (e2 * e2 + e3 * e3)
    A[k, 1, 1] = 1.0 - q * (e1 * e1 + e3 * e3)
    A[k, 2, 2] = 1.0 - q * (e1 * e1 + e2 * e2)
    A[k, 0, 1] = q * (e1 * e2 - e0 * e3)
    A[k, 1, 0] = q * (e1 * e2 + e0 * e3)
    A[k, 0, 2] = q * (e1 * e3 + e0 * e2)
    A[k, 2, 0] = q * (e1 * e3 - e0 * e2)
    A[k, 1, 2] = q * (e2 * e3 - e0 * e1)
    A[k, 2, 1] = q * (e2 * e3 + e0 * e1)


@inlined
def put_euler_rate(bodies: FloatArray, rates: FloatArray, k: int) -> None:
    """Write p_dot = G^T omega_bar / 2 of body k to columns 3..6 of `rates`."""
    e0, e1, e2, e3 = bodies[k, 3], bodies[k, 4], bodies[k, 5], bodies[k, 6]
    w1, w2, w3 = bodies[k, 10], bodies[k, 11], bodies[k, 12]
    rates[k, 3] = -0.5 * (e1 * w1 + e2 * w2 + e3 * w3)
    rates[k, 4] = 0.5 * (e0 * w1 - e3 * w2 + e2 * w3)
    rates[k, 5] = 0.5 * (e3 * w1 + e0 * w2 - e1 * w3)
    rates[k, 6] = 0.5 * (-e2 * w1 + e1 * w2 + e0 * w3)


@kernel
def normalize(p: FloatArray) -> float:
    """Divide p by |p| in place, and return how far it was from unit: |p| - 1."""
    length = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    for k in range(4):
        p[k] /= length
    return length - 1.0


@kernel
def rotate_by(p: FloatArray, theta_bar: FloatArray) -> None:
    """Replace p by p exp(theta_bar), a turn by the body-frame rotation vector theta_bar [rad]."""
    half = 0.5 * math.sqrt(theta_bar[0] ** 2 + theta_bar[1] ** 2 + theta_bar[2] ** 2)
    ratio = 1.0 - half**2 / 6.0 + half**4 / 120.0 if half < SMALL_ANGLE else math.sin(half) / half
    c = math.cos(half)
    x, y, z = 0.5 * ratio * theta_bar[0], 0.5 * ratio * theta_bar[1], 0.5 * ratio * theta_bar[2]
    e0, e1, e2, e3 = p[0], p[1], p[2], p[3]
    p[0] = c * e0 - e1 * x - e2 * y - e3 * z
    p[1] = c * e1 + e0 * x - e3 * y + e2 * z
    p[2] = c * e2 + e3 * x + e0 * y - e1 * z
    p[3] = c * e3 - e2 * x + e1 * y + e0 * z


@kernel
def cayley_by(p: FloatArray, x: float, y: float, z: float) -> None:
    """Replace p, of any length, by p o (1, x / 2, y / 2, z / 2), normalised: a turn by the Cayley transform of (x, y, z) [rad]."""
    e0, e1, e2, e3 = p[0], p[1], p[2], p[3]
    x, y, z = 0.5 * x, 0.5 * y, 0.5 * z
    q0 = e0 - e1 * x - e2 * y - e3 * z
    q1 = e1 + e0 * x - e3 * y + e2 * z
    q2 = e2 + e3 * x + e0 * y - e1 * z
    q3 = e3 - e2 * x + e1 * y + e0 * z
    length = math.sqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
    p[0], p[1], p[2], p[3] = q0 / length, q1 / length, q2 / length, q3 / length
