"""batch: many variants of one topology, on all processors."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.batches.accelerations import BatchAccelerations, batch_accelerations
from haugmbd.batches.member_runs import MemberRuns, Starts, Wanted
from haugmbd.batches.parameters import Parameter, read_parameters
from haugmbd.batches.threads import check_threads
from haugmbd.batches.trajectories import Trajectories, run_all
from haugmbd.batches.trajectory_store import TrajectoryStore
from haugmbd.batches.variant import variant_model
from haugmbd.bodies.validation import for_kernels, numbers
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.content_digest import NoContent, digest_of
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import UsageError
from haugmbd.formulations import Formulation
from haugmbd.formulations.accelerations import check_formulation
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.inspection.given import model_given
from haugmbd.model.inspection.run_memory import need_constant_masses, need_drivers_of_time, need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import check_budget, check_interval, check_kinds, check_numbers, choose_integrator, wanted_times
from haugmbd.simulation.compatibility import resolve_stabilization
from haugmbd.simulation.results.io.laws import laws_of
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION, RunMethods, RunOutput
from haugmbd.simulation.stepping.progress import Progress


@public_class
class Batch:
    """Many variants of one model: `batch` returns it.

    Attributes
    ----------
    model : Model
        The model whose topology all members have.
    t : ndarray, (N,)
        The time of each member [s].
    states : ndarray, (N, ny), or None
        The flat state of each member; None if all start from the modelled one.
    parameters : dict of str to ndarray, (N, ...)
        The values that members have in place of those of the model.
    threads : int
        Number of threads.

    Notes
    -----
    Member k gives the same bits as a single call or run of a system that is built with its values.
    """

    def __init__(self, model: Model, t: Array, states: Array | None, parameters: tuple[Parameter, ...], threads: int) -> None:
        self.model, self.t, self.states, self.threads = model, t, states, threads
        self.parameters = {one.path: one.values for one in parameters}
        self._parameters = parameters
        self._modelled_states: dict[float, State] = {}

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        varied = ", ".join(map(repr, self.parameters)) or "states"
        return f"Batch({self.model.name!r}: {len(self)} members, {varied})"

    def member_model(self, k: int) -> Model:
        """Return the model of a member, as its own system compiles to.

        Parameters
        ----------
        k : int
            Number of the member.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        UsageError
            If there is no such member, or its topology is another.
        ModelError
            If its values are faulty.
        """
        return variant_model(self.model, self._parameters, self._number(k))

    def member_state(self, k: int) -> State:
        """Return the initial state of a member.

        Parameters
        ----------
        k : int
            Number of the member.

        Returns
        -------
        State
            The state.

        Raises
        ------
        UsageError
            If there is no such member.
        """
        t = float(self.t[self._number(k)])
        return (
            self.member_model(k).state().replace(t=t) if self.states is None else State.from_y(t, self.states[k], self.model.nb + 1)
        )

    def _number(self, k: int) -> int:
        """Return the number of a member. Raise UsageError if there is none."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < len(self):
            raise UsageError(f"member {k!r}: give a number from 0 to {len(self) - 1}.")
        return int(k)

    @property
    def v_dot(self) -> Array:
        """Return the accelerations of the centres of mass [m/s2], (N, nb + 1, 3), as `accelerations()` has them."""
        return self._accelerations.v_dot

    @property
    def omega_bar_dot(self) -> Array:
        """Return the angular accelerations, body frames [rad/s2], (N, nb + 1, 3), as `accelerations()` has them."""
        return self._accelerations.omega_bar_dot

    @property
    def lam(self) -> Array:
        """Return the multipliers (N, nc), as `accelerations()` has them."""
        return self._accelerations.lam

    def accelerations(self) -> BatchAccelerations:
        """Return accelerations and multipliers of all members.

        Returns
        -------
        BatchAccelerations
            `v_dot`, `omega_bar_dot`, `lam`; `success`, and in `failures` the reason for each member that has none.

        Notes
        -----
        Solves M u_dot + Phi_q^T lam = Q, Phi_q u_dot = gamma for each member with `NewtonEuler()`.
        """
        return self._accelerations

    @check_keywords
    def simulate(
        self,
        t_end: float,
        *,
        h: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        t_eval: npt.ArrayLike | None = None,
        formulation: Formulation = NEWTON_EULER,
        integrator: Integrator | None = None,
        stabilization: Stabilization | None = PROJECTION,
        project_velocity: bool = False,
        store_every: int = 1,
        budget: float | None = None,
        store: str | Path | None = None,
        version: str = "",
        progress: bool = False,
    ) -> Trajectories:
        """Simulate every member to time `t_end`.

        Parameters
        ----------
        t_end : float
            Final time [s].
        h : float, optional
            Fixed step [s], as in `simulate`.
        rtol, atol : float, optional
            Tolerances of an adaptive method, as in `simulate`.
        t_eval : array_like, (nt,), optional
            Times at which states are stored.
        formulation : Formulation
            Algorithm for the accelerations.
        integrator : Integrator, optional
            Integrator, as an object: fixed or adaptive explicit methods, GeneralizedAlpha and all others.
        stabilization : Stabilization or None
            Constraint stabilization, as an object.
        project_velocity : bool
            Whether to project inconsistent initial velocities.
        store_every : int
            Number of steps between stored states.
        budget : float, optional
            Longest time that the run of one member may take [s].
        store : path, optional
            A folder, to which each result is written when its run ends, so that memory is bounded. A batch with the same folder continues
            where another one of the same members, laws and methods ended.
        version : str
            A version of laws that the store cannot compare, such as one that reads an open file: a new one makes another batch.
        progress : bool
            If True, show a progress bar.

        Returns
        -------
        Trajectories
            `trajectories[k]` is the Result of member k; `success`, and in `failures` the reason for each member that did not reach its end.

        Raises
        ------
        UsageError
            If an argument is not valid, the store is that of another batch, or a law of the user cannot be compared with that of another
            call and has no `version`.

        Notes
        -----
        A run is that of `simulate`, bit by bit. Warnings are not issued, and are in `warnings`. After Ctrl-C the runs that have ended are
        returned, with `interrupted` set.
        """
        method = choose_integrator(h, rtol, atol, integrator)
        options: dict[str, Any] = {
            "t_eval": t_eval,
            "formulation": formulation,
            "stabilization": stabilization,
            "project_velocity": project_velocity,
            "store_every": store_every,
            "budget": budget,
        }
        check_numbers(None, t_end=t_end, store_every=store_every, budget=budget)
        check_flags(project_velocity=project_velocity, progress=progress)
        check_budget(budget)
        if not isinstance(version, str):
            raise UsageError(f"batch: version = {version!r} must be a string.")
        check_formulation(formulation)
        check_kinds(self.model, None, stabilization)
        resolve_stabilization(formulation, method, stabilization, PROJECTION)
        wanted_times(t_eval, float(self.t.min()), float(t_end))
        check_interval(method, float(self.t.max()), float(t_end), store_every)

        methods, output = RunMethods(method, formulation, stabilization), RunOutput(t_eval, store_every=store_every)
        starts = Starts(self.model, self.t, self.states, self._parameters)
        wanted = Wanted(float(t_end), methods, output, project_velocity, budget)
        runs = MemberRuns(starts, wanted, self._modelled, stores=store is not None)
        kept = None if store is None else TrajectoryStore(store, self._identity(t_end, method, options, version), len(self))
        with Progress(progress, 0, len(self), "members") as bar:
            return run_all(runs.members(self.member_model, self.threads), self.threads, kept, bar)

    def _modelled(self, t: float) -> State:
        """Return the modelled state at t [s]: the same object for all members that begin there, which is checked once."""
        known = self._modelled_states.get(t)
        return self._modelled_states.setdefault(t, self.model.state().replace(t=t)) if known is None else known

    def _identity(self, t_end: float, method: Integrator, options: dict[str, Any], version: str) -> str:
        """Return the digest of all that the trajectories depend on. Raise UsageError for a law that cannot be compared."""
        tables = self.model.tables
        settings = {**options, "t_eval": None if options["t_eval"] is None else np.asarray(options["t_eval"]).tolist()}
        states = np.zeros(0) if self.states is None else self.states
        numbers = [self.model.name, tables.ints, tables.reals, self.model.y0, self.t, states, dict(sorted(self.parameters.items()))]
        library = sys.modules["haugmbd"].__version__  # an import would be a circle
        try:
            return digest_of(
                [numbers, laws_of(self.model), float(t_end), method, settings, version, library], vouched=bool(version)
            )
        except NoContent as error:
            raise UsageError(
                f"batch: a law or method reads {error}, which cannot be compared with that of another call: the store could return the "
                'runs of another batch. Give version="1" with this store, and another version whenever that changes; or leave store= out.'
            ) from None

    @cached_property
    def _accelerations(self) -> BatchAccelerations:
        return batch_accelerations(self.model, self.t, self.states, self._parameters, self.threads)


