r"""The cone problem of many bodies: by islands, with the rows of the present modes on the graph of bodies.

    M (u - u_f) = C^T f + J^T lam,   J u = J u_f,   v = C u + (e v_n^-, 0, 0),   f and v by the laws of `contact.cone`

An island is a set of bodies that contacts and joints connect; each is solved by itself.  No response G is formed: Newton's step of the laws
of one point (Alart-Curnier) is a relation of its own force and velocity,

    df = g - W dv                    open  W = 0      stick  W = rho / eps      slip  normal row as stick, its direction turned by -mu d
    (M + C^T W C + J^T W J) du = r + C^T g + J^T g_J

on the graph of bodies, blocks of 6 x 6, in the order of least degree: a face of many points is one block, and a tower costs O(n).
eps keeps dependent rows apart (a step of the proximal point method), and is no error: the step is repeated until the laws hold, with the
same factor while no mode changes.  The step from f = 0 gives the shortest forces of the modes; those of the last step come first.

    newton      from the modes of the last step, then from its own;  where they circle:
    softened    v + sigma f in place of v, sigma -> 0, which has one solution
    proximal    alternating directions (ADMM), one factor for many steps; then Newton again

What is not solved here goes to `contact.cone`.  Lengths and masses drop out: bodies by the roots of their inertias, points by rho, one over
the mean mobility of their bodies.
Sources: Alart, Curnier (1991); Rockafellar, Monotone operators and the proximal point algorithm (1976); George, Liu (1981), least degree.
"""

from __future__ import annotations

from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import counted, counted_entry, inlined_kernel, kernel

OPEN, STICK, SLIP = 0, 1, 2
"""Modes of points; a contact without friction that presses slips."""
PROXIMAL = 1e-8
"""Relative to the mobility of a point: eps.  A step leaves this part of what rows want, and rounding in v becomes forces within the kernel
of C^T of its size over eps; both are small beside the forces."""
AIM = 1e-13
"""Relative to the largest force of an island: residual of the natural map at which an answer is exact up to rounding."""
ENOUGH = 1e-11
"""The same, where rounding leaves no better one; a tenth of what `contact.cone` accepts."""
ROUNDING = 8e-16
"""Relative to the velocities that add up in a point: what cannot be less."""
NEWTON_STEPS, SOFT_STEPS = 20, 10
"""Of one attempt; two to six are usual."""
KEEPS_FACTOR = 1e-5
"""Relative: below it directions of sliding have turned so little that the factor is used again."""
SLOWLY = 0.05
"""A step with the factor before that leaves more than this part is followed by one with a new factor."""
FIRST_SOFTENING, LAST_SOFTENING, SOFTER = 0.3, 1e-9, 0.1
"""Of G, relative to the mobility of each point, and the factor from one to the next."""
PROXIMAL_STEPS, PROXIMAL_ROUNDS, MOST_PROXIMAL = 10, 40, 1600
"""Between two looks at the residual, and the looks between two attempts of Newton; in all."""
HOLD_STEPS = 3
"""Of held points: each leaves PROXIMAL of what rows want, or 1e-2 where masses differ by a million."""
UNEVEN = 30.0
"""Of the roots of masses: bodies of an island that differ by more take one more step."""
FARTHEST = 1e5
"""Relative to the impulse that would stop the fastest point alone: residuals are not measured by larger forces, beside which any velocity
is small.  Where a mechanism of one freedom wedges itself, forces could grow without end; a heavy body on a light one has their ratio."""
ENDLESS = 1e12
"""The same: such forces are no answer, whatever rounding leaves of the velocities."""
BEYOND = 1e100
"""A larger residual, or NaN, ends an attempt."""
LEAST_PENALTY = 1e-6
"""Of the proximal method; the largest is one over it."""
LEAST = 1e-300
"""Instead of 0 in a denominator."""


class Island(NamedTuple):
    """One island, its bodies numbered 0 ... m - 1, in scaled units; arrays have room for the largest one.

    M, u_f, u, b, x: (m, 6, 6), (m, 6) ...   inertia, free velocities, velocities, right-hand side and solution of a step
    ends: (k, 2) bodies of the points, -1 for the ground;  C: (k, 3, 12);  mu, rho, shift: (k,)
    f, g, v, F: (k, 3);  W: (k, 3, 3);  mode: (k,);  way: (k, 2) direction of sliding, against which friction acts
    rows: (r, 12) bilateral rows J;  row_ends: (r, 2);  weight, goal, lam, row_g: (r,)   rows want  J u = goal
    best, best_u, best_lam: the best iterate;  y, z: (k, 3) of the proximal method
    """

    M: Array
    u_f: Array
    u: Array
    b: Array
    x: Array
    ends: Ints
    C: Array
    mu: Array
    rho: Array
    shift: Array
    f: Array
    g: Array
    v: Array
    F: Array
    W: Array
    mode: Ints
    way: Array
    rows: Array
    row_ends: Ints
    weight: Array
    goal: Array
    lam: Array
    row_g: Array
    best: Array
    best_u: Array
    best_lam: Array
    y: Array
    z: Array


class Graph(NamedTuple):
    """The blocks of the matrix of an island, and the order of elimination.

    block: (m, m) number of the block of two bodies, that of a body first, -1 for none;  B: (blocks, 6, 6)
    order, starts: (m,), (m + 1,);  later: (.,) bodies that share a block with one, and are eliminated behind it, from `starts`
    """

    block: Ints
    B: Array
    order: Ints
    starts: Ints
    later: Ints


class Sizes(NamedTuple):
    """Numbers of bodies, points, bilateral rows and blocks of an island; whether its bodies differ much, or are linked."""

    m: int
    k: int
    r: int
    blocks: int
    uneven: bool


# ------------------------------------------------------------------------------------------------------------- blocks on the graph
@inlined_kernel
def join(block: Ints, a: int, b: int, count: int) -> int:
    """Give two bodies their blocks [a, b] and [b, a], if they have none; return the number of blocks."""
    if block[a, b] >= 0:
        return count
    block[a, b], block[b, a] = count, count + 1
    return count + 2


