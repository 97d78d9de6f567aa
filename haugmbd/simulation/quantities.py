r"""Quantities of a motion by their names, in the same way for Result, ReducedResult and ImpactResult.

A motion consists of smooth pieces in maximal coordinates, each a Result: one of a simulation, one for each segment of a motion with
impacts. A quantity is computed piece by piece and joined; turns and work go on from piece to piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.driver_history import DriverHistory, driven_row, driver_history
from haugmbd.diagnostics.joint_history import JointHistory, joint_history
from haugmbd.diagnostics.load_history import LoadHistory, load_history
from haugmbd.diagnostics.reaction_uniqueness import SelfStresses
from haugmbd.model.labels import joint_named
from haugmbd.model.model import Model
from haugmbd.simulation.joining import join_drivers, join_joints, join_loads


class Piece(Protocol):
    """A smooth piece of a motion, a Result: times, states, the model, solutions (u_dot, lam) by nodes, and self-stresses."""

    @property
    def t(self) -> Array: ...
    @property
    def y(self) -> Array: ...
    @property
    def model(self) -> Model: ...
    @property
    def _self_stresses(self) -> SelfStresses: ...
    def _solve(self) -> Array: ...


class HasQuantities:
    """Base class of results: joints, loads and drivers over time, by name."""

    def _pieces(self) -> Sequence[Piece]:
        """Return the smooth pieces of the motion, in maximal coordinates."""
        raise NotImplementedError

    def joint(self, name: str) -> JointHistory:
        """Return the coordinates of a joint over time.

        Parameters
        ----------
        name : str
            Name of the joint.

        Returns
        -------
        JointHistory
            `.angle`, `.displacement` or `.rotation`, `.rate` and `.acceleration`; signs and zeros as the joint's class describes them.

        Raises
        ------
        UsageError
            If there is no joint of that name, if it has no coordinates, or if the stored states are too far apart to count its turns.
        """
        pieces = self._pieces()
        entry = joint_named(pieces[0].model.joints, name)
        return join_joints([joint_history(p.model, entry, p.t, p.y, p._solve()[:, : p.model.nb + 1]) for p in pieces])

    def load(self, name: str) -> LoadHistory:
        """Return the quantities of a force element over time.

        Parameters
        ----------
        name : str
            Name of the element.

        Returns
        -------
        LoadHistory
            `.power` (given to the bodies) and `.energy` of every element; `.length`, `.rate`, `.force` (positive pulls) and `.stroke` of
            a TSDA, `.angle`, `.rate` and `.torque` of an RSDA, `.force` or `.torque` of others.

        Raises
        ------
        UsageError
            If there is no element of that name.
        """
        return join_loads([load_history(p.model, p.t, p.y, name) for p in self._pieces()])

    def driver(self, name: str) -> DriverHistory:
        """Return a driver over time: what it prescribes, and what it takes.

        Parameters
        ----------
        name : str
            Name of a driver, or of a joint with a driven row, such as a Distance with a function of time.

        Returns
        -------
        DriverHistory
            `.value`, `.rate`, `.torque` or `.force` (positive along the coordinate), `.power` and `.work`.

        Raises
        ------
        UsageError
            If there is no driver of that name, or if it has several driven rows.
        """
        parts = []
        for p in self._pieces():
            unique = not np.any(p._self_stresses.lam[:, driven_row(p.model, name)])
            parts.append(driver_history(p.model, p.t, p.y, p._solve, name, unique=unique))
        return join_drivers(parts)
