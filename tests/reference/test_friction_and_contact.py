"""Friction by reactions, sticking, and compliant contact, against programs that share no code with the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar
from joints import CJ, RJ, SJ, TJ

G = (0.5, -1.0, -9.81)
FOLLOWS, LOCATED, STRIKES = 2e-9, 1e-10, 2e-8
"""[m, m/s, rad/s] Of smooth motions and of those between events; [s]; [m, m/s, rad/s] of impacts, whose slip turns within a millisecond."""
OTHER = 1e-9
"""[m] What is left of Exudyn's error behind two steps and their extrapolation: 2e-11."""
SMALL = {"rtol": 1e-11, "atol": 1e-12}


def bodies_of(system: mbd.System, start: dict[str, Any], mass: Any, J_bar: Any) -> list[mbd.Body]:
    """Add the bodies in their places."""
    given = zip(start["r"], start["p"], start["v"], start["omega_bar"], mass, J_bar, strict=True)
    return [
        system.add(mbd.Body(f"body {k}", m, J, r=r, p=p, v=v, omega_bar=w)) for k, (r, p, v, w, m, J) in enumerate(given, start=1)
    ]


def compare(published: Any, problem: str, result: mbd.Result, end: dict[str, Any], allowed: float) -> None:
    """Compare the last state."""
    n = len(end["r"])
    published(problem, "centres of mass [m]", result.r[-1, 1:], end["r"], allowed)
    published(problem, "velocities [m/s]", result.v[-1, 1:], end["v"], allowed)
    omega = [result[f"body {k}"].omega[-1] for k in range(1, n + 1)]
    published(problem, "angular velocities [rad/s]", omega, end["omega"], allowed)


@pytest.mark.parametrize(
    "integrator", [mbd.DormandPrince(**SMALL), mbd.RadauIIA(rtol=1e-10, atol=1e-12)], ids=["explicit", "implicit"]
)
def test_friction_in_four_kinds_of_joints(parameters, published, integrator):
    """A chain with RJ, CJ, SJ and TJ: friction of each by its own reaction, with bearings, thrust and preload."""
    given = parameters("friction_and_contact")["chain"]
    system = mbd.System("chain", gravity=G)
    J_bar = ((0.05, 0.06, 0.03), (0.04, 0.03, 0.05), (0.02, 0.03, 0.04), (0.02, 0.015, 0.01))
    one, two, three, four = bodies_of(system, given["start"], (2.0, 1.5, 1.2, 0.8), J_bar)
    arm = system.add(RJ("arm", system.ground, one, point=(0, 0, 0), axis=(0, 1, 2)))
    slot = system.add(CJ("slot", one, two, point=(0.8, 0.1, -0.2), axis=(1, 0, 1)))
    ball = system.add(SJ("ball", two, three, point=(1.5, 0.3, -0.5)))
    rail = system.add(TJ("rail", three, four, point=(1.8, 0.7, -0.7), axis=(2, -1, 1)))
    curve, creeps = mbd.BrownMcPhee(0.3, 0.2, 0.1), mbd.Coulomb(0.25, velocity=0.05)
    system.add(mbd.JointFriction("rub arm", arm, curve, radius=0.05, length=0.5, preload=3.0, thrust_radius=0.03))
    system.add(mbd.JointFriction("rub slot", slot, creeps, radius=0.04, length=0.6, preload=2.0))
    system.add(mbd.JointFriction("rub ball", ball, curve, radius=0.06, preload=1.0))
    system.add(mbd.JointFriction("rub rail", rail, creeps, radius=0.3, length=0.5, preload=4.0))
    result = mbd.simulate(system, given["t"], integrator=integrator)
    compare(published, "Newton-Euler recursion and SciPy, friction in RJ, CJ, SJ, TJ", result, given["end"], FOLLOWS)


