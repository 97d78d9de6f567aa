r"""inverse_dynamics: the forces and torques of drivers for a prescribed motion.

    Phi_q u_dot = gamma         rank Phi_q = 6 nb: the drivers determine the motion
    M u_dot + Phi_q^T lam = Q   lam, and with it the force of a driver along its own coordinate f:

    tau = -lam dPhi/dg = -lam F'(f)       F' = 1 (angle, displacement, dot product),  2 f (distance, whose row is squared)
    power tau f'

If rows are dependent, lam is not unique. tau is unique if the driver's row is in no dependency.
Source: Haug (2021), inverse dynamics of kinematically driven systems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.kinematics.kinematics import determined_or_raise, driven_model, followed, read_times
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.diagnostics.contact_warnings import sampled_lift_off_notes
from haugmbd.diagnostics.histories import the_row
from haugmbd.diagnostics.joint_reactions import COMPONENTS, Axes, Reaction, Side, joint_reactions
from haugmbd.diagnostics.run_warnings import Outcome, RunStatus, issue
from haugmbd.diagnostics.violation import PHI, VELOCITY_GAP, rows_over_time
from haugmbd.drivers import Constant
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.model.dependent_rows import Rule, check_rule
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.identity import entry_of
from haugmbd.model.inspection.run_memory import stop_faults
from haugmbd.model.labels import no_such
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import analyse_rank, report_of
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.constraint_residuals import need_sound_state, position_faults, unsound_states, velocity_faults
from haugmbd.system.system import System

SAMPLES = 5
"""Number of states at which dependencies are examined. The rows in a dependency change at isolated poses only."""


@public_class
@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Forces of drivers along a motion.

    Attributes
    ----------
    result : Result
        The motion, with the reactions of all joints.
    t : ndarray, (nt,)
        Times [s].
    force : dict of str to ndarray, (nt,)
        By driver: torque about h [N m], or force [N], on body j along the coordinate f, so that power = force f'.
    power : dict of str to ndarray, (nt,)
        Power of each driver [W].
    shared : dict of str to tuple of str
        By joint, the components of its reaction that are not unique (joint frame).

    Notes
    -----
    A force element with the same effect has the opposite sign: RSDA(actuator=-tau), TSDA(actuator=-F), because their actuators act against
    theta and the length.
    """

    result: Result
    force: dict[str, Array]
    power: dict[str, Array]
    shared: dict[str, tuple[str, ...]]

    @property
    def t(self) -> Array:
        """Return the times [s], (nt,)."""
        return self.result.t

    @property
    def interrupted(self) -> bool:
        """Return whether Ctrl-C ended the motion before the last of the times."""
        return self.result.interrupted

    def __getitem__(self, driver: str | Joint) -> Array:
        name = entry_of(self.result.model, driver, "drivers").name if isinstance(driver, Joint) else driver
        if name not in self.force:
            raise no_such("driver", name, self.force)
        return self.force[name]

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
        """Return the reaction of a joint along the motion, see `Result.reaction`. Raise UsageError if parts of it are not unique."""
        if joint in self.shared:
            raise UsageError(
                f"the reaction of joint {joint!r} is not unique: {', '.join(self.shared[joint])}. Other joints share it in any "
                "proportion. Use SJ or CJ for one RJ of a loop, or result.reaction, which returns one of many solutions."
            )
        return self.result.reaction(joint, on=on, frame=frame)

    def __str__(self) -> str:
        """Return the range of force and power of each driver, and the reactions that are not unique."""
        stopped = f", {self.result.message}" if self.interrupted else ""
        head = f"inverse dynamics of {self.result.names.model!r}, {len(self.t)} states{stopped}"
        lines = [
            f"driver {name!r}: {tau.min():.6g} .. {tau.max():.6g}, power {self.power[name].min():.6g} .. {self.power[name].max():.6g} W"
            for name, tau in self.force.items()
        ]
        lines += [f"joint {name!r}: not unique: {', '.join(parts)}" for name, parts in self.shared.items()]
        return "\n".join([head, *lines])

    __repr__ = __str__


