r"""The result of `equilibrium`: a pose in balance, its stability, and its reactions.

K x = kappa x      along the tangent space of the constraints:   kappa > 0 stable,  kappa < 0 unstable,  kappa = 0 indifferent
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from haugmbd.analysis.equilibrium.steady_motion import Steady
from haugmbd.analysis.equilibrium.tangent_space import INDIFFERENT_TOL
from haugmbd.analysis.mobility.free_motions import Complex, motion_text, turns_first
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.joint_reactions import Axes, Reaction, Side, reactions_over_time
from haugmbd.diagnostics.violation import JointWrenches
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.study_data import Columns, StudyData, column


class Modes(Protocol):
    """Eigenvectors and eigenvalues of the stiffness, which may be computed when they are asked for."""

    @property
    def motions(self) -> Array: ...

    @property
    def stiffness(self) -> Array: ...


class Stability(Enum):
    """Response of an equilibrium to a small displacement.

    Attributes
    ----------
    STABLE
        The pose returns.
    INDIFFERENT
        The pose stays displaced: to first order, a stiffness of higher order is not looked at.
    UNSTABLE
        The pose departs.
    """

    STABLE = "stable"
    INDIFFERENT = "indifferent"
    UNSTABLE = "unstable"


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(StudyData):
    """An equilibrium: a pose at which all forces are in balance, and its stability.

    Attributes
    ----------
    model : Model
        The compiled model.
    state : State
        The pose, with the velocities of the steady motion.
    lam : ndarray, (nc,)
        Multipliers; dependent rows share them by the rule of the model.
    motions : ndarray, (nd, nb + 1, 6)
        Eigenvectors of the stiffness: displacement, global [m], and rotation, body frames [rad]. The largest rotation is 1, or the largest
        displacement if nothing rotates.
    stiffness : ndarray, (nd,)
        Stiffness of each motion [N m/rad, or N/m if nothing rotates].
    kinds : tuple of Stability, (nd,)
        Stability along each motion.
    residual : float
        Remaining force along the motions, relative to the forces at work and the stiffness.
    newton, relaxed : int
        Numbers of Newton steps and relaxation steps.
    steady : Steady
        The steady motion.
    length : float
        Length by which displacements are compared with rotations [m].
    eigenvalues : ndarray, (nm,), complex, or None
        Those of all small motions [1/s], as `linearize` gives them: with states of blocks, where a steady motion rolls, where the
        stiffness is not symmetric (forces that follow a body, rolling), and where damping is negative. `stability` follows from them;
        `stiffness` and `kinds` are then those of the symmetric part of the stiffness, with the states held.
    """

    model: Model
    state: State
    lam: Array
    modes: Modes
    kinds: tuple[Stability, ...]
    residual: float
    newton: int
    relaxed: int
    steady: Steady
    length: float
    eigenvalues: Complex | None = None

    def _columns(self) -> Columns:
        """Return the pose of each body, the reaction of each joint, global, and the stiffness of each motion."""
        lines: list[tuple[str, str, float]] = []
        for body, r, p in zip(self.model.body_names, self.state.r, self.state.p, strict=True):
            lines += [(body, f"r_{axis}", x) for axis, x in zip("xyz", r, strict=True)]
            lines += [(body, f"p_{k}", x) for k, x in enumerate(p)]
        for joint in self.model.joints:
            reaction = self.reaction(joint)
            lines += [(joint, f"force_{axis}", x) for axis, x in zip("xyz", reaction.force, strict=True)]
            lines += [(joint, f"torque_{axis}", x) for axis, x in zip("xyz", reaction.torque, strict=True)]
        lines += [(self.motion(k), f"stiffness, {self.kinds[k].value}", x) for k, x in enumerate(self.stiffness)]
        parts, quantities, values = zip(*lines, strict=True)
        return {"part": column(parts), "quantity": column(quantities), "value": np.array(values, dtype=np.float64)}

    @property
    def motions(self) -> Array:
        """Eigenvectors of the stiffness, (nd, nb + 1, 6)."""
        return self.modes.motions

    @property
    def stiffness(self) -> Array:
        """Stiffness of each motion, (nd,)."""
        return self.modes.stiffness

    @property
    def dof(self) -> int:
        """Return the degrees of freedom."""
        return len(self.kinds)

    @property
    def stability(self) -> Stability:
        """Return UNSTABLE if any motion is, else INDIFFERENT if any is, else STABLE."""
        kinds = self.kinds if self.eigenvalues is None else kinds_of_motions(self.eigenvalues)
        return next((kind for kind in (Stability.UNSTABLE, Stability.INDIFFERENT) if kind in kinds), Stability.STABLE)

    @property
    def stable(self) -> bool:
        """Return whether every small displacement is resisted; where there are `eigenvalues`, whether no small motion grows, or stays."""
        return self.stability is Stability.STABLE

    def motion(self, k: int) -> str:
        """Return the k-th motion in words."""
        return motion_text(self.motions[k], self.state.p, self.model.body_names, self.length)

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
        """Return the force and torque that `joint` exerts on a body, at the joint's point on that body.

        Parameters
        ----------
        joint : str
            Name of the joint.
        on : {"j", "i"}
            Body on which the reaction acts: the joint's body j or i.
        frame : {"ground", "body", "joint"}
            Frame of the components.

        Returns
        -------
        Reaction
            Force (3,) [N], torque (3,) [N m] about the point, the point (3,), global [m], and which components are `unique`.

        Raises
        ------
        UsageError
            If the joint, side or frame does not exist.
        """
        model, state = self.model, self.state
        x = np.zeros((1, model.nb + 1 + len(model.tables["EDGES"]), 6))
        x.reshape(-1)[6 * (model.nb + 1) + model.slot_of_row] = self.lam
        wrenches = JointWrenches(model, np.array([state.t]), state.y[None], lambda: x)
        reaction = reactions_over_time(wrenches, joint, on=on, frame=frame)
        return Reaction(
            joint, reaction.body, frame, reaction.t[0], reaction.force[0], reaction.torque[0], reaction.point[0], reaction.unique
        )

    def __str__(self) -> str:
        """Return the stability, and each motion that is not resisted."""
        head = f"{self.model.name!r}: {'steady motion' if self.steady.moves else 'equilibrium'} at t = {self.state.t:g} s"
        steps = f"{self.newton} Newton steps" + (f", {self.relaxed} of relaxation" if self.relaxed else "")
        lines = [f"{head}, {self.stability.value} ({self.dof} degrees of freedom, {steps}, residual {self.residual:.1e})"]
        if self.eigenvalues is not None:
            what = "of all small motions" if self.model.network is None else "with the states of blocks"
            lines.append(f"  {what}: eigenvalues {', '.join(f'{s:.4g}' for s in self.eigenvalues)} 1/s")
            return "\n".join(lines)
        for k, kind in enumerate(self.kinds):
            if kind is Stability.UNSTABLE:
                unit = "N m/rad" if turns_first(self.motions[k], self.length) else "N/m"
                lines.append(f"  unstable, stiffness {self.stiffness[k]:.4g} {unit}: {self.motion(k)}")
            if kind is Stability.INDIFFERENT:
                lines.append(f"  indifferent: {self.motion(k)}")
        return "\n".join(lines)

    __repr__ = __str__


def kinds_of_motions(eigenvalues: Complex) -> tuple[Stability, ...]:
    """Return the Stability of each small motion; an undamped one is stable."""
    small = INDIFFERENT_TOL * float(np.abs(eigenvalues).max(initial=0.0))
    return tuple(
        Stability.INDIFFERENT if s == 0.0 else Stability.UNSTABLE if s.real > small else Stability.STABLE
        for s in eigenvalues.tolist()
    )


def kinds_of(kappa: Array, rounding: float) -> tuple[Stability, ...]:
    """Return the Stability of each stiffness [J] in an orthonormal basis;  rounding: stiffness [J] that counts as zero."""
    return tuple(
        Stability.INDIFFERENT if abs(k) <= rounding else Stability.STABLE if k > 0.0 else Stability.UNSTABLE for k in kappa.tolist()
    )
