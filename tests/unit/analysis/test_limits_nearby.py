"""Stiffness and damping beside a limit, a contact, or a force that is not smooth: of the pose itself, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, RollingDisc

G, MASS, LENGTH, J = 9.81, 2.0, 0.7, 0.1
OWN = MASS * G * LENGTH
"""Stiffness of a pendulum that hangs [N m]."""
EXACT = 1e-8
"""Of differences of sixth order."""


def pendulum(*, gap=None, k=1e4):
    """A pendulum that hangs, and a compliant stop that it reaches after `gap` [rad]."""
    system = mbd.System("pendulum", gravity=(0, 0, -G))
    bar = system.add(mbd.Body("bar", MASS, (J, J, J), r=(0, 0, -LENGTH)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    if gap is not None:
        system.add(mbd.JointLimit("stop", pin, lower=-gap, upper=1.0, k=k, c=10.0))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("gap", [1e-1, 3e-3, 2e-3, 1e-3, 3e-4, 1e-5, 1e-6])
def test_a_stop_nearby_does_not_stiffen_a_pose_that_does_not_touch_it(gap):
    found = mbd.linearize(pendulum(gap=gap))
    np.testing.assert_allclose(found.K, [[OWN]], rtol=EXACT)
    np.testing.assert_allclose(found.C, [[0.0]], atol=EXACT * OWN)
    np.testing.assert_allclose(found.omega, np.sqrt(OWN / (J + MASS * LENGTH**2)), rtol=EXACT)
    np.testing.assert_allclose(mbd.equilibrium(pendulum(gap=gap)).stiffness, [OWN], rtol=EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("deep", [1e-2, 2e-3, 1e-4, 1e-6])
def test_a_pose_that_lies_on_a_stop_has_its_stiffness_however_little_it_is_pressed(deep):
    """The balance of k (angle) on the stop and a torque that presses with k deep."""
    system = pendulum(gap=0.0, k=1e4)
    pin = system.joints[0]
    system.add(mbd.JointForce("press", [pin], lambda t, q, qd: -1e4 * deep))
    found = mbd.equilibrium(system)
    total = 1e4 + OWN * np.cos(deep)
    np.testing.assert_allclose(found.stiffness, [total], rtol=1e-6)
    np.testing.assert_allclose(mbd.linearize(found).K, [[total]], rtol=1e-6)


def test_a_pose_at_the_edge_of_a_stop_is_refused_and_not_given_half_of_its_stiffness():
    with pytest.raises(mbd.UsageError, match="not smooth in the motion of the bodies .*kink.* no linearization"):
        mbd.linearize(pendulum(gap=0.0))
    with pytest.raises(mbd.SimulationError, match="in balance at the pose.*kink.*no stiffness") as error:
        mbd.equilibrium(pendulum(gap=0.0))
    np.testing.assert_allclose(error.value.result.r[1], (0, 0, -LENGTH), atol=1e-12)


def test_a_force_that_jumps_at_rest_has_no_damping():
    """Dry friction as sign(v): differences of every step show another slope."""
    system = pendulum()
    system.add(mbd.JointForce("dry", [system.joints[0]], lambda t, q, qd: -0.1 * np.sign(qd[0])))
    with pytest.raises(mbd.UsageError, match="not smooth in the motion of the bodies .*jump"):
        mbd.linearize(system)


@pytest.mark.slow
@pytest.mark.parametrize("v_0", [1e-1, 1e-3, 1e-5])
def test_damping_is_the_slope_at_rest_of_a_force_that_saturates(v_0):
    system = pendulum()
    system.add(mbd.JointForce("smooth", [system.joints[0]], lambda t, q, qd: -0.1 * np.tanh(qd[0] / v_0)))
    np.testing.assert_allclose(mbd.linearize(system).C, [[0.1 / v_0]], rtol=1e-4)


def test_drag_that_grows_with_the_square_of_the_speed_does_not_damp_small_motions():
    system = pendulum()
    system.add(mbd.JointForce("drag", [system.joints[0]], lambda t, q, qd: -5.0 * qd[0] * np.abs(qd[0])))
    found = mbd.linearize(system)
    assert np.abs(found.C).max() <= 1e-6
    np.testing.assert_allclose(found.omega, np.sqrt(OWN / (J + MASS * LENGTH**2)), rtol=EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [3e-3, 3e-4, 1e-6])
def test_a_stop_beside_a_rolling_disc_does_not_stiffen_it(gap):
    """A disc on a rail with a spring of 3 N/m that ends `gap` before a stop: its bodies roll, which are velocity rows."""
    system = mbd.System("disc", gravity=(0, 0, -G))
    carrier = system.add(mbd.Body("carrier", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.2)))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.01, 0.02, 0.01), r=(0, 0, 0.2)))
    rail = system.add(TJ("rail", system.ground, carrier, point=(0, 0, 0.2), axis=(1, 0, 0)))
    system.add(RJ("axle", carrier, wheel, point=(0, 0, 0.2), axis=(0, 1, 0)))
    system.add(mbd.JointSpring("spring", rail, k=3.0))
    system.add(mbd.JointLimit("stop", rail, lower=-gap, upper=1.0, k=1e4))
    system.add(RollingDisc("rolls", wheel, center=(0, 0, 0.2), radius=0.2, axis=(0, 1, 0)))
    moving = [mode.eigenvalue for mode in mbd.linearize(system).modes if abs(mode.eigenvalue) > 1e-6]
    np.testing.assert_allclose(np.abs(moving), np.sqrt(3.0 / (2.0 + 0.02 / 0.2**2)), rtol=EXACT)
