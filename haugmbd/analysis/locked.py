r"""Loops that do not move though hinges alike would: the joint whose axis does not fit the others.

    planar      all axes of hinges parallel, slides across them                loops of n such joints have n - 3 degrees of freedom
    spherical   all axes of hinges meet at one point                           the same

Where that holds for all joints of a loop but one, and the loop does not move, that one is named, with the angle or the distance.
Source: Herve (1978), subgroups of displacements in closed loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import asin, degrees
from typing import NamedTuple

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.analysis.graph_blocks import Block
from haugmbd.analysis.twist_words import direction_word, number, point_word
from haugmbd.model.model import JointEntry, Model
from haugmbd.model.state import State
from haugmbd.model.subspaces import motion_subspace

PARALLEL_TOL = 1e-4
"""[rad] Axes typed with five digits; a loop whose axes are nearer to parallel than about 1e-5 moves."""

LEAST = 4
"""Joints of the shortest loop of either kind that moves."""

LONGEST = 12
"""Joints of a loop that is looked at: longer ones have freedom to spare."""


@dataclass(frozen=True)
class LockedLoop:
    """A loop without motion: its joints, the odd one, and what is odd about it."""

    joints: tuple[str, ...]
    odd: str
    what: str

    def __str__(self) -> str:
        n = len(self.joints) - 3
        would = f"with an axis that fits the loop would have {n} degree{'s' * (n > 1)} of freedom"
        return f"the loop of {', '.join(map(repr, self.joints))} is locked: {self.what}; {would}"


class _Axis(NamedTuple):
    """The single freedom of a joint: a turn about a unit axis through a point, or a slide along it."""

    joint: str
    turns: bool
    axis: Array
    point: Array


def locked_loops(model: Model, state: State, length: float, block: Block, joints: list[JointEntry]) -> tuple[LockedLoop, ...]:
    """The loops of a block without motion in which one axis does not fit."""
    found = []
    for loop in _loops(block, joints):
        axes = [axis for entry in loop if (axis := _single(model, state, entry)) is not None]
        if len(axes) == len(loop) >= LEAST:
            names = tuple(axis.joint for axis in axes)
            odd = next((odd for k in range(len(axes)) if (odd := _odd(axes[k], axes[:k] + axes[k + 1 :], length))), None)
            if odd is not None:
                found.append(LockedLoop(names, *odd))
    return tuple(found)


def _loops(block: Block, joints: list[JointEntry]) -> Iterator[list[JointEntry]]:
    """A loop for each joint that is not in a spanning tree of the block."""
    up: dict[int, tuple[int, JointEntry | None]] = {block.base: (block.base, None)}
    left = list(joints)
    queue = [block.base]
    for body in queue:
        for entry in list(left):
            other = {entry.i: entry.j, entry.j: entry.i}.get(body)
            if other is not None and other not in up:
                up[other] = (body, entry)
                queue.append(other)
                left.remove(entry)
    for entry in left:
        if entry.i in up and entry.j in up:
            there, back = (list(_way(up, body)) for body in (entry.i, entry.j))
            own = {e.name for e in there} ^ {e.name for e in back}
            loop = [e for e in (*there[::-1], entry, *back) if e is entry or e.name in own]
            if len(loop) <= LONGEST:
                yield loop


def _way(up: dict[int, tuple[int, JointEntry | None]], body: int) -> Iterator[JointEntry]:
    """The joints from a body to the base."""
    before, entry = up[body]
    while entry is not None:
        yield entry
        before, entry = up[before]


def _single(model: Model, state: State, entry: JointEntry) -> _Axis | None:
    """The freedom of a joint that has one."""
    if entry.freedoms is None or len(entry.freedoms) != 1:
        return None
    (twist,) = motion_subspace(model, state, entry.name).T
    turn = float(np.linalg.norm(twist[3:]))
    if turn == 0.0:
        return _Axis(entry.name, False, twist[:3] / np.linalg.norm(twist[:3]), np.zeros(3))
    return _Axis(entry.name, True, twist[3:] / turn, np.cross(twist[3:], twist[:3]) / turn**2)


def _odd(one: _Axis, others: list[_Axis], length: float) -> tuple[str, str] | None:
    """The name of `one`, and what is odd about it, where all others fit together and it does not."""
    turning = [axis for axis in others if axis.turns]
    if len(turning) < 2:
        return None
    n = turning[0].axis
    if all(_sine(axis.axis, n) < PARALLEL_TOL for axis in turning):
        if all(abs(axis.axis @ n) < PARALLEL_TOL for axis in others if not axis.turns):
            return _not_planar(one, n)
        return None
    if len(turning) < len(others) or not one.turns:
        return None
    return _not_spherical(one, others, length)


def _not_planar(one: _Axis, n: Array) -> tuple[str, str] | None:
    """An axis that does not fit the axis n of the others."""
    off = _sine(one.axis, n) if one.turns else abs(float(one.axis @ n))
    if off < PARALLEL_TOL:
        return None
    should = "parallel to" if one.turns else "across"
    n = n if n[np.argmax(np.abs(n))] > 0.0 else -n
    kind = "axis" if one.turns else "slide"
    angle = number(degrees(asin(min(1.0, off))))
    return (
        one.joint,
        f"the others turn about {direction_word(n)}, and the {kind} of {one.joint!r} is {angle} degrees off {should} it",
    )


def _not_spherical(one: _Axis, others: list[_Axis], length: float) -> tuple[str, str] | None:
    """An axis that misses the point at which the others meet."""
    across = np.array([np.eye(3) - np.outer(axis.axis, axis.axis) for axis in others])
    right = np.einsum("kab,kb->a", across, np.array([axis.point for axis in others]))
    centre = np.linalg.lstsq(across.sum(axis=0), right, rcond=None)[0]
    misses = [float(np.linalg.norm(np.cross(axis.axis, centre - axis.point))) for axis in (*others, one)]
    if max(misses[:-1]) > PARALLEL_TOL * length or misses[-1] < PARALLEL_TOL * length:
        return None
    where = point_word(np.where(np.abs(centre) < 1e-9 * length, 0.0, centre))
    return one.joint, f"the axes of the others meet at {where}, and that of {one.joint!r} misses it by {number(misses[-1])} m"


def _sine(a: Array, b: Array) -> float:
    """Of the angle between two unit axes."""
    return float(np.linalg.norm(np.cross(a, b)))
