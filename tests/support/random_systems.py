"""Small random systems whose rows depend on others, exactly or nearly: trees, loops, doubled joints, whole turns of everything."""

from __future__ import annotations

import numpy as np

from haugmbd import Body, Joint, System
from joints import CJ, RJ, SJ, TJ, UJ, Distance

J_BAR = (0.1, 0.2, 0.25)
NEAR = (0.0, 1e-3, 1e-4, 1e-7, 1e-8, 1e-9)
"""By how much axes and points miss what would make rows dependent [rad, m]; what lies between 1e-4 and 1e-7 is a matter of tolerance."""


def unit(rng: np.random.Generator) -> np.ndarray:
    """A random direction."""
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def random_joint(rng: np.random.Generator, name: str, i: Body, j: Body, point: np.ndarray, axis: np.ndarray) -> Joint:
    """A joint of a random type."""
    kind = rng.choice(["RJ", "SJ", "UJ", "CJ", "TJ", "Distance"], p=[0.4, 0.15, 0.15, 0.1, 0.1, 0.1])
    if kind == "UJ":
        across = np.cross(axis, unit(rng))
        return UJ(name, i, j, point=point, axis_i=axis, axis_j=across / np.linalg.norm(across))
    if kind == "Distance":
        return Distance(name, i, j, point_i=point, point_j=point + rng.uniform(0.3, 2.0) * unit(rng))
    if kind == "SJ":
        return SJ(name, i, j, point=point)
    return {"RJ": RJ, "CJ": CJ, "TJ": TJ}[kind](name, i, j, point=point, axis=axis)


def random_system(seed: int) -> System:
    """A tree of 1 to 5 bodies, with up to four joints more that close loops or double what is there, exactly or nearly."""
    rng = np.random.default_rng(seed)
    system = System(f"random {seed}")
    bodies = [system.ground]
    shared, center = unit(rng), rng.normal(size=3)
    style = rng.choice(["any", "planar", "spherical"])
    miss = float(rng.choice(NEAR))

    def place() -> tuple[np.ndarray, np.ndarray]:
        point = rng.normal(size=3)
        off = miss * rng.normal(size=3) * (rng.random() < 0.3)
        if style == "any":
            return point, unit(rng)
        axis = (shared if style == "planar" else (point - center) / np.linalg.norm(point - center)) + off
        return point, axis / np.linalg.norm(axis)

    made: list[tuple[Body, Body, np.ndarray, np.ndarray]] = []
    for k in range(int(rng.integers(1, 6))):
        body = system.add(Body(f"body {k}", 1.0, J_BAR, r=rng.normal(size=3)))
        parent = bodies[int(rng.integers(len(bodies)))]
        made.append((parent, body, *place()))
        make = RJ if style != "any" and rng.random() < 0.8 else None
        one = made[-1]
        system.add(make(f"joint {k}", *one[:2], point=one[2], axis=one[3]) if make else random_joint(rng, f"joint {k}", *one))
        bodies.append(body)
    for k in range(int(rng.integers(0, 5))):
        name, i, j = f"more {k}", *(bodies[n] for n in rng.choice(len(bodies), 2, replace=False))
        if rng.random() < 0.4:
            i, j, point, axis = made[int(rng.integers(len(made)))]
            axis = axis + miss * rng.normal(size=3)
            point = point + miss * rng.normal(size=3) + axis * rng.normal() * (rng.random() < 0.5)
            system.add(RJ(name, i, j, point=point, axis=axis / np.linalg.norm(axis)))
        elif rng.random() < 0.5:
            point, axis = place()
            system.add(RJ(name, i, j, point=point, axis=axis))
        else:
            system.add(random_joint(rng, name, i, j, *place()))
    return system
