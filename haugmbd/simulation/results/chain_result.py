r"""The Result of a simulation in joint coordinates: its maximal arrays, and all that follows from them, are made when they are asked for.

t (nt,)   q (nt, nq)   qd (nt, nv)   qdd (nt, nv)   tau (nt, nv)            r, p, v, omega_bar, lam, ...: of the links as bodies
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import for_kernels, read_only
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.energy import Energy
from haugmbd.diagnostics.histories import BodyHistory
from haugmbd.diagnostics.run_warnings import FEWEST_STEPS, Outcome, RunNote, drift_notes, warn_of_stored_work
from haugmbd.diagnostics.turns import turning_joints
from haugmbd.diagnostics.work import GAUSS, QuadratureRule, Work, integral, times_between
from haugmbd.errors import UsageError
from haugmbd.integrators.chain_state_space import ChainStateSpace
from haugmbd.integrators.events import EventRecord
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_parameters import from_rotation_matrix
from haugmbd.model.model import Model
from haugmbd.serial_chain.base import NONE, ChainState
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.chain_arrays import TURN
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, link_motion
from haugmbd.serial_chain.recursions.rnea import joint_wrenches
from haugmbd.serial_chain.to_system import add_actuation, joint_name
from haugmbd.simulation.replay import Replay, work_or_why
from haugmbd.simulation.results.continuation import (
    check_coordinates_follow,
    join_all,
    joined_outcome,
    joined_sensors,
    joined_settings,
)
from haugmbd.simulation.results.io.chain_file import ChainRun, chain_run_of, contents_of_chain
from haugmbd.simulation.results.io.results import write_contents
from haugmbd.simulation.results.io.schema import Contents
from haugmbd.simulation.results.records import Counters, total
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.segments import Again
from haugmbd.simulation.results.spans import check_number, check_time, check_times_within, times_within
from haugmbd.simulation.sensor import SensorHistory
from haugmbd.workspace.layout import WIDTH

OWN = (
    "state_space",
    "t",
    "q",
    "qd",
    "counters",
    "settings",
    "interrupted",
    "events",
    "_sensors",
    "outcome",
    "_replays",
    "_all_steps",
    "_again",
)
"""What the result of a chain is made of."""
DEFAULTS = {one.name: one.default for one in fields(Result) if one.default is not MISSING and one.name not in ("_turns", *OWN)}
"""The other fields of a Result, but for those that are made when they are asked for."""


class ReducedResult(Result):
    """The Result of a serial chain, in its joint coordinates `q` (nt, nq) and rates `qd` (nt, nv); see `Result`.

    state_space: the chain with its tau and wrenches
    """

    state_space: ChainStateSpace

    def __init__(
        self,
        state_space: ChainStateSpace,
        t: Array,
        q: Array,
        qd: Array,
        *,
        counters: Counters | None = None,
        settings: dict[str, str] | None = None,
        interrupted: bool = False,
        events: tuple[EventRecord, ...] = (),
        _sensors: Mapping[str, SensorHistory] | None = None,
        outcome: Outcome = Outcome(),  # noqa: B008  frozen
        _replays: tuple[Replay, ...] = (),
        _all_steps: bool = False,
        _again: Again | None = None,
    ) -> None:
        given = (
            state_space,
            read_only(t),
            read_only(q),
            read_only(qd),
            counters or Counters(),
            settings or {},
            interrupted,
            events,
        )
        values = (*given, _sensors or {}, outcome, _replays, _all_steps, _again)
        vars(self).update(DEFAULTS | dict(zip(OWN, values, strict=True)))

    def __setstate__(self, stored: dict[str, Any]) -> None:
        """Restore a copy or an unpickled result: its arrays are read-only, and computed quantities are not copied."""
        vars(self).update(DEFAULTS | {name: stored[name] for name in OWN})
        vars(self).update({name: read_only(stored[name]) for name in ("t", "q", "qd")})

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the state for pickle, without what is made when it is asked for."""
        return copyreg.__newobj__, (type(self),), {name: getattr(self, name) for name in OWN}  # type: ignore[attr-defined]

    def changed(self, **changes: Any) -> ReducedResult:
        """Return the result with other values of its own fields."""
        return ReducedResult(**{name: getattr(self, name) for name in OWN} | changes)

    @property
    def q(self) -> Array:
        """Return the joint coordinates, (nt, nq)."""
        coordinates: Array = vars(self)["q"]
        return coordinates

    @property
    def qd(self) -> Array:
        """Return the joint rates, (nt, nv)."""
        rates: Array = vars(self)["qd"]
        return rates

    @cached_property
    def _model(self) -> Model:  # made when it is asked for
        return self._twin.model

    @cached_property
    def y(self) -> Array:  # type: ignore[override]  # made when it is asked for
        """Return the flat states in maximal coordinates, (nt, ny)."""
        return self._twin.y

    @property
    def _turns(self) -> Array | None:  # likewise
        return self._twin._turns

    @property
    def chain(self) -> SerialChain:
        """Return the chain."""
        return self.state_space.chain

    @cached_property
    def _twin(self) -> Result:
        """Return the same motion in maximal coordinates."""
        return self.maximal()

    def _pieces(self) -> tuple[Result, ...]:
        return (self._twin,)

    @property
    def _rows(self) -> tuple[Array, Array]:
        """Return copies of q and qd for compiled code."""
        return self.q.copy(), self.qd.copy()

    @cached_property
    def tau(self) -> Array:
        """Return the generalized forces at every state, (nt, nv)."""
        given = [self.state_space.tau_at(t, q, qd) for t, q, qd in zip(self.t.tolist(), *self._rows, strict=True)]
        return read_only(np.array(given).reshape(len(self.t), self.chain.nv))

    @cached_property
    def qdd(self) -> Array:
        """Return the joint accelerations, (nt, nv)."""
        external = self._external()
        rows = zip(*self._rows, for_kernels(self.tau), strict=True)
        accelerations = [aba(self.chain, q, qd, tau, wrenches=external) for q, qd, tau in rows]
        return read_only(np.array(accelerations).reshape(len(self.t), self.chain.nv))

    def joint_wrench(self, link: str | int) -> Array:
        """Return the force and moment through the joint of `link` on the link, (nt, 6) [N, N m].

        The moment is about the point of the joint (the handle of the link). Components are global. The wrench includes the actuator.
        """
        k, external = self.chain.link(link), self._external()
        rows = zip(*self._rows, for_kernels(self.qdd), strict=True)
        return np.array([joint_wrenches(self.chain, *row, wrenches=external).wrench[k] for row in rows]).reshape(len(self.t), 6)

    @overload
    def __getitem__(self, link: str | int) -> BodyHistory: ...
    @overload
    def __getitem__(self, link: slice) -> Result: ...
    def __getitem__(self, link: str | int | slice) -> BodyHistory | Result:
        if isinstance(link, slice):
            return self.within(*_span(link, self.t))
        k = self.chain.link(link)
        r, v, omega, A = (np.array([getattr(m, name)[k] for m in self._motions]) for name in ("r", "v", "omega", "A"))
        p = continuous(from_rotation_matrix(A.reshape(-1, 3, 3)))
        to_link = np.swapaxes(A.reshape(-1, 3, 3), 1, 2)

        def accelerations() -> tuple[Array, Array]:
            moves = [link_motion(self.chain, *row) for row in zip(*self._rows, for_kernels(self.qdd), strict=True)]
            v_dot, omega_dot = (np.array([getattr(m, name)[k] for m in moves]) for name in ("v_dot", "omega_dot"))
            return v_dot, (to_link @ omega_dot[:, :, None])[:, :, 0]

        omega_bar = (to_link @ omega[:, :, None])[:, :, 0]
        return BodyHistory(self.chain.links[k].name, self.t, r, p, v, omega_bar, accelerations)

    @cached_property
    def _motions(self) -> tuple[LinkMotion, ...]:
        return tuple(link_motion(self.chain, q, qd) for q, qd in zip(*self._rows, strict=True))

    def _external(self) -> Array | None:
        return self.state_space.wrenches if len(self.state_space.wrenches) else None

    def kinetic_energy(self) -> Array:
        """Return the kinetic energy, (nt,) [J]."""
        mass = np.array([link.mass for link in self.chain.links])
        J_bar = np.array([link.J_bar for link in self.chain.links])
        v, omega, A = (np.array([getattr(m, name) for m in self._motions]) for name in ("v", "omega", "A"))
        omega_bar = np.einsum("tnji,tnj->tni", A, omega)
        turning = np.einsum("tni,nij,tnj->t", omega_bar, J_bar, omega_bar)
        energy: Array = 0.5 * np.einsum("n,tni,tni->t", mass, v, v) + 0.5 * turning
        return energy

    def potential_energy(self) -> Array:
        """Return the potential energy of gravity, zero at the origin of the ground, (nt,) [J]."""
        mass = np.array([link.mass for link in self.chain.links])
        energy: Array = -np.einsum("n,tni,i->t", mass, np.array([m.r for m in self._motions]), self.chain.gravity)
        return energy

    def energy(self) -> Energy:
        """Return the energies and the work of tau and wrenches, as `Result.energy`.

        The drift of the total is the error of the integrator.
        """
        done = self._work
        return Energy(self.t, self.kinetic_energy(), self.potential_energy(), done.all_applied, done.all_dissipated, done.error)

    @cached_property
    def _work(self) -> Work:
        """Return the work since the first state, along the steps of the run; between stored states, with a note, where it is not known."""
        if self._all_steps or not self._is_forced or len(self.t) < 2:  # noqa: PLR2004
            return self._work_at(self.t)
        along = work_or_why(self._replays, self)
        if along.work is not None:
            return along.work
        few = self._of_states(np.unique(np.append(np.arange(0, len(self.t), 2), len(self.t) - 1)))
        work = self._work_at(self.t)
        gap = np.abs(np.interp(self.t, few.t, few._work_at(few.t).all_applied - work.all_applied[np.searchsorted(self.t, few.t)]))
        if len(self.t) == 2:  # noqa: PLR2004
            gap = np.abs(work.all_applied)
        work = work._replace(error=np.maximum.accumulate(gap))
        energies = self.kinetic_energy(), self.potential_energy()
        warn_of_stored_work(self.chain.name, energies, work, along.why, along.failed)
        return work

    @property
    def _is_forced(self) -> bool:
        """Whether tau or wrenches act."""
        return self._external() is not None or callable(self.state_space.tau) or bool(self.state_space.tau.any())

    @property
    def _flat(self) -> Array:
        return np.hstack([self.q, self.qd])

    @property
    def _rule(self) -> QuadratureRule:
        return GAUSS

    def _work_at(self, nodes: Array | None) -> Work:
        """Return the work since the first state at times `nodes` (k,), from dense states between those of the result."""
        nodes = self.t if nodes is None else nodes
        times = times_between(nodes)
        if not self._is_forced or not len(times):
            return _chain_work(np.zeros(len(nodes)))
        states = self.state_space.between(times, self.t, self._flat, self.state_space.rates_of(self._flat, self.qdd))
        return _chain_work(integral(nodes, self._power(times, states)))

    def _work_of_points(self, nodes: Array, times: Array) -> Work:
        """Return the work at nodes (k,), of a result at the points of the quadrature between them."""
        return _chain_work(integral(nodes, self._power(times, self._flat[np.searchsorted(self.t, times)])))

    def _run_again(self, one: Replay, t_eval: Array | None, until: float, take: Callable[[Any], None]) -> Any:
        """Return the run made again to the time `until` [s], in one part: all steps, or the states at the times `t_eval`."""
        if self._again is None:
            raise UsageError("nothing says how its run is made again")
        return self._again(self, one, t_eval, until, None)

    def _of_states(self, some: Any) -> ReducedResult:
        """Return the result with some of its states."""
        return self.changed(t=self.t[some], q=self.q[some], qd=self.qd[some], _sensors={}, _all_steps=False)

    def _power(self, times: Array, states: Array) -> Array:
        """Return the power of tau and wrenches at states (k, nq + nv)."""
        chain, external = self.chain, self._external()
        rows = [(t, s[: chain.nq], s[chain.nq :]) for t, s in zip(times.tolist(), states, strict=True)]
        power = np.array([self.state_space.tau_at(t, q.copy(), qd.copy()) @ qd for t, q, qd in rows])
        if external is not None:
            moves = [link_motion(chain, q, qd) for _, q, qd in rows]
            power += [float(np.sum(external[:, :3] * m.v) + np.sum(external[:, 3:] * m.omega)) for m in moves]
        return power

    def maximal(self, model: Model | None = None) -> Result:
        """Return the same motion as a Result in maximal coordinates, with reactions, energies and violations.

        Parameters
        ----------
        model : Model, optional
            Compiled from `chain.to_system(...)`, or the model that the chain was made from. By default it is made with the tau and wrenches
            of the run. Where tau is a function, its values along this motion are given as a function of time.

        Returns
        -------
        Result
            The motion of the links as bodies.

        Raises
        ------
        ModelError
            If a link has no counterpart in maximal coordinates, such as one without mass.
        """
        if model is None:
            given = None if callable(self.state_space.tau) else self.state_space.tau
            system = self.chain.to_system(tau=given, wrenches=self._external())
            if given is None:
                add_actuation(self.chain, system, RecordedTau(self.t, self.tau))
            model = system.compile()
        rows = zip(*self._rows, self.t.tolist(), strict=True)
        y = np.array([self.chain.state(model, q, qd, t).y for q, qd, t in rows]).reshape(len(self.t), model.y0.size)
        p = y[:, : WIDTH * (model.nb + 1)].reshape(len(self.t), model.nb + 1, WIDTH)[..., EULER:VELOCITY]
        p[:] = continuous(p)
        return Result(
            model,
            self.t,
            y,
            counters=self.counters,
            settings=self.settings,
            interrupted=self.interrupted,
            _sensors=self._sensors,
            _turns=self._turns_of(model),
            _all_steps=self._all_steps,
            outcome=self.outcome,
        )

    def _turns_of(self, model: Model) -> Array | None:
        """Return the joint angles in maximal coordinates, which count their turns; None for bodies of another model."""
        columns: dict[str, list[Array]] = {}
        first = 0
        for link in self.chain.links:
            turns = [first + k for k, (kind, _) in enumerate(link.ways) if kind == TURN]
            columns[joint_name(link)] = [self.q[:, k] for k in turns]
            first += link.nq
        try:
            return np.array([columns[joint.name].pop(0) for joint, _ in turning_joints(model)]).reshape(-1, len(self.t)).T
        except (KeyError, IndexError):
            return None

    def within(self, keep: npt.NDArray[np.bool_], first: float, last: float) -> ReducedResult:
        """Return the result with some of its states, keep (nt,), and its events from `first` to `last` [s]."""
        return self.at_states(keep).changed(events=tuple(event for event in self.events if first <= event.t <= last))

    def at_states(self, keep: npt.NDArray[np.bool_]) -> ReducedResult:
        """Return the result with some of its states, keep (nt,)."""
        return self.changed(
            t=self.t[keep],
            q=self.q[keep],
            qd=self.qd[keep],
            _sensors={name: replace(one, t=one.t[keep], value=one.value[keep]) for name, one in self._sensors.items()},
            _all_steps=self._all_steps and bool(np.all(np.diff(np.flatnonzero(keep)) == 1)),
        )

    def resample(self, t_new: npt.ArrayLike, *, kind: Literal["dense", "linear", "cubic"] = "dense") -> ReducedResult:
        """Return the result at other times, by dense output in joint coordinates, see `Result.resample`."""
        if kind != "dense":
            raise UsageError(f"kind is {kind!r}: the coordinates of a chain have dense output, kind='dense'.")
        times = np.atleast_1d(np.asarray(t_new, dtype=np.float64))
        check_times_within(times, self.t)
        states = [self.at(float(t)) for t in times]
        q, qd = np.array([state.q for state in states]), np.array([state.qd for state in states])
        return self.changed(t=times, q=q, qd=qd, _sensors={}, _all_steps=False)

    def at(self, t: float, *, before: bool = False) -> Any:
        """Return the state at any time of the motion, by dense output.

        Parameters
        ----------
        t : float
            Time [s] within those of the result.
        before : bool
            Without a meaning here: a chain has no impacts.

        Returns
        -------
        ChainState
            The stored state, if there is one at this time; otherwise the interpolated one.

        Raises
        ------
        UsageError
            If t is not a time of the result.
        """
        check_flags(before=before)
        time = check_time(t, self.t)
        stored = np.flatnonzero(self.t == time)
        if len(stored):
            return self.state(int(stored[-1]))
        y = np.hstack([self.q, self.qd])
        found = self.state_space.between(np.array([time]), self.t, y, self.state_space.rates_of(y, self.qdd))[0]
        return ChainState(time, found[: self.chain.nq], found[self.chain.nq :])

    def join(self, *others: Result) -> Result:
        """Return this result and those that follow on it as one.

        Parameters
        ----------
        *others : Result
            Results of the same chain, tau and wrenches, each of which starts with the last state of the one before.

        Returns
        -------
        Result
            All states, events, sensors, warnings and counters, as of `Result.join`.

        Raises
        ------
        UsageError
            If a result starts at another time or from another state, is of another chain, tau or wrenches, or has recorded other sensors.
        """
        return join_all(self, others, _joined_pair, ReducedResult, "a Result of a chain")

    def save(self, path: str | Path) -> Path:
        """Write coordinates, rates, forces, the chain, sensors and settings to `path`, .npz or .nc (needs the extra `io`).

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Path
            The file. `mbd.load(path)` reads it.

        Raises
        ------
        UsageError
            For another ending, a missing extra, states that are not finite, or a file that cannot be written (then it is an OSError, too).

        Notes
        -----
        Of a function tau the values at the states are saved; the loaded result has a spline through them between its states.
        """
        space = self.state_space
        run = ChainRun(
            self.chain,
            self.t,
            self.q,
            self.qd,
            self.tau if callable(space.tau) else space.tau,
            space.wrenches,
            self.counters,
            self.settings,
            self.interrupted,
            self.events,
            self._sensors,
            self.outcome,
            self._replays,
            self._all_steps,
        )
        return write_contents(path, lambda: contents_of_chain(run))

    def _attributes(self) -> dict[str, str]:
        return {"model": self.chain.name, **self.settings}

    def state(self, k: int = -1) -> Any:
        """Return the k-th state; by default the last. Raise UsageError if there is none of that number."""
        k = check_number(k, len(self.t))
        return ChainState(float(self.t[k]), self.q[k], self.qd[k])

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else ""
        return f"Result({self.chain.name!r}, {len(self.t)} states{span}, {self.counters.steps} steps)"


