"""Random trees of joints, some of which are coupled by their angles and displacements."""

from __future__ import annotations

import numpy as np

from haugmbd import Body, System
from joints import CJ, RJ, SJ, TJ, Coupling


def random_geared_tree(seed: int) -> System:
    """Trees of mostly revolute joints, from either side, with couplings of two to four coordinates of joints that are near each other.

    The first coupling of a joint has a coefficient near 1, so that most couplings have one that they are solved for.
    """
    rng = np.random.default_rng(seed)
    system = System(f"geared tree {seed}", gravity=(0.3, -2.0, -9.81))
    bodies, coupled = [system.ground], []
    tips = [np.zeros(3)]
    for k in range(int(rng.integers(3, 14))):
        before = int(rng.integers(max(0, k - 2), k + 1))
        place = tips[before] + rng.normal(size=3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        a = rng.uniform(0.02, 0.3, size=3)
        J_bar = turn @ np.diag(a.sum() - a) @ turn.T
        p = rng.normal(size=4)
        body = Body(f"body {k}", rng.uniform(0.5, 3.0), (J_bar + J_bar.T) / 2.0, r=place, p=p / np.linalg.norm(p))
        bodies.append(system.add(body))
        tips.append(place)
        i, j = (bodies[before], body) if rng.random() < 0.6 else (body, bodies[before])
        at = {"point": place + 0.3 * rng.normal(size=3)}
        kind = (RJ, RJ, RJ, RJ, RJ, SJ, CJ, TJ)[int(rng.integers(8))] if k else RJ
        joint = system.add(kind(f"joint {k}", i, j, **at, **({} if kind is SJ else {"axis": rng.normal(size=3)})))
        if kind in (RJ, TJ):
            coupled.append(joint)
    for n in range(1, len(coupled)):
        if rng.random() < 0.5:
            near = coupled[max(0, n - 3) : n]
            others = rng.choice(len(near), min(len(near), int(rng.integers(1, 4))), replace=False)
            f = (0.0, lambda t: 0.3 * np.sin(2.0 * t))[int(rng.random() < 0.2)]
            parts = {near[k]: float(rng.uniform(-1.0, 1.0)) for k in others}
            system.add(Coupling(f"coupling {n}", {coupled[n]: float(rng.uniform(0.7, 1.5)), **parts}, f=f))
    return system
