r"""Small motions of bodies and blocks together, with or without velocity rows.

    x' = G x + N y
    M y' + C y + K x = E z                     without velocity rows  y = x',  N = 1,  G = 0
    z' = Z (x, y, z)                           (x, y, z)' = A (x, y, z)

Before its eigenvalues are computed, A is balanced by powers of two: the units of z are the user's.
Source: Parlett and Reinsch (1969), balancing of a matrix for eigenvalues; Neimark and Fufaev (1972), ch. III, for velocity rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from haugmbd.analysis.equilibrium.block_matrices import block_matrices
from haugmbd.analysis.equilibrium.eigenmodes import Modes, rolling_state_matrix, split_eigenvalues, with_block_states
from haugmbd.analysis.equilibrium.residual import ResidualEvaluator
from haugmbd.analysis.equilibrium.solver import TrialPose
from haugmbd.analysis.equilibrium.tangent_matrices import damping, inertia, scale_of, stiffness
from haugmbd.analysis.equilibrium.velocity_rows import rolling_matrices
from haugmbd.compiled.array_types import Array

NO_MOTION = 1e-10
"""Part of the balanced vector of a mode below which bodies (or states) do not take part."""


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


def motion_matrices(evaluator: ResidualEvaluator, place: TrialPose) -> MotionMatrices:
    """Return the matrices at a pose in balance."""
    if len(evaluator.model.velocity_rows):
        B, M, C, K, N, G = rolling_matrices(evaluator, place)
    else:
        B, nd = place.at.N, place.at.N.shape[1]
        M, C, K = inertia(evaluator, B), damping(evaluator, place.y, place.at), stiffness(evaluator, place.y, place.at)
        N, G = np.eye(nd), np.zeros((nd, nd))
    blocks = block_matrices(evaluator, place.y, B)
    Z = np.hstack([blocks.F + blocks.G @ G, blocks.G @ N, blocks.H])
    forces = float(np.abs(blocks.E * place.y[evaluator.states.columns]).max(initial=0.0))
    return MotionMatrices(B, M, C, K, N, G, N.T @ blocks.E, Z, blocks.rate_scale, max(scale_of(place.work, K), forces))


def block_modes(matrices: MotionMatrices) -> Modes:
    """Return the modes: shapes (np, nm) x, and states (ns, nm) z."""
    _, M, C, K, N, G, E, Z, *_ = matrices
    A, n, ns = with_block_states(rolling_state_matrix(M, C, K, N, G), M, E, Z), len(N), E.shape[1]
    balanced, (units, _) = linalg.matrix_balance(A, permute=False, separate=True)
    speed = float(np.linalg.norm(balanced, 2)) if len(A) else 1.0
    idle, eigenvalues, vectors = split_eigenvalues(balanced / (speed or 1.0))
    keep = np.flatnonzero(eigenvalues.imag >= 0.0)
    order = keep[np.argsort(np.abs(eigenvalues[keep]), kind="stable")]
    takes_part = np.ones(len(A), dtype=bool)
    takes_part[n : len(A) - ns] = False
    idle = idle[:, np.linalg.norm(idle[takes_part], axis=0) > NO_MOTION]
    shapes = np.hstack([idle, vectors[:, order]])
    size = np.linalg.norm(shapes, axis=0)
    for part in (slice(0, n), slice(len(A) - ns, len(A))):
        shapes[part, np.linalg.norm(shapes[part], axis=0) <= NO_MOTION * size] = 0.0
    shapes = shapes * units[:, None]
    found = np.concatenate([np.zeros(idle.shape[1]), eigenvalues[order] * speed])
    return Modes(found, shapes[:n], shapes[len(A) - ns :])