def _span(span: slice, times: Array) -> tuple[npt.NDArray[np.bool_], float, float]:
    """Return which times are within a span, and its ends."""
    keep, (first, last) = times_within(span, times)
    return keep, first, last


def _chain_work(work: Array) -> Work:
    """Return the work of tau and wrenches, (nt,), as that of one load."""
    return Work(work[:, None], np.zeros((len(work), 1)), np.zeros((len(work), 0)))


class RecordedTau:
    """Generalized forces along a motion as a function of time: exact at its states (nt,), a cubic spline between them."""

    def __init__(self, t: Array, tau: Array) -> None:
        self.t, self.tau = t, tau

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline  # noqa: PLC0415  loaded where it is used

        return CubicSpline(self.t, self.tau)

    def __call__(self, t: float, q: Array | None = None, qd: Array | None = None) -> Array:
        """Return the forces at t; before the first state and after the last those there."""
        k = int(np.clip(np.searchsorted(self.t, t), 0, len(self.t) - 1))
        if self.t[k] == t or len(self.t) < 2 or not self.t[0] < t < self.t[-1]:
            return np.array(self.tau[k])
        return np.asarray(self._spline(t))


def _joined_pair(first: Any, second: Any) -> Any:
    """Return both results as one."""
    one, other = first.state_space, second.state_space
    same = all(np.array_equal(getattr(one.chain.tables, name), getattr(other.chain.tables, name)) for name in ("ints", "reals"))
    if not same or [link.name for link in first.chain.links] != [link.name for link in second.chain.links]:
        raise UsageError(f"the next run is of another chain, {second.chain.name!r}: of other links, joints, inertia or gravity.")
    if not np.array_equal(one.wrenches, other.wrenches):
        raise UsageError("the next run has other wrenches: a result has those of all its states.")
    check_coordinates_follow(first, second)
    q, t = (np.concatenate([getattr(first, name), getattr(second, name)[1:]]) for name in ("q", "t"))
    return first.changed(
        state_space=replace(one, tau=_joined_tau(one.tau, other.tau)),
        t=t,
        q=q,
        qd=np.concatenate([first.qd, second.qd[1:]]),
        counters=total([first.counters, second.counters]),
        settings=joined_settings(first.settings, second.settings),
        interrupted=second.interrupted,
        events=(*first.events, *second.events),
        _sensors=joined_sensors(
            first._sensors, {name: replace(s, t=s.t[1:], value=s.value[1:]) for name, s in second._sensors.items()}
        ),
        outcome=joined_outcome(first.outcome, second.outcome),
        _replays=(*first._replays, *second._replays) if first._replays and second._replays else (),
        _all_steps=first._all_steps and second._all_steps,
    )


