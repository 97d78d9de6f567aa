"""Forces and drivers that jump with time or with the state: steps with error control end there, with the error that was asked for."""

import sys

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import gallery
from joints import TJ

T_END = 1.7


def slider(v=0.0):
    system = mbd.System("slider", gravity=(0, 0, 0))
    body = system.add(mbd.Body("body", mass=1.0, J_bar=(1, 1, 1), v=(v, 0, 0)))
    return system, body, system.add(TJ("slide", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))


def as_force(system, body, joint, f):
    system.add(mbd.PointForce("push", body, point=(0, 0, 0), force=lambda t: (f(t), 0, 0)))


def as_joint_force(system, body, joint, f):
    system.add(mbd.JointForce("push", joint, f))


def as_law(system, body, joint, f):
    system.add(mbd.JointForce("push", joint, lambda t, q, v: f(t) * 1.0))


def as_block(system, body, joint, f):
    source = system.add(mbd.Block("source", outputs={"u": lambda t, x, signals: f(t)}))
    system.add(mbd.JointForce("push", joint, source["u"]))


def as_block_with_state(system, body, joint, f):
    block = system.add(
        mbd.Block("block", 0.0, derivative=lambda t, x, signals: f(t), outputs={"u": lambda t, x, signals: f(t) + 0.0 * x[0]})
    )
    system.add(mbd.JointForce("push", joint, block["u"]))


GIVEN = (as_force, as_joint_force, as_law, as_block, as_block_with_state)

