r"""Normal forces of contacts at rest that share a load in many ways, such as the feet of a table: which are unique, and the least ones.

    W n = 0              n changes no acceleration, W = C A^-1 C^T: the force of a contact with n_k = 0 for every n is unique
    C^T n = 0            n changes no force on a body, and no reaction of a joint either
    N = N_b + N_0 z      least |N| with N >= 0        N_b: of independent rows, which the run holds;  N_0: a basis of these n

`mbd.impulse` takes the same choice for impulses.
Source: Golub and Van Loan, Matrix Computations, sec. 5.5 (minimum-norm least squares).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.impacts.auxiliary_rows import AuxiliaryRows
from haugmbd.impacts.contact_modes import ContactModes
from haugmbd.impacts.impulse_equations import FactoredSystem, RowSet
from haugmbd.impacts.spectral_solve import SpectralSolution
from haugmbd.model.state import State

DEPENDENT = 1e-9
"""Relative to the largest singular value: a direction of forces that changes none on a body.  Of points typed with nine digits."""
SHARED = 1e-6
"""Entry of such a direction of length 1: a smaller one is rounding, and the force of its contact unique."""
EXCHANGES = 50
"""Of the contacts that push; a few are usual."""
NEGATIVE = 1e-9
"""Relative to the largest force: a smaller pull is rounding."""

Flags = npt.NDArray[np.bool_]


class SharedForces(NamedTuple):
    """Normal forces (nt, k) [N] of contacts over a segment, and whether each is unique, (k,)."""

    force: Array
    unique: Flags


def shared_forces(mechanism: ContactModes, segment: Any) -> SharedForces:
    """Return the normal forces of all contacts over a segment, in the order of their names."""
    names, force = mechanism.names, np.zeros((len(segment), len(mechanism.names)))
    unique = np.ones(len(names), dtype=np.bool_)
    closed = [k for k, name in enumerate(names) if name in segment.model.joints]
    if closed:
        rows = [int(segment.model.joints[names[k]].rows[0]) for k in closed]
        force[:, closed] = -segment.lam[:, rows]
    held = [k for k, name in enumerate(names) if k in closed or name in segment._held]
    if len(held) == len(closed) or not len(segment):
        return SharedForces(force, unique)
    unique[held] = ~_shared(mechanism, segment.state(0), held)
    for n in range(len(segment)):
        force[n, held] = least_norm(_forces_on_bodies(mechanism, segment.state(n), held), force[n, held])
    return SharedForces(force, unique)


def least_norm(C: Array, N: Array) -> Array:
    """Return the forces (k,) of least norm that none of them pulls with, and that act on the bodies as N (k,).  C: (6 nb, k)

    x = max(0, C^T y) with C x = C N: the set of those that push is exchanged until it fits. N itself where it does not within EXCHANGES.
    """
    b, pushes = C @ N, np.ones(len(N), dtype=np.bool_)
    for _ in range(EXCHANGES):
        U, s, V = np.linalg.svd(C[:, pushes], full_matrices=False)
        some = s > DEPENDENT * s.max(initial=0.0)
        part = (U[:, some].T @ b) / s[some]
        x = np.zeros(len(N))
        x[pushes] = V[some].T @ part
        wanted = C.T @ (U[:, some] @ (part / s[some]))
        rounding = NEGATIVE * np.abs(wanted).max(initial=0.0)
        fits = np.where(pushes, x >= -rounding, wanted > rounding)
        if (fits == pushes).all():
            return np.maximum(x, 0.0) if np.abs(C @ x - b).max() <= NEGATIVE * np.abs(b).max() else N
        pushes = fits
    return N


def _forces_on_bodies(mechanism: ContactModes, state: State, held: list[int]) -> Array:
    """Return the forces on all bodies by unit normal forces of the contacts, (6 nb, k), torques about the centres of mass by a length."""
    rows = mechanism.rows(state)
    n = mechanism.free.nb + 1
    C = np.zeros((n, len(held), 6))
    for column, k in enumerate(held):
        for side, body in enumerate(rows.bodies[k].tolist()):
            C[body, column, :3] += rows.Phi_r[k, side]
            C[body, column, 3:] += rows.PiBar[k, side] / mechanism.size
    return np.asarray(np.swapaxes(C[1:], 1, 2).reshape(-1, len(held)))


def _shared(mechanism: ContactModes, state: State, held: list[int]) -> Flags:
    """Return which of the held contacts share a load in many ways at a state."""
    everything = mechanism.rows(state)
    C = np.concatenate([everything.Phi_r[held], everything.PiBar[held]], axis=2)
    beside = AuxiliaryRows.of(
        FactoredSystem(mechanism.free, state), RowSet(np.asarray(everything.bodies[held]), C, np.zeros(len(held)))
    )
    parts = SpectralSolution.of(beside.W, beside.d)
    shared: Flags = np.abs(parts.V0).max(axis=1, initial=0.0) > SHARED
    return shared
