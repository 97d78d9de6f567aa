r"""Joints that can only push: the times at which they would have to pull.

    push = -lam        of the first row of a joint with `unilateral`        lift-off: push falls through 0;  return: it rises through 0
    at an impact       -Lam of the same row                                 lift-off: it is below 0

A run keeps such a joint closed. It finds both times as events, and a note says that the motion behind the first lift-off is that of
a joint that is guided in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.events import Event, EventRecord
from haugmbd.model.labels import JointEntry, parts_of
from haugmbd.model.model import Model

LIFT_OFF, RETURN = "lift-off", "return"
PULL_TOL = 1e-9
"""Pull that is rounding, relative to the largest multiplier."""
NAMED = 4
"""Number of times that a note names."""


@dataclass(frozen=True)
class Push:
    """The push of a joint [N or N m] as an event function of (t, state)."""

    model: Model
    joint: JointEntry

    def __call__(self, t: float, state: Any) -> float:
        """Return the push at a state."""
        return float(push_over_time(self.model, self.joint, np.array([t]), state.y[None])[0])


def push_over_time(model: Model, joint: JointEntry, t: Array, y: Array) -> Array:
    """Return the push (nt,) [N or N m] of a joint at the states y (nt, ny); negative where it pulls."""
    x = solve_states(model, t, y).reshape(len(t), -1)
    push: Array = -x[:, 6 * (model.nb + 1) + model.slot_of_row[joint.rows[0]]]
    return push


def lift_off_events(model: Model) -> tuple[Event, ...]:
    """Return the events of all joints that can only push."""
    found = []
    for joint in unilateral_joints(model):
        push = Push(model, joint)
        found += [Event(f"{joint.name}: {LIFT_OFF}", push, direction=-1), Event(f"{joint.name}: {RETURN}", push, direction=1)]
    return tuple(found)


def unilateral_joints(model: Model) -> list[JointEntry]:
    """Return the joints that can only push."""
    return [model.joints[part.name] for part in parts_of(model.joints) if part.unilateral]


def pulls_of(model: Model, lam: Array) -> dict[str, float]:
    """Return the joints that can only push, and pull with the multipliers lam (nc,), of forces or of an impact: [N, N m; N s, N m s]."""
    least = PULL_TOL * float(np.abs(lam).max(initial=0.0))
    return {joint.name: pull for joint in unilateral_joints(model) if (pull := float(lam[joint.rows[0]])) > least}


def lift_off_notes(model: Model, t: Array, y: Array, events: Iterable[EventRecord]) -> list[RunNote]:
    """Return a note for each joint that would have to pull in a run with these states y (nt, ny) at t (nt,), and these events."""
    notes, records = [], tuple(events)
    for joint in unilateral_joints(model):
        names = {f"{joint.name}: {what}": what for what in (LIFT_OFF, RETURN)}
        times = [(names[one.name], one.t) for one in records if one.name in names]
        if len(t) and float(push_over_time(model, joint, t[:1], y[:1])[0]) < 0.0:
            times.insert(0, (LIFT_OFF, float(t[0])))
        notes += _notes(joint, times, "")
    return notes


def sampled_lift_off_notes(model: Model, t: Array, y: Array) -> list[RunNote]:
    """Return the notes of `lift_off_notes` from the states alone; times are interpolated linearly between states."""
    notes = []
    for joint in unilateral_joints(model) if len(t) else ():
        push = push_over_time(model, joint, t, y)
        times = [(LIFT_OFF, float(t[0]))] if push[0] < 0.0 else []
        for k in np.flatnonzero((push[1:] < 0.0) != (push[:-1] < 0.0)).tolist():
            at = t[k] + (t[k + 1] - t[k]) * push[k] / (push[k] - push[k + 1])
            times.append((LIFT_OFF if push[k + 1] < 0.0 else RETURN, float(at)))
        notes += _notes(joint, times, "about ")
    return notes


def _notes(joint: JointEntry, times: list[tuple[str, float]], about: str) -> list[RunNote]:
    """Return the note of a joint with these lift-offs and returns, if there are any."""
    if not any(what == LIFT_OFF for what, _ in times):
        return []
    parts = ", ".join(f"{what} at {about}t = {at:.9g} s" for what, at in times[:NAMED])
    more = f", and {len(times) - NAMED} more" if len(times) > NAMED else ""
    what = f"joint {joint.name!r} can only push, and would have to pull: {parts}{more}"
    why = "it is held closed, so that the motion behind the first lift-off is that of one that is guided in both directions"
    first = min(at for what, at in times if what == LIFT_OFF)
    return [RunNote(f"lift-off of {joint.name}", f"{what}; {why}.", -first, True)]  # of several segments the first note is kept
