"""Jumps that pass through delays: every method keeps its order, and held values that are delayed are exact."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, TJ

pytestmark = pytest.mark.slow

K, C, DELAY, END = 4.0, 0.5, 0.3, 0.7
EXACT = 1e-12  # rounding of states of size 1 over some hundred steps
MASS = 2.0
ORDERS = {  # method, step, part of the error that is left at half the step: a quarter, or a sixteenth, with a margin
    "RK4": (None, 1e-2, 1 / 12),
    "RKMK4": (mbd.RKMK4(), 1e-2, 1 / 12),
    "HEM4": (mbd.HEM4(), 1e-2, 1 / 12),
    "HHT": (mbd.HHT(alpha=-0.05), 1e-2, 1 / 3),
    "GeneralizedAlpha": (mbd.GeneralizedAlpha(), 1e-2, 1 / 3),
    "Trapezoidal": (mbd.Trapezoidal(), 1e-2, 1 / 3),
    "RATTLE": (mbd.RATTLE(), 1e-2, 1 / 3),
}
ADAPTIVE = {  # method, error that is allowed: a hundred tolerances, as error control is of a step
    "DormandPrince": (None, 1e-7),
    "DOP853": (mbd.DOP853(), 1e-7),
    "RadauIIA": (mbd.RadauIIA(), 1e-7),
    "BDF": (mbd.BDF(), 1e-6),
}
TOLERANCES = {"rtol": 1e-9, "atol": 1e-11}


def oscillator():
    """A wheel on a spring, braked by its rate of 0.3 s ago, which is zero before the start: phi'' = -k phi - c phi'(t - d)."""
    system = mbd.System("oscillator")
    wheel = system.add(mbd.Body("wheel", 1.0, (1.0, 1.0, 1.0), omega_bar=(0, 0, 1.0)))
    pin = system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointSpring("spring", pin, k=K))
    system.add(mbd.DelayLine("late", "pin.rate", DELAY, before=0.0))
    brake = system.add(mbd.Block("brake", outputs={"torque": lambda t, x, signals: -C * signals["late.out"]}))
    system.add(mbd.Motor("motor", pin, torque=brake["torque"]))
    return system


@cache
def oscillation():
    """Angle and rate at the end, interval by interval."""
    y, past = np.array([0.0, 1.0]), lambda t: 0.0
    for n in range(3):
        ends = (n * DELAY, min((n + 1) * DELAY, END))
        rates = lambda t, z, past=past: [z[1], -K * z[0] - C * past(t)]  # noqa: E731
        found = solve_ivp(rates, ends, y, method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True)
        y, past = found.y[:, -1], lambda t, sol=found.sol: sol(t - DELAY)[1]
    return y


def error_of(method, **options):
    run = mbd.simulate(oscillator(), END, integrator=method, **options)
    return abs(np.array([run.joint("pin").angle[-1], run.joint("pin").rate[-1]]) - oscillation()).max()


@pytest.mark.parametrize("name", ORDERS)
def test_a_jump_that_arrives_leaves_the_order(name):
    method, h, part = ORDERS[name]
    assert error_of(method, h=h / 2) < part * error_of(method, h=h)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_jump_that_arrives_leaves_the_error_control(name):
    method, allowed = ADAPTIVE[name]
    assert error_of(method, **TOLERANCES) < allowed


