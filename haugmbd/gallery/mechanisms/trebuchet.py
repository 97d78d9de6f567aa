r"""A trebuchet: a beam with a hinged counterweight, and a sling that carries the stone."""

from __future__ import annotations

from math import cos, radians, sin

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box, combine, rod, sphere
from haugmbd.gallery.building import AXIS, at, frame
from haugmbd.joints import RJ
from haugmbd.system.system import System

SHORT, LONG, HEIGHT, HANGER, SLING = 1.0, 4.0, 3.0, 1.0, 3.5
"""Arms of the beam, height of its axle, lengths of hanger and sling [m]."""


def trebuchet() -> System:
    """Return a trebuchet at the moment of release, in the plane y = 0: the long arm points down, the sling lies along the ground.

    Returns
    -------
    System
        Bodies: "beam", "counterweight" (1000 kg), "sling" (a rod with the stone of 10 kg at its end).  Joints: "axle", "hinge", "tip" (RJ).
        Degrees of freedom: 3.

    Notes
    -----
    The stone leaves the sling where an `Event` says so: the model keeps it.
    """
    axle, down = at(0.0, HEIGHT), radians(-48.0)
    along = at(cos(down), sin(down))
    tip, hinge = axle + LONG * along, axle - SHORT * along
    weight, stone = hinge - at(0.0, HANGER), tip - at(SLING, 0.0)
    system = System("trebuchet", gravity=(0.0, 0.0, -9.81))
    beam = system.add(frame("beam", hinge, tip, density=15.0))
    block = system.add(Body("counterweight", *box((1.0, 1.0, 0.6), mass=1000.0), r=weight))
    parts = (sphere(0.1, mass=10.0).placed(stone), rod(SLING, density=0.2, axis=(1, 0, 0)).placed((stone + tip) / 2.0))
    whole = combine(parts)
    sling = system.add(Body("sling", whole.mass, whole.J_bar, r=whole.center))
    system.add(RJ("axle", system.ground, beam, point=axle, axis=AXIS))
    system.add(RJ("hinge", beam, block, point=hinge, axis=AXIS))
    system.add(RJ("tip", beam, sling, point=tip, axis=AXIS))
    return system
