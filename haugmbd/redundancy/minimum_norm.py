r"""Multipliers of minimum norm: of all that exert the same reactions on the bodies, those with the least sum of squares.

    minimise lam . lam  with  Phi_q^T lam = w        w = Phi_q^T lam_kept = Q - M u_dot

    A lam = Phi_q W^-1 w,   A = Phi_q W^-1 Phi_q^T             by conjugate gradients from lam = 0, with the preconditioner (A + eps 1)^-1:

    [ W       Phi_q^T ] [ . ]   [ g ]
    [ Phi_q   -eps 1  ] [ z ] = [ 0 ]                          z = (A + eps 1)^-1 Phi_q W^-1 g,     g = w - Phi_q^T lam

The matrix is regular with all rows in it, dependent or not, and is factored by the same block LDL^T in O(n). Every z is in the range
of A, so that the iterates have no part in the null space: the limit is the minimum. An eigenvalue sigma^2 of A becomes
sigma^2 / (sigma^2 + eps), which is 1 except for a few; each of these costs an iteration or two. W = c diag(1, L^2) does not contain the
masses, so that heavy bodies beside light ones do not slow the iteration; c is the mean square of the rows of Phi_q diag(1, 1 / L), so that
the mean of the diagonal of A is 1, and eps a number, for a mechanism of any size.
Source: Golub and Van Loan, Matrix Computations, sec. 11.5 (preconditioned conjugate gradients); Kaasschieter (1988) for singular systems.
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.status_codes import NO_CONVERGENCE, report
from haugmbd.errors import SimulationError
from haugmbd.kkt.registry import leaves_out_edges, routines_of, without_sweeps, without_tree
from haugmbd.model.dependent_rows import MinimumNorm
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import unit_of_turns
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack, workspace_array

EPS = 1e-5
"""eps, where the mean of the diagonal of A is 1. A smaller value loses digits, a larger one costs iterations."""

CONVERGED = 1e-12
"""Relative size of z at which the iteration ends."""

ACCEPTED = 1e-9
"""Largest relative size of z after the last iteration; a larger one is an error."""

MAX_ITERATIONS = 1000
"""Maximum number of iterations; the number grows slowly with the number of coupled loops."""


@kernel
def put_residual(edges: Ints, J: Array, w: Array, lam: Array, first: int, b: Array) -> None:
    """Write w - Phi_q^T lam to the first bodies of b, and zero for the ground.

    w: (nb + 1, 6);  lam: (., 6), its edges from row `first`
    """
    for k in range(w.shape[0]):
        for a in range(6):
            b[k, a] = w[k, a]
    for e in range(edges.shape[0]):
        for side in range(edges.shape[1]):
            body = edges[e, side]
            for a in range(6):
                for c in range(6):
                    b[body, c] -= J[6 * e + a, side, c] * lam[first + e, a]
    for a in range(6):
        b[0, a] = 0.0


@kernel
def inner(f: Array, g: Array, length2: float) -> float:
    """Return f . diag(1, 1 / L^2) g of wrenches by bodies, (., 6), for all bodies of f."""
    total = 0.0
    for k in range(f.shape[0]):
        for a in range(3):
            total += f[k, a] * g[k, a] + f[k, 3 + a] * g[k, 3 + a] / length2
    return total


@entry
def spread_entry(P: Pack, t: Array, y: Array, x: Array, w: Array, lam: Array) -> int:
    """Replace the multipliers in the solutions x (nt, 6 nn) of the states y (nt, ny); return NO_CONVERGENCE if the iteration fails.

    w: (4, nb + 1, 6) workspace of wrenches: w, -Phi_q^T of z and of the direction, and zero
    lam: (2, ne, 6) workspace of lam and the direction
    """
    b = ws.right_hand_side(P)
    edges, J = ws.edges(P), ws.jacobian(P)
    n = w.shape[1]
    for k in range(t.shape[0]):
        code = prepare(P, t[k], y[k])
        clear(b)
        if code == 0:
            code = P.factorize(P, P.python_solver)
        if code != 0:
            return code
        for e in range(lam.shape[1]):
            for a in range(6):
                lam[0, e, a] = -x[k, 6 * (n + e) + a]
        put_residual(edges, J, w[3], lam[0], 0, w[0])
        left = iterate(P, edges, J, w, lam, b)
        if not left <= ACCEPTED:
            return report(ws.status(P), NO_CONVERGENCE, k, left)
        for e in range(lam.shape[1]):
            for a in range(6):
                x[k, 6 * (n + e) + a] = lam[0, e, a]
    return 0


@inlined
def iterate(P: Pack, edges: Ints, J: Array, w: Array, lam: Array, b: Array) -> float:
    """Leave in lam[0] the multipliers of least norm of the wrenches w[0]; return the size of the last z relative to theirs."""
    z, n, length2 = ws.solution(P), w.shape[1], ws.shifted_inertia(P)[1, 1] / ws.shifted_inertia(P)[1, 0]
    clear(lam[0])
    clear(lam[1])
    before, left = np.inf, 0.0
    for _ in range(MAX_ITERATIONS):
        put_residual(edges, J, w[0], lam[0], 0, b)
        P.begin(P, P.python_solver)
        P.finish(P, P.python_solver)
        put_residual(edges, J, w[3], z, n, w[1])
        rho = -inner(w[1], b, length2)
        for e in range(lam.shape[1]):
            for a in range(6):
                lam[1, e, a] = z[n + e, a] + rho / before * lam[1, e, a]
        put_residual(edges, J, w[3], lam[1], 0, w[2])
        square = inner(w[2], w[2], length2)
        step = rho / square if square > 0.0 else 0.0
        before, largest, size = rho, 0.0, 0.0
        for e in range(lam.shape[1]):
            for a in range(6):
                lam[0, e, a] += step * lam[1, e, a]
                largest, size = max(largest, abs(lam[0, e, a])), max(size, abs(z[n + e, a]))
        left = size / largest if largest > 0.0 else 0.0
        if left <= CONVERGED or not rho > 0.0:
            break
    return left


def least_multipliers(model: Model, t: Array, y: Array, x: Array) -> Array:
    """Return solutions x (nt, nn, 6) of the states y (nt, ny) with the multipliers that the model's redundancy rule selects."""
    if not (isinstance(model.redundancy.rule, MinimumNorm) and model.redundancy.dropped):
        return x
    pack = regularised(model)
    flat = np.ascontiguousarray(x.reshape(len(t), 6 * x.shape[1]))
    wrenches, multipliers = np.zeros((4, model.nb + 1, 6)), np.zeros((2, len(model.tables["EDGES"]), 6))
    code = spread_entry(pack, for_kernels(t), for_kernels(y), flat, wrenches, multipliers)
    if code != 0:
        model.raise_user_error(pack)
    if code == NO_CONVERGENCE:
        _, state, left = workspace_array(pack, "STATUS")[0, :3]
        raise SimulationError(
            f"the multipliers of least norm at t = {t[int(state)]:.6g} s are not found: {MAX_ITERATIONS} iterations leave a relative "
            f"change of {left:.1e}. Take DropDependentRows(), whose multipliers exert the same reactions on the bodies."
        )
    return flat.reshape(x.shape)


def regularised(model: Model) -> Pack:
    """Return a pack with its own constants: W for the inertia, -EPS in all rows, no row dropped, and no pivot below its bound."""
    if leaves_out_edges(model.tables):
        model = model.changed(tables=without_tree(model.tables))
    rows = evaluate(model)
    force, moment = np.linalg.norm(rows.Phi_r, axis=2), np.linalg.norm(rows.PiBar, axis=2)
    length = unit_of_turns(model, rows)
    square = float(np.mean(np.sum(force**2 + np.square(moment / length), axis=1)))
    reals = model.tables.reals.copy()
    for name, value in (
        ("SHIFTED", square * np.concatenate([[1.0], (length**2 * np.eye(3)).ravel()])),
        ("PAD", np.where(model.tables["PAD"] == 0.0, -EPS, -1.0)),
        ("SCALE", 0.0),
    ):
        start, m, n = model.tables.place(name)
        reals[start : start + m * n].reshape(m, n)[:] = value
    pack = model.pack()
    ints = without_sweeps(pack.ints)
    return pack._replace(ints=ints, reals=reals, factorize=routines_of(model.tables, every_row=False).factorize)
