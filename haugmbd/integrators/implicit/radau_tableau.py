r"""Radau IIA of order five in numbers: the tableau, the triangular matrix that its iteration corrects by, and its error of order three.

    c_i = zeros of d^2/dx^2 (x^2 (x - 1)^3)        a_ij = integral of the j-th Lagrange polynomial to c_i        A = L U,  u_ii = 1

These numbers become part of machine code; this mention of haugmbd.compiled.jit puts the file among those that stamp it.
Source: Hairer, Wanner, Solving ODE II, sec. IV.5 and IV.8; van der Houwen, de Swart 1997 (L).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from haugmbd.compiled.array_types import Array

R6 = sqrt(6.0)
C = np.array([(4.0 - R6) / 10.0, (4.0 + R6) / 10.0, 1.0])
A = np.array(
    [
        [(88.0 - 7.0 * R6) / 360.0, (296.0 - 169.0 * R6) / 1800.0, (-2.0 + 3.0 * R6) / 225.0],
        [(296.0 + 169.0 * R6) / 1800.0, (88.0 + 7.0 * R6) / 360.0, (-2.0 - 3.0 * R6) / 225.0],
        [(16.0 - R6) / 36.0, (16.0 + R6) / 36.0, 1.0 / 9.0],
    ]
)


def crout(matrix: Array) -> Array:
    """L of matrix = L U, where U has a unit diagonal."""
    n = len(matrix)
    L, U = np.zeros((n, n)), np.eye(n)
    for k in range(n):
        L[k:, k] = matrix[k:, k] - L[k:, :k] @ U[:k, k]
        U[k, k + 1 :] = (matrix[k, k + 1 :] - L[k, :k] @ U[:k, k + 1 :]) / L[k, k]
    return L


L = crout(A)
GAMMA_0 = 1.0 / 3.637834252744496
"""The real eigenvalue of A."""
E = GAMMA_0 / 3.0 * np.array([-13.0 - 7.0 * R6, -13.0 + 7.0 * R6, -1.0])
"""Error of order three: E . (u_i - u_n) + h GAMMA_0 u'_n."""

OWN, Y, K, U, F, X, MOVED, DK, DU, LAM, BEFORE, ERROR, RATE, TURNS, ROWS = 0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 31, 32, 35
"""Rows of the memory: h, whether the error is wanted, and the sweeps of the last step; y_n; three each of u'_i, u_i, f_i, x_i, delta_i,
corrections of u'_i and of u_i in a sweep, lam_i, u'_i of the step before; errors of x and of u; u'_n; three rates of the
integrated angles."""