# x'' = f: jumps of f by J_k at t_k, so that x = J_0 T^2 / 2 + sum J_k (T - t_k)^2 / 2
TIMES = {
    "where": (lambda t: np.where(t < 0.7331, 3.0, -2.0), 3.0, [(0.7331, -5.0)]),
    "if": (lambda t: 3.0 if t < 0.7331 else -2.0, 3.0, [(0.7331, -5.0)]),
    "pulse": (lambda t: np.where((t > 0.7331) & (t < 0.7431), 300.0, 0.0), 0.0, [(0.7331, 300.0), (0.7431, -300.0)]),
    "floor": (lambda t: np.floor(3.3 * t), 0.0, [(k / 3.3, 1.0) for k in range(1, 6)]),
    "round": (lambda t: np.round(3.3 * t), 0.0, [((k - 0.5) / 3.3, 1.0) for k in range(1, 7)]),
    "sign": (lambda t: np.sign(np.sin(7.0 * t + 0.1)), 1.0, [((k * np.pi - 0.1) / 7.0, 2.0 * (-1.0) ** k) for k in range(1, 4)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("given", GIVEN)
def test_jumps_in_time(given, name):
    f, first, jumps = TIMES[name]
    parts = slider()
    given(*parts, f)
    result = mbd.simulate(parts[0], T_END, rtol=1e-8)
    right = 0.5 * first * T_END**2 + sum(0.5 * jump * (T_END - t) ** 2 for t, jump in jumps)
    assert result["body"].r[-1, 0] == pytest.approx(right, abs=5e-9)
    assert np.abs(result.energy().drift).max() < 2e-6


@pytest.mark.slow
@pytest.mark.parametrize("before", [0.0, 1e-16, 5e-16, 2e-15, 3e-14, 2e-13, 1e-12, 1e-9])
def test_a_run_that_begins_just_before_a_jump_goes_on(before):
    """As one does behind a switch at the time of the jump, which is located to 1e-13 s."""
    system, body, joint = slider()
    as_force(system, body, joint, lambda t: np.where(t < 0.7331, 3.0, -2.0))
    state = system.compile().state().replace(t=0.7331 - before)
    result = mbd.simulate(system, T_END, rtol=1e-10, atol=1e-12, state=state)
    assert result["body"].r[-1, 0] == pytest.approx(-((T_END - 0.7331) ** 2), abs=1e-8)
    switch = mbd.Event("at the jump", lambda t, state: t - 0.7331).then(kick=mbd.PointImpulse("kick", body, impulse=(1.0, 0, 0)))
    x = mbd.simulate(system, T_END, rtol=1e-10, atol=1e-12, events=[switch])["body"].r[-1, 0]
    after = T_END - 0.7331
    assert x == pytest.approx(1.5 * 0.7331**2 + (3.0 * 0.7331 + 1.0) * after - after**2, abs=1e-9)


# x'' = -5 sgn x: parabolas of 6 v / 10 s
STATES = {
    "sign": lambda t, q, v: -5.0 * np.sign(q),
    "if": lambda t, q, v: 5.0 if q < 0.0 else -5.0,
    "where": lambda t, q, v: np.where(q < 0.0, 5.0, -5.0),
    "floor": lambda t, q, v: -5.0 - 10.0 * max(min(np.floor(q), 0), -1),
    "heaviside": lambda t, q, v: 5.0 - 10.0 * np.heaviside(q, 0.5),
    "copysign": lambda t, q, v: -np.copysign(5.0, q),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("integrator", [None, mbd.BDF(rtol=1e-8, atol=1e-10)])
def test_jumps_with_the_state(name, integrator):
    system, _, joint = slider(v=3.0)
    system.add(mbd.JointForce("push", joint, STATES[name]))
    settings = {"rtol": 1e-8, "atol": 1e-10} if integrator is None else {"integrator": integrator}
    x = mbd.simulate(system, T_END, **settings)["body"].r[-1, 0]
    after = T_END - 1.2  # it has come back to zero, with -3 m/s
    assert x == pytest.approx(-3.0 * after + 2.5 * after**2, abs=3e-8 if integrator is None else 3e-5)


def test_a_body_that_begins_at_rest_at_a_kink_leaves_it_in_a_few_steps():
    """The height of the foot takes both branches in turns while it moves by rounding alone: 30,000 steps led away from there."""
    toy = sys.modules[gallery.bouncing_toy.__module__]
    result = mbd.simulate(gallery.bouncing_toy(), 2e-3, rtol=1e-9, atol=1e-11)
    assert result.counters.steps < 100

    def rates(t, x):
        spring = toy.SPRING * (x[1] - x[0] - toy.FREE_LENGTH)
        floor = toy.FLOOR * max(0.0, toy.SOLE - x[0])
        return [x[2], x[3], (floor + spring) / toy.FOOT - toy.TOY_GRAVITY, -spring / toy.HEAD - toy.TOY_GRAVITY]

    start = [toy.SOLE, toy.SOLE + toy.FREE_LENGTH - toy.PRESSED, 0.0, 0.0]
    right = solve_ivp(rates, (0.0, 2e-3), start, rtol=1e-12, atol=1e-14).y[:, -1]
    reached = [getattr(result[name], what)[-1, 2] for what in ("r", "v") for name in ("foot", "head")]
    np.testing.assert_allclose(reached, right, atol=1e-8)


def test_a_force_that_jumps_to_and_fro_is_named():
    system, _, joint = slider(v=3.0)
    system.add(mbd.JointForce("rub", joint, lambda t, q, v: 1.0 - 3.0 * np.sign(v)))
    with pytest.raises(mbd.SimulationError, match=r"'rub' jumps to and fro .* t = 1\.5"):
        mbd.simulate(system, 3.0, rtol=1e-8)


def test_states_at_given_times_at_and_beside_a_jump():
    system, body, joint = slider()
    as_force(system, body, joint, lambda t: np.where(t < 0.7331, 3.0, -2.0))
    times = [0.0, 0.7331 - 1e-9, 0.7331, 0.7331 + 1e-9, 1.0]
    result = mbd.simulate(system, 1.0, rtol=1e-9, t_eval=times)
    after = np.maximum(np.array(times) - 0.7331, 0.0)
    assert result.t.tolist() == times
    assert result["body"].r[:, 0] == pytest.approx(1.5 * np.array(times) ** 2 - 2.5 * after**2, abs=1e-9)