def cart(period, *delays, gain=0.0):
    """A mass on a rail; its force is a sampled law, transported by delays; a part of the force comes back through the last one."""
    system = mbd.System("cart")
    mass = system.add(mbd.Body("mass", MASS, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.Sampled("law", period, lambda t, s: -3.0 * s["rail.displacement"] - s["rail.rate"]))
    last = f"line {len(delays) - 1}.out"
    force = mbd.Block("force", outputs={"f": lambda t, x, s: s["law.out"] + gain * s[last]}, inputs=("law.out", last))
    before = "law.out" if not gain else "force.f"
    for k, delay in enumerate(delays):
        system.add(mbd.DelayLine(f"line {k}", before, delay, before=0.0))
        before = f"line {k}.out"
    if gain:
        system.add(force)
    line = system.add(mbd.Block("end", outputs={"u": lambda t, x, s: s[before]}, inputs=(before,)))
    system.add(mbd.Motor("motor", rail, force=line["u"] if not gain else force["f"]))
    return system


def path_of(period, delays, end, gain=0.0):
    """Displacement and rate at the end, from jump to jump: the force between them is constant."""
    delay, levels = sum(delays), range(1, 60) if gain else (1,)
    calls = period * np.arange(int(end / period + 1e-9) + 1)
    times = sorted({round(call + n * delay, 12) for call in calls for n in (0, *levels) if call + n * delay < end - 1e-9})
    values = {}

    def force(t):
        def held(s):
            return 0.0 if s < -1e-9 else values[int(s / period + 1e-9)]

        return sum(gain**n * held(t - n * delay) for n in (0, *levels)) if gain else held(t - delay)

    x, v = 0.0, 1.0
    for t, after in zip(times, [*times[1:], end], strict=True):
        if abs(t / period - round(t / period)) < 1e-9:
            values[round(t / period)] = -3.0 * x - v
        f, h = force(t) / MASS, after - t
        x, v = x + v * h + 0.5 * f * h * h, v + f * h
    return [x, v]


DELAYS = {"one": (0.07,), "of the period": (0.05,), "two periods": (0.1,), "short": (0.013,), "a chain": (0.03, 0.041, 0.017)}


@pytest.mark.parametrize("h", [0.01, 0.007])
@pytest.mark.parametrize("delays", DELAYS.values(), ids=DELAYS)
def test_delayed_held_values_are_exact(delays, h):
    run = mbd.simulate(cart(0.05, *delays), 0.6, h=h)
    found = [run.joint("rail").displacement[-1], run.joint("rail").rate[-1]]
    np.testing.assert_allclose(found, path_of(0.05, delays, 0.6), atol=EXACT)


@pytest.mark.parametrize("name", ["DormandPrince", "RadauIIA", "RATTLE", "HEM4"])
def test_delayed_held_values_are_exact_with_every_method(name):
    method, steps = (ADAPTIVE[name][0], TOLERANCES) if name in ADAPTIVE else (ORDERS[name][0], {"h": 0.01})
    run = mbd.simulate(cart(0.05, 0.07), 0.6, integrator=method, **steps)
    found = [run.joint("rail").displacement[-1], run.joint("rail").rate[-1]]
    np.testing.assert_allclose(found, path_of(0.05, (0.07,), 0.6), atol=EXACT)


def test_jumps_that_come_back_without_an_integration_are_exact():
    run = mbd.simulate(cart(0.05, 0.03, 0.037, gain=0.5), 0.6, h=0.01)
    found = [run.joint("rail").displacement[-1], run.joint("rail").rate[-1]]
    np.testing.assert_allclose(found, path_of(0.05, (0.03, 0.037), 0.6, gain=0.5), atol=EXACT)


JUMPS = np.array([0.0, 0.05, 0.1]) + 0.07


@pytest.mark.parametrize(
    "options", [{"h": 0.02}, {"h": 0.02, "store_every": 3}, {"rtol": 1e-8}, {"h": 0.02, "t_eval": [0.0, *JUMPS, 0.2]}]
)
def test_states_at_a_jump_have_the_value_after_it(options):
    run = mbd.simulate(cart(0.05, 0.07), 0.2, **options)
    held = np.searchsorted(JUMPS, run.t, side="right")
    assert len(set(held)) == 4
    np.testing.assert_allclose(run.block("line 0")["out"], np.array([0.0, *sampled_values()])[held], atol=EXACT)


def sampled_values():
    """Values of the first three calls: the force of the first sets in at 0.07."""
    x, v, f = 0.1, 1.0, -1.0 / MASS
    x, v = x + 0.5 * f * 0.03**2, v + f * 0.03
    return [-1.0, -1.15, -3.0 * x - v]


def test_what_a_sampled_block_gives_first_is_before_the_start_too():
    system = mbd.System("one call")
    system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1)))
    system.add(mbd.Sampled("law", 0.2, lambda t, s: 1.0 + t))
    system.add(mbd.DelayLine("late", "law.out", 0.3))
    system.add(mbd.Block("sum", 0.0, derivative=lambda t, x, s: s["late.out"], outputs={"x": lambda t, x, s: x[0]}))
    run = mbd.simulate(system, 0.6, h=0.05)  # the integral of 1, of 1.2 from 0.5 on
    assert run.block("sum").x[-1, 0] == pytest.approx(0.62, abs=EXACT)
    np.testing.assert_allclose(run.block("late")["out"], np.where(run.t > 0.5 - 1e-9, 1.2, 1.0), atol=EXACT)


