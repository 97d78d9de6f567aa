r"""Radau IIA of order five in numbers: the tableau, the triangular matrix that its iteration corrects by, and its error of order three.

    c_i = zeros of d^2/dx^2 (x^2 (x - 1)^3)        a_ij = integral of the j-th Lagrange polynomial to c_i        A = L U,  u_ii = 1

Source: Hairer, Wanner, Solving ODE II, sec. IV.5 and IV.8; van der Houwen, de Swart 1997 (L).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.jit import inlined

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
    """Return L of matrix = L U, where U has a unit diagonal."""
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

ROWS = 38
"""Rows of the memory."""


class RadauMemory(NamedTuple):
    """Radau's numbers, as long as y each.

    h, wants_error, sweeps: (1,) the step, whether the error is wanted, the sweeps of the last step;  y: (ny,) at the start
    u_dot, u, f, x, delta, du_dot, du, lam: of the three stages, see `radau_stages`;  u_dot_before: of the step before
    error_x, error_u: of the step;  u_dot_start: at its start;  angle_rates: of the integrated angles and internal states, of
    the three stages;  state_changes: corrections of the rates of the internal states in the current sweep
    """

    h: Array
    wants_error: Array
    sweeps: Array
    y: Array
    u_dot: Array
    u: Array
    f: Array
    x: Array
    delta: Array
    du_dot: Array
    du: Array
    lam: Array
    u_dot_before: Array
    error_x: Array
    error_u: Array
    u_dot_start: Array
    angle_rates: Array
    state_changes: Array


@inlined
def radau_memory(memory: Array) -> RadauMemory:
    """Return the views of Radau's memory."""
    n = memory.shape[1]
    return RadauMemory(
        borrow_line(memory, 0, 1),
        borrow_line(memory, 1, 1),
        borrow_line(memory, 2, 1),
        borrow_line(memory, n, n),
        borrow(memory, 2 * n, 3, n),
        borrow(memory, 5 * n, 3, n),
        borrow(memory, 8 * n, 3, n),
        borrow(memory, 11 * n, 3, n),
        borrow(memory, 14 * n, 3, n),
        borrow(memory, 17 * n, 3, n),
        borrow(memory, 20 * n, 3, n),
        borrow(memory, 23 * n, 3, n),
        borrow(memory, 26 * n, 3, n),
        borrow_line(memory, 29 * n, n),
        borrow_line(memory, 30 * n, n),
        borrow_line(memory, 31 * n, n),
        borrow(memory, 32 * n, 3, n),
        borrow(memory, 35 * n, 3, n),
    )
