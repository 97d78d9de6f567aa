"""What importers of all formats share.

ImportReport      what was read, substituted and ignored, how far loops were open, and what is doubtful
Transform         poses, and the rotation nearest to a matrix of typed digits
substitute, felt, heavy      inertia for bodies without mass, and masses that are doubtful
close_joints      joints closed by `assemble`
add_stops         limits of joints as stops
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import degrees
from typing import Any, NamedTuple

import numpy as np

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.inertia import MassProperties
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.deprecated import public_class
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.forces import JointLimit
from haugmbd.formulations.accelerations import accelerations
from haugmbd.modelfile.files import at_state
from haugmbd.modelfile.parts.joint_loads import value_at
from haugmbd.modelfile.values import finite
from haugmbd.system.checks.contradictions import LEFT_OUT
from haugmbd.system.system import System
from haugmbd.tolerances import TOLD


class LoopClosure(NamedTuple):
    """A joint that was open, or closes a loop: its type, where it was written, and how far it was open as read [m], [rad]."""

    name: str
    type: str
    convention: str
    distance: float
    angle: float


@public_class
@dataclass(frozen=True, eq=False)
class ImportReport:
    """The outcome of an import.

    Attributes
    ----------
    source : str
        The file.
    links, joints : int
        Numbers of links (parts, bodies) and joints in the file.
    body_of : dict of str to str
        The body that each link is part of; "ground" for links that do not move.
    q : dict of str to float
        Joint coordinates of the file's own convention at the pose that was read [rad], [m].
    frames : dict of str to Frame
        The frame of each link, on its body.
    substituted : tuple of str
        What was replaced, and by what.
    ignored : tuple of str
        What was not read.
    loops : tuple of LoopClosure
        The joints that close loops; of formats without trees, the joints that were open.
    iterations : int
        Iterations that closed the loops; 0 if there is none, or if they are still open.
    closed : bool
        Whether all joints are closed at the modelled pose.
    degrees_of_freedom : int or None
        Degrees of freedom at the modelled pose; None if it was not determined because loops are open.
    warnings : tuple of str
        What is doubtful, such as a mass that does not fit the size.
    word : str
        What the file calls a body: link, part, body.
    nothing_moves : str
        What to do where all bodies of the file are the ground.
    """

    source: str
    links: int
    joints: int
    body_of: dict[str, str]
    q: dict[str, float]
    frames: dict[str, Frame]
    substituted: tuple[str, ...]
    ignored: tuple[str, ...]
    loops: tuple[LoopClosure, ...]
    iterations: int
    closed: bool
    degrees_of_freedom: int | None
    warnings: tuple[str, ...]
    word: str = "link"
    nothing_moves: str = ""

    def __str__(self) -> str:
        """Return the report, one fact a line."""
        bodies = len(set(self.body_of.values()) - {"ground"})
        merged = sum(link != body for link, body in self.body_of.items())
        several = {"body": "bodies"}.get(self.word, f"{self.word}s")
        lines = [f"{self.source}: {self.links} {several} and {self.joints} joints; {bodies} bodies ({merged} {several} merged)"]
        if self.degrees_of_freedom is not None:
            lines.append(f"degrees of freedom: {self.degrees_of_freedom}")
        for loop in self.loops:
            gap = f"{loop.distance:.4g} m, {degrees(loop.angle):.4g} degrees"
            lines.append(
                f"{'loop' if self.word == 'link' else 'joint'} {loop.name!r} ({loop.type}, {loop.convention}) was open by {gap}"
            )
        if self.loops or not self.closed:
            lines.append(f"closed in {self.iterations} iterations" if self.closed else "the joints were left open")
        lines += [f"substituted: {text}" for text in self.substituted]
        lines += [f"ignored: {text}" for text in self.ignored]
        lines += [f"warning: {text}" for text in self.warnings]
        lines += [f"nothing moves: {self.nothing_moves}"] if self.nothing_moves and not bodies else []
        return "\n".join(lines)

    __repr__ = __str__


# Poses as a rotation matrix and a translation, and the rotation nearest to a matrix of typed digits.
#
#     T = (A, r):    T_1 T_2 = (A_1 A_2, r_1 + A_1 r_2)        T^-1 = (A^T, -A^T r)
#     nearest rotation to M = U S V^T:    U V^T                (polar decomposition)
#
# Source: Higham (2008), Functions of Matrices, ch. 8.

ORTHONORMAL = 1e-2
"""A matrix that is farther from a rotation than typed digits is a mistake."""
ROUNDED = 1e-12
"""A matrix that is so near to a rotation has only rounding errors, which are not worth a line."""


class Transform(NamedTuple):
    """A pose: rotation matrix (3, 3) and translation [m], (3,)."""

    A: Array
    r: Array

    def __matmul__(self, other: Transform) -> Transform:
        """Return the pose `other`, given in this frame."""
        return Transform(self.A @ other.A, self.r + self.A @ other.r)

    def inverse(self) -> Transform:
        """Return the inverse pose."""
        return Transform(self.A.T, -self.A.T @ self.r)


IDENTITY = Transform(np.eye(3), np.zeros(3))


def nearest_rotation(M: Array) -> tuple[Array | None, float]:
    """Return the rotation nearest to M, and max |M^T M - I|; None for the rotation if M is not near one."""
    if not np.abs(M).max() <= 2.0:
        return None, float("inf")
    gap = float(np.abs(M.T @ M - np.eye(3)).max())
    if not gap <= ORTHONORMAL or np.linalg.det(M) < 0.0:
        return None, gap
    if gap == 0.0:
        return M, gap
    left, _, right = np.linalg.svd(M)
    return left @ right, gap


# Inertia for bodies that a file gives no mass, how much it changes accelerations, and masses that are doubtful.
#
# A small mass m changes accelerations by an error of the first order:    a(2 m) - a(m) = a(m) - a(0) + O(m^2)

SUBSTITUTE_PART = 1e-10
"""Mass of a body without mass that moves alone, as a part of all mass. Accelerations are solved with pivots on each body's own scale, so
that it may be next to nothing, in loops as in trees: it changes accelerations by as much times the condition of the mass matrix, 3e-7 in
robots of 130 joints."""
FELT = 1e-6
"""Relative change of accelerations by substituted masses that is worth a warning: below it, no digits of a file mean more."""
SUBSTITUTE_RADIUS = 0.01
"""Its radius of gyration [m]."""
HEAVY = 100.0
"""A body that is so many times heavier than all others together has probably its mass in another unit."""


def substitute(word: str, name: str, total: float, part: float = SUBSTITUTE_PART) -> tuple[MassProperties, str]:
    """Return a small inertia for a body without mass, and the text for the report; `total`: mass of the others [kg], `part` of it."""
    mass = part * total if total > 0.0 else 1.0
    inertia = MassProperties(mass, np.full(3, mass * SUBSTITUTE_RADIUS**2))
    moments = f"{inertia.J_bar[0, 0]:.4g} kg m2 about every axis"
    return inertia, f"{word} {name!r} has no mass: given {mass:.4g} kg and {moments}, which `kinematics` does not use"


def felt(word: str, names: Collection[str], system: System, doubled: System) -> list[str]:
    """Return a warning if the masses of the named bodies are felt by the others; `doubled`: the same system with twice these masses.

    Where accelerations cannot be computed there is none: what is in their way has an error of its own.
    """
    try:
        model, other = system.compile(), doubled.compile(check_pose=False)
        a, b = accelerations(model), accelerations(other, model.state())
    except HaugmbdError:
        return []
    own = [k for k, body in enumerate(system.bodies) if body.name not in names]
    changes = [
        (float(np.abs(y[own] - x[own]).max(initial=0.0)), float(np.abs(x[own]).max(initial=0.0)))
        for x, y in ((a.v_dot, b.v_dot), (a.omega_bar_dot, b.omega_bar_dot))
    ]
    worst = max((change / size for change, size in changes if size > 0.0), default=0.0)
    if worst <= FELT:
        return []
    given = f"{len(names)} {word}s without mass" if len(names) > 1 else f"{word} {next(iter(names))!r}, which has no mass,"
    what = f"the masses that were given to {given} change accelerations by {worst:.2g} of the largest one"
    return [f"{what}: give masses in the file, or merge {word}s that have none"]


def heavy(word: str, bodies: Iterable[Body]) -> list[str]:
    """Return a warning for each body that is far heavier than all others together."""
    bodies = [body for body in bodies if not body.is_ground]
    whole = sum(body.mass for body in bodies)
    return [
        f"{word} {body.name!r} has a mass of {body.mass:.6g} kg, more than {HEAVY:g} times that of all others"
        for body in bodies
        if 0.0 < HEAVY * (whole - body.mass) < body.mass
    ]


# The joints of an imported mechanism, closed by `assemble`, with the gaps that they had, and the freedom that is left.

OPEN = TOLD
"""Gap of a joint [m], [rad] that is worth a line in a report: far above rounding, far below what matters."""


class Closed(NamedTuple):
    """A mechanism with its joints closed.

    system: at the closed pose;  gaps: distance [m] and angle [rad] of each joint as read, the largest first; empty if nothing was closed;
    closed: whether all joints are closed;  degrees_of_freedom: None if it was not determined;  warnings: of the mobility report
    """

    system: System
    gaps: dict[str, tuple[float, float]]
    iterations: int
    closed: bool
    degrees_of_freedom: int | None
    warnings: list[str]


def close_joints(system: System, may_be_open: bool, close: bool) -> Closed:
    """Return the system with its joints closed, if they may be open and shall be closed.

    Raise AssemblyError, with the joints, if they cannot be closed.
    """
    gaps: dict[str, tuple[float, float]] = {}
    told: list[str] = []
    iterations, closed = 0, not may_be_open
    if may_be_open and close and len(system.bodies) > 1:
        assembly = assemble(system)
        gaps = {gap.joint: (gap.distance, gap.angle) for gap in assembly.gaps}
        iterations, closed = assembly.iterations, True
        told = [f"{one}: {LEFT_OUT}" for one in assembly.contradictions]
        if iterations or assembly.rate_before > OPEN:
            system = at_state(system, assembly.state)
    freedom, warnings = None, told
    if closed and len(system.bodies) > 1:
        mobile = mobility(system)
        freedom = mobile.degrees_of_freedom
        warnings += [str(fault) for fault in (*mobile.faults, *mobile.warnings)]
    return Closed(system, gaps, iterations, closed, freedom, warnings)


# Limits of joints of a file as stops, added when the loops are closed.
#
# coordinate    here q is zero at the modelled pose:  lower - q_0, upper - q_0,   q_0 the coordinate of the file at that pose
# stiffness     as given; or the largest force of the joint (its effort) moves a stop by YIELD

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
