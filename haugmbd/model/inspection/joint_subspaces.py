r"""Motion subspace S and constraint wrenches T of a joint at one state.

    S (6, k)      twists (v, omega) of body j against body i       T S = 0      rank S + rank T = 6 if the rows are independent
    T (rows, 6)   wrenches (F, N) on body j                        F = Phi_r_j,  N = A_j PiBar_j + r_j x F
    rotation about a through P      (P x a, a)       translation along a      (a, 0)

Linear part first, global axes, at the world origin. The reaction on body j is -T^T lam, that on body i is the opposite.
Source: Featherstone (2008), sec. 3.5 and ch. 4 (motion and constraint-force subspaces); the rows of Haug (2021).
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Freedom, Kind, Side
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.math.spatial import force_transform, motion_transform
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.given import model_given, state_of_structure
from haugmbd.model.labels import JointEntry, joint_named
from haugmbd.model.model import Model
from haugmbd.model.state import State

DEPENDENT_TOL = 1e-10
"""Part of the largest value below which a freedom (a row) depends on the others, with moments about the joint's point. It is above the
rounding of poses; two points of a joint that are nearer than this coincide."""


@check_keywords
def motion_subspace(model: Model, state: State | None, joint: str) -> Array:
    """Return the motion subspace S of a joint: the twists of body j relative to body i that it allows at one state.

    Parameters
    ----------
    model : Model
        The model.
    state : State or None
        The state; None for the modelled one.
    joint : str
        Name of the joint.

    Returns
    -------
    ndarray, (6, k)
        Twists (v, omega), global axes, at the world origin. The columns are the joint's declared freedoms in their order, per rad/s or
        m/s; a freedom that depends on the others is left out. If the joint declares none, a basis of the null space of its rows.

    Raises
    ------
    UsageError
        If there is no such joint, its rows are not all between the same two bodies, or the state is of another structure.

    Notes
    -----
    Drivers are held fixed. T S = 0 with the wrenches T of `constraint_wrenches`.
    Source: Featherstone (2008), sec. 3.5 and ch. 4.
    """
    model = model_given(model, "motion_subspace")
    state = state_of_structure(model, state, "motion_subspace")
    e = joint_named(model.joints, joint)
    point = _point(state, e.j, e.s_bar_j)
    if e.freedoms is None:
        S = _null_space(constraint_wrenches(model, state, joint) @ force_transform(np.eye(3), point).T)
    else:
        S = _independent(np.column_stack([np.zeros((6, 0)), *(_twist(state, e, freedom, point) for freedom in e.freedoms)]))
    return np.asarray(motion_transform(np.eye(3), -point) @ S, dtype=np.float64)


@check_keywords
def constraint_wrenches(model: Model, state: State | None, joint: str) -> Array:
    """Return the constraint wrenches T of a joint: its rows as wrenches on body j at one state, not scaled.

    Parameters
    ----------
    model : Model
        The model.
    state : State or None
        The state; None for the modelled one.
    joint : str
        Name of the joint.

    Returns
    -------
    ndarray, (rows, 6)
        Wrenches (F, N), global axes, at the world origin. The reaction on body j is -T^T lam.

    Raises
    ------
    UsageError
        If there is no such joint, its rows are not all between the same two bodies, or the state is of another structure.

    Notes
    -----
    F = Phi_r_j and N = A_j PiBar_j + r_j x F.
    Source: Featherstone (2008), sec. 3.5; the rows of Haug (2021).
    """
    model = model_given(model, "constraint_wrenches")
    state = state_of_structure(model, state, "constraint_wrenches")
    e, rows = joint_named(model.joints, joint), evaluate(model, state)
    pairs = rows.bodies[e.rows]
    if not model.are_between_two(e):
        touched = {place[0] for place in e.places} or set(pairs.ravel().tolist())
        names = sorted(model.body_names[body] for body in touched)
        raise UsageError(
            f"joint {joint!r} has rows between more than two bodies: {', '.join(map(repr, names))}. Evaluate its rows instead."
        )
    side = (pairs[:, 1] == e.j).astype(np.int64)
    F, n_bar = rows.Phi_r[e.rows, side], rows.PiBar[e.rows, side]
    N = n_bar @ rotation_matrix(state.p[e.j]).T + cross(state.r[e.j], F)
    return np.concatenate((F, N), axis=1)


def _point(state: State, body: int, s_bar: Array) -> Array:
    """Return r + A s_bar [m], global."""
    return np.asarray(state.r[body] + rotation_matrix(state.p[body]) @ s_bar, dtype=np.float64)


def _twist(state: State, e: JointEntry, freedom: Freedom, point: Array) -> Array:
    """Return the twist of one freedom at `point`, (6,)."""
    body, s_bar, A_bar = (e.i, e.s_bar_i, e.A_bar_i) if freedom.side is Side.I else (e.j, e.s_bar_j, e.A_bar_j)
    a = rotation_matrix(state.p[body]) @ A_bar[:, freedom.axis]
    if freedom.kind is Kind.SLIDE:
        return np.concatenate((a, np.zeros(3)))
    return np.concatenate((cross(a, point - _point(state, body, s_bar)), a))


def _independent(S: Array) -> Array:
    """Return the columns of S without those that depend on the others; of several choices the best conditioned."""
    if not S.size:
        return S
    from scipy.linalg import qr  # noqa: PLC0415  imported only where it is used

    _, R, order = qr(S, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    return S[:, np.sort(order[: np.count_nonzero(size > DEPENDENT_TOL * size[0])])]


def _null_space(T: Array) -> Array:
    """Return an orthonormal basis (6, k) of T S = 0; rows are normalised first."""
    length = np.linalg.norm(T, axis=1, keepdims=True)
    _, size, V = np.linalg.svd(T / np.where(length > 0.0, length, 1.0))
    rank = np.count_nonzero(size > DEPENDENT_TOL * max(1.0, size[0]))
    return np.asarray(V[rank:].T, dtype=np.float64)
