r"""simulate_impacts: from a system and its contacts to an ImpactResult.

fixed step        simulate_impacts(system, t_end, contacts=[...], h=1e-3)
adaptive          simulate_impacts(system, t_end, contacts=[...], rtol=1e-8, atol=1e-10)
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from haugmbd.contact.contact import Contact
from haugmbd.contact.motion.contact_modes import ContactModes
from haugmbd.contact.motion.impact_result import ImpactResult
from haugmbd.contact.motion.simulator import HybridSimulation
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.run_warnings import issue
from haugmbd.errors import UsageError
from haugmbd.formulations import NewtonEuler
from haugmbd.integrators import Projection
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.initial_state import consistent_start
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.state import State
from haugmbd.simulation.arguments import (
    check_drivers,
    check_flags,
    check_formulation,
    check_interval,
    check_kinds,
    check_numbers,
    choose_integrator,
    need_newton_euler,
)
from haugmbd.simulation.compatibility import resolve_stabilization
from haugmbd.simulation.progress import Progress
from haugmbd.system.system import System

PROJECTION = Projection()
"""What ends a step where nothing is said."""
MOST_PER_SECOND = 2000.0
"""Impacts and openings in a second of simulated time: on the earth, the last second of a cascade has 14 / (1 - e) bounces or fewer, so
that e up to 0.99 is within it; a machine that strikes 2000 times a second is not meant by Newton's law."""


@check_keywords
def simulate_impacts(
    system: System,
    t_end: float,
    *,
    contacts: Iterable[Contact] | Contact,
    h: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    state: State | None = None,
    formulation: NewtonEuler = NewtonEuler(),  # noqa: B008  frozen
    integrator: Integrator | None = None,
    stabilization: Stabilization | None = PROJECTION,
    project_velocity: bool = False,
    store_every: int = 1,
    most_per_second: float = MOST_PER_SECOND,
    progress: bool = False,
) -> ImpactResult:
    """Simulate from `state` (by default the modelled one) to `t_end` [s], with impacts, sticking and opening of `contacts`.

    contacts: Contact objects, each with its restitution e: they strike by Newton's law, without friction; when its bounces become too
    low to be told from rest, or at once with restitution = 0, a contact closes, and it opens again when its normal force would pull
    most_per_second: impacts and openings in a second of simulated time that are taken for a motion, and not for an endless cascade
    All else as in `simulate`.

    Returns an ImpactResult; after Ctrl-C the result so far, with `interrupted` set.
    Raises ModelError (faults of system and contacts, bodies that overlap at the start), UsageError (bad arguments), SimulationError
    or SingularKKTError, whose `.result` holds what was computed so far.
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
    mechanism = ContactModes(system, _read_contacts(contacts))
    start = mechanism.free.state() if state is None else state
    check_interval(method, start.t, t_end, store_every)
    check_drivers(mechanism.free, start.t, t_end)
    start = consistent_start(mechanism.free, mechanism.free.pack(), start, project_velocity=project_velocity)
    mechanism.need_apart(start)
    settings = {"formulation": repr(formulation), "integrator": repr(method), "stabilization": repr(stabilization)}
    with Progress(progress, start.t, t_end) as bar:
        result = HybridSimulation(mechanism, method, rule, t_end, store_every, most_per_second, settings).go(start, bar)
    issue(result.outcome, stacklevel=2)
    return result


def _read_contacts(contacts: Any) -> tuple[Contact, ...]:
    """The contacts as a tuple, one may stand alone; UsageError where one is none."""
    if isinstance(contacts, Contact):
        return (contacts,)
    if not isinstance(contacts, Iterable):
        raise UsageError(f"contacts = {contacts!r} must be a list of Contact objects: contacts=[Contact('floor', ...)].")
    given = tuple(contacts)
    for contact in given:
        if not isinstance(contact, Contact):
            raise UsageError(f"contacts has {contact!r}, which is no Contact: give Contact(name, i, j, point=..., normal=...).")
    if not given:
        raise UsageError("contacts is empty: give Contact objects, or use simulate.")
    return given


def _check_limit(most: Any) -> None:
    """Refuse a limit that is no positive number."""
    if not (isinstance(most, int | float) and isfinite(most) and most >= 1.0):
        raise UsageError(f"most_per_second = {most!r} must be a number, 1 or more.")
