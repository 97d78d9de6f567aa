"""Rates that are steep in a narrow range, as the flow of an orifice about zero pressure, against SciPy's Radau, and without a bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import TJ

T_END = 0.3
STIFFNESS, FLOW = 1e6, 10.0
"""Of the oil [N/m], and of the orifice [m/s per root of N]."""


def laminar(p, p_0):
    return p / (p * p + p_0 * p_0) ** 0.25


def damper(flow, push):
    """A piston of 1 kg that is pushed against oil, which leaves through an orifice; the force of its pressure is a state."""
    system = mbd.System("damper")
    piston = system.add(mbd.Body("piston", 1.0, (0.1, 0.1, 0.1)))
    bore = system.add(TJ("bore", system.ground, piston, point=(0, 0, 0), axis=(1, 0, 0)))
    rate = lambda t, x, s: STIFFNESS * (s["bore.rate"] - FLOW * flow(x[0]))  # noqa: E731
    oil = system.add(mbd.Block("oil", 0.0, derivative=rate, outputs={"force": lambda t, x, s: -x[0]}))
    system.add(mbd.Motor("pressure", bore, force=oil["force"]))
    system.add(mbd.PointForce("push", piston, point=(0, 0, 0), force=(push, 0, 0)))
    return system


def reference(p_0, push):
    def rates(t, y):
        return [y[1], push(t) - y[2], STIFFNESS * (y[1] - FLOW * laminar(y[2], p_0))]

    return solve_ivp(rates, (0.0, T_END), [0.0, 0.0, 0.0], method="Radau", rtol=1e-9, atol=1e-12).y[:, -1]


@pytest.mark.parametrize("p_0", [1e-4, 1e-6])
@pytest.mark.parametrize(
    ("method", "steps", "tolerance"),
    [(mbd.RadauIIA(rtol=1e-6), 80, 1e-6), (mbd.RadauIIA(h=1e-2), 30, 1e-6), (mbd.BDF(rtol=1e-6), 200, 1e-4)],
    ids=["RadauIIA", "RadauIIA of fixed step", "BDF"],
)
def test_an_orifice_is_as_accurate_as_the_steps(p_0, method, steps, tolerance):
    """Newton's iteration of the block went to and fro across the steep range, and RadauIIA took steps of 1e-9 s.

    Its stages had f(X), which has the rounding of X times the slope of f, 1e10 here.
    """
    push = lambda t: np.sin(20.0 * t)  # noqa: E731
    result = mbd.simulate(damper(lambda p: laminar(p, p_0), push), T_END, integrator=method, budget=20.0)
    assert result.success
    assert result.counters.steps <= steps
    x, v, _ = reference(p_0, push)
    assert result["piston"].r[-1, 0] == pytest.approx(x, rel=tolerance)
    assert result["piston"].v[-1, 0] == pytest.approx(v, abs=tolerance)


@pytest.mark.parametrize("method", [mbd.RadauIIA(rtol=1e-6), mbd.BDF(rtol=1e-6)], ids=["RadauIIA", "BDF"])
def test_a_slope_without_a_bound_is_named(method):
    """x = c (1 / 2 - 1000 sign(x)) has no solution: the rate jumps there."""
    system = mbd.System("switch")
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1)))
    rate = lambda t, x, s: 0.5 - 1e3 * np.sign(x[0])  # noqa: E731
    relay = system.add(mbd.Block("relay", 0.0, derivative=rate, outputs={"force": lambda t, x, s: x[0]}))
    system.add(mbd.PointForce("push", body, point=(0, 0, 0), force=(relay["force"], 0, 0)))
    with pytest.raises(mbd.SimulationError) as caught:
        mbd.simulate(system, T_END, integrator=method)
    said = str(caught.value)
    assert "The rate of Block 'relay' has no bounded slope there: by a state of Block 'relay', which is " in said
    assert "as that of sqrt(|x|) is at zero, or of a jump" in said
    assert "p / (p**2 + p_0**2)**0.25" in said
