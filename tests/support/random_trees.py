"""Random trees of bodies, and what strikes them."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ, UJ

KINDS = (
    lambda name, i, j, P, a, b: RJ(name, i, j, point=P, axis=a),
    lambda name, i, j, P, a, b: SJ(name, i, j, point=P),
    lambda name, i, j, P, a, b: UJ(name, i, j, point=P, axis_i=a, axis_j=np.cross(a, b)),
    lambda name, i, j, P, a, b: CJ(name, i, j, point=P, axis=a),
    lambda name, i, j, P, a, b: TJ(name, i, j, point=P, axis=a),
)


def random_tree(rng: np.random.Generator, n: int, *, free: bool = False):
    """A system of n bodies in random poses, each on an earlier one by a random joint; free: the first hangs on nothing."""
    system = mbd.System("tree")
    bodies = [system.ground]
    for k in range(n):
        p, J = rng.normal(size=4), 0.05 + 0.05 * rng.random(3)
        r = np.array([k, 0.0, 0.0]) + rng.normal(size=3)
        body = mbd.Body(f"b{k}", 0.5 + rng.random(), J, r=r, p=p / np.linalg.norm(p))
        parent = bodies[rng.integers(len(bodies))] if k else bodies[0]
        bodies.append(system.add(body))
        if k == 0 and free:
            continue
        make = KINDS[rng.integers(len(KINDS))]
        system.add(make(f"j{k}", parent, body, rng.normal(size=3), *rng.normal(size=(2, 3))))
    return system


def random_blows(rng, system):
    bodies = system.bodies[1:]
    a, b, c, d = (bodies[k] for k in rng.integers(len(bodies), size=4))
    return (
        mbd.PointImpulse("blow", a, point=rng.normal(size=3), impulse=rng.normal(size=3)),
        mbd.PointImpulse("push", b, impulse=rng.normal(size=3), frame="body"),
        mbd.AngularImpulse("twist", c, impulse=rng.normal(size=3)),
        mbd.AngularImpulse("turn", d, impulse=rng.normal(size=3), frame="body"),
    )


def random_contacts(rng, system, n, e=None):
    bodies, found = system.bodies, []
    for k in range(n):
        i, j = rng.choice(len(bodies), size=2, replace=False)
        at = {"point": rng.normal(size=3), "normal": rng.normal(size=3), "radius": 0.2 * rng.random()}
        found.append(mbd.Contact(f"c{k}", bodies[i], bodies[j], restitution=rng.random() if e is None else e, **at))
    return tuple(found)
