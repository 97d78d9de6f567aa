"""Limits of joints, for formats whose joints have a range."""

from __future__ import annotations

from haugmbd.constraints.joint import Joint
from haugmbd.forces import JointLimit
from haugmbd.forces.base import ForceElement
from haugmbd.joints import RJ, TJ


def limit_of(load: ForceElement) -> tuple[Joint, float, float] | None:
    """Return the joint, RJ or TJ, and the limits of a JointLimit from the modelled pose; None for any other load."""
    if not isinstance(load, JointLimit) or len(load.coordinates()) != 1:
        return None
    (coordinate,) = load.coordinates()
    if type(coordinate.joint) not in (RJ, TJ):
        return None
    return coordinate.joint, load.lower - coordinate.q0, load.upper - coordinate.q0
