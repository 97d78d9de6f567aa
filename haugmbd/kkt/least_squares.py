r"""Dependent rows off the constraint manifold: least-squares accelerations that fit all rows, not only the kept ones.

    kept      J_k u_dot = gamma_k            the solution of the block LDL^T;   J_d = C J_k for the dropped rows
    residual  rho = gamma_d - J_d u_dot      zero on the manifold, of the size of the violation off it
    solve     minimise  |d_k / s_k|^2 + |(rho - C d_k) / s_d|^2      J_k u_dot = gamma_k + d_k,   s = |row|, with turns scaled as lengths
              d_k = s_k^2 C^T y,   (s_d^2 + C s_k^2 C^T) y = rho

Without it the dropped rows keep a residual of C times the violation of the kept rows.  Each time that other rows are kept
(`rank_deficient`) this residual becomes their violation.  Without a projection |Phi| then grows exponentially with the turns of a closed
loop.
Conjugate gradients need two solutions with the current factor per step: the solution for J_d^T y is C^T y, and that for s_k^2 C^T y in
the rows is a motion u with J_d u = C s_k^2 C^T y.  They end after at most as many steps as there are dropped rows.
Least squares do not stop the drift: the fitted combinations of rows turn with the pose, and the violation grows with the motion, as with
all formulations.  Only a projection stops it.
Source: Hestenes and Stiefel (1952); the solution is that of Udwadia and Kalaba (1992).
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow_blocks
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import NOT_SPREAD, OK, report
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import ACCELERATIONS, Workspace

ROUNDING = 1e-13
"""Relative to the terms of a row: a dropped row with a smaller residual is fulfilled."""

SPREAD_TOL = 1e-4
"""Relative to the first residual: the iteration ends below it.  The violation itself is small compared with the motion."""

MAX_STEPS = 400
"""The iteration needs as many steps as C C^T has distinct eigenvalues; a single loop has few."""


class DroppedRows(NamedTuple):
    """The rows, and which of them are dropped.

    edges: (ne, bodies);  J: (6 ne, bodies, 6);  pad: (6 ne,), not zero where there is no row;  d_inv: (nn, 6), zero for dropped rows
    size: (nn, 6), s
    """

    edges: Ints
    J: Array
    pad: Array
    d_inv: Array
    size: Array


@kernel
def put_transposed(edges: Ints, J: Array, y: Array, out: Array, n: int) -> None:
    """Write (J^T y, 0) to out (nn, 6);  y: (nn, 6), of which the rows from node n on are used."""
    for k in range(out.shape[0]):
        for a in range(6):
            out[k, a] = 0.0
    for e in range(edges.shape[0]):
        for a in range(6):
            if y[n + e, a] != 0.0:
                for side in range(edges.shape[1]):
                    body = edges[e, side]
                    for c in range(6):
                        out[body, c] += J[6 * e + a, side, c] * y[n + e, a]
    for c in range(6):
        out[0, c] = 0.0


@kernel
def row_times(edges: Ints, J: Array, u: Array, e: int, a: int) -> float:
    """Return J_r u for row a of edge e; u: (nn, 6), zero on the ground."""
    total = 0.0
    for side in range(edges.shape[1]):
        body = edges[e, side]
        if body > 0:
            for c in range(6):
                total += J[6 * e + a, side, c] * u[body, c]
    return total


@kernel
def put_residual(rows: DroppedRows, b: Array, x: Array, r: Array) -> tuple[float, int]:
    """Write rho / s_d to r; return |rho / s_d|^2, and the number of rows that are not fulfilled."""
    n = x.shape[0] - rows.edges.shape[0]
    open_rows = 0
    for e in range(rows.edges.shape[0]):
        for a in range(6):
            r[n + e, a] = 0.0
            if is_dropped(rows, n, e, a):
                moved = row_times(rows.edges, rows.J, x, e, a)
                left = b[n + e, a] - moved
                r[n + e, a] = left / rows.size[n + e, a]
                open_rows += abs(left) > ROUNDING * (abs(b[n + e, a]) + abs(moved))
    return squared(r, n), open_rows


@kernel
def is_dropped(rows: DroppedRows, n: int, e: int, a: int) -> bool:
    """Return whether row a of edge e is a row, and dropped."""
    return bool(rows.pad[6 * e + a] == 0.0 and rows.d_inv[n + e, a] == 0.0)


@kernel
def put_scaled(rows: DroppedRows, p: Array, out: Array, n: int) -> None:
    """Write p / s_d to out."""
    for k in range(n, p.shape[0]):
        for a in range(6):
            out[k, a] = p[k, a] / rows.size[k, a]


@kernel
def put_weighted(rows: DroppedRows, z: Array, n: int) -> None:
    """Replace (., C^T y) by the right-hand side (0, s_k^2 C^T y)."""
    for k in range(n):
        for a in range(6):
            z[k, a] = 0.0
    for e in range(rows.edges.shape[0]):
        for a in range(6):
            z[n + e, a] = rows.size[n + e, a] ** 2 * z[n + e, a] if rows.pad[6 * e + a] == 0.0 else 0.0


@kernel
def put_image(rows: DroppedRows, p: Array, z: Array, w: Array, n: int) -> float:
    """Write w = p + J_d z / s_d, z the motion that p causes; return p . w."""
    curvature = 0.0
    for e in range(rows.edges.shape[0]):
        for a in range(6):
            w[n + e, a] = 0.0
            if is_dropped(rows, n, e, a):
                w[n + e, a] = p[n + e, a] + row_times(rows.edges, rows.J, z, e, a) / rows.size[n + e, a]
                curvature += p[n + e, a] * w[n + e, a]
    return curvature


@kernel
def add(x: Array, step: float, z: Array, first: int) -> None:
    """Add step times z to x, from row `first` on."""
    for k in range(first, x.shape[0]):
        for a in range(6):
            x[k, a] += step * z[k, a]


@kernel
def squared(r: Array, n: int) -> float:
    """Return |r|^2 of the nodes of edges."""
    total = 0.0
    for k in range(n, r.shape[0]):
        for a in range(6):
            total += r[k, a] ** 2
    return total


@kernel
def put_direction(r: Array, beta: float, p: Array, n: int) -> None:
    """Replace p by r + beta p."""
    for k in range(n, p.shape[0]):
        for a in range(6):
            p[k, a] = r[k, a] if beta == 0.0 else r[k, a] + beta * p[k, a]


def fitter(solve: Any) -> Any:
    """Return the kernel that fits the solution array to all rows with a solver:  solve(work, x) sets x <- K^-1 x."""

    @kernel
    def fit_all_rows(work: Workspace, rows: DroppedRows, b: Array, x: Array, vectors: Array) -> tuple[bool, float]:
        """Change the solution x (nn, 6) of K x = b to the one that also fits the dropped rows.

        vectors: work array (4, nn, 6)
        Return whether the iteration has converged, and the remaining part of the residual.
        """
        n = x.shape[0] - rows.edges.shape[0]
        r, p, z, w = vectors[0], vectors[1], vectors[2], vectors[3]
        first, open_rows = put_residual(rows, b, x, r)
        if open_rows == 0 or first == 0.0:
            return True, 0.0
        now = first
        put_direction(r, 0.0, p, n)
        for _ in range(MAX_STEPS):
            put_scaled(rows, p, w, n)
            put_transposed(rows.edges, rows.J, w, z, n)
            solve(work, z)
            put_weighted(rows, z, n)
            solve(work, z)
            curvature = put_image(rows, p, z, w, n)
            if not curvature > 0.0:
                break
            step, before = now / curvature, now
            add(x, step, z, 1)
            add(r, -step, w, n)
            now = squared(r, n)
            if now <= SPREAD_TOL**2 * first:
                return True, 0.0
            put_direction(r, now / before, p, n)
        return False, sqrt(now / first)

    @kernel
    def fitted(w: Workspace) -> int:
        """Fit accelerations to all rows; leave other solutions unchanged; return NOT_SPREAD if the iteration does not converge."""
        if ws.solve_for(w)[0, 0] != ACCELERATIONS:
            return OK
        x = ws.solution(w)
        vectors = borrow_blocks(w.work, ws.start_of(w, at.LEAST_SQUARES), ws.rows_of(w, at.LEAST_SQUARES), x.shape[0], 6)
        rows = DroppedRows(ws.edges(w), ws.jacobian(w), ws.padding_line(w), ws.inverse_pivots(w), vectors[4])
        ended, left = fit_all_rows(w, rows, ws.right_hand_side(w), x, vectors)
        return OK if ended else report(ws.status(w), NOT_SPREAD, 0, left)

    return fitted
