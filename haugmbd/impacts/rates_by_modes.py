r"""Accelerations by given modes of the points that touch, in compiled code, where forces are unique.

    u_dot = u_dot_0 + X f     a = C u_dot - gamma = a_0 + G f     stick: a = 0     slip: a_n = 0, f = f_n (n - mu d), d = v_T / |v_T|
    S z = -a_0 in the rows that vanish,   f = T z                 S = G T in these rows;   a row that joints leave no motion has z = 0

S is scaled by the mobility of the points, and eliminated with complete pivoting.  Where a pivot is small the forces may not be unique,
which is judged by singular values, in `contact_problem`.
Source: Pfeiffer, Glocker (1996), ch. 5; Golub, Van Loan, Matrix Computations, sec. 3.4.8.
"""

from __future__ import annotations

from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.points import put_rates_of_points, put_rotations, put_rows_of_points
from haugmbd.formulations.newton_euler import right_hand_side
from haugmbd.geometry.tables import Shapes
from haugmbd.impacts.contact_response import put_response
from haugmbd.math.body_columns import VELOCITY, WIDTH
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

LEAST = 1e-300
"""Instead of 0 in a denominator."""
IMMOVABLE = 1e-12
"""Relative to the mobility of a point: less is rounding, and joints leave it no motion in this direction."""
SLOW = 1e-13
"""[m/s] The direction of a slower velocity is rounding."""
CLEAR_PIVOT = 1e-6
"""Relative to the largest pivot: with a smaller one the rank is judged by singular values, whose limit is 1e-10."""
MOST_ROWS = 24
"""More rows are those of faces that share their loads, and their forces are not unique."""


class PointModes(NamedTuple):
    """Modes of points (k,): contact and feature (k, 2), bodies (k, 2), whether they stick (k,), mu (k,), directions (k, 3) that they keep.

    keeps: (k,) 0 without a direction, 1 where it is that of a point at rest, 2 where it is kept in motion;  rows: number of rows that vanish
    """

    keys: Ints
    pairs: Ints
    sticks: Ints
    mu: Array
    hint: Array
    keeps: Ints
    rows: int


class Points(NamedTuple):
    """Points at a state (k,): points (k, 21), D (k, 3, 3), C (k, 3, 12), gamma, v (k, 3); X (3 k, 6 nn), G (3 k, 3 k), a_0 (k, 3)."""

    points: Array
    D: Array
    C: Array
    gamma: Array
    v: Array
    X: Array
    G: Array
    a_0: Array


def new_points(k: int, nodes: int, columns: int) -> Points:
    """Return arrays for k points."""
    shapes = (k, columns), (k, 3, 3), (k, 3, 12), (k, 3), (k, 3), (3 * k, 6 * nodes), (3 * k, 3 * k), (k, 3)
    return Points(*(np.empty(shape) for shape in shapes))


@kernel
def direction(modes: PointModes, k: int, at: Points) -> tuple[float, float]:
    """Return the direction of sliding of point k, as `contact_problem.slip_direction`."""
    v_1, v_2 = at.v[k, 1], at.v[k, 2]
    speed = hypot(v_1, v_2)
    if modes.keeps[k] == 0 or (modes.keeps[k] == 1 and speed > SLOW):
        return (v_1 / speed, v_2 / speed) if speed > 0.0 else (1.0, 0.0)
    way_1, way_2 = 0.0, 0.0
    for c in range(3):
        way_1 += at.D[k, 1, c] * modes.hint[k, c]
        way_2 += at.D[k, 2, c] * modes.hint[k, c]
    length = max(hypot(way_1, way_2), LEAST)
    return way_1 / length, way_2 / length


