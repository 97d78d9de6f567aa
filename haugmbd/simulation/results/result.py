r"""The states of a simulation and its counters. All other quantities are computed from the states on request.

t (nt,)   r (nt, nb+1, 3)   p (nt, nb+1, 4)   v (nt, nb+1, 3)   omega_bar (nt, nb+1, 3)          ground in row 0

Solutions of the equations of motion at the states are in `solutions`, quantities by name in `quantities`.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import need_unmasked, read_only
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.contact_impacts import ContactImpact, impacts_of_states, joined_impacts
from haugmbd.diagnostics.dense_states import rates_of
from haugmbd.diagnostics.energy import kinetic_and_potential, kinetic_energy
from haugmbd.diagnostics.histories import BodyHistory, DriverHistory, driven_row
from haugmbd.diagnostics.load_history import LoadHistory, load_named, work_of_load
from haugmbd.diagnostics.resample import resample_states
from haugmbd.diagnostics.run_warnings import HasOutcome, Outcome, RunNote, RunStatus, warn_of_stored_work
from haugmbd.diagnostics.turns import TurnCounter
from haugmbd.diagnostics.work import (
    QuadratureRule,
    Work,
    does_work,
    joined_work,
    moving_rows,
    no_work,
    rule_of,
    work_between,
    work_between_stored,
    work_of_impulse,
    work_of_powers,
)
from haugmbd.errors import HaugmbdError, SingularKKTError, UsageError, warn_user
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import SingularCrossing
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.model.labels import no_such
from haugmbd.model.model import Model
from haugmbd.model.pickling import refusal
from haugmbd.model.state import State
from haugmbd.model.views import Animated
from haugmbd.simulation.replay import Replay, work_or_why
from haugmbd.simulation.results.joining import joined as joined_histories
from haugmbd.simulation.results.joining import over_structures
from haugmbd.simulation.results.quantities import HasQuantities
from haugmbd.simulation.results.records import Counters, Names
from haugmbd.simulation.results.segments import (
    Again,
    changes_structure,
    contact_history,
    fields_of_segments,
    piece_at,
    resampled,
    split,
    stored_states,
    with_segments,
    work_at_nodes,
)
from haugmbd.simulation.results.solutions import HasSolutions
from haugmbd.simulation.results.spans import check_number, check_time, check_times_within, times_within
from haugmbd.simulation.results.switch_record import SwitchRecord
from haugmbd.simulation.sensor import SensorHistory
from haugmbd.workspace.layout import WIDTH

if TYPE_CHECKING:
    from haugmbd.impacts.contact_laws import ContactCheck
    from haugmbd.impacts.contact_modes import ContactModes
    from haugmbd.impacts.contact_problem import ContactProblem
    from haugmbd.impacts.impact import Impact
    from haugmbd.impacts.shared_forces import SharedForces

H = TypeVar("H", LoadHistory, DriverHistory)


class NotOfAChain(UsageError, AttributeError):
    """A coordinate of a chain was asked of a run in maximal coordinates; an AttributeError, too, as `hasattr` expects."""


@public_class
@dataclass(frozen=True, eq=False)
class Result(HasSolutions, HasQuantities, Animated, HasOutcome):
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
    newton : tuple of NewtonTable
        Of `kinematics(..., record=True)` by times: the iterates of the position analysis from the pose of the time before. Not saved.
    outcome : Outcome
        End of the run and its diagnostics; see also `status`, `success`, `message` and `warnings`.
    impacts : tuple of Impact
        The impacts of rigid contacts and stops, kicks, and joints that have closed, in the order of time; () without any.
    switches : tuple of SwitchRecord
        What has gone on and off while the mechanism moved, in the order of time; () without any.

    Notes
    -----
    `result["crank"]` is the history of one body, `result[t0:t1]` the part of the motion between two times. The arrays are read-only,
    because accelerations, multipliers, reactions, violations and energies are computed from them; change a copy, `result.r.copy()`.
    At an impact the time stands twice, with the state before and with the state after, but in a run with `t_eval`: there it is the one
    after. Rows are those of the model with all contacts open; `contact(name)` has the normal forces.
    Where the structure changes, `model` is that of the start, and `segments` have those of each structure. Of a part that is off nothing
    acts: its forces, multipliers and violations are zero, and its coordinates are NaN.
    `Result(model, t, y)` is that of states of your own, flat ones as `State.y` in the rows of y, which is not copied.

    Raises
    ------
    UsageError
        If t and y are not the times and states of a motion of the model.
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
    newton: tuple[Any, ...] = ()
    _own: Array | None = None
    _own_u_dot: Array | None = None
    _sensors: Mapping[str, SensorHistory] = field(default_factory=dict)
    _turns: Array | None = None
    """Joint angles that the run has counted from step to step, (nt, m) in the order of `turns.turning_joints`."""
    _contact_impacts: tuple[ContactImpact, ...] | None = None
    """Impacts of compliant contacts that the run has kept, if it does not store every step."""
    _held: tuple[str, ...] = ()
    """Rigid contacts that are at rest along a segment of a motion with impacts: closed, or held by others that are closed."""
    _model_numbers: Mapping[str, Array] | None = None
    """Fingerprint of the model in a file, if the result was loaded."""
    _model_laws: Mapping[str, str] | None = None
    """Digests of the laws of the model in a file, if the result was loaded."""
    _carried: Mapping[str, Any] | None = None
    """The model in a file, not yet compiled; or why there is none (`io.carried_model`)."""
    _replays: tuple[Replay, ...] = ()
    """How the run, or the runs that were joined, can be made again."""
    _all_steps: bool = False
    """Whether the states are the steps of the run, between which dense output is as accurate as its method."""
    outcome: Outcome = Outcome()
    impacts: tuple[Impact, ...] = ()
    switches: tuple[SwitchRecord, ...] = ()
    _segments: tuple[Result, ...] = ()
    """The smooth segments between jumps of the velocities, each with the model of its closed contacts; none of one smooth motion."""
    _with_ends: tuple[Result, ...] = ()
    """The segments with their first and last states, of a run with `t_eval`; otherwise the segments have them."""
    _mechanism: ContactModes | None = None
    """The rigid contacts and stops of the run, and its models for each set of closed ones."""
    _contact_segment: Any = None
    """Of a segment with friction at rigid contacts: its points of contact, see `impacts.contact_history`."""
    _contact_problem: ContactProblem | None = None
    """The rigid contacts of a run with friction, or with shapes."""
    _again: Again | None = None
    """Makes the run again: handed over by what has made it, which stands above."""

    def __post_init__(self) -> None:
        for name in ("t", "y"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        _check_states(self._model, self.t, self.y)
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
            state |= {"_segments": (), "_with_ends": (), "_mechanism": None, "impacts": ()}
        return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]

    @property
    def model(self) -> Model:
        """Return the compiled model; raise UsageError if the result was loaded from a file that does not have it."""
        if self._model is None:
            from haugmbd.simulation.results.io.carried_model import restore  # noqa: PLC0415  of results that were loaded

            assert self._names is not None
            carried = self._carried or {}
            try:
                where, first = str(carried.get("where", "")), self.state(0) if len(self.t) else None
                model = restore(carried, where, self._names, self._model_numbers, self._model_laws, self.y.shape[1], first)
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
        except HaugmbdError:
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
    def chain(self) -> Any:
        """Return the SerialChain of a run in joint coordinates. Raise UsageError for any other run, as `q`, `qd`, `qdd` and `tau` do."""
        raise self._not_of_a_chain("chain")

    @property
    def q(self) -> Array:
        """Return the joint coordinates of a chain, (nt, nq)."""
        raise self._not_of_a_chain("q")

    @property
    def qd(self) -> Array:
        """Return the joint rates of a chain, (nt, nv)."""
        raise self._not_of_a_chain("qd")

    @property
    def qdd(self) -> Array:
        """Return the joint accelerations of a chain, (nt, nv), recomputed."""
        raise self._not_of_a_chain("qdd")

    @property
    def tau(self) -> Array:
        """Return the generalized forces of a chain, (nt, nv), recomputed."""
        raise self._not_of_a_chain("tau")

    def joint_wrench(self, link: str | int) -> Array:
        """Return the force and moment through the joint of a link of a chain on the link, (nt, 6) [N, N m]."""
        raise self._not_of_a_chain("joint_wrench")

    def _not_of_a_chain(self, name: str) -> UsageError:
        return NotOfAChain(
            f"{name} belongs to the run of a SerialChain, and {self.names.model!r} is a System, in maximal coordinates: use "
            "result.joint(name).angle, .rate and .acceleration, and result.reaction(name)."
        )

    def maximal(self, model: Model | None = None) -> Result:
        """Return the motion in maximal coordinates: this result itself, but of a chain."""
        if model is not None and model is not self.model:
            raise UsageError(f"this result has its model already, {self.names.model!r}: leave model= out.")
        return self

    def kinetic_energy(self) -> Array:
        """Return the kinetic energy, (nt,) [J]."""
        return self.energy().kinetic if self._switched else kinetic_and_potential(self.model, self.t, self.y)[0]

    def potential_energy(self) -> Array:
        """Return the potential energy of gravity and force elements, (nt,) [J]."""
        return self.energy().potential if self._switched else kinetic_and_potential(self.model, self.t, self.y)[1]

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
        return self._bodies[..., EULER:VELOCITY]

    @property
    def v(self) -> Array:
        """Return the velocities of the centres of mass, global [m/s], (nt, nb + 1, 3)."""
        return self._bodies[..., VELOCITY:OMEGA_BAR]

    @property
    def omega_bar(self) -> Array:
        """Return the angular velocities, body frames [rad/s], (nt, nb + 1, 3)."""
        return self._bodies[..., OMEGA_BAR:WIDTH]

    @classmethod
    def of_segments(cls, model: Model, segments: Sequence[Result], *, complete: Sequence[Result] = (), **other: Any) -> Result:
        """Return the result of a motion of several smooth segments.

        model: with all contacts open;  complete: the segments with their ends, of a run with `t_eval`;  other: fields of the result
        """
        return cls(model, **fields_of_segments(model, segments) | other, _segments=tuple(segments), _with_ends=tuple(complete))

    @property
    def segments(self) -> tuple[Result, ...]:
        """Return the smooth segments of the motion, each a Result with the model of its closed contacts; (result,) without impacts."""
        return self._segments or (self,)

    @property
    def _complete(self) -> tuple[Result, ...]:
        """Return the segments with their first and last states."""
        return self._with_ends or self.segments

    def _pieces(self) -> tuple[Result, ...]:
        return tuple(segment for segment in self._segments if len(segment)) or (self,)

    @property
    def _switched(self) -> bool:
        """Return whether parts of the mechanism go on or off in the run."""
        return bool(self.switches) or (bool(self._segments) and changes_structure(self._segments))

    @property
    def contacts(self) -> dict[str, Contact]:
        """Return the rigid contacts and stops of the run by name; {} without any."""
        if self._switched:
            return {name: one for piece in self._segments for name, one in piece.contacts.items()}
        if self._contact_problem is not None:
            return dict(zip(self._contact_problem.names, self._contact_problem.contacts, strict=True))
        return {} if self._mechanism is None else dict(self._mechanism.contacts)

    @cached_property
    def _shared(self) -> tuple[SharedForces, ...]:
        """Return the normal forces of all rigid contacts, by segment."""
        assert self._mechanism is not None
        from haugmbd.impacts.shared_forces import shared_forces  # noqa: PLC0415  most results have no contacts

        return tuple(shared_forces(self._mechanism, segment) for segment in self.segments)

    @property
    def _pieces_with_contacts(self) -> list[Result]:
        """Return the segments of a run with friction at rigid contacts."""
        return [piece for piece in self._pieces() if piece._contact_segment is not None]

    def contact(self, name: str) -> Any:
        """Return a contact over time.

        Parameters
        ----------
        name : str
            Name of a Contact, of a stop ("NAME lower", "NAME upper" of a JointLimit with a restitution), or of a ContactForce.

        Returns
        -------
        RigidContactHistory, ContactHistory or CompliantContact
            Of a rigid contact with friction, or of two shapes, gap, forces, slip and state of each point, see there. Of another one gap,
            rate and normal force, and whether the force is unique. Of a ContactForce indentation, forces and slip of each point, and
            `.impacts`: of each impact times and speeds of touch and release, the restitution that was reached, the largest indentation,
            and the lost energy.

        Raises
        ------
        UsageError
            If there is no contact of that name.
        """
        rigid = tuple(self.contacts)
        if name in rigid and self._switched and self._pieces_with_contacts:
            from haugmbd.impacts.contact_history import history_of  # noqa: PLC0415  most results have no contacts

            some = [(p._contact_segment, p.t, p.y, p._contact_segment and p._contact_record) for p in self._pieces()]
            return history_of(name, some)
        if name in rigid and self._switched:
            of = lambda piece: contact_history(piece._mechanism, name, piece, piece._shared)  # noqa: E731
            return over_structures(self._pieces(), name, lambda piece: name in piece.contacts, of, joined_histories)
        if name in rigid and self._contact_problem is not None:
            from haugmbd.impacts.contact_history import history_of  # noqa: PLC0415  most results have no contacts

            return history_of(name, [(p._contact_segment, p.t, p.y, p._contact_record) for p in self._pieces_with_contacts])
        if name in rigid and self._mechanism is not None:
            return contact_history(self._mechanism, name, self, self._shared)
        compliant = [force.name for force in self.model.loads_of(ContactForce)]
        if name not in compliant:
            raise no_such("contact", name, (*rigid, *compliant))
        return super().contact(name)

    def check_contacts(self) -> ContactCheck:
        """Return by how much the contacts violate the laws of contact and friction at the stored states: the ruler of every method.

        Returns
        -------
        ContactCheck
            Overlaps, and residuals of Signorini's and Coulomb's laws and of the Newton-Euler equations, (nt,) each, and the `worst`.

        Raises
        ------
        UsageError
            If the run has no contacts.
        """
        from haugmbd.impacts.contact_laws import (  # noqa: PLC0415  most results have no contacts
            check_compliant,
            check_pieces,
            check_plain,
            check_structures,
        )

        if self._switched and self.contacts:
            return check_structures(self._pieces())
        if self._contact_problem is not None:
            parts = [(p._contact_segment, p.t, p.y, p._contact_record) for p in self._pieces_with_contacts]
            return check_pieces(self._contact_problem, parts)
        if self._mechanism is not None:
            return check_plain(self._mechanism, self)
        if self.model.loads_of(ContactForce):
            return check_compliant(self.model, self)
        raise UsageError(f"{self.names.model!r} has no contacts to check: add mbd.Contact(...) to the system.")

    def load(self, name: str) -> LoadHistory:
        if not self._segments:
            return super().load(name)
        if self._switched:
            history = self._of_stored(HasQuantities.load, name)
        else:
            history = super().load(name)
            energy = history.energy
            history = replace(history, _work=lambda: work_of_load(self.model, self._work, name, energy))
        if name in self.contacts and "force" in history._values:  # a rigid rope that may be slack is a contact
            history = replace(history, _values=history._values | {"force": self.contact(name).force})
        return history

    load.__doc__ = HasQuantities.load.__doc__

    def driver(self, name: str) -> DriverHistory:
        if not self._segments:
            return super().driver(name)
        if self._switched:
            return self._of_stored(HasQuantities.driver, name)
        whole, keep = super().driver(name), np.ones(len(self.t), dtype=np.bool_)
        if self._with_ends:
            whole, keep = with_segments(self, self._with_ends, ()).driver(name), self._stored
        values = {one.name: getattr(whole, one.name) for one in fields(whole)}
        kept: dict[str, Any] = {key: value[keep] for key, value in values.items() if isinstance(value, np.ndarray)}
        row = driven_row(self.model, name)

        def work() -> Array:
            rows = moving_rows(self.model)
            return self._work.driven[:, rows.index(row)] if row in rows else np.zeros(len(self.t))

        return replace(whole, **kept, _work=work)

    driver.__doc__ = HasQuantities.driver.__doc__

    def _of_stored(self, of: Callable[[Result, str], H], name: str) -> H:
        """Return a history at the states of the result, of one that is computed at those of its segments with their ends."""
        if not self._with_ends:
            return of(self, name)
        history: Any = of(with_segments(self, self._with_ends, ()), name)
        keep = self._stored
        changes: dict[str, Any] = {"_work": lambda: history.work[keep]}
        for variable in fields(history):
            value = getattr(history, variable.name)
            if isinstance(value, np.ndarray):
                changes[variable.name] = value[keep]
            elif isinstance(value, dict):
                changes[variable.name] = {key: part[keep] for key, part in value.items()}
        kept: H = replace(history, **changes)
        return kept

    @property
    def _stored(self) -> npt.NDArray[np.bool_]:
        return stored_states(self.segments, self._complete)

    def _impacts_of(self, name: str) -> tuple[ContactImpact, ...]:
        if self._segments:
            return joined_impacts(piece._impacts_of(name) for piece in self._complete if len(piece))
        if self._contact_impacts is not None:
            return tuple(impact for impact in self._contact_impacts if impact.contact == name)
        if not len(self.t):
            return ()
        rates = rates_of(self.t, self.y, self._solutions, self.model.nb + 1)
        return impacts_of_states(self.model, load_named(self.model, name), self.t, self.y, rates, self.events)

    def _all_impacts(self) -> tuple[ContactImpact, ...]:
        """Return the impacts of all compliant contacts."""
        names = [entry.load.name for entry in self.model.loads if entry.load.is_contact]
        return tuple(impact for name in names for impact in self._impacts_of(name))

    def resample(self, t_new: npt.ArrayLike, *, kind: Literal["dense", "linear", "cubic"] = "dense") -> Result:
        """Return the result at other times; states at stored times are unchanged.

        Parameters
        ----------
        t_new : array_like, (k,)
            Times [s] within those of the result.
        kind : {"dense", "linear", "cubic"}
            "dense": dense output of the integrators, of order six in r and p, and five in v and omega_bar; one less without the
            model. Velocities that are not the derivatives of the positions (SemiImplicitEuler) are interpolated by themselves.
            Constraints that the stored states fulfil hold between them as well. "linear": linear interpolation, and slerp for p.
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
        if self._segments:
            check_times_within(times, self.t)
            return with_segments(self, resampled(self._complete, times, kind), self._complete, outcome=self.outcome)
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
            _contact_impacts=self._all_impacts() if self._model is not None and self._model.has_contacts else None,
            _model_numbers=self._model_numbers,
            _model_laws=self._model_laws,
            _carried=self._carried,
            _replays=self._replays,
            _again=self._again,
            _held=self._held,
            _contact_segment=self._contacts_at(times),
            _contact_problem=self._contact_problem,
            outcome=self.outcome,
        )

    def _contacts_at(self, times: Array) -> Any:
        """Return the contacts at other times: of a time-stepping run those of the steps in which they are."""
        from haugmbd.impacts.contact_history import SteppedContacts  # noqa: PLC0415  most results have no contacts

        if not isinstance(self._contact_segment, SteppedContacts):
            return self._contact_segment
        return self._contact_segment.at(np.minimum(np.searchsorted(self.t, times), len(self.t) - 1))

    @cached_property
    def _work(self) -> Work:
        """Return the work since the first state, along the steps of the run; between stored states, with a note, where it is not known."""
        if self._segments:
            return self._work_of_segments()
        if self._all_steps or not len(self.t) or not does_work(self.model):
            return self._work_at(None)
        along = work_or_why(self._replays, self)
        if along.work is not None:
            return along.work
        work = work_between_stored(self.model, self.t, self.y, self._solve)
        warn_of_stored_work(self.names.model, kinetic_and_potential(self.model, self.t, self.y), work, along.why, along.failed)
        return work

    def _work_of_segments(self) -> Work:
        """Return the work since the first state, along the steps of all segments."""
        complete = [piece for piece in self._complete if len(piece)]
        if self._switched:
            works = self._with_impulses([piece._work.as_one() for piece in complete])
            return joined_work(self._with_struck(works)).at(self._stored).since_first()
        if not len(self.t) or not (does_work(self.model) or self._contact_problem is not None):
            return no_work(self.model, len(self.t))
        if self._contact_problem is None and self._mechanism is None:  # joined across a kick: each knows its own steps
            return joined_work([piece._work for piece in complete]).at(self._stored).since_first()
        if all(piece._all_steps for piece in complete):
            return self._joined([piece._work_at(None) for piece in complete]).at(self._stored).since_first()
        along = work_or_why(self._replays, self)
        if along.work is not None:
            return along.work
        parts = [
            piece._with_friction(work_between_stored(piece.model, piece.t, piece.y, piece._solve), piece.t) for piece in complete
        ]
        work = self._joined(parts).at(self._stored).since_first()
        warn_of_stored_work(self.names.model, kinetic_and_potential(self.model, self.t, self.y), work, along.why, along.failed)
        return work

    def _work_at(self, nodes: Array | None) -> Work:
        """Return the work since the first state at times `nodes` (k,), by default those of the states, which are steps."""
        if self._segments and nodes is not None:
            return work_at_nodes(self._segments, nodes, self._joined)
        work = work_between(self.model, self.t, self.y, self._solve, nodes)
        return self._with_friction(work, self.t if nodes is None else nodes)

    def _with_friction(self, work: Work, nodes: Array) -> Work:
        """Return the work at `nodes` (k,) with one more column: what friction of rigid contacts dissipates along the segment."""
        if self._contact_segment is None:
            return work
        lost = np.zeros(len(nodes))
        from haugmbd.impacts.contact_history import ContactSegment, friction_loss  # noqa: PLC0415  most results have no contacts

        if isinstance(self._contact_segment, ContactSegment):
            lost = friction_loss(self._contact_segment, self.t, self.y, self._solve, nodes)
        return work._replace(dissipated=np.column_stack([work.dissipated, lost]))

    def _joined(self, parts: Sequence[Work]) -> Work:
        """Return the works of segments as one; with rigid contacts with friction, with what impacts between them dissipate."""
        if self._contact_problem is None:
            return joined_work(self._with_impulses(parts))
        struck = {impact.t for impact in self.impacts}
        pieces = [piece for piece in self._complete if len(piece)]
        for k, (before, after) in enumerate(pairwise(pieces)):
            if before.t[-1] == after.t[0] and before.t[-1] in struck:
                ends = np.stack([before._flat[-1], after._flat[0]]).reshape(2, -1, WIDTH)[..., VELOCITY:]
                parts[k + 1].dissipated[:, -1] -= np.diff(kinetic_energy(self.model, ends))
        return joined_work(parts)

    def _with_struck(self, parts: Sequence[Work]) -> Sequence[Work]:
        """Return the works of the segments of a run with switches, with what impacts of contacts with friction before them dissipate."""
        pieces = [piece for piece in self._complete if len(piece)]
        rubs = {piece.t[0]: k for k, piece in enumerate(pieces) if k and piece._contact_segment is not None}
        for impulse, k in ((one.impulse, rubs[one.t]) for one in self.impacts if one.impulse.normal and one.t in rubs):
            parts[k].dissipated[:, -1] += impulse.energy_before - impulse.energy_after
        return parts

    def _with_impulses(self, parts: Sequence[Work]) -> list[Work]:
        """Return the works of segments, with what drivers do in the impulses between them."""
        works, pieces = list(parts), [piece for piece in self._complete if len(piece)]
        driven: dict[float, list[Array]] = {}
        for impact in self.impacts:
            q = impact.impulse
            done = work_of_impulse(q.model, impact.t, q.before.y, q.Lam)
            if np.any(done != 0.0):
                driven.setdefault(impact.t, []).append(done)
        for k, (before, after) in enumerate(pairwise(pieces)):
            if before.t[-1] == after.t[0] and before.t[-1] in driven:
                done = np.sum(driven.pop(float(before.t[-1])), axis=0)
                columns = works[k + 1].driven.shape[1]
                more = done if columns == len(done) else np.append(done.sum(), np.zeros(columns - 1))
                works[k + 1] = works[k + 1]._replace(driven=works[k + 1].driven + more)
        return works

    @property
    def _flat(self) -> Array:
        return self.y[:, : WIDTH * len(self.names.bodies)]

    @property
    def _rule(self) -> QuadratureRule:
        return rule_of(self.model)

    def _work_of_points(self, nodes: Array, times: Array) -> Work:
        """Return the work at nodes (k,), of a result at the points of the quadrature between them."""
        return work_of_powers(self.model, nodes, times, self.y[np.searchsorted(self.t, times)])

    def _run_again(self, one: Replay, t_eval: Array | None, until: float, take: Callable[[Any], None]) -> Any:
        """Make the run again to the time `until` [s], and return its last states: all steps, or the states at the times `t_eval`.

        take: takes results of its parts before; a delay reads the whole motion before, so that a model with one has no parts
        """
        if self._again is None:
            raise UsageError("nothing says how its run is made again")
        if self._segments or (self.model.network is not None and self.model.network.delays):
            return self._again(self, one, t_eval, until, None)
        return self._again(self, one, t_eval, until, lambda t, y: take(Result(self.model, t, y, settings=self.settings)))

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

    def at(self, t: float, *, before: bool = False) -> State:
        """Return the state at any time of the motion, by dense output; at an impact or a switch the state after it.

        Parameters
        ----------
        t : float
            Time [s] within those of the result.
        before : bool
            At an impact or a switch: the state before it.

        Returns
        -------
        State
            The stored state, if there is one at this time; otherwise the interpolated one, see `resample`.

        Raises
        ------
        UsageError
            If t is not a time of the result.
        SimulationError
            If an interpolated state cannot be brought to the constraints.
        """
        check_flags(before=before)
        time = check_time(t, self.t)
        if self._segments:
            if before:
                ended = [piece for piece in self._complete if len(piece) and piece.t[0] < time <= piece.t[-1]]
                if ended:
                    return ended[0].at(time)
            return piece_at(self._complete, time).at(time)
        stored = np.flatnonzero(self.t == time)
        return self.state(int(stored[-1])) if len(stored) else self.resample([time]).state()

    def _between(self, span: slice) -> Result:
        """Return the states within a span of time, with the events there."""
        keep, (first, last) = times_within(span, self.t)
        return self.within(keep, first, last)

    def within(self, keep: npt.NDArray[np.bool_], first: float, last: float) -> Result:
        """Return the result with some of its states, keep (nt,), and its events from `first` to `last` [s]."""
        if self._segments:
            return self._segments_within(keep, first, last)
        return replace(
            self.at_states(keep),
            events=tuple(event for event in self.events if first <= event.t <= last),
            singular_crossings=tuple(one for one in self.singular_crossings if first <= one.t <= last),
            _contact_impacts=None
            if self._contact_impacts is None
            else tuple(one for one in self._contact_impacts if not (one.release < first or one.touch > last)),
        )

    def _segments_within(self, keep: npt.NDArray[np.bool_], first: float, last: float) -> Result:
        """Return the result with some of the states of its segments, keep (nt,), and its impacts from `first` to `last` [s]."""
        parts = split(keep, self._segments)
        (kept,) = np.nonzero([part.any() for part in parts])
        some, span = slice(kept[0], kept[-1] + 1), self.t[keep][[0, -1]]
        segments = [one.within(part, first, last) for one, part in zip(self._segments[some], parts[some], strict=True)]
        complete = [one.within((one.t >= span[0]) & (one.t <= span[1]), first, last) for one in self._with_ends[some]]
        impacts = tuple(impact for impact in self.impacts if first <= impact.t <= last)
        switches = tuple(switch for switch in self.switches if first <= switch.t <= last)
        return with_segments(self, segments, complete, impacts=impacts, switches=switches)

    def at_states(self, keep: npt.NDArray[np.bool_]) -> Result:
        """Return the result with some of its states, keep (nt,)."""
        if self._segments:
            parts = zip(self._segments, split(np.asarray(keep), self._segments), strict=True)
            return with_segments(self, [one.at_states(part) for one, part in parts], self._complete)
        sensors = {name: replace(one, t=one.t[keep], value=one.value[keep]) for name, one in self._sensors.items()}
        return replace(
            self,
            t=self.t[keep],
            y=self.y[keep],
            _own=None if self._own is None else self._own[keep],
            _own_u_dot=None if self._own_u_dot is None else self._own_u_dot[keep],
            _turns=None if self._turns is None else self._turns[keep],
            _sensors=sensors,
            _contact_segment=None if self._contact_segment is None else self._contact_segment.at(keep),
            _all_steps=self._all_steps and bool(np.all(np.diff(np.flatnonzero(keep)) == 1)),
        )

    def join(self, *others: Result) -> Result:
        """Return this result and those that follow on it as one.

        Parameters
        ----------
        *others : Result
            Results of the same model, each of which starts with the last state of the one before: `simulate(..., state=result.state())`.
            Of another model, if one of them has all parts of the other: what one lacks goes on or off there, and `switches` tells it.

        Returns
        -------
        Result
            All states, events, sensors, warnings and counters; joint angles count their turns on. How the run ended is the end of the
            last one. Settings that differ stand one after the other.

        Raises
        ------
        UsageError
            If a result starts at another time or from another state, is of another model, or has recorded other sensors.
        """
        from haugmbd.simulation.results.continuation import join_all, join_results  # noqa: PLC0415  of runs that go on

        return join_all(self, others, join_results, Result, "a Result of simulate")

    def save(self, path: str | Path) -> Path:
        """Write states, impacts, names, the model, sensors, counters and settings to `path`, .npz or .nc (NetCDF-4, needs the extra `io`).

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
        from haugmbd.simulation.results.io.results import write_contents  # noqa: PLC0415  imported only where a result is written
        from haugmbd.simulation.results.saving import contents_of_result  # noqa: PLC0415  likewise

        return write_contents(path, lambda: contents_of_result(self))

    def report(self, path: str | Path) -> Path:
        """Write a page about the run, and return its path: how it ended, largest reactions and loads, violations, energy, and events.

        Parameters
        ----------
        path : str or Path
            The file, .html: one page that needs no network. The largest values are those of the stored states.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            For another ending, or a result without states.
        """
        from haugmbd.simulation.results.run_report import write_report  # noqa: PLC0415  imported only where a report is written

        return write_report(self, path)

    def to_csv(self, path: str | Path) -> Path:
        """Write one line for each state, with columns such as `crank.r.x`, and return the path.

        Other quantities are written by `to_pandas().to_csv(path)`.
        """
        from haugmbd.simulation.results.io.results import to_csv  # noqa: PLC0415  imported only where a result is written

        return to_csv(self, path)

    def _attributes(self) -> dict[str, str]:
        struck = {"impacts": str([impact.t for impact in self.impacts])} if self._mechanism is not None else {}
        return {"model": self.names.model, **struck, **self.settings}

    def __len__(self) -> int:
        return len(self.t)

    @overload
    def __getitem__(self, body: str) -> BodyHistory: ...
    @overload
    def __getitem__(self, body: slice) -> Result: ...
    def __getitem__(self, body: str | slice) -> BodyHistory | Result:
        if isinstance(body, slice):
            return self._between(body)
        if not isinstance(body, str) or body not in self.names.bodies:
            raise no_such("body", body, self.names.bodies, {"result.joint": self.names.joints})
        k = self.names.bodies.index(body)
        accelerations = lambda: (self.v_dot[:, k], self.omega_bar_dot[:, k])  # noqa: E731  solved for only where they are asked for
        return BodyHistory(body, self.t, self.r[:, k], self.p[:, k], self.v[:, k], self.omega_bar[:, k], accelerations)

    def state(self, k: int = -1) -> State:
        """Return the k-th state; by default the last. Raise UsageError if there is none of that number."""
        k = check_number(k, len(self.t))
        if self._switched:
            ends = np.cumsum([len(piece) for piece in self._segments])
            own = int(np.searchsorted(ends, k, side="right"))
            return self._segments[own].state(k - int(ends[own]) + len(self._segments[own]))
        if self._model is not None and self._model.parts is not None:
            found = State.from_y(float(self.t[k]), self.y[k], len(self.names.bodies))
            return found.replace(structure=self._model.parts.structure)
        return State.from_y(float(self.t[k]), self.y[k], len(self.names.bodies))

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else ""
        struck = "" if self._mechanism is None else f", {len(self.impacts)} impacts"
        return f"Result({self.names.model!r}, {len(self.t)} states{span}, {self.counters.steps} steps{struck})"


def _numbers(name: str, given: Any) -> Array:
    """Return times or states as an array of floats; raise UsageError for anything else."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"Result: {name} must be numbers, not {type(given).__name__}.") from None


def _check_states(model: Any, t: Array, y: Array) -> None:
    """Raise UsageError unless t (nt,) are times, and y (nt, ny) flat states of the model."""
    if not isinstance(model, Model | None):
        raise UsageError(f"Result needs a compiled Model, not {model!r}: give system.compile().")
    if t.ndim != 1:
        raise UsageError(f"Result: t has the shape {t.shape}, and needs (nt,): one time for each state.")
    if y.ndim != 2 or len(y) != len(t) or (model is not None and y.shape[1] != model.y0.size):  # noqa: PLR2004
        width, whose = ("ny", "it") if model is None else (model.y0.size, repr(model.name))
        raise UsageError(
            f"Result: y has the shape {y.shape}, and {whose} needs ({len(t)}, {width}): a flat state, State.y, for each of {len(t)} times."
        )
    if not np.isfinite(t).all():
        k = int(np.argmin(np.isfinite(t)))
        raise UsageError(f"Result: t must be finite, and t = {t[k]} s at index {k}.")
    if (t[1:] < t[:-1]).any():
        k = int(np.argmax(t[1:] < t[:-1]))
        raise UsageError(f"Result: times do not increase: t falls from {t[k]:g} s to {t[k + 1]:g} s.")
