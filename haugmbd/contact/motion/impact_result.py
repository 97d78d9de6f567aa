r"""The result of a motion with impacts: its smooth segments, its impacts, and both as one history.

At an impact the time occurs twice: with the state before, and with the state after.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.gap import placed_contacts
from haugmbd.contact.impulses.impulse_result import Impulse
from haugmbd.contact.joint_stop import stops_of
from haugmbd.contact.motion.contact_modes import ContactModes
from haugmbd.contact.motion.continuation import join_impacts
from haugmbd.contact.motion.shared_forces import SharedForces, shared_forces
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.energy import Energy, energy_over_time, kinetic_and_potential
from haugmbd.diagnostics.histories.body_history import BodyHistory
from haugmbd.diagnostics.histories.contact_impacts import ContactImpact, joined_impacts
from haugmbd.diagnostics.histories.driver_history import DriverHistory, driven_row
from haugmbd.diagnostics.histories.load_history import LoadHistory, work_of_load
from haugmbd.diagnostics.run_warnings import HasOutcome, Outcome, warn_of_stored_work
from haugmbd.diagnostics.work import (
    QuadratureRule,
    Work,
    does_work,
    joined_work,
    moving_rows,
    no_work,
    rule_of,
    work_between_stored,
    work_of_powers,
)
from haugmbd.integrators.events import EventRecord
from haugmbd.model.labels import no_such
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.views import Animated
from haugmbd.simulation.replay import Replay, work_or_why
from haugmbd.simulation.results.continuation import join_all, total
from haugmbd.simulation.results.joining import join_bodies
from haugmbd.simulation.results.piecewise import Piecewise
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.spans import check_time, times_within


@public_class
@dataclass(frozen=True, eq=False)
class Impact:
    """One impact, at one contact or at several contacts at once.

    Attributes
    ----------
    t : float
        Time [s].
    impulse : Impulse
        The result of `mbd.impulse`; `impulse.joint(name)` returns the impulses of joints.
    contacts : tuple of str
        Contacts with an impulse.
    normal : mapping of str to float
        Their normal impulses [N s]; of the stop of an angle [N m s].
    before, after : State
        States just before and just after.
    energy_before, energy_after : float
        Kinetic energies [J].
    """

    t: float
    impulse: Impulse

    @property
    def contacts(self) -> tuple[str, ...]:
        """The contacts that have struck."""
        return tuple(self.normal)

    @property
    def normal(self) -> dict[str, float]:
        """The normal impulses of these contacts [N s]."""
        return {name: f for name, f in self.impulse.normal.items() if f > 0.0}

    @property
    def before(self) -> State:
        """The state just before the impact."""
        return self.impulse.before

    @property
    def after(self) -> State:
        """The state just after the impact."""
        return self.impulse.state

    @property
    def energy_before(self) -> float:
        """Kinetic energy just before the impact [J]."""
        return self.impulse.energy_before

    @property
    def energy_after(self) -> float:
        """Kinetic energy just after the impact [J]."""
        return self.impulse.energy_after

    def __repr__(self) -> str:
        turning = {stop.name for stop in stops_of(entry.load for entry in self.impulse.model.loads) if stop.coordinate.turns}
        units = {name: "N m s" if name in turning else "N s" for name in self.normal}
        return f"Impact at t = {self.t:g} s: {', '.join(f'{name!r} {f:.6g} {units[name]}' for name, f in self.normal.items())}"


@public_class
@dataclass(frozen=True, eq=False)
class ContactHistory:
    """One contact over time.

    Attributes
    ----------
    name : str
        Name of the contact.
    t : array, shape (nt,)
        Times [s].
    gap : array, shape (nt,)
        Gaps [m], [rad] of the stop of an angle.
    gap_rate : array, shape (nt,)
        Rates of the gap [m/s or rad/s].
    force : array, shape (nt,)
        Normal forces [N], [N m] of the stop of an angle; 0 while the contact is open.
    closed : boolean array, shape (nt,)
        True while the contact is closed.
    unique : boolean array, shape (nt,)
        False while contacts at rest share their load in many ways, such as the feet of a table: the force is then one choice of many, that
        of least norm, as of `mbd.impulse`.
    """

    name: str
    t: Array
    gap: Array
    gap_rate: Array
    force: Array
    closed: npt.NDArray[np.bool_]
    unique: npt.NDArray[np.bool_]


@public_class
@dataclass(frozen=True, eq=False)
class ImpactResult(Piecewise, Animated, HasOutcome):
    """The history of a motion with impacts; `result["ball"].r` is the history of one body.

    Attributes
    ----------
    segments : tuple of Result
        The smooth segments, each with the model of its closed contacts.  A segment can be saved on its own.
    impacts : tuple of Impact
        The impacts in the order of time.
    settings : dict of str
        The arguments of the run, as text.
    interrupted : bool
        True if Ctrl-C ended the run.
    outcome : Outcome
        How the run ended, and the warnings of all segments; also as `status`, `success`, `message`, `warnings`.
    model : Model
        The compiled model with all contacts open.
    contacts : mapping of str to Contact
        The contacts by name.
    t, y : array
        Times [s], (nt,), and flat states, (nt, ny).  The time of an impact occurs twice, but in a run with `t_eval`.
    events : tuple of EventRecord
        The located events in the order of time: given ones, stick and slip of joints, touch and release of contact forces, and those of
        the contacts, such as "floor meets" and "floor opens".
    r, p, v, omega_bar : array
        Positions [m], Euler parameters, velocities [m/s] and angular velocities [rad/s] of all bodies, (nt, nb + 1, .).
    counters : Counters
        Work of all segments.
    """

    _mechanism: ContactModes
    segments: tuple[Result, ...]
    impacts: tuple[Impact, ...]
    _: KW_ONLY
    settings: dict[str, str]
    interrupted: bool = False
    outcome: Outcome = Outcome()
    _with_ends: tuple[Result, ...] = ()
    """The segments with their first and last states, of a run with `t_eval`; otherwise the segments have them."""
    _replays: tuple[Replay, ...] = ()
    """How the run, or the runs that were joined, can be made again."""

    @property
    def _complete(self) -> tuple[Result, ...]:
        """The segments with their first and last states."""
        return self._with_ends or self.segments

    @cached_property
    def _whole(self) -> Result:
        """All states as one result of the model without contacts."""
        model = self._mechanism.free
        y = [np.zeros((0, len(model.y0))), *(segment.y for segment in self.segments)]
        return Result(
            model,
            self._joined(lambda s: s.t),
            np.concatenate(y),
            counters=self.counters,
            settings=self.settings,
            interrupted=self.interrupted,
            events=self.events,
        )

    @cached_property
    def _shared(self) -> tuple[SharedForces, ...]:
        """The normal forces of all contacts, by segment."""
        return tuple(shared_forces(self._mechanism, segment) for segment in self.segments)

    def _pieces(self) -> tuple[Result, ...]:
        return tuple(segment for segment in self.segments if len(segment)) or (self._whole,)

    @property
    def model(self) -> Model:
        """The compiled model with all contacts open."""
        return self._mechanism.free

    @property
    def contacts(self) -> dict[str, Contact]:
        """The contacts by name."""
        return dict(self._mechanism.contacts)

    @property
    def events(self) -> tuple[EventRecord, ...]:
        """The located events in the order of time: given ones, stick and slip, touches, and contacts that meet and open."""
        return tuple(event for segment in self.segments for event in segment.events)

    def _joined(self, compute: Callable[[Result], Array]) -> Array:
        """Return the values of all segments, one after the other."""
        return np.concatenate([compute(segment) for segment in self.segments]) if self.segments else np.zeros(0)

    @property
    def t(self) -> Array:
        """Times [s], (nt,), not decreasing: the time of an impact occurs twice."""
        return self._whole.t

    @property
    def y(self) -> Array:
        """Flat states, (nt, ny)."""
        return self._whole.y

    @property
    def r(self) -> Array:
        """Centres of mass, global [m], (nt, nb + 1, 3)."""
        return self._whole.r

    @property
    def p(self) -> Array:
        """Euler parameters, scalar first, (nt, nb + 1, 4)."""
        return self._whole.p

    @property
    def v(self) -> Array:
        """Velocities of the centres of mass, global [m/s], (nt, nb + 1, 3)."""
        return self._whole.v

    @property
    def omega_bar(self) -> Array:
        """Angular velocities, body frames [rad/s], (nt, nb + 1, 3)."""
        return self._whole.omega_bar

    @property
    def counters(self) -> Counters:
        """Work of all segments: sums, and the largest `max_euler_drift`."""
        return total([segment.counters for segment in self.segments])

    def _impacts_of(self, name: str) -> tuple[ContactImpact, ...]:
        return joined_impacts(piece._impacts_of(name) for piece in self._complete if len(piece))

    def contact(self, name: str) -> Any:
        """Return gap and normal force of a contact over time; of a ContactForce as `Result.contact`.

        Parameters
        ----------
        name : str
            Name of the contact.

        Returns
        -------
        ContactHistory or CompliantContact
            Gap, rate and normal force at all times of the result.

        Raises
        ------
        UsageError
            For an unknown contact.
        """
        placed = self._mechanism.placed.get(name) if isinstance(name, str) else None
        compliant = [entry.load.name for entry in self.model.loads if entry.load.is_contact]
        if placed is None and name in compliant:
            return super().contact(name)
        if placed is None:
            raise no_such("contact", name, (*self._mechanism.names, *compliant))
        k, shared = self._mechanism.names.index(name), self._shared
        force = np.concatenate([np.zeros(0), *(one.force[:, k] for one in shared)])
        unique = np.concatenate([np.zeros(0), *(np.full(len(one.force), one.unique[k]) for one in shared)])
        closed = self._joined(lambda s: np.full(len(s.t), name in s.model.joints or name in s._held))
        alone = placed_contacts([placed])
        gap, gap_rate = alone.gaps(self.y)[:, 0], alone.gap_rates(self.y)[:, 0]
        return ContactHistory(name, self.t, gap, gap_rate, force, closed.astype(bool), unique.astype(bool))

    def energy(self) -> Energy:
        """Return the energies over all segments, as `Result.energy`.

        Returns
        -------
        Energy
            Energies over time.  The total falls at every impact by the energy that is lost there.
        """
        return energy_over_time(self.model, self.t, self.y, lambda: self._work)

    @cached_property
    def _work(self) -> Work:
        """Return the work since the first state, along the steps of the run, as `Result._work`."""
        complete = [piece for piece in self._complete if len(piece)]
        if not len(self.t) or not does_work(self.model):
            return no_work(self.model, len(self.t))
        if all(piece._all_steps for piece in complete):
            return joined_work([piece._work_at(None) for piece in complete]).at(self._stored).since_first()
        along, why = work_or_why(self._replays, self)
        if along is not None:
            return along
        parts = [work_between_stored(piece.model, piece.t, piece.y, piece._solve) for piece in complete]
        found = joined_work(parts).at(self._stored).since_first()
        warn_of_stored_work(self.model.name, kinetic_and_potential(self.model, self.t, self.y), found, why)
        return found

    def _work_at(self, nodes: Array) -> Work:
        """Return the work since the first state at times `nodes` (k,), which increase, of a result that has all steps."""
        parts, rows, before = [], [], 0
        for piece in (piece for piece in self.segments if len(piece)):
            inner = nodes[(nodes > piece.t[0]) & (nodes < piece.t[-1])]
            at = np.unique(np.concatenate([piece.t[:1], inner, piece.t[-1:]]))
            parts.append(piece._work_at(at))
            rows.append((at, before))
            before += len(at)
        times = np.concatenate([at for at, _ in rows])
        return joined_work(parts).at(np.searchsorted(times, nodes))

    @property
    def _flat(self) -> Array:
        return self._whole._flat

    @property
    def _rule(self) -> QuadratureRule:
        return rule_of(self.model)

    def _work_of_points(self, nodes: Array, times: Array) -> Work:
        """Return the work at nodes (k,), of a result at the points of the quadrature between them."""
        return work_of_powers(self.model, nodes, times, self.y[np.searchsorted(self.t, times)])

    def _run_again(self, one: Replay, t_eval: Array | None, until: float, take: Callable[[Any], None]) -> Any:
        """Return the run made again to the time `until` [s], in one part: all steps, or the states at the times `t_eval`."""
        again = importlib.import_module("haugmbd.contact.motion.simulate_impacts").run_again  # it stands above this file
        return again(self._mechanism, one, t_eval, until)

    @property
    def _stored(self) -> npt.NDArray[np.bool_]:
        """Which states of the complete segments are states of the result."""
        pairs = zip(self._complete, self.segments, strict=True)
        return np.concatenate([np.zeros(0, dtype=np.bool_), *(np.isin(whole.t, part.t) for whole, part in pairs)])

    def driver(self, name: str) -> DriverHistory:
        """Return a driver over time, as `Result.driver`."""
        whole, keep = super().driver(name), np.ones(len(self.t), dtype=np.bool_)
        if self._with_ends:
            whole, keep = replace(self, segments=self._with_ends, _with_ends=()).driver(name), self._stored
        values = {one.name: getattr(whole, one.name) for one in fields(whole)}
        kept: dict[str, Any] = {key: value[keep] for key, value in values.items() if isinstance(value, np.ndarray)}
        row = driven_row(self.model, name)

        def work() -> Array:
            rows = moving_rows(self.model)
            return self._work.driven[:, rows.index(row)] if row in rows else np.zeros(len(self.t))

        return replace(whole, **kept, _work=work)

    def load(self, name: str) -> LoadHistory:
        """Return a load over time, as `Result.load`."""
        found = super().load(name)
        return replace(found, _work=lambda: work_of_load(self.model, self._work, name, found.energy))

    def join(self, *others: ImpactResult) -> ImpactResult:
        """Return this result and those that follow on it as one.

        Parameters
        ----------
        *others : ImpactResult
            Results of the same system and contacts, each of which starts with the last state of the one before.

        Returns
        -------
        ImpactResult
            All segments, impacts, events, sensors, warnings and counters, as of `Result.join`.

        Raises
        ------
        UsageError
            If a result starts at another time or from another state, is of another model or other contacts, or has recorded other sensors.
        """
        return join_all(self, others, join_impacts, ImpactResult, "an ImpactResult")

    def save(self, path: str | Path) -> Path:
        """Write states, impacts, contacts, the model, sensors and settings to `path`, .npz or .nc (needs the extra `io`).

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
        `to_xarray` and `to_pandas` make tables of all quantities for other programs.
        """
        return importlib.import_module("haugmbd.contact.motion.impact_file").save(self, path)  # type: ignore[no-any-return]

    def to_csv(self, path: str | Path) -> Path:
        """Write one line for each state; the time of an impact occurs twice, with columns such as `ball.r.x`, and return the path."""
        return self._whole.to_csv(path)

    def _attributes(self) -> dict[str, str]:
        return {"model": self._whole.names.model, "impacts": str([impact.t for impact in self.impacts]), **self.settings}

    def state(self, k: int = -1) -> State:
        """Return the k-th state, by default the last one. Raise UsageError if there is none of that number."""
        return self._whole.state(k)

    def at(self, t: float) -> State:
        """Return the state at any time of the motion, by dense output within the segments; at an impact the state after it.

        Parameters
        ----------
        t : float
            Time [s] within those of the result.

        Returns
        -------
        State
            The state.

        Raises
        ------
        UsageError
            If t is not a time of the result.
        """
        time = check_time(t, self.t)
        return [piece for piece in self._complete if len(piece) and piece.t[0] <= time][-1].at(time)

    @overload
    def __getitem__(self, body: str) -> BodyHistory: ...
    @overload
    def __getitem__(self, body: slice) -> ImpactResult: ...
    def __getitem__(self, body: str | slice) -> BodyHistory | ImpactResult:
        if not isinstance(body, slice):
            return join_bodies([piece[body] for piece in self._pieces()])
        keep, (first, last) = times_within(body, self.t)
        parts = np.split(keep, np.cumsum([len(segment) for segment in self.segments])[:-1])
        (kept,) = np.nonzero([part.any() for part in parts])
        some, span = slice(kept[0], kept[-1] + 1), self.t[keep][[0, -1]]
        return replace(
            self,
            segments=tuple(one.within(part, first, last) for one, part in zip(self.segments[some], parts[some], strict=True)),
            impacts=tuple(impact for impact in self.impacts if first <= impact.t <= last),
            _with_ends=tuple(one.within((one.t >= span[0]) & (one.t <= span[1]), first, last) for one in self._with_ends[some]),
        )

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else ""
        return f"ImpactResult({self._whole.names.model!r}, {len(self)} states{span}, {len(self.impacts)} impacts)"


def at_times(segments: tuple[Result, ...], times: Array, end: float) -> tuple[Result, ...]:
    """Return the segments with their states at the given times only; at an impact that after it. Without any, the last state is kept.

    end: relative to |t| + 1 s: a last state so near to the last time stands for it
    """
    found = []
    for k, segment in enumerate(segments):
        keep = np.isin(segment.t, times)
        if len(segment) and any(len(later) and later.t[0] == segment.t[-1] for later in segments[k + 1 :]):
            keep[-1] = False
        found.append((segment, keep))
    if segments and len(segments[-1]) and abs(times[-1] - segments[-1].t[-1]) <= end * (1.0 + abs(times[-1])):
        found[-1][1][-1] = True
    if segments and len(segments[-1]) and not any(keep.any() for _, keep in found):
        found[-1][1][-1] = True
    return tuple(segment.at_states(keep) for segment, keep in found)
