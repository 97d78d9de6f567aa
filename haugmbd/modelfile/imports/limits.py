r"""Limits of joints of a file as stops, added when the loops are closed.

coordinate    here q is zero at the modelled pose:  lower - q_0, upper - q_0,   q_0 the coordinate of the file at that pose
stiffness     as given; or the largest force of the joint (its effort) moves a stop by YIELD
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from haugmbd.constraints.coordinate import Coordinate
from haugmbd.errors import UsageError
from haugmbd.forces import JointLimit
from haugmbd.modelfile.parts.joint_loads import value_at
from haugmbd.modelfile.values import finite
from haugmbd.system.system import System

YIELD = {True: 1e-2, False: 1e-3}
"""By how much a stop gives way under the largest force of its joint: angles [rad], displacements [m]."""
FAR = 1e3
"""[rad], [m] A limit of this size or more is not a limit."""


class Limit(NamedTuple):
    """Limits of a joint of a file.

    name: of the joint in the file;  coordinate: of the system as read, and the sign of the file's one along it;  lower, upper: in the
    file's coordinate, whose value is q in the system as read;  effort: largest force, 0 if it is not known
    """

    name: str
    coordinate: Coordinate
    sense: float
    lower: float
    upper: float
    q: float
    effort: float


class Stops(NamedTuple):
    """The limits of a file, for the report: the stops that were made, what was not read, and what is doubtful."""

    substituted: list[str]
    ignored: list[str]
    warnings: list[str]


def read_stiffness(given: Any) -> float | None:
    """Return the stiffness of stops that the caller gives. Raise UsageError unless it is positive."""
    number = finite(given.item() if isinstance(given, np.generic) else given)
    if given is not None and (number is None or number <= 0.0):
        raise UsageError(f"stop_stiffness is {given!r:.60}, must be a positive number [N m/rad or N/m].")
    return number


def add_stops(limits: list[Limit], before: System, after: System, stiffness: float | None) -> Stops:
    """Add a JointLimit for each limit to the closed system `after`; `before` is the system as read."""
    states = {
        body: np.concatenate([other.r, other.p, other.v, other.omega_bar])
        for body, other in zip(before.bodies, after.bodies, strict=True)
    }
    joints = {joint.name: joint for joint in after.joints}
    warnings, kinds, soft = list[str](), Counter[str](), 0
    for limit in limits:
        own = limit.coordinate
        q = limit.q + limit.sense * (value_at(own, states) - own.q0) if before is not after else limit.q
        if not limit.lower < limit.upper:
            warnings.append(f"joint {limit.name!r} has the limits {limit.lower:g} to {limit.upper:g}, between which it cannot be")
            continue
        if not limit.lower <= q <= limit.upper:
            note = f"joint {limit.name!r} is modelled at {q:.4g}, outside its limits {limit.lower:g} to {limit.upper:g}"
            warnings.append(f"{note}; they were not read")
            continue
        k = stiffness if stiffness is not None else limit.effort / YIELD[own.turns]
        if not 0.0 < k < np.inf:
            soft += 1
            continue
        ends = sorted(limit.sense * (x - q) for x in (limit.lower, limit.upper))
        bounds = {key: x for key, x in zip(("lower", "upper"), ends, strict=True) if abs(x) < FAR}
        if bounds:
            kinds["joint limits"] += 1
            joint = joints[own.joint.name].coordinate(own.what, own.number)
            after.add(JointLimit(f"{limit.name} limit", joint, k=k, **bounds))
    how = "k = stop_stiffness" if stiffness is not None else "which the effort of the joint moves by 0.01 rad or 0.001 m"
    ignored = [f"joint limits ({soft}), because they have no stiffness: give stop_stiffness="] if soft else []
    return Stops([f"{what} ({n}) became JointLimit, {how}" for what, n in kinds.items()], ignored, warnings)
