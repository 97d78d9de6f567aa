r"""Composite constraints: groups of equations.

    coincident        P_i = Q_j                         CD along x, y, z           3 rows
    perpendicular_1   h_j perpendicular to f_i, g_i     DP1, DP1                   2 rows: h_j stays parallel to h_i
    perpendicular_2   d_ij perpendicular to f_i, g_i    DP2, DP2                   2 rows: Q_j stays on the line through P_i along h_i

Source: Haug (2021), spatial kinematics: parallelism constraints.
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import frozen
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.equations.cd import CD
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.dp2 import DP2

X, Y, Z = (frozen(axis) for axis in np.eye(3))


def coincident(i: Body, s_bar_i: Array, j: Body, s_bar_j: Array) -> tuple[Primitive, ...]:
    """Return three rows: the point s_bar_i of body i and the point s_bar_j of body j coincide."""
    return (CD(X, i, s_bar_i, j, s_bar_j), CD(Y, i, s_bar_i, j, s_bar_j), CD(Z, i, s_bar_i, j, s_bar_j))


def perpendicular_1(i: Body, a_bar_i: Array, b_bar_i: Array, j: Body, c_bar_j: Array) -> tuple[Primitive, ...]:
    """Return two rows: the vector c_bar_j of body j is perpendicular to the plane of a_bar_i and b_bar_i of body i."""
    return (DP1(i, a_bar_i, j, c_bar_j), DP1(i, b_bar_i, j, c_bar_j))


def perpendicular_2(i: Body, a_bar_i: Array, b_bar_i: Array, s_bar_i: Array, j: Body, s_bar_j: Array) -> tuple[Primitive, ...]:
    """Return two rows: the vector from s_bar_i to s_bar_j is perpendicular to a_bar_i and b_bar_i of body i."""
    return (DP2(i, a_bar_i, s_bar_i, j, s_bar_j), DP2(i, b_bar_i, s_bar_i, j, s_bar_j))
