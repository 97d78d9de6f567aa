"""Systems with compliant contact."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd

G = 9.81
SPEED = float(np.sqrt(2.0 * G * 0.5))
"""[m/s] after a fall of half a metre."""


def ball_on_floor(height=0.0, *, speed=None, e=1.0, K=1e6, model=None, mu=0.0, gravity=G, along=0.0, creep=1e-3, floor_speed=1e-3):
    """Return a ball of 1 kg and radius 0.1 m above the floor, and its contact; speed: down, by default SPEED after the fall."""
    system = mbd.System("ball", gravity=(0, 0, -gravity))
    down = SPEED if speed is None and height == 0.0 else 0.0 if speed is None else speed
    ball = system.add(mbd.Body("ball", 1.0, (0.004,) * 3, r=(0, 0, 0.1 + height), v=(along, 0, -down)))
    floor = mbd.ContactForce(
        "floor",
        ball,
        system.ground,
        shape_i=mbd.Sphere(0.1),
        shape_j=mbd.Plane(),
        K=K,
        model=model or mbd.HuntCrossley(),
        restitution=e,
        mu=mu,
        creep=creep,
        floor_speed=floor_speed,
    )
    return system, system.add(floor)


PAIRS = {
    "sphere and plane": lambda: (mbd.Sphere(60.0, center=(0.1, 0.2, 0.3)), mbd.Plane(point=(0.1, 0, 0.2), normal=(0.3, 0.1, 1))),
    "plane and sphere": lambda: (mbd.Plane(point=(0.1, 0, 0.2), normal=(0.3, 0.1, 1)), mbd.Sphere(60.0)),
    "spheres": lambda: (mbd.Sphere(40.0, center=(0.1, 0.2, 0.3)), mbd.Sphere(50.0, center=(-0.1, 0.2, 0.3))),
    "sphere in a hole": lambda: (
        mbd.Sphere(0.5, center=(0.1, 2.2, 0.3)),
        mbd.Cylinder(1.0, 2.0, inner_radius=0.51, axis=(1, 2, 3)),
    ),
    "disc and plane": lambda: (mbd.Cylinder(60.0, 0.0, axis=(1, 2, 3)), mbd.Plane(normal=(1, 0, 0.2))),
    "cylinder and plane": lambda: (mbd.Cylinder(60.0, 1.0, axis=(1, 2, 3), center=(0.1, 0, 0)), mbd.Plane(normal=(1, 0, 0.2))),
    "box and plane": lambda: (mbd.Box((80, 90, 100), p=(0.5, 0.5, 0.5, 0.5)), mbd.Plane(normal=(1, 0, 0.2))),
}
"""Shapes that are inside one another wherever random states are."""


def deep_pair(name, rng):
    """Return a contact of two moving bodies that are deep inside one another."""
    bodies = [
        mbd.Body(
            each,
            mass,
            J,
            r=0.1 * rng.normal(size=3),
            p=_unit(rng.normal(size=4)),
            v=0.1 * rng.normal(size=3),
            omega_bar=0.1 * rng.normal(size=3),
        )
        for each, mass, J in (("a", 1.0, (0.1, 0.2, 0.25)), ("b", 2.0, (0.3, 0.3, 0.4)))
    ]
    shape_i, shape_j = PAIRS[name]()
    return mbd.ContactForce(
        "c", *bodies, shape_i=shape_i, shape_j=shape_j, K=3.0, restitution=0.7, mu=0.4, creep=0.5, floor_speed=50.0
    )


def _unit(p):
    return p / np.linalg.norm(p)
