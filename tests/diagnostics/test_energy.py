"""Energy and momentum against closed forms, and against what the other terms say."""

from __future__ import annotations

import numpy as np
import pytest
import quaternion
from scipy.integrate import simpson

import haugmbd as mbd
from haugmbd.forces.torque import Torque
from haugmbd.forces.tsda import TSDA
from joints import RJ

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
