"""Energy and momentum against closed forms, and against what the other terms say."""

from __future__ import annotations

import numpy as np
import pytest
import quaternion
from scipy.integrate import simpson

import haugmbd as mbd
from haugmbd import TSDA, Torque
from haugmbd.diagnostics.work import AT_CONTACT, integral, times_between
from haugmbd.gallery import slider_crank
from joints import CJ, RJ, SJ

M, L, J = 78.0, 2.0, 104.01625
G = 9.81


def pendulum(*loads):
    system = mbd.System("pendulum", gravity=(0.0, 0.0, -G))
    link = system.add(mbd.Body("link", mass=M, J_bar=(0.0325, J, J), r=(L, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    for make in loads:
        system.add(make(system.ground, link))
    return system


def test_pendulum_against_its_closed_form():
    result = mbd.simulate(pendulum(), 2.0, h=1e-3)
    e, rate = result.energy(), result["link"].omega_bar[:, 1]
    np.testing.assert_allclose(e.kinetic, 0.5 * (J + M * L**2) * rate**2, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(e.potential, M * G * result["link"].r[:, 2], rtol=1e-12, atol=1e-10)
    assert not e.applied_work.any()
    assert not e.dissipated_work.any()
    assert np.abs(e.drift).max() <= 1e-9 * e.kinetic.max()  # RK4 at h = 1e-3: (h omega)^4 t omega is about 1e-11


def test_they_print_what_they_have_and_no_arrays():
    result = mbd.simulate(pendulum(), 0.1, h=1e-2)
    drift = f"{abs(result.energy().drift).max():.2g}"
    assert str(result.energy()) == (
        f"Energy: kinetic, potential, applied_work, dissipated_work, total, drift (up to {drift} J), 11 states"
    )
    assert str(result.momentum()) == "Momentum: linear, angular, 11 states"


def test_damper_and_spring():
    """What is lost is the integral of c l'^2, by Simpson's rule here."""
    k, c, l0 = 300.0, 40.0, 1.0
    anchor = np.array([0.0, 0.0, 3.0])
    spring = lambda g, b: TSDA("s", g, b, point_i=anchor, point_j=(L, 0, 0), k=k, c=c, l0=l0)  # noqa: E731
    result = mbd.simulate(pendulum(spring), 2.0, h=1e-3)
    e, d = result.energy(), result["link"].r - anchor
    length = np.linalg.norm(d, axis=1)
    rate = np.sum(d * result["link"].v, axis=1) / length
    np.testing.assert_allclose(e.potential, M * G * result["link"].r[:, 2] + 0.5 * k * (length - l0) ** 2, rtol=1e-12, atol=1e-9)
    assert e.dissipated_work[-1] == pytest.approx(simpson(c * rate**2, x=result.t), rel=1e-8)
    assert e.dissipated_work[-1] > 10.0
    assert np.abs(e.drift).max() <= 1e-8 * e.kinetic.max()


def test_work_of_a_torque_is_torque_times_angle():
    result = mbd.simulate(pendulum(lambda g, b: Torque("m", b, torque=(0.0, 50.0, 0.0))), 1.0, h=1e-3)
    e, p = result.energy(), result["link"].p
    angle = 2.0 * np.unwrap(np.arctan2(p[:, 2], p[:, 0]), period=np.pi)
    np.testing.assert_allclose(e.applied_work, 50.0 * angle, atol=1e-8)
    assert np.abs(e.drift).max() <= 1e-9 * e.kinetic.max()


def test_work_of_a_driven_row(driven, chain):
    """The drive's work is its torque times 2 pi, and it accounts for all that kinetic and potential energy gain."""
    e = driven.energy()
    power = driven.reaction("drive", frame="joint").torque[:, 2] * 2.0 * np.pi
    assert e.applied_work[-1] == pytest.approx(simpson(power, x=driven.t), abs=1e-9)
    assert e.applied_work.min() < -0.1
    assert np.abs(e.drift).max() <= 1e-9
    assert np.abs(chain.energy().drift).max() <= 1e-7 * chain.energy().kinetic.max()


def test_gauss_takes_polynomials_of_degree_five():
    t = np.array([0.0, 0.3, 1.0, 1.1])
    for degree in range(6):
        np.testing.assert_allclose(
            integral(t, times_between(t) ** degree), t ** (degree + 1) / (degree + 1), rtol=1e-14, atol=1e-16
        )
    assert abs(integral(t, times_between(t) ** 6)[-1] - t[-1] ** 7 / 7.0) > 1e-6


def test_the_graded_rule_integrates_powers_that_begin_or_end_like_those_of_a_contact():
    """(t - a)^(3/2) and (b - t)^(3/2) to 1e-10 in one interval, where three points of Gauss leave 1e-4; and polynomials."""
    t, rounding = np.array([0.3, 1.1]), 1e-13
    exact = 0.4 * (t[1] - t[0]) ** 2.5
    for power in (lambda x: (x - t[0]) ** 1.5, lambda x: (t[1] - x) ** 1.5):
        assert integral(t, power(times_between(t, AT_CONTACT)), AT_CONTACT)[-1] == pytest.approx(exact, abs=1e-9)  # seen 2e-11
        assert abs(integral(t, power(times_between(t)))[-1] - exact) > 1e-5
    for degree in range(5):
        found = integral(t, times_between(t, AT_CONTACT) ** degree, AT_CONTACT)[-1]
        assert found == pytest.approx((t[1] ** (degree + 1) - t[0] ** (degree + 1)) / (degree + 1), abs=rounding)
    assert integral(t[:1], np.zeros(0)).tolist() == [0.0]


@pytest.mark.slow
@pytest.mark.parametrize("every", [20, 40, 80])
def test_work_between_few_stored_states(every):
    """A drive and a motor with a brake, 12 to 50 states a turn: the work of every state, and nothing else is lost."""
    driven = mbd.simulate(slider_crank(driven=True), 2.0, h=1e-3, store_every=every)
    all_states = mbd.simulate(slider_crank(driven=True), 2.0, h=1e-3)
    wrong = 2e-9 * (every / 20) ** 6.5 + 1e-12  # of order six, and at last a little more
    assert np.abs(driven.energy().applied_work - all_states.energy().applied_work[::every]).max() < wrong
    brake = lambda g, b: TSDA("s", g, b, point_i=(0, 0, 3), point_j=(L, 0, 0), k=0.0, c=40.0, actuator=lambda t: 90 * np.sin(9 * t))  # noqa: E731
    few, many = (mbd.simulate(pendulum(brake), 2.0, h=1e-3, store_every=n).energy() for n in (every, 1))
    for a, b in ((few.applied_work, many.applied_work), (few.dissipated_work, many.dissipated_work)):
        assert np.abs(a - b[::every]).max() < 1e4 * wrong  # of hundreds of joules


def test_work_at_a_singular_position_that_is_stored():
    """A parallelogram with a brake that turns evenly through the pose with all bars in line, where its rows give no accelerations."""
    rate, c, axis, start = -2.0, 0.7, (0.0, 0.0, 1.0), np.array([np.cos(1.0), np.sin(1.0), 0.0])
    points = [np.zeros(3), start, start + (2, 0, 0), np.array((2.0, 0.0, 0.0))]
    system = mbd.System("parallelogram", gravity=(0, -9.81, 0))
    bars = [system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.2, 0.25), r=(points[k] + points[k + 1]) / 2)) for k in range(3)]
    pin = system.add(RJ("A", system.ground, bars[0], point=points[0], axis=axis))
    system.add(RJ("B", bars[0], bars[1], point=points[1], axis=axis))
    system.add(SJ("C", bars[1], bars[2], point=points[2]))
    system.add(CJ("D", bars[2], system.ground, point=points[3], axis=axis))
    system.add(mbd.RSDA("brake", pin, c=c))
    model, states = system.compile(), []
    for t in (t_end := np.linspace(0.0, 1.0, 5)):
        angle = 1.0 + rate * t
        e = np.array([np.cos(angle), np.sin(angle), 0.0])
        v = rate * np.array([-e[1], e[0], 0.0])
        turned, still = (np.cos(rate * t / 2), 0.0, 0.0, np.sin(rate * t / 2)), (1.0, 0.0, 0.0, 0.0)
        y = model.state().replace(
            r=[np.zeros(3), e / 2, e + (1, 0, 0), e / 2 + (2, 0, 0)],
            p=[still, turned, still, turned],
            v=[np.zeros(3), v / 2, v, v / 2],
            omega_bar=[(0, 0, 0), (0, 0, rate), (0, 0, 0), (0, 0, rate)],
        )
        states.append(y.replace(angles=model.state().angles + rate * t).y)
    result = mbd.Result(model, t_end, np.array(states))
    with pytest.raises(mbd.SingularKKTError):
        result.v_dot  # noqa: B018
    np.testing.assert_allclose(result.energy().dissipated_work, c * rate**2 * t_end, rtol=1e-12)


def test_a_free_body_keeps_its_momentum():
    system = mbd.System("free", gravity=(0.0, 0.0, 0.0))
    J_bar = np.diag([0.1, 0.2, 0.25])
    system.add(mbd.Body("top", mass=2.0, J_bar=J_bar, r=(1, 2, 3), v=(0.3, -0.2, 0.1), omega_bar=(0.1, 9.0, 0.2)))
    result = mbd.simulate(system, 2.0, h=1e-3)
    momentum, top = result.momentum(), result["top"]
    A = quaternion.as_rotation_matrix(top.quaternion)
    angular = np.cross(top.r, 2.0 * top.v) + np.einsum("tij,tj->ti", A, top.omega_bar @ J_bar)
    np.testing.assert_allclose(momentum.linear, 2.0 * top.v, atol=1e-15)
    np.testing.assert_allclose(momentum.angular, angular, atol=1e-13)
    np.testing.assert_allclose(momentum.linear - momentum.linear[0], 0.0, atol=1e-14)
    np.testing.assert_allclose(momentum.angular - momentum.angular[0], 0.0, atol=1e-9)  # RK4: (h omega)^4 t omega / 120


def test_forces_change_the_momentum(chain):
    """P' = weights + reaction of the ground: integrated, in both directions of time."""
    from_ground = chain.reaction("rj", on="i").force
    total = chain.model.mass.sum() * np.array([1.0, -2.0, -9.0]) + from_ground
    change = chain.momentum().linear[-1] - chain.momentum().linear[0]
    np.testing.assert_allclose(simpson(total, x=chain.t, axis=0), change, atol=1e-5 * np.abs(total).max())
