"""Ends of stick and slip that compiled code looks for in every step, against the search of all steps in Python."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.stick_slip import stick
from haugmbd.integrators.stick_slip.compiled_switches import CompiledSwitches
from joints import RJ, SJ


def shaken_chain(rng, joint=RJ):
    """A chain with dry friction that a torque shakes: its joints stick, slip and turn back."""
    system = mbd.System("shaken", gravity=(0.0, 0.0, -9.81))
    before = system.ground
    for k in range(int(rng.integers(1, 4))):
        body = system.add(mbd.Body(f"body {k}", 1.0, (0.1, 0.1, 0.1), r=(k + 0.5, 0.0, 0.0)))
        axis = {"axis": (0.1 * rng.normal(), 1.0, 0.1 * rng.normal())} if joint is RJ else {}
        pin = system.add(joint(f"pin {k}", before, body, point=(k, 0.0, 0.0), **axis))
        mu, preload = rng.uniform(0.1, 0.5), rng.uniform(0.0, 20.0)
        system.add(mbd.JointFriction(f"friction {k}", pin, mbd.Coulomb(1.2 * mu, mu), radius=0.2, preload=preload))
        before = body
    size = rng.uniform(3.0, 8.0)
    system.add(mbd.Torque("push", before, torque=lambda t: (0.0, size * np.sin(20.0 * t), 0.3 * size * np.cos(13.0 * t))))
    return system


def searched(monkeypatch, model, options, *, looks):
    """Return the result, with the watch in compiled code or without."""
    with monkeypatch.context() as changed:
        if not looks:
            changed.setattr(stick._Stick, "begin_look", lambda self: False)
        return mbd.simulate(model, 0.5, **options)


@pytest.mark.parametrize("options", [{"h": 2e-3}, {"rtol": 1e-6}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize(("seed", "joint"), [(0, RJ), (1, RJ), (2, RJ), (3, SJ)])
def test_the_watch_finds_every_end_of_a_mode(seed, joint, options, monkeypatch):
    model = shaken_chain(np.random.default_rng(seed), joint).compile()
    quick, slow = (searched(monkeypatch, model, options, looks=looks) for looks in (True, False))
    assert [(event.name, event.t) for event in quick.events] == [(event.name, event.t) for event in slow.events]
    assert len(quick.events) > 0
    np.testing.assert_array_equal(quick.t, slow.t)
    np.testing.assert_array_equal(quick.y, slow.y)
    assert quick.counters.evaluations <= slow.counters.evaluations


def counted(monkeypatch, model, *, kernels, **options):
    """Return the result, and how many switches compiled code has located and decided;  kernels: whether it may."""
    located, decided = [], []
    with monkeypatch.context() as changed:
        own = CompiledSwitches.cut, CompiledSwitches.decide
        changed.setattr(CompiledSwitches, "cut", lambda self, *rest: _noted(own[0](self, *rest), located))
        changed.setattr(CompiledSwitches, "decide", lambda self, *rest: _noted(own[1](self, *rest), decided))
        if not kernels:
            changed.setattr(CompiledSwitches, "suit", staticmethod(lambda *_: False))
        return mbd.simulate(model, 0.5, **options), len(located), len(decided)


def _noted(found, notes):
    if found is not None:
        notes.append(1)
    return found


@pytest.mark.parametrize("seed", [100, 102, 103])
@pytest.mark.parametrize(
    "options",
    [{"h": 2e-3}, {"h": 5e-3, "integrator": mbd.RK3()}, {"h": 1e-3, "stabilization": mbd.Projection(every=3)}],
    ids=["rk4", "rk3", "every 3"],
)
def test_switches_in_compiled_code_are_those_of_python_bit_by_bit(seed, options, monkeypatch):
    model = shaken_chain(np.random.default_rng(seed)).compile()
    quick, located, decided = counted(monkeypatch, model, kernels=True, **options)
    slow, none, _ = counted(monkeypatch, model, kernels=False, **options)
    assert none == 0
    assert len(quick.events) > 0
    assert located > 0
    assert decided > 0
    assert [(event.name, event.t) for event in quick.events] == [(event.name, event.t) for event in slow.events]
    for one, other in zip(quick.events, slow.events, strict=True):
        np.testing.assert_array_equal(one.state.y, other.state.y)
    np.testing.assert_array_equal(quick.t, slow.t)
    np.testing.assert_array_equal(quick.y, slow.y)
    assert (quick.message, quick.counters.steps) == (slow.message, slow.counters.steps)