def _joined_tau(one: Any, other: Any) -> Any:
    """Return the generalized forces of both runs. Raise UsageError if they are not the same."""
    if isinstance(one, RecordedTau) and isinstance(other, RecordedTau):
        return RecordedTau(np.concatenate([one.t, other.t[1:]]), np.concatenate([one.tau, other.tau[1:]]))
    if one is other or not (callable(one) or callable(other)) and np.array_equal(one, other):
        return one
    raise UsageError(
        "the next run has another tau: a result recomputes the generalized forces of all its states. Give both runs the same function, "
        "which may distinguish times."
    )


def reduced_result_of(contents: Contents, meta: Mapping[str, Any]) -> ReducedResult:
    """Return the result in the contents of a file."""
    run = chain_run_of(contents, meta)
    tau = run.tau if run.tau.ndim == 1 else RecordedTau(run.t, run.tau)
    return ReducedResult(
        ChainStateSpace(run.chain, tau, run.wrenches if len(run.wrenches) else NONE),
        run.t,
        run.q,
        run.qd,
        counters=run.counters,
        settings=run.settings,
        interrupted=run.interrupted,
        events=run.events,
        _sensors=run.sensors,
        outcome=run.outcome,
        _replays=run.replays,
        _all_steps=run.all_steps,
    )


def continuous(p: Array) -> Array:
    """Return Euler parameters (nt, ..., 4) with the signs that let them continue from state to state: p and -p are the same."""
    flips = np.where(np.sum(p[1:] * p[:-1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.concatenate([p[:1], p[1:] * np.cumprod(flips, axis=0)])


ENERGY_SAMPLES = 9
"""States at which the energy of a chain is taken: Python walks through its links, some 50 us each."""


def energy_notes_of(result: ReducedResult) -> list[RunNote]:
    """Return a note if the energy of a chain without tau and wrenches drifts."""
    state_space = result.state_space
    if (
        len(result) < 2
        or result.counters.steps < FEWEST_STEPS
        or callable(state_space.tau)
        or state_space.tau.any()
        or state_space.wrenches.any()
    ):
        return []
    k = np.unique(np.linspace(0, len(result) - 1, min(len(result), ENERGY_SAMPLES)).astype(int))
    few = result.changed(t=result.t[k], q=result.q[k], qd=result.qd[k])
    with np.errstate(all="ignore"):
        return drift_notes(few.t, few.kinetic_energy(), few.potential_energy())
