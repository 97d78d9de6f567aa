r"""Accelerations and projections by given modes of the points that touch, in compiled code.

    u_dot = u_dot_0 + X f     a = C u_dot - gamma = a_0 + G f     stick: a = 0     slip: a_n = 0, f = f_n (n - mu d), d = v_T / |v_T|
    S z = -a_0 in the rows that vanish,   f = T z                 S = G T in these rows;   a row that joints leave no motion has z = 0

S is scaled by the mobility of the points.  Where all points stick, or have no friction, it is symmetric and at least zero:

    S = L L^T,   L (n, r) with pivots        z = L M^-2 L^T b,  M = L^T L:  the shortest of all, and the only one where r = n

Else it is eliminated with complete pivoting.  Pivots that are neither clear nor rounding are left to `contact_problem`, which judges the
rank by singular values, and so are shortest forces that pull.

    projection   S z = -gap - C_n dq,  dq <- dq + X_n z, until gaps and Phi are rounding       S z = -C (u + du),  u <- u + du + X z

Source: Pfeiffer, Glocker (1996), ch. 5; Golub, Van Loan, Matrix Computations, sec. 3.4.8, 4.2.8 and 5.5.
"""

from __future__ import annotations

from math import hypot, sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.points import put_rates_of_points, put_rotations, put_rows_of_points
from haugmbd.formulations.newton_euler import right_hand_side, solve_system
from haugmbd.geometry.narrow_phase import GAP
from haugmbd.geometry.tables import Shapes
from haugmbd.impacts.contact_response import factor_at, put_response
from haugmbd.impacts.contact_rows import row_rate, row_rate_by
from haugmbd.integrators.stabilization.corrections import add_displacement, add_velocity
from haugmbd.integrators.stabilization.projection import put_position_residual, put_velocity_residual
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_kernels import normalize
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
ROUNDED_PIVOT = 1e-13
"""The same: a smaller one is rounding of zero."""
PUSHES = 1e-9
"""Relative to the largest force: a smaller pull of one of several solutions is rounding."""
MOST_ROWS = 24
"""More rows are solved for by LAPACK."""
UNDECIDED, SHARED, UNIQUE = range(3)
"""What is known of a solution: nothing, that it is the shortest of many, or that it is the only one."""
MOST_CORRECTIONS, STALLED = 6, 0.3
"""Of positions; a correction that leaves more than this part has reached rounding."""


