"""Drivers over time: torque against the reaction, power against the energy, closed forms, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, slider_crank
from joints import RJ, TJ, Distance, RotationDriver, TranslationDriver

EXACT = 1e-12


def test_torque_power_and_work_of_a_crank():
    result = mbd.simulate(slider_crank(driven=True), 0.7, h=1e-3)
    drive = result.driver("drive")
    np.testing.assert_allclose(drive.value, 2.0 * np.pi * result.t, rtol=0.0, atol=EXACT * 10)
    np.testing.assert_allclose(drive.torque, result.reaction("drive", frame="joint").torque[:, 2], rtol=0.0, atol=EXACT)
    np.testing.assert_array_equal(drive.power, drive.torque * drive.rate)
    energy = result.energy()
    np.testing.assert_allclose(drive.work, energy.applied_work, rtol=0.0, atol=EXACT)  # the only work that is done
    np.testing.assert_allclose(drive.work, energy.kinetic + energy.potential - energy.total[0], rtol=0.0, atol=1e-8)  # RK4's error
    assert drive.unique


def lifted(make):
    """A mass of 2 kg on a vertical guide."""
    system = mbd.System("lift", gravity=(0, 0, -9.81))
    mass = system.add(mbd.Body("mass", 2.0, (1, 1, 1), r=(0, 0, 1.0)))
    guide = system.add(TJ("guide", system.ground, mass, point=(0, 0, 1.0), axis=(0, 0, 1)))
    system.add(make(system, mass, guide))
    return system


def lift(t):
    return 0.3 * t * t


def long(t):
    return 1.0 + 0.3 * t * t


@pytest.mark.parametrize(
    "make",
    [
        lambda system, mass, guide: TranslationDriver("drive", guide, lift),
        lambda system, mass, guide: Distance("drive", system.ground, mass, point_i=(0, 0, 0), point_j=(0, 0, 1.0), distance=long),
    ],
)
def test_a_lifted_mass_needs_its_weight_and_its_inertia(make):
    result = mbd.simulate(lifted(make), 0.5, h=1e-2)
    drive = result.driver("drive")
    np.testing.assert_allclose(drive.force, 2.0 * (9.81 + 0.6), rtol=EXACT * 10)
    np.testing.assert_allclose(drive.rate, 0.6 * result.t, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(drive.power, drive.force * drive.rate, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(drive.work, 2.0 * (9.81 + 0.6) * 0.3 * result.t**2, rtol=0.0, atol=EXACT * 10)
    with pytest.raises(mbd.UsageError, match=r"driver 'drive' has no torque: it has \.force"):
        _ = drive.torque


def test_a_driver_that_holds_does_no_work():
    result = mbd.simulate(lifted(lambda system, mass, guide: TranslationDriver("hold", guide, 0.0)), 0.1, h=1e-2)
    np.testing.assert_allclose(result.driver("hold").force, 2.0 * 9.81, rtol=EXACT * 10)
    assert not result.driver("hold").work.any()


def test_two_drivers_of_one_joint_share_their_load():
    system = mbd.System("twice")
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.2, 0.2), r=(0.3, 0, 0)))
    pin = system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, 1, 0)))
    for name in ("one", "two"):
        system.add(RotationDriver(name, pin, lambda t: 2.0 * t))
    result = mbd.simulate(system, 0.1, h=1e-2, redundancy=mbd.MinimumNorm(), project_velocity=True)
    one, two = result.driver("one"), result.driver("two")
    assert not one.unique
    assert not two.unique
    np.testing.assert_allclose(one.torque, two.torque, rtol=0.0, atol=1e-9)  # least norm: equal parts
    assert not result.reaction("one", frame="joint").unique[5]
    assert all(result.reaction("pin").unique)


def test_wrong_names():
    result = mbd.simulate(slider_crank(driven=True), 0.01, h=1e-3)
    with pytest.raises(mbd.UsageError, match=r"no driver is called 'drve'; the drivers are 'drive' \(did you mean 'drive'"):
        result.driver("drve")
    with pytest.raises(mbd.UsageError, match=r"no driver is called 'R'.*result\.joint\('R'\) has it"):
        result.driver("R")
    with pytest.raises(mbd.UsageError, match="no driver is called 'A'; there are no drivers"):
        mbd.simulate(four_bar(), 0.01, h=1e-3).driver("A")
