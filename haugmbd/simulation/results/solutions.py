r"""What is computed from the states of a run and its model: accelerations, multipliers, reactions, violations, energy, momentum.

    v_dot (nt, nb+1, 3)   omega_bar_dot (nt, nb+1, 3)   lam (nt, nc)

By NewtonEuler at the stored states, for every method, and only when it is asked for. What a method has computed itself is stored with its
states: `lam_of_method`, because the multipliers that an implicit method solves for are not a function of the state, and on request
`accelerations_of_method`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, Literal, overload

import numpy as np

from haugmbd.bodies.validation import read_only
from haugmbd.choices import check_flags, is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.energy import Energy, Momentum, energy_over_time, kinetic_and_potential, momentum_over_time
from haugmbd.diagnostics.joint_reactions import (
    Axes,
    Reaction,
    SelfStresses,
    Side,
    check_wrench_arguments,
    reactions_over_time,
    self_stresses,
    unique_beside,
)
from haugmbd.diagnostics.method_solutions import multipliers_of_method
from haugmbd.diagnostics.violation import JointWrenches, Level, euler_violation, joint_violation, row_violation
from haugmbd.diagnostics.work import Work
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import solve_states
from haugmbd.formulations.determined_motion import solve_determined_states
from haugmbd.integrators.base import methods_below
from haugmbd.model.model import Model
from haugmbd.simulation.results.joining import join_reactions, over_structures
from haugmbd.simulation.results.segments import changes_structure, in_rows_of, solutions_of_segments

DETERMINED = ("kinematics", "inverse dynamics")
"""The analyses, by the settings of their results, of motions that the drivers determine: accelerations follow from the rows alone."""


class HasSolutions(ABC):
    """Base class of Result: solutions of the equations of motion at its states."""

    t: Array
    y: Array
    settings: dict[str, str]
    _own: Array | None
    _own_u_dot: Array | None
    _contact_segment: Any

    @property
    @abstractmethod
    def model(self) -> Model:
        """Return the compiled model."""

    @property
    @abstractmethod
    def has_model(self) -> bool:
        """Return whether the result has its model."""

    @property
    @abstractmethod
    def p(self) -> Array:
        """Return the Euler parameters, (nt, nb + 1, 4)."""

    @abstractmethod
    def _pieces(self) -> Sequence[Any]:
        """Return the smooth pieces of the motion; itself if it is one."""

    @property
    @abstractmethod
    def _work(self) -> Work:
        """Return the work since the first state."""

    @cached_property
    def _solutions(self) -> Array:
        """Return (u_dot, lam) by nodes at every state, (nt, nn, 6); NaN at states that are not finite."""
        pieces = self._pieces()
        if pieces != (self,):  # each with the model of its closed contacts
            return read_only(solutions_of_segments(self.model, pieces))
        if self._contact_segment is not None:
            return read_only(self._contact_record.x)
        solve = solve_determined_states if self.settings.get("analysis") in DETERMINED else solve_states
        finite = np.isfinite(self.y).all(axis=1)
        if finite.all():
            return read_only(solve(self.model, self.t, self.y))
        found = solve(self.model, self.t[finite], self.y[finite])
        solutions = np.full((len(self.t), *found.shape[1:]), np.nan)
        solutions[finite] = found
        return read_only(solutions)

    @cached_property
    def _contact_record(self) -> Any:
        """Return forces of rigid contacts with friction, and solutions with them, at the states of a segment."""
        return self._contact_segment.record(self.t, self.y)

    def _solve(self) -> Array:
        return self._solutions

    @cached_property
    def _self_stresses(self) -> SelfStresses:
        """Return the self-stresses at some of the states; none without redundant rows."""
        return self_stresses(self.model, self.t, self.y)

    @cached_property
    def _wrenches(self) -> JointWrenches:
        """Return the wrenches of joints, computed in blocks."""
        return JointWrenches(self.model, self.t, self.y, self._solve)

    @cached_property
    def _contact_shares(self) -> list[JointWrenches]:
        """Return the wrenches of joints by forces of contacts that their laws leave open, where the modes of contacts change."""
        if self._contact_segment is None or not self.model.nc:
            return []
        from haugmbd.impacts.contact_history import shares_along  # noqa: PLC0415  most results have no contacts

        return [
            JointWrenches(self.model, np.full(len(x), t), np.tile(y, (len(x), 1)), partial(np.asarray, x))
            for t, y, x in shares_along(self._contact_segment, self.t, self.y)
        ]

    @property
    def _solutions_of_method(self) -> Array:
        """Return (u_dot, lam) of the method by nodes at every state, (nt, nn, 6)."""
        n = self.model.nb + 1
        nodes = n + len(self.model.tables["EDGES"])
        x = np.zeros((len(self.t), 6 * nodes))
        x[:, : 6 * n] = self.accelerations_of_method.reshape(len(self.t), 6 * n)
        x[:, 6 * n :][:, self.model.slot_of_row] = self.lam_of_method
        return x.reshape(len(self.t), nodes, 6)

    @property
    def v_dot(self) -> Array:
        """Return the accelerations of the centres of mass, global [m/s2], (nt, nb + 1, 3)."""
        return self._solutions[:, : self.model.nb + 1, :3]

    @property
    def omega_bar_dot(self) -> Array:
        """Return the angular accelerations, body frames [rad/s2], (nt, nb + 1, 3)."""
        return self._solutions[:, : self.model.nb + 1, 3:]

    @cached_property
    def lam(self) -> Array:
        """Return the Lagrange multipliers of the rows at every state, (nt, nc)."""
        slots = self._solutions[:, self.model.nb + 1 :]
        flat = slots.reshape(len(self.t), 6 * slots.shape[1])
        return read_only(flat[:, self.model.slot_of_row])

    @cached_property
    def lam_of_method(self) -> Array:
        """Return the multipliers that the method itself computed at the stored states, by rows, (nt, nc).

        Returns
        -------
        ndarray, (nt, nc)
            Multipliers of M u' + Phi_q^T lam = Q with the u' of the method, see `accelerations_of_method`.

        Raises
        ------
        UsageError
            If the result has none: run with `record_method=True`. `BDF`, the family of `GeneralizedAlpha` and `Trapezoidal` keep them
            in every run without `t_eval`.

        Notes
        -----
        `lam` holds the multipliers of NewtonEuler at the same states, for every method.

        Explicit methods, HEM4, SciPySolver
            What the formulation with its stabilization computes at the stored state, as at the beginning of the next step: with the
            feedback of Baumgarte, approximate for Penalty and for AugmentedLagrangian that ends early. Multipliers inside the steps of
            HEM4 are not recorded. NaN where this fails, as at a singular configuration.
        BDF, GeneralizedAlpha, HHT, Newmark, GeneralizedAlphaR7, Trapezoidal
            What the last Newton iteration of the step solved for.
        RadauIIA
            What its step ends with: the equations of motion and gamma at the end of the step. Those of its stages are not recorded.
        RATTLE
            The multipliers of the second half of the step, which bring the velocities to their constraints. They have order one.

        At the start, methods that solve for multipliers have those of NewtonEuler. NaN at states that are not steps of such a method: at
        a terminal event, and after a singular configuration was crossed. Dependent rows share their load as in `lam`, by
        `DropDependentRows` or `MinimumNorm`.
        """
        if self._own is None:
            have = ", ".join(sorted(kind.__name__ for kind in methods_below() if kind.own_multipliers))
            raise UsageError(
                f"this result (integrator {self.settings.get('integrator', 'unknown')}) has no multipliers of the method's own: "
                f"{have} have them, at the steps of a run without t_eval; other methods with simulate(..., record_method=True). "
                "`lam` has those of the accelerations, at every state."
            )
        pieces = self._pieces()
        if pieces != (self,):
            return read_only(np.concatenate([in_rows_of(self.model, piece, piece.lam_of_method) for piece in pieces]))
        if not self.has_model:
            return self._own
        return read_only(multipliers_of_method(self.model, self.t, self.y, self._own))

    @property
    def has_lam_of_method(self) -> bool:
        """Return whether the result has multipliers of the method itself."""
        return self._own is not None

    @property
    def accelerations_of_method(self) -> Array:
        """Return the accelerations that the method itself computed at the stored states, (nt, nb + 1, 6).

        Returns
        -------
        ndarray, (nt, nb + 1, 6)
            u' = (v', omega_bar'): of the centres of mass, global [m/s2], and angular, body frames [rad/s2]; the ground is in row 0.

        Raises
        ------
        UsageError
            If the run was made without `record_method=True`, or the states are those of `resample`.

        Notes
        -----
        They belong to `lam_of_method`, which says what is recorded of each method. `v_dot` and `omega_bar_dot` hold the accelerations
        of NewtonEuler at the same states, for every method.
        """
        if self._own_u_dot is None:
            raise UsageError(
                f"this result (integrator {self.settings.get('integrator', 'unknown')}) has no accelerations of the method's own: "
                "run simulate(..., record_method=True). `v_dot` and `omega_bar_dot` have those of NewtonEuler, at every state."
            )
        return self._own_u_dot

    @property
    def has_accelerations_of_method(self) -> bool:
        """Return whether the result has accelerations of the method itself."""
        return self._own_u_dot is not None

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
        """Return the force and torque that `joint` exerts on a body, at the joint's point on that body, at every state.

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
            Force [N], torque [N m] about the point, the point [m], and in `.unique` whether the components are unique.

        Raises
        ------
        UsageError
            If the joint, side or frame does not exist.
        """
        pieces = self._pieces()
        if pieces != (self,):
            joints = {name: entry for piece in pieces[::-1] for name, entry in piece.model.joints.items()} | dict(self.model.joints)
            check_wrench_arguments(joints, self.model.body_names, joint, on, frame)
            is_on = lambda piece: joint in piece.model.joints  # noqa: E731
            found: Reaction = over_structures(
                pieces, joint, is_on, lambda piece: piece.reaction(joint, on=on, frame=frame), join_reactions
            )
            return found
        stresses = lambda: self._self_stresses  # noqa: E731  computed only where it is asked for
        own = reactions_over_time(self._wrenches, joint, on=on, frame=frame, stresses=stresses)
        for wrenches in self._contact_shares:
            own = unique_beside(own, reactions_over_time(wrenches, joint, on=on, frame=frame, stresses=stresses), self.model.length)
        return own

    @overload
    def violation(self, level: Level = ..., by: Literal["row"] = ..., *, of_method: bool = ...) -> Array: ...
    @overload
    def violation(self, level: Level = ..., *, by: Literal["joint"], of_method: bool = ...) -> dict[str, Array]: ...
    def violation(self, level: Level = "position", by: str = "row", *, of_method: bool = False) -> Array | dict[str, Array]:
        """Return the constraint violation at every state: Phi, Phi_q u - nu, or Phi_q u_dot - gamma.

        Parameters
        ----------
        level : {"position", "velocity", "acceleration"}
            Level of the constraints.
        by : {"row", "joint"}
            "row": signed values of all rows. "joint": Euclidean norm over the rows of each joint.
        of_method : bool
            At acceleration level: whether u_dot is that of the method, `accelerations_of_method`. By default it is that of NewtonEuler,
            which fulfils the rows to rounding for every method.

        Returns
        -------
        ndarray, (nt, nc), or dict of str to ndarray, (nt,)
            Violations by row, or by joint name; in the units of the rows (`model.labels`).

        Raises
        ------
        UsageError
            If the level, or `by`, is unknown, or the run did not record the accelerations of the method.
        """
        check_flags(of_method=of_method)
        if not is_one_of(by, ("row", "joint")):
            raise UsageError(f"by is {by!r}: give 'row' or 'joint'.")
        pieces = self._pieces()
        if pieces != (self,) and changes_structure(pieces):
            parts = [in_rows_of(self.model, piece, piece.violation(level, of_method=of_method)) for piece in pieces]
            return np.concatenate(parts) if by == "row" else joint_violation(self.model, np.concatenate(parts))
        rows = row_violation(self.model, self.t, self.y, level, lambda: self._solutions_of_method if of_method else self._solutions)
        return rows if by == "row" else joint_violation(self.model, rows)

    def euler_violation(self) -> Array:
        """Return the normalization error | |p| - 1 | of the stored Euler parameters, (nt, nb + 1)."""
        return euler_violation(self.p)

    def energy(self) -> Energy:
        """Return kinetic and potential energy, applied and dissipated work, and their total, (nt,) [J].

        Notes
        -----
        The total is constant on an exact solution. The work is integrated along the steps of the run, whatever is stored of them: those
        that are not stored are made again, once, which takes as long as the run and calls the user's functions again. Where they do not
        come out again, and for states of your own, `work_error` is the measured error of the work, and a large one is issued as a
        RunWarning.
        """
        pieces = self._pieces()
        if pieces != (self,) and changes_structure(pieces):  # loads that are off store nothing
            kept = [kinetic_and_potential(piece.model, piece.t, piece.y) for piece in pieces]
            kinetic, potential = (np.concatenate([one[k] for one in kept]) for k in (0, 1))
            return Energy(self.t, kinetic, potential, self._work.all_applied, self._work.all_dissipated, self._work.error)
        return energy_over_time(self.model, self.t, self.y, lambda: self._work)

    def momentum(self) -> Momentum:
        """Return linear momentum, and angular momentum about the origin of the ground, (nt, 3), global."""
        return momentum_over_time(self.model, self.t, self.y)
