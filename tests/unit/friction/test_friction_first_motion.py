"""A joint of several rates that is released at rest slides in the direction of its acceleration, against its friction."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import haugmbd as mbd
from joints import CJ, RJ, SJ, Planar

MASS, J_AXIS, RADIUS, PRELOAD, T = 2.0, 0.3, 0.1, 10.0, 0.5
LAWS = {"mu_s = mu": mbd.Coulomb(0.3), "mu_s > mu": mbd.Coulomb(0.4, 0.2)}
ROUNDING = 1e-12
"""Of a motion that every method integrates exactly. First steps multiply rounding: the direction is stiff at low speeds."""


def rod_in_a_sleeve(law, force, torque):
    """A body on a cylindrical joint with a preload, at rest, pushed along the axis and turned about it."""
    system = mbd.System("sleeve", gravity=(0, 0, 0))
    rod = system.add(mbd.Body("rod", MASS, (0.1, 0.2, J_AXIS)))
    sleeve = system.add(CJ("sleeve", system.ground, rod, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointFriction("rub", sleeve, law, radius=RADIUS, preload=PRELOAD))
    system.add(mbd.PointForce("push", rod, point=(0, 0, 0), force=(0, 0, force)))
    system.add(mbd.Torque("turn", rod, torque=(0, 0, torque)))
    return system


def sliding_accelerations(mu, force, torque):
    """x'' and theta'' of M (x'', theta'') = (F, tau) - mu N_0 (e_x, r e_theta), e along (x'', r theta''): |(x'', r theta'')| is unknown."""
    F, A = np.array([force, torque / RADIUS]), np.array([1.0 / MASS, RADIUS**2 / J_AXIS])

    def direction(speed):
        return A * F / (speed + mu * PRELOAD * A)

    size = brentq(lambda s: np.linalg.norm(direction(s)) - 1.0, 0.0, 1e3, xtol=1e-15, rtol=1e-15)
    return size * direction(size) / (1.0, RADIUS)


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.RK4(), mbd.DormandPrince(), mbd.DOP853()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
@pytest.mark.parametrize(("force", "torque"), [(4.0, 0.5), (-0.5, 0.6), (5.0, -0.02), (30.0, 3.0)])
def test_a_rod_in_a_sleeve_starts_along_a_straight_line(law, method, force, torque):
    x, theta = sliding_accelerations(law.mu_s if law.mu is None else law.mu, force, torque)
    options = {"h": 0.01} if isinstance(method, mbd.RK4) else {"rtol": 1e-10, "atol": 1e-12}
    result = mbd.simulate(rod_in_a_sleeve(law, force, torque), T, integrator=method, **options)
    assert result.events == ()
    np.testing.assert_allclose(result["rod"].r[-1, 2], 0.5 * x * T**2, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(result["rod"].omega_bar[-1, 2], theta * T, rtol=ROUNDING, atol=ROUNDING)


def arm_of_balls(law):
    """Two bodies on spherical joints one after the other, both with friction by their reactions, and a hinge behind them."""
    system = mbd.System("arm", gravity=(1.0, -3.0, -9.81))
    places = [(0.4, 0.1, 0.0), (0.9, 0.3, 0.1), (1.3, 0.2, 0.4)]
    bodies = [system.add(mbd.Body(f"b{k}", 1.0 + k, (0.05, 0.06, 0.09), r=r)) for k, r in enumerate(places)]
    first = system.add(SJ("first", system.ground, bodies[0], point=(0, 0, 0)))
    second = system.add(SJ("second", bodies[0], bodies[1], point=(0.7, 0.2, 0.0)))
    system.add(RJ("third", bodies[1], bodies[2], point=(1.1, 0.3, 0.2), axis=(0, 1, 1)))
    system.add(mbd.JointFriction("rub first", first, law, radius=0.05))
    system.add(mbd.JointFriction("rub second", second, law, radius=0.05, preload=3.0))
    return system


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_friction_at_the_start_is_against_the_accelerations(law):
    """The accelerations with exact friction are those of the same law at a speed that is small, and has their direction."""
    system = arm_of_balls(law)
    model = system.compile()
    state = model.state()
    found = mbd.accelerations(model, state)
    speed = 1e-6
    moved = state.replace(v=speed * found.v_dot, omega_bar=speed * found.omega_bar_dot)
    again = mbd.accelerations(model, moved)
    np.testing.assert_allclose(again.v_dot, found.v_dot, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(again.omega_bar_dot, found.omega_bar_dot, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_the_error_of_a_start_at_rest_falls_with_the_square_of_the_step(law):
    model = arm_of_balls(law).compile()
    ends = [mbd.simulate(model, 0.08, h=h).r[-1] for h in (0.01, 0.005, 0.0025)]
    coarse, fine = np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()
    assert fine < coarse / 2**1.8
    assert fine < 1e-6


WEIGHT, MU, T_END = 2.0 * 9.81, 0.3, 0.8
AFTER = 1e-6
"""[s] After the slip the reference begins, with the speed of its expansion: what it leaves out is of its third power."""


def pull(t):
    """A force that grows and turns [N]."""
    return 12.0 * t * np.cos(3.0 * t), 12.0 * t * np.sin(3.0 * t)


@cache
def slip_of_scipy():
    """The instant of slip of a body on a plane, and its state at the end: m v' = F - mu m g v / |v|, by an implicit method of scipy."""
    t = MU * WEIGHT / 12.0
    force, rate = np.array(pull(t)), (np.array(pull(t + 1e-6)) - pull(t - 1e-6)) / 2e-6
    e = force / np.linalg.norm(force)

    def rates(t, y):
        return np.r_[y[2:], (np.array(pull(t)) - MU * WEIGHT * y[2:] / np.hypot(*y[2:])) / MASS]

    start = np.r_[0.0, 0.0, e * (rate @ e) / MASS * AFTER**2 / 2.0]
    return t, solve_ivp(rates, (t + AFTER, T_END), start, method="Radau", rtol=1e-11, atol=1e-15).y[:, -1]