class PointModes(NamedTuple):
    """Modes of points (k,): contact and feature (k, 2), bodies (k, 2), whether they stick (k,), mu (k,), directions (k, 3) that they keep.

    keeps: (k,) 0 without a direction, 1 where it is that of a point at rest, 2 where it is kept in motion;  rows: how many vanish
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


class Equations(NamedTuple):
    """Work arrays of up to r equations: S (r, r + 1) with the right-hand side behind it, L, M (r, r), z, w, b (3, r), of_row, order (2, r).

    T: (k, 3) the scale of each point, and -mu d of one that slides
    """

    S: Array
    L: Array
    M: Array
    z: Array
    of: Ints
    T: Array


def new_equations(k: int, r: int) -> Equations:
    """Return work arrays for k points and r equations."""
    square = np.empty((r, r)), np.empty((r, r)), np.empty((3, r))
    return Equations(np.empty((r, r + 1)), *square, np.empty((2, r), dtype=np.int64), np.empty((k, 3)))


@kernel
def put_scales(modes: PointModes, at: Points, e: Equations, rubs: bool) -> bool:
    """Write the scales of the points, and -mu d of those that slide; return whether none of them rubs.  rubs: whether friction counts"""
    smooth = True
    for k in range(modes.keys.shape[0]):
        mobility = max(at.G[3 * k, 3 * k], at.G[3 * k + 1, 3 * k + 1], at.G[3 * k + 2, 3 * k + 2], LEAST)
        e.T[k, 0], e.T[k, 1], e.T[k, 2] = 1.0 / sqrt(mobility), 0.0, 0.0
        if rubs and modes.sticks[k] == 0 and modes.mu[k] > 0.0:
            d_1, d_2 = direction(modes, k, at)
            e.T[k, 1], e.T[k, 2], smooth = -modes.mu[k] * d_1, -modes.mu[k] * d_2, False
    return smooth


@kernel
def put_matrix(modes: PointModes, at: Points, e: Equations, tangential: bool) -> int:
    """Write S, scaled, of the rows that vanish and that joints leave a motion; return their number.

    tangential: whether rows of sticking points are among them
    """
    n = 0
    for k in range(modes.keys.shape[0]):
        mobility = 1.0 / (e.T[k, 0] * e.T[k, 0])
        for a in range(3 if tangential and modes.sticks[k] == 1 else 1):
            if at.G[3 * k + a, 3 * k + a] > IMMOVABLE * mobility:
                e.of[0, n] = 3 * k + a
                n += 1
    for r in range(n):
        row = e.of[0, r]
        for c in range(n):
            column = e.of[0, c]
            point = column // 3
            x = at.G[row, column]
            if modes.sticks[point] == 0:
                x += e.T[point, 1] * at.G[row, column + 1] + e.T[point, 2] * at.G[row, column + 2]
            e.S[r, c] = e.T[row // 3, 0] * e.T[point, 0] * x
    return n


@kernel
def solve_symmetric(e: Equations, n: int) -> int:
    """Write the shortest z with S z = b, in the least-squares sense, to z[0]; return what is known of it.  b: the last column of S"""
    S, L, M, order = e.S, e.L, e.M, e.of[1]
    for k in range(n):
        order[k], e.z[1, k] = k, S[k, k]
    # L with pivots: the largest diagonal that is left first
    rank, largest, left = 0, 0.0, 0.0
    for c in range(n):
        best = c
        for r in range(c + 1, n):
            if e.z[1, order[r]] > e.z[1, order[best]]:
                best = r
        order[c], order[best] = order[best], order[c]
        pivot = e.z[1, order[c]]
        largest, left = max(largest, pivot), pivot
        if not pivot > CLEAR_PIVOT * largest:
            break
        root = sqrt(pivot)
        for r in range(c, n):
            x = S[order[r], order[c]]
            for a in range(c):
                x -= L[order[r], a] * L[order[c], a]
            L[order[r], c] = x / root
            e.z[1, order[r]] -= (x / root) ** 2
        for r in range(c):
            L[order[r], c] = 0.0
        rank = c + 1
    if rank < n and not left <= ROUNDED_PIVOT * largest:
        return UNDECIDED
    # M = L^T L, and its own factor in place
    for a in range(rank):
        for c in range(a + 1):
            x = 0.0
            for r in range(n):
                x += L[r, a] * L[r, c]
            for k in range(c):
                x -= M[a, k] * M[c, k]
            M[a, c] = sqrt(max(x, LEAST)) if a == c else x / M[c, c]
    for r in range(n):
        e.z[0, r], e.z[2, r] = 0.0, S[r, n]
    for _ in range(2):  # and one step of refinement
        for a in range(rank):
            x = 0.0
            for r in range(n):
                x += L[r, a] * e.z[2, r]
            e.z[1, a] = x
        for _ in range(2):
            for a in range(rank):
                for k in range(a):
                    e.z[1, a] -= M[a, k] * e.z[1, k]
                e.z[1, a] /= M[a, a]
            for a in range(rank - 1, -1, -1):
                for k in range(a + 1, rank):
                    e.z[1, a] -= M[k, a] * e.z[1, k]
                e.z[1, a] /= M[a, a]
        for r in range(n):
            for a in range(rank):
                e.z[0, r] += L[r, a] * e.z[1, a]
        for r in range(n):
            x = S[r, n]
            for c in range(n):
                x -= S[r, c] * e.z[0, c]
            e.z[2, r] = x
    return UNIQUE if rank == n else SHARED


@kernel
def eliminate(e: Equations, n: int) -> int:
    """Write z with S z = b, the last column, to z[0], by complete pivoting, in place; return UNIQUE if all pivots are clear."""
    S, order = e.S, e.of[1]
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
            return UNDECIDED
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
    for k in range(n):
        e.z[0, order[k]] = S[k, n]
    return UNIQUE


@kernel
def no_pull(e: Equations, n: int) -> bool:
    """Return whether no normal force of z[0] pulls."""
    size = LEAST
    for r in range(n):
        size = max(size, abs(e.z[0, r]))
    for r in range(n):
        if e.of[0, r] % 3 == 0 and e.z[0, r] < -PUSHES * size:
            return False
    return True


@kernel
def put_points(find: Any, shapes: Shapes, shape_pairs: Ints, modes: PointModes, bodies: Array, A: Array, at: Points) -> None:
    """Write points, D, C, gamma and v of the points at a state."""
    put_rotations(bodies, A)
    put_rates_of_points(find, shapes, shape_pairs, modes.keys, bodies, A, at.points)
    put_rows_of_points(modes.pairs, at.points, bodies, A, at.D, at.C, at.gamma, at.v)


@entry
def rates_by_modes_entry(
    P: Pack,
    find: Any,
    shapes: Shapes,
    shape_pairs: Ints,
    modes: PointModes,
    t: float,
    y: Array,
    y_dot: Array,
    A: Array,
    at: Points,
    kept: Array,
    e: Equations,
    f: Array,
) -> tuple[int, int]:
    """Write y_dot without contacts, the solution to kept (nn, 6), and the points; and forces f (k, 3) with their part of y_dot if known.

    Return the code, and what is known of the forces.  A: (n, 3, 3) work array;  find: `narrow_phase.rates`
    """
    code = right_hand_side(P, t, y, y_dot)
    if code != OK:
        return code, UNDECIDED
    solution, n_bodies = ws.solution(P), A.shape[0]
    for node in range(kept.shape[0]):
        for a in range(6):
            kept[node, a] = solution[node, a]
    # K (X, Y) = (C^T, 0),  G = C X,  a_0 = C u_dot_0 - gamma
    bodies, rates = borrow(y, 0, n_bodies, WIDTH), borrow(y_dot, 0, n_bodies, WIDTH)
    put_points(find, shapes, shape_pairs, modes, bodies, A, at)
    code = put_response(P, modes.pairs, at.C, at.X, at.G)
    if code != OK:
        return code, UNDECIDED
    for k in range(modes.keys.shape[0]):
        pair = (modes.pairs[k, 0], modes.pairs[k, 1])
        for d in range(3):
            at.a_0[k, d] = row_rate(pair, at.C[k, d], rates) - at.gamma[k, d]
    if modes.rows > e.S.shape[0]:
        return OK, UNDECIDED
    # S z = -a_0,  f = T z
    smooth = put_scales(modes, at, e, True)
    n = put_matrix(modes, at, e, True)
    for r in range(n):
        k, d = e.of[0, r] // 3, e.of[0, r] % 3
        e.S[r, n] = -e.T[k, 0] * at.a_0[k, d]
    known = solve_symmetric(e, n) if smooth else eliminate(e, n)
    if known == UNDECIDED or (known == SHARED and not no_pull(e, n)):
        return OK, UNDECIDED
    for k in range(f.shape[0]):
        f[k, 0], f[k, 1], f[k, 2] = 0.0, 0.0, 0.0
    for r in range(n):
        k, d = e.of[0, r] // 3, e.of[0, r] % 3
        f[k, d] = e.T[k, 0] * e.z[0, r]
    for k in range(f.shape[0]):
        if modes.sticks[k] == 0:
            f[k, 1], f[k, 2] = e.T[k, 1] * f[k, 0], e.T[k, 2] * f[k, 0]
    # u_dot = u_dot_0 + X f
    for row in range(3 * f.shape[0]):
        force = f[row // 3, row % 3]
        if force != 0.0:
            for body in range(1, n_bodies):
                for a in range(6):
                    rates[body, VELOCITY + a] += force * at.X[row, 6 * body + a]
    return OK, known


@kernel
def add_least(modes: PointModes, at: Points, e: Equations, n: int, x: Array) -> bool:
    """Add X z with the shortest z of S z = b to the solution x (nn, 6); return whether it is known."""
    if solve_symmetric(e, n) == UNDECIDED:
        return False
    for r in range(n):
        row = e.of[0, r]
        z = e.T[row // 3, 0] * e.z[0, r]
        for node in range(1, x.shape[0]):
            for a in range(6):
                x[node, a] += z * at.X[row, 6 * node + a]
    return True


@entry
def project_by_modes_entry(
    P: Pack,
    find: Any,
    shapes: Shapes,
    shape_pairs: Ints,
    modes: PointModes,
    t: float,
    y: Array,
    A: Array,
    at: Points,
    e: Equations,
    tolerance: float,
) -> tuple[int, bool]:
    """Bring Phi and the gaps of the points to zero, within the tolerance, and their velocities, in place.

    Return the code, and whether that is done: the state is anywhere, if it is not.
    """
    bodies, x, before = borrow(y, 0, A.shape[0], WIDTH), ws.solution(P), np.inf
    for body in range(1, bodies.shape[0]):
        normalize(bodies[body, EULER:VELOCITY])
    for _ in range(MOST_CORRECTIONS):
        code = factor_at(P, t, y)
        if code != OK:
            return code, False
        put_points(find, shapes, shape_pairs, modes, bodies, A, at)
        code = put_response(P, modes.pairs, at.C, at.X, at.G)
        if code != OK:
            return code, False
        put_scales(modes, at, e, False)
        left = put_position_residual(P, ws.kept_rows(P))
        for k in range(modes.keys.shape[0]):
            left = max(left, abs(at.points[k, GAP]))
        if left <= tolerance or left >= STALLED * before:
            break
        before = left
        # K (dq, .) = (0, -Phi),  S z = -gap - C_n dq
        code = solve_system(P)
        if code != OK:
            return code, False
        n = put_matrix(modes, at, e, False)
        for r in range(n):
            k = e.of[0, r] // 3
            pair = (modes.pairs[k, 0], modes.pairs[k, 1])
            e.S[r, n] = -e.T[k, 0] * (at.points[k, GAP] + row_rate_by(pair, at.C[k, 0], x))
        if not add_least(modes, at, e, n, x):
            return OK, False
        add_displacement(P, bodies)
    # K (du, .) = (0, nu - Phi_q u),  S z = -C (u + du)
    put_velocity_residual(P, bodies, ws.kept_rows(P))
    code = solve_system(P)
    if code != OK:
        return code, False
    n = put_matrix(modes, at, e, True)
    for r in range(n):
        k, d = e.of[0, r] // 3, e.of[0, r] % 3
        pair = (modes.pairs[k, 0], modes.pairs[k, 1])
        e.S[r, n] = -e.T[k, 0] * (row_rate(pair, at.C[k, d], bodies) + row_rate_by(pair, at.C[k, d], x))
    if not add_least(modes, at, e, n, x):
        return OK, False
    add_velocity(P, bodies)
    return OK, True


rates_by_modes, project_by_modes = DirectCall(rates_by_modes_entry), DirectCall(project_by_modes_entry)
