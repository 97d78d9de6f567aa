"""All rows at all stored states: how far they are violated at three levels, and the wrenches that their multipliers exert.

    gaps      Phi,    Phi_q u - nu,    Phi_q u_dot - gamma,    nu
    wrench    -Phi_q^T lam, summed over the rows of a group, on the bodies of their edge: force global, moment in the body frame

The rows are evaluated by address, so that this loop adds half a second to a cold compile, and not the rows once more.

    position    Phi                     velocity    Phi_q u - nu            acceleration    Phi_q u_dot - gamma
    Euler       | |p| - 1 |

u_dot solves the equations of motion at the stored state. The acceleration level thus measures the error of this solution, not the
drift of the method.
Each row has its own unit (see `model.labels`): m for CD, m2 for D, 1 for DP1, rad for a rotation; then 1/s and 1/s2 of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import PARTS, VELOCITY
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.evaluate import prepare
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

PHI, VELOCITY_GAP, ACCELERATION_GAP, NU = 0, 1, 2, 3
"""Columns of the gaps."""


class RowHistory(NamedTuple):
    """Gaps and wrenches of rows over time.

    gaps: (nt, k, 4) in the order above, the third only with solutions;  wrench: (nt, groups, sides, 6) on the edge's bodies
    """

    gaps: Array
    wrench: Array


@entry
def run(P: Pack, t: Array, y: Array, x: Array, slots: Ints, group: Ints, gaps: Array, wrench: Array) -> tuple[int, int]:
    """Fill gaps (nt, 4 k) and wrench (nt, 6 sides groups) of the rows in `slots` (k,); return the status code and the states done.

    y: (nt, ny) states;  x: (nt, 6 nn) their solutions (u_dot, lam), or (0, .) if only the gaps of the state are needed
    """
    J, level = ws.jacobian(P), ws.row_values(P)
    edges = ws.edges(P)
    sides = edges.shape[1]
    n = ws.n_bodies(P)
    for k in range(t.shape[0]):
        code = prepare(P, t[k], y[k])
        if code != 0:
            return code, k
        for row in range(slots.shape[0]):
            slot = slots[row]
            velocity, acceleration = -level[slot, 1], -level[slot, 2]
            for side in range(sides):
                body = edges[slot // 6, side]
                for a in range(6):
                    velocity += J[slot, side, a] * y[k, WIDTH * body + VELOCITY + a]
                    if x.shape[0] > 0:
                        acceleration += J[slot, side, a] * x[k, 6 * body + a]
                        wrench[k, 6 * (sides * group[row] + side) + a] -= J[slot, side, a] * x[k, 6 * n + slot]
            gaps[k, 4 * row] = level[slot, 0]
            gaps[k, 4 * row + 1] = velocity
            gaps[k, 4 * row + 2] = acceleration
            gaps[k, 4 * row + 3] = level[slot, 1]
    return 0, t.shape[0]


BLOCK = 1_000_000
"""Numbers of the wrenches of a block of joints: 8 MB."""


class JointWrenches:
    """The wrenches -Phi_q^T lam of the joints of a model at the states y (nt, ny), for one joint after the other.

    Each evaluation of the rows is one of all joints. The first joint that is asked for is evaluated by itself, all others in blocks, so
    that the cost of all joints does not grow with the square of their number.
    """

    def __init__(self, model: Model, t: Array, y: Array, solve: Callable[[], Array]) -> None:
        self.model, self.t, self.y, self._solve = model, t, y, solve
        self._wrench: dict[str, Array] | None = None

    @classmethod
    def known(cls, model: Model, t: Array, y: Array, wrench: dict[str, Array]) -> JointWrenches:
        """Return the wrenches (nt, sides, 6) that are given for some joints."""
        wrenches = cls(model, t, y, lambda: np.zeros((0, 6)))
        wrenches._wrench = wrench
        return wrenches

    def on(self, joint: JointEntry, body: int) -> Array:
        """Return the wrench (nt, 6) of the rows of a joint on a body that they touch: force global, moment in the body frame.

        A coupling of several moving bodies has no entry for the ground, which takes the opposite of what the others get.
        """
        edge = self.model.tables["EDGES"][self.model.slot_of_row[joint.rows[0]] // 6]
        wrench = self._of(joint)
        if body in edge[:2] or body in edge[2:][edge[2:] > 0]:
            on_body: Array = wrench[:, int(np.nonzero(edge == body)[0][0])]
            return on_body
        return wrench_on_ground(edge.astype(np.int64).tolist(), wrench, self.y)

    def _of(self, joint: JointEntry) -> Array:
        """Return the wrench (nt, sides, 6) of a joint on the bodies of its edge."""
        if self._wrench is None or joint.name not in self._wrench:
            names = list(self.model.joints)
            first = names.index(joint.name)
            most = 1 if self._wrench is None else max(1, BLOCK // (6 * self.model.sides * max(1, len(self.t))))
            entries = [self.model.joints[name] for name in names[first : first + most]]
            rows = np.concatenate([entry.rows for entry in entries])
            group = np.repeat(np.arange(len(entries)), [len(entry.rows) for entry in entries])
            found = rows_over_time(self.model, self.t, self.y, solutions=self._solve(), rows=rows, group=group).wrench
            self._wrench = {entry.name: found[:, k] for k, entry in enumerate(entries)}
        return self._wrench[joint.name]


def wrench_on_ground(bodies: Sequence[int], wrench: Array, y: Array) -> Array:
    """Return the opposite of what bodies get, (nt, 6), about the global origin; what is given for the ground is left out.

    wrench: (nt, len(bodies), 6), force global, moment about the centre of mass in the body frame;  y: flat states (nt, ny)
    """
    total = np.zeros((len(y), 6))
    for side, body in enumerate(bodies):
        if body:
            r, p = (y[:, WIDTH * body + a : WIDTH * body + b] for a, b in PARTS[:2])
            moment = np.einsum("tij,tj->ti", rotation_matrix(p), wrench[:, side, 3:]) + cross(r, wrench[:, side, :3])
            total -= np.hstack([wrench[:, side, :3], moment])
    return total


def rows_over_time(
    model: Model, t: Array, y: Array, *, solutions: Array | None = None, rows: Ints | None = None, group: Ints | None = None
) -> RowHistory:
    """Evaluate `rows` (k,) of the model, by default all, at the states y (nt, ny).

    solutions: (nt, nn, 6) by nodes, for accelerations and wrenches;  group: (k,) group of each row, for sums of wrenches; default one
    Raises the errors of the user's functions.
    """
    slots = np.array(model.slot_of_row if rows is None else model.slot_of_row[rows])
    group = np.zeros(len(slots), dtype=np.int64) if group is None else group
    x = np.zeros((0, 6)) if solutions is None else for_kernels(solutions).reshape(len(t), 6 * solutions.shape[1])
    n_groups = int(group.max(initial=0)) + 1
    gaps, wrench = np.zeros((len(t), 4 * len(slots))), np.zeros((len(t), 6 * model.sides * n_groups))
    pack = model.pack()
    code, _ = run(pack, for_kernels(t), for_kernels(y), x, slots, group, gaps, wrench)
    if code != 0:
        model.raise_user_error(pack)
    return RowHistory(gaps.reshape(len(t), len(slots), 4), wrench.reshape(len(t), n_groups, model.sides, 6))


Level = Literal["position", "velocity", "acceleration"]

COLUMN = {"position": PHI, "velocity": VELOCITY_GAP, "acceleration": ACCELERATION_GAP}


def row_violation(model: Model, t: Array, y: Array, level: str, solve: Callable[[], Array]) -> Array:
    """Return the signed violation of every row, (nt, nc).

    `solve()` returns the solutions (nt, nn, 6). It is called for the acceleration level only.
    Raises UsageError for an unknown level.
    """
    if not is_one_of(level, COLUMN):
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