@kernel
def put_equations(modes: PointModes, at: Points, S: Array, of_row: Ints, T: Array) -> int:
    """Write S, scaled, with -a_0 as its last column, and the rows of G that vanish; return their number.

    of_row: (n,) row of G;  T: (k, 3) the scale of a point, and -mu d of one that slides
    """
    n = 0
    for k in range(modes.keys.shape[0]):
        mobility = max(at.G[3 * k, 3 * k], at.G[3 * k + 1, 3 * k + 1], at.G[3 * k + 2, 3 * k + 2], LEAST)
        T[k, 0], T[k, 1], T[k, 2] = 1.0 / sqrt(mobility), 0.0, 0.0
        if modes.sticks[k] == 0 and modes.mu[k] > 0.0:
            d_1, d_2 = direction(modes, k, at)
            T[k, 1], T[k, 2] = -modes.mu[k] * d_1, -modes.mu[k] * d_2
        for a in range(3 if modes.sticks[k] == 1 else 1):
            if at.G[3 * k + a, 3 * k + a] > IMMOVABLE * mobility:
                of_row[n] = 3 * k + a
                n += 1
    for r in range(n):
        own = T[of_row[r] // 3, 0]
        for c in range(n):
            column = of_row[c]
            point = column // 3
            x = at.G[of_row[r], column]
            if modes.sticks[point] == 0:
                x += T[point, 1] * at.G[of_row[r], column + 1] + T[point, 2] * at.G[of_row[r], column + 2]
            S[r, c] = own * T[point, 0] * x
        S[r, n] = -own * at.a_0[of_row[r] // 3, of_row[r] % 3]
    return n


@kernel
def eliminate(S: Array, n: int, order: Ints) -> bool:
    """Solve S z = b, the last column, with complete pivoting, in place; return whether all pivots are clear.  order: (n,) of the columns"""
    for k in range(n):
        order[k] = k
    largest = 0.0
    for k in range(n):
        pivot, row, column = 0.0, k, k
        for r in range(k, n):
            for c in range(k, n):
                if abs(S[r, c]) > pivot:
                    pivot, row, column = abs(S[r, c]), r, c
        largest = max(largest, pivot)
        if not pivot > CLEAR_PIVOT * largest:
            return False
        for c in range(n + 1):
            S[k, c], S[row, c] = S[row, c], S[k, c]
        for r in range(n):
            S[r, k], S[r, column] = S[r, column], S[r, k]
        order[k], order[column] = order[column], order[k]
        for r in range(k + 1, n):
            factor = S[r, k] / S[k, k]
            for c in range(k + 1, n + 1):
                S[r, c] -= factor * S[k, c]
    for k in range(n - 1, -1, -1):
        x = S[k, n]
        for c in range(k + 1, n):
            x -= S[k, c] * S[c, n]
        S[k, n] = x / S[k, k]
    return True


@entry
def rates_by_modes_entry(
    P: Pack,
    shapes: Shapes,
    shape_pairs: Ints,
    modes: PointModes,
    t: float,
    y: Array,
    y_dot: Array,
    A: Array,
    at: Points,
    kept: Array,
    S: Array,
    order: Ints,
    T: Array,
    f: Array,
) -> tuple[int, bool]:
    """Write y_dot without contacts, the solution to kept (nn, 6), and the points; and forces f (k, 3) with their part of y_dot if unique.

    Return the code, and whether they are.  A: (n, 3, 3);  S: (r, r + 1), order: (2, r), T: (k, 3) work arrays
    """
    code = right_hand_side(P, t, y, y_dot)
    if code != OK:
        return code, False
    solution, n_bodies = ws.solution(P), A.shape[0]
    for node in range(kept.shape[0]):
        for a in range(6):
            kept[node, a] = solution[node, a]
    # C, gamma and v of the points
    bodies, rates = borrow(y, 0, n_bodies, WIDTH), borrow(y_dot, 0, n_bodies, WIDTH)
    put_rotations(bodies, A)
    put_rates_of_points(shapes, shape_pairs, modes.keys, bodies, A, at.points)
    put_rows_of_points(modes.pairs, at.points, bodies, A, at.D, at.C, at.gamma, at.v)
    # K (X, Y) = (C^T, 0),  G = C X,  a_0 = C u_dot_0 - gamma
    code = put_response(P, modes.pairs, at.C, at.X, at.G)
    if code != OK:
        return code, False
    for k in range(modes.keys.shape[0]):
        for d in range(3):
            total = -at.gamma[k, d]
            for side in range(2):
                body = modes.pairs[k, side]
                if body > 0:
                    for a in range(6):
                        total += at.C[k, d, 6 * side + a] * rates[body, VELOCITY + a]
            at.a_0[k, d] = total
    if modes.rows > S.shape[0]:
        return OK, False
    # S z = -a_0,  f = T z
    n = put_equations(modes, at, S, order[0], T)
    if not eliminate(S, n, order[1]):
        return OK, False
    for k in range(f.shape[0]):
        f[k, 0], f[k, 1], f[k, 2] = 0.0, 0.0, 0.0
    for c in range(n):
        row = order[0, order[1, c]]
        k, a = row // 3, row % 3
        f[k, a] = T[k, 0] * S[c, n]
    for k in range(f.shape[0]):
        if modes.sticks[k] == 0:
            f[k, 1], f[k, 2] = T[k, 1] * f[k, 0], T[k, 2] * f[k, 0]
    # u_dot = u_dot_0 + X f
    for row in range(3 * f.shape[0]):
        force = f[row // 3, row % 3]
        if force != 0.0:
            for body in range(1, n_bodies):
                for a in range(6):
                    rates[body, VELOCITY + a] += force * at.X[row, 6 * body + a]
    return OK, True


rates_by_modes = DirectCall(rates_by_modes_entry)
