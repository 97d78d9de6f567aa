r"""Constraint violation at three levels.

    position    Phi                     velocity    Phi_q u - nu            acceleration    Phi_q u_dot - gamma
    Euler       | |p| - 1 |

u_dot solves the equations of motion at the stored state. The acceleration level thus measures the error of this solution, not the
drift of the method.
Each row has its own unit (see `model.labels`): m for CD, m2 for D, 1 for DP1, rad for a rotation; then 1/s and 1/s2 of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.rows_over_time import ACCELERATION_GAP, PHI, VELOCITY_GAP, rows_over_time
from haugmbd.errors import UsageError
from haugmbd.model.model import Model

Level = Literal["position", "velocity", "acceleration"]

COLUMN = {"position": PHI, "velocity": VELOCITY_GAP, "acceleration": ACCELERATION_GAP}


def row_violation(model: Model, t: Array, y: Array, level: str, solve: Callable[[], Array]) -> Array:
    """Return the signed violation of every row, (nt, nc).

    `solve()` returns the solutions (nt, nn, 6). It is called for the acceleration level only.
    Raises UsageError for an unknown level.
    """
    if level not in COLUMN:
        raise UsageError(f"level is {level!r}: give one of {', '.join(map(repr, COLUMN))}.")
    solutions = solve() if level == "acceleration" else None
    return rows_over_time(model, t, y, solutions=solutions).gaps[:, :, COLUMN[level]]


def joint_violation(model: Model, rows: Array) -> dict[str, Array]:
    """Return the Euclidean norm over the rows of each joint, by joint name, (nt,); rows of different units are added without scaling."""
    return {name: np.linalg.norm(rows[:, joint.rows], axis=1) for name, joint in model.joints.items()}


def euler_violation(p: Array) -> Array:
    """Return | |p| - 1 | of Euler parameters (..., 4)."""
    deviation: Array = np.abs(np.linalg.norm(p, axis=-1) - 1.0)
    return deviation
