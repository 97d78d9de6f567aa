r"""Joints that stick, and slip at an instant at which forces jump, as at a call of a sampled block.

    margin = limit - |needed|, by the modes before the jump        slips: margin >= 0 before, < 0 behind

The run decides behind the jump how every joint continues, see `stick`; here its slips become events.
"""

from __future__ import annotations

import numpy as np

from haugmbd.friction import columns as at
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.integrators.stick_slip.watched_quantities import Watch, may_stick
from haugmbd.workspace.layout import workspace_array


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
