"""kinematics: the motion that drivers prescribe, without integration: as many drivers as degrees of freedom.

    Phi(q, t) = 0      Phi_q u = nu      Phi_q u_dot = gamma      rank Phi_q = 6 nb          M u_dot + Phi_q^T lam = Q

Positions are solved at every time, so that there is no integration error. Multipliers, reactions and the forces of the drivers follow from
the states.
It starts in the metric of the geometry, see `formulations.determined_motion`: masses do not decide what is near.
Source: Haug (2021), spatial kinematic analysis.
"""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.assembly.assemble import assemble, pose_problem
from haugmbd.analysis.assembly.constraint_system import Search
from haugmbd.analysis.assembly.position_solver import NewtonTable, close_positions, newton_table
from haugmbd.analysis.assembly.result import Assembly
from haugmbd.analysis.initial_model import beginning_at, compiled, counted_from, examined, start_of
from haugmbd.analysis.kinematics.path_following import Followed, PathPoint, Track, begin, counted_turns, follow, new_track
from haugmbd.analysis.mobility.free_motions import freedom_at, joints_of, motion_words
from haugmbd.analysis.mobility.mobility import mobility, position_rank
from haugmbd.bodies.validation import numbers
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.contact_warnings import sampled_lift_off_notes
from haugmbd.diagnostics.run_warnings import Outcome, RunStatus, issue, singular_notes
from haugmbd.errors import AssemblyError, ModelError, SimulationError, SingularKKTError, UsageError, error_text
from haugmbd.formulations.determined_motion import geometric_metric
from haugmbd.integrators.singularities.branch_crossing import EXACT
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.state_space import NearSingular, SingularCrossing
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.driver_breaks import JointBreak, ZeroLength, first_break, interval_faults
from haugmbd.model.inspection.run_memory import need_no_freewheels, stop_faults, touch_faults
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import put_row_scale, rank_report
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.constraint_residuals import state_faults
from haugmbd.system.checks.contradictions import dropped_faults_of_states
from haugmbd.system.checks.function_ranges import profile_faults
from haugmbd.system.system import System
from haugmbd.workspace.internal_states import refuse_internal_states


def with_geometric_inertia(model: Model, state: State) -> Model:
    """Return the model with W in place of its inertia, by the arms at a state: what is near then does not depend on masses."""
    W, _ = geometric_metric(model, evaluate(model, state))
    return _with_inertia(model, W, W)


def with_inertia_of(model: Model, heavy: Model) -> Model:
    """Return the model with the inertia of `heavy`, of which it is the same model at another pose, or with other rows left out."""
    return _with_inertia(model, heavy.tables["INERTIA"], heavy.tables["SHIFTED"])


def _with_inertia(model: Model, true: Array, shifted: Array) -> Model:
    """Return the model with other inertias (nb + 1, 10)."""
    tables = copy(model.tables)
    tables.reals = model.tables.reals.copy()
    for name, inertia in (("INERTIA", true), ("SHIFTED", shifted)):
        start = tables.place(name)[0]
        tables.reals[start : start + inertia.size] = inertia.ravel()
    start, n = tables.place("SCALE")[0], model.nb + 1
    tables.reals[start : start + 6 * n] = np.hstack([np.repeat(shifted[:, :1], 3, axis=1), shifted[:, [1, 5, 9]]]).ravel()
    other = replace(model, tables=tables)
    put_row_scale(other, evaluate(other))
    return other


NAMED = 3
"""Number of free motions that a text names before it counts the others."""

REGULAR_PIVOT = 1e-4
"""Smallest pivot of a pose where a motion ends, above which it is not singular."""


