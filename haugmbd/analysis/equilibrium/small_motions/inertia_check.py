r"""Whether every motion has inertia: M must be positive definite, or its eigenvalues are those of rounding.

M x = 0  for a rotation of a slender rod about itself, if a joint leaves it free at this pose
"""

from __future__ import annotations

import numpy as np

from haugmbd.analysis.equilibrium.residual import motions_of, state_of
from haugmbd.analysis.equilibrium.solver import TrialPose
from haugmbd.analysis.mobility.free_motions import motion_text
from haugmbd.compiled.array_types import Array
from haugmbd.errors import SingularKKTError

NO_INERTIA = 10.0 * np.finfo(float).eps
"""Part of the largest inertia, for each degree of freedom, that is rounding."""


def check_inertia(place: TrialPose, basis: Array, M: Array) -> None:
    """Raise SingularKKTError, with the motion in words, if one of those along a basis (6 nb, n) has no inertia;  M: (n, n)"""
    if not len(M):
        return
    inertia, X = np.linalg.eigh(M)
    if inertia[0] > NO_INERTIA * len(M) * inertia[-1]:
        return
    evaluator, motion = place.evaluator, motions_of(place.evaluator, basis @ X[:, :1])[0]
    state = state_of(evaluator, place.y)
    text = motion_text(motion, state.p, evaluator.model.body_names, evaluator.length)
    raise SingularKKTError(
        f"there are no small motions at t = {state.t:g} s: a motion that the joints leave free at this pose has no inertia beside the "
        f"others: {text}. Give J_bar a positive moment about this axis (haugmbd.bodies.inertia), or use a joint that holds it.",
        state,
    )
