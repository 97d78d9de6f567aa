r"""An excavator's arm: boom, stick and bucket, moved by three hydraulic cylinders."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.bodies.validation import FloatArray
from haugmbd.drivers import Driver
from haugmbd.gallery.building import AXIS, at, frame
from haugmbd.joints import RJ, TJ, TranslationDriver
from haugmbd.system.system import System


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
