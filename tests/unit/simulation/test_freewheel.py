"""A freewheel by two switches: the pawl lets go where it would pull, and catches where the hub overtakes the wheel; against an own ODE."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, Coupling

HUB, WHEEL, DRAG, FINE = 1.0, 2.0, 0.5, {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}


def drive(t):
    return 10.0 * np.sin(5.0 * t)


def bicycle():
    system = mbd.System("bicycle")
    hub, wheel = (system.add(mbd.Body(name, 1.0, (J, J, J))) for name, J in (("hub", HUB), ("wheel", WHEEL)))
    pins = [system.add(RJ(f"pin {w.name}", system.ground, w, point=(0, 0, 0), axis=(0, 0, 1))) for w in (hub, wheel)]
    system.add(Coupling("pawl", {pins[0]: 1.0, pins[1]: -1.0}))
    system.add(mbd.Motor("drive", pins[0], torque=drive))
    system.add(mbd.RSDA("drag", pins[1], k=0.0, c=DRAG))
    return system


def own_motion(t_end):
    """(hub, wheel) speeds and the times of switching:  closed while  T - I_h w' >= 0,  open until the hub overtakes the wheel."""
    t, w, closed, times = 0.0, np.zeros(2), True, []
    while True:

        def together(t, y):
            a = (drive(t) - DRAG * y[1]) / (HUB + WHEEL)
            return [a, a]

        def apart(t, y):
            return [drive(t) / HUB, -DRAG * y[1] / WHEEL]

        def carried(t, y):
            return drive(t) - HUB * together(t, y)[0]

        def gap(t, y):
            return y[0] - y[1]

        event = carried if closed else gap
        event.terminal, event.direction = True, -1 if closed else 1
        found = solve_ivp(together if closed else apart, (t, t_end), w, events=event, **FINE)
        t, w = found.t[-1], found.y[:, -1]
        if found.status != 1:
            return w, times
        times.append(t)
        closed = not closed


@pytest.mark.slow
def test_a_freewheel_catches_and_lets_go_at_its_own_times():
    lets_go = mbd.Event("lets go", "pawl.torque.z", level=0.0).then(release=["pawl"])
    catches = mbd.Event("catches", lambda t, s: s.omega_bar[1, 2] - s.omega_bar[2, 2], direction=1).then(grip=["pawl"])
    result = mbd.simulate(bicycle(), 3.0, rtol=1e-10, atol=1e-12, events=[lets_go, catches])
    speeds, times = own_motion(3.0)
    assert len(times) >= 3
    assert np.abs(np.array([one.t for one in result.switches]) - times).max() < 1e-7
    assert np.abs(np.array([result["hub"].omega[-1, 2], result["wheel"].omega[-1, 2]]) - speeds).max() < 1e-7
    assert np.abs(result.energy().drift).max() < 1e-6
