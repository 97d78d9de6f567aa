r"""Directions of a file that contradict the other joints, beside a pose in the file at which all others hold.

    condition D      the dot products of a joint:    axes along each other
    |Phi_D(q)|       how far it is off:              the sine of an angle
    Phi_others = 0 and |Phi_D| = c at the pose of the file, and on all motions of the others:    no motion closes D, and none opens it

A solver that removes redundant equations without comparing their values leaves such a file behind: the pose that it has stored closes
the equations that it has kept. They are kept here, too, and D is left out, with a warning. What is open at the pose of the file, and
moves, is refused; so are points that are apart.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints import DP1
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.length import characteristic_length
from haugmbd.model.model import Model
from haugmbd.modelfile.parts.equations import Equations
from haugmbd.redundancy.rank import analyse_rank, least_motions, neighbours
from haugmbd.redundancy.redundancy import without_drivers
from haugmbd.system.assemblies import needed_by
from haugmbd.system.checks.constraint_residuals import constraint_gaps
from haugmbd.system.system import System
from haugmbd.tolerances import CONTRADICTION

HOLDS = 1e-6
"""Largest gap of an equation that holds at the pose of a file [rad, or part of the size]: digits of files, and above the 1e-7 of FreeCAD's
solver."""


def leave_out_contradictions(system: System) -> list[str]:
    """Leave out the conditions of a system that contradict the others, which all hold; return a warning for each.

    The system is as it was, and the list empty, where there are no such conditions.
    """
    model = system.compile(check_pose=False)
    rows = evaluate(model, model.state())
    conditions = _contradicting(model, rows)
    gone = set(chain.from_iterable(c.tolist() for c in conditions))
    names = {model.labels[k].joint for k in gone}
    joints = [joint for joint in system.joints if joint.name in names]
    needed = {id(part) for user in chain(system.joints, system.loads) for part in needed_by(user)}
    if not joints or any(
        id(joint) in needed for joint in joints
    ):  # by its coordinates, which the rest of its equations need not have
        return []
    for joint in joints:
        of_joint = model.joints[joint.name].rows.tolist()
        kept = tuple(p for k, p in zip(of_joint, joint.primitives(), strict=True) if k not in gone)
        system.remove(joint)
        if kept:
            system.add(Equations(joint.name, joint.frame_i, joint.frame_j, kept, None))
    return [_warning(model, rows, condition) for condition in conditions]


def _warning(model: Model, rows: Rows, condition: Ints) -> str:
    """Return what is left out, and by how much it is off."""
    joint = model.labels[int(condition[0])].joint
    off = np.degrees(np.linalg.norm(constraint_gaps(model, rows, rows.state.t).gap[condition]))
    return (
        f"joint {joint!r}: its axes are {off:.4g} degrees apart at the pose of the file, where all else holds, and no motion brings them "
        "together: they are left as they are, without equations for their directions. Correct its markers, or the joints that contradict it"
    )


def _contradicting(model: Model, rows: Rows) -> list[Ints]:
    """Return the rows of the conditions that are open, if the others hold and no motion of them changes these; else none."""
    drivers = np.setdiff1d(np.arange(model.nc), without_drivers(model))
    part = _parts(model, rows)
    open_rows = np.flatnonzero(part > HOLDS)
    turns = all(model.labels[k].kind == DP1.kind for k in open_rows.tolist())
    if not len(open_rows) or not turns or not part.max() > CONTRADICTION or len(np.intersect1d(open_rows, drivers)):
        return []
    conditions = _conditions(model, open_rows)
    without = np.unique(np.concatenate([*conditions, drivers]))
    examined = analyse_rank(model, rows, model.redundancy.tolerance**0.5, without)
    before = _sizes(rows, conditions)
    for there in neighbours(model, rows.state, examined, least_motions(model, examined)):
        if there is None:
            return []
        after = _sizes(evaluate(model, there.state), conditions)
        if (np.abs(after - before) > HOLDS * np.maximum(before, after)).any():
            return []
    return conditions


def _conditions(model: Model, open_rows: Ints) -> list[Ints]:
    """Return the rows of each condition that has an open one: those of the same kind of a joint."""
    joints = dict.fromkeys(model.labels[k].joint for k in open_rows.tolist())
    return [
        np.array([k for k in model.joints[joint].rows.tolist() if model.labels[k].kind == DP1.kind], dtype=np.int64)
        for joint in joints
    ]


def _parts(model: Model, rows: Rows) -> Array:
    """Return the gaps of the rows [rad, or part of the size]."""
    gaps = constraint_gaps(model, rows, rows.state.t)
    part: Array = np.abs(gaps.gap) / np.where(gaps.is_angle, 1.0, characteristic_length(model, rows))
    return part


def _sizes(rows: Rows, conditions: list[Ints]) -> Array:
    """Return |Phi_D| of each condition D."""
    return np.array([np.linalg.norm(rows.Phi[condition]) for condition in conditions])
