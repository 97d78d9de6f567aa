"""The angle of an RSDA counts turns: exactly, and from the state alone."""

import numpy as np
import pytest

from haugmbd import RSDA, Body, System, UsageError
from haugmbd.formulations.accelerations import accelerate_entry
from haugmbd.formulations.newton_euler import put_rates
from haugmbd.math import euler_parameters
from joints import RJ, SJ


def flywheel():
    system = System("flywheel")
    wheel = system.add(Body("wheel", 1.0, (0.1, 0.1, 0.2)))
    shaft = system.add(RJ("shaft", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    return system, wheel, shaft


@pytest.mark.slow
@pytest.mark.parametrize("turns", [5.3, -5.3, 0.49, 0.51, 1000.2])
@pytest.mark.parametrize("drift", [0.0, 1.0, -2.5])
def test_the_angle_is_exact_however_the_integrated_one_drifts(forces, turns, drift):
    """`drift` [rad] stands for the error of the integrated angle: less than half a turn does nothing."""
    system, _, shaft = flywheel()
    system.add(RSDA("spring", shaft, k=2.0))
    model = system.compile()
    y = model.y0.copy()
    angle = 2.0 * np.pi * turns
    y[13 + 3 : 13 + 7] = euler_parameters.from_axis_angle([0, 0, 1], angle)
    y[-1] = angle + drift
    Q = forces(model, 0.0, y)
    assert Q[1, 5] == pytest.approx(-2.0 * angle, rel=1e-14, abs=1e-14)  # rounding of cosine and arc tangent


def test_the_modelled_angle_is_zero_for_a_joint_made_there():
    system, _, shaft = flywheel()
    system.add(RSDA("spring", shaft, k=2.0))
    model = system.compile()
    assert model.y0.shape == (2 * 13 + 1,)
    assert model.y0[-1] == 0.0


def test_the_integrated_angle_starts_with_the_measured_one():
    system = System("turned")
    p = euler_parameters.from_axis_angle([0, 0, 1], 0.7)
    wheel = system.add(Body("wheel", 1.0, (0.1, 0.1, 0.2), p=p))
    x, y, z, zero = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)
    shaft = system.add(RJ.from_vectors("shaft", system.ground, zero, x, y, wheel, zero, z))
    load = system.add(RSDA("spring", shaft, k=2.0))
    frames = system.ground.A @ shaft.frame_i.f, wheel.A @ shaft.frame_j.f
    measured = np.arctan2(np.cross(*frames)[2], np.dot(*frames))
    model = system.compile()
    assert model.y0[-1] == pytest.approx(measured, abs=1e-15)
    assert load.angle0() == model.y0[-1]


@pytest.mark.slow
def test_the_rate_of_the_integrated_angle(rig, random_state):
    rig.system.add(RSDA("spring", rig.hinge, k=2.0))
    model = rig.system.compile()
    pack, y = model.pack(), random_state(model)
    y[: 13 * 3] = model.y0[: 13 * 3]
    y[13 + 10 : 13 + 13], y[26 + 10 : 26 + 13] = (0.1, 0.2, 0.3), (-0.4, 0.5, 0.6)
    assert accelerate_entry(pack, 0.0, y) == 0
    y_dot = np.zeros_like(y)
    put_rates(pack, 0.0, y, y_dot)
    h = rig.a.A @ rig.hinge.frame_i.h
    expected = h @ (rig.b.A @ (-0.4, 0.5, 0.6) - rig.a.A @ (0.1, 0.2, 0.3))
    assert y_dot[-1] == pytest.approx(expected, abs=1e-14)


def test_a_joint_without_one_axis_is_a_fault(rig):
    ball = SJ("ball", rig.a, rig.b, point=(0, 0, 0))
    (fault,) = RSDA("spring", ball, k=1.0).faults()
    assert "'ball' (SJ) does not turn about one axis" in str(fault)
    with pytest.raises(UsageError, match="RSDA 'spring' needs a joint, got 'ball'"):
        RSDA("spring", "ball", k=1.0)
