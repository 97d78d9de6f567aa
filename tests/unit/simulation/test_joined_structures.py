"""Runs of two mechanisms, one of which has all parts of the other, joined: the motion of one run with a Switch."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.joints import RJ, TJ

G, T_BREAK, T_END, H = 9.81, 0.3, 0.5, 1e-2
SAME = 1e-12
"""Relative to sizes of one: the same steps from the same states."""


def bar(*, pin: bool = True, k: float = 3.0, breaks: bool = False, mass: float = 1.0) -> tuple[mbd.System, list[mbd.Event]]:
    """Return a bar on a slide of its own, with a pin and a torsional spring, and what lets the pin and the spring go."""
    system = mbd.System("bar", gravity=(0, 0, -G))
    carriage = system.add(mbd.Body("carriage", mass, (0.1, 0.1, 0.1)))
    rod = system.add(mbd.Body("rod", 2.0, (1e-3, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(TJ("rail", system.ground, carriage, point=(0, 0, 0), axis=(1, 0, 0)))
    if pin:
        joint = system.add(RJ("pin", carriage, rod, point=(0, 0, 0), axis=(0, 1, 0)))
        system.add(mbd.RSDA("spring", joint, k=k, c=0.1, theta0=0.2))
    events = [mbd.Switch("breaks", lambda t, _: t - T_BREAK, release=("pin", "spring"))] if breaks else []
    return system, events


def run(system, t_end, **more):
    return mbd.simulate(system, t_end, h=H, **more)


def handed(result, system):
    """Return the last state of a result as a state of another mechanism."""
    last, model = result.state(), system.compile()
    return model.state().replace(t=last.t, r=last.r, p=last.p, v=last.v, omega_bar=last.omega_bar)


def test_a_joint_that_breaks_is_one_motion_as_by_a_switch(tmp_path):
    held = run(bar()[0], T_BREAK)
    free = run(bar(pin=False)[0], T_END, state=handed(held, bar(pin=False)[0]))
    whole = held.join(free)
    system, events = bar(breaks=True)
    one = run(system, T_END, events=events)
    np.testing.assert_allclose(whole.at(T_END).r, one.at(T_END).r, rtol=0, atol=SAME)
    assert whole.t[0] == 0.0
    assert whole.t[-1] == T_END
    assert np.count_nonzero(whole.t == T_BREAK) == 2
    (record,), (switched,) = whole.switches, one.switches
    assert record.released == switched.released == ("pin", "spring")
    assert record.potential == pytest.approx(switched.potential, abs=1e-9)
    assert record.kinetic == 0.0
    for t in (0.1, 0.45):
        np.testing.assert_allclose(whole.at(t).v, one.at(t).v, rtol=0, atol=SAME)
    force = whole.reaction("pin").force
    assert (force[whole.t > T_BREAK] == 0.0).all()
    np.testing.assert_allclose(force, one.reaction("pin").force, rtol=0, atol=1e-9)
    np.testing.assert_allclose(whole.energy().drift, one.energy().drift, rtol=0, atol=1e-9)
    again = mbd.load(whole.save(tmp_path / "whole.npz"))
    np.testing.assert_array_equal(again.y, whole.y)


def test_a_joint_that_closes_and_breaks_again_is_one_motion():
    """Carriage and rod move side by side without a force, are pinned, kicked, and let go."""

    def model(pin: bool) -> mbd.System:
        system = bar(pin=pin)[0]
        system.gravity = np.zeros(3)
        return system

    loose, pinned = model(False), model(True)
    first = run(loose, 0.1, state=loose.compile().state().replace(v=[[0, 0, 0], [1.0, 0, 0], [1.0, 0, 0]]))
    second = run(pinned, 0.2, state=handed(first, pinned))
    third = run(loose, 0.3, state=handed(second, loose))
    whole = first.join(second, third)
    assert [(one.locked, one.released) for one in whole.switches] == [(("pin", "spring"), ()), ((), ("pin", "spring"))]
    np.testing.assert_array_equal(whole.at(0.3).r, third.at(0.3).r)
    np.testing.assert_allclose(whole.reaction("pin").force[whole.t < 0.1], 0.0)
    assert np.abs(whole.reaction("pin").force[(whole.t > 0.1) & (whole.t < 0.2)]).min(axis=0).max() > 0.0


def test_parts_of_one_name_that_differ_are_of_two_mechanisms():
    held, other = run(bar()[0], 0.1), bar(pin=False, mass=1.5)[0]
    with pytest.raises(mbd.UsageError, match=r"not the same: its inertias differ, mass of body 'carriage': 1.5 .*, 1.0"):
        held.join(run(other, 0.2, state=handed(held, other)))
    with pytest.raises(mbd.UsageError, match="of another model: .*constants of the loads"):
        held.join(run(bar(k=4.0)[0], 0.2, state=held.state()))
