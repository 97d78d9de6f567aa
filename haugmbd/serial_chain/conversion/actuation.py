r"""The generalized forces of a chain as one force element on its bodies, for tau that varies along a motion.

    slide  F = tau z at the handle, on both bodies        turn  n = tau z,  on both bodies        spherical  n = A tau
    two turns at right angles  n = tau_1 z_1 + tau_2 z_2        z_1 and slides fixed on the body before, z_2 and balls on the link

The pair of each joint is equal and opposite, and its power is tau . q_dot, as in `to_system` with constant tau.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.forces import StateForce
from haugmbd.math.euler_parameters import cross, normalized, rotation_matrix
from haugmbd.serial_chain.chain_arrays import SLIDE, TURN
from haugmbd.system.system import System

if TYPE_CHECKING:
    from haugmbd.serial_chain.base import BaseChain


def actuator_wrenches(chain: BaseChain, tau: Array, A: Array) -> Array:
    """Return rows (F, n_bar) of tau (nv,) on the links, at their centres of mass, (n, 6);  A (n, 3, 3): their orientations."""
    force, moment, first = np.zeros((chain.n, 3)), np.zeros((chain.n, 3)), 0
    for k, link in enumerate(chain.links):
        own, first = tau[first : first + link.nv], first + link.nv
        to_global = (A[k - 1] if k else np.eye(3)) @ rotation_matrix(link.p)
        kinds, axes = np.array([kind for kind, _ in link.ways]), np.array([axis for _, axis in link.ways]).reshape(-1, 3)
        F = to_global @ (own[kinds == SLIDE] @ axes[kinds == SLIDE])
        turns = np.flatnonzero(kinds != SLIDE)
        before = turns[:1] if (kinds[turns] == TURN).all() else turns[:0]
        after = turns[len(before) :]
        n = to_global @ (own[before] @ axes[before]) + A[k] @ (own[after] @ axes[after])
        force[k] += F
        moment[k] += n - cross(A[k] @ link.c, F)
        if k:
            arm = A[k - 1] @ (chain.links[k - 1].L - chain.links[k - 1].c)
            force[k - 1] -= F
            moment[k - 1] -= n + cross(arm, F)
    return np.hstack([force, np.einsum("kji,kj->ki", A, moment)])


def add_actuation(chain: BaseChain, system: System, tau: Callable[[float], Array]) -> None:
    """Add tau(t) -> (nv,) to the System that `to_system` made of the chain, as one StateForce called "tau"."""

    def force(t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
        return actuator_wrenches(chain, tau(t), rotation_matrix(normalized(p)))

    system.add(StateForce("tau", [system[link.name] for link in chain.links], force=force))
