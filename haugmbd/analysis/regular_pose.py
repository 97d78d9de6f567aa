r"""Rows that are independent at a pose, and singular poses: an analysis may end far from the modelled pose, which decides about rows.

    rows nearly dependent           others take their place: across its plane a loop has one row too many, wherever the plane turns
    rank lost at this pose only     a singular pose: bars in line, a lattice that has collapsed

At a singular pose the tangent space of the constraints is not defined: the null space of Phi_q has directions in which the mechanism
cannot move. Stiffness along them would be that of motions that do not exist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.errors import SingularKKTError
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import analyse_rank
from haugmbd.redundancy.redundancy import redundancy_of
from haugmbd.system.checks.solvability import dependence_faults


def kept_at(model: Model, state: State, kept: Ints) -> Ints:
    """Return as many rows as `kept`, or more, that are as far from dependent as any at a pose; `kept` itself if there are none."""
    found = analyse_rank(model, evaluate(model, state))
    if found.flat.any() or model.nc - len(found.dropped) < len(kept):
        return kept
    return np.setdiff1d(np.arange(model.nc), found.dropped)


def check_regular(model: Model, state: State, kept: Ints, what: str) -> None:
    """Raise SingularKKTError with the rows that lose their rank, if the pose is singular;  what: the pose, in the message."""
    rows = singular_rows(model, state, kept)
    if rows:
        raise SingularKKTError(
            f"{what} is singular: {rows}. The tangent space of the constraints is not defined there, so that the pose has neither "
            "stiffness nor small motions: more than one motion is possible, or none. Start from another pose, hold the bodies apart, or "
            "leave out what can collapse.",
            state,
        )


def singular_rows(model: Model, state: State, kept: Ints) -> str:
    """Return the rows, by joint, that are dependent at a pose and only there; "" at a regular pose.

    kept: rows that are independent elsewhere
    """
    if not len(kept):
        return ""
    rows = evaluate(model, state)
    alone = analyse_rank(model, rows, without=np.setdiff1d(np.arange(model.nc), kept))
    if not (len(alone.dropped) or alone.flat[kept].any()):
        return ""
    found = redundancy_of(model, rows, analyse_rank(model, rows))
    if not (found.only_here or set(found.flat) & set(kept.tolist())):
        return ""
    here = replace(found, gaps=np.zeros(model.nc))  # at rest nothing moves that could conflict
    return "; ".join(f"{fault.where}: {fault.what}" for fault in dependence_faults(model, here, "this pose"))