@kernel
def eliminate_symbolically(block: Ints, m: int, count: int, order: Ints, degree: Ints, found: Ints) -> int:
    """Write the order of least degree, and the blocks that fill; return the number of blocks.  found: (m,) work"""
    for a in range(m):
        n = 0
        for b in range(m):
            if block[a, b] >= 0:
                n += 1
        degree[a] = n
    for place in range(m):
        # the body with the fewest neighbours that are left;  degree < 0: eliminated
        least, chosen = m + 1, -1
        for a in range(m):
            if 0 <= degree[a] < least:
                least, chosen = degree[a], a
        order[place] = chosen
        n = 0
        for b in range(m):
            if block[chosen, b] >= 0 and b != chosen and degree[b] >= 0:
                found[n] = b
                n += 1
        degree[chosen] = -1
        # its neighbours become neighbours of one another
        for p in range(n):
            degree[found[p]] -= 1
            for q in range(p):
                if block[found[p], found[q]] < 0:
                    count = join(block, found[p], found[q], count)
                    degree[found[p]] += 1
                    degree[found[q]] += 1
    return count


@kernel
def list_later(block: Ints, m: int, order: Ints, place: Ints, starts: Ints, later: Ints) -> int:
    """Write the bodies that are eliminated behind each one and share a block with it; return their number.  No room: only count."""
    for p in range(m):
        place[order[p]] = p
    n = 0
    for p in range(m):
        starts[p] = n
        a = order[p]
        for b in range(m):
            if b != a and block[a, b] >= 0 and place[b] > p:
                if n < later.size:
                    later[n] = b
                n += 1
    starts[m] = n
    return n


@inlined_kernel
def invert(B: Array, at: int) -> bool:
    """Overwrite block `at` of B by its inverse (Gauss-Jordan, rows exchanged); return whether it has one."""
    s0, s1, s2, s3, s4, s5 = 0, 1, 2, 3, 4, 5
    for c in range(6):
        pivot, row = abs(B[at, c, c]), c
        for a in range(c + 1, 6):
            if abs(B[at, a, c]) > 4.0 * pivot:
                pivot, row = abs(B[at, a, c]), a
        if not pivot > 0.0:
            return False
        if row != c:
            for a in range(6):
                B[at, c, a], B[at, row, a] = B[at, row, a], B[at, c, a]
        if c == 0:
            s0 = row
        elif c == 1:
            s1 = row
        elif c == 2:
            s2 = row
        elif c == 3:
            s3 = row
        elif c == 4:
            s4 = row
        else:
            s5 = row
        q = 1.0 / B[at, c, c]
        B[at, c, c] = 1.0
        for a in range(6):
            B[at, c, a] *= q
        for a in range(6):
            if a != c:
                w = B[at, a, c]
                B[at, a, c] = 0.0
                for d in range(6):
                    B[at, a, d] -= w * B[at, c, d]
    for c in range(5, -1, -1):
        row = s0 if c == 0 else s1 if c == 1 else s2 if c == 2 else s3 if c == 3 else s4 if c == 4 else s5
        if row != c:
            for a in range(6):
                B[at, a, c], B[at, a, row] = B[at, a, row], B[at, a, c]
    return True


@inlined_kernel
def multiply_from_right(B: Array, at: int, D: int) -> None:
    """Set block `at` of B <- block `at` times block D."""
    for a in range(6):
        x0, x1, x2, x3, x4, x5 = B[at, a, 0], B[at, a, 1], B[at, a, 2], B[at, a, 3], B[at, a, 4], B[at, a, 5]
        for c in range(6):
            B[at, a, c] = (
                (x0 * B[D, 0, c] + x1 * B[D, 1, c]) + (x2 * B[D, 2, c] + x3 * B[D, 3, c]) + (x4 * B[D, 4, c] + x5 * B[D, 5, c])
            )


@inlined_kernel
def subtract_product(B: Array, L: int, U: int, T: int) -> None:
    """Set block T of B <- block T - block L times block U."""
    for a in range(6):
        x0, x1, x2, x3, x4, x5 = B[L, a, 0], B[L, a, 1], B[L, a, 2], B[L, a, 3], B[L, a, 4], B[L, a, 5]
        for c in range(6):
            B[T, a, c] -= (
                (x0 * B[U, 0, c] + x1 * B[U, 1, c]) + (x2 * B[U, 2, c] + x3 * B[U, 3, c]) + (x4 * B[U, 4, c] + x5 * B[U, 5, c])
            )


@inlined_kernel
def factorize(graph: Graph, m: int) -> bool:
    """Factor the matrix in blocks in the order of elimination; return whether no pivot block is singular."""
    block, B, order, starts, later = graph
    for p in range(m):
        a = order[p]
        # A_aa^-1
        if not invert(B, block[a, a]):
            return False
        # L_ba = A_ba A_aa^-1,   A_bc <- A_bc - L_ba A_ac
        for i in range(starts[p], starts[p + 1]):
            multiply_from_right(B, block[later[i], a], block[a, a])
        for i in range(starts[p], starts[p + 1]):
            b = later[i]
            for j in range(starts[p], starts[p + 1]):
                subtract_product(B, block[b, a], block[a, later[j]], block[b, later[j]])
    return True


@inlined_kernel
def subtract_from(x: Array, b: int, B: Array, at: int, y: Array, a: int) -> None:
    """Set x_b <- x_b - B_at y_a."""
    y0, y1, y2, y3, y4, y5 = y[a, 0], y[a, 1], y[a, 2], y[a, 3], y[a, 4], y[a, 5]
    for r in range(6):
        x[b, r] -= (
            (B[at, r, 0] * y0 + B[at, r, 1] * y1) + (B[at, r, 2] * y2 + B[at, r, 3] * y3) + (B[at, r, 4] * y4 + B[at, r, 5] * y5)
        )


