r"""Probable mistakes that are allowed: bodies without joints, inertia in other units, principal moments in another order, degrees.

    k = sqrt(tr J / 2 m)       a radius of gyration [m]: in grams beside kg m2 it is 30 times too small, in kg mm2 1000 times
    a slender body             J1 << J3: its mass is on the axis of J1, where its joints are, too, unless the moments are swapped
    45, 90 or 180 rad          are degrees: a multiple of five that is more than a turn and a half

These are warnings, not faults: the model can be simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from haugmbd.analysis.mobility.twist_format import direction_word, number, signed
from haugmbd.bodies.rotor import Rotor
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.forces.base import ForceElement
from haugmbd.graph import Blocks
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.labels import JointFrames
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import Flags

COMPACT = 1.0 / 25.0
"""Part of the distance of the farthest joint below which a radius of gyration is reported; masses in grams give less."""

SPREAD = 25.0
"""Multiple of the size of the model above which a radius of gyration is reported."""

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
    found = []
    for body in (np.flatnonzero((doubtful | free)[1:]) + 1).tolist():
        if doubtful[body]:
            found += [*_units(model, body, points[body], size), *_order(model, state, body, points[body])]
        elif whole and len(bodies) and blocks.blocks[blocks.of_body[body]].floats:
            remedy = "Add the joint that it hangs on, if it is not meant to fly."
            found.append(Fault(f"body {model.body_names[body]!r}", "no joint holds it, it is free in all six ways", remedy))
    return tuple(found)


def _wrong_units(model: Model, arm: Array, size: float) -> Flags:
    """Return whether the radius of gyration of each body is far from the distance `arm` (nb + 1,) of its farthest joint."""
    trace = np.trace(model.J_bar, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        k = np.sqrt(0.5 * trace / model.mass)
    known = (model.mass > 0.0) & np.isfinite(model.J_bar).all(axis=(1, 2)) & (trace > 0.0)
    wrong: Flags = known & ~((arm * COMPACT <= k) & (k <= SPREAD * size))
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
    given = [(f"joint {joint.name!r}", "q0", joint.q0) for joint in joints if joint.q0 and joint.rotates_about_h]
    given += [(load.where, name, angle) for load in loads for name, angle in load.given_angles()]
    return tuple(
        Fault(
            where,
            f"{name} = {x:g} rad is {x / (2.0 * np.pi):.1f} turns, and looks like degrees",
            f"Give radians: np.radians({x:g}).",
        )
        for where, name, x in given
        if DEGREES <= abs(x) < np.inf and x % STEP == 0.0
    )
