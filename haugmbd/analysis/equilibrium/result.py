r"""What `equilibrium` returns: a pose in balance, its stability, and what the joints carry.

K x = kappa x      along the tangent space of the constraints:   kappa > 0 stable,  kappa < 0 unstable,  kappa = 0 indifferent
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from haugmbd.analysis.equilibrium.steady_motion import Steady
from haugmbd.analysis.equilibrium.tangent_matrices import NOISE
from haugmbd.analysis.mobility.twist_format import motion_text, turns_first
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.joint_wrench import Axes, JointWrench, Side, at_joint_point, body_of_side, check_question
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State

INDIFFERENT_TOL = 10.0 * NOISE
"""Stiffness, relative to the forces at work and to the largest stiffness, that is none."""


class Stability(Enum):
    """What a small push does: the pose comes back, stays where it is pushed to, or departs."""

    STABLE = "stable"
    INDIFFERENT = "indifferent"
    UNSTABLE = "unstable"


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """A pose in balance.

    model;  state: with the velocities of the steady motion;  lam: (nc,) multipliers, shared by redundant rows as the model says
    motions: (nd, nb + 1, 6) displacement, global [m], and turn, body frames [rad]: the largest turn is 1, or the largest displacement
    stiffness: (nd,) against each of them [N m/rad, or N/m where nothing turns];  kinds: (nd,) what a push along each of them does
    residual: force left along the motions, over the forces at work and the stiffness;  newton, relaxed: steps made
    steady: the steady motion, as it was read;  length: [m] what displacements are measured with
    """

    model: Model
    state: State
    lam: Array
    motions: Array
    stiffness: Array
    kinds: tuple[Stability, ...]
    residual: float
    newton: int
    relaxed: int
    steady: Steady
    length: float

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return len(self.stiffness)

    @property
    def stability(self) -> Stability:
        """UNSTABLE if any motion is, else INDIFFERENT if any is, else STABLE."""
        kinds = self.kinds
        return next((kind for kind in (Stability.UNSTABLE, Stability.INDIFFERENT) if kind in kinds), Stability.STABLE)

    @property
    def stable(self) -> bool:
        """Whether every small push is resisted."""
        return self.stability is Stability.STABLE

    def motion(self, k: int) -> str:
        """The k-th motion in words."""
        return motion_text(self.motions[k], self.state.p, self.model.body_names, self.length)

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> JointWrench:
        """Force [N] and torque [N m], (3,) each, that `joint` exerts on its body j (or i) at the joint's point, and the point [m].

        frame: in which they are written: "ground", "body" or "joint";  UsageError for what does not exist
        """
        check_question(self.model.joints, self.model.body_names, joint, on, frame)
        e = self.model.joints[joint]
        body, rows = body_of_side(e, on), jacobian_by_bodies(self.model, self.state)
        wrench = -np.einsum("r,rc->c", self.lam[e.rows], rows[e.rows, body])
        found = at_joint_point(e, on, frame, self.state.r[[body]], self.state.p[[body]], wrench[None])
        return JointWrench(*(x[0] for x in found))

    def __str__(self) -> str:
        """Stability, and each motion that is not resisted."""
        head = f"{self.model.name!r}: {'steady motion' if self.steady.moves else 'equilibrium'} at t = {self.state.t:g} s"
        steps = f"{self.newton} Newton steps" + (f", {self.relaxed} of relaxation" if self.relaxed else "")
        lines = [f"{head}, {self.stability.value} ({self.dof} degrees of freedom, {steps}, residual {self.residual:.1e})"]
        for k, kind in enumerate(self.kinds):
            if kind is Stability.UNSTABLE:
                unit = "N m/rad" if turns_first(self.motions[k], self.length) else "N/m"
                lines.append(f"  unstable, stiffness {self.stiffness[k]:.4g} {unit}: {self.motion(k)}")
            if kind is Stability.INDIFFERENT:
                lines.append(f"  indifferent: {self.motion(k)}")
        return "\n".join(lines)

    __repr__ = __str__


def jacobian_by_bodies(model: Model, state: State) -> Array:
    """Phi_q by bodies, (nc, nb + 1, 6)."""
    rows = evaluate(model, state)
    J = np.zeros((model.nc, model.nb + 1, 6))
    for side in (0, 1):
        J[np.arange(model.nc), rows.bodies[:, side]] += np.concatenate([rows.Phi_r, rows.PiBar], axis=2)[:, side]
    return J


def kinds_of(kappa: Array, scale: float) -> tuple[Stability, ...]:
    """Stable, indifferent or unstable, for each stiffness [J] in an orthonormal basis."""
    small = INDIFFERENT_TOL * scale
    return tuple(Stability.INDIFFERENT if abs(k) <= small else Stability.STABLE if k > 0.0 else Stability.UNSTABLE for k in kappa)