def block_on_a_plane():
    system = mbd.System("block", gravity=(0, 0, -9.81))
    block = system.add(mbd.Body("block", MASS, (0.1, 0.1, 0.1)))
    plane = system.add(Planar("plane", system.ground, block, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointFriction("rub", plane, mbd.Coulomb(MU)))
    force = (lambda t: pull(t)[0], lambda t: pull(t)[1], 0.0)
    system.add(mbd.PointForce("pull", block, point=(0, 0, 0), force=force))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "options", "error"),
    [
        (mbd.DormandPrince(), {"rtol": 1e-9, "atol": 1e-11}, 3e-9),
        (mbd.DOP853(), {"rtol": 1e-11, "atol": 1e-13}, 3e-9),
        (mbd.RK4(), {"h": 1e-3}, 2e-5),
        (mbd.RK4(), {"h": 1e-4}, 2e-7),
    ],
)
def test_a_block_that_slips_turns_with_the_load(method, options, error):
    slip, end = slip_of_scipy()
    result = mbd.simulate(block_on_a_plane(), T_END, integrator=method, **options)
    assert [event.name for event in result.events] == ["rub slips"]
    assert result.events[0].t == pytest.approx(slip, abs=1e-9)
    np.testing.assert_allclose(result["block"].r[-1, :2], end[:2], rtol=0.0, atol=error)
    np.testing.assert_allclose(result["block"].v[-1, :2], end[2:], rtol=0.0, atol=10.0 * error)
    assert len(result.t) < 1000 or "h" in options  # the start is not stiff


def test_joints_begin_to_slide_one_after_the_other():
    """The second joint slips while the first one begins to slide, which it continues to do."""
    model = arm_of_balls(mbd.Coulomb(0.3)).compile()
    fine = mbd.simulate(model, 0.2, rtol=1e-10, atol=1e-12)
    coarse = mbd.simulate(model, 0.2, rtol=1e-7, atol=1e-9)
    assert [e.name for e in coarse.events] == [e.name for e in fine.events]
    np.testing.assert_allclose(coarse.r[-1], fine.r[-1], rtol=0.0, atol=1e-7)
