r"""The states of a simulation and its counters. All other quantities are computed from the states on request.

t (nt,)   r (nt, nb+1, 3)   p (nt, nb+1, 4)   v (nt, nb+1, 3)   omega_bar (nt, nb+1, 3)   lam (nt, nc)        ground in row 0

Exception: the multipliers that an implicit method solves for are stored, because they are not a function of the state (`lam_of_method`),
and on request the accelerations and multipliers of every method (`accelerations_of_method`).
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import need_unmasked, read_only
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.body_history import BodyHistory
from haugmbd.diagnostics.energy import Energy, Momentum, energy_over_time, momentum_over_time
from haugmbd.diagnostics.joint_wrench import Axes, Side
from haugmbd.diagnostics.method_solutions import multipliers_of_method
from haugmbd.diagnostics.reaction_uniqueness import SelfStresses, self_stresses
from haugmbd.diagnostics.reactions import Reaction, reactions_over_time
from haugmbd.diagnostics.resample import resample_states
from haugmbd.diagnostics.run_warnings import HasOutcome, Outcome, RunNote, RunStatus
from haugmbd.diagnostics.turns import TurnCounter
from haugmbd.diagnostics.violation import Level, euler_violation, joint_violation, row_violation
from haugmbd.diagnostics.work import rates_of
from haugmbd.errors import SingularKKTError, UsageError, warn_user
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.base import methods_below
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import SingularCrossing
from haugmbd.model.labels import no_such
from haugmbd.model.model import Model
from haugmbd.model.pickling import refusal
from haugmbd.model.state import State
from haugmbd.model.views import Animated
from haugmbd.simulation.io.carried_model import restore
from haugmbd.simulation.quantities import HasQuantities
from haugmbd.simulation.records import Counters, Names
from haugmbd.simulation.sensor import SensorHistory
from haugmbd.simulation.spans import check_time, times_within
from haugmbd.workspace.layout import WIDTH


@public_class
@dataclass(frozen=True, eq=False)
class Result(HasQuantities, Animated, HasOutcome):
    """The states of a run over time.

    Attributes
    ----------
    model : Model
        The compiled model. UsageError if the result was loaded from a file that does not have it, see `load`.
    t : ndarray, (nt,)
        Times [s].
    y : ndarray, (nt, ny)
        Flat states.
    r : ndarray, (nt, nb + 1, 3)
        Centres of mass, global [m]; the ground is in row 0.
    p : ndarray, (nt, nb + 1, 4)
        Euler parameters, scalar first.
    v : ndarray, (nt, nb + 1, 3)
        Velocities of the centres of mass, global [m/s].
    omega_bar : ndarray, (nt, nb + 1, 3)
        Angular velocities, body frames [rad/s].
    counters : Counters
        Numbers of steps and evaluations.
    settings : dict of str to str
        The methods of the run, as text.
    interrupted : bool
        Whether the run was stopped by Ctrl-C, or at the end of its budget.
    names : Names
        Names of the model, its bodies, joints and rows.
    events : tuple of EventRecord
        The located events, in the order of time.
    singular_crossings : tuple of SingularCrossing
        The singular configurations that the run crossed.
    outcome : Outcome
        End of the run and its diagnostics; see also `status`, `success`, `message` and `warnings`.

    Notes
    -----
    `result["crank"]` is the history of one body, `result[t0:t1]` the part of the motion between two times. The arrays are read-only,
    because accelerations, multipliers, reactions, violations and energies are computed from them; change a copy, `result.r.copy()`.
    """

    _model: Model | None
    t: Array
    y: Array
    _: KW_ONLY
    counters: Counters = field(default_factory=Counters)
    settings: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    _names: Names | None = None
    events: tuple[EventRecord, ...] = ()
    singular_crossings: tuple[SingularCrossing, ...] = ()
    _own: Array | None = None
    _own_u_dot: Array | None = None
    _sensors: Mapping[str, SensorHistory] = field(default_factory=dict)
    _turns: Array | None = None
    """Joint angles that the run has counted from step to step, (nt, m) in the order of `turns.turning_joints`."""
    _model_numbers: Mapping[str, Array] | None = None
    """Fingerprint of the model in a file, if the result was loaded."""
    _carried: Mapping[str, Any] | None = None
    """The model in a file, not yet compiled; or why there is none (`io.carried_model`)."""
    outcome: Outcome = Outcome()

    def __post_init__(self) -> None:
        for name in ("t", "y", "_own", "_own_u_dot", "_turns"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(getattr(self, name)))

    def __setstate__(self, stored: dict[str, Any]) -> None:
        """Restore a copy or an unpickled result: its arrays are read-only, and computed quantities are not copied."""
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, stored[name])
        self.__post_init__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the state for pickle.

        The result of a failed run leaves out a model that cannot be pickled, so that its error can be pickled.
        """
        state, model = dict(vars(self)), self._model
        why = "" if model is None else refusal(model)
        if model is not None and why and self.outcome.status is RunStatus.FAILED:
            note = RunNote("model", f"the model {model.name!r} was left behind when this result was pickled: it {why}")
            state |= {"_model": None, "_names": self.names, "outcome": self.outcome._replace(notes=(*self.outcome.notes, note))}
        return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]

    @property
    def model(self) -> Model:
        """Return the compiled model; raise UsageError if the result was loaded from a file that does not have it."""
        if self._model is None:
            assert self._names is not None
            carried = self._carried or {}
            try:
                model = restore(carried, str(carried.get("where", "")), self._names, self._model_numbers, self.y.shape[1])
            except UsageError as error:
                raise UsageError(
                    f"this result of {self.names.model!r} was loaded without its model, which is needed here ({str(error).rstrip('.')}). "
                    "Pass it: mbd.load(path, model=system.compile())."
                ) from None
            object.__setattr__(self, "_model", model)
            return model
        return self._model

    @property
    def has_model(self) -> bool:
        """Return whether the result has its model."""
        try:
            return self.model is not None
        except UsageError:
            return False

    @cached_property
    def names(self) -> Names:
        """Return the names of the model, its bodies, joints and rows."""
        return Names.of(self.model) if self._names is None else self._names

    @property
    def _bodies(self) -> Array:
        n = len(self.names.bodies)
        return self.y[:, : WIDTH * n].reshape(len(self.t), n, WIDTH)

    @property
    def angles(self) -> Array:
        """Return the integrated joint angles [rad], then the internal states of force elements and blocks, (nt, na)."""
        return self.y[:, WIDTH * len(self.names.bodies) :]

    @property
    def r(self) -> Array:
        """Return the centres of mass, global [m], (nt, nb + 1, 3)."""
        return self._bodies[..., 0:3]

    @property
    def p(self) -> Array:
        """Return the Euler parameters, scalar first, (nt, nb + 1, 4)."""
        return self._bodies[..., 3:7]

    @property
    def v(self) -> Array:
        """Return the velocities of the centres of mass, global [m/s], (nt, nb + 1, 3)."""
        return self._bodies[..., 7:10]

    @property
    def omega_bar(self) -> Array:
        """Return the angular velocities, body frames [rad/s], (nt, nb + 1, 3)."""
        return self._bodies[..., 10:13]

    @cached_property
    def _solutions(self) -> Array:
        """Return (u_dot, lam) by nodes at every state, (nt, nn, 6); NaN at states that are not finite."""
        finite = np.isfinite(self.y).all(axis=1)
        if finite.all():
            return read_only(solve_states(self.model, self.t, self.y))
        found = solve_states(self.model, self.t[finite], self.y[finite])
        solutions = np.full((len(self.t), *found.shape[1:]), np.nan)
        solutions[finite] = found
        return read_only(solutions)

    def _solve(self) -> Array:
        return self._solutions

    @cached_property
    def _self_stresses(self) -> SelfStresses:
        """Return the self-stresses at some of the states; none without redundant rows."""
        return self_stresses(self.model, self.t, self.y)

    def _pieces(self) -> tuple[Result, ...]:
        return (self,)

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
            The multipliers of the second half of the step, which bring the velocities to their constraints.

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
        stresses = lambda: self._self_stresses  # noqa: E731  computed only where it is asked for
        return reactions_over_time(self.model, self.t, self.y, self._solve, joint, on=on, frame=frame, stresses=stresses)

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
        if by not in ("row", "joint"):
            raise UsageError(f"by is {by!r}: give 'row' or 'joint'.")
        rows = row_violation(self.model, self.t, self.y, level, lambda: self._solutions_of_method if of_method else self._solutions)
        return rows if by == "row" else joint_violation(self.model, rows)

    def euler_violation(self) -> Array:
        """Return the normalization error | |p| - 1 | of the stored Euler parameters, (nt, nb + 1)."""
        return euler_violation(self.p)

    def energy(self) -> Energy:
        """Return kinetic and potential energy, applied and dissipated work, and their total, (nt,) [J].

        Notes
        -----
        The total is constant on an exact solution. The work is integrated over dense output between the stored states, which calls the
        user's functions again.
        """
        return energy_over_time(self.model, self.t, self.y, self._solve)

    def momentum(self) -> Momentum:
        """Return linear momentum, and angular momentum about the origin of the ground, (nt, 3), global."""
        return momentum_over_time(self.model, self.t, self.y)

    def resample(self, t_new: npt.ArrayLike, *, kind: Literal["dense", "linear", "cubic"] = "dense") -> Result:
        """Return the result at other times; states at stored times are unchanged.

        Parameters
        ----------
        t_new : array_like, (k,)
            Times [s] within those of the result.
        kind : {"dense", "linear", "cubic"}
            "dense": dense output of the integrators, of order six in r and p, and five in v and omega_bar; one less without the
            model. Constraints that the stored states fulfil hold between them as well. "linear": linear interpolation, and slerp for p.
            "cubic" is an old name of "dense".

        Returns
        -------
        Result
            The result at the times `t_new`.

        Raises
        ------
        UsageError
            If a time is outside the result, or the kind is unknown.
        SimulationError
            If an interpolated state cannot be brought to the constraints, because the stored states are too far apart.

        Notes
        -----
        After a method of high order with long steps, `t_eval=` of `simulate` gives more accurate states.
        """
        need_unmasked("t_new", t_new)
        if kind == "cubic":
            warn_user("kind='cubic' is now kind='dense', the default: leave it out.", DeprecationWarning)
            kind = "dense"
        times = np.atleast_1d(np.asarray(t_new, dtype=np.float64))
        model = self.model if self.has_model else None
        y = resample_states(model, self.t, self.y, len(self.names.bodies), times, kind, self._solve)
        return Result(
            model,
            times,
            y,
            counters=self.counters,
            settings=self.settings,
            interrupted=self.interrupted,
            _names=self._names,
            events=self.events,
            singular_crossings=self.singular_crossings,
            _turns=self._turns_at(times, y),
            _model_numbers=self._model_numbers,
            _carried=self._carried,
            outcome=self.outcome,
        )

    def _turns_at(self, times: Array, y: Array) -> Array | None:
        """Return the joint angles at interpolated states, where they are known at the stored ones."""
        if self._model is None or len(self.t) < 2:
            return None
        counter = TurnCounter(self._model)
        if not len(counter.zero):
            return None
        try:
            rates = rates_of(self.t, self.y, self._solutions, self._model.nb + 1)
        except SingularKKTError:
            return None
        return counter.follow(self.t, self.y, rates, times, y, None if self._turns is None else np.asarray(self._turns))

    def at(self, t: float) -> State:
        """Return the state at any time of the motion, by dense output.

        Parameters
        ----------
        t : float
            Time [s] within those of the result.

        Returns
        -------
        State
            The stored state, if there is one at this time; otherwise the interpolated one, see `resample`.

        Raises
        ------
        UsageError
            If t is no time of the result.
        SimulationError
            If an interpolated state cannot be brought to the constraints.
        """
        time = check_time(t, self.t)
        stored = np.flatnonzero(self.t == time)
        return self.state(int(stored[-1])) if len(stored) else self.resample([time]).state()

    def _between(self, span: slice) -> Result:
        """Return the states within a span of time, with the events there."""
        keep, (first, last) = times_within(span, self.t)
        sensors = {name: replace(one, t=one.t[keep], value=one.value[keep]) for name, one in self._sensors.items()}
        return replace(
            self,
            t=self.t[keep],
            y=self.y[keep],
            events=tuple(event for event in self.events if first <= event.t <= last),
            singular_crossings=tuple(one for one in self.singular_crossings if first <= one.t <= last),
            _own=None if self._own is None else self._own[keep],
            _own_u_dot=None if self._own_u_dot is None else self._own_u_dot[keep],
            _turns=None if self._turns is None else self._turns[keep],
            _sensors=sensors,
        )

    def save(self, path: str | Path) -> Path:
        """Write states, names, counters and settings to `path`, and return the path: .npz, or .nc (NetCDF-4, needs the extra `io`)."""
        from haugmbd.simulation.io.results import save  # noqa: PLC0415  imported only where a result is written

        return save(self, path)

    def to_csv(self, path: str | Path) -> Path:
        """Write one line for each state, with columns such as `crank.r.x`, and return the path."""
        from haugmbd.simulation.io.results import to_csv  # noqa: PLC0415  imported only where a result is written

        return to_csv(self, path)

    def _attributes(self) -> dict[str, str]:
        return {"model": self.names.model, **self.settings}

    def __len__(self) -> int:
        return len(self.t)

    @overload
    def __getitem__(self, body: str) -> BodyHistory: ...
    @overload
    def __getitem__(self, body: slice) -> Result: ...
    def __getitem__(self, body: str | slice) -> BodyHistory | Result:
        if isinstance(body, slice):
            return self._between(body)
        if body not in self.names.bodies:
            raise no_such("body", body, self.names.bodies, {"result.joint": self.names.joints})
        k = self.names.bodies.index(body)
        accelerations = lambda: (self.v_dot[:, k], self.omega_bar_dot[:, k])  # noqa: E731  solved for only where they are asked for
        return BodyHistory(body, self.t, self.r[:, k], self.p[:, k], self.v[:, k], self.omega_bar[:, k], accelerations)

    def state(self, k: int = -1) -> State:
        """Return the k-th state; by default the last."""
        return State.from_y(float(self.t[k]), self.y[k], len(self.names.bodies))

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else ""
        return f"Result({self.names.model!r}, {len(self.t)} states{span}, {self.counters.steps} steps)"
