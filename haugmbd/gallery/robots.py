"""Robots and working machines.

The Stewart platform: six legs, each with a universal, a translational and a spherical joint, carry a plate.

Degrees of freedom: 78 - 6 (4 + 5 + 3) = 6: those of the plate.
Source: Stewart, A platform with six degrees of freedom (1965).

The delta robot: three driven arms, six light rods in pairs, and a plate that moves without turning.

Degrees of freedom: 24 - (3 * 5 + 6) = 3, none where the arms are driven.
Source: Clavel, A fast robot with parallel geometry (1988).

An excavator's arm: boom, stick and bucket, moved by three hydraulic cylinders.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.bodies.validation import FloatArray
from haugmbd.drivers import Driver
from haugmbd.forces import TSDA
from haugmbd.gallery.building import AXIS, at, frame
from haugmbd.joints import RJ, SJ, TJ, UJ, Distance, RotationDriver, TranslationDriver
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


DELTA_BASE, ARM, DELTA_PLATE, HALF_GAP = 0.20, 0.25, 0.06, 0.05
"""Radius of the arms' pivots, length of the arms, radius of the plate, half the distance of two rods in a pair [m]."""
DELTA_HEIGHT = -0.45
"""Height of the plate below the base, at the modelled pose [m]."""


def delta_robot(drives: Callable[[int], Any] | None = None) -> System:
    """Return a delta robot with level arms, at rest.

    Parameters
    ----------
    drives : callable, optional
        drives(k) is the angle of arm k = 0, 1, 2 from its modelled pose, a function of time [rad]; by default the arms are free.

    Returns
    -------
    System
        Bodies: "arm 1", "arm 2", "arm 3", "plate".  Joints: "pivot k" (RJ), "rod k left", "rod k right" (Distance) and, if driven,
        "motor k" (RotationDriver).  Degrees of freedom: 3, or 0 if driven.

    Notes
    -----
    The two rods of each pair are parallel and of equal length: together the three pairs keep the plate level.  Source: Clavel (1988).
    """
    system = System("delta robot", gravity=(0.0, 0.0, -9.81))
    centre = np.array([0.0, 0.0, DELTA_HEIGHT])
    plate = Body("plate", *cylinder(DELTA_PLATE, 0.01, mass=0.3), r=centre)
    for k in range(3):
        out = np.array([cos(radians(120.0 * k)), sin(radians(120.0 * k)), 0.0])
        side = np.array([-out[1], out[0], 0.0])
        pivot, elbow, wrist = DELTA_BASE * out, (DELTA_BASE + ARM) * out, centre + DELTA_PLATE * out
        arm = system.add(Body(f"arm {k + 1}", *cylinder(0.01, ARM, mass=0.4, axis=out), r=(pivot + elbow) / 2.0))
        if k == 0:
            system.add(plate)
        joint = system.add(RJ(f"pivot {k + 1}", system.ground, arm, point=pivot, axis=side))
        for name, sign in (("left", 1.0), ("right", -1.0)):
            ends = {"point_i": elbow + sign * HALF_GAP * side, "point_j": wrist + sign * HALF_GAP * side}
            system.add(Distance(f"rod {k + 1} {name}", arm, plate, **ends))
        if drives is not None:
            system.add(RotationDriver(f"motor {k + 1}", joint, drives(k)))
    return system


def excavator(*, strokes: dict[str, float | Driver | Any] | None = None) -> System:
    """Return an excavator's arm in the plane y = 0; its parts weigh 150 kg/m, its cylinders 50 kg each half.

    Parameters
    ----------
    strokes : dict of str to driver, optional
        The strokes of "boom", "stick" and "bucket" from the modelled pose, functions of time [m], positive where a cylinder grows; a
        cylinder without one moves freely.

    Returns
    -------
    System
        Bodies: "boom", "stick", "bucket"; "boom cylinder", "boom piston" and so on.  Joints: "boom foot", "elbow", "wrist" (RJ);
        "boom base", "boom head" (RJ), "boom slide" (TJ) and so on; "boom stroke" (TranslationDriver) and so on, where driven.
        Degrees of freedom: 3, less the number of strokes.
    """
    foot, knee, elbow = at(0.0, 1.2), at(2.2, 3.4), at(4.6, 3.0)
    tail, wrist, tooth = at(4.4, 3.8), at(4.9, 1.0), at(4.2, 0.4)
    lug = at(5.3, 0.7)
    system = System("excavator", gravity=(0.0, 0.0, -9.81))
    boom = system.add(frame("boom", foot, knee, elbow, density=150.0))
    stick = system.add(frame("stick", tail, elbow, wrist, density=150.0))
    bucket = system.add(frame("bucket", wrist, tooth, lug, density=150.0))
    system.add(RJ("boom foot", system.ground, boom, point=foot, axis=AXIS))
    system.add(RJ("elbow", boom, stick, point=elbow, axis=AXIS))
    system.add(RJ("wrist", stick, bucket, point=wrist, axis=AXIS))
    ends = {
        "boom": (system.ground, at(0.6, 0.9), boom, knee),
        "stick": (boom, knee + at(0.0, 0.3), stick, tail),
        "bucket": (stick, at(4.9, 2.9), bucket, lug),
    }
    for name, place in ends.items():
        _add_cylinder(system, name, *place, None if strokes is None else strokes.get(name))
    return system


def _add_cylinder(system: System, name: str, i: Body, start: FloatArray, j: Body, end: FloatArray, stroke: Any) -> None:
    """Add a hydraulic cylinder between a point of body i and a point of body j."""
    way = end - start
    half = cylinder(0.08, 0.6 * float(np.linalg.norm(way)), mass=50.0, axis=way)
    tube = system.add(Body(f"{name} cylinder", *half, r=start + 0.3 * way))
    piston = system.add(Body(f"{name} piston", *half, r=end - 0.3 * way))
    system.add(RJ(f"{name} base", i, tube, point=start, axis=AXIS))
    slide = system.add(TJ(f"{name} slide", tube, piston, point=(start + end) / 2.0, axis=way))
    system.add(RJ(f"{name} head", piston, j, point=end, axis=AXIS))
    if stroke is not None:
        system.add(TranslationDriver(f"{name} stroke", slide, stroke))


def digging(name: str) -> Any:
    """Return the stroke of a cylinder in one scoop of 6 s, a function of time [m]."""
    depth = {"boom": -0.25, "stick": 0.35, "bucket": -0.3}[name]

    def stroke(t: Any) -> Any:
        return 0.5 * depth * (1.0 - np.cos(2.0 * pi * t / 6.0))

    return stroke
