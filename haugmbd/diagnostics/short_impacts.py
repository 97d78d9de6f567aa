r"""Impacts of compliant contacts and stops that last for so few fixed steps that what they return is an error of the steps.

    T = t(release) - t(touch) < FEWEST h    and    w^T M w > JUMP^2 max u^T M u        w = du - T (u'(touch) + u'(release)) / 2

du is the change of the velocities from touch to release, and w what the contact has in it: at both times it has no force.
Noted is also one during which the normal turns by more than a right angle: balls whose centres have passed each other in a step have gone
through each other, and may have changed nothing.
An undamped stop has no events in a method that steps across kinks: u is then that of the states around it.
Neither energy nor a violation shows such an impact: where a contact dissipates, any restitution is plausible.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.energy import kinetic_energy
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.errors import SimulationError
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.events import EventRecord
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH

FEWEST, DOUBTFUL = 4.0, 3.0
"""Steps of an impact below which it is noted, and below which the result is doubtful: with four the restitution is wrong by up to some
percent, with three by up to ten, with two by any amount."""
ADVISED = 10.0
"""Steps of an impact that are advised."""
JUMP = 0.1
"""Of the velocities: an impact that changes them by less has no part in the motion; most are contacts that hardly touch."""


class Impact(NamedTuple):
    """An impact.  name: of the contact or side;  start, duration: [s];  before, after: states without its force, from which it is judged"""

    name: str
    start: float
    duration: float
    before: State
    after: State


def short_impact_notes(model: Model, events: Iterable[EventRecord], method: Any, t: Array, y: Array) -> list[RunNote]:
    """Return a note on the shortest impact of a run with states y (nt, ny) at t, if it is too short for the fixed steps of `method`."""
    h = method.step
    if h is None:
        return []
    events = tuple(events)
    known = [*_impacts(events, h), *([] if method.stops_at_kinks else _stepped_across(model, t, y))]
    short = [one for one in known if one.duration < FEWEST * h]
    largest = _largest(model, [*(event.state for event in events), *(one.before for one in short)]) if short else 0.0
    found = [
        one
        for one, change in zip(short, _changes(model, short), strict=True)
        if change > JUMP**2 * largest or _goes_through(model, one)
    ]
    if not found:
        return []
    worst = min(found, key=lambda one: one.duration)
    duration = worst.duration
    text = (
        f"an impact of {worst.name} lasts {duration:.3g} s (from t = {worst.start:.6g} s), which is {duration / h:.2g} steps of "
        f"h = {h:.3g} s: its restitution is an error of the steps. Give h = {duration / ADVISED:.2g} s or less, or rtol=."
    )
    return [RunNote("impact", text, h / max(duration, 1e-300), doubtful=duration < DOUBTFUL * h)]


def _impacts(events: Iterable[EventRecord], h: float) -> list[Impact]:
    """Return the time from each touch to the release behind it, and the whole of those that follow each other within a step."""
    touches: dict[str, EventRecord] = {}
    chains: dict[str, list[Impact]] = {}
    for event in events:
        name, _, what = event.name.rpartition(": ")
        if what == "touch":
            touches[name] = event
        elif what == "release" and name in touches:
            touch = touches.pop(name)
            chains.setdefault(name, []).append(Impact(name, touch.t, event.t - touch.t, touch.state, event.state))
    found = [one for chain in chains.values() for one in chain]
    for name, chain in chains.items():
        first = 0
        for k, one in enumerate(chain):
            if k + 1 == len(chain) or chain[k + 1].start - one.start - one.duration >= h:
                if k > first:
                    begin = chain[first]
                    found.append(Impact(name, begin.start, one.start + one.duration - begin.start, begin.before, one.after))
                first = k + 1
    return found


def _stepped_across(model: Model, t: Array, y: Array) -> list[Impact]:
    """Return the impacts of undamped stops of a method that steps across kinks: from the last state before one to the first behind it.

    A step may have leapt over it: the coordinate approaches and leaves, and would have been beyond the limit between the states.
    """
    stops, n = Stops(model), model.nb + 1
    sides = [k for k, side in enumerate(stops.sides) if side.c == 0.0]
    if not sides or len(t) < 2:  # noqa: PLR2004
        return []
    measured, found = stops.pressed(y), []
    for k in sides:
        x, rate = measured.depth[:, k], measured.rate[:, k]
        outside = np.flatnonzero(x <= 0.0)
        for a, b in pairwise(outside.tolist()):
            if not rate[a] > 0.0 > rate[b]:
                continue
            touch, release = t[a] - x[a] / rate[a], t[b] - x[b] / rate[b]
            meet = (x[a] - x[b] - rate[a] * t[a] + rate[b] * t[b]) / (rate[b] - rate[a])
            if b > a + 1 or x[a] + rate[a] * (meet - t[a]) > 0.0:
                ends = (State.from_y(float(t[at]), y[at], n) for at in (a, b))
                found.append(Impact(stops.sides[k].name, float(touch), max(0.0, float(release - touch)), *ends))
    return found


def _goes_through(model: Model, impact: Impact) -> bool:
    """Return whether the normal of a contact turns by more than a right angle during an impact."""
    for entry in model.loads:
        if (
            isinstance(entry.load, ContactForce) and entry.load.name == impact.name
        ):  # several points are those of a plane: none turns
            states = np.stack([impact.before.y, impact.after.y])[:, : WIDTH * (model.nb + 1)]
            bodies = states.reshape(2, -1, WIDTH).swapaxes(0, 1)[list(entry.bodies)]
            normals = entry.load.indentation(bodies).normal.reshape(2, -1, 3)
            return bool((normals[0] * normals[1]).sum() < 0.0)
    return False


def _changes(model: Model, impacts: list[Impact]) -> Array:
    """Return w^T M w of impacts (n,); 0 where the accelerations are not known."""
    if not impacts:
        return np.zeros(0)
    ends = [state for one in impacts for state in (one.before, one.after)]
    t = np.array([end.t for end in ends])
    try:
        u_dot = solve_states(model, t, np.stack([end.y for end in ends]))[:, : model.nb + 1]
    except SimulationError:  # the run itself says what is wrong with a state
        return np.zeros(len(impacts))
    u, T = _velocities(ends), (t[1::2] - t[::2])[:, None, None]
    return 2.0 * kinetic_energy(model, u[1::2] - u[::2] - 0.5 * T * (u_dot[::2] + u_dot[1::2]))


def _largest(model: Model, states: Iterable[State]) -> float:
    """Return the largest u^T M u of some states."""
    return 2.0 * float(kinetic_energy(model, _velocities(states)).max())


def _velocities(states: Iterable[State]) -> Array:
    """Return v and omega_bar of all bodies at some states, (n, nb + 1, 6)."""
    return np.stack([np.hstack([state.v, state.omega_bar]) for state in states])
