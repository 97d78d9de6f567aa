r"""The motions of blocks that are one body on one joint of one freedom: most blocks of long chains, all at once and without elimination.

    turn about a through c      twist of the joint's point P:  (a x (P - c), a)         slide along a      (a, 0)

The joint's rows have rank five, and this twist is their motion if it moves none of them. At a pose where it does, because the joint
is open, the motion is found from the rows, as those of other blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.mobility.joints_of_blocks import JointsOfBlocks
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.freedoms import Freedom, Kind, Side
from haugmbd.constraints.joint import Joint
from haugmbd.graph import Blocks
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.constraint_rows import Rows
from haugmbd.model.labels import JointFrames
from haugmbd.system.checks.constraint_residuals import Flags

MOVES_TOL = 1e-9
"""Part of its largest value by which a row may change in the motion of its joint: rounding, not the gap of an open joint."""


class SimpleMotion(NamedTuple):
    """The motion of a block.  S: (6,) twist of `point` (3,), body j relative to body i;  twist: (6,) of the block's body at the origin."""

    joint: str
    S: Array
    point: Array
    twist: Array


class SimpleMotions(Mapping[int, SimpleMotion]):
    """The motions of many blocks, by the number of the block.  blocks: (m,);  joints, S, point, twist: of each"""

    def __init__(self, blocks: Ints, joints: Sequence[Joint], S: Array, point: Array, twist: Array) -> None:
        self._place = dict(zip(blocks.tolist(), range(len(blocks)), strict=True))
        self._joints, self._S, self._point, self._twist = joints, S, point, twist

    def __getitem__(self, block: int) -> SimpleMotion:
        k = self._place[block]
        return SimpleMotion(self._joints[k].name, self._S[k], self._point[k], self._twist[k])

    def __iter__(self) -> Iterator[int]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)


def simple_motions(rows: Rows, blocks: Blocks, dof: Ints, joints: JointsOfBlocks) -> SimpleMotions:
    """Return the motions of the blocks that are one body on one joint of one freedom."""
    number, frames = _simple_joints(blocks, dof, joints), joints.frames
    at, parts = joints.block[number], [frames.parts[k] for k in number.tolist()]
    body = np.array([blocks.blocks[k].bodies[0] for k in at.tolist()], dtype=np.int64)
    r, A = rows.state.r, rotation_matrix(rows.state.p)
    S, point = _twists(frames, number, [part.freedoms[0] for part in parts if part.freedoms], r, A)
    twist = np.hstack([S[:, :3] - cross(S[:, 3:], point), S[:, 3:]])
    twist[body != frames.j[number]] *= -1.0
    still = np.flatnonzero(~_moves_rows(frames, number, body, twist, rows, A))
    return SimpleMotions(at[still], [parts[k] for k in still.tolist()], S[still], point[still], twist[still])


def _simple_joints(blocks: Blocks, dof: Ints, joints: JointsOfBlocks) -> Ints:
    """Return the numbers of the joints of one freedom, a turn or a slide, that are alone in a block of one body and one motion."""
    alone = joints.alone()
    at = joints.block[alone]
    found = [
        k
        for k, block, n in zip(alone.tolist(), at.tolist(), dof[at].tolist(), strict=True)
        if n == 1 and len(blocks.blocks[block].bodies) == 1 and _is_simple(joints.frames.parts[k])
    ]
    return np.array(found, dtype=np.int64)


def _is_simple(joint: Joint) -> bool:
    """Return whether a joint has one freedom, which is a turn or a slide."""
    freedoms = joint.freedoms
    return freedoms is not None and len(freedoms) == 1 and freedoms[0].kind is not Kind.BALL and not joint.needs()


def _twists(frames: JointFrames, number: Ints, freedoms: list[Freedom], r: Array, A: Array) -> tuple[Array, Array]:
    """Return the motion subspaces (m, 6), as twists of the points on bodies j, and these points (m, 3)."""
    known = {id(freedom): freedom for freedom in freedoms}
    place = dict(zip(known, range(len(known)), strict=True))
    kind = np.array([place[id(freedom)] for freedom in freedoms], dtype=np.int64)
    words = [(freedom.side is Side.J, freedom.kind is Kind.SLIDE, int(freedom.axis)) for freedom in known.values()]
    on_j, slides, axis = np.array(words, dtype=np.int64).reshape(-1, 3)[kind].T
    j, s_bar_j = frames.j[number], frames.s_bar_j[number]
    body = np.where(on_j == 1, j, frames.i[number])
    s_bar = np.where(on_j[:, None] == 1, s_bar_j, frames.s_bar_i[number])
    a_bar = np.where(on_j[:, None] == 1, frames.A_bar_j[number, :, axis], frames.A_bar_i[number, :, axis])
    A_of = A[body]
    a = np.einsum("kab,kb->ka", A_of, a_bar)
    point = r[j] + np.einsum("kab,kb->ka", A[j], s_bar_j)
    arm = point - r[body] - np.einsum("kab,kb->ka", A_of, s_bar)
    return np.hstack([np.where(slides[:, None] == 1, a, cross(a, arm)), np.where(slides[:, None] == 1, 0.0, a)]), point


def _moves_rows(frames: JointFrames, joints: Ints, body: Ints, twist: Array, rows: Rows, A: Array) -> Flags:
    """Return whether each twist (m, 6) of a body at the origin moves a row of its joint, (m,); True for a row between other bodies."""
    of, number = frames.rows_of(joints)
    own, i, j = body[of], frames.i[joints][of], frames.j[joints][of]
    first, second = (rows.bodies[number, side] for side in (0, 1))
    others = ~(((first == i) & (second == j)) | ((first == j) & (second == i))) | rows.bodies[number, 2:].any(axis=1)
    omega = np.einsum("kba,kb->ka", A[body], twist[:, 3:])[of]
    v = (twist[:, :3] + cross(twist[:, 3:], rows.state.r[body]))[of]
    side = (second == own).astype(np.int8)
    Phi_r, PiBar = rows.Phi_r[number, side], rows.PiBar[number, side]
    change = np.abs(np.einsum("ka,ka->k", Phi_r, v) + np.einsum("ka,ka->k", PiBar, omega))
    size = _length(Phi_r) * _length(v) + _length(PiBar) * _length(omega)
    moves = np.zeros(len(joints), dtype=bool)
    moves[of[others | ~(change <= MOVES_TOL * size)]] = True
    return moves


def _length(vectors: Array) -> Array:
    """Return the lengths of vectors (k, 3)."""
    length: Array = np.sqrt(np.einsum("ka,ka->k", vectors, vectors))
    return length
