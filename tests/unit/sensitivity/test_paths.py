"""Paths of a System: a number of any part is a parameter, as the argument of the function that builds it is."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import Gear
from tests.support.designs import pendulum, worst
from tests.unit.sensitivity.test_events import caught
from tests.unit.sensitivity.test_sensitivity import controlled, geared, rolling

EXACT = 1e-8
ANGLE = ["joint.pin.angle", "joint.pin.rate"]


def test_gains_of_blocks_and_ratios_of_gears_are_paths():
    by_build = mbd.sensitivity(controlled, {"kp": 3.0, "kd": 0.4, "k": 1.0}, ANGLE, t_end=0.05, h=5e-3).jacobian[:, :2]
    by_path = mbd.sensitivity(controlled(3.0, 0.4, 1.0), {"pid.kp": 3.0, "pid.kd": 0.4}, ANGLE, t_end=0.05, h=5e-3).jacobian
    assert worst(by_path, by_build) < EXACT
    speed = ["body.first.omega[2]"]
    by_build = mbd.sensitivity(geared, {"ratio": 2.0, "m": 1.2}, speed, t_end=0.05, h=5e-3).jacobian[:, :1]
    assert worst(mbd.sensitivity(geared(2.0, 1.2), {"gear.ratio": 2.0}, speed, t_end=0.05, h=5e-3).jacobian, by_build) < EXACT


def test_places_and_rates_of_bodies_and_radii_are_paths():
    p = {"disc.r[2]": 0.5, "roll.radius": 0.5, "roll.center[2]": 0.5, "disc.v[0]": 1.0, "disc.omega_bar[1]": 2.0}
    outputs = ["body.disc.omega[1]", "body.disc.r[2]", "body.disc.r[0]"]
    S = mbd.sensitivity(rolling(0.5, 1.0), p, outputs, t_end=0.05, h=5e-3)
    by_build = mbd.sensitivity(rolling, {"radius": 0.5, "speed": 1.0}, outputs, t_end=0.05, h=5e-3)
    # radius moves three of them, and the spin speed / radius; speed moves v and the spin
    chain = np.array([[1.0, 1.0, 1.0, 0.0, -1.0 / 0.25], [0.0, 0.0, 0.0, 1.0, 1.0 / 0.5]])
    assert worst(S.jacobian @ chain.T, by_build.jacobian) < EXACT


def test_a_product_of_inertia_is_one_number():
    def turning(J_xy):
        J = [[0.1, J_xy, 0.0], [J_xy, 0.15, 0.0], [0.0, 0.0, 0.2]]
        system = mbd.System("turning")
        system.add(mbd.Body("body", 1.0, J, omega_bar=(1.0, 2.0, 0.5)))
        return system

    outputs = ["body.body.omega[0]", "body.body.omega[2]"]
    by_build = mbd.sensitivity(turning, {"J_xy": 0.0}, outputs, t_end=0.3, h=1e-2)
    by_path = mbd.sensitivity(turning(0.0), {"body.J_bar[0,1]": 0.0}, outputs, t_end=0.3, h=1e-2)
    also = mbd.sensitivity(
        turning(0.0), {"body.J_bar[0,1]": 0.0, "body.r[0]": 0.0}, [*outputs, "body.body.r[0]"], t_end=0.3, h=1e-2
    )
    assert worst(by_path.jacobian, by_build.jacobian) < EXACT
    assert worst(also.jacobian[:2, :1], by_build.jacobian) < EXACT


def test_the_zero_of_an_angle_is_a_number():
    S = mbd.sensitivity(pendulum(k=0.0, c=0.0), {"pin.q0": 0.3, "bob.mass": 1.2}, ANGLE, t_end=0.05, h=5e-3)
    assert np.abs(S.jacobian[:, 0] - [1.0, 0.0]).max() < EXACT


def test_a_value_at_the_edge_of_what_is_valid_is_refused_with_its_fault():
    system = geared(2.0, 1.2)
    system.remove(system["gear"])
    system.add(Gear("gear", system["first pin"], system["second pin"], teeth=(20, 40)))
    with pytest.raises(mbd.UsageError, match="'gear.teeth.0.'.*teeth"):
        mbd.sensitivity(system, {"gear.teeth[0]": 20.0}, "body.first.omega[2]", t_end=0.05, h=5e-3)


WRONG = {
    "whole array": ("bob.r", "index.*'bob.r\\[0\\]'"),
    "unknown number": ("bob.rr[0]", "'bob.rr'.*did you mean 'r'"),
    "index": ("bob.r[5]", "shape"),
    "unknown part": ("bab.k", "'bab.k' is not a parameter"),
    "text": ("pid.measurement", "'pid.measurement' is not a number"),
}


@pytest.mark.parametrize(("path", "words"), WRONG.values(), ids=WRONG)
def test_a_path_that_is_no_number_is_refused_by_name(path, words):
    with pytest.raises(mbd.UsageError, match=words):
        mbd.sensitivity(controlled(3.0, 0.4, 1.0), {path: 1.0}, ANGLE, t_end=0.05, h=5e-3)


@pytest.mark.slow
def test_a_system_keeps_its_parts_that_are_off():
    def by_path(p, outputs, **run):
        system, arguments = caught(1.1, 30.0, 2.0, 60.0)
        return mbd.sensitivity(system, p, outputs, **arguments, **run).jacobian

    outputs, run = ["joint.rail comes.displacement", "joint.rail rests.rate"], {"t_end": 0.6, "h": 5e-3}
    S = mbd.sensitivity(caught, {"m": 1.1, "k": 30.0, "w": 2.0, "s": 60.0}, outputs, **run)
    of_off = by_path({"comes.mass": 1.1, "buffer.k": 30.0, "comes.v[0]": 2.0}, outputs, **run)
    assert worst(of_off, S.jacobian[:, :3]) < EXACT
    assert worst(by_path({"comes.mass": 1.1}, outputs, **run), S.jacobian[:, :1]) < EXACT  # a path of a part that is on


def test_a_part_that_goes_off_beside_the_value_is_another_structure():
    def build(k):
        system, arguments = caught(1.1, k, 2.0, 60.0)
        if k > 30.0:
            system.put_off([system["brake"]])
        return system, arguments

    with pytest.raises(mbd.UsageError, match="structure of the model changes"):
        mbd.sensitivity(build, {"k": 30.0}, "joint.rail comes.displacement", t_end=0.4, h=5e-3)


def test_an_array_that_has_changed_since_is_refused():
    where = np.array([0.5, 0.0, 0.0])
    system = pendulum()
    system.add(mbd.PointForce("push", system["bob"], point=where, force=(0.0, 1.0, 0.0)))
    where[0] = 0.7
    with pytest.raises(mbd.UsageError, match="have changed since"):
        mbd.sensitivity(system, {"push.force[1]": 1.0}, ANGLE, t_end=0.05, h=5e-3)
