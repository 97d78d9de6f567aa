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
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.labels import JointEntry, joint_named

Side = Literal["i", "j"]
Axes = Literal["ground", "body", "joint"]


class JointWrench(NamedTuple):
    """force, torque: (nt, 3) each, about `point`, in the given frame;  point: (nt, 3) global [m]."""

    force: Array
    torque: Array
    point: Array


def body_of_side(e: JointEntry, on: str) -> int:
    """Return the number of the body on side "i" or "j"."""
    return e.i if on == "i" else e.j


def at_joint_point(e: JointEntry, on: str, frame: str, r: Array, p: Array, wrench: Array) -> JointWrench:
    """Return the wrench (nt, 6) on the body of side `on`, with poses r (nt, 3) and p (nt, 4), about the joint's point."""
    s_bar, A_bar = (e.s_bar_i, e.A_bar_i) if on == "i" else (e.s_bar_j, e.A_bar_j)
    A = rotation_matrix(p)
    s = A @ s_bar
    force = wrench[:, :3]
    torque = np.einsum("tij,tj->ti", A, wrench[:, 3:]) - np.cross(s, force)
    if frame != "ground":
        axes = A if frame == "body" else A @ A_bar
        force, torque = np.einsum("tji,tj->ti", axes, force), np.einsum("tji,tj->ti", axes, torque)
    return JointWrench(np.array(force), torque, r + s)


def check_wrench_arguments(joints: Mapping[str, JointEntry], body_names: Sequence[str], joint: str, on: str, frame: str) -> None:
    """Raise UsageError for a name, side or frame that does not exist."""
    e = joint_named(joints, joint)
    if on not in ("i", "j"):
        i, j = body_names[e.i], body_names[e.j]
        raise UsageError(f"on is {on!r}: give 'i' (body {i!r}) or 'j' (body {j!r}).")
    if frame not in ("ground", "body", "joint"):
        raise UsageError(f"frame is {frame!r}: give 'ground', 'body' or 'joint'.")
