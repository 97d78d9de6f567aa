"""Mechanisms that are struck."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.fixture
def tree(rng):
    """One random tree of six bodies."""
    return random_tree(rng, 6)
