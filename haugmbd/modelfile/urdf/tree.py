r"""The tree of a robot at given joint coordinates: poses of links, links that move together, and their common inertia.

    T_child = T_parent T(origin) T(q),     T(q): rotation by q about the axis, or translation by q along it
    m = sum m_k      m c = sum m_k c_k      J = sum J_k + m_k (d_k.d_k I - d_k d_k^T),   d_k = c_k - c     (parallel-axis theorem)

Source: Featherstone (2008), sec. 4.4, kinematic trees; sec. 2.13, rigid-body inertia.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import inertia_defects
from haugmbd.bodies.inertia import MassProperties, combine
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.modelfile.imports import IDENTITY, Transform
from haugmbd.modelfile.urdf.robot import SLIDING, TURNING, UNIVERSAL, Robot, UrdfJoint
from haugmbd.modelfile.values import finite
from haugmbd.tolerances import ROUNDING, rounding_of_inertia

SHIFTED = ROUNDING
"""Relative to m c^2 of a link with its centre at the distance c from its origin: a smaller moment is rounding of a shift of the axes."""


class Group(NamedTuple):
    """Links that move together: the first of them, their poses in its frame, and their common inertia there (None: no mass)."""

    first: str
    poses: dict[str, Transform]
    inertia: MassProperties | None


def carrying(robot: Robot, merge_fixed: bool) -> frozenset[str]:
    """Return the first links of the groups without mass that carry one with mass: joints give their motion from that of this one."""
    found = groups(robot, merge_fixed)
    leader = {link: first for first, group in found.items() for link in group.poses}
    child_of = {first: list[str]() for first in found}
    for joint in robot.joints.values():
        parent, child = leader[joint.parent], leader[joint.child]
        if parent != child and joint.type in TURNING + SLIDING:
            child_of[parent].append(child)

    def carries(first: str) -> bool:
        waiting, seen = list(child_of[first]), {first}
        while waiting:
            child = waiting.pop()
            if child in seen:
                continue
            seen.add(child)
            inertia = found[child].inertia
            if inertia is not None and inertia.mass > 0.0:
                return True
            waiting.extend(child_of[child])
        return False

    return frozenset(first for first, group in found.items() if group.inertia is None and carries(first))


def guided(robot: Robot, merge_fixed: bool) -> frozenset[str]:
    """Return those and, of a robot with loops, all groups without mass that joints connect: loops may give the motion of their ends."""
    found = groups(robot, merge_fixed)
    leader = {link: first for first, group in found.items() for link in group.poses}
    moved = {leader[joint.child] for joint in robot.joints.values() if joint.type in (*TURNING, *SLIDING, "spherical", UNIVERSAL)}
    light = frozenset(first for first in moved if found[first].inertia is None)
    ends = any(joint.type == "spherical" for joint in robot.joints.values())
    return light if robot.loops or ends else carrying(robot, merge_fixed)


def coordinates(robot: Robot, given: Mapping[str, float] | None) -> dict[str, float]:
    """Return the coordinate of every joint that turns or slides: as given, of its mimic, or 0. Raise UsageError for other joints."""
    movable = {name: joint for name, joint in robot.joints.items() if joint.type in TURNING + SLIDING}
    q: dict[str, float] = {}
    for name, value in (given or {}).items():
        number = finite(value) if not isinstance(value, np.generic) else finite(value.item())
        if name not in movable:
            raise UsageError(f"q: no joint {name!r} turns or slides{did_you_mean(str(name), movable)}.")
        mimic = movable[name].mimic
        if mimic is not None:
            raise UsageError(f"q: joint {name!r} follows {mimic[0]!r}: give that one.")
        if number is None:
            raise UsageError(f"q: the coordinate of {name!r} is {value!r}, must be a finite number.")
        q[name] = number
    for name in movable:
        _follow(robot, name, q)
    return q


def _follow(robot: Robot, name: str, q: dict[str, float]) -> None:
    """Put the coordinate of a joint, and of those that it follows."""
    chain = [name]
    while chain[-1] not in q:
        mimic = robot.joints[chain[-1]].mimic
        if mimic is None:
            q[chain[-1]] = 0.0
            break
        chain.append(mimic[0])
    for follower, leader_name in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        _, multiplier, offset = robot.joints[follower].mimic  # type: ignore[misc]
        q[follower] = multiplier * q[leader_name] + offset


def motion(joint: UrdfJoint, q: float) -> Transform:
    """Return T(q)."""
    if joint.type in SLIDING:
        return Transform(np.eye(3), q * joint.axis)
    if joint.type not in TURNING or q == 0.0:
        return IDENTITY
    a, K = joint.axis, _skew(joint.axis)
    return Transform(cos(q) * np.eye(3) + sin(q) * K + (1.0 - cos(q)) * np.outer(a, a), np.zeros(3))


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def poses(robot: Robot, q: Mapping[str, float]) -> dict[str, Transform]:
    """Return the global pose of every link; the root link is at the origin."""
    found = {robot.root: IDENTITY}
    for joint in robot.in_tree_order():
        found[joint.child] = found[joint.parent] @ joint.origin @ motion(joint, q.get(joint.name, 0.0))
    return found


def groups(robot: Robot, merge_fixed: bool) -> dict[str, Group]:
    """Return the groups of links that move together, by the name of their first link.

    A link without mass is part of its parent's group if it is fixed to it, whatever `merge_fixed` is.
    """
    first = {robot.root: robot.root}
    inside = {robot.root: IDENTITY}
    for joint in robot.in_tree_order():
        if joint.type == "fixed" and (merge_fixed or robot.links[joint.child].inertia is None):
            first[joint.child], inside[joint.child] = first[joint.parent], inside[joint.parent] @ joint.origin
        else:
            first[joint.child], inside[joint.child] = joint.child, IDENTITY
    found: dict[str, dict[str, Transform]] = {}
    for link, leader in first.items():
        found.setdefault(leader, {})[link] = inside[link]
    return {leader: Group(leader, members, _common(robot, members)) for leader, members in found.items()}


def _common(robot: Robot, members: dict[str, Transform]) -> MassProperties | None:
    """Return the inertia of links in the frame of the first one; None if none has mass."""
    parts = []
    for link, pose in members.items():
        own = robot.links[link].inertia
        if own is not None:
            parts.append(own if pose is IDENTITY else own.placed(pose.r + pose.A @ own.center, pose.A))
    if len(parts) < 2:
        return parts[0] if parts else None
    if not any(part.mass for part in parts):
        return MassProperties(0.0, np.sum([part.J_bar for part in parts], axis=0))
    return combine(parts)


def without_rounding(inertia: MassProperties) -> tuple[MassProperties, str]:
    """Return the inertia of a point mass where one that no rigid body can have is rounding, and what was changed; "" if nothing was."""
    if not inertia_defects(inertia.J_bar):
        return inertia, ""
    shifted = SHIFTED * inertia.mass * float(inertia.center @ inertia.center)
    if not np.abs(inertia.J_bar).max() <= max(shifted, rounding_of_inertia(inertia.mass)):
        return inertia, ""
    moments = ", ".join(f"{a:.4g}" for a in np.linalg.eigvalsh(0.5 * (inertia.J_bar + inertia.J_bar.T)))
    point = MassProperties(inertia.mass, np.zeros((3, 3)), inertia.center)
    return point, f"principal moments ({moments}) kg m2 are rounding beside {inertia.mass:g} kg: it is a point mass"


def physical(inertia: MassProperties) -> tuple[MassProperties, str]:
    """Return the nearest inertia that a rigid body can have, and what was changed; "" if nothing was.

    Negative principal moments become 0; where J3 > J1 + J2, half of the excess is added to J1 and to J2. Moments that are rounding beside
    that of the mass about the origin of its link become 0, if some are wrong: they are left from a shift of the axes.
    """
    if not inertia_defects(inertia.J_bar):
        return inertia, ""
    moments, axes = np.linalg.eigh(0.5 * (inertia.J_bar + inertia.J_bar.T))
    rounding = SHIFTED * inertia.mass * float(inertia.center @ inertia.center)
    better = np.where(np.abs(moments) <= rounding, 0.0, np.maximum(moments, 0.0))
    better[:2] += max(0.0, 0.5 * float(better[2] - better[0] - better[1]))
    note = ", ".join(f"{a:.4g}" for a in moments), ", ".join(f"{b:.4g}" for b in better)
    repaired = MassProperties(inertia.mass, axes @ np.diag(better) @ axes.T, inertia.center)
    return repaired, f"principal moments ({note[0]}) became ({note[1]}) kg m2"
