"""Probable mistakes: loops of hinges that one axis locks, bodies without joints, inertia in other units, moments in another order, degrees.

Locked loops do not move because the axis of one joint does not fit the others.

    planar      all axes of hinges parallel, slides across them                loops of n such joints have n - 3 degrees of freedom
    spherical   all axes of hinges meet at one point                           the same

If this holds for all joints of a loop but one, and the loop does not move, that one is reported, with the angle or the distance.

What is allowed, but hardly meant.

    k = sqrt(tr J / 2 m)       a radius of gyration [m]: in grams beside kg m2 it is 30 times too small, in kg mm2 1000 times
    a slender body             J1 << J3: its mass is on the axis of J1, where its joints are, too, unless the moments are swapped
    45, 90 or 180 rad          are degrees: a multiple of five that is more than a turn and a half

These are warnings, not faults: the model can be simulated.
Source: Herve (1978), subgroups of displacements in closed loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import asin, degrees
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.mobility.free_motions import direction_word, number, point_word, signed
from haugmbd.bodies.rotor import Rotor
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind, Side
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.forces.base import ForceElement
from haugmbd.graph import Block, Blocks, fundamental_cycles
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.labels import JointEntry, JointFrames
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import Flags

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
    A, loops = rotation_matrix(state.p), []
    for block, joints in parts:
        single = {entry.name: _axis(state, A, entry) for entry in joints if entry.freedoms is not None and len(entry.freedoms) == 1}
        for loop in _loops(block, joints):
            axes = [single[entry.name] for entry in loop if entry.name in single]
            if len(axes) == len(loop) and _is_locked(axes, length):
                odd = next((odd for k in range(len(axes)) if (odd := _odd(axes[k], axes[:k] + axes[k + 1 :], length))), None)
                if odd is not None:
                    loops.append(LockedLoop(tuple(axis.joint for axis in axes), *odd))
    return tuple(loops)


def _is_locked(axes: list[_Axis], length: float) -> bool:
    """Return whether the twists of the joints are independent: no rates close the loop."""
    here = axes[0].point
    twists = [
        (*cross(axis.point - here, axis.axis), *(length * axis.axis)) if axis.turns else (*axis.axis, 0.0, 0.0, 0.0)
        for axis in axes
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
    (freedom,) = entry.freedoms
    i_side = freedom.side is Side.I
    body, s_bar, A_bar = (entry.i, entry.s_bar_i, entry.A_bar_i) if i_side else (entry.j, entry.s_bar_j, entry.A_bar_j)
    return _Axis(entry.name, freedom.kind is not Kind.SLIDE, A[body] @ A_bar[:, freedom.axis], state.r[body] + A[body] @ s_bar)


def _odd(odd: _Axis, others: list[_Axis], length: float) -> tuple[str, str] | None:
    """Return the name of `odd`, and why it does not fit, if all others fit together and it does not."""
    turning = [axis for axis in others if axis.turns]
    if len(turning) < 2:
        return None
    n = turning[0].axis
    if all(_sine(axis.axis, n) < PARALLEL_TOL for axis in turning):
        if all(abs(axis.axis @ n) < PARALLEL_TOL for axis in others if not axis.turns):
            return _not_planar(odd, n)
        return None
    if len(turning) < len(others) or not odd.turns:
        return None
    return _not_spherical(odd, others, length)


def _not_planar(axis: _Axis, n: Array) -> tuple[str, str] | None:
    """Return the reason if an axis does not fit the axis n of the others."""
    off = _sine(axis.axis, n) if axis.turns else abs(float(axis.axis @ n))
    if off < PARALLEL_TOL:
        return None
    should = "parallel to" if axis.turns else "across"
    n = n if n[np.argmax(np.abs(n))] > 0.0 else -n
    kind = "axis" if axis.turns else "slide"
    angle = number(degrees(asin(min(1.0, off))))
    return (
        axis.joint,
        f"the others turn about {direction_word(n)}, and the {kind} of {axis.joint!r} is {angle} degrees off {should} it",
    )


def _not_spherical(odd: _Axis, others: list[_Axis], length: float) -> tuple[str, str] | None:
    """Return the reason if an axis misses the point at which the others meet."""
    across = np.array([np.eye(3) - np.outer(axis.axis, axis.axis) for axis in others])
    right = np.einsum("kab,kb->a", across, np.array([axis.point for axis in others]))
    centre = np.linalg.lstsq(across.sum(axis=0), right, rcond=None)[0]
    misses = [float(np.linalg.norm(cross(axis.axis, centre - axis.point))) for axis in (*others, odd)]
    if max(misses[:-1]) > PARALLEL_TOL * length or misses[-1] < PARALLEL_TOL * length:
        return None
    where = point_word(np.where(np.abs(centre) < 1e-9 * length, 0.0, centre))
    return odd.joint, f"the axes of the others meet at {where}, and that of {odd.joint!r} misses it by {number(misses[-1])} m"


def _sine(a: Array, b: Array) -> float:
    """Return the sine of the angle between two unit axes."""
    return float(np.linalg.norm(cross(a, b)))


COMPACT = 1.0 / 25.0
"""Part of the distance of the farthest joint below which a radius of gyration is reported; masses in grams give less."""

SPREAD = 25.0
"""Multiple of the size of the model above which a radius of gyration is reported."""

FREE = "it is free in all six ways"
"""What is said of a body that hangs on nothing."""
SLENDER = 0.05
"""J1 / J3 below which a body is slender."""

ACROSS = 0.7
"""Sine of the angle between the slender axis and the line through the joints above which the order of moments is reported."""


DEGREES, STEP = 10.0, 5.0
"""Angles of at least this size [rad] that are multiples of STEP are probably degrees: a number of turns is a multiple of 2 pi."""


def implausible_parts(
    model: Model, state: State, frames: JointFrames, blocks: Blocks, size: float, *, whole: bool
) -> tuple[Fault, ...]:
    """Return all probable mistakes.  size: of the model [m];  whole: no joint was left out that might hold a body."""
    bodies = np.stack([frames.i, frames.j], axis=1)
    s_bar = np.stack([frames.s_bar_i, frames.s_bar_j], axis=1)
    arm, free = np.zeros(model.nb + 1), np.ones(model.nb + 1, dtype=bool)
    np.maximum.at(arm, bodies.ravel(), np.sqrt(np.einsum("ksa,ksa->ks", s_bar, s_bar)).ravel())
    free[bodies] = False
    free |= [isinstance(body, Rotor) for body in model.bodies]
    doubtful = (_wrong_units(model, arm, size) | _slender(model)) & ~free
    points: dict[int, list[tuple[str, Array]]] = {}
    for k, side in np.argwhere(doubtful[bodies]).tolist():
        points.setdefault(int(bodies[k, side]), []).append((frames.parts[k].name, s_bar[k, side]))
    mistakes = []
    for body in (np.flatnonzero((doubtful | free)[1:]) + 1).tolist():
        if doubtful[body]:
            mistakes += [*_units(model, body, points[body], size), *_order(model, state, body, points[body])]
        elif whole and len(bodies) and blocks.blocks[blocks.of_body[body]].floats:
            remedy = "Add the joint that it hangs on, if it is not meant to fly."
            mistakes.append(Fault(f"body {model.body_names[body]!r}", f"no joint holds it, {FREE}", remedy))
    return tuple(mistakes)


def _wrong_units(model: Model, arm: Array, size: float) -> Flags:
    """Return whether the radius of gyration of each body is far from the distance `arm` (nb + 1,) of its farthest joint."""
    trace = np.trace(model.J_bar, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        k = np.sqrt(0.5 * trace / model.mass)
    weighed = (model.mass > 0.0) & np.isfinite(model.J_bar).all(axis=(1, 2)) & (trace > 0.0)
    wrong: Flags = weighed & ~((arm * COMPACT <= k) & (k <= SPREAD * size))
    return wrong


def _slender(model: Model) -> Flags:
    """Return whether the smallest principal moment of each body is small beside the others."""
    finite: Flags = np.logical_and.reduce(np.isfinite(model.J_bar.reshape(-1, 9)), axis=1)
    moments = np.linalg.eigvalsh(np.where(finite[:, None, None], model.J_bar, np.eye(3)))
    slender: Flags = finite & (moments[:, 0] >= 0.0) & (moments[:, 0] < SLENDER * moments[:, 1])
    return slender


def _units(model: Model, body: int, points: list[tuple[str, Array]], size: float) -> Iterator[Fault]:
    """Yield a fault if the radius of gyration does not fit the distances of the joints."""
    mass, J = float(model.mass[body]), model.J_bar[body]
    if not (mass > 0.0 and np.isfinite(J).all() and np.trace(J) > 0.0):
        return
    k = float(np.sqrt(0.5 * np.trace(J) / mass))
    arm = max(float(np.linalg.norm(s_bar)) for _, s_bar in points)
    if COMPACT * arm <= k <= SPREAD * size:
        return
    beside = f"its joints are up to {number(arm)} m away" if k < arm else f"the model is {number(size)} m large"
    what = f"mass {number(mass)} kg and J_bar give a radius of gyration of {number(k)} m, but {beside}"
    yield Fault(f"body {model.body_names[body]!r}", what, "Check the units: kg (not g), kg m2 (not kg mm2), m (not mm).")


def _order(model: Model, state: State, body: int, points: list[tuple[str, Array]]) -> Iterator[Fault]:
    """Yield a fault for a slender body whose joints lie across its axis."""
    J = model.J_bar[body]
    if len(points) < 2 or not np.isfinite(J).all():
        return
    moments, axes = np.linalg.eigh(J)
    (first, a), (last, b) = points[0], max(points[1:], key=lambda point: float(np.linalg.norm(point[1] - points[0][1])))
    line = b - a
    long = float(np.linalg.norm(line))
    if long == 0.0 or not 0.0 <= moments[0] < SLENDER * moments[1]:
        return
    if np.linalg.norm(cross(axes[:, 0], line / long)) < ACROSS or moments[2] < SLENDER * model.mass[body] * long**2 / 12.0:
        return
    A = rotation_matrix(state.p[body])
    thin, along = (direction_word(signed(x)[1]) for x in (axes[:, 0], line))
    what = f"it is slender along {thin} of its frame (principal moments {', '.join(map(number, moments))} kg m2)"
    joints = f"but its joints {first!r} and {last!r} lie along {along} ({direction_word(signed(A @ line)[1])} global)"
    remedy = "Check the order of the principal moments: the small one belongs to the axis of the rod."
    yield Fault(f"body {model.body_names[body]!r}", f"{what}, {joints}", remedy)


def angles_in_degrees(joints: Iterable[Joint], loads: Iterable[ForceElement]) -> tuple[Fault, ...]:
    """Return the angles of joints, springs and stops that are probably degrees."""
    angles = [(f"joint {joint.name!r}", "q0", joint.q0) for joint in joints if joint.q0 and joint.rotates_about_h]
    angles += [(load.where, name, angle) for load in loads for name, angle in load.given_angles()]
    return tuple(
        Fault(
            where,
            f"{name} = {x:g} rad is {x / (2.0 * np.pi):.1f} turns, and looks like degrees",
            f"Give radians: np.radians({x:g}).",
        )
        for where, name, x in angles
        if DEGREES <= abs(x) < np.inf and x % STEP == 0.0
    )