@check_keywords
def inverse_dynamics(
    system: System | Model,
    motion: Result | State | Sequence[State] | npt.ArrayLike,
    *,
    drivers: Iterable[Joint | str] | None = None,
    redundancy: Rule | None = None,
    tolerance: float | None = None,
    progress: bool = False,
) -> InverseDynamics:
    """Return the forces and torques of the drivers for a prescribed motion.

    Parameters
    ----------
    system : System or Model
        A mechanism with as many drivers as degrees of freedom. Joints may be redundant.
    motion : array_like (nt,), Result, State or sequence of State
        Times [s], at which the motion is computed as by `kinematics`; or states that fulfil the constraints and drivers; of a
        Result with impacts one of its segments.
    drivers : iterable of Joint or str, optional
        Drivers whose forces are computed; by default all joints with a driver that is not constant.
    redundancy : DropDependentRows or MinimumNorm, optional
        Rule that selects one solution if the forces are not unique. By default such forces raise ModelError.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    InverseDynamics
        Force and power of each driver, and the motion; after Ctrl-C at the times that were reached, with `interrupted` set.

    Raises
    ------
    ModelError
        If a force is not unique, or the motion does not fulfil the constraints.
    UsageError
        If there are too few drivers, or an argument is not valid.
    SimulationError
        If the motion ends before the last time.
    KeyboardInterrupt
        After Ctrl-C before the first of the times.

    Notes
    -----
    Source: Haug (2021), inverse dynamics of kinematically driven systems.
    """
    check_flags(progress=progress)
    if redundancy is not None:
        check_rule(redundancy)
    result = _motion(system, motion, redundancy, progress, tolerance)
    model = result.model
    of_row = model.drivers_of_rows()
    rows = {name: (row := the_row(model, name), int(of_row[row])) for name in _names(model, drivers)}
    states = [result.state(int(k)) for k in np.unique(np.linspace(0, len(result) - 1, SAMPLES).round())]
    ties, shared = _shared(model, states) if model.redundancy.dropped and redundancy is None else ([], {})
    _refuse_shared(model, rows, ties)
    force, power = {}, {}
    for name, (row, driver) in rows.items():
        f = model.drivers[driver].values(result.t)
        lever = 2.0 * f[:, 0] if model.labels[row].unit == "m2" else np.ones(len(result))
        force[name] = -result.lam[:, row] * lever
        power[name] = force[name] * f[:, 1]
    return InverseDynamics(result, force, power, shared)


def _motion(system: System | Model, motion: Any, redundancy: Rule | None, progress: bool, tolerance: float | None) -> Result:
    """Return the motion as a Result of a model whose redundancy is examined."""
    if isinstance(motion, Result):
        motion = _only_piece(motion)
    if not isinstance(motion, Result | State) and not _are_states(motion):
        times = read_times(motion)
        with Progress(progress, 0, len(times), "times") as bar:
            driven = followed(system, times, None, "inverse_dynamics", bar, tolerance)
        model, t, y, turns, outcome = driven.model, driven.t, driven.y, driven._turns, driven.outcome
    else:
        number, state = _states(motion)
        model = driven_model(system, state(0), "inverse_dynamics", tolerance)
        for k in _doubtful(model, motion, number):
            need_sound_state(model, state(k))
        determined_or_raise(model, state(0), "inverse_dynamics")
        turns, outcome = None, Outcome()
        if isinstance(motion, Result):
            t, y = motion.t, motion.y
        else:
            t, y = (np.array([getattr(state(k), name) for k in range(number)]) for name in ("t", "y"))
    asked = model if redundancy is None else model.with_redundancy(redundancy)
    interrupted = outcome.status is RunStatus.INTERRUPTED
    outcome = outcome._replace(notes=tuple(dict.fromkeys([*outcome.notes, *sampled_lift_off_notes(model, t, y)])))
    result = Result(asked, t, y, settings={"analysis": "inverse dynamics"}, interrupted=interrupted, outcome=outcome, _turns=turns)
    _check_fit(result)
    issue(outcome)
    return result


def _only_piece(motion: Result) -> Result:
    """Return the one piece of a motion. Raise UsageError where impacts divide it."""
    pieces = motion._pieces()
    if len(pieces) > 1:
        raise UsageError(
            f"the motion has {len(pieces)} pieces between impacts, whose impulses are no forces: give one of them, result.segments[0]."
        )
    return pieces[0]


