"""Drivers of joints: the angle through many turns, the joints that each can drive, and where they begin."""

from __future__ import annotations

import numpy as np
import pytest

import joints
from haugmbd import ModelError, System, UsageError, evaluate
from haugmbd.math import euler_parameters
from tests.support.samples import (
    PLAIN,
    ROUNDING,
    carrier_classes,
    drives,
    geometry,
    make_joint,
    model_of,
)


def turned(model, joint, angle):
    """The modelled state with body j (number 2) turned about h of the joint."""
    q = euler_parameters.from_axis_angle(joint.frame_i.A[:, 2], np.float64(angle))
    state, P = model.state(), joint.frame_i.point
    r, p = state.r.copy(), state.p.copy()
    r[2] = P + euler_parameters.rotation_matrix(q) @ (r[2] - P)
    p[2] = euler_parameters.product(q, p[2])
    return state.replace(r=r, p=p)


@pytest.mark.slow
@pytest.mark.parametrize("carrier", carrier_classes()[joints.RotationDriver], ids=lambda cls: cls.__name__)
def test_a_rotation_driver_is_exact_through_ten_turns(carrier, crank, rod, rng):
    joint, _ = make_joint(carrier, "pin", crank, rod, geometry(rng))
    motor = joints.RotationDriver("motor", joint, (lambda t: 20.0 * np.pi * t, lambda t: 20.0 * np.pi, lambda t: 0.0))
    model = model_of(joint, motor)
    (row,) = model.joints["motor"].rows
    for t in np.linspace(0.0, 1.0, 101):
        rows = evaluate(model, turned(model, joint, 20.0 * np.pi * t).replace(t=t))
        assert np.abs(rows.Phi).max() < 20 * ROUNDING  # sin and cos of up to 63 rad
        assert abs(rows.nu[row]) == pytest.approx(20.0 * np.pi, rel=ROUNDING)
        assert np.linalg.norm(rows.PiBar[row, 1]) == pytest.approx(1.0, rel=ROUNDING)


def test_the_angle_counts_body_j_about_h(crank, rod, rng):
    pin = joints.RJ("pin", crank, rod, point=(1, 2, 3), axis=(0, 0, 1))
    motor = joints.RotationDriver("motor", pin, lambda t: t)
    model = model_of(motor)
    assert np.abs(evaluate(model, turned(model, pin, 0.5).replace(t=0.5)).Phi).max() < ROUNDING
    assert np.abs(evaluate(model, turned(model, pin, -0.5).replace(t=0.5)).Phi).max() > 0.8  # sin(1) = 0.84


@pytest.mark.parametrize("cls", [c for c in joints.CATALOGUE if drives(c)], ids=lambda cls: cls.__name__)
def test_a_driver_refuses_what_it_cannot_drive_and_says_what_it_can(cls, crank, rod, rng):
    refused = [other for other in PLAIN if other not in carrier_classes()[cls]]
    assert refused
    for other in refused:
        joint, _ = make_joint(other, "knee", crank, rod, geometry(rng))
        (fault,) = cls("motor", joint, 0.0).faults()
        assert fault.where == "joint 'motor'"
        assert f"{other.__name__}('knee'" in fault.what
        assert all(able.__name__ in fault.remedy for able in carrier_classes()[cls])


@pytest.mark.parametrize("f0", [np.pi, 3.0, -2.0])
def test_a_rotation_driver_that_begins_half_a_turn_off_is_refused(f0, crank, rod):
    pin = joints.RJ("pin", crank, rod, point=(1, 2, 3), axis=(0, 0, 1))

    def compiled(f):
        system = System("motor")
        for part in (crank, rod, pin, joints.RotationDriver("motor", pin, f)):
            system.add(part)
        return system.compile()

    with pytest.raises(ModelError, match=rf"'motor': the driver of Rotation gives {f0:.9g} rad at t = 0 s") as refused:
        compiled(lambda t: f0 + t)
    assert len(refused.value.faults) == 1
    whole_turn = compiled(lambda t: 2.0 * np.pi + t)
    assert np.abs(evaluate(whole_turn, whole_turn.state()).Phi).max() < ROUNDING


def test_a_translation_driver_moves_body_j_along_h(crank, rod):
    slider = joints.TJ("slider", crank, rod, point=(1, 2, 3), axis=(0, 0, 5))
    model = model_of(slider, joints.TranslationDriver("motor", slider, lambda t: 0.3 * t))
    state = model.state()
    r = state.r.copy()
    r[2] += (0, 0, 0.6)
    assert np.abs(evaluate(model, state.replace(t=2.0, r=r)).Phi).max() < ROUNDING


def test_a_driver_needs_a_joint():
    with pytest.raises(UsageError, match="drives a joint, got 'pin'"):
        joints.RotationDriver("motor", "pin", 0.0)


def test_a_driver_of_a_coordinate_says_what_drives_it(crank, rod):
    """A coordinate of a joint with several has a Coupling with f(t) as its driver."""
    universal = joints.UJ("universal", crank, rod, point=(1, 2, 3), axis_i=(0, 0, 1), axis_j=(0, 1, 0))
    angle = universal.coordinate("angle", 2)
    words = r"got the coordinate universal.*Give the joint itself, .*Coupling\('motor', \{coordinate: 1\}, f\)"
    with pytest.raises(UsageError, match=words):
        joints.RotationDriver("motor", angle, 0.0)
    with pytest.raises(UsageError, match="got the coordinate"):
        joints.TranslationDriver("motor", angle, 0.0)
    model = model_of(universal, joints.Coupling("motor", {angle: 1.0}, f=lambda t: 0.3 * t**2))
    assert model.nc == 5
