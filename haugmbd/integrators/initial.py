"""The door of a simulation: pose and velocities must fulfil the constraints; velocities may be repaired on request."""

from __future__ import annotations

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.errors import Fault, ModelError
from haugmbd.integrators.projection import Projection
from haugmbd.model.model import Model
from haugmbd.model.rows import Rows, evaluate
from haugmbd.model.state import State
from haugmbd.model.tables import Pack

CONSISTENT_TOL = 1e-6
"""Largest |Phi| and |Phi_q u - nu|, relative to 1 or the largest velocity: typed numbers with seven digits pass, a forgotten
velocity does not.  What is left is projected away by the first step."""


def consistent_start(model: Model, pack: Pack, state: State, *, repair_velocity: bool) -> State:
    """The state to start from; ModelError where pose or velocities contradict the joints (velocities: unless they may be repaired)."""
    rows = evaluate(model, state)
    faults = _by_joint(rows, rows.Phi, 1.0, "the pose at the start misses", "Give a state on the constraints.")
    if not repair_velocity:
        u = np.hstack([state.v, state.omega_bar])[1:].ravel()
        gap = rows.Phi_q @ u - rows.nu
        remedy = "Give consistent v and omega_bar to the bodies, or let simulate(..., repair_velocity=True) project them."
        faults += _by_joint(rows, gap, max(1.0, float(np.abs(u).max(initial=0.0))), "the initial velocities violate", remedy)
    if faults:
        raise ModelError(faults)
    if not repair_velocity:
        return state
    rule, y = Projection(), state.y
    rule.settle(pack, rule.options(), state.t, y, np.zeros_like(y))
    return State.from_y(state.t, y, model.nb + 1)


def _by_joint(rows: Rows, gap: Array, size: float, what: str, remedy: str) -> list[Fault]:
    """One fault for each joint with a row beyond the tolerance."""
    worst: dict[str, tuple[float, str]] = {}
    for label, value in zip(rows.labels, gap, strict=True):
        if not abs(value) <= max(CONSISTENT_TOL * size, worst.get(label.joint, (0.0, ""))[0]):
            worst[label.joint] = (abs(value), f"{label.kind} by {value:.6g}")
    return [Fault(f"joint {joint!r}", f"{what} {text}", remedy) for joint, (_, text) in worst.items()]
