r"""The wrench of a joint about the joint's point, from the wrench about the centre of mass; for forces and for impulses.

    (F, n_bar) = -Phi_q^T lam      over the joint's rows: force, global, and moment about the centre of mass, body frame
    T          = A n_bar - s x F   moment about the joint point P = r + s,  s = A s_bar

The forces on body i and body j are opposite. The moments are opposite if both points P coincide.
Source: Haug (2021), equations of motion with Lagrange multipliers: reactions in joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.labels import JointEntry, joint_named

Side = Literal["i", "j"] | str
"""Side of a joint, or the name of a body that it touches."""
Axes = Literal["ground", "body", "joint"]


class JointWrench(NamedTuple):
    """The wrench of a joint over time.

    force, torque: (nt, 3) each, about `point`, in the given frame;  point: (nt, 3) global [m]
    """

    force: Array
    torque: Array
    point: Array


class ReactionPlace(NamedTuple):
    """The place of a reaction: number of the body, the joint's point s_bar (3,) and axes A_bar (3, 3) there."""

    body: int
    s_bar: Array
    A_bar: Array


def place_on(e: JointEntry, on: str, body_names: Sequence[str]) -> ReactionPlace:
    """Return the place of the reaction on side "i" or "j", or on the body of that name."""
    if on in ("i", "j"):
        return ReactionPlace(e.i, e.s_bar_i, e.A_bar_i) if on == "i" else ReactionPlace(e.j, e.s_bar_j, e.A_bar_j)
    places = e.places or ((e.i, e.s_bar_i, e.A_bar_i), (e.j, e.s_bar_j, e.A_bar_j))
    return next(ReactionPlace(*place) for place in places if body_names[place[0]] == on)


def at_joint_point(place: ReactionPlace, frame: str, r: Array, p: Array, wrench: Array) -> JointWrench:
    """Return the wrench (nt, 6) on the body of the place, with poses r (nt, 3) and p (nt, 4), about the joint's point."""
    _, s_bar, A_bar = place
    A = rotation_matrix(p)
    s = A @ s_bar
    force = wrench[:, :3]
    torque = np.einsum("tij,tj->ti", A, wrench[:, 3:]) - cross(s, force)
    if frame != "ground":
        axes = A if frame == "body" else A @ A_bar
        force, torque = np.einsum("tji,tj->ti", axes, force), np.einsum("tji,tj->ti", axes, torque)
    return JointWrench(np.array(force), torque, r + s)


def check_wrench_arguments(joints: Mapping[str, JointEntry], body_names: Sequence[str], joint: str, on: str, frame: str) -> None:
    """Raise UsageError for a name, side or frame that does not exist."""
    e = joint_named(joints, joint)
    touched = [body_names[place[0]] for place in e.places] or [body_names[e.i], body_names[e.j]]
    if on not in ("i", "j", *touched):
        i, j = body_names[e.i], body_names[e.j]
        others = "" if len(touched) == 2 else f", or one of {', '.join(map(repr, touched))}"  # noqa: PLR2004
        raise UsageError(f"on is {on!r}: give 'i' (body {i!r}) or 'j' (body {j!r}){others}.")
    if frame not in ("ground", "body", "joint"):
        raise UsageError(f"frame is {frame!r}: give 'ground', 'body' or 'joint'.")
