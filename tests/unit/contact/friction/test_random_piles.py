"""Random boxes and balls that are dropped on one another, event-driven: each run ends, without chattering, and fulfils the laws."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd

pytestmark = pytest.mark.slow


def pile(seed):
    """One to four boxes and balls above one another, some of them tilted."""
    rng = np.random.default_rng(seed)
    system, z, bodies = mbd.System(f"pile {seed}", gravity=(0, 0, -9.81)), 0.0, []
    for k in range(int(rng.integers(1, 5))):
        is_ball = rng.uniform() < 0.3
        if is_ball:
            half = rng.uniform(0.05, 0.1)
            shape, J = mbd.Sphere(half), (0.4 * half * half,) * 3
        else:
            edges = rng.uniform(0.08, 0.3, 3)
            shape, half, J = mbd.Box(tuple(edges)), edges[2] / 2, tuple((edges[[1, 0, 0]] ** 2 + edges[[2, 2, 1]] ** 2) / 12)
        m, tilt = rng.uniform(0.2, 3), rng.choice([0, 1]) * rng.uniform(-0.4, 0.4, 3)
        angle = float(np.linalg.norm(tilt))
        reach = np.linalg.norm(edges) / 2 if not is_ball and angle > 0.0 else half
        z += reach + rng.uniform(0.001, 0.02)
        p = (np.cos(angle / 2), *(np.sin(angle / 2) * tilt / angle if angle > 0.0 else np.zeros(3)))
        r = (*rng.uniform(-0.03, 0.03, 2), z)
        bodies.append(system.add(mbd.Body(f"b{k}", m, tuple(m * np.array(J)), r=r, p=p, shape=shape)))
        z += reach
    mu, e = rng.uniform(0.1, 0.9), rng.choice([0, 0, rng.uniform(0.1, 0.6)])
    system.add(mbd.Contacts("c", [(system.ground, mbd.Plane()), *bodies], mu=mu, restitution=e))
    return system


@pytest.mark.parametrize(
    ("seed", "t_end"),
    [
        (3, 0.5),  # a stack that comes to rest
        (4, 0.235),  # an edge slides to rest: its two corners stop together
        (7, 0.23),  # a loaded box rocks from edge to edge, faster and faster, and comes to rest
        (8, 0.171),  # a ball begins to slide off, above a box that stands on four corners
        (10, 0.2),  # boxes that turn as one come to rest on one another
        (13, 0.195),  # a corner begins to slide from rest, with the rounding of an impact against its direction
    ],
)
def test_a_pile_ends_and_fulfils_the_laws(seed, t_end):
    result = mbd.simulate(pile(seed), t_end, rtol=1e-8, atol=1e-10)
    assert result.success
    assert len(result.events) < 100
    assert result.check_contacts().worst <= 1e-8
