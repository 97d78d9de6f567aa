r"""The motions of blocks that are one body on one joint of one freedom: most blocks of long chains, all at once and without elimination.

    turn about a through c      twist of the joint's point P:  (a x (P - c), a)         slide along a      (a, 0)

The joint's rows have rank five, and this twist is their motion if it moves none of them. At a pose where it does, because the joint
is open, the motion is found from the rows, as those of other blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind, Side
from haugmbd.graph import Blocks
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.description.labels import JointEntry
from haugmbd.model.inspection.constraint_rows import Rows

MOVES_TOL = 1e-9
"""Part of its largest value by which a row may change in the motion of its joint: rounding, not the gap of an open joint."""


class SimpleMotion(NamedTuple):
    """The motion of a block.  S: (6,) twist of `point` (3,), body j relative to body i;  twist: (6,) of the block's body at the origin."""

    joint: JointEntry
    S: Array
    point: Array
    twist: Array


def simple_motions(rows: Rows, blocks: Blocks, dof: Sequence[int], joints: Sequence[list[JointEntry]]) -> dict[int, SimpleMotion]:
    """Return the motions of the blocks that are one body on one joint of one freedom, by the number of the block."""
    numbers = [k for k, n in enumerate(dof) if n == 1 and len(blocks.blocks[k].bodies) == 1 and _is_simple(joints[k])]
    if not numbers:
        return {}
    entries = [joints[k][0] for k in numbers]
    body = np.array([blocks.blocks[k].bodies[0] for k in numbers])
    r, A = rows.state.r, rotation_matrix(rows.state.p)
    S, point = _twists(entries, r, A)
    sign = np.where(body == np.array([entry.j for entry in entries]), 1.0, -1.0)[:, None]
    twist = sign * np.hstack([S[:, :3] - cross(S[:, 3:], point), S[:, 3:]])
    moved = _moves_rows(entries, body, twist, rows, A)
    found = zip(numbers, map(SimpleMotion, entries, S, point, twist), moved.tolist(), strict=True)
    return {k: motion for k, motion, moves in found if not moves}


def _is_simple(joints: list[JointEntry]) -> bool:
    """Return whether there is one joint, of one freedom, which is a turn or a slide."""
    if len(joints) != 1 or joints[0].freedoms is None or len(joints[0].freedoms) != 1:
        return False
    return joints[0].freedoms[0].kind is not Kind.BALL and not joints[0].part.needs()


def _twists(entries: list[JointEntry], r: Array, A: Array) -> tuple[Array, Array]:
    """Return the motion subspaces (m, 6), as twists of the points on bodies j, and these points (m, 3)."""
    axes = [(entry.i, entry.s_bar_i, entry.A_bar_i, entry.freedoms) for entry in entries]
    on_j = np.array([freedoms is not None and freedoms[0].side is Side.J for *_, freedoms in axes])
    j, s_bar_j = np.array([entry.j for entry in entries]), np.array([entry.s_bar_j for entry in entries])
    body = np.where(on_j, j, [i for i, *_ in axes])
    s_bar = np.where(on_j[:, None], s_bar_j, [s for _, s, *_ in axes])
    A_bar = np.where(on_j[:, None, None], [entry.A_bar_j for entry in entries], [frame for _, _, frame, _ in axes])
    freedoms = [entry.freedoms[0] for entry in entries if entry.freedoms]
    a_bar = A_bar[np.arange(len(entries)), :, [int(freedom.axis) for freedom in freedoms]]
    a = np.einsum("kab,kb->ka", A[body], a_bar)
    point = r[j] + np.einsum("kab,kb->ka", A[j], s_bar_j)
    slides = np.array([freedom.kind is Kind.SLIDE for freedom in freedoms])[:, None]
    arm = point - r[body] - np.einsum("kab,kb->ka", A[body], s_bar)
    return np.hstack([np.where(slides, a, cross(a, arm)), np.where(slides, 0.0, a)]), point


def _moves_rows(entries: list[JointEntry], body: Array, twist: Array, rows: Rows, A: Array) -> Array:
    """Return whether each twist (m, 6) of a body at the origin moves a row of its joint, (m,); True for a row between other bodies."""
    number = np.concatenate([entry.rows for entry in entries])
    of = np.repeat(np.arange(len(entries)), [len(entry.rows) for entry in entries])
    between = np.sort([(entry.i, entry.j) for entry in entries], axis=1)[of]
    bodies = rows.bodies[number]
    others = (np.sort(bodies[:, :2], axis=1) != between).any(axis=1) | bodies[:, 2:].any(axis=1)
    omega = np.einsum("kba,kb->ka", A[body], twist[:, 3:])[of]
    v = (twist[:, :3] + cross(twist[:, 3:], rows.state.r[body]))[of]
    own = (bodies == body[of][:, None])[:, :, None]
    Phi_r, PiBar = (np.sum(np.where(own, part[number], 0.0), axis=1) for part in (rows.Phi_r, rows.PiBar))
    change = np.abs(np.sum(Phi_r * v, axis=1) + np.sum(PiBar * omega, axis=1))
    size = np.linalg.norm(Phi_r, axis=1) * np.linalg.norm(v, axis=1) + np.linalg.norm(PiBar, axis=1) * np.linalg.norm(omega, axis=1)
    moves = np.zeros(len(entries), dtype=bool)
    moves[of[others | ~(change <= MOVES_TOL * size)]] = True
    return moves
