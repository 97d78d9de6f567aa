r"""The unique components of joint reactions; the others depend on how redundant rows share the load.

    Phi_q^T n = 0        self-stress: lam and lam + n give the same motion
    a component of the reaction of a joint is unique   <=>   it vanishes for every n

Each dependent row r gives one n: 1 at r, and minus its coefficients at the kept rows. Joints without such rows have unique reactions.
Components are those of `reaction(joint, frame="joint")`: force and torque at the joint's point on body j, in the joint's frame there.
Along a motion the self-stresses are those of a few of its states: the rows that they connect change at isolated poses only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.joint import Joint
from haugmbd.diagnostics.joint_reactions.joint_wrench import ReactionPlace, at_joint_point, place_on
from haugmbd.diagnostics.joint_reactions.tooth_forces import gears_on, wrench_with_teeth
from haugmbd.diagnostics.rows_over_time import JointWrenches
from haugmbd.math.body_columns import PARTS
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.dependent_rows import Dependency
from haugmbd.model.description.labels import JointEntry, JointFrames, frames_of
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import RankAnalysis, analyse_rank, report_of
from haugmbd.system.checks.constraint_residuals import Flags
from haugmbd.workspace.layout import WIDTH

COMPONENTS = ("force x", "force y", "force z", "torque x", "torque y", "torque z")

UNIQUE_TOL = 1e-5
"""Component of a self-stress, relative to its largest row (torques over a length), that is zero.

Its square is PIVOT_TOL of dependent rows.
"""

ALL = (True,) * 6

CARRIED_TOL = 1e-9
"""Component that a joint can carry, relative to the largest of the same row; it is above the rounding of frames."""


@dataclass(frozen=True)
class JointReaction:
    """Uniqueness of a joint's reaction, by components in the order of COMPONENTS, and the components that the joint can carry.

    A component that a joint cannot carry is zero, and therefore unique.
    """

    joint: str
    unique: tuple[bool, ...]
    carried: tuple[bool, ...]

    @property
    def all_unique(self) -> bool:
        """Return whether the whole reaction is unique."""
        return self.unique is ALL or all(self.unique)

    @property
    def marks(self) -> tuple[str, ...]:
        """Return "unique", "not" or "-" (not carried) for each component."""
        return tuple(
            "-" if not carried else "unique" if unique else "not" for unique, carried in zip(self.unique, self.carried, strict=True)
        )


def joint_reactions(
    model: Model, rows: Rows, examined: RankAnalysis, dependencies: Iterable[Dependency], frames: JointFrames | None = None
) -> tuple[JointReaction, ...]:
    """Return one record for each joint; bearings of a gear whose tooth force is shared are not unique.  frames: of the joints, if known"""
    stresses: dict[str, list[dict[int, float]]] = {}
    for stress in _stresses(examined, dependencies):
        for joint in {model.labels[row].joint for row in stress}:
            stresses.setdefault(joint, []).append(stress)
    frames = frames_of(model.joints) if frames is None else frames
    first = frames.first
    wrenches = joint_wrenches(rows, frames) * np.array([1.0, 1.0, 1.0, *([1.0 / examined.length] * 3)])
    carries = _carried(wrenches, first)
    shared = {id(bearing) for part in frames.parts if part.name in stresses for bearing in _bearings(part)}
    return tuple(
        [
            JointReaction(part.name, tuple(not one for one in carried), carried)
            if id(part) in shared
            else JointReaction(part.name, (False,) * 6, carried)  # its tooth force
            if part.name in stresses and _bearings(part)
            else JointReaction(part.name, ALL, carried)
            if part.name not in stresses
            else _reaction(part.name, wrenches, range(first[k], first[k + 1]), carried, stresses[part.name])
            for k, (part, carried) in enumerate(zip(frames.parts, carries, strict=True))
        ]
    )


def _bearings(part: Joint) -> tuple[Joint, ...]:
    """Return the bearings through which the tooth forces of a gear go; none for other joints."""
    contact = part.tooth_contact()
    return () if contact is None else tuple(contact.bearings)


def _carried(wrenches: Array, first: Ints) -> list[tuple[bool, ...]]:
    """Return the components that each joint can carry, from the wrenches of all rows (nc, 6).  first: rows of the joints (nj + 1,)"""
    size = np.abs(wrenches)
    code = ((size > CARRIED_TOL * size.max(axis=1, initial=0.0, keepdims=True)) @ (1 << np.arange(6))).astype(np.int64)
    found = np.zeros(len(first) - 1, dtype=np.int64)
    np.bitwise_or.at(found, np.repeat(np.arange(len(found)), np.diff(first)), code)
    of_code = [tuple(bool(n >> k & 1) for k in range(6)) for n in range(64)]
    return [of_code[n] for n in found.tolist()]


def _stresses(examined: RankAnalysis, dependencies: Iterable[Dependency]) -> list[dict[int, float]]:
    """Return the self-stresses, multipliers by row, each with the largest row 1."""
    found = []
    for d in dependencies:
        if d.terms:
            stress = {d.row: 1.0, **{row: -c for row, c in d.terms}}
            largest = max(abs(n) * examined.norm[row] for row, n in stress.items())
            found.append({row: n / largest for row, n in stress.items()})
    return found


SAMPLES = 5
"""Number of states of a motion at which self-stresses are computed."""


class SelfStresses(NamedTuple):
    """Self-stresses at some states: times (m,), flat states (m, ny), multipliers (m, nc), and the lengths that torques are divided by."""

    t: Array
    y: Array
    lam: Array
    length: Array


def self_stresses(model: Model, t: Array, y: Array) -> SelfStresses:
    """Return the self-stresses at some of the finite states y (nt, ny); none if no row of the model is dropped."""
    times, states, lam, length = [], [], [], []
    finite = np.flatnonzero(np.isfinite(y).all(axis=1)) if model.redundancy.dropped else np.zeros(0, dtype=np.int64)
    picked = np.unique(np.linspace(0, max(len(finite) - 1, 0), min(SAMPLES, len(finite))).round().astype(np.int64))
    for k in finite[picked].tolist():
        rows = evaluate(model, State.from_y(float(t[k]), y[k], model.nb + 1))
        examined = analyse_rank(model, rows)
        for stress in _stresses(examined, report_of(model, examined).dependencies):
            n = np.zeros(model.nc)
            n[list(stress)] = list(stress.values())
            times.append(t[k])
            states.append(y[k])
            lam.append(n)
            length.append(examined.length)
    shape = len(times)
    return SelfStresses(
        np.array(times), np.array(states).reshape(shape, y.shape[1]), np.array(lam).reshape(shape, model.nc), np.array(length)
    )


def unique_components(model: Model, stresses: SelfStresses, entry: JointEntry, on: str, frame: str) -> tuple[bool, ...]:
    """Return whether each component of a joint's reaction, in the order of COMPONENTS, vanishes for all self-stresses.

    Tooth forces of gears count: those that are not unique go through the bearings of their wheels.
    """
    if any(not all(unique_components(model, stresses, gear, side, "joint")) for gear in gears_on(model, entry) for side in "ij"):
        return (False,) * 6
    if not stresses.lam[:, entry.rows].any():
        return ALL
    place = place_on(entry, on, model.body_names)
    signs = (1.0,) if entry.part.tooth_contact() is None else (1.0, -1.0)  # the other flanks: a gear presses apart either way
    unique = np.all([_vanishing(model, stresses, entry, place, frame, sign) for sign in signs], axis=0)
    return tuple(unique.tolist())


def _vanishing(model: Model, stresses: SelfStresses, entry: JointEntry, place: ReactionPlace, frame: str, sign: float) -> Flags:
    """Return whether each component of a joint's reaction vanishes for all self-stresses times a sign."""
    m, body = len(stresses.t), place.body
    x = np.zeros((m, model.nb + 1 + len(model.tables["EDGES"]), 6))
    x.reshape(m, -1)[:, 6 * (model.nb + 1) + model.slot_of_row] = sign * stresses.lam
    wrench = wrench_with_teeth(JointWrenches(model, stresses.t, stresses.y, lambda: x), entry, body)
    r, p = (stresses.y[:, WIDTH * body + a : WIDTH * body + b] for a, b in PARTS[:2])
    found = at_joint_point(place, frame, r, p, wrench)
    parts = np.hstack([found.force, found.torque / stresses.length[:, None]])
    flags: Flags = np.all(np.abs(parts) <= UNIQUE_TOL, axis=0)
    return flags


