r"""simulate: from a system to a Result.

fixed step        simulate(system, t_end, h=1e-3)                RK4 with projection
adaptive          simulate(system, t_end, rtol=1e-8, atol=1e-10)  Dormand-Prince 5(4) with projection and dense output
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.contact.impact_laws import ImpactLaw, check_law
from haugmbd.contact.joint_stop import rigid_contacts
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.contact_warnings import deep_contact_notes, lift_off_events
from haugmbd.diagnostics.reaction_signals import bind, with_signals
from haugmbd.diagnostics.run_warnings import RunNote, delay_notes, issue
from haugmbd.errors import UsageError
from haugmbd.formulations import Formulation
from haugmbd.formulations.accelerations import check_formulation
from haugmbd.integrators import Event
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.events import read_events
from haugmbd.integrators.initial_state import check_start, projected
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.math.blas_threads import one_blas_thread
from haugmbd.model.dependent_rows import MinimumNorm, Rule, check_rule
from haugmbd.model.inspection.given import no_tolerance
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import (
    check_budget,
    check_friction,
    check_kinds,
    check_limit,
    check_numbers,
    choose_integrator,
    needs_switching,
)
from haugmbd.simulation.compatibility import resolve_stabilization
from haugmbd.simulation.recorded_result import ResultMaker, has_large_matrices, settings_of
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.results.records import Recorded
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_options import MOST_PER_SECOND, NEWTON_EULER, PROJECTION, Recording, RunLimits, RunMethods, RunOutput
from haugmbd.simulation.run_task import RunTask
from haugmbd.simulation.sensor import Sensor, all_sensors, sensor_notes
from haugmbd.simulation.shared_friction import by_bearings, need_the_least_at, notes_on_shared
from haugmbd.simulation.smooth_run import short_run
from haugmbd.system.in_plane import model_in_plane, need_in_plane
from haugmbd.system.system import System
from haugmbd.workspace.layout import Pack

if TYPE_CHECKING:
    from haugmbd.serial_chain.base import ChainState
    from haugmbd.serial_chain.chain import SerialChain
    from haugmbd.simulation.simulate_chain import Tau

ALL_STEPS = RunOutput()
"""Every step is stored, and nothing else is recorded."""
NO_LIMITS = RunLimits()
"""To its end, however long it takes."""


@check_keywords
def simulate(
    system: System | Model | SerialChain,
    t_end: float,
    *,
    h: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    events: Sequence[Event] = (),
    sensors: Sequence[Sensor] = (),
    state: State | ChainState | None = None,
    formulation: Formulation = NEWTON_EULER,
    integrator: Integrator | None = None,
    stabilization: Stabilization | None = PROJECTION,
    project_velocity: bool = False,
    redundancy: Rule | None = None,
    tolerance: float | None = None,
    store_every: int = 1,
    progress: bool = False,
    budget: float | None = None,
    record_method: bool = False,
    most_per_second: float = MOST_PER_SECOND,
    impact: ImpactLaw | None = None,
    tau: Tau | None = None,
    wrenches: npt.ArrayLike | None = None,
) -> Result:
    """Simulate a system from `state` to time `t_end`.

    Parameters
    ----------
    system : System, Model or SerialChain
        The system. A SerialChain is simulated in its joint coordinates.
    t_end : float
        Final time [s].
    h : float, optional
        Fixed step [s]. The default integrator is then RK4.
    rtol, atol : float, optional
        Relative and absolute error tolerance of a step. The default integrator is then DormandPrince, with rtol = 1e-8 and atol = 1e-10.
    t_eval : array_like, (nt,), optional
        Times [s] at which states are stored, by dense output. By default every `store_every`-th step is stored.
    events : sequence of Event
        Events, `Event(name, g)`: the zeros of g are located. A terminal event ends the run, with the state of the event as the last one.
    sensors : sequence of Sensor
        Functions of time and state that are recorded at the stored states, `Sensor(name, f)`: `result.sensor(name)`.
    state : State or ChainState, optional
        Initial state; by default the modelled one.
    formulation : Formulation
        Algorithm for the accelerations and projections: NewtonEuler(), NullSpace(), ... (see `haugmbd.formulations`). The multipliers and
        reactions of the Result are recomputed with NewtonEuler() for every formulation.
    integrator : Integrator, optional
        Integrator, as an object: RK4(h), DormandPrince(...).
    stabilization : Stabilization or None
        Constraint stabilization, as an object: Projection(), Baumgarte(alpha, beta), or None.
    project_velocity : bool
        If True, project inconsistent initial velocities on the velocity constraints, by the least change in the norm of the mass matrix.
        If False, raise ModelError for them.
    redundancy : DropDependentRows or MinimumNorm, optional
        Rule for the multipliers of dependent constraints. The motion does not depend on it.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    store_every : int
        Number of steps between stored states.
    progress : bool
        If True, show a progress bar.
    budget : float, optional
        Longest time that the run may take [s]. A run that needs more is stopped within about a tenth of a second; the result holds the
        states so far, with the status BUDGET_EXHAUSTED. By default there is no limit.
    record_method : bool
        If True, keep the accelerations and multipliers that the method itself computed at the stored states: see
        `Result.accelerations_of_method` and `Result.lam_of_method`.
    most_per_second : float
        Impacts and openings of rigid contacts and stops per second of simulated time; more of them raise SimulationError.
    impact : NewtonImpact, PoissonImpact or SequentialImpact, optional
        Law of impacts at rigid contacts and stops that have none of their own. By default all that touch strike at once by Newton's law,
        but a row of touching bodies that bounce strikes one after the other.
    tau : array_like, (nv,), or callable, optional
        Generalized forces of a SerialChain, or a function tau(t, q, qd) that returns them.
    wrenches : array_like, (n, 6), optional
        Constant force [N] and moment [N m] on each link of a SerialChain at its centre of mass, global.

    Returns
    -------
    Result
        States of the run, whatever the parts of the system: with its impacts, where it has a Contact, or a JointLimit with a restitution;
        with `.q`, `.qd`, `.qdd` and `.tau` of a SerialChain. After Ctrl-C, or at the end of its budget, the result so far, with
        `interrupted` set. A run that ends before it has stored a state keeps the one that it has reached.
        `status`, `success` and `message` describe the end of the run, `warnings` lists its diagnostics.

    Raises
    ------
    ModelError
        If the system or the initial state has faults.
    UsageError
        If an argument is not valid, or the methods cannot be combined.
    SimulationError
        If the run cannot continue. The attribute `result` holds the states computed before.
    SingularKKTError
        If the constraints are dependent at a state of the run. The attribute `result` holds the states computed before.

    Warns
    -----
    RunWarning
        If the result is doubtful: a body turns by more than a radian in a fixed step, or a conservative system loses energy.

    Notes
    -----
    For a SerialChain, formulation, stabilization, project_velocity, redundancy and record_method have no meaning: there are no
    constraints.
    Each rigid contact strikes by Newton's law with its own restitution, or by another law (`impact`, or `law` of the contact). It closes
    when its bounces become too low to be resolved (at once with restitution 0), and opens when its normal force would pull. Between
    impacts the closed contacts are constraint rows; at an impact the velocities change by `mbd.impulse`. With `t_eval` the state at an
    impact is the one after it; without, both are stored. An event whose g reaches zero at an impact is recorded there, and one whose g
    jumps across zero with its jump.
    A `Switch` among the events, `Event(...).then(lock=..., release=..., kick=...)`, changes the mechanism while it moves. The run is one
    Result, with a segment for each structure.
    `cite` returns the references of the methods. Sources of impacts: Moreau 1988; Mirtich 1996.
    """
    check_formulation(formulation)
    check_numbers(None, t_end=t_end, store_every=store_every, budget=budget)
    check_limit(most_per_second)
    check_flags(project_velocity=project_velocity, progress=progress, record_method=record_method)
    check_budget(budget)
    check_law(impact)
    t_end = float(t_end)
    method = choose_integrator(h, rtol, atol, integrator)
    if not isinstance(system, System):
        no_tolerance(tolerance)
    output = RunOutput(t_eval, events, sensors, store_every, progress, record_method)
    if not isinstance(system, System | Model):
        from haugmbd.serial_chain.chain import SerialChain  # noqa: PLC0415  most systems are none
        from haugmbd.simulation.simulate_chain import simulate_chain  # noqa: PLC0415

        if isinstance(system, SerialChain):
            if impact is not None:
                raise UsageError("impact= is the law of rigid contacts and stops, which a SerialChain does not have: leave it out.")
            _need_no_constraints(system, formulation, stabilization, project_velocity or record_method, redundancy)
            return simulate_chain(system, t_end, method, output, state=state, tau=tau, wrenches=wrenches, budget=budget)
    if tau is not None or wrenches is not None:
        raise UsageError("tau and wrenches belong to a SerialChain; on a System forces are parts: system.add(Torque(...)).")
    check_kinds(system, state, stabilization)
    assert state is None or isinstance(state, State)
    rule = resolve_stabilization(formulation, method, stabilization, PROJECTION)
    model = _compiled(system, tolerance, redundancy)
    methods, limits = RunMethods(method, formulation, stabilization, redundancy, impact), RunLimits(budget, most=most_per_second)
    start = model.state() if state is None else state
    task = RunTask(model, start, t_end, methods, rule, output, limits, run_again, project_velocity)
    result = with_sensor_notes(_run(task, state))
    issue(result.outcome)
    return result


def run_system(
    model: Model,
    t_end: float,
    methods: RunMethods,
    output: RunOutput = ALL_STEPS,
    limits: RunLimits = NO_LIMITS,
    *,
    state: State | None = None,
    project_velocity: bool = False,
    one_structure: bool = False,
) -> Result:
    """Return the result of a run, as `simulate` does, without issuing its warnings.

    one_structure: whether it is a part of a run with switches, between two of them
    """
    rule = resolve_stabilization(methods.formulation, methods.integrator, methods.stabilization, PROJECTION)
    start = model.state() if state is None else state
    task = RunTask(model, start, t_end, methods, rule, output, limits, run_again, project_velocity)
    return _run(task, state, one_structure)


def _run(task: RunTask, state: State | None, one_structure: bool = False) -> Result:
    """Return the result of a run;  state: that was given, None for the modelled one"""
    model, start, methods, output = task.model, task.start, task.methods, task.output
    if not one_structure and needs_switching(model, output.events, state):
        from haugmbd.simulation.switching import run_with_switches  # noqa: PLC0415  most runs keep their structure

        return run_with_switches(task, partial(run_system, one_structure=True))
    if methods.redundancy is not None:
        check_rule(methods.redundancy)
        task = replace(task, model=model.with_redundancy(methods.redundancy))
    contacts, shared = rigid_contacts(task.model), notes_on_shared(task.model, start)
    if contacts and shared:
        raise UsageError(
            f"{shared[0].text}. With rigid contacts this is not known along the run: take ContactForce, or leave the friction out."
        )
    if output.record_method and output.t_eval is not None and methods.integrator.lam_at_steps:
        raise UsageError(
            f"record_method=True keeps what {type(methods.integrator).__name__} solved for at its steps, and t_eval asks for states "
            "between them: leave out t_eval."
        )
    if contacts:
        from haugmbd.simulation.hybrid.run_of_contacts import run_of_contacts  # noqa: PLC0415  most models have no contacts

        every = (*contacts, *(() if model.parts is None else model.parts.contacts))  # all structures of a run by one method
        return run_of_contacts(task, contacts, plain=all(contact.is_plain for contact in every))
    return _smooth_run(task, model, shared)


def _smooth_run(task: RunTask, whole: Model, shared: list[RunNote]) -> Result:
    """Return the result of a run without rigid contacts.

    whole: the model without the rule for multipliers of the methods;  shared: notes on what its friction rests on
    """
    model, method, formulation, output, limits = task.model, task.integrator, task.methods.formulation, task.output, task.limits
    times, record_method, t_end = task.times, output.record_method, task.t_end
    bind(model)
    given, lift_off = with_signals(model, read_events(output.events)), lift_off_events(model)
    events = read_events((*given, *lift_off)) if lift_off else given
    sensors = all_sensors(model, output.sensors) if output.take is None else ()
    start, pack = _checked_start(task)
    made_by = None if record_method or method.own_multipliers else model_in_plane(whole)  # with fewer rows
    if made_by is not None:
        need_in_plane(made_by, np.array([start.t]), start.y[None])
    record = _recorder(task, start, made_by, shared)
    plain = times is None and output.store_every == 1 and not (record_method or output.progress)
    plain = plain and limits.budget is None and output.take is None and limits.until == np.inf and not (events or sensors)
    bodies = model.nb + 1 if record_method and method.lam_at_steps else 0
    recording = Recording(times, output.store_every, events, sensors, bodies, output.keeps_ends, output.take)
    with one_blas_thread(has_large_matrices(model, formulation)):
        runs = model if made_by is None else made_by
        recorded = short_run(runs, method, formulation, task.rule, start, t_end) if plain else None
        if recorded is not None:
            return record(pack, recorded)
        pack = task.rule.fitted(runs, formulation.pack(runs)) if pack is None or runs is not model else pack
        problem = task.rule.problem(MaximalStateSpace(runs), pack, start.t, start.y)
        from haugmbd.simulation.stepping.run import Run  # noqa: PLC0415  short runs need no loop

        return Run(problem, method, t_end, recording, partial(record, pack), limits=limits).run(output.progress)


def _checked_start(task: RunTask) -> tuple[State, Pack | None]:
    """Return the state with which a smooth run begins, and the tables where it was projected with them.

    Raise the errors of arguments and of a state that do not fit.
    """
    model, start, formulation = task.model, task.start, task.methods.formulation
    task.check_interval()
    check_friction(model, task.integrator)
    check_start(model, start, project_velocity=task.project_velocity)  # its workspace is gone when that of the run is made
    if not task.project_velocity:
        return start, None
    pack = task.rule.fitted(model, formulation.pack(model))  # whatever the formulation: runs with each start from one state
    return projected(model, pack if formulation.block_factor else model.pack(), start), pack


def _recorder(
    task: RunTask, start: State, made_by: Model | None, shared: list[RunNote]
) -> Callable[[Pack | None, Recorded], Result]:
    """Return the function that makes the result of what a smooth run has recorded;  made_by: its model in the plane, None without"""
    model, methods, times = task.model, task.methods, task.times
    deep = deep_contact_notes(model, start.t, start.flat) if model.has_contacts else []
    again = methods if methods.redundancy is None else replace(methods, redundancy=None)  # the model has it
    settings, output = settings_of(methods), task.output
    maker = ResultMaker(model, methods, task.rule, settings, times, output.store_every, output.record_method, task.limits.until)

    def record(pack: Pack | None, found: Recorded) -> Result:
        if made_by is not None:
            need_in_plane(made_by, found.t, found.y)
        replay = Replay(start.t, start.y, task.t_end, float(found.t[-1]), again, exact=times is None)
        if shared and (task.integrator.lam_at_steps or not by_bearings(model)):
            need_the_least_at(model, found.t, found.y)
        notes = [*deep, *shared]
        return maker.make(found, pack, found.events, notes, delay_notes(model, start), _replays=(replay,), _again=run_again)

    return record


def with_sensor_notes(result: Result) -> Result:
    """Return the result with a note on each sensor that has given numbers that are not finite."""
    notes = sensor_notes(result._sensors)
    return replace(result, outcome=result.outcome.with_notes(notes)) if notes else result


def result_of_short_run(model: Model, methods: RunMethods, start: State, t_end: float, found: Recorded) -> Result:
    """Return the result of what `short_run` has recorded."""
    maker = ResultMaker(model, methods, PROJECTION, settings_of(methods), None, 1, False, np.inf)
    replay = Replay(start.t, start.y, t_end, float(found.t[-1]), methods, exact=True)
    return maker.make(found, None, (), [], [], _replays=(replay,), _again=run_again)


def run_again(
    result: Result, one: Replay, t_eval: npt.ArrayLike | None, until: float, take: Callable[[Array, Array], None] | None
) -> Result:
    """Return a run made again to the time `until` [s]: all steps, or the states at the times `t_eval`.

    take: takes its states (t, y) in parts; the result has the last ones
    """
    methods, model, start = one.methods, result.model, one.start(result.model)
    output, limits, problem = (
        RunOutput(t_eval, take=take),
        RunLimits(until=until, most=one.most or MOST_PER_SECOND),
        result._contact_problem,
    )
    if problem is None and result._mechanism is None:
        return run_system(model, one.t_end, methods, output, limits, state=start)
    from haugmbd.simulation.hybrid.run_of_contacts import run_of_contacts  # noqa: PLC0415  most models have no contacts

    rule = resolve_stabilization(methods.formulation, methods.integrator, methods.stabilization, PROJECTION)
    contacts = tuple(result.contacts.values()) if problem is None else problem.contacts
    task = RunTask(model, start, one.t_end, methods, rule, output, limits, run_again, repeats=True)
    return run_of_contacts(task, contacts, plain=problem is None)


def _compiled(system: System | Model, tolerance: float | None, redundancy: Rule | None) -> Model:
    """Return the model; compile a System, with the tolerance and the rule that are given."""
    if isinstance(system, Model):
        return system
    arguments: dict[str, Any] = {} if tolerance is None else {"tolerance": tolerance}
    if isinstance(redundancy, MinimumNorm):
        arguments["redundancy"] = redundancy
    return system.compile(**arguments)


def _need_no_constraints(chain: SerialChain, formulation: Any, stabilization: Any, given: bool, redundancy: Any) -> None:
    """Raise UsageError for an argument that only constraints need;  given: whether there is another one of them."""
    if formulation is not NEWTON_EULER or stabilization not in (PROJECTION, None) or given or redundancy is not None:
        raise UsageError(
            f"chain {chain.name!r} moves in its own coordinates, without constraints: formulation, stabilization, project_velocity, "
            "redundancy and record_method have no meaning. Leave them out, or simulate the same chain in maximal coordinates, "
            "chain.to_system()."
        )