@check_keywords
def kinematics(
    system: System | Model,
    t: npt.ArrayLike,
    *,
    state: State | None = None,
    tolerance: float | None = None,
    progress: bool = False,
    record: bool = False,
) -> Result:
    """Return the motion of a mechanism whose drivers determine it.

    Parameters
    ----------
    system : System or Model
        A mechanism with as many drivers as degrees of freedom.
    t : array_like, (nt,)
        Times [s], increasing.
    state : State, optional
        State at which the motion starts; by default the modelled state at t = 0. It selects the assembly mode, and need not fulfil the
        constraints exactly. Times before `state.t` are followed backwards.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    progress : bool
        If True, show a progress bar.
    record : bool
        If True, `result.newton` has the table of the position analysis of each time: iterate, |Phi|, |dq|, condition, step. Its first
        estimate is the pose of the time before, as in the textbook; the motion itself is followed with a predictor.

    Returns
    -------
    Result
        Positions, velocities, accelerations and reactions. `result.reaction("drive")` is the wrench of a driver.
        `result.singular_crossings` lists singular configurations that were crossed, where the motion is continued smoothly.
        After Ctrl-C it has the times that were reached, and `interrupted` is set.

    Raises
    ------
    UsageError
        If there are too few drivers; the message names the free motions. If positions follow from joints that restrict velocities only,
        such as rolling wheels.
    AssemblyError
        If the mechanism cannot be assembled at the start.
    ModelError
        If the system has faults, or a tabulated driver does not cover the times.
    SimulationError
        If the motion ends at a configuration, goes beyond a rigid JointLimit, or touches with a ContactForce that is damped by the speed
        of the touch. The attribute `result` holds the states computed before.
    KeyboardInterrupt
        After Ctrl-C before the first of the times.

    Notes
    -----
    Turns of joints are counted from step to step between the times. Source: Haug (2021), spatial kinematic analysis.
    """
    check_flags(progress=progress, record=record)
    times = read_times(t)
    with Progress(progress, 0, len(times), "times") as bar:
        result = followed(system, times, state, "kinematics", bar, tolerance)
    if record:
        result = replace(result, newton=_newton_tables(system, result, state, tolerance))
    issue(result.outcome)
    return result


SAME_POSE = 1e-6
"""Distance [m] of bodies, or difference of Euler parameters, relative to the size of the mechanism: a position analysis that ends farther
from the motion has closed the mechanism in another way."""


def _newton_tables(system: System | Model, result: Result, state: State | None, tolerance: float | None) -> tuple[NewtonTable, ...]:
    """Return the table of the position analysis of each time. Raise UsageError if one does not end on the motion."""
    model, tables = compiled(system, "kinematics", tolerance), list[NewtonTable]()
    estimate = start_of(model, state)
    by_geometry = with_geometric_inertia(model, estimate)
    for k, t in enumerate(result.t.tolist()):
        pose, start = result.state(k), estimate.replace(t=t)
        problem = pose_problem(by_geometry, start)
        with Progress(False, 0.0, 0.0, "digits") as bar:
            search = Search(bar, problem.size, problem.tol)
            search.poses = []
            found = close_positions(problem._replace(search=search), start)
        end = found.pose.state
        far = max(np.abs(end.r - pose.r).max(), np.abs(end.p - pose.p * np.sign(np.sum(end.p * pose.p, axis=1))[:, None]).max())
        if not (found.closed and far <= SAME_POSE * max(1.0, model.length)):
            raise UsageError(
                f"record=True: Newton's method from the pose before t = {t:.6g} s does not lead to the motion there, as from a first "
                "estimate that is too far: give times that are nearer to each other."
            )
        tables.append(newton_table([*search.poses, (found.pose, False)], problem.size))
        estimate = pose
    return tuple(tables)


def followed(
    system: System | Model, times: Array, state: State | None, who: str, bar: Progress, tolerance: float | None = None
) -> Result:
    """Return the motion at the times, see `kinematics`. `who` names the caller in error messages."""
    # the start: assembled, and determined by the drivers
    modelled = compiled(system, who, tolerance)
    assembly = _assembled(modelled, state)
    model, cpu = counted_from(assembly.model, modelled), time.process_time()
    refuse_internal_states(model, f"{who} of a motion that drivers prescribe")
    _check_drivers(model, min(times[0], assembly.state.t), max(times[-1], assembly.state.t))
    determined_or_raise(model, assembly.state, who)
    _refuse_rolled_positions(model, assembly.state, who)
    span = max(abs(times[-1] - times[0]), abs(times[0] - assembly.state.t)) or 1.0
    track = new_track(model, assembly.state, span)
    start = begin(track, assembly.state)
    if start is None:
        raise SingularKKTError(f"{who} starts at a singular position: {_why(model, assembly.state)}")
    # backwards to the times before the start, then forwards, up to where a driver or a profile breaks
    back = times < start.t
    earliest, broken = _unbroken(model, start.t, times)
    first = follow(track, start, times[back & (times > earliest)][::-1], bar)
    whole = first.stopped is None and not np.isfinite(earliest) and not first.interrupted
    latest = broken.t if broken is not None and broken.t > start.t else np.inf
    second = follow(track, start, times[~back & (times < latest)], bar) if whole else follow(track, start, times[:0], bar)
    interrupted = first.interrupted or second.interrupted
    reached = [len(side.at_wanted().t) for side in (first, second)]
    if interrupted and not any(reached):
        raise KeyboardInterrupt
    result = _result(track, (first, second), time.process_time() - cpu)
    if interrupted:
        last = (second if reached[1] else first).at_wanted().t[-1]
        message = f"interrupted by Ctrl-C: {sum(reached)} of {len(times)} times were reached, the last one t = {last:.9g} s"
        result = replace(result, interrupted=True, outcome=Outcome(RunStatus.INTERRUPTED, message, result.outcome.notes))
    # what ends the motion before its times
    for part in (first, second):
        if part.stopped is not None:
            raise _failed(_stop(track, part.stopped, result, (min(times[0], start.t), max(times[-1], start.t))), result)
    if broken is not None and not interrupted:
        raise _failed(SimulationError(f"the motion ends at t = {broken.t:.9g} s: {broken.fault}"), result)
    _check_dropped(result)
    beyond = (*profile_faults(model, result.y), *stop_faults(model, result.t, result.y), *touch_faults(model, result.t, result.y))
    if beyond:
        raise _failed(SimulationError("; ".join(map(str, beyond))), result)
    return result


