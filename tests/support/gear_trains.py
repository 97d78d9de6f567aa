"""Mechanisms with couplings, and their equations of motion in one coordinate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd import TSDA, Body, System, Torque
from joints import CJ, RJ, TJ, Belt, Coupling, Distance, Gear, RackPinion, Screw

GRAVITY = 9.80665
Z = (0, 0, 1)
SUN, PLANET = 20, 16
RING = SUN + 2 * PLANET
CENTRES = 0.18
TORQUE = 0.7


class Train(NamedTuple):
    """A system and an acceleration in closed form: of the coordinate of a joint, by its name."""

    system: System
    joint: str
    acceleration: float


def disc(name, mass, J, r=(0, 0, 0)):
    return Body(name, mass, (0.6 * J, 0.6 * J, J), r=r)


def rack():
    """A rack that hangs on a pinion: (m r^2 + J) alpha = m g r."""
    system = System("rack", gravity=(0, 0, -GRAVITY))
    pinion = system.add(Body("pinion", 1.0, (0.04, 0.04, 0.04)))
    bar = system.add(Body("bar", 1.0, (0.01, 0.01, 0.01), r=(0.1, 0, 0)))
    axle = system.add(RJ("axle", system.ground, pinion, point=(0, 0, 0), axis=(0, 1, 0)))
    guide = system.add(TJ("guide", system.ground, bar, point=(0.1, 0, 0), axis=Z))
    system.add(RackPinion("mesh", axle, guide, radius=-0.1))
    return Train(system, "guide", -GRAVITY * 0.1**2 / (0.1**2 + 0.04))


def screw():
    """A nut on a vertical screw: (m + J (2 pi / p)^2) x'' = -m g."""
    system = System("screw", gravity=(0, 0, -GRAVITY))
    nut = system.add(Body("nut", 5.0, (1e-3, 1e-3, 1e-3)))
    spindle = system.add(CJ("spindle", system.ground, nut, point=(0, 0, 0), axis=Z))
    system.add(Screw("thread", spindle, pitch=0.01))
    return Train(system, "thread", -5.0 * GRAVITY / (5.0 + 1e-3 * (2.0 * np.pi / 0.01) ** 2))


def pair(kind=Gear, **arguments):
    """Two wheels on the ground, the first one driven: (J_a + i^2 J_b) alpha = M."""
    system = System("pair")
    a, b = system.add(disc("a", 1.0, 0.02)), system.add(disc("b", 1.0, 0.05, (0.4, 0, 0)))
    first = system.add(RJ("first", system.ground, a, point=(0, 0, 0), axis=Z))
    second = system.add(RJ("second", system.ground, b, point=(0.4, 0, 0), axis=Z))
    arguments = arguments or ({"ratio": -0.4} if kind is Gear else {"radii": (0.1, 0.25), "crossed": True})
    system.add(kind("mesh", first, second, **arguments))
    system.add(Torque("drive", a, torque=(0, 0, TORQUE)))
    return Train(system, "first", TORQUE / (0.02 + 0.4**2 * 0.05))


def planetary(planets=1):
    """A sun that drives planets inside a fixed ring. Willis: omega_sun = (1 + z_ring / z_sun) omega_carrier."""
    system = System("planetary")
    sun, carrier = system.add(disc("sun", 1.0, 0.02)), system.add(disc("carrier", 1.0, 0.05))
    of_sun = system.add(RJ("sun axis", system.ground, sun, point=(0, 0, 0), axis=Z))
    of_carrier = system.add(RJ("carrier axis", system.ground, carrier, point=(0, 0, 0), axis=Z))
    for k in range(planets):
        angle = 2.0 * np.pi * k / planets
        place = (CENTRES * np.cos(angle), CENTRES * np.sin(angle), 0.0)
        planet = system.add(disc(f"planet {k}", 0.4, 0.003, place))
        pin = system.add(RJ(f"pin {k}", carrier, planet, point=place, axis=Z))
        system.add(Coupling(f"sun mesh {k}", {of_sun: SUN, of_carrier: -SUN, pin: PLANET}))
        system.add(Coupling(f"ring mesh {k}", {pin: PLANET, of_carrier: RING}))
    system.add(Torque("drive", sun, torque=(0, 0, TORQUE)))
    i, spin = 1.0 + RING / SUN, 1.0 - RING / PLANET
    inertia = 0.02 * i**2 + 0.05 + planets * (0.4 * CENTRES**2 + 0.003 * spin**2)
    return Train(system, "carrier axis", TORQUE * i / inertia)


def differential():
    """A bevel differential: omega_left + omega_right = 2 omega_cage; the left wheel is driven, the right one and the cage are free."""
    system = System("differential")
    x = (1, 0, 0)
    left, right, cage = (
        system.add(Body(name, 1.0, (J, 0.7 * J, 0.7 * J))) for name, J in (("left", 0.03), ("right", 0.05), ("cage", 0.2))
    )
    a, b, c = (system.add(RJ(f"{body.name} axis", system.ground, body, point=(0, 0, 0), axis=x)) for body in (left, right, cage))
    system.add(Coupling("bevel gears", {a: 1.0, b: 1.0, c: -2.0}))
    system.add(Torque("drive", left, torque=(TORQUE, 0, 0)))
    # M a = Q + C^T mu with C = (1, 1, -2): mu = -C M^-1 Q / (C M^-1 C^T)
    mu = -(TORQUE / 0.03) / (1.0 / 0.03 + 1.0 / 0.05 + 4.0 / 0.2)
    return Train(system, "left axis", (TORQUE + mu) / 0.03)


def belt():
    return pair(Belt)


TRAINS = (rack, screw, pair, belt, planetary, differential)


def chain_of_pairs(n, seed=0):
    """n gear pairs in a row, each on a carrier that swings on the one before; n + 1 wheels with torques."""
    rng = np.random.default_rng(seed)
    system = System("pairs", gravity=(0, -GRAVITY, 0))
    before, wheel_before = system.ground, None
    for k in range(n):
        arm = system.add(disc(f"arm {k}", 1.0, 0.1, (k + 0.5, 0, 0)))
        pin = system.add(RJ(f"pin {k}", before, arm, point=(k, 0, 0), axis=Z))
        wheel = system.add(disc(f"wheel {k}", 0.5, 0.02, (k + 0.5, 0, 0)))
        axle = system.add(RJ(f"axle {k}", arm, wheel, point=(k + 0.5, 0, 0), axis=Z))
        system.add(
            Coupling(f"mesh {k}", {pin: float(rng.uniform(0.5, 2.0)), axle: 1.0, **({wheel_before: 0.3} if wheel_before else {})})
        )
        before, wheel_before = arm, axle
    return system


def random_train(seed, *, dependent=False, springs=False):
    """A random tree of joints with random couplings of one to four of their coordinates, and rods between its bodies.

    dependent: with a coupling more, which is the sum of two others;  springs: with springs between bodies
    """
    rng = np.random.default_rng(seed)
    system, bodies, ways = System(f"train {seed}", gravity=(0.4, -2.0, -GRAVITY)), [], []
    for k in range(int(rng.integers(3, 9))):
        before = system.ground if not bodies or rng.random() < 0.25 else bodies[int(rng.integers(max(0, k - 3), k))]
        place = np.zeros(3) if before.is_ground else before.r
        body = system.add(Body(f"body {k}", rng.uniform(0.5, 2.0), rng.uniform(0.1, 0.15, 3), r=place + rng.normal(size=3)))
        cls = (RJ, RJ, TJ, CJ)[int(rng.integers(4))]
        joint = system.add(cls(f"joint {k}", before, body, point=place + 0.3 * rng.normal(size=3), axis=rng.normal(size=3)))
        ways += [joint.coordinate(what) for what in {RJ: ("angle",), TJ: ("displacement",), CJ: ("angle", "displacement")}[cls]]
        bodies.append(body)
    free = len(ways)
    rods = int(rng.integers(0, 2)) if free > 4 else 0
    couplings = int(rng.integers(1, max(2, free - rods - 1)))
    terms = [
        {ways[i]: float(rng.uniform(0.3, 2.0)) for i in rng.choice(free, min(free, int(rng.integers(1, 5))), replace=False)}
        for _ in range(couplings)
    ]
    if dependent:
        terms += [{ways[0]: 1.0, ways[-1]: -0.7}, {ways[0]: 0.4, ways[1]: 1.1}]
        terms.append({way: terms[-1].get(way, 0.0) + terms[-2].get(way, 0.0) for way in {**terms[-1], **terms[-2]}})
    for k, parts in enumerate(terms):
        system.add(Coupling(f"coupling {k}", parts))
    for k in range(rods):
        i, j = rng.choice(len(bodies), 2, replace=False)
        ends = {"point_i": bodies[i].r + rng.normal(size=3), "point_j": bodies[j].r + rng.normal(size=3)}
        system.add(Distance(f"rod {k}", bodies[i], bodies[j], **ends))
    if springs:
        for k in range(2):
            i, j = rng.choice(len(bodies), 2, replace=False)
            at = {"point_i": bodies[i].r, "point_j": bodies[j].r + (0.1, 0.2, 0.3)}
            system.add(TSDA(f"spring {k}", bodies[i], bodies[j], **at, k=1e3, c=5.0, l0=0.5))
    return system
