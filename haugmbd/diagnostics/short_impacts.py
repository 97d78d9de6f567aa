r"""Impacts of compliant contacts and stops that last for so few fixed steps that what they return is an error of the steps.

    T = t(release) - t(touch) < FEWEST h    and    w^T M w > JUMP^2 max u^T M u        w = du - T (u'(touch) + u'(release)) / 2

du is the change of the velocities from touch to release, and w what the contact has in it: at both times it has no force.
Neither energy nor a violation shows such an impact: where a contact dissipates, any restitution is plausible.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.energy import kinetic_energy
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.errors import SimulationError
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.events import EventRecord
from haugmbd.model.model import Model

FEWEST, DOUBTFUL = 4.0, 3.0
"""Steps of an impact below which it is noted, and below which the result is doubtful: with four the restitution is wrong by up to some
percent, with three by up to ten, with two by any amount."""
ADVISED = 10.0
"""Steps of an impact that are advised."""
JUMP = 0.1
"""Of the velocities: an impact that changes them by less has no part in the motion; most are contacts that hardly touch."""


def short_impact_notes(model: Model, events: Iterable[EventRecord], h: float | None) -> list[RunNote]:
    """Return a note on the shortest impact, if it is too short for fixed steps of h [s]; h is None with error control."""
    events = tuple(events)
    short = [] if h is None else [pair for pair in _impacts(events) if pair[1].t - pair[0].t < FEWEST * h]
    largest = _largest(model, events) if short else 0.0
    found = [pair for pair, change in zip(short, _changes(model, short), strict=True) if change > JUMP**2 * largest]
    if h is None or not found:
        return []
    touch, release = min(found, key=lambda pair: pair[1].t - pair[0].t)
    duration, name = release.t - touch.t, touch.name.rpartition(": ")[0]
    text = (
        f"an impact of {name} lasts {duration:.3g} s (from t = {touch.t:.6g} s), which is {duration / h:.2g} steps of h = {h:.3g} s: its "
        f"restitution is an error of the steps. Give h = {duration / ADVISED:.2g} s or less, or rtol=."
    )
    return [RunNote("impact", text, h / max(duration, 1e-300), doubtful=duration < DOUBTFUL * h)]


def _impacts(events: Iterable[EventRecord]) -> list[tuple[EventRecord, EventRecord]]:
    """Return each touch with the release behind it."""
    touches: dict[str, EventRecord] = {}
    found = []
    for event in events:
        name, _, what = event.name.rpartition(": ")
        if what == "touch":
            touches[name] = event
        elif what == "release" and name in touches:
            found.append((touches.pop(name), event))
    return found


def _changes(model: Model, impacts: list[tuple[EventRecord, EventRecord]]) -> Array:
    """Return w^T M w of impacts (n,); 0 where the accelerations are not known."""
    if not impacts:
        return np.zeros(0)
    ends = [event for pair in impacts for event in pair]
    try:
        u_dot = solve_states(model, np.array([end.t for end in ends]), np.stack([end.state.y for end in ends]))[:, : model.nb + 1]
    except SimulationError:  # the run itself says what is wrong with a state
        return np.zeros(len(impacts))
    u, t = _velocities(ends), np.array([end.t for end in ends])
    T = (t[1::2] - t[::2])[:, None, None]
    return 2.0 * kinetic_energy(model, u[1::2] - u[::2] - 0.5 * T * (u_dot[::2] + u_dot[1::2]))


def _largest(model: Model, events: Iterable[EventRecord]) -> float:
    """Return the largest u^T M u at the events."""
    return 2.0 * float(kinetic_energy(model, _velocities(events)).max())


def _velocities(events: Iterable[EventRecord]) -> Array:
    """Return v and omega_bar of all bodies at some events, (n, nb + 1, 6)."""
    return np.stack([np.hstack([event.state.v, event.state.omega_bar]) for event in events])
