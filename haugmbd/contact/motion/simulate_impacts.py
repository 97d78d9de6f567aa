r"""simulate_impacts: from a system and its contacts to an ImpactResult.

fixed step        simulate_impacts(system, t_end, contacts=[...], h=1e-3)
adaptive          simulate_impacts(system, t_end, contacts=[...], rtol=1e-8, atol=1e-10)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

import numpy.typing as npt

from haugmbd.contact.contact import Contact
from haugmbd.contact.joint_stop import stops_of
from haugmbd.contact.motion.contact_modes import ContactModes
from haugmbd.contact.motion.impact_result import ImpactResult
from haugmbd.contact.motion.simulator import HybridSimulation, ImpactRun
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.run_warnings import issue
from haugmbd.errors import UsageError
from haugmbd.formulations import NewtonEuler
from haugmbd.formulations.accelerations import check_formulation
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.events import Event, read_events
from haugmbd.integrators.initial_state import consistent_start
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import (
    check_drivers,
    check_flags,
    check_friction,
    check_interval,
    check_kinds,
    check_numbers,
    choose_integrator,
    need_newton_euler,
    wanted_times,
)
from haugmbd.simulation.compatibility import resolve_stabilization
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.results.sensor import Sensor, read_sensors
from haugmbd.simulation.run_options import PROJECTION, Recording, RunMethods, RunOutput
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.system import System

MOST_PER_SECOND = 2000.0
"""Impacts and openings per second of simulated time.  The last second of a cascade of bounces under gravity has about 14 / (1 - e) of
them, so that large restitutions are within the limit."""


@check_keywords
def simulate_impacts(
    system: System,
    t_end: float,
    *,
    contacts: Iterable[Contact] | Contact,
    h: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    events: Sequence[Event] = (),
    sensors: Sequence[Sensor] = (),
    state: State | None = None,
    formulation: NewtonEuler = NewtonEuler(),  # noqa: B008  frozen
    integrator: Integrator | None = None,
    stabilization: Stabilization | None = PROJECTION,
    project_velocity: bool = False,
    store_every: int = 1,
    most_per_second: float = MOST_PER_SECOND,
    progress: bool = False,
) -> ImpactResult:
    """Simulate a system with contacts that strike, stay closed, and open.

    Parameters
    ----------
    system : System
        The system.  A compiled Model is not enough, because a closed contact is a row of a new model.
    t_end : float
        End time [s].
    contacts : Contact or list of Contact
        Each strikes by Newton's law with its own restitution, without friction.  It closes when its bounces become too low to be resolved
        (at once with restitution 0), and opens when its normal force would pull.
    h : float, optional
        Fixed step [s].
    rtol, atol : float, optional
        Relative and absolute error tolerances of an adaptive method.
    t_eval : array_like, (nt,), optional
        Times [s] at which states are stored, at an impact the one after it. By default every `store_every`-th step is stored, and the
        states before and after each impact.
    events : sequence of Event
        Events, as of `simulate`. One whose g reaches zero at an impact is recorded there, and one whose g jumps across zero with its jump.
    sensors : sequence of Sensor
        Functions of time and state that are recorded at the stored states.
    state : State, optional
        Initial state; by default the modelled state.
    formulation : NewtonEuler
        The formulation; no other is possible.
    integrator : Integrator, optional
        By default RK4 with `h`, and DormandPrince with tolerances.
    stabilization : Stabilization or None
        By default `Projection()`.
    project_velocity : bool
        True to project initial velocities that violate the constraints.
    store_every : int
        Store every n-th step.
    most_per_second : float
        Impacts and openings per second of simulated time; more of them raise SimulationError.
    progress : bool
        True to show a progress bar.

    Returns
    -------
    ImpactResult
        Segments and impacts.  After Ctrl-C the result so far, with `interrupted` set.

    Raises
    ------
    ModelError
        For faults of system and contacts, and for bodies that overlap at the start.
    UsageError
        For invalid arguments.
    SimulationError, SingularKKTError
        If the simulation fails.  `.result` of the error contains the result so far.

    Notes
    -----
    Between impacts the closed contacts are constraint rows.  At an impact the velocities change by `mbd.impulse`.
    Sources: Moreau 1988; Mirtich 1996.
    """
    check_formulation(formulation)
    need_newton_euler(formulation, "simulate_impacts")
    check_numbers(integrator, t_end=t_end, h=h, rtol=rtol, atol=atol, store_every=store_every)
    check_flags(project_velocity=project_velocity, progress=progress)
    t_end = float(t_end)
    method = choose_integrator(h, rtol, atol, integrator)
    if not isinstance(system, System):
        raise UsageError(f"simulate_impacts got {system!r}, and needs a System: a contact that closes is a row of a new model.")
    check_kinds(system, state, stabilization)
    rule = resolve_stabilization(formulation, method, stabilization, PROJECTION)
    _check_limit(most_per_second)
    given, model = _read_contacts(contacts), system.compile()
    start = model.state() if state is None else state
    output, methods = RunOutput(t_eval, events, sensors, store_every, progress), RunMethods(method, formulation, stabilization)
    recording = _recording(model, start, t_end, output)
    run = ImpactRun(_modes(model, given), method, rule, t_end, most_per_second, recording, methods.texts, methods)
    return _simulated(run, start, project_velocity, progress)


def simulate_stops(
    system: System | Model,
    t_end: float,
    methods: RunMethods,
    output: RunOutput,
    *,
    rule: Stabilization,
    state: State | None,
    project_velocity: bool,
) -> ImpactResult:
    """Simulate a system whose joints have impulsive limits: `simulate` calls it, with arguments that it has checked.

    rule: the stabilization of the methods, or what takes its place
    """
    need_newton_euler(methods.formulation, "an impulsive JointLimit")
    model = system.compile() if isinstance(system, System) else system
    start = model.state() if state is None else state
    recording = _recording(model, start, t_end, output)
    run = ImpactRun(_modes(model, ()), methods.integrator, rule, t_end, MOST_PER_SECOND, recording, methods.texts, methods)
    return _simulated(run, start, project_velocity, output.progress)


def run_again(mechanism: ContactModes, one: Replay, t_eval: npt.ArrayLike | None, until: float) -> ImpactResult:
    """Return a run made again to the time `until` [s]: all steps, or the states at the times `t_eval`."""
    rule = resolve_stabilization(one.methods.formulation, one.methods.integrator, one.methods.stabilization, PROJECTION)
    model, recording = mechanism.free, Recording(wanted_times(t_eval, one.t0, one.t_end))
    fresh = ContactModes(model, tuple(mechanism.contacts.values()))
    run = ImpactRun(fresh, one.methods.integrator, rule, one.t_end, one.most, recording, one.methods.texts, one.methods, until)
    with Progress(False, one.t0, one.t_end) as bar:
        return HybridSimulation(run).run(one.start(model), bar)


def _modes(model: Model, contacts: Sequence[Contact]) -> ContactModes:
    """Return the model with its contacts and impulsive limits. Raise UsageError if it has delays."""
    delays = () if model.network is None else model.network.delays
    if delays:
        names = ", ".join(block.where for block in delays)
        raise UsageError(
            f"a run with impacts does not take {names}: a jump of the velocities would come back after the delay, inside a step. "
            "Leave it out, make the stop compliant (k=, c=), or simulate without impacts."
        )
    return ContactModes(model, (*contacts, *stops_of(entry.load for entry in model.loads)))


def _recording(model: Model, start: State, t_end: float, output: RunOutput) -> Recording:
    """Return the recording, with the sensors of the system and those that are given."""
    own = () if model.network is None else tuple(model.network.scope.sensors.values())
    sensors = read_sensors((*own, *read_sensors(output.sensors)))
    return Recording(wanted_times(output.t_eval, start.t, t_end), output.store_every, read_events(output.events), sensors)


def _simulated(run: ImpactRun, start: State, project_velocity: bool, progress: bool) -> ImpactResult:
    """Run a mechanism with contacts from its start."""
    model = run.mechanism.free
    check_interval(run.method, start.t, run.t_end, run.recording.every)
    check_drivers(model, start.t, run.t_end)
    check_friction(model, run.method)
    start = consistent_start(model, model.pack(), start, project_velocity=project_velocity)
    run.mechanism.need_apart(start)
    with Progress(progress, start.t, run.t_end) as bar:
        result = HybridSimulation(run).run(start, bar)
    issue(result.outcome)
    return result


def _read_contacts(contacts: Any) -> tuple[Contact, ...]:
    """Return the contacts as a tuple.  Raise UsageError if an element is not a Contact."""
    if isinstance(contacts, Contact):
        return (contacts,)
    if not isinstance(contacts, Iterable):
        raise UsageError(f"contacts = {contacts!r} must be a list of Contact objects: contacts=[Contact('floor', ...)].")
    given = tuple(contacts)
    for contact in given:
        if not isinstance(contact, Contact):
            raise UsageError(f"contacts has {contact!r}, which is not a Contact: give Contact(name, i, j, point=..., normal=...).")
    if not given:
        raise UsageError("contacts is empty: give Contact objects, or use simulate.")
    return given


def _check_limit(most: Any) -> None:
    """Raise UsageError unless the limit is a number of 1 or more."""
    if not (isinstance(most, int | float) and isfinite(most) and most >= 1.0):
        raise UsageError(f"most_per_second = {most!r} must be a number, 1 or more.")