@check_keywords
def batch(
    model: Model,
    states: npt.ArrayLike | None = None,
    parameters: Mapping[str, npt.ArrayLike] | None = None,
    *,
    t: npt.ArrayLike = 0.0,
    tolerance: float | None = None,
    threads: int | None = None,
) -> Batch:
    """Return many variants of one model, for accelerations, multipliers and whole trajectories on all processors.

    Parameters
    ----------
    model : Model or System
        The model; a System is compiled.
    states : array_like, (N, ny), optional
        The flat state of each member, such as `State.y`; by default the modelled one.
    parameters : dict of str to array_like, (N, ...), optional
        Values in place of those of the model, one for each member, by their paths: "BODY.mass" (N,), "BODY.J_bar" (N, 3) or (N, 3, 3),
        "JOINT.point" and "JOINT.axis" (N, 3), constants of force elements such as "SPRING.k" (N,), "gravity" (N, 3), and the names of
        parameters of the system that its expressions read.
    t : float or array_like, (N,)
        The time of each member [s].
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    threads : int, optional
        Number of threads; by default one for each processor.

    Returns
    -------
    Batch
        `accelerations()` and `simulate(t_end, ...)` of all members.

    Raises
    ------
    UsageError
        With all faults: paths that the model does not have, or that change the topology, and arrays of a wrong shape or length.
    ModelError
        If a System has faults.

    Notes
    -----
    Values that cannot be, such as a negative mass, are no error: they mark their member as failed, with the reason.
    """
    model = model_given(model, "batch", tolerance)
    need_constant_masses(model, "batch")
    need_no_freewheels(model, "batch")
    need_drivers_of_time(model, "batch")
    if states is None and (parameters is None or (isinstance(parameters, Mapping) and not parameters)):
        raise UsageError("batch: give states=, parameters=, or both: their first axis is the number of members.")
    y = None if states is None else _read_states(model, states)
    read = read_parameters(model, {} if parameters is None else parameters, None if y is None else len(y))
    n = len(read[0].values) if y is None else len(y)
    if n == 0:
        raise UsageError("batch: states and parameters have no members: their first axis must be 1 or longer.")
    return Batch(model, _read_times(t, n), y, read, check_threads(threads))


def _read_states(model: Model, given: Any) -> Array:
    """Return flat states (N, ny). Raise UsageError for another shape."""
    array = numbers(given)
    if array is None or array.ndim != 2 or array.shape[1] != len(model.y0):
        what = f"{given!r:.60}" if array is None else f"of shape {array.shape}"
        raise UsageError(
            f"batch: states is {what}, and must be numbers of shape (N, {len(model.y0)}): a flat state, such as state.y, for each member."
        )
    return for_kernels(array)


def _read_times(given: Any, n: int) -> Array:
    """Return the times (n,). Raise UsageError for another shape."""
    array = numbers(given)
    if array is None or array.shape not in ((), (n,)) or not np.isfinite(array).all():
        raise UsageError(f"batch: t = {given!r:.60} must be a finite time [s], or {n} of them, one for each member.")
    return np.array(np.broadcast_to(array, (n,)))