def test_a_jump_that_comes_back_too_often_is_told():
    with pytest.warns(mbd.RunWarning, match=r"a jump has come back to 'line 0' 51 times through a loop without an integration"):
        mbd.simulate(cart(10.0, 0.01, gain=0.5), 0.6, h=0.01)


def test_kinks_that_come_back_through_two_delays_leave_the_order():
    """x' = -x(t - 0.3) - 0.5 x(t - 0.43) + cos t: kinks at all sums of the delays, smoother each time."""

    def end(h):
        system = mbd.System("two delays")
        system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1)))
        system.add(mbd.DelayLine("short", "growth.x", 0.3, before=0.0))
        system.add(mbd.DelayLine("long", "growth.x", 0.43))
        rate = lambda t, x, s: np.cos(t) - s["short.out"] - 0.5 * s["long.out"]  # noqa: E731
        system.add(mbd.Block("growth", 1.0, derivative=rate, outputs={"x": lambda t, x, s: x[0]}))
        return mbd.simulate(system, 1.2, h=h).block("growth").x[-1, 0]

    times, x, parts = [0.0, 0.3, 0.43, 0.6, 0.73, 0.86, 0.9, 1.03, 1.16, 1.2], np.array([1.0]), []

    def past(t, before):
        for first, last, sol in parts:
            if first <= t <= last:
                return sol(t)[0]
        return before

    for ends in zip(times, times[1:], strict=False):
        middle = sum(ends) / 2

        def rates(t, y, middle=middle):
            short = past(t - 0.3, 0.0) if middle > 0.3 else 0.0
            return [np.cos(t) - short - 0.5 * past(t - 0.43, 1.0)]

        found = solve_ivp(rates, ends, x, method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True)
        parts.append((*ends, found.sol))
        x = found.y[:, -1]
    errors = [abs(end(h) - x[0]) for h in (0.1, 0.05)]
    assert errors[1] < max(errors[0] / 10, EXACT * 10)
    assert errors[0] < 1e-6


@pytest.mark.parametrize("method", [mbd.DOP853, mbd.SciPySolver], ids=["DOP853", "of SciPy"])
def test_a_delay_is_as_accurate_as_the_steps_of_a_method_of_order_eight(method):
    """A mass on a spring, x = cos 5 t; the integral of x(t - 1/2) is t, then 1/2 + sin(5 t - 5/2) / 5.  Dense output was 8e-7 off."""
    system = mbd.System("oscillator")
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1), r=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0), q0=1.0))
    system.add(mbd.JointSpring("spring", rail, k=25.0, free=0.0))
    system.add(mbd.DelayLine("line", "rail.displacement", 0.5))
    system.add(mbd.Block("sum", 0.0, derivative=lambda t, x, s: s["line.out"], outputs={"x": lambda t, x, s: x[0]}))
    result = mbd.simulate(system, 1.0, integrator=method(rtol=1e-7, atol=1e-8))
    expected = np.where(result.t < 0.5, result.t, 0.5 + np.sin(5.0 * result.t - 2.5) / 5.0)
    np.testing.assert_allclose(result.block("sum").x[:, 0], expected, rtol=0.0, atol=5e-8)
