"""Joints that slip where a rigid contact ends a segment of the motion: at an impact, and where the contact opens.

    impact    it has no duration, and friction no impulse: a joint that stuck slides behind it
    opening   as friction falls from mu_s to mu the forces jump, and a contact may pull at the instant of the slip. Without it the joint
              may be held again by mu_s N, and then the contact would close at once: it slides, as it has begun to

The next segment begins with its own modes, see `stick`; it is given those of the slip.

Joints that stick, and slip at an instant at which forces jump, as at a call of a sampled block.

    margin = limit - |needed|, by the modes before the jump        slips: margin >= 0 before, < 0 behind

The run decides behind the jump how every joint continues, see `stick`; here its slips become events.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.friction import columns as at
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.integrators.stick_slip.watched_quantities import Watch, may_stick
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import workspace_array

AT_LIMIT = 1e-9
"""Relative to the limit: a smaller margin is that of the instant of the opening, which is located to rounding."""


def slip_records(model: Model, joints: list[int], state: State) -> list[EventRecord]:
    """Return the slips of joints, by the numbers of their friction, as events."""
    names = [entry.load.name for entry in model.loads if entry.load.is_friction]
    return [EventRecord(f"{names[k]} slips", state.t, state) for k in joints]


def slips_by_impact(before: Problem, model: Model, state: State) -> list[EventRecord]:
    """Return the slips of the joints that stuck at the end of a segment, and move behind the impact there."""
    sticks = _sticking(before)
    if not sticks:
        return []
    watch = Watch(model, before.pack.callback)
    watch.at(state.t, state.y, MaximalStateSpace(model))
    return slip_records(model, [k for k in sticks if watch.terms[k, at.SPEED] > at.REST], state)


def slips_at_opening(before: Problem, state: State) -> Array | None:
    """Return the modes (nf, columns) with which joints begin to slide that stuck before a contact opened; None if there are none.

    A joint sticks at its limit, up to the error of the instant of the opening, if both come at once. It slides against the friction that
    holds it.
    """
    sticks, space = _sticking(before), before.state_space
    if not sticks or not isinstance(space, MaximalStateSpace):
        return None
    watch, ints = Watch(space.model, before.pack.callback), space.model.tables["FRICTION_INTS"]
    watch.at(state.t, state.y, space)
    modes = np.zeros_like(watch.modes)
    for k in sticks:
        n, terms = ints[k, at.CHANNELS], watch.terms[k]
        if terms[at.STATE] == at.SLIDES or terms[at.MARGIN] <= AT_LIMIT * terms[at.LIMIT]:
            need = terms[at.FRICTION : at.FRICTION + n] / terms[at.ARM : at.ARM + n]
            size = float(np.linalg.norm(need))
            modes[k, at.MODE] = at.SLIDES if size > 0.0 else at.FREE
            modes[k, at.AGAINST : at.AGAINST + n] = -need / (size or 1.0)
    return modes if modes.any() else None


def modes_of(problem: Problem) -> Array | None:
    """Return the modes of the joints with exact friction at the end of a segment, (nf, columns); None if there are none."""
    space = problem.state_space
    if not isinstance(space, MaximalStateSpace) or not may_stick(space.model):
        return None
    return workspace_array(problem.pack, "FRICTION_MODES").copy()


def _sticking(problem: Problem) -> list[int]:
    """Return the numbers of the joints that stick at the end of a segment."""
    modes = modes_of(problem)
    sticks: list[int] = [] if modes is None else np.flatnonzero(modes[:, at.MODE] == at.STICKS).tolist()
    return sticks


class SlipsAtJumps:
    """The margins of the joints of a run that stick."""

    def __init__(self, problem: Problem, state_space: MaximalStateSpace) -> None:
        self.problem, self.state_space = problem, state_space
        self.watch = Watch(state_space.model, problem.pack.callback)
        self.names = [entry.load.name for entry in state_space.model.loads if entry.load.is_friction]

    @classmethod
    def of(cls, problem: Problem) -> SlipsAtJumps | None:
        """Return the margins of a run; None if no joint of its model sticks."""
        space = problem.state_space
        return cls(problem, space) if isinstance(space, MaximalStateSpace) and may_stick(space.model) else None

    def margins(self) -> dict[int, float]:
        """Return the margins [N or N m] of the joints that stick at the state of the problem, by their numbers."""
        p = self.problem
        self.watch.modes[:] = workspace_array(p.pack, "FRICTION_MODES")
        sticks = np.flatnonzero(self.watch.modes[:, at.MODE] == at.STICKS).tolist()
        if sticks:
            self.watch.at(p.t, p.y, self.state_space)
        return {k: float(self.watch.terms[k, at.MARGIN]) for k in sticks}

    def records(self, before: dict[int, float]) -> list[EventRecord]:
        """Return the slips from the margins `before` a jump to the state of the problem behind it."""
        if not before:
            return []
        p, after = self.problem, self.margins()
        state = self.state_space.state(p.t, p.y)
        slipped = [k for k, margin in before.items() if margin >= 0.0 > after[k]]
        return [EventRecord(f"{self.names[k]} slips", p.t, state, after[k] - before[k]) for k in slipped]