def _assembled(modelled: Model, state: State | None) -> Assembly:
    """Return the assembly at the start, in a metric of the geometry: neither it nor the motion depends on masses."""
    by_geometry = with_geometric_inertia(modelled, start_of(modelled, state))
    try:
        assembly = assemble(by_geometry, state)
    except AssemblyError as error:
        error.assembly = replace(error.assembly, model=with_inertia_of(error.assembly.model, modelled))
        raise
    return replace(assembly, model=with_inertia_of(assembly.model, modelled))


def _failed(error: SimulationError, result: Result) -> SimulationError:
    """Return the error with the result so far, whose outcome is the error."""
    error.result = replace(result, outcome=Outcome(RunStatus.FAILED, error_text(error), result.outcome.notes))
    error.args = (error.message, error.result)
    return error


def _unbroken(model: Model, t_start: float, times: Array) -> tuple[float, JointBreak | ZeroLength | None]:
    """Return the time [s] before which no motion leads back from t_start, or -inf, and the break of a driver that ends the motion."""
    grid = np.unique(np.append(times, t_start))
    before = grid[grid <= t_start]
    broken: JointBreak | ZeroLength | None = None
    while (kink := first_break(model, before)) is not None:
        broken = kink
        before = np.append(kink.t, before[before > kink.t])
    if broken is not None:
        return broken.t, broken
    return -np.inf, first_break(model, grid[grid >= t_start])


def read_times(t: npt.ArrayLike) -> Array:
    """Return the times (nt,). Raise UsageError if they are not valid."""
    wanted = numbers(t)
    if wanted is None:
        raise UsageError(f"t = {t!r} must be times [s], finite and strictly increasing, such as np.linspace(0.0, 1.0, 101).")
    times = np.atleast_1d(wanted)
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        raise UsageError("t must be one-dimensional, not empty, finite and strictly increasing.")
    return times


def _check_drivers(model: Model, t_start: float, t_end: float) -> None:
    """Raise ModelError for times that a tabulated driver does not cover, and for derivatives that do not match."""
    faults = interval_faults(model, float(t_start), float(t_end))
    if faults:
        raise ModelError(faults)


def driven_model(system: System | Model, state: State, who: str, tolerance: float | None = None) -> Model:
    """Return the model, with its redundancy examined at `state` if this is a state of the model. `who` names the caller in errors."""
    model = compiled(system, who, tolerance)
    need_no_freewheels(model, who)
    if model.redundancy.dropped or state_faults(model, state):
        return model
    return counted_from(examined(beginning_at(model, state)), model)


def determined_or_raise(model: Model, state: State, who: str) -> None:
    """Raise UsageError, which names the free motions, if the drivers do not determine the motion. `who` names the caller."""
    rank = rank_report(model, evaluate(model, state)).rank
    left = 6 * model.nb - rank
    if not left:
        return
    motions = [f"{f'by {m.joint!r} ' if m.joint else ''}{m}" for m in mobility(model, state).motions[:NAMED]]
    more = f", and {left - NAMED} more" if left > NAMED else ""
    need = "1 degree of freedom is" if left == 1 else f"{left} degrees of freedom are"
    some = "a driver" if left == 1 else f"{left} drivers"
    raise UsageError(
        f"{who} needs as many drivers as degrees of freedom: {rank} independent rows for {6 * model.nb} coordinates, so that "
        f"{need} free: {', or '.join(motions)}{more}. Add {some} (RotationDriver, TranslationDriver), or use simulate. "
        "If a driver is there, the pose is singular: start elsewhere."
    )


