r"""Times of events by parameters:  g(t, y, p) = 0  ->  dt/dp = -(g_y dY + g_p) / (g_t + g_y y').

A terminal event moves the end of the run: dz/dp = z_y (dY + y' dt/dp) + z_t dt/dp + z_p.  Where y moves along g = 0, or nearly, the
event is grazing: its time has no derivative, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.sensitivity.models import State
from haugmbd.sensitivity.variations import Design

GRAZING = 1e-5
"""Rate of g, relative to the largest |g| of the run over its span, below which an event is grazing."""
SAMPLES = 20
"""States of a run at which the size of g is taken, about."""
STEP = 1e-6
"""[s] Of the rate of g, in one run's span of 1 s."""


def records_of(result: Any, name: str) -> list[Any]:
    """Return the records of an event. Raise UsageError if there is none."""
    found = [record for record in result.events if record.name == name]
    if not found:
        names = sorted({record.name for record in result.events})
        raise UsageError(f"there is no event {name!r} in the run; it has {', '.join(map(repr, names)) or 'none'}.")
    return found


def event_named(arguments: Mapping[str, Any], name: str) -> Any:
    """Return the event of this name among the arguments of a run. Raise UsageError for one that the run has of its own."""
    found = next((event for event in arguments.get("events", ()) if event.name == name), None)
    if found is None:
        raise UsageError(
            f"event {name!r} belongs to the run: sensitivities of its time are not there yet. Give an Event in events=[...]."
        )
    return found


def time_tangents(
    design: Design, arguments: Mapping[str, Any], name: str, at: tuple[float, Array, Array, Array], run: tuple[Array, Array]
) -> Array:
    """Return dt/dp (n,) of an event. Raise UsageError if it is grazing.

    at: t, y (ny,), y' and dY (n, ny) at the event;  run: t (nt,) and y (nt, ny)
    """
    t, y, y_dot, dY = at
    event, bodies = event_named(arguments, name), design.model.nb + 1

    def g(event: Any, t: float, y: Array) -> float:
        return float(event.value(State.from_y(t, y, bodies)))

    span = max(float(run[0][-1] - run[0][0]), 1e-300)
    d = STEP * min(span, 1.0)
    rate = (g(event, t + d, y + d * y_dot) - g(event, t - d, y - d * y_dot)) / (2.0 * d)
    every = max(1, len(run[0]) // SAMPLES)
    largest = max(abs(g(event, float(s), x)) for s, x in zip(run[0][::every], run[1][::every], strict=True))
    if abs(rate) * span <= GRAZING * largest:
        raise UsageError(
            f"event {name!r} at t = {t:.9g} s is grazing: its g changes by {rate:.2g} a second there, so that its time has no derivative."
        )
    found = []
    for k, parameter in enumerate(design.p):
        plus, minus = design.sides(parameter)
        of_sides = [event_named(side.arguments, name) if "events" in side.arguments else event for side in (plus, minus)]
        high, low = (g(of, t, y + side.step * dY[k]) for of, side in zip(of_sides, (plus, minus), strict=True))
        found.append(-(high - low) / (plus.step - minus.step) / rate)
    return np.array(found)
