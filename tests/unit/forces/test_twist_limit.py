"""Limits of the twist of a ball joint: the time in a stop is that of its spring; the rate is the derivative of the angle at any swing."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import SJ

J, K = 0.2, 500.0
KINK = 1e-6  # a step across the start of the stop, where the force has a kink, at rtol = 1e-10
JUMP = 1e-3  # [J] a step across the start of a damped stop, where the force jumps by c times the rate


def ball(spin, *, lower=-0.2, upper=0.3, axis=(0, 0, 1), **how):
    system = mbd.System("ball")
    head = system.add(mbd.Body("head", 1.0, (J, J, J), omega_bar=spin))
    joint = system.add(SJ("ball", system.ground, head, point=(0, 0, 0)))
    system.add(
        mbd.TwistLimit("twist", joint, axis=axis, lower=lower, upper=upper, **(how if "restitution" in how else {"k": K} | how))
    )
    return system


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_twist_is_thrown_back_after_half_a_period_of_its_stop(sign):
    result = mbd.simulate(ball((0, 0, 2.0 * sign)), 0.3, rtol=1e-10, atol=1e-12)
    limit, stop = 0.3 if sign > 0.0 else 0.2, np.pi * np.sqrt(J / K)
    angle = result.load("twist").angle[-1]
    assert abs(result["head"].omega[-1, 2] + 2.0 * sign) < KINK
    assert abs(angle - sign * (limit - 2.0 * (0.3 - limit / 2.0 - stop))) < KINK
    assert np.abs(result.energy().drift).max() < KINK


def test_the_rate_is_the_derivative_of_the_twist_at_any_swing():
    result = mbd.simulate(ball((1.3, -0.7, 0.4), lower=-3.0, upper=3.0, axis=(0.2, -0.3, 0.9)), 0.4, h=1e-3)
    load = result.load("twist")
    slope = (load.angle[2:] - load.angle[:-2]) / 2e-3
    assert np.abs(slope - load.rate[1:-1]).max() < 1e-5
    assert np.abs(load.angle).max() > 0.1


def test_swing_and_twist_are_limits_of_their_own():
    system = ball((3.0, 0, 0))
    system.add(mbd.ConeLimit("cone", system["ball"], axis=(0, 0, 1), angle=0.5, k=K))
    result = mbd.simulate(system, 0.25, rtol=1e-9)
    assert result.load("cone").torque.max() > 1.0
    assert np.abs(result.load("twist").torque).max() == 0.0


@pytest.mark.slow
def test_the_law_is_verified_and_saved(tmp_path):
    system = ball((0.5, 1.0, 3.0), c=2.0)
    assert mbd.verify(system["twist"]).ok
    system.save(tmp_path / "ball.json")
    again = mbd.load_model(tmp_path / "ball.json", allow_code=True)
    one, other = (mbd.simulate(s, 0.3, h=1e-3) for s in (system, again))
    assert np.array_equal(one["head"].p, other["head"].p)
    assert np.abs(mbd.simulate(system, 0.3, rtol=1e-9, atol=1e-11).energy().drift).max() < JUMP


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_rigid_limit_throws_back_by_its_restitution_and_holds_without(e):
    w, upper = 2.0, 0.3
    result = mbd.simulate(ball((0, 0, w), restitution=e, lower=-3.0), 0.4, rtol=1e-9)
    (hit, *_) = result.impacts
    assert abs(hit.t - upper / w) < 1e-9
    assert abs(hit.normal["twist upper"] - (1.0 + e) * J * w) < 1e-9
    assert abs(result.load("twist").angle[-1] - (upper - e * w * (0.4 - upper / w))) < 1e-8
    assert abs(result.energy().kinetic[-1] - e**2 * 0.5 * J * w**2) < 1e-9


def pressed(restitution, **options):
    """A top that leans and swings, turned by a torque about its own axis against the limit of its twist."""
    system = mbd.System("top", gravity=(0, 0, -9.81))
    top = system.add(mbd.Body("top", 2.0, (0.05, 0.06, 0.02), r=(0.1, 0, 0.3), omega_bar=(0.4, -0.3, 0)))
    joint = system.add(SJ("ball", system.ground, top, point=(0, 0, 0)))
    system.add(mbd.TwistLimit("twist", joint, axis=(0.1, 0, 0.3), lower=-0.4, upper=0.2, restitution=restitution))
    system.add(mbd.Torque("motor", top, torque=(0, 0, 0.8), frame="body"))
    return mbd.simulate(system, 0.35, project_velocity=True, **options)


@pytest.mark.slow
def test_a_limit_that_is_pressed_holds_while_the_joint_swings_and_its_moment_is_half_the_sum_of_the_axes():
    result = pressed(0.0, rtol=1e-10, atol=1e-12)
    closed, load = result.contact("twist upper").closed, result.load("twist")
    assert closed[-1]
    assert np.abs(load.angle[closed] - 0.2).max() < 1e-8
    assert load.angle.max() < 0.2 + 1e-8
    assert not result.contact("twist lower").closed.any()
    # Euler's equation of the top, of the moments about the ball
    k = -2
    body = result["top"]
    A, r, force = body.A[k], body.r[k], result.contact("twist upper").force[k]
    a = np.array([0.1, 0, 0.3]) / np.hypot(0.1, 0.3)
    b = A @ a
    pin = result.reaction("ball").force[k]
    moment = -force * (a + b) / 2.0 + np.cross(-r, pin) + A @ np.array([0, 0, 0.8])
    J_global = A @ np.diag([0.05, 0.06, 0.02]) @ A.T
    w = body.omega[k]
    w_dot = np.linalg.solve(J_global, moment - np.cross(w, J_global @ w))
    # the twist stays: its rate, n . w, has no rate of its own
    n, n_dot = a + b, np.cross(w, b)
    scale = 1.0 + a @ b
    rate = (n @ w_dot + n_dot @ w) / scale - (n @ w) * (a @ np.cross(w, b)) / scale**2
    assert abs(rate) < 1e-6


@pytest.fixture(scope="module")
def thrown_back():
    return pressed(0.3, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [mbd.RadauIIA(), mbd.GeneralizedAlpha(), mbd.DOP853(rtol=1e-9, atol=1e-11)], ids=repr)
def test_every_method_holds_it(thrown_back, integrator):
    h = {} if "DOP853" in repr(integrator) else {"h": 1e-3}
    one, other = thrown_back, pressed(0.3, integrator=integrator, **h)
    assert len(one.impacts) > 3
    assert np.abs(one["top"].r[-1] - other["top"].r[-1]).max() < 2e-4
    assert other.contact("twist upper").closed[-1] == one.contact("twist upper").closed[-1]


@pytest.mark.slow
def test_a_rigid_limit_is_saved(tmp_path):
    system = ball((0.5, 1.0, 3.0), restitution=0.5)
    again = mbd.load_model(system.save(tmp_path / "ball.json"), allow_code=True)
    one, other = (mbd.simulate(s, 0.3, h=1e-3) for s in (system, again))
    assert np.array_equal(one["head"].p, other["head"].p)
    one.save(tmp_path / "run.npz")
    assert len(mbd.load(tmp_path / "run.npz", allow_code=True).impacts) == len(one.impacts) > 0


@pytest.mark.parametrize(
    "given", [{"restitution": 0.5, "k": 1.0}, {"restitution": 1.5}, {"restitution": 0.5, "lower": 0.0, "upper": 0.0}]
)
def test_rigid_limits_that_cannot_be_are_one_fault(given):
    with pytest.raises(mbd.ModelError, match="1 fault: TwistLimit 'twist'"):
        ball((0, 0, 0), **given).compile()


@pytest.mark.parametrize("given", [{"lower": 0.1}, {"upper": 4.0}, {"axis": (0, 0, 0)}])
def test_limits_that_cannot_be_are_one_fault(given):
    with pytest.raises(mbd.ModelError, match="1 fault: TwistLimit 'twist'"):
        ball((0, 0, 0), **given).compile()
