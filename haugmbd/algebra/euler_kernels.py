r"""The formulas of `haugmbd.algebra.euler` for ONE body, compiled, written into arrays that the caller owns.

    A(p)  = E G^T      p_dot = G^T omega_bar / 2      p <- p / |p|      p <- p exp(theta_bar)

`out` may be a row of a larger array.  Nothing is allocated, nothing is checked.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from haugmbd.algebra.euler import SMALL_ANGLE
from haugmbd.algebra.jit import kernel

FloatArray = npt.NDArray[np.float64]


@kernel
def rotation_matrix_into(p: FloatArray, out: FloatArray) -> None:
    """Write A(p), (3, 3), into out; |p| = 1 is assumed."""
    e0, e1, e2, e3 = p[0], p[1], p[2], p[3]
    out[0, 0] = e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3
    out[0, 1] = 2.0 * (e1 * e2 - e0 * e3)
    out[0, 2] = 2.0 * (e1 * e3 + e0 * e2)
    out[1, 0] = 2.0 * (e1 * e2 + e0 * e3)
    out[1, 1] = e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3
    out[1, 2] = 2.0 * (e2 * e3 - e0 * e1)
    out[2, 0] = 2.0 * (e1 * e3 - e0 * e2)
    out[2, 1] = 2.0 * (e2 * e3 + e0 * e1)
    out[2, 2] = e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3


@kernel
def p_dot_into(p: FloatArray, omega_bar: FloatArray, out: FloatArray) -> None:
    """Write p_dot = G^T omega_bar / 2, (4,), into out; out is not p."""
    x, y, z = 0.5 * omega_bar[0], 0.5 * omega_bar[1], 0.5 * omega_bar[2]
    out[0] = -p[1] * x - p[2] * y - p[3] * z
    out[1] = p[0] * x - p[3] * y + p[2] * z
    out[2] = p[3] * x + p[0] * y - p[1] * z
    out[3] = -p[2] * x + p[1] * y + p[0] * z


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
