"""Integrated angles that follow a pose, all at once, against the elements' own formulas one by one."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd.analysis.initial_model import follow_angles
from haugmbd.math.euler_parameters import normalized
from joints import RJ, UJ, Gear


def machine():
    """A spring on a hinge that begins at 0.4 rad, a motor about an axis of a universal joint, and two geared shafts."""
    system = mbd.System("angles")
    a, b, c, d = (system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(k, 0, 0))) for k, name in enumerate("abcd"))
    hinge = system.add(RJ("hinge", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1), q0=0.4))
    cross = system.add(UJ("cross", a, b, point=(0.5, 0, 0), axis_i=(0, 1, 0), axis_j=(0, 0, 1)))
    shafts = [system.add(RJ(f"shaft {body.name}", system.ground, body, point=body.r, axis=(1, 0, 0))) for body in (c, d)]
    system.add(Gear("gear", *shafts, ratio=2.0))
    system.add(mbd.RSDA("spring", hinge, k=2.0))
    system.add(mbd.Motor("motor", cross.coordinate("angle", 1), torque=0.0))
    return system


def test_all_angles_at_once_are_those_of_the_elements():
    model, rng = machine().compile(), np.random.default_rng(3)
    count = len(model.state().angles)
    assert count == 4
    for _ in range(5):
        bodies = np.zeros((model.nb + 1, 13))
        bodies[:, 3:7] = normalized(rng.normal(size=(model.nb + 1, 4)))
        bodies[0, 3:7] = (1, 0, 0, 0)
        near = rng.uniform(-30.0, 30.0, count)
        wanted, found = near.copy(), near.copy()
        for entry in model.loads:
            if entry.load.angles:
                wanted[entry.angle] = entry.load.arguments(bodies[list(entry.bodies)][:, None], near[[entry.angle]])[0][0]
        for coordinate, column in model.angles:
            wanted[column] = coordinate.angle_near({body: bodies[model.bodies.index(body)] for body in model.bodies}, near[column])
        follow_angles(model, bodies, found)
        np.testing.assert_allclose(found, wanted, atol=1e-13)  # rounding of ten turns
        assert np.abs(found - near).max() <= np.pi