@inlined_kernel
def substitute(graph: Graph, m: int, b: Array, x: Array) -> None:
    """Write the solution x (m, 6) for b (m, 6), which is overwritten."""
    block, B, order, starts, later = graph
    # y_b = b_b - L_ba y_a
    for p in range(m):
        a = order[p]
        for i in range(starts[p], starts[p + 1]):
            subtract_from(b, later[i], B, block[later[i], a], b, a)
    # x_a = A_aa^-1 (y_a - A_ac x_c)
    for p in range(m - 1, -1, -1):
        a = order[p]
        for i in range(starts[p], starts[p + 1]):
            subtract_from(b, a, B, block[a, later[i]], x, later[i])
        for r in range(6):
            x[a, r] = 0.0
        at = block[a, a]
        y0, y1, y2, y3, y4, y5 = b[a, 0], b[a, 1], b[a, 2], b[a, 3], b[a, 4], b[a, 5]
        for r in range(6):
            x[a, r] = (
                (B[at, r, 0] * y0 + B[at, r, 1] * y1)
                + (B[at, r, 2] * y2 + B[at, r, 3] * y3)
                + (B[at, r, 4] * y4 + B[at, r, 5] * y5)
            )


@inlined_kernel
def assemble(p: Island, n: Sizes, graph: Graph) -> None:
    """Write M + C^T W C + J^T W J to the blocks."""
    block, B = graph.block, graph.B
    for at in range(n.m, n.blocks):
        for a in range(6):
            for c in range(6):
                B[at, a, c] = 0.0
    for a in range(n.m):
        for c in range(6):
            for d in range(6):
                B[block[a, a], c, d] = p.M[a, c, d]
    for k in range(n.k):
        if p.mode[k] == OPEN:
            continue
        i, j = p.ends[k, 0], p.ends[k, 1]
        first, last = (0 if i >= 0 else 6), (12 if j >= 0 else 6)
        for c in range(first, last):
            # W C by columns, and C^T (W C)
            c0, c1, c2 = p.C[k, 0, c], p.C[k, 1, c], p.C[k, 2, c]
            t0 = p.W[k, 0, 0] * c0 + p.W[k, 0, 1] * c1 + p.W[k, 0, 2] * c2
            t1 = p.W[k, 1, 0] * c0 + p.W[k, 1, 1] * c1 + p.W[k, 1, 2] * c2
            t2 = p.W[k, 2, 0] * c0 + p.W[k, 2, 1] * c1 + p.W[k, 2, 2] * c2
            column, of = (c, i) if c < 6 else (c - 6, j)
            if i >= 0:
                at = block[i, of]
                for a in range(6):
                    B[at, a, column] += p.C[k, 0, a] * t0 + p.C[k, 1, a] * t1 + p.C[k, 2, a] * t2
            if j >= 0:
                at = block[j, of]
                for a in range(6):
                    B[at, a, column] += p.C[k, 0, 6 + a] * t0 + p.C[k, 1, 6 + a] * t1 + p.C[k, 2, 6 + a] * t2
    for row in range(n.r):
        for side in range(p.row_ends.shape[1]):
            i = p.row_ends[row, side]
            if i < 0:
                continue
            for other in range(p.row_ends.shape[1]):
                j = p.row_ends[row, other]
                if j < 0:
                    continue
                for a in range(6):
                    w = p.weight[row] * p.rows[row, 6 * side + a]
                    for c in range(6):
                        B[block[i, j], a, c] += w * p.rows[row, 6 * other + c]


# ----------------------------------------------------------------------------------------------------------------------- the laws
@inlined_kernel
def velocity_of(p: Island, u: Array, k: int) -> tuple[float, float, float, float]:
    """Return C u of a point, and the sum of the absolute terms of its largest row."""
    v0, v1, v2, most = 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        body = p.ends[k, side]
        if body >= 0:
            for a in range(6):
                x, c = u[body, a], 6 * side + a
                v0 += p.C[k, 0, c] * x
                v1 += p.C[k, 1, c] * x
                v2 += p.C[k, 2, c] * x
                most += abs(p.C[k, 0, c] * x)
    return v0, v1, v2, most


@inlined_kernel
def add_forces(p: Island, k: int, f0: float, f1: float, f2: float, b: Array) -> None:
    """Add C^T f of a point to b."""
    for side in range(2):
        body = p.ends[k, side]
        if body >= 0:
            for a in range(6):
                c = 6 * side + a
                b[body, a] += p.C[k, 0, c] * f0 + p.C[k, 1, c] * f1 + p.C[k, 2, c] * f2


@inlined_kernel
def soft_velocity(p: Island, k: int, softness: float) -> tuple[float, float, float]:
    """Return v + sigma f of a point, in units of its mobility."""
    c = softness / p.rho[k]
    return p.v[k, 0] + c * p.f[k, 0], p.v[k, 1] + c * p.f[k, 1], p.v[k, 2] + c * p.f[k, 2]


@inlined_kernel
def natural_residual(p: Island, k: int, softness: float) -> float:
    """Return the largest entry of f - P(f - rho (v + mu |v_T| n)) of a point, over the root of rho."""
    rho, mu = p.rho[k], p.mu[k]
    v0, v1, v2 = soft_velocity(p, k, softness)
    x0 = p.f[k, 0] - rho * (v0 + mu * hypot(v1, v2))
    x1, x2 = p.f[k, 1] - rho * v1, p.f[k, 2] - rho * v2
    t = hypot(x1, x2)
    if mu == 0.0:
        x0, x1, x2 = max(x0, 0.0), 0.0, 0.0
    elif t > mu * x0:
        along = max((x0 + mu * t) / (1.0 + mu * mu), 0.0)
        shrink = mu * along / t if t > 0.0 else 0.0
        x0, x1, x2 = along, shrink * x1, shrink * x2
    left: float = max(abs(p.f[k, 0] - x0), abs(p.f[k, 1] - x1), abs(p.f[k, 2] - x2)) / sqrt(rho)
    return left


