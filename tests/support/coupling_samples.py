"""One mechanism with a moving carrier for every class of `joints.COUPLINGS`, and one for every class of `joints.ROLLING`."""

from __future__ import annotations

import numpy as np

import joints
from haugmbd import Body, Expression, System
from haugmbd.math.euler_parameters import from_axis_angle
from joints import CJ, RJ, TJ, Pulley

GRAVITY = (1.3, -2.0, -9.81)


def carrier():
    """A swinging arm with a wheel, a second wheel, a slide and a screw's nut; the system and their joints."""
    system = System("carrier", gravity=GRAVITY)
    arm, a, b, slide, nut = (
        system.add(Body(name, m, J, r=r))
        for name, m, J, r in (
            ("arm", 1.3, (0.1, 0.2, 0.25), (0.1, 0.05, 0.0)),
            ("a", 0.8, (0.02, 0.03, 0.04), (0.3, 0.0, 0.02)),
            ("b", 0.6, (0.03, 0.02, 0.01), (0.6, 0.1, 0.0)),
            ("slide", 0.5, (0.01, 0.01, 0.02), (0.4, 0.3, 0.1)),
            ("nut", 0.4, (0.01, 0.02, 0.01), (0.2, -0.2, 0.0)),
        )
    )
    system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0.1, 0.2, 1.0)))
    first = system.add(RJ("first", arm, a, point=(0.3, 0, 0), axis=(0, 0, 1), q0=0.3))
    second = system.add(RJ("second", arm, b, point=(0.6, 0, 0), axis=(0, 0, -1)))
    guide = system.add(TJ("guide", arm, slide, point=(0.4, 0.3, 0), axis=(0.2, 1, 0.1)))
    thread = system.add(CJ("thread", arm, nut, point=(0.2, -0.2, 0), axis=(0, 1, 0)))
    return system, first, second, guide, thread


PROFILE = Expression("0.02 * (cos(0.3) - cos(t)) + 0.01 * (sin(2 * t) - sin(0.6))")
"""A closed profile of the angle of the first wheel, which is 0.3 at the modelled pose."""
SCREW = Expression("0.03 * t + 0.02 * sin(t)")
"""A screw with a pitch that varies."""


def coupling(cls, *, bare=False):
    """The system with a coupling of this class, "sample", or without it."""
    system, first, second, guide, thread = carrier()
    make = {
        "Coupling": lambda: cls("sample", {first: 0.5, second: 1.0, guide: 0.2, thread.coordinate("angle"): 0.3}, f=0.15),
        "Gear": lambda: cls("sample", first, second, teeth=(20, 31)),
        "RackPinion": lambda: cls("sample", first, guide, radius=0.1),
        "Screw": lambda: cls("sample", thread, pitch=0.05),
        "Belt": lambda: cls("sample", first, second, radii=(0.1, 0.2)),
        "CoordinateFunction": lambda: cls("sample", thread.coordinate("angle"), thread.coordinate("displacement"), SCREW),
        "Cam": lambda: cls("sample", first, guide, PROFILE, unilateral=True),
    }
    if not bare:
        system.add(make[cls.__name__]())
    return system


