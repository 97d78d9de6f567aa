"""The augmented KKT system by a multifrontal LDL^T: bodies first, then their rows by fronts of true sizes.

    S = -Phi_q M^-1 Phi_q^T         body b adds  -(J_b L_b^-T) d_b^-1 (J_b L_b^-T)^T,   M_b = L_b d_b L_b^T  with the tangent of its forces
    front   assemble bodies and updates of children, eliminate its pivots, stack the rest for its parent
    x       forward: bodies, then fronts;  backward: fronts, then bodies.  The factor contains Y_b = J_b L_b^-T, so that a solution does
            not depend on the rows that are in the workspace at that time.

Unknowns are numbered by nodes: unknown 6 k + a is number a of node k, see `elimination_order`; those of padding are not touched.
Source: Duff and Reid, The multifrontal solution of indefinite sparse symmetric linear equations, ACM TOMS 9 (1983).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.kkt.block_kernels import backward_block, factor_block, forward_block, pivot_ratio
from haugmbd.kkt.front_kernels import backward_rows, clear_upper, eliminate, extend_add, forward_rows
from haugmbd.kkt.front_plan import (
    CHILD,
    END_BODY,
    END_RUN,
    FACTOR,
    FIRST_BODY,
    FIRST_ROW,
    FIRST_RUN,
    PIVOTS,
    ROWS,
    SIBLING,
    STACKED,
)
from haugmbd.kkt.rank_deficient import next_row, take
from haugmbd.math.larger import worst_of


class FrontTables(NamedTuple):
    """The tables of `front_layout.lay_out`."""

    fronts: Ints
    rows: Ints
    runs: Ints
    bodies: Ints
    body_rows: Ints


class FrontFactor(NamedTuple):
    """The arrays of one factorization.

    D: (., 6, 6) inertia of the bodies, then L_b;  d_inv: (nn, 6) inverse pivots, by nodes;  U: rows of the factor
    stack: updates that wait for their parents;  F: the current front;  Y: (., 6) rows of each body, times L_b^-T
    pivots: inverse pivots of the current front;  z: its unknowns;  panel: see `front_kernels.eliminate`
    """

    D: Array
    d_inv: Array
    U: Array
    stack: Array
    F: Array
    Y: Array
    pivots: Array
    z: Array
    panel: Array


@inlined
def factor_bodies(inertia: Array, tangents: Array, scale: Array, D: Array, d_inv: Array) -> tuple[float, int]:
    """Factor the inertia of the bodies, with tangents if there are any; return the largest scale / |pivot| and its body."""
    worst, where = 1.0, -1
    for b in range(1, inertia.shape[0]):
        # D_b = M_b, and the tangents of an implicit step
        for a in range(3):
            for c in range(3):
                D[b, a, c] = 0.0
                D[b, 3 + a, c] = 0.0
                D[b, 3 + a, 3 + c] = inertia[b, 1 + 3 * a + c]
            D[b, a, a] = inertia[b, 0]
        if tangents.shape[0] > 0:
            for a in range(6):
                for c in range(a + 1):
                    D[b, a, c] += tangents[b, a, c]
        # M_b = L diag(d) L^T
        factor_block(D[b], d_inv[b])
        weak = pivot_ratio(d_inv[b], scale[b])
        worst, where = worst_of(worst, where, weak, b)
    return worst, where


@kernel
def add_body(D: Array, d_inv: Array, J: Array, rows: Ints, first: int, end: int, Y: Array, F: Array) -> None:
    """Write Y = J L^-T of one body, and subtract J M^-1 J^T from F.

    J: (., 6) gradients;  rows: (., 3) numbers of the gradient, the unknown, and the row in F
    """
    l43, l53, l54 = D[4, 3], D[5, 3], D[5, 4]
    # Y = J L^-T
    for r in range(first, end):
        g, y = J[rows[r, 0]], Y[r]
        y0 = g[0]
        y1 = g[1] - D[1, 0] * y0
        y2 = g[2] - D[2, 0] * y0 - D[2, 1] * y1
        y3 = g[3] - D[3, 0] * y0 - D[3, 1] * y1 - D[3, 2] * y2
        y4 = g[4] - D[4, 0] * y0 - D[4, 1] * y1 - D[4, 2] * y2 - l43 * y3
        y5 = g[5] - D[5, 0] * y0 - D[5, 1] * y1 - D[5, 2] * y2 - l53 * y3 - l54 * y4
        y[0], y[1], y[2], y[3], y[4], y[5] = y0, y1, y2, y3, y4, y5
    # F <- F - Y d^-1 Y^T
    d0, d1, d2, d3, d4, d5 = d_inv[0], d_inv[1], d_inv[2], d_inv[3], d_inv[4], d_inv[5]
    for r in range(first, end):
        y, target = Y[r], F[rows[r, 2]]
        y0, y1, y2, y3, y4, y5 = d0 * y[0], d1 * y[1], d2 * y[2], d3 * y[3], d4 * y[4], d5 * y[5]
        for c in range(r, end):
            w = Y[c]
            target[rows[c, 2]] -= (y0 * w[0] + y1 * w[1] + y2 * w[2]) + (y3 * w[3] + y4 * w[4] + y5 * w[5])


@kernel
def assemble_front(s: FrontTables, q: int, J: Array, f: FrontFactor, F: Array) -> None:
    """Write the front q: its bodies, and the updates of its children."""
    # F = - sum J M^-1 J^T of the bodies that only this front and its parents see
    clear_upper(F)
    for t in range(s.fronts[q, FIRST_BODY], s.fronts[q, END_BODY]):
        b = s.bodies[t, 0]
        add_body(f.D[b], f.d_inv[b], J, s.body_rows, s.bodies[t, 1], s.bodies[t, 2], f.Y, F)
    # plus the updates of its children
    c = s.fronts[q, CHILD]
    while c >= 0:
        r = s.fronts[c, ROWS] - s.fronts[c, PIVOTS]
        if r > 0:
            C = borrow(f.stack, s.fronts[c, STACKED], r, r)
            extend_add(C, s.runs, s.fronts[c, FIRST_RUN], s.fronts[c, END_RUN], F)
        c = s.fronts[c, SIBLING]


@kernel
def store_front(s: FrontTables, q: int, f: FrontFactor, F: Array) -> None:
    """Copy the pivot rows of the front q to the factor, and the rest to the stack."""
    k, n = s.fronts[q, PIVOTS], s.fronts[q, ROWS]
    P = borrow(f.U, s.fronts[q, FACTOR], k, n)
    for i in range(k):
        source, target = F[i], P[i]
        for j in range(i, n):
            target[j] = source[j]
    r = n - k
    if r > 0:
        C = borrow(f.stack, s.fronts[q, STACKED], r, r)
        for i in range(r):
            source, target = F[k + i], C[i]
            for j in range(i, r):
                target[j] = source[k + j]


def front_loop(select: Any) -> Any:
    """Return the kernel that factors all fronts.

    select: select(choice, scale, F, d_inv, rows, panel) eliminates the pivots of one front
    """

    @kernel
    def factor_fronts(choice: Any, s: FrontTables, J: Array, diagonal: Array, scale: Array, f: FrontFactor) -> tuple[float, int]:
        """Factor all fronts; return the largest scale / |pivot| of their rows, and its node (1.0, -1 if none is larger).

        diagonal: (6 ne,) what is added to the diagonal of each row;  scale: (nn, 6)
        """
        worst, where = 1.0, -1
        inverse, sizes = borrow_line(f.d_inv, 0, f.d_inv.size), borrow_line(scale, 0, scale.size)
        first_row = sizes.size - diagonal.size
        for q in range(s.fronts.shape[0]):
            k, n, at = s.fronts[q, PIVOTS], s.fronts[q, ROWS], s.fronts[q, FIRST_ROW]
            F = borrow(f.F, 0, n, n)
            # F = - J M^-1 J^T of its bodies, plus the updates of its children
            assemble_front(s, q, J, f, F)
            rows = borrow_line(s.rows, at, k)
            for i in range(k):
                F[i, i] += diagonal[rows[i] - first_row]
            # F = U^T d^-1 U for its pivots; what is left is the update of its parent
            select(choice, scale, F, f.pivots, rows, f.panel)
            # keep the inverse pivots by rows, and the weakest
            for i in range(k):
                inverse[rows[i]] = f.pivots[i]
                weak = abs(f.pivots[i]) * sizes[rows[i]]
                worst, where = worst_of(worst, where, weak, rows[i])
            store_front(s, q, f, F)
        return worst, where // 6

    return factor_fronts


@kernel
def every_row(choice: int, scale: Array, F: Array, d_inv: Array, rows: Ints, panel: Array) -> None:
    """Eliminate all pivots of a front."""
    eliminate(F, d_inv, 0, rows.size, panel)


@kernel
def forward(s: FrontTables, f: FrontFactor, x: Array) -> None:
    """Set x (nn, 6) to d^-1 L^-1 x: bodies, then fronts."""
    line, inverse = borrow_line(x, 0, x.size), borrow_line(f.d_inv, 0, f.d_inv.size)
    # bodies:  x_b <- d^-1 L^-1 x_b
    for b in range(1, f.D.shape[0]):
        forward_block(f.D[b], x, b)
        for a in range(6):
            x[b, a] *= f.d_inv[b, a]
    # rows:  x <- x - Y x_b
    for t in range(s.bodies.shape[0]):
        u = x[s.bodies[t, 0]]
        u0, u1, u2, u3, u4, u5 = u[0], u[1], u[2], u[3], u[4], u[5]
        for r in range(s.bodies[t, 1], s.bodies[t, 2]):
            y = f.Y[r]
            line[s.body_rows[r, 1]] -= (y[0] * u0 + y[1] * u1 + y[2] * u2) + (y[3] * u3 + y[4] * u4 + y[5] * u5)
    # fronts from the leaves to the roots
    z = f.z
    for q in range(s.fronts.shape[0]):
        k, n, at = s.fronts[q, PIVOTS], s.fronts[q, ROWS], s.fronts[q, FIRST_ROW]
        for i in range(k):
            z[i] = line[s.rows[at + i]]
            f.pivots[i] = inverse[s.rows[at + i]]
        for i in range(k, n):
            z[i] = 0.0
        forward_rows(borrow(f.U, s.fronts[q, FACTOR], k, n), f.pivots, z)
        for i in range(k):
            line[s.rows[at + i]] = z[i]
        for i in range(k, n):
            line[s.rows[at + i]] += z[i]


@kernel
def backward(s: FrontTables, f: FrontFactor, x: Array) -> None:
    """Set x <- L^-T x: the result of `forward` becomes the solution."""
    line, inverse, z = borrow_line(x, 0, x.size), borrow_line(f.d_inv, 0, f.d_inv.size), f.z
    # fronts from the roots to the leaves:  lam
    for q in range(s.fronts.shape[0] - 1, -1, -1):
        k, n, at = s.fronts[q, PIVOTS], s.fronts[q, ROWS], s.fronts[q, FIRST_ROW]
        for i in range(n):
            z[i] = line[s.rows[at + i]]
        for i in range(k):
            f.pivots[i] = inverse[s.rows[at + i]]
        backward_rows(borrow(f.U, s.fronts[q, FACTOR], k, n), f.pivots, z)
        for i in range(k):
            line[s.rows[at + i]] = z[i]
    # bodies:  x_b <- x_b - d^-1 Y^T lam
    for t in range(s.bodies.shape[0]):
        b = s.bodies[t, 0]
        w0 = w1 = w2 = w3 = w4 = w5 = 0.0
        for r in range(s.bodies[t, 1], s.bodies[t, 2]):
            y, lam = f.Y[r], line[s.body_rows[r, 1]]
            w0, w1, w2 = w0 + y[0] * lam, w1 + y[1] * lam, w2 + y[2] * lam
            w3, w4, w5 = w3 + y[3] * lam, w4 + y[4] * lam, w5 + y[5] * lam
        d = f.d_inv[b]
        x[b, 0], x[b, 1], x[b, 2] = x[b, 0] - d[0] * w0, x[b, 1] - d[1] * w1, x[b, 2] - d[2] * w2
        x[b, 3], x[b, 4], x[b, 5] = x[b, 3] - d[3] * w3, x[b, 4] - d[4] * w4, x[b, 5] - d[5] * w5
    # x_b <- L^-T x_b
    for b in range(1, f.D.shape[0]):
        backward_block(f.D[b], x, b)


# The multifrontal LDL^T with dependent rows: each edge eliminates as many rows as it keeps, and leaves out the others.
#
# The rules are those of `kkt.rank_deficient`.  A row that is left out has the inverse pivot zero and an empty row in the factor, so that
# its multiplier is zero for any right-hand side.


class Kept(NamedTuple):
    """The selection of rows.

    kept: (ne, 6) table of the model;  S: (6, 9) work array
    """

    kept: Array
    S: Array


class Independent(NamedTuple):
    """Rows are kept while their pivots, relative to their scales, are above `tol`.

    active: (ne, 6) 1 for the rows that take part;  preferred: part of the largest pivot above which the first row is taken
    """

    active: Array
    S: Array
    tol: float
    preferred: float


@kernel
def kept_rows_only(c: Kept, scale: Array, F: Array, d_inv: Array, rows: Ints, panel: Array) -> None:
    """Eliminate the pivots of a front, as many of each edge as it keeps;  scale: (nn, 6) scales of the pivots."""
    first_edge = scale.shape[0] - c.kept.shape[0]
    start = i = 0
    while i < rows.size:
        node, m, wanted = rows[i] // 6, 0, 0
        while i + m < rows.size and rows[i + m] // 6 == node:
            wanted += c.kept[node - first_edge, rows[i + m] % 6] == 1.0
            m += 1
        if wanted < m:
            eliminate(F, d_inv, start, i, panel)
            put_schur(F, i, m, rows, scale, c.S)
            for _ in range(wanted):
                take(c.S, next_row(c.S, c.kept[node - first_edge]))
            eliminate_marked(F, d_inv, i, m, c.S, panel)
            start = i + m
        i += m
    eliminate(F, d_inv, start, rows.size, panel)


@kernel
def independent_rows_only(c: Independent, scale: Array, F: Array, d_inv: Array, rows: Ints, panel: Array) -> None:
    """Eliminate the pivots of a front that are independent of those before;  scale: (nn, 6) scales of the pivots."""
    first_edge = scale.shape[0] - c.active.shape[0]
    i = 0
    while i < rows.size:
        node, m = rows[i] // 6, 0
        while i + m < rows.size and rows[i + m] // 6 == node:
            m += 1
        put_schur(F, i, m, rows, scale, c.S)
        for a in range(m):
            if c.active[node - first_edge, rows[i + a] % 6] == 0.0:
                c.S[a, 6] = 2.0
        for _ in range(m):
            row = first_good_row(c.S, c.tol, c.preferred)
            if row < 0:
                break
            take(c.S, row)
        eliminate_marked(F, d_inv, i, m, c.S, panel)
        i += m


@kernel
def put_schur(F: Array, i: int, m: int, rows: Ints, scale: Array, S: Array) -> None:
    """Write the rows i to i + m of -F, relative to their scales, to S; mark what is behind them as taken."""
    for a in range(6):
        S[a, 6] = 0.0 if a < m else 1.0
    for a in range(m):
        for b in range(a, m):
            size = scale[rows[i + a] // 6, rows[i + a] % 6] * scale[rows[i + b] // 6, rows[i + b] % 6]
            S[a, b] = S[b, a] = -F[i + a, i + b] / size**0.5


@kernel
def first_good_row(S: Array, tol: float, preferred: float) -> int:
    """Return the first remaining row whose pivot is `preferred` times the largest one; -1 if that is not above `tol`."""
    largest = 0.0
    for a in range(6):
        if S[a, 6] == 0.0:
            largest = max(largest, S[a, a])
    if not largest > tol:
        return -1
    for a in range(6):
        if S[a, 6] == 0.0 and S[a, a] >= preferred * largest:
            return a
    return -1


@kernel
def eliminate_marked(F: Array, d_inv: Array, i: int, m: int, S: Array, panel: Array) -> None:
    """Eliminate those of the pivots i to i + m that S marks as taken; make the rows of the others empty."""
    for a in range(m):
        if S[a, 6] != 1.0:
            for j in range(i, F.shape[0]):
                F[min(i + a, j), max(i + a, j)] = 0.0
            F[i + a, i + a] = -1.0
    eliminate(F, d_inv, i, i + m, panel)
    for a in range(m):
        if S[a, 6] != 1.0:
            d_inv[i + a] = 0.0
