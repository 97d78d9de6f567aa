r"""What a joint allows and what it opposes, at one state: its motion subspace S and its rows as wrenches T.

    S (6, k)      twists (v, omega) of body j against body i       T S = 0      rank S + rank T = 6 where the rows are independent
    T (rows, 6)   wrenches (F, N) on body j                        F = Phi_r_j,  N = A_j PiBar_j + r_j x F
    turn about a through P      (P x a, a)           slide along a      (a, 0)

Linear part first, global axes, at the world origin.  The reaction on body j is -T^T lam, that on body i is the opposite.
Source: seed 001 (motion constraints, vector subspaces); the rows of Haug ch. 9 and 11.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Freedom, Kind, Side
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.math.spatial_vectors import force_transform, motion_transform
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.given import model_given
from haugmbd.model.labels import JointEntry, joint_named
from haugmbd.model.model import Model
from haugmbd.model.state import State

DEPENDENT_TOL = 1e-10
"""Part of the largest below which a freedom (a row) depends on the others, seen from the joint's point: rounding of poses makes some
1e-15 to 1e-13; two points of a joint that are 1e-10 m apart are meant to be one."""


@check_keywords
def motion_subspace(model: Model, state: State | None, joint: str) -> Array:
    """Return S (6, k): the twists of body j relative to body i that `joint` allows at one state (None: the modelled one).

    Columns are the joint's declared freedoms, in their order, per rad/s or m/s, where one that depends on the others is left out; where
    none are declared, a basis of what the rows allow.  Drivers count as standing still.  Raises UsageError for an unknown joint.
    """
    model = model_given(model, "motion_subspace")
    state = model.state() if state is None else state
    e = joint_named(model.joints, joint)
    point = _point(state, e.j, e.s_bar_j)
    if e.freedoms is None:
        S = _null_space(constraint_wrenches(model, state, joint) @ force_transform(np.eye(3), point).T)
    else:
        S = _independent(np.column_stack([np.zeros((6, 0)), *(_twist(state, e, freedom, point) for freedom in e.freedoms)]))
    return np.asarray(motion_transform(np.eye(3), -point) @ S, dtype=np.float64)


@check_keywords
def constraint_wrenches(model: Model, state: State | None, joint: str) -> Array:
    """Return T (rows, 6): the rows of `joint` as wrenches on body j at one state (None: the modelled one), not scaled.

    Raises UsageError for an unknown joint, and for one of one's own whose rows do not all stand between the same two bodies.
    """
    model = model_given(model, "constraint_wrenches")
    state = model.state() if state is None else state
    e, rows = joint_named(model.joints, joint), evaluate(model, state)
    pairs = rows.bodies[e.rows]
    if (np.sort(pairs, axis=1) != sorted((e.i, e.j))).any():
        names = sorted({model.body_names[body] for body in pairs.ravel()})
        raise UsageError(f"joint {joint!r} has rows between more than two bodies: {', '.join(map(repr, names))}. Ask for its rows.")
    side = (pairs[:, 1] == e.j).astype(np.int64)
    F, n_bar = rows.Phi_r[e.rows, side], rows.PiBar[e.rows, side]
    N = n_bar @ rotation_matrix(state.p[e.j]).T + np.cross(state.r[e.j], F)
    return np.concatenate((F, N), axis=1)


def _point(state: State, body: int, s_bar: Array) -> Array:
    """r + A s_bar [m], global."""
    return np.asarray(state.r[body] + rotation_matrix(state.p[body]) @ s_bar, dtype=np.float64)


def _twist(state: State, e: JointEntry, freedom: Freedom, point: Array) -> Array:
    """The twist of one freedom at `point`, (6,)."""
    body, s_bar, A_bar = (e.i, e.s_bar_i, e.A_bar_i) if freedom.side is Side.I else (e.j, e.s_bar_j, e.A_bar_j)
    a = rotation_matrix(state.p[body]) @ A_bar[:, freedom.axis]
    if freedom.kind is Kind.SLIDE:
        return np.concatenate((a, np.zeros(3)))
    return np.concatenate((np.cross(a, point - _point(state, body, s_bar)), a))


def _independent(S: Array) -> Array:
    """The columns of S without those that depend on the others: of several choices the one farthest from dependent."""
    if not S.size:
        return S
    from scipy.linalg import qr  # noqa: PLC0415  imported only where it is asked for

    _, R, order = qr(S, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    return S[:, np.sort(order[: np.count_nonzero(size > DEPENDENT_TOL * size[0])])]


def _null_space(T: Array) -> Array:
    """An orthonormal basis (6, k) of T S = 0; rows count alike, whatever their length."""
    length = np.linalg.norm(T, axis=1, keepdims=True)
    _, size, V = np.linalg.svd(T / np.where(length > 0.0, length, 1.0))
    rank = np.count_nonzero(size > DEPENDENT_TOL * max(1.0, size[0]))
    return np.asarray(V[rank:].T, dtype=np.float64)
