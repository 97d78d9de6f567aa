"""Every kind of force element and contact in a copy under a prefix, at another place and in a mirror: the image of the motion alone.

r_copy = place + R M r,   v_copy = R M v,   omega_copy = det M  M omega         M: the mirror, R: the turn of the copy
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Body, System
from haugmbd.forces import KINDS
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from joints import RJ, SJ, TJ, UJ, Freewheel, Rope

G = np.array([0.0, 0.0, -9.81])
PLACE, TURN = np.array([1.0, -2.0, 0.0]), from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.7)
R = rotation_matrix(TURN)
IMAGES = {"plain/": (None, np.ones(3)), "xz/": ("xz", np.array([1.0, -1.0, 1.0])), "yz/": ("yz", np.array([-1.0, 1.0, 1.0]))}
MOVED = 1e-12
"""Difference of places [m] and velocities after 15 steps, relative to sizes above 1: rounding."""
STRUCK = 1e-11
"""The same behind impacts of contacts, whose instants are located to 1e-13 s: the velocities there change by some 10 m/s2 times as much."""
J = np.array([[0.1, 0.01, -0.02], [0.01, 0.2, 0.015], [-0.02, 0.015, 0.25]])


def pull(t, length, rate):
    return 20.0 * np.cos(5.0 * t) - 3.0 * rate + length


def push(t):
    return (np.sin(3.0 * t), 0.5, -0.2 * t)


# what is added to the rig: name of the kind, and a function of its system, bodies a and b, and joints
PARTS = {
    "TSDA": lambda s, a, b, j: mbd.TSDA(
        "x", s.ground, b, point_i=(0.2, 0.5, 0.5), point_j=(0.8, 0.3, -0.4), k=50.0, c=2.0, l0=0.4, actuator=pull
    ),
    "RSDA": lambda s, a, b, j: mbd.RSDA("x", j["pin"], k=8.0, c=0.3, theta0=0.4),
    "PointForce": lambda s, a, b, j: mbd.PointForce("x", b, point=(0.8, 0.1, -0.2), force=push),
    "PointForce of the body": lambda s, a, b, j: mbd.PointForce(
        "x", b, point=(0.8, 0.1, -0.2), force=(1.0, 2.0, -3.0), frame="body"
    ),
    "Torque": lambda s, a, b, j: mbd.Torque("x", b, torque=push),
    "Torque of the body": lambda s, a, b, j: mbd.Torque("x", b, torque=(0.3, -0.2, 0.5), frame="body"),
    "Bushing": lambda s, a, b, j: mbd.Bushing(
        "x",
        a,
        b,
        point=(0.6, 0.1, -0.2),
        K=(90, 60, 70, 5, 4, 3),
        C=(1, 2, 3, 0.1, 0.2, 0.3),
        preload=(1, 2, 3, 0.1, 0.2, 0.3),
        axes=rotation_matrix(from_axis_angle(np.array([0.6, 0, 0.8]), 0.9)),
    ),
    "ContactForce": lambda s, a, b, j: mbd.ContactForce(
        "x", s.ground, b, shape_i=mbd.Plane(point=(0, 0, -0.45)), shape_j=mbd.Sphere(0.1), K=1e4, restitution=0.6, mu=0.4
    ),
    "Drag": lambda s, a, b, j: mbd.Drag("x", b, mbd.Box((0.3, 0.2, 0.1)), density=100.0, coefficient=0.8, flow=(1.0, 2.0, 0.3)),
    "Buoyancy": lambda s, a, b, j: mbd.Buoyancy("x", b, mbd.Sphere(0.3), density=10.0, gravity=G),
    "JointFriction": lambda s, a, b, j: mbd.JointFriction("x", j["pin"], mbd.Coulomb(0.2), radius=0.05, length=0.2),
    "JointFriction of a slide": lambda s, a, b, j: mbd.JointFriction(
        "x", j["slide"], mbd.Coulomb(0.1, velocity=0.1), radius=0.05, length=0.2
    ),
    "LinearActuator": lambda s, a, b, j: mbd.LinearActuator(
        "x", a, b, point_i=(0.2, 0.5, 0.5), point_j=(0.8, 0.3, -0.4), force=pull
    ),
    "JointSpring": lambda s, a, b, j: mbd.JointSpring("x", j["pin"], k=8.0, c=0.5, free=0.3),
    "JointSpring of an angle": lambda s, a, b, j: mbd.JointSpring("x", j["uj"].coordinate("angle", 2), k=8.0, c=0.5, free=0.2),
    "JointLimit": lambda s, a, b, j: mbd.JointLimit("x", j["pin"], lower=-0.05, upper=0.05, k=300.0, c=2.0),
    "JointLimit, rigid": lambda s, a, b, j: mbd.JointLimit("x", j["pin"], lower=-0.05, upper=0.05, restitution=0.5),
    "JointForce": lambda s, a, b, j: mbd.JointForce("x", j["pin"], lambda t, q, w: 2.0 * np.sin(4 * t) - q - 0.1 * w),
    "Motor": lambda s, a, b, j: mbd.Motor("x", j["pin"], torque=lambda t: 3.0 * np.cos(t), ratio=2.0, rotor_inertia=0.02),
    "ConeLimit": lambda s, a, b, j: mbd.ConeLimit("x", j["uj"], axis=(1, 0.3, -0.2), angle=0.05, k=200.0, c=1.0),
    "ConeLimit, rigid": lambda s, a, b, j: mbd.ConeLimit("x", j["uj"], axis=(1, 0.3, -0.2), angle=0.05, restitution=0.4),
    "TwistLimit": lambda s, a, b, j: mbd.TwistLimit("x", j["ball"], axis=(0.2, 0.1, 1), lower=-0.02, upper=0.03, k=100.0),
    "TwistLimit, rigid": lambda s, a, b, j: mbd.TwistLimit(
        "x", j["ball"], axis=(0.2, 0.1, 1), lower=-0.02, upper=0.03, restitution=0.3
    ),
    "Rope, elastic": lambda s, a, b, j: Rope(
        "x", [(s.ground, (0.2, 0.5, 0.5)), (b, (0.8, 0.3, -0.4))], length=1.0, EA=200.0, c=1.0
    ),
    "Rope, slack": lambda s, a, b, j: Rope(
        "x", [(s.ground, (0.2, 0.5, 0.5)), (b, (0.8, 0.3, -0.4))], length=1.13, unilateral=True, restitution=0.2
    ),
    "Rope": lambda s, a, b, j: Rope("x", [(s.ground, (0.2, 0.5, 0.5)), (a, (0.3, 0.3, 0.1)), (b, (0.8, 0.3, -0.4))]),
    "Freewheel": lambda s, a, b, j: Freewheel("x", {j["pin"]: -1.0, j["uj"].coordinate("angle", 1): 0.7}),
    "Contact": lambda s, a, b, j: mbd.Contact(
        "x", s.ground, b, point=(0.85, 0.2, -0.4), normal=(0.1, 0.2, 1), plane_point=(0, 0, -0.35), restitution=0.9
    ),
    "Contact of shapes": lambda s, a, b, j: mbd.Contact(
        "x", s.ground, b, shape_i=mbd.Plane(point=(0, 0, -0.48)), shape_j=mbd.Box((0.3, 0.2, 0.1)), mu=0.4, restitution=0.2
    ),
    "mass in time": lambda s, a, b, j: Body(
        "x",
        mbd.Expression("1 + 0.5 * t"),
        (0.02, 0.03, 0.04),
        r=(0, 0.4, 1),
        v=(0.2, 0.1, 0),
        omega_bar=(1, 2, 3),
        exhaust=(0.3, 0.2, -1.0),
    ),
    "point of a slider": lambda s, a, b, j: mbd.JointSpring("x", j["slide"], k=30.0, c=1.0, free=0.1),
}
OF_THE_WHOLE = {"StateForce"}
"""Laws in global components, which are refused."""


def rig(make):
    """Bodies with products of inertia on a pin, a universal joint, a slide and a ball, with the part."""
    part = System("part", gravity=G)
    a = part.add(Body("a", 2.0, J, r=(0.3, 0.1, -0.2), p=from_axis_angle(np.array([0.6, 0.0, 0.8]), 0.4)))
    b = part.add(Body("b", 1.0, J / 2, r=(0.7, 0.2, -0.3), p=from_axis_angle(np.array([0.0, 0.6, 0.8]), 0.3)))
    c = part.add(Body("c", 1.5, J, r=(-0.5, 0.3, 0.2)))
    d = part.add(Body("d", 0.5, J / 4, r=(-0.9, 0.2, 0.1), omega_bar=(0.5, -0.4, 2.0)))
    joints = {
        "pin": part.add(RJ("pin", part.ground, a, point=(0, 0, 0), axis=(0.1, 1, 0.2))),
        "uj": part.add(UJ("uj", a, b, point=(0.5, 0.15, -0.25), axis_i=(0, 1, 0), axis_j=(0.1, 0, 1))),
        "slide": part.add(TJ("slide", part.ground, c, point=(-0.5, 0.3, 0.2), axis=(0.3, 0.2, -1))),
        "ball": part.add(SJ("ball", c, d, point=(-0.8, 0.2, 0.3))),
    }
    part.add(make(part, a, b, joints))
    return part


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARTS)
def test_a_copy_moves_as_the_image_of_the_part(kind):
    whole, how = System("whole", gravity=G), {"h": 0.02, "project_velocity": True}
    part = rig(PARTS[kind])
    alone = mbd.simulate(part, 0.3, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for prefix, (mirror, _) in IMAGES.items():
            whole.add(part, prefix=prefix, at=(PLACE, TURN), mirror=mirror)
    result = mbd.simulate(whole, 0.3, **how)
    bar = STRUCK if kind.startswith("Contact") else MOVED
    moved = max(1.0, np.abs(alone.v).max(), np.abs(alone.omega_bar).max())
    assert result.t[-1] == alone.t[-1]
    for prefix, (_, M) in IMAGES.items():
        for body in part.bodies[1:]:
            one, image = alone[body.name], result[prefix + body.name]
            wanted = PLACE + R @ (M * one.r[-1])
            assert np.abs(image.r[-1] - wanted).max() <= bar * moved, (prefix, body.name)
            assert np.abs(image.v[-1] - R @ (M * one.v[-1])).max() <= bar * moved, (prefix, body.name)
            assert np.abs(image.omega[-1] - M.prod() * (R @ (M * one.omega[-1]))).max() <= bar * moved, (prefix, body.name)


def test_every_kind_of_force_element_is_among_them():
    assert {kind.__name__ for kind in KINDS} - OF_THE_WHOLE <= set(PARTS)


@pytest.mark.slow
def test_every_part_acts_in_its_rig():
    """A part that does nothing would be the image of itself in any mirror."""
    how = {"h": 0.02, "project_velocity": True}
    bare = mbd.simulate(rig(PARTS["mass in time"]), 0.3, **how)
    for kind, make in PARTS.items():
        result = mbd.simulate(rig(make), 0.3, **how)
        changed = max(np.abs(result[name].v[-1] - bare[name].v[-1]).max() for name in "abcd")
        assert changed > 1e-5 or kind == "mass in time", kind
