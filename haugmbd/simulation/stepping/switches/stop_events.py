r"""Touch and release of stops and one-sided springs: events at which a step ends.

    outside    watched: -p, until it falls through zero: touch
    pushes     watched: p, until it falls through zero: release           x, s, p: see `forces.joint_loads.stops`
    leaves     released inside; watched: x, until it is outside, where its energy has a kink; -s, until it pushes again: touch
    inside     in place of the last two, where a method steps across kinks: the state decides; watched: x, until it is outside: release

Between events a run holds the side that pushes, or none, so that every step has a smooth force. What it holds is in its workspace;
anything else that evaluates forces goes by the state. A place is switched where p is across its edge: the state there decides as the run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.forces.stops import Pressed
from haugmbd.integrators.events import EventRecord, Flags
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.switches.switch_events import INSIDE, LEAVES, OUTSIDE, PUSHES, Switches
from haugmbd.workspace.layout import Pack


class StopEvents(Switches):
    """The sides of the stops of one run: where they are, and their events.

    kinks: whether steps end at kinks of the force, too; else at its jumps only
    """

    def __init__(self, model: Model, *, kinks: bool) -> None:
        self.model, self.kinks = model, kinks
        self.stops = Stops(model, jumps=not kinks)
        self.pack = self.stops.pack
        self.plain_names = [side.name for side in self.stops.sides]
        self.names = [f"stop {name!r}" for name in self.plain_names]
        self.rows = [
            (place.row, -1.0, side.sign, side.limit, float(side.k > 0.0), side.c / side.k if side.k > 0.0 else 1.0)
            for place, side in zip(self.stops.places, self.stops.sides, strict=True)
        ]

    @classmethod
    def of(cls, model: Model, *, kinks: bool) -> StopEvents | None:
        """Return the events of a run; None if its model has none."""
        found = cls(model, kinks=kinks)
        return found if found.rows else None

    def start(self, y: Array, pack: Pack) -> None:
        """Let the sides push that are pressed at the state y (ny,), or touch and do not part."""
        found = self._at(y)
        pushes = (found.p > found.width) | ((np.abs(found.p) <= found.width) & (found.rate >= 0.0))
        inside, left = (PUSHES, LEAVES) if self.kinks else (INSIDE, INSIDE)
        self.modes[:] = np.where(pushes, inside, np.where(found.depth > 0.0, left, OUTSIDE))
        self.hold(pack)

    def _at(self, y: Array) -> Pressed:
        """Return how the sides are pressed at a state y (ny,)."""
        return Pressed(*(each[0] for each in self.stops.pressed(y[None])))

    def hold(self, pack: Pack) -> None:
        """Write what pushes to the workspace of the run: it holds for the steps that follow."""
        self.stops.hold(pack, self.modes == PUSHES, self.modes == INSIDE)

    def across(self, y: Array) -> Flags:
        """Return which sides are across their edges at a state y (ny,)."""
        flags: Flags = self.distances(y) <= 0.0
        return flags

    def switch(self, numbers: Sequence[int], t: float, y: Array) -> list[EventRecord]:
        """Switch the sides of events, and others that are across their edges; return the records."""
        across = self.across(y)
        across[list(numbers)] = True
        return self.follow(across, t, y)

    def follow(self, across: Flags, t: float, y: Array) -> list[EventRecord]:
        """Switch the sides that are across their edges; return the records of those that touch or are released."""
        found, modes = self._at(y), self.modes.copy()
        touches = (modes == OUTSIDE) | ((modes == LEAVES) & (found.push > 0.0))
        leaves = (modes == PUSHES) & (found.depth > 0.0)
        after = np.where(touches, PUSHES if self.kinks else INSIDE, np.where(leaves, LEAVES, OUTSIDE))
        before = self.touching
        self.modes[:] = np.where(across, after, modes)
        state, touching = State.from_y(t, y, self.model.nb + 1), self.touching
        changed = np.nonzero(before != touching)[0].tolist()
        return [EventRecord(f"{self.plain_names[k]}: {'touch' if touching[k] else 'release'}", t, state) for k in changed]
