"""Limits of joints, for formats whose joints have a range."""

from __future__ import annotations

from haugmbd.constraints.joint import Joint
from haugmbd.forces.base import ForceElement
from haugmbd.joints import RJ, TJ


def limit_of(load: ForceElement) -> tuple[Joint, float, float] | None:
    """Return the joint, RJ or TJ, and the limits of a JointLimit from the modelled pose; None for any other load."""
    limited = load.joint_range()
    if limited is None or type(limited.coordinate.joint) not in (RJ, TJ):
        return None
    q = limited.coordinate
    return q.joint, limited.lower - q.q0, limited.upper - q.q0
