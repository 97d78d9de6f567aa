r"""Results that consist of pieces in maximal coordinates: reactions, violations and momenta of all pieces as one.

A ReducedResult has one piece, its motion in maximal coordinates; an ImpactResult has one for each segment.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.energy import Momentum
from haugmbd.diagnostics.joint_reactions.joint_wrench import Axes, Side, check_wrench_arguments
from haugmbd.diagnostics.joint_reactions.reactions import Reaction
from haugmbd.diagnostics.violation import Level
from haugmbd.simulation.results.joining import join_reactions, joined
from haugmbd.simulation.results.quantities import HasQuantities


class Piecewise(HasQuantities):
    """Base class of results that consist of pieces."""

    @abstractmethod
    def _pieces(self) -> Sequence[Any]:
        """Return the pieces."""

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
        """Return the force and torque that a joint exerts, as `Result.reaction`.

        Parameters
        ----------
        joint : str
            Name of a joint of the system.
        on : {"j", "i"}
            The body.
        frame : {"ground", "body", "joint"}
            Frame of the components.

        Returns
        -------
        Reaction
            Force and torque over time.

        Raises
        ------
        UsageError
            For an unknown joint, side or frame.
        """
        pieces = self._pieces()
        model = pieces[0].model
        check_wrench_arguments(model.joints, model.body_names, joint, on, frame)
        return join_reactions([piece.reaction(joint, on=on, frame=frame) for piece in pieces])

    def violation(self, level: Level = "position", by: Literal["row", "joint"] = "joint") -> Any:
        """Return the constraint violation at every state, as `Result.violation`.

        Parameters
        ----------
        level : {"position", "velocity", "acceleration"}
            Level of the constraints.
        by : {"joint", "row"}
            "joint": Euclidean norm over the rows of each joint. "row": signed values of all rows of the joints.

        Returns
        -------
        dict of str to ndarray, (nt,), or ndarray, (nt, nc)
            Violations by joint name, or by row.

        Raises
        ------
        UsageError
            If the level, or `by`, is unknown.
        """
        pieces = self._pieces()
        parts = [piece.violation(level, by=by) for piece in pieces]
        names = tuple(pieces[0].model.joints)
        if by == "joint":
            return {name: np.concatenate([part[name] for part in parts]) for name in names}
        rows = [np.sort(np.concatenate([[], *(p.model.joints[name].rows for name in names)])).astype(np.int64) for p in pieces]
        return np.concatenate([part[:, own] for part, own in zip(parts, rows, strict=True)])

    def euler_violation(self) -> Array:
        """Return the normalization error | |p| - 1 | of the Euler parameters, (nt, nb + 1)."""
        return np.concatenate([piece.euler_violation() for piece in self._pieces()])

    def momentum(self) -> Momentum:
        """Return linear momentum, and angular momentum about the origin of the ground, (nt, 3), global."""
        found: Momentum = joined([piece.momentum() for piece in self._pieces()])
        return found