@inlined_kernel
def set_law(p: Island, k: int, mode: int, limit: float, d1: float, d2: float, length: float, softness: float) -> None:
    """Write W and g of a point in a mode, df = g - W dv.

    limit, d, length: of the slip |f_T| = limit along d, length = |tau_T|, 0 where the direction is prescribed;  softness: sigma
    """
    rho, mu, soft = p.rho[k], p.mu[k], softness + PROXIMAL
    F0, F1, F2 = p.F[k, 0], p.F[k, 1], p.F[k, 2]
    for a in range(3):
        for c in range(3):
            p.W[k, a, c] = 0.0
    if mode == OPEN:
        p.g[k, 0], p.g[k, 1], p.g[k, 2] = -p.f[k, 0], -p.f[k, 1], -p.f[k, 2]
        return
    p.W[k, 0, 0], p.g[k, 0] = rho / soft, -F0 / soft
    if mode == STICK:
        p.W[k, 1, 1], p.W[k, 2, 2] = rho / soft, rho / soft
        p.g[k, 1], p.g[k, 2] = -F1 / soft, -F2 / soft
        return
    if mu == 0.0:
        p.g[k, 1], p.g[k, 2] = -p.f[k, 1], -p.f[k, 2]
        return
    # along d:  df_d = -F_d + mu dtau_n,  dtau_n = F_n + df_n;   across:  s = limit / length of it, (1 - s) df + s rho dv = -F
    s = limit / length if length > 0.0 else 0.0
    F_d, F_e = d1 * F1 + d2 * F2, d1 * F2 - d2 * F1
    across = 1.0 - s * (1.0 - softness) + PROXIMAL
    g_d, w_d = -F_d + mu * (F0 + p.g[k, 0]), mu * p.W[k, 0, 0]
    g_e, w_e = -F_e / across, s * rho / across
    p.g[k, 1], p.g[k, 2] = d1 * g_d - d2 * g_e, d2 * g_d + d1 * g_e
    p.W[k, 1, 0], p.W[k, 2, 0] = d1 * w_d, d2 * w_d
    p.W[k, 1, 1], p.W[k, 1, 2] = d2 * d2 * w_e, -d1 * d2 * w_e
    p.W[k, 2, 1], p.W[k, 2, 2] = -d1 * d2 * w_e, d1 * d1 * w_e


@inlined_kernel
def law_of_point(p: Island, k: int, softness: float, prescribed: bool) -> bool:
    """Write F, W and g of a point for its mode, by f and v, or as prescribed; return whether the mode has changed."""
    rho, mu, before = p.rho[k], p.mu[k], p.mode[k]
    v0, v1, v2 = soft_velocity(p, k, softness)
    tau0, tau1, tau2 = p.f[k, 0] - rho * v0, p.f[k, 1] - rho * v1, p.f[k, 2] - rho * v2
    length, limit = hypot(tau1, tau2), mu * max(tau0, 0.0)
    mode, d1, d2 = OPEN, p.way[k, 0], p.way[k, 1]
    if prescribed:
        mode, length = before, 0.0
    elif tau0 > 0.0:
        mode = STICK if mu > 0.0 and length <= limit else SLIP
        if length > 0.0:
            d1, d2 = tau1 / length, tau2 / length
    p.mode[k] = mode
    if mode == OPEN:
        p.F[k, 0], p.F[k, 1], p.F[k, 2] = p.f[k, 0], p.f[k, 1], p.f[k, 2]
    else:
        p.F[k, 0] = rho * v0
        if mode == STICK:
            p.F[k, 1], p.F[k, 2] = rho * v1, rho * v2
        else:
            p.way[k, 0], p.way[k, 1] = d1, d2
            limit = mu * tau0
            p.F[k, 1], p.F[k, 2] = p.f[k, 1] - limit * d1, p.f[k, 2] - limit * d2
    set_law(p, k, mode, limit, d1, d2, length, softness)
    changed: bool = mode != before
    return changed


@inlined_kernel
def set_velocities(p: Island, n: Sizes) -> None:
    """Write v of all points."""
    for k in range(n.k):
        v0, v1, v2, _ = velocity_of(p, p.u, k)
        p.v[k, 0], p.v[k, 1], p.v[k, 2] = v0 + p.shift[k], v1, v2


@inlined_kernel
def residual(p: Island, n: Sizes, softness: float) -> tuple[float, float]:
    """Return the largest residual of the laws, rows and balances beyond rounding, and the largest force, in scaled units; v is at hand."""
    worst, size = 0.0, 0.0
    for k in range(n.k):
        s = sqrt(p.rho[k])
        for a in range(3):
            size = max(size, abs(p.f[k, a]) / s)
        _, _, _, most = velocity_of(p, p.u, k)
        worst = max(worst, natural_residual(p, k, softness) - ROUNDING * s * (most + abs(p.shift[k])))
    for row in range(n.r):
        rate, most = rate_of_row(p, p.u, row)
        worst = max(worst, sqrt(p.weight[row] * PROXIMAL) * (abs(rate - p.goal[row]) - ROUNDING * most))
    return worst, size


@inlined_kernel
def rate_of_row(p: Island, u: Array, row: int) -> tuple[float, float]:
    """Return J u of a bilateral row, and the sum of its absolute terms."""
    rate, most = 0.0, 0.0
    for side in range(p.row_ends.shape[1]):
        body = p.row_ends[row, side]
        if body >= 0:
            for a in range(6):
                x = p.rows[row, 6 * side + a] * u[body, a]
                rate += x
                most += abs(x)
    return rate, most


@inlined_kernel
def put_balance(p: Island, n: Sizes) -> float:
    """Write b = C^T f + J^T lam - M (u - u_f); return its largest entry beyond rounding."""
    worst = 0.0
    for a in range(n.m):
        for r in range(6):
            total = 0.0
            for c in range(6):
                total -= p.M[a, r, c] * (p.u[a, c] - p.u_f[a, c])
            p.b[a, r] = total
    for k in range(n.k):
        add_forces(p, k, p.f[k, 0], p.f[k, 1], p.f[k, 2], p.b)
    for row in range(n.r):
        for side in range(p.row_ends.shape[1]):
            body = p.row_ends[row, side]
            if body >= 0:
                for a in range(6):
                    p.b[body, a] += p.rows[row, 6 * side + a] * p.lam[row]
    for a in range(n.m):
        for r in range(6):
            worst = max(worst, abs(p.b[a, r]) - ROUNDING * (abs(p.u[a, r]) + abs(p.u_f[a, r])))
    return worst


