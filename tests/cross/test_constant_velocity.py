"""Constant-velocity joints: equal rates at every bend, against a universal joint and against two of them in series."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, UJ, ConstantVelocity, RotationDriver

SAME = 1e-10
"""Difference of angles [rad] and rates [rad/s] that are equal in theory; positions are kept to about 1e-12."""


def shafts(kind, bend, *, speed=None):
    """Two shafts in bearings, bent by an angle, joined at the origin; the first one driven or free."""
    system = mbd.System("shafts")
    out = np.array([np.cos(bend), np.sin(bend), 0.0])
    first = system.add(mbd.Body("first", 1.0, (0.02, 0.1, 0.1), r=(-0.5, 0, 0)))
    second = system.add(mbd.Body("second", 1.0, (0.07, 0.07, 0.07), r=0.5 * out))
    axle = system.add(RJ("axle", system.ground, first, point=(-0.5, 0, 0), axis=(1, 0, 0)))
    system.add(CJ("bearing", system.ground, second, point=0.5 * out, axis=out))
    if kind is UJ:
        system.add(UJ("joint", first, second, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=np.cross((0, 0, 1), out)))
    else:
        system.add(ConstantVelocity("joint", first, second, point=(0, 0, 0), axis_i=(1, 0, 0), axis_j=out))
    if speed is not None:
        system.add(RotationDriver("drive", axle, lambda t: speed * t))
    return system, out


@pytest.mark.slow
@pytest.mark.parametrize("bend", [0.0, 0.3, 0.8])
def test_both_shafts_turn_at_the_same_rate_at_every_bend(bend):
    system, out = shafts(ConstantVelocity, bend, speed=5.0)
    result = mbd.kinematics(system, np.linspace(0.0, 2.0, 41))
    np.testing.assert_allclose(result["second"].omega @ out, 5.0, atol=SAME)
    np.testing.assert_allclose(result["second"].omega_dot, 0.0, atol=1e2 * SAME)


def test_a_universal_joint_does_not():
    system, out = shafts(UJ, 0.8, speed=5.0)
    rates = mbd.kinematics(system, np.linspace(0.0, 2.0, 81))["second"].omega @ out
    assert rates.min() == pytest.approx(5.0 * np.cos(0.8), rel=1e-2)
    assert rates.max() == pytest.approx(5.0 / np.cos(0.8), rel=1e-2)


def test_a_free_pair_of_shafts_moves_as_one_inertia_and_the_moment_is_along_the_bisector():
    system, out = shafts(ConstantVelocity, 0.6)
    system.add(mbd.Torque("drive", system.bodies[1], torque=(0.3, 0, 0)))
    found = mbd.accelerations(system.compile())
    assert found.omega_bar_dot[1, 0] == pytest.approx(0.3 / (0.02 + 0.07), rel=1e-9)
    result = mbd.simulate(system, 1.0, h=1e-3)
    reaction = result.reaction("joint", on="second")
    axes = result["first"].A[:, :, 0], result["second"].A @ (result["second"].A[0].T @ out)
    bisector = axes[0] + axes[1]
    moment = reaction.torque
    assert np.abs(moment).max() > 0.05
    np.testing.assert_allclose(np.cross(moment, bisector), 0.0, atol=1e-8)
    assert abs(result.energy().drift).max() < 1e-8


def test_shafts_that_swing_freely_never_twist():
    """The first shaft is held; the second one swings in both directions, and its turn from the first has no part about the first axis."""
    system = mbd.System("swing", gravity=(0, 0, -9.81))
    held = system.add(mbd.Body("held", 1.0, (0.1, 0.1, 0.1)))
    system.add(RJ("bearing", system.ground, held, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("stiff", system.joints[0], k=0.0, c=0.0))
    swing = system.add(mbd.Body("swing", 1.0, (0.05, 0.06, 0.03), r=(0, 0, -0.4), v=(0.5, 0.3, 0)))
    joint = system.add(ConstantVelocity("joint", held, swing, point=(0, 0, 0), axis_i=(0, 0, -1), axis_j=(0, 0, -1)))
    result = mbd.simulate(system, 1.0, h=1e-3, project_velocity=True)
    p, q = result["held"].p, result["swing"].p
    e3 = p[:, 0] * q[:, 3] - p[:, 3] * q[:, 0] - p[:, 1] * q[:, 2] + p[:, 2] * q[:, 1]  # of conj(p) q
    np.testing.assert_allclose(e3, 0.0, atol=SAME)
    assert joint.rows == 4


def test_axes_that_point_against_each_other_are_refused():
    system, _ = shafts(ConstantVelocity, 0.2)
    i, j = system.bodies[1:3]
    system.add(ConstantVelocity("other", i, j, point=(0, 0, 0), axis_i=(1, 0, 0), axis_j=(-np.cos(0.1745), np.sin(0.1745), 0)))
    with pytest.raises(mbd.ModelError, match="bent by 170 degrees"):
        system.compile()
