r"""Structural rank: whether dependent rows depend on the others everywhere, or at this pose only. Move along the kept rows, and compare.

    J_kept v = 0                            v a random motion, the largest part STEP
    q <- q + v,  then  q <- q + u,  u the least motion with  Phi_kept + J_kept u = 0      Newton with the elimination at the pose
    structural   <=>   Phi_dropped(q) = Phi_dropped(q0)

Kept rows are independent, so that Newton converges as at any regular pose, also at a singular configuration of the mechanism. There
the kept rows allow more than the mechanism does, and the dropped ones are violated by STEP^2 or, in degenerate cases, STEP^3.
Each sample is one pass over the elimination for each correction: O(n) if the elimination is O(n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.math.euler_parameters import exponential, product
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import RankAnalysis
from haugmbd.redundancy.sparse_ldl import SLOTS, random_motions, solve

STEP = 0.05
"""Largest displacement of a sample: of a body relative to the length of the model, and of its angle [rad]. Its square and its cube are
far above MISFIT_PART of the tolerance, and Newton converges in a few corrections."""

MISFIT_PART = 4.0 * STEP
"""Part of the tolerance, relative to the length, by which a structurally dependent row may move."""

SAMPLES = 3
"""Number of random motions; one alone could miss a direction by chance."""

NEWTON_TOL = 1e-9
MAX_CORRECTIONS = 30
PATIENCE = 10
HALVINGS = 5
"""A sample for which Newton does not reach NEWTON_TOL (relative to the length) in MAX_CORRECTIONS is repeated with half the step."""


def only_here(model: Model, state: State, examined: RankAnalysis) -> Ints:
    """Return the numbers of the dropped rows that depend on the others at `state` only, and not along the motion."""
    dropped = examined.dropped
    still = corrected(model, state, examined, np.zeros((model.nb + 1, SLOTS)))
    moved = np.zeros(len(dropped), dtype=bool)
    motions = random_motions(model, examined.elimination, SAMPLES)
    for k in range(SAMPLES):
        v = motions[: model.nb + 1, :, k]
        size = np.abs(v).max(initial=0.0)
        if size <= NEWTON_TOL:
            continue
        v *= STEP * examined.length / size
        there = next((s for h in range(HALVINGS) if (s := corrected(model, state, examined, v / 2**h)) is not None), None)
        if still is None or there is None:
            moved[:] = True
            break
        moved |= np.abs(there.Phi - still.Phi)[dropped] > MISFIT_PART * examined.tolerance * examined.length
    return dropped[moved]


class Corrected(NamedTuple):
    """A state at which the kept rows are closed;  Phi: (nc,) all rows there, divided by their lengths at the pose."""

    state: State
    Phi: Array


def corrected(model: Model, state: State, examined: RankAnalysis, v: Array, *, patient: bool = False) -> Corrected | None:
    """Return the state after a motion v (nb + 1, 6) and Newton's iteration on the kept rows; None if it fails.

    patient: for a state that is far from closed: long steps are shortened and not rejected, and PATIENCE times as many are allowed
    """
    state, limit = displaced(state, v, examined.length), 4.0 * STEP * examined.length
    for _ in range(MAX_CORRECTIONS * (PATIENCE if patient else 1)):
        Phi: Array = evaluate(model, state).Phi / examined.norm
        x = np.zeros((examined.elimination.n_nodes, SLOTS, 1))
        x[model.nb + 1 :].ravel()[model.slot_of_row] = -Phi  # the solution of a dropped row is zero for any value here
        u = solve(model, examined.elimination, x)[: model.nb + 1, :, 0]
        u[0] = 0.0
        size = np.abs(u).max(initial=0.0)
        if size <= NEWTON_TOL * examined.length:
            return Corrected(state, Phi)
        if not size <= (np.inf if patient else limit):
            return None
        state = displaced(state, u * min(1.0, limit / size), examined.length)
    return None


def displaced(state: State, u: Array, length: float) -> State:
    """Return the state after a small motion u (nb + 1, 6): displacement, and body-frame rotation times `length`."""
    return state.replace(r=state.r + u[:, :3], p=product(state.p, exponential(u[:, 3:] / length)))
