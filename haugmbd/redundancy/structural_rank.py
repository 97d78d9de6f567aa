r"""Structural rank: whether dependent rows depend on the others everywhere, or at this pose only. Move along the kept rows, and compare.

    J_kept v = 0                            v a random motion, the largest part STEP
    q <- q + v,  then  q <- q + u,  u the least motion with  Phi_kept + J_kept u = 0      Newton with the elimination at the pose
    structural   <=>   Phi_dropped(q) = Phi_dropped(q0)

Kept rows are independent, so that Newton converges as at any regular pose, also at a singular configuration of the mechanism. There
the kept rows allow more than the mechanism does, and the dropped ones are violated by STEP^2 or, in degenerate cases, STEP^3.
Each sample is one pass over the elimination for each correction: O(n) if the elimination is O(n).
"""

from __future__ import annotations

from collections.abc import Callable
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

AT_ONCE = 100
"""Rows of a model for all of which the least motions are computed at once: that takes as long as those of a few samples."""

NEWTON_TOL = 1e-9
MAX_CORRECTIONS = 30
PATIENCE = 10
HALVINGS = 5
"""A sample for which Newton does not reach NEWTON_TOL (relative to the length) in MAX_CORRECTIONS is repeated with half the step."""


def only_here(model: Model, state: State, examined: RankAnalysis) -> Ints:
    """Return the numbers of the dropped rows that depend on the others at `state` only, and not along the motion."""
    dropped, answer = examined.dropped, least_motions(model, examined)
    still = corrected(model, state, examined, np.zeros((model.nb + 1, SLOTS)), answer=answer)
    moved = np.zeros(len(dropped), dtype=bool)
    motions = random_motions(model, examined.elimination, SAMPLES)
    for k in range(SAMPLES):
        v = motions[: model.nb + 1, :, k]
        size = np.abs(v).max(initial=0.0)
        if size <= NEWTON_TOL:
            continue
        v *= STEP * examined.length / size
        there = next(
            (s for h in range(HALVINGS) if (s := corrected(model, state, examined, v / 2**h, answer=answer)) is not None), None
        )
        if still is None or there is None:
            moved[:] = True
            break
        moved |= np.abs(there.Phi - still.Phi)[dropped] > MISFIT_PART * examined.tolerance * examined.length
    return dropped[moved]


class Corrected(NamedTuple):
    """A state at which the kept rows are closed;  Phi: (nc,) all rows there, divided by their lengths at the pose."""

    state: State
    Phi: Array


def least_motions(model: Model, examined: RankAnalysis) -> Callable[[Array], Array]:
    """Return the function of gaps (nc,) that gives the least motion u (nb + 1, 6) which closes them in the kept rows: J_kept u = -gap.

    The answer for a dropped row is zero for any value here.  A small model is solved for every row at once, and then multiplied.
    """
    e, n, n_slots = examined.elimination, model.nb + 1, len(examined.J)

    def solved(gaps: Array) -> Array:
        x = np.zeros((e.n_nodes, SLOTS, gaps.shape[1]))
        x[n:].reshape(n_slots, -1)[model.slot_of_row] = -gaps
        u = solve(model, e, x)[:n]
        u[0] = 0.0
        return u

    if model.nc > AT_ONCE:
        return lambda gap: solved(gap[:, None])[:, :, 0]
    operator = solved(np.eye(model.nc))
    return lambda gap: operator @ gap


def corrected(
    model: Model,
    state: State,
    examined: RankAnalysis,
    v: Array,
    *,
    answer: Callable[[Array], Array] | None = None,
    patient: bool = False,
) -> Corrected | None:
    """Return the state after a motion v (nb + 1, 6) and Newton's iteration on the kept rows; None if it fails.

    answer: that of `least_motions`, if it is there already
    patient: for a state that is far from closed: long steps are shortened and not rejected, and PATIENCE times as many are allowed
    """
    answer = answer or least_motions(model, examined)
    state, limit = displaced(state, v, examined.length), 4.0 * STEP * examined.length
    for _ in range(MAX_CORRECTIONS * (PATIENCE if patient else 1)):
        Phi: Array = evaluate(model, state).Phi / examined.norm
        u = answer(Phi)
        size = np.abs(u).max(initial=0.0)
        if size <= NEWTON_TOL * examined.length:
            return Corrected(state, Phi)
        if not size <= (np.inf if patient else limit):
            return None
        state = displaced(state, u * min(1.0, limit / size), examined.length)
    return None


def displaced(state: State, u: Array, length: float) -> State:
    """Return the state after a small motion u (nb + 1, 6): displacement, and body-frame rotation times `length`."""
    r, p = state.r + u[:, :3], product(state.p, exponential(u[:, 3:] / length))
    return State.of_numbers(state.t, r, p, state.v, state.omega_bar, state.angles)