@pytest.mark.slow
def test_three_joints_that_stick_and_slip(parameters, published):
    """The reference tries all combinations of sticking and sliding at each event."""
    given = parameters("friction_and_contact")["stick"]
    system = mbd.System("arm", gravity=G)
    J_bar = ((0.05, 0.06, 0.03), (0.04, 0.03, 0.05), (0.02, 0.03, 0.04))
    one, two, three = bodies_of(system, given["start"], (2.0, 1.5, 1.2), J_bar)
    axes = (
        system.add(RJ("shoulder", system.ground, one, point=(0, 0, 0), axis=(0, 1, 2))),
        system.add(TJ("boom", one, two, point=(0.4, 0.1, -0.2), axis=(1, 0, 0.3))),
        system.add(RJ("wrist", two, three, point=(0.8, 0.3, -0.3), axis=(0, 1, 0.5))),
    )
    sizes = ((0.15, 0.5, 3.0), (0.3, 0.6, 2.0), (0.12, 0.5, 4.0))
    for k, (joint, (radius, length, preload)) in enumerate(zip(axes, sizes, strict=True)):
        law = mbd.Coulomb((0.5, 0.45, 0.5)[k], (0.4, 0.3, 0.35)[k])
        thrust = {"thrust_radius": 0.1} if k == 0 else {}
        system.add(mbd.JointFriction(f"rub {k}", joint, law, radius=radius, length=length, preload=preload, **thrust))
        size, rate = (16.0, 14.0, 6.0)[k], (5.0, 7.3, 6.1)[k]
        system.add(mbd.JointForce(f"drive {k}", joint, lambda t, q, qd, size=size, rate=rate: size * np.sin(rate * t)))
    result = mbd.simulate(system, given["t"], **SMALL)
    known = [f"{name} {'slips' if what == 'slips' else 'stops'}" for _, name, what in given["events"]]
    assert [event.name for event in result.events] == known  # a joint that turns stops for an instant
    problem = "Newton-Euler recursion and SciPy, stick and slip of three joints"
    published(
        problem, "times of the events [s]", [event.t for event in result.events], [event[0] for event in given["events"]], LOCATED
    )
    compare(published, problem, result, given["end"], FOLLOWS)


TILTED = np.array([0.2, -0.1, 1.0]) / np.sqrt(1.05)
FLOOR = mbd.Plane(point=(0.1, 0.2, 0.05), normal=TILTED)
BALL = mbd.Sphere(0.1, center=(0.03, -0.02, 0.01))
BOX = mbd.Box(
    (0.2, 0.15, 0.1), center=(0.01, -0.02, 0.01), p=(0.95287485288603, 0.147636255766526, 0.098424170511018, -0.246060426277544)
)
HOLE = mbd.Cylinder(0.35, 1.0, axis=TILTED, center=(0.02, 0.01, -0.03), inner_radius=0.3)
SHAPES: dict[str, Any] = {
    "sphere and plane": (BALL, FLOOR, 2e4, mbd.HuntCrossley()),
    "two spheres": (BALL, mbd.Sphere(0.15, center=(0.02, 0.01, -0.03)), 2e4, mbd.LankaraniNikravesh()),
    "sphere in a hole": (BALL, HOLE, 5e3, mbd.Flores(exponent=1.0)),
    "disc and plane": (
        mbd.Cylinder(0.12, 0.0, axis=TILTED, center=(0.01, -0.02, 0.01)),
        FLOOR,
        2e4,
        mbd.HuntCrossley(exponent=1.2),
    ),
    "cylinder and plane": (mbd.Cylinder(0.08, 0.2, axis=TILTED, center=(0.01, -0.02, 0.01)), FLOOR, 2e4, mbd.LankaraniNikravesh()),
    "box and plane": (BOX, FLOOR, 2e4, mbd.Flores()),
}


@pytest.mark.filterwarnings("ignore:ContactForce .* is nominal")  # the law of the reference, with its nominal value
@pytest.mark.parametrize("kind", SHAPES)
def test_two_free_bodies_strike_and_slip(parameters, published, kind: str):
    """Normal force, damping and friction of all pairs of shapes, on two bodies that turn."""
    given = parameters("friction_and_contact")["contacts"][kind]
    system = mbd.System(kind, gravity=(0, 0, -9.81))
    a, b = bodies_of(system, given["start"], (1.2, 3.0), ((0.01, 0.012, 0.008), (0.3, 0.4, 0.5)))
    shape_a, shape_b, K, model = SHAPES[kind]
    law = {"K": K, "model": model, "restitution": 0.6, "mu": 0.3, "creep": 0.02}
    system.add(mbd.ContactForce("contact", a, b, shape_i=shape_a, shape_j=shape_b, **law))
    result = mbd.simulate(system, 0.25, **SMALL)
    problem = f"Newton-Euler equations and SciPy, contact of {kind}"
    published(problem, "touch and release [s]", [event.t for event in result.events], given["events"], LOCATED)
    compare(published, problem, result, given["end"], STRIKES)


def test_a_four_bar_is_that_of_exudyn(parameters, published):
    """Generalized-alpha with steps of 5e-4 and 2.5e-4 s, extrapolated."""
    given = parameters("friction_and_contact")["four_bar"]
    result = mbd.simulate(four_bar(), given["t"], **SMALL)
    published("Exudyn, spatial four-bar", "centres of mass [m]", result.r[-1, 1:], given["r"], OTHER)
