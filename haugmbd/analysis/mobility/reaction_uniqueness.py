r"""The unique components of joint reactions; the others depend on how redundant rows share the load.

    Phi_q^T n = 0        self-stress: lam and lam + n give the same motion
    a component of the reaction of a joint is unique   <=>   it vanishes for every n

Each dependent row r gives one n: 1 at r, and minus its coefficients at the kept rows. Joints without such rows have unique reactions.
Components are those of `reaction(joint, frame="joint")`: force and torque at the joint's point on body j, in the joint's frame there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.constraint_rows import Rows
from haugmbd.model.dependent_rows import Dependency
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import RankAnalysis
from haugmbd.system.constraint_residuals import Flags

COMPONENTS = ("force x", "force y", "force z", "torque x", "torque y", "torque z")

UNIQUE_TOL = 1e-5
"""Component of a self-stress, relative to its largest row (torques over a length), that is zero.

Its square is PIVOT_TOL of dependent rows.
"""

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
        return all(self.unique)

    @property
    def marks(self) -> tuple[str, ...]:
        """Return "unique", "not" or "-" (not carried) for each component."""
        return tuple(
            "-" if not carried else "unique" if unique else "not" for unique, carried in zip(self.unique, self.carried, strict=True)
        )


def joint_reactions(
    model: Model, rows: Rows, examined: RankAnalysis, dependencies: Iterable[Dependency]
) -> tuple[JointReaction, ...]:
    """Return one record for each joint."""
    stresses: dict[str, list[dict[int, float]]] = {}
    for d in dependencies:
        if d.terms:
            stress = {d.row: 1.0, **{row: -c for row, c in d.terms}}
            largest = max(abs(n) * examined.norm[row] for row, n in stress.items())
            stress = {row: n / largest for row, n in stress.items()}
            for joint in {model.labels[row].joint for row in stress}:
                stresses.setdefault(joint, []).append(stress)
    wrenches = joint_wrenches(model, rows) * np.array([1.0, 1.0, 1.0, *([1.0 / examined.length] * 3)])
    return tuple(_reaction(entry, wrenches[entry.rows], stresses.get(entry.name, ())) for entry in model.joints.values())


def _reaction(entry: JointEntry, wrenches: Array, stresses: Sequence[dict[int, float]]) -> JointReaction:
    """Return the record of one joint, from the wrenches of its rows (rows, 6) and the self-stresses that contain them."""
    size = np.abs(wrenches)
    carries: Flags = np.any(size > CARRIED_TOL * size.max(axis=1, initial=0.0, keepdims=True), axis=0)
    carried = tuple(carries.tolist())
    if not stresses:
        return JointReaction(entry.name, (True,) * 6, carried)
    lam = np.array([[n.get(row, 0.0) for row in entry.rows.tolist()] for n in stresses])
    unique: Flags = np.all(np.abs(lam @ wrenches) <= UNIQUE_TOL, axis=0)
    return JointReaction(entry.name, tuple(unique.tolist()), carried)


def joint_wrenches(model: Model, rows: Rows) -> Array:
    """Return the wrench of a unit multiplier of each row on body j of its joint, (nc, 6): `joint_wrench.at_joint_point` of all rows."""
    entries = [model.joints[label.joint] for label in model.labels]
    j = np.array([entry.j for entry in entries], dtype=np.int64)
    s_bar = np.array([entry.s_bar_j for entry in entries]).reshape(-1, 3)
    A_bar = np.array([entry.A_bar_j for entry in entries]).reshape(-1, 3, 3)
    A = rotation_matrix(rows.state.p)[j]
    own = rows.bodies == j[:, None]
    force = -np.sum(rows.Phi_r * own[:, :, None], axis=1)
    moment = -np.sum(rows.PiBar * own[:, :, None], axis=1)
    torque = np.einsum("kab,kb->ka", A, moment) - np.cross(np.einsum("kab,kb->ka", A, s_bar), force)
    axes = A @ A_bar
    return np.concatenate([np.einsum("kba,kb->ka", axes, force), np.einsum("kba,kb->ka", axes, torque)], axis=1)