def _states(motion: Result | State | Sequence[State]) -> tuple[int, Callable[[int], State]]:
    """Return the number of states of a motion, and the function that gives one. Raise UsageError if there is none."""
    states = [motion] if isinstance(motion, State) else motion
    if not len(states):
        raise UsageError("the motion has no state.")
    return len(states), states.state if isinstance(states, Result) else states.__getitem__


def _doubtful(model: Model, motion: Result | State | Sequence[State], number: int) -> Iterable[int]:
    """Return the numbers of the states that may have faults by themselves: of a Result of this layout, they are looked for all at once."""
    if isinstance(motion, Result) and motion.state(0).structure is None and motion.y.shape[1] == model.y0.size:
        return map(int, unsound_states(model, motion.t, motion.y))
    return range(number)


def _are_states(motion: Any) -> bool:
    return isinstance(motion, list | tuple) and len(motion) > 0 and all(isinstance(state, State) for state in motion)


def _check_fit(result: Result) -> None:
    """Raise ModelError if a state of the motion does not fulfil the rows, or is beyond a rigid stop."""
    beyond = stop_faults(result.model, result.t, result.y)
    if beyond:
        raise ModelError(beyond)
    gaps = rows_over_time(result.model, result.t, result.y).gaps
    for k in (int(np.abs(gaps[:, :, level]).max(axis=1, initial=0.0).argmax()) for level in (PHI, VELOCITY_GAP)):
        state = result.state(k)
        faults = (*position_faults(result.model, state, moved=True), *velocity_faults(result.model, state))
        if faults:
            remedy = "Give a motion that the joints and drivers allow, such as that of kinematics(system, t)."
            raise ModelError([Fault(f.where, f"the motion does not fit at t = {state.t:.6g} s: {f.what}", remedy) for f in faults])


def _names(model: Model, drivers: Iterable[Joint | str] | None) -> list[str]:
    """Return the names of the joints whose forces are computed."""
    if drivers is not None:
        joints = drivers if isinstance(drivers, Iterable) and not isinstance(drivers, str | np.ndarray) else (drivers,)
        return [entry_of(model, d, "drivers").name if isinstance(d, Joint) else str(d) for d in joints]
    moving = {k for k, driver in enumerate(model.drivers) if not isinstance(driver, Constant)}
    return list(dict.fromkeys(model.labels[row].joint for row, k in enumerate(model.drivers_of_rows().tolist()) if k in moving))


def _shared(model: Model, states: Sequence[State]) -> tuple[list[frozenset[int]], dict[str, tuple[str, ...]]]:
    """Return the rows of each dependency, and by joint the components of its reaction that are not unique at one of the states."""
    ties, parts = [], dict[str, set[int]]()
    for state in states:
        rows = evaluate(model, state)
        examined = analyse_rank(model, rows)
        dependencies = report_of(model, examined).dependencies
        ties += [frozenset((d.row, *(row for row, _ in d.terms))) for d in dependencies]
        for reaction in joint_reactions(model, rows, examined, dependencies):
            parts.setdefault(reaction.joint, set()).update(k for k, unique in enumerate(reaction.unique) if not unique)
    return ties, {joint: tuple(COMPONENTS[k] for k in sorted(components)) for joint, components in parts.items() if components}


def _refuse_shared(model: Model, rows: dict[str, tuple[int, int]], tied: list[frozenset[int]]) -> None:
    """Raise ModelError with one fault for each driver whose force is not unique."""
    faults = []
    for name, (row, _) in rows.items():
        others = sorted(frozenset().union(*(tie for tie in tied if row in tie)) - {row})
        if not others:
            continue
        with_whom = ", ".join(map(repr, dict.fromkeys(model.labels[other].joint for other in others)))
        what = f"its force is not determined: it shares the load with {with_whom} in any proportion"
        remedy = "Take one of them away, compute others (drivers=...), or choose one of the solutions: redundancy=MinimumNorm()."
        faults.append(Fault(f"driver {name!r}", what, remedy))
    if faults:
        raise ModelError(faults)
