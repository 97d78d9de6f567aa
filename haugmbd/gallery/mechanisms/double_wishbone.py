r"""A double wishbone suspension: two arms, a knuckle, a tie rod, a strut and a wheel that spins.

Degrees of freedom: 24 - (5 + 5 + 3 + 3 + 1 + 5) = 2, the travel and the spin of the wheel.
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import combine, cylinder, rod
from haugmbd.bodies.validation import FloatArray
from haugmbd.forces import TSDA
from haugmbd.joints import RJ, SJ, Distance
from haugmbd.system.system import System

X = (1.0, 0.0, 0.0)
"""Forward; y is to the left, z upward."""


def double_wishbone() -> System:
    """Return the left front suspension of a car that stands still, with the wheel in the air, at rest.

    Returns
    -------
    System
        Bodies: "lower arm", "upper arm", "knuckle", "wheel".  Joints: "lower bushing", "upper bushing" (RJ), "lower ball", "upper ball"
        (SJ), "tie rod" (Distance), "hub" (RJ).  Forces: "strut" (TSDA).  Degrees of freedom: 2.
    """
    low, high = np.array([0.0, 0.75, 0.20]), np.array([-0.02, 0.68, 0.50])
    hub = np.array([0.0, 0.76, 0.32])
    lower_pins = np.array([[0.18, 0.30, 0.20], [-0.18, 0.30, 0.20]])
    upper_pins = np.array([[0.14, 0.38, 0.48], [-0.14, 0.38, 0.48]])
    rack, steering_arm = np.array([-0.15, 0.32, 0.28]), np.array([-0.15, 0.72, 0.30])
    system = System("double wishbone", gravity=(0.0, 0.0, -9.81))
    lower = system.add(_arm("lower arm", low, lower_pins, 5.0))
    upper = system.add(_arm("upper arm", high, upper_pins, 3.0))
    knuckle = system.add(Body("knuckle", 8.0, (0.06, 0.05, 0.03), r=(low + high) / 2.0))
    wheel = system.add(Body("wheel", *cylinder(0.3, 0.2, mass=18.0, axis=(0, 1, 0)), r=hub))
    system.add(RJ("lower bushing", system.ground, lower, point=lower_pins.mean(axis=0), axis=X))
    system.add(RJ("upper bushing", system.ground, upper, point=upper_pins.mean(axis=0), axis=X))
    system.add(SJ("lower ball", lower, knuckle, point=low))
    system.add(SJ("upper ball", upper, knuckle, point=high))
    system.add(Distance("tie rod", system.ground, knuckle, point_i=rack, point_j=steering_arm))
    system.add(RJ("hub", knuckle, wheel, point=hub, axis=(0, 1, 0)))
    ends = {"point_i": (0.0, 0.45, 0.70), "point_j": (0.0, 0.60, 0.20)}
    system.add(TSDA("strut", system.ground, lower, k=3e4, c=2e3, l0=0.53, **ends))
    return system


def _arm(name: str, ball: FloatArray, pins: FloatArray, mass: float) -> Body:
    """Return a wishbone of two slender rods from its ball to its pins."""
    rods = [rod(float(np.linalg.norm(pin - ball)), mass=mass / 2.0, axis=pin - ball).placed((pin + ball) / 2.0) for pin in pins]
    whole = combine(rods)
    return Body(name, whole.mass, whole.J_bar, r=whole.center)