@inlined_kernel
def put_right_side(p: Island, n: Sizes) -> None:
    """Add C^T g + J^T g_J to the balance in b."""
    for k in range(n.k):
        add_forces(p, k, p.g[k, 0], p.g[k, 1], p.g[k, 2], p.b)
    for row in range(n.r):
        rate, _ = rate_of_row(p, p.u, row)
        p.row_g[row] = p.weight[row] * (p.goal[row] - rate)
        for side in range(p.row_ends.shape[1]):
            body = p.row_ends[row, side]
            if body >= 0:
                for a in range(6):
                    p.b[body, a] += p.rows[row, 6 * side + a] * p.row_g[row]


@inlined_kernel
def move(p: Island, n: Sizes) -> None:
    """Add the step: du = x, df = g - W C du, dlam = g_J - W_J J du."""
    for a in range(n.m):
        for r in range(6):
            p.u[a, r] += p.x[a, r]
    for k in range(n.k):
        v0, v1, v2, _ = velocity_of(p, p.x, k)
        for a in range(3):
            p.f[k, a] += p.g[k, a] - (p.W[k, a, 0] * v0 + p.W[k, a, 1] * v1 + p.W[k, a, 2] * v2)
    for row in range(n.r):
        rate, _ = rate_of_row(p, p.x, row)
        p.lam[row] += p.row_g[row] - p.weight[row] * rate


# --------------------------------------------------------------------------------------------------------------------- the methods
@inlined_kernel
def copy_iterate(n: Sizes, f: Array, u: Array, lam: Array, to_f: Array, to_u: Array, to_lam: Array) -> None:
    """Copy forces, velocities and multipliers of an iterate."""
    for k in range(n.k):
        for a in range(3):
            to_f[k, a] = f[k, a]
    for k in range(n.m):
        for a in range(6):
            to_u[k, a] = u[k, a]
    for k in range(n.r):
        to_lam[k] = lam[k]


@inlined_kernel
def keep_best(p: Island, n: Sizes) -> None:
    """Remember the iterate."""
    copy_iterate(n, p.f, p.u, p.lam, p.best, p.best_u, p.best_lam)


@inlined_kernel
def take_best(p: Island, n: Sizes) -> None:
    """Go back to the best iterate."""
    copy_iterate(n, p.best, p.best_u, p.best_lam, p.f, p.u, p.lam)


@inlined_kernel
def begin_at_rest(p: Island, n: Sizes) -> None:
    """Begin with f = 0, u = u_f and no multipliers."""
    for k in range(n.k):
        for a in range(3):
            p.f[k, a] = 0.0
    for k in range(n.m):
        for a in range(6):
            p.u[k, a] = p.u_f[k, a]
    for k in range(n.r):
        p.lam[k] = 0.0


@kernel
def newton(p: Island, n: Sizes, graph: Graph, softness: float, most: int, prescribed: bool) -> float:
    """Leave the best iterate of Newton's method from the one at hand, and return its residual relative to the largest force.

    prescribed: whether the first step takes the modes at hand
    """
    best, before, has_factor, once_more = 1e300, 1e300, False, n.uneven
    for step in range(most + 1):
        set_velocities(p, n)
        worst, size = residual(p, n, softness)
        worst = max(worst, put_balance(p, n))
        left = worst / max(size, LEAST)
        if step == 0 or left < best or left <= AIM:
            best = left
            keep_best(p, n)
        if (left <= AIM and not once_more) or step == most or not worst < BEYOND:
            break
        # AIM of the forces of a heavy body is much for a light one: one more step
        once_more = once_more and left > AIM
        # the laws at the iterate: F, and df = g - W dv
        changed, slides = not has_factor, False
        for k in range(n.k):
            if law_of_point(p, k, softness, prescribed and step == 0):
                changed = True
            if p.mode[k] == SLIP and p.mu[k] > 0.0:
                slides = True
        # (M + C^T W C + J^T W J) du = r + C^T g + J^T g_J
        if changed or (slides and (left > KEEPS_FACTOR or left > SLOWLY * before)):
            assemble(p, n, graph)
            has_factor = factorize(graph, n.m)
            if not has_factor:
                break
        before = left
        put_right_side(p, n)
        substitute(graph, n.m, p.b, p.x)
        move(p, n)
    take_best(p, n)
    return best


@kernel
def soften(p: Island, n: Sizes, graph: Graph) -> float:
    """Follow the solution of the softened problem to that of the problem itself; return the relative residual."""
    begin_at_rest(p, n)
    softness = FIRST_SOFTENING
    while softness >= LAST_SOFTENING:
        newton(p, n, graph, softness, SOFT_STEPS, False)
        softness *= SOFTER
    return newton(p, n, graph, 0.0, NEWTON_STEPS, False)


# x <- (G + c)^-1 (rho y + z - b - mu |z_T| n),  c = rho;   y <- P(x - z / rho);   z <- z - rho (x - y)         scaled: f = s y, s^2 = rho_k
# with K u' = C^T S (q - S C u') / c,   x = (q - S C u') / c


@inlined_kernel
def put_isotropic(p: Island, n: Sizes, penalty: float) -> None:
    """Write W = rho_k / c of all points."""
    for k in range(n.k):
        p.mode[k] = STICK
        for a in range(3):
            for c in range(3):
                p.W[k, a, c] = 0.0
            p.W[k, a, a] = p.rho[k] / penalty


