"""Steps that are clear of impacts and openings are seen to be at once: with the same course of the motion, and few questions."""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd import PointForce, Torque
from haugmbd.simulation.hybrid.contact_events import NormalForces, Turn
from tests.support.bouncing import METHODS, ball, box
from tests.support.with_contacts import simulate_with


def shaken():
    """A ball that is lifted off, and put down."""
    system, contacts = ball(0.2, z=0.0)
    push = lambda t: (0.0, 0.0, -30.0 * np.sin(2.0 * np.pi * t))  # noqa: E731
    system.add(PointForce("shake", system["ball"], point=system["ball"].r, force=push))
    return system, contacts


def tipped():
    """A box that is tipped over its edge."""
    system, contacts = box(0.0, z=0.0)
    system.add(Torque("tip", system["box"], torque=lambda t: (0.0, 20.0 * t, 0.0)))
    return system, contacts


CASES = {"shaken": shaken, "tipped": tipped, "rattling": lambda: box(0.3, z=0.3, turned=0.1)}


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("name", CASES)
def test_the_course_is_the_same(name, options, monkeypatch):
    def run():
        system, contacts = CASES[name]()
        return simulate_with(system, 1.2, contacts=contacts, **options)

    quick = run()
    monkeypatch.setattr(Turn, "clear", lambda self, t, y: np.zeros(len(t), dtype=bool))
    slow = run()
    assert [len(s) for s in quick.segments] == [len(s) for s in slow.segments]
    assert [i.t for i in quick.impacts] == [i.t for i in slow.impacts]
    np.testing.assert_array_equal(quick.y, slow.y)
    assert len(quick.segments) > 1


@pytest.mark.slow
def test_a_box_at_rest_is_asked_for_its_forces_a_batch_at_a_time(monkeypatch):
    """Of its four legs one leans on the others, and one may carry nothing: both stay at zero to rounding."""
    alone, together = [], []
    of, over = NormalForces.of, NormalForces.over
    monkeypatch.setattr(NormalForces, "of", lambda self, name, state: alone.append(name) or of(self, name, state))
    monkeypatch.setattr(NormalForces, "over", lambda self, name, t, y: together.append(len(t)) or over(self, name, t, y))
    system, contacts = box(0.0, z=0.0)
    result = simulate_with(system, 1.0, contacts=contacts, h=1e-3)
    assert len(result) == 1001
    assert len(alone) <= 8
    assert sum(together) > 2000


@pytest.mark.slow
def test_a_force_that_fails_only_beyond_an_opening_is_not_asked_there_to_the_end():
    """The ball lifts off at 0.25 s; what its force would raise while still held down, in steps that do not take place, is not heard."""
    system, contacts = ball(0.3, z=0.0)

    def force(t, r, p, v, omega_bar):
        if t > 0.3 and r[2] == 0.1:
            raise RuntimeError("held down")
        return (0.0, 0.0, 80.0 * t)

    system.add(PointForce("lift", system["ball"], point=system["ball"].r, force=force))
    result = simulate_with(system, 0.5, contacts=contacts, h=1e-3)
    assert len(result.segments) == 2
    assert result.t[-1] == 0.5