def rolling(cls, *, bare=False):
    """The system with a rolling joint of this class, "sample", on a turntable, or without it."""
    system = System("rolling", gravity=GRAVITY)
    table = system.add(Body("table", 3.0, (0.5, 0.6, 0.9), r=(0.1, 0, 0)))
    system.add(RJ("spindle", system.ground, table, point=(0, 0, 0), axis=(0, 0, 1)))
    p = from_axis_angle(np.array([0.6, 0.0, 0.8]), 0.4)
    body = system.add(Body("body", 0.7, (0.02, 0.03, 0.025), r=(0.3, 0.2, 0.21), p=p))
    axis = np.array([0.1, 1.0, 0.3])
    drum, ball = {"cylinder_radius": np.hypot(0.2, 0.3) + 0.2, "inside": True}, float(np.linalg.norm((0.3, 0.1, 0.3))) - 0.2
    height = 0.2 * np.hypot(axis[0], axis[1]) / np.linalg.norm(axis)
    x = np.linspace(-0.7, 1.3, 21)
    bowl = np.stack([x, 0.0 * x, 0.1 + 0.5 * (x - 0.3) ** 2], axis=1)
    make = {
        "RollingDisc": lambda: cls("sample", body, center=(0.3, 0.2, height), axis=axis, radius=0.2, plane_body=table),
        "RollingSphere": lambda: cls("sample", body, center=(0.3, 0.2, 0.2), radius=0.2, plane_body=table),
        "RollingOnCylinder": lambda: cls(
            "sample", body, center=(0.3, 0.2, 0.3), radius=0.2, point=(0, 0, 0), axis=(1, 0, 0), **drum, surface_body=table
        ),
        "RollingOnSphere": lambda: cls(
            "sample", body, center=(0.3, 0.2, 0.3), radius=0.2, sphere_center=(0, 0.1, 0), sphere_radius=ball, surface_body=table
        ),
        "RollingOnCurve": lambda: cls(
            "sample", body, center=(0.3, 0.2, 0.3), radius=0.2, curve=bowl, axis=(0, 1, 0), surface_body=table
        ),
        "KnifeEdge": lambda: cls("sample", body, point=(0.3, 0.2, 0.2), direction=(1, 0.2, 0), plane_body=table),
    }
    if not bare:
        system.add(make[cls.__name__]())
    return system


def guide(cls, *, bare=False):
    """The system with a body that is guided along a curve of a swinging arm, "sample", or without it."""
    system = System("guide", gravity=GRAVITY)
    arm = system.add(Body("arm", 3.0, (0.5, 0.6, 0.9), r=(0.1, 0, 0)))
    system.add(RJ("pin", system.ground, arm, point=(0, 0.3, 0), axis=(0.2, 0.1, 1)))
    body = system.add(Body("body", 0.7, (0.02, 0.03, 0.025), r=(0.1, 0.1, 0.02)))
    s = np.linspace(-3.0, 3.0, 13)
    curve = np.stack([s, 0.1 * s**2 - 0.01 * s**3, 0.3 + 0.2 * np.sin(0.5 * s)], axis=1)
    make = {"PointOnCurve": lambda: cls("sample", arm, body, point=curve[6], curve=curve)}
    if not bare:
        system.add(make[cls.__name__]())
    return system


def roped(cls, *, bare=False):
    """The system of the carrier with a rope, "sample", from a drum over two pulleys and points to a body, or without it."""
    system, first, second, guide, _ = carrier()
    arm, load = system["arm"], system.add(Body("load", 0.9, (0.02, 0.03, 0.01), r=(1.0, -0.4, 0.1)))
    side = Pulley(arm, 0.05, center=(0.45, -0.1, 0.0), axis=(0, 0, 1), side=(0, -1, 0))
    path = [(first, 0.08, (0, -1, 0)), side, (second, 0.06, (0, 1, 0)), (guide.j, (0.9, 0.1, 0.0)), (load, (1.0, -0.4, 0.2))]
    if not bare:
        system.add(cls("sample", path))
    return system


def moved(cls, *, bare=False):
    """A hull with a pendulum, whose pose is given in time by a "sample", or which is free."""
    system = System("ship", gravity=GRAVITY)
    hull = system.add(Body("hull", 3.0, (0.5, 0.6, 0.9), r=(0.1, 0.2, 0.3), p=from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.4)))
    bob = system.add(Body("bob", 0.7, (0.02, 0.03, 0.025), r=(0.1, 0.5, -0.2)))
    system.add(RJ("pin", hull, bob, point=(0.1, 0.5, 0.3), axis=(1, 0.2, 0)))
    r = (Expression("0.1 + 0.2 * sin(t)"), 0.2, Expression("0.3 + 0.1 * t * t"))
    angles = (Expression("0.3 * sin(1.1 * t)"), Expression("0.2 * t"), Expression("0.4 + 0.5 * t * t"))
    if not bare:
        system.add(cls("sample", hull, r=r, orientation=angles))
    return system


def sample(cls, **how):
    """The mechanism of a class of one of the lists."""
    if cls in joints.MOTIONS:
        return moved(cls, **how)
    if cls in joints.ROPES:
        return roped(cls, **how)
    if cls in joints.GUIDES:
        return guide(cls, **how)
    return coupling(cls, **how) if cls in joints.COUPLINGS else rolling(cls, **how)
