r"""Rates of MuJoCo's joints from the velocities of bodies:  (v_rel, omega_rel) = S qvel  at the point of the joint, by least squares.

    hinge   S = (0, a)        slide   (a, 0)        ball   (0, axes of the child)        free   (I, 0), (0, axes of the child)

Source: MuJoCo's documentation, Overview: floating objects; Computation: kinematics.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.joints import CJ, RJ, SJ, TJ, UJ, Planar, PointInPlane, PointOnLine
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.exports import Branch
from haugmbd.tolerances import ROUNDING

ALLOWED = 1e-9
"""Part of a velocity that joints do not allow, relative to it, which is rounding."""


def rates_of(branch: Branch) -> tuple[list[float], bool]:
    """Return the rates of the joints of a body in MuJoCo's order, and whether they are all of its motion against its parent."""
    body, parent, joint = branch.body, branch.parent, branch.joint
    on_i = branch.reverse and not isinstance(joint, PointOnLine | PointInPlane)
    P = body.r if joint is None else (joint.frame_i if on_i else joint.frame_j).point
    w, w_0 = body.A @ body.omega_bar, parent.A @ parent.omega_bar
    motion = np.concatenate([body.v + cross(w, P - body.r) - parent.v - cross(w_0, P - parent.r), w - w_0])
    S = _motions(branch)
    rates = np.linalg.lstsq(S, motion, rcond=None)[0] if S.shape[1] else np.zeros(0)
    gap = float(np.abs(motion - S @ rates).max())
    size = max(float(np.abs(each).max()) for each in (body.v, w, parent.v, w_0))
    return rates.tolist(), gap <= ALLOWED * size + ROUNDING * (1.0 + float(np.abs(P - body.r).max()))


def _motions(branch: Branch) -> Array:
    """Return S, (6, n): the motions of the joints of a body, linear above, angular below."""
    still, A = np.zeros((3, 3)), branch.body.A
    joint, sense = branch.joint, -1.0 if branch.reverse else 1.0
    if joint is None:
        return np.block([[np.eye(3), still], [still, A]])
    if isinstance(joint, PointOnLine | PointInPlane):
        axes = joint.frame_i.A.T[2:] if isinstance(joint, PointOnLine) else joint.frame_i.A.T[:2]
        along, about = np.vstack([axes.T, np.zeros((3, len(axes)))]), np.vstack([still, A])
        return np.hstack([about, along] if branch.reverse else [along, about])
    f, g, h = (sense * axis for axis in joint.frame_i.A.T)
    turns: list[Array] = []
    slides: list[Array] = []
    if isinstance(joint, SJ):
        turns = list(A.T)
    elif isinstance(joint, UJ):
        second = sense * joint.frame_j.A[:, 1]
        turns = [second, f] if branch.reverse else [f, second]
    else:
        slides = [h] if isinstance(joint, TJ | CJ) else [f, g] if isinstance(joint, Planar) else []
        turns = [h] if isinstance(joint, RJ | CJ | Planar) else []
    columns = [np.concatenate([a, still[0]]) for a in slides] + [np.concatenate([still[0], a]) for a in turns]
    return np.array(columns).reshape(-1, 6).T
