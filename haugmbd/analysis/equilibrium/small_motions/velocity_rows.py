r"""Small motions of a mechanism with velocity rows, such as rolling wheels: more coordinates of position than velocities.

    u = B w,  Phi_q B = 0 (positions)        x' = w        B: (6 nb, np), the tangent space of the position rows
    velocity rows   J (U + B w) = 0,  U the steady motion:      C0 w + D x = 0,      C0 = J B,   D = d(J U)/dq B
                    w = N y + G x,   C0 N = 0,   G = -C0^+ D             y: as many speeds as degrees of freedom of velocity
    N^T ( M w' + C w + K x ) = 0     M, C, K along B, with the multipliers of all rows fixed

    x' = G x + N y
    (N^T M N) y' = -N^T (M G + C) N y - N^T ((M G + C) G + K) x

Eigenvalues 0 (places and headings that do not matter, and speeds that continue) are split off step by step, see `eigenmodes`.
Source: Neimark and Fufaev (1972), ch. III and IV, dynamics and steady motions of nonholonomic systems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.regularized_least_squares import dense
from haugmbd.analysis.equilibrium.residual import ResidualEvaluator, bodies_in, evaluate_residual, moved
from haugmbd.analysis.equilibrium.small_motions.stages import DAMPING, STIFFNESS, Stages
from haugmbd.analysis.equilibrium.smooth_derivative import MotionDerivative
from haugmbd.analysis.equilibrium.solver import TrialPose
from haugmbd.analysis.equilibrium.steady_motion import velocities
from haugmbd.analysis.equilibrium.tangent_matrices import damping, number_of_derivatives, stiffness
from haugmbd.analysis.equilibrium.tangent_space import (
    RANK_TOL,
    along_basis,
    differentiated,
    inertia,
    rate_of_motions,
    scale_of,
    tangent,
)
from haugmbd.compiled.array_types import Array, Ints


class RollingMatrices(NamedTuple):
    """The matrices of small motions with velocity rows.

    basis: (6 nb, np) B;  M, C: (nv, nv);  K: (nv, np);  N: (np, nv);  G: (np, np):  x' = G x + N y,  M y' + C y + K x = 0
    """

    basis: Array
    M: Array
    C: Array
    K: Array
    N: Array
    G: Array


def rolling_matrices(evaluator: ResidualEvaluator, pose: TrialPose, stages: Stages) -> RollingMatrices:
    """Return the matrices at a pose in balance."""
    rolls = np.isin(evaluator.kept, evaluator.model.velocity_rows)
    J, residual = dense(pose.residual.J), pose.residual
    B = tangent(
        residual._replace(Phi=residual.Phi[~rolls], nu=residual.nu[~rolls], J=J[~rolls], by_bodies=residual.by_bodies[~rolls])
    ).N
    at = along_basis(B, pose.at.lam)
    size = np.linalg.norm(J[rolls], axis=1)[:, None]
    C0, D = J[rolls] @ B / size, _slip_gradient(evaluator, pose.y, B, np.flatnonzero(rolls)) / size
    _, s, Vt = np.linalg.svd(C0)
    N = Vt[int((s > RANK_TOL).sum()) :].T
    G = -np.linalg.pinv(C0, rcond=RANK_TOL) @ D
    parts = number_of_derivatives(evaluator, B)
    M = inertia(evaluator, B)
    K = stiffness(evaluator, pose.y, at, MotionDerivative(pose.work, stages.begin(STIFFNESS, parts)))
    smooth = MotionDerivative(pose.work, stages.begin(DAMPING, parts))
    C = damping(evaluator, pose.y, at, rate_of_motions(M, scale_of(pose.work, K)), smooth)
    along = M @ G + C
    return RollingMatrices(B, N.T @ M @ N, N.T @ along @ N, N.T @ (along @ G + K), N, G)


def _slip_gradient(evaluator: ResidualEvaluator, y: Array, B: Array, rows: Ints) -> Array:
    """Return d(J U)/dq B of the velocity rows, (n, np), with the velocities U of the steady motion at each pose."""
    model = evaluator.model

    def slip(x: Array) -> Array:
        there = moved(evaluator, y, x)
        U = velocities(evaluator.steady, bodies_in(model, there), np.zeros((model.nb + 1, 6)))[1:].ravel() / evaluator.scale
        return np.asarray((evaluate_residual(evaluator, there).J @ U)[rows])

    columns = [differentiated(lambda h, direction=direction: slip(h * direction)) for direction in B.T]  # type: ignore[misc]
    return np.array(columns).reshape(B.shape[1], len(rows)).T
