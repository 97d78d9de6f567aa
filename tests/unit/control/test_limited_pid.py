"""A PID with integral action that reaches a limit: its output stays there while the two rates of the integral drive it back and forth."""

from __future__ import annotations

from functools import cache

import numba
import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.control.diagram.switched_rate import switched_rate
from joints import TJ

KP, KI, KD, TAU, LIMIT, GOAL, T_END = 20.0, 60.0, 6.0, 0.02, 3.0, 1.0, 1.5
CHANGES = 3e-4
"""Error of a method in a run with six changes of mode, of which each falls within a step of 1 ms or less."""


def cart(*more):
    """A mass of 1 kg on a rail, driven to x = 1 m."""
    system = mbd.System("cart", gravity=(0, 0, 0))
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    gains = {"kp": KP, "ki": KI, "kd": KD, "tau": TAU, "lower": -LIMIT, "upper": LIMIT}
    pid = system.add(mbd.PID("pid", "rail.displacement", GOAL, **gains))
    system.add(mbd.JointForce("push", [rail], pid["out"]))
    for part in more:
        system.add(part)
    return system


@cache
def reference(n=150_000):
    """Return x, I, f at the end, and the modes passed, by implicit Euler steps of 10 us for I that choose among hold, go and slide."""
    h, x, v, integral, f, modes = T_END / n, 0.0, 0.0, 0.0, 0.0, []
    for _ in range(n):
        e = GOAL - x
        side = 1.0 if e > 0.0 else -1.0
        others = KP * e - KD * (x - f) / TAU
        limited = (side * LIMIT - others) / KI
        free = integral + h * e
        if side * (KI * integral + others) >= LIMIT:
            mode = "hold"
        elif side * (KI * free + others) <= LIMIT:
            mode, integral = "go", free
        else:
            mode, integral = "slide", limited
        modes += [mode] if modes[-1:] != [mode] else []
        f += h * (x - f) / TAU
        v += h * min(max(others + KI * integral, -LIMIT), LIMIT)
        x += h * v
    return np.array([x, integral, f]), modes


METHODS = {
    "RadauIIA": {"integrator": mbd.RadauIIA(), "rtol": 1e-6},
    "BDF": {"integrator": mbd.BDF(), "rtol": 1e-6},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(), "h": 1e-3},
    "GeneralizedAlpha, adaptive": {"integrator": mbd.GeneralizedAlpha(), "rtol": 1e-5},
    "Trapezoidal": {"integrator": mbd.Trapezoidal(), "h": 1e-3},
    "RK4": {"integrator": mbd.RK4(), "h": 1e-4, "store_every": 10},
    "DOP853": {"integrator": mbd.DOP853(), "rtol": 1e-6},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_goes_on_at_the_limit(method):
    result = mbd.simulate(cart(), T_END, **METHODS[method])
    expected, modes = reference()
    assert "slide" in modes[1:]
    assert len(modes) == 6
    found = [result.joint("rail").displacement[-1], *result.block("pid").x[-1]]
    np.testing.assert_allclose(found, expected, atol=CHANGES)
    assert np.abs(result.block("pid")["out"]).max() <= LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(("past", "rate"), [(-0.2, 0.0), (-0.5, GOAL), (-0.3, (-17 / 60 + 0.3) / 0.1)], ids=["hold", "go", "slide"])
def test_an_implicit_step_at_the_limit_is_the_same_in_tables_functions_and_compiled_functions(past, rate):
    """The functions of another block, in Python or compiled, select how the network is evaluated. The limit is at I = -17 / 60."""

    def lag(t, x, signals):
        return signals["rail.displacement"] - x[0]

    c = 0.1
    for more in ((), (mbd.Block("lag", 0.0, derivative=lag),), (mbd.Block("lag", 0.0, derivative=numba.njit(lag)),)):
        model = cart(*more).compile()
        network, callbacks = model.force_callbacks.network, model.force_callbacks
        y, F = model.y0.copy(), np.zeros(callbacks.shapes[2])
        lines = slice(network.place, network.place + network.size)
        F[lines, 2], F[network.place, 1] = c, past
        callbacks.call(0.0, y, np.zeros(callbacks.shapes[1]), F, np.zeros(callbacks.shapes[3]))
        first = network.first(y)
        assert F[network.place, 0] == pytest.approx(rate, rel=1e-10)
        assert y[first] == pytest.approx(past + c * rate, rel=1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_the_rate_in_a_step_is_one_that_the_state_at_its_end_has(seed):
    rng = np.random.default_rng(seed)
    e, switch, past = rng.normal(size=3)
    c = rng.uniform(0.0, 3.0)
    rate = switched_rate(e, switch, past, c)
    before = (switch - (past + c * rate)) * np.sign(e)
    if before > 1e-12:
        assert rate == e
    elif before < -1e-12:
        assert rate == 0.0
    else:
        assert 0.0 <= rate / e <= 1.0


@pytest.mark.parametrize(("e", "switch"), [(1.0, np.inf), (-1.0, -np.inf), (1.0, -np.inf), (0.0, 1.0), (0.0, np.inf)])
def test_a_state_without_limit_goes_on_and_one_beyond_stays(e, switch):
    assert switched_rate(e, switch, 0.2, 0.1) == (e if e * switch > 0 else 0.0)