@inlined_kernel
def proximal_step(p: Island, n: Sizes, graph: Graph, penalty: float) -> tuple[float, float]:
    """Do one step of the proximal method; return how far x is from y, and how far y has moved, in scaled units.

    p.u becomes the velocities with the forces x;  p.f: x in units of forces
    """
    for k in range(n.m):
        for a in range(6):
            p.b[k, a] = 0.0
    for k in range(n.k):
        s, mu = sqrt(p.rho[k]), p.mu[k]
        v0, v1, v2, _ = velocity_of(p, p.u_f, k)
        v0 += p.shift[k]
        # q, kept in g
        p.g[k, 0] = penalty * p.y[k, 0] + p.z[k, 0] - s * v0 - mu * hypot(p.z[k, 1], p.z[k, 2])
        p.g[k, 1], p.g[k, 2] = penalty * p.y[k, 1] + p.z[k, 1] - s * v1, penalty * p.y[k, 2] + p.z[k, 2] - s * v2
        c = s / penalty
        add_forces(p, k, c * p.g[k, 0], c * p.g[k, 1], c * p.g[k, 2], p.b)
    substitute(graph, n.m, p.b, p.x)
    apart, moved = 0.0, 0.0
    for k in range(n.k):
        s, mu = sqrt(p.rho[k]), p.mu[k]
        v0, v1, v2, _ = velocity_of(p, p.x, k)
        x0, x1, x2 = (p.g[k, 0] - s * v0) / penalty, (p.g[k, 1] - s * v1) / penalty, (p.g[k, 2] - s * v2) / penalty
        w0, w1, w2 = x0 - p.z[k, 0] / penalty, x1 - p.z[k, 1] / penalty, x2 - p.z[k, 2] / penalty
        t = hypot(w1, w2)
        if mu == 0.0:
            w0, w1, w2 = max(w0, 0.0), 0.0, 0.0
        elif t > mu * w0:
            along = max((w0 + mu * t) / (1.0 + mu * mu), 0.0)
            shrink = mu * along / t if t > 0.0 else 0.0
            w0, w1, w2 = along, shrink * w1, shrink * w2
        moved = max(moved, abs(w0 - p.y[k, 0]), abs(w1 - p.y[k, 1]), abs(w2 - p.y[k, 2]))
        apart = max(apart, abs(x0 - w0), abs(x1 - w1), abs(x2 - w2))
        p.y[k, 0], p.y[k, 1], p.y[k, 2] = w0, w1, w2
        p.z[k, 0] -= penalty * (x0 - w0)
        p.z[k, 1] -= penalty * (x1 - w1)
        p.z[k, 2] -= penalty * (x2 - w2)
        p.f[k, 0], p.f[k, 1], p.f[k, 2] = s * w0, s * w1, s * w2
    for k in range(n.m):
        for a in range(6):
            p.u[k, a] = p.u_f[k, a] + p.x[k, a]
    return apart, moved


