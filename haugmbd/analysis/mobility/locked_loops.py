r"""Locked loops: loops of hinges that do not move because the axis of one joint does not fit the others.

    planar      all axes of hinges parallel, slides across them                loops of n such joints have n - 3 degrees of freedom
    spherical   all axes of hinges meet at one point                           the same

If this holds for all joints of a loop but one, and the loop does not move, that one is reported, with the angle or the distance.
Source: Herve (1978), subgroups of displacements in closed loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import asin, degrees
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.mobility.twist_format import direction_word, number, point_word
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind, Side
from haugmbd.graph import Block, fundamental_cycles
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State

PARALLEL_TOL = 1e-4
"""[rad] Angle above which two axes are not parallel: axes typed with five digits are parallel."""

LOCKED_TOL = 1e-5
"""Singular value of the twists of a loop, relative to the largest, above which they are independent."""

LEAST = 4
"""Number of joints of the shortest planar or spherical loop that moves."""

LONGEST = 12
"""Largest number of joints of a loop that is examined; longer loops have freedoms to spare."""


@dataclass(frozen=True)
class LockedLoop:
    """A loop without motion: its joints, the joint that does not fit, and the reason."""

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


def locked_loops(
    model: Model, state: State, length: float, parts: Iterable[tuple[Block, list[JointEntry]]]
) -> tuple[LockedLoop, ...]:
    """Return the loops of blocks, given with their joints, that do not move by themselves, and in which one axis does not fit."""
    A, found = rotation_matrix(state.p), []
    for block, joints in parts:
        single = {entry.name: _axis(state, A, entry) for entry in joints if entry.freedoms is not None and len(entry.freedoms) == 1}
        for loop in _loops(block, joints):
            axes = [single[entry.name] for entry in loop if entry.name in single]
            if len(axes) == len(loop) and _is_locked(axes, length):
                odd = next((odd for k in range(len(axes)) if (odd := _odd(axes[k], axes[:k] + axes[k + 1 :], length))), None)
                if odd is not None:
                    found.append(LockedLoop(tuple(axis.joint for axis in axes), *odd))
    return tuple(found)


def _is_locked(axes: list[_Axis], length: float) -> bool:
    """Return whether the twists of the joints are independent: no rates close the loop."""
    here = axes[0].point
    twists = [
        (*cross(one.point - here, one.axis), *(length * one.axis)) if one.turns else (*one.axis, 0.0, 0.0, 0.0) for one in axes
    ]
    sizes = np.linalg.svd(np.array(twists) / length, compute_uv=False)
    return len(axes) <= len(sizes) and bool(sizes[-1] > LOCKED_TOL * sizes[0])


def _loops(block: Block, joints: list[JointEntry]) -> Iterator[list[JointEntry]]:
    """Yield a loop for each joint that is not in a spanning tree of the block, its joints in their order around it."""
    for cycle in fundamental_cycles(block.base, [(entry.i, entry.j) for entry in joints], LONGEST):
        if len(cycle) >= LEAST:
            yield [joints[e] for e in cycle]


def _axis(state: State, A: Array, entry: JointEntry) -> _Axis:
    """Return the freedom of a joint that declares one."""
    assert entry.freedoms is not None
    (one,) = entry.freedoms
    i_side = one.side is Side.I
    body, s_bar, A_bar = (entry.i, entry.s_bar_i, entry.A_bar_i) if i_side else (entry.j, entry.s_bar_j, entry.A_bar_j)
    return _Axis(entry.name, one.kind is not Kind.SLIDE, A[body] @ A_bar[:, one.axis], state.r[body] + A[body] @ s_bar)


def _odd(one: _Axis, others: list[_Axis], length: float) -> tuple[str, str] | None:
    """Return the name of `one`, and why it does not fit, if all others fit together and it does not."""
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
    """Return the reason if an axis does not fit the axis n of the others."""
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
    """Return the reason if an axis misses the point at which the others meet."""
    across = np.array([np.eye(3) - np.outer(axis.axis, axis.axis) for axis in others])
    right = np.einsum("kab,kb->a", across, np.array([axis.point for axis in others]))
    centre = np.linalg.lstsq(across.sum(axis=0), right, rcond=None)[0]
    misses = [float(np.linalg.norm(cross(axis.axis, centre - axis.point))) for axis in (*others, one)]
    if max(misses[:-1]) > PARALLEL_TOL * length or misses[-1] < PARALLEL_TOL * length:
        return None
    where = point_word(np.where(np.abs(centre) < 1e-9 * length, 0.0, centre))
    return one.joint, f"the axes of the others meet at {where}, and that of {one.joint!r} misses it by {number(misses[-1])} m"


def _sine(a: Array, b: Array) -> float:
    """Return the sine of the angle between two unit axes."""
    return float(np.linalg.norm(cross(a, b)))
