r"""Newton's method for a balance of forces in which the states of blocks rest, too.

    g = N^T (Q - M bias) = 0          K x - E z = g
    f(q, z) = 0                      -F x - H z = f            both at once: an integrator has no balance of its own

A step is shortened until the correction of the same matrix has become smaller (natural monotonicity test), which does not depend on the
units of z.
Source: Deuflhard (2011), Newton Methods for Nonlinear Problems, sec. 3.3 (natural monotonicity test).
"""

from __future__ import annotations

import numpy as np

from haugmbd.analysis.equilibrium.block_matrices import sketched_block_matrices
from haugmbd.analysis.equilibrium.residual import ResidualEvaluator, moved
from haugmbd.analysis.equilibrium.solver import (
    LARGEST_TURN,
    MAX_HALVINGS,
    MAX_NEWTON,
    ROUNDS,
    STEP_TOL,
    Balance,
    NotHeld,
    Search,
    TrialPose,
    acted_on,
    find_balance,
    stiffness_in_balance,
    trial_pose_at,
)
from haugmbd.analysis.equilibrium.tangent_matrices import stiffness
from haugmbd.analysis.equilibrium.tangent_space import NOISE, scale_of, sketched
from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError

BALANCE_TOL = 1e-10
"""|g| that is left in a balance, relative to the forces at work, the stiffness and the forces of blocks."""

REST_TOL = 1e-8
"""Rate of a state, relative to that of a motion of one unit, that is left in a balance."""


def find_balance_of_states(evaluator: ResidualEvaluator, y: Array, search: Search) -> Balance:
    """Return the next balance from y, stable or not.

    Where there is no step, the bodies search for a balance with the states held, and Newton's method continues from there.
    Raise NotHeld if the bodies find none, and SimulationError if a state keeps moving.
    """
    place, relaxed, rounds = trial_pose_at(evaluator, y), 0, 0
    for n in range(MAX_NEWTON):
        step = _Correction(place.evaluator, place)
        search.at(place, step.scale, newton=min(n, 1))
        after, last = _after(place, step)
        before, left = _left(place), np.inf if after is None else _left(after)
        if last and after is not None and left <= BALANCE_TOL * step.scale:
            _check_rest(evaluator, after, step)
            return Balance(after, *stiffness_in_balance(after), n + 1, relaxed)
        if after is not None and (not last or left <= 0.5 * before):
            place = after
        elif rounds < ROUNDS and before > BALANCE_TOL * step.scale:
            held = find_balance(place.evaluator, place.y, search, downhill=True)
            place, relaxed, rounds = held.place, relaxed + held.relaxed, rounds + 1
        else:
            break
    if _left(place) <= BALANCE_TOL * step.scale:
        _check_rest(evaluator, place, step)
    raise NotHeld("no balance", (place, place.push, False))


def _left(place: TrialPose) -> float:
    """Return the largest force along the motions [J]."""
    return float(np.abs(place.g).max(initial=0.0))


def _check_rest(evaluator: ResidualEvaluator, place: TrialPose, step: _Correction) -> None:
    """Raise SimulationError, which names the state, if one moves."""
    part = np.abs(place.residual.rates) / step.blocks.rate_scale
    if part.max() <= REST_TOL:
        return
    name, rate = evaluator.states.names[int(np.argmax(part))], place.residual.rates[int(np.argmax(part))]
    raise SimulationError(
        f"no equilibrium is found from the given state: {name} keeps moving, at {rate:.4g} per second, where the forces are in balance. "
        "Is it an integrator whose error nothing brings to zero, or a controller at its limit? Give it a way to rest, or another start."
    )


class _Correction:
    """The matrix of one step, with rows and columns scaled."""

    def __init__(self, evaluator: ResidualEvaluator, place: TrialPose) -> None:
        K = stiffness(evaluator, place.y, place.at, sketched)
        self.blocks = sketched_block_matrices(evaluator, place.y, place.at.N)
        E, F, _, H = self.blocks
        self.scale = max(scale_of(place.work, K), float(np.abs(E * place.y[evaluator.states.columns]).max(initial=0.0)))
        if len(evaluator.model.velocity_rows):
            W = acted_on(np.hstack([K, E * evaluator.states.typical]), place.g, self.scale)
            K, E, F = W.T @ K @ W, W.T @ E, F @ W
        else:
            W = np.eye(len(K))
        A = np.block([[np.where(np.abs(K) > NOISE * self.scale, K, 0.0), -E], [-F, -H]])
        self.nd, self.N = len(K), place.at.N @ W
        self._columns = 1.0 / _nonzero(np.abs(A).max(axis=0, initial=0.0))
        A = A * self._columns
        self._rows = 1.0 / _nonzero(np.abs(A).max(axis=1, initial=0.0))
        self._A = A * self._rows[:, None]

    def scaled(self, place: TrialPose) -> Array:
        """Return the correction (nd + ns,) for what is left over at a pose, in units of the columns."""
        left = np.concatenate([self.N.T @ place.residual.force, place.residual.rates]) * self._rows
        return np.asarray(np.linalg.lstsq(self._A, left, rcond=NOISE)[0], dtype=np.float64)

    def of(self, place: TrialPose) -> tuple[Array, Array]:
        """Return x (6 nb,) and z (ns,)."""
        s = self.scaled(place) * self._columns
        return self.N @ s[: self.nd], s[self.nd :]


def _nonzero(x: Array) -> Array:
    """Return the numbers, 1 in place of 0."""
    return np.where(x > 0.0, x, 1.0)


def _after(place: TrialPose, step: _Correction) -> tuple[TrialPose | None, bool]:
    """Return the pose after the part of a step that makes its correction smaller, None if there is none; whether it is the last."""
    evaluator = place.evaluator
    (x, z), columns = step.of(place), evaluator.states.columns
    largest = float(np.abs(x).max(initial=0.0))
    idle = np.abs(step.blocks.E * z).max(axis=0, initial=0.0) <= STEP_TOL * step.scale
    rests = np.abs(place.residual.rates) <= REST_TOL * step.blocks.rate_scale
    small = (idle & rests) | (np.abs(z) <= STEP_TOL * np.abs(place.y[columns]))
    last = largest <= STEP_TOL and bool(small.all())
    part, first = min(1.0, LARGEST_TURN / (largest or 1.0)), float(np.linalg.norm(step.scaled(place)))
    for _ in range(MAX_HALVINGS):
        y = place.y.copy()
        y[columns] += part * z
        try:
            after = trial_pose_at(evaluator, moved(evaluator, y, part * x))
        except SimulationError:
            after = None
        if after is not None and (last or float(np.linalg.norm(step.scaled(after))) < first):
            return after, last
        part *= 0.5
    return None, last
