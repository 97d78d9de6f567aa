"""States between stored ones where accelerations jump: a step before the jump does not see what is behind it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.control.diagram.jumps import states_before_jumps
from haugmbd.diagnostics.dense_states import before_jumps
from joints import RJ, TJ, Planar

G, SLOPE, SPEED = 9.81, 0.3, 1.0
EXACT = 1e-11
"""[m, m/s] The motions are parabolas between their jumps; events are located to about 1e-12 s, and rates at rest to 1e-12 m/s."""
TURNED = 1e-6
"""[rad/s] A quintic through Euler parameters over steps of up to 0.1 rad."""
DELAYED = 1e-7
"""[m, m/s, N, J] Quintics through steps of 1e-2 s; a jump that is not known costs 1e-2."""
T = np.linspace(0.0, 0.5, 601)[1:-1]
METHODS = {"fixed": {"h": 1e-2}, "adaptive": {"rtol": 1e-8}, "DOP853": {"integrator": mbd.DOP853()}}


def on_slope():
    """A block that has been pushed up a slope."""
    system = mbd.System("slope", gravity=(G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)))
    block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), v=(-SPEED, 0, 0)))
    return system, block


def check(result, r, v):
    """Compare with the exact motion along x at the times T."""
    found = result.resample(T)["block"]
    np.testing.assert_allclose(found.r[:, 0], r, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(found.v[:, 0], v, rtol=0.0, atol=EXACT)
    assert abs(result.energy().drift).max() < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mu", [0.4, 0.1])
def test_a_block_that_stops_on_a_slope(mu, method):
    """It sticks with the larger coefficient, and slides back with the smaller one."""
    system, block = on_slope()
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(mu)))
    up, down = G * (np.sin(SLOPE) + mu * np.cos(SLOPE)), max(0.0, G * (np.sin(SLOPE) - mu * np.cos(SLOPE)))
    stop, after = SPEED / up, np.maximum(T - SPEED / up, 0.0)
    r = np.where(T < stop, -SPEED * T + up * T**2 / 2, -(SPEED**2) / (2 * up) + down * after**2 / 2)
    check(mbd.simulate(system, 0.5, **METHODS[method]), r, np.where(T < stop, up * T - SPEED, down * after))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_puck_of_two_rates_that_stops(method):
    system, block = on_slope()
    table = system.add(Planar("table", system.ground, block, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointFriction("rub", table, mbd.Coulomb(0.4)))
    up = G * (np.sin(SLOPE) + 0.4 * np.cos(SLOPE))
    t = np.minimum(T, SPEED / up)
    check(mbd.simulate(system, 0.5, **METHODS[method]), -SPEED * t + up * t**2 / 2, up * t - SPEED)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_block_that_slips(method):
    """The step before has the friction at rest at its end, and the block does not move in it."""
    system = mbd.System("floor", gravity=(0, 0, -G))
    block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(0.5, 0.2)))
    system.add(mbd.PointForce("pull", block, point=(0, 0, 0), force=(lambda t: 40.0 * t, 0.0, 0.0)))
    slip = 0.5 * 2.0 * G / 40.0
    t = np.maximum(T - slip, 0.0)
    r, v = 0.3 * G * t**2 / 2 + 20.0 * t**3 / 6, 0.3 * G * t + 10.0 * t**2
    check(mbd.simulate(system, 0.5, **METHODS[method]), r, v)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fixed", "adaptive"])
def test_a_wheel_in_a_forest_of_revolute_joints_that_stops(method):
    """There friction is found by sweeps."""
    system = mbd.System("wheel", gravity=(0, 0, -G))
    wheel = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, SPEED, 0)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointFriction("rub", axle, mbd.Coulomb(0.3), radius=0.1))
    result, t = mbd.simulate(system, 0.5, **METHODS[method]), np.minimum(T, SPEED / (3.0 * G * 0.1))
    found = result.resample(T)["block"].omega_bar[:, 1]
    np.testing.assert_allclose(found, SPEED - 3.0 * G * 0.1 * t, rtol=0.0, atol=TURNED)


@pytest.mark.slow
@pytest.mark.parametrize("h", [0.05, 0.0125])
def test_a_sampled_force(h):
    """Constant accelerations from call to call: the step before a call has the value that was held."""
    system = mbd.System("cart")
    cart = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), v=(SPEED, 0, 0)))
    system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    law = system.add(mbd.Sampled("law", 0.05, lambda t, s: -30.0 * s["rail.displacement"] - 10.0 * s["rail.rate"]))
    system.add(mbd.PointForce("drive", cart, point=(0, 0, 0), force=(law["out"], 0, 0)))
    k, x = np.floor(T / 0.05).astype(int), [(0.0, SPEED)]
    force = [-30.0 * r - 10.0 * v for r, v in x]
    for _ in range(10):
        (r, v), a = x[-1], force[-1] / 2.0
        x.append((r + 0.05 * v + a * 0.05**2 / 2, v + 0.05 * a))
        force.append(-30.0 * x[-1][0] - 10.0 * x[-1][1])
    (r, v), a, t = np.array(x)[k].T, np.array(force)[k] / 2.0, T - 0.05 * k
    check(mbd.simulate(system, 0.5, h=h), r + v * t + a * t**2 / 2, v + a * t)


def test_calls_between_stored_states_are_no_jumps_at_them():
    """With three steps from state to state a state between two calls has the value that holds on both sides."""
    system = mbd.System("cart")
    cart = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1)))
    law = system.add(mbd.Sampled("law", 0.04, lambda t, s: t))
    system.add(mbd.PointForce("drive", cart, point=(0, 0, 0), force=(law["out"], 0, 0)))
    result = mbd.simulate(system, 0.6, h=0.02, store_every=3)
    assert states_before_jumps(result.model.network, result.t, result.y) == {}


def stopped_links(seed):
    """One or two links with damped stops of random stiffness."""
    rng = np.random.default_rng(seed)
    system = mbd.System("stopped", gravity=(0, 0, -G))
    before = system.ground
    for k in range(int(rng.integers(1, 3))):
        body = system.add(mbd.Body(f"link {k}", 10 ** rng.uniform(-2, 1), (0.01, 0.2, 0.2), r=(k + 0.5, 0, 0)))
        pin = system.add(RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=(0, 1, 0)))
        before, lower, upper = body, -float(rng.uniform(0.05, 0.4)), float(rng.uniform(0.05, 0.4))
        system.add(
            mbd.JointLimit(f"stop {k}", pin, lower=lower, upper=upper, k=10 ** rng.uniform(0, 5), c=10 ** rng.uniform(0, 3.0))
        )
    return system


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3126, *range(8)])
def test_each_event_of_a_stop_is_a_jump_between_states(seed):
    """Also where a method of low tolerance leaves a state by more than the width of the edge, as the first of these does."""
    method = mbd.BDF(rtol=1e-4, atol=1e-4)
    result = mbd.simulate(stopped_links(seed), 0.5, integrator=method)
    numbers = np.array(sorted(before_jumps(result.model, result.t, result.y)))
    events = [event.t for event in result.events if event.name.startswith("stop")]
    assert events
    assert set(events) <= set(result.t[numbers].tolist())
    times = 0.5 * (result.t[numbers - 1] + result.t[numbers])
    own = mbd.simulate(result.model, 0.5, integrator=method, t_eval=times)
    np.testing.assert_allclose(result.resample(times).omega_bar, own.omega_bar, atol=1e-5)


def delayed(signal, delay, **how):
    """A cart that is driven by a delayed signal."""
    system = mbd.System("cart")
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1), v=(SPEED, 0, 0)))
    system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.Sampled("law", 0.08, lambda t, s: -30.0 * s["rail.displacement"] - 10.0 * s["rail.rate"]))
    system.add(mbd.DelayLine("first", signal, delay, **how))
    system.add(mbd.DelayLine("second", "first.out", 0.07))
    out = system.add(mbd.Block("sum", outputs={"out": lambda t, x, s: s["first.out"] + 0.5 * s["second.out"]}))
    system.add(mbd.PointForce("drive", cart, point=(0, 0, 0), force=(out["out"], 0, 0)))
    return system


@cache
def moved(signal, how):
    """The states at the times T, by small steps;  how: of the delay."""
    return mbd.simulate(delayed(signal, 0.1, **dict(how)), 0.5, t_eval=T, rtol=1e-11, atol=1e-13).y


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"h": 1e-2}, {"rtol": 1e-10, "atol": 1e-12}])
@pytest.mark.parametrize(("signal", "how"), [("rail.rate", {"before": -3.0}), ("law.out", {}), ("law.out", {"before": 2.0})])
def test_jumps_that_come_out_of_delays(signal, how, given):
    """From `before`, or of a sampled value, through another delay, too: states and energies know the output before each jump."""
    result = mbd.simulate(delayed(signal, 0.1, **how), 0.5, **given)
    np.testing.assert_allclose(result.resample(T).y, moved(signal, tuple(how.items())), rtol=0.0, atol=DELAYED)
    assert abs(result.energy().drift).max() < DELAYED
