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
from functools import cached_property

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.diagnostics.joint_reactions.joint_wrench import ReactionPlace, at_joint_point, place_on
from haugmbd.diagnostics.joint_reactions.tooth_forces import bearings_of, gears_on, wrench_with_teeth
from haugmbd.diagnostics.rows_over_time import JointWrenches, rows_over_time
from haugmbd.math.body_columns import PARTS
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.dependent_rows import Dependency
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.labels import JointEntry, JointFrames, frames_of
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
    shared = {id(bearing) for part in frames.parts if part.name in stresses for bearing in bearings_of(part)}
    return tuple(
        [
            JointReaction(part.name, tuple(not one for one in carried), carried)
            if id(part) in shared
            else JointReaction(part.name, (False,) * 6, carried)  # its tooth force
            if part.name in stresses and bearings_of(part)
            else JointReaction(part.name, ALL, carried)
            if part.name not in stresses
            else _reaction(part.name, wrenches, range(first[k], first[k + 1]), carried, stresses[part.name])
            for k, (part, carried) in enumerate(zip(frames.parts, carries, strict=True))
        ]
    )


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


@dataclass(frozen=True, eq=False)
class SelfStresses:
    """Self-stresses at some states of a motion: each is of a few rows, of which only those that are not zero are kept.

    t, y: (s,), (s, ny) the states;  state: (m,) that of each self-stress;  length: (m,) by which torques are divided
    row, stress, value: (z,) multipliers, in the order of the rows
    """

    model: Model
    t: Array
    y: Array
    state: Ints
    length: Array
    row: Ints
    stress: Ints
    value: Array

    def of(self, rows: Ints) -> tuple[Ints, Array]:
        """Return the numbers (q,) of the self-stresses in which some of the rows take part, and their multipliers (q, k)."""
        ends = [np.searchsorted(self.row, rows, side) for side in ("left", "right")]
        parts = [np.arange(first, last) for first, last in zip(*ends, strict=True)]
        which = np.unique(np.concatenate([self.stress[part] for part in parts]))
        lam = np.zeros((len(which), len(rows)))
        for k, part in enumerate(parts):
            lam[np.searchsorted(which, self.stress[part]), k] = self.value[part]
        return which, lam

    @cached_property
    def _by_row(self) -> Array:
        """Return the wrenches of unit multipliers on the bodies of their edges, (s, nc, sides, 6)."""
        x = np.zeros((len(self.t), self.model.nb + 1 + len(self.model.tables["EDGES"]), 6))
        x[:, self.model.nb + 1 :] = 1.0
        return rows_over_time(self.model, self.t, self.y, solutions=x, group=np.arange(self.model.nc)).wrench

    def wrenches(self, entry: JointEntry, which: Ints, lam: Array) -> JointWrenches:
        """Return the wrenches of a joint with the multipliers lam (q, k) of its rows in the self-stresses `which`."""
        at = self.state[which]
        wrench = np.einsum("qk,qksa->qsa", lam, self._by_row[at[:, None], entry.rows])
        return JointWrenches.known(self.model, self.t[at], self.y[at], {entry.name: wrench})


def self_stresses(model: Model, t: Array, y: Array) -> SelfStresses:
    """Return the self-stresses at some of the finite states y (nt, ny); none if no row of the model is dropped."""
    finite = np.flatnonzero(np.isfinite(y).all(axis=1)) if model.redundancy.dropped else np.zeros(0, dtype=np.int64)
    picked = np.unique(np.linspace(0, max(len(finite) - 1, 0), min(SAMPLES, len(finite))).round().astype(np.int64))
    at, state, length = finite[picked], list[int](), list[float]()
    entries: list[tuple[int, int, float]] = []
    for number, k in enumerate(at.tolist()):
        rows = evaluate(model, State.from_y(float(t[k]), y[k], model.nb + 1))
        examined = analyse_rank(model, rows)
        for stress in _stresses(examined, report_of(model, examined).dependencies):
            entries += [(row, len(state), value) for row, value in stress.items()]
            state.append(number)
            length.append(examined.length)
    entries.sort()
    row, stress_of, value = zip(*entries, strict=True) if entries else ((), (), ())
    return SelfStresses(
        model, t[at], y[at], np.array(state, dtype=np.int64), np.array(length), np.array(row, dtype=np.int64),
        np.array(stress_of, dtype=np.int64), np.array(value, dtype=np.float64),
    )  # fmt: skip


def unique_components(model: Model, stresses: SelfStresses, entry: JointEntry, on: str, frame: str) -> tuple[bool, ...]:
    """Return whether each component of a joint's reaction, in the order of COMPONENTS, vanishes for all self-stresses.

    Tooth forces of gears count: those that are not unique go through the bearings of their wheels.
    """
    if any(not all(unique_components(model, stresses, gear, side, "joint")) for gear in gears_on(model, entry) for side in "ij"):
        return (False,) * 6
    which, lam = stresses.of(entry.rows)
    if not len(which):
        return ALL
    place = place_on(entry, on, model.body_names)
    signs = (1.0,) if entry.part.tooth_contact() is None else (1.0, -1.0)  # the other flanks: a gear presses apart either way
    unique = np.all([_vanishing(stresses, entry, place, frame, which, sign * lam) for sign in signs], axis=0)
    return tuple(unique.tolist())


def _vanishing(stresses: SelfStresses, entry: JointEntry, place: ReactionPlace, frame: str, which: Ints, lam: Array) -> Flags:
    """Return whether each component of a joint's reaction vanishes for the multipliers lam (q, k) of its rows in `which` self-stresses.

    The gears that it is a bearing of have unique tooth forces, and no part in them.
    """
    wrenches, body, y = stresses.wrenches(entry, which, lam), place.body, stresses.y[stresses.state[which]]
    wrench = wrenches.on(entry, body) if entry.part.tooth_contact() is None else wrench_with_teeth(wrenches, entry, body)
    r, p = (y[:, WIDTH * body + a : WIDTH * body + b] for a, b in PARTS[:2])
    found = at_joint_point(place, frame, r, p, wrench)
    parts = np.hstack([found.force, found.torque / stresses.length[which][:, None]])
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
