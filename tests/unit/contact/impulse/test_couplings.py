"""Impulses of joints beside couplings: every body obeys the laws of impulse, and what a coupling exerts on all is zero in sum."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Coupling, Gear, RackPinion

BALANCED = 1e-12
"""Impulse [N s] and angular impulse [N m s] that is left, where those applied are of size 1: rounding."""


def gear_pair():
    system = mbd.System("gear pair")
    a = system.add(mbd.Body("a", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.2)))
    b = system.add(mbd.Body("b", 2.0, (0.2, 0.2, 0.3), r=(0.3, 0, 0)))
    first = system.add(RJ("first", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    second = system.add(RJ("second", system.ground, b, point=(0.3, 0, 0), axis=(0, 0, 1)))
    system.add(Gear("mesh", first, second, ratio=-0.5))
    return system, {"a": ("first", "mesh"), "b": ("second", "mesh")}


def planet():
    system = mbd.System("planet")
    sun = system.add(mbd.Body("a", 1.0, (0.012, 0.012, 0.02)))
    carrier = system.add(mbd.Body("carrier", 1.0, (0.03, 0.03, 0.05), r=(0.01, 0, 0)))
    wheel = system.add(mbd.Body("wheel", 0.4, (0.002, 0.002, 0.003), r=(0.18, 0, 0)))
    of_sun = system.add(RJ("sun axis", system.ground, sun, point=(0, 0, 0), axis=(0, 0, 1)))
    of_carrier = system.add(RJ("carrier axis", system.ground, carrier, point=(0, 0, 0), axis=(0, 0, 1)))
    pin = system.add(RJ("pin", carrier, wheel, point=(0.18, 0, 0), axis=(0, 0, 1)))
    system.add(Coupling("sun mesh", {of_sun: 20, of_carrier: -20, pin: 16}))
    system.add(Coupling("ring mesh", {pin: 16, of_carrier: 52}))
    return system, {
        "a": ("sun axis", "sun mesh"),
        "carrier": ("carrier axis", "pin", "sun mesh", "ring mesh"),
        "wheel": ("pin", "sun mesh", "ring mesh"),
    }


def rack_on_an_arm():
    system = mbd.System("rack on an arm")
    arm = system.add(mbd.Body("arm", 2.0, (0.3, 0.4, 0.5), r=(0.1, 0.2, 0.05)))
    pinion = system.add(mbd.Body("a", 1.0, (0.03, 0.03, 0.02)))
    bar = system.add(mbd.Body("bar", 1.5, (0.06, 0.06, 0.05), r=(0.3, 0.1, 0.02)))
    system.add(RJ("pin", system.ground, arm, point=(0, 0.5, 0), axis=(0.2, 0.1, 1)))
    first = system.add(RJ("first", arm, pinion, point=(0, 0, 0), axis=(0, 0, 1)))
    guide = system.add(TJ("guide", arm, bar, point=(0.3, 0.1, 0), axis=(1, 0, 0)))
    system.add(RackPinion("mesh", first, guide, radius=-0.1))
    return system, {"arm": ("pin", "first", "guide", "mesh"), "a": ("first", "mesh"), "bar": ("guide", "mesh")}


@pytest.mark.parametrize("build", [gear_pair, planet, rack_on_an_arm])
@pytest.mark.parametrize("touches", [False, True], ids=["applied", "with a contact"])
def test_every_body_obeys_the_laws_of_impulse(build, touches):
    system, joints_of = build()
    model = system.compile()
    body = model.body("a")
    force, torque = np.array([0.3, -0.2, 0.4]), np.array([0.1, 0.5, 1.0])
    blow = mbd.PointImpulse("blow", system["a"], point=system["a"].r, impulse=force)
    twist = mbd.AngularImpulse("twist", system["a"], impulse=torque)
    arm, normal = np.array([0.05, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])
    wall = mbd.Contact("wall", system.ground, system["a"], point=system["a"].r + arm, normal=normal, restitution=0.0)
    found = mbd.impulse(model, applied=[blow, twist], contacts=wall if touches else ())
    push = found.normal["wall"] * normal if touches else np.zeros(3)
    assert np.linalg.norm(push) > 1.0 if touches else abs(found.omega_bar[body, 2]) > 0.1
    for name, joints in joints_of.items():
        k = model.body(name)
        left = model.mass[k] * (found.v[k] - found.before.v[k])
        turn = model.J_bar[k] @ (found.omega_bar[k] - found.before.omega_bar[k])  # the bodies have the global axes
        if name == "a":
            left, turn = left - force - push, turn - torque - np.cross(arm, push)
        for joint in joints:
            one = found.joint(joint, on=name)
            left, turn = left - one.force, turn - one.torque - np.cross(one.point - found.state.r[k], one.force)
        np.testing.assert_allclose(np.concatenate([left, turn]), 0.0, atol=BALANCED)


@pytest.mark.parametrize("build", [gear_pair, planet, rack_on_an_arm])
def test_what_a_coupling_exerts_on_all_bodies_and_the_ground_is_zero_in_sum(build):
    system, joints_of = build()
    model = system.compile()
    found = mbd.impulse(model, applied=mbd.AngularImpulse("twist", system["a"], impulse=(0.1, 0.5, 1.0)))
    couplings = {name for names in joints_of.values() for name in names if "mesh" in name}
    for coupling in couplings:
        touched = [*(body for body, names in joints_of.items() if coupling in names)]
        touched += [] if build is rack_on_an_arm else ["ground"]
        parts = [found.joint(coupling, on=body) for body in touched]
        total = sum(np.concatenate([one.force, one.torque + np.cross(one.point, one.force)]) for one in parts)
        np.testing.assert_allclose(total, 0.0, atol=BALANCED)
        loaded = [np.abs(np.concatenate([one.force, one.torque])).max() > 1e-3 for one in parts]
        assert all(loaded[:-1])
        assert loaded[-1] or coupling == "sun mesh"  # it turns the sun forward and the carrier back, both against the ground


def test_impulses_that_redundant_joints_share_are_marked_as_their_reactions():
    system = mbd.System("door")
    door = system.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0, 0)))
    for name, z in (("lower", -0.8), ("upper", 0.8)):
        system.add(RJ(name, system.ground, door, point=(0, 0, z), axis=(0, 0, 1)))
    blow = mbd.PointImpulse("blow", door, point=(0.9, 0, 0), impulse=(0, 5.0, 1.0))
    found, run = mbd.impulse(system.compile(), applied=blow), mbd.simulate(system, 0.01, h=0.01)
    for joint in ("lower", "upper"):
        for frame in ("ground", "body", "joint"):
            assert found.joint(joint, frame=frame).unique == run.reaction(joint, frame=frame).unique
    assert found.joint("lower").shared == ("force x", "force y", "force z", "torque x", "torque y")
    alone = mbd.impulse(gear_pair()[0].compile(), applied=())
    assert alone.joint("mesh").unique == (True,) * 6
