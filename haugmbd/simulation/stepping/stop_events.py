r"""Touch and release of stops and one-sided springs: events at which a step ends.

    outside    watched: -p, until it falls through zero: touch
    pushes     watched: p, until it falls through zero: release           x, s, p: see `forces.joint_loads.stops`
    leaves     released inside; watched: x, until it is outside, where its energy has a kink; -s, until it pushes again: touch
    inside     in place of the last two, where a method steps across kinks: the state decides; watched: x, until it is outside: release

Between events a run holds the side that pushes, or none, so that every step has a smooth force. What it holds is in its workspace;
anything else that evaluates forces goes by the state. A place is switched where p is across its edge: the state there decides as the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.forces.joint_loads.stops import Pressed
from haugmbd.integrators.events import EventRecord, Flags
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.switch_event import SwitchEvent, never
from haugmbd.workspace.layout import Pack

CLEAR = 1e-9
"""[rad or m] distance from touch or release beyond which g is not evaluated one by one."""


OUTSIDE, PUSHES, LEAVES, INSIDE = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class StopEvent(SwitchEvent):
    """The event of one side of a stop: touch if it is free, release if it pushes."""

    def clear(self, t: Array, y: Array) -> Flags:
        """Return at which states (n, ny) the side is far from touch and release."""
        flags: Flags = self.watch.distances(y)[:, self.number] > CLEAR
        return flags

    def value(self, state: State) -> float:
        """Return the distance from the event [rad or m]: it is zero where p is across its edge."""
        return float(self.watch.distances_at(state)[self.number])


class StopEvents:
    """The sides of the stops of one run: where they are, and their events.

    kinks: whether steps end at kinks of the force, too; else at its jumps only
    """

    def __init__(self, model: Model, *, kinks: bool) -> None:
        self.model, self.kinks = model, kinks
        self.stops = Stops(model, jumps=not kinks)
        self.modes: Ints = np.zeros(len(self.stops.sides), dtype=np.int64)
        self.events = tuple(
            StopEvent(f"stop {side.name!r}", never, direction=-1, terminal=True, watch=self, number=k)
            for k, side in enumerate(self.stops.sides)
        )
        self._of_steps: tuple[object, Array] = (None, np.zeros((0, 0)))
        self._of_state: tuple[object, Array] = (None, np.zeros(0))

    @classmethod
    def of(cls, model: Model, *, kinks: bool) -> StopEvents | None:
        """Return the events of a run; None if its model has none."""
        found = cls(model, kinks=kinks)
        return found if found.events else None

    def distances(self, y: Array) -> Array:
        """Return the distances from the events at flat states (n, ny), (n, places); those of the last states are kept."""
        if self._of_steps[0] is not y:
            self._of_steps = (y, self._distances(y))
        return self._of_steps[1]

    def distances_at(self, state: State) -> Array:
        """Return the distances from the events at a state, (places,); those of the last state are kept."""
        if self._of_state[0] is not state:
            self._of_state = (state, self._distances(state.flat[None])[0])
        return self._of_state[1]

    def _distances(self, y: Array) -> Array:
        """Return the distances from the events at flat states (n, ny), (n, places)."""
        x, push, width, _ = found = self.stops.pressed(y)
        watched = {OUTSIDE: -found.p, PUSHES: found.p, LEAVES: np.minimum(x, -push), INSIDE: x}
        return np.select([self.modes == mode for mode in watched], list(watched.values())) + width

    def start(self, y: Array, pack: Pack) -> None:
        """Let those sides push that push at the state y (ny,), or touch and do not part."""
        found = self._at(y)
        pushes = (found.p > found.width) | ((np.abs(found.p) <= found.width) & (found.rate >= 0.0))
        inside, left = (PUSHES, LEAVES) if self.kinks else (INSIDE, INSIDE)
        self._enter(np.where(pushes, inside, np.where(found.depth > 0.0, left, OUTSIDE)))
        self.hold(pack)

    def _at(self, y: Array) -> Pressed:
        """Return how the sides are pressed at a state y (ny,)."""
        return Pressed(*(each[0] for each in self.stops.pressed(y[None])))

    def _enter(self, modes: Ints) -> None:
        """Enter these modes; what is known of states does not hold any more."""
        self.modes = modes
        self._of_steps, self._of_state = (None, np.zeros((0, 0))), (None, np.zeros(0))

    def hold(self, pack: Pack) -> None:
        """Write what pushes to the workspace of the run: it holds for the steps that follow."""
        self.stops.hold(pack, self.modes == PUSHES, self.modes == INSIDE)

    def across(self, y: Array) -> Flags:
        """Return which sides are across their edges at a state y (ny,)."""
        flags: Flags = self._distances(y[None])[0] <= 0.0
        return flags

    def switch(self, event: StopEvent, t: float, y: Array) -> list[EventRecord]:
        """Switch the side of an event, and others that are across their edges; return the records."""
        across = self.across(y)
        across[event.number] = True
        return self.follow(across, t, y)

    def follow(self, across: Flags, t: float, y: Array) -> list[EventRecord]:
        """Switch the sides that are across their edges; return the records of those that touch or are released."""
        found, modes = self._at(y), self.modes
        touches = (modes == OUTSIDE) | ((modes == LEAVES) & (found.push > 0.0))
        leaves = (modes == PUSHES) & (found.depth > 0.0)
        after = np.where(touches, PUSHES if self.kinks else INSIDE, np.where(leaves, LEAVES, OUTSIDE))
        before = self._touching()
        self._enter(np.where(across, after, modes))
        state, touching = State.from_y(t, y, self.model.nb + 1), self._touching()
        changed = np.nonzero(before != touching)[0].tolist()
        return [EventRecord(f"{self.stops.sides[k].name}: {'touch' if touching[k] else 'release'}", t, state) for k in changed]

    def _touching(self) -> Flags:
        """Return which sides touch."""
        flags: Flags = (self.modes == PUSHES) | (self.modes == INSIDE)
        return flags
