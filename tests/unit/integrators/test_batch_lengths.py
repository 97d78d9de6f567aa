"""A budget cuts a run into batches by the time that they take; the states do not depend on it, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.step_batch import PacedLengths
from joints import RJ
from tests.support.runs import INTEGRATORS, method_for

H, T_END = 3e-3, 0.5


def arm(kind: str) -> mbd.Model:
    """An arm under a load that depends on time, or that stops and slips."""
    system = mbd.System("arm", gravity=(0.0, 0.0, -9.81))
    link = system.add(mbd.Body("link", 1.0, (0.1, 0.1, 0.1), r=(1.0, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.Motor("drive", pin, torque=mbd.Expression("8 + 12 * t**2")))
    if kind == "stop":
        system.add(mbd.JointLimit("stop", pin, lower=-0.05, upper=0.05, k=300.0, c=5.0))
    return system.compile()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["torque", "stop"])
@pytest.mark.parametrize("name", [name for name, one in INTEGRATORS.items() if one.takes_step])
def test_states_do_not_depend_on_the_lengths_of_batches(name: str, kind: str, rng, monkeypatch):
    """The times of steps were counted from the start of their batch: a driver of time differed in its last bit."""
    monkeypatch.setattr(PacedLengths, "__next__", lambda self: min(self._most, int(rng.integers(1, 9))))
    model, method = arm(kind), method_for(INTEGRATORS[name], h=H)
    options = {} if method.correctable or method.solves_constraints else {"stabilization": None}
    one = mbd.simulate(model, T_END, integrator=method, **options)
    other = mbd.simulate(model, T_END, integrator=method, budget=1e3, **options)
    np.testing.assert_array_equal(other.t, one.t)
    np.testing.assert_array_equal(other.y, one.y)
    assert [event.t for event in other.events] == [event.t for event in one.events]
