"""The mechanism in which fingerprints are taken: two bodies, a ball joint and a skew hinge, spinning in space, so that every fault acts.

Its energy is constant, and so is its angular momentum about the vertical through the ball joint, which is at the origin.
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.system import System
from haugmbd.verification.formulations import allowed_motion
from haugmbd.verification.mechanisms import Ball, Hinge


def example() -> tuple[Model, State]:
    """Return the model, and a state with velocities that the joints allow."""
    system = System("spinning pair", gravity=(0.0, 0.0, -9.81))
    first, second = (
        system.add(Body(name, 1.3, (0.11, 0.27, 0.35), r=r, p=(0.8, 0.0, 0.6, 0.0)))
        for name, r in (("first", (0.5, 0.0, 0.0)), ("second", (1.2, 0.3, 0.1)))
    )
    system.add(Ball("ball", system.ground, first, (0.0, 0.0, 0.0)))
    system.add(Hinge("hinge", first, second, (1.0, 0.0, 0.0), (0.3, 1.0, 0.2)))
    model = system.compile()
    return model, allowed_motion(model, np.random.default_rng(0))
