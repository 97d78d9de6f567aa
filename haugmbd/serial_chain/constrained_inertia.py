"""The constrained inverse inertia A_i^-1 and the propagation Phi_i of impulses, as 6x6 matrices at the world origin, for study.

    Psi_i    = (1 - K_i I_i) A_(i-1)^-1         K_i = S_i (S_i^T I_i S_i)^-1 S_i^T         S_i (6, nv_i)
    A_i^-1   = (1 + Psi_i I_i)^-1 (K_i + Psi_i)
    l_i      = Phi_i n J
    Phi_k    = 1 - I_k A_k^-1,      Phi_i = (1 - I_i A_i^-1) Phi_(i+1),  i < k

A_i^-1 is that of the chain that ends at link i. The struck link k carries the links beyond it:

    I_k      = I_k + I^a_(k+1),     I^a_i = I^A_i - I^A_i K^A_i I^A_i,   I^A_i = I_i + I^a_(i+1)      K^A_i with I^A_i for I_i
    dv_i     = (1 - K^A_i I^A_i) dv_(i-1),   l_i = I^A_i dv_i,   dv_k = -A_k^-1 n J:     Phi_i = -I^A_i ... A_k^-1,  i > k
Cost: a 6x6 solution for each link; far from the world origin digits are lost. `articulated_impulse` itself does not use these
matrices.
Source: Featherstone 2008, ch. 7 (articulated inertia); Mirtich 1996, ch. 4 (impulses).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError, UsageError
from haugmbd.math.euler_parameters import cross
from haugmbd.math.spatial import apparent_inverse_inertia, spatial_inertia
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.chain_arrays import SLIDE
from haugmbd.serial_chain.recursions.link_motion import link_motion


class Spatial(NamedTuple):
    """Spatial quantities of every link at the world origin: I (n, 6, 6), and S_i (6, nv_i)."""

    inertia: Array
    S: list[Array]


def at_the_origin(chain: BaseChain, q: Array) -> Spatial:
    """Return inertia and motion subspaces of every link at the coordinates q (nq,)."""
    motion = link_motion(chain, q)
    kinds, owners = chain.tables["FREEDOMS"].T
    J = motion.A @ np.array([link.J_bar for link in chain.links]) @ np.swapaxes(motion.A, 1, 2)
    slide = (kinds == SLIDE)[:, None]
    linear = np.where(slide, motion.axes, cross(motion.P[owners], motion.axes))
    twists = np.hstack([linear, np.where(slide, 0.0, motion.axes)])
    inertia = spatial_inertia([link.mass for link in chain.links], J, motion.r)
    return Spatial(inertia, [twists[owners == i].T for i in range(chain.n)])


def inverse_inertias(chain: BaseChain, q: Array, k: int) -> Array:
    """Return A_i^-1 (n, 6, 6), that of link k with the links beyond it. Raise SimulationError if a link has no inertia along a freedom."""
    inertia, S = at_the_origin(chain, q)
    before, inverses = np.zeros((6, 6)), np.empty((chain.n, 6, 6))
    for i in range(chain.n):
        inverses[i] = _constrained(chain, i, inertia[i], S[i], before)
        if i == k:
            before, inverses[i] = inverses[i].copy(), _constrained(chain, i, _outboard(chain, inertia, S, k)[k], S[i], before)
        else:
            before = inverses[i]
    return inverses


def propagations(chain: BaseChain, q: Array, k: int, inverse: Array) -> Array:
    """Return Phi_i (n, 6, 6) of an impulse on link k, from A_i^-1 (n, 6, 6) of `inverse_inertias`."""
    inertia, S = at_the_origin(chain, q)
    identity, Phi = np.eye(6), np.empty((chain.n, 6, 6))
    heavy = _outboard(chain, inertia, S, k)
    Phi[k] = identity - heavy[k] @ inverse[k]
    for i in range(k - 1, -1, -1):
        Phi[i] = (identity - inertia[i] @ inverse[i]) @ Phi[i + 1]
    response = -inverse[k]
    for i in range(k + 1, chain.n):
        response = (identity - _way(chain, i, heavy[i], S[i]) @ heavy[i]) @ response
        Phi[i] = heavy[i] @ response
    return Phi


def _constrained(chain: BaseChain, i: int, inertia: Array, S: Array, before: Array) -> Array:
    """Return A_i^-1 from A_(i-1)^-1."""
    propagation, identity = _way(chain, i, inertia, S), np.eye(6)
    Psi = (identity - propagation @ inertia) @ before
    return np.asarray(np.linalg.solve(identity + Psi @ inertia, propagation + Psi), dtype=np.float64)


def _outboard(chain: BaseChain, inertia: Array, S: list[Array], k: int) -> Array:
    """Return I^A_i (n, 6, 6) for i >= k; the rows before are I_i."""
    heavy = inertia.copy()
    for i in range(chain.n - 1, k, -1):
        heavy[i - 1] += heavy[i] - heavy[i] @ _way(chain, i, heavy[i], S[i]) @ heavy[i]
    return heavy


def _way(chain: BaseChain, i: int, inertia: Array, S: Array) -> Array:
    """Return K_i = S (S^T I S)^-1 S^T; zero for a fixed joint."""
    if S.shape[1] == 0:
        return np.zeros((6, 6))
    try:
        return apparent_inverse_inertia(inertia, S)
    except UsageError as error:
        link = chain.links[i]
        raise SimulationError(
            f"chain {chain.name!r}: link {link.name!r} (mass {link.mass:g} kg) has no inertia of its own along a freedom of its "
            f"{link.kind} joint, so that its A^-1 is infinite. Give it mass and moments of inertia; J, l, dqd and dv do not need A^-1."
        ) from error
