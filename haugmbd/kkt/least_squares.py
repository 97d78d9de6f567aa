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
from typing import Any

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow_blocks
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, kernel
from haugmbd.compiled.status_codes import NOT_SPREAD, OK, report
from haugmbd.kkt.entry_points import refine_entry, solve_with_blocks
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import ACCELERATIONS, SOLVE_SIGNATURE, Workspace

ROUNDING = 1e-13
"""Relative to the terms of a row: a dropped row with a smaller residual is fulfilled."""

SPREAD_TOL = 1e-4
"""Relative to the first residual: the iteration ends below it.  The violation itself is small compared with the motion."""

MAX_STEPS = 400
"""The iteration needs as many steps as C C^T has distinct eigenvalues; a single loop has few."""


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


def fitter(solve: Any) -> Any:
    """Return the kernel that fits the solution array to all rows with a solver:  solve(work, x) sets x <- K^-1 x."""

    @kernel
    def fit_all_rows(
        work: Workspace, d_inv: Array, pad: Array, edges: Ints, J: Array, b: Array, x: Array, vectors: Array
    ) -> tuple[bool, float]:
        """Change the solution x (nn, 6) of K x = b to the one that also fits the dropped rows.

        d_inv: (nn, 6), zero for dropped rows;  pad: (6 ne,);  vectors: work array (5, nn, 6), the last one s
        Return whether the iteration has converged, and the remaining part of the residual.
        """
        n = x.shape[0] - edges.shape[0]
        r, p, z, w, size = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
        first, open_rows = 0.0, 0
        for e in range(edges.shape[0]):
            for a in range(6):
                r[n + e, a] = p[n + e, a] = 0.0
                if pad[6 * e + a] == 0.0 and d_inv[n + e, a] == 0.0:
                    moved = row_times(edges, J, x, e, a)
                    left = b[n + e, a] - moved
                    r[n + e, a] = p[n + e, a] = left / size[n + e, a]
                    first += r[n + e, a] ** 2
                    open_rows += abs(left) > ROUNDING * (abs(b[n + e, a]) + abs(moved))
        if open_rows == 0 or first == 0.0:
            return True, 0.0
        now = first
        for _ in range(MAX_STEPS):
            for e in range(edges.shape[0]):
                for a in range(6):
                    w[n + e, a] = p[n + e, a] / size[n + e, a]
            put_transposed(edges, J, w, z, n)
            solve(work, z)
            for k in range(n):
                for a in range(6):
                    z[k, a] = 0.0
            for e in range(edges.shape[0]):
                for a in range(6):
                    z[n + e, a] = size[n + e, a] ** 2 * z[n + e, a] if pad[6 * e + a] == 0.0 else 0.0
            solve(work, z)
            steep = 0.0
            for e in range(edges.shape[0]):
                for a in range(6):
                    if pad[6 * e + a] == 0.0 and d_inv[n + e, a] == 0.0:
                        w[n + e, a] = p[n + e, a] + row_times(edges, J, z, e, a) / size[n + e, a]
                        steep += p[n + e, a] * w[n + e, a]
                    else:
                        w[n + e, a] = 0.0
            if not steep > 0.0:
                break
            step, before = now / steep, now
            now = 0.0
            for k in range(1, n):
                for a in range(6):
                    x[k, a] += step * z[k, a]
            for e in range(edges.shape[0]):
                for a in range(6):
                    x[n + e, a] += step * z[n + e, a]
                    r[n + e, a] -= step * w[n + e, a]
                    now += r[n + e, a] ** 2
            if now <= SPREAD_TOL**2 * first:
                return True, 0.0
            for e in range(edges.shape[0]):
                for a in range(6):
                    p[n + e, a] = r[n + e, a] + now / before * p[n + e, a]
        return False, sqrt(now / first)

    @kernel
    def fitted(w: Workspace) -> int:
        """Fit accelerations to all rows; leave other solutions unchanged; return NOT_SPREAD if the iteration does not converge."""
        if ws.solve_for(w)[0, 0] != ACCELERATIONS:
            return OK
        x = ws.solution(w)
        vectors = borrow_blocks(w.work, w.ints[3 * at.LEAST_SQUARES], w.ints[3 * at.LEAST_SQUARES + 1], x.shape[0], 6)
        ended, left = fit_all_rows(
            w, ws.inverse_pivots(w), ws.padding_line(w), ws.edges(w), ws.jacobian(w), ws.right_hand_side(w), x, vectors
        )
        return OK if ended else report(ws.status(w), NOT_SPREAD, 0, left)

    return fitted


fitted_by_blocks = fitter(solve_with_blocks)


@entry
def fit_all_rows_entry(w: Workspace, python_solver: Callback) -> int:
    """Fit accelerations to all rows; leave other solutions unchanged."""
    return fitted_by_blocks(w)  # type: ignore[no-any-return]


@entry
def refine_and_fit_all_rows_entry(w: Workspace, python_solver: Callback) -> int:
    """Refine the solution of a model with massless directions, then fit accelerations to all rows."""
    code = refine_entry(w, python_solver)
    return fit_all_rows_entry(w, python_solver) if code == OK else code


FIT_ALL_ROWS = Routine(fit_all_rows_entry, SOLVE_SIGNATURE)
REFINE_AND_FIT_ALL_ROWS = Routine(refine_and_fit_all_rows_entry, SOLVE_SIGNATURE)