def _refuse_rolled_positions(model: Model, state: State, who: str) -> None:
    """Raise UsageError if positions follow from velocity rows, which have no position equation. `who` names the caller."""
    if not len(model.velocity_rows):
        return
    left = 6 * model.nb - position_rank(model, evaluate(model, state), 6 * model.nb)
    if not left:
        return
    names = ", ".join(dict.fromkeys(repr(model.labels[row].joint) for row in model.velocity_rows))
    places = "1 coordinate of position follows" if left == 1 else f"{left} coordinates of position follow"
    raise UsageError(
        f"{who} solves for the positions at each time, and {names} restrict velocities only: {places} from the whole motion before. "
        "Integrate it, with the same drivers: result = simulate(system, t_end). inverse_dynamics(system, result) then gives the forces of "
        "the drivers."
    )


def _result(track: Track, motions: tuple[Followed, Followed], cpu: float) -> Result:
    """Return the result of the motions backwards and forwards from the start."""
    backwards, forwards = (motion.at_wanted() for motion in motions)
    t, y = (np.concatenate([backwards[k][::-1], forwards[k]]) for k in range(2))
    o = track.options
    counters = Counters(
        steps=int(track.record.steps),
        evaluations=int(o.n_rates),
        factorizations=int(o.n_factorizations),
        projections=int(o.n_projections),
        cpu=cpu,
    )
    selected = sorted((gap.selected for motion in motions for gap in motion.gaps), key=lambda motion: motion.t)
    passed = tuple(SingularCrossing(float(motion.t), motion.joints, motion.pivot) for motion in selected if not motion.regular)
    near = [NearSingular(motion.t, motion.joints, motion.gap) for motion in selected if not motion.regular and motion.gap > EXACT]
    settings = {"analysis": "kinematics", "predictor": "second order", "corrector": repr(Projection())}
    notes = (*singular_notes(passed, near), *sampled_lift_off_notes(track.model, t, y))
    outcome = Outcome(RunStatus.COMPLETED, "reached all times", notes)
    turns = [counted_turns(track.model, motion) for motion in motions]
    return Result(
        track.model,
        t,
        y,
        counters=counters,
        settings=settings,
        singular_crossings=passed,
        _turns=np.concatenate([turns[0][::-1], turns[1]]),
        outcome=outcome,
    )


def _stop(track: Track, last: PathPoint, result: Result, within: tuple[float, float]) -> SimulationError:
    """Return the reason why the motion ends at its last point: a driver that fails or runs away there, or a singular configuration.

    The driver is evaluated only `within` the given times.
    """
    model = track.model
    state = State.from_y(last.t, last.y, model.nb + 1)
    near = [t for t in (last.t, last.t + 1e-6, last.t + 1e-3) if within[0] <= t <= within[1]]
    failed = [fault for driver in model.drivers for t in near if (fault := driver.fault_at(t)) is not None]
    if failed:
        return SimulationError(f"the motion ends at t = {last.t:.9g} s: {failed[0]}", result)
    if last.pivot > REGULAR_PIVOT:
        return SimulationError(
            f"the motion ends at t = {last.t:.9g} s, at a pose that is not singular: no step of {track.shortest:.3g} s comes near "
            "the motion that velocities and accelerations of the drivers predict. Is one of these without bound, or is a driver faster "
            "than such a step? Compare with differences: mbd.verify(system).",
            result,
        )
    return SimulationError(f"the motion ends at t = {last.t:.9g} s, at a singular position: {_why(model, state)}", result)


def _why(model: Model, state: State) -> str:
    """Return the rows that become dependent there, and the motion that becomes free."""
    freedom = freedom_at(model, state)
    k = 6 * model.nb - 1
    names = ", ".join(map(repr, joints_of(model, freedom, k)))
    return (
        f"the rows of {names} become dependent (smallest singular value {freedom.sigma[k]:.1e}, rank {k} of {6 * model.nb} there), and no "
        f"driver decides how this continues: {motion_words(model, state, freedom, k)}. Drive another joint through this position, "
        "or let the driver stop or turn before it."
    )


def _check_dropped(result: Result) -> None:
    """Raise SimulationError if dropped drivers no longer agree with the kept ones."""
    faults = dropped_faults_of_states(result.model, result.t, result.y)
    if faults:
        raise SimulationError("; ".join(map(str, faults)), result)
