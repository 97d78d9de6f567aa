r"""The Stewart platform: six legs, each with a universal, a translational and a spherical joint, carry a plate.

Degrees of freedom: 78 - 6 (4 + 5 + 3) = 6: those of the plate.
Source: Stewart, A platform with six degrees of freedom (1965).
"""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.bodies.validation import FloatArray
from haugmbd.forces import TSDA
from haugmbd.joints import SJ, TJ, UJ
from haugmbd.system.system import System

HEIGHT, BASE, PLATE = 1.0, 1.0, 0.6
"""Height of the plate and radii of the joints on base and plate [m]."""


def stewart_platform() -> System:
    """Return a Stewart platform at rest, whose legs are springs and dampers that carry the plate; leg 1 pushes with 1000 N too much.

    Returns
    -------
    System
        Bodies: "plate", "cylinder k", "piston k" for k = 1 ... 6.  Joints: "base k" (UJ), "slide k" (TJ), "ball k" (SJ).
        Forces: "leg k" (TSDA).  Degrees of freedom: 6.

    Notes
    -----
    Source: Stewart (1965).
    """
    system = System("Stewart platform", gravity=(0.0, 0.0, -9.81))
    plate = system.add(Body("plate", *cylinder(PLATE, 0.05, mass=20.0), r=(0.0, 0.0, HEIGHT)))
    for k in range(6):
        side = 1.0 if k % 2 else -1.0
        foot = _on_circle(BASE, 120.0 * (k // 2) + side * 12.0, 0.0)
        head = _on_circle(PLATE, 120.0 * (k // 2) + side * 48.0, HEIGHT)
        _add_leg(system, plate, k + 1, foot, head)
    return system


def _on_circle(radius: float, degrees: float, height: float) -> FloatArray:
    return np.array([radius * cos(radians(degrees)), radius * sin(radians(degrees)), height])


def _add_leg(system: System, plate: Body, k: int, foot: FloatArray, head: FloatArray) -> None:
    """Add a leg from `foot` to `head`; a sixth of the weight lies on its spring."""
    length = float(np.linalg.norm(head - foot))
    along = (head - foot) / length
    across = np.cross(along, (0.0, 0.0, 1.0))
    half = cylinder(0.03, 0.6 * length, mass=2.0, axis=along)
    lower = system.add(Body(f"cylinder {k}", *half, r=foot + 0.3 * length * along))
    upper = system.add(Body(f"piston {k}", *half, r=head - 0.3 * length * along))
    system.add(UJ(f"base {k}", system.ground, lower, point=foot, axis_i=across, axis_j=np.cross(along, across)))
    system.add(TJ(f"slide {k}", lower, upper, point=(foot + head) / 2.0, axis=along))
    system.add(SJ(f"ball {k}", upper, plate, point=head))
    load = (20.0 + 6.0 * 2.0) * 9.81 / 6.0 / along[2] + (1000.0 if k == 1 else 0.0)
    system.add(
        TSDA(
            f"leg {k}",
            lower,
            upper,
            point_i=foot,
            point_j=head,
            k=2e4,
            c=100.0,
            l0=length + load / 2e4,
        )
    )
