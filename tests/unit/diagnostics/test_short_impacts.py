"""Impacts of compliant contacts and stops that last for too few fixed steps: their restitution was wrong without a word."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.diagnostics.contact_warnings import short_impact_notes
from joints import TJ

H = 1e-3
STIFF, SOFT = 1e8, 1e5
"""[N/m^1.5] Impacts of 1.5 and of 26 steps."""
EVENTS_OF_AN_IMPACT = 2


def dropped(K: float) -> mbd.System:
    """A ball that falls for 0.5 m on the ground."""
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.004, 0.004, 0.004), r=(0, 0, 0.6)))
    floor = {"shape_i": mbd.Plane(), "shape_j": mbd.Sphere(0.1)}
    system.add(mbd.ContactForce("floor", system.ground, ball, **floor, K=K, restitution=0.8))
    return system


def stopped(k: float, c: float) -> mbd.System:
    """A slider that falls on a stop."""
    system = mbd.System("slider", gravity=(0, 0, -9.81))
    slider = system.add(mbd.Body("slider", 1.0, (0.1, 0.1, 0.1)))
    guide = system.add(TJ("guide", system.ground, slider, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("stop", guide, lower=-0.5, k=k, c=c))
    return system


def notes_of(system: mbd.System, **given: Any) -> tuple[list[str], int]:
    """Return the notes on impacts, and the number of warnings."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = mbd.simulate(system, 0.5, **given)
    assert len(result.events) >= EVENTS_OF_AN_IMPACT
    return [note for note in result.warnings if note.startswith("an impact")], len(issued)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [mbd.RK4(), mbd.GeneralizedAlpha()], ids=["RK4", "GeneralizedAlpha"])
@pytest.mark.parametrize(
    ("make", "name"), [(lambda: dropped(STIFF), "floor"), (lambda: stopped(1e7, 1e3), "stop lower")], ids=["ball", "stop"]
)
def test_an_impact_of_two_steps_is_doubtful(make: Any, name: str, integrator: Any):
    """RK4 returned 0.59 of the speed in place of 0.83, and GeneralizedAlpha 0.93."""
    (note,), issued = notes_of(make(), h=H, integrator=integrator)
    assert f"an impact of {name} lasts 0.00" in note
    assert note.endswith("s or less, or rtol=.")
    assert issued == 1


@pytest.mark.parametrize(
    ("system", "given"),
    [(dropped(SOFT), {"h": H}), (dropped(STIFF), {"rtol": 1e-7}), (stopped(1e4, 10.0), {"h": H})],
    ids=["resolved", "error control", "resolved stop"],
)
def test_an_impact_that_is_resolved_has_no_note(system: mbd.System, given: dict[str, Any]):
    assert notes_of(system, **given) == ([], 0)


def test_a_stop_that_is_hardly_touched_has_no_note():
    """The slider rises to its stop and falls back, by gravity alone: it is beyond the stop for three steps, which pushes with 1e-6 N."""
    system = mbd.System("slider", gravity=(0, 0, -9.81))
    slider = system.add(mbd.Body("slider", 1.0, (0.1, 0.1, 0.1), v=(0, 0, 2.0)))
    guide = system.add(TJ("guide", system.ground, slider, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("stop", guide, upper=2.0 / 9.81 - 1e-5, k=0.1, c=0.0))
    assert notes_of(system, h=H) == ([], 0)


@pytest.mark.parametrize(("hits", "told"), [(50, True), (2, False)])
def test_hits_that_follow_each_other_within_a_step_are_one_impact(hits: int, told: bool):
    """RK4 hit a stop of 1e13 N/m thousands of times in a microsecond: each hit changed the velocity by little, and all turned it round."""
    model = stopped(1e13, 1e5).compile()
    start, each = model.state(), 0.02 * 3.0
    events = []
    for k in range(2 * hits):
        v = start.v.copy()
        v[1, 2] = -3.0 + each * ((k + 1) // 2)
        events.append(mbd.EventRecord(f"stop lower: {('touch', 'release')[k % 2]}", 0.3 + 1e-8 * k, start.replace(v=v)))
    notes = short_impact_notes(model, events, mbd.RK4(h=H), start.t + np.zeros(1), start.y[None])
    assert len(notes) == told
    assert all(note.doubtful for note in notes)


def test_a_contact_that_touches_without_end_is_refused():
    """The middle of a step that leaps through the contact lay above it, so that it was released where it touched: the run did not end."""
    with pytest.raises(
        mbd.SimulationError, match=r"floor touches and is released without end at t = .* a much smaller h than 0.001 s"
    ):
        mbd.simulate(dropped(1e10), 0.5, integrator=mbd.SemiImplicitEuler(h=H), budget=20.0)
