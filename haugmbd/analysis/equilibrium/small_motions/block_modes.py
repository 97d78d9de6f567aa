r"""Small motions of bodies and blocks together, with or without velocity rows.

    x' = G x + N y
    M y' + C y + K x = E z                     without velocity rows  y = x',  N = 1,  G = 0
    z' = Z (x, y, z)                           (x, y, z)' = A (x, y, z)

Every motion must have inertia: M x = 0 for a rotation of a slender rod about itself, if a joint leaves it free at this pose.
Whether a mode moves bodies or states is judged in the units of A balanced by powers of two: those of z are the user's.
Source: Parlett and Reinsch (1969), balancing of a matrix for eigenvalues; Neimark and Fufaev (1972), ch. III, for velocity rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.analysis.equilibrium.block_matrices import block_matrices
from haugmbd.analysis.equilibrium.residual import ResidualEvaluator, motions_of, state_of
from haugmbd.analysis.equilibrium.small_motions.eigenmodes import (
    Modes,
    deflated_eigenvalues,
    rolling_state_matrix,
    with_block_states,
)
from haugmbd.analysis.equilibrium.small_motions.stages import BLOCKS, DAMPING, STIFFNESS, Stages
from haugmbd.analysis.equilibrium.small_motions.velocity_rows import rolling_matrices
from haugmbd.analysis.equilibrium.smooth_derivative import MotionDerivative
from haugmbd.analysis.equilibrium.solver import TrialPose
from haugmbd.analysis.equilibrium.tangent_matrices import damping, number_of_derivatives, stiffness
from haugmbd.analysis.equilibrium.tangent_space import inertia, rate_of_motions, scale_of
from haugmbd.analysis.mobility.free_motions import motion_text
from haugmbd.compiled.array_types import Array
from haugmbd.errors import SingularKKTError

NO_MOTION = 1e-10
"""Part of the balanced vector of a mode below which bodies (or states) do not take part."""

NO_INERTIA = 10.0 * np.finfo(float).eps
"""Part of the largest inertia, for each degree of freedom, that is rounding."""


class MotionMatrices(NamedTuple):
    """The matrices of bodies and blocks.

    basis: (6 nb, np);  M, C: (nv, nv);  K: (nv, np);  N: (np, nv);  G: (np, np);  E: (nv, ns);  Z: (ns, np + nv + ns)
    rate_scale: (ns,) of z', see `block_matrices`;  scale: of the balance [J], with the forces that the values of z make
    """

    basis: Array
    M: Array
    C: Array
    K: Array
    N: Array
    G: Array
    E: Array
    Z: Array
    rate_scale: Array
    scale: float


def motion_matrices(evaluator: ResidualEvaluator, pose: TrialPose, stages: Stages) -> MotionMatrices:
    """Return the matrices at a pose in balance."""
    if len(evaluator.model.velocity_rows):
        B, M, C, K, N, G = rolling_matrices(evaluator, pose, stages)
        check_inertia(pose, B @ N, M)
    else:
        B, nd = pose.at.N, pose.at.N.shape[1]
        M, parts = inertia(evaluator, B), number_of_derivatives(evaluator, B)
        check_inertia(pose, B, M)
        K = stiffness(evaluator, pose.y, pose.at, MotionDerivative(pose.work, stages.begin(STIFFNESS, parts)))
        smooth = MotionDerivative(pose.work, stages.begin(DAMPING, parts))
        C = damping(evaluator, pose.y, pose.at, rate_of_motions(M, scale_of(pose.work, K)), smooth)
        N, G = np.eye(nd), np.zeros((nd, nd))
    stages.begin(BLOCKS)
    blocks = block_matrices(evaluator, pose.y, B)
    Z = np.hstack([blocks.F + blocks.G @ G, blocks.G @ N, blocks.H])
    forces = float(np.abs(blocks.E * pose.y[evaluator.states.columns]).max(initial=0.0))
    return MotionMatrices(B, M, C, K, N, G, N.T @ blocks.E, Z, blocks.rate_scale, max(scale_of(pose.work, K), forces))


def check_inertia(pose: TrialPose, basis: Array, M: Array) -> None:
    """Raise SingularKKTError, with the motion in words, if one of those along a basis (6 nb, n) has no inertia;  M: (n, n)"""
    if not len(M):
        return
    inertia, X = np.linalg.eigh(M)
    if inertia[0] > NO_INERTIA * len(M) * inertia[-1]:
        return
    evaluator, motion = pose.evaluator, motions_of(pose.evaluator, basis @ X[:, :1])[0]
    state = state_of(evaluator, pose.y)
    text = motion_text(motion, state.p, evaluator.model.body_names, evaluator.length)
    raise SingularKKTError(
        f"there are no small motions at t = {state.t:g} s: a motion that the joints leave free at this pose has no inertia beside the "
        f"others: {text}. Give J_bar a positive moment about this axis (haugmbd.bodies.inertia), or use a joint that holds it.",
        state,
    )


def block_modes(matrices: MotionMatrices) -> Modes:
    """Return the modes: shapes (np, nm) x, and states (ns, nm) z."""
    _, M, C, K, N, G, E, Z, *_ = matrices
    A, n, ns = with_block_states(rolling_state_matrix(M, C, K, N, G), M, E, Z), len(N), E.shape[1]
    least, free = np.zeros(len(A)), np.arange(len(A)) >= len(A) - ns
    least[n : len(A) - ns] = matrices.scale * np.abs(np.linalg.inv(M)).sum(axis=1)
    idle, eigenvalues, vectors = deflated_eigenvalues(A, least, free)
    keep = np.flatnonzero(eigenvalues.imag >= 0.0)
    order = keep[np.argsort(np.abs(eigenvalues[keep]), kind="stable")]
    _, (units, _) = scipy.linalg.matrix_balance(A, permute=False, separate=True)
    takes_part = np.ones(len(A), dtype=bool)
    takes_part[n : len(A) - ns] = False
    balanced = idle / units[:, None]
    idle = idle[:, np.linalg.norm(balanced[takes_part], axis=0) > NO_MOTION * np.linalg.norm(balanced, axis=0)]
    shapes = np.hstack([idle, vectors[:, order]])
    balanced = shapes / units[:, None]
    size = np.linalg.norm(balanced, axis=0)
    for part in (slice(0, n), slice(len(A) - ns, len(A))):
        shapes[part, np.linalg.norm(balanced[part], axis=0) <= NO_MOTION * size] = 0.0
    found = np.concatenate([np.zeros(idle.shape[1]), eigenvalues[order]])
    return Modes(found, shapes[:n], shapes[len(A) - ns :])
