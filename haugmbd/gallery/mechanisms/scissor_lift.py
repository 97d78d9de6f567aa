r"""A scissor lift: pairs of bars that cross in their middles, and a platform that rises level."""

from __future__ import annotations

from math import cos, sin

from haugmbd.errors import UsageError
from haugmbd.gallery.building import AXIS, at, check_count, frame
from haugmbd.joints import RJ, PointInPlane
from haugmbd.system.system import System

BAR = 1.0
"""Length of the bars [m]."""


def scissor_lift(stages: int = 3, angle: float = 0.5) -> System:
    """Return a scissor lift of slender rods (1 kg/m) with a platform of the same, at rest.

    Parameters
    ----------
    stages : int
        Number of crossed pairs, at least 1.
    angle : float
        Angle of the bars from the horizontal [rad].

    Returns
    -------
    System
        Bodies: "rising k", "falling k" for each stage, "platform".  Joints: "foot" (RJ), "roller" (PointInPlane) below, "pin k" (RJ) in
        the middles, "left k", "right k" (RJ) between stages, "top" (RJ), "top roller" (PointInPlane).  Degrees of freedom: 1.

    Raises
    ------
    UsageError
        If `stages` is not a positive whole number, or the angle is not between 0 and 1.57.

    Notes
    -----
    The platform is at the height stages * 1 m * sin(angle).
    """
    check_count("scissor_lift", stages, "stages")
    if not 0.0 < angle < 1.57:  # noqa: PLR2004
        raise UsageError(f"scissor_lift(angle={angle!r}): give an angle between 0 and 1.57 rad.")
    wide, high = BAR * cos(angle), BAR * sin(angle)
    system = System(f"scissor lift of {stages}", gravity=(0.0, 0.0, -9.81))
    rising, falling = [], []
    for k in range(stages):
        rising.append(system.add(frame(f"rising {k}", at(0.0, k * high), at(wide, (k + 1) * high))))
        falling.append(system.add(frame(f"falling {k}", at(wide, k * high), at(0.0, (k + 1) * high))))
        system.add(RJ(f"pin {k}", rising[k], falling[k], point=at(wide / 2.0, (k + 0.5) * high), axis=AXIS))
        if k:
            system.add(RJ(f"left {k}", falling[k - 1], rising[k], point=at(0.0, k * high), axis=AXIS))
            system.add(RJ(f"right {k}", rising[k - 1], falling[k], point=at(wide, k * high), axis=AXIS))
    top = stages * high
    platform = system.add(frame("platform", at(0.0, top), at(BAR, top)))
    system.add(RJ("foot", system.ground, rising[0], point=at(0.0, 0.0), axis=AXIS))
    system.add(PointInPlane("roller", system.ground, falling[0], point=at(wide, 0.0), normal=(0, 0, 1)))
    system.add(RJ("top", platform, falling[-1], point=at(0.0, top), axis=AXIS))
    system.add(PointInPlane("top roller", platform, rising[-1], point=at(wide, top), normal=(0, 0, 1)))
    return system