@kernel
def follow_proximal(p: Island, n: Sizes, graph: Graph) -> float:
    """Look for the modes by the proximal method, and let Newton go on from there; return the relative residual."""
    begin_at_rest(p, n)
    penalty, best, goal = 0.3, 1e300, 1e-2
    for k in range(n.k):
        for a in range(3):
            p.y[k, a], p.z[k, a] = 0.0, 0.0
    put_isotropic(p, n, penalty)
    assemble(p, n, graph)
    if not factorize(graph, n.m):
        return best
    looks = 0
    for _ in range(MOST_PROXIMAL // PROXIMAL_STEPS):
        apart, moved = 0.0, 0.0
        for _step in range(PROXIMAL_STEPS):
            apart, moved = proximal_step(p, n, graph, penalty)
        set_velocities(p, n)
        worst, size = residual(p, n, 0.0)
        looks += 1
        if worst <= goal * size or looks == PROXIMAL_ROUNDS:
            goal, looks = 0.1 * min(goal, max(worst / max(size, LEAST), 1e-9)), 0
            best = newton(p, n, graph, 0.0, NEWTON_STEPS, False)
            if best <= ENOUGH:
                return best
            put_isotropic(p, n, penalty)
            assemble(p, n, graph)
            if not factorize(graph, n.m):
                return best
        # the penalty by the two residuals
        big_y, big_z = LEAST, LEAST
        for k in range(n.k):
            for a in range(3):
                big_y, big_z = max(big_y, abs(p.y[k, a])), max(big_z, abs(p.z[k, a]))
        ratio = (apart / big_y) / max(penalty * moved / big_z, 1e-30)
        if not 0.1 <= ratio <= 10.0:
            penalty = min(max(penalty * min(max(sqrt(ratio), 0.1), 10.0), LEAST_PENALTY), 1.0 / LEAST_PENALTY)
            put_isotropic(p, n, penalty)
            assemble(p, n, graph)
            if not factorize(graph, n.m):
                return best
    return best


@kernel
def judged(p: Island, n: Sizes, left: float) -> float:
    """Return the residual of an answer, relative to forces of a sensible size: at most FARTHEST of those that stop a point alone."""
    size, stops = LEAST, LEAST
    for k in range(n.k):
        s = sqrt(p.rho[k])
        v0, v1, v2, _ = velocity_of(p, p.u_f, k)
        stops = max(stops, s * abs(v0 + p.shift[k]), s * abs(v1), s * abs(v2))
        size = max(size, abs(p.f[k, 0]) / s, abs(p.f[k, 1]) / s, abs(p.f[k, 2]) / s)
    return 1.0 if size > ENDLESS * stops else left * max(1.0, size / (FARTHEST * stops))


@kernel
def solve_island(p: Island, n: Sizes, graph: Graph) -> float:
    """Leave the solution of an island, from the modes at hand; return its relative residual."""
    begin_at_rest(p, n)
    left = judged(p, n, newton(p, n, graph, 0.0, NEWTON_STEPS, True))
    if left > ENOUGH:
        left = judged(p, n, soften(p, n, graph))
    if left > ENOUGH:
        left = judged(p, n, follow_proximal(p, n, graph))
    return left


# --------------------------------------------------------------------------------------------------------------------- the islands
@kernel
def root_of(parent: Ints, a: int) -> int:
    """Return the body that stands for the island of a."""
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


@kernel
def unite(parent: Ints, a: int, b: int) -> None:
    """Join the islands of two bodies."""
    x, y = root_of(parent, a), root_of(parent, b)
    if x != y:
        parent[max(x, y)] = min(x, y)


@inlined_kernel
def put_inertia(p: Island, a: int, body: int, inertia: Array, scale: Array) -> None:
    """Write the inertia of a body, scaled, as that of body a of the island."""
    for r in range(6):
        for c in range(6):
            p.M[a, r, c] = 0.0
    for r in range(3):
        p.M[a, r, r] = inertia[body, 0] / (scale[body, r] * scale[body, r])
        for c in range(3):
            p.M[a, 3 + r, 3 + c] = inertia[body, 1 + 3 * r + c] / (scale[body, 3 + r] * scale[body, 3 + c])


@inlined_kernel
def put_point(p: Island, at: int, k: int, pairs: Ints, C: Array, mu: Array, shift: Array, local: Ints, scale: Array) -> None:
    """Write point k, scaled, as point `at` of the island."""
    total, normal = 0.0, 0.0
    for side in range(2):
        body = pairs[k, side]
        p.ends[at, side] = local[body] if body > 0 else -1
        for a in range(6):
            for row in range(3):
                x = C[k, row, 6 * side + a] / scale[body, a] if body > 0 else 0.0
                p.C[at, row, 6 * side + a] = x
                total += x * x
                if row == 0:
                    normal += x * x
    p.mu[at], p.shift[at] = mu[k], shift[k]
    d = total / 3.0 if mu[k] > 0.0 else normal
    p.rho[at] = 1.0 / d if d > 0.0 else 1.0


@inlined_kernel
def put_row(p: Island, at: int, row: int, rows: Array, row_bodies: Ints, goal: Array, local: Ints, scale: Array) -> None:
    """Write a bilateral row, scaled, as row `at` of the island."""
    total = 0.0
    for side in range(row_bodies.shape[1]):
        body = row_bodies[row, side]
        p.row_ends[at, side] = local[body] if body > 0 else -1
        for a in range(6):
            x = rows[row, 6 * side + a] / scale[body, a] if body > 0 else 0.0
            p.rows[at, 6 * side + a] = x
            total += x * x
    p.weight[at] = 1.0 / (total * PROXIMAL) if total > 0.0 else 0.0
    p.goal[at] = goal[row]


@inlined_kernel
def connect(p: Island, n: Sizes, graph: Graph, degree: Ints, neighbours: Ints, place: Ints) -> tuple[int, int]:
    """Write the order of elimination; return the number of blocks, and that of the places in `later`."""
    for a in range(n.m):
        for b in range(n.m):
            graph.block[a, b] = -1
        graph.block[a, a] = a
    count = n.m
    for k in range(n.k):
        i, j = p.ends[k, 0], p.ends[k, 1]
        if i >= 0 and j >= 0:
            count = join(graph.block, i, j, count)
    for row in range(n.r):
        for side in range(p.row_ends.shape[1]):
            for other in range(side):
                i, j = p.row_ends[row, side], p.row_ends[row, other]
                if i >= 0 and j >= 0 and i != j:
                    count = join(graph.block, i, j, count)
    count = eliminate_symbolically(graph.block, n.m, count, graph.order, degree, neighbours)
    return count, list_later(graph.block, n.m, graph.order, place, graph.starts, graph.later)


@kernel
def hold(p: Island, n: Sizes, graph: Graph) -> bool:
    """Leave the least change of velocities with v_n = 0 at all points, pulling or pressing, and J u = goal; False if it has none."""
    begin_at_rest(p, n)
    for k in range(n.k):
        p.mode[k] = SLIP
    for step in range(HOLD_STEPS):
        set_velocities(p, n)
        put_balance(p, n)
        for k in range(n.k):
            law_of_point(p, k, 0.0, True)
        if step == 0:
            assemble(p, n, graph)
            if not factorize(graph, n.m):
                return False
        put_right_side(p, n)
        substitute(graph, n.m, p.b, p.x)
        move(p, n)
    return True


@kernel
def number_islands(pairs: Ints, row_bodies: Ints, parent: Ints, number: Ints, of_point: Ints, with_rows: bool) -> int:
    """Write the number of the island of each body, -1 for those that nothing presses, and of each point; return how many there are."""
    for a in range(parent.size):
        parent[a], number[a] = a, -1
    for k in range(pairs.shape[0]):
        if pairs[k, 0] > 0 and pairs[k, 1] > 0:
            unite(parent, pairs[k, 0], pairs[k, 1])
    for row in range(row_bodies.shape[0]):
        first = 0
        for side in range(row_bodies.shape[1]):
            body = row_bodies[row, side]
            if body > 0:
                if first > 0:
                    unite(parent, first, body)
                first = body
    count = 0
    for k in range(pairs.shape[0]):
        root = root_of(parent, pairs[k, 1] if pairs[k, 1] > 0 else pairs[k, 0])
        if number[root] < 0:
            number[root] = count
            count += 1
        of_point[k] = number[root]
    if with_rows:
        for row in range(row_bodies.shape[0]):
            for side in range(row_bodies.shape[1]):
                if row_bodies[row, side] > 0:
                    root = root_of(parent, row_bodies[row, side])
                    if number[root] < 0:
                        number[root] = count
                        count += 1
    for a in range(parent.size):
        number[a] = number[root_of(parent, a)]
    return count


@kernel
def sort_by_island(of: Ints, starts: Ints, order: Ints) -> int:
    """Write the members of each island one behind the other (counting sort), and where they start; return the size of the largest."""
    count = starts.size - 1
    for i in range(count + 1):
        starts[i] = 0
    for a in range(of.size):
        if of[a] >= 0:
            starts[of[a] + 1] += 1
    most = 0
    for i in range(count):
        most = max(most, starts[i + 1])
        starts[i + 1] += starts[i]
    for a in range(of.size):
        if of[a] >= 0:
            order[starts[of[a]]] = a
            starts[of[a]] += 1
    # each start has moved on to the next one
    for i in range(count - 1, 0, -1):
        starts[i] = starts[i - 1]
    if count > 0:
        starts[0] = 0
    return most


@counted
def new_island(m: int, k: int, r: int, sides: int) -> Island:
    """Return room for islands of up to m bodies, k points and r rows."""
    return Island(
        np.empty((m, 6, 6)),
        np.empty((m, 6)),
        np.empty((m, 6)),
        np.empty((m, 6)),
        np.empty((m, 6)),
        np.empty((k, 2), dtype=np.int64),
        np.empty((k, 3, 12)),
        np.empty(k),
        np.empty(k),
        np.empty(k),
        np.empty((k, 3)),
        np.empty((k, 3)),
        np.empty((k, 3)),
        np.empty((k, 3)),
        np.empty((k, 3, 3)),
        np.empty(k, dtype=np.int64),
        np.empty((k, 2)),
        np.empty((r, 6 * sides)),
        np.empty((r, sides), dtype=np.int64),
        np.empty(r),
        np.empty(r),
        np.empty(r),
        np.empty(r),
        np.empty((k, 3)),
        np.empty((m, 6)),
        np.empty(r),
        np.empty((k, 3)),
        np.empty((k, 3)),
    )


@counted_entry
def islands_entry(
    inertia: Array,
    shifted: Array,
    pairs: Ints,
    C: Array,
    mu: Array,
    shift: Array,
    mode: Ints,
    way: Array,
    rows: Array,
    row_bodies: Ints,
    goal: Array,
    holds: bool,
    u_f: Array,
    u: Array,
    f: Array,
    v: Array,
    of_point: Ints,
    left: Array,
) -> int:
    """Solve all islands; return their number.

    inertia, shifted: (n, 10), see `workspace.layout`;  pairs: (k, 2) bodies, 0 for the ground;  C: (k, 3, 12);  mu, shift: (k,)
    mode, way: (k,), (k, 2) to begin with, and then of this step;  rows: (r, 6 sides), row_bodies: (r, sides), goal: (r,) of J u = goal
    holds: whether points are held at v_n = 0 in place of the laws, and rows without points are taken, too
    u_f: (n, 6) free velocities;  u, f, v: (n, 6), (k, 3), (k, 3) the solution;  of_point: (k,) the island of each point
    left: (n,) relative residual of each island
    """
    n_bodies, n_points, n_rows, sides = inertia.shape[0], pairs.shape[0], row_bodies.shape[0], row_bodies.shape[1]
    scale = np.empty((n_bodies, 6))
    for b in range(n_bodies):
        for a in range(6):
            x = shifted[b, 0] if a < 3 else shifted[b, 1 + 4 * (a - 3)]
            scale[b, a] = sqrt(x) if x > 0.0 else 1.0
            u[b, a] = u_f[b, a]
    parent, number, local = np.empty(n_bodies, np.int64), np.empty(n_bodies, np.int64), np.empty(n_bodies, np.int64)
    count = number_islands(pairs, row_bodies, parent, number, of_point, holds)
    number[0] = -1
    of_row = np.empty(n_rows, np.int64)
    for row in range(n_rows):
        of_row[row] = -1
        for side in range(sides):
            if row_bodies[row, side] > 0:
                of_row[row] = number[row_bodies[row, side]]
    body_starts, point_starts, row_starts = (
        np.empty(count + 1, np.int64),
        np.empty(count + 1, np.int64),
        np.empty(count + 1, np.int64),
    )
    bodies, points, own_rows = np.empty(n_bodies, np.int64), np.empty(n_points, np.int64), np.empty(n_rows, np.int64)
    m = sort_by_island(number, body_starts, bodies)
    k_most = sort_by_island(of_point, point_starts, points)
    r_most = sort_by_island(of_row, row_starts, own_rows)
    p = new_island(m, k_most, r_most, sides)
    graph = Graph(
        np.empty((m, m), np.int64),
        np.empty((3 * m, 6, 6)),
        np.empty(m, np.int64),
        np.empty(m + 1, np.int64),
        np.empty(4 * m, np.int64),
    )
    degree, neighbours, place = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    for i in range(count):
        n_of_rows = row_starts[i + 1] - row_starts[i]
        n = Sizes(body_starts[i + 1] - body_starts[i], point_starts[i + 1] - point_starts[i], n_of_rows, 0, False)
        light, heavy = 1e300, 0.0
        for a in range(n.m):
            body = bodies[body_starts[i] + a]
            light, heavy = min(light, scale[body, 0]), max(heavy, scale[body, 0])
            local[body] = a
            put_inertia(p, a, body, inertia, scale)
            for c in range(6):
                p.u_f[a, c] = scale[body, c] * u_f[body, c]
        for a in range(n.k):
            k = points[point_starts[i] + a]
            put_point(p, a, k, pairs, C, mu, shift, local, scale)
            p.mode[a] = mode[k]
            p.way[a, 0], p.way[a, 1] = way[k, 0], way[k, 1]
        for a in range(n.r):
            put_row(p, a, own_rows[row_starts[i] + a], rows, row_bodies, goal, local, scale)
        blocks, later = connect(p, n, graph, degree, neighbours, place)
        if blocks > graph.B.shape[0] or later > graph.later.size:
            graph = Graph(graph.block, np.empty((blocks, 6, 6)), graph.order, graph.starts, np.empty(later, np.int64))
            list_later(graph.block, n.m, graph.order, place, graph.starts, graph.later)
        n = Sizes(n.m, n.k, n.r, blocks, n.r > 0 or heavy > UNEVEN * light)
        if holds:
            left[i] = 0.0 if hold(p, n, graph) else 1.0
        else:
            left[i] = solve_island(p, n, graph)
        set_velocities(p, n)
        for a in range(n.m):
            body = bodies[body_starts[i] + a]
            for c in range(6):
                u[body, c] = u_f[body, c] + (p.u[a, c] - p.u_f[a, c]) / scale[body, c]
        for a in range(n.k):
            k = points[point_starts[i] + a]
            mode[k], way[k, 0], way[k, 1] = p.mode[a], p.way[a, 0], p.way[a, 1]
            for c in range(3):
                f[k, c], v[k, c] = p.f[a, c], p.v[a, c]
    return count
