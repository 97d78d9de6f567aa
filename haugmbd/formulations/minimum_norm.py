r"""Multipliers of minimum norm: of all that exert the same reactions on the bodies, those with the least sum of squares.

    minimise lam . lam  with  Phi_q^T lam = w        w = Phi_q^T lam_kept = Q - M u_dot

    [ W       Phi_q^T ] [ .    ]   [ w - Phi_q^T lam ]
    [ Phi_q   -eps 1  ] [ dlam ] = [ 0               ]         lam <- lam + dlam, from lam = 0, until nothing changes

The matrix is regular with all rows in it, dependent or not, and is factored by the same block LDL^T: O(n).  Every dlam is a
combination of Phi_q u, the range of Phi_q Phi_q^T, so that no part of the null space ever enters: the limit is the minimum.  An error
shrinks by eps / (sigma^2 + eps) a sweep, sigma^2 the smallest eigenvalue of Phi_q W^-1 Phi_q^T beside zero.  W = diag(1, L^2) knows no
masses: heavy beside light bodies do not make it slow.
Source: proximal point iteration on a singular system (iterated Tikhonov): Engl, Hanke, Neubauer (1996), sec. 5.1.
"""

from __future__ import annotations

import numpy as np

from haugmbd.algebra.jit import entry, kernel
from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.checks import for_kernels
from haugmbd.model import tables as at
from haugmbd.model.loads import clear
from haugmbd.model.model import Model
from haugmbd.model.passes import prepare
from haugmbd.model.redundancy import MinimumNorm
from haugmbd.model.rows import evaluate
from haugmbd.model.tables import NAMES, Pack, blocks, view
from haugmbd.saddle.routines import FACTORIZE

EPS = 1e-5
"""Relative to the mean square of the rows.  Rounding leaves 1e-16 / EPS, sweeps take longer the larger it is: measured against LAPACK's
least squares 1e-11 for four-bars, Bennett, Bricard and a ladder of 60 alike, with 1e-8 only 1e-8."""

SETTLED = 1e-12
"""Relative change at which sweeps stop."""

MAX_SWEEPS = 60
"""Five serve a single loop; a ladder of 60 four-bars (sigma^2 = 1e-5) takes about forty."""


@kernel
def put_residual(edges: Ints, J: Array, w: Array, lam: Array, b: Array) -> None:
    """The bodies of b (nn, 6) receive w - Phi_q^T lam, lam (ne, 6)."""
    n = b.shape[0] - lam.shape[0]
    for k in range(n):
        for a in range(6):
            b[k, a] = w[k, a]
    for e in range(lam.shape[0]):
        for side in range(2):
            body = edges[e, side]
            for a in range(6):
                for c in range(6):
                    b[body, c] -= J[6 * e + a, side, c] * lam[e, a]


@entry
def spread_entry(P: Pack, t: Array, y: Array, x: Array, w: Array, lam: Array) -> int:
    """Replace the multipliers in the solutions x (nt, 6 nn) of the states y (nt, ny); w: (nb + 1, 6), lam: (ne, 6) room."""
    b, dx = view(P.work, P.ints, at.RIGHT), view(P.work, P.ints, at.SOLUTION)
    edges, J = view(P.ints, P.ints, at.EDGES), blocks(P.work, P.ints, at.J, 2, 6)
    n = w.shape[0]
    for k in range(t.shape[0]):
        code = prepare(P, t[k], y[k])
        clear(b)
        if code == 0:
            code = P.factorize(P.ints, P.reals, P.work, P.teacher)
        if code != 0:
            return code
        clear(w)
        for e in range(lam.shape[0]):
            for a in range(6):
                lam[e, a] = -x[k, 6 * (n + e) + a]
        put_residual(edges, J, w, lam, b)
        for body in range(n):
            for a in range(6):
                w[body, a] = b[body, a]
        clear(lam)
        for _ in range(MAX_SWEEPS):
            put_residual(edges, J, w, lam, b)
            for a in range(6):
                b[0, a] = 0.0
            P.begin(P.ints, P.reals, P.work, P.teacher)
            P.finish(P.ints, P.reals, P.work, P.teacher)
            largest, change = 0.0, 0.0
            for e in range(lam.shape[0]):
                for a in range(6):
                    lam[e, a] += dx[n + e, a]
                    largest, change = max(largest, abs(lam[e, a])), max(change, abs(dx[n + e, a]))
            if not change > SETTLED * largest:
                break
        for e in range(lam.shape[0]):
            for a in range(6):
                x[k, 6 * (n + e) + a] = lam[e, a]
    return 0


def least_multipliers(model: Model, t: Array, y: Array, x: Array) -> Array:
    """Solutions x (nt, nn, 6) of the states y (nt, ny) with the multipliers that the model's redundancy asks for."""
    if not (isinstance(model.redundancy.rule, MinimumNorm) and model.redundancy.dropped):
        return x
    pack = regularised(model)
    flat = np.ascontiguousarray(x.reshape(len(t), 6 * x.shape[1]))
    code = spread_entry(
        pack, for_kernels(t), for_kernels(y), flat, np.zeros((model.nb + 1, 6)), np.zeros((len(model.tables["EDGES"]), 6))
    )
    if code != 0:
        model.raise_user_error(pack)
    return flat.reshape(x.shape)


def regularised(model: Model) -> Pack:
    """A pack with its own constants: W for the inertia, -eps in all rows, none of them dropped, and no pivot ever too small."""
    rows = evaluate(model)
    force, moment = np.linalg.norm(rows.Phi_r, axis=2), np.linalg.norm(rows.PiBar, axis=2)
    pulls = force > 0.0
    length = float(np.sqrt(np.mean(np.square(moment[pulls] / force[pulls])))) if pulls.any() else 1.0
    length = length or 1.0
    eps = EPS * float(np.mean(np.sum(force**2 + np.square(moment / length), axis=1)))
    reals = model.tables.reals.copy()
    for name, value in (
        ("SHIFTED", np.concatenate([[1.0], (length**2 * np.eye(3)).ravel()])),
        ("PAD", np.where(model.tables["PAD"] == 0.0, -eps, -1.0)),
        ("SCALE", 0.0),
    ):
        number = NAMES.index(name)
        start, m, n = model.tables.ints[3 * number :][:3]
        reals[start : start + m * n].reshape(m, n)[:] = value
    return model.pack()._replace(reals=reals, factorize=FACTORIZE)