def _reaction(
    joint: str, wrenches: Array, own: range, carried: tuple[bool, ...], stresses: Sequence[dict[int, float]]
) -> JointReaction:
    """Return the record of one joint, from the wrenches of all rows (nc, 6) and the self-stresses that contain its `own` rows."""
    lam = np.array([[n.get(row, 0.0) for row in own] for n in stresses])
    unique: Flags = np.all(np.abs(lam @ wrenches[own]) <= UNIQUE_TOL, axis=0)
    return JointReaction(joint, tuple(unique.tolist()), carried)


def joint_wrenches(rows: Rows, frames: JointFrames) -> Array:
    """Return the wrench of a unit multiplier of each row on body j of its joint, (nc, 6): `joint_wrench.at_joint_point` of all rows."""
    of_row = np.repeat(np.arange(len(frames.j)), np.diff(frames.first))
    A = rotation_matrix(rows.state.p)[frames.j]
    arm, axes, j = np.einsum("kab,kb->ka", A, frames.s_bar_j)[of_row], (A @ frames.A_bar_j)[of_row], frames.j[of_row]
    own = (rows.bodies == j[:, None]).astype(np.float64)
    force = -np.einsum("ks,ksa->ka", own, rows.Phi_r)
    moment = -np.einsum("ks,ksa->ka", own, rows.PiBar)
    torque = np.einsum("kab,kb->ka", A[of_row], moment) - cross(arm, force)
    return np.concatenate([np.einsum("kba,kb->ka", axes, force), np.einsum("kba,kb->ka", axes, torque)], axis=1)
