"""Coordinates of joints over time: closed forms, differences, turns, and what a joint does not have."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, heavy_top
from joints import CJ, RJ, SJ, TJ, UJ, Planar, PointOnLine, RevoluteSpherical, RotationDriver

EXACT = 1e-12
DIFFERENCES = 1e-4  # of h^2 / 6 times the third derivative, and of rounding over h^2

AXIS = np.array([2.0, 1.0, 2.0]) / 3.0
FREE = {
    "CJ": (lambda i, j: CJ("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS), ("displacement", "angle")),
    "RJ": (lambda i, j: RJ("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS), ("angle",)),
    "TJ": (lambda i, j: TJ("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS), ("displacement",)),
    "UJ": (lambda i, j: UJ("joint", i, j, point=(0.2, 0.1, 0.0), axis_i=AXIS, axis_j=(1.0, -2.0, 0.0)), ("angle", "angle")),
    "Planar": (lambda i, j: Planar("joint", i, j, point=(0.2, 0.1, 0.0), normal=AXIS), ("displacement", "displacement", "angle")),
}


def two_bodies(make):
    """A body that spins on an axis of the ground, and one that hangs on it by the joint."""
    system = mbd.System("two", gravity=(0.3, -0.2, -9.81))
    first = system.add(mbd.Body("first", 2.0, (0.2, 0.3, 0.4), r=(0.1, 0.0, 0.0), omega_bar=(0.0, 0.0, 2.0)))
    second = system.add(mbd.Body("second", 1.0, (0.1, 0.12, 0.15), r=(0.4, 0.3, 0.1)))
    system.add(RJ("axle", system.ground, first, point=(0.1, 0.0, 0.0), axis=(0, 0, 1)))
    joint = system.add(make(first, second))
    return system, joint


@pytest.mark.parametrize("kind", FREE)
def test_rates_and_accelerations_are_the_derivatives(kind):
    make, names = FREE[kind]
    system, _ = two_bodies(make)
    start = mbd.assemble(system).model
    result = mbd.simulate(start, 0.4, h=1e-3)
    found = result.joint("joint")
    assert found.coordinates == names
    columns = [c for name in dict.fromkeys(names) for c in np.atleast_2d(getattr(found, name).T)]
    for k, value in enumerate(columns):
        rate = np.atleast_2d(found.rate.T)[k]
        assert abs(value[0]) < EXACT  # zero as modelled
        np.testing.assert_allclose(
            np.gradient(value, result.t)[1:-1], rate[1:-1], rtol=0.0, atol=DIFFERENCES * max(1.0, abs(rate).max()) * 10
        )
        slope = np.gradient(rate, result.t)[1:-1]
        acceleration = np.atleast_2d(found.acceleration.T)[k]
        np.testing.assert_allclose(slope, acceleration[1:-1], rtol=0.0, atol=DIFFERENCES * max(1.0, abs(acceleration).max()))


def test_ten_turns_of_a_driven_crank():
    system = mbd.System("crank")
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.2, 0.2), r=(0.1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("drive", pin, lambda t: 20.0 * np.pi * t**2))
    found = mbd.kinematics(system, np.linspace(0.0, 1.0, 101)).joint("pin")
    np.testing.assert_allclose(found.angle, 20.0 * np.pi * found.t**2, rtol=0.0, atol=EXACT * 100)
    np.testing.assert_allclose(found.rate, 40.0 * np.pi * found.t, rtol=0.0, atol=EXACT * 1e3)
    np.testing.assert_allclose(found.acceleration, 40.0 * np.pi, rtol=1e-10)


def test_turns_that_were_not_seen_are_refused():
    system = mbd.System("rotor")
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 5.0)))
    system.add(mbd.Torque("brake", rotor, torque=lambda t: (0.0, 0.0, -2.0 * np.sin(40.0 * t))))
    system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    result = mbd.simulate(system, 4.0, h=2e-3)
    assert result.joint("pin").angle[-1] > 6.0 * np.pi
    with pytest.raises(mbd.UsageError, match=r"joint 'pin': between t = .* turns by about .* rad, too far .* Store more states"):
        mbd.simulate(system, 4.0, h=2e-3, t_eval=[0.0, 1.9, 4.0]).joint("pin")


def test_hookes_joint_against_its_closed_form():
    """Input about x by u, output shaft inclined by beta: tan(output) = tan(input) / cos(beta)."""
    beta = 0.5
    system = mbd.System("hooke")
    shafts = [
        system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=r))
        for name, r in (("in", (-0.5, 0, 0)), ("out", 0.5 * np.array([np.cos(beta), np.sin(beta), 0])))
    ]
    first = system.add(RJ("in pin", system.ground, shafts[0], point=(-1, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("out pin", system.ground, shafts[1], point=(np.cos(beta), np.sin(beta), 0), axis=(np.cos(beta), np.sin(beta), 0)))
    system.add(UJ("cross", *shafts, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(-np.sin(beta), np.cos(beta), 0)))
    system.add(RotationDriver("drive", first, lambda t: 2.0 * np.pi * t))
    result = mbd.kinematics(system, np.linspace(0.0, 2.0, 81))
    u, v = result.joint("in pin").angle, result.joint("out pin").angle
    np.testing.assert_allclose(u, 2.0 * np.pi * result.t, rtol=0.0, atol=EXACT * 10)
    np.testing.assert_allclose(np.sin(v) * np.cos(u), np.cos(v) * np.sin(u) * np.cos(beta), rtol=0.0, atol=EXACT * 10)
    assert v[-1] == pytest.approx(4.0 * np.pi, abs=EXACT * 100)


def test_spherical_joints_have_a_rotation_vector():
    result = mbd.simulate(heavy_top(), 0.02, rtol=1e-12, atol=1e-12, t_eval=np.linspace(0.0, 0.02, 201))
    (name,) = result.model.joints
    found = result.joint(name)
    assert found.coordinates == ("rotation",)
    assert abs(found.rotation[0]).max() < EXACT
    np.testing.assert_allclose(found.rate[0], result.omega_bar[0, 1], atol=1e-10)  # of a body that starts in the ground's axes
    np.testing.assert_allclose(
        np.gradient(found.rate, found.t, axis=0)[1:-1], found.acceleration[1:-1], atol=1e-3 * abs(found.acceleration).max()
    )


def test_a_mixed_joint_has_both():
    system, _ = two_bodies(lambda i, j: PointOnLine("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS))
    found = mbd.simulate(mbd.assemble(system).model, 0.1, h=1e-3).joint("joint")
    assert found.coordinates == ("displacement", "rotation")
    assert found.displacement.shape == (101,)
    assert found.rotation.shape == (101, 3)
    assert found.rate.shape == (101, 4)


def test_what_a_joint_does_not_have():
    result = mbd.simulate(four_bar(), 0.01, h=1e-3)
    with pytest.raises(mbd.UsageError, match="no joint is called 'Z'; the joints are 'A'"):
        result.joint("Z")
    with pytest.raises(mbd.UsageError, match=r"joint 'A' has no displacement: it has \.angle"):
        _ = result.joint("A").displacement
    system, _ = two_bodies(lambda i, j: SJ("joint", i, j, point=(0.2, 0.1, 0.0)))
    system.add(
        RevoluteSpherical("arm", system.ground, system["second"], point_i=(0.0, 0.0, 0.0), axis=(0, 0, 1), point_j=(0.4, 0.3, 0.1))
    )
    model = mbd.assemble(system).model
    with pytest.raises(mbd.UsageError, match="joint 'arm' .* has no coordinates"):
        mbd.simulate(model, 0.01, h=1e-3).joint("arm")
    assert not result.joint("A").angle.flags.writeable
